-- Costs of the index: it is chosen where it is faster
--
-- ANALYZE reads the tables whole, and rows of a key are at equal distances or in
-- one place, so that plans are the same everywhere.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET max_parallel_workers_per_gather = 0;
SET default_statistics_target = 200;

CREATE FUNCTION indexed(query text) RETURNS boolean
RETURN uses(query, '(Bitmap )?Index Scan');

CREATE TABLE rows WITH (autovacuum_enabled = off) AS
	SELECT i AS id, i % 1200 AS k50, i % 300 AS k200, i % 150 AS k400, i % 60 AS k1000,
		hashint4(i / 400) AS place400,
		CASE WHEN i % 2 > 0 THEN hashint4(i / 400) ELSE 0 END AS half_placed, i / 5000 AS place5000,
		CASE WHEN i % 4 = 0 THEN i / 4 % 500 END AS nulls,
		CASE WHEN i % 10 > 0 THEN 0 ELSE 1 + i / 10 % 15 END AS skewed,
		CASE WHEN i % 2 = 0 THEN 0 ELSE i * 7919 % 60000 END AS half,
		i * 7919 % 60000 AS wrong, i * 7919 % 60000 AS sized,
		CASE WHEN i % 3 > 0 THEN i % 60 ELSE 0 END AS few, i % 60 AS partial, i % 1200 AS partial50,
		repeat('x', 100) AS filler FROM generate_series(0, 59999) AS i;
SELECT format('CREATE INDEX ON rows USING cuckoo (%I)%s', name,
	CASE name WHEN 'sized' THEN ' WITH (capacity = 60000)' WHEN 'partial' THEN ' WHERE id < 600'
		WHEN 'partial50' THEN ' WHERE id < 33000' END)
FROM unnest('{id,k50,k200,k400,k1000,place400,half_placed,place5000,nulls,skewed}'::name[]
	|| '{half,wrong,sized,few,partial,partial50}'::name[]) AS name \gexec
CREATE INDEX ON rows USING cuckoo ((k50 * 50 + id % 50));
CREATE TABLE keys AS SELECT i AS k FROM generate_series(1, 30) AS i;
ANALYZE keys;
CREATE TABLE new WITH (autovacuum_enabled = off) AS SELECT i AS id FROM generate_series(1, 150000) AS i;
CREATE INDEX ON new USING cuckoo (id);
-- Two columns: on 32-bit machines a row of one would be shorter.
CREATE TABLE heavy WITH (autovacuum_enabled = off) AS SELECT i % 1000 AS k400, i FROM generate_series(1, 400000) AS i;
CREATE INDEX ON heavy USING cuckoo (k400);

---- Without statistics
SELECT indexed('SELECT FROM rows WHERE id = 7') AS point, indexed('SELECT FROM keys JOIN new ON id = k') AS "join",
	indexed('SELECT FROM rows WHERE k50 * 50 + id % 50 = 7') AS expression,
	indexed('SELECT FROM rows WHERE partial = 7 AND id < 600') AS predicate;
-- If the index has an entry for every third row, keys have hundreds of rows.
SELECT indexed('SELECT FROM keys JOIN heavy ON k400 = k') AS heavy;

---- With statistics, after ANALYZE and after VACUUM
CREATE VIEW chosen AS SELECT indexed('SELECT FROM rows WHERE id = 7') AS point,
	indexed('SELECT FROM rows WHERE k50 * 50 + id % 50 = 7') AS expression,
	indexed('SELECT FROM rows WHERE k50 = 7') AS k50, indexed('SELECT FROM rows WHERE k400 = 7') AS k400,
	indexed('SELECT FROM rows WHERE k1000 = 7') AS k1000,
	indexed('SELECT FROM rows WHERE partial = 7 AND id < 600') AS predicate,
	indexed('SELECT FROM rows WHERE id = 7 AND k1000 = 7') AS "and",
	indexed('SELECT FROM rows WHERE id = 7 OR id = 8') AS "or",
	indexed('SELECT FROM rows WHERE id = 7 OR k1000 = 7') AS or_many,
	indexed('SELECT FROM rows WHERE place400 = hashint4(7)') AS place400,
	indexed('SELECT FROM rows WHERE half_placed = 0') AS half_placed,
	indexed('SELECT FROM rows WHERE place5000 = 7') AS place5000,
	indexed('SELECT FROM rows WHERE skewed = 7') AS skewed;
-- Values are wrongly believed to have hundreds of rows.
ALTER TABLE rows ALTER wrong SET (n_distinct = 60), ALTER sized SET (n_distinct = 60), ALTER half SET (n_distinct = 40),
	ALTER few SET (n_distinct = 10), ALTER few SET STATISTICS 1;
