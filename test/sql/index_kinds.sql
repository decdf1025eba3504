-- Kinds of indexes and tables, what lookups find, and what CREATE INDEX refuses
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/index.psql"`

---- Build, insert, look up
CREATE TABLE members (id integer, email text) WITH (autovacuum_enabled = off);
INSERT INTO members SELECT i, 'user' || i || '@example.com' FROM generate_series(1, 6000) AS i;
INSERT INTO members SELECT i FROM generate_series(1, 50) AS i;
CREATE INDEX members_email ON members USING cuckoo (email);
INSERT INTO members SELECT i, 'user' || i || '@example.com' FROM generate_series(6001, 12000) AS i;
INSERT INTO members SELECT i FROM generate_series(51, 99) AS i;
UPDATE members SET email = 'moved' || id WHERE id % 1000 = 0 AND email IS NOT NULL;
ANALYZE members;
SELECT query, agrees('SELECT count(*) || '' '' || coalesce(sum(id), 0) FROM members WHERE ' || query) AS agrees,
	by_index('SELECT count(*) FROM members WHERE ' || query) AS rows
FROM unnest(ARRAY['email = ''user77@example.com''', 'email = ''user6077@example.com''', 'email = ''moved9000''',
	'email = ''user9000@example.com''', 'email = ''absent''',
	'email = ANY (''{user1@example.com,absent,user1@example.com,moved1000,NULL}'')', 'email = ANY (''{}'')',
	'email = ANY ((SELECT array_agg(''user'' || i || ''@example.com'') FROM generate_series(990, 1010) AS i)::text[])',
	'email = ''user5@example.com'' AND id > 5', 'email = ''user5@example.com'' OR email = ''user6@example.com''',
	'email = (SELECT NULL::text)', 'email = ANY ((SELECT NULL::text[])::text[])']) AS query;
-- Joins look up each key, and NULL finds nothing.
CREATE VIEW absent AS SELECT 'absent' || i AS email FROM generate_series(1, 20000) AS i;
CREATE VIEW two AS SELECT email FROM (VALUES (NULL), ('user3@example.com')) AS v(email);
SELECT query, agrees('SELECT count(*) FROM ' || query) AS agrees, by_index('SELECT count(*) FROM ' || query) AS rows
FROM unnest(ARRAY['members AS a JOIN members AS b USING (email)', 'members AS a LEFT JOIN members AS b USING (email)',
	'absent JOIN members USING (email)',
	'two CROSS JOIN LATERAL (SELECT FROM members WHERE email = two.email OFFSET 0) AS m']) AS query;
SELECT is_whole('members_email'), entries = 12000 + 12 AS entries, joined_entries, overflow_pages, load BETWEEN
	0.5 AND 1 AS load, expected_false_rows < 1e-5 AS exact,
	file_pages >= pages AND pages > 8 AND depth = 1 AS split FROM cuckoo_index_info('members_email') \gx
-- A cursor, a prepared statement and a rescan
PREPARE of_members(text) AS SELECT id FROM members WHERE email = $1;
SET plan_cache_mode = force_generic_plan;
SELECT outcome('EXECUTE of_members(''user77@example.com'')') AS present,
	outcome('EXECUTE of_members(''absent'')') AS absent, outcome('EXECUTE of_members(NULL)') AS of_null,
	uses('EXECUTE of_members(NULL)', 'Index Scan') AS by_index \gx
RESET plan_cache_mode;

---- Kinds of indexes and tables
CREATE INDEX members_some ON members USING cuckoo (id) WHERE id > 11000;
CREATE INDEX members_lower ON members USING cuckoo (lower(email));
INSERT INTO members VALUES (20000, 'UPPER'), (NULL, 'Upper');
ANALYZE members;
SELECT query, agrees('SELECT count(*) FROM members WHERE ' || query),
	by_index('SELECT count(*) FROM members WHERE ' || query) AS rows
FROM unnest(ARRAY['id = 11500 AND id > 11000', 'id = 20000', 'id = 11500', 'lower(email) = ''upper''',
	'lower(email) = lower(''USER4@example.com'')']) AS query;
