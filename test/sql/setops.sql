--
-- Union and merge: functions, operators, aggregates, and what forbids them
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
\pset format unaligned
\pset footer off
\pset null NULL

CREATE SCHEMA setops_test;
SET search_path = setops_test, public;

-- What a filter is, in short; and keys of first .. last that it does not find.
CREATE FUNCTION brief(f cuckoofilter, OUT body text, OUT items bigint, OUT tables integer, OUT removable boolean, OUT capacity bigint,
	OUT fpr float8, OUT layout text, OUT seed bigint)
LANGUAGE sql RETURN (SELECT (i.representation, i.items, i.tables, i.removable, i.capacity, i.target_fpr, i.layout, i.seed) FROM cuckoo_info(f) AS i);
CREATE FUNCTION missing(f cuckoofilter, first integer, last integer) RETURNS bigint
LANGUAGE sql RETURN (SELECT count(*) FROM generate_series(first, last) AS k WHERE NOT f @> k);

-- Filters by name: keys first .. last, all with the capacity of the whole
CREATE TABLE filters (name text, f cuckoofilter);
INSERT INTO filters
	SELECT 'a', cuckoo_agg(k, 0.001, 10000) FROM generate_series(1, 3000) AS k UNION ALL
	SELECT 'b', cuckoo_agg(k, 0.001, 10000) FROM generate_series(3001, 6000) AS k UNION ALL
	SELECT 'c', cuckoo_agg(k, 0.001, 10000) FROM generate_series(6001, 9000) AS k UNION ALL
	SELECT 'overlap', cuckoo_agg(k, 0.001, 10000) FROM generate_series(2001, 4000) AS k UNION ALL
	SELECT 'full', cuckoo_agg(k, 0.001, 10000) FROM generate_series(1, 10000) AS k UNION ALL
	SELECT 'other', cuckoo_agg(k, 0.01) FROM generate_series(3001, 4000) AS k UNION ALL
	SELECT 'plain', cuckoo_add_all(cuckoo_new(0.001, 10000, layout => 'plain'), array_agg(k)) FROM generate_series(9001, 9500) AS k UNION ALL
	SELECT 'list', cuckoo_agg(k, 0.001, 10000) FROM generate_series(2990, 3009) AS k UNION ALL
	SELECT 'long list', cuckoo_add_all(cuckoo_new(), array_agg(k)) FROM generate_series(1, 1000) AS k UNION ALL
	SELECT 'unset', cuckoo_agg(NULL::integer) UNION ALL
	SELECT 'new', cuckoo_new(0.001, 10000);
CREATE FUNCTION f(wanted text) RETURNS cuckoofilter
LANGUAGE sql RETURN (SELECT f FROM filters WHERE name = wanted);

--
-- Equal shapes: one table, and the bytes depend only on what is in it
--
SELECT (brief(f('a') || f('b'))).*, missing(f('a') || f('b'), 1, 6000);
SELECT (brief(f('a') | f('overlap'))).*, missing(f('a') | f('overlap'), 1, 4000);
SELECT f('a') || f('b') = f('b') || f('a') AS merge_commutes, f('a') | f('overlap') = f('overlap') | f('a') AS union_commutes,
	(f('a') || f('b')) || f('c') = f('a') || (f('b') || f('c')) AS merge_associates,
	(f('a') | f('overlap')) | f('c') = f('a') | (f('overlap') | f('c')) AS union_associates,
	cuckoo_merge(f('a'), f('b')) = f('a') || f('b') AS merge_operator, cuckoo_union(f('a'), f('b')) = f('a') | f('b') AS union_operator;

-- Merging disjoint parts equals the aggregate over the whole, byte for byte.
SELECT md5((f('a') || f('b') || f('c'))::bytea) = md5(whole::bytea) AS same_bytes, (brief(whole)).*
FROM (SELECT cuckoo_agg(k, 0.001, 10000) AS whole FROM generate_series(1, 9000) AS k) AS w;
SELECT parts, count(DISTINCT md5(merged::bytea)) AS different, bool_and(merged = whole) AS same_bytes
FROM (VALUES (2), (3), (7), (40)) AS p(parts),
	LATERAL (SELECT cuckoo_merge_agg(part ORDER BY n) AS merged FROM
		(SELECT k % parts AS n, cuckoo_agg(k, 0.001, 200000) AS part FROM generate_series(1, 200000) AS k GROUP BY 1) AS g) AS m,
	(SELECT cuckoo_agg(k, 0.001, 200000) AS whole FROM generate_series(1, 200000) AS k) AS w
