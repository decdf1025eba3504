-- Entries of rows that are rewritten: removed before VACUUM, but nothing else
--
-- Nobody else has snapshots that show rows of temporary tables, so these are pruned.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/index.psql"`

-- Updates that are not HOT, beside which others fill the pages
CREATE FUNCTION definition_of(kind text) RETURNS text LANGUAGE sql RETURN CASE kind
	WHEN 'constraint' THEN 'ALTER TABLE counters ADD CONSTRAINT counters_k EXCLUDE USING cuckoo (k WITH =)'
	WHEN 'several columns' THEN 'CREATE INDEX counters_k ON counters USING cuckoo (k, fixed)'
	WHEN 'expression' THEN 'CREATE INDEX counters_k ON counters USING cuckoo (lower(k)) WHERE k <> ''none'''
	ELSE 'CREATE INDEX counters_k ON counters USING cuckoo (k)' END;
CREATE FUNCTION query_of(kind text) RETURNS text LANGUAGE sql RETURN 'SELECT sum(n) FROM counters WHERE ' || CASE kind
	WHEN 'several columns' THEN 'k = ''hot'' AND fixed = 7'
	WHEN 'expression' THEN 'lower(k) = ''hot'' AND k <> ''none''' ELSE 'k = ''hot''' END;
CREATE PROCEDURE churn(kind text, rounds integer) LANGUAGE plpgsql AS $$
DECLARE
	condition text := substring(query_of(kind) FROM 'WHERE .*');
BEGIN
	FOR i IN 1 .. rounds LOOP
		EXECUTE 'UPDATE counters SET n = n + 1 ' || condition;
		INSERT INTO counters SELECT 'other ' || i || ' ' || j, 0, j, repeat('x', 100) FROM generate_series(1, 20) AS j;
		COMMIT;
	END LOOP;
END $$;
-- How many pages of the table a lookup reads, by one kind of scan
CREATE FUNCTION pages_read(kind text, scan text) RETURNS integer LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_indexscan = off AS $$
DECLARE
	plan json;
BEGIN
	PERFORM set_config('enable_' || scan || 'scan', 'on', true);
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query_of(kind) INTO plan;
	ASSERT plan::text ~* scan;
	RETURN (plan->0->'Plan'->>'Local Hit Blocks')::integer + (plan->0->'Plan'->>'Local Read Blocks')::integer;
END $$;
CREATE PROCEDURE begin_counters(kind text) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS counters;
	CREATE TEMPORARY TABLE counters (k text, n integer, fixed integer, pad text);
	EXECUTE definition_of(kind);
	CREATE INDEX ON counters (n);
	INSERT INTO counters VALUES ('hot', 0, 7, repeat('x', 100));
END $$;
SET enable_seqscan = off;

