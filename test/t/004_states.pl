# Transition states can be sent: a planner that splits aggregates between
# servers gets the same filter as a plain aggregate.
#
# test/citus_like/citus_like.c does it like Citus, without Citus.  Every typed
# overload of every aggregate is found in the catalog, so that one added later
# is tested, too.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

my $node = new_server('main');

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citus_like'}) == 0)
{
	plan skip_all => 'needs test/citus_like, installed as by test/run.sh';
}
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo_citus CASCADE;
CREATE EXTENSION citus_like;

-- Numbers to make keys from, held by four nodes.  Each node has some that
-- others have too, and rows without a key.
CREATE TABLE numbers (size text, node integer, n integer);
INSERT INTO numbers SELECT 'small', i % 4, i % 11 FROM generate_series(0, 43) AS i;
INSERT INTO numbers SELECT 'medium', i % 4, i % 3000 FROM generate_series(0, 7999) AS i;
-- Beyond 98,304 keys a state becomes an expanded object: node 0 has as many.
INSERT INTO numbers SELECT 'large', 0, i FROM generate_series(1, 100000) AS i;
INSERT INTO numbers SELECT 'large', i % 3 + 1, i FROM generate_series(95001, 105000) AS i;
INSERT INTO numbers SELECT size, node, NULL FROM generate_series(0, 3) AS node, unnest('{small,medium,large}'::text[]) AS size;
ANALYZE numbers;
SQL

my %key = key_expressions();
my %parameter = (fpr => '0.002::float8', capacity => '200000::float8', seed => '42::bigint');

# Types of keys for which large states are tested: they depend on the hashes
# alone
my %with_large = map { $_ => 1 } qw(integer text);

my @aggregates = split_aggregates($node);

