--
-- Errors: every message with its SQLSTATE, detail and hint
--
-- query
--   -> SQLSTATE | message | detail | hint
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\n  -> '

CREATE SCHEMA error_test;
SET search_path = error_test, public;

-- What a query gives, or the error it raises.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	result text;
	detail text;
	hint text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END
$$;

CREATE TABLE f (numbers cuckoofilter, words cuckoofilter, arrays cuckoofilter, fixed cuckoofilter, state cuckoofilter, full_ cuckoofilter);
CREATE AGGREGATE state_of(anycompatible) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE AGGREGATE state_of(anycompatible, float8, float8) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE AGGREGATE merge_states(cuckoofilter) (SFUNC = cuckoo_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final);
INSERT INTO f SELECT cuckoo_new() + 1, cuckoo_new() + 'a', cuckoo_new() + '{1}'::integer[],
	-- A table with the mark "not removable"
	set_byte(cuckoo_from_array(ARRAY(SELECT generate_series(1, 100)))::bytea, 4, 2)::cuckoofilter,
	(SELECT state_of(i) FROM generate_series(1, 3) AS i),
	-- Sixteen tables of two buckets, with seven entries of eight filled in each
	cuckoo_add_all((decode('0101010000100000' || '7b14ae47e17a843f' || repeat('00', 24), 'hex')
		|| decode(repeat('0100000002001300' || repeat('00', 8), 16) || repeat('00', 16 * 18 + 8), 'hex'))::cuckoofilter,
		ARRAY(SELECT generate_series(1, 112)));

-- Rates
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT cuckoo_new(0)', 'SELECT cuckoo_new(-0.001)', $$SELECT cuckoo_new('NaN')$$, $$SELECT cuckoo_new('Infinity')$$, $$SELECT cuckoo_new('-Infinity')$$,
	'SELECT cuckoo_new(0.5)', 'SELECT cuckoo_new(2)', 'SELECT cuckoo_new(1e-9)', 'SELECT cuckoo_new(1e6)',
	'SELECT (cuckoo_info(cuckoo_new(0.1))).target_fpr', 'SELECT (cuckoo_info(cuckoo_new(2e-9))).target_fpr',
	'SELECT cuckoo_from_array(ARRAY[1], 0.5)', 'SELECT cuckoo_from_array(ARRAY[1], 1000)', $$SELECT cuckoo_from_array(ARRAY[1], 'NaN')$$,
	'SELECT cuckoo_agg(1, 0.2)', 'SELECT cuckoo_agg(1, 1000)', $$SELECT cuckoo_agg('a', 0)$$, 'SELECT cuckoo_agg(ARRAY[1], -1)', $$SELECT cuckoo_agg(1.5, 'NaN', 1000)$$
]) AS query;

-- Capacities
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT cuckoo_new(capacity => -1)', 'SELECT cuckoo_new(capacity => -0.5)', $$SELECT cuckoo_new(capacity => 'NaN')$$,
	$$SELECT cuckoo_new(capacity => 'Infinity')$$, $$SELECT cuckoo_new(capacity => '-Infinity')$$,
	'SELECT cuckoo_new(capacity => 1e9)', 'SELECT cuckoo_new(0.1, 1e12)', 'SELECT cuckoo_new(capacity => 1099511627776)', 'SELECT cuckoo_new(capacity => 1e15)',
	'SELECT (cuckoo_info(cuckoo_new(capacity => 4e8))).capacity', 'SELECT (cuckoo_info(cuckoo_new(capacity => 0.0))).capacity',
	'SELECT cuckoo_agg(1, 0.001, -1)', 'SELECT cuckoo_agg(1, 0.001, -0.5)', $$SELECT cuckoo_agg('a', NULL, 'NaN')$$, 'SELECT cuckoo_agg(1, 0.001, 1e15)',
	-- Also where the keys are so few that they make a list
	'SELECT cuckoo_agg(1, 0.001, 1e12)', 'SELECT cuckoo_agg(i, 0.001, 1e12) FROM generate_series(1, 100) AS i'
]) AS query;

-- Layouts, shards
SELECT query, outcome(query) FROM unnest(ARRAY[
	$$SELECT cuckoo_new(layout => 'sorted')$$, $$SELECT cuckoo_new(layout => 'Plain')$$, $$SELECT cuckoo_new(layout => '')$$,
	'SELECT cuckoo_shard(1, 0)', 'SELECT cuckoo_shard(1, -1)', 'SELECT cuckoo_shard(1, 1)'
]) AS query;

