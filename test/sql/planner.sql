--
-- Planner: estimates of the rows that pass a filter, and the order in which
-- conditions are checked
--
-- Estimates must be within a factor of the truth, because they differ a little
-- between versions.  Tables are small enough for ANALYZE to read them whole.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
\pset format unaligned
\pset footer off

CREATE SCHEMA planner_test;
SET search_path = planner_test, public;
SET max_parallel_workers_per_gather = 0;

-- The number of rows that the planner expects.
CREATE FUNCTION rows_expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

-- Whether that is within a factor of two of the rows returned
CREATE FUNCTION verdict(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected float8 := rows_expected(query);
	found float8;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) AS q', query) INTO found;
	RETURN CASE
		WHEN expected BETWEEN found / 2 AND greatest(found * 2, 1) THEN 'good'
		ELSE format('expected %s, found %s', expected, found)
	END;
END $$;

-- The same for a condition with the filter as %L.
CREATE FUNCTION verdict(condition text, f cuckoofilter, relation regclass) RETURNS text
RETURN verdict(format('SELECT FROM %s WHERE ', relation) || format(condition, f));

-- The fraction of a table that the planner expects.
CREATE FUNCTION fraction(query text, relation regclass) RETURNS numeric
RETURN round((rows_expected(query) / rows_expected('SELECT FROM ' || relation))::numeric, 3);

-- Uniform: every value occurs once, or ten times.
CREATE TABLE uniform AS
	SELECT i AS id, i::bigint AS big, i / 10 AS ten, 'key ' || i AS txt, i::numeric / 2 AS num,
		date '2000-01-01' + i AS day, CASE WHEN i % 4 = 0 THEN i END AS sparse
	FROM generate_series(1, 20000) AS i;
-- Skewed: key k occurs 3000 / k times, the last ones twice.  There are fewer
-- than 30,000 rows, so ANALYZE reads all of them, and its statistics are the
-- same each time.
CREATE TABLE skewed AS
	SELECT k AS id, 'key ' || k AS txt
	FROM generate_series(1, 6000) AS k, generate_series(1, greatest(3000 / k, 2))
	WHERE k <= 3000;
ANALYZE uniform;
ANALYZE skewed;

-- Filters that hold few, some, most or all values of a column.
SELECT what, verdict('%L::cuckoofilter @> id', f, 'uniform') AS id,
	verdict('cuckoo_contains(%L, id)', f, 'uniform') AS function,
	verdict('id <@ %L::cuckoofilter', f, 'uniform') AS contained,
	verdict('%L::cuckoofilter @> big', f, 'uniform') AS big
FROM (VALUES
	('ten', (SELECT cuckoo_agg(i) FROM generate_series(4, 40, 4) AS i)),
	('1 % together', (SELECT cuckoo_agg(i) FROM generate_series(1, 200) AS i)),
	('1 % spread', (SELECT cuckoo_agg(i * 7919 % 20000) FROM generate_series(1, 200) AS i)),
	('in step', (SELECT cuckoo_agg(i) FROM generate_series(100, 20000, 100) AS i)),
	('out of step', (SELECT cuckoo_agg(i) FROM generate_series(3, 20000, 10) AS i)),
	('20 % spread', (SELECT cuckoo_agg(i * 7919 % 20000) FROM generate_series(1, 4000) AS i)),
	('90 %', (SELECT cuckoo_agg(i) FROM generate_series(1, 18000) AS i)),
	('all', (SELECT cuckoo_agg(i) FROM generate_series(1, 20000) AS i))) AS v(what, f);

SELECT what, verdict('%L::cuckoofilter @> txt', f, 'uniform') AS txt
FROM (VALUES
	('1 % spread', (SELECT cuckoo_agg('key ' || i) FROM generate_series(100, 20000, 100) AS i)),
	('half', (SELECT cuckoo_agg('key ' || i) FROM generate_series(1, 10000) AS i))) AS v(what, f);

SELECT verdict('%L::cuckoofilter @> sparse', (SELECT cuckoo_agg(i) FROM generate_series(1, 500) AS i), 'uniform') AS sparse,
	verdict('%L::cuckoofilter @> ten', (SELECT cuckoo_agg(i) FROM generate_series(10, 2000, 10) AS i), 'uniform') AS ten,
	verdict('%L::cuckoofilter @> num', (SELECT cuckoo_agg(i::numeric / 2) FROM generate_series(1, 500) AS i), 'uniform') AS num,
	verdict('%L::cuckoofilter @> day', (SELECT cuckoo_agg(date '2000-01-01' + i) FROM generate_series(1, 500) AS i), 'uniform') AS day;

