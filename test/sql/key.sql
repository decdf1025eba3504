-- Keys: which values have equal or different hashes, the hashes themselves, and
-- what is refused
--
-- The hashes below are part of the format: they never change.  They were not
-- taken from this code's output: another program computed them from
-- docs/format.md, with another build of xxHash.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET lc_monetary = 'C';

-- The two hashes, of seed 0 and of 0x0123456789ABCDEF.
CREATE FUNCTION hashes(value anycompatible) RETURNS text LANGUAGE sql AS
$$SELECT lpad(to_hex(cuckoo_hash(value, 0)), 16, '0') || ' ' ||
	lpad(to_hex(cuckoo_hash(value, 81985529216486895)), 16, '0')$$;

-- Whether two values, perhaps of two types, have equal hashes
CREATE FUNCTION same(a anyelement, b anycompatible) RETURNS boolean LANGUAGE sql AS
$$SELECT cuckoo_hash(a, 0) = cuckoo_hash(b, 0)$$;

-- The error that hashing an expression raises.
CREATE FUNCTION refusal(expression text) RETURNS text LANGUAGE sql
	RETURN regexp_replace(outcome('SELECT cuckoo_hash(' || expression || ', 0)'), '^-?\d+$', 'no error');

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE temper AS ENUM ('hot', 'ok', 'sad');
CREATE TYPE pair AS (number integer, word text);
CREATE DOMAIN small AS integer CHECK (VALUE < 100);
CREATE DOMAIN smaller AS small;
CREATE DOMAIN numbers AS integer[];
CREATE DOMAIN couple AS pair;
CREATE DOMAIN feeling AS mood;
CREATE DOMAIN span AS int4range;

---- Golden hashes: every key type, then every length class of XXH3
SELECT value, outcome('SELECT hashes(' || value || ')') AS hashes FROM
	regexp_split_to_table($$0::smallint; 1::smallint; (-1)::integer; 1::bigint; 9223372036854775807; (-9223372036854775808); 4294967295::oid; true; false; 'x'::"char";
	'cuckoo'::text; 'cuckoo'::varchar(9); 'cuckoo'::char(9); 'cuckoo'::name; '\x00ff'::bytea; B''; B'101'; '1010000011'::varbit; 1.5::real; 0.1::real;
	0.1::float8; '-0'::float8; 'NaN'::float8; '-Infinity'::float8; '0'::numeric; '1'::numeric; '-1'::numeric; '10000'::numeric; '0.0001'::numeric;
	'123456789.000012'::numeric; '-98765.4321'::numeric; '1e-130'::numeric; '1e200'::numeric; 'NaN'::numeric; 'Infinity'::numeric; '-Infinity'::numeric;
	(12.34)::numeric::money; 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid; '2000-01-01'::date; '1969-07-20'::date; 'infinity'::date; '-infinity'::date;
	'13:14:15.000016'::time; '13:14:15+02'::timetz; '2013-08-01 12:00:00'::timestamp; 'infinity'::timestamp; '2013-08-01 12:00:00+00'::timestamptz;
	'-infinity'::timestamptz; '1 mon 2 days 03:04:05'::interval; '-1 mon -00:00:01'::interval; '178000000 years 25:00'::interval; '192.168.1.5/24'::inet;
	'10.0.0.0/8'::cidr; '2001:db8::1'::inet; '08:00:2b:01:02:03'::macaddr; '08:00:2b:01:02:03:04:05'::macaddr8; '16/B374D848'::pg_lsn;
	'18446744073709551615'::xid8; 'sad'::mood; 'null'::jsonb; 'true'::jsonb; '1.50'::jsonb; '"a"'::jsonb; '[]'::jsonb; '{}'::jsonb;
	'[1, [true, "b"], null]'::jsonb; '{"b": 1, "aa": {"x": []}, "a": [false, -2.5e3]}'::jsonb; '{}'::integer[]; '{1,NULL,3}'::integer[];
	'[0:1][5:6]={{a,b},{c,""}}'::text[]; array['1 mon'::interval]; array[row(1, 'a'::text), row(2, null::text)]; row(1, 'a'::text, null::date);
	row(row(), array[true]); 'empty'::int4range; '[1,5)'::int4range; '(,)'::int8range; '(1.5,]'::numrange; '(1.0,2.50]'::numrange; '{}'::int4multirange;
	'{[1,3),[7,)}'::int4multirange$$, ';\s+') AS value;

