-- Planner: estimates of the rows that pass a filter, and the order in which
-- conditions are checked
--
-- Estimates must be within three times of the truth, because they differ a
-- little between versions.  Tables are small enough for ANALYZE to read them
-- whole.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET max_parallel_workers_per_gather = 0;

-- The number of rows that the planner expects, below the top or with a filter as
-- parameter.
CREATE FUNCTION rows_expected(query text, inner_ boolean DEFAULT false, filter cuckoofilter DEFAULT NULL) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan USING filter;
	RETURN plan #>> CASE WHEN inner_ THEN '{0,Plan,Plans,0,Plan Rows}'::text[] ELSE '{0,Plan,Plan Rows}' END;
END $$;

-- Whether that is within three times of the rows returned
CREATE FUNCTION verdict(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected float8 := rows_expected(query);
	found float8;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) AS q', query) INTO found;
	RETURN CASE
		WHEN expected BETWEEN found / 3 AND greatest(found * 3, 1) THEN 'good'
		ELSE format('expected %s, found %s', expected, found)
	END;
END $$;

-- The same for a condition with the filter as %L.
CREATE FUNCTION verdict(condition text, f cuckoofilter, relation regclass) RETURNS text
RETURN verdict(format('SELECT FROM %s WHERE ', relation) || format(condition, f));

-- The fraction of a table that the planner expects.
CREATE FUNCTION fraction(query text, relation regclass) RETURNS numeric
RETURN round((rows_expected(query) / rows_expected('SELECT FROM ' || relation))::numeric, 3);

---- A filter beside the exact condition.  Both drop the same rows.
-- A star schema: the keys of the dimensions are independent, one half to one
-- fifth of each dimension is chosen, and the filters hold those.
CREATE TABLE fact AS
	SELECT i AS id, i % 30 AS k1, i / 30 % 20 AS k2, i / 600 % 10 AS k3, i / 6000 AS k4 FROM generate_series(0, 29999) AS i;
CREATE TABLE d1 AS SELECT i AS id, i < 6 AS chosen FROM generate_series(0, 29) AS i;
CREATE TABLE d2 AS SELECT i AS id, i % 2 = 0 AS chosen FROM generate_series(0, 19) AS i;
CREATE TABLE d3 AS SELECT i AS id, i < 5 AS chosen FROM generate_series(0, 9) AS i;
CREATE TABLE d4 AS SELECT i AS id, i < 2 AS chosen FROM generate_series(0, 4) AS i;
CREATE TABLE chosen AS
	SELECT (SELECT cuckoo_agg(id) FROM d1 WHERE chosen) AS f1, (SELECT cuckoo_agg(id) FROM d2 WHERE chosen) AS f2,
		(SELECT cuckoo_agg(id) FROM d3 WHERE chosen) AS f3, (SELECT cuckoo_agg(id) FROM d4 WHERE chosen) AS f4;
CREATE TABLE partitioned (LIKE fact) PARTITION BY RANGE (id);
CREATE TABLE partition_1 PARTITION OF partitioned FOR VALUES FROM (0) TO (10000);
CREATE TABLE partition_2 PARTITION OF partitioned FOR VALUES FROM (10000) TO (30000);
INSERT INTO partitioned SELECT * FROM fact;
ANALYZE fact, d1, d2, d3, d4, chosen, partitioned;

CREATE FUNCTION star(dimensions integer, filter text DEFAULT ' AND (SELECT f%1$s FROM chosen) @> k%1$s') RETURNS text LANGUAGE sql
	RETURN (SELECT 'SELECT FROM fact' || string_agg(format(' JOIN d%1$s ON k%1$s = d%1$s.id', i), '' ORDER BY i) || ' WHERE true'
		|| string_agg(format(' AND d%s.chosen' || filter, i), '' ORDER BY i) FROM generate_series(1, dimensions) AS i);
SELECT what, verdict(query) FROM (SELECT 0, dimensions || ' dimensions', star(dimensions) FROM generate_series(1, 4) AS dimensions UNION ALL VALUES
	(1, 'aggregate', $$SELECT FROM fact JOIN d1 ON k1 = d1.id WHERE d1.chosen AND k1 <@ (SELECT cuckoo_agg(id) FROM d1 WHERE chosen)$$),
	(2, 'literals', (SELECT format(star(2, '') || ' AND %L::cuckoofilter @> k1 AND %L::cuckoofilter @> k2', f1, f2) FROM chosen)),
	(3, 'columns', $$SELECT FROM fact JOIN d1 ON k1 = d1.id JOIN d2 ON k2 = d2.id, chosen AS c WHERE d1.chosen AND d2.chosen AND c.f1 @> k1 AND k2 <@ c.f2$$),
	(4, 'semi-joins', $$SELECT FROM fact WHERE k1 IN (SELECT id FROM d1 WHERE chosen) AND EXISTS (SELECT FROM d2 WHERE chosen AND d2.id = k2)
		AND (SELECT f1 FROM chosen) @> k1 AND (SELECT f2 FROM chosen) @> k2$$),
	(5, 'partitions', replace(star(2), 'fact', 'partitioned')),
	(6, 'another dimension in between', $$SELECT FROM fact JOIN d1 ON k1 = d1.id JOIN d2 ON d1.id = d2.id WHERE d2.chosen AND (SELECT f2 FROM chosen) @> k1$$)) AS v (nr, what, query) ORDER BY nr, what;

