-- Union and union all: functions, operators, aggregates, and what prevents
-- combining
--
-- The errors with their texts are in error.sql.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\pset null NULL

-- A short description of a filter
CREATE FUNCTION brief(f cuckoofilter, OUT representation text, OUT items bigint, OUT subfilters integer, OUT removable boolean, OUT capacity bigint,
	OUT fpr float8, OUT seed bigint)
LANGUAGE sql RETURN (SELECT (i.representation, i.items, i.subfilters, i.removable, i.capacity, i.target_fpr, i.seed) FROM cuckoo_info(f) AS i);

-- Filters by name, most of them with the final capacity
CREATE TABLE filters (name text, f cuckoofilter);
INSERT INTO filters
	SELECT 'a', cuckoo_agg(k, 10000, 0.001) FROM generate_series(1, 3000) AS k UNION ALL
	SELECT 'b', cuckoo_agg(k, 10000, 0.001) FROM generate_series(3001, 6000) AS k UNION ALL
	SELECT 'c', cuckoo_agg(k, 10000, 0.001) FROM generate_series(6001, 9000) AS k UNION ALL
	SELECT 'overlap', cuckoo_agg(k, 10000, 0.001) FROM generate_series(2001, 4000) AS k UNION ALL
	SELECT 'full', cuckoo_agg(k, 10000, 0.001) FROM generate_series(1, 10000) AS k UNION ALL
	SELECT 'few', cuckoo_agg(k, 10000, 0.001) FROM generate_series(2990, 3009) AS k UNION ALL
	SELECT 'other rate', cuckoo_agg(k, 5000, 0.01) FROM generate_series(3001, 4000) AS k UNION ALL
	SELECT 'unknown', cuckoo_add_all(cuckoo_new(), array_agg(k)) FROM generate_series(1, 2000) AS k UNION ALL
	SELECT 'counted', cuckoo_agg(k) FROM generate_series(1, 2000) AS k UNION ALL
	SELECT 'unset', cuckoo_agg(k) FROM generate_series(1, 0) AS k UNION ALL
	SELECT 'new', cuckoo_new(10000, 0.001);
CREATE FUNCTION f(wanted text) RETURNS cuckoofilter
LANGUAGE sql RETURN (SELECT f FROM filters WHERE name = wanted);

---- Equal shapes: one table, whose bytes depend only on its items
SELECT (brief(cuckoo_union_all(f('a'), f('b')))).*, missing(cuckoo_union_all(f('a'), f('b')), 1, 6000);
SELECT (brief(cuckoo_union_all(cuckoo_union_all(f('a'), f('b')), f('c')))).*, missing(cuckoo_union_all(cuckoo_union_all(f('a'), f('b')), f('c')), 1, 9000);
SELECT (brief(f('a') | f('overlap'))).*, missing(f('a') | f('overlap'), 1, 4000);
SELECT cuckoo_union(f('a'), f('b')) = f('a') | f('b') AS union_operator;

-- Copies: the larger number, or the sum up to eight; in sparse and dense tables
SELECT i, j, cuckoo_count(sf | sg, 'x') AS sparse_union, cuckoo_count(cuckoo_union_all(sf, sg), 'x') AS sparse_union_all, cuckoo_count(df | dg, 'x') AS dense_union,
	cuckoo_count(cuckoo_union_all(df, dg), 'x') AS dense_union_all, cuckoo_count(sf | dg, 'x') AS union_of_both, cuckoo_count(cuckoo_union_all(df, sg), 'x') AS union_all_of_both
FROM (VALUES (1, 1), (2, 5), (5, 2), (5, 5), (8, 1), (8, 8)) AS v(i, j),
	LATERAL (SELECT cuckoo_new(1000, 1e-6) AS empty, cuckoo_agg(k::text, 1000, 1e-6) AS base FROM generate_series(1, 900) AS k) AS e,
	LATERAL (SELECT cuckoo_add_all(base, array_fill('x'::text, ARRAY[i])) AS df, cuckoo_add_all(base, array_fill('x'::text, ARRAY[j])) AS dg,
		cuckoo_add_all(empty, array_fill('x'::text, ARRAY[i])) AS sf, cuckoo_add_all(empty, array_fill('x'::text, ARRAY[j])) AS sg) AS c;

