-- The index access method: answers, as a sequential scan gives them, of every type
-- and kind of index; pages that split; VACUUM; operator classes; the functions;
-- every error
--
-- index_plan.sql tests which plans are chosen.
--
-- VACUUM removes rows of temporary tables whatever snapshots others have.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET TimeZone = 'UTC';
SET jit = off;

-- The result of a query by a bitmap scan of an index, and without indexes
CREATE FUNCTION by_index(query text) RETURNS text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off AS
$$ BEGIN RETURN CASE WHEN uses(query, 'Bitmap Index Scan') THEN outcome(query) ELSE 'the index is not used' END; END $$;
CREATE FUNCTION by_scan(query text) RETURNS text LANGUAGE plpgsql
	SET enable_bitmapscan = off SET enable_indexscan = off AS
$$ BEGIN RETURN outcome(query); END $$;
CREATE FUNCTION agrees(query text) RETURNS boolean LANGUAGE sql
	RETURN by_index(query) = by_scan(query) AND by_scan(query) NOT LIKE '_____ | %';
-- The rows that an index does not find, for tables without an order of their own
CREATE FUNCTION is_whole(VARIADIC indexes text[]) RETURNS boolean LANGUAGE sql
	RETURN (SELECT bool_and(cuckoo_index_check(i::regclass) = 0) FROM unnest(indexes) AS i);

---- Build, insert, look up
CREATE TABLE members (id integer, email text) WITH (autovacuum_enabled = off);
INSERT INTO members SELECT i, 'user' || i || '@example.com' FROM generate_series(1, 6000) AS i;
INSERT INTO members SELECT i FROM generate_series(1, 50) AS i;
CREATE INDEX members_email ON members USING cuckoo (email);
INSERT INTO members SELECT i, 'user' || i || '@example.com' FROM generate_series(6001, 12000) AS i;
INSERT INTO members SELECT i FROM generate_series(51, 99) AS i;
UPDATE members SET email = 'moved' || id WHERE id % 1000 = 0 AND email IS NOT NULL;
ANALYZE members;
SELECT query, agrees('SELECT count(*) || '' '' || coalesce(sum(id), 0) FROM members WHERE ' || query) AS agrees, by_index('SELECT count(*) FROM members WHERE ' || query) AS rows
FROM unnest(ARRAY['email = ''user77@example.com''', 'email = ''user6077@example.com''', 'email = ''moved9000''', 'email = ''user9000@example.com''', 'email = ''absent''',
	'email = ANY (''{user1@example.com,absent,user1@example.com,moved1000,NULL}'')', 'email = ANY (''{}'')', 'email = ANY ((SELECT array_agg(''user'' || i || ''@example.com'') FROM generate_series(990, 1010) AS i)::text[])',
	'email = ''user5@example.com'' AND id > 5', 'email = ''user5@example.com'' OR email = ''user6@example.com''', 'email = (SELECT NULL::text)', 'email = ANY ((SELECT NULL::text[])::text[])']) AS query;
-- Joins look up each key, and NULL finds nothing.
SELECT query, agrees(query) AS agrees, by_index(query) AS rows
FROM unnest(ARRAY['SELECT count(*) FROM members AS a JOIN members AS b USING (email)', 'SELECT count(*) FROM members AS a LEFT JOIN members AS b USING (email)',
	'SELECT count(*) FROM (SELECT ''absent'' || i AS email FROM generate_series(1, 20000) AS i) AS a JOIN members USING (email)',
	'SELECT count(*) FROM (VALUES (NULL), (''user3@example.com'')) AS a(email) CROSS JOIN LATERAL (SELECT FROM members WHERE members.email = a.email OFFSET 0) AS b']) AS query;
SELECT is_whole('members_email'), entries = 12000 + 12 AS entries, joined_entries, overflow_pages, load BETWEEN 0.5 AND 1 AS load, expected_false_rows < 1e-5 AS exact,
	file_pages >= pages AND pages > 8 AND depth = 1 AS split FROM cuckoo_index_info('members_email');
-- A cursor, a prepared statement and a rescan
PREPARE of_members(text) AS SELECT id FROM members WHERE email = $1;
SET plan_cache_mode = force_generic_plan;
SELECT outcome('EXECUTE of_members(''user77@example.com'')') AS present, outcome('EXECUTE of_members(''absent'')') AS absent, outcome('EXECUTE of_members(NULL)') AS of_null, uses('EXECUTE of_members(NULL)', 'Bitmap Index Scan');
RESET plan_cache_mode;

