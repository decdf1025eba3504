-- Errors: every message with its SQLSTATE, detail and hint
--
-- query
--   -> SQLSTATE | message | detail | hint
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\pset tuples_only on
\pset fieldsep '\n  -> '

CREATE TABLE f (numbers cuckoofilter, words cuckoofilter, arrays cuckoofilter, fixed cuckoofilter, state cuckoofilter, full_ cuckoofilter);
CREATE AGGREGATE merge_copies(cuckoofilter) (SFUNC = cuckoo_multiset_agg_combine, STYPE = cuckoofilter);
CREATE AGGREGATE merge_stream(cuckoofilter) (SFUNC = cuckoo_stream_agg_combine, STYPE = cuckoofilter);
INSERT INTO f SELECT cuckoo_new() + 1, cuckoo_new() + 'a', cuckoo_new() + '{1}'::integer[],
	-- Marked not removable
	cuckoo_from_array(ARRAY(SELECT generate_series(1, 100))) | (cuckoo_new() + 1),
	(SELECT state_of(i) FROM generate_series(1, 3) AS i),
	-- Sixteen tables of six buckets, full
	cuckoo_add_all((SELECT cuckoo_union_all_agg(cuckoo_new(1, 0.1 / 2 ^ i)) FROM generate_series(0, 15) AS i), ARRAY(SELECT generate_series(1, 352)));

CREATE TABLE stored_state AS SELECT state_of(i)::text::cuckoofilter AS state FROM generate_series(1, 5000) AS i;
CREATE TABLE words (c text COLLATE "C", p text COLLATE "POSIX");
INSERT INTO words VALUES ('a', 'b');
CREATE OPERATOR CLASS by_cuckoo_hash FOR TYPE integer USING hash AS
	OPERATOR 1 =(integer, integer), FUNCTION 1 hashint4(integer), FUNCTION 2 (integer, integer) cuckoo_hash(anycompatible, bigint);
CREATE TABLE parted (i integer) PARTITION BY HASH (i by_cuckoo_hash);
CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TYPE inner_row AS (a integer, b text);
CREATE TYPE inner_row_2 AS (a numeric, b text);
CREATE TYPE outer_row AS (r inner_row, t date);
CREATE TYPE outer_row_2 AS (r inner_row_2, t date);
CREATE TYPE array_row AS (l integer[]);
CREATE TYPE array_row_2 AS (l text[]);
CREATE TYPE same_row AS (x smallint, y varchar);
CREATE TYPE array_range AS RANGE (subtype = integer[]);
CREATE TYPE array_range_2 AS RANGE (subtype = text[]);
CREATE TYPE row_range AS RANGE (subtype = inner_row);
CREATE TYPE row_range_2 AS RANGE (subtype = inner_row_2);
PREPARE untyped AS SELECT numbers @> $1 FROM f;

