-- NULL: as a filter, a key, an array, an element, a parameter
--
-- Lookups of NULL give NULL.  A change by NULL changes nothing: f + NULL
-- must not erase a stored filter.  A change of NULL changes an empty filter:
-- NULL + key must not lose the key.  NULL as a parameter means the default.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\pset null NULL
CREATE TABLE filters (f cuckoofilter, none cuckoofilter, key integer, array_of integer[]);
INSERT INTO filters VALUES (cuckoo_new(100, 0.01, 7) + 1 + 2, NULL, NULL, NULL);

-- Lookups
SELECT cuckoo_contains(f, key) AS contains, f @> key AS "@>", key <@ f AS "<@", cuckoo_count(f, key) AS count,
	f @> NULL AS literal, NULL <@ f AS literal, cuckoo_contains(f, NULL) AS literal, cuckoo_count(f, NULL) AS literal
FROM filters;
SELECT cuckoo_contains(none, 1) AS contains, none @> 1 AS "@>", 1 <@ none AS "<@", cuckoo_count(none, 1) AS count,
	cuckoo_cardinality(none) AS cardinality, cuckoo_fpr(none) AS fpr, (cuckoo_info(none)).representation AS representation,
	(SELECT count(*) FROM cuckoo_subfilters(none)) AS tables
FROM filters;
SELECT cuckoo_hash(NULL::integer), cuckoo_hash(1, NULL), cuckoo_shard(NULL::integer, 4), cuckoo_shard(1, NULL);

-- A key, array or element that is NULL leaves the filter as it is.
SELECT f + key = f AS "+", f - key = f AS "-", cuckoo_add(f, key) = f AS add, cuckoo_remove(f, key) = f AS remove,
	cuckoo_add_all(f, array_of) = f AS add_all, cuckoo_remove_all(f, array_of) = f AS remove_all,
	f + NULL = f AS literal, f - NULL = f AS literal, cuckoo_add(f, NULL) = f AS literal, cuckoo_remove(f, NULL) = f AS literal,
	cuckoo_add_all(f, NULL) = f AS literal, cuckoo_remove_all(f, NULL) = f AS literal
FROM filters;
SELECT cuckoo_add_all(f, '{NULL,NULL}'::integer[]) = f AS add_nulls, cuckoo_remove_all(f, '{NULL}'::integer[]) = f AS remove_nulls,
	cuckoo_add_all(f, '{}'::integer[]) = f AS add_none, cuckoo_remove_all(f, '{}'::integer[]) = f AS remove_none,
	cuckoo_add_all(f, '{3,NULL,4}'::integer[]) = f + 3 + 4 AS add_some, cuckoo_remove_all(f, '{NULL,2}'::integer[]) = f - 2 AS remove_some
FROM filters;
-- Nor is it an error to remove nothing from a filter that is not removable.
SELECT fixed - NULL = fixed AS "-", cuckoo_remove(fixed, NULL) = fixed AS remove, cuckoo_remove_all(fixed, '{}'::integer[]) = fixed AS remove_none,
	cuckoo_remove_all(fixed, '{NULL}'::integer[]) = fixed AS remove_null
FROM (SELECT cuckoo_new(removable => false) + 1 AS fixed) AS f;

-- An array without a key may be of any key type: drivers send an empty list as
-- text[].  It does not decide the key type of a filter that has none.
SELECT cuckoo_contains_each(f, '{}'::text[]) AS each, cuckoo_contains_each(f, ARRAY[NULL, NULL]) AS each, cuckoo_add_all(f, '{}'::text[]) = f AS add_all, cuckoo_add_all(f,
	'{NULL}'::date[]) = f AS add_all,
	cuckoo_remove_all(f, '{}'::text[]) = f AS remove_all, cuckoo_remove_all(f, '{NULL}'::record[]) = f AS remove_all, (cuckoo_info(cuckoo_add_all(cuckoo_new(), '{NULL}'::text[]))).key_type AS key_type
FROM filters;

-- Elements that are NULL count as they do in = ANY and = ALL.
SELECT keys, f @> ANY (keys) AS any, f @> ALL (keys) AS all, cuckoo_contains_each(f, keys) AS each
FROM filters, (VALUES (1, '{1,2}'::integer[]), (2, '{1,3}'), (3, '{3,4}'), (4, '{1,NULL}'), (5, '{3,NULL}'), (6, '{1,NULL,3}'),
	(7, '{NULL,NULL}'), (8, '{{1,NULL},{3,2}}'), (9, '[5:6]={3,1}'), (10, '{}'), (11, NULL)) AS v (n, keys)
ORDER BY n;