SELECT entries = 1001 AS some, is_whole('members_some', 'members_lower') FROM cuckoo_index_info('members_some') \gx

CREATE INDEX members_full ON members USING cuckoo (email) WITH (fillfactor = 100);
CREATE INDEX members_loose ON members USING cuckoo (email) WITH (fillfactor = 30);
CREATE INDEX members_large ON members USING cuckoo (email) WITH (capacity = 3e5);
SELECT f.pages < l.pages / 2 AS fillfactor, c.file_pages > 200 AND c.depth = 0 AND c.pages > 200 AS capacity,
	is_whole('members_full', 'members_loose', 'members_large')
FROM cuckoo_index_info('members_full') AS f, cuckoo_index_info('members_loose') AS l,
	cuckoo_index_info('members_large') AS c \gx
SELECT options, lines(format('CREATE INDEX ON members USING cuckoo (email) WITH (%s)', options)) FROM
	unnest('{fillfactor=9,fillfactor=101,capacity=-1,capacity=2e11,capacity=many,seed=1}'::text[]) AS options;
DROP INDEX members_full, members_loose, members_large;
-- Where the table grows and few keys come, fingerprints become shorter, and pages stay.
CREATE TABLE roomy (k integer, filler text);
CREATE INDEX roomy_k ON roomy USING cuckoo (k) WITH (capacity = 20000);
INSERT INTO roomy SELECT generate_series(1, 1000);
INSERT INTO roomy SELECT NULL, repeat('x', 1000) FROM generate_series(1, 10000);
INSERT INTO roomy SELECT generate_series(1001, 2000);
SELECT pages, min_fingerprint_bits < max_fingerprint_bits AS shorter, is_whole('roomy_k') FROM cuckoo_index_info('roomy_k') \gx

CREATE UNLOGGED TABLE unlogged AS TABLE members;
CREATE INDEX ON unlogged USING cuckoo (email);
CREATE TABLE empty (k integer);
CREATE INDEX ON empty USING cuckoo (k);
CREATE TABLE parts (k integer, v text) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (100);
CREATE TABLE parts_2 (v text, k integer);
CREATE INDEX parts_k ON parts USING cuckoo (k);
CREATE INDEX parts_v ON parts USING cuckoo (v);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (100) TO (200);
INSERT INTO parts SELECT i, i % 50 FROM generate_series(1, 199) AS i;
SELECT agrees('SELECT count(*) FROM unlogged WHERE email = ''user5@example.com''') AS
	"email = 'user5@example.com'", agrees('SELECT count(*) FROM empty WHERE k = 1') AS "k = 1",
	agrees('SELECT count(*) FROM parts WHERE v = ''7''') AS "v = '7'", agrees('SELECT v FROM parts WHERE k = 150')
	AS "k = 150",
	agrees('SELECT count(*) FROM parts AS a JOIN parts AS b USING (v)') AS "join", is_whole('parts_1_k_idx',
	'parts_2_k_idx', 'parts_1_v_idx', 'parts_2_v_idx', 'unlogged_email_idx', 'empty_k_idx') \gx
-- What a build with temporary files has reported in the end.  The predicate is
-- evaluated when that of the next partition is simplified.
CREATE TABLE many (k integer) PARTITION BY RANGE (k);
CREATE TABLE many_1 PARTITION OF many FOR VALUES FROM (1) TO (100000);
CREATE TABLE many_2 PARTITION OF many FOR VALUES FROM (100000) TO (200000);
INSERT INTO many SELECT generate_series(1, 66000);
CREATE FUNCTION reports() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
	report record;
BEGIN
	PERFORM pg_stat_clear_snapshot();
	SELECT INTO report phase, tuples_done, tuples_total FROM pg_stat_progress_create_index
		WHERE pid = pg_backend_pid() AND phase ~ 'writing';
	IF FOUND THEN
		RAISE WARNING '%', report;
	END IF;
	RETURN true;
