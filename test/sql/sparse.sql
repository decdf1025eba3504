-- Sparse and dense tables: which tables are which, their sizes, and how filters
-- grow
--
-- A table that is built is sparse below three quarters of its entries.  It
-- becomes dense when an added key reaches three quarters, and sparse again when
-- a removal takes it below one half.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\pset null NULL

-- A short description of a filter's tables
CREATE FUNCTION brief(f cuckoofilter) RETURNS text LANGUAGE sql RETURN
	(SELECT string_agg(format('%s of %s %s', items, capacity, representation), ', ' ORDER BY number) FROM cuckoo_subfilters(f));
CREATE FUNCTION entries(f cuckoofilter) RETURNS bigint LANGUAGE sql RETURN (SELECT sum(4 * blocks * buckets)::bigint FROM cuckoo_subfilters(f));

---- Builds: below three quarters, at three quarters, at the capacity
SELECT c, e, n, (SELECT brief(cuckoo_agg(k, c, 0.001)) FROM generate_series(1, n) AS k) AS aggregate, brief(cuckoo_from_array(ARRAY(SELECT generate_series(1, n)), c, 0.001)) AS "array"
FROM unnest('{100,1000,10000,200000}'::integer[]) AS c, entries(cuckoo_new(c, 0.001)) AS e, LATERAL (VALUES (e / 2 - 1), (e * 3 / 4 - 1), (e * 3 / 4), (c)) AS v (n) ORDER BY c, n;
-- A dense filter after removals, merged with an empty one, equals a filter
-- built from the remaining keys.
SELECT brief(f), brief(cuckoo_union_all(f, cuckoo_new(1000, 0.001))) AS with_empty
FROM cuckoo_remove_all(cuckoo_from_array(ARRAY(SELECT generate_series(1, 1000)), 1000, 0.001), ARRAY(SELECT generate_series(1, 300))) AS f;

-- The shapes of growth: after a specified capacity each table is for 32 times
-- the one before, with at least two bits more than the rate needs, then one
-- more.
SELECT fpr, c, number, items, capacity, round(capacity / lag(capacity) OVER (PARTITION BY fpr, c ORDER BY number)::numeric, 1) AS times, fingerprint_bits AS bits, representation,
	cuckoo_fpr(f) <= 2 * fpr AS kept
FROM (VALUES (0.1, 1), (0.001, 20), (2e-8, 20)) AS v (fpr, c), cuckoo_add_all(cuckoo_new(c, fpr), ARRAY(SELECT generate_series(1, 50000))) AS f, cuckoo_subfilters(f) ORDER BY fpr DESC, number;
-- With unknown capacity they are for 2^20, 2^25 and 2^30 keys, with 1, 2 and 3
-- bits more than the rate needs.
CREATE TABLE grown AS SELECT cuckoo_add_all(cuckoo_agg(k, NULL, 0.001), ARRAY(SELECT generate_series(1025, 1100000))) AS f FROM generate_series(1, 1024) AS k;
SELECT number, items, capacity, capacity >= (2 ^ (15 + 5 * number)) AS for_them, fingerprint_bits AS bits, representation FROM grown, cuckoo_subfilters(f) ORDER BY number;
SELECT missing(f, 1, 1100000) AS lost, cuckoo_fpr(f) < 0.001 AS kept, round((cuckoo_info(f)).bits_per_item::numeric, 1) AS bits_per_item, (cuckoo_info(f)).capacity FROM grown;
-- If 50,001 keys are removed from the newest table, a few stay, because the
-- other table seems to hold them, too.
SELECT brief(cuckoo_remove_all(f, ARRAY(SELECT generate_series(1050000, 1100000)))) FROM grown;

---- Small counted filters have the first table of an unknown capacity.
CREATE TABLE counted AS SELECT n, cuckoo_agg(k) AS f FROM unnest('{1,1000,1023,1024,1025,2000}'::integer[]) AS n, generate_series(1, n) AS k GROUP BY n;
CREATE FUNCTION of(n integer) RETURNS cuckoofilter LANGUAGE sql RETURN (SELECT f FROM counted AS c WHERE c.n = of.n);
SELECT n, brief(f), (cuckoo_info(f)).capacity, (cuckoo_info(f)).fingerprint_bits AS bits, (cuckoo_info(f)).bytes, f = cuckoo_from_array(ARRAY(SELECT generate_series(1, n))) AS as_array,
	f = cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, n))) AS as_added FROM counted ORDER BY n;
-- A 1,025th key stays in the table for 2^20.
SELECT brief(of(1024) + 1025) AS added, of(1024) + 1025 = of(1025) AS as_counted, of(1024) + 1025 = cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 1025))) AS
	as_added, missing(of(1024) + 1025, 1, 1025) AS lost;
-- The union of the two has two tables, and the larger capacity.
SELECT brief(of(1024) | of(1025)) AS union, brief(cuckoo_union_all(of(1024), of(1025))) AS union_all, (cuckoo_info(of(1024) | of(1025))).capacity, missing(of(1024) | of(1025), 1, 1025) AS lost,
	of(1024) | of(1025) = of(1025) | of(1024) AS commutes;
-- Small ones always combine, into one table.
SELECT brief(cuckoo_union_all_agg(f)) AS merged, missing(cuckoo_union_all_agg(f), 1, 50000) AS lost FROM (SELECT cuckoo_agg(k) AS f FROM generate_series(1, 50000) AS k GROUP BY k % 60) AS x;
-- The number counted becomes the capacity, even if a smaller one is specified.
SELECT brief(cuckoo_agg(k, 10, 0.001)), (cuckoo_info(cuckoo_agg(k, 10, 0.001))).capacity, cuckoo_agg(k, 10, 0.001) = cuckoo_agg(k, 500, 0.001) AS same FROM generate_series(1, 500) AS k;

---- Sizes
-- The length of a sparse table follows from its shape and items.  A dense one
-- has four fingerprints per bucket, less one bit for each.
CREATE FUNCTION sparse_bytes(u numeric, n numeric) RETURNS numeric LANGUAGE sql RETURN
	(SELECT 12 * ceil(g / 8) + ceil((16 * g + n * (1 + l)) / 8) FROM generate_series(0, 60) AS l, LATERAL (SELECT div(u - 1, 2::numeric ^ l) + 1 AS z) AS x, LATERAL (SELECT ceil(z / 16) AS g) AS y
	WHERE 7 * z <= 8 * greatest(n, 1) ORDER BY l LIMIT 1);
SELECT representation, count(*), bool_and(bytes = CASE representation WHEN 'sparse' THEN sparse_bytes(blocks * buckets / 2 * 2::numeric ^ fingerprint_bits, items) ELSE ceil(blocks
	* buckets * (fingerprint_bits - 1) / 2.0) END) AS as_computed
FROM (VALUES (0.1), (0.001), (2e-8)) AS r (fpr), (VALUES (0), (1), (2), (3), (63), (64), (65), (1000), (1500), (5000), (20000)) AS s (n), (VALUES (NULL), (20), (2000), (1e6)) AS c (capacity),
	cuckoo_from_array(ARRAY(SELECT generate_series(1, n)), capacity, fpr) AS f, cuckoo_subfilters(f) GROUP BY 1 ORDER BY 1;
-- Copies: at most eight of a class, which take no other space
SELECT rows, brief(f), (cuckoo_info(f)).bytes FROM unnest('{1,7,8,9,100}'::integer[]) AS rows, LATERAL (SELECT cuckoo_multiset_agg(k, 8000, 0.001) AS f FROM generate_series(1,
	1000) AS k, generate_series(1, rows) AS r) AS x ORDER BY rows;
