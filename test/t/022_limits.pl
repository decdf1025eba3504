# Limits: what takes long can be cancelled, what is too large is refused before
# it takes memory, and a server without memory raises an error and lives.
#
# The large ones are in test/limits.sh.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

use Time::HiRes qw(time);

my $node = new_server('main');

# Filters of almost 40 MB, which nothing touches but the operation tested
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE TABLE large AS SELECT cuckoo_add_all(cuckoo_new(capacity => 24e6), ARRAY(SELECT generate_series(1, 1000))) AS f;
CREATE TABLE texts (t text);
ALTER TABLE texts ALTER t SET STORAGE external;
INSERT INTO texts SELECT f::text FROM large;
CREATE TABLE keys AS SELECT ARRAY(SELECT generate_series(1, 1500000)) AS a;
SQL

# Cancel at several moments: it must come within a second, and leave no more
# than an error behind.
my %operations = (
	'building by cuckoo_agg' => 'SELECT length(cuckoo_agg(i)::text) FROM generate_series(1, 3000000) AS i',
	'building by cuckoo_from_array' => 'SELECT cuckoo_cardinality(cuckoo_from_array(a)) FROM keys',
	'building by cuckoo_stream_agg' => 'SELECT cuckoo_cardinality(cuckoo_stream_agg(i, 0.001, 3e6)) FROM generate_series(1, 3000000) AS i',
	'adding' => 'SELECT cuckoo_cardinality(cuckoo_add_all(f, a)) FROM large, keys',
	'union' => 'SELECT cuckoo_cardinality(f | (f + 5)) FROM large',
	'merge' => 'SELECT cuckoo_cardinality(f || f) FROM large',
	'merging rows' => 'SELECT cuckoo_cardinality(cuckoo_merge_agg(f)) FROM (SELECT f FROM large, generate_series(1, 5)) AS f',
	'text output' => 'SELECT length(f::text) FROM large',
	'text input' => 'SELECT cuckoo_cardinality(t::cuckoofilter) FROM texts',
	'bytea input' => 'SELECT cuckoo_cardinality(f::bytea::cuckoofilter) FROM large',
	'asking for all' => 'SELECT array_length(cuckoo_contains_each(f, a || a), 1) FROM large, keys',
	'asking in a scan' => 'SELECT count(*) FROM large, generate_series(1, 3000000) AS i WHERE f @> i');

foreach my $name (sort keys %operations)
{
	my $longest = 0;
	my @states;

	foreach my $timeout (5, 40)
	{
		my $began = time;

		push @states, sqlstate($node, 'postgres', "SET statement_timeout = $timeout;\n$operations{$name}");
		my $late = time - $began - $timeout / 1000;
		$longest = $late if $late > $longest;
	}
	is($states[0], '57014', "$name is cancelled");
	cmp_ok($longest, '<', 1, "$name: within a second");
	note(sprintf '%s: %.2f s', $name, $longest);
}

# Nothing that takes longer than 100 ms goes without asking.  Here more keys have
# one bucket than a block has entries, so that all sizes of a table are tried,
# and then keys are added one by one.
my ($key_of) = slurp_file("$FindBin::RealBin/../sql/hostile.sql") =~ /^(CREATE FUNCTION rotate.*?^END \$\$;)/ms;
$node->safe_psql('postgres', <<SQL);
$key_of
CREATE TABLE crowded AS SELECT ARRAY(SELECT i FROM generate_series(1, 4000000::bigint) AS i
	UNION ALL SELECT key_of(1234567890::bigint << 32 | i * 28000) FROM generate_series(1, 150000::bigint) AS i) AS a;
SQL
{
	my $query = 'SELECT cuckoo_cardinality(cuckoo_from_array(a)) FROM crowded';
	my ($cancelled, $longest) = (0, 0);

	for (my $timeout = 100; $timeout < 20_000; $timeout += 600)
	{
		my $began = time;

		last if sqlstate($node, 'postgres', "SET statement_timeout = $timeout;\n$query") ne '57014';
		my $late = time - $began - $timeout / 1000;
		$longest = $late if $late > $longest;
		$cancelled++;
	}
	cmp_ok($cancelled, '>', 2, 'keys of one bucket, in an array: cancelled at several moments');
	# The margin is for a busy machine, and for psql.
	cmp_ok($longest, '<', 0.4, '... soon');
	note(sprintf '%d moments, %.2f s', $cancelled, $longest);
}

# Memory

sub peak
{
	my ($query) = @_;

	return $node->safe_psql('postgres', <<~SQL);
		DO \$\$ BEGIN PERFORM cuckoo_new() + 1; $query; EXCEPTION WHEN program_limit_exceeded THEN NULL; END \$\$;
		SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::integer / 1024;
		SQL
}

