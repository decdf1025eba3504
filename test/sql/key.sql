--
-- Keys: which values have equal or different hashes, the hashes themselves, and
-- what is refused
--
-- The hashes below are part of the format: they never change.  They were not
-- taken from this code's output: another program computed them from
-- docs/format.md, with another build of xxHash.
--
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET lc_monetary = 'C';
SET extra_float_digits = 1;

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

--
-- Golden hashes: every key type, then every length class of XXH3
--
SELECT value, hashes FROM (VALUES
	(1, $$0::smallint$$, hashes(0::smallint)),
	(2, $$1::smallint$$, hashes(1::smallint)),
	(3, $$(-1)::integer$$, hashes((-1)::integer)),
	(4, $$1::bigint$$, hashes(1::bigint)),
	(5, $$9223372036854775807$$, hashes(9223372036854775807)),
	(6, $$(-9223372036854775808)$$, hashes((-9223372036854775808))),
	(7, $$4294967295::oid$$, hashes(4294967295::oid)),
	(8, $$true$$, hashes(true)),
	(9, $$false$$, hashes(false)),
	(10, $$'x'::"char"$$, hashes('x'::"char")),
	(11, $$'cuckoo'::text$$, hashes('cuckoo'::text)),
	(12, $$'cuckoo'::varchar(9)$$, hashes('cuckoo'::varchar(9))),
	(13, $$'cuckoo'::char(9)$$, hashes('cuckoo'::char(9))),
	(14, $$'cuckoo'::name$$, hashes('cuckoo'::name)),
	(15, $$'\x00ff'::bytea$$, hashes('\x00ff'::bytea)),
	(16, $$B''$$, hashes(B'')),
	(17, $$B'101'$$, hashes(B'101')),
	(18, $$'1010000011'::varbit$$, hashes('1010000011'::varbit)),
	(19, $$1.5::real$$, hashes(1.5::real)),
	(20, $$0.1::real$$, hashes(0.1::real)),
	(21, $$0.1::float8$$, hashes(0.1::float8)),
	(22, $$'-0'::float8$$, hashes('-0'::float8)),
	(23, $$'NaN'::float8$$, hashes('NaN'::float8)),
	(24, $$'-Infinity'::float8$$, hashes('-Infinity'::float8)),
	(25, $$'0'::numeric$$, hashes('0'::numeric)),
	(26, $$'1'::numeric$$, hashes('1'::numeric)),
	(27, $$'-1'::numeric$$, hashes('-1'::numeric)),
	(28, $$'10000'::numeric$$, hashes('10000'::numeric)),
	(29, $$'0.0001'::numeric$$, hashes('0.0001'::numeric)),
	(30, $$'123456789.000012'::numeric$$, hashes('123456789.000012'::numeric)),
	(31, $$'-98765.4321'::numeric$$, hashes('-98765.4321'::numeric)),
	(32, $$'1e-130'::numeric$$, hashes('1e-130'::numeric)),
	(33, $$'1e200'::numeric$$, hashes('1e200'::numeric)),
	(34, $$'NaN'::numeric$$, hashes('NaN'::numeric)),
	(35, $$'Infinity'::numeric$$, hashes('Infinity'::numeric)),
	(36, $$'-Infinity'::numeric$$, hashes('-Infinity'::numeric)),
	(37, $$(12.34)::numeric::money$$, hashes((12.34)::numeric::money)),
	(38, $$'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid$$, hashes('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)),
	(39, $$'2000-01-01'::date$$, hashes('2000-01-01'::date)),
	(40, $$'1969-07-20'::date$$, hashes('1969-07-20'::date)),
	(41, $$'infinity'::date$$, hashes('infinity'::date)),
	(42, $$'-infinity'::date$$, hashes('-infinity'::date)),
	(43, $$'13:14:15.000016'::time$$, hashes('13:14:15.000016'::time)),
	(44, $$'13:14:15+02'::timetz$$, hashes('13:14:15+02'::timetz)),
	(45, $$'2013-08-01 12:00:00'::timestamp$$, hashes('2013-08-01 12:00:00'::timestamp)),
	(46, $$'infinity'::timestamp$$, hashes('infinity'::timestamp)),
	(47, $$'2013-08-01 12:00:00+00'::timestamptz$$, hashes('2013-08-01 12:00:00+00'::timestamptz)),
	(48, $$'-infinity'::timestamptz$$, hashes('-infinity'::timestamptz)),
	(49, $$'1 mon 2 days 03:04:05'::interval$$, hashes('1 mon 2 days 03:04:05'::interval)),
	(50, $$'-1 mon -00:00:01'::interval$$, hashes('-1 mon -00:00:01'::interval)),
	(51, $$'178000000 years 25:00'::interval$$, hashes('178000000 years 25:00'::interval)),
	(52, $$'192.168.1.5/24'::inet$$, hashes('192.168.1.5/24'::inet)),
	(53, $$'10.0.0.0/8'::cidr$$, hashes('10.0.0.0/8'::cidr)),
	(54, $$'2001:db8::1'::inet$$, hashes('2001:db8::1'::inet)),
	(55, $$'08:00:2b:01:02:03'::macaddr$$, hashes('08:00:2b:01:02:03'::macaddr)),
	(56, $$'08:00:2b:01:02:03:04:05'::macaddr8$$, hashes('08:00:2b:01:02:03:04:05'::macaddr8)),
	(57, $$'16/B374D848'::pg_lsn$$, hashes('16/B374D848'::pg_lsn)),
	(58, $$'18446744073709551615'::xid8$$, hashes('18446744073709551615'::xid8)),
	(59, $$'sad'::mood$$, hashes('sad'::mood)),
	(60, $$'null'::jsonb$$, hashes('null'::jsonb)),
	(61, $$'true'::jsonb$$, hashes('true'::jsonb)),
	(62, $$'1.50'::jsonb$$, hashes('1.50'::jsonb)),
	(63, $$'"a"'::jsonb$$, hashes('"a"'::jsonb)),
	(64, $$'[]'::jsonb$$, hashes('[]'::jsonb)),
	(65, $$'{}'::jsonb$$, hashes('{}'::jsonb)),
	(66, $$'[1, [true, "b"], null]'::jsonb$$, hashes('[1, [true, "b"], null]'::jsonb)),
	(67, $$'{"b": 1, "aa": {"x": []}, "a": [false, -2.5e3]}'::jsonb$$, hashes('{"b": 1, "aa": {"x": []}, "a": [false, -2.5e3]}'::jsonb)),
	(68, $$'{}'::integer[]$$, hashes('{}'::integer[])),
	(69, $$'{1,NULL,3}'::integer[]$$, hashes('{1,NULL,3}'::integer[])),
	(70, $$'[0:1][5:6]={{a,b},{c,""}}'::text[]$$, hashes('[0:1][5:6]={{a,b},{c,""}}'::text[])),
	(71, $$array['1 mon'::interval]$$, hashes(array['1 mon'::interval])),
	(72, $$array[row(1, 'a'::text), row(2, null::text)]$$, hashes(array[row(1, 'a'::text), row(2, null::text)])),
	(73, $$row(1, 'a'::text, null::date)$$, hashes(row(1, 'a'::text, null::date))),
	(74, $$row(row(), array[true])$$, hashes(row(row(), array[true]))),
	(75, $$'empty'::int4range$$, hashes('empty'::int4range)),
	(76, $$'[1,5)'::int4range$$, hashes('[1,5)'::int4range)),
	(77, $$'(,)'::int8range$$, hashes('(,)'::int8range)),
	(78, $$'(1.5,]'::numrange$$, hashes('(1.5,]'::numrange)),
	(79, $$'(1.0,2.50]'::numrange$$, hashes('(1.0,2.50]'::numrange)),
	(80, $$'{}'::int4multirange$$, hashes('{}'::int4multirange)),
	(81, $$'{[1,3),[7,)}'::int4multirange$$, hashes('{[1,3),[7,)}'::int4multirange))
) AS golden (n, value, hashes) ORDER BY n;

