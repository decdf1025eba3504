--
-- A filter that follows a table
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE EXTENSION IF NOT EXISTS cuckoo_follow;
\pset format unaligned
\pset footer off
CREATE SCHEMA follow_test;
SET search_path = follow_test, public;

CREATE TABLE members (id integer PRIMARY KEY, email text, note text);
INSERT INTO members SELECT i, 'user' || i FROM generate_series(1, 1000) AS i;
INSERT INTO members VALUES (-1);

-- Whether base and log together agree with the table
CREATE FUNCTION state(filter regclass, tbl regclass, col name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT concat(missing, '' missing, '', log_rows, '' in the log, copies ''
			|| CASE WHEN cuckoo_cardinality(cuckoo_follow_filter(%1$L)) = (SELECT count(%3$I) FROM ONLY %2$s) THEN ''as rows'' ELSE ''differ'' END
			|| CASE WHEN triggers_enabled THEN '''' ELSE '', triggers not in order'' END)
		FROM cuckoo_follow_check(%1$L)', filter::text, tbl, col) INTO result;
	RETURN result;
END
$$;
CREATE FUNCTION members() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN state('members_email_filter', 'members', 'email'); END $$;

--
-- What cuckoo_follow makes
--
SELECT cuckoo_follow('members', 'email');
SELECT attname, atttypid::regtype, attnotnull FROM pg_attribute WHERE attrelid = 'members_email_filter'::regclass AND attnum > 0 ORDER BY attnum;
SELECT indexdef FROM pg_indexes WHERE tablename = 'members_email_filter';
SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE tgrelid = 'members'::regclass ORDER BY tgname COLLATE "C";
SELECT (cuckoo_info(f)).* FROM members_email_filter \gx
SELECT members();

-- There is no sequence: lastval() still returns the writer's own value, and
-- nobody can use up its numbers.
CREATE SEQUENCE counter START 77;
CREATE TABLE numbered (k integer DEFAULT nextval('counter'));
SELECT cuckoo_follow('numbered', 'k');
INSERT INTO numbered VALUES (DEFAULT);
SELECT lastval();
SELECT count(*) AS sequences FROM pg_depend AS d JOIN pg_class AS c ON c.oid = d.objid WHERE d.refobjid = 'numbered_k_filter'::regclass AND c.relkind = 'S';
-- If a number is taken already, the next attempt uses another one.
INSERT INTO numbered_k_filter (hash, n, delta) SELECT hash, n + 1, delta FROM numbered_k_filter WHERE f IS NULL;
\set VERBOSITY sqlstate
INSERT INTO numbered VALUES (77);
\set VERBOSITY default
INSERT INTO numbered VALUES (77);
SELECT count(*) AS rows, count(DISTINCT n) AS numbers FROM numbered_k_filter WHERE f IS NULL;
DROP TABLE numbered, numbered_k_filter;
DROP SEQUENCE counter;

--
-- Every kind of change, in the log and folded
--
INSERT INTO members VALUES (2001, 'new'), (2002, NULL);
SELECT members(), cuckoo_follow_contains('members_email_filter', 'new'), cuckoo_follow_contains('members_email_filter', 'never');
DELETE FROM members WHERE id <= 10;
UPDATE members SET email = 'changed ' || id WHERE id BETWEEN 11 AND 20;
UPDATE members SET email = NULL WHERE id = 21;
UPDATE members SET email = 'was null' WHERE id = 2002;
UPDATE members SET note = 'noted', email = email;
SELECT members();
SELECT cuckoo_follow_fold('members_email_filter');
SELECT members(), cuckoo_follow_contains('members_email_filter', 'was null'), cuckoo_follow_contains('members_email_filter', 'user1');
INSERT INTO members VALUES (30, 'upserted'), (3000, 'inserted') ON CONFLICT (id) DO UPDATE SET email = excluded.email;
MERGE INTO members AS m USING (VALUES (31), (32), (3001)) AS s (id) ON m.id = s.id
	WHEN MATCHED AND m.id = 31 THEN DELETE
	WHEN MATCHED THEN UPDATE SET email = 'merged'
	WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'merged, too');
COPY members FROM stdin;
4000	copied	\N
4001	\N	\N
\.
WITH gone AS (DELETE FROM members WHERE id BETWEEN 40 AND 49 RETURNING id, email)
	INSERT INTO members SELECT id + 5000, email FROM gone;
UPDATE members AS a SET email = b.email FROM members AS b WHERE a.id BETWEEN 101 AND 200 AND b.id = 301 - a.id;
SELECT members();
SELECT cuckoo_follow_fold('members_email_filter') > 0 AS folded;
SELECT members();

-- Additions and removals of a key cancel each other within a command.
UPDATE members AS a SET email = b.email FROM members AS b WHERE a.id BETWEEN 101 AND 200 AND b.id = 301 - a.id;
SELECT members();

-- Several rows with the same key
INSERT INTO members SELECT i, 'shared' FROM generate_series(6001, 6007) AS i;
DELETE FROM members WHERE id BETWEEN 6001 AND 6006;
SELECT members(), cuckoo_follow_contains('members_email_filter', 'shared');
SELECT cuckoo_follow_fold('members_email_filter');
SELECT members(), cuckoo_follow_contains('members_email_filter', 'shared');
DELETE FROM members WHERE id = 6007;
SELECT cuckoo_follow_fold('members_email_filter');
SELECT members(), cuckoo_follow_contains('members_email_filter', 'shared');

-- Keys with eight rows at once stay until a rebuild.
INSERT INTO members SELECT i, 'eight' FROM generate_series(6001, 6008) AS i;
SELECT cuckoo_follow_fold('members_email_filter');
SELECT pinned FROM cuckoo_follow_check('members_email_filter');
DELETE FROM members WHERE email = 'eight';
SELECT cuckoo_follow_fold('members_email_filter');
SELECT cuckoo_follow_contains('members_email_filter', 'eight'), pinned FROM cuckoo_follow_check('members_email_filter');
SELECT cuckoo_follow_rebuild('members_email_filter');
SELECT members(), cuckoo_follow_contains('members_email_filter', 'eight'), pinned FROM cuckoo_follow_check('members_email_filter');

-- Large statements fold their changes themselves.  (Beyond its capacity the
-- filter would have two tables, and keep some of the removed keys.)
SELECT cuckoo_follow_rebuild('members_email_filter', 30000, NULL);
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(10001, 22000) AS i;
SELECT members();
INSERT INTO members VALUES (9999, 'before');
DELETE FROM members WHERE id > 9998;
SELECT members();

-- They do not do so in a transaction that removes what it has written.
BEGIN;
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(10001, 22000) AS i;
DELETE FROM members WHERE id > 10000;
SELECT members();
COMMIT;
SELECT members();
SELECT cuckoo_follow_fold('members_email_filter');
SELECT members();

-- They do not do so in REPEATABLE READ.
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(10001, 22000) AS i;
COMMIT;
SELECT members();
DELETE FROM members WHERE id > 10000;
SELECT members();

--
-- Transactions
--
BEGIN;
INSERT INTO members VALUES (7001, 'mine');
SELECT cuckoo_follow_contains('members_email_filter', 'mine');
SAVEPOINT a;
INSERT INTO members VALUES (7002, 'lost');
DELETE FROM members WHERE id = 7001;
-- What this transaction removes may be found until it ends.
SELECT cuckoo_follow_contains('members_email_filter', 'lost'), cuckoo_follow_contains('members_email_filter', 'mine');
ROLLBACK TO a;
SELECT cuckoo_follow_contains('members_email_filter', 'lost'), cuckoo_follow_contains('members_email_filter', 'mine');
SAVEPOINT b;
INSERT INTO members VALUES (7003, 'kept');
RELEASE b;
SELECT cuckoo_follow_fold('members_email_filter');
COMMIT;
SELECT members(), cuckoo_follow_contains('members_email_filter', 'mine'), cuckoo_follow_contains('members_email_filter', 'kept');
BEGIN;
DELETE FROM members;
SELECT cuckoo_follow_fold('members_email_filter') > 0 AS folded;
ROLLBACK;
SELECT members();

-- A cursor that is older than a change of its own transaction
BEGIN;
INSERT INTO members VALUES (7004, 'in a cursor');
DECLARE c CURSOR FOR SELECT email, cuckoo_follow_contains('members_email_filter', email) FROM members WHERE id = 7004;
DELETE FROM members WHERE id = 7004;
FETCH c;
COMMIT;
SELECT cuckoo_follow_fold('members_email_filter');
SELECT members();

-- The same if the log is written later: a partition, written through its root
CREATE TABLE parts (id integer, k integer) PARTITION BY LIST (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
SELECT cuckoo_follow('part1', 'k');
BEGIN;
INSERT INTO parts VALUES (1, 10);
SELECT count(*) AS in_the_log FROM part1_k_filter WHERE f IS NULL;
SELECT cuckoo_follow_contains('part1_k_filter', 10), cuckoo_follow_filter('part1_k_filter') @> 10 AS current;
DECLARE c CURSOR FOR SELECT k, cuckoo_follow_contains('part1_k_filter', k), cuckoo_follow_filter('part1_k_filter') @> k AS current FROM part1 ORDER BY k;
DECLARE d CURSOR FOR SELECT missing FROM cuckoo_follow_check('part1_k_filter');
INSERT INTO parts VALUES (1, 11);
DELETE FROM parts WHERE k = 10;
-- This statement has an end trigger, which writes everything.
INSERT INTO part1 VALUES (1, 15);
FETCH ALL c;
FETCH d;
CLOSE ALL;
-- In a subtransaction these changes cannot be written, and a fold must not
-- leave them out.
INSERT INTO parts VALUES (1, 12);
SAVEPOINT a;
DELETE FROM parts WHERE k = 12;
SELECT cuckoo_follow_fold('part1_k_filter');
ROLLBACK TO a;
SELECT cuckoo_follow_rebuild('part1_k_filter');
ROLLBACK TO a;
TRUNCATE part1;
INSERT INTO parts VALUES (1, 13);
RELEASE a;
COMMIT;
SELECT cuckoo_follow_fold('part1_k_filter');
SELECT state('part1_k_filter', 'part1', 'k'), cuckoo_follow_contains('part1_k_filter', 12), cuckoo_follow_contains('part1_k_filter', 13);

-- The same, where a later statement folds the row of the cursor with its own
BEGIN;
INSERT INTO parts VALUES (1, 20);
DECLARE c CURSOR FOR SELECT k, cuckoo_follow_contains('part1_k_filter', k), cuckoo_follow_filter('part1_k_filter') @> k AS current FROM part1 WHERE k = 20;
DECLARE d CURSOR FOR SELECT missing, log_rows FROM cuckoo_follow_check('part1_k_filter');
INSERT INTO part1 SELECT 1, i FROM generate_series(1000, 13000) AS i;
SELECT count(*) AS in_the_log FROM part1_k_filter WHERE f IS NULL;
FETCH ALL c;
FETCH d;
ROLLBACK;
-- and where the row is removed again: a cursor that reads the table in a
-- function is not known to use it.
CREATE FUNCTION part1_state(x integer) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
	answer boolean;
BEGIN
	SELECT cuckoo_follow_contains('part1_k_filter', k) INTO answer FROM part1 WHERE k = x;
	RETURN CASE WHEN found THEN 'seen, followed: ' || answer ELSE 'not seen' END;
END
$$;
BEGIN;
INSERT INTO parts VALUES (1, 20);
DECLARE c CURSOR FOR SELECT part1_state(20);
INSERT INTO parts VALUES (1, 21);
DELETE FROM parts WHERE k = 20;
INSERT INTO part1 VALUES (1, 22);
SAVEPOINT a;
SELECT cuckoo_follow_fold('part1_k_filter');
ROLLBACK TO a;
SELECT cuckoo_follow_rebuild('part1_k_filter');
ROLLBACK TO a;
FETCH c;
ROLLBACK;

-- A subtransaction writes its changes when it is released, so the buffer does
-- not grow with the number of subtransactions.
BEGIN;
INSERT INTO parts VALUES (1, 16);
SAVEPOINT a;
INSERT INTO parts VALUES (1, 17);
SAVEPOINT b;
INSERT INTO parts VALUES (1, 18);
RELEASE b;
SELECT count(*) AS in_the_log FROM part1_k_filter WHERE f IS NULL;
SAVEPOINT b;
INSERT INTO parts VALUES (1, 19);
ROLLBACK TO b;
SELECT cuckoo_follow_contains('part1_k_filter', 16), cuckoo_follow_contains('part1_k_filter', 17), cuckoo_follow_contains('part1_k_filter', 18), cuckoo_follow_contains('part1_k_filter', 19);
RELEASE a;
SELECT count(*) AS in_the_log FROM part1_k_filter WHERE f IS NULL;
SAVEPOINT a;
TRUNCATE part1;
ROLLBACK TO a;
SAVEPOINT a;
INSERT INTO parts VALUES (1, 20);
ROLLBACK TO a;
COMMIT;
SELECT state('part1_k_filter', 'part1', 'k'), cuckoo_follow_contains('part1_k_filter', 20);
DELETE FROM part1 WHERE k >= 16;
SELECT cuckoo_follow_fold('part1_k_filter');

-- Lookups of many keys that are not written yet
BEGIN;
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT cuckoo_follow_contains('part1_k_filter', new.k) THEN RAISE WARNING '% not found', new.k; END IF;
	IF cuckoo_follow_contains('part1_k_filter', -new.k) THEN RAISE WARNING '% found', -new.k; END IF;
	RETURN NULL;
END
$$;
CREATE TRIGGER look AFTER INSERT ON part1 FOR EACH ROW EXECUTE FUNCTION look();
INSERT INTO part1 SELECT 1, i FROM generate_series(101, 1100) AS i;
ROLLBACK;

-- TRUNCATE also drops changes that are not written yet.  Rolling back to the
-- savepoint restores them.
BEGIN;
INSERT INTO parts VALUES (1, 14);
SAVEPOINT a;
TRUNCATE part1;
ROLLBACK TO a;
COMMIT;
SELECT state('part1_k_filter', 'part1', 'k'), cuckoo_follow_contains('part1_k_filter', 14);

-- Rows that move, ATTACH, DETACH
CREATE TABLE part2 (id integer, k integer);
INSERT INTO part2 VALUES (2, 20);
SELECT cuckoo_follow('part2', 'k');
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
UPDATE parts SET id = 3 - id;
SELECT state('part1_k_filter', 'part1', 'k'), state('part2_k_filter', 'part2', 'k'), cuckoo_follow_contains('part1_k_filter', 20), cuckoo_follow_contains('part2_k_filter', 14);
ALTER TABLE parts DETACH PARTITION part2;
INSERT INTO part2 VALUES (4, 40);
SELECT state('part2_k_filter', 'part2', 'k');
TRUNCATE parts;
SELECT state('part1_k_filter', 'part1', 'k');
DROP TABLE parts, part2;

-- Inheritance: rows of children do not belong to the parent.
CREATE TABLE parent (k integer);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child VALUES (1);
SELECT cuckoo_follow('parent', 'k');
INSERT INTO child VALUES (2);
INSERT INTO parent VALUES (3);
DELETE FROM parent WHERE k = 1;
SELECT state('parent_k_filter', 'parent', 'k'), cuckoo_follow_contains('parent_k_filter', 1), cuckoo_follow_contains('parent_k_filter', 3);
DROP TABLE parent CASCADE;

-- Cascades, a BEFORE trigger that changes the key, and changes for replicas
CREATE TABLE regions (id integer PRIMARY KEY);
INSERT INTO regions VALUES (1), (2);
ALTER TABLE members ADD region integer REFERENCES regions ON DELETE CASCADE ON UPDATE CASCADE;
SELECT cuckoo_follow('members', 'region', build => false);
UPDATE members SET region = 1 WHERE id BETWEEN 201 AND 205;
SELECT cuckoo_follow_rebuild('members_region_filter');
UPDATE regions SET id = 3 WHERE id = 1;
-- (How many rows this logs depends on the version of PostgreSQL.)
SELECT regexp_replace(state('members_region_filter', 'members', 'region'), ', .* in the log', '') AS state, cuckoo_follow_contains('members_region_filter', 3);
DELETE FROM regions;
SELECT regexp_replace(state('members_region_filter', 'members', 'region'), ', .* in the log', '') AS state, members();
CREATE FUNCTION note_is_key() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.email := NEW.note; RETURN NEW; END';
CREATE TRIGGER note_is_key BEFORE INSERT OR UPDATE ON members FOR EACH ROW EXECUTE FUNCTION note_is_key();
INSERT INTO members VALUES (7005, 'not this', 'this');
UPDATE members SET note = 'that' WHERE id = 7005;
SELECT members(), cuckoo_follow_contains('members_email_filter', 'that'), cuckoo_follow_contains('members_email_filter', 'not this');
DROP TRIGGER note_is_key ON members;
SET session_replication_role = replica;
INSERT INTO members VALUES (7006, 'applied');
RESET session_replication_role;
SELECT members(), cuckoo_follow_contains('members_email_filter', 'applied');

-- Generated columns change with the columns that they are computed from.  From
-- 17 on they are refused.
CREATE TABLE plain (email text, lower text);
SELECT cuckoo_follow('plain', 'lower'), cuckoo_follow('plain', 'email');
CREATE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.lower := lower(NEW.email); RETURN NEW; END';
CREATE TRIGGER lowered BEFORE INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION lowered();
INSERT INTO plain VALUES ('A');
UPDATE plain SET email = 'B';
SELECT state('plain_lower_filter', 'plain', 'lower'), state('plain_email_filter', 'plain', 'email');
SELECT cuckoo_follow_contains('plain_lower_filter', 'b'), cuckoo_follow_contains('plain_email_filter', 'B'), cuckoo_follow_contains('plain_email_filter', 'b');

--
-- TRUNCATE
--
BEGIN;
TRUNCATE members;
SELECT members();
ROLLBACK;
SELECT members();
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO members VALUES (1, 'first');
TRUNCATE members;
INSERT INTO members VALUES (2, 'second');
COMMIT;
SELECT members(), cuckoo_follow_contains('members_email_filter', 'second'), cuckoo_follow_contains('members_email_filter', 'user100');

--
-- Renames, and what is refused
--
ALTER TABLE members RENAME email TO mail;
ALTER TABLE members RENAME TO people;
ALTER TABLE members_email_filter RENAME TO known;
CREATE SCHEMA follow_other;
ALTER TABLE known SET SCHEMA follow_other;
ALTER TABLE people SET SCHEMA follow_other;
SET search_path = follow_other, follow_test, public;
UPDATE people SET mail = 'third' WHERE id = 2;
SELECT state('known', 'people', 'mail'), cuckoo_follow_contains('known', 'third');
SELECT cuckoo_follow_fold('known');
\set VERBOSITY terse
ALTER TABLE people ALTER mail TYPE varchar;
ALTER TABLE people DROP mail;
DROP TABLE known;
\set VERBOSITY default
DROP TABLE known CASCADE;
INSERT INTO people (id, mail) VALUES (3, 'not followed');
SELECT cuckoo_follow('people', 'mail');
-- The triggers that are still there are used again.
SELECT tgname FROM pg_trigger WHERE tgrelid = 'people'::regclass AND tgname LIKE 'cuckoo%' ORDER BY tgname COLLATE "C";
SELECT state('people_mail_filter', 'people', 'mail');
DROP TABLE people;
SELECT cuckoo_follow_fold('people_mail_filter');
SET search_path = follow_test, public;

--
-- Every key type: nothing is missing after changes and after a fold
--
CREATE DOMAIN short AS varchar(9);
DO $$
DECLARE
	key_type text;
	sample text;
	number integer := 0;
	result text;
BEGIN
	FOR key_type, sample IN VALUES ('boolean', 'i % 2 = 0'), ('"char"', 'chr(65 + i)'), ('smallint', 'i'), ('integer', 'i'), ('bigint', 'i'),
		('oid', 'i::oid'), ('xid8', 'i::text::xid8'), ('real', 'i'), ('double precision', 'i'), ('numeric', 'i * 1.10'), ('money', 'i::money'),
		('text', 'i::text'), ('varchar(7)', 'i::text'), ('char(7)', 'i::text'), ('name', 'i::text'), ('bytea', 'i::text::bytea'),
		('bit(8)', 'i::bit(8)'), ('varbit', 'i::bit(9)::varbit'), ('uuid', 'md5(i::text)::uuid'), ('date', $i$'2020-01-01'::date + i$i$),
		('time', $i$'0:00'::time + i * '1 s'::interval$i$), ('timetz', $i$'0:00 UTC'::timetz + i * '1 s'::interval$i$),
		('timestamp', $i$'2020-01-01'::timestamp + i * '1 h'::interval$i$), ('timestamptz', $i$'2020-01-01 UTC'::timestamptz + i * '1 h'::interval$i$),
		('interval', $i$i * '1 h'::interval$i$), ('inet', $i$'10.0.0.0'::inet + i$i$), ('cidr', $i$set_masklen('10.0.0.0'::inet + i, 32)::cidr$i$),
		('macaddr', $i$('08:00:2b:01:02:' || lpad(to_hex(i), 2, '0'))::macaddr$i$), ('macaddr8', $i$('08:00:2b:01:02:03:04:' || lpad(to_hex(i), 2, '0'))::macaddr8$i$),
		('pg_lsn', $i$('0/' || to_hex(i))::pg_lsn$i$), ('jsonb', 'to_jsonb(i)'),
		('short', 'i::text'), ('integer[]', 'ARRAY[i]'), ('text[]', 'ARRAY[i::text]'), ('int4range', 'int4range(i, i + 2)'),
		('int4multirange', 'int4multirange(int4range(i, i + 2))')
	LOOP
		number := number + 1;
		EXECUTE format('CREATE TABLE typed%s (i integer, k %s)', number, key_type);
		PERFORM cuckoo_follow(format('typed%s', number)::regclass, 'k');
		EXECUTE format('INSERT INTO typed%s SELECT i, %s FROM generate_series(1, 20) AS i', number, sample);
		EXECUTE format('UPDATE typed%s SET k = %s WHERE i > 15', number, replace(sample, 'i ', '(i + 20) '));
		EXECUTE format('DELETE FROM typed%s WHERE i < 5', number);
		result := state(format('typed%s_k_filter', number), format('typed%s', number), 'k');
		IF result NOT LIKE '0 missing%' THEN RAISE WARNING '%: %', key_type, result; END IF;
		PERFORM cuckoo_follow_fold(format('typed%s_k_filter', number));
		EXECUTE format('SELECT concat(count(*) FILTER (WHERE NOT cuckoo_follow_contains(%L, k))) FROM typed%s', format('typed%s_k_filter', number), number) INTO result;
		IF result <> '0' THEN RAISE WARNING '%: % not found', key_type, result; END IF;
		EXECUTE format('DROP TABLE typed%s CASCADE', number);
	END LOOP;
	RAISE WARNING '% key types', number;
END
$$;

--
-- What is refused
--
CREATE TABLE root (k integer) PARTITION BY LIST (k);
CREATE VIEW seen AS SELECT 1 AS k;
CREATE TABLE other (id integer, k integer, j json, p point);
INSERT INTO other SELECT i, i / 8 FROM generate_series(8, 8007) AS i;
\set SHOW_CONTEXT never
SELECT cuckoo_follow('root', 'k');
\echo :SQLSTATE
SELECT cuckoo_follow('seen', 'k');
\echo :SQLSTATE
SELECT cuckoo_follow('other', 'absent');
\echo :SQLSTATE
SELECT cuckoo_follow('other', 'ctid');
\echo :SQLSTATE
SELECT cuckoo_follow('other', 'j');
\echo :SQLSTATE
SELECT cuckoo_follow('other', 'k');
\echo :SQLSTATE
-- Types whose hashes DDL can change: ALTER TYPE would lose keys.
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE TYPE pair AS (a integer, b text);
CREATE TYPE colors AS RANGE (subtype = color);
CREATE DOMAIN shade AS color;
CREATE TABLE altered (a color, b pair, c color[], d pair[], e colors, f colors_multirange[], g shade);
SELECT cuckoo_follow('altered', 'a');
\echo :SQLSTATE
SELECT cuckoo_follow('altered', 'b');
\echo :SQLSTATE
DO $$
DECLARE
	col text;
BEGIN
	FOR col IN VALUES ('c'), ('d'), ('e'), ('f'), ('g') LOOP
		BEGIN
			PERFORM cuckoo_follow('altered', col);
			RAISE WARNING '% is followed', col;
		EXCEPTION WHEN feature_not_supported THEN RAISE WARNING '%', SQLERRM;
		END;
	END LOOP;
END
$$;
DROP TABLE altered;
SELECT cuckoo_follow('other', 'id', NULL, 0.5);
\echo :SQLSTATE
SELECT cuckoo_follow('other', 'id', -1, 0.001);
\echo :SQLSTATE
SELECT cuckoo_follow('other', 'id', 1e9, 2e-8);
\echo :SQLSTATE
SELECT cuckoo_follow(NULL, 'id');
\echo :SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT cuckoo_follow('other', 'id');
\echo :SQLSTATE
ROLLBACK;
SELECT cuckoo_follow('other', 'id', build => false);
SELECT cuckoo_follow('other', 'id');
\echo :SQLSTATE
SELECT cuckoo_follow_contains('other_id_filter', 8);
\echo :SQLSTATE
SELECT cuckoo_follow_filter('other_id_filter');
\echo :SQLSTATE
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
SELECT * FROM cuckoo_follow_check('other_id_filter');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT cuckoo_follow_rebuild('other_id_filter');
\echo :SQLSTATE
ROLLBACK;
SELECT cuckoo_follow_rebuild('other_id_filter');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
ROLLBACK;
SELECT cuckoo_follow_contains('other', 8);
\echo :SQLSTATE
SELECT cuckoo_follow_fold('seen');
\echo :SQLSTATE
SELECT cuckoo_follow_contains('other_id_filter', 'a text');
\echo :SQLSTATE
SELECT cuckoo_follow_contains(NULL, 8), cuckoo_follow_fold(NULL), cuckoo_follow_rebuild(NULL), cuckoo_follow_filter(NULL);
-- Inside a statement on the table
CREATE FUNCTION fold_inside() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM cuckoo_follow_fold(''other_id_filter''); RETURN NULL; END';
CREATE TRIGGER fold_inside AFTER INSERT ON other FOR EACH STATEMENT EXECUTE FUNCTION fold_inside();
INSERT INTO other VALUES (1, 1);
\echo :SQLSTATE
DROP TRIGGER fold_inside ON other;
-- A filter that was replaced by hand
UPDATE other_id_filter SET f = (SELECT cuckoo_agg(i, 10, 0.001, 5) FROM generate_series(1, 10) AS i) WHERE f IS NOT NULL;
INSERT INTO other VALUES (2, 2);
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
SELECT cuckoo_follow_contains('other_id_filter', 2);
\echo :SQLSTATE
UPDATE other_id_filter SET f = (SELECT cuckoo_agg(i::text) FROM generate_series(1, 10) AS i) WHERE f IS NOT NULL;
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
-- An aggregate over no rows, and an empty filter
UPDATE other_id_filter SET f = (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i) WHERE f IS NOT NULL;
SELECT cuckoo_follow_filter('other_id_filter');
\echo :SQLSTATE
SELECT cuckoo_follow_check('other_id_filter');
\echo :SQLSTATE
UPDATE other_id_filter SET f = cuckoo_new() WHERE f IS NOT NULL;
SELECT cuckoo_follow_filter('other_id_filter');
\echo :SQLSTATE
UPDATE other_id_filter SET f = (SELECT cuckoo_agg(i::text) FROM generate_series(1, 10) AS i) WHERE f IS NOT NULL;
-- Statements that would otherwise fold their changes write them to the log.
INSERT INTO other SELECT i, i FROM generate_series(100001, 112000) AS i;
SELECT count(*) FROM other_id_filter WHERE f IS NULL;
DELETE FROM other WHERE id > 100000;
SELECT cuckoo_follow_rebuild('other_id_filter');
DELETE FROM other_id_filter;
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
SELECT cuckoo_follow_rebuild('other_id_filter');
UPDATE other_id_filter SET f = NULL, delta = 1;
SELECT cuckoo_follow_contains('other_id_filter', 2);
\echo :SQLSTATE
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
SELECT missing IS NULL AS missing, log_rows FROM cuckoo_follow_check('other_id_filter');
SELECT cuckoo_follow_rebuild('other_id_filter');
SELECT state('other_id_filter', 'other', 'id');
-- A filter table that was altered
ALTER TABLE other_id_filter ADD COLUMN reason text NOT NULL DEFAULT '';
INSERT INTO other VALUES (4, 4);
\echo :SQLSTATE
ALTER TABLE other_id_filter DROP COLUMN reason, ADD CONSTRAINT positive CHECK (delta > 0);
INSERT INTO other VALUES (4, 4);
\echo :SQLSTATE
ALTER TABLE other_id_filter DROP CONSTRAINT positive, DROP CONSTRAINT other_id_filter_pkey;
SELECT cuckoo_follow_contains('other_id_filter', 2);
\echo :SQLSTATE
ALTER TABLE other_id_filter ADD PRIMARY KEY (n) INCLUDE (hash);
SELECT cuckoo_follow_contains('other_id_filter', 2);
\echo :SQLSTATE
ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey, ADD PRIMARY KEY (n, hash);
SELECT cuckoo_follow_filter('other_id_filter');
\echo :SQLSTATE
ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey, ADD PRIMARY KEY (hash, n);
INSERT INTO other VALUES (4, 4);
SELECT state('other_id_filter', 'other', 'id');
DELETE FROM other WHERE id = 4;
SELECT cuckoo_follow_fold('other_id_filter');

-- Triggers that are called or created in another way
SELECT cuckoo_follow_row();
\echo :SQLSTATE
CREATE TABLE crafted (id integer, k integer);
CREATE TRIGGER a BEFORE INSERT ON crafted FOR EACH ROW EXECUTE FUNCTION cuckoo_follow_row();
INSERT INTO crafted VALUES (1, 1);
\echo :SQLSTATE
DROP TRIGGER a ON crafted;
CREATE TRIGGER a AFTER INSERT ON crafted FOR EACH STATEMENT EXECUTE FUNCTION cuckoo_follow_truncate();
INSERT INTO crafted VALUES (1, 1);
\echo :SQLSTATE
DROP TRIGGER a ON crafted;
CREATE TRIGGER a AFTER UPDATE ON crafted FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.k AND 'other_id_filter'::regclass IS NOT NULL) EXECUTE FUNCTION cuckoo_follow_row();
CREATE TRIGGER b AFTER INSERT ON crafted FOR EACH ROW EXECUTE FUNCTION cuckoo_follow_row();
INSERT INTO crafted VALUES (1, 1);
\echo :SQLSTATE
DROP TRIGGER a ON crafted;
CREATE TRIGGER a AFTER UPDATE ON crafted FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id AND 'other'::regclass IS NOT NULL) EXECUTE FUNCTION cuckoo_follow_row();
INSERT INTO crafted VALUES (1, 1);
\echo :SQLSTATE
DROP TRIGGER a ON crafted;
CREATE TRIGGER a AFTER UPDATE ON crafted FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id AND 'other_id_filter'::regclass IS NOT NULL) EXECUTE FUNCTION cuckoo_follow_row();
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
DROP TABLE crafted;

-- Triggers created a second time would count every change twice.
CREATE TRIGGER again AFTER UPDATE ON other FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id AND 'other_id_filter'::regclass IS NOT NULL) EXECUTE FUNCTION cuckoo_follow_row();
DELETE FROM other WHERE id = 100;
\echo :SQLSTATE
SELECT cuckoo_follow_rebuild('other_id_filter');
\echo :SQLSTATE
DROP TRIGGER again ON other;
CREATE TRIGGER again AFTER DELETE ON other FOR EACH ROW EXECUTE FUNCTION cuckoo_follow_row();
DELETE FROM other WHERE id = 100;
\echo :SQLSTATE
DROP TRIGGER again ON other;
CREATE TRIGGER again AFTER INSERT OR DELETE ON other FOR EACH ROW WHEN (pg_trigger_depth() < 9) EXECUTE FUNCTION cuckoo_follow_row();
INSERT INTO other VALUES (3, 3);
\echo :SQLSTATE
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
DROP TRIGGER again ON other;
SELECT state('other_id_filter', 'other', 'id');

-- Writing a log fires no triggers, so a filter table cannot be followed.
SELECT cuckoo_follow('other_id_filter', 'hash');
\echo :SQLSTATE

-- Triggers that are not in order: a fold cannot know what is missing.
ALTER TABLE other DISABLE TRIGGER ALL;
INSERT INTO other VALUES (3, 3);
ALTER TABLE other ENABLE TRIGGER ALL;
SELECT state('other_id_filter', 'other', 'id');
SELECT cuckoo_follow_fold('other_id_filter');
\echo :SQLSTATE
SELECT cuckoo_follow_rebuild('other_id_filter');
SELECT state('other_id_filter', 'other', 'id');
DROP TRIGGER cuckoo_follow_delete ON other;
SELECT triggers_enabled FROM cuckoo_follow_check('other_id_filter');
SELECT cuckoo_follow_rebuild('other_id_filter');
SELECT state('other_id_filter', 'other', 'id');

-- A rebuild with other parameters, and one when keys repeat
SELECT cuckoo_follow_rebuild('other_id_filter', 50000, 0.01);
SELECT target_fpr, capacity FROM other_id_filter, cuckoo_info(f) WHERE f IS NOT NULL;
UPDATE other SET id = id / 8;
SELECT cuckoo_follow_rebuild('other_id_filter');
SELECT target_fpr, capacity FROM other_id_filter, cuckoo_info(f) WHERE f IS NOT NULL;

--
-- Writing to a log runs nobody's code
--
CREATE TABLE lured (k integer) PARTITION BY LIST (k);
CREATE TABLE lured1 PARTITION OF lured DEFAULT;
SELECT cuckoo_follow('lured1', 'k');
CREATE FUNCTION shout(bigint) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'shouted'; RETURN 0; END $$;
SET client_min_messages = error;
CREATE INDEX shouting ON lured1_k_filter (shout(hash));
SET client_min_messages = warning;
INSERT INTO lured1 VALUES (1);
\echo :SQLSTATE
INSERT INTO lured VALUES (1);
\echo :SQLSTATE
SELECT cuckoo_follow_rebuild('lured1_k_filter');
\echo :SQLSTATE
DROP INDEX shouting;
SET client_min_messages = error;
CREATE INDEX partly ON lured1_k_filter (delta) WHERE shout(n) > 0;
SET client_min_messages = warning;
INSERT INTO lured1 VALUES (1);
\echo :SQLSTATE
DROP INDEX partly;
-- Nor a constant part of an expression, which PostgreSQL would compute when it
-- opens the index
SET client_min_messages = error;
CREATE INDEX constant ON lured1_k_filter ((hash + shout(1)));
SET client_min_messages = warning;
INSERT INTO lured1 VALUES (1);
\echo :SQLSTATE
DROP INDEX constant;
CREATE INDEX plainly ON lured1_k_filter (delta);
INSERT INTO lured1 VALUES (1);
-- A function that ANALYZE runs as its owner leaves nothing to be written at
-- commit.
CREATE FUNCTION lure_row(integer) RETURNS void LANGUAGE plpgsql AS 'BEGIN INSERT INTO follow_test.lured VALUES ($1); END';
CREATE FUNCTION lure(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE bait (a integer);
INSERT INTO bait VALUES (2), (3);
CREATE INDEX ON bait (lure(a));
CREATE OR REPLACE FUNCTION lure(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM follow_test.lure_row($1); RETURN $1; END';
BEGIN;
ANALYZE bait;
SELECT state('lured1_k_filter', 'lured1', 'k');
COMMIT;
SELECT state('lured1_k_filter', 'lured1', 'k');
DROP TABLE bait, lured, lured1_k_filter;

--
-- Rights
--
\set VERBOSITY sqlstate
CREATE ROLE regress_cuckoo_owner;
CREATE ROLE regress_cuckoo_clerk;
GRANT USAGE, CREATE ON SCHEMA follow_test TO regress_cuckoo_owner, regress_cuckoo_clerk;
SET ROLE regress_cuckoo_owner;
CREATE TABLE owned (id integer, k integer);
INSERT INTO owned SELECT i, i FROM generate_series(1, 100) AS i;
GRANT INSERT ON owned TO regress_cuckoo_clerk;
RESET ROLE;
-- A superuser may call cuckoo_follow; the table's owner gets the filter table.
SELECT cuckoo_follow('owned', 'k');
SELECT relowner::regrole FROM pg_class WHERE oid = 'owned_k_filter'::regclass;
SET ROLE regress_cuckoo_clerk;
INSERT INTO owned VALUES (101, 101);
INSERT INTO owned SELECT i, i FROM generate_series(1000, 12000) AS i;
SELECT cuckoo_follow_contains('owned_k_filter', 1);
SELECT cuckoo_follow_filter('owned_k_filter');
SELECT cuckoo_follow_fold('owned_k_filter');
SELECT cuckoo_follow_rebuild('owned_k_filter');
SELECT cuckoo_follow_check('owned_k_filter');
SELECT cuckoo_follow('owned', 'id');
INSERT INTO owned_k_filter (hash, delta) VALUES (1, 1);
-- It cannot write to the filter table by a trigger on a table of its own, either.
CREATE TABLE mine (id integer);
CREATE TRIGGER a AFTER UPDATE ON mine FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id AND 'owned_k_filter'::regclass IS NOT NULL) EXECUTE FUNCTION cuckoo_follow_row();
CREATE TRIGGER b AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION cuckoo_follow_row();
INSERT INTO mine VALUES (1);
RESET ROLE;
SELECT cuckoo_follow_fold('owned_k_filter');
DROP TABLE mine;
GRANT SELECT ON owned_k_filter TO regress_cuckoo_clerk;
SET ROLE regress_cuckoo_clerk;
SELECT cuckoo_follow_contains('owned_k_filter', 101), cuckoo_follow_contains('owned_k_filter', -1);
-- An owner under FORCE ROW LEVEL SECURITY: all rows count.
SET ROLE regress_cuckoo_owner;
ALTER TABLE owned ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY half ON owned USING (k % 2 = 0);
SELECT cuckoo_follow_rebuild('owned_k_filter');
SELECT count(*) AS seen FROM owned;
RESET ROLE;
SELECT state('owned_k_filter', 'owned', 'k');
ALTER TABLE owned_k_filter ENABLE ROW LEVEL SECURITY;
SET ROLE regress_cuckoo_clerk;
SELECT cuckoo_follow_contains('owned_k_filter', 101);
RESET ROLE;
-- Different owners of the two tables
ALTER TABLE owned OWNER TO regress_cuckoo_clerk;
INSERT INTO owned VALUES (102, 102);
SELECT cuckoo_follow_fold('owned_k_filter');
ALTER TABLE owned_k_filter OWNER TO regress_cuckoo_clerk;
INSERT INTO owned VALUES (102, 102);
SELECT state('owned_k_filter', 'owned', 'k');
\set VERBOSITY default

-- Temporary and unlogged tables
CREATE TEMPORARY TABLE briefly (k integer);
CREATE UNLOGGED TABLE unlogged (k integer);
SELECT cuckoo_follow('briefly', 'k'), cuckoo_follow('unlogged', 'k');
SELECT relname, relpersistence FROM pg_class WHERE oid IN ('briefly_k_filter'::regclass, 'unlogged_k_filter'::regclass) ORDER BY relname;
INSERT INTO briefly VALUES (1);
SELECT cuckoo_follow_fold('briefly_k_filter'), cuckoo_follow_rebuild('briefly_k_filter');
SELECT state('briefly_k_filter', 'briefly', 'k');

-- The default access method may be one that cannot update rows.
CREATE ACCESS METHOD follow_heap TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE other_method (k integer);
SET default_table_access_method = follow_heap;
SELECT cuckoo_follow('other_method', 'k');
RESET default_table_access_method;
SELECT amname FROM pg_class AS c JOIN pg_am AS a ON a.oid = c.relam WHERE c.oid = 'other_method_k_filter'::regclass;
DROP ACCESS METHOD follow_heap;

-- Names: long, in mixed case, already taken
CREATE TABLE "A very long name of a table, indeed ""one"" of the longest there are" ("The Key" integer);
SELECT cuckoo_follow((SELECT oid FROM pg_class WHERE relname LIKE 'A very long name%' AND relkind = 'r'), 'The Key');
CREATE TABLE taken (k integer);
CREATE TABLE taken_k_filter (k integer);
SELECT cuckoo_follow('taken', 'k');

-- Folds work under a publication of all tables.
SELECT relreplident, EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary) AS primary_key FROM pg_class AS c WHERE oid = 'taken_k_filter1'::regclass;

-- The extension in a schema that is not on the search path, and moved
SET client_min_messages = error;
BEGIN;
DROP EXTENSION cuckoo CASCADE;
CREATE SCHEMA "else where";
CREATE EXTENSION cuckoo SCHEMA follow_other;
CREATE EXTENSION cuckoo_follow SCHEMA "else where";
SET LOCAL search_path = follow_test;
CREATE TABLE placed (k text);
INSERT INTO placed VALUES ('a');
SELECT "else where".cuckoo_follow('placed', 'k');
ALTER EXTENSION cuckoo_follow SET SCHEMA follow_other;
INSERT INTO placed VALUES ('b');
DROP TRIGGER cuckoo_follow_insert ON placed;
SELECT follow_other.cuckoo_follow_rebuild('placed_k_filter');
INSERT INTO placed VALUES ('c');
SELECT follow_other.cuckoo_follow_fold('placed_k_filter'), follow_other.cuckoo_follow_contains('placed_k_filter', 'b');
SELECT missing, triggers_enabled FROM follow_other.cuckoo_follow_check('placed_k_filter');
ROLLBACK;

DROP SCHEMA follow_test, follow_other CASCADE;
DROP ROLE regress_cuckoo_owner, regress_cuckoo_clerk;
DROP EXTENSION cuckoo_follow CASCADE;