GROUP BY parts ORDER BY parts;
-- Also where the parts are lists
SELECT bool_and(merged = whole) AS same_bytes, count(*)
FROM generate_series(33, 64) AS n,
	LATERAL (SELECT cuckoo_agg(k, 0.001, 1000) FILTER (WHERE k % 2 = 0) || cuckoo_agg(k, 0.001, 1000) FILTER (WHERE k % 2 = 1) AS merged,
		cuckoo_agg(k, 0.001, 1000) AS whole FROM generate_series(1, n) AS k) AS m;

-- Copies: the larger number, or the sum up to eight
SELECT i, j, cuckoo_count(f | g, 'x') AS union, cuckoo_count(f || g, 'x') AS merge, cuckoo_count(lf | lg, 'x') AS list_union,
	cuckoo_count(lf || lg, 'x') AS list_merge, cuckoo_count(lf | g, 'x') AS list_or_table, cuckoo_count(f || lg, 'x') AS table_and_list
FROM (VALUES (1, 1), (2, 5), (5, 2), (5, 5), (8, 1), (8, 8)) AS v(i, j),
	LATERAL (SELECT cuckoo_new(1e-6, 1000) AS empty, cuckoo_from_array(array_agg(k::text), 1e-6) AS base FROM generate_series(1, 100) AS k) AS e,
	LATERAL (SELECT cuckoo_add_all(base, array_fill('x'::text, ARRAY[i])) AS f, cuckoo_add_all(base, array_fill('x'::text, ARRAY[j])) AS g,
		cuckoo_add_all(empty, array_fill('x'::text, ARRAY[i])) AS lf, cuckoo_add_all(empty, array_fill('x'::text, ARRAY[j])) AS lg) AS c;

--
-- What does not fit is held side by side
--
SELECT (brief(f('full') || f('b'))).*, missing(f('full') || f('b'), 1, 10000), cuckoo_fpr(f('full') || f('b')) > cuckoo_fpr(f('full')) AS rate_rises;
SELECT (brief(f('a') | f('other'))).*, missing(f('a') | f('other'), 1, 4000);
SELECT number, items, capacity, fingerprint_bits FROM cuckoo_tables(f('a') || f('other'));
SELECT f('a') || f('other') = f('other') || f('a') AS commutes;
-- A union with what is in it already adds nothing but the mark.
SELECT cuckoo_cardinality(f('full') | f('full')) AS itself, cuckoo_cardinality(f('full') | f('a')) AS part_right,
	cuckoo_cardinality(f('a') | f('full')) AS part_left, missing(f('a') | f('full'), 1, 10000), (brief(f('a') | f('a'))).*;
SELECT (brief((f('full') || f('b')) | f('full'))).tables, (brief(f('full') | (f('full') || f('b')))).tables;

--
-- Lists
--
SELECT (brief(f('list') || f('list'))).*;
SELECT (brief(f('list') | f('list'))).*, f('list') | f('list') = f('list') AS same;
SELECT (brief(f('list') || f('long list'))).*, missing(f('list') || f('long list'), 1, 1000) + missing(f('list') || f('long list'), 2990, 3009) AS missing;
SELECT (brief(f('long list') || (cuckoo_new() + 5000))).*;
SELECT (brief(f('long list') || (SELECT cuckoo_add_all(cuckoo_new(), array_agg(k)) FROM generate_series(2001, 3000) AS k))).*;
SELECT (brief(f('a') || f('list'))).*, missing(f('a') || f('list'), 1, 3009);
SELECT (brief(f('a') | f('list'))).*, missing(f('list') | f('a'), 1, 3009);
SELECT f('a') || f('list') = f('list') || f('a') AS commutes;
-- Into tables that have no room they bring another one.
SELECT (brief(f('full') || f('list'))).*, missing(f('full') || f('list'), 1, 10000);
SELECT (brief(cuckoo_merge(f('full'), f('long list')))).*;
-- Removable still, each copy with its own entry
SELECT missing(cuckoo_remove_all(f('a') || f('list'), (SELECT array_agg(k) FROM generate_series(2990, 3009) AS k)), 1, 2999);

--
-- Empty and unset filters, parameters
--
SELECT (brief(f('unset') || f('unset'))).*;
SELECT f('unset') || f('a') = f('a') AS unset_left, f('a') | f('unset') = f('a') AS unset_right, f('new') | f('a') = f('a') AS empty_left,
	f('a') || f('new') = f('a') AS empty_right, f('unset') || f('new') = f('new') AS unset_empty;