-- Skewed: it matters which keys there are, not how many.
SELECT what, verdict('%L::cuckoofilter @> id', f, 'skewed') AS id,
	verdict('%L::cuckoofilter @> txt', t, 'skewed') AS txt
FROM (VALUES
	('frequent', (SELECT cuckoo_agg(i) FROM generate_series(1, 5) AS i),
		(SELECT cuckoo_agg('key ' || i) FROM generate_series(1, 5) AS i)),
	('rare', (SELECT cuckoo_agg(i) FROM generate_series(2001, 2900) AS i),
		(SELECT cuckoo_agg('key ' || i) FROM generate_series(2001, 2900) AS i)),
	('every seventh', (SELECT cuckoo_agg(i) FROM generate_series(7, 3000, 7) AS i),
		(SELECT cuckoo_agg('key ' || i) FROM generate_series(7, 3000, 7) AS i)),
	('all but the first', (SELECT cuckoo_agg(i) FROM generate_series(2, 3000) AS i),
		(SELECT cuckoo_agg('key ' || i) FROM generate_series(2, 3000) AS i))) AS v(what, f, t);

-- Common values for which there is no room in the list of the most common ones:
-- there are few keys, and most of the sample is found.
CREATE TABLE runners_up AS
	SELECT k AS id FROM generate_series(1, 580) AS k, generate_series(1, CASE WHEN k <= 20 THEN 60 WHEN k <= 80 THEN 40 ELSE 1 END);
ALTER TABLE runners_up ALTER id SET STATISTICS 20;
ANALYZE runners_up;
SELECT verdict('%L::cuckoofilter @> id', (SELECT cuckoo_agg(i) FROM generate_series(21, 80) AS i), 'runners_up') AS "runners-up";

-- Keys that do not occur in the column do not count.
SELECT what, verdict('%L::cuckoofilter @> id', f, 'uniform') AS uniform,
	verdict('%L::cuckoofilter @> id', f, 'skewed') AS skewed
FROM (VALUES
	('some', (SELECT cuckoo_agg(i) FROM generate_series(-60000, 3000) AS i)),
	('most', (SELECT cuckoo_agg(i) FROM generate_series(-60000, 17000) AS i))) AS v(what, f);
SELECT rows_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> id', cuckoo_agg(-i))) <= 10
	AS "no key occurs, few in all"
FROM generate_series(1, 10) AS i;
SELECT fraction(format('SELECT FROM uniform WHERE %L::cuckoofilter @> id', cuckoo_agg(-i)), 'uniform') <= 0.02
	AS "no key occurs, many in all"
FROM generate_series(1, 60000) AS i;
SELECT rows_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> id', f)) AS "empty"
FROM (VALUES (cuckoo_new()), ((SELECT cuckoo_agg(id) FROM uniform WHERE false))) AS v(f);
CREATE TABLE narrow AS SELECT i::smallint AS id FROM generate_series(-1000, 4000) AS i;
ANALYZE narrow;
SELECT verdict('%L::cuckoofilter @> id', (SELECT cuckoo_agg(i) FROM generate_series(-1000, 1000) AS i), 'narrow') AS smallint,
	rows_expected(format('SELECT FROM narrow WHERE %L::cuckoofilter @> id', (SELECT cuckoo_agg(i) FROM generate_series(5000, 8000) AS i))) < 100 AS "no key occurs";

-- Unknown filters, and whole tables of filters.
CREATE TABLE filters AS
	SELECT s AS shard, (SELECT cuckoo_agg(id) FROM uniform WHERE id % 100 = s) AS f
	FROM generate_series(0, 99) AS s;
ANALYZE filters;
SELECT fraction('SELECT FROM uniform WHERE (SELECT f FROM filters WHERE shard = 1) @> id', 'uniform') AS "sub-select",
	fraction('SELECT FROM uniform WHERE cuckoo_contains((SELECT f FROM filters WHERE shard = 1), id)', 'uniform') AS function,
	fraction('SELECT FROM uniform, filters WHERE shard = 1 AND f @> id', 'uniform') AS "join",
	fraction('SELECT FROM uniform, filters WHERE cuckoo_contains(f, id)', 'uniform') AS "join by function, 100 filters",
	fraction('SELECT FROM uniform WHERE EXISTS (SELECT FROM filters WHERE id <@ f)', 'uniform') AS "semi-join",
	fraction('SELECT FROM filters WHERE f @> 42', 'filters') AS "table of filters",
	fraction('SELECT FROM filters WHERE f @> NULL::integer', 'filters') AS "NULL key",
	fraction('SELECT FROM uniform WHERE NULL::cuckoofilter @> id', 'uniform') AS "NULL filter";