END $$;
SET maintenance_work_mem = '1MB';
CREATE INDEX ON many USING cuckoo (k) WHERE reports();
RESET maintenance_work_mem;
ALTER TABLE parts DETACH PARTITION parts_2;
SELECT agrees('SELECT v FROM parts_2 WHERE k = 150') AS "k = 150",
	agrees('SELECT count(*) FROM parts WHERE k = 50') \gx

CREATE TABLE copied (LIKE members INCLUDING ALL);
INSERT INTO copied TABLE members;
SELECT count(*), is_whole(VARIADIC array_agg(indexrelid::regclass::text)) FROM pg_index WHERE indrelid =
	'copied'::regclass \gx
REINDEX TABLE copied;
VACUUM FULL copied;
SELECT agrees('SELECT count(*) FROM copied WHERE email = ''user5@example.com''') AS
	"email = 'user5@example.com'", is_whole('copied_email_idx', 'copied_id_idx', 'copied_lower_idx') \gx
TRUNCATE copied;
SELECT agrees('SELECT count(*) FROM copied WHERE email = ''user5@example.com''');
INSERT INTO copied TABLE members;
SELECT agrees('SELECT count(*) FROM copied WHERE email = ''user5@example.com''') AS
	"email = 'user5@example.com'", is_whole('copied_email_idx') \gx
-- In one transaction, with a savepoint
CREATE TEMPORARY TABLE brief (k integer) ON COMMIT DELETE ROWS;
CREATE INDEX brief_k ON brief USING cuckoo (k);
BEGIN;
INSERT INTO brief SELECT generate_series(1, 5000);
SAVEPOINT s;
TRUNCATE brief;
INSERT INTO brief SELECT generate_series(1, 3000);
ROLLBACK TO s;
SELECT agrees('SELECT count(*) FROM brief WHERE k = 4000') AS "k = 4000", is_whole('brief_k') \gx
COMMIT;
INSERT INTO brief VALUES (1);
SELECT entries, pages FROM cuckoo_index_info('brief_k') \gx

---- VACUUM by workers
SET min_parallel_index_scan_size = 0;
DELETE FROM copied WHERE id % 2 = 0;
VACUUM (PARALLEL 2) copied;
SELECT is_whole('copied_email_idx', 'copied_id_idx', 'copied_lower_idx');
RESET min_parallel_index_scan_size;

---- What CREATE INDEX refuses
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE elsewhere (k integer) USING heap2;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a integer, b text);
CREATE VIEW a_view AS SELECT 1;
CREATE DOMAIN moods AS mood[];
CREATE TYPE mood_range AS RANGE (subtype = mood);
CREATE TABLE refused (a integer, b integer, m mood, ms mood[], ps pair[], d moods, r mood_range, mr
	mood_multirange, p point, j json, t text COLLATE pg_catalog."C");
SELECT definition, lines('CREATE INDEX ON ' || definition) AS outcome FROM
	unnest(ARRAY['elsewhere USING cuckoo (k)', 'refused USING cuckoo (ms)', 'refused USING cuckoo (ps)',
	'refused USING cuckoo (d)', 'refused USING cuckoo (r)',
	'refused USING cuckoo (mr)', 'refused USING cuckoo ((ARRAY[ps]))', 'refused USING cuckoo (p)',
	'refused USING cuckoo (j)', 'refused USING cuckoo (a) INCLUDE (b)', 'refused USING cuckoo (a DESC)',
	'refused USING cuckoo (a NULLS FIRST)',
	'refused USING cuckoo (a text_ops)', 'a_view USING cuckoo (a)']) AS definition;
SELECT lines('CLUSTER members USING members_email');
-- A nondeterministic collation without ICU: only its flag matters.
CREATE COLLATION folding FROM "C";
UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'folding' AND collnamespace =
	'scratch'::regnamespace;
SELECT lines('CREATE INDEX ON refused USING cuckoo (t COLLATE folding)');
DROP ACCESS METHOD heap2 CASCADE;