SELECT length, hashes(left(repeat('abcdefghijklmnopqrstuvwxyz', 4000), length)) AS text,
	hashes(substr(decode(repeat((SELECT string_agg(lpad(to_hex(i), 2, '0'), '' ORDER BY i) FROM generate_series(0, 255) i), 400), 'hex'), 1, length)) AS bytea
FROM unnest('{0,1,2,3,4,7,8,9,15,16,17,32,33,64,65,96,97,127,128,129,160,191,192,240,241,255,256,512,1023,1024,1025,4096,100000}'::integer[]) AS length;

---- Equal values that are written or stored differently have equal hashes; unequal
---- ones that are written or stored alike have different hashes
SELECT comparison FROM regexp_split_to_table($$7::smallint = 7 = 7::bigint = 7::oid = 7::small = 7::smaller; (-7)::smallint = -7 = (-7)::bigint; 4294967295::oid = 4294967295;
	'a'::text = 'a' = 'a'::varchar = 'a'::varchar(5) = 'a'::name = 'a '::char(2) = 'a'::char(9); '   '::char(3) = ''::text; ' a b'::char(9) = ' a b'::text;
	B'1010' = '1010'::varbit; 1.5::real = 1.5::float8; 'NaN'::real = 'NaN'::float8 = -'NaN'::float8; '-0'::real = 0::float8; 1.5::numeric(10,5) = 1.5;
	'10.0.0.0/8'::cidr = '10.0.0.0/8'::inet; '10.1.2.3'::inet = '10.1.2.3/32'::cidr; '::1'::inet = '0:0:0:0:0:0:0:1/128'::inet;
	'2020-01-01 00:00+00'::timestamptz = '2020-01-01 05:30+05:30'::timestamptz; 'sad'::mood = 'sad'::temper = 'sad'::feeling;
	'A0EEBC999C0B4EF8BB6D6BB9BD380A11'::uuid = '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid;
	'{1}'::smallint[] = '{1}'::integer[] = '{1}'::bigint[] = '{1}'::small[] = '{1}'::numbers = '[1:1]={1}'::integer[]; '{1.0,NULL}'::numeric[] = '{1.00,NULL}'::numeric[];
	'{a}'::text[] = '{a}'::varchar[] = '{a}'::name[] = '{a}'::char(3)[]; '{}'::integer[] = array_remove('[5:5]={1}'::integer[], 1); '1 2'::int2vector = '[0:1]={1,2}'::smallint[];
	ROW(1, 'a'::text) = ROW(1, 'a') = ROW(1, 'a')::pair = ROW(1, 'a')::couple; ROW('a', ROW(NULL, '')) = ROW('a'::text, ROW(NULL::text, ''::text));
	ROW(1.0, '-0'::float8, 'a'::char(3)) = ROW(1.00, 0::float8, 'a'::char(5)); ROW(7::small, 'sad'::feeling, '{1}'::numbers) = ROW(7, 'sad'::mood, '{1}'::integer[]);
	ARRAY[ROW(1, 'a'::text)] = ARRAY[ROW(1, 'a')::pair] = ARRAY[ROW(1, 'a')::pair]::record[];
	'[1,5)'::int4range = '[1,4]'::int4range = '[1,5)'::int8range = '[1,5)'::span; '[1.0,2]'::numrange = '[1.00,2.0]'::numrange; 'empty'::int4range = '[3,3)'::int4range;
	'{}'::int4multirange = '{empty}'::int4multirange;
	'5'::text <> '5'::bytea <> 5 <> '5'::"char"; 'sad'::text <> 'sad'::mood; true <> '\001'::"char"; 1 <> 1.0 <> 1::float8 <> '1'::xid8 <> '{1}'::integer[] <> '1'::jsonb;
	'2000-01-01'::timestamp <> '2000-01-01 00:00+00'::timestamptz <> '2000-01-01'::date; 1.5::float8 <> 1.5; 0.1::real <> 0.1::float8;
	'a'::text <> 'a '::text <> ' a'::char(3) <> E'a\t'::char(3) <> 'A'::text; 'a'::text <> 'a '::varchar; ' a b'::char(9) <> 'ab'::text;
	B'0' <> B'00' <> B'00000001' <> B'000000010'; '24:00'::time <> '00:00'::time; '08:00:2b:01:02:03'::macaddr <> '08:00:2b:01:02:03'::macaddr8;
	'{NULL}'::text[] <> '{""}'::text[] <> '{}'::text[]; '{ab,c}'::text[] <> '{a,bc}'::text[]; '{a}'::text[] <> '{a}'::bytea[];
	ARRAY['{1}'::numbers, '{}'::numbers] <> ARRAY['{}'::numbers, '{1}'::numbers]; ROW(NULL::text, 'a'::text) <> ROW('a'::text, NULL::text);
	ROW() <> ROW(NULL::integer) <> ROW(NULL::text) <> ROW(''::text) <> ROW('5'::text) <> ROW('5'::bytea); ROW('ab'::text, 'c'::text) <> ROW('a'::text, 'bc'::text);
	ROW(1, 2) <> ROW(ROW(1, 2)) <> ROW(ROW(1), 2) <> ROW(1, ROW(2)); '[1,2)'::numrange <> '[1,2]'::numrange <> '(1,2)'::numrange <> '(,1)'::numrange <> '(1,)'::numrange;
	'[2020-01-01,infinity)'::daterange <> '[2020-01-01,)'::daterange; '[1,5)'::int4range <> '{[1,5)}'::int4multirange <> '[2000-01-02,2000-01-06)'::daterange$$, ';\s+') AS comparison,
	LATERAL (SELECT count(*) AS values, count(DISTINCT hash) AS hashes, bool_and(hash ~ '^-?\d+$') AS all_hashed
		FROM regexp_split_to_table(comparison, ' (=|<>) ') AS value, outcome('SELECT cuckoo_hash(' || value || ')') AS hash) AS h