-- The values of stable functions and parameters are known if a plan is made for
-- them.
CREATE FUNCTION stable_filter() RETURNS cuckoofilter LANGUAGE sql STABLE AS
$$SELECT cuckoo_agg(i) FROM generate_series(1, 200) AS i$$;
SELECT verdict('SELECT FROM uniform WHERE stable_filter() @> id') AS stable;
-- The rows that the planner expects below the top.
CREATE FUNCTION inner_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' -> 'Plans' -> 0 ->> 'Plan Rows';
END $$;
PREPARE asking(cuckoofilter) AS SELECT count(*) FROM uniform WHERE $1 @> id;
SET plan_cache_mode = force_custom_plan;
SELECT inner_rows(format('EXECUTE asking(%L)', f)) BETWEEN 100 AND 400 AS custom FROM filters WHERE shard = 1;
SET plan_cache_mode = force_generic_plan;
SELECT inner_rows(format('EXECUTE asking(%L)', f)) AS generic FROM filters WHERE shard = 1;
RESET plan_cache_mode;

-- A filter in a variable, which may be a TOAST pointer, is also known.
CREATE TABLE stored AS
	SELECT cuckoo_agg(i) AS f FROM generate_series(1, 10000) AS i;
CREATE FUNCTION variable_rows(filter cuckoofilter) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM uniform WHERE $1 @> id' INTO plan USING filter;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT variable_rows(f) BETWEEN 5000 AND 20000 AS "half the rows" FROM stored;

-- Nothing is known about the column.
CREATE TABLE fresh WITH (autovacuum_enabled = off) AS SELECT * FROM uniform;
SELECT rows_expected(format('SELECT FROM fresh WHERE %L::cuckoofilter @> id', f)) > 0 AS "no statistics",
	rows_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> (id + 1)', f)) > 0 AS "expression",
	rows_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> ROW(id, big)', cuckoo_new())) > 0 AS "row"
FROM filters WHERE shard = 1;

-- Errors in a lookup are raised when it is executed, not before.
SELECT rows_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> txt', f)) > 0 AS "planned"
FROM filters WHERE shard = 1;
SELECT format('SELECT id FROM uniform WHERE id < 0 AND %L::cuckoofilter @> txt', f) AS query FROM filters WHERE shard = 1 \gset
:query;
SELECT format('SELECT id FROM uniform WHERE %L::cuckoofilter @> txt', f) AS query FROM filters WHERE shard = 1 \gset
\set VERBOSITY terse
:query;
CREATE COLLATION nondeterministic (provider = icu, locale = 'und', deterministic = false);
CREATE TYPE pair AS (a json, b integer);
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE two AS (a integer, b text);
CREATE TABLE awkward (
	folded text COLLATE nondeterministic, j json, p pair, m mood, r int4range, a text[], b jsonb, c "char", n name, o oid, t two);
INSERT INTO awkward
	SELECT 'x' || i, '{}', NULL, 'sad', int4range(i, i + 1), ARRAY['x' || i], to_jsonb(i), 'c', 'n' || i, i, (i, 'x')::two
	FROM generate_series(1, 1000) AS i;
ANALYZE awkward;
SELECT attname, rows_expected(format('SELECT FROM awkward WHERE %L::cuckoofilter @> %I', f, attname)) >= 0 AS planned
FROM (SELECT cuckoo_add(cuckoo_new(), 'x1'::text)) AS v(f), pg_attribute
WHERE attrelid = 'awkward'::regclass AND attnum > 0 ORDER BY attnum;
SELECT column_name, verdict(format('SELECT FROM awkward WHERE %L::cuckoofilter @> %I', f, column_name)) AS verdict
FROM (VALUES
	('m', (SELECT cuckoo_agg(m) FROM awkward)),
	('r', (SELECT cuckoo_agg(r) FROM awkward WHERE lower(r) <= 500)),
	('a', (SELECT cuckoo_agg(a) FROM awkward WHERE lower(r) <= 500)),
	('b', (SELECT cuckoo_agg(b) FROM awkward WHERE lower(r) <= 500)),
	('c', (SELECT cuckoo_agg(c) FROM awkward)),
	('n', (SELECT cuckoo_agg(n) FROM awkward WHERE lower(r) <= 500)),
	('o', (SELECT cuckoo_agg(o) FROM awkward WHERE lower(r) <= 500)),
	('t', (SELECT cuckoo_agg(t) FROM awkward WHERE lower(r) <= 500))) AS v(column_name, f);