ANALYZE rows;
SELECT * FROM chosen;
VACUUM rows;
SELECT * FROM chosen;

-- The size of the index says so, unless its user chose it or it has few entries,
-- and but for values whose frequency is known
SELECT indexed('SELECT FROM rows WHERE wrong = 7') AS wrong, indexed('SELECT FROM rows WHERE sized = 7') AS sized,
	indexed('SELECT FROM rows WHERE few = 7') AS few,
	indexed('SELECT FROM rows WHERE half = 1') AS rare, indexed('SELECT FROM rows WHERE half = 0') AS common;

-- Pages at random are as cheap as others: 200 rows are still worth it.
SET random_page_cost = 1;
SELECT indexed('SELECT FROM rows WHERE k200 = 7') AS k200, indexed('SELECT FROM rows WHERE k400 = 7') AS k400,
	indexed('SELECT FROM rows WHERE k1000 = 7') AS k1000;
RESET random_page_cost;

---- Arrays
CREATE FUNCTION numbers(count integer, step integer DEFAULT 1) RETURNS text LANGUAGE sql
	RETURN (SELECT quote_literal(array_agg(i * step)) FROM generate_series(1, count) AS i);
CREATE FUNCTION places(count integer) RETURNS text LANGUAGE sql
	RETURN (SELECT quote_literal(array_agg(hashint4(i))) FROM generate_series(1, count) AS i);
SELECT indexed('SELECT FROM rows WHERE id = ANY (' || numbers(100) || ')') AS hundred,
	indexed('SELECT FROM rows WHERE id = ANY (' || numbers(20000, 3) || ')') AS third_of_all,
	indexed('SELECT FROM rows WHERE id = ANY (ARRAY(SELECT k FROM keys))') AS subquery,
	indexed('SELECT FROM rows WHERE k50 = ANY (' || numbers(50) || ')') AS k50,
	indexed('SELECT FROM rows WHERE place400 = ANY (' || places(30) || ')') AS place400,
	indexed('SELECT FROM rows WHERE place400 = ANY (' || places(80) || ')') AS half_of_all;