SELECT (brief(cuckoo_new(0.01, 50, 7) || f('unset'))).*;
SELECT (brief(cuckoo_new(0.01, 50, 7) || f('list'))).*;
SELECT (brief((cuckoo_new(0.01, 50) + 1) || (cuckoo_new(0.0001, 20, 0, 'plain') + 2))).*;
SELECT (brief(f('a') || (cuckoo_new(0.0001, 20000) + 2))).*;
SELECT (brief(f('a') || f('plain'))).*, missing(f('a') || f('plain'), 1, 3000) + missing(f('a') || f('plain'), 9001, 9500) AS missing;
SELECT (brief(f('plain') || f('other'))).*, missing(f('plain') || f('other'), 3001, 4000) + missing(f('plain') || f('other'), 9001, 9500) AS missing;
-- Emptied tables are as good as none.
SELECT (brief(cuckoo_remove_all(f('other'), (SELECT array_agg(k) FROM generate_series(3001, 4000) AS k)) || f('list'))).*;

-- NULL
SELECT f('a') | NULL = f('a') AS union, f('a') || NULL::cuckoofilter = f('a') AS merge, NULL | f('a') AS null_union, NULL::cuckoofilter || f('a') AS null_merge,
	cuckoo_union(NULL, NULL) AS nulls, cuckoo_mergeable(NULL, f('a')) AS mergeable;

--
-- Not removable
--
SELECT (brief(f('a') | f('b'))).removable AS union_of_tables, (brief(f('list') | f('list'))).removable AS of_lists, (brief(f('a') | f('list'))).removable AS of_both,
	(brief((f('a') | f('b')) || f('c'))).removable AS inherited, (brief(f('list') || (f('a') | f('b')))).removable AS inherited_by_list,
	(brief(f('a') || f('b'))).removable AS merge, (brief(f('a') | f('unset'))).removable AS union_with_nothing;
SELECT (f('a') | f('b')) - 1;
SELECT cuckoo_cardinality((f('a') || f('b')) - 1 - 6000);

--
-- What cannot be combined, with both shapes
--
SELECT (cuckoo_new(seed => 5) + 1) || f('list');
SELECT cuckoo_from_array(ARRAY['x']) | f('a');
SELECT (cuckoo_new(seed => 5) + 1) || cuckoo_multiset_agg(k % 50, 0.001, 1000) FROM generate_series(1, 500) AS k;
SELECT cuckoo_new(seed => 1) || cuckoo_new(seed => 2);
SELECT f('a') || cuckoo_agg_transfn(NULL, 1);
DO $$
DECLARE
	f cuckoofilter := cuckoo_new();
	state text;
	message text;
	detail text;
	hint text;
BEGIN
	FOR n IN 1 .. 16 LOOP
		f := f || (SELECT cuckoo_agg(k, 0.1) FROM generate_series(1, 33 + 4 * n) AS k);
	END LOOP;
	RAISE WARNING '% tables, mergeable: % and with the same %', (cuckoo_info(f)).tables,
		cuckoo_mergeable(f, (SELECT cuckoo_agg(k, 0.1) FROM generate_series(1, 1000) AS k)), cuckoo_mergeable(f, f);
	f := f || (SELECT cuckoo_agg(k, 0.1) FROM generate_series(1, 1000) AS k);
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RAISE WARNING '% % / % / %', state, message, detail, hint;
END
$$;
-- A list finds room in sixteen tables, or it does not.
DO $$
DECLARE
	f cuckoofilter := cuckoo_new();
	few cuckoofilter := cuckoo_from_array(ARRAY(SELECT generate_series(1, 30)), 0.1);
	n integer := 0;
BEGIN
	FOR n IN 1 .. 16 LOOP
		f := f || (SELECT cuckoo_agg(k, 0.1) FROM generate_series(1000 * n, 1000 * n + 33 + 4 * n) AS k);
	END LOOP;
	LOOP
		IF n IN (0, 1000) THEN
			RAISE WARNING '% tables, mergeable: %, % and %', (cuckoo_info(f)).tables, cuckoo_mergeable(f, few), cuckoo_mergeable(few, f),
				cuckoo_mergeable(cuckoo_new(), f);
		END IF;
		EXIT WHEN n = 1000;
		BEGIN
			f := f + -n;
			n := n + 1;
		EXCEPTION WHEN program_limit_exceeded THEN
			n := 1000;
		END;
	END LOOP;
	f := f || few;
EXCEPTION WHEN others THEN
	RAISE WARNING '% %', SQLSTATE, SQLERRM;
END
$$;
CREATE FUNCTION sqlstate_of(query text) RETURNS text LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE query;
	RETURN 'none';
EXCEPTION WHEN others THEN
	RETURN SQLSTATE;