---- Every type: stored and looked up are all pairs of values, of which some are
---- equal and some are there when the index is built
CREATE FUNCTION type_agrees(type text, list text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format('CREATE TABLE keys (id integer GENERATED ALWAYS AS IDENTITY, k %s, seen boolean)', type);
	EXECUTE format('INSERT INTO keys (k, seen) SELECT v::%s, n %% 2 = 1 FROM unnest(string_to_array(%L, '';'', ''NULL'')) WITH ORDINALITY AS u(v, n) ORDER BY n', type, list);
	EXECUTE 'CREATE TABLE lookups AS TABLE keys; DELETE FROM keys WHERE id % 3 = 0';
	CREATE INDEX ON keys USING cuckoo (k);
	INSERT INTO keys (k, seen) SELECT k, seen FROM lookups WHERE id % 4 = 0;
	EXECUTE format('SELECT bool_and(agrees(format(''SELECT array_agg(id ORDER BY id) FROM keys WHERE k = (SELECT %%L::%s)'', v))) FROM unnest(string_to_array(%L, '';'')) AS v', type, list) INTO result;
	EXECUTE 'SELECT bool_and(cuckoo_index_filter(''keys_k_idx'') @> k) AND $1 FROM keys' INTO result USING result;
	result := result AND agrees('SELECT array_agg((l.id, keys.id) ORDER BY l.id, keys.id) FROM lookups AS l JOIN keys USING (k)')
		AND is_whole('keys_k_idx') AND by_scan('SELECT count(*) FROM lookups AS l JOIN keys USING (k)')::integer BETWEEN 2 AND 100;
	DROP TABLE keys, lookups;
	RETURN result;
END $$;
CREATE DOMAIN small AS integer;
CREATE DOMAIN word AS varchar(9);
CREATE TABLE every_type AS SELECT type, list FROM (VALUES
	('boolean', 't;f;t;f'), ('smallint', '0;-1;32767;-1;1;0'), ('integer', '0;-1;2147483647;-1;7;-2147483648;0'), ('bigint', '0;-1;9223372036854775807;-1;1;0'), ('oid', '0;4294967295;1;4294967295;0'),
	('real', '0;-0;NaN;1.5;-0;NaN;-Infinity;1e-40;0.1'), ('float8', '0;-0;NaN;1.5;-0;NaN;Infinity;1e-310;0.1'), ('numeric', '1;1.0;1.00;NaN;0;-0.000;NaN;Infinity;1e100;10000;0.0001'),
	('money', '1.00;2;1;-1'), ('text', 'a;a ;A;a;;;é'), ('varchar', 'a;a ;A;a;;;é'), ('varchar(3)', 'a;a ;A;a;;;é'), ('char(5)', 'a;a  ;b;a ;; ;é'), ('bpchar', 'a;a  ;b;a ;; ;é'), ('name', 'a;a ;A;a;;;é'),
	('"char"', 'a;b;a;c'), ('bytea', '\x00;\x0000;\x;\x00;\x'), ('bit(3)', '101;010;101;000'), ('varbit', '0;00;;0;00000001'), ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11;00000000-0000-0000-0000-000000000000;A0EEBC999C0B4EF8BB6D6BB9BD380A11'),
	('date', '2000-01-01;infinity;-infinity;2000-01-01;1969-07-20'), ('time', '00:00;24:00;12:00:00.000001;00:00'), ('timetz', '00:00+00;01:00+01;24:00+00;00:00+00;00:00-01'),
	('timestamp', '2000-01-01;infinity;-infinity;2000-01-01 00:00'), ('timestamptz', '2000-01-01 00:00+00;2000-01-01 05:30+05:30;infinity;2000-01-01 00:00+00;-infinity'),
	('interval', '1 mon;30 days;29 days 24:00;720:00;1 mon 1 us;0'), ('inet', '10.0.0.0;10.0.0.0/32;10.0.0.0/8;10.0.0.1/8;10.0.0.0/8;::;::/0;0.0.0.0/0'), ('cidr', '10.0.0.0/8;10.0.0.0/9;::/0;10.0.0.0/8;0.0.0.0/0'),
	('macaddr', '08:00:2b:01:02:03;00:00:00:00:00:00;08002b:010203'), ('macaddr8', '08:00:2b:01:02:03:04:05;00:00:00:00:00:00:00:00;08002b01:02030405'), ('pg_lsn', '0/0;16/B374D848;0/0;0/1'), ('xid8', '0;18446744073709551615;0;1'),
	('jsonb', '1;1.0;{"a": 1, "b": [2]};{"b": [2.0], "a": 1};[1];[];null;""'), ('integer[]', '{1,2};[0:1]={1,2};{1,2};{};{NULL};{{1,2}};{}'), ('text[]', '{a,b};{"a,b"};{a,b};{};{};{NULL}'), ('numeric[]', '{1.0};{1};{1.00};{}'),
	('int4range', '[1,5);[1,4];empty;(,);[1,5);empty'), ('numrange', '[1,5);[1.0,5);empty;[1,5];[1,5.00)'), ('int4multirange', '{[1,3),[7,)};{};{[1,2],[7,)};{(,)};{}'),
	('small', '0;-1;7;-1;8;0'), ('word', 'a;a ;A;a;;;é'), ('small[]', '{1,2};{1};{1,2};{}')) AS v(type, list);
SELECT type AS disagrees FROM every_type WHERE type_agrees(type, list) IS NOT TRUE;
-- No class is without a type above, but those of enums and records, and one is
-- the default for each type.
SELECT count(*), count(*) FILTER (WHERE opcdefault) AS "default", count(*) FILTER (WHERE NOT EXISTS (SELECT FROM every_type WHERE opcintype = type::regtype
	OR opcintype = CASE WHEN type ~ '\[]' THEN 'anyarray' WHEN type ~ 'multirange' THEN 'anymultirange' WHEN type ~ 'range' THEN 'anyrange' END::regtype)) AS not_above
FROM pg_opclass WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo');

---- Types that hash alike are compared as they are
CREATE TABLE numbers (i2 smallint, i4 integer, i8 bigint, f4 real, f8 float8, t text COLLATE "C", n name, v varchar COLLATE "C", c char(9));
INSERT INTO numbers SELECT i, i, i, i / 4.0, i / 4.0, 'w' || i, 'w' || i, 'w' || i, 'w' || i FROM generate_series(-40, 40) AS i;
SELECT format('CREATE INDEX ON numbers USING cuckoo (%I)', attname) FROM pg_attribute WHERE attrelid = 'numbers'::regclass AND attnum > 0 \gexec
INSERT INTO numbers VALUES (NULL, NULL, 4294967297, NULL, 0.1), (0, 0, 0, '-0', 0), (0, 0, 0, 0, '-0');
INSERT INTO numbers (i8, f8) VALUES (1::bigint << 40, 0.1::real);
SELECT a, b AS disagrees FROM unnest('{"i2 i4 i8","f4 f8","t n v"}'::text[]) AS family, regexp_split_to_table(family, ' ') AS a, regexp_split_to_table(family, ' ') AS b
WHERE NOT agrees(format('SELECT count(*) FROM numbers AS a CROSS JOIN LATERAL (SELECT FROM numbers AS b WHERE b.%s = a.%s OFFSET 0) AS s', b, a));
SELECT query AS disagrees FROM unnest(ARRAY['i2 = 7', 'i2 = 4294967297', 'i4 = 7::smallint', 'i4 = 4294967297', 'i4 = -7::bigint', 'i8 = 7::smallint', 'i8 = -7', 'i4 = ANY (''{1,2,4294967297}''::bigint[])', 'i8 = ANY (''{1,-1}''::smallint[])', 'f4 = 0.25::float8',
	'f4 = 0.1::float8', 'f8 = 0.1::real', 'f8 = 0.25::real', 'f8 = 0.1', 't = ''w7''::name', 'n = ''w7''::text', 'v = ''w7''::name', 'v = ''w7''', 'c = ''w7''', 'c = ''w7   ''']) AS query
WHERE NOT agrees('SELECT count(*) FROM numbers WHERE ' || query);
-- Others are compared in ways that depend on TimeZone or rounding, without the index.
CREATE TABLE days (d date, t timestamp);
CREATE INDEX ON days USING cuckoo (d);
CREATE INDEX ON days USING cuckoo (t);
SELECT query, by_index('SELECT count(*) FROM days WHERE ' || query) FROM unnest(ARRAY['d = timestamp ''2000-01-01''', 't = timestamptz ''2000-01-01''', 'd > date ''2000-01-01''', 'd IS NULL', 'd IN (SELECT now()::date) OR t IS NULL']) AS query;

---- Kinds of indexes and tables
CREATE INDEX members_some ON members USING cuckoo (id) WHERE id > 11000;
CREATE INDEX members_lower ON members USING cuckoo (lower(email));
INSERT INTO members VALUES (20000, 'UPPER'), (NULL, 'Upper');
ANALYZE members;
SELECT query, agrees('SELECT count(*) FROM members WHERE ' || query), by_index('SELECT count(*) FROM members WHERE ' || query) AS rows
FROM unnest(ARRAY['id = 11500 AND id > 11000', 'id = 20000', 'id = 11500', 'lower(email) = ''upper''', 'lower(email) = lower(''USER4@example.com'')']) AS query;
SELECT entries = 1001 AS some, is_whole('members_some', 'members_lower') FROM cuckoo_index_info('members_some');

CREATE INDEX members_full ON members USING cuckoo (email) WITH (fillfactor = 100);
CREATE INDEX members_loose ON members USING cuckoo (email) WITH (fillfactor = 30);
CREATE INDEX members_large ON members USING cuckoo (email) WITH (capacity = 3e5);
SELECT f.pages < l.pages / 2 AS fillfactor, c.file_pages > 200 AND c.depth = 0 AND c.pages > 200 AS capacity, is_whole('members_full', 'members_loose', 'members_large')
FROM cuckoo_index_info('members_full') AS f, cuckoo_index_info('members_loose') AS l, cuckoo_index_info('members_large') AS c;
SELECT options, outcome(format('CREATE INDEX ON members USING cuckoo (email) WITH (%s)', options)) FROM unnest('{fillfactor=9,fillfactor=101,capacity=-1,capacity=2e11,capacity=many,seed=1}'::text[]) AS options;
DROP INDEX members_full, members_loose, members_large;

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
SELECT agrees('SELECT count(*) FROM unlogged WHERE email = ''user5@example.com'''), agrees('SELECT count(*) FROM empty WHERE k = 1'), agrees('SELECT count(*) FROM parts WHERE v = ''7'''), agrees('SELECT v FROM parts WHERE k = 150'),
	agrees('SELECT count(*) FROM parts AS a JOIN parts AS b USING (v)'), is_whole('parts_1_k_idx', 'parts_2_k_idx', 'parts_1_v_idx', 'parts_2_v_idx', 'unlogged_email_idx', 'empty_k_idx');
ALTER TABLE parts DETACH PARTITION parts_2;
SELECT agrees('SELECT v FROM parts_2 WHERE k = 150'), agrees('SELECT count(*) FROM parts WHERE k = 50');

CREATE TABLE copied (LIKE members INCLUDING ALL);
INSERT INTO copied TABLE members;
SELECT count(*), is_whole(VARIADIC array_agg(indexrelid::regclass::text)) FROM pg_index WHERE indrelid = 'copied'::regclass;
REINDEX TABLE copied;
VACUUM FULL copied;
SELECT agrees('SELECT count(*) FROM copied WHERE email = ''user5@example.com'''), is_whole('copied_email_idx', 'copied_id_idx', 'copied_lower_idx');
TRUNCATE copied;
SELECT agrees('SELECT count(*) FROM copied WHERE email = ''user5@example.com''');
INSERT INTO copied TABLE members;
SELECT agrees('SELECT count(*) FROM copied WHERE email = ''user5@example.com'''), is_whole('copied_email_idx');
-- In one transaction, with a savepoint
CREATE TEMPORARY TABLE brief (k integer) ON COMMIT DELETE ROWS;
CREATE INDEX brief_k ON brief USING cuckoo (k);
BEGIN;
INSERT INTO brief SELECT generate_series(1, 5000);
SAVEPOINT s;
TRUNCATE brief;
INSERT INTO brief SELECT generate_series(1, 3000);
ROLLBACK TO s;
SELECT agrees('SELECT count(*) FROM brief WHERE k = 4000'), is_whole('brief_k');
COMMIT;
INSERT INTO brief VALUES (1);
SELECT entries, pages FROM cuckoo_index_info('brief_k');

---- ALTER TYPE
CREATE TABLE altered (a varchar(20), b integer, c varchar, d text, e integer);
INSERT INTO altered SELECT 'w' || i, i, 'w' || i, 'w' || i, i FROM generate_series(1, 3000) AS i;
CREATE INDEX altered_a ON altered USING cuckoo (a);
CREATE INDEX altered_b ON altered USING cuckoo (b);
CREATE INDEX altered_c ON altered USING cuckoo (c);
CREATE INDEX altered_d ON altered USING cuckoo (d);
CREATE INDEX altered_e ON altered USING cuckoo (e) WHERE e > 0;
CREATE TEMPORARY TABLE files AS SELECT relname, relfilenode FROM pg_class WHERE relname ~ '^altered_[abc]$';
ALTER TABLE altered ALTER a TYPE text;
SELECT relname, relfilenode = pg_relation_filenode(relname::regclass) AS same_file, is_whole(relname) FROM files ORDER BY relname;
INSERT INTO altered (a) VALUES ('later');
ALTER TABLE altered ALTER b TYPE bigint, ALTER c TYPE char(20), ALTER e TYPE numeric;
INSERT INTO altered VALUES ('last', 1::bigint << 40, 'last', 'last', 7.50);
SELECT relname, relfilenode = pg_relation_filenode(relname::regclass) AS same_file, is_whole(relname) FROM files WHERE relname <> 'altered_a' ORDER BY relname;
SELECT query AS disagrees FROM unnest(ARRAY['a = ''w7''', 'a = ''later''', 'a = ''last''', 'b = 7', 'b = 1::bigint << 40', 'c = ''w7''', 'c = ''last''', 'd = ''last''', 'e = 7.5 AND e > 0']) AS query
WHERE by_index('SELECT count(*) FROM altered WHERE ' || query) <> '1' OR NOT agrees('SELECT count(*) FROM altered WHERE ' || query);
-- What has no class is refused, and the table stays as it was.  (From 17 on the
-- search path of such commands is empty, and messages have the types' schema.)
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a integer, b text);
SELECT type, replace(outcome(format('ALTER TABLE altered ALTER a TYPE %s USING NULL', type)), 'scratch.', '') AS outcome FROM unnest('{json,pair,point,mood[]}'::text[]) AS type;
-- citext is taken for text: the index is useless, but in nobody's way.
CREATE EXTENSION citext SCHEMA scratch;
\set VERBOSITY sqlstate
ALTER TABLE altered ALTER a TYPE citext;
INSERT INTO altered (a) VALUES ('W7');
REINDEX INDEX altered_a;
CREATE TABLE like_citext (LIKE altered INCLUDING ALL);
SELECT by_index('SELECT count(*) FROM altered WHERE a = ''w7'''), by_scan('SELECT count(*) FROM altered WHERE a = ''w7'''), agrees('SELECT count(*) FROM altered WHERE a::text = ''w7'''), is_whole('altered_a');
TRUNCATE altered;
\set VERBOSITY default
-- The same if a class is named that compares otherwise, but not for types that
-- compare as that of the class
CREATE TABLE padded (t text, c regclass, v varchar);
INSERT INTO padded VALUES ('a  ', 'pg_class', 'a');
CREATE INDEX padded_t ON padded USING cuckoo (t bpchar_ops);
CREATE INDEX padded_c ON padded USING cuckoo (c);
CREATE INDEX padded_v ON padded USING cuckoo (v);
SELECT outcome('SELECT cuckoo_index_filter(''padded_t'')') AS other, cuckoo_index_filter('padded_c') @> 'pg_class'::regclass::oid AS regclass, cuckoo_index_filter('padded_v') @> 'a'::text AS varchar,
	by_index('SELECT count(*) FROM padded WHERE c = ''pg_class''::regclass');

---- Pages that split, and overflow pages: keys chosen for one sixteenth of the hashes
CREATE TEMPORARY TABLE chosen AS SELECT i AS k FROM generate_series(1, 200000) AS i WHERE cuckoo_hash(i) BETWEEN 0 AND (1::bigint << 60) - 1;
CREATE TEMPORARY TABLE grown (k integer);
CREATE INDEX grown_k ON grown USING cuckoo (k);
INSERT INTO grown TABLE chosen;
SELECT overflow_pages > 2 AS overflow_pages, depth BETWEEN 4 AND 8 AS depth, entries >= 12000 AS entries, is_whole('grown_k'), by_index('SELECT count(*) FROM chosen JOIN grown USING (k)') = (SELECT count(*)::text FROM chosen) AS all_found,
	by_index('SELECT count(*) FROM generate_series(300001, 310000) AS k JOIN grown USING (k)') AS absent FROM cuckoo_index_info('grown_k');
-- The pages with the other hashes fill, those with overflow pages split, and nothing is lost.
INSERT INTO grown SELECT generate_series(300001, 340000);
SELECT is_whole('grown_k'), entries >= 52000 AS entries, depth >= 6 AS depth, missing(cuckoo_index_filter('grown_k'), 300001, 340000) FROM cuckoo_index_info('grown_k');
-- Built at once, they are split or have overflow pages as well.
CREATE TEMPORARY TABLE built AS TABLE chosen;
CREATE INDEX built_k ON built USING cuckoo (k) WITH (capacity = 5e4);
SELECT overflow_pages > 0 AS overflow_pages, depth > 1 AS depth, entries = (SELECT count(*) FROM built) AS entries, is_whole('built_k') FROM cuckoo_index_info('built_k');
-- In temporary files, with heavy keys
SET maintenance_work_mem = '1MB';
CREATE TEMPORARY TABLE heavy AS SELECT CASE WHEN i % 5 = 0 THEN i % 3 ELSE i END AS k, i AS n, i % 20 AS few FROM generate_series(1, 200000) AS i;
CREATE INDEX heavy_k ON heavy USING cuckoo (k);
RESET maintenance_work_mem;
SELECT is_whole('heavy_k'), entries BETWEEN 160000 AND 162000 AS entries, joined_entries BETWEEN 3 AND 2000 AS joined, agrees('SELECT sum(n) FROM heavy WHERE k = 1'), agrees('SELECT sum(n) FROM heavy WHERE k = 77') FROM cuckoo_index_info('heavy_k');
-- Of few base pages, of which the last ones have twice as many entries as the first
CREATE FUNCTION built_whole(rows integer, memory text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('maintenance_work_mem', memory, true);
	CREATE TABLE sized AS SELECT i AS k FROM generate_series(1, 2 * rows) AS i WHERE i % 2 = 0 OR cuckoo_hash(i) < 0 LIMIT rows;
	CREATE INDEX sized_k ON sized USING cuckoo (k);
	ASSERT is_whole('sized_k') AND (SELECT entries = rows FROM cuckoo_index_info('sized_k')), format('%s rows, %s', rows, memory);
	DROP TABLE sized;
	RETURN true;
END $$;
SELECT bool_and(built_whole(rows, '64MB')) AS in_memory FROM unnest('{0,1,1200}'::integer[] || ARRAY(SELECT generate_series(1225, 2449, 136)) || '{3000,3600,5000}') AS rows;
SELECT bool_and(built_whole(rows, '1MB')) AS in_files FROM generate_series(70000, 78000, 1600) AS rows;
-- Inserted
CREATE INDEX heavy_few ON heavy USING cuckoo (few);
INSERT INTO heavy SELECT i, i, i % 20 FROM generate_series(200001, 240000) AS i;
SELECT is_whole('heavy_few'), entries < 20 * 200 AS few_entries, agrees('SELECT sum(n) FROM heavy WHERE few = 7'), agrees('SELECT sum(n) FROM heavy WHERE few = 20') FROM cuckoo_index_info('heavy_few');

---- VACUUM removes what is dead from all pages, and only that
SELECT entries + tombstones AS before FROM cuckoo_index_info('grown_k') \gset
DELETE FROM grown WHERE k % 10 <> 0;
VACUUM grown;
SELECT entries BETWEEN (SELECT count(*) FROM grown) AND (SELECT 1.01 * count(*) FROM grown) AS entries, entries + tombstones < :before / 5 AS room, is_whole('grown_k'), agrees('SELECT count(*) FROM chosen JOIN grown USING (k)') FROM cuckoo_index_info('grown_k');
INSERT INTO grown TABLE chosen;
DELETE FROM grown;
VACUUM grown;
SELECT entries, tombstones, overflow_pages > 0 AS overflow_pages, expected_false_rows FROM cuckoo_index_info('grown_k');
INSERT INTO grown TABLE chosen;
SELECT is_whole('grown_k'), agrees('SELECT count(*) FROM chosen JOIN grown USING (k)');
-- Joined entries: of a page whose rows are all dead, and of one with a row left
CREATE TEMPORARY TABLE clustered AS SELECT i / 40 AS k, i AS n FROM generate_series(0, 39999) AS i;
CREATE INDEX clustered_k ON clustered USING cuckoo (k);
SELECT entries < 2500 AS few_entries, joined_entries > 1000 AS joined FROM cuckoo_index_info('clustered_k');
DELETE FROM clustered WHERE k < 500 AND n <> 100;
VACUUM clustered;
SELECT entries < 1300 AS entries, is_whole('clustered_k'), agrees('SELECT sum(n) FROM clustered WHERE k = 2'), agrees('SELECT sum(n) FROM clustered WHERE k = 3'), agrees('SELECT sum(n) FROM clustered WHERE k = 700') FROM cuckoo_index_info('clustered_k');

---- An entry may name pages that the table has no longer
DELETE FROM heavy WHERE n > 1000;
VACUUM heavy;
SELECT pg_relation_size('heavy') < 100000 AS truncated, joined_entries > 0 AS joined FROM cuckoo_index_info('heavy_few');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT agrees('SELECT sum(n) FROM heavy WHERE few = 7'), agrees('SELECT sum(n) FROM heavy WHERE k = 1'), agrees('SELECT sum(n) FROM heavy WHERE k = 77');
COMMIT;

---- VACUUM by workers
SET min_parallel_index_scan_size = 0;
DELETE FROM copied WHERE id % 2 = 0;
VACUUM (PARALLEL 2) copied;
SELECT is_whole('copied_email_idx', 'copied_id_idx', 'copied_lower_idx');
RESET min_parallel_index_scan_size;

---- Operator classes: every one is valid, and what is wrong with others is found
SELECT opcname FROM pg_opclass JOIN pg_am AS am ON opcmethod = am.oid WHERE amname = 'cuckoo' AND amvalidate(pg_opclass.oid) IS NOT TRUE;
CREATE OPERATOR CLASS less FOR TYPE integer USING cuckoo AS OPERATOR 1 <;
CREATE OPERATOR CLASS no_operator FOR TYPE integer USING cuckoo AS FUNCTION 1 hashint4extended(integer, bigint);
CREATE OPERATOR CLASS no_function FOR TYPE citext USING cuckoo AS OPERATOR 1 = (citext, citext);
CREATE OPERATOR CLASS short_function FOR TYPE citext USING cuckoo AS OPERATOR 1 = (citext, citext), FUNCTION 1 citext_hash(citext);
CREATE OPERATOR CLASS two_types FOR TYPE integer USING cuckoo AS OPERATOR 1 = (integer, integer), FUNCTION 1 (integer, bigint) hashint4extended(integer, bigint);
CREATE OPERATOR CLASS days FOR TYPE date USING cuckoo AS OPERATOR 1 = (date, date), OPERATOR 1 = (date, timestamp);
CREATE OPERATOR CLASS half_hashed FOR TYPE text USING cuckoo AS OPERATOR 1 = (text, text), OPERATOR 1 = (text, name), FUNCTION 1 hashtextextended(text, bigint);
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcnamespace = 'scratch'::regnamespace AND opcname !~ 'citext' ORDER BY oid;
SELECT definition, outcome('CREATE OPERATOR CLASS wrong FOR TYPE integer USING cuckoo AS ' || definition)
FROM unnest(ARRAY['OPERATOR 2 =', 'OPERATOR 1 = (integer, integer) FOR ORDER BY integer_ops', 'FUNCTION 2 hashint4extended(integer, bigint)', 'OPERATOR 1 =, STORAGE bigint']) AS definition;

-- A class for citext, and one for enums
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING cuckoo AS OPERATOR 1 = (citext, citext), FUNCTION 1 citext_hash_extended(citext, bigint);
CREATE TABLE folded (id integer, c citext);
INSERT INTO folded SELECT i, CASE WHEN i % 2 = 0 THEN 'word' ELSE 'WORD' END || i % 1000 FROM generate_series(1, 3000) AS i;
CREATE INDEX folded_c ON folded USING cuckoo (c);
INSERT INTO folded VALUES (3001, 'Word7'), (3002, 'Late');
SELECT amvalidate(oid), agrees('SELECT array_agg(id ORDER BY id) FROM folded WHERE c = ''wORD7'''), by_index('SELECT count(*) FROM folded WHERE c = ''wORD7''') AS rows, agrees('SELECT count(*) FROM folded AS a JOIN folded AS b USING (c)'),
	agrees('SELECT count(*) FROM folded WHERE c = ANY (''{LATE,word8,none}''::citext[])'), is_whole('folded_c'), outcome('SELECT cuckoo_index_filter(''folded_c'')')
FROM pg_opclass WHERE opcname = 'citext_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo');
CREATE TABLE moody (m mood);
CREATE INDEX moody_m ON moody USING cuckoo (m);
INSERT INTO moody VALUES ('ok'), ('sad'), ('ok');
ALTER TYPE mood RENAME VALUE 'ok' TO 'well';
SELECT amvalidate(oid), agrees('SELECT count(*) FROM moody WHERE m = ''well'''), is_whole('moody_m') FROM pg_opclass WHERE opcname = 'enum_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo');
DROP TABLE moody;

