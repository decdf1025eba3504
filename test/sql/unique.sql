-- Unique indexes, which PostgreSQL allows from 18 on
--
-- ../isolation/specs/index-unique.spec has what needs several sessions, ../t/056_constraint.pl
-- crashes, and ../t/057_unique_servers.pl replica identities.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
CREATE TABLE pages (tenant integer, url text, n integer DEFAULT 1);
CREATE UNIQUE INDEX pages_url ON pages USING cuckoo (url);
SELECT current_setting('server_version_num')::integer >= 180000 AS can_be_unique \gset
\if :can_be_unique
\else
\quit
\endif

---- A column, and two.  NULL is not equal to anything.
INSERT INTO pages VALUES (1, 'a'), (1, 'b'), (2, NULL), (2, NULL);
INSERT INTO pages VALUES (1, 'c'), (1, 'a');
INSERT INTO pages VALUES (1, 'c'), (1, 'c');
INSERT INTO pages VALUES (1, 'a'), (1, 'c'), (3, NULL) ON CONFLICT (url) DO UPDATE SET n = pages.n + 1 RETURNING *;
INSERT INTO pages VALUES (1, 'c'), (1, 'd') ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO pages VALUES (1, 'e'), (1, 'e') ON CONFLICT (url) DO UPDATE SET n = 0;
INSERT INTO pages VALUES (1, 'e'), (1, 'e') ON CONFLICT (url) DO NOTHING RETURNING *;
UPDATE pages SET url = 'b' WHERE url = 'a';
UPDATE pages SET url = url, n = n + 1 WHERE url = 'a' RETURNING *;
COPY pages FROM stdin;
1	f	1
1	a	1
\.
MERGE INTO pages USING (VALUES ('a'), ('f')) AS v(url) ON pages.url = v.url
	WHEN MATCHED THEN UPDATE SET n = 10 WHEN NOT MATCHED THEN INSERT VALUES (4, v.url) RETURNING pages.*;
CREATE UNIQUE INDEX pages_both ON pages USING cuckoo (tenant, url);
INSERT INTO pages VALUES (4, 'f') ON CONFLICT (tenant, url) DO UPDATE SET n = 11 RETURNING *;
INSERT INTO pages VALUES (5, 'f') ON CONFLICT (tenant, url) DO NOTHING;
-- What is deleted, or rolled back, can be inserted again.
BEGIN;
DELETE FROM pages WHERE url = 'f';
INSERT INTO pages VALUES (4, 'f');
SAVEPOINT s;
INSERT INTO pages VALUES (4, 'g');
ROLLBACK TO s;
INSERT INTO pages VALUES (4, 'g');
COMMIT;
SELECT tenant, url, n FROM pages ORDER BY url, tenant;
SELECT cuckoo_index_check('pages_url') + cuckoo_index_check('pages_both') AS missing;
-- A check does not count as a scan, by which people find indexes that are not used.
BEGIN;
CREATE TABLE unused (k integer);
CREATE UNIQUE INDEX unused_k ON unused USING cuckoo (k);
INSERT INTO unused SELECT generate_series(1, 100);
UPDATE unused SET k = k + 100;
SELECT pg_stat_get_xact_numscans('unused_k'::regclass) AS scans;
ROLLBACK;

---- What an error says: of whom may not read the key, nothing
CREATE PROCEDURE say(query text) LANGUAGE plpgsql AS $$
DECLARE
	t text; c text; d text;
BEGIN
	EXECUTE query;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS t = TABLE_NAME, c = CONSTRAINT_NAME, d = PG_EXCEPTION_DETAIL;
	RAISE WARNING '% | % | % | % | %', SQLSTATE, SQLERRM, t, c, d;