-- The key can be an expression.
SELECT rows_expected('SELECT FROM fact JOIN d1 ON k1 + 1 = d1.id WHERE d1.chosen AND (SELECT f1 FROM chosen) @> (k1 + 1)')
	= rows_expected('SELECT FROM fact JOIN d1 ON k1 + 1 = d1.id WHERE d1.chosen') AS "expression";

-- The plan is that of the query without the filters.
CREATE FUNCTION plan_nodes(query text) RETURNS text[] LANGUAGE sql
	RETURN ARRAY(SELECT ltrim(line, ' ->') FROM plan(query) WITH ORDINALITY AS p (line, n) WHERE line ~ 'Join|Nested Loop|Scan on (fact|d[1-4])$' ORDER BY n);
SELECT plan_nodes(star(4)) = plan_nodes(star(4, '')) AS "same plan";

-- Inside NOT the filter counts: here it drops rows that the join would keep.
SELECT verdict('SELECT FROM fact JOIN d1 ON k1 = d1.id WHERE d1.chosen AND NOT (SELECT f4 FROM chosen) @> k1') AS "NOT",
	verdict(format('SELECT FROM fact JOIN d1 ON k1 = d1.id WHERE d1.id < 20 AND NOT %L::cuckoofilter @> k1', f1)) AS "NOT, literal",
	verdict('SELECT FROM chosen, fact JOIN d1 ON k1 = d1.id WHERE d1.chosen AND NOT f4 @> k1') AS "NOT, column"
FROM chosen;
-- A known filter also counts if the joined table has no condition of its own.
SELECT verdict(format('SELECT FROM fact JOIN d1 ON k1 = d1.id WHERE %L::cuckoofilter @> k1', f1)) AS "no condition",
	verdict(format('SELECT FROM partitioned JOIN d1 ON k1 = d1.id WHERE %L::cuckoofilter @> k1', f1)) AS "no condition, partitions"
FROM chosen;
-- A join on another column is not the exact condition, nor is an outer join.
SELECT fraction('SELECT FROM fact JOIN d1 ON k1 = d1.id WHERE (SELECT f2 FROM chosen) @> k2', 'fact') AS "other column",
	fraction('SELECT FROM fact LEFT JOIN d1 ON k1 = d1.id WHERE (SELECT f1 FROM chosen) @> k1', 'fact') AS "outer join";

---- A filter alone
-- Uniform: every value occurs once, or ten times.
CREATE TABLE uniform AS
	SELECT i AS id, i::bigint AS big, i / 10 AS ten, 'key ' || i AS txt, i::numeric / 2 AS num,
		date '2000-01-01' + i AS day, CASE WHEN i % 4 = 0 THEN i END AS sparse
	FROM generate_series(1, 20000) AS i;
-- Skewed: key k occurs 3000 / k times, the last ones twice.
CREATE TABLE skewed AS
	SELECT k AS id, 'key ' || k AS txt
	FROM generate_series(1, 6000) AS k, generate_series(1, greatest(3000 / k, 2))
	WHERE k <= 3000;
ANALYZE uniform, skewed;

-- Filters that hold few, some, most or all values of a column.
SELECT what, verdict('%L::cuckoofilter @> id', f, 'uniform') AS id,
	verdict('id <@ %L::cuckoofilter', f, 'uniform') AS contained,
	verdict('%L::cuckoofilter @> big', f, 'uniform') AS big
FROM (VALUES
	('ten', (SELECT cuckoo_agg(i) FROM generate_series(4, 40, 4) AS i)),
	('1 %', (SELECT cuckoo_agg(i * 7919 % 20000) FROM generate_series(1, 200) AS i)),
	('20 %', (SELECT cuckoo_agg(i * 7919 % 20000) FROM generate_series(1, 4000) AS i)),
	('90 %', (SELECT cuckoo_agg(i) FROM generate_series(1, 18000) AS i)),
	('all', (SELECT cuckoo_agg(i) FROM generate_series(1, 20000) AS i))) AS v(what, f);