-- For changes a NULL filter is an empty one, as for array_append: the key is
-- not lost.  There is nothing to remove from it.
SELECT none + 1 = cuckoo_new() + 1 AS "+", cuckoo_add(none, 1) = cuckoo_new() + 1 AS add, cuckoo_add_all(none, '{1,NULL,2}'::integer[]) = cuckoo_new() + 1 + 2 AS add_all,
	none - 1 AS "-", cuckoo_remove(none, 1) AS remove, cuckoo_remove_all(none, '{1}'::integer[]) AS remove_all,
	none + NULL AS both, none - key AS both, cuckoo_add_all(none, array_of) AS both, cuckoo_add_all(none, '{NULL}'::integer[]) AS nothing, cuckoo_add_all(none, '{}'::integer[]) AS nothing
FROM filters;
-- As the column of an UPDATE, which is where it matters
UPDATE filters SET none = none + 5 WHERE NOT coalesce(none @> 5, false);
SELECT none = cuckoo_new() + 5 AS kept FROM filters;
UPDATE filters SET none = NULL;
UPDATE filters SET none = none | f;
SELECT none = f AS united FROM filters;
UPDATE filters SET none = NULL;
SELECT cuckoo_from_array(NULL::integer[]) AS from_array, cuckoo_from_array(NULL::integer[], NULL, 0.01) AS from_array,
	NULL::cuckoofilter::bytea AS to_bytea, NULL::bytea::cuckoofilter AS from_bytea, NULL::cuckoofilter::text AS to_text,
	none = f AS "=", none < f AS "<", f <> none AS "<>"
FROM filters;

-- Parameters
SELECT cuckoo_new(NULL, NULL, NULL) = cuckoo_new() AS new,
	cuckoo_new(100, NULL, NULL) = cuckoo_new(capacity => 100) AS new_some,
	cuckoo_from_array('{1,2}'::integer[], NULL) = cuckoo_from_array('{1,2}'::integer[]) AS from_array,
	cuckoo_from_array('{NULL}'::integer[], 5000, 0.01, 7) = cuckoo_new(5000, 0.01, 7) AS from_nulls,
	(SELECT cuckoo_agg(i, NULL, NULL) = cuckoo_agg(i) AND cuckoo_agg(i, NULL) = cuckoo_agg(i)
		AND cuckoo_agg(i, NULL, 0.01) = cuckoo_agg(i, NULL, 0.01) AND cuckoo_agg(i, 100, NULL) = cuckoo_agg(i, 100, 0.001)
		FROM generate_series(1, 50) AS i) AS agg,
	(SELECT cuckoo_agg(i, NULL, CASE WHEN i > 3 THEN 0.001 END) = cuckoo_agg(i)
		FROM generate_series(1, 5) AS i) AS agg_some_rows;

-- Over no rows, or over NULL keys without parameters, the filter is not NULL,
-- but empty and without parameters.  That of an array without keys is that of
-- cuckoo_new.
CREATE TABLE empties (how text, f cuckoofilter);
INSERT INTO empties VALUES
	('no rows', (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)),
	('no rows, parameters', (SELECT cuckoo_agg(i, 1000, 0.01) FROM generate_series(1, 0) AS i)),
	('no rows, text', (SELECT cuckoo_agg(i::text) FROM generate_series(1, 0) AS i)),
	('no rows, polymorphic', (SELECT cuckoo_agg(array[i]) FROM generate_series(1, 0) AS i)),
	('only NULL keys', (SELECT cuckoo_agg(NULL::integer) FROM generate_series(1, 3) AS i)),
	('only NULL keys, text', (SELECT cuckoo_agg(NULL) FROM generate_series(1, 3) AS i)),
	('only NULL keys, polymorphic', (SELECT cuckoo_agg(NULL::integer[]) FROM generate_series(1, 3) AS i)),
	('nothing passes FILTER', (SELECT cuckoo_agg(i) FILTER (WHERE i > 3) FROM generate_series(1, 3) AS i)),
	('empty window frame', (SELECT cuckoo_agg(i) OVER (ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) FROM generate_series(1, 1) AS i)),
	('empty array', cuckoo_from_array('{}'::integer[])),
	('empty array, fpr', cuckoo_from_array('{}'::integer[], NULL, 0.01)),
	('array of NULLs', cuckoo_from_array('{NULL,NULL}'::text[]));
SELECT how, f = cuckoo_new() AS new, f = cuckoo_new(NULL, 0.01) AS new_with_rate FROM empties WHERE f IS DISTINCT FROM (SELECT f FROM empties WHERE how = 'no rows');
SELECT i.* FROM empties, cuckoo_info(f) AS i WHERE how = 'no rows';

-- Lookups in an empty filter return false, and it accepts keys of any type.
SELECT f @> 1 AS integer, f @> 'a' AS text, '{1}'::integer[] <@ f AS "array", cuckoo_count(f, 1) AS count, cuckoo_cardinality(f) AS items,
	cuckoo_fpr(f) AS fpr, f - 1 = f AS removed, cuckoo_remove_all(f, '{1}'::integer[]) = f AS removed_all,
	f + NULL = f AS "null", cuckoo_add_all(f, '{NULL}'::integer[]) = f AS nulls
