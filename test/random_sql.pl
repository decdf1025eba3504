#!/usr/bin/perl
#
# Prints random SQL over everything that the extension brings: edge values of
# every type, NULLs, wrong types, damaged bytes, states of aggregates where a
# filter belongs, and nesting.
#
#   random_sql.pl SEED STATEMENTS
#
# The same arguments give the same statements.  random_sql.sh runs them.

use strict;
use warnings;

my ($seed, $statements) = @ARGV;
die "usage: $0 SEED STATEMENTS\n" unless defined $statements;
srand $seed;

sub pick { return $_[ rand @_ ]; }
sub chance { return rand() < $_[0]; }

my @integers = ('0', '1', '-1', '7', '8', '9', '31', '33', '127', '128', '255', '256', '1024', '1025', '32767', '65536',
	'2147483647', '(-2147483648)', 'NULL::integer');
my @bigints = (@integers, '9223372036854775807', "'-9223372036854775808'::bigint", '4294967296', 'NULL::bigint');
my @floats = ('0.001', '0.01', '0.1', '0.1000001', '2e-8', '1.9e-8', '1e-9', '0', '-0.0', '1', '-1', '0.5', '1.5', '1000', '1e5',
	'2e6', '1e9', '1099511627776', '1099511627777', '1e308', '5e-324', "'NaN'", "'Infinity'", "'-Infinity'", 'NULL');

# Keys of a type.  %d is a random number.
my %keys = (
	smallint => ['%d::smallint', '0::smallint', '(-32768)::smallint'],
	integer => [ '%d', @integers ],
	bigint => [ '%d::bigint', map { "($_)::bigint" } @bigints ],
	oid => ['%d::oid', "'pg_class'::regclass::oid"],
	boolean => ['true', 'false'],
	'"char"' => [q{'a'::"char"}, q{''::"char"}, q{'\377'::"char"}],
	text => [q{'%d'::text}, q{''::text}, q{repeat('x', 3000)}, q{repeat('y', 200000)}, q{E'\u00f6\U0001F600'}, q{'a' COLLATE "C"}, q{'ab'::varchar(1)}],
	name => [q{'a name'::name}],
	'char(5)' => [q{'ab'::char(5)}, q{'  '::char(5)}],
	bytea => [q{'\x'::bytea}, q{'\x00ff%04d'::bytea}, q{decode(repeat('00', 500), 'hex')}],
	numeric => ['%d.50', q{'NaN'::numeric}, q{'Infinity'::numeric}, q{'-Infinity'::numeric}, '0.000', '1e1000', '1e-1000', '-0.0', '10000', '123456789012345678901234567890.12'],
	real => ['%d::real', q{'NaN'::real}, q{'-0'::real}, q{'Infinity'::real}],
	'double precision' => ['%d::float8', q{'NaN'::float8}, q{'-0'::float8}, '1e308', '5e-324'],
	uuid => [q{md5('%d')::uuid}],
	date => [q{'infinity'::date}, q{date '2000-01-01' + %d}, q{'4713-01-01 BC'::date}],
	time => [q{'24:00'::time}, q{'00:00'::time}],
	timetz => [q{'12:00+01'::timetz}, q{'24:00-15:59'::timetz}],
	timestamp => [q{'-infinity'::timestamp}, q{'2000-01-01'::timestamp + %d * interval '1 s'}],
	timestamptz => [q{'infinity'::timestamptz}, q{'2000-01-01 00:00Z'::timestamptz}],
	interval => [q{'1 month'::interval}, q{'30 days'::interval}, q{'178956970 years'::interval}, q{'-178956970 years -2147483648 days'::interval}],
	inet => [q{'10.0.0.%d'::inet}, q{'::1/0'::inet}],
	cidr => [q{'10.0.0.0/8'::cidr}],
	macaddr => [q{'08:00:2b:01:02:03'::macaddr}],
	macaddr8 => [q{'08:00:2b:01:02:03:04:05'::macaddr8}],
	money => [q{'1.00'::money}],
	bit => [q{B'101'}, q{B''}, q{repeat('1', 77)::varbit}],
	pg_lsn => [q{'FFFFFFFF/FFFFFFFF'::pg_lsn}],
	xid8 => [q{'18446744073709551615'::xid8}],
	enum => [q{'red'::colour}, q{'a'::colour}],
	domain => [q{5::positive}, q{'x'::short}],
	jsonb => [q{'null'::jsonb}, q{'{}'::jsonb}, q{'[]'::jsonb}, q{'{"a": [1, 2.50, {"b": null}], "c": "%d"}'::jsonb}, q{'"s"'::jsonb}, q{(repeat('[', 300) || repeat(']', 300))::jsonb}],
	array => [q{ARRAY[1, NULL, %d]}, q{'{}'::int[]}, q{'[-3:-1]={1,2,3}'::int[]}, q{'{{1,2},{3,4}}'::int[]}, q{ARRAY['a', NULL]}, q{ARRAY[ROW(1, NULL)]}, q{ARRAY['{}'::jsonb]}, q{ARRAY['[1,2)'::int4range]}],
	composite => [q{ROW(1, NULL, 'x'::text)}, q{ROW()}, q{ROW(ROW(1, ARRAY[2]), '{}'::jsonb)}, q{ROW(1, 'x')::pair}, q{ROW(1, '{}'::json)}, q{NULL::pair}, q{ROW(ROW(NULL))}],
	range => [q{'empty'::int4range}, q{'[1,%d5]'::int4range}, q{'(,)'::tstzrange}, q{'["a","b"]'::text_range}, q{'[1.0,2.00)'::numrange}],
	multirange => [q{'{}'::int4multirange}, q{'{[1,2),[5,)}'::int8multirange}],
	unknown => [q{'5'}, 'NULL', q{''}],
	unsupported => [q{'{}'::json}, q{point '(1,2)'}, q{'a b'::tsvector}, q{'a' COLLATE folded}, q{ARRAY['a' COLLATE folded]}, q{'1'::xid}, q{'pg_class'::regclass}, q{'(0,1)'::tid},
		q{circle '<(0,0),1>'}, q{'a'::cistring}, q{pg_current_snapshot()}, q{'$.a'::jsonpath}, q{FILTER}],
);
my @key_types = sort keys %keys;

