# Parallel plans: what the number of workers may change of an aggregate's result,
# and what not.  test/sql/agg_plans.sql tests cuckoo_agg.

use CuckooTest;

my $node = new_server('main', conf => <<'CONF');
autovacuum = off
jit = off
max_worker_processes = 16
max_parallel_workers = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
cpu_tuple_cost = 1
min_parallel_table_scan_size = 0
CONF

# A million rows: a key in each (t), 200,000 keys in five rows each (k), and 500
# groups (g).  Filters of the groups, of one shape and of four, inline, so that
# every worker gets some pages of them.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE UNLOGGED TABLE numbers AS SELECT i % 500 AS g, i % 200000 AS k, 'key ' || i AS t FROM (SELECT generate_series(1, 1000000) AS i) AS s;
CREATE UNLOGGED TABLE parts (g integer, f cuckoofilter, h cuckoofilter);
ALTER TABLE parts ALTER f SET STORAGE main, ALTER h SET STORAGE main;
INSERT INTO parts SELECT g, cuckoo_agg(k, 250000, 0.001) , cuckoo_agg(k, 50000 * (1 + g % 4), 0.001) FROM numbers GROUP BY g;
VACUUM ANALYZE;
SQL

# Statements for a session in which plans have this number of workers
sub settings
{
	my ($workers) = @_;

	return "SET client_min_messages = warning;\nSET max_parallel_workers_per_gather = $workers;\n"
	  . join '', map { "ALTER TABLE $_ SET (parallel_workers = $workers);\n" } qw(numbers parts);
}

