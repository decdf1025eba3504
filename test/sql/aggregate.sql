-- Aggregates: the filter they return, however they are called
--
-- Same set, same bytes: if two ways must agree, filters are compared with =.
-- agg_plans.sql tests how the planner splits and orders aggregation.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
CREATE VIEW keys AS SELECT i AS k, 'key ' || i AS t, i % 7 AS g FROM generate_series(1, 1000) AS i;

-- Every key is found, the rate is kept, each distinct key counts once.
SELECT i.representation, i.key_type, i.items, i.capacity, i.target_fpr, i.subfilters, i.removable, i.expected_fpr <= i.target_fpr AS kept,
	(SELECT count(*) FROM keys WHERE f @> t) AS found,
	(SELECT count(*) FROM generate_series(1, 100000) AS a WHERE f @> ('absent ' || a)) <= 100000 * cuckoo_fpr(f) + 5 * sqrt(100000 * cuckoo_fpr(f)) AS rate,
	(SELECT count(*) FROM keys WHERE cuckoo_count(f, t) = 1) >= 990 AS once
FROM (SELECT cuckoo_agg(t) AS f FROM (SELECT t FROM keys UNION ALL SELECT t FROM keys) AS twice OFFSET 0) AS made, cuckoo_info(f) AS i;

-- Arities: the filter has the rate and capacity specified.
SELECT arity, i.target_fpr, i.capacity, i.items, i.representation, i.fingerprint_bits, i.load > 0.9 AS full FROM (
	SELECT 1 AS arity, cuckoo_agg(k) AS f FROM keys UNION ALL SELECT 2, cuckoo_agg(k, NULL, 0.05) FROM keys
	UNION ALL SELECT 3, cuckoo_agg(k, 5000, 0.05) FROM keys UNION ALL SELECT 3, cuckoo_agg(k, 10, 0.05) FROM keys
	UNION ALL SELECT 3, cuckoo_agg(k, 1e4, 1e-6) FROM keys UNION ALL SELECT 3, cuckoo_agg(k, 100000, 0.001) FROM keys WHERE k <= 5) AS made, cuckoo_info(f) AS i;

-- A capacity larger than the number of keys leaves room: one table holds as
-- many keys as specified, at the target rate.
SELECT i.subfilters, i.items, i.expected_fpr <= i.target_fpr AS kept, cuckoo_cardinality(f) AS before
FROM (SELECT cuckoo_agg(k, 5000, 0.001) AS f FROM keys) AS made, cuckoo_info(cuckoo_add_all(f, ARRAY(SELECT generate_series(1001, 5000)))) AS i;

-- The same as the array function, whatever the order, the repetitions and the
-- way of calling
SELECT cuckoo_agg(k) = cuckoo_from_array(array_agg(k)) AS from_array, cuckoo_agg(k ORDER BY k DESC) = cuckoo_agg(k) AS descending,
	cuckoo_agg(k ORDER BY md5(t)) = cuckoo_agg(k) AS shuffled, cuckoo_agg(DISTINCT k) = cuckoo_agg(k) AS "distinct",
	cuckoo_agg(k::smallint) = cuckoo_agg(k::bigint) AS widths, cuckoo_agg(t) = cuckoo_agg(t::name) AS text, cuckoo_agg(t, NULL, 0.01) = cuckoo_from_array(array_agg(t), NULL, 0.01) AS rate
FROM (SELECT k, t FROM keys UNION ALL SELECT k, t FROM keys WHERE g < 4) AS repeated;
SELECT cuckoo_agg(g) = cuckoo_from_array('{0,1,2,3,4,5,6}'::integer[]) AS few, cuckoo_agg(DISTINCT g) = cuckoo_agg(g) AS few_distinct,
	cuckoo_agg(k) FILTER (WHERE g = 3) = cuckoo_from_array(array_agg(k) FILTER (WHERE g = 3)) AS filter,
	cuckoo_agg(k % 100 ORDER BY k, t) = cuckoo_from_array(ARRAY(SELECT generate_series(0, 99))) AS ordered,
	cuckoo_agg(DISTINCT k, NULL, 0.01) = cuckoo_agg(k, NULL, 0.01) AS distinct_two, cuckoo_agg(DISTINCT k, 2000, 0.01) = cuckoo_agg(k, 2000, 0.01) AS distinct_three,
	cuckoo_agg(ARRAY[k, g]) = cuckoo_agg(DISTINCT ARRAY[k, g]) AS arrays, cuckoo_agg(ROW(k, t)) = cuckoo_agg(ROW(k, t) ORDER BY t) AS rows