# Queries that return true, and what that means, by type.  Each type has its own
# session.
my %overloads;
my (%queries, %behaviours);
foreach my $aggregate (@aggregates)
{
	my ($oid, $signature, $name, $types, $names) = @$aggregate;
	my ($type, @parameter_types) = split /,/, $types;
	my (undef, @parameter_names) = split /,/, $names;
	my $all_parameters = @parameter_names == 3 || $type eq 'cuckoofilter';
	my @sizes = ('small', $all_parameters ? 'medium' : (), $all_parameters && $with_large{$type} ? 'large' : ());

	$overloads{$name}{$type}++;
	if (!defined $key{$type} || grep { !defined $parameter{$_} } @parameter_names)
	{
		fail("$signature: this test does not know what arguments to give it");
		next;
	}
	my $arguments = join ', ', $key{$type}, map { $parameter{$_} } @parameter_names;
	my $argument = @parameter_names ? "ROW($arguments)" : $arguments;

	$queries{$type} //= "SET max_parallel_workers_per_gather = 0;\n";
	foreach my $size (@sizes)
	{
		# The result of the plain aggregate.  In a table that is less than three
		# quarters full, the bytes do not depend on the order of keys, for any
		# of the aggregates.
		my $plain = "SELECT $name($arguments) FROM numbers WHERE size = '$size'";
		$queries{$type} .= <<~SQL;
			SELECT split.f = plain.f AND cuckoo_cardinality(plain.f) > 0
			FROM ($plain) AS plain (f),
				(SELECT coord_combine_agg($oid, state, NULL::cuckoofilter) FROM
					(SELECT worker_partial_agg($oid, $argument) FROM numbers WHERE size = '$size' GROUP BY node ORDER BY node) AS s (state)) AS split (f);
			SQL
		push @{ $behaviours{$type} }, "$signature over $size sets gives the plain filter";
	}
}
foreach my $type (sort keys %queries)
{
	my @results = split /\n/, sqlstate($node, 'postgres', $queries{$type});
	my @behaviours = @{ $behaviours{$type} };

	is($results[$_] // 'no result', 't', $behaviours[$_]) for 0 .. $#behaviours;
}

# In dense tables the places of entries depend on the order of rows.  Then the
# split aggregate holds the same as the plain one: the same keys, and as many
# copies.
foreach my $name (qw(cuckoo_stream_agg cuckoo_multiset_agg))
{
	my $oid = $node->safe_psql('postgres', "SELECT '$name(integer,float8,float8)'::regprocedure::oid");
	my $missed = $name eq 'cuckoo_multiset_agg' ? 'cuckoo_count(split.f, n) < cuckoo_count(plain.f, n)' : 'NOT split.f @> n';

	is($node->safe_psql('postgres', <<~SQL),
		CREATE TEMP TABLE split AS SELECT coord_combine_agg($oid, state, NULL::cuckoofilter) AS f FROM
			(SELECT worker_partial_agg($oid, ROW(n, 120000::float8, 0.002::float8)) FROM numbers WHERE size = 'large' GROUP BY node ORDER BY node) AS s (state);
		CREATE TEMP TABLE plain AS SELECT $name(n, 120000, 0.002) AS f FROM numbers WHERE size = 'large';
		SELECT (cuckoo_info(plain.f)).representation, (cuckoo_info(split.f)).representation, (cuckoo_info(split.f)).subfilters,
			(SELECT count(*) FROM numbers WHERE size = 'large' AND n IS NOT NULL AND $missed)
		FROM plain, split;
		SQL
		'dense|dense|1|0', "$name over large sets, dense: the split one misses nothing");
}

# No built-in scalar key type has only the polymorphic overload.
my @expected = sort grep { $_ ne 'cuckoofilter' } keys %key;
foreach my $name (qw(cuckoo_agg cuckoo_stream_agg cuckoo_multiset_agg))
{
	is_deeply([ sort keys %{ $overloads{$name} } ], \@expected, "$name has an overload for each type of key");
	is_deeply([ grep { $overloads{$name}{$_} != ($name eq 'cuckoo_agg' ? 4 : 3) } @expected ], [], '... with every number of parameters');
}
is($overloads{$_}{cuckoofilter}, 1, "$_ can be split") for qw(cuckoo_union_agg cuckoo_union_all_agg);

# A node without rows sends NULL, and there may be only such nodes.
my $oid = $node->safe_psql('postgres', q{SELECT 'cuckoo_agg(integer)'::regprocedure::oid});
is($node->safe_psql('postgres', <<~SQL),
	SELECT coord_combine_agg($oid, state, NULL::cuckoofilter) = (SELECT cuckoo_agg(n) FROM numbers WHERE node = 1 AND size = 'small')
	FROM (SELECT worker_partial_agg($oid, n) FROM numbers WHERE node = 9 UNION ALL
		SELECT worker_partial_agg($oid, n) FROM numbers WHERE node = 1 AND size = 'small' UNION ALL
		SELECT worker_partial_agg($oid, n) FROM numbers WHERE node = 9) AS s (state);
	SELECT coord_combine_agg($oid, state, NULL::cuckoofilter) = (SELECT cuckoo_agg(n) FROM numbers WHERE node = 9)
	FROM (SELECT NULL::cstring FROM generate_series(1, 3)) AS s (state);
	SQL
	"t\nt", 'nodes without rows change nothing');

# Nodes must agree on the parameters.
is(sqlstate($node, 'postgres', <<~SQL),
	SELECT coord_combine_agg(a, state, NULL::cuckoofilter) FROM
		(SELECT a, worker_partial_agg(a, ROW(n, 100 * (node + 1)::float8)) FROM numbers, (SELECT 'cuckoo_agg(integer,float8)'::regprocedure::oid) AS s (a) GROUP BY a, node) AS s (a, state) GROUP BY a;
	SQL
	'22023', 'states of different parameters are refused');

# A state is not a filter yet: it can be moved and inspected, but keys cannot be
# looked up in it.
is($node->safe_psql('postgres', <<~SQL),
	SELECT (cuckoo_info(state::text::cuckoofilter)).representation FROM (SELECT worker_partial_agg($oid, n) FROM numbers WHERE size = 'small') AS s (state);
	SQL
	'partial', 'a state is marked as such');
is(sqlstate($node, 'postgres', <<~SQL),
	SELECT state::text::cuckoofilter @> 1 FROM (SELECT worker_partial_agg($oid, n) FROM numbers WHERE size = 'small') AS s (state);
	SQL
	'55000', 'keys cannot be looked up in a state');

#
# The key's type comes from the call of worker_partial_agg.  Anybody may make one,
# in any form.
#
$node->safe_psql('postgres', <<~'SQL');
	CREATE TYPE mood AS ENUM ('sad', 'content', 'happy');
	CREATE TYPE pair AS (a integer, b text);
	CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE FUNCTION mood_of(n integer) RETURNS mood LANGUAGE sql AS 'SELECT (enum_range(NULL::mood))[1 + n % 3]';
	CREATE AGGREGATE own_agg(key mood) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final, COMBINEFUNC = cuckoo_agg_combine);
	CREATE AGGREGATE own_agg(key pair) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final, COMBINEFUNC = cuckoo_agg_combine);
	CREATE AGGREGATE own_agg(key pair, capacity float8) (SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_stream_agg_final, COMBINEFUNC = cuckoo_stream_agg_combine);
	-- Its transition function also combines, and is given states.
	CREATE FUNCTION length_of(cuckoofilter) RETURNS jsonb LANGUAGE sql AS 'SELECT to_jsonb(length($1::text))';
	CREATE AGGREGATE strange_agg(key integer) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = length_of, COMBINEFUNC = cuckoo_agg_transfn);
	CREATE VIEW small AS SELECT node, n, mood_of(n) AS m, row(n, 'x' || n)::pair AS p, ('Key' || n) COLLATE nocase AS ci FROM numbers WHERE size = 'small';
	SQL