CREATE TABLE results (kind text, plain integer, bitmap integer, vacuumed integer, kept boolean);
SELECT format('CALL begin_counters(%L)', kind),
	'SET enable_bitmapscan = ' || CASE kind WHEN 'bitmap scans' THEN 'on' ELSE 'off' END,
	format('CALL churn(%L, 400)', kind),
	'RESET enable_bitmapscan',
	format('INSERT INTO results SELECT %1$L, pages_read(%1$L, ''index''), pages_read(%1$L, ''bitmap'')', kind),
	'VACUUM counters',
	format('UPDATE results SET vacuumed = pages_read(%1$L, ''index''),
		kept = by_index(query_of(%1$L)) = ''400'' AND is_whole(''counters_k'') WHERE kind = %1$L', kind)
FROM unnest('{plain scans,bitmap scans,constraint,several columns,expression}'::text[]) AS kind \gexec
SELECT kind, plain <= 40 AS plain, bitmap <= 40 AS bitmap, vacuumed <= 5 AS vacuumed, kept FROM results ORDER BY kind;

---- Rows that are only added and deleted: before the addition after which intervals would be joined
CALL begin_counters('plain scans');
ALTER TABLE counters ALTER pad SET STORAGE PLAIN;
INSERT INTO counters SELECT 'hot', 0, 7, repeat('x', 7600) FROM generate_series(1, 126);
DELETE FROM counters;
SELECT entries FROM cuckoo_index_info('counters_k');
INSERT INTO counters VALUES ('hot', 0, 7, '');
SELECT entries, joined_entries FROM cuckoo_index_info('counters_k');

---- An index has nothing left of an emptied table, whatever its keys had.
CREATE TEMPORARY TABLE emptied AS SELECT i % 10 AS k, i AS n, repeat('x', 200) AS pad FROM generate_series(1, 20000) AS i;
CREATE INDEX emptied_k ON emptied USING cuckoo (k);
SELECT entries, joined_entries > 1000 AS joined FROM cuckoo_index_info('emptied_k');
-- The rows of a key that stay are near each other, with rows of others between them.
DELETE FROM emptied WHERE k = 3 AND n % 300 > 30;
VACUUM emptied;
SELECT agrees('SELECT sum(n) FROM emptied WHERE k = 3') AS kept, pages_per_key < 570 AS fewer_pages FROM cuckoo_index_info('emptied_k');
DELETE FROM emptied WHERE k <> 7;
VACUUM emptied;
SELECT agrees('SELECT sum(n) FROM emptied WHERE k = 7') AS kept, entries FROM cuckoo_index_info('emptied_k');
DELETE FROM emptied WHERE n <> 10007;
VACUUM emptied;
SELECT entries, joined_entries FROM cuckoo_index_info('emptied_k');
DELETE FROM emptied;
VACUUM emptied;
SELECT entries, tombstones FROM cuckoo_index_info('emptied_k');

---- Of an interval is left what its first row needs, or its last one, beside rows of other keys.
CREATE TEMPORARY TABLE ends AS SELECT CASE WHEN i IN (5, 20, 40) THEN 1005 WHEN i IN (10, 25, 45) THEN 1045 ELSE i END AS k, i AS n
FROM generate_series(1, 60) AS i;
CREATE INDEX ends_k ON ends USING cuckoo (k);
SELECT joined_entries FROM cuckoo_index_info('ends_k');
DELETE FROM ends WHERE k > 1000 AND k <> 1000 + n;
VACUUM ends;
SELECT joined_entries FROM cuckoo_index_info('ends_k');
SELECT by_index('SELECT n FROM ends WHERE k = 1005') AS first, by_index('SELECT n FROM ends WHERE k = 1045') AS last;

---- A key that really has many rows keeps them, however often it is looked up.
CREATE TEMPORARY TABLE heavy AS SELECT i % 20 AS k, i AS n FROM generate_series(1, 8000) AS i ORDER BY cuckoo_hash(i);
CREATE INDEX heavy_k ON heavy USING cuckoo (k);
SELECT count(DISTINCT agrees('SELECT sum(n) FROM heavy WHERE k = ' || i % 20)) = 1 AS agrees, bool_and(is_whole('heavy_k')) AS whole
FROM generate_series(1, 100) AS i;
INSERT INTO heavy SELECT i % 20, i FROM generate_series(8001, 16000) AS i;
DELETE FROM heavy WHERE n % 3 = 0;
SELECT bool_and(agrees('SELECT sum(n) FROM heavy WHERE k = ' || i % 20)) AS agrees FROM generate_series(1, 100) AS i;
VACUUM heavy;
SELECT bool_and(agrees('SELECT sum(n) FROM heavy WHERE k = ' || i % 20)) AS agrees, bool_and(is_whole('heavy_k')) AS whole
FROM generate_series(1, 100) AS i;

---- HOT updates before the index was made: a row's first version has another key than its last.
CREATE TABLE broken (k integer, n integer, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE broken ALTER pad SET STORAGE PLAIN;
INSERT INTO broken SELECT CASE WHEN j > 0 THEN 10 * i + j END, j, CASE j WHEN 0 THEN repeat('x', 6000) END
	FROM generate_series(1, 6) AS i, generate_series(0, 3) AS j ORDER BY i, j;
UPDATE broken SET k = 7 WHERE n > 0;
CREATE INDEX broken_k ON broken USING cuckoo (k);
SELECT joined_entries FROM cuckoo_index_info('broken_k');
SELECT count(*), min(by_index('SELECT count(*) FROM broken WHERE k = 7')), bool_and(is_whole('broken_k')) AS whole
FROM generate_series(1, 20);
DELETE FROM broken WHERE n = 1;
VACUUM broken;
SELECT by_index('SELECT count(*) FROM broken WHERE k = 7') AS count, is_whole('broken_k') AS whole;

---- An expression is not computed of rows that the predicate leaves out, or that were never committed.
CREATE TABLE quotients (v integer, n integer) WITH (autovacuum_enabled = off);
INSERT INTO quotients SELECT i % 5, i FROM generate_series(1, 2000) AS i;
CREATE INDEX quotients_v ON quotients USING cuckoo ((1000 / v)) WHERE v <> 0;
DELETE FROM quotients WHERE n % 11 = 3;
VACUUM quotients;
SELECT is_whole('quotients_v') AS whole;
DROP INDEX quotients_v;
DELETE FROM quotients WHERE v = 0;
CREATE INDEX quotients_v ON quotients USING cuckoo ((1000 / v));
SELECT outcome('INSERT INTO quotients VALUES (0, 0)') FROM generate_series(1, 5);
DELETE FROM quotients WHERE n % 11 = 5;
SELECT DISTINCT by_index('SELECT count(*) FROM quotients WHERE 1000 / v = 250') AS count FROM generate_series(1, 20);
VACUUM quotients;
SELECT is_whole('quotients_v') AS whole;
DROP TABLE quotients;
-- Rows that were never committed, in intervals of a key that is looked up: the page has room, so it is not pruned.
-- Nor is a hash function called of them, in a type of which there are arrays.
SET client_min_messages = warning;
CREATE TYPE brittle;
CREATE FUNCTION brittle_in(cstring) RETURNS brittle LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION brittle_out(brittle) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
RESET client_min_messages;
CREATE TYPE brittle (INPUT = brittle_in, OUTPUT = brittle_out, LIKE = integer);
CREATE FUNCTION brittle_eq(brittle, brittle) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE OPERATOR = (LEFTARG = brittle, RIGHTARG = brittle, FUNCTION = brittle_eq);
CREATE FUNCTION brittle_hash(brittle) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'hashint4';
CREATE FUNCTION brittle_hash(v brittle, seed bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT
	AS 'BEGIN RETURN hashint8extended(1000 / v::text::integer, seed); END';
CREATE OPERATOR CLASS brittle_ops DEFAULT FOR TYPE brittle USING hash AS OPERATOR 1 =, FUNCTION 1 brittle_hash(brittle), FUNCTION 2 brittle_hash(brittle, bigint);
CREATE OPERATOR CLASS of_arrays FOR TYPE anyarray USING cuckoo AS OPERATOR 1 = (anyarray, anyarray), FUNCTION 1 hash_array_extended(anyarray, bigint);
CREATE TABLE quotients (v integer, pad text, a brittle[] GENERATED ALWAYS AS (ARRAY[v::text::brittle]) STORED) WITH (autovacuum_enabled = off);
ALTER TABLE quotients ALTER pad SET STORAGE PLAIN;
INSERT INTO quotients SELECT CASE j WHEN 3 THEN 3 ELSE 7 END, CASE j WHEN 0 THEN repeat('x', 6000) END
	FROM generate_series(1, 6) AS i, generate_series(0, 4) AS j ORDER BY i, j;
CREATE INDEX quotients_v ON quotients USING cuckoo ((1000 / v));
CREATE INDEX quotients_a ON quotients USING cuckoo (a of_arrays);
DELETE FROM quotients WHERE v = 7;
VACUUM (INDEX_CLEANUP off) quotients;
SELECT count(outcome('INSERT INTO quotients VALUES (0)')) FROM generate_series(1, 200);
SELECT joined_entries FROM cuckoo_index_info('quotients_v');
SELECT DISTINCT by_index('SELECT count(*) FROM quotients WHERE 1000 / v = 142') AS expression, by_index('SELECT count(*) FROM quotients WHERE a = ''{7}''') AS hashed
FROM generate_series(1, 20);
VACUUM quotients;
DROP TABLE quotients;
-- Nor is an expression computed of rows that an index which is not valid yet may lack.
CREATE TABLE quotients (v integer, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE quotients ALTER pad SET STORAGE PLAIN;
CREATE INDEX quotients_v ON quotients USING cuckoo ((1000 / v));
UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = 'quotients_v'::regclass;
INSERT INTO quotients VALUES (0);
UPDATE pg_index SET indisready = true WHERE indexrelid = 'quotients_v'::regclass;
INSERT INTO quotients SELECT CASE WHEN i IN (1, 20, 40) OR i > 60 THEN 7 ELSE i END, CASE WHEN i > 60 THEN repeat('x', 7600) END FROM generate_series(1, 185) AS i;
DELETE FROM quotients WHERE v = 7;
INSERT INTO quotients VALUES (7, repeat('x', 7600)), (7, repeat('x', 7600)), (7, repeat('x', 7600));
DROP TABLE quotients;

---- Values that are stored apart, of rows that are dead
CREATE TEMPORARY TABLE apart (k text, n integer);
ALTER TABLE apart ALTER k SET STORAGE EXTERNAL;
CREATE INDEX apart_k ON apart USING cuckoo (k);
CREATE INDEX ON apart (n);
INSERT INTO apart SELECT repeat(i::text, 3000), i FROM generate_series(1, 5) AS i;
DO $$ BEGIN
	FOR i IN 1 .. 300 LOOP
		UPDATE apart SET n = n + 1, k = CASE WHEN i % 3 = 0 THEN k || '' ELSE k END WHERE k = repeat('3', 3000);
		COMMIT;
	END LOOP;
END $$;
VACUUM apart;
SELECT by_index('SELECT n FROM apart WHERE k = repeat(''3'', 3000)') AS n, is_whole('apart_k') AS whole;

---- VACUUM goes on beside keys that are hashed in another way than when the index was built.
CREATE OPERATOR CLASS place_ops FOR TYPE tid USING cuckoo AS OPERATOR 1 =;
ALTER OPERATOR FAMILY place_ops USING cuckoo ADD FUNCTION 1 (tid, tid) hashtidextended(tid, bigint);
CREATE OPERATOR CLASS number_ops FOR TYPE integer USING cuckoo AS OPERATOR 1 =;
CREATE TEMPORARY TABLE places AS SELECT '(0,7)'::tid AS place, 7 AS seven, i AS n FROM generate_series(1, 5) AS i;
CREATE INDEX places_place ON places USING cuckoo (place place_ops);
CREATE INDEX ON places USING cuckoo (seven number_ops);
ALTER OPERATOR FAMILY place_ops USING cuckoo ADD FUNCTION 1 (int8, int8) hashint8extended(bigint, bigint);
ALTER OPERATOR FAMILY number_ops USING cuckoo ADD FUNCTION 1 (integer, integer) hashint4extended(integer, bigint);
DELETE FROM places WHERE n = 1;
VACUUM places;
ALTER OPERATOR FAMILY place_ops USING cuckoo DROP FUNCTION 1 (tid, tid), FUNCTION 1 (int8, int8);
DELETE FROM places WHERE n = 2;
VACUUM places;
ALTER OPERATOR FAMILY place_ops USING cuckoo ADD FUNCTION 1 (tid, tid) hashtidextended(tid, bigint);
SELECT by_index('SELECT count(*) FROM places WHERE place = ''(0,7)''') AS count, entries, joined_entries FROM cuckoo_index_info('places_place');
DELETE FROM places WHERE n < 5;
VACUUM places;
SELECT entries, joined_entries FROM cuckoo_index_info('places_place');

---- What stays until REINDEX: intervals of more than 16 pages, which info counts
CREATE TEMPORARY TABLE wide (k integer, n integer, pad text);
ALTER TABLE wide ALTER pad SET STORAGE PLAIN;
INSERT INTO wide SELECT CASE WHEN i % 10 = 0 THEN 0 ELSE i END, i, repeat('x', 7000) FROM generate_series(1, 2560) AS i;
CREATE INDEX wide_k ON wide USING cuckoo (k);
DELETE FROM wide WHERE k = 0 AND n <> 10;
VACUUM wide;
SELECT joined_entries > 10 AS joined, wide_entries > 10 AS wide, pages_per_key > 1.1 AS pages_per_key FROM cuckoo_index_info('wide_k');
REINDEX INDEX wide_k;
SELECT joined_entries, wide_entries, pages_per_key FROM cuckoo_index_info('wide_k');
SELECT agrees('SELECT n FROM wide WHERE k = 0') AS agrees;