sub number { return int(chance(0.5) ? rand 10 : rand 5000); }

sub key
{
	my ($depth, $type) = @_;
	$type //= pick(@key_types, ('integer') x 50, ('text') x 5);
	my $key = pick(@{ $keys{$type} });
	my $number = number();

	$key =~ s/%(\d*)d/sprintf "%${1}d", $number/e;
	return $key eq 'FILTER' ? filter($depth - 1) : $key;
}

sub keys_array
{
	my ($depth) = @_;
	my $type = pick(@key_types, ('integer') x 50, ('text') x 5);

	return pick('NULL', "'{}'::int[]", "'{1,2}'", "'{}'::text[]", "ARRAY[NULL::integer]", "ARRAY[NULL]", 'NULL::cuckoofilter[]', q{'{{1,2},{3,NULL}}'::int[]}, q{'[5:6]={1,2}'::bigint[]})
	  if chance(0.15);
	return "ARRAY(SELECT generate_series(" . pick(@integers[ 0 .. 12 ]) . ', ' . pick(@integers[ 0 .. 14 ], 30000) . '))' if chance(0.4);
	return "ARRAY(SELECT (i % 7)::" . pick('integer', 'bigint', 'text') . ' FROM generate_series(1, ' . pick(10, 60, 300) . ') AS i)' if chance(0.2);
	return 'ARRAY[' . join(', ', map { chance(0.1) ? 'NULL' : key($depth, $type) } 1 .. 1 + rand 4) . ']';
}

sub parameters
{
	return '' if chance(0.5);
	my $capacity = pick('NULL', '100', '1000', '50000', '1000000', @floats);
	return ", $capacity" if chance(0.5);
	my $fpr = pick(@floats[ 0 .. 3 ], @floats);
	return ", $capacity, $fpr" if chance(0.7);
	return ", $capacity, $fpr, " . pick('0', '42', @bigints);
}

sub state
{
	my ($depth) = @_;

	return pick(
		'(SELECT f FROM states WHERE id = ' . int(rand 9) . ')',
		'(SELECT raw_agg(i) FROM generate_series(1, ' . pick(1, 40, 5000) . ') AS i)');
}