WHERE NOT (all_hashed AND values > 1 AND hashes = CASE WHEN comparison ~ ' = ' THEN 1 ELSE values END);

-- A seed of its own gives other hashes, and NULL has none.
SELECT cuckoo_hash(1, 0) <> cuckoo_hash(1, 1) AS seeded,
	cuckoo_hash(NULL::integer, 0) IS NULL AS of_null;

-- Hashes are equal exactly if SQL says equal, for all pairs of values that are
-- hard to distinguish.
CREATE FUNCTION disagreements(list anyarray) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM generate_subscripts(list, 1) AS i, generate_subscripts(list, 1) AS j
	WHERE (list[i] = list[j]) <> (cuckoo_hash(list[i], 0) = cuckoo_hash(list[j], 0))
$$;
SELECT
	disagreements('{0,-0,0.0,1,1.0,10,10.00,1e4,10000.0000,1e-4,0.00010,-1,-1.0,1e8,100000000.0,99999999,0.99999999,9999.9999,1e-8,NaN,Infinity,-Infinity,'
		'123456789012345678901234567890,123456789012345678901234567890.0,1234,0.1234,1.5,-1.5}'::numeric[])
	AS numeric, disagreements('{0,-0,1,-1,1e-300,NaN,Infinity,-Infinity}'::float8[]) AS float,
	disagreements('{"1 mon","30 days","29 days 24:00","1 mon 1 us","30 days 1 us","-1 mon","-30 days","-1 us","-1 day 23:59:59.999999","1 year","12 mons","360 days","365 days",0,'
		'"1 mon -30 days","1 day -24:00","-720:00","178000000 years","-178000000 years","2147483647 days","-2147483648 days","1 day","-1 day","1 us","29 days","1 mon -1 day",'
		'"-29 days -00:00:01","-1 mon 1 day -00:00:01"}'::interval[])
	AS interval,
	disagreements(ARRAY['1', '1.0', '[1]', '[1.00]', '[[1]]', '[]', '{}', 'null', '[null]', '""', '"null"', 'true', 'false', '{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}',
	'{"a": {"b": 2}}', '{"a": 1, "bb": 2, "c": 3}', '{"c": 3, "bb": 2, "a": 1.0}', '[1, [2, {"a": []}], 3]', '[1, [2, {"a": {}}], 3]', '[1, [2, {"a": []}, 3]]',
		'"1"', '"true"', '[1, 2]', '[2, 1]', '[[1], 2]', '[[1, 2]]', '[[]]', '{"a": {"b": 1}}', '{"b": {"a": 1}}', '{"a": "bc"}', '{"ab": "c"}', '{"a": 2, "b": 1}',
		'"a"', '"\u0061"', '{"a": 1, "bb": 2, "a": 3}', '{"bb": 2, "a": 3}']::jsonb[]) AS jsonb,
	disagreements('{10.0.0.0,10.0.0.0/32,10.0.0.0/8,10.0.0.1/8,::,::/0,0.0.0.0/0,::ffff:10.0.0.0,10.0.0.0/9,1.2.3.4,::102:304}'::inet[]) AS inet,
	disagreements('{a,"a ","a  "," a","",  "  "}'::char(4)[]) AS char,
	disagreements('{00:00+00,24:00+00,01:00+01,23:00-01,00:00-00}'::timetz[]) AS timetz,
	disagreements(ARRAY['[1,2]', '(0,3)', '[1,3)', '(,3)', '[,2]', '(0,)', '[1,)', 'empty', '(1,2)', '(,)']::int4range[]) AS range,
	disagreements(ARRAY['{[1,2],[3,4]}', '{[1,5)}', '{}', '{(,)}', '{[1,2),[3,4)}', '{[1,)}', '{[1,2),[3,)}']::int4multirange[]) AS multirange,
	disagreements(ARRAY[ROW(1, 1.0, 'a'::char(2)), ROW(1, 1.00, 'a '::char(2)), ROW(1, NULL::numeric, 'a'::char(2)), ROW(NULL::integer, 1.0, 'a'::char(2)), ROW(1, 1.01, 'a'::char(2))]) AS record,
	disagreements(ARRAY['{1,2}', '[0:1]={1,2}', '[1:2]={1,2}', '{2,1}', '{}', '{{1,2}}', '{{1},{2}}', '{NULL,1}', '{1,NULL}', '{NULL}']::numbers[]) AS "array";