-- Even beyond its capacity: one table, with a higher rate.
SELECT (brief(cuckoo_union_all(f('full'), f('b')))).*, missing(cuckoo_union_all(f('full'), f('b')), 1, 10000), round(cuckoo_fpr(f('full'))::numeric, 5) AS before,
	round(cuckoo_fpr(cuckoo_union_all(f('full'), f('b')))::numeric, 5) AS after;
SELECT (brief(f)).*, missing(f, 1, 20000), round(cuckoo_fpr(f)::numeric, 5) AS fpr
FROM (SELECT cuckoo_union_all(f('full'), cuckoo_agg(k, 10000, 0.001)) AS f FROM generate_series(10001, 20000) AS k) AS x;
-- A single key more goes to a new table.
SELECT (brief(cuckoo_union_all(f('full'), f('b')))).subfilters, (SELECT array_agg(items ORDER BY number) FROM cuckoo_subfilters((cuckoo_union_all(f('full'), f('b'))) + 0)) AS by_table;
-- A union with a filter of keys that it contains adds only the mark.
SELECT cuckoo_cardinality(f('full') | f('full')) AS itself, cuckoo_cardinality(f('full') | f('a')) AS part_right,
	cuckoo_cardinality(f('a') | f('full')) AS part_left, missing(f('a') | f('full'), 1, 10000), (brief(f('a') | f('a'))).*;

---- Same set, same bytes: disjoint parts of any size, in any order and grouping,
---- give the filter of the whole
-- Filters combined one after another, from the left, from the right, and as a
-- tree
CREATE FUNCTION fold(operator text, grouping_ text, filters cuckoofilter[]) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	n CONSTANT integer := cardinality(filters);
	f cuckoofilter;
BEGIN
	IF n = 1 THEN
		RETURN filters[1];
	ELSIF grouping_ = 'tree' THEN
		RETURN CASE operator WHEN '|' THEN fold(operator, grouping_, filters[:n / 2]) | fold(operator, grouping_, filters[n / 2 + 1:])
			ELSE cuckoo_union_all(fold(operator, grouping_, filters[:n / 2]), fold(operator, grouping_, filters[n / 2 + 1:])) END;
	END IF;
	f := filters[CASE grouping_ WHEN 'left' THEN 1 ELSE n END];
	FOR i IN 2 .. n LOOP
		f := CASE grouping_ || operator WHEN 'left|' THEN f | filters[i] WHEN 'leftall' THEN cuckoo_union_all(f, filters[i])
			WHEN 'right|' THEN filters[n + 1 - i] | f ELSE cuckoo_union_all(filters[n + 1 - i], f) END;
	END LOOP;
	RETURN f;
END $$;
-- Results that are sparse or dense, and specified to be more or less full
SELECT n, capacity, parts, (brief(whole)).representation, bool_and(fold('all', g, array_agg_) = whole) AS chains, bool_and(summed = whole) AS agg, bool_and(reversed = whole) AS reversed
FROM (VALUES (300, 300, 300), (300, 1000, 300), (300, 1e6, 300), (2000, 2000, 500), (30000, 30000, 7), (200000, 200000, 40)) AS v (n, capacity, parts),
	LATERAL (SELECT array_agg(f ORDER BY md5(p::text)) AS array_agg_, cuckoo_union_all_agg(f ORDER BY p) AS summed, cuckoo_union_all_agg(f ORDER BY p DESC) AS reversed
		FROM (SELECT k % parts AS p, cuckoo_agg(k, capacity, 0.001) AS f FROM generate_series(1, n) AS k GROUP BY 1) AS p) AS p,
	LATERAL (SELECT cuckoo_agg(k, capacity, 0.001) AS whole FROM generate_series(1, n) AS k) AS w,
	unnest('{left,right,tree}'::text[]) AS g
