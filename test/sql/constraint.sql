-- Exclusion constraints, indexes of several columns, and plain scans
--
-- ../t/056_constraint.pl has what needs several sessions or a restart, and
-- ../isolation/specs/index-constraint.spec conflicts with rows that are not committed.
-- VACUUM removes rows of temporary tables whatever snapshots others have.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET jit = off;

-- What a query returns if only one kind of scan is allowed.  If its plan has another one,
-- the answer says so.
CREATE FUNCTION answer(kind text, query text) RETURNS text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = off SET enable_material = off
	SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
	node text := CASE kind WHEN 'index' THEN 'Index Scan using' WHEN 'bitmap' THEN 'Bitmap Index Scan' ELSE 'Seq Scan' END;
BEGIN
	PERFORM set_config('enable_' || kind || 'scan', 'on', true);
	RETURN CASE WHEN uses(query, node) THEN outcome(query) ELSE 'another plan' END;
END $$;
CREATE FUNCTION scans(query text, OUT index text, OUT bitmap text, OUT seq text) LANGUAGE sql
	RETURN (answer('index', query), answer('bitmap', query), answer('seq', query));

---- A constraint of two columns.  NULL is not equal to anything.
CREATE TEMPORARY TABLE pages (tenant integer, url text, n integer, EXCLUDE USING cuckoo (tenant WITH =, url WITH =));
INSERT INTO pages VALUES (1, 'a'), (2, 'a'), (1, 'b'), (NULL, 'a'), (NULL, 'a'), (1, NULL), (1, NULL), (NULL, NULL);
INSERT INTO pages VALUES (1, 'a');
INSERT INTO pages VALUES (3, 'c'), (3, 'c');
INSERT INTO pages VALUES (1, 'a'), (3, 'c'), (3, 'c'), (NULL, 'a') ON CONFLICT DO NOTHING RETURNING tenant, url;
INSERT INTO pages VALUES (2, 'a'), (2, 'd') ON CONFLICT ON CONSTRAINT pages_tenant_url_excl DO NOTHING
	RETURNING tenant, url;
INSERT INTO pages VALUES (1, 'a') ON CONFLICT (tenant, url) DO NOTHING;
INSERT INTO pages VALUES (1, 'a') ON CONFLICT ON CONSTRAINT pages_tenant_url_excl DO UPDATE SET n = 1;
COPY pages FROM stdin;
4	copied	1
1	a	1
\.
UPDATE pages SET url = 'b' WHERE tenant = 1 AND url = 'a';
UPDATE pages SET url = 'a', n = 1 WHERE tenant = 1 AND url = 'a' RETURNING *;
UPDATE pages SET tenant = 5 WHERE tenant = 1 AND url = 'a';
INSERT INTO pages VALUES (1, 'a') RETURNING tenant, url;
MERGE INTO pages AS p USING (VALUES (5, 'a'), (6, 'a')) AS v(tenant, url) ON p.tenant = v.tenant AND p.url = v.url
	WHEN MATCHED THEN UPDATE SET url = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (v.tenant, v.url);
MERGE INTO pages AS p USING (VALUES (6, 'a')) AS v(tenant, url) ON false
	WHEN NOT MATCHED THEN INSERT VALUES (v.tenant, v.url);
DELETE FROM pages WHERE tenant = 6;
-- A row of the same transaction, and of a savepoint that is no longer
BEGIN;
SAVEPOINT s;
INSERT INTO pages VALUES (6, 'a');
ROLLBACK TO s;
INSERT INTO pages VALUES (6, 'a') ON CONFLICT DO NOTHING RETURNING tenant;
INSERT INTO pages VALUES (6, 'a') ON CONFLICT DO NOTHING RETURNING tenant;
SAVEPOINT s;
INSERT INTO pages VALUES (6, 'a');
ROLLBACK TO s;
COMMIT;
SELECT tenant, url, count(*) FROM pages GROUP BY tenant, url ORDER BY tenant, url;
SELECT entries, cuckoo_index_check('pages_tenant_url_excl') AS missing FROM cuckoo_index_info('pages_tenant_url_excl');
VACUUM pages;
INSERT INTO pages VALUES (5, 'merged');
SELECT entries, cuckoo_index_check('pages_tenant_url_excl') AS missing FROM cuckoo_index_info('pages_tenant_url_excl');