---- The functions, and what they refuse
SELECT missing(f, 11001, 12000), cuckoo_fpr(f) <= 0.001 AS rate, (SELECT count(*) < 60 FROM generate_series(200000, 229999) AS k WHERE f @> k) AS kept_rate, cuckoo_cardinality(f) BETWEEN 990 AND 1001 AS cardinality, outcome('SELECT $$' || f::text || '$$::cuckoofilter - 11500') LIKE '55000%' AS not_removable
FROM cuckoo_index_filter('members_some', partial => true) AS f;
SELECT (SELECT bool_and(f @> email) FROM members) AS emails, cuckoo_fpr(f) <= 0.01 AS rate, cuckoo_index_filter(NULL) IS NULL AS of_null, (SELECT bool_and(lower @> lower(email)) FROM members) AS expression,
	cuckoo_cardinality(cuckoo_index_filter('empty_k_idx')) AS empty, NOT cuckoo_index_filter('empty_k_idx') @> 1 AS nothing, cuckoo_index_info(NULL) IS NULL AND cuckoo_index_check(NULL) IS NULL AS nulls
FROM cuckoo_index_filter('members_email', fpr => 0.01) AS f, cuckoo_index_filter('members_lower') AS lower;
SELECT rate, outcome(format('SELECT cuckoo_index_filter(''members_email'', fpr => %L) @> ''user5@example.com''::text', rate)) FROM unnest('{0.1,0.1000001,0,-1,NaN,Infinity,1e-9,2e-8,1e-4}'::text[]) AS rate;
-- The lowest rate that the hint has is accepted.
CREATE TABLE rated AS SELECT generate_series(1, 11500) AS k;
CREATE INDEX rated_k ON rated USING cuckoo (k);
SELECT cuckoo_index_filter('rated_k', fpr => substring(outcome('SELECT cuckoo_index_filter(''rated_k'', fpr => 0)') FROM 'rate of (\S+) to')::float8) @> 7 AS found;
CREATE TABLE broken (k integer);
INSERT INTO broken VALUES (0);
CREATE INDEX CONCURRENTLY broken_k ON broken USING cuckoo ((1 / k));
CREATE INDEX broken_hash ON broken USING hash (k);
CREATE VIEW a_view AS SELECT 1;
SELECT object, outcome(format('SELECT cuckoo_index_info(%L::regclass)', object)) AS outcome FROM unnest('{members,a_view,broken_hash,pg_class_oid_index,parts_k,broken_k,0,4294967295}'::text[]) AS object
UNION ALL SELECT object, outcome(format('SELECT cuckoo_index_check(%L::regclass)', object)) FROM unnest('{members,broken_hash,parts_k,broken_k}'::text[]) AS object
UNION ALL SELECT object, outcome(format('SELECT cuckoo_index_filter(%L::regclass)', object)) FROM unnest('{members,broken_hash,parts_k,broken_k,members_some}'::text[]) AS object;
DELETE FROM broken;
REINDEX INDEX broken_k;
INSERT INTO broken VALUES (1);
SELECT cuckoo_index_check('broken_k'), agrees('SELECT k FROM broken WHERE 1 / k = 1');