sub filter
{
	my ($depth) = @_;

	return pick('NULL::cuckoofilter', 'cuckoo_new()', ("(SELECT f FROM pool WHERE id = " . int(rand 30) . ')') x 5)
	  if $depth <= 0;
	my $choice = rand 100;
	return '(SELECT f FROM pool WHERE id = ' . int(rand 30) . ')' if $choice < 20;
	return 'cuckoo_new(' . join(', ', pick('NULL', '10', '100', '1000', @floats), pick(@floats[ 0 .. 3 ], @floats), pick('0', '0', '42', @bigints)) . ')' if $choice < 28;
	return 'cuckoo_from_array(' . keys_array($depth) . parameters() . ')' if $choice < 36;
	return '(' . filter($depth - 1) . pick(' + ', ' - ') . key($depth) . ')' if $choice < 46;
	return pick('cuckoo_add', 'cuckoo_remove') . '(' . filter($depth - 1) . ', ' . key($depth) . ')' if $choice < 54;
	return pick('cuckoo_add_all', 'cuckoo_remove_all') . '(' . filter($depth - 1) . ', ' . keys_array($depth) . ')' if $choice < 64;
	return pick('cuckoo_union', 'cuckoo_union_all', 'cuckoo_intersection') . '(' . filter($depth - 1) . ', ' . filter($depth - 1) . ')' if $choice < 74;
	return '(SELECT ' . aggregate($depth - 1) . ')' if $choice < 88;
	return '(' . filter($depth - 1) . ')::' . pick('bytea', 'text') . '::cuckoofilter' if $choice < 91;
	return 'set_byte((' . filter($depth - 1) . ')::bytea, ' . pick(0 .. 60) . ', ' . pick(0, 1, 2, 3, 255, 16, 128) . ')::cuckoofilter' if $choice < 95;
	return 'substring((' . filter($depth - 1) . ')::bytea, 1, ' . pick(0, 1, 39, 40, 41, 48, 100) . ')::cuckoofilter' if $choice < 96;
	return pick("''::cuckoofilter", "'AA=='::cuckoofilter", "'\\x01'::bytea::cuckoofilter", "'!'::cuckoofilter", "cuckoofilter_in('AQ')") if $choice < 97;
	return state($depth);
}

sub aggregate
{
	my ($depth) = @_;
	my $from = ' FROM generate_series(1, ' . pick(0, 1, 8, 33, 200, 2000, 20000) . ') AS i';
	my $column = pick('i', 'i', 'i % 5', '(i % 100)::bigint', "i::text", 'NULLIF(i % 3, 0)', 'i::numeric', "md5(i::text)::uuid", 'i::float8', "'x'", 'NULL', 'ROW(i, NULL)',
		'ARRAY[i]', q{('2000-01-01'::date + i)}, q{i::text COLLATE folded}, q{to_jsonb(i)}, q{CASE WHEN i % 2 = 0 THEN 'red'::colour END}, key($depth));
	my $choice = rand 10;

	return 'cuckoo_agg(' . (chance(0.1) ? 'DISTINCT ' : '') . $column . parameters() . ')' . $from if $choice < 5;
	return pick('cuckoo_stream_agg', 'cuckoo_multiset_agg') . "($column, " . pick('100', '1000', '50000', @floats) . ', ' . pick(@floats[ 0 .. 3 ], @floats) . pick('', '', ', 42') . ')' . $from if $choice < 7;
	return pick('cuckoo_union_agg', 'cuckoo_union_all_agg') . '(f) FROM (VALUES ' . join(', ', map { '(' . filter($depth - 1) . ')' } 1 .. 1 + rand 4) . ') AS v (f)' if $choice < 9;
	return pick('cuckoo_union_agg', 'cuckoo_union_all_agg') . '(f) FROM pool WHERE id % ' . pick(2, 3, 5, 7) . ' = ' . pick(0, 1, 2);
}

sub lookup
{
	my ($depth) = @_;
	my $choice = rand 14;
	my $f = filter($depth);

	return "$f @> " . key($depth) if $choice < 1;
	return key($depth) . " <@ $f" if $choice < 2;
	return pick('cuckoo_contains', 'cuckoo_count') . "($f, " . key($depth) . ')' if $choice < 3;
	return "cuckoo_contains_each($f, " . keys_array($depth) . ')' if $choice < 4;
	return "$f @> " . pick('ANY', 'ALL') . ' (' . keys_array($depth) . ')' if $choice < 5;
	return "(cuckoo_info($f)).*" if $choice < 6;
	return "cuckoo_subfilters($f)" if $choice < 7;
	return pick('cuckoo_fpr', 'cuckoo_cardinality', 'length', 'cuckoofilter_hash', 'cuckoofilter_out', 'cuckoofilter_send', 'pg_column_size') . "($f)" if $choice < 8;
	return $f . pick(' | ', ' & ') . filter($depth - 1) if $choice < 9;
	return 'cuckoo_hash(' . key($depth) . (chance(0.5) ? '' : ', ' . pick(@bigints)) . ')' if $choice < 10;
	return 'cuckoo_shard(' . key($depth) . ', ' . pick(@integers) . ')' if $choice < 11;
	return $f . pick(' = ', ' <> ', ' < ', ' <= ', ' > ', ' >= ', ' IS DISTINCT FROM ') . filter($depth - 1) if $choice < 12;
	return 'md5((' . $f . ')::' . pick('text)', 'bytea)') if $choice < 13;
	return raw_call($depth);
}