---- Added to a table with rows
CREATE TABLE numbers (a integer, b float8, c numeric);
INSERT INTO numbers VALUES (1, 0, 1.0), (2, '-0', 2), (3, NULL, 2.00);
ALTER TABLE numbers ADD CONSTRAINT numbers_a EXCLUDE USING cuckoo (a WITH =);
ALTER TABLE numbers ADD EXCLUDE USING cuckoo (b WITH =);
ALTER TABLE numbers ADD EXCLUDE USING cuckoo (c WITH =);
ALTER TABLE numbers ADD EXCLUDE USING cuckoo (a WITH <>);
ALTER TABLE numbers ADD EXCLUDE USING cuckoo (abs(a) WITH =) WITH (capacity = 5000) WHERE (c = 2);
INSERT INTO numbers VALUES (-2, 7, 2.0);
INSERT INTO numbers VALUES (-2, 7, 3);
-- Not CONCURRENTLY, as for every exclusion constraint
REINDEX TABLE numbers;
REINDEX TABLE CONCURRENTLY numbers;
REINDEX INDEX CONCURRENTLY numbers_a;
INSERT INTO numbers VALUES (3, 7, 3) ON CONFLICT DO NOTHING RETURNING a;
ALTER TABLE numbers DROP CONSTRAINT numbers_a;
INSERT INTO numbers VALUES (3, 7, 3) ON CONFLICT DO NOTHING RETURNING a;

---- Keys that a B-tree refuses: of 32 kB, also of another length by their last character
CREATE TABLE long (t text, EXCLUDE USING cuckoo (t WITH =));
INSERT INTO long SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1024) AS i;
INSERT INTO long SELECT t || 'x' FROM long;
INSERT INTO long TABLE long ON CONFLICT DO NOTHING;
SELECT count(*), min(length(t)), pg_relation_size('long_t_excl') / 8192 AS pages FROM long;
SELECT (scans('SELECT count(*) FROM long WHERE t = (SELECT max(t) FROM long)')).*;

---- An enum, of which values are renamed and added
CREATE TYPE kind AS ENUM ('new', 'old');
CREATE TABLE events (kind kind, url text, EXCLUDE USING cuckoo (kind WITH =, url WITH =));
INSERT INTO events VALUES ('new', 'a'), ('old', 'a');
ALTER TYPE kind RENAME VALUE 'new' TO 'young';
ALTER TYPE kind ADD VALUE 'new' BEFORE 'young';
INSERT INTO events VALUES ('young', 'a');
INSERT INTO events VALUES ('old', 'a'), ('new', 'a') ON CONFLICT DO NOTHING RETURNING kind;
SELECT (scans('SELECT count(*) FROM events WHERE kind = ''young'' AND url = ''a''')).*;