-- Types that cannot be keys (all of them in key.sql), wherever a key is taken
SELECT query, outcome(query) FROM unnest(ARRAY[
	$$SELECT cuckoo_new() + '(0,0)'::point$$, $$SELECT cuckoo_new() - '{}'::json$$, $$SELECT cuckoo_new() @> 'a'::tsvector$$, $$SELECT '(0,0)'::point <@ cuckoo_new()$$,
	$$SELECT cuckoo_add(cuckoo_new(), '{}'::json)$$, $$SELECT cuckoo_remove(cuckoo_new(), '{}'::json)$$, $$SELECT cuckoo_contains(cuckoo_new(), '{}'::json)$$,
	$$SELECT cuckoo_count(cuckoo_new(), '{}'::json)$$, $$SELECT cuckoo_add_all(cuckoo_new(), '{}'::json[])$$, $$SELECT cuckoo_remove_all(cuckoo_new(), '{"(0,0)"}'::point[])$$,
	$$SELECT cuckoo_from_array('{"(0,0)"}'::point[])$$, $$SELECT cuckoo_hash('(0,0)'::point)$$, $$SELECT cuckoo_shard('(0,0)'::point, 2)$$,
	$$SELECT cuckoo_agg('(0,0)'::point)$$, $$SELECT cuckoo_agg('pg_class'::regclass)$$, $$SELECT cuckoo_agg(x) FROM (VALUES ('5'::xid)) AS v (x)$$,
	'SELECT cuckoo_new() + cuckoo_new()', 'SELECT cuckoo_new() - cuckoo_new()', 'SELECT cuckoo_new() @> cuckoo_new()', 'SELECT cuckoo_new() <@ cuckoo_new()',
	'SELECT cuckoo_add(cuckoo_new(), cuckoo_new())', 'SELECT cuckoo_from_array(ARRAY[cuckoo_new()])', 'SELECT cuckoo_agg(cuckoo_new())'
]) AS query;

-- Collations: none, or more than one
CREATE TABLE words (c text COLLATE "C", p text COLLATE "POSIX");
INSERT INTO words VALUES ('a', 'b');
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT cuckoo_new() + (c || p) FROM words', 'SELECT cuckoo_agg(c || p) FROM words', 'SELECT cuckoo_new() @> ARRAY[c || p] FROM words',
	'SELECT cuckoo_agg((c || p) COLLATE "C") @> ''ab'' FROM words'
]) AS query;

-- A key of another kind than the filter's, wherever one is taken
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT cuckoo_contains(numbers, 1.0) FROM f', $$SELECT numbers @> '1' FROM f$$, $$SELECT '1' <@ numbers FROM f$$, $$SELECT numbers @> 1::float8 FROM f$$,
	$$SELECT cuckoo_count(numbers, '1') FROM f$$, $$SELECT cuckoo_add(numbers, '1') FROM f$$, $$SELECT numbers + '2000-01-01'::date FROM f$$,
	$$SELECT cuckoo_remove(numbers, 'a') FROM f$$, $$SELECT numbers - 'a' FROM f$$, $$SELECT cuckoo_add_all(numbers, '{1}'::text[]) FROM f$$,
	$$SELECT cuckoo_remove_all(numbers, '{1}'::text[]) FROM f$$, $$SELECT words @> 'a'::bytea FROM f$$, 'SELECT words @> ARRAY[1] FROM f',
	'SELECT arrays @> 1 FROM f', $$SELECT arrays @> '{1}'::text[] FROM f$$, $$SELECT arrays @> '[1,2)'::int4range FROM f$$,
	$$SELECT arrays @> '{{1}}'::bigint[] FROM f$$, 'SELECT fixed @> true FROM f', $$SELECT cuckoo_new() + 1 - 1 @> '1'$$
]) AS query;
PREPARE untyped AS SELECT numbers @> $1 FROM f;
SELECT query, outcome(query) FROM unnest(ARRAY['EXECUTE untyped(1)']) AS query;

-- Rows of one aggregate that do not agree
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT cuckoo_agg(i, i * 0.01) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_agg(i, CASE i WHEN 2 THEN 0.01 END) FROM generate_series(1, 3) AS i',
	'SELECT cuckoo_agg(i::text, 0.01, i * 100) FROM generate_series(1, 3) AS i', 'SELECT cuckoo_agg(ARRAY[i], 0.01, i - 1) FROM generate_series(1, 3) AS i',
	'SELECT cuckoo_agg(i, 0.01, i) FROM generate_series(1, 3) AS i GROUP BY i HAVING i = 3',
	'SELECT merge_states(s) FROM (SELECT state_of(1) AS s UNION ALL SELECT state_of(''a'')) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(ARRAY[1]) AS s UNION ALL SELECT state_of(ARRAY[true])) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(1) AS s UNION ALL SELECT state_of(1, 0.01, 0)) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(1, 0.01, 5) AS s UNION ALL SELECT state_of(1, 0.01, 6)) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(1) AS s UNION ALL SELECT numbers FROM f) AS states',
	'SELECT merge_states(s) FROM (SELECT cuckoo_new() AS s) AS filters',
	'SELECT merge_states(s) FROM (SELECT fixed AS s FROM f) AS filters'
]) AS query;