# A function of the extension called by hand, also those that only the executor
# or the planner should call
sub raw_call
{
	my ($depth) = @_;
	my $name = pick(
		qw(cuckoo_agg_transfn cuckoo_agg_combine cuckoo_agg_final cuckoo_stream_agg_transfn cuckoo_stream_agg_combine cuckoo_stream_agg_final
		cuckoo_multiset_agg_transfn cuckoo_multiset_agg_combine cuckoo_combine_final
		cuckoo_union_agg_transfn cuckoo_union_all_agg_transfn cuckoo_contains_sel cuckoo_contains_joinsel
		cuckoofilter_in cuckoofilter_recv cuckoofilter_cmp cuckoofilter_hash_extended cuckoofilter_from_bytea));

	return "$name(" . join(', ', map { pick(filter($depth - 1), filter($depth - 1), state($depth), key($depth), pick(@floats), 'NULL') } 1 .. pick(1, 2, 2, 3, 4)) . ')';
}

sub statement
{
	my $depth = pick(0, 1, 1, 2, 2, 3, 4);
	my $choice = rand 24;

	return 'SELECT ' . lookup($depth) if $choice < 10;
	return 'SELECT cuckoo_cardinality(' . filter($depth) . ')' if $choice < 12;
	return 'SELECT i % ' . pick(1, 2, 10, 100) . ' AS g, cuckoo_cardinality(cuckoo_agg(k' . parameters() . ')) FROM numbers GROUP BY 1 ORDER BY 1' if $choice < 13;
	return 'SELECT cuckoo_cardinality(' . pick('cuckoo_agg(' . pick('k', 't', 'NULL::integer') . parameters() . ')', 'cuckoo_stream_agg(k, 500, 0.01)', 'cuckoo_union_agg(f)', 'raw_agg(k)')
	  . ' OVER (' . pick('', 'ORDER BY i ', 'PARTITION BY i % 3 ORDER BY i ') . pick('', 'ROWS BETWEEN 3 PRECEDING AND CURRENT ROW', 'ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING')
	  . ')) FROM (SELECT * FROM numbers JOIN pool ON pool.id = numbers.i % 30 LIMIT 40) AS n' =~ s/\(\s+ROWS/(ORDER BY i ROWS/r if $choice < 14;
	return 'SELECT count(*) FROM numbers WHERE ' . filter($depth) . ' @> ' . pick('k', 't', 'i::bigint', 'd') if $choice < 16;
	return 'EXPLAIN SELECT * FROM numbers JOIN pool ON ' . pick('f @> k', 'k <@ f', 'cuckoo_contains(f, k)', 'f @> t', '(f @> ANY (ARRAY[k, i]))') . ' WHERE ' . filter(1) . ' @> ' . pick('k', 't', 'i') if $choice < 17;
	return 'SELECT count(*) FROM pool, numbers WHERE id < 20 AND id <> 7 AND i < 50 AND ' . pick('f @> k', 'cuckoo_count(f, k) > 1', '(f @> ALL (ARRAY[k, i]))') if $choice < 18;
	return 'SELECT count(*) FROM (SELECT ' . pick('DISTINCT f', 'f', 'f') . ' FROM pool ' . pick('', 'UNION SELECT f FROM pool', 'EXCEPT SELECT ' . filter(1)) . pick('', ' ORDER BY f') . ') AS s' if $choice < 19;
	return 'UPDATE pool SET f = ' . filter($depth) . ' WHERE id = ' . int(rand 30) if $choice < 21;
	return 'INSERT INTO states SELECT ' . int(rand 9) . ', ' . state($depth) . ' ON CONFLICT (id) DO UPDATE SET f = excluded.f' if $choice < 21.5;
	return 'SET ' . pick('enable_hashagg = on', 'enable_hashagg = off', 'force_parallel_mode = on', 'force_parallel_mode = off', 'work_mem = 64', 'work_mem = 4096', 'plan_cache_mode = force_generic_plan', 'plan_cache_mode = auto',
		'jit_above_cost = 0', 'jit_above_cost = 100000', "search_path = pg_catalog, public", 'max_parallel_workers_per_gather = 2', 'max_parallel_workers_per_gather = 0') if $choice < 22;
	return 'PREPARE p AS SELECT ' . filter(1) . pick(' @> $1', ' + $1', ' @> $1::bigint') . '; EXECUTE p (' . key(0) . '); DEALLOCATE p' if $choice < 23;
	return 'DO $d$ DECLARE f cuckoofilter := ' . filter(1) . '; BEGIN FOR i IN 1..' . pick(5, 50, 400) . ' LOOP f := f ' . pick('+ i', '+ i % 7', '- i', '| f', '|| f', '+ i::text') . '; PERFORM f @> ' . pick('i', 'i', "'x'") . '; END LOOP; END $d$';
}

for (1 .. $statements)
{
	my $statement = statement();

	# Errors of the parser teach nothing.
	$statement =~ s/\s+/ /g;
	print "$statement;\n";
}
