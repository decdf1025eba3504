# Sentences of the README and the guide that no example shows.  Each is looked
# for in its page, so that page and test change together.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

my $node = new_server('main');
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo');

sub query
{
	return $node->safe_psql('postgres', @_);
}

# That the page has the sentence, however its lines are broken
sub says
{
	my ($page, $sentence) = @_;
	my $text = join ' ', split ' ', slurp_file("$FindBin::RealBin/../../$page");

	ok(index($text, $sentence) >= 0, "$page: $sentence");
	return;
}

#
# Indexes
#
says('README.md', "`DISTINCT`, `GROUP BY`, `ORDER BY` and hash indexes work. A B-tree index takes filters of up to 2,704 bytes, PostgreSQL's limit for an entry.");
query(<<~SQL);
	CREATE TABLE small AS SELECT g, cuckoo_agg(i) AS f FROM generate_series(1, 10) AS g, generate_series(g, g + 1500) AS i GROUP BY g;
	CREATE TABLE large AS SELECT g, cuckoo_agg(i) AS f FROM generate_series(1, 10) AS g, generate_series(g, g + 20000) AS i GROUP BY g;
	INSERT INTO large SELECT * FROM large;
	CREATE INDEX ON small (f);
	CREATE INDEX ON large USING hash (f);
	SQL
is(query('SELECT max(pg_column_size(f)) BETWEEN 2000 AND 2704 FROM small'), 't', 'filters for a B-tree index');
is(sqlstate($node, 'postgres', 'CREATE INDEX ON large (f)'), '54000', 'larger ones are an error of PostgreSQL');
is(query(<<~SQL), '1|2', 'both indexes find filters');
	SET enable_seqscan = off;
	SELECT (SELECT count(*) FROM small WHERE f = (SELECT f FROM small WHERE g = 3)),
		(SELECT count(*) FROM large WHERE f = (SELECT f FROM large WHERE g = 3 LIMIT 1));
	SQL
is(query("SET enable_hashagg = $_; SELECT (SELECT count(*) FROM (SELECT DISTINCT f FROM large) AS s), (SELECT count(*) FROM (SELECT f FROM large GROUP BY f ORDER BY f) AS s)"),
	'10|10', "DISTINCT, GROUP BY and ORDER BY, enable_hashagg = $_") foreach qw(on off);

#
# Merges of parts
#
says('docs/guide.md', 'byte for byte, if all were built with the capacity of the whole and each has more than 32 keys');
my $merged = query(<<~SQL);
	SELECT n, (a || b) = whole, cuckoo_contains_all(a || b, ARRAY(SELECT generate_series(1, 200000))), cuckoo_cardinality(a || b)
	FROM (SELECT cuckoo_agg(i, 0.001, 200000) AS whole FROM generate_series(1, 200000) AS i) AS w,
		unnest('{20,32,33,1000}'::integer[]) AS n
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 0.001, 200000) AS a FROM generate_series(1, n) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 0.001, 200000) AS b FROM generate_series(n + 1, 200000) AS i) AS y
	ORDER BY n;
	SQL
is($merged, "20|f|t|200000\n32|f|t|200000\n33|t|t|200000\n1000|t|t|200000", 'parts of 20, 32, 33 and 1,000 keys and their rest');

#
# Growth
#
says('docs/guide.md', 'so a filter of one table that is filled up to its capacity and emptied again and again does not grow, as long as each key is added once');
is(query(<<~SQL), '1|0', 'twenty rounds of 50,000 other keys each');
	SET client_min_messages = warning;
	CREATE FUNCTION rounds() RETURNS cuckoofilter LANGUAGE plpgsql AS \$\$
	DECLARE
		f cuckoofilter := cuckoo_new(0.001, 50000);
		keys integer[];
	BEGIN
		FOR r IN 1..20 LOOP
			keys := ARRAY(SELECT generate_series(r * 50000 + 1, r * 50000 + 50000));
			f := cuckoo_remove_all(cuckoo_add_all(f, keys), keys);
		END LOOP;
		RETURN f;
	END \$\$;
	SELECT (cuckoo_info(f)).tables, cuckoo_cardinality(f) FROM rounds() AS f;
	SQL

#
# Literals and parameters without a type
#
says('README.md', "`f @> '5'` on a filter of integers is an error: write `f @> 5` or `f @> '5'::integer`, and `f @> \$1::integer` unless the parameter's type is declared.");
is(sqlstate($node, 'postgres', q{SELECT cuckoo_from_array('{1,5}'::integer[]) @> '5'}), '42804', 'an untyped literal is text');
is(query(q{SELECT f @> 5, f @> '5'::integer FROM cuckoo_from_array('{1,5}'::integer[]) AS f}), 't|t', 'one with a type is not');
is(sqlstate($node, 'postgres', q{PREPARE q AS SELECT cuckoo_from_array('{1,5}'::integer[]) @> $1; EXECUTE q (5)}), '42804', 'an untyped parameter is text');
is(query(q{PREPARE q AS SELECT cuckoo_from_array('{1,5}'::integer[]) @> $1::integer; EXECUTE q (5)}), 't', 'one with a cast is not');
is(query(q{PREPARE q (integer) AS SELECT cuckoo_from_array('{1,5}'::integer[]) @> $1; EXECUTE q (5)}), 't', 'nor one whose type is declared');

#
# Parameters and partitions
#
says('docs/guide.md', 'A filter that is a parameter or a variable becomes a constant of the plan, once for each partition of a partitioned table');
query(<<~SQL);
	CREATE TABLE part (p integer, k integer) PARTITION BY LIST (p);
	DO 'BEGIN FOR i IN 1..100 LOOP EXECUTE format(''CREATE TABLE part_%s PARTITION OF part FOR VALUES IN (%s)'', i, i); END LOOP; END';
	INSERT INTO part SELECT p, k FROM generate_series(1, 100) AS p, generate_series(1, 10) AS k;
	CREATE TABLE stored AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, 700000) AS i;
	SQL

# The megabytes by which a query makes the memory of a new session grow
sub growth
{
	my ($condition) = @_;
	my $memory = q{(SELECT substring(line FROM '\d+')::integer / 1024
		FROM regexp_split_to_table(pg_read_file('/proc/self/status'), E'\n') AS line WHERE line LIKE 'VmHWM:%')};
	my ($status, $stdout, $stderr) = $node->psql('postgres', <<~SQL);
		SET max_parallel_workers_per_gather = 0;
		DO \$\$
		DECLARE
			v cuckoofilter := (SELECT f FROM stored);
			before integer := $memory;
			n bigint;
		BEGIN
			SELECT count(*) INTO n FROM part WHERE $condition;
			RAISE NOTICE '% rows, % MB', n, $memory - before;
		END \$\$;
		SQL

	$stderr =~ /(\d+) rows, (-?\d+) MB/ or die $stderr;
	is($1, 1000, "$condition: all rows pass");
	return $2;
}
SKIP:
{
	skip 'no /proc here', 4 unless -e '/proc/self/status';
	cmp_ok(growth('v @> k'), '>', 90, 'a variable is copied for each of 100 partitions, 1.1 MB each time');
	cmp_ok(growth('(SELECT v) @> k'), '<', 30, 'a sub-select is not');
}

$node->stop;
done_testing();