-- The functions of aggregates are for aggregates only.
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT cuckoo_agg_transfn(NULL, 1)', 'SELECT cuckoo_agg_transfn(state, NULL::integer) FROM f', $$SELECT cuckoo_agg_transfn(NULL, 'a'::text, 0.01)$$,
	'SELECT cuckoo_agg_transfn(NULL, ARRAY[1], 0.01, 100)', 'SELECT cuckoo_agg_combine(state, state) FROM f', 'SELECT cuckoo_agg_combine(NULL, NULL)',
	'SELECT cuckoo_agg_final(state) FROM f', 'SELECT cuckoo_agg_final(NULL)'
]) AS query;

-- An aggregate's state is no filter yet.
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT state @> 1 FROM f', 'SELECT 1 <@ state FROM f', 'SELECT cuckoo_contains(state, 1) FROM f', 'SELECT cuckoo_count(state, 1) FROM f', 'SELECT cuckoo_cardinality(state) FROM f',
	'SELECT cuckoo_fpr(state) FROM f', 'SELECT count(*) FROM f, cuckoo_tables(state)', 'SELECT state + 1 FROM f', 'SELECT state - 1 FROM f', 'SELECT cuckoo_add(state, 1) FROM f',
	'SELECT cuckoo_remove(state, 1) FROM f', 'SELECT cuckoo_add_all(state, ARRAY[1]) FROM f', 'SELECT cuckoo_remove_all(state, ARRAY[1]) FROM f',
	'SELECT state::text::cuckoofilter @> 1 FROM f', 'SELECT (cuckoo_info(state)).body FROM f', 'SELECT (cuckoo_info(state::bytea::cuckoofilter)).body FROM f'
]) AS query;

-- Removal where two keys may share an entry
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT fixed - 1 FROM f', 'SELECT cuckoo_remove(fixed, 1) FROM f', 'SELECT cuckoo_remove(fixed, -1) FROM f', 'SELECT cuckoo_remove_all(fixed, ARRAY[1]) FROM f',
	$$SELECT fixed - 'a' FROM f$$
]) AS query;

-- No further table
SELECT query, outcome(query) FROM unnest(ARRAY[
	'SELECT (i.items, i.tables, i.load) FROM f, cuckoo_info(full_) AS i',
	'SELECT cuckoo_cardinality(cuckoo_add_all(full_, ARRAY(SELECT generate_series(113, 200)))) FROM f',
	'SELECT cuckoo_cardinality(full_ + 113 + 114) FROM f',
	-- It can still be asked, and removed from.
	'SELECT bool_and(full_ @> k) FROM f, generate_series(1, 112) AS k',
	'SELECT cuckoo_cardinality(full_ - 1 - 2 + 113 + 114) FROM f'
]) AS query;

-- Hashes made to collide: 1,000 of them with one candidate bucket in common.
-- They can only come from outside.
CREATE TABLE colliding AS SELECT (decode('0102010000000100' || 'fca9f1d24d62503f' || repeat('00', 16) || 'e803000000000000', 'hex')
	|| string_agg('\x0000' || substr(int8send(i), 8, 1) || substr(int8send(i), 7, 1) || '\x00000000', '' ORDER BY i))::cuckoofilter AS s
	FROM (SELECT i * 65 AS i FROM generate_series(1, 1000) AS i) AS hashes;
-- No size of one table takes them: they are added one by one, and several do.
SELECT query, outcome(query) FROM unnest(ARRAY['SELECT tables > 1 AND items = 1000 FROM cuckoo_info((SELECT merge_states(s) FROM colliding))']) AS query;

-- A label that an enum has no longer
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TABLE shades AS SELECT 'dark'::shade AS s;
DELETE FROM pg_enum WHERE enumtypid = 'shade'::regtype AND enumlabel = 'dark';
SELECT regexp_replace(outcome('SELECT cuckoo_hash(s) FROM shades'), '\d+$', 'N');

-- What calls functions without an expression does not say what type a key has.
CREATE OPERATOR CLASS by_cuckoo_hash FOR TYPE integer USING hash AS
	OPERATOR 1 =(integer, integer), FUNCTION 1 hashint4(integer), FUNCTION 2 (integer, integer) cuckoo_hash(anycompatible, bigint);
CREATE TABLE parted (i integer) PARTITION BY HASH (i by_cuckoo_hash);
CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT query, outcome(query) FROM unnest(ARRAY['INSERT INTO parted VALUES (1)']) AS query;

-- Text is read in pieces of four million characters: padding at the end of one
-- that is not the last
SELECT outcome(format('SELECT %L::cuckoofilter', repeat('A', 4194302) || '==AAAA'));

-- Casts are never made silently.  The words are the server's, and differ.
SELECT query, left(outcome(query), 5) FROM unnest(ARRAY[
	$$SELECT length(numbers) FROM f$$, $$INSERT INTO f (numbers) VALUES ('\x00'::bytea)$$
]) AS query;

DROP SCHEMA error_test CASCADE;