-- Whoever may read the column may know its keys, unless rows are hidden.
CREATE ROLE regress_cuckoo_reader;
GRANT USAGE ON SCHEMA scratch TO regress_cuckoo_reader;
CREATE FUNCTION owners(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN ASSERT current_user <> 'regress_cuckoo_reader'; RETURN $1; END $$;
CREATE TABLE guarded (a integer, b integer, c integer);
INSERT INTO guarded VALUES (1, 1, 1);
CREATE INDEX guarded_a ON guarded USING cuckoo (a);
CREATE INDEX guarded_b ON guarded USING cuckoo (b);
CREATE INDEX guarded_some ON guarded USING cuckoo (a) WHERE c > 0;
CREATE INDEX guarded_owners ON guarded USING cuckoo (owners(a));
CREATE FUNCTION allowed() RETURNS TABLE (index text, filter text, numbers text, missing text) LANGUAGE sql AS $$
	SELECT i, outcome(format('SELECT cuckoo_index_filter(%L, partial => true) @> 1', i)), outcome(format('SELECT entries FROM cuckoo_index_info(%L)', i)), outcome(format('SELECT cuckoo_index_check(%L)', i))
	FROM unnest('{guarded_a,guarded_b,guarded_some,guarded_owners}'::text[]) AS i $$;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed() LIMIT 1;
RESET ROLE;
GRANT SELECT (a, b) ON guarded TO regress_cuckoo_reader;
REVOKE SELECT (b) ON guarded FROM regress_cuckoo_reader;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed();
RESET ROLE;
GRANT SELECT ON guarded TO regress_cuckoo_reader;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed();
RESET ROLE;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
SELECT index, filter, numbers, missing FROM allowed() LIMIT 1;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed() LIMIT 1;
RESET ROLE;

---- What CREATE INDEX refuses
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE elsewhere (k integer) USING heap2;
CREATE DOMAIN moods AS mood[];
CREATE TYPE mood_range AS RANGE (subtype = mood);
CREATE TABLE refused (a integer, b integer, m mood, ms mood[], ps pair[], d moods, r mood_range, mr mood_multirange, p point, j json, t text COLLATE pg_catalog."C");
SELECT definition, replace(outcome('CREATE INDEX ON ' || definition), 'scratch.', '') AS outcome FROM unnest(ARRAY['elsewhere USING cuckoo (k)', 'refused USING cuckoo (ms)', 'refused USING cuckoo (ps)', 'refused USING cuckoo (d)', 'refused USING cuckoo (r)',
	'refused USING cuckoo (mr)', 'refused USING cuckoo ((ARRAY[ps]))', 'refused USING cuckoo (p)', 'refused USING cuckoo (j)', 'refused USING cuckoo (a, b)', 'refused USING cuckoo (a) INCLUDE (b)', 'refused USING cuckoo (a DESC)', 'refused USING cuckoo (a NULLS FIRST)',
	'refused USING cuckoo (a text_ops)', 'a_view USING cuckoo (a)']) AS definition;
SELECT outcome('CREATE UNIQUE INDEX ON refused USING cuckoo (a)'), outcome('ALTER TABLE refused ADD EXCLUDE USING cuckoo (a WITH =)'), outcome('CLUSTER members USING members_email');
-- A nondeterministic collation without ICU: only its flag matters.
CREATE COLLATION folding FROM "C";
UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'folding' AND collnamespace = 'scratch'::regnamespace;
SELECT outcome('CREATE INDEX ON refused USING cuckoo (t COLLATE folding)');

-- A metapage that is damaged, as far as SQL can: the file of a B-tree
CREATE INDEX btree_k ON broken (k);
CREATE INDEX damaged_k ON broken USING cuckoo (k);
UPDATE pg_class SET relfilenode = (SELECT relfilenode FROM pg_class WHERE oid = 'btree_k'::regclass) WHERE oid = 'damaged_k'::regclass;
SELECT outcome('SELECT cuckoo_index_info(''damaged_k'')'), outcome('INSERT INTO broken VALUES (2)');
REINDEX INDEX damaged_k;
SELECT is_whole('damaged_k');
DROP ACCESS METHOD heap2 CASCADE;
DROP OWNED BY regress_cuckoo_reader;
DROP ROLE regress_cuckoo_reader;