GROUP BY n, capacity, parts, whole ORDER BY n, capacity, parts;
-- Unions of overlapping filters with several rates and capacities, some of them
-- dense and some not removable: the same bytes in any order and grouping
CREATE TABLE many AS
	SELECT i, CASE i % 4 WHEN 0 THEN cuckoo_agg(k, 9000, 0.001) WHEN 1 THEN cuckoo_agg(k) WHEN 2 THEN cuckoo_multiset_agg(k / 2, 9000, 0.0005) ELSE cuckoo_stream_agg(k, 9000, 0.001) END AS f
	FROM generate_series(0, 23) AS i, generate_series(100 * i, 100 * i + 150 * (i % 20) + 1) AS k GROUP BY i;
SELECT operator, count(DISTINCT fold(operator, g, CASE o WHEN 1 THEN up WHEN 2 THEN down ELSE mixed END)) AS different,
	bool_and(fold(operator, g, up) = CASE operator WHEN '|' THEN united ELSE summed END) AS agg, (brief(CASE operator WHEN '|' THEN united ELSE summed END)).*
FROM (SELECT array_agg(f ORDER BY i) AS up, array_agg(f ORDER BY -i) AS down, array_agg(f ORDER BY md5(i::text)) AS mixed,
		cuckoo_union_agg(f) AS united, cuckoo_union_all_agg(f ORDER BY md5('x' || i)) AS summed FROM many) AS x,
	unnest('{|,all}'::text[]) AS operator, unnest('{left,right,tree}'::text[]) AS g, generate_series(1, 3) AS o GROUP BY operator, united, summed ORDER BY operator;

CREATE TABLE singles AS SELECT k, cuckoo_new(20000, 0.001) + k AS f FROM generate_series(1, 3000) AS k;

---- Different shapes: side by side
SELECT (brief(f('a') | f('other rate'))).*, missing(f('a') | f('other rate'), 1, 4000);
SELECT number, items, capacity, fingerprint_bits, representation FROM cuckoo_subfilters(cuckoo_union_all(f('a'), f('other rate')));
SELECT (brief(cuckoo_union_all(f('a'), f('unknown')))).*, missing(cuckoo_union_all(f('a'), f('unknown')), 1, 3000);
-- Copies in tables of different shapes cannot be compared: they add up.
SELECT (brief(cuckoo_union_all(f('counted'), f('unknown')))).*, cuckoo_count(cuckoo_union_all(f('counted'), f('unknown')), 7) AS copies, cuckoo_count(f('counted') | f('unknown'), 7) AS in_union;
SELECT (brief(((cuckoo_union_all(f('full'), f('unknown'))) | f('full')))).subfilters AS left, (brief(f('full') | (cuckoo_union_all(f('full'), f('unknown'))))).subfilters AS right;

---- The cardinality of a union of several sub-filters is an estimate that counts a key once: 3,100 customers in
---- four days of different sizes, each with the capacity of its own size
CREATE TABLE days AS SELECT day, cuckoo_agg(k) AS f FROM generate_series(1, 4) AS day, generate_series(1, 3100) AS k
	WHERE (k + 31 * day) % 61 > day GROUP BY day;
SELECT array_agg(cuckoo_cardinality(f) ORDER BY day) AS days FROM days;
SELECT cuckoo_cardinality(cuckoo_union_agg(f)) AS customers, (brief(cuckoo_union_agg(f))).items, cuckoo_cardinality(cuckoo_union_all_agg(f)) AS copies,
	(brief(cuckoo_union_agg(f))).subfilters FROM days;