---- Rows are hashed by the row type that the value has now
-- Record types alternate from one row to the next.
SELECT count(DISTINCT hash), bool_and(hash = (ARRAY[cuckoo_hash(ROW(i)), cuckoo_hash(ROW(i::text)), cuckoo_hash(ROW(i, i::text)), cuckoo_hash(ROW(i::numeric)), cuckoo_hash(ROW(i,
	ROW(i::text)))])[i % 5 + 1]) AS right
FROM (SELECT i, cuckoo_hash(CASE i % 5 WHEN 0 THEN ROW(i) WHEN 1 THEN ROW(i::text) WHEN 2 THEN ROW(i, i::text) WHEN 3 THEN ROW(i::numeric) ELSE ROW(i, ROW(i::text)) END) AS hash
	FROM generate_series(1, 100) AS i OFFSET 0) AS hashed;

-- A named row type changes between two values at one call site.
CREATE TYPE changing AS (a integer);
CREATE FUNCTION make(change text, value text) RETURNS changing LANGUAGE plpgsql AS $$
DECLARE
	made changing;
BEGIN
	EXECUTE 'ALTER TYPE changing ' || change;
	EXECUTE 'SELECT ' || value INTO made;
	RETURN made;
END $$;
SELECT change, cuckoo_hash(make(change, value)) = outcome(format('SELECT cuckoo_hash(ROW(%s))', value))::bigint AS right
FROM (VALUES (1, 'OWNER TO CURRENT_USER', '5'), (2, 'ADD ATTRIBUTE b text', '5, ''x''::text'), (3, 'DROP ATTRIBUTE a', '''x''::text'), (4, 'ALTER ATTRIBUTE b TYPE bigint',
	'7::bigint')) AS v (n, change, value) ORDER BY n;

-- The same inside an array or row: the signature follows, so that keys of two
-- row types are never added to one filter.
SELECT query, outcome(format('SELECT %s FROM (VALUES (''OWNER TO CURRENT_USER'', ''7''), (''ADD ATTRIBUTE c text'', ''7, NULL'')) AS v (change, value)', query))
FROM unnest(ARRAY['cuckoo_agg(ARRAY[NULL, make(change, value)])', 'cuckoo_agg(ROW(ARRAY[NULL, make(change, value)]))']) AS query;

CREATE DOMAIN changing_rows AS changing[];
CREATE FUNCTION rows(change text, value text) RETURNS changing_rows[] LANGUAGE sql AS 'SELECT ARRAY[ARRAY[make(change, value)]::changing_rows]';
SELECT change, cuckoo_contains_each(cuckoo_from_array(rows(change, value)), rows('OWNER TO CURRENT_USER', value)) AS found
FROM (VALUES ('OWNER TO CURRENT_USER', '7'), ('ADD ATTRIBUTE c text', '7, NULL')) AS v (change, value);

-- Dropped columns do not count, and columns added later have their default
-- value.
CREATE TABLE altered (a integer, gone date, b text);
INSERT INTO altered VALUES (1, '2020-01-01', 'x');
SELECT same(altered, ROW(1, '2020-01-01'::date, 'x'::text)) FROM altered;
ALTER TABLE altered DROP COLUMN gone;
ALTER TABLE altered ADD COLUMN c integer DEFAULT 5;
SELECT same(altered, ROW(1, 'x'::text, 5)) FROM altered;
-- A trigger sees the old row as it is stored, without the column.
CREATE FUNCTION compare() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''same: %'', same(OLD, ROW(1, ''x''::text, 5)); RETURN NEW; END';
CREATE TRIGGER compare BEFORE UPDATE ON altered FOR EACH ROW EXECUTE FUNCTION compare();
UPDATE altered SET a = 2;

-- Since 15.20 PostgreSQL marks rows with the version of their type, and refuses
-- those of another one.  A row that an older release stored has no mark, in bits
-- 0x0C00 of its infomask.  It is treated as by PostgreSQL's own functions.
CREATE FUNCTION raw(pair) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION from_raw(bytea) RETURNS pair LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION unmarked(bytea) RETURNS pair LANGUAGE sql
	RETURN from_raw(set_byte(set_byte($1, 16, get_byte($1, 16) & ~12), 17, get_byte($1, 17) & ~12));
CREATE TABLE old_rows AS SELECT raw(ROW(1, 'a')) AS r;
SELECT value, outcome(format('SELECT cuckoo_hash(%s) IS NULL FROM old_rows', value)) = outcome(format('SELECT (%s)::text IS NULL FROM old_rows', value)) AS same
FROM unnest('{from_raw(r),unmarked(r),ROW(unmarked(r)),ARRAY[unmarked(r)]}'::text[]) AS value;

---- Compressed, toasted and short values hash like the plain value
CREATE TABLE stored (how text, t text, b bytea, n numeric, v varbit, i inet, j jsonb, a text[], p pair, r numrange, m int8multirange);
CREATE FUNCTION long(size integer) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(CASE WHEN size < 0 THEN 'same' ELSE md5(i::text) END, '') FROM generate_series(1, abs(size)) AS i$$;
CREATE FUNCTION sample(size integer) RETURNS stored LANGUAGE sql AS $$
	SELECT ROW(NULL, long(size), long(size)::bytea,
		translate(long(size), 'abcdefsm', '12345678')::numeric / 7,
		('x' || translate(long(size), 'sm', '12'))::bit(2000)::varbit, '10.0.0.1/8'::inet,
		jsonb_build_object('k', long(size), 'n', 1.50), ARRAY[long(size), NULL, 'b'],
		ROW(1, long(size))::pair, numrange(1, 2.50),
		(SELECT range_agg(int8range(i * 3, i * 3 + 1)) FROM generate_series(1, abs(size)) AS i))::stored
$$;
INSERT INTO stored (SELECT 'short', t, b, n, v, i, j, a, p, r, m FROM sample(1));
INSERT INTO stored (SELECT 'compressed', t, b, n, v, i, j, a, p, r, m FROM sample(-2000));
ALTER TABLE stored ALTER t SET STORAGE external, ALTER b SET STORAGE external, ALTER j SET STORAGE external,
	ALTER a SET STORAGE external, ALTER p SET STORAGE external, ALTER m SET STORAGE external;
INSERT INTO stored (SELECT 'toasted', t, b, n, v, i, j, a, p, r, m FROM sample(300));
SELECT stored.how, pg_column_size(stored.t) < octet_length(stored.t) AS smaller,
	same(stored.t, s.t) AND same(stored.b, s.b) AND same(stored.n, s.n) AND same(stored.v, s.v)
	AND same(stored.i, s.i) AS scalars,
	same(stored.j, s.j) AS jsonb, same(stored.a, s.a) AS "array", same(stored.p, s.p) AS row,
	same(stored.r, s.r) AS range, same(stored.m, s.m) AS multirange,
	same(stored, ROW(stored.how, s.t, s.b, s.n, s.v, s.i, s.j, s.a, s.p, s.r, s.m)) AS "table row"
FROM stored, LATERAL sample(CASE stored.how WHEN 'short' THEN 1 WHEN 'compressed' THEN -2000 ELSE 300 END) AS s
ORDER BY stored.how;

-- Deep and large values: we have no limits of our own.
SELECT refusal($$(repeat('[', 1000) || repeat(']', 1000))::jsonb$$) AS deep,
	refusal('array_fill(1.5, ARRAY[100000])') AS long;

-- The date of a timestamptz depends on TimeZone, unless its zone is written.
SET TimeZone = 'UTC';
CREATE TABLE instants AS SELECT '2026-01-01 00:30:00Z'::timestamptz + i * interval '8 hours' AS at FROM generate_series(0, 8) AS i;
CREATE TABLE dates AS SELECT cuckoo_agg(at::date) AS here, cuckoo_agg((at AT TIME ZONE 'UTC')::date) AS utc FROM instants;
SET TimeZone = 'America/New_York';
SELECT count(*) FILTER (WHERE NOT here @> at::date) AS missed, count(*) FILTER (WHERE NOT utc @> (at AT TIME ZONE 'UTC')::date) AS missed_in_utc FROM instants, dates;
RESET TimeZone;

---- What cannot be a key
CREATE TABLE collated (c text COLLATE "C", p text COLLATE "POSIX");
INSERT INTO collated VALUES ('a', 'b');
-- A nondeterministic collation without ICU: only its flag matters.
CREATE COLLATION folding FROM "C";
SET allow_system_table_mods = on;
UPDATE pg_collation SET collisdeterministic = false
	WHERE collname = 'folding' AND collnamespace = 'scratch'::regnamespace;
RESET allow_system_table_mods;
CREATE DOMAIN folded AS text COLLATE folding;
CREATE TYPE folded_row AS (n integer, t text COLLATE folding);
CREATE TYPE folded_range AS RANGE (subtype = text, collation = folding, multirange_type_name = folded_multirange);
CREATE TYPE plain_range AS RANGE (subtype = text, collation = "C");
CREATE TYPE pattern_range AS RANGE (subtype = text, subtype_opclass = text_pattern_ops, multirange_type_name = pattern_multirange);
CREATE TYPE odd_row AS (n integer, p point);
CREATE DOMAIN odd AS json;

SELECT expression, refusal(expression) AS error FROM unnest(ARRAY[
	-- types
	$$'{}'::json$$, $$'(0,0)'::point$$, $$'((0,0),(1,1))'::box$$, $$'a'::tsvector$$, $$'a'::tsquery$$,
	$$'5'::xid$$, $$'pg_class'::regclass$$, $$'{}'::odd$$,
	$$'{"(0,0)"}'::point[]$$, $$'{}'::json[]$$, $$'{}'::odd[]$$, $$ROW(1, '{}'::json)$$,
	$$ROW(1, '(0,0)')::odd_row$$, $$ARRAY[ROW(1, '(0,0)')::odd_row]$$, $$ROW(ROW('{}'::json))$$,
	-- filters
	$$cuckoo_new()$$, $$ARRAY[cuckoo_new()]$$,
	-- nondeterministic collations
	$$'a'::text COLLATE folding$$, $$'a'::varchar COLLATE folding$$, $$'a'::char(3) COLLATE folding$$, $$'a'::name COLLATE folding$$,
	$$'a'::folded$$, $$'{a}'::text[] COLLATE folding$$, $$'{a}'::folded[]$$, $$ROW(1, 'a')::folded_row$$,
	$$ROW('a'::text COLLATE folding)$$, $$ARRAY[ROW('a'::text COLLATE folding)]$$, $$'[a,b]'::folded_range$$, $$'{[a,b]}'::folded_multirange$$,
	-- no collation
	$$c || p) FROM collated; --$$, $$ARRAY[c || p]) FROM collated; --$$, $$ROW(c || p)) FROM collated; --$$,
	-- operator classes
	$$'[a,b]'::pattern_range$$, $$'{[a,b]}'::pattern_multirange$$,
	-- what is accepted
	$$'a'::text COLLATE "C"$$, $$'a'::text COLLATE "POSIX"$$, $$'{a}'::text[] COLLATE "POSIX"$$, $$'[a,b]'::plain_range$$
]) AS expression;

-- A refused row leaves nothing behind.  PL/pgSQL keeps the state of the check of a
-- variable's domain also after an error that it catches.
CREATE TYPE one AS (n integer);
CREATE DOMAIN checked AS one CHECK ((VALUE).n IS NULL OR
	cuckoo_hash(CASE WHEN (VALUE).n < 3 THEN ROW((VALUE).n) ELSE ROW((VALUE).n, '{}'::json) END) = cuckoo_hash(ROW((VALUE).n)));
DO $$
DECLARE
	v checked;
BEGIN
	v.n := 1;
	BEGIN
		v.n := 3;
		RAISE 'not refused';
	EXCEPTION WHEN feature_not_supported THEN
	END;
	v.n := 2;
END $$;

-- Another type is not a filter, whatever its name.
CREATE TYPE cuckoofilter AS ENUM ('a');
SELECT refusal($$'a'::scratch.cuckoofilter$$);
DROP TYPE cuckoofilter;

---- Shards
-- Golden values, because users store shards in tables.
SELECT i, cuckoo_shard(i, 1) AS one, cuckoo_shard(i, 2) AS two, cuckoo_shard(i, 10) AS ten, cuckoo_shard(i, 1000) AS thousand,
	cuckoo_shard(i, 2147483647) AS most, cuckoo_shard(i::text, 1000) AS of_text
FROM generate_series(1, 5) AS i;

-- Every shard gets its share, within four standard deviations.
SELECT min(shard), max(shard), count(*) AS shards, max(abs(keys - 10000)) < 4 * sqrt(10000) AS even
FROM (SELECT cuckoo_shard(i, 10) AS shard, count(*) AS keys FROM generate_series(1, 100000) AS i GROUP BY 1) AS shards;

-- The keys of one shard are spread over the hashes with seed 0.
SELECT count(*) FILTER (WHERE cuckoo_hash(i, 0) < 0) BETWEEN 4700 AND 5300 AS spread
FROM generate_series(1, 100000) AS i WHERE cuckoo_shard(i, 10) = 3;