SELECT query, outcome(query) FROM unnest(ARRAY[
	-- Rates
	'SELECT cuckoo_new(NULL, 0)', 'SELECT cuckoo_new(NULL, -0.001)', $$SELECT cuckoo_new(NULL, 'NaN')$$, $$SELECT cuckoo_new(NULL, 'Infinity')$$, $$SELECT cuckoo_new(NULL, '-Infinity')$$,
	'SELECT cuckoo_new(NULL, 0.5)', 'SELECT cuckoo_new(NULL, 1)', 'SELECT cuckoo_new(NULL, 2)', 'SELECT cuckoo_new(NULL, 1e-9)', 'SELECT cuckoo_new(NULL, 1e6)',
	'SELECT (cuckoo_info(cuckoo_new(NULL, 0.1))).target_fpr', 'SELECT (cuckoo_info(cuckoo_new(NULL, 2e-8))).target_fpr', 'SELECT cuckoo_new(NULL, 1.9e-8)',
	'SELECT cuckoo_from_array(ARRAY[1], NULL, 0.5)', 'SELECT cuckoo_from_array(ARRAY[1], NULL, 1000)', $$SELECT cuckoo_from_array(ARRAY[1], NULL, 'NaN')$$,
	'SELECT cuckoo_agg(1, NULL, 0.2)', 'SELECT cuckoo_agg(1, NULL, 1000)', $$SELECT cuckoo_agg('a', NULL, 0)$$, 'SELECT cuckoo_agg(ARRAY[1], NULL, -1)', $$SELECT cuckoo_agg(1.5, 1000, 'NaN')$$,
	-- Capacities
	'SELECT cuckoo_new(capacity => -1)', 'SELECT cuckoo_new(capacity => -0.5)', 'SELECT cuckoo_new(0)', 'SELECT cuckoo_new(0.001)', 'SELECT cuckoo_new(0.001, 1e6)',
	'SELECT cuckoo_agg(1, 0)', 'SELECT cuckoo_agg(1, 0.001)', 'SELECT cuckoo_from_array(ARRAY[1], 0.99)', 'SELECT cuckoo_stream_agg(1, 0.5)', $$SELECT cuckoo_new(capacity => 'NaN')$$,
	$$SELECT cuckoo_new(capacity => 'Infinity')$$, 'SELECT cuckoo_new(1e300)', $$SELECT cuckoo_new(capacity => '-Infinity')$$,
	'SELECT cuckoo_new(capacity => 1e9)', 'SELECT cuckoo_new(1e12, 0.1)', 'SELECT cuckoo_new(capacity => 1099511627776)', 'SELECT cuckoo_new(capacity => 1e15)',
	'SELECT (cuckoo_info(cuckoo_new(capacity => 4e8))).capacity', 'SELECT (cuckoo_info(cuckoo_new(1.5))).capacity',
	'SELECT cuckoo_agg(1, -1, 0.001)', 'SELECT cuckoo_agg(1, -0.5, 0.001)', $$SELECT cuckoo_agg('a', 'NaN', NULL)$$, 'SELECT cuckoo_agg(1, 1e15, 0.001)',
	-- Even if there are few keys
	'SELECT cuckoo_agg(1, 1e12, 0.001)', 'SELECT cuckoo_agg(i, 1e12, 0.001) FROM generate_series(1, 100) AS i',
	-- Shards
	'SELECT cuckoo_shard(1, 0)', 'SELECT cuckoo_shard(1, -1)', $$SELECT cuckoo_shard('a'::text, -2147483648)$$, 'SELECT cuckoo_shard(1, 1)',
	-- Types that cannot be keys, in every function with a key (key.sql has all types)
	$$SELECT cuckoo_new() + '(0,0)'::point$$, $$SELECT cuckoo_new() - '{}'::json$$, $$SELECT cuckoo_new() @> 'a'::tsvector$$, $$SELECT '(0,0)'::point <@ cuckoo_new()$$,
	$$SELECT cuckoo_add(cuckoo_new(), '{}'::json)$$, $$SELECT cuckoo_remove(cuckoo_new(), '{}'::json)$$, $$SELECT cuckoo_contains(cuckoo_new(), '{}'::json)$$,
	$$SELECT cuckoo_count(cuckoo_new(), '{}'::json)$$, $$SELECT cuckoo_add_all(cuckoo_new(), '{}'::json[])$$, $$SELECT cuckoo_remove_all(cuckoo_new(), '{"(0,0)"}'::point[])$$,
	$$SELECT cuckoo_from_array('{"(0,0)"}'::point[])$$, $$SELECT cuckoo_hash('(0,0)'::point)$$, $$SELECT cuckoo_shard('(0,0)'::point, 2)$$,
	$$SELECT cuckoo_agg('(0,0)'::point)$$, 'SELECT cuckoo_agg(typinput) FROM pg_type', $$SELECT cuckoo_agg(x) FROM (VALUES ('5'::xid)) AS v (x)$$,
	'SELECT cuckoo_new() + cuckoo_new()', 'SELECT cuckoo_new() - cuckoo_new()', 'SELECT cuckoo_new() @> cuckoo_new()', 'SELECT cuckoo_new() <@ cuckoo_new()',
	'SELECT cuckoo_add(cuckoo_new(), cuckoo_new())', 'SELECT cuckoo_from_array(ARRAY[cuckoo_new()])', 'SELECT cuckoo_agg(cuckoo_new())',
	-- The text form with the line breaks of encode and of the shell's base64; and
	-- untyped operands, which the operators + and - make filters
	$$SELECT encode(fixed::bytea, 'base64')::cuckoofilter FROM f$$, $$SELECT 'foo' + true$$,
	-- Rows with the same columns in another order
	$$SELECT cuckoo_new() + ROW(1, 'x'::text) @> ROW('x'::text, 1)$$,
	-- Collations: none, or more than one
	'SELECT cuckoo_new() + (c || p) FROM words', 'SELECT cuckoo_agg(c || p) FROM words', 'SELECT cuckoo_new() @> ARRAY[c || p] FROM words',
	'SELECT cuckoo_agg((c || p) COLLATE "C") @> ''ab'' FROM words',
	-- A key of another type than the filter's, in every function with a key
	'SELECT cuckoo_contains(numbers, 1.0) FROM f', $$SELECT numbers @> '1' FROM f$$, $$SELECT '1' <@ numbers FROM f$$, $$SELECT numbers @> 1::float8 FROM f$$,
	$$SELECT cuckoo_count(numbers, '1') FROM f$$, $$SELECT cuckoo_add(numbers, '1') FROM f$$, $$SELECT numbers + '2000-01-01'::date FROM f$$,
	$$SELECT cuckoo_remove(numbers, 'a') FROM f$$, $$SELECT numbers - 'a' FROM f$$, $$SELECT cuckoo_add_all(numbers, '{1}'::text[]) FROM f$$,
	$$SELECT cuckoo_remove_all(numbers, '{1}'::text[]) FROM f$$, $$SELECT words @> 'a'::bytea FROM f$$, 'SELECT words @> ARRAY[1] FROM f',
	'SELECT arrays @> 1 FROM f', $$SELECT arrays @> '{1}'::text[] FROM f$$, $$SELECT arrays @> '[1,2)'::int4range FROM f$$,
	$$SELECT arrays @> '{{1}}'::bigint[] FROM f$$, 'SELECT fixed @> true FROM f', $$SELECT cuckoo_new() + 1 - 1 @> '1'$$, 'EXECUTE untyped(1)',
	-- Parameters of aggregates, also if all keys are NULL
	'SELECT cuckoo_stream_agg(1, NULL, 0.01)', 'SELECT cuckoo_multiset_agg(1, NULL, 0.01)', 'SELECT cuckoo_stream_agg(1, 1e9, 0.001)',
	'SELECT cuckoo_stream_agg(1, -1, 0.01)', 'SELECT cuckoo_stream_agg(1, 100, 2)', 'SELECT cuckoo_stream_agg(1, 1e15, 0.01)', $$SELECT cuckoo_stream_agg('{}'::json, 100, 0.01)$$,
	'SELECT cuckoo_agg(NULL::integer, -1, 5)', 'SELECT cuckoo_agg(NULL::integer, -1, 0.01)', 'SELECT cuckoo_agg(NULL::integer[], NULL, 5)',
	'SELECT cuckoo_stream_agg(NULL::text, NULL, 0.01)', 'SELECT cuckoo_multiset_agg(NULL::text, 1e12, 0.01)',
	'SELECT cuckoo_agg(NULL::integer, k, 0.01) FROM generate_series(1, 2) AS k', 'SELECT cuckoo_agg(nullif(k, 2), NULL, 0.01 * k) FROM generate_series(1, 2) AS k',
	'SELECT cuckoo_stream_agg(nullif(k, 1), 100 * k, 0.01) FROM generate_series(1, 2) AS k',
	-- Rows of one aggregate that differ
	'SELECT cuckoo_agg(i, NULL, i * 0.01) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_agg(i, NULL, CASE i WHEN 2 THEN 0.01 END) FROM generate_series(1, 3) AS i',
	'SELECT cuckoo_agg(i::text, i * 100, 0.01) FROM generate_series(1, 3) AS i', 'SELECT cuckoo_agg(ARRAY[i], i + 1, 0.01) FROM generate_series(1, 3) AS i',
	'SELECT cuckoo_agg(i, i, 0.01) FROM generate_series(1, 3) AS i GROUP BY i HAVING i = 3',
	'SELECT cuckoo_stream_agg(i, 100 + i, 0.01) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_multiset_agg(i, 100, 0.01 * i) FROM generate_series(1, 2) AS i',
	'SELECT cuckoo_stream_agg(i, 1e5, 0.01 + i / 20000 * 0.01) FROM generate_series(1, 20000) AS i',
	'SELECT merge_states(s) FROM (SELECT state_of(1) AS s UNION ALL SELECT state_of(''a'')) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(ARRAY[1]) AS s UNION ALL SELECT state_of(ARRAY[true])) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(1) AS s UNION ALL SELECT state_of(1, NULL, 0.01)) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(1, 5, 0.01) AS s UNION ALL SELECT state_of(1, 6, 0.01)) AS states',
	'SELECT merge_states(s) FROM (SELECT state_of(1) AS s UNION ALL SELECT numbers FROM f) AS states',
	'SELECT merge_states(s) FROM (SELECT cuckoo_new() AS s) AS filters',
	'SELECT merge_states(s) FROM (SELECT fixed AS s FROM f) AS filters',
	-- The functions of aggregates can be called only by aggregates.
	'SELECT cuckoo_agg_transfn(NULL, 1)', 'SELECT cuckoo_agg_transfn(state, NULL::integer) FROM f', $$SELECT cuckoo_agg_transfn(NULL, 'a'::text, 0.01)$$,
	'SELECT cuckoo_agg_transfn(NULL, ARRAY[1], 0.01, 100)', 'SELECT cuckoo_agg_combine(state, state) FROM f', 'SELECT cuckoo_agg_combine(NULL, NULL)',
	'SELECT cuckoo_agg_final(state) FROM f', 'SELECT cuckoo_agg_final(NULL)', 'SELECT cuckoo_stream_agg_transfn(NULL, 1, 100, 0.01)', 'SELECT cuckoo_stream_agg_combine(NULL, NULL)',
	'SELECT cuckoo_union_agg_transfn(fixed, fixed) FROM f', 'SELECT cuckoo_union_all_agg_transfn(fixed, fixed) FROM f', 'SELECT cuckoo_combine_final(fixed) FROM f',
	-- An aggregate's state is not a filter yet.
	'SELECT state @> 1 FROM f', 'SELECT state @> 1 FROM stored_state', 'SELECT 1 <@ state FROM f', 'SELECT cuckoo_contains(state, 1) FROM f', 'SELECT cuckoo_count(state, 1) FROM f',
	'SELECT cuckoo_cardinality(state) FROM f',
	'SELECT cuckoo_fpr(state) FROM f', 'SELECT count(*) FROM f, cuckoo_subfilters(state)', 'SELECT state + 1 FROM f', 'SELECT state - 1 FROM f', 'SELECT cuckoo_add(state, 1) FROM f',
	'SELECT cuckoo_remove(state, 1) FROM f', 'SELECT cuckoo_add_all(state, ARRAY[1]) FROM f', 'SELECT cuckoo_remove_all(state, ARRAY[1]) FROM f',
	'SELECT NULL | state FROM f', 'SELECT cuckoo_union_all(state, NULL) FROM f',
	'SELECT state::text::cuckoofilter @> 1 FROM f', 'SELECT (cuckoo_info(state)).representation FROM f', 'SELECT (cuckoo_info(decode(state::text, ''base64'')::cuckoofilter)).representation FROM f',
	'SELECT (cuckoo_info(state)).bytes - octet_length(decode(state::text, ''base64'')) FROM f',
	'SELECT cuckoo_common(state, numbers) FROM f', 'SELECT cuckoo_common(numbers, state) FROM f',
	'SELECT cuckoo_intersection_agg(g) FROM (SELECT numbers AS g FROM f UNION ALL SELECT state FROM f) AS x',
	-- Removal if two keys may share an item
	'SELECT fixed - 1 FROM f', 'SELECT cuckoo_remove(fixed, 1) FROM f', 'SELECT cuckoo_remove(fixed, -1) FROM f', 'SELECT cuckoo_remove_all(fixed, ARRAY[1]) FROM f',
	$$SELECT fixed - 'a' FROM f$$,
	-- No further table
	'SELECT (i.items, i.subfilters, i.load) FROM f, cuckoo_info(full_) AS i',
	'SELECT cuckoo_cardinality(cuckoo_add_all(full_, ARRAY(SELECT generate_series(353, 400)))) FROM f',
	'SELECT cuckoo_cardinality(full_ + 353) FROM f',
	-- Lookups and removals still work, and then there is room for new keys.
	'SELECT bool_and(full_ @> k) FROM f, generate_series(1, 352) AS k',
	'SELECT cuckoo_cardinality(full_ - 1 - 2) FROM f', 'SELECT cuckoo_cardinality(full_ - 1 - 2 + 353 + 354) FROM f',
	-- Seeds that differ between rows, and that travel with partial states
	'SELECT cuckoo_agg(i, NULL, 0.01, i) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_agg(ARRAY[i], NULL, 0.01, i) FROM generate_series(1, 2) AS i',
	'SELECT cuckoo_agg(nullif(i, 2), NULL, 0.01, nullif(i, 1)) FROM generate_series(1, 2) AS i',
	'SELECT cuckoo_stream_agg(i, 100, 0.01, i) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_multiset_agg(i::text, 100, 0.01, -i) FROM generate_series(1, 2) AS i',
	'SELECT merge_states(s) FROM (SELECT state_of(1, NULL, 0.01, i) AS s FROM generate_series(8, 9) AS i GROUP BY i) AS x',
	'SELECT merge_stream(s) FROM (SELECT cuckoo_stream_agg(1, 100, 0.01, i) AS s FROM generate_series(8, 9) AS i GROUP BY i) AS x',
	'SELECT merge_stream(s) FROM (SELECT cuckoo_stream_agg(1, 100 * k, 0.01) AS s FROM generate_series(1, 2) AS k GROUP BY k) AS x',
	'SELECT merge_copies(s) FROM (SELECT cuckoo_multiset_agg(1, 100 * k, 0.01) AS s FROM generate_series(1, 2) AS k GROUP BY k) AS x',
	'SELECT merge_stream(s ORDER BY k) FROM (SELECT k, cuckoo_stream_agg(i, CASE k WHEN 3 THEN 2e5 ELSE 1e5 END, 0.01) AS s FROM generate_series(1, 3) AS k, generate_series(1, 60000) '
		'AS i GROUP BY k) AS x',
	$$SELECT merge_stream(s) FROM (SELECT cuckoo_stream_agg(1, 100, 0.01) AS s UNION ALL SELECT cuckoo_stream_agg('x'::text, 100, 0.01)) AS x$$,
	'SELECT cuckoo_agg(i, nullif(i, 1) * 100) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_agg(i, nullif(i, 1) * 0) FROM generate_series(1, 2) AS i',
	-- What cannot be combined
	'SELECT cuckoo_new(seed => 5) | numbers FROM f', 'SELECT cuckoo_union_all(cuckoo_new(seed => -5), cuckoo_new())', 'SELECT cuckoo_union(numbers, cuckoo_from_array(ARRAY[1], 100, 0.01, 7)) FROM f',
	'SELECT cuckoo_union_all_agg(cuckoo_new(seed => i)) FROM generate_series(1, 2) AS i', 'SELECT cuckoo_union_agg(cuckoo_agg(1, 1e6, 0.001, i)) OVER () FROM generate_series(1, 2) AS i GROUP BY i',
	'SELECT cuckoo_common(cuckoo_new(seed => 5), numbers) FROM f', 'SELECT cuckoo_intersection_agg(cuckoo_new(seed => i)) FROM generate_series(1, 2) AS i',
	'SELECT cuckoo_common(words, numbers) FROM f', 'SELECT cuckoo_common(arrays, cuckoo_new() + ARRAY[true]) FROM f',
	'SELECT numbers | words FROM f', 'SELECT cuckoo_union_all(words, numbers) FROM f', 'SELECT cuckoo_union_all(numbers, arrays) FROM f',
	'SELECT cuckoo_union_all(words, cuckoo_new() + ''a''::bytea) FROM f',
	'SELECT cuckoo_union_agg(x) FROM f, unnest(ARRAY[numbers, words]) AS x',
	-- A large state of several sub-filters
	'SELECT cuckoo_union_agg(x ORDER BY n) FROM (SELECT n, cuckoo_agg(i, 50000 * n, 0.001, n / 3) AS x FROM generate_series(1, 3) AS n, generate_series(1, 40000) AS i GROUP BY n) AS parts',
	'SELECT numbers | state FROM f', 'SELECT cuckoo_union_all(state, numbers) FROM f',
	'SELECT state | unset FROM f, (SELECT cuckoo_agg(i) AS unset FROM generate_series(1, 0) AS i) AS x',
	'SELECT cuckoo_union_all(unset, state) FROM f, (SELECT cuckoo_agg(i) AS unset FROM generate_series(1, 0) AS i) AS x',
	'SELECT cuckoo_union_all_agg(x) FROM f, unnest(ARRAY[numbers, state]) AS x',
	'SELECT cuckoo_union_all(full_, cuckoo_from_array(ARRAY[1], 5000, 0.1)) FROM f', 'SELECT cuckoo_from_array(ARRAY[1], 5000, 0.1) | full_ FROM f',
	'SELECT cuckoo_union_agg(cuckoo_new(100 * i, 0.01)) FROM generate_series(1, 17) AS i',
	'SELECT cuckoo_union_agg(x) FROM (SELECT cuckoo_agg(k, 10000 * i, 0.01) AS x FROM generate_series(1, 17) AS i, generate_series(1, 10000) AS k GROUP BY i) AS parts',
	'SELECT (cuckoo_info(cuckoo_union_agg(cuckoo_new(100 * i, 0.01)))).subfilters FROM generate_series(1, 16) AS i',
	-- Key types inside key types: at any depth, they must be the filter's own
	$$SELECT cuckoo_new() + ROW(1, 'x'::text) @> ROW(1::numeric, 'x'::text)$$, $$SELECT cuckoo_new() + ARRAY[1] @> ARRAY['1']$$, $$SELECT cuckoo_new() + ARRAY[1] @> '{1}'$$,
	$$SELECT cuckoo_union_all(cuckoo_new() + '{}'::int4range[], cuckoo_new() + '{}'::numrange[])$$,
	-- Types with the same equality inside are the same key type.
	$$SELECT cuckoo_new() + '(1,x)'::inner_row @> '(1,x)'::same_row$$, $$SELECT cuckoo_new() + '[1,2)'::int4range @> '[1,2)'::int8range$$, $$SELECT cuckoo_new() + ARRAY[1] @> ARRAY[1::bigint]$$,
	-- Keys of different types in one array: an error also if the filter is empty and
	-- could take any of them.  NULLs have no type.
	$$SELECT cuckoo_from_array(ARRAY[ROW(1, 2), ROW('a'::text, 'b'::text)])$$, $$SELECT cuckoo_from_array(ARRAY[NULL, ROW(1), NULL, ROW(1, 2)])$$,
	$$SELECT cuckoo_add_all(cuckoo_new(), ARRAY[ROW(1), ROW('x'::text)])$$, $$SELECT cuckoo_add_all(cuckoo_agg(i), ARRAY[ROW(1), ROW('x'::text)]) FROM generate_series(1, 0) AS i$$,
	$$SELECT cuckoo_remove_all(cuckoo_new(), ARRAY[ROW(1), ROW('x'::text)])$$, $$SELECT cuckoo_contains_each(cuckoo_new(), ARRAY[ROW(1), ROW('x'::text)])$$,
	$$SELECT (cuckoo_new() + ROW(1) @> ANY (ARRAY[ROW(1), ROW('x'::text)]))$$, $$SELECT cuckoo_add_all(cuckoo_new() + ROW(1), ARRAY[ROW(1), ROW('x'::text)])$$,
	$$SELECT cuckoo_cardinality(cuckoo_from_array(ARRAY[NULL, ROW(1), NULL, ROW(2::bigint)]))$$,
	-- Too large: a capacity whose dense table would pass the limit
	'SELECT cuckoo_new(5.1e8, 0.001)', 'SELECT cuckoo_new(2.2e8, 2e-8)', 'SELECT cuckoo_from_array(ARRAY[1], 5.1e8, 0.001)', 'SELECT cuckoo_agg(1, 5.1e8, 0.001)',
	'SELECT cuckoo_stream_agg(1, 5.1e8, 0.001)',
	-- At the first row: the second is another error.
	'SELECT cuckoo_agg(1 / (2 - i), 5.1e8, 0.001) FROM generate_series(1, 2) AS i',
	'SELECT cuckoo_multiset_agg(1, 1.6e9, 0.1)', 'SELECT (cuckoo_info(cuckoo_new(5e8, 0.001))).bytes', 'SELECT (cuckoo_info(cuckoo_new(2.1e8, 2e-8))).bytes',
	-- A caller without an expression does not tell the type of a key.
	'INSERT INTO parted VALUES (1)'
]) AS query;

