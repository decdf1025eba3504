# Text keys have the same hashes whatever the encoding of the database, and
# filters can be moved from one encoding to another.

use CuckooTest;

my $node = new_server('main');
my $folder = PostgreSQL::Test::Utils::tempdir;
my @encodings = qw(UTF8 LATIN1 LATIN9 WIN1252 EUC_JP);

foreach my $encoding (@encodings, 'SQL_ASCII')
{
	$node->safe_psql('postgres', "CREATE DATABASE \L$encoding\E TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql(lc $encoding, 'CREATE EXTENSION cuckoo');
}

# Keys of letters that the encodings have.  The SQL is ASCII: U&'' is Unicode in
# all of them, unlike chr().
my %letters = (
	UTF8 => undef,
	LATIN1 => q{U&'\00E9\00FF\00DF\00C0'},
	LATIN9 => q{U&'\00E9\20AC\0153\017E'},
	WIN1252 => q{U&'\00E9\20AC\2122\201E'},
	EUC_JP => q{U&'\65E5\672C\8A9E\30AB'});

# Filters over such keys, one per line
sub filters
{
	my ($encoding, $letters) = @_;

	return $node->safe_psql(lc $encoding, <<~SQL);
		SET standard_conforming_strings = on;
		CREATE TEMP TABLE keys AS SELECT left($letters, 1 + i % 4) || i || right($letters, i % 3) AS k, i FROM generate_series(1, 3000) AS i;
		CREATE TYPE pg_temp.pair AS (k text, i integer);
		SELECT cuckoo_agg(k) FROM keys WHERE i < 20;
		SELECT md5(cuckoo_agg(k)::bytea) FROM keys;
		SELECT md5(cuckoo_agg(k::varchar, 5000, 0.01)::bytea) FROM keys;
		SELECT md5(cuckoo_agg(k::char(20))::bytea) FROM keys;
		SELECT md5(cuckoo_agg(k::name)::bytea) FROM keys;
		SELECT md5(cuckoo_stream_agg(k, 5000, 0.01)::bytea) FROM keys;
		SELECT md5(cuckoo_multiset_agg(k, 5000, 0.01)::bytea) FROM keys;
		SELECT md5(cuckoo_agg(ARRAY[k, NULL, 'a'])::bytea) FROM keys;
		SELECT md5(cuckoo_agg(jsonb_build_object(k, i, 'a', k))::bytea) FROM keys;
		SELECT md5(cuckoo_agg((k, i)::pg_temp.pair)::bytea) FROM keys;
		-- Shorter than "abc" in one encoding, longer in another, and jsonb
		-- sorts its keys by length
		SELECT cuckoo_hash(jsonb_build_object(left($letters, 2), 1, 'abc', 2, 'a', left($letters, 1)));
		SELECT md5(cuckoo_add_all(cuckoo_new(seed => 42), array_agg(k))::bytea) FROM keys;
		-- A label of an enum, whatever the others are, and a long text
		DO \$\$ BEGIN EXECUTE format('CREATE TYPE pg_temp.mood AS ENUM (%L, %L)', '$encoding', left($letters, 2)); END \$\$;
		SELECT cuckoo_hash(enum_last(NULL::pg_temp.mood)) # cuckoo_hash(repeat($letters, 25000));
		SQL
}

foreach my $encoding (grep { $letters{$_} } @encodings)
{
	my $expected = filters('UTF8', $letters{$encoding});

	is(scalar(split /\n/, $expected), 13, 'filters over lists, tables, arrays, jsonb, rows');
	is(filters($encoding, $letters{$encoding}), $expected, "$encoding and UTF8 give the same filters, in bytes");
}

# A filter from one encoding, with lookups in the other
foreach my $format (qw(text binary))
{
	my $file = "$folder/filter.$format";
	my $letters = $letters{LATIN1};

	foreach my $way ([qw(latin1 utf8)], [qw(utf8 latin1)])
	{
		my ($from, $to) = @$way;

		unlink $file;
		$node->safe_psql($from, "COPY (SELECT cuckoo_agg($letters || i) FROM generate_series(1, 5000) AS i) TO '$file' (FORMAT $format)");
		is($node->safe_psql($to, <<~SQL), 't|0', "a filter built in $from answers in $to, moved in $format format");
			CREATE TEMP TABLE filters (f cuckoofilter);
			COPY filters FROM '$file' (FORMAT $format);
			SELECT bool_and(f @> ($letters || i)), count(*) FILTER (WHERE f @> ('e' || $letters || i)) / 50 FROM filters, generate_series(1, 5000) AS i;
			SQL
	}
}

# The planner looks up common values of a column in a filter, but not if they
# would have to be converted.  The planner then uses the number of keys: here two
# for the 501 values of the column.
$node->safe_psql('win1252', <<~'SQL');
	SET client_encoding = 'WIN1252';
	CREATE TABLE words AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN E'\x81' ELSE 'key ' || i END AS word, i % 2 AS number FROM generate_series(1, 1000) AS i;
	ANALYZE words;
	CREATE TABLE filters AS SELECT cuckoo_from_array(ARRAY['key 1', 'key 3']) AS words, cuckoo_from_array(ARRAY[1]) AS numbers;
	SQL
my $rows = $node->safe_psql('win1252', q{SELECT format('EXPLAIN SELECT FROM words WHERE %L::cuckoofilter @> word', words) FROM filters \gexec});
like($rows, qr/rows=[1-9] /, 'the planner does not convert common values');
$rows = $node->safe_psql('win1252', q{SELECT format('EXPLAIN SELECT FROM words WHERE %L::cuckoofilter @> number', numbers) FROM filters \gexec});
like($rows, qr/rows=500 /, 'it looks up common integers');
is($node->safe_psql('win1252', q{SELECT count(*) FROM words, filters WHERE words @> word}), '2', 'a key without a form in UTF8 can be looked up');

# PostgreSQL has no conversion from MULE_INTERNAL to UTF8, and 19 no longer has
# this encoding.
SKIP:
{
	skip 'this PostgreSQL converts all its encodings to UTF8', 1
	  if $node->safe_psql('postgres', q{SELECT pg_char_to_encoding('MULE_INTERNAL')}) < 0;

	$node->safe_psql('postgres', q{CREATE DATABASE mule TEMPLATE template0 ENCODING 'MULE_INTERNAL' LOCALE 'C'});
	$node->safe_psql('mule', 'CREATE EXTENSION cuckoo');
	is(sqlstate($node, 'mule', q{SELECT cuckoo_hash(E'\\x81\\xE9')}), '42883', 'a key that no conversion exists for is an error');
}

my $e_acute = $node->safe_psql('utf8', q{SELECT cuckoo_hash(U&'\00E9')});
is($node->safe_psql('latin1', q{SELECT cuckoo_hash(U&'\00E9')}), $e_acute, 'a letter has one hash in UTF8 and in LATIN1');

# It is PostgreSQL's own conversion, whatever the search path finds.
my $odd = q{SET search_path = odd, pg_catalog, public; SELECT };
$node->safe_psql('latin1', q{CREATE SCHEMA odd; CREATE DEFAULT CONVERSION odd.odd FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8; UPDATE pg_conversion SET conproc = 'utf8_to_iso8859_1' WHERE conname = 'odd'});
like(sqlstate($node, 'latin1', qq{$odd convert_to(U&'\\00E9', 'UTF8')}), qr/^[0-9A-Z]{5}$/, 'a conversion that fails');
is($node->safe_psql('latin1', qq{$odd cuckoo_hash(U&'\\00E9')}), $e_acute, '... does not convert keys');

# In SQL_ASCII the meaning of bytes is unknown: they count as UTF-8.
is($node->safe_psql('sql_ascii', q{SELECT cuckoo_hash(E'\xC3\xA9')}), $e_acute, 'and the same in SQL_ASCII, if a client wrote it as UTF-8');
is($node->safe_psql('sql_ascii', q{SELECT cuckoo_hash(E'\x81')}), $node->safe_psql('win1252', q{SET client_encoding = 'WIN1252'; SELECT cuckoo_hash(E'\x81')}),
	'text without a form in UTF8 is hashed as its bytes');
isnt($node->safe_psql('sql_ascii', q{SELECT cuckoo_hash(E'\xE9')}), $e_acute, 'another one, if a client wrote it as LATIN1');
is($node->safe_psql('sql_ascii', q{SELECT cuckoo_agg('key ' || i) FROM generate_series(1, 100) AS i}),
	$node->safe_psql('utf8', q{SELECT cuckoo_agg('key ' || i) FROM generate_series(1, 100) AS i}),
	'keys that are ASCII are the same everywhere');

$node->stop;
done_testing();