-- Others, which only one sub-filter has, count as before.
SELECT cuckoo_cardinality(f('a') | f('other rate')) AS united, cuckoo_cardinality(cuckoo_union_all(f('a'), f('other rate'))) AS summed;
-- Copies: those of one sub-filter
SELECT cuckoo_cardinality(f | g) AS less_and_more FROM (SELECT cuckoo_new(100) + 1 + 1 AS f, cuckoo_new(1000) + 1 + 1 + 1 + 2 AS g) AS x;
-- A filter that grew has a key in one sub-filter, and keeps its count.
SELECT i.removable, i.subfilters, cuckoo_cardinality(f) = i.items AS same, i.items BETWEEN 2990 AND 3000 AS near
FROM (SELECT cuckoo_stream_agg(k, 100) AS f FROM generate_series(1, 3000) AS k UNION ALL SELECT cuckoo_add_all(cuckoo_new(100), array_agg(k)) FROM generate_series(1, 3000) AS k) AS x,
	cuckoo_info(f) AS i ORDER BY i.removable;

---- Empty and unset filters, parameters
SELECT (brief(cuckoo_union_all(f('unset'), f('unset')))).*;
SELECT cuckoo_union_all(f('unset'), f('a')) = f('a') AS unset_left, f('a') | f('unset') = f('a') AS unset_right, f('new') | f('a') = f('a') AS empty_left,
	cuckoo_union_all(f('a'), f('new')) = f('a') AS empty_right, cuckoo_union_all(f('unset'), f('new')) = f('new') AS unset_empty;
SELECT (brief(cuckoo_union_all(cuckoo_new(50, 0.01, 7), f('unset')))).*;
-- The result has the smaller rate and the larger capacity; empty tables are
-- kept.
SELECT (brief(cuckoo_union_all(cuckoo_new(50, 0.01) + 1, cuckoo_new(20, 0.0001) + 2))).*;
SELECT (brief(cuckoo_union_all(f('a'), cuckoo_new(20000, 0.0001) + 2))).*;
SELECT (brief(cuckoo_union_all(cuckoo_new(NULL, 0.01), cuckoo_new() + 1))).*, (brief(cuckoo_union_all(cuckoo_new(NULL, 0.01), cuckoo_new(NULL, 0.01)))).subfilters;
SELECT (brief(cuckoo_union_all(cuckoo_remove_all(f('other rate'), (SELECT array_agg(k) FROM generate_series(3001, 4000) AS k)), f('few')))).*;

-- NULL
SELECT f('a') | NULL = f('a') AS union, cuckoo_union_all(f('a'), NULL) = f('a') AS union_all, NULL | f('a') = f('a') AS null_union, cuckoo_union_all(NULL, f('a')) = f('a') AS null_union_all,
	cuckoo_union(NULL, NULL) AS nulls, cuckoo_union_all(NULL, NULL) AS nulls;

---- Removable: results of union all are removable.  A union of two filters with items is not,
---- nor is any result of a filter that is not removable.
SELECT (brief(cuckoo_union_all(f('a'), f('b')))).removable AS union_all, (brief(f('a') | f('b'))).removable AS union, (brief(f('a') | f('other rate'))).removable AS of_two_tables,
	(brief(cuckoo_union_all(f('a') | f('b'), f('c')))).removable AS inherited, (brief(cuckoo_union_all(f('few'), f('a') | f('b')))).removable AS inherited_from_right,
	(brief(f('a') | f('unset'))).removable AS union_with_unset, (brief(f('a') | f('new'))).removable AS with_empty, (brief(f('new') | f('a'))).removable AS empty_left;
SELECT (f('a') | f('b')) - 1;
SELECT cuckoo_cardinality((cuckoo_union_all(f('a'), f('b'))) - 1 - 6000);
-- Each copy has its own entry: a key that both had is found after one copy is
-- removed.
SELECT missing(cuckoo_remove_all(cuckoo_union_all(f('a'), f('few')), (SELECT array_agg(k) FROM generate_series(2990, 3009) AS k)), 1, 3000);