-- Key types inside key types, in every function
CREATE TABLE nested (what text, f text, g text);
INSERT INTO nested VALUES
	('row', $$ROW(1, 'x'::text)$$, $$ROW(1::numeric, 'x'::text)$$), ('more columns', $$ROW(1, 'x'::text)$$, $$ROW(1, 'x'::text, NULL::integer)$$),
	('named row', $$'(1,x)'::inner_row$$, $$'(1,x)'::inner_row_2$$), ('row in a row', $$'("(1,x)",2000-01-01)'::outer_row$$, $$'("(1,x)",2000-01-01)'::outer_row_2$$),
	('row in an array', $$'{"(1,x)"}'::inner_row[]$$, $$'{"(1,x)"}'::inner_row_2[]$$), ('row in a row in an array', $$'{}'::outer_row[]$$, $$'{}'::outer_row_2[]$$),
	('array in a row', $$'({1})'::array_row$$, $$'({1})'::array_row_2$$), ('array in a row in an array', $$'{"({1})"}'::array_row[]$$, $$'{"({1})"}'::array_row_2[]$$),
	('array', $$'{1}'::integer[]$$, $$'{1}'::text[]$$), ('empty array', $$'{}'::integer[]$$, $$'{}'::text[]$$),
	('range', $$'[1,2)'::int4range$$, $$'[1,2)'::numrange$$), ('empty range', $$'empty'::int4range$$, $$'empty'::numrange$$), ('range in an array', $$'{"[1,2)"}'::int4range[]$$,
	$$'{"[1,2)"}'::numrange[]$$),
	('range of rows', $$'["(1,x)","(2,x)")'::row_range$$, $$'["(1,x)","(2,x)")'::row_range_2$$),
	('range of arrays', $$'["{1}","{2}")'::array_range$$, $$'["{1}","{2}")'::array_range_2$$), ('multirange', $$'{[1,2)}'::int4multirange$$, $$'{[1,2)}'::nummultirange$$),
	('multirange in an array', $$'{"{[1,2)}"}'::int4multirange[]$$, $$'{"{[1,2)}"}'::nummultirange[]$$), ('range in a row', $$ROW('[1,2)'::int4range)$$, $$ROW('[1,2)'::numrange)$$),
	('NULL column', $$ROW(NULL::integer)$$, $$ROW(NULL::text)$$);