FROM keys;

-- The keys of an aggregate can be removed, one copy each.
SELECT cuckoo_cardinality(cuckoo_remove_all(cuckoo_agg(k), array_agg(k))) AS items, cuckoo_remove_all(cuckoo_agg(k), array_agg(k) FILTER (WHERE k > 20)) @> 20 AS kept FROM keys;

-- Seeds: an aggregate or array function with a seed gives the same as adding
-- the keys to a new filter with that seed.  Whatever the seed, all keys are
-- found.
SELECT s, bool_and((cuckoo_info(f)).seed = coalesce(s, 0)) AS seed, bool_and(f = cuckoo_add_all(cuckoo_new(c, 0.01, s), keys)) AS as_new, bool_and(f @> ALL (keys)) AS found,
	bool_and(f = cuckoo_from_array(keys, c, 0.01, s)) AS as_array, bool_and(words = cuckoo_add_all(cuckoo_new(c, 0.01, s), ARRAY(SELECT unnest(keys)::text))) AS text,
	bool_and(rows = cuckoo_from_array(ARRAY(SELECT ROW(k) FROM unnest(keys) AS k), c, 0.01, s)) AS polymorphic, bool_and((f = cuckoo_agg) = (coalesce(s, 0) = 0)) AS other_than_0
FROM unnest('{0,1,-1,9223372036854775807,-9223372036854775808,NULL}'::bigint[]) AS s, unnest('{NULL,2000}'::integer[]) AS c,
	LATERAL (SELECT array_agg(k) AS keys, cuckoo_agg(k, c, 0.01, s) AS f, cuckoo_agg(k::text, c, 0.01, s) AS words, cuckoo_agg(ROW(k), c, 0.01, s) AS rows, cuckoo_agg(k, c, 0.01) FROM keys) AS made
GROUP BY s ORDER BY s;
SELECT s, m = cuckoo_add_all(cuckoo_new(4000, 0.01, s), keys) AS multiset, (cuckoo_info(t)).seed = s AND t @> ALL (keys) AS stream,
	(SELECT bool_and(f = cuckoo_from_array(ARRAY(SELECT generate_series(1, k)), NULL, 0.01, s)) FROM (SELECT k, cuckoo_agg(k, NULL, 0.01, s) OVER (ORDER BY k) AS f FROM keys WHERE k
	<= 50) AS x) AS window
FROM unnest('{0,-5,42}'::bigint[]) AS s,
	LATERAL (SELECT array_agg(k) AS keys, cuckoo_multiset_agg(k, 4000, 0.01, s) AS m, cuckoo_stream_agg(k, 4000, 0.01, s) AS t FROM (SELECT k FROM keys UNION ALL SELECT k FROM keys) AS twice) AS made;
-- NULL keys do not change the seed.
SELECT cuckoo_agg(NULL::integer, NULL, 0.01, 7) = cuckoo_new(NULL, 0.01, 7) AS agg, cuckoo_multiset_agg(NULL::text, 100, 0.01, 7) = cuckoo_new(100, 0.01, 7) AS multiset,
	cuckoo_from_array('{NULL}'::text[], NULL, 0.01, 7) = cuckoo_new(NULL, 0.01, 7) AS "array",
	cuckoo_agg(CASE WHEN k = 3 THEN k END, NULL, 0.01, 7) = cuckoo_new(NULL, 0.01, 7) + 3 AS some FROM generate_series(1, 5) AS k;

-- Groups
SELECT g, cuckoo_cardinality(f) AS items, f = ALL (ARRAY[g2, g3]) AS same FROM (
	SELECT g, cuckoo_agg(k) AS f, cuckoo_from_array(array_agg(k)) AS g2, cuckoo_agg(k ORDER BY t DESC) AS g3 FROM keys GROUP BY g) AS grouped ORDER BY g;
-- Every level of ROLLUP and other grouping sets
SELECT count(*) AS groups, bool_and(f = CASE WHEN h IS NOT NULL THEN (SELECT cuckoo_agg(k) FROM keys WHERE g % 3 = x.g AND k % 2 = h)
		WHEN g IS NOT NULL THEN (SELECT cuckoo_agg(k) FROM keys WHERE g % 3 = x.g) ELSE (SELECT cuckoo_agg(k) FROM keys) END) AS same