---- Which filters can be combined
CREATE TABLE pairs (what text, f cuckoofilter, g cuckoofilter);
INSERT INTO pairs VALUES
	('same shape', f('a'), f('b')), ('past the capacity', f('full'), f('full')), ('other rate', f('a'), f('other rate')), ('unknown capacity', f('a'), f('unknown')),
	('unset', f('unset'), f('a')), ('both unset', f('unset'), f('unset')),
	('seeds, empty', cuckoo_new(seed => 1), f('a')), ('seeds', cuckoo_new(seed => 1) + 1, f('a')), ('seeds, both empty', cuckoo_new(seed => 1), cuckoo_new(seed => 2)),
	('no key type yet', cuckoo_new(), f('a')), ('key types', cuckoo_from_array(ARRAY['x']), f('a')), ('key types, emptied', cuckoo_new() + 'x' - 'x', f('a')),
	('arrays', cuckoo_new() + ARRAY[1], cuckoo_new() + ARRAY['1']), ('arrays of one type', cuckoo_new() + ARRAY[1], cuckoo_new() + ARRAY[1::bigint]),
	('rows', cuckoo_new() + ROW(1, 'x'::text), cuckoo_new() + ROW(1::numeric, 'x'::text)),
	('not removable', f('a') | f('b'), f('c'));
INSERT INTO pairs
	SELECT n || ' and ' || m || ' shapes', (SELECT cuckoo_union_all_agg(cuckoo_new(100 * i, 0.01)) FROM generate_series(1, n) AS i), (SELECT cuckoo_union_all_agg(cuckoo_new(100 * i,
	0.01)) FROM generate_series(o, o + m - 1) AS i)
	FROM (VALUES (16, 16, 1), (16, 1, 16), (16, 1, 17), (9, 8, 10), (9, 7, 10)) AS v (n, m, o);
CREATE FUNCTION result_of(operation text, f cuckoofilter, g cuckoofilter) RETURNS text LANGUAGE sql
	RETURN (SELECT CASE WHEN o ~ ' \| ' THEN left(o, 5) ELSE 'none' END FROM outcome(format('SELECT %s(%L, %L)', operation, f, g)) AS o);
SELECT what, result_of('cuckoo_union_all', f, g) AS union_all, result_of('cuckoo_union', f, g) AS union, result_of('cuckoo_intersection', f, g) AS intersection,
	result_of('cuckoo_common', f, g) AS common,
	result_of('cuckoo_union_all', g, f) = result_of('cuckoo_union_all', f, g) AND result_of('cuckoo_intersection', g, f) = result_of('cuckoo_intersection', f, g) AS symmetric FROM pairs;

---- Intersection: the keys of both, whatever the shapes of the two filters
SELECT name, (brief(f('a') & f)).*, cuckoo_cardinality(f('a') & f) - greatest(last - first + 1, 0) BETWEEN 0 AND 5 AS few_others, missing(f('a') & f, first, last),
	missing(f & f('a'), first, last) AS missing_reversed, cuckoo_intersection(f('a'), f) = (f('a') & f) AS operator
FROM filters JOIN (VALUES ('a', 1, 3000), ('b', 1, 0), ('overlap', 2001, 3000), ('full', 1, 3000), ('few', 2990, 3000), ('other rate', 1, 0), ('unknown', 1, 2000),
	('counted', 1, 2000), ('unset', 1, 0), ('new', 1, 0)) AS v (name, first, last) USING (name) ORDER BY name;
-- A filter with itself is itself, and a subset of one shape keeps its bytes.
SELECT bool_and((f & f) = f) AS itself FROM filters;
SELECT (f('a') & f('full')) = f('a') AS subset_left, (f('full') & f('a')) = f('a') AS subset_right;
-- The filter with the smaller expected rate gives its parameters, sub-filters and
-- key type; the first one if both are equal.
SELECT (brief(f & g)).*, (brief(g & f)).* FROM (SELECT cuckoo_agg(k, 5000, 0.01) AS f, cuckoo_agg(k, 900, 1e-6, 0) AS g FROM generate_series(1, 800) AS k) AS x;
-- Copies: the smaller number
SELECT i, j, cuckoo_count(f & g, 'x') AS same_shape, cuckoo_count(f & h, 'x') AS other_shape FROM (VALUES (1, 1), (2, 5), (5, 2), (8, 3), (8, 8)) AS v (i, j),
	LATERAL (SELECT cuckoo_add_all(cuckoo_new(100, 1e-6), array_fill('x'::text, ARRAY[i])) AS f, cuckoo_add_all(cuckoo_new(100, 1e-6), array_fill('x'::text, ARRAY[j])) AS g,
		cuckoo_add_all(cuckoo_new(333, 1e-5), array_fill('x'::text, ARRAY[j])) AS h) AS x;