---- Deferrable
CREATE TABLE moved (k integer, CONSTRAINT moved_k EXCLUDE USING cuckoo (k WITH =));
INSERT INTO moved SELECT generate_series(1, 1000);
UPDATE moved SET k = k + 1;
ALTER TABLE moved DROP CONSTRAINT moved_k, ADD CONSTRAINT moved_k EXCLUDE USING cuckoo (k WITH =) DEFERRABLE;
UPDATE moved SET k = k + 1;
SELECT min(k), max(k), count(*), cuckoo_index_check('moved_k') AS missing FROM moved;
UPDATE moved SET k = k + 1 WHERE k < 500;
INSERT INTO moved VALUES (0) ON CONFLICT DO NOTHING;
BEGIN;
SET CONSTRAINTS moved_k DEFERRED;
INSERT INTO moved VALUES (2), (3);
DELETE FROM moved WHERE k = 2;
SET CONSTRAINTS moved_k IMMEDIATE;
ROLLBACK;
CREATE TABLE late (k integer, CONSTRAINT late_k EXCLUDE USING cuckoo (k WITH =) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO late VALUES (1), (1), (2);
DELETE FROM late WHERE ctid = '(0,1)';
COMMIT;
BEGIN;
INSERT INTO late VALUES (1);
COMMIT;
TABLE late;

---- A partial constraint, whose joined interval covers rows outside of its predicate:
---- rows 1, 3, 5, ... were active, and rows 2, 4, 6, ... are not.
CREATE TEMPORARY TABLE turns (k integer, active boolean, EXCLUDE USING cuckoo (k WITH =) WHERE (active));
DO $$ BEGIN
	FOR i IN 1 .. 5 LOOP
		INSERT INTO turns VALUES (1, true);
		UPDATE turns SET active = false WHERE active;
	END LOOP;
END $$;
SELECT entries, joined_entries FROM cuckoo_index_info('turns_k_excl');
INSERT INTO turns VALUES (1, true);
INSERT INTO turns VALUES (1, true);
INSERT INTO turns VALUES (1, true) ON CONFLICT DO NOTHING RETURNING k;
INSERT INTO turns VALUES (1, false);
UPDATE turns SET active = true;
SELECT active, count(*) FROM turns WHERE k = 1 GROUP BY active ORDER BY active;
SELECT query, (scans('SELECT count(*) FROM turns WHERE ' || query)).* FROM unnest(ARRAY[
	'k = 1 AND active', 'k = 2 AND active', 'k = 1', 'active']) AS query;
UPDATE turns SET active = false;
SELECT (scans('SELECT count(*) FROM turns WHERE k = 1 AND active')).*;

---- An expression that can only be computed of rows that satisfy the predicate
CREATE TEMPORARY TABLE quotients (v integer, EXCLUDE USING cuckoo ((1000 / v) WITH =) WHERE (v <> 0));
DO $$ BEGIN
	FOR i IN 1 .. 5 LOOP
		INSERT INTO quotients VALUES (7), (0);
		DELETE FROM quotients WHERE v = 7;
	END LOOP;
END $$;
INSERT INTO quotients VALUES (7) RETURNING v;

---- Conditions that the predicate implies: on the column itself, and on none of the key
CREATE TABLE implied (a integer, b integer);
INSERT INTO implied SELECT i % 10, i FROM generate_series(1, 200) AS i;
INSERT INTO implied VALUES (7, NULL), (NULL, 7), (NULL, NULL);
CREATE INDEX implied_a ON implied USING cuckoo (a) WHERE a = 7;
CREATE INDEX implied_b ON implied USING cuckoo (a, b) WHERE b > 100;
SELECT query, (scans('SELECT count(*) FROM implied WHERE ' || query)).* FROM unnest(ARRAY[
	'a = 7', 'a = 8', 'a = 7 AND b = 107', 'a = 7 AND b = 107 AND b > 100', 'a = 8 AND b = 7', 'b > 100']) AS query;

---- Conditions on several columns, in any order, of similar types, and several for one
CREATE TABLE cells (a integer, b text, c bigint);
CREATE INDEX cells_abc ON cells USING cuckoo (a, b, c);
INSERT INTO cells SELECT a, b, c FROM generate_series(1, 3) AS a, generate_series(1, 3) AS b,
	generate_series(1, 3) AS c;
INSERT INTO cells VALUES (NULL, '1', 1), (1, NULL, 1), (1, '1', NULL);
SELECT entries, joined_entries, cuckoo_index_check('cells_abc') AS missing FROM cuckoo_index_info('cells_abc');
-- Hashes depend on the order of values: no entries of (1, 2, 3), (2, 3, 1), ... are joined.
CREATE TABLE orders AS SELECT a, b, 6 - a - b AS c FROM generate_series(1, 3) AS a, generate_series(1, 3) AS b
	WHERE a <> b;
CREATE INDEX orders_abc ON orders USING cuckoo (a, b, c);
SELECT entries, joined_entries FROM cuckoo_index_info('orders_abc');
SELECT query, (scans('SELECT count(*) FROM cells WHERE ' || query)).* FROM unnest(ARRAY[
	'a = 1 AND b = ''2'' AND c = 3', 'c = 1 AND b = ''2'' AND a = 3', 'b = ''4'' AND c = 1 AND a = 1',
	'a = 3::bigint AND c = 2::smallint AND b = ''1''::varchar', 'c = 4294967297 AND a = 1 AND b = ''1''',
	'a = 1 AND a = (SELECT 2) AND b = ''1'' AND c = 1', 'c = 1 AND b = ''1'' AND a = 1 AND c < 2 AND b > ''0''',
	'a = (SELECT NULL::integer) AND b = ''1'' AND c = 1', 'a = 1 AND b = ''1'' AND c = (SELECT NULL::bigint)']) AS query;
-- Arrays are for bitmap scans.  From 18 on, a plain scan may be one by part of the key.
SELECT query, bitmap, seq, index IN (seq, 'another plan') AS index
FROM unnest(ARRAY['a = ANY (''{1,3,3,9}'') AND b = ANY (''{1,2}'') AND c = ANY (''{3,NULL}'')',
	'a = 1 AND b = ''1'' AND c = ANY (''{1,2}'')', 'a = ANY (''{1,2}'') AND b = ''1'' AND c = 1',
	'(a, b, c) IN ((1, ''1'', 1), (2, ''1'', 7), (3, ''3'', 3))']) AS query,
	scans('SELECT count(*) FROM cells WHERE ' || query);
SELECT (scans('SELECT count(*) FROM cells AS x, LATERAL
	(SELECT FROM cells AS y WHERE y.c = x.a AND y.a = x.c AND y.b = x.b OFFSET 0) AS z')).*;
SELECT outcome('SELECT cuckoo_index_filter(''cells_abc'')');

---- Without a condition for each column the index is not used, unless nothing else is
---- allowed.  Then it returns all rows, also those with NULL.
SELECT uses('SELECT FROM cells WHERE a = 1 AND b = ''1''', 'Seq Scan') AS normally;
SELECT query, seq, index IN (seq, 'another plan') AS index, bitmap IN (seq, 'another plan') AS bitmap
FROM unnest(ARRAY['a = 1', 'a = 1 AND b = ''1''', 'a = 1 AND c = 1', 'a = 1 AND c IS NULL',
		'a = ANY (''{1,2}'')']) AS query, scans('SELECT count(*) FROM cells WHERE ' || query);

---- As many columns as there may be
DO $$
DECLARE
	columns text[] := ARRAY(SELECT 'c' || i FROM generate_series(1, 32) AS i);
BEGIN
	EXECUTE format('CREATE TABLE wide (%s integer)', array_to_string(columns, ' integer, '));
	EXECUTE format('ALTER TABLE wide ADD EXCLUDE USING cuckoo (%s WITH =)', array_to_string(columns, ' WITH =, '));
	EXECUTE format('INSERT INTO wide SELECT %s n FROM generate_series(1, 2) AS n', repeat('1, ', 31));
	EXECUTE format('CREATE VIEW ones AS SELECT FROM wide WHERE %s = 1', array_to_string(columns, ' = 1 AND '));
END $$;
INSERT INTO wide TABLE wide ON CONFLICT DO NOTHING RETURNING c1;
SELECT (scans('SELECT count(*) FROM ones')).*;
SELECT outcome('ALTER TABLE wide ADD EXCLUDE USING cuckoo (c1 WITH =' || repeat(', c2 WITH =', 32) || ')');

---- Plain scans stop at the first row: they are chosen for LIMIT 1 and EXISTS.
CREATE TEMPORARY TABLE copies AS SELECT i % 400 AS k, i % 20 AS few, i AS n FROM generate_series(1, 20000) AS i;
CREATE INDEX copies_k ON copies USING cuckoo (k);
CREATE INDEX copies_few ON copies USING cuckoo (few);
ANALYZE copies;
SELECT query, substring(string_agg(line, '') FROM 'Index Scan using|Bitmap Index Scan|Seq Scan') AS scan
FROM unnest(ARRAY['SELECT FROM copies WHERE k = 7', 'SELECT FROM copies WHERE k = 7 LIMIT 1',
	'SELECT FROM copies WHERE few = 7',
	'SELECT EXISTS (SELECT FROM copies WHERE k = i) FROM generate_series(1, 5) AS i']) AS query, plan(query) AS line
GROUP BY query ORDER BY query COLLATE "C";
SELECT query, (scans('SELECT sum(n) FROM copies WHERE ' || query)).* FROM unnest('{k = 7,few = 7}'::text[]) AS query;
-- Cursors go back, with rows from joined intervals, too.
BEGIN;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_seqscan = off;
SELECT uses('DECLARE c SCROLL CURSOR FOR SELECT n FROM copies WHERE few = 7', 'Index Scan using copies_few') AS plain;
DECLARE c SCROLL CURSOR FOR SELECT n FROM copies WHERE few = 7;
FETCH 3 c;
FETCH BACKWARD 2 c;
FETCH LAST c;
FETCH ABSOLUTE 1 c;
COMMIT;
-- Intervals are cut off at the end of a table that has become shorter.
DELETE FROM copies WHERE n > 1000;
VACUUM copies;
SELECT pg_relation_size('copies') < 100000 AS short;
SELECT query, (scans('SELECT sum(n) FROM copies WHERE ' || query)).* FROM unnest('{k = 7,few = 7}'::text[]) AS query;