SELECT what, (SELECT count(*) FROM (VALUES ('%1$s + %2$s'), ('%1$s @> %2$s'), ('%2$s <@ %1$s'), ('%1$s - %2$s'), ('cuckoo_count(%1$s, %2$s)'), ('cuckoo_add(%1$s, %2$s)')) AS v (q)
		WHERE outcome('SELECT ' || format(q, '(cuckoo_new() + ' || f || ')', g)) LIKE '42804 | key type does not match cuckoofilter%|%signature%signature%') AS refused_of_6,
	(SELECT count(*) FROM (VALUES ('%s | %s'), ('cuckoo_union_all(%s, %s)')) AS v (q)
		WHERE outcome('SELECT ' || format(q, '(cuckoo_new() + ' || f || ')', '(cuckoo_new() + ' || g || ')')) LIKE '42804 | cuckoofilters with different key types%') AS refused_of_2,
	left(outcome(format('SELECT merge_states(s) FROM (SELECT state_of(%s) AS s UNION ALL SELECT state_of(%s)) AS x', f, g)), 54) AS states
FROM nested;

-- A column that cannot be part of a key is named, also in a row in a row.
CREATE TYPE json_row AS (i integer, j json);
CREATE TYPE json_outer_row AS (a integer, r json_row);
SELECT cuckoo_new() + ROW(1, ROW(2, '{}'))::json_outer_row;

