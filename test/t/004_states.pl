# Transition states travel: planners that split aggregates between servers get
# the filter that a plain aggregate gives.
#
# The way Citus does it, without Citus: test/citus/citus_like.c.  Every typed
# overload of every aggregate is found in the catalog, so that one added later
# is tested too.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

my $node = new_server('main');

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citus_like'}) == 0)
{
	plan skip_all => 'needs test/citus, installed as by test/run.sh';
}
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE EXTENSION citus_like;

-- Aggregates that can be split, with the types and names of their arguments
CREATE VIEW splittable AS
SELECT p.oid, p.oid::regprocedure::text AS aggregate, p.proname AS name,
	string_to_array(oidvectortypes(p.proargtypes), ', ') AS types, p.proargnames AS names,
	a.aggtransfn, a.aggcombinefn, a.aggfinalfn
FROM pg_depend AS d
	JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
WHERE e.extname = 'cuckoo' AND d.deptype = 'e'
	AND NOT 'anycompatible'::regtype = ANY (p.proargtypes::oid[]);

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

# How a number becomes a key of a type.
my %key = (
	'text' => q{'key ' || n},
	'"char"' => q{(n % 256 - 128)::"char"},
	'smallint' => q{(n % 65536 - 32768)::smallint},
	'integer' => q{n},
	'bigint' => q{n * 10000000000},
	'uuid' => q{md5(n::text)::uuid},
	'bytea' => q{decode(lpad(to_hex(n), 8, '0'), 'hex')},
	'numeric' => q{n / 8.0},
	'real' => q{n::real / 8},
	'double precision' => q{n::float8 / 10},
	'date' => q{date '2000-01-01' + n},
	'timestamp without time zone' => q{timestamp '2000-01-01' + n * interval '1 minute'},
	'timestamp with time zone' => q{timestamptz '2000-01-01 00:00:00Z' + n * interval '1 minute'},
	'cuckoofilter' => q{cuckoo_from_array(ARRAY[n, n + 1, n + 2])});
my %parameter = (fpr => '0.002::float8', capacity => '200000::float8');

my @aggregates = map { [ split /\t/ ] } split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT concat_ws(E'\t', oid, aggregate, name, array_to_string(types, ','), array_to_string(names, ','), aggtransfn::oid::regproc, aggcombinefn::oid::regproc, aggfinalfn::oid::regproc)
FROM splittable ORDER BY aggregate
SQL

