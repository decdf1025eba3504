# PostgreSQL's own ways to move a table carry filters unchanged: COPY in text
# and binary, pg_dump and pg_restore.

use CuckooTest;

my $node = new_server('main');
my $folder = PostgreSQL::Test::Utils::tempdir;

create_samples($node);
my $expected = digests($node, 'postgres', 'samples');
unlike($expected, qr/\|f$/m, 'every sample passes the validator');

is($node->safe_psql('postgres', <<~SQL), 'dense mixed sparse|16|t|t|t', 'samples of every representation, NULL, inline and toasted, and never compressed');
	SELECT string_agg(DISTINCT representation, ' '), max(subfilters), bool_or(f IS NULL), bool_or(pg_column_size(f) > 1000000),
		bool_and(pg_column_size(f) >= octet_length(f::bytea))
	FROM samples LEFT JOIN LATERAL cuckoo_info(f) ON true;
	SQL

# ---------------------------------------------------------------------- COPY
foreach my $format (qw(text csv binary))
{
	my $file = "$folder/samples.$format";

	$node->safe_psql('postgres', <<~SQL);
		CREATE TABLE copy_$format (LIKE samples);
		COPY samples TO '$file' (FORMAT $format);
		COPY copy_$format FROM '$file' (FORMAT $format);
		SQL
	is(digests($node, 'postgres', "copy_$format"), $expected, "COPY in $format format, to a file and back");
}
# COPY of invalid values.  test/sql/malformed.sql has one for each rule, and the text
# form.

# A file in COPY's binary format with one row for each argument, of one column
sub write_binary
{
	my ($file, @values) = @_;
	my $content = "PGCOPY\n\xff\r\n\0" . pack('NN', 0, 0)
	  . join('', map { pack('nN', 1, length) . $_ } @values) . pack('n', 0xffff);

	open my $handle, '>:raw', $file or die "$file: $!";
	print $handle $content;
	close $handle or die "$file: $!";
	return;
}

my ($small, $dense, $huge) =
  map { pack('H*', $node->safe_psql('postgres', "SELECT encode(f::bytea, 'hex') FROM samples WHERE name = '$_'")) } 'sparse, 77 bytes', 'dense, 1 kB', '1 MB';
$node->safe_psql('postgres', 'CREATE TABLE target (f cuckoofilter); INSERT INTO target SELECT f FROM samples');
my $target_digest = q{SELECT count(*), md5(string_agg(f::text, ',' ORDER BY f)) FROM target};
my $before = $node->safe_psql('postgres', $target_digest);

# A newer format version is refused as such.
foreach my $case ([ '22P03', '' ], [ '22P03', substr($small, 0, -1) ], [ '22P03', "$small\0" ],
	[ '22P03', substr($huge, 0, 500_000) ], [ '0A000', "\2" . substr($small, 1) ])
{
	my ($code, $bytes) = @$case;

	write_binary("$folder/malformed", $small, $dense, $bytes);
	is(sqlstate($node, 'postgres', "COPY target FROM '$folder/malformed' (FORMAT binary)"),
		$code, 'COPY in binary format refuses ' . length($bytes) . ' bytes');
}
is($node->safe_psql('postgres', $target_digest), $before, 'a refused COPY changes nothing');

# ---------------------------------------------------- pg_dump and pg_restore
# PostgreSQL does not write in which schema the operators of these are, and a dump
# sets no search path, so these tables are not restored.
my @comparisons = ('f IS DISTINCT FROM g', 'NULLIF(f, g) IS NULL', 'CASE f WHEN g THEN true END', 'ROW(f, 1) < ROW(g, 1)', 'f <> g');
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(compared restored_compared);
$node->safe_psql('compared', join ';', 'CREATE EXTENSION cuckoo', map { "CREATE TABLE compared_$_ (f cuckoofilter, g cuckoofilter, CHECK ($comparisons[$_]))" } 0 .. 4);
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$folder/compared", '-d', $node->connstr('compared') ], 'dump of comparisons');
$node->command_fails([ 'pg_restore', '-d', $node->connstr('restored_compared'), "$folder/compared" ], 'restore of comparisons');
is($node->safe_psql('restored_compared', q{SELECT tablename FROM pg_tables WHERE tablename LIKE 'compared%'}), 'compared_4', 'only the comparison by an operator is restored');