-- Removable if both are.
SELECT (brief(f('a') & f('full'))).removable AS both, (brief(f('a') & (f('a') | f('b')))).removable AS one, (brief((f('a') | f('b')) & f('a'))).removable AS other;
SELECT cuckoo_cardinality((f('a') & f('overlap')) - 2500) - cuckoo_cardinality(f('a') & f('overlap')) AS removed;
-- NULL gives NULL.
SELECT f('a') & NULL AS "right", NULL & f('a') AS "left", cuckoo_intersection(NULL, NULL) AS both;

---- How many keys two filters have in common: an estimate and its standard error
CREATE FUNCTION common(f cuckoofilter, g cuckoofilter, truth bigint, OUT keys_within_two_errors boolean, OUT error numeric)
LANGUAGE sql RETURN (SELECT (abs(c.keys - truth) <= 2 * c.error + 0.5, round(c.error::numeric, 1)) FROM cuckoo_common(f, g) AS c);
SELECT name, truth, (common(f('a'), f, truth)).*, cuckoo_common(f('a'), f) = cuckoo_common(f, f('a')) AS symmetric
FROM filters JOIN (VALUES ('a', 3000), ('b', 0), ('overlap', 1000), ('full', 3000), ('few', 11), ('other rate', 0), ('unknown', 2000), ('counted', 2000), ('unset', 0), ('new', 0)) AS v (name, truth)
USING (name) ORDER BY name;
-- Its columns
SELECT keys, round(error::numeric, 3) AS error FROM cuckoo_common(cuckoo_new(100) + 1 + 1 + 2, cuckoo_new(50, 0.01) + 2);
-- The larger set decides how many others an intersection has.  With one capacity
-- for both, the error is small.
SELECT capacity, truth, cuckoo_cardinality(f & g) > truth + 100 AS others_in_intersection, (common(f, g, truth)).*
FROM (VALUES (NULL, 0), (NULL, 1000), (300000, 0), (300000, 1000)) AS v (capacity, truth),
	LATERAL (SELECT cuckoo_agg(k, capacity) AS f FROM generate_series(1, 2000) AS k) AS x, LATERAL (SELECT cuckoo_agg(k, capacity) AS g FROM generate_series(2001 - truth, 300000) AS k) AS y;
-- The error is Infinity if the filters are so full that nothing is known.
SELECT (cuckoo_common(f, f)).error FROM (SELECT cuckoo_union_agg(cuckoo_new(1, 0.1) + k) AS f FROM generate_series(1, 9999) AS k) AS x;
SELECT cuckoo_common(f('a'), NULL) AS "right", cuckoo_common(NULL, f('a')) AS "left";

---- Aggregates
SELECT (brief(cuckoo_union_agg(f))).*, missing(cuckoo_union_agg(f), 1, 10000) FROM filters;
SELECT (brief(cuckoo_union_all_agg(f ORDER BY name))).*, missing(cuckoo_union_all_agg(f), 1, 10000) FROM filters;
SELECT cuckoo_union_all_agg(f) = f('a') AS one_row, cuckoo_union_agg(f) = f('a') AS one_row FROM filters WHERE name = 'a';
-- The intersection of all; over no rows, or only NULLs, NULL
SELECT cuckoo_intersection_agg(f) = (f('a') & f('overlap') & f('few')) AS intersection, cuckoo_intersection_agg(f ORDER BY name DESC) = cuckoo_intersection_agg(f ORDER BY name) AS any_order,
	missing(cuckoo_intersection_agg(f), 2990, 3000) AS missing FROM filters WHERE name IN ('a', 'overlap', 'few');