END
$$;
SELECT sqlstate_of($$SELECT (cuckoo_new(seed => 5) + 1) | (cuckoo_new() + 1)$$) AS seed, sqlstate_of($$SELECT (cuckoo_new() + 'x'::text) || (cuckoo_new() + 1)$$) AS kind,
	sqlstate_of($$SELECT f('a') - 1 || f('b')$$) AS fine, sqlstate_of($$SELECT cuckoo_union_agg_transfn(f('a'), f('b'))$$) AS no_aggregate,
	sqlstate_of($$SELECT cuckoo_merge_agg_transfn(f('a'), f('b'))$$) AS no_aggregate, sqlstate_of($$SELECT cuckoo_combine_final(f('a'))$$) AS no_aggregate,
	sqlstate_of($$SELECT cuckoo_merge_agg(cuckoo_from_array(ARRAY[k])) FROM generate_series(1, 3) AS k$$) AS fine,
	sqlstate_of($$SELECT cuckoo_merge_agg(cuckoo_new(seed => k) + 1) FROM generate_series(1, 2) AS k$$) AS seed;

-- cuckoo_mergeable foretells all of these.
SELECT cuckoo_mergeable(f('a'), f('b')) AS same, cuckoo_mergeable(f('a'), f('other')) AS shapes, cuckoo_mergeable(f('list'), f('plain')) AS layouts,
	cuckoo_mergeable(f('unset'), f('a')) AS unset, cuckoo_mergeable(cuckoo_new(seed => 1), f('a')) AS empty,
	cuckoo_mergeable(cuckoo_new(seed => 1) + 1, f('a')) AS seeds, cuckoo_mergeable(cuckoo_from_array(ARRAY['x']), f('a')) AS kinds,
	cuckoo_mergeable(cuckoo_new(seed => 1), cuckoo_new(seed => 2)) AS empty_seeds;

--
-- Aggregates
--
SELECT cuckoo_merge_agg(f) = f('a') || f('b') || f('c') AS merge, cuckoo_union_agg(f) = (f('a') | f('b') | f('c')) AS union,
	cuckoo_merge_agg(f ORDER BY name DESC) = f('a') || f('b') || f('c') AS any_order
FROM filters WHERE name IN ('a', 'b', 'c');
SELECT (brief(cuckoo_union_agg(f))).*, missing(cuckoo_union_agg(f), 1, 9500) FROM filters;
SELECT (brief(cuckoo_merge_agg(f ORDER BY name))).*, missing(cuckoo_merge_agg(f), 1, 9500) FROM filters WHERE name <> 'plain';
SELECT cuckoo_merge_agg(f) = f('a') AS one_row FROM filters WHERE name = 'a';
-- NULL is skipped; over no rows, or NULL alone, an unset filter
SELECT cuckoo_merge_agg(f) = f('a') AS with_null FROM (SELECT f('a') AS f UNION ALL SELECT NULL) AS x;
SELECT cuckoo_union_agg(NULL) = f('unset') AS nulls, cuckoo_merge_agg(f) = f('unset') AS no_rows FROM filters WHERE false;
-- Lists into a state with tables go in place; inputs stay what they are.
SELECT (brief(cuckoo_merge_agg(f ORDER BY n))).*, missing(cuckoo_merge_agg(f ORDER BY n), 1, 6000) FROM
	(SELECT 0 AS n, f('a') AS f UNION ALL SELECT k, cuckoo_from_array(ARRAY[3000 + 3 * k, 2999 + 3 * k, 2998 + 3 * k]) FROM generate_series(1, 1000) AS k) AS x;
SELECT missing(f('a'), 1, 3000), cuckoo_cardinality(f('a'));
-- Lists alone
SELECT (brief(cuckoo_merge_agg(f))).*, missing(cuckoo_merge_agg(f), 1, 5000) FROM
	(SELECT cuckoo_new() + k AS f FROM generate_series(1, 5000) AS k) AS x;
-- Of windows
SELECT name, (brief(cuckoo_merge_agg(f) OVER (ORDER BY name))).items FROM filters WHERE name IN ('a', 'b', 'c', 'list') ORDER BY name;
-- In parallel
CREATE TABLE parts AS SELECT k / 500 AS part, cuckoo_agg(k, 0.001, 50000) AS f FROM generate_series(0, 49999) AS k GROUP BY 1;
ALTER TABLE parts SET (parallel_workers = 3);
ANALYZE parts;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
EXPLAIN (COSTS OFF) SELECT cuckoo_merge_agg(f), cuckoo_union_agg(f) FROM parts;
SELECT cuckoo_merge_agg(f) = (SELECT cuckoo_agg(k, 0.001, 50000) FROM generate_series(0, 49999) AS k) AS same_bytes, (brief(cuckoo_union_agg(f))).* FROM parts;
RESET max_parallel_workers_per_gather;
-- Many groups
SELECT count(*), sum(cuckoo_cardinality(f)) FROM (SELECT k % 20000 AS n, cuckoo_merge_agg(cuckoo_from_array(ARRAY[k])) AS f FROM generate_series(1, 60000) AS k GROUP BY 1) AS g;

DROP SCHEMA setops_test CASCADE;