SELECT verdict('%L::cuckoofilter @> txt', (SELECT cuckoo_agg('key ' || i) FROM generate_series(100, 20000, 100) AS i), 'uniform') AS txt,
	verdict('%L::cuckoofilter @> sparse', (SELECT cuckoo_agg(i) FROM generate_series(4, 20000, 4) AS i), 'uniform') AS sparse,
	verdict('%L::cuckoofilter @> sparse', (SELECT cuckoo_agg(i) FROM generate_series(1, 20000) AS i), 'uniform') AS "more keys",
	verdict('%L::cuckoofilter @> ten', (SELECT cuckoo_agg(i) FROM generate_series(10, 2000, 10) AS i), 'uniform') AS ten,
	verdict('%L::cuckoofilter @> num', (SELECT cuckoo_agg(i::numeric / 2) FROM generate_series(1, 500) AS i), 'uniform') AS num,
	verdict('%L::cuckoofilter @> day', (SELECT cuckoo_agg(date '2000-01-01' + i) FROM generate_series(1, 500) AS i), 'uniform') AS day;

-- Rows that a filter does not hold, and passes because of its rate
SELECT verdict('%L::cuckoofilter @> id', (SELECT cuckoo_agg(i, 100, 0.1) FROM generate_series(1, 100) AS i), 'uniform') AS "false positives";

-- Skewed: it matters which keys there are, not how many.
SELECT what, verdict('%L::cuckoofilter @> id', cuckoo_from_array(keys), 'skewed') AS id, verdict('txt <@ %L::cuckoofilter', cuckoo_from_array(texts), 'skewed') AS txt
FROM (VALUES ('frequent', 1, 5, 1), ('rare', 2001, 2900, 1), ('every seventh', 7, 3000, 7), ('all but the first', 2, 3000, 1)) AS v (what, first, last, step),
	LATERAL (SELECT array_agg(i) AS keys, array_agg('key ' || i) AS texts FROM generate_series(first, last, step) AS i) AS k;

-- An empty filter
SELECT rows_expected(format('SELECT FROM uniform WHERE %L::cuckoofilter @> id', f)) AS "empty"
FROM (VALUES (cuckoo_new()), ((SELECT cuckoo_agg(id) FROM uniform WHERE false))) AS v(f);

-- Unknown filters, and whole tables of filters.
CREATE TABLE filters AS
	SELECT s AS shard, (SELECT cuckoo_agg(id) FROM uniform WHERE id % 100 = s) AS f
	FROM generate_series(0, 99) AS s;
ANALYZE filters;
SELECT fraction('SELECT FROM uniform WHERE (SELECT f FROM filters WHERE shard = 1) @> id', 'uniform') AS "sub-select",
	fraction('SELECT FROM uniform, filters WHERE shard = 1 AND f @> id', 'uniform') AS "join",
	fraction('SELECT FROM uniform WHERE EXISTS (SELECT FROM filters WHERE id <@ f)', 'uniform') AS "semi-join",
	fraction('SELECT FROM filters WHERE f @> 42', 'filters') AS "table of filters",
	fraction('SELECT FROM filters WHERE f @> NULL::integer', 'filters') AS "NULL key",
	fraction('SELECT FROM uniform WHERE NULL::cuckoofilter @> id', 'uniform') AS "NULL filter";

-- The values of stable functions and parameters are known if a plan is made for
-- them.
CREATE FUNCTION stable_filter() RETURNS cuckoofilter LANGUAGE sql STABLE AS
$$SELECT cuckoo_agg(i) FROM generate_series(1, 200) AS i$$;
SELECT verdict('SELECT FROM uniform WHERE stable_filter() @> id') AS stable;
PREPARE lookup(cuckoofilter) AS SELECT count(*) FROM uniform WHERE $1 @> id;
SET plan_cache_mode = force_custom_plan;
SELECT rows_expected(format('EXECUTE lookup(%L)', f), true) BETWEEN 100 AND 400 AS custom FROM filters WHERE shard = 1;
SET plan_cache_mode = force_generic_plan;
SELECT rows_expected(format('EXECUTE lookup(%L)', f), true) AS generic FROM filters WHERE shard = 1;
RESET plan_cache_mode;

-- A filter in a variable, which may be a TOAST pointer, is also known.
CREATE TABLE stored AS
	SELECT cuckoo_agg(i) AS f FROM generate_series(1, 2000) AS i;
SELECT rows_expected('SELECT FROM uniform WHERE $1 @> id', false, f) BETWEEN 1000 AND 4000 AS "a tenth of the rows" FROM stored;

-- Of a composite, only a value tells the key type inside.
CREATE TYPE pair AS (a integer, b integer);
CREATE TABLE pairs AS SELECT ROW(i, i)::pair AS p FROM generate_series(1, 10000) AS i;
ANALYZE pairs;
SELECT verdict('%L::cuckoofilter @> p', cuckoo_agg(p), 'pairs') FROM pairs WHERE (p).a <= 1000;