SELECT cuckoo_intersection_agg(f) = f('a') AS with_null FROM (SELECT NULL::cuckoofilter AS f UNION ALL SELECT f('a') UNION ALL SELECT NULL) AS x;
SELECT cuckoo_intersection_agg(NULL) AS nulls, cuckoo_intersection_agg(f) AS no_rows FROM filters WHERE false;
SELECT (brief(cuckoo_intersection_agg(f))).* FROM filters;
SELECT name, cuckoo_cardinality(cuckoo_intersection_agg(f) OVER (ORDER BY name)) AS of_all_before FROM filters WHERE name IN ('a', 'full', 'overlap', 'unknown');
-- NULL is skipped; over no rows, or only NULLs, an unset filter
SELECT cuckoo_union_all_agg(f) = f('a') AS with_null FROM (SELECT f('a') AS f UNION ALL SELECT NULL) AS x;
SELECT cuckoo_union_agg(NULL) = f('unset') AS nulls, cuckoo_union_all_agg(f) = f('unset') AS no_rows FROM filters WHERE false;
SELECT cuckoo_union_agg(f) = f('unset') AS unset FROM (VALUES (f('unset')), (NULL), (f('unset'))) AS v (f);
-- The inputs do not change.
SELECT (brief(cuckoo_union_all_agg(f ORDER BY n))).*, missing(cuckoo_union_all_agg(f ORDER BY n), 1, 6000) FROM
	(SELECT 0 AS n, f('a') AS f UNION ALL SELECT k, cuckoo_from_array(ARRAY[3000 + 3 * k, 2999 + 3 * k, 2998 + 3 * k]) FROM generate_series(1, 1000) AS k) AS x;
SELECT missing(f('a'), 1, 3000), cuckoo_cardinality(f('a'));

-- Windows: the state is used further after a filter was made from it.
SELECT count(*) AS rows, bool_and(running = (SELECT fold('all', 'left', array_agg(m.f ORDER BY m.i)) FROM many AS m WHERE m.i <= w.i)) AS running,
	bool_and(united = (SELECT fold('|', 'tree', array_agg(m.f)) FROM many AS m WHERE m.i <= w.i)) AS united,
	bool_and(sliding = (SELECT fold('all', 'tree', array_agg(m.f)) FROM many AS m WHERE m.i BETWEEN w.i - 3 AND w.i)) AS sliding,
	bool_and(whole = (SELECT cuckoo_union_agg(m.f) FROM many AS m)) AS whole, bool_and(part = (SELECT fold('all', 'left', array_agg(m.f)) FROM many AS m WHERE m.i % 5 = w.i % 5)) AS part,
	bool_and(again = running) AS again
FROM (SELECT i, cuckoo_union_all_agg(f) OVER (ORDER BY i) AS running, cuckoo_union_agg(f) OVER (ORDER BY i) AS united, cuckoo_union_all_agg(f) OVER (ORDER BY i ROWS 3 PRECEDING) AS sliding,
	cuckoo_union_agg(f) OVER () AS whole, cuckoo_union_all_agg(f) OVER (PARTITION BY i % 5) AS part, cuckoo_union_all_agg(f) FILTER (WHERE i >= 0) OVER (ORDER BY i) AS again FROM many) AS w;
-- From small states, which are filters, to large ones, one key at a time
SELECT count(*) AS rows, bool_and(running = (SELECT cuckoo_agg(i, 20000, 0.001) FROM generate_series(1, k) AS i)) AS same
FROM (SELECT k, cuckoo_union_all_agg(f) OVER (ORDER BY k) AS running FROM singles) AS w WHERE k % 100 = 0;