# What an aggregate gives by a number of workers is checked by a query of the
# table made (f).  Without warnings, but where the capacity is far too small, and
# with as many workers as wanted.
sub by_workers
{
	my ($workers, $from, $check) = @_;
	my $plan = $node->safe_psql('postgres', settings($workers) . "EXPLAIN (COSTS OFF) $from");
	my ($planned) = $plan =~ /Workers Planned: (\d+)/;
	my ($status, $stdout, $stderr) = $node->psql('postgres', settings($workers) . "CREATE TEMP TABLE made AS $from;\n" . settings(0) . $check);
	$stderr =~ s/^.*WARNING:  expected false-positive rate of cuckoofilter.*\nDETAIL:.*\nHINT:.*\n?//m if $from =~ /, 1000, /;

	return ($planned // 0) == $workers ? "$stdout$stderr" : $plan;
}

# The same bytes by any number of workers
sub is_same
{
	my ($from, $name) = @_;
	my @results = map { by_workers($_, $from, q{SELECT md5(string_agg(f::text, ' ' ORDER BY f)) FROM made}) } 0, 2, 8;

	like($results[0], qr/^[0-9a-f]{32}$/, "$name: a result");
	is_deeply(\@results, [ ($results[0]) x 3 ], '... which is the same by 2 and 8 workers');
	return;
}

# The same answer to a question by any number of workers, though bytes may differ
sub is_alike
{
	my ($from, $check, $expected, $name) = @_;

	is_deeply([ map { by_workers($_, $from, $check) } 0, 1, 3, 8 ], [ ($expected) x 4 ], "$name, by 0, 1, 3 and 8 workers");
	return;
}

is_same('SELECT cuckoo_union_agg(f) AS f FROM parts', 'cuckoo_union_agg, one shape');
is_same('SELECT cuckoo_union_agg(h) AS f FROM parts', 'cuckoo_union_agg, four shapes');
is_same('SELECT cuckoo_union_agg(f) AS f FROM parts GROUP BY g % 50', 'cuckoo_union_agg, groups');
is_same('SELECT cuckoo_union_all_agg(h) AS f FROM parts', 'cuckoo_union_all_agg, four shapes');
is_same('SELECT cuckoo_intersection_agg(h | x) AS f FROM parts, (SELECT cuckoo_agg(-k, 200000, 0.001) AS x FROM numbers WHERE g < 5) AS s', 'cuckoo_intersection_agg, four shapes');

# The groups have no key in common.
is($node->safe_psql('postgres', 'SELECT cuckoo_union_all_agg(f) = (SELECT cuckoo_agg(k, 250000, 0.001) FROM numbers) FROM parts'), 't', 'a merge of the parts is the whole');

# Up to the capacity the filters of the two aggregates in bounded memory are the
# same in all that they answer: a sparse one byte for byte, a dense one in all
# but the places of its entries.
is_same('SELECT cuckoo_stream_agg(t, 500000, 0.001) AS f FROM numbers WHERE g < 125', 'cuckoo_stream_agg, sparse');
is_same('SELECT cuckoo_multiset_agg(k, 500000, 0.001) AS f FROM numbers WHERE g < 125', 'cuckoo_multiset_agg, sparse');
is_alike('SELECT cuckoo_stream_agg(t, 250000, 0.001) AS f FROM numbers WHERE g < 125', <<'SQL', "dense|1|f|249893|0.00094|t|990", 'cuckoo_stream_agg, dense: all keys and the same false positives');
SELECT representation, subfilters, removable, items, round(expected_fpr::numeric, 5),
	(SELECT bool_and(f @> t) FROM numbers WHERE g < 125),
	(SELECT count(*) FROM generate_series(1, 1000000) AS i WHERE f @> ('absent ' || i))
FROM made, cuckoo_info(f);
SQL
is_alike('SELECT cuckoo_multiset_agg(k, 250000, 0.001) AS f FROM numbers WHERE g < 125', <<'SQL', "1|t|249994|0.00094|5|185", 'cuckoo_multiset_agg of full capacity: all copies and the same false positives');
SELECT subfilters, removable, items, round(expected_fpr::numeric, 5),
	(SELECT min(cuckoo_count(f, k)) FROM numbers WHERE g < 125),
	(SELECT count(*) FROM generate_series(1000001, 2000000) AS i WHERE f @> i)
FROM made, cuckoo_info(f);
SQL

# A capacity that is far too small.  Each process fills tables of the same
# shapes, and tables of one shape are united, so it works by any number of them.
# What depends on their number is how full the tables are: the rate is at most as
# many times that of one process, which is twice the target.
foreach my $aggregate (qw(cuckoo_stream_agg cuckoo_multiset_agg))
{
	foreach my $workers (0, 3, 8)
	{
		my ($found, $rate) = split /\n/, by_workers($workers, "SELECT $aggregate(t, 1000, 0.001) AS f FROM numbers", <<'SQL');
SELECT (SELECT bool_and(f @> t) FROM numbers), subfilters IN (3, 4), items BETWEEN 997000 AND 1000000, capacity, target_fpr FROM made, cuckoo_info(f);
SELECT expected_fpr FROM made, cuckoo_info(f);
SQL
		is($found, 't|t|t|1000|0.001', "$aggregate of 1,000 times its capacity, by $workers workers: one table of each shape with all keys");
		cmp_ok($rate, '<=', 0.002 * (1 + $workers), "... and a rate of at most twice the target for each process");
	}
}

# Parts on 32 servers are combined as well.
is($node->safe_psql('postgres', <<'SQL'), 't|t|t', 'the same in 32 parts');
SET client_min_messages = error;
CREATE TABLE united AS SELECT cuckoo_union_agg(f) AS f FROM (SELECT cuckoo_stream_agg(t, 1000, 0.001) AS f FROM numbers GROUP BY g % 32) AS parts;
SELECT (SELECT bool_and(f @> t) FROM numbers), subfilters = 2, expected_fpr <= 0.002 * 32 FROM united, cuckoo_info(f);
SQL

# Workers cannot read a large filter of a temporary table, but what is made of it.
foreach my $f (qw(f f::bytea::cuckoofilter))
{
	is(sqlstate($node, 'postgres', settings(2) . <<~SQL), $f eq 'f' ? '25000' : '1000', "$f of a temporary table");
		CREATE TEMP TABLE large AS SELECT cuckoo_agg(k) AS f FROM numbers;
		SET parallel_leader_participation = off;
		SELECT count(*) FROM numbers WHERE k < 200 AND (SELECT $f FROM large) @> k;
		SQL
}

$node->stop;
done_testing();