-- Nothing is known about the column.
CREATE TABLE fresh WITH (autovacuum_enabled = off) AS SELECT * FROM uniform;
SELECT fraction(format('SELECT FROM fresh WHERE %L::cuckoofilter @> id', f), 'fresh') AS "no statistics",
	fraction(format('SELECT FROM uniform WHERE %L::cuckoofilter @> (id + 1)', f), 'uniform') AS "expression",
	fraction(format('SELECT FROM uniform WHERE %L::cuckoofilter @> ROW(id, big)', cuckoo_new()), 'uniform') AS "row"
FROM filters WHERE shard = 1;

-- Keys of another type are an error only in execution.
SELECT fraction(format('SELECT FROM uniform WHERE %L::cuckoofilter @> txt', f), 'uniform') AS "planned",
	fraction(format('SELECT FROM skewed WHERE %L::cuckoofilter @> txt', f), 'skewed') AS "with common values"
FROM filters WHERE shard = 1;
SELECT format('SELECT id FROM uniform WHERE id < 0 AND %L::cuckoofilter @> txt', f) AS query FROM filters WHERE shard = 1 \gset
:query;
SELECT format('SELECT id FROM uniform WHERE %L::cuckoofilter @> txt', f) AS query FROM filters WHERE shard = 1 \gset
\set VERBOSITY terse
:query;
-- Common values of all kinds of types are looked up.
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE two AS (a integer, b text);
CREATE TABLE kinds AS
	SELECT 'happy'::mood AS m, ARRAY['x' || k] AS a, to_jsonb(k) AS b, 'c'::"char" AS c, ('n' || k)::name AS n, k::oid AS o, (k, 'x')::two AS t
	FROM generate_series(1, 1000) AS i, LATERAL (SELECT CASE WHEN i <= 500 THEN 1 ELSE i END) AS v (k);
ANALYZE kinds;
SELECT name, verdict(format('SELECT FROM kinds WHERE %L::cuckoofilter @> %I', f, name)) FROM (VALUES ('m', cuckoo_new() + 'happy'::mood), ('a', cuckoo_new() + ARRAY['x1']), ('b',
	cuckoo_new() + '1'::jsonb),
	('c', cuckoo_new() + 'c'::"char"), ('n', cuckoo_new() + 'n1'::name), ('o', cuckoo_new() + 1::oid), ('t', cuckoo_new() + (1, 'x')::two)) AS v (name, f);

-- Anyone may use the estimators for their own operators.
CREATE FUNCTION impostor(bytea, anycompatible) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR @@> (LEFTARG = bytea, RIGHTARG = anycompatible, FUNCTION = impostor, RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel);
CREATE FUNCTION impostor(cuckoofilter, cuckoofilter) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR @@> (LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = impostor, RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel);
SELECT fraction($$SELECT FROM uniform WHERE '\x01'::bytea @@> id$$, 'uniform') AS "another type's bytes",
	rows_expected('SELECT FROM uniform WHERE NULL::bytea @@> id') AS "not strict, NULL",
	fraction('SELECT FROM filters AS a, filters AS b WHERE a.f @@> b.f AND b.shard = 1', 'filters') AS "two filters",
	fraction('SELECT FROM filters WHERE f @@> cuckoo_new()', 'filters') AS "a filter in a column";

-- Statistics are used only for users who may read the column.
CREATE ROLE regress_cuckoo_reader;
GRANT USAGE ON SCHEMA scratch TO regress_cuckoo_reader;
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
-- The result of a sub-select is called $0 up to 16, (InitPlan 1).col1 in 17 and
-- 18, and (InitPlan expr_1).col1 in 19.
CREATE FUNCTION condition_order(query text) RETURNS text LANGUAGE sql
	RETURN (SELECT regexp_replace(replace(ltrim(line), 'Plan expr_', 'Plan '), '\$\d+|\(InitPlan \d+\)\.col\d+', 'f', 'g') FROM plan(query) AS line WHERE line ~ 'Filter: .*expensive');
SELECT condition_order('SELECT FROM uniform WHERE id > (SELECT min(shard) FROM filters WHERE shard >= uniform.ten)
	AND expensive(id) AND (SELECT f FROM filters WHERE shard = 1) @> id AND id > 3 AND ten = 5');
SELECT condition_order('SELECT FROM uniform WHERE expensive(id)
	AND cuckoo_contains((SELECT f FROM filters WHERE shard = 1), num) AND id > 3');

DROP SCHEMA scratch CASCADE;
DROP ROLE regress_cuckoo_reader;