-- 100,000 groups of two filters each.  This takes seconds; with an expanded
-- object for each group it would take far longer.
SET statement_timeout = '60s';
SET enable_sort = off;
SELECT count(*), sum(cuckoo_cardinality(m)) AS summed, sum(cuckoo_cardinality(u)) AS united FROM
	(SELECT k % 100000 AS n, cuckoo_union_all_agg(f) AS m, cuckoo_union_agg(f) AS u FROM (SELECT k, cuckoo_new() + k AS f FROM generate_series(1, 200000) AS k) AS f GROUP BY 1) AS g;
RESET enable_sort;
RESET statement_timeout;

---- The WARNING comes once, if the expected rate is more than ten times the
---- target rate
CREATE TABLE crowd AS SELECT i, cuckoo_agg(k, 100, 0.001) AS f FROM generate_series(0, 29) AS i, generate_series(100 * i, 100 * i + 99) AS k GROUP BY i;
SELECT (brief(cuckoo_union_all_agg(f))).*, round(cuckoo_fpr(cuckoo_union_all_agg(f))::numeric, 4) AS fpr FROM crowd WHERE i < 13;
SELECT (brief(cuckoo_union_all_agg(f))).*, round(cuckoo_fpr(cuckoo_union_all_agg(f))::numeric, 4) AS fpr FROM crowd;
SELECT cuckoo_cardinality(cuckoo_union_agg(f)) > 2900 AS united FROM crowd;
-- Not for every group, nor for every row of a window
SELECT i % 2 AS g, cuckoo_cardinality(cuckoo_union_all_agg(f)) AS items FROM crowd GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (SELECT cuckoo_union_all_agg(f) OVER (ORDER BY i) AS f FROM crowd OFFSET 0) AS w WHERE f @> 5;
-- Copies, or the same keys in many sub-filters, count: the rate is an upper bound.
SELECT round(cuckoo_fpr(f)::numeric, 4) AS at_most, (SELECT count(*) FROM generate_series(1, 100000) AS k WHERE f @> -k) / 1e5 < 0.002 AS true_rate
FROM (SELECT cuckoo_union_all_agg(f) AS f FROM crowd, generate_series(1, 8) WHERE i < 2 OFFSET 0) AS f;
SELECT round(cuckoo_fpr(f)::numeric, 4) AS at_most, (SELECT count(*) FROM generate_series(1, 100000) AS k WHERE f @> -k) / 1e5 < 0.003 AS true_rate
FROM (SELECT cuckoo_union_agg(f) AS f FROM (SELECT cuckoo_agg(k, 10000 + 8 * i, 0.00095) AS f FROM generate_series(0, 15) AS i, generate_series(1, 10000) AS k GROUP BY i) AS f OFFSET 0) AS f;
-- It is not far above if the keys of many sub-filters differ.
SELECT (brief(cuckoo_union_agg(f))).items FROM (SELECT cuckoo_agg(10000 * i + k, 10000 + 8 * i, 0.00095) AS f FROM generate_series(0, 15) AS i, generate_series(1, 10000) AS k GROUP BY i) AS f;
-- Operators do not warn; cuckoo_fpr shows the rate.
SELECT round(cuckoo_fpr(fold('all', 'left', array_agg(f)))::numeric, 4) AS fpr FROM crowd;

-- Unset filters change nothing, in any order and whatever the size of the
-- filter.  Here it is a dense one that grew key by key, which a combination
-- would rebuild.
WITH grown AS (
	SELECT cuckoo_add_all(cuckoo_new(5000, 0.001), array_agg(i)) AS f FROM generate_series(1, 4800) AS i
), rows AS (
	SELECT f, 1 AS n FROM grown UNION ALL SELECT cuckoo_agg(i), 2 FROM generate_series(1, 0) AS i
)
SELECT cuckoo_union_agg(rows.f ORDER BY n) = grown.f AS behind, cuckoo_union_agg(rows.f ORDER BY n DESC) = grown.f AS before,
	cuckoo_union_all_agg(rows.f ORDER BY n) = grown.f AS summed
FROM rows, grown GROUP BY grown.f;
