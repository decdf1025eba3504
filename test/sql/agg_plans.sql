-- Plans: an aggregate gives the same filter, however the planner splits and
-- orders it
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
CREATE TABLE rows (k integer, t text, g integer);
INSERT INTO rows SELECT i % 200000, 'key ' || i % 5000, i % 10 FROM generate_series(1, 300000) AS i;
ALTER TABLE rows SET (parallel_workers = 2);
ANALYZE rows;

-- The expected filters, from the simplest possible plan
SET max_parallel_workers_per_gather = 0;
SET enable_hashagg = off;
CREATE VIEW filters AS SELECT cuckoo_agg(k) AS numbers, cuckoo_agg(t) AS words, cuckoo_agg(t::varchar COLLATE "C", NULL, 0.01) AS rate, cuckoo_agg(k, 1e6, 0.01) AS capacity,
	cuckoo_agg(k, 1e6, 0.01, 42) AS seed,
	cuckoo_agg(ARRAY[k % 1000]) AS polymorphic, cuckoo_agg(k) FILTER (WHERE k % 3 = 0) AS filter, cuckoo_agg(k) FILTER (WHERE k < 0) AS nothing, cuckoo_agg(k::numeric) AS numerics,
	cuckoo_stream_agg(k, 500000) AS stream, cuckoo_multiset_agg(k, 1e6) AS multiset FROM rows;
CREATE TABLE expected AS TABLE filters;
CREATE VIEW groups AS SELECT g, cuckoo_agg(k) AS numbers, cuckoo_agg(t, NULL, 0.02) AS words FROM rows GROUP BY g;
CREATE TABLE expected_groups AS TABLE groups;
-- Filters of one shape and of four, inline, so that every worker gets some of them.  (An
-- intersection of several shapes depends on their order.)
CREATE TABLE pieces (f cuckoofilter, h cuckoofilter);
ALTER TABLE pieces ALTER f SET STORAGE main, ALTER h SET STORAGE main, SET (parallel_workers = 2);
INSERT INTO pieces SELECT cuckoo_agg(k, 250000), cuckoo_agg(k, 50000 * (1 + k % 200 % 4)) FROM rows GROUP BY k % 200;
ANALYZE pieces;
CREATE VIEW combined AS SELECT cuckoo_union_agg(f) AS one_shape, cuckoo_union_agg(h) AS four_shapes,
	cuckoo_union_all_agg(h) AS copies, cuckoo_intersection_agg(f | x) AS intersection
FROM pieces, (SELECT cuckoo_agg(-k, 250000) AS x FROM rows WHERE g = 5) AS others;
CREATE TABLE expected_combined AS TABLE combined;
RESET enable_hashagg;

---- Parallel
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT plan('SELECT cuckoo_agg(k) FROM rows');
SELECT plan('SELECT cuckoo_agg(ARRAY[k]), cuckoo_agg(t, NULL, 0.01), cuckoo_agg(k, 1e6, 0.01) FROM rows');
SET parallel_leader_participation = off;
CREATE TABLE parallel AS TABLE filters;
SET cpu_tuple_cost = 1;
SELECT uses('TABLE combined', 'Gather', 'Partial Aggregate', 'Parallel Seq Scan on pieces') AS plan;
CREATE TABLE combined_parallel AS TABLE combined;
RESET cpu_tuple_cost;
SELECT key AS aggregate, c.value = e.value AS same
FROM (SELECT to_jsonb(p) || to_jsonb(c) AS found, to_jsonb(e) || to_jsonb(ec) AS expected
		FROM parallel AS p, combined_parallel AS c, expected AS e, expected_combined AS ec) AS t,
	jsonb_each(found) AS c JOIN LATERAL jsonb_each(expected) AS e USING (key) ORDER BY key COLLATE "C";
-- Where the entries of a dense table are depends on the order of rows, and nothing else.
SELECT i.representation, subfilters, items > 199700 AS items, missing(f, 0, 199999), kept_rate(f)
FROM (SELECT cuckoo_stream_agg(k, 200000) AS f FROM rows) AS s, cuckoo_info(f) AS i;

-- Grouped: hashed and sorted partial groups
SELECT uses('SELECT g, cuckoo_agg(k) FROM rows GROUP BY g', 'Gather', 'Partial HashAggregate', 'Finalize') AS plan;
SELECT count(*) AS groups, bool_and(p.numbers = e.numbers AND p.words = e.words) AS same FROM groups AS p JOIN expected_groups AS e USING (g);
SET enable_hashagg = off;
SELECT uses('SELECT g, cuckoo_agg(k) FROM rows GROUP BY g', 'Gather Merge', 'Partial GroupAggregate', 'Finalize GroupAggregate') AS plan;
SELECT count(*) AS groups, bool_and(p.numbers = e.numbers AND p.words = e.words) AS same FROM groups AS p JOIN expected_groups AS e USING (g);
RESET enable_hashagg;
-- Many groups, so that states of few keys go from worker to leader
SELECT uses('SELECT t, cuckoo_agg(k) FROM rows GROUP BY t', 'Gather', 'Partial') AS plan;
CREATE TABLE many_parallel AS SELECT t, cuckoo_agg(k) AS numbers, cuckoo_agg(ARRAY[g], 100, 0.01) AS polymorphic FROM rows GROUP BY t;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) AS groups, bool_and(p.numbers = e.numbers AND p.polymorphic = e.polymorphic) AS same
FROM (SELECT t, cuckoo_agg(k) AS numbers, cuckoo_agg(ARRAY[g], 100, 0.01) AS polymorphic FROM rows GROUP BY t) AS e FULL JOIN many_parallel AS p USING (t);
SET max_parallel_workers_per_gather = 2;

