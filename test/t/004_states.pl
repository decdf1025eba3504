# Transition states can be sent: a planner that splits aggregates between
# servers gets the same filter as a plain aggregate.
#
# test/module/cuckoo_test.c runs transition functions like Citus, without
# Citus, and aggregates over the states combine them.  Every typed overload of
# every aggregate is found in the catalog, so that one added later is tested,
# too.

use CuckooTest;

my $node = new_server('main');
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo_citus CASCADE;
CREATE FUNCTION worker_partial_sfunc(internal, oid, anyelement) RETURNS internal LANGUAGE c AS '$libdir/cuckoo_test';
CREATE FUNCTION worker_partial_ffunc(internal) RETURNS cstring LANGUAGE c AS '$libdir/cuckoo_test';
CREATE FUNCTION aggregate_memory() RETURNS bigint LANGUAGE c AS '$libdir/cuckoo_test';
CREATE AGGREGATE worker_partial_agg(oid, anyelement) (SFUNC = worker_partial_sfunc, STYPE = internal, FINALFUNC = worker_partial_ffunc);

-- merge_NAME(state) for each aggregate NAME
SELECT DISTINCT format('CREATE AGGREGATE merge_%s(cuckoofilter) (SFUNC = %s, STYPE = cuckoofilter%s)', proname, aggcombinefn, ', FINALFUNC = ' || nullif(aggfinalfn, 0)::regproc)
FROM pg_aggregate JOIN pg_proc ON pg_proc.oid = aggfnoid WHERE aggtranstype = 'cuckoofilter'::regtype \gexec

-- Numbers to make keys from, held by four nodes.  Each node has some that
-- others have too, and rows without a key.
CREATE TABLE numbers (size text, node integer, n integer);
INSERT INTO numbers SELECT 'small', i % 4, i % 11 FROM generate_series(0, 43) AS i;
-- Beyond 98,304 keys a state becomes an expanded object: node 0 has as many.
INSERT INTO numbers SELECT 'large', 0, i FROM generate_series(1, 100000) AS i;
INSERT INTO numbers SELECT 'large', i % 3 + 1, i FROM generate_series(95001, 105000) AS i;
INSERT INTO numbers SELECT size, node, NULL FROM generate_series(0, 3) AS node, unnest('{small,large}'::text[]) AS size;
ANALYZE numbers;
SQL

# The filter that an aggregate makes of the states of four nodes
sub split_by_node
{
	my ($name, $signature, $argument, $from) = @_;

	return "(SELECT merge_$name(state::text::cuckoofilter) FROM
		(SELECT worker_partial_agg('$signature'::regprocedure, $argument) FROM $from GROUP BY node ORDER BY node) AS s (state))";
}

# Every overload, over all values of its parameters.  In a table that is less
# than three quarters full, the bytes do not depend on the order of keys.  For
# integer and text, states are large, too.
my %key = key_expressions();
my %parameter = (fpr => '0.002::float8', capacity => '200000::float8', seed => '42::bigint');
my (@queries, @behaviours);
foreach my $aggregate (split_aggregates($node))
{
	my (undef, $signature, $name, $types, $names) = @$aggregate;
	my ($type) = split /,/, $types;
	my (undef, @parameters) = split /,/, $names;
	my $arguments = join ', ', $key{$type} // die("key_expressions in CuckooTest.pm lacks $type"), map { $parameter{$_} } @parameters;

	foreach my $size ('small', @parameters == 3 && $type =~ /^(integer|text)$/ ? 'large' : ())
	{
		my $from = "numbers WHERE size = '$size'";

		push @queries, 'SELECT ' . split_by_node($name, $signature, @parameters ? "ROW($arguments)" : $arguments, $from)
		  . " = f AND cuckoo_cardinality(f) " . ($name eq 'cuckoo_intersection_agg' ? '=' : '>') . " 0 FROM (SELECT $name($arguments) FROM $from) AS plain (f);";
		push @behaviours, "$signature over $size sets gives the plain filter";
	}
}
my @results = split /\n/, $node->safe_psql('postgres', join "\n", 'SET max_parallel_workers_per_gather = 0;', @queries);
is($results[$_], 't', $behaviours[$_]) for 0 .. $#behaviours;

# In dense tables the places of entries depend on the order of rows.  Then the
# split aggregate holds the same as the plain one: the same keys, and as many
# copies.
foreach my $name (qw(cuckoo_stream_agg cuckoo_multiset_agg))
{
	my $missed = $name eq 'cuckoo_multiset_agg' ? 'cuckoo_count(s, n) < cuckoo_count(f, n)' : 'NOT s @> n';
	my $split = split_by_node($name, "$name(integer,float8,float8)", 'ROW(n, 120000::float8, 0.002::float8)', "numbers WHERE size = 'large'");

	is($node->safe_psql('postgres', <<~SQL), 'dense|dense|1|0', "$name over large sets, dense: the split one misses nothing");
		CREATE TEMP TABLE split AS SELECT $split AS s, $name(n, 120000, 0.002) AS f FROM numbers WHERE size = 'large';
		SELECT (cuckoo_info(f)).representation, (cuckoo_info(s)).representation, (cuckoo_info(s)).subfilters,
			(SELECT count(*) FROM numbers WHERE size = 'large' AND n IS NOT NULL AND $missed)
		FROM split;
		SQL
}