-- All combinations are looked up, but for the keys of the first array.
SELECT indexed('SELECT FROM rows WHERE id = ANY (' || numbers(10) || ')
		AND id = ANY (' || numbers(10, 2) || ')') AS few,
	indexed('SELECT FROM rows WHERE id = ANY (' || numbers(200) || ') AND id = ANY (' || numbers(200, 2) || ')') AS many,
	indexed('SELECT FROM rows WHERE k400 = ANY (' || numbers(3) || ') AND k400 = ANY (' || numbers(10) || ')') AS k400;

---- Joins
SELECT indexed('SELECT FROM keys JOIN rows ON id = k') AS "join",
	indexed('SELECT FROM keys JOIN rows ON k400 = k') AS k400,
	indexed('SELECT FROM keys JOIN rows ON nulls = k') AS nulls,
	indexed('SELECT FROM rows AS a JOIN rows AS b USING (id)') AS all_rows,
	indexed('SELECT FROM keys JOIN rows ON partial50 = k AND id < 33000') AS partial50,
	indexed('SELECT FROM keys WHERE EXISTS (SELECT FROM rows WHERE id = k)') AS semi,
	indexed('INSERT INTO rows SELECT DISTINCT k FROM unnest(' || numbers(100) || '::integer[]) AS k
		WHERE NOT EXISTS (SELECT FROM rows WHERE id = k)') AS anti;

---- Joins with frequent values: two have 2,000 rows each, the others one
CREATE TABLE frequent WITH (autovacuum_enabled = off) AS SELECT id, k, k AS partial, id % 10 AS a, k AS b,
		CASE WHEN id % 100 = 0 THEN -1 ELSE id END AS ordered, filler
	FROM rows, LATERAL (SELECT CASE WHEN id % 15 = 0 THEN id % 2 - 2 ELSE id END AS k) AS frequent;
CREATE INDEX ON frequent USING cuckoo (k);
CREATE INDEX ON frequent USING cuckoo (partial) WHERE partial >= 0;
CREATE INDEX ON frequent USING cuckoo (a, b);
CREATE INDEX ON frequent USING cuckoo (ordered);
CREATE TABLE sample WITH (autovacuum_enabled = off) AS SELECT id, k::bigint, a FROM frequent WHERE id < 60;
CREATE TABLE unanalyzed WITH (autovacuum_enabled = off) AS SELECT * FROM sample;
ANALYZE frequent, sample;
-- A column is in order but for a frequent value.
SELECT indexed('SELECT FROM frequent WHERE ordered = -1') AS ordered;
-- Outer rows have them as often.
SELECT indexed('SELECT FROM frequent AS a JOIN frequent AS b USING (k) WHERE a.id > b.id') AS self,
	indexed('SELECT FROM sample JOIN frequent USING (k)') AS sample,
	indexed('SELECT FROM sample JOIN frequent USING (k) WHERE sample.id < 15') AS few,
	indexed('SELECT FROM sample JOIN frequent USING (a) WHERE b = sample.k') AS two_columns;
-- They have each key once, we do not know, or the index does not have the keys.
SELECT indexed('SELECT FROM keys JOIN frequent USING (k)') AS keys,
	indexed('SELECT FROM (SELECT DISTINCT k FROM sample) AS sample JOIN frequent USING (k)') AS "distinct",
	indexed('SELECT FROM unanalyzed JOIN frequent USING (k)') AS unanalyzed,
	indexed('SELECT FROM sample JOIN frequent ON partial = sample.k WHERE partial >= 0') AS partial,
	indexed('SELECT FROM sample JOIN frequent USING (a) WHERE b = sample.id') AS two_columns;
-- EXISTS ends at the first row, which is near if there are many.
SELECT indexed(query || 'EXISTS (SELECT FROM frequent AS b WHERE b.k = a.k)') AS "exists",
	indexed(query || 'NOT EXISTS (SELECT FROM frequent AS b WHERE b.k = a.k)') AS not_exists
FROM (VALUES ('SELECT FROM frequent AS a WHERE id < 4000 AND ')) AS outer_rows (query);
-- Without statistics the planner expects many rows per key, which other joins are
-- charged for.
SELECT indexed('SELECT FROM new AS a JOIN new AS b USING (id)') AS self;

---- Two columns, of which extended statistics count the keys: 150 of 400 rows anywhere,
---- and keys of 100 rows in one place
CREATE TABLE pairs WITH (autovacuum_enabled = off) AS
	SELECT id % 150 AS a, id % 150 % 7 AS b, hashint4(id / 100) AS place, id / 100 % 3 AS third, filler FROM rows;
CREATE INDEX ON pairs USING cuckoo (a, b);
CREATE INDEX ON pairs USING cuckoo (place, third);
CREATE STATISTICS pairs_a_b (ndistinct) ON a, b FROM pairs;
CREATE STATISTICS pairs_place_third (ndistinct) ON place, third FROM pairs;
ANALYZE pairs;
SELECT uses('SELECT FROM pairs WHERE a = 7 AND b = 0', 'Seq Scan') AS anywhere,
	uses('SELECT FROM keys JOIN pairs ON a = k AND b = k % 7 WHERE k < 4', 'Seq Scan on pairs') AS "join",
	uses('SELECT FROM pairs WHERE place = hashint4(7) AND third = 1', 'Index Scan using') AS one_place;

-- A scan with part of a key reads the table before its first row, however many
-- rows there are.
UPDATE pg_class SET reltuples = 1e15 WHERE oid = 'pairs'::regclass;
SELECT indexed('SELECT FROM pairs WHERE a = 7 LIMIT 1') AS part_of_key;

---- Many pages: a lookup costs less if others have read the page of the index.
CREATE TABLE wide AS SELECT i AS id, repeat(md5(i::text), 60) AS filler FROM generate_series(1, 12000) AS i;
CREATE INDEX ON wide USING cuckoo (id);
CREATE TABLE many_keys AS SELECT i AS k FROM generate_series(1, 600) AS i;
ANALYZE wide, many_keys;
SELECT indexed('SELECT FROM many_keys JOIN wide ON id = k') AS "join";

---- Few pages: to read one of the index is not worth it.
CREATE TABLE small AS SELECT id, filler FROM rows WHERE id < 200;
CREATE INDEX ON small USING cuckoo (id);
ANALYZE small;
SELECT indexed('SELECT FROM small WHERE id = 7') AS point;

---- Plans for any parameter
SET plan_cache_mode = force_generic_plan;
PREPARE by_id(integer) AS SELECT FROM rows WHERE id = $1;
PREPARE by_ids(integer[]) AS SELECT FROM rows WHERE id = ANY ($1);
PREPARE by_k400(integer) AS SELECT FROM rows WHERE k400 = $1;
SELECT indexed('EXECUTE by_id(7)') AS id, indexed('EXECUTE by_ids(''{7}'')') AS ids,
	indexed('EXECUTE by_k400(7)') AS k400;

---- Parallel
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
ALTER TABLE rows SET (parallel_workers = 2);
SET cpu_tuple_cost = 1;
SELECT uses('SELECT count(*) FROM rows WHERE k50 = ANY (' || numbers(20) || ')',
	'Gather', 'Parallel Bitmap Heap Scan', 'Bitmap Index Scan') AS plan;
SELECT count(*) FROM rows WHERE k50 = ANY ('{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20}');