$node->safe_psql('postgres', 'CREATE DATABASE dumped');
create_samples($node, database => 'dumped');
$node->safe_psql('dumped', <<~'SQL');
	CREATE DOMAIN small_filter AS cuckoofilter CHECK (octet_length(VALUE::bytea) < 10000);
	CREATE TABLE objects (
		id integer PRIMARY KEY,
		grows cuckoofilter NOT NULL DEFAULT cuckoo_new(1000, 0.01),
		fixed cuckoofilter DEFAULT cuckoo_from_array('{a,b}'::text[]),
		small small_filter,
		several cuckoofilter[],
		items bigint GENERATED ALWAYS AS (cuckoo_cardinality(grows)) STORED,
		CHECK (NOT grows @> 0));
	INSERT INTO objects (id, small, several) VALUES (1, cuckoo_new() + 1, ARRAY[cuckoo_new() + 1, NULL, cuckoo_from_array(ARRAY[1.5])]);
	INSERT INTO objects (id, grows, fixed) VALUES (2, cuckoo_from_array(ARRAY(SELECT generate_series(1, 100))), NULL);
	CREATE INDEX by_btree ON objects (small);
	CREATE INDEX by_operator_class ON objects USING btree (fixed cuckoofilter_ops);
	CREATE INDEX by_hash ON objects USING hash (grows cuckoofilter_ops);
	CREATE INDEX by_expression ON objects (cuckoo_cardinality(small)) WHERE grows @> 7;
	CREATE UNIQUE INDEX ON objects (id, fixed);
	CREATE VIEW answers AS SELECT id, grows @> 7 AS seven, 'a' <@ fixed AS a, grows @> ANY (ARRAY[8, 9]) FROM objects;
	CREATE MATERIALIZED VIEW of_all AS SELECT cuckoo_agg(id) AS f, cuckoo_agg(id::text, 100, 0.01) AS g FROM objects;
	CREATE FUNCTION seen(integer) RETURNS boolean BEGIN ATOMIC SELECT cuckoo_contains(grows, $1) FROM objects WHERE id = 2; END;
	CREATE TRIGGER changed BEFORE UPDATE ON objects FOR EACH ROW WHEN (old.fixed <> new.fixed OR old.small::bytea IS DISTINCT FROM new.small::bytea)
		EXECUTE FUNCTION suppress_redundant_updates_trigger();
	SQL

# The content of a database: tables and answers, and whether indexes work.
sub content
{
	my ($database) = @_;

	return digests($node, $database, 'samples') . "\n" . $node->safe_psql($database, <<~SQL);
		SELECT id, md5(grows::text), md5(fixed::text), md5(small::text), md5(several::text), items FROM objects ORDER BY id;
		SELECT * FROM answers ORDER BY id;
		SELECT f, g, seen(5), seen(500) FROM of_all;
		SET enable_seqscan = off;
		SELECT a.id FROM objects AS a WHERE grows = (SELECT grows FROM objects WHERE id = 2);
		SELECT a.id FROM objects AS a WHERE small = (SELECT small FROM objects WHERE id = 1);
		SQL
}

# The definitions as pg_dump writes them; newer releases add a random key.
sub definitions
{
	my ($database) = @_;
	my ($definitions) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr($database) ]);

	$definitions =~ s/^\\(un)?restrict .*$//mg;
	return $definitions;
}

my $content = content('dumped');
my $definitions = definitions('dumped');
like($definitions, qr/CREATE EXTENSION IF NOT EXISTS cuckoo /, 'a dump has the extension by name');
unlike($definitions, qr/FUNCTION public.cuckoo_/, 'and nothing that belongs to it');

$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$folder/dump", '-d', $node->connstr('dumped') ], 'dump');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), "$folder/dump" ], 'restore');
is(content('restored'), $content, 'what was restored is what was dumped');
is(definitions('restored'), $definitions, 'with the same definitions');

# The two extensions in schemas of their own, with what depends on them
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(two restored_two);
$node->safe_psql('two', <<~'SQL');
	CREATE SCHEMA a;
	CREATE SCHEMA "b b";
	CREATE EXTENSION cuckoo SCHEMA a;
	CREATE EXTENSION cuckoo_citus SCHEMA "b b";
	SET search_path = public, "b b", a;
	CREATE TABLE numbers AS SELECT i AS n FROM generate_series(1, 1000) AS i;
	CREATE AGGREGATE own_agg(key integer[]) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final, COMBINEFUNC = cuckoo_agg_combine);
	CREATE VIEW typed AS SELECT cuckoo_agg(n) AS f FROM numbers;
	CREATE VIEW own AS SELECT own_agg(ARRAY[n]) AS f FROM numbers;
	SQL
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$folder/two", '-d', $node->connstr('two') ], 'dump of two extensions');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored_two'), "$folder/two" ], 'restore');
is(definitions('restored_two'), definitions('two'), 'with the same definitions');
foreach my $query (
	q{SELECT extname, extnamespace::regnamespace FROM pg_extension ORDER BY 1},
	q{SELECT md5(typed.f::text), md5(own.f::text) FROM typed, own})
{
	is($node->safe_psql('restored_two', $query), $node->safe_psql('two', $query), "the same: $query");
}

$node->stop;
done_testing();