-- Anyone may use the estimator for their own operator.
CREATE FUNCTION impostor(bytea, anycompatible) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR @@> (
	LEFTARG = bytea, RIGHTARG = anycompatible, FUNCTION = impostor,
	RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel
);
SELECT fraction($$SELECT FROM uniform WHERE '\x01'::bytea @@> id$$, 'uniform') > 0 AS "another type's bytes",
	rows_expected('SELECT FROM uniform WHERE NULL::bytea @@> id') AS "not strict, NULL";
-- A superuser may use the support function for functions with any arguments.
CREATE FUNCTION three_arguments(cuckoofilter, integer, integer) RETURNS boolean SUPPORT cuckoo_contains_support
	LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE FUNCTION not_strict(cuckoofilter, anycompatiblearray) RETURNS boolean SUPPORT cuckoo_contains_support
	LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
SELECT fraction(format('SELECT FROM uniform WHERE three_arguments(%L, id, 1)', cuckoo_new()), 'uniform') AS "three arguments",
	fraction('SELECT FROM uniform WHERE not_strict((SELECT f FROM filters WHERE shard = id), NULL::integer[])', 'uniform') > 0 AS "NULL array";

-- Statistics are used only for users who may read the column.
CREATE ROLE regress_cuckoo_reader;
GRANT USAGE ON SCHEMA planner_test TO regress_cuckoo_reader;
GRANT SELECT ON skewed TO regress_cuckoo_reader;
ALTER TABLE skewed ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON skewed USING (id > 1);
CREATE FUNCTION five_most_common() RETURNS float8 LANGUAGE sql AS
$$SELECT rows_expected(format('SELECT FROM skewed WHERE %L::cuckoofilter @> id', cuckoo_agg(i))) FROM generate_series(1, 5) AS i$$;
SELECT five_most_common() > 5000 AS "by frequency";
SET ROLE regress_cuckoo_reader;
SELECT five_most_common() < 200 AS "by number of keys";
RESET ROLE;

-- Order: cheap conditions, the filter, expensive functions, sub-selects.
CREATE FUNCTION expensive(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 0; END';
CREATE FUNCTION condition_order(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Filter: .*expensive' THEN
			-- The result of a sub-select is called $0 up to 16, (InitPlan 1).col1
			-- in 17 and 18, and (InitPlan expr_1).col1 in 19.
			RETURN regexp_replace(replace(ltrim(line), 'Plan expr_', 'Plan '), '\$\d+|\(InitPlan \d+\)\.col\d+', 'f', 'g');
		END IF;
	END LOOP;
END $$;
SELECT condition_order('SELECT FROM uniform WHERE id > (SELECT min(shard) FROM filters WHERE shard >= uniform.ten)
	AND expensive(id) AND (SELECT f FROM filters WHERE shard = 1) @> id AND id > 3 AND ten = 5');
SELECT condition_order('SELECT FROM uniform WHERE expensive(id)
	AND cuckoo_contains((SELECT f FROM filters WHERE shard = 1), num) AND id > 3');
SELECT condition_order('SELECT FROM uniform WHERE expensive(id)
	AND cuckoo_contains_any((SELECT f FROM filters WHERE shard = 1), ARRAY[id, ten]) AND id > 3');
-- A lookup in a filter that is larger than the processor's caches costs more.
CREATE FUNCTION cost_expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SELECT round(cost_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> id', cuckoo_agg(i)))
	- cost_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> id', cuckoo_agg(i) FILTER (WHERE i <= 100000)))) AS "cost of 20,000 misses"
FROM generate_series(1, 1000000) AS i;
-- One filter for many rows is not fetched for each of them, but a filter of the row's own is.
SELECT condition_order('SELECT FROM filters, uniform WHERE shard = 1 AND expensive(id + shard) AND f @> id');
SELECT condition_order('SELECT FROM stored WHERE f @> 5 AND expensive(octet_length(f::text))');

DROP SCHEMA planner_test CASCADE;
DROP ROLE regress_cuckoo_reader;