my %overloads;
foreach my $aggregate (@aggregates)
{
	my ($oid, $signature, $name, $types, $names, $transition, $combine, $final) = @$aggregate;
	my ($type, @parameter_types) = split /,/, $types;
	my (undef, @parameter_names) = split /,/, $names;
	my @sizes = $type eq 'cuckoofilter' ? qw(small) : qw(small medium large);

	$overloads{$name}{$type}++;
	if (!defined $key{$type} || grep { !defined $parameter{$_} } @parameter_names)
	{
		fail("$signature: this test does not know what arguments to give it");
		next;
	}
	my $arguments = join ', ', "($key{$type})::$type", map { $parameter{$_} } @parameter_names;
	my $argument = @parameter_names ? "ROW($arguments)" : $arguments;

	# PostgreSQL's own way to split: the same functions, with expressions and
	# with what they keep from call to call.
	my $queries = <<~SQL;
		SET client_min_messages = warning;
		SET max_parallel_workers_per_gather = 0;
		DROP AGGREGATE IF EXISTS plain_state($types);
		CREATE AGGREGATE plain_state($types) (SFUNC = $transition, STYPE = cuckoofilter);
		DROP AGGREGATE IF EXISTS plain_combine(cuckoofilter);
		CREATE AGGREGATE plain_combine(cuckoofilter) (SFUNC = $combine, STYPE = cuckoofilter, FINALFUNC = $final);
		SQL
	my @behaviours;
	foreach my $size (@sizes)
	{
		# What the plain aggregate gives.  Only cuckoo_agg promises the same
		# bytes whatever the order: for others, keys come in the order that
		# splitting has.
		my $plain = $name eq 'cuckoo_agg'
		  ? "SELECT $name($arguments) FROM numbers WHERE size = '$size'"
		  : "SELECT plain_combine(state) FROM (SELECT plain_state($arguments) AS state FROM numbers WHERE size = '$size' GROUP BY node ORDER BY node) AS s";
		# Each form is the type's own, whatever the overload.
		my @forms = $size eq 'large' && @parameter_names ? ('binary_') : ('', 'binary_');
		foreach my $form (@forms)
		{
			$queries .= <<~SQL;
				SELECT split.f = plain.f AND cuckoo_cardinality(plain.f) > 0
				FROM ($plain) AS plain (f),
					(SELECT coord_${form}combine_agg($oid, state, NULL::cuckoofilter) FROM
						(SELECT worker_${form}partial_agg($oid, $argument) FROM numbers WHERE size = '$size' GROUP BY node ORDER BY node) AS s (state)) AS split (f);
				SQL
			push @behaviours, "$signature over $size sets gives the plain filter, through the " . ($form ? 'binary' : 'text') . ' form';
		}
	}
	my @results = split /\n/, sqlstate($node, 'postgres', $queries);
	is($results[$_] // 'no result', 't', $behaviours[$_]) for 0 .. $#behaviours;
}

# No key type is left to the polymorphic overload alone.
my @expected = sort grep { $_ ne 'cuckoofilter' } keys %key;
foreach my $name (qw(cuckoo_agg cuckoo_stream_agg cuckoo_multiset_agg))
{
	is_deeply([ sort keys %{ $overloads{$name} } ], \@expected, "$name has an overload for each type of key");
}
is($overloads{$_}{cuckoofilter}, 1, "$_ can be split") for qw(cuckoo_union_agg cuckoo_merge_agg);

# A node without rows sends NULL, and there may be nothing but such nodes.
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
		(SELECT a, worker_partial_agg(a, ROW(n, 0.01 * (node + 1)::float8)) FROM numbers, (SELECT 'cuckoo_agg(integer,float8)'::regprocedure::oid) AS s (a) GROUP BY a, node) AS s (a, state) GROUP BY a;
	SQL
	'22023', 'states of different parameters are refused');

# A state is not a filter yet: it can be moved, and looked at, but not asked.
is($node->safe_psql('postgres', <<~SQL),
	SELECT (cuckoo_info(state::text::cuckoofilter)).body FROM (SELECT worker_partial_agg($oid, n) FROM numbers WHERE size = 'small') AS s (state);
	SQL
	'partial', 'a state is marked as such');
is(sqlstate($node, 'postgres', <<~SQL),
	SELECT state::text::cuckoofilter @> 1 FROM (SELECT worker_partial_agg($oid, n) FROM numbers WHERE size = 'small') AS s (state);
	SQL
	'55000', 'a state cannot be asked');

# What a state takes depends on the distinct keys, not on the rows: nothing is
# left behind by a call.
my @rows = (20_000, 200_000);
foreach my $signature (grep { $_->[1] =~ /^cuckoo_(agg|stream_agg|multiset_agg)\((text|integer|numeric|double precision),/ } @aggregates)
{
	my ($oid, $name, undef, $types, $names) = @$signature;
	my ($type) = split /,/, $types;
	my (undef, @parameter_names) = split /,/, $names;
	my $argument = 'ROW(' . join(', ', "($key{$type})::$type", map { $parameter{$_} } @parameter_names) . ')';
	my ($few, $many) = map { sqlstate($node, 'postgres', <<~SQL) } @rows;
		SELECT length(worker_binary_partial_agg($oid, $argument)) > 0 FROM (SELECT i % 5000 FROM generate_series(1, $_) AS i) AS s (n);
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

# 8 bytes a distinct key, and what room a growing state needs
my ($large) = $node->safe_psql('postgres', <<~SQL) =~ /(\d+)$/;
	SELECT length(worker_binary_partial_agg($oid, n)) > 0 FROM (SELECT generate_series(1, 1000000)) AS s (n);
	SELECT aggregate_memory();
	SQL
cmp_ok($large, '<=', 2 * 8 * 1_000_000 + 2**21, "a state of a million keys takes $large bytes");

$node->stop;
done_testing();