-- A worker raises the errors that the leader would raise.
\set VERBOSITY sqlstate
SELECT cuckoo_agg(k, NULL, 0.01 + g * 0.001) FROM rows;
SELECT cuckoo_agg(point(k, k)) FROM rows;
-- Workers cannot read a large filter of a temporary table, but what is made of it.
CREATE TEMPORARY TABLE large AS SELECT numbers AS f FROM expected;
SELECT count(*) FROM rows WHERE k < 200 AND (SELECT f FROM large) @> k;
SELECT count(*) FROM rows WHERE k < 200 AND (SELECT f::bytea::cuckoofilter FROM large) @> k;
\set VERBOSITY default
-- Lookups and changes run in workers.
SELECT uses('SELECT count(*) FROM rows WHERE cuckoo_new(100, 1e-6) + 5 @> k AND cuckoo_cardinality(cuckoo_new() - k) = 0', 'Gather', 'Parallel Seq Scan') AS plan;
SELECT count(*) FROM rows WHERE cuckoo_new(100, 1e-6) + 5 @> k AND cuckoo_cardinality(cuckoo_new() - k) = 0;
RESET parallel_leader_participation;

---- By partitions
CREATE TABLE parts (k integer, t text, g integer) PARTITION BY RANGE (k);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES FROM (%s) TO (%s)', i, (i - 1) * 60000, i * 60000) AS command FROM generate_series(1, 4) AS i \gexec
INSERT INTO parts SELECT * FROM rows;
ANALYZE parts;
SET max_parallel_workers_per_gather = 0;
SET enable_partitionwise_aggregate = on;
SELECT uses('SELECT cuckoo_agg(k), cuckoo_agg(t) FROM parts', 'Finalize Aggregate', 'Append', 'Partial Aggregate') AS plan;
SELECT a.numbers = e.numbers AS numbers, a.words = e.words AS words, a.polymorphic = e.polymorphic AS polymorphic
FROM (SELECT cuckoo_agg(k) AS numbers, cuckoo_agg(t) AS words, cuckoo_agg(ARRAY[k % 1000]) AS polymorphic FROM parts) AS a, expected AS e;
SELECT uses('SELECT g, cuckoo_agg(k) FROM parts GROUP BY g', 'Finalize', 'Append', 'Partial') AS plan;
SELECT count(*) AS groups, bool_and(p.numbers = e.numbers) AS same FROM (SELECT g, cuckoo_agg(k) AS numbers FROM parts GROUP BY g) AS p JOIN expected_groups AS e USING (g);
SET max_parallel_workers_per_gather = 2;
SELECT a.numbers = e.numbers AS numbers, a.words = e.words AS words FROM (SELECT cuckoo_agg(k) AS numbers, cuckoo_agg(t) AS words FROM parts) AS a, expected AS e;
RESET enable_partitionwise_aggregate;
SET max_parallel_workers_per_gather = 0;

---- Hashed, with groups that do not fit in memory and spill to disk
CREATE FUNCTION spills(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO result;
	RETURN (result -> 0 -> 'Plan' ->> 'HashAgg Batches')::integer > 1;
END $$;
SET enable_sort = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT spills('SELECT k % 20000, cuckoo_agg(k), cuckoo_agg(t) FROM rows GROUP BY k % 20000') AS spills;
CREATE TABLE hashed AS SELECT k % 20000 AS h, cuckoo_agg(k) AS numbers, cuckoo_agg(t, NULL, 0.01) AS words, cuckoo_agg(ARRAY[g]) AS polymorphic FROM rows GROUP BY k % 20000;
RESET enable_sort; RESET work_mem; RESET hash_mem_multiplier;
SET enable_hashagg = off;
SELECT uses('SELECT k % 20000, cuckoo_agg(k) FROM rows GROUP BY k % 20000', '^GroupAggregate') AS plan;
SELECT count(*) AS groups, bool_and(h.numbers = s.numbers AND h.words = s.words AND h.polymorphic = s.polymorphic) AS same
FROM (SELECT k % 20000 AS h, cuckoo_agg(k) AS numbers, cuckoo_agg(t, NULL, 0.01) AS words, cuckoo_agg(ARRAY[g]) AS polymorphic FROM rows GROUP BY k % 20000) AS s FULL JOIN hashed AS h USING (h);
RESET enable_hashagg;

-- Aggregation in the order of an index
CREATE INDEX ON rows (k);
SET enable_seqscan = off;
SELECT cuckoo_agg(k) = (SELECT numbers FROM expected) AS same FROM rows;