FROM (SELECT g % 3 AS g, k % 2 AS h, cuckoo_agg(k) AS f FROM keys GROUP BY ROLLUP (g % 3, k % 2)) AS x;
SELECT count(*) AS groups, sum(cuckoo_cardinality(f)) AS items FROM (SELECT cuckoo_agg(k) AS f FROM keys GROUP BY CUBE (g, k % 2, k % 3)) AS x;

---- Windows: the state is used further after a filter was made from it
SELECT count(*) AS rows,
	bool_and(running = cuckoo_from_array(ARRAY(SELECT i FROM generate_series(1, k) AS i))) AS running,
	bool_and(sliding = cuckoo_from_array(ARRAY(SELECT i FROM generate_series(greatest(k - 40, 1), k) AS i))) AS sliding,
	bool_and(remaining = cuckoo_from_array(ARRAY(SELECT i FROM generate_series(k, 200) AS i))) AS remaining,
	bool_and(whole = (SELECT cuckoo_agg(i) FROM generate_series(1, 200) AS i)) AS whole,
	bool_and(part = (SELECT cuckoo_agg(i.k) FROM keys AS i WHERE i.g = w.g AND i.k <= 200)) AS part,
	bool_and(others = (SELECT cuckoo_agg(i) FILTER (WHERE i <> k) FROM generate_series(1, 200) AS i)) AS others,
	bool_and(words = cuckoo_from_array(ARRAY(SELECT 'key ' || i FROM generate_series(1, k) AS i), NULL, 0.02)) AS words,
	bool_and(rows = (SELECT cuckoo_agg(ROW(i)) FROM generate_series(1, k) AS i)) AS polymorphic,
	bool_and(peers = (SELECT cuckoo_agg(i.k) FROM keys AS i WHERE i.g <= w.g AND i.k <= 200)) AS peers,
	bool_and(again = running) AS again
FROM (SELECT k, g, cuckoo_agg(k) OVER (ORDER BY k) AS running, cuckoo_agg(k) OVER (ORDER BY k ROWS 40 PRECEDING) AS sliding,
		cuckoo_agg(k) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS remaining, cuckoo_agg(k) OVER () AS whole,
		cuckoo_agg(k) OVER (PARTITION BY g) AS part, cuckoo_agg(k) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS others,
		cuckoo_agg(t, NULL, 0.02) OVER (ORDER BY k) AS words, cuckoo_agg(ROW(k)) OVER (ORDER BY k) AS rows, cuckoo_agg(k) OVER (ORDER BY g) AS peers,
		cuckoo_agg(k) FILTER (WHERE k > 0) OVER (ORDER BY k) AS again FROM keys WHERE k <= 200) AS w;
-- A frame that is empty at first
SELECT string_agg(cuckoo_cardinality(f)::text, ' ' ORDER BY k) AS items
FROM (SELECT k, cuckoo_agg(CASE WHEN k > 2 THEN k END) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS f FROM keys WHERE k < 7) AS w;
-- Large states in windows: five peer groups of 60,000
SELECT count(*) AS groups, bool_and(f = (SELECT cuckoo_agg(i) FROM generate_series(0, p * 60000 + 59999) AS i)) AS same
FROM (SELECT DISTINCT ON (p) p, f FROM (SELECT i / 60000 AS p, cuckoo_agg(i) OVER (ORDER BY i / 60000) AS f FROM generate_series(0, 299999) AS i) AS w ORDER BY p) AS w;

---- States of every size: lists of hashes, from which repetitions are dropped
---- when they are full.  A flat one has at most 32,768 distinct hashes then.
SELECT n, repeats, cuckoo_cardinality(f) = n AS items, f = cuckoo_from_array(ARRAY(SELECT generate_series(1, n))) AS same,
	(SELECT bool_and(f @> i) FROM generate_series(1, n) AS i) AS found
FROM (VALUES (1, 1), (5, 100000), (6, 1), (7, 3), (8, 1), (33, 1), (1000, 2), (5000, 1), (32768, 5), (32769, 4), (32769, 5), (131072, 1), (131072, 2), (131073, 1),
	(200000, 2), (120000, 10), (524288, 1), (600000, 1), (300000, 3)) AS sizes (n, repeats),
	LATERAL (SELECT cuckoo_agg(i % n + 1) AS f FROM generate_series(0, n * repeats - 1) AS i OFFSET 0) AS made;