foreach my $case (
	[ 'own_agg(mood)', 'm', 'own_agg(m)' ],
	[ 'own_agg(pair)', 'p', 'own_agg(p)' ],
	[ 'own_agg(pair,float8)', 'ROW(p, 100::float8)', 'cuckoo_stream_agg(p, 100)' ],
	[ 'cuckoo_agg(integer)', 'ROW(n)', 'cuckoo_agg(n)' ],
	[ 'cuckoo_agg(text,float8)', q{ROW('x'::text, 100::float8)}, q{cuckoo_agg('x', 100)} ],
	[ 'cuckoo_agg(text,float8)', 'ROW(ci COLLATE "C", 100::float8)', 'cuckoo_agg(ci COLLATE "C", 100)' ])
{
	my ($signature, $argument, $plain) = @$case;

	is($node->safe_psql('postgres', <<~SQL), 't', "the key's type is found: $signature of $argument");
		SELECT coord_combine_agg(a, state, NULL::cuckoofilter) = (SELECT $plain FROM small)
		FROM (SELECT a, worker_partial_agg(a, $argument) FROM small, (SELECT '$signature'::regprocedure::oid) AS o (a) GROUP BY a, node ORDER BY node) AS s (a, state) GROUP BY a;
		SQL
}
foreach my $case (
	[ '42P18', 'a record that is not made in the call', q{SELECT worker_partial_agg('cuckoo_agg(integer,float8)'::regprocedure, r) FROM (SELECT ROW(n, 100::float8) AS r FROM small OFFSET 0) AS s} ],
	[ '42P18', 'a record of a record', q{SELECT worker_partial_agg('cuckoo_agg(integer)'::regprocedure, (SELECT ROW(1)))} ],
	[ '42P18', 'a window', q{SELECT worker_partial_agg('cuckoo_agg(integer)'::regprocedure, n) OVER () FROM small} ],
	[ '42P18', 'a state as key', q{SELECT coord_combine_agg('strange_agg(integer)'::regprocedure, state, NULL::jsonb) FROM (SELECT worker_partial_agg('cuckoo_agg(integer)'::regprocedure, n) FROM small) AS s (state)} ],
	[ '0A000', 'a type that cannot be a key', q{SELECT worker_partial_agg('cuckoo_agg(text)'::regprocedure, xmlelement(name x)) FROM small} ],
	[ '0A000', 'a nondeterministic collation', q{SELECT worker_partial_agg('cuckoo_agg(text)'::regprocedure, ci) FROM small} ],
	[ '0A000', 'a nondeterministic collation beside a capacity', q{SELECT worker_partial_agg('cuckoo_agg(text,float8)'::regprocedure, ROW(ci, 100::float8)) FROM small} ])
{
	my ($code, $name, $query) = @$case;

	is(sqlstate($node, 'postgres', $query), $code, "refused: $name");
}

# The memory of a state depends on the distinct keys, not on the rows: no call
# leaks memory.
my @rows = (20_000, 200_000);
foreach my $signature (grep { $_->[1] =~ /^cuckoo_(agg|stream_agg|multiset_agg)\((text|integer|numeric|double precision),/ } @aggregates)
{
	my ($oid, $name, undef, $types, $names) = @$signature;
	my ($type) = split /,/, $types;
	my (undef, @parameter_names) = split /,/, $names;
	next if @parameter_names != 2;
	my $argument = 'ROW(' . join(', ', $key{$type}, map { $parameter{$_} } @parameter_names) . ')';
	my ($few, $many) = map { sqlstate($node, 'postgres', <<~SQL) } @rows;
		SELECT worker_partial_agg($oid, $argument)::text <> '' FROM (SELECT i % 5000 FROM generate_series(1, $_) AS i) AS s (n);
		SELECT aggregate_memory();
		SQL
	s/^t\n// for $few, $many;
	if ("$few $many" !~ /^\d+ \d+$/)
	{
		fail("$name keeps nothing of repeated keys: $few, $many");
		next;
	}

	# A multiset keeps up to eight copies of each key.
	my $limit = $name =~ /multiset/ ? 5 * $few : $few + 65536;
	cmp_ok($many, '<=', $limit, "$name keeps nothing of repeated keys: $few bytes after $rows[0] rows, $many after $rows[1]");
}

# 8 bytes per distinct key, and the room that a growing state needs
my ($large) = $node->safe_psql('postgres', <<~SQL) =~ /(\d+)$/;
	SELECT worker_partial_agg($oid, n)::text <> '' FROM (SELECT generate_series(1, 1000000)) AS s (n);
	SELECT aggregate_memory();
	SQL
cmp_ok($large, '<=', 2 * 8 * 1_000_000 + 2**21, "a state of a million keys takes $large bytes");

$node->stop;
done_testing();