SKIP:
{
	skip 'no /proc here', 9 if !-r '/proc/self/status';
	my $idle = peak('NULL');

	foreach my $query (
		'PERFORM cuckoo_new(capacity => 5.1e8)',
		'PERFORM cuckoo_agg(1, 0.001, 5.1e8)',
		'PERFORM cuckoo_stream_agg(1, 0.001, 5.1e8)',
		'PERFORM cuckoo_stream_agg(1, 2e-9, 1e12)')
	{
		is(sqlstate($node, 'postgres', ($query =~ s/PERFORM/SELECT/r)), '54000', "too large, refused: $query");
		cmp_ok(peak($query), '<', $idle + 16, '... before it takes memory');
	}

	# Of 40 MB in base64, which are there as text and as a C string anyway
	my $text = peak('PERFORM textout(t) FROM texts');
	cmp_ok(peak('PERFORM cuckoo_cardinality(t::cuckoofilter) FROM texts'), '<', $text + 12, 'text input holds the value once');
}

# Filters fetched whole are kept up to 256 MB a session, and that is seven of
# these.  Two call sites look keys up in four filters each, one after the other.
# The last one first has to go on in slices, and then takes the place of the one
# that its call site has used longest ago.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE kept (id integer, f cuckoofilter);
INSERT INTO kept SELECT i, cuckoo_add_all(f, ARRAY[i * 100000]) FROM large, generate_series(1, 8) AS i;
SQL
is($node->safe_psql('postgres', <<'SQL'), join("\n", ('1000|999') x 4), 'eight filters, more than may be kept');
SELECT count(*) FILTER (WHERE a @> i), count(*) FILTER (WHERE b @> (i + 1))
FROM (SELECT a.id, a.f AS a, b.f AS b FROM kept AS a JOIN kept AS b ON b.id = a.id + 4 WHERE a.id <= 4 ORDER BY id OFFSET 0) AS k,
	LATERAL (SELECT i FROM generate_series(1, 12000) AS i OFFSET 0 * k.id) AS i GROUP BY id ORDER BY id;
SQL

# A server whose processes have little memory to ask for

$node->stop;
{
	my $data = $node->data_dir;
	my $log = $node->logfile;
	my $memory = 600 * 1024;

	is( system('sh', '-c', "ulimit -v $memory && exec pg_ctl -D '$data' -l '$log' -o --cluster-name=main -w start >/dev/null"),
		0, 'a server with little memory started');
	$node->_update_pid(1);
}
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my %hungry = (
	'a table from a list' => 'SELECT cuckoo_cardinality(cuckoo_add_all(cuckoo_new(capacity => 4e8), ARRAY(SELECT generate_series(1, 100))))',
	'cuckoo_stream_agg' => 'SELECT cuckoo_cardinality(cuckoo_stream_agg(i, 0.001, 4e8)) FROM generate_series(1, 100) AS i',
	'cuckoo_agg, at the end' => 'SELECT cuckoo_cardinality(cuckoo_agg(i, 0.001, 4e8)) FROM generate_series(1, 100) AS i',
	'cuckoo_agg, on its way' => 'SELECT cuckoo_cardinality(cuckoo_agg(i * 1000 + j)) FROM generate_series(1, 60000) AS i, generate_series(1, 1000) AS j',
	'from an array' => 'SELECT cuckoo_cardinality(cuckoo_from_array(ARRAY(SELECT generate_series(1, 30000000))))');
foreach my $name (sort keys %hungry)
{
	is(sqlstate($node, 'postgres', $hungry{$name}), '53200', "out of memory: $name");
}

# With more and more memory taken by others, so that one allocation after the
# other fails.
my %frugal = (
	'union' => 'cuckoo_cardinality(f | (f + 5)) FROM large',
	'lookups' => 'count(*) FROM large, generate_series(1, 10000) AS i WHERE f @> i',
	'text output and input' => 'cuckoo_cardinality(f::text::cuckoofilter) FROM large',
	'building' => 'cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 300000) AS i');
foreach my $name (sort keys %frugal)
{
	is( $node->safe_psql('postgres', <<~SQL), '53200: t, fine: t', "an allocation fails, and no harm is done: $name");
		DO \$\$ DECLARE ballast text; failed integer := 0; fine integer := 0;
		BEGIN
			FOR part IN REVERSE 6..1 LOOP
				BEGIN
					ballast := repeat(repeat('x', 1000000), part * 60);
					PERFORM $frugal{$name};
					fine := fine + 1;
				EXCEPTION WHEN out_of_memory THEN
					failed := failed + 1;
				END;
				ballast := NULL;
			END LOOP;
			PERFORM set_config('cuckoo.result', format('53200: %s, fine: %s', failed > 0, fine > 0), false);
		END \$\$;
		SELECT current_setting('cuckoo.result');
		SQL
}
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server lives');
is($node->safe_psql('postgres', 'SELECT f @> 1000 FROM large'), 't', 'and answers');
unlike(slurp_file($node->logfile), qr/TRAP:|terminated by signal|PANIC/, 'no process crashed');

$node->stop;
done_testing();