# A node without rows sends NULL.  Nodes must agree on the parameters.
is($node->safe_psql('postgres', <<~SQL), 't|t', 'nodes without rows change nothing');
	SELECT merge_cuckoo_agg(state::text::cuckoofilter) = (SELECT cuckoo_agg(n) FROM numbers WHERE node = 1), merge_cuckoo_agg(NULL) = (SELECT cuckoo_agg(n) FROM numbers WHERE node = 9)
	FROM (SELECT worker_partial_agg('cuckoo_agg(integer)'::regprocedure, n) FROM numbers WHERE node = 9 UNION ALL
		SELECT worker_partial_agg('cuckoo_agg(integer)'::regprocedure, n) FROM numbers WHERE node = 1) AS s (state);
	SQL
is(sqlstate($node, 'postgres', 'SELECT ' . split_by_node('cuckoo_agg', 'cuckoo_agg(integer,float8)', 'ROW(n, 100 * (node + 1)::float8)', 'numbers')),
	'22023', 'states of different parameters are refused');

# The key's type comes from the call of worker_partial_agg.  Anybody may make
# one, in any form.  test/citus/citus.pl has more of them.
$node->safe_psql('postgres', <<~'SQL');
	CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE VIEW small AS SELECT node, n, ('Key' || n) COLLATE nocase AS ci FROM numbers WHERE size = 'small';
	SQL
foreach my $case (
	[ 't', 'cuckoo_agg(integer)', 'ROW(n)', 'cuckoo_agg(n)' ],
	[ 't', 'cuckoo_agg(text,float8)', q{ROW('x'::text, 100::float8)}, q{cuckoo_agg('x', 100)} ],
	[ 't', 'cuckoo_agg(text,float8)', 'ROW(ci COLLATE "C", 100::float8)', 'cuckoo_agg(ci COLLATE "C", 100)' ],
	[ '42P18', 'cuckoo_agg(integer,float8)', 'r' ],
	[ '42P18', 'cuckoo_agg(integer)', '(SELECT ROW(1))' ],
	[ '42P18', 'cuckoo_agg(integer)', 'n) OVER (' ],
	[ '0A000', 'cuckoo_agg(text)', 'xmlelement(name x)' ],
	[ '0A000', 'cuckoo_agg(text)', 'ci' ],
	[ '0A000', 'cuckoo_agg(text,float8)', 'ROW(ci, 100::float8)' ])
{
	my ($result, $signature, $argument, $plain) = @$case;

	is( sqlstate($node, 'postgres', $plain
			? 'SELECT ' . split_by_node('cuckoo_agg', $signature, $argument, 'small') . " = $plain FROM small"
			: "SELECT worker_partial_agg('$signature'::regprocedure, $argument)
				FROM (SELECT *, ROW(n, 100::float8) AS r FROM small OFFSET 0) AS s"),
		$result, "$signature of $argument");
}

# The memory of a state depends on the distinct keys, not on the rows: no call
# leaks memory.  A multiset keeps up to eight copies of each key.
foreach my $case (map { my $name = $_; map { [ $name, $_ ] } 'text', 'integer', 'numeric', 'double precision' } qw(cuckoo_agg cuckoo_stream_agg cuckoo_multiset_agg))
{
	my ($name, $type) = @$case;
	my ($few, $many) = map { (split /\n/, $node->safe_psql('postgres', <<~SQL))[1] } 20_000, 200_000;
		SELECT worker_partial_agg('$name($type,float8,float8)'::regprocedure, ROW($key{$type}, 200000::float8, 0.002::float8))::text <> '' FROM (SELECT i % 5000 FROM generate_series(1, $_) AS i) AS s (n);
		SELECT aggregate_memory();
		SQL

	cmp_ok($many, '<=', $name =~ /multiset/ ? 5 * $few : $few + 65536, "$name of $type keeps nothing of repeated keys: $few bytes after 20,000 rows, $many after 200,000");
}

# 8 bytes per distinct key, and the room that a growing state needs
my ($large) = $node->safe_psql('postgres', <<~SQL) =~ /(\d+)$/;
	SELECT worker_partial_agg('cuckoo_agg(integer)'::regprocedure, n)::text <> '' FROM (SELECT generate_series(1, 1000000)) AS s (n);
	SELECT aggregate_memory();
	SQL
cmp_ok($large, '<=', 2 * 8 * 1_000_000 + 2**21, "a state of a million keys takes $large bytes");

$node->stop;
done_testing();