SELECT length, hashes(left(repeat('abcdefghijklmnopqrstuvwxyz', 4000), length)) AS text,
	hashes(substr(decode(repeat((SELECT string_agg(lpad(to_hex(i), 2, '0'), '' ORDER BY i) FROM generate_series(0, 255) i), 400), 'hex'), 1, length)) AS bytea
FROM unnest('{0,1,2,3,4,7,8,9,15,16,17,32,33,64,65,96,97,127,128,129,160,191,192,240,241,255,256,512,1023,1024,1025,4096,100000}'::integer[]) AS length;

--
-- Equal values that print or are stored differently have equal hashes
--
SELECT what FROM (VALUES
	('widths of integer', same(7::smallint, 7::bigint) AND same(7, 7::bigint) AND same(7::oid, 7)),
	('negative widths', same((-7)::smallint, (-7)::bigint) AND same(-7, (-7)::bigint)),
	('oid is unsigned', same(4294967295::oid, 4294967295)),
	('domains over integer', same(7::small, 7) AND same(7::smaller, 7)),
	('text types', same('a'::varchar, 'a'::text) AND same('a'::name, 'a'::text) AND same('a'::varchar(5), 'a'::text)),
	('untyped literal is text', cuckoo_hash('5', 0) = cuckoo_hash('5'::text, 0)),
	('padding of char(n)', same('a '::char(2), 'a'::char(9)) AND same('a'::char(9), 'a'::text)),
	('char(n) of blanks only', same('   '::char(3), ''::text)),
	('inner and leading blanks count', NOT same(' a b'::char(9), 'ab'::text) AND same(' a b'::char(9), ' a b'::text)),
	('bit and varbit', same(B'1010', '1010'::varbit)),
	('real and double precision', same(1.5::real, 1.5::float8) AND same('NaN'::real, 'NaN'::float8)),
	('minus zero', same('-0'::float8, 0::float8) AND same('-0'::real, 0::float8)),
	('not a number', same('NaN'::float8, 'Infinity'::float8 - 'Infinity'::float8 + 'NaN'::float8)),
	('scale of numeric', same(1.0, 1.00) AND same(1.0, 1e0) AND same(10000, 1e4::integer) AND same(100000000.00, 1e8)),
	('zero of numeric', same(0.000, 0::numeric) AND same(-0.0, 0::numeric)),
	('numeric with and without scale', same(1.5::numeric(10,5), 1.5)),
	('month of 30 days', same('1 mon'::interval, '30 days'::interval) AND same('1 mon'::interval, '720:00:00'::interval)),
	('day of 24 hours', same('1 day -24:00'::interval, '0'::interval) AND same('-1 day'::interval, '-24:00'::interval)),
	('mixed signs', same('1 mon -1 day'::interval, '29 days'::interval) AND same('-1 mon 1 day -00:00:01'::interval, '-29 days -00:00:01'::interval)),
	('cidr and inet', same('10.0.0.0/8'::cidr, '10.0.0.0/8'::inet) AND same('10.1.2.3'::inet, '10.1.2.3/32'::cidr)),
	('notations of IPv6', same('::1'::inet, '0:0:0:0:0:0:0:1/128'::inet)),
	('zone of timestamptz', same('2020-01-01 00:00+00'::timestamptz, '2020-01-01 05:30+05:30'::timestamptz)),
	('notations of uuid', same('A0EEBC999C0B4EF8BB6D6BB9BD380A11'::uuid, '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid)),
	('label in two enums', same('sad'::mood, 'sad'::temper) AND same('sad'::feeling, 'sad'::mood)),
	('scale in jsonb', same('1.0'::jsonb, '1.00'::jsonb) AND same('{"a": [1]}'::jsonb, '{"a": [1.0]}'::jsonb)),
	('keys of jsonb', same('{"a": 1, "bb": 2, "a": 3}'::jsonb, '{"bb": 2, "a": 3}'::jsonb)),
	('escapes of jsonb', same('"\u0061"'::jsonb, '"a"'::jsonb)),
	('elements of arrays', same('{1.0,NULL}'::numeric[], '{1.00,NULL}'::numeric[]) AND same('{1}'::smallint[], '{1}'::bigint[])),
	('text arrays', same('{a}'::char(3)[], '{a}'::text[]) AND same('{a}'::varchar[], '{a}'::text[]) AND same('{a}'::name[], '{a}'::text[])),
	('default bounds of arrays', same('[1:2]={3,4}'::integer[], '{3,4}'::integer[])),
	('arrays without elements', same('{}'::integer[], array_remove('[5:5]={1}'::integer[], 1))),
	('arrays and domains', same('{1,2}'::small[], '{1,2}'::integer[]) AND same('{1,2}'::numbers, '{1,2}'::integer[])),
	('arrays of arrays', same(ARRAY['{1}'::numbers, '{}'::numbers], ARRAY['{1}'::numbers, '{}'::numbers])),
	('int2vector and its array', same('1 2'::int2vector, '[0:1]={1,2}'::smallint[])),
	('rows', same(ROW(1, 'a'::text), ROW(1, 'a'::text)::pair) AND same(ROW(1, 'a'::text)::couple, ROW(1, 'a'::text))),
	('literals in rows', same(ROW(1, 'a'), ROW(1, 'a'::text)) AND same(ROW(1, 'a'), ROW(1, 'a')::pair) AND same(ROW('a', ROW(NULL, '')), ROW('a'::text, ROW(NULL::text, ''::text)))),
	('attributes of rows', same(ROW(1.0, '-0'::float8, 'a'::char(3)), ROW(1.00, 0::float8, 'a'::char(5)))),
	('domains in rows', same(ROW(7::small, 'sad'::feeling, '{1}'::numbers), ROW(7, 'sad'::mood, '{1}'::integer[]))),
	('arrays of rows', same(ARRAY[ROW(1, 'a')::pair], ARRAY[ROW(1, 'a'::text)])),
	('ranges', same('[1,4]'::int4range, '(0,5)'::int4range) AND same('[1.0,2]'::numrange, '[1.00,2.0]'::numrange)),
	('widths of ranges', same('[1,5)'::int4range, '[1,5)'::int8range) AND same('[1,5)'::span, '[1,5)'::int4range)),
	('empty ranges', same('empty'::int4range, '[3,3)'::int4range)),
	('multiranges', same('{[1,2],[3,4]}'::int4multirange, '{[1,5)}'::int4multirange) AND same('{}'::int4multirange, '{empty}'::int4multirange))
) AS equal (what, holds) WHERE NOT coalesce(holds, false);

--
-- Unequal values that print or are stored alike have different hashes
--
SELECT what FROM (VALUES
	('text and bytea', same('5'::text, '5'::bytea)),
	('text and integer', same('5'::text, 5)),
	('text and "char"', same('5'::text, '5'::"char")),
	('text and enum', same('sad'::text, 'sad'::mood)),
	('boolean and "char"', same(true, '\001'::"char")),
	('integer and numeric', same(1, 1.0)),
	('integer and xid8', same(1::bigint, '1'::xid8)),
	('timestamp and timestamptz', same('2020-01-01 00:00'::timestamp, '2020-01-01 00:00+00'::timestamptz)),
	('timestamp and date', same('2000-01-01'::timestamp, '2000-01-01'::date)),
	('float and numeric', same(1.5::float8, 1.5)),
	('real that is not the double', same(0.1::real, 0.1::float8)),
	('leading blank', same(' a'::char(3), 'a'::char(3))),
	('trailing blank in text', same('a '::text, 'a'::text) OR same('a '::varchar, 'a'::text)),
	('tab after char(n)', same(E'a\t'::char(3), 'a'::char(3))),
	('case', same('a'::text, 'A'::text)),
	('zero bits', same(B'0', B'00')),
	('bits and bytes', same(B'00000001', B'000000010')),
	('sign of numeric', same(1.5, -1.5)),
	('decimal point', same(1234::numeric, 0.1234) OR same(1::numeric, 10000::numeric) OR same(1::numeric, 0.0001)),
	('infinities', same('Infinity'::numeric, '-Infinity'::numeric) OR same('NaN'::numeric, '0'::numeric)),
	('zones of timetz', same('12:00+00'::timetz, '13:00+01'::timetz)),
	('midnight twice', same('24:00'::time, '00:00'::time) OR same('24:00+00'::timetz, '00:00+00'::timetz)),
	('sign of interval', same('1 day'::interval, '-1 day'::interval) OR same('1 us'::interval, '-1 us'::interval)),
	('host and network', same('10.0.0.0/8'::inet, '10.0.0.0/9'::inet) OR same('10.0.0.1/8'::inet, '10.0.0.0/8'::inet)),
	('families', same('1.2.3.4'::inet, '::102:304'::inet)),
	('macaddr and macaddr8', same('08:00:2b:01:02:03'::macaddr, '08:00:2b:01:02:03'::macaddr8)),
	('jsonb scalar and array', same('1'::jsonb, '[1]'::jsonb) OR same('null'::jsonb, '[null]'::jsonb)),
	('jsonb types', same('1'::jsonb, '"1"'::jsonb) OR same('null'::jsonb, '"null"'::jsonb) OR same('true'::jsonb, 'false'::jsonb)),
	('jsonb empties', same('[]'::jsonb, '{}'::jsonb) OR same('""'::jsonb, 'null'::jsonb) OR same('[[]]'::jsonb, '[]'::jsonb)),
	('jsonb order', same('[1, 2]'::jsonb, '[2, 1]'::jsonb)),
	('jsonb nesting', same('[[1], 2]'::jsonb, '[[1, 2]]'::jsonb) OR same('{"a": {"b": 1}}'::jsonb, '{"b": {"a": 1}}'::jsonb)),
	('jsonb pairs', same('{"a": "bc"}'::jsonb, '{"ab": "c"}'::jsonb) OR same('{"a": 1, "b": 2}'::jsonb, '{"a": 2, "b": 1}'::jsonb)),
	('array bounds', same('[0:1]={1,2}'::integer[], '{1,2}'::integer[])),
	('array dimensions', same('{{1,2}}'::integer[], '{1,2}'::integer[]) OR same('{{1},{2}}'::integer[], '{{1,2}}'::integer[])),
	('array order', same('{1,2}'::integer[], '{2,1}'::integer[])),
	('array NULL', same('{NULL,1}'::integer[], '{1,NULL}'::integer[]) OR same('{NULL}'::text[], '{""}'::text[]) OR same('{NULL}'::text[], '{}'::text[])),
	('array joints', same('{ab,c}'::text[], '{a,bc}'::text[])),
	('array of text and of bytea', same('{a}'::text[], '{a}'::bytea[])),
	('array and element', same('{1}'::integer[], 1)),
	('arrays of arrays', same(ARRAY['{1}'::numbers, '{}'::numbers], ARRAY['{}'::numbers, '{1}'::numbers])),
	('row NULL', same(ROW(NULL::text, 'a'::text), ROW('a'::text, NULL::text)) OR same(ROW(NULL::text), ROW(''::text))),
	('row of one NULL', same(ROW(NULL::integer), ROW())),
	('row joints', same(ROW('ab'::text, 'c'::text), ROW('a'::text, 'bc'::text))),
	('row kinds', same(ROW('5'::text), ROW('5'::bytea)) OR same(ROW(NULL::text), ROW(NULL::integer))),
	('row nesting', same(ROW(ROW(1, 2)), ROW(1, 2)) OR same(ROW(ROW(1), 2), ROW(1, ROW(2)))),
	('range bounds', same('[1,2)'::numrange, '[1,2]'::numrange) OR same('(1,2)'::numrange, '[1,2)'::numrange)),
	('range infinity', same('(,1)'::numrange, '(1,)'::numrange) OR same('[,]'::int4range, 'empty'::int4range)),
	('infinite bound and infinity', same('[2020-01-01,infinity)'::daterange, '[2020-01-01,)'::daterange)),
	('range and multirange', same('[1,5)'::int4range, '{[1,5)}'::int4multirange)),
	('multirange', same('{[1,2),[3,4)}'::int4multirange, '{[1,4)}'::int4multirange) OR same('{}'::int4multirange, '{(,)}'::int4multirange)),
	('integer and date range', same('[1,5)'::int4range, '[2000-01-02,2000-01-06)'::daterange))
) AS unequal (what, holds) WHERE coalesce(holds, true);

-- A seed of its own gives other hashes, and NULL has none.
SELECT cuckoo_hash(1, 0) <> cuckoo_hash(1, 1) AS seeded,
	cuckoo_hash(NULL::integer, 0) IS NULL AS of_null;

-- Hashes are equal exactly if SQL says equal, for all pairs of values that are
-- hard to distinguish.
CREATE FUNCTION disagreements(list anyarray) RETURNS bigint LANGUAGE sql AS
$$
	SELECT count(*) FROM generate_subscripts(list, 1) AS i, generate_subscripts(list, 1) AS j
	WHERE (list[i] = list[j]) <> (cuckoo_hash(list[i], 0) = cuckoo_hash(list[j], 0))
$$;
SELECT disagreements('{0,-0,0.0,1,1.0,10,10.00,1e4,10000.0000,1e-4,0.00010,-1,-1.0,1e8,100000000.0,99999999,0.99999999,9999.9999,1e-8,NaN,Infinity,-Infinity,123456789012345678901234567890,123456789012345678901234567890.0}'::numeric[]) AS numeric,
	disagreements('{0,-0,1,-1,1e-300,NaN,Infinity,-Infinity}'::float8[]) AS float,
	disagreements('{"1 mon","30 days","29 days 24:00","1 mon 1 us","30 days 1 us","-1 mon","-30 days","-1 us","-1 day 23:59:59.999999","1 year","12 mons","360 days","365 days",0,"1 mon -30 days","1 day -24:00","-720:00","178000000 years","-178000000 years","2147483647 days","-2147483648 days"}'::interval[]) AS interval,
	disagreements(ARRAY['1', '1.0', '[1]', '[1.00]', '[[1]]', '[]', '{}', 'null', '[null]', '""', '"null"', 'true', 'false', '{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}', '{"a": {"b": 2}}', '{"a": 1, "bb": 2, "c": 3}', '{"c": 3, "bb": 2, "a": 1.0}', '[1, [2, {"a": []}], 3]', '[1, [2, {"a": {}}], 3]', '[1, [2, {"a": []}, 3]]']::jsonb[]) AS jsonb,
	disagreements('{10.0.0.0,10.0.0.0/32,10.0.0.0/8,10.0.0.1/8,::,::/0,0.0.0.0/0,::ffff:10.0.0.0}'::inet[]) AS inet,
	disagreements('{a,"a ","a  "," a","",  "  "}'::char(4)[]) AS char,
	disagreements('{00:00+00,24:00+00,01:00+01,23:00-01,00:00-00}'::timetz[]) AS timetz,
	disagreements(ARRAY['[1,2]', '(0,3)', '[1,3)', '(,3)', '[,2]', '(0,)', '[1,)', 'empty', '(1,2)', '(,)']::int4range[]) AS range,
	disagreements(ARRAY['{[1,2],[3,4]}', '{[1,5)}', '{}', '{(,)}', '{[1,2),[3,4)}', '{[1,)}', '{[1,2),[3,)}']::int4multirange[]) AS multirange,
	disagreements(ARRAY[ROW(1, 1.0, 'a'::char(2)), ROW(1, 1.00, 'a '::char(2)), ROW(1, NULL::numeric, 'a'::char(2)), ROW(NULL::integer, 1.0, 'a'::char(2)), ROW(1, 1.01, 'a'::char(2))]) AS record,
	disagreements(ARRAY['{1,2}', '[0:1]={1,2}', '[1:2]={1,2}', '{2,1}', '{}', '{{1,2}}', '{{1},{2}}']::numbers[]) AS "array";

--
-- Rows are hashed by the row type that the value has now
--

-- Record types alternate from one row to the next.
WITH rows AS MATERIALIZED (SELECT i FROM generate_series(1, 100) AS i)
SELECT count(*), count(DISTINCT hash), bool_and(hash = CASE i % 6
	WHEN 0 THEN cuckoo_hash(ROW(i), 0)
	WHEN 1 THEN cuckoo_hash(ROW(i::text), 0)
	WHEN 2 THEN cuckoo_hash(ROW(i, i::text), 0)
	WHEN 3 THEN cuckoo_hash(ROW(i::numeric), 0)
	WHEN 4 THEN cuckoo_hash(ROW(i, ROW(i::text)), 0)
	ELSE cuckoo_hash(ROW(i, i, i), 0) END) AS right
FROM (SELECT i, cuckoo_hash(CASE i % 6
	WHEN 0 THEN ROW(i)
	WHEN 1 THEN ROW(i::text)
	WHEN 2 THEN ROW(i, i::text)
	WHEN 3 THEN ROW(i::numeric)
	WHEN 4 THEN ROW(i, ROW(i::text))
	ELSE ROW(i, i, i) END, 0) AS hash FROM rows) AS hashed;

-- A named row type changes between two values at one call site.
CREATE TYPE changing AS (a integer);
CREATE FUNCTION make(i integer) RETURNS changing LANGUAGE plpgsql AS
$$
DECLARE
	made changing;
BEGIN
	CASE i
		WHEN 1 THEN NULL;
		WHEN 2 THEN ALTER TYPE changing ADD ATTRIBUTE b text;
		WHEN 3 THEN ALTER TYPE changing DROP ATTRIBUTE a;
		WHEN 4 THEN ALTER TYPE changing ALTER ATTRIBUTE b TYPE bigint;
	END CASE;
	EXECUTE CASE i
		WHEN 1 THEN 'SELECT 5'
		WHEN 2 THEN 'SELECT 5, ''x''::text'
		WHEN 3 THEN 'SELECT ''x''::text'
		WHEN 4 THEN 'SELECT 7::bigint' END INTO made;
	RETURN made;
END
$$;
SELECT i, cuckoo_hash(make(i), 0) = CASE i
	WHEN 1 THEN cuckoo_hash(ROW(5), 0)
	WHEN 2 THEN cuckoo_hash(ROW(5, 'x'::text), 0)
	WHEN 3 THEN cuckoo_hash(ROW('x'::text), 0)
	ELSE cuckoo_hash(ROW(7::bigint), 0) END AS right
FROM generate_series(1, 4) AS i;

-- The same inside an array or row: the signature follows, so that keys of two
-- row types are never added to one filter.
CREATE FUNCTION make_array(i integer) RETURNS changing[] LANGUAGE plpgsql AS
$$
DECLARE
	made changing[];
BEGIN
	IF i = 2 THEN
		ALTER TYPE changing ADD ATTRIBUTE c text;
	END IF;
	EXECUTE $query$SELECT ARRAY[NULL, json_populate_record(NULL::changing, '{"b": 7}')]$query$ INTO made;
	RETURN made;
END
$$;
SELECT cuckoo_agg(make_array(i)) FROM generate_series(1, 2) AS i;
SELECT cuckoo_agg(ROW(make_array(i))) FROM generate_series(1, 2) AS i;

-- Dropped columns do not count, and columns added later have their default
-- value.
CREATE TABLE altered (a integer, gone date, b text);
INSERT INTO altered VALUES (1, '2020-01-01', 'x');
SELECT same(altered, ROW(1, '2020-01-01'::date, 'x'::text)) FROM altered;
ALTER TABLE altered DROP COLUMN gone;
ALTER TABLE altered ADD COLUMN c integer DEFAULT 5;
SELECT same(altered, ROW(1, 'x'::text, 5)) FROM altered;
-- A trigger sees the old row as it is stored, without the column.
CREATE FUNCTION compare() RETURNS trigger LANGUAGE plpgsql AS
$$
BEGIN
	RAISE WARNING 'same: %', same(OLD, ROW(1, 'x'::text, 5));
	RETURN NEW;
END
$$;
CREATE TRIGGER compare BEFORE UPDATE ON altered FOR EACH ROW EXECUTE FUNCTION compare();
UPDATE altered SET a = 2;

-- Arrays of a row type can come as arrays of records.
SELECT same(pairs::record[], ARRAY[ROW(1, 'a'::text)])
FROM (SELECT ARRAY[ROW(1, 'a')::pair]) AS _ (pairs);

--
-- Compressed, toasted and short values hash like the plain value
--
CREATE TABLE stored (how text, t text, b bytea, n numeric, v varbit, i inet, j jsonb, a text[], p pair, r numrange, m int8multirange);
CREATE FUNCTION long(size integer) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(CASE WHEN size < 0 THEN 'same' ELSE md5(i::text) END, '') FROM generate_series(1, abs(size)) AS i$$;
CREATE FUNCTION sample(size integer) RETURNS stored LANGUAGE sql AS
$$
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

--
-- What cannot be a key
--
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
	$$'5'::xid$$, $$'(0,1)'::tid$$, $$'pg_class'::regclass$$, $$'{}'::odd$$,
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

-- Another type is not a filter, whatever its name.
CREATE TYPE cuckoofilter AS ENUM ('a');
SELECT refusal($$'a'::scratch.cuckoofilter$$);
DROP TYPE cuckoofilter;

--
-- Shards
--

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

-- Equal values are in the same shard; NULL is in none.
SELECT cuckoo_shard(1.0, 1000000) = cuckoo_shard(1.00, 1000000) AS equal, cuckoo_shard(NULL::text, 10) IS NULL AS of_null;

SELECT cuckoo_shard('a'::text, 0);
SELECT cuckoo_shard('a'::text, -2147483648);
SELECT cuckoo_shard('{}'::json, 10);

--
-- Keys have the same hashes in every database encoding as in UTF-8, and enum
-- labels have the same hash in every database
--
-- In UTF-8 the key "é" of an object comes after "zz", because both have two
-- bytes; in LATIN1 it is stored before it.
\set home :DBNAME
\set accents 'SELECT what, lpad(to_hex(hash), 16, ''0'') AS hash FROM (VALUES (1, ''text'', cuckoo_hash(''né''::text, 0)), (2, ''char'', cuckoo_hash(''né''::char(9), 0)), (3, ''name'', cuckoo_hash(''né''::name, 0)), (4, ''long'', cuckoo_hash(repeat(''é'', 100000), 0)), (5, ''array'', cuckoo_hash(ARRAY[''né'', ''e''], 0)), (6, ''row'', cuckoo_hash(ROW(1, ''é''::text, ''é''::mood), 0)), (7, ''jsonb'', cuckoo_hash(''{"é": 1, "zz": [2], "a": "é", "aaa": 3}''::jsonb, 0)), (8, ''enum'', cuckoo_hash(''é''::mood, 0)), (9, ''enum'', cuckoo_hash(''sad''::mood, 0))) AS v (n, what, hash) ORDER BY n;'
DROP DATABASE IF EXISTS cuckoo_key_utf8;
CREATE DATABASE cuckoo_key_utf8 TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
DROP DATABASE IF EXISTS cuckoo_key_latin1;
CREATE DATABASE cuckoo_key_latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
DROP DATABASE IF EXISTS cuckoo_key_ascii;
CREATE DATABASE cuckoo_key_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
\c -reuse-previous=on "dbname=cuckoo_key_utf8 client_encoding=UTF8"
CREATE EXTENSION cuckoo;
CREATE TYPE mood AS ENUM ('sad', 'é');
:accents
\c -reuse-previous=on "dbname=cuckoo_key_latin1 client_encoding=UTF8"
CREATE EXTENSION cuckoo;
CREATE TYPE mood AS ENUM ('é', 'sad');
:accents
-- It is PostgreSQL's own conversion, whatever the search path finds.
CREATE SCHEMA odd;
CREATE DEFAULT CONVERSION odd.odd FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
UPDATE pg_conversion SET conproc = 'utf8_to_iso8859_1' WHERE conname = 'odd';
\c -reuse-previous=on "dbname=cuckoo_key_latin1 client_encoding=UTF8"
SET search_path = odd, pg_catalog, public;
\set VERBOSITY sqlstate
SELECT convert_to('né', 'UTF8');
\set VERBOSITY default
SELECT lpad(to_hex(cuckoo_hash('né'::text, 0)), 16, '0') AS text;
-- In SQL_ASCII the meaning of bytes is unknown: the first happen to be UTF-8,
-- the second do not.
\c -reuse-previous=on "dbname=cuckoo_key_ascii client_encoding=UTF8"
CREATE EXTENSION cuckoo;
CREATE TYPE mood AS ENUM ('sad', 'é');
:accents
SELECT lpad(to_hex(cuckoo_hash(E'n\xe9', 0)), 16, '0') AS not_utf8;

\c :"home"
DROP DATABASE cuckoo_key_utf8;
DROP DATABASE cuckoo_key_latin1;
DROP DATABASE cuckoo_key_ascii;
SET client_min_messages = warning;