FROM empties WHERE how = 'no rows';

-- The first addition gives it the parameters of cuckoo_new().
SELECT f + 1 = cuckoo_new() + 1 AS added, cuckoo_add_all(f, '{1,NULL,2}'::integer[]) = cuckoo_new() + 2 + 1 AS added_all,
	f + 'a' = cuckoo_new() + 'a' AS text
FROM empties WHERE how = 'no rows';
-- With 12 digits: on 32-bit machines the last ones differ.
SET extra_float_digits = -3;
SELECT i.* FROM empties, cuckoo_info(f + 1) AS i WHERE how = 'no rows';
RESET extra_float_digits;

-- Parameters specified with only NULL keys are kept and checked, as by
-- cuckoo_new.
SELECT cuckoo_agg(NULL::integer, NULL, 0.01) = cuckoo_new(NULL, 0.01) AS fpr, cuckoo_agg(k, 5000, 0.01) = cuckoo_new(5000, 0.01) AS capacity,
	cuckoo_agg(k, 5000, NULL) = cuckoo_new(capacity => 5000) AS capacity_only, cuckoo_agg(ARRAY[k], 5000, 0.01) @> ARRAY[NULL::integer] AS array_of_null,
	cuckoo_agg(NULL::integer[], 5000, 0.01) = cuckoo_new(5000, 0.01) AS polymorphic, cuckoo_agg(NULL, 5000, 0.01) = cuckoo_new(5000, 0.01) AS literal,
	cuckoo_stream_agg(k, 5000, 0.01) = set_byte(cuckoo_new(5000, 0.01)::bytea, 3, 1)::cuckoofilter AS stream, cuckoo_multiset_agg(NULL::text, 5000, 0.01) = cuckoo_new(5000, 0.01) AS multiset
FROM unnest('{NULL,NULL,NULL}'::integer[]) AS k;
-- A group of them does not take over the key type of the group before.
SELECT i, cuckoo_agg(CASE WHEN i = 1 THEN ARRAY[i] END, 5000, 0.01) = CASE i WHEN 1 THEN cuckoo_new(5000, 0.01) + ARRAY[1] ELSE cuckoo_new(5000, 0.01) END AS agg
FROM generate_series(1, 2) AS i GROUP BY i ORDER BY i;
-- The first key that follows decides the key type, whatever the order of rows.
SELECT cuckoo_agg(k, 5000, 0.01 ORDER BY i) = cuckoo_from_last AS last, cuckoo_agg(k, 5000, 0.01 ORDER BY i DESC) = cuckoo_from_last AS first,
	cuckoo_stream_agg(k, 5000, 0.01 ORDER BY i) = (cuckoo_from_last | cuckoo_from_last) AS stream, cuckoo_multiset_agg(k, 5000, 0.01 ORDER BY i DESC) = cuckoo_from_last AS multiset
FROM (VALUES (1, NULL), (2, NULL), (3, 'x')) AS v (i, k), (SELECT cuckoo_new(5000, 0.01) + 'x'::text AS cuckoo_from_last) AS x GROUP BY cuckoo_from_last;
SELECT cuckoo_agg(k, 5000, 0.01 ORDER BY k DESC) = cuckoo_new(5000, 0.01) + ARRAY[3] AS signature FROM (VALUES (NULL), (ARRAY[3])) AS v (k);
SELECT cuckoo_cardinality(f), f @> 20 AS found FROM (SELECT k, cuckoo_agg(CASE WHEN k > 18 THEN k END, 5000, 0.01) OVER (ORDER BY k) AS f FROM generate_series(1, 20) AS k) AS x
	WHERE k IN (18, 20) ORDER BY k;
-- Over no rows parameters cannot be known.  They come from a filter that has
-- them.
SELECT n, f = cuckoo_new(2e5, 1e-6) AS empty, (cuckoo_info(f)).target_fpr, (cuckoo_info(f)).capacity, cuckoo_cardinality(f) AS items
FROM unnest('{0,3,1000}'::integer[]) AS n, LATERAL (SELECT cuckoo_union_all(cuckoo_new(2e5, 1e-6), cuckoo_agg(k, 2e5, 1e-6)) AS f FROM generate_series(1, n) AS k) AS made;

-- A row of NULLs and an array of NULLs are keys, not NULL.
SELECT cuckoo_cardinality(cuckoo_new() + ROW(NULL::integer, NULL::text)) AS row, cuckoo_cardinality(cuckoo_new() + '{NULL}'::integer[]) AS "array";

-- The operators + and - take an untyped NULL beside another type for a filter.
SELECT pg_typeof(NULL + 'a'::text) AS added, pg_typeof(NULL - true) AS removed;