-- Repetitions next to each other, and spread
SELECT cuckoo_agg(i / 4) = cuckoo_agg(i) FILTER (WHERE i < 200000) AS adjacent, cuckoo_agg(i::bigint * 7919 % 200000) = cuckoo_agg(i) FILTER (WHERE i < 200000) AS scattered,
	cuckoo_agg(i % 10) = cuckoo_from_array('{0,1,2,3,4,5,6,7,8,9}'::integer[]) AS few
FROM generate_series(0, 799999) AS i;
-- Keys whose hashes have bits in common change nothing.
SELECT cuckoo_cardinality(cuckoo_agg(i)) > 257 AS enough, cuckoo_agg(i) = cuckoo_from_array(array_agg(i)) AS same, cuckoo_agg(i) = cuckoo_agg(i ORDER BY i DESC) AS reversed
FROM generate_series(1, 350000) AS i WHERE ((cuckoo_hash(i) # (cuckoo_hash(i) >> 32)) & 1023) = 5;

---- User-defined aggregates over the same functions, such as a planner that
---- splits aggregation between servers uses: states are sent as text.
CREATE AGGREGATE merge_to_state(cuckoofilter) (SFUNC = cuckoo_agg_combine, STYPE = cuckoofilter);

-- The state and the filter of one transition, which the executor shares
SELECT (cuckoo_info(state_of(k))).representation AS state, (cuckoo_info(cuckoo_agg(k))).representation AS filter, (cuckoo_info(state_of(k))).items,
	merge_states(s) = cuckoo_agg(k) AS merged
FROM keys, (SELECT state_of(k) AS s FROM keys) AS states;

CREATE TABLE states AS
	SELECT n, i % 4 AS server, state_of(i) AS s, cuckoo_agg(i) AS f FROM (VALUES (3), (20), (1000), (150000), (600000)) AS sizes (n), generate_series(1, n) AS i GROUP BY n, i % 4;
SELECT n, (cuckoo_info((array_agg(s))[1])).representation AS representation, count(*) AS servers,
	merge_states(s) = (SELECT cuckoo_agg(i) FROM generate_series(1, n) AS i) AS stored, merge_states(s::text::cuckoofilter) = merge_states(s) AS as_text,
	merge_states(s::text::cuckoofilter ORDER BY server DESC) = merge_states(s) AS reversed,
	merge_states(s) FILTER (WHERE server <> 2) = (SELECT cuckoo_agg(i) FROM generate_series(1, n) AS i WHERE i % 4 <> 2) AS some
FROM states GROUP BY n ORDER BY n;
-- In two steps
SELECT n, merge_states(s) = (SELECT cuckoo_agg(i) FROM generate_series(1, n) AS i) AS same FROM (SELECT n, merge_to_state(s) AS s FROM states GROUP BY n, server % 2) AS halves GROUP BY n ORDER BY n;
-- Few hashes that come after many
SELECT merge_states(s ORDER BY place) = (SELECT cuckoo_agg(i) FROM generate_series(1, 601000) AS i) AS same
FROM (SELECT 1 AS place, s::text::cuckoofilter FROM states WHERE n = 600000 UNION ALL
	SELECT 2, state_of(i)::text::cuckoofilter FROM generate_series(599001, 601000) AS i GROUP BY i % 20) AS parts;
-- Parameters are part of the state; NULL states and servers without rows change
-- nothing.
SELECT merge_states(s) = (SELECT cuckoo_agg(i, 500, 0.01) FROM generate_series(1, 100) AS i) AS parameters
FROM (SELECT state_of(i, 500, 0.01) AS s FROM generate_series(1, 100) AS i GROUP BY i % 3 UNION ALL SELECT NULL) AS states;
SELECT merge_states(NULL::cuckoofilter) = (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i) AS nothing, merge_to_state(NULL::cuckoofilter) IS NULL AS no_state;

-- A server with only NULL keys has the parameters, but no key type yet.
SELECT merge_states(s ORDER BY server) = cuckoo_new(500, 0.01) + 3 AS first, merge_states(s ORDER BY server DESC) = cuckoo_new(500, 0.01) + 3 AS last,
	merge_states(s::text::cuckoofilter ORDER BY server) = cuckoo_new(500, 0.01) + 3 AS as_text, merge_states(s) FILTER (WHERE server < 3) = cuckoo_new(500, 0.01) AS no_keys
FROM (SELECT i AS server, state_of(CASE WHEN i = 3 THEN i END, 500, 0.01) AS s FROM generate_series(1, 3) AS i GROUP BY i) AS states;

-- Hashes that are not spread at all, including the hash 0: 0 to n - 1, once and
-- three times
CREATE TABLE skewed AS SELECT n, decode('0101010000000000' || 'fca9f1d24d62503f' || repeat('00', 20), 'hex')
	|| string_agg(substr(int8send(i), 8, 1) || substr(int8send(i), 7, 1) || substr(int8send(i), 6, 1) || '\x0000000000', '' ORDER BY i) || '\x0000000000000000' AS state
	FROM unnest('{20,100000}'::integer[]) AS n, generate_series(0, n - 1) AS i GROUP BY n;
SELECT n, decode(merge_to_state(state::cuckoofilter) FILTER (WHERE i = 1)::text, 'base64') = state AS once, decode(merge_to_state(state::cuckoofilter)::text, 'base64') = state AS three_times
FROM skewed, generate_series(1, 3) AS i GROUP BY n, state ORDER BY n;

-- A state in its form in memory, added to another one and stored out of line.
-- One key has the hash 0.
\set zero_key 8964796688098990488
SELECT cuckoo_hash(:zero_key::bigint) AS hash;
SELECT merge_states(s) = cuckoo_from_array(ARRAY[:zero_key, 1, 2]::bigint[]) AS same
FROM (SELECT state_of(k) AS s FROM (VALUES (1, :zero_key), (1, 1), (2, 2), (2, :zero_key)) AS v (worker, k) GROUP BY worker) AS states;
CREATE FUNCTION last_of(cuckoofilter, cuckoofilter) RETURNS cuckoofilter LANGUAGE sql RETURN $2;
CREATE AGGREGATE final_of(cuckoofilter) (SFUNC = last_of, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final);
SELECT n, final_of(s) = cuckoo_from_array(ARRAY(SELECT generate_series(4, n, 4))) AS same FROM states WHERE server = 0 GROUP BY n ORDER BY n;

-- Text, binary and bytea forms are the same: the portable partial state.
SELECT n, bool_and(s::bytea = decode(s::text, 'base64') AND cuckoofilter_send(s) = s::bytea) AS same, merge_states(s::bytea::cuckoofilter) = merge_states(s) AS read FROM states GROUP BY n ORDER BY n;

-- A stored state may be damaged.  Whichever byte is changed (except the one
-- that marks it as a state), its aggregate refuses it or makes a valid filter.
-- byteasend copies a value as it is.
CREATE FUNCTION raw(cuckoofilter) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION from_raw(bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION outcome(query text, state cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	EXECUTE query INTO f USING state;
	RETURN 'filter of ' || CASE WHEN f::text::cuckoofilter = f THEN 'valid' ELSE 'other' END || ' bytes';
EXCEPTION WHEN object_not_in_prerequisite_state OR program_limit_exceeded OR invalid_parameter_value OR datatype_mismatch THEN
	RETURN 'an error';
END $$;
-- With ten keys it is stored with a header of four bytes, and read in place.
CREATE TABLE damaged AS SELECT from_raw(set_byte(r, at, value)) AS s
FROM (SELECT raw(state_of(i)) AS r FROM generate_series(1, 10) AS i) AS x, generate_series(0, length(r) - 1) AS at, unnest('{0,1,2,4,127,128,255}'::integer[]) AS value
WHERE at <> 1;
SELECT part, outcome FROM damaged, (VALUES ('final', 'SELECT final_of($1)'), ('combine', 'SELECT merge_states(x) FROM (SELECT state_of(99) UNION ALL SELECT $1) AS v (x)'),
	('output', 'SELECT merge_states($1::text::cuckoofilter)')) AS v (part, query), outcome(query, s) GROUP BY part, outcome ORDER BY part, outcome;

-- A partial state as the start of another aggregate
SELECT state_of(i)::text AS state FROM generate_series(1, 2) AS i \gset
CREATE AGGREGATE continued_agg(integer) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final, INITCOND = :'state');
SELECT continued_agg(i) = cuckoo_from_array('{1,2,3,4}'::integer[]) AS continued, continued_agg(NULL) = cuckoo_from_array('{1,2}'::integer[]) AS only_start FROM generate_series(3, 4) AS i;
SELECT i, continued_agg(i) OVER (ORDER BY i) = cuckoo_from_array(ARRAY(SELECT generate_series(1, i))) AS running FROM generate_series(3, 5) AS i;