END $$;
CALL say('INSERT INTO pages VALUES (1, ''a'')');
CREATE ROLE cuckoo_writer;
GRANT USAGE ON SCHEMA scratch TO cuckoo_writer;
GRANT INSERT ON pages TO cuckoo_writer;
SET ROLE cuckoo_writer;
CALL say('INSERT INTO pages VALUES (1, ''a'')');
RESET ROLE;
DROP OWNED BY cuckoo_writer;
DROP ROLE cuckoo_writer;
-- Of a long value the beginning: the log shall not have all of it.
CREATE TABLE long (t text);
CREATE UNIQUE INDEX long_t ON long USING cuckoo (t);
INSERT INTO long SELECT repeat('ä', 50000);
CREATE FUNCTION detail(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	d text;
BEGIN
	EXECUTE query;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL;
	RETURN octet_length(d) || ' bytes: ' || left(d, 16) || '~' || right(d, 20);
END $$;
SELECT detail('INSERT INTO long TABLE long');
INSERT INTO long SELECT repeat('ä', 49999) || 'x' RETURNING length(t);

---- Building: whatever is between the rows of a key
CREATE TABLE made (k integer, pad text);
INSERT INTO made SELECT i, '' FROM generate_series(1, 100) AS i;
UPDATE made SET pad = 'x';
CREATE UNIQUE INDEX made_k ON made USING cuckoo (k);
REINDEX INDEX CONCURRENTLY made_k;
VACUUM FULL made;
ALTER TABLE made ALTER k TYPE bigint;
ALTER TABLE made ALTER k TYPE integer USING 0;
DROP INDEX made_k;
INSERT INTO made VALUES (50, repeat('x', 2000)), (50, repeat('x', 2000)), (NULL, ''), (NULL, '');
CREATE UNIQUE INDEX made_k ON made USING cuckoo (k);
CREATE UNIQUE INDEX CONCURRENTLY made_k ON made USING cuckoo (k);
DELETE FROM made WHERE length(pad) > 1;
REINDEX INDEX CONCURRENTLY made_k;
SELECT indisunique, indisvalid FROM pg_index WHERE indexrelid = 'made_k'::regclass;
-- Rows that the transaction itself has changed
BEGIN;
CREATE TABLE own AS SELECT 1 AS k FROM generate_series(1, 5);
UPDATE own SET k = substring(ctid::text FROM ',(.*)\)')::integer;
DELETE FROM own WHERE k = 1;
CREATE UNIQUE INDEX own_k ON own USING cuckoo (k);
INSERT INTO own VALUES (1);
INSERT INTO own VALUES (2);
ROLLBACK;

---- Keys are compared, not their hashes: here all have one
CREATE FUNCTION one_hash(integer, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT 1::bigint';
CREATE OPERATOR CLASS one_hash FOR TYPE integer USING cuckoo AS OPERATOR 1 =, FUNCTION 1 one_hash(integer, bigint);
CREATE TABLE same (k integer, n integer DEFAULT 0);
CREATE UNIQUE INDEX same_k ON same USING cuckoo (k one_hash);
INSERT INTO same SELECT generate_series(1, 200);
INSERT INTO same VALUES (100), (201) ON CONFLICT (k) DO UPDATE SET n = 1 RETURNING *;
INSERT INTO same VALUES (7);
REINDEX INDEX same_k;
DROP INDEX same_k;
INSERT INTO same VALUES (1);
CREATE UNIQUE INDEX same_k ON same USING cuckoo (k one_hash);

---- Expressions and predicates
CREATE TABLE members (email text, active boolean);
CREATE UNIQUE INDEX members_email ON members USING cuckoo (lower(email)) WHERE active;
INSERT INTO members VALUES ('Ada', true), ('ada', false), ('ADA', false);
INSERT INTO members VALUES ('ADA', true);
INSERT INTO members VALUES ('ADA', true) ON CONFLICT (lower(email)) WHERE active DO UPDATE SET email = 'AdA' RETURNING *;
INSERT INTO members VALUES ('ADA', true) ON CONFLICT (lower(email)) DO NOTHING;
UPDATE members SET active = true WHERE email = 'ada';

---- Partitions
CREATE TABLE parts (day integer, url text, n integer DEFAULT 1) PARTITION BY LIST (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
SELECT left(outcome('CREATE UNIQUE INDEX parts_url ON parts USING cuckoo (url)'), 5) AS without_partition_key;
CREATE UNIQUE INDEX parts_url ON parts USING cuckoo (url, day);
CREATE TABLE parts_2 (day integer, url text, n integer);
CREATE UNIQUE INDEX ON parts_2 USING cuckoo (url, day);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 'a'), (2, 'a'), (1, 'a') ON CONFLICT (url, day) DO NOTHING RETURNING *;
INSERT INTO parts VALUES (2, 'a') ON CONFLICT (url, day) DO UPDATE SET n = 2 RETURNING *;
INSERT INTO parts VALUES (2, 'a');
SELECT count(*) FROM pg_partition_tree('parts_url') WHERE isleaf;

---- Foreign keys
CREATE TABLE links (page text REFERENCES pages (url) ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO links VALUES ('a'), ('b');
INSERT INTO links VALUES ('nowhere');
UPDATE pages SET url = 'A' WHERE url = 'a';
DELETE FROM pages WHERE url = 'b';
TABLE links ORDER BY page;

---- Tables for a session and others without WAL, and copies
CREATE TEMPORARY TABLE mine (k integer) ON COMMIT DELETE ROWS;
CREATE UNIQUE INDEX mine_k ON mine USING cuckoo (k);
INSERT INTO mine VALUES (1);
INSERT INTO mine VALUES (1), (1) ON CONFLICT (k) DO NOTHING;
CREATE UNLOGGED TABLE quick (LIKE pages INCLUDING ALL);
INSERT INTO quick VALUES (1, 'a'), (1, 'a') ON CONFLICT (tenant, url) DO NOTHING;
TRUNCATE quick;
INSERT INTO quick VALUES (1, 'a'), (1, 'a');

---- What PostgreSQL wants a B-tree for, and what the index has not
ALTER TABLE pages ADD UNIQUE USING INDEX pages_url;
CREATE UNIQUE INDEX ON pages USING cuckoo (url) INCLUDE (n);
SELECT outcome('CREATE UNIQUE INDEX ON pages USING cuckoo (n) NULLS NOT DISTINCT');
SELECT outcome('ALTER TABLE pages REPLICA IDENTITY USING INDEX pages_url');
DELETE FROM pages WHERE url IS NULL;
ALTER TABLE pages ALTER url SET NOT NULL;
ALTER TABLE pages REPLICA IDENTITY USING INDEX pages_url;