-- A label that an enum no longer has
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TABLE shades AS SELECT 'dark'::shade AS s;
DELETE FROM pg_enum WHERE enumtypid = 'shade'::regtype AND enumlabel = 'dark';
SELECT regexp_replace(outcome('SELECT cuckoo_hash(s) FROM shades'), '\d+$', 'N');

-- A function whose declaration is older than the library
CREATE FUNCTION older_info(cuckoofilter, OUT format_version integer, OUT representation text)
	LANGUAGE c AS '$libdir/cuckoo', 'cuckoo_info';
SELECT older_info(cuckoo_new());

-- Text is read in pieces of four million characters: padding at the end of a
-- piece that is not the last
SELECT outcome(format('SELECT %L::cuckoofilter', repeat('A', 4194302) || padding || 'AAAA')) FROM unnest('{==,A=}'::text[]) AS padding;

-- Casts are never implicit, and some operators do not exist or bind otherwise.  The
-- messages are PostgreSQL's and differ between versions.
SELECT left(outcome(query), 5) FROM unnest(ARRAY['SELECT length(numbers) FROM f', $$INSERT INTO f (numbers) VALUES ('\x00'::bytea)$$,
	'SELECT numbers && numbers FROM f', 'SELECT 1 <@ numbers | numbers FROM f']) AS query;
