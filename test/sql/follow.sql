-- A filter that follows a table
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
-- The x87 of i386 computes another last digit.
SET extra_float_digits = 0;
CREATE EXTENSION cuckoo_follow SCHEMA public;

CREATE TABLE members (id integer PRIMARY KEY, email text, note text);
INSERT INTO members SELECT i, 'user' || i FROM generate_series(1, 1000) AS i;
INSERT INTO members VALUES (-1);

-- Whether base and log together agree with the table
CREATE FUNCTION state(filter regclass, tbl regclass, col name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT concat(missing, '' missing, '', log_rows, '' in the log, copies ''
			|| CASE WHEN (SELECT sum(delta) FROM %1$s WHERE n <> 0) IS NOT DISTINCT FROM
				nullif((SELECT count(%3$I) FROM ONLY %2$s) - (SELECT cuckoo_cardinality(f) FROM %1$s WHERE n = 0), CASE WHEN log_rows = 0 THEN 0 END)
				THEN ''as rows'' ELSE ''differ'' END
			|| CASE WHEN triggers_enabled THEN '''' ELSE '', triggers not enabled'' END)
		FROM cuckoo_follow_check(%1$L)', filter, tbl, col) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION members() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN state('members_email_filter', 'members', 'email'); END $$;

---- What cuckoo_follow makes
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
DROP TABLE numbered, numbered_k_filter;
DROP SEQUENCE counter;

---- Every kind of change, in the log and folded
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
SELECT cuckoo_follow_fold('members_email_filter') > 0 AS folded, members();

-- Additions and removals of a key cancel each other within a statement (of
-- which the first row is written at once).
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

-- Statements with many additions add them to the base.  (Beyond its capacity
-- the filter would have two tables, and keep some of the removed keys.)
SELECT cuckoo_follow_rebuild('members_email_filter', 30000, NULL);
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(10001, 22000) AS i;
SELECT members();
INSERT INTO members VALUES (9999, 'before');
DELETE FROM members WHERE id > 9998;
SELECT members();
SELECT cuckoo_follow_fold('members_email_filter'), members();

-- In a transaction and a savepoint
BEGIN;
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(10001, 22000) AS i;
DECLARE c CURSOR FOR SELECT count(*), count(*) FILTER (WHERE cuckoo_follow_contains('members_email_filter', email)) AS found FROM members WHERE id > 10000;
SAVEPOINT a;
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(30001, 42000) AS i;
ROLLBACK TO a;
DELETE FROM members WHERE id > 10000;
FETCH c;
SELECT members();
COMMIT;
SELECT cuckoo_follow_fold('members_email_filter'), members();

-- With little memory a statement writes before it ends.
SET maintenance_work_mem = 1024;
INSERT INTO members SELECT i, 'little ' || i FROM generate_series(100001, 250000) AS i;
SELECT members();
CREATE FUNCTION collected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE WARNING 'collected: less than 2 MB: %', (SELECT sum(total_bytes) < 2e6 FROM pg_backend_memory_contexts WHERE name = 'changes of a followed table');
	RETURN NULL;
END $$;
CREATE TRIGGER z_collected AFTER UPDATE ON members FOR EACH ROW WHEN (new.id = 249000) EXECUTE FUNCTION collected();
-- A NULL makes the number of keys odd.
UPDATE members SET email = CASE id WHEN 100005 THEN NULL ELSE 'other ' || id END WHERE id > 100000;
DROP TRIGGER z_collected ON members;
SELECT members();
DELETE FROM members WHERE id > 10000;
RESET maintenance_work_mem;
SELECT regexp_replace(members(), ', .* in the log', '');
SELECT cuckoo_follow_rebuild('members_email_filter', 30000, NULL);

-- Statements do not add to the base in REPEATABLE READ.
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO members SELECT i, 'large ' || i FROM generate_series(10001, 22000) AS i;
COMMIT;
SELECT members();
DELETE FROM members WHERE id > 10000;
SELECT cuckoo_follow_fold('members_email_filter'), members();

---- Transactions
BEGIN;
INSERT INTO members VALUES (7001, 'mine');
SELECT cuckoo_follow_contains('members_email_filter', 'mine');
SAVEPOINT a;
INSERT INTO members VALUES (7002, 'lost');
DELETE FROM members WHERE id = 7001;
-- What is removed may be found until a fold.
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
SELECT cuckoo_follow_fold('members_email_filter'), members();

-- The same for a partition that is written through its root
CREATE TABLE parts (id integer, k integer) PARTITION BY LIST (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
SELECT cuckoo_follow('part1', 'k');
BEGIN;
INSERT INTO parts VALUES (1, 10);
SELECT count(*) AS in_the_log FROM part1_k_filter WHERE f IS NULL;
DECLARE c CURSOR FOR SELECT k, cuckoo_follow_contains('part1_k_filter', k), cuckoo_follow_filter('part1_k_filter') @> k AS filter FROM part1 ORDER BY k;
DECLARE d CURSOR FOR SELECT missing FROM cuckoo_follow_check('part1_k_filter');
INSERT INTO parts VALUES (1, 11), (1, 12), (1, 13);
DELETE FROM parts WHERE k <= 12;
FETCH ALL c;
FETCH d;
CLOSE ALL;
SAVEPOINT a;
DELETE FROM parts WHERE k = 13;
SELECT cuckoo_follow_fold('part1_k_filter');
INSERT INTO parts VALUES (1, 12), (1, 12), (1, 12);
ROLLBACK TO a;
SELECT state('part1_k_filter', 'part1', 'k');
TRUNCATE part1;
INSERT INTO parts VALUES (1, 14), (1, 15);
ROLLBACK TO a;
SELECT state('part1_k_filter', 'part1', 'k');
TRUNCATE part1;
INSERT INTO parts VALUES (1, 16), (1, 17);
RELEASE a;
COMMIT;
SELECT state('part1_k_filter', 'part1', 'k');
SELECT cuckoo_follow_fold('part1_k_filter');
SELECT state('part1_k_filter', 'part1', 'k'), cuckoo_follow_contains('part1_k_filter', 13), cuckoo_follow_contains('part1_k_filter', 17);

-- Rows of a statement that has not ended are not all found yet, and neither are
-- rows of a statement inside it lost: failing subtransactions before and after
-- our trigger, a statement in a statement, a removal of the outer one's row.
CREATE FUNCTION nest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		INSERT INTO parts SELECT 1, new.k + 1000 * i FROM generate_series(1, 3) AS i;
		DELETE FROM part1 WHERE k BETWEEN 16 AND 18;
		RAISE EXCEPTION 'no';
	EXCEPTION WHEN raise_exception THEN NULL;
	END;
	INSERT INTO parts SELECT 1, new.k + 10000 * i FROM generate_series(1, 3) AS i;
	BEGIN
		INSERT INTO parts SELECT 1, new.k + 100000 * i FROM generate_series(1, 3) AS i;
		DELETE FROM part1 WHERE k = new.k + CASE WHEN new.k % 2 = 0 THEN 100000 ELSE 0 END;
	END;
	RETURN NULL;
END $$;
CREATE TRIGGER a_nest AFTER INSERT ON part1 FOR EACH ROW WHEN (new.k BETWEEN 100 AND 119) EXECUTE FUNCTION nest();
CREATE TRIGGER z_nest AFTER INSERT ON part1 FOR EACH ROW WHEN (new.k BETWEEN 120 AND 139) EXECUTE FUNCTION nest();
INSERT INTO parts SELECT 1, i FROM generate_series(90, 149) AS i;
SELECT regexp_replace(state('part1_k_filter', 'part1', 'k'), ', .* in the log', '');
SELECT cuckoo_follow_fold('part1_k_filter') > 0 AS folded, state('part1_k_filter', 'part1', 'k');
DROP TRIGGER a_nest ON part1;
DROP TRIGGER z_nest ON part1;

-- While a statement has collected rows: the removal of one whose addition is
-- not written yet, with the same key in another row, and further rows of a
-- statement inside it, which are found when that has ended.
CREATE TABLE same (id integer, k integer);
INSERT INTO same VALUES (1, 7);
SELECT cuckoo_follow('same', 'k');
CREATE FUNCTION remove_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM same WHERE id = new.id;
	RAISE WARNING 'written: %, found: %, in the filter: %', (SELECT sum(delta) FROM same_k_filter WHERE n <> 0),
		cuckoo_follow_contains('same_k_filter', 7), cuckoo_follow_filter('same_k_filter') @> 7;
	INSERT INTO same VALUES (4, 40), (5, 50), (6, 60);
	RAISE WARNING 'all found: %', (SELECT bool_and(cuckoo_follow_contains('same_k_filter', k)) FROM same WHERE id > 3);
	RETURN NULL;
END
$$;
CREATE TRIGGER z_remove_again AFTER INSERT ON same FOR EACH ROW WHEN (new.k = 7) EXECUTE FUNCTION remove_again();
INSERT INTO same VALUES (2, 8), (3, 7);
SELECT state('same_k_filter', 'same', 'k');
-- What was collected goes with an error.
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
CREATE TRIGGER z_fail AFTER INSERT ON same FOR EACH ROW WHEN (new.k = 99) EXECUTE FUNCTION fail();
INSERT INTO same VALUES (7, 97), (8, 98), (9, 99);
INSERT INTO same VALUES (7, 97), (8, 98), (9, 98);
SELECT state('same_k_filter', 'same', 'k');
DROP TABLE same, same_k_filter;

-- Cascades queue rows behind the trigger that writes: they are written, too.
-- While they are not, folds, rebuilds and TRUNCATE are refused, even in a
-- trigger of another table.
CREATE TABLE top (id integer PRIMARY KEY, parent integer REFERENCES top ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE beside (id integer REFERENCES top ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO top VALUES (1, NULL), (2, 1), (3, 1), (4, 1), (5, 2), (6, 2), (7, 3), (8, 7), (9, 8), (10, 8);
INSERT INTO beside SELECT generate_series(1, 10);
SELECT cuckoo_follow('top', 'parent', build => false), cuckoo_follow('top', 'id');
SELECT cuckoo_follow_rebuild('top_parent_filter');
CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 0 .. TG_NARGS - 1 LOOP
		RAISE WARNING '%: %', TG_ARGV[i], outcome(TG_ARGV[i]);
	END LOOP;
	RETURN NULL;
END $$;
CREATE TRIGGER meanwhile AFTER DELETE ON beside FOR EACH ROW WHEN (old.id = 10)
	EXECUTE FUNCTION meanwhile('SELECT cuckoo_follow_fold(''top_id_filter'')', 'SELECT cuckoo_follow_rebuild(''top_id_filter'')', 'TRUNCATE top CASCADE');
UPDATE top SET id = id + 100 WHERE id IN (1, 7);
SELECT regexp_replace(state(f, 'top', c), ', .* in the log', '') FROM (VALUES ('top_id_filter'::regclass, 'id'::name), ('top_parent_filter', 'parent')) AS s (f, c);
DELETE FROM top WHERE id = 3;
SELECT regexp_replace(state(f, 'top', c), ', .* in the log', '') FROM (VALUES ('top_id_filter'::regclass, 'id'::name), ('top_parent_filter', 'parent')) AS s (f, c);
DELETE FROM top;
SELECT cuckoo_follow_fold('top_id_filter') > 0 AS folded, cuckoo_follow_fold('top_parent_filter') > 0 AS folded;
SELECT state(f, 'top', c) FROM (VALUES ('top_id_filter'::regclass, 'id'::name), ('top_parent_filter', 'parent')) AS s (f, c);

-- The rows of a cascade from another table are deleted and their events done,
-- but not all removals are written yet.
CREATE TABLE cause (id integer PRIMARY KEY);
CREATE TABLE effect (id integer PRIMARY KEY, cause integer REFERENCES cause ON DELETE CASCADE);
CREATE TABLE other_effect (id integer, cause integer REFERENCES cause ON DELETE CASCADE);
INSERT INTO cause VALUES (1);
INSERT INTO effect SELECT i, 1 FROM generate_series(1, 5) AS i;
INSERT INTO other_effect VALUES (10, 1);
SELECT cuckoo_follow('effect', 'id');
CREATE TRIGGER meanwhile AFTER DELETE ON other_effect FOR EACH ROW
	EXECUTE FUNCTION meanwhile('SELECT cuckoo_follow_fold(''effect_id_filter'')', 'SELECT cuckoo_follow_rebuild(''effect_id_filter'')', 'TRUNCATE effect');
DELETE FROM cause;
SELECT state('effect_id_filter', 'effect', 'id');
SELECT cuckoo_follow_fold('effect_id_filter');
DROP TABLE top, top_id_filter, top_parent_filter, beside, cause, effect, effect_id_filter, other_effect;

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

-- A column that a trigger computes from another
CREATE TABLE plain (email text, lower text);
SELECT cuckoo_follow('plain', 'lower'), cuckoo_follow('plain', 'email');
CREATE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.lower := lower(NEW.email); RETURN NEW; END';
CREATE TRIGGER lowered BEFORE INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION lowered();
INSERT INTO plain VALUES ('A');
UPDATE plain SET email = 'B';
SELECT state('plain_lower_filter', 'plain', 'lower'), state('plain_email_filter', 'plain', 'email');
SELECT cuckoo_follow_contains('plain_lower_filter', 'b'), cuckoo_follow_contains('plain_email_filter', 'B'), cuckoo_follow_contains('plain_email_filter', 'b');

---- TRUNCATE
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
-- Other triggers may fill the table again before ours.
CREATE TABLE refilled (k integer, l integer);
INSERT INTO refilled VALUES (1, 1);
SELECT cuckoo_follow('refilled', 'k'), cuckoo_follow('refilled', 'l');
CREATE FUNCTION refill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO scratch.refilled VALUES (2, 2), (3, NULL); RETURN NULL; END';
CREATE TRIGGER after_truncate AFTER TRUNCATE ON refilled EXECUTE FUNCTION refill();
TRUNCATE refilled;
SELECT k, cuckoo_follow_contains('refilled_k_filter', k), cuckoo_follow_contains('refilled_l_filter', l) FROM refilled;
SELECT state('refilled_k_filter', 'refilled', 'k'), state('refilled_l_filter', 'refilled', 'l'), cuckoo_follow_contains('refilled_k_filter', 1);
DROP TRIGGER after_truncate ON refilled;
-- Many rows after TRUNCATE go to the base.
BEGIN;
TRUNCATE refilled;
INSERT INTO refilled SELECT i, i FROM generate_series(1, 12000) AS i;
COMMIT;
SELECT state('refilled_k_filter', 'refilled', 'k');
DROP TABLE refilled;
-- TRUNCATE does not build what is not built.
CREATE TABLE unbuilt (k integer);
SELECT cuckoo_follow('unbuilt', 'k', build => false);
TRUNCATE unbuilt;
SELECT outcome($$SELECT cuckoo_follow_contains('unbuilt_k_filter', 1)$$);
-- (in a parallel plan, too)
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT cuckoo_follow_contains('unbuilt_k_filter', count(*)::integer) FROM members;
ROLLBACK;
DROP TABLE unbuilt;

---- Renames, and what is refused
ALTER TABLE members RENAME email TO mail;
ALTER TABLE members RENAME TO people;
ALTER TABLE members_email_filter RENAME TO known;
CREATE SCHEMA follow_other;
ALTER TABLE known SET SCHEMA follow_other;
ALTER TABLE people SET SCHEMA follow_other;
SET search_path = follow_other, scratch, public;
UPDATE people SET mail = 'third' WHERE id = 2;
SELECT cuckoo_follow_fold('known');
SELECT cuckoo_follow_rebuild('known');
SELECT state('known', 'people', 'mail'), cuckoo_follow_contains('known', 'third');
SELECT split_part(outcome(command), ' | ', 2) FROM unnest(ARRAY['ALTER TABLE people ALTER mail TYPE varchar', 'ALTER TABLE people DROP mail']) AS command;
-- DROP TABLE stops following.  The other triggers are used again.
DROP TABLE known;
INSERT INTO people (id, mail) VALUES (3, 'not followed');
SELECT cuckoo_follow('people', 'mail');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'people'::regclass AND tgname LIKE 'cuckoo%' ORDER BY tgname COLLATE "C";
SELECT state('people_mail_filter', 'people', 'mail');
-- cuckoo_unfollow drops them, too, with the last filter table.
SELECT cuckoo_follow('people', 'id');
SELECT * FROM cuckoo_follow_list();
SELECT cuckoo_unfollow('people_mail_filter'), cuckoo_unfollow('members_region_filter');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'people'::regclass AND tgname LIKE 'cuckoo%';
INSERT INTO people VALUES (4, 'x'), (5, 'y');
SELECT state('people_id_filter', 'people', 'id');
SELECT cuckoo_unfollow('people_id_filter');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'people'::regclass AND tgname LIKE 'cuckoo%';
-- It refuses in a statement that uses the table.  DROP TABLE there stops following.
CREATE TABLE stopped (k integer);
CREATE TABLE stops (k integer);
SELECT cuckoo_follow('stopped', 'k');
CREATE TRIGGER stops AFTER INSERT ON stops FOR EACH ROW EXECUTE FUNCTION meanwhile('SELECT cuckoo_unfollow(''stopped_k_filter'')', 'DROP TABLE stopped_k_filter');
WITH first AS (INSERT INTO stops VALUES (1) RETURNING k) INSERT INTO stopped SELECT k FROM first;
SELECT k, to_regclass('stopped_k_filter') FROM stopped;
SELECT cuckoo_follow('stopped', 'k');
CREATE TRIGGER z_stops AFTER INSERT ON stopped FOR EACH ROW WHEN (new.k = 2) EXECUTE FUNCTION meanwhile('SELECT cuckoo_unfollow(''stopped_k_filter'')', 'DROP TABLE stopped_k_filter');
INSERT INTO stopped VALUES (2), (3), (4);
INSERT INTO stopped VALUES (1), (2), (3);
SELECT string_agg(k::text, ' '), to_regclass('stopped_k_filter') FROM stopped;
DROP TABLE stopped, stops;
-- Names of triggers that are taken
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER cuckoo_follow_insert AFTER INSERT ON people FOR EACH ROW EXECUTE FUNCTION nothing();
ALTER TABLE people ADD CONSTRAINT cuckoo_follow_update CHECK (id > 0) NOT VALID;
SELECT cuckoo_follow('people', 'mail');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'people'::regclass AND tgname LIKE 'cuckoo%' ORDER BY tgname COLLATE "C";
SELECT state('people_mail_filter', 'people', 'mail');
-- The filter table goes with the followed table.
DROP TABLE people;
SELECT to_regclass('people_mail_filter');
SET search_path = scratch, public;

---- Every key type: nothing is missing after changes and after a fold
CREATE DOMAIN short AS varchar(9);
CREATE TABLE samples (key_type text, sample text);
INSERT INTO samples SELECT t, 'i::text::' || t FROM unnest('{smallint,integer,bigint,oid,xid8,real,double precision,numeric,money,text,varchar(7),char(7),name,bytea,short}'::text[]) AS t
UNION ALL VALUES ('boolean', 'i % 2 = 0'), ('"char"', 'chr(65 + i)'), ('bit(8)', 'i::bit(8)'), ('varbit', 'i::bit(9)::varbit'), ('uuid', 'md5(i::text)::uuid'), ('jsonb', 'to_jsonb(i)'),
	('date', $$'2020-01-01'::date + i$$), ('time', $$'0:00'::time + i * '1 s'::interval$$), ('timetz', $$'0:00 UTC'::timetz + i * '1 s'::interval$$),
	('timestamp', $$'2020-01-01'::timestamp + i * '1 h'::interval$$), ('timestamptz', $$'2020-01-01 UTC'::timestamptz + i * '1 h'::interval$$), ('interval', $$i * '1 h'::interval$$),
	('inet', $$'10.0.0.0'::inet + i$$), ('cidr', $$set_masklen('10.0.0.0'::inet + i, 32)::cidr$$), ('macaddr', $$('08:00:2b:01:02:' || lpad(to_hex(i), 2, '0'))::macaddr$$),
	('macaddr8', $$('08:00:2b:01:02:03:04:' || lpad(to_hex(i), 2, '0'))::macaddr8$$), ('pg_lsn', $$('0/' || to_hex(i))::pg_lsn$$), ('integer[]', 'ARRAY[i]'), ('text[]', 'ARRAY[i::text]'),
	('int4range', 'int4range(i, i + 2)'), ('int4multirange', 'int4multirange(int4range(i, i + 2))');
CREATE FUNCTION followed(key_type text, sample text, OUT result text, OUT not_found integer) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE typed (i integer, k %s)', key_type);
	PERFORM cuckoo_follow('typed', 'k');
	EXECUTE format('INSERT INTO typed SELECT i, %s FROM generate_series(1, 20) AS i', sample);
	EXECUTE format('UPDATE typed SET k = %s WHERE i > 15', replace(sample, 'i ', '(i + 20) '));
	DELETE FROM typed WHERE i < 5;
	result := left(state('typed_k_filter', 'typed', 'k'), 9);
	PERFORM cuckoo_follow_fold('typed_k_filter');
	not_found := (SELECT count(*) FROM typed WHERE NOT cuckoo_follow_contains('typed_k_filter', k));
	DROP TABLE typed, typed_k_filter;
END $$;
SELECT result, not_found, count(*) FROM samples, followed(key_type, sample) GROUP BY 1, 2;

---- What is refused
CREATE FUNCTION outcomes(VARIADIC queries text[]) RETURNS TABLE (query text, outcome text) LANGUAGE sql AS 
	$$SELECT q, regexp_replace(outcome(q), ' \| Failing row .*', '') FROM unnest(queries) AS q$$;
CREATE TABLE root (k integer) PARTITION BY LIST (k);
CREATE VIEW seen AS SELECT 1 AS k;
CREATE TABLE computed (k text, low text GENERATED ALWAYS AS (lower(k)) STORED);
CREATE TABLE other (id integer, k integer, j json, p point);
INSERT INTO other SELECT i, i / 8 FROM generate_series(8, 8007) AS i;
-- The types of the second table have hashes that DDL can change: ALTER TYPE
-- would lose keys.
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE TYPE pair AS (a integer, b text);
CREATE TYPE colors AS RANGE (subtype = color);
CREATE DOMAIN shade AS color;
CREATE TABLE altered (a color, b pair, c color[], d pair[], e colors, f colors_multirange[], g shade);
SELECT call, outcome(format('SELECT cuckoo_follow(%s)', call)) FROM unnest(ARRAY[$$'root', 'k'$$, $$'seen', 'k'$$, $$'other', 'absent'$$, $$'other', 'ctid'$$, $$'other', 'j'$$, $$'other', 'k'$$,
	$$'altered', 'a'$$, $$'altered', 'b'$$, $$'altered', 'c'$$, $$'altered', 'd'$$, $$'altered', 'e'$$, $$'altered', 'f'$$, $$'altered', 'g'$$,
	$$'computed', 'low'$$, $$'other', 'id', NULL, 0.5$$, $$'other', 'id', -1, 0.001$$, $$'other', 'id', 1e9, 2e-8$$, $$NULL, 'id'$$]) AS call;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT outcome($$SELECT cuckoo_follow('other', 'id')$$);
ROLLBACK;
SELECT cuckoo_follow('other', 'id', build => false);
SELECT * FROM outcomes($$SELECT cuckoo_follow('other', 'id')$$, $$SELECT cuckoo_follow_contains('other_id_filter', 8)$$, $$SELECT cuckoo_follow_filter('other_id_filter')$$,
	$$SELECT cuckoo_follow_fold('other_id_filter')$$, $$SELECT cuckoo_follow_check('other_id_filter')$$);
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT outcome($$SELECT cuckoo_follow_rebuild('other_id_filter')$$);
ROLLBACK;
SELECT cuckoo_follow_rebuild('other_id_filter');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT outcome($$SELECT cuckoo_follow_fold('other_id_filter')$$);
ROLLBACK;
BEGIN READ ONLY;
SELECT outcome($$SELECT cuckoo_follow_fold('other_id_filter')$$);
ROLLBACK;
SELECT * FROM outcomes($$SELECT cuckoo_follow_fold(1)$$, $$SELECT cuckoo_follow(1, 'k')$$, $$SELECT cuckoo_follow_contains(1, 8)$$, $$SELECT cuckoo_follow_contains('other', 8)$$, $$SELECT cuckoo_follow_fold('seen')$$, $$SELECT cuckoo_follow_contains('other_id_filter', 'a text')$$,
	$$SELECT (cuckoo_follow_contains(NULL, 8), cuckoo_follow_fold(NULL), cuckoo_follow_rebuild(NULL), cuckoo_follow_filter(NULL))$$);
-- SQL that writes to a filter table, but not for replicas.
CREATE TABLE other_copy AS TABLE other_id_filter;
SELECT * FROM outcomes('INSERT INTO other_id_filter SELECT hash + 1, n, delta FROM other_copy', 'UPDATE other_id_filter SET delta = -1 WHERE n = 5', 'DELETE FROM other_id_filter WHERE n <> 0',
	'TRUNCATE other_id_filter', 'TRUNCATE other, other_id_filter', 'MERGE INTO other_id_filter USING other_copy AS c ON false WHEN NOT MATCHED THEN INSERT VALUES (c.hash, c.n, c.delta)');
COPY other_id_filter (hash, n, delta) FROM stdin;
1	1	1
\.
DROP TABLE other_copy;
SET session_replication_role = replica;
-- In a statement that changes the log, or the filter itself
BEGIN;
INSERT INTO other VALUES (9, 9);
WITH changed AS (DELETE FROM other_id_filter WHERE n <> 0 RETURNING 1)
	SELECT (SELECT count(*) FROM changed), cuckoo_follow_fold('other_id_filter');
ROLLBACK;
WITH changed AS (UPDATE other_id_filter SET delta = 1 WHERE n = 0 RETURNING 1)
	SELECT (SELECT count(*) FROM changed), cuckoo_follow_fold('other_id_filter');
RESET session_replication_role;
-- Inside a statement on the table
CREATE TRIGGER fold_inside AFTER INSERT ON other FOR EACH STATEMENT EXECUTE FUNCTION meanwhile('SELECT cuckoo_follow_fold(''other_id_filter'')');
INSERT INTO other VALUES (1, 1);
DROP TRIGGER fold_inside ON other;
-- A filter that was replaced by hand: with another capacity and seed, of another
-- key type, an unset one, an empty one
INSERT INTO other VALUES (2, 2);
SET session_replication_role = replica;
CREATE FUNCTION replaced(f cuckoofilter, VARIADIC queries text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	UPDATE other_id_filter SET f = replaced.f WHERE hash = 0 AND n = 0;
	RETURN QUERY SELECT o.outcome FROM outcomes(VARIADIC queries) AS o;
END $$;
SELECT what, replaced(f, $$SELECT cuckoo_follow_fold('other_id_filter')$$, $$SELECT cuckoo_follow_filter('other_id_filter')$$, $$SELECT cuckoo_follow_check('other_id_filter')$$,
	$$SELECT cuckoo_follow_contains('other_id_filter', 2)$$)
FROM (VALUES (1, 'seed', cuckoo_from_array(ARRAY[1], 10, 0.001, 5)), (2, 'unset', (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)), (3, 'empty', cuckoo_new()),
	(4, 'key type', cuckoo_from_array(ARRAY['1'])), (5, 'not removable', (SELECT cuckoo_stream_agg(i, 10) FROM generate_series(1, 3) AS i))) AS v (n, what, f) ORDER BY n;
-- Arrays have a signature, too.
CREATE TABLE listed (k integer[]);
SELECT cuckoo_follow('listed', 'k');
UPDATE listed_k_filter SET f = cuckoo_new() + ARRAY['1'];
SELECT outcome($$SELECT cuckoo_follow_fold('listed_k_filter')$$);
DROP TABLE listed;
-- A statement does not add to such a base.
INSERT INTO other SELECT i, i FROM generate_series(100001, 112000) AS i;
SELECT count(*) FROM other_id_filter WHERE f IS NULL;
DELETE FROM other WHERE id > 100000;
SELECT cuckoo_follow_rebuild('other_id_filter');
-- Without a base, and with one without a filter
DELETE FROM other_id_filter;
SELECT outcome($$SELECT cuckoo_follow_fold('other_id_filter')$$);
SELECT cuckoo_follow_rebuild('other_id_filter');
UPDATE other_id_filter SET f = NULL, delta = 1;
SELECT * FROM outcomes($$SELECT cuckoo_follow_contains('other_id_filter', 2)$$, $$SELECT cuckoo_follow_fold('other_id_filter')$$,
	$$SELECT (missing IS NULL, log_rows) FROM cuckoo_follow_check('other_id_filter')$$);
RESET session_replication_role;
SELECT cuckoo_follow_rebuild('other_id_filter'), state('other_id_filter', 'other', 'id');
-- Nothing can be added to a filter table: what could suppress or repeat a change
-- is an error at the next use, and all is well again without it.
CREATE FUNCTION nowhere() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TABLE referring (hash bigint, n bigint);
CREATE TABLE divided (LIKE other_id_filter) PARTITION BY RANGE (n);
CREATE FUNCTION added(made text, undone text, OUT outcome text, OUT everywhere boolean, OUT afterwards text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE made;
	outcome := (SELECT o.outcome FROM outcomes('INSERT INTO other VALUES (4, 4)') AS o);
	everywhere := (SELECT bool_and(o.outcome = added.outcome) FROM outcomes('TRUNCATE other', 'SELECT cuckoo_follow_fold(''other_id_filter'')',
		'SELECT cuckoo_follow_contains(''other_id_filter'', 2)', 'SELECT cuckoo_follow_filter(''other_id_filter'')', 'SELECT cuckoo_follow_check(''other_id_filter'')',
		'SELECT cuckoo_follow_rebuild(''other_id_filter'')', 'SELECT cuckoo_unfollow(''other_id_filter'')') AS o);
	EXECUTE undone;
	afterwards := state('other_id_filter', 'other', 'id');
END $$;
SELECT added.* FROM (VALUES
	(1, 'CREATE TRIGGER added BEFORE UPDATE ON other_id_filter FOR EACH ROW EXECUTE FUNCTION nowhere()', 'DROP TRIGGER added ON other_id_filter'),
	(2, 'CREATE TRIGGER z_added AFTER DELETE ON other_id_filter EXECUTE FUNCTION cuckoo_follow_change()', 'DROP TRIGGER z_added ON other_id_filter'),
	(2.1, 'DROP TRIGGER cuckoo_follow_write ON other_id_filter; CREATE TRIGGER added AFTER DELETE ON other_id_filter WHEN (pg_trigger_depth() < 9) EXECUTE FUNCTION cuckoo_follow_change()',
		'DROP TRIGGER added ON other_id_filter; SELECT cuckoo_follow_rebuild(''other_id_filter'')'),
	(2.2, 'DROP TRIGGER cuckoo_follow_write ON other_id_filter; CREATE TRIGGER added AFTER INSERT ON other_id_filter EXECUTE FUNCTION cuckoo_follow_change()',
		'DROP TRIGGER added ON other_id_filter; SELECT cuckoo_follow_rebuild(''other_id_filter'')'),
	(2.3, 'CREATE TRIGGER z_added BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON other_id_filter EXECUTE FUNCTION cuckoo_follow_change()', 'DROP TRIGGER z_added ON other_id_filter'),
	-- Citus makes such a trigger, without a constraint.
	(2.4, $$CREATE TRIGGER added BEFORE TRUNCATE ON other_id_filter EXECUTE FUNCTION nowhere(); UPDATE pg_trigger SET tgisinternal = true WHERE tgname = 'added'$$,
		$$UPDATE pg_trigger SET tgisinternal = false WHERE tgname = 'added'; DROP TRIGGER added ON other_id_filter$$),
	(2.5, $$CREATE OR REPLACE TRIGGER cuckoo_follow_refuse BEFORE INSERT OR UPDATE OF f OR DELETE OR TRUNCATE ON other_id_filter EXECUTE FUNCTION cuckoo_follow_change('scratch', 'other', 'id')$$,
		'DROP TRIGGER cuckoo_follow_refuse ON other_id_filter; SELECT cuckoo_follow_rebuild(''other_id_filter'')'),
	(3, 'CREATE RULE added AS ON UPDATE TO other_id_filter DO INSTEAD NOTHING', 'DROP RULE added ON other_id_filter'),
	(4, 'ALTER TABLE other_id_filter ENABLE ROW LEVEL SECURITY', 'ALTER TABLE other_id_filter DISABLE ROW LEVEL SECURITY'),
	(5, 'ALTER TABLE other_id_filter ADD COLUMN added text', 'ALTER TABLE other_id_filter DROP COLUMN added'),
	(6, 'ALTER TABLE other_id_filter ADD CONSTRAINT added CHECK (delta > 0)', 'ALTER TABLE other_id_filter DROP CONSTRAINT added'),
	(6.5, 'ALTER TABLE other_id_filter ADD CONSTRAINT added EXCLUDE USING btree (hash WITH =, n WITH =)', 'ALTER TABLE other_id_filter DROP CONSTRAINT added'),
	(7, 'ALTER TABLE referring ADD CONSTRAINT added FOREIGN KEY (hash, n) REFERENCES other_id_filter', 'ALTER TABLE referring DROP CONSTRAINT added'),
	(8, 'CREATE INDEX added ON other_id_filter (delta)', 'DROP INDEX added'),
	(9, 'CREATE UNIQUE INDEX added ON other_id_filter (hash, n) WHERE n > 0', 'DROP INDEX added'),
	(10, 'ALTER TABLE other_id_filter ALTER f SET NOT NULL', 'ALTER TABLE other_id_filter ALTER f DROP NOT NULL'),
	(11, 'ALTER TABLE divided ATTACH PARTITION other_id_filter FOR VALUES FROM (0) TO (1)', 'ALTER TABLE divided DETACH PARTITION other_id_filter'),
	(11.1, 'CREATE TABLE heir_of (LIKE other_id_filter); ALTER TABLE other_id_filter INHERIT heir_of', 'ALTER TABLE other_id_filter NO INHERIT heir_of; DROP TABLE heir_of'),
	(12, 'ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey', 'ALTER TABLE other_id_filter ADD PRIMARY KEY (hash, n)'),
	(13, 'ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey, ADD PRIMARY KEY (n) INCLUDE (hash)', 'ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey, ADD PRIMARY KEY (hash, n)'),
	(14, 'ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey, ADD PRIMARY KEY (hash, n) DEFERRABLE', 'ALTER TABLE other_id_filter DROP CONSTRAINT other_id_filter_pkey, ADD PRIMARY KEY (hash, n)'),
	(15, 'ALTER TABLE other_id_filter ALTER delta TYPE bigint', 'ALTER TABLE other_id_filter ALTER delta TYPE integer'),
	(16, 'ALTER TABLE other_id_filter ALTER f TYPE bytea USING f::bytea', 'ALTER TABLE other_id_filter ALTER f TYPE cuckoofilter USING f::cuckoofilter')
	) AS a (k, made, undone), added(made, undone) ORDER BY k;
-- A second index like that of the primary key, names and dropped columns do no harm.
ALTER TABLE other_id_filter RENAME delta TO change;
CREATE INDEX ON other_id_filter (hash, n);
INSERT INTO other VALUES (4, 4), (5, 5), (6, 6);
SELECT cuckoo_follow_contains('other_id_filter', 6), cuckoo_follow_fold('other_id_filter');
ALTER TABLE other_id_filter RENAME change TO delta;
SELECT state('other_id_filter', 'other', 'id');
-- Without its own trigger each row is written by itself, and lookups refuse.
SELECT * FROM outcomes('ALTER TABLE other_id_filter DISABLE TRIGGER cuckoo_follow_write', 'INSERT INTO other VALUES (4, 4), (5, 5), (6, 6)', $$SELECT state('other_id_filter', 'other', 'id')$$,
	$$SELECT cuckoo_follow_contains('other_id_filter', 2)$$, 'DROP TRIGGER cuckoo_follow_write ON other_id_filter', 'UPDATE other SET id = id + 10 WHERE id IN (4, 5, 6)',
	$$SELECT state('other_id_filter', 'other', 'id')$$, $$SELECT cuckoo_follow_rebuild('other_id_filter')$$, $$SELECT state('other_id_filter', 'other', 'id')$$);

-- Nor if SQL that writes to the filter table may not have been refused
SELECT * FROM outcomes('ALTER TABLE other_id_filter DISABLE TRIGGER cuckoo_follow_refuse', $$SELECT cuckoo_follow_contains('other_id_filter', 2)$$, $$SELECT cuckoo_follow_fold('other_id_filter')$$,
	$$SELECT cuckoo_follow_rebuild('other_id_filter')$$, $$SELECT cuckoo_follow_contains('other_id_filter', 2)$$, 'DELETE FROM other_id_filter',
	'DROP TRIGGER cuckoo_follow_refuse ON other_id_filter', $$SELECT state('other_id_filter', 'other', 'id')$$, $$SELECT cuckoo_follow_rebuild('other_id_filter')$$, 'DELETE FROM other_id_filter',
	'ALTER TRIGGER cuckoo_follow_refuse ON other_id_filter RENAME TO refuse', $$SELECT state('other_id_filter', 'other', 'id')$$,
	'DROP TRIGGER refuse ON other_id_filter; CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON other_id_filter EXECUTE FUNCTION cuckoo_follow_change()',
	$$SELECT cuckoo_follow_contains('other_id_filter', 2)$$, $$SELECT cuckoo_follow_rebuild('other_id_filter')$$, $$SELECT state('other_id_filter', 'other', 'id')$$);
SELECT tgname, tgenabled, tgtype, encode(tgargs, 'escape') FROM pg_trigger WHERE tgrelid = 'other_id_filter'::regclass ORDER BY tgname;

-- What a statement has collected is written before it ends, or the transaction
-- does not commit.
CREATE TABLE collects (k integer);
SELECT cuckoo_follow('collects', 'k');
CREATE FUNCTION within() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN EXECUTE tg_argv[0]; RETURN NULL; END';
CREATE TRIGGER z_within AFTER INSERT ON collects FOR EACH ROW WHEN (new.k = 3) EXECUTE FUNCTION within('DROP TRIGGER cuckoo_follow_write ON collects_k_filter');
INSERT INTO collects SELECT generate_series(1, 5);
BEGIN;
INSERT INTO collects SELECT generate_series(1, 5);
SELECT * FROM outcomes($$SELECT cuckoo_follow_contains('collects_k_filter', 5)$$, $$SELECT cuckoo_follow_rebuild('collects_k_filter')$$, 'TRUNCATE collects');
PREPARE TRANSACTION 'collects';
-- If a subtransaction collected it, that can be rolled back.
BEGIN;
SAVEPOINT a;
INSERT INTO collects SELECT generate_series(1, 5);
ROLLBACK TO a;
INSERT INTO collects VALUES (6), (7), (8);
SAVEPOINT b;
INSERT INTO collects SELECT generate_series(1, 5);
RELEASE b;
COMMIT;
SELECT state('collects_k_filter', 'collects', 'k');
BEGIN;
SAVEPOINT a;
INSERT INTO collects SELECT generate_series(1, 5);
ROLLBACK TO a;
INSERT INTO collects VALUES (6), (7), (8);
COMMIT;
SELECT state('collects_k_filter', 'collects', 'k');
-- A filter table that is dropped needs nothing, and others do not matter.
CREATE TABLE bystander (k integer);
INSERT INTO bystander VALUES (1);
SELECT cuckoo_follow('bystander', 'k');
CREATE TRIGGER y_within AFTER INSERT ON collects FOR EACH ROW WHEN (new.k = 13) EXECUTE FUNCTION within('SELECT cuckoo_follow_rebuild(''bystander_k_filter'')');
INSERT INTO collects SELECT generate_series(11, 15);
SELECT state('collects_k_filter', 'collects', 'k'), state('bystander_k_filter', 'bystander', 'k');
BEGIN;
INSERT INTO collects SELECT generate_series(1, 5);
DROP TABLE collects_k_filter CASCADE;
COMMIT;
SELECT count(*), to_regclass('collects_k_filter') FROM collects;
DROP TABLE collects, bystander;

---- Lookups are right, or an error
-- Tables and columns that are called otherwise than when they were followed: the
-- log goes on, but another table or column may have taken the place.
CREATE FUNCTION names(filter regclass) RETURNS TABLE (function text, outcome text) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT f, o.outcome FROM unnest(ARRAY['contains', 'filter', 'check']) AS f, outcomes(format('SELECT (cuckoo_follow_%s(%L%s)) IS NULL', f, filter, CASE f WHEN 'contains' THEN ', 1' ELSE '' END)) AS o;
END $$;
CREATE TABLE "a 'named' \ table" (k integer, "other" integer);
INSERT INTO "a 'named' \ table" VALUES (1, 1);
SELECT cuckoo_follow('"a ''named'' \ table"', 'k') AS named \gset
SELECT * FROM names(:'named');
ALTER TABLE "a 'named' \ table" RENAME TO "named";
SELECT * FROM names(:'named');
INSERT INTO named VALUES (2);
SELECT cuckoo_follow_fold(:'named');
-- It comes back.
ALTER TABLE named RENAME TO "a 'named' \ table";
SELECT cuckoo_follow_contains(:'named', 2) FROM names(:'named') WHERE outcome = 'false' GROUP BY 1 HAVING count(*) = 3;
ALTER TABLE "a 'named' \ table" RENAME TO named;
SELECT cuckoo_follow_rebuild(:'named');
SELECT state(:'named', 'named', 'k');
-- In one transaction, also the own one
BEGIN;
ALTER TABLE named RENAME TO named_old;
CREATE TABLE named (k bigint);
SELECT outcome FROM names(:'named') LIMIT 1;
SELECT outcome(format('SELECT cuckoo_follow_rebuild(%L)', :'named'));
SAVEPOINT a;
ALTER TABLE named_old DISABLE TRIGGER ALL;
ALTER TABLE "a 'named' \ table_k_filter" DISABLE TRIGGER ALL;
SELECT outcome(format('SELECT cuckoo_follow_rebuild(%L)', :'named'));
ROLLBACK TO a;
DROP TABLE named;
ALTER TABLE named_old RENAME TO named;
ALTER TABLE named RENAME k TO k_old;
ALTER TABLE named RENAME other TO k;
SELECT outcome FROM names(:'named') LIMIT 1;
SELECT outcome(format('SELECT cuckoo_follow_rebuild(%L)', :'named'));
ROLLBACK;
SELECT outcome FROM names(:'named');
-- Schemas: of the table alone, and renamed
CREATE SCHEMA named_schema;
ALTER TABLE named SET SCHEMA named_schema;
SELECT outcome FROM names(:'named');
ALTER SCHEMA scratch RENAME TO scratch_old;
ALTER SCHEMA named_schema RENAME TO scratch;
SELECT (missing, triggers_enabled) FROM cuckoo_follow_check(format('scratch_old.%s', :'named')::regclass);
ALTER SCHEMA scratch RENAME TO named_schema;
ALTER SCHEMA scratch_old RENAME TO scratch;
SELECT outcome FROM names(:'named') LIMIT 1;
SELECT cuckoo_unfollow(:'named');
DROP SCHEMA named_schema CASCADE;
-- A table that is dropped, and another one in its place
CREATE TABLE swapped (email text);
INSERT INTO swapped VALUES ('a');
SELECT cuckoo_follow('swapped', 'email');
BEGIN;
CREATE TABLE swapped_new (email text);
INSERT INTO swapped_new VALUES ('a'), ('new');
DROP TABLE swapped;
ALTER TABLE swapped_new RENAME TO swapped;
COMMIT;
SELECT cuckoo_follow_contains('swapped_email_filter', 'new');
DROP TABLE swapped;
-- A column that is dropped, and added again
CREATE TABLE dropped (id integer, k integer);
INSERT INTO dropped VALUES (1, 1);
SELECT cuckoo_follow('dropped', 'k');
ALTER TABLE dropped DROP COLUMN k CASCADE;
ALTER TABLE dropped ADD COLUMN k integer;
UPDATE dropped SET k = 77;
INSERT INTO dropped VALUES (2, 78), (3, 79);
DELETE FROM dropped WHERE id = 3;
TRUNCATE dropped;
SELECT * FROM outcomes($$SELECT cuckoo_follow_contains('dropped_k_filter', 77)$$, $$SELECT cuckoo_follow_filter('dropped_k_filter')$$, $$SELECT cuckoo_follow_fold('dropped_k_filter')$$,
	$$SELECT cuckoo_follow_rebuild('dropped_k_filter')$$, $$SELECT cuckoo_follow_check('dropped_k_filter')$$, $$SELECT cuckoo_unfollow('dropped_k_filter')$$, $$DROP TABLE dropped_k_filter$$,
	$$SELECT cuckoo_follow('dropped', 'k')$$, $$SELECT cuckoo_follow_contains('dropped_k_filter', 77)$$);
DROP TABLE dropped;
-- What ALTER FUNCTION sets does not stop the log.
CREATE TABLE linted (k integer);
SELECT cuckoo_follow('linted', 'k');
ALTER FUNCTION cuckoo_follow_change() SET search_path = pg_catalog;
INSERT INTO linted VALUES (1), (2);
SELECT state('linted_k_filter', 'linted', 'k'), cuckoo_follow_contains('linted_k_filter', 2);
ALTER FUNCTION cuckoo_follow_change() SECURITY DEFINER RESET ALL;
INSERT INTO linted VALUES (3), (4);
SELECT state('linted_k_filter', 'linted', 'k'), cuckoo_follow_contains('linted_k_filter', 4);
ALTER FUNCTION cuckoo_follow_change() SECURITY INVOKER;
SELECT state('linted_k_filter', 'linted', 'k');
DROP TABLE linted;
-- Triggers that were disabled and enabled again, as by a restore of data, or dropped
CREATE TABLE paused (k integer, l integer);
INSERT INTO paused VALUES (1, 1);
SELECT cuckoo_follow('paused', 'k'), cuckoo_follow('paused', 'l');
CREATE FUNCTION paused() RETURNS TABLE (lookups text) LANGUAGE sql AS $$
	SELECT c || ': ' || outcome(format('SELECT string_agg(cuckoo_follow_contains(%L, k)::text, '' '' ORDER BY k) FROM paused', 'paused_' || c || '_filter')) FROM unnest('{k,l}'::text[]) AS c
$$;
ALTER TABLE paused DISABLE TRIGGER ALL;
INSERT INTO paused VALUES (2, 2);
ALTER TABLE paused ENABLE TRIGGER ALL;
SELECT paused();
-- A rebuild for one column repairs nothing for the other.
SELECT cuckoo_follow_rebuild('paused_k_filter');
SELECT paused();
SELECT cuckoo_follow_rebuild('paused_l_filter');
DROP TRIGGER cuckoo_follow_insert ON paused;
INSERT INTO paused VALUES (3, 3);
SELECT paused();
SELECT cuckoo_follow_rebuild('paused_k_filter');
SELECT paused();
DROP TRIGGER cuckoo_follow_update2 ON paused;
UPDATE paused SET k = 4, l = 4 WHERE k = 3;
SELECT paused();
SELECT state('paused_k_filter', 'paused', 'k');
ALTER TRIGGER cuckoo_follow_update ON paused RENAME TO renamed;
ALTER TABLE paused RENAME TO paused_too;
ALTER TABLE paused_too RENAME TO paused;
SELECT paused();
-- Snapshots from before a repair, also by the same transaction
DROP TABLE paused_l_filter;
ALTER TABLE paused DISABLE TRIGGER ALL;
INSERT INTO paused VALUES (9, 9);
BEGIN;
DECLARE c CURSOR FOR SELECT cuckoo_follow_contains('paused_k_filter', 9);
SELECT cuckoo_follow_rebuild('paused_k_filter');
SELECT cuckoo_follow_contains('paused_k_filter', 9), outcome('FETCH c');
COMMIT;
ALTER TABLE paused DISABLE TRIGGER ALL;
SELECT cuckoo_follow_rebuild('paused_k_filter'), cuckoo_follow_filter('paused_k_filter') IS NULL;
SELECT cuckoo_follow_rebuild('paused_k_filter');
-- TRUNCATE without its trigger: what is gone is still found.
DROP TRIGGER cuckoo_follow_truncate ON paused;
TRUNCATE paused;
INSERT INTO paused VALUES (5, 5);
SELECT cuckoo_follow_contains('paused_k_filter', 1), missing, triggers_enabled FROM cuckoo_follow_check('paused_k_filter');
SELECT cuckoo_follow_rebuild('paused_k_filter');
SELECT cuckoo_follow_contains('paused_k_filter', 1), missing, triggers_enabled FROM cuckoo_follow_check('paused_k_filter');
DROP TABLE paused;
-- A trigger of another table that names the filter table changes nothing in it:
-- both tables cannot be written until it is gone, and then all is well.
CREATE TABLE a (k integer);
INSERT INTO a SELECT generate_series(1, 1000);
SELECT cuckoo_follow('a', 'k');
CREATE TABLE b (k integer);
INSERT INTO b SELECT generate_series(1, 500);
CREATE CONSTRAINT TRIGGER x AFTER UPDATE ON b FROM a_k_filter FOR EACH ROW WHEN (OLD.k IS DISTINCT FROM NEW.k) EXECUTE FUNCTION cuckoo_follow_change();
SELECT * FROM outcomes('UPDATE b SET k = k + 5000', 'DELETE FROM a WHERE k = 1', $$SELECT cuckoo_follow_contains('a_k_filter', 1)$$, 'DROP TRIGGER x ON b', 'UPDATE b SET k = k + 5000',
	$$SELECT cuckoo_follow_fold('a_k_filter')$$, $$SELECT state('a_k_filter', 'a', 'k')$$);
-- Neither do triggers like ours that do not log each change at once.
CREATE FUNCTION instead(kind text, VARIADIC made text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('DROP TRIGGER IF EXISTS cuckoo_follow_%s ON a', kind);
	EXECUTE format('CREATE CONSTRAINT TRIGGER x AFTER %s ON %s FROM a_k_filter %s EXECUTE FUNCTION cuckoo_follow_change()', made[1], made[2], made[3]);
	EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER x', made[2]);
	result := (SELECT string_agg(left(o.outcome, 60), ', ') FROM outcomes('SELECT cuckoo_follow_contains(''a_k_filter'', 2)', 'SELECT cuckoo_follow_rebuild(''a_k_filter'')') AS o);
	EXECUTE format('DROP TRIGGER x ON %s', made[2]);
	IF kind = 'insert' THEN PERFORM cuckoo_follow_rebuild('a_k_filter'); END IF;
	RETURN result;
END $$;
SELECT instead('insert', 'INSERT', 'b', 'FOR EACH ROW');
SELECT instead('insert', 'INSERT', 'a', 'DEFERRABLE FOR EACH ROW');
SELECT instead('insert', 'INSERT', 'a', 'FOR EACH ROW WHEN (NEW.k IS NOT NULL)');
SELECT instead('insert', 'INSERT OR DELETE', 'a', 'FOR EACH ROW');
SELECT state('a_k_filter', 'a', 'k');
ALTER TABLE a ADD l integer;
SELECT instead('update', 'UPDATE OF l', 'a', 'FOR EACH ROW WHEN (OLD.k IS DISTINCT FROM NEW.k)');
SELECT instead('update', 'UPDATE', 'a', 'FOR EACH ROW WHEN (' || condition || ')') FROM unnest('{OLD.k < NEW.k,OLD.k / 2 IS DISTINCT FROM NEW.k / 2,OLD.k IS DISTINCT FROM NEW.l,OLD.k IS DISTINCT FROM OLD.k,OLD.ctid IS DISTINCT FROM NEW.ctid}'::text[]) AS condition;
SELECT outcome($$SELECT cuckoo_follow_contains('a_k_filter', 2)$$);
DROP TABLE a, a_k_filter, b;
CREATE TABLE a (k varchar);
SELECT cuckoo_follow('a', 'k');
SELECT instead('update', 'UPDATE', 'a', 'FOR EACH ROW WHEN (' || condition || ')') FROM unnest('{OLD.k::bpchar IS DISTINCT FROM NEW.k::bpchar,OLD.k IS DISTINCT FROM NEW.k}'::text[]) AS condition;
DROP TABLE a, a_k_filter;
-- A filter table made by hand, for a table that has no rows of its own
CREATE TABLE made (LIKE other_id_filter INCLUDING ALL);
CREATE TRIGGER w AFTER DELETE ON made EXECUTE FUNCTION cuckoo_follow_change();
CREATE TABLE rooted (id integer) PARTITION BY LIST (id);
CREATE CONSTRAINT TRIGGER i AFTER INSERT ON rooted FROM made FOR EACH ROW EXECUTE FUNCTION cuckoo_follow_change();
CREATE CONSTRAINT TRIGGER d AFTER DELETE ON rooted FROM made FOR EACH ROW EXECUTE FUNCTION cuckoo_follow_change();
CREATE CONSTRAINT TRIGGER u AFTER UPDATE ON rooted FROM made FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION cuckoo_follow_change();
ALTER TABLE made ENABLE ALWAYS TRIGGER w;
ALTER TABLE rooted ENABLE ALWAYS TRIGGER i, ENABLE ALWAYS TRIGGER d, ENABLE ALWAYS TRIGGER u;
SELECT outcome($$SELECT cuckoo_follow_rebuild('made')$$);
DROP TABLE made, rooted;
-- What a session keeps for a followed column
CREATE FUNCTION kept(OUT columns bigint, OUT small boolean) LANGUAGE sql AS
	$$SELECT count(*), coalesce(sum(total_bytes) < count(*) * 5000, true) FROM pg_backend_memory_contexts WHERE name = 'followed column'$$;
CREATE FUNCTION many(command text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. 50 LOOP EXECUTE replace(command, '#', i::text); END LOOP; END $$;
SELECT many('CREATE TABLE many# (k integer)'), many($$SELECT cuckoo_follow('many#', 'k')$$);
SELECT many('INSERT INTO many# VALUES (1)');
SELECT columns >= 50 AS all_kept, small FROM kept();
SELECT many('DROP TABLE many#');
SELECT cuckoo_follow_contains('other_id_filter', 2);
SELECT columns < 10 AS freed FROM kept();

-- Triggers that are called or created in another way.  Created a second time
-- they would count every change twice.
SELECT outcome('SELECT cuckoo_follow_change()');
CREATE FUNCTION tried(tbl regclass, made text, VARIADIC queries text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s EXECUTE FUNCTION cuckoo_follow_change()', made);
	RETURN QUERY SELECT o.outcome FROM outcomes(VARIADIC queries) AS o;
	EXECUTE format('DROP TRIGGER again ON %s', tbl);
END $$;
CREATE TABLE crafted (id integer, k integer);
INSERT INTO crafted VALUES (1, 1);
SELECT made, tried(tbl, made, VARIADIC queries) FROM (VALUES
	('crafted'::regclass, 'TRIGGER again BEFORE INSERT ON crafted FOR EACH ROW', ARRAY['INSERT INTO crafted VALUES (1, 1)']),
	('crafted', 'TRIGGER again AFTER INSERT OR UPDATE ON crafted FOR EACH STATEMENT', ARRAY['INSERT INTO crafted VALUES (1, 1)']),
	('crafted', 'CONSTRAINT TRIGGER again AFTER UPDATE ON crafted FROM other_id_filter FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.k)', ARRAY['UPDATE crafted SET k = 2']),
	('crafted', 'CONSTRAINT TRIGGER again AFTER UPDATE ON crafted FROM other_id_filter FOR EACH ROW WHEN (OLD.id < NEW.id)', ARRAY['UPDATE crafted SET id = id + 1']),
	('crafted', 'CONSTRAINT TRIGGER again AFTER UPDATE ON crafted FROM other_id_filter FOR EACH ROW', ARRAY['UPDATE crafted SET id = id + 1', 'SELECT cuckoo_follow_fold(''other_id_filter'')']),
	('crafted', 'CONSTRAINT TRIGGER again AFTER UPDATE ON crafted FROM other FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id)', ARRAY['UPDATE crafted SET id = id + 1']),
	('crafted', 'CONSTRAINT TRIGGER again AFTER UPDATE ON crafted FROM other_id_filter FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id)', ARRAY['UPDATE crafted SET id = id + 1', $$SELECT cuckoo_follow_fold('other_id_filter')$$]),
	('other', 'CONSTRAINT TRIGGER again AFTER UPDATE ON other FROM other_id_filter FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id)',
		ARRAY['UPDATE other SET id = -id WHERE id = 100', 'DELETE FROM other WHERE id = 100', $$SELECT cuckoo_follow_rebuild('other_id_filter')$$]),
	('other', 'TRIGGER again AFTER DELETE ON other FOR EACH ROW', ARRAY['DELETE FROM other WHERE id = 100']),
	('other', 'CONSTRAINT TRIGGER again AFTER INSERT OR DELETE ON other FROM other_id_filter DEFERRABLE FOR EACH ROW WHEN (pg_trigger_depth() < 9)', ARRAY['INSERT INTO other VALUES (3, 3)', $$SELECT cuckoo_follow_fold('other_id_filter')$$])
) AS v (tbl, made, queries);
SELECT state('other_id_filter', 'other', 'id');
DROP TABLE crafted;
CREATE TABLE made AS TABLE other_id_filter WITH NO DATA;
CREATE VIEW viewed AS SELECT * FROM made;
CREATE TABLE crafted (id integer);
CREATE CONSTRAINT TRIGGER a AFTER UPDATE ON crafted FROM viewed FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION cuckoo_follow_change();
SELECT * FROM outcomes($$SELECT cuckoo_follow_rebuild('made')$$, $$SELECT cuckoo_follow_check('viewed')$$, $$SELECT cuckoo_follow_fold('viewed')$$);
DROP TABLE made, crafted CASCADE;
-- A filter table cannot be followed.  Triggers that are not in order: a fold
-- cannot know what is missing.
SELECT * FROM outcomes($$SELECT cuckoo_follow('other_id_filter', 'hash')$$, 'ALTER TABLE other DISABLE TRIGGER ALL', 'INSERT INTO other VALUES (3, 3)', 'ALTER TABLE other ENABLE TRIGGER ALL',
	$$SELECT state('other_id_filter', 'other', 'id')$$, $$SELECT cuckoo_follow_fold('other_id_filter')$$, $$SELECT cuckoo_follow_rebuild('other_id_filter')$$,
	$$SELECT state('other_id_filter', 'other', 'id')$$, 'DROP TRIGGER cuckoo_follow_delete ON other', $$SELECT triggers_enabled FROM cuckoo_follow_check('other_id_filter')$$,
	$$SELECT cuckoo_follow_rebuild('other_id_filter')$$, $$SELECT state('other_id_filter', 'other', 'id')$$);

-- A rebuild with other parameters, and one when keys repeat
SELECT cuckoo_follow_rebuild('other_id_filter', 50000, 0.01);
SELECT target_fpr, capacity FROM other_id_filter, cuckoo_info(f) WHERE f IS NOT NULL;
UPDATE other SET id = id / 8;
SELECT cuckoo_follow_rebuild('other_id_filter');
SELECT target_fpr, capacity FROM other_id_filter, cuckoo_info(f) WHERE f IS NOT NULL;

---- Writing to a log does not use the writer's search path
CREATE SCHEMA trap;
CREATE FUNCTION trap.sprung(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'sprung'; RETURN 0; END $$;
CREATE FUNCTION trap.sprung(bigint, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'sprung'; RETURN true; END $$;
CREATE OPERATOR trap.+ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.sprung);
CREATE OPERATOR trap.= (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = trap.sprung);
CREATE OPERATOR trap.<> (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = trap.sprung);
CREATE FUNCTION trap.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 0::bigint';
CREATE TABLE lured (k integer);
SELECT cuckoo_follow('lured', 'k');
BEGIN;
SET LOCAL search_path = trap, pg_catalog, scratch, public;
INSERT INTO lured SELECT i FROM generate_series(1::integer, 12000::integer) AS i;
UPDATE lured SET k = -k WHERE k OPERATOR(pg_catalog.<) 100;
TRUNCATE lured;
INSERT INTO lured VALUES (1), (2), (3);
SELECT cuckoo_follow_fold('lured_k_filter'), cuckoo_follow_contains('lured_k_filter', 3);
SELECT cuckoo_follow_rebuild('lured_k_filter');
SELECT * FROM cuckoo_follow_list() WHERE filter_table OPERATOR(pg_catalog.=) 'lured_k_filter'::regclass::oid;
SELECT missing, triggers_enabled FROM cuckoo_follow_check('lured_k_filter');
COMMIT;
DROP SCHEMA trap CASCADE;
DROP TABLE lured, lured_k_filter;

---- Rights
\set VERBOSITY sqlstate
CREATE ROLE regress_cuckoo_owner;
CREATE ROLE regress_cuckoo_clerk;
GRANT USAGE, CREATE ON SCHEMA scratch TO regress_cuckoo_owner, regress_cuckoo_clerk;
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
-- It cannot write to the filter table by a trigger on a table of its own, either,
-- even if it may create one.
CREATE TABLE mine (id integer);
CREATE CONSTRAINT TRIGGER a AFTER UPDATE ON mine FROM owned_k_filter FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION cuckoo_follow_change();
RESET ROLE;
GRANT TRIGGER, INSERT ON owned_k_filter TO regress_cuckoo_clerk;
SET ROLE regress_cuckoo_clerk;
CREATE CONSTRAINT TRIGGER a AFTER UPDATE ON mine FROM owned_k_filter FOR EACH ROW WHEN (OLD.id IS DISTINCT FROM NEW.id) EXECUTE FUNCTION cuckoo_follow_change();
INSERT INTO mine VALUES (1);
UPDATE mine SET id = 2;
RESET ROLE;
INSERT INTO owned VALUES (103, 103);
SELECT cuckoo_follow_fold('owned_k_filter');
DROP TABLE mine;
REVOKE TRIGGER, INSERT ON owned_k_filter FROM regress_cuckoo_clerk;
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
SELECT cuckoo_follow_fold('briefly_k_filter'), cuckoo_follow_rebuild('briefly_k_filter'), state('briefly_k_filter', 'briefly', 'k');

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
SET LOCAL search_path = scratch;
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

DROP SCHEMA scratch, follow_other CASCADE;
DROP ROLE regress_cuckoo_owner, regress_cuckoo_clerk;
DROP EXTENSION cuckoo_follow CASCADE;
