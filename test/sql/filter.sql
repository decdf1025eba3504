-- Filters: making, changing by one key or many, lookups, inspection
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/types.psql"`
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (number integer, word text);
CREATE DOMAIN small AS integer CHECK (VALUE < 100);
CREATE DOMAIN numbers AS integer[];
CREATE DOMAIN couple AS pair;
CREATE DOMAIN feeling AS mood;

---- Keys of every type
-- The polymorphic transition function, for every type of key.
CREATE AGGREGATE polymorphic_agg(anycompatible) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final,
	FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = cuckoo_agg_combine
);

-- Whether functions find a key that is in a filter, and not one that is absent, of one type
CREATE FUNCTION trial(type text, present text, absent text, OUT key_type text, OUT literals boolean, OUT columns boolean,
	OUT parameters boolean, OUT aggregates boolean, OUT arrays boolean)
LANGUAGE plpgsql AS $$
DECLARE
	p CONSTANT text := format('%L::%s', present, type);
	a CONSTANT text := format('%L::%s', absent, type);
	found CONSTANT text := 'SELECT bool_and(f @> p AND NOT f @> a AND p <@ f AND NOT a <@ f AND cuckoo_contains(f, p) AND NOT cuckoo_contains(f, a)
			AND cuckoo_count(f, p) = 1 AND cuckoo_count(f, a) = 0 AND f - a = f AND cuckoo_add(f - p, p) = f)
		FROM (SELECT cuckoo_new() + p AS f, * FROM (%s) AS keys (p, a)) AS made';
BEGIN
	EXECUTE format('CREATE TEMP TABLE keys (p %1$s, a %1$s)', type);
	EXECUTE format('INSERT INTO keys SELECT %s, %s FROM generate_series(1, 40)', p, a);
	EXECUTE format('SELECT (cuckoo_info(cuckoo_new() + %s)).key_type', p) INTO key_type;
	EXECUTE format(found, format('SELECT %s, %s', p, a)) INTO literals;
	EXECUTE format(found, 'TABLE keys') INTO columns;
	EXECUTE format('PREPARE look_up(%1$s, %1$s) AS ', type) || format(found, 'SELECT $1, $2');
	EXECUTE format('EXECUTE look_up(%s, %s)', p, a) INTO parameters;
	DEALLOCATE look_up;

	-- Typed overload, polymorphic one, all arities, window
	SELECT f @> k.p AND NOT f @> k.a AND (cuckoo_info(f)).key_type = trial.key_type AND cuckoo_cardinality(f) = 1 AND f = ALL (others)
		INTO aggregates
		FROM (SELECT cuckoo_agg(keys.p) AS f, ARRAY[polymorphic_agg(keys.p), cuckoo_agg(keys.p), cuckoo_agg(keys.p, NULL, 0.001),
				cuckoo_agg(DISTINCT keys.p), cuckoo_agg(keys.p) FILTER (WHERE keys.p IS NOT NULL)]
			|| ARRAY(SELECT cuckoo_agg(keys.p) OVER () FROM keys) AS others FROM keys) AS made,
			(SELECT * FROM keys LIMIT 1) AS k;

	-- An array of arrays is one array, so array functions do not take such keys.
	IF to_regtype(type || '[]') IS NOT NULL AND key_type NOT LIKE 'array%' AND type NOT LIKE '%vector' THEN
		EXECUTE format('SELECT cuckoo_from_array(ARRAY[%1$s, NULL, %1$s, %2$s]) = cuckoo_agg(k)
				AND cuckoo_from_array(ARRAY[%1$s, %2$s], NULL, 0.02) = cuckoo_agg(k, NULL, 0.02)
				AND cuckoo_add_all(cuckoo_new(), ARRAY[%1$s, %2$s, NULL, %1$s]) = cuckoo_new() + %2$s + %1$s + %1$s
				AND cuckoo_remove_all(cuckoo_new() + %1$s + %2$s + %1$s, ARRAY[%1$s, %2$s]) = cuckoo_new() + %1$s
			FROM (SELECT p FROM keys UNION ALL SELECT a FROM keys) AS k(k)', p, a) INTO arrays;
	END IF;
	DROP TABLE keys;
END $$;

INSERT INTO samples VALUES ('mood', 'enum', 'sad;ok'), ('feeling', 'enum', 'ok;sad'), ('pair', 'composite', '(1,a);(1,)'), ('couple', 'composite', '(1,a);(,)'),
	('small', 'integer', '7;8'), ('numbers', 'array', '{1,2};[0:1]={1,2}'), ('pair[]', 'array', '{"(1,a)"};{}'), ('mood[]', 'array', '{sad};{ok}');
SELECT type, t.* FROM samples AS s, trial(type, split_part(list, ';', 1), split_part(list, ';', 2)) AS t
WHERE (s.key_type = t.key_type AND literals AND columns AND parameters AND aggregates AND coalesce(arrays, s.key_type = 'array')) IS NOT TRUE;

-- Anonymous records
SELECT f @> ROW(1, 'a'::text) AS present, f @> ROW(1, 'b'::text) AS absent, f @> ROW(1, 'a')::pair AS named, (cuckoo_info(f)).key_type,
	cuckoo_agg(ROW(1, 'a'::text)) = cuckoo_from_array(ARRAY[ROW(1, 'a')::pair]) AS aggregate
FROM (SELECT cuckoo_new() + ROW(1, 'a'::text) AS f) AS made GROUP BY f;

-- The filters and the records in arrays can have other types in the next row.
SELECT n, cuckoo_contains_each(f, keys), f @> ANY (keys) AS "any", f @> ALL (keys) AS "all", f @> ALL ('{}'::record[]) AS all_of_none,
	cuckoo_cardinality(cuckoo_add_all(f, keys)) AS added, cuckoo_cardinality(cuckoo_remove_all(f, keys)) AS removed, cuckoo_from_array(keys) @> (keys[1]) AS made
FROM (VALUES (1, cuckoo_new() + ROW(1), ARRAY[ROW(1), ROW(2)]), (2, cuckoo_new() + ROW('a'::text), ARRAY[ROW('a'::text), ROW('b'::text)]),
	(3, cuckoo_new() + ROW(3, 4), ARRAY[ROW(3, 4), NULL])) AS v (n, f, keys) ORDER BY n;

-- Integer widths are one key type, text types another.
SELECT f @> 1::smallint AS smallint, f @> 1 AS integer, f @> 1::bigint AS bigint, f @> 1::oid AS oid, f @> 1::small AS domain,
	f - 1::smallint = cuckoo_new() + 1 - 1 AS removed FROM (SELECT cuckoo_new() + 1::bigint AS f) AS made;
SELECT f @> 'a'::text AS text, f @> 'a'::varchar AS varchar, f @> 'a  '::char(3) AS char, f @> 'a'::name AS name, f @> 'a' AS untyped,
	f @> ('a'::text COLLATE "C") AS "C" FROM (SELECT cuckoo_new() + 'a'::varchar(3) AS f) AS made;

-- A literal or parameter without a type is text.
SELECT (cuckoo_info(cuckoo_new() + '5')).key_type AS "+", (cuckoo_info(cuckoo_add(cuckoo_new(), '5'))).key_type AS add,
	(cuckoo_info(cuckoo_from_array(ARRAY['5']))).key_type AS from_array, (cuckoo_info(cuckoo_agg('5'))).key_type AS agg,
	(cuckoo_info(cuckoo_add_all(cuckoo_new(), ARRAY['5']))).key_type AS add_all,
	cuckoo_new() + '5' @> '5' AS "@>", '5' <@ cuckoo_new() + '5' AS "<@", cuckoo_new() + '51' @> '5' || '1' AS "@> ||", cuckoo_new() + '5' - '5' @> '5' AS "-",
	cuckoo_hash('5') = cuckoo_hash('5'::text) AS hash, cuckoo_shard('5', 10) = cuckoo_shard('5'::text, 10) AS shard;
PREPARE untyped AS SELECT (cuckoo_info(cuckoo_new() + $1)).key_type AS "+", cuckoo_new() + '5' @> $2 AS "@>", $3 <@ cuckoo_new() + '5' AS "<@",
	cuckoo_contains(cuckoo_new() + '5', $4) AS contains, cuckoo_count(cuckoo_new() + '5', $5) AS count, cuckoo_new() + '5' - $6 @> '5' AS "-",
	cuckoo_hash($7) = cuckoo_hash('5'::text) AS hash, cuckoo_new() @> $8 AS "null";
SELECT array_to_string(parameter_types, ' ') AS parameters FROM pg_prepared_statements WHERE name = 'untyped';
EXECUTE untyped(5, 5, 5, 5, 5, 5, 5, NULL);
PREPARE untyped_aggregate AS SELECT (cuckoo_info(cuckoo_agg($1))).key_type;
EXECUTE untyped_aggregate('a');
-- The same is true of arrays.  Parameters with a type keep it.
SELECT cuckoo_from_array('{a,b}') = cuckoo_from_array('{b,a}'::text[]) AS from_array, cuckoo_add_all(cuckoo_new(), '{a,b}') = cuckoo_new() + 'a' + 'b' AS add_all,
	cuckoo_remove_all(cuckoo_new() + 'a', '{a,b}') @> 'a' AS remove_all;
PREPARE untyped_array AS SELECT (cuckoo_info(cuckoo_from_array($1))).key_type AS from_array, (cuckoo_info(cuckoo_add_all(cuckoo_new(), $1))).key_type AS add_all;
EXECUTE untyped_array('{1,2}');
PREPARE arrays(integer[]) AS SELECT (cuckoo_info(cuckoo_from_array($1))).key_type, cuckoo_remove_all(cuckoo_add_all(cuckoo_new(), $1), $1) = cuckoo_new() + 1 - 1 AS gone;
EXECUTE arrays('{1,2,3}');

-- A filter can stand on the left of ANY and ALL, and in arrays on its right.
SELECT f @> ANY (ARRAY[9, 2]) AS "any", f @> ANY (ARRAY[8, 9]) AS none, f @> ALL (ARRAY[1, 2]) AS "all", f @> ALL (ARRAY[1, 9]) AS not_all,
	2 <@ ANY (ARRAY[cuckoo_new(), f]) AS in_any, 2 <@ ALL (ARRAY[cuckoo_new(), f]) AS in_all, 'a' <@ ANY (ARRAY[cuckoo_new(), cuckoo_new() + 'a']) AS text,
	f @> ANY (ARRAY[9, 2]::small[]) AS domains, cuckoo_new() + 'ok'::mood @> ANY ('{sad,ok}'::mood[]) AS enums
FROM (SELECT cuckoo_from_array('{1,2,3}'::integer[]) AS f) AS made;

-- Array functions see every element of any number of dimensions.
SELECT cuckoo_from_array('{{1,2},{3,4}}'::integer[]) = cuckoo_from_array('[0:3]={4,3,2,1}'::integer[]) AS dimensions,
	cuckoo_from_array('1 2'::int2vector) = cuckoo_from_array('{1,2}'::bigint[]) AS vector,
	cuckoo_from_array('{1,2}'::numbers) = cuckoo_from_array('{1,2}'::integer[]) AS domain,
	cuckoo_from_array('{1,2}'::small[]) = cuckoo_from_array('{1,2}'::integer[]) AS domains;

-- citext has an equality of its own, and is refused if it can be detected.
CREATE EXTENSION citext;
CREATE TABLE folded (c citext, d text);
INSERT INTO folded VALUES ('A', 'A'), ('a', 'a');
CREATE DOMAIN folded_domain AS citext;
SELECT query, outcome('SELECT ' || query || ' FROM folded') FROM unnest(ARRAY['cuckoo_new() + ''a''::citext', 'cuckoo_new() @> c', 'c <@ cuckoo_new()', 'cuckoo_hash(c)', 'cuckoo_shard(c, 2)',
	'cuckoo_from_array(array_agg(c))', 'cuckoo_agg(c)', 'cuckoo_agg(c, NULL, 0.01)', 'cuckoo_agg(c, 100, 0.01)', 'cuckoo_agg(DISTINCT c)', 'cuckoo_agg(c::folded_domain)', 'cuckoo_agg(ARRAY[c])',
	'cuckoo_agg(ROW(c))']) AS query;
-- A cast makes the comparison case-sensitive.
SELECT cuckoo_cardinality(cuckoo_agg(c::text)) AS as_text, cuckoo_cardinality(cuckoo_agg(d)) AS text FROM folded;
DROP EXTENSION citext CASCADE;

---- Many keys
-- Key by key, with unknown capacity and beyond a capacity: every key is found,
-- and the rate is at most the target rate, or at most twice that.
CREATE VIEW grown AS SELECT c, n, cuckoo_add_all(cuckoo_new(c, 0.001), ARRAY(SELECT generate_series(1, n))) AS f
	FROM (VALUES (NULL, 1), (NULL, 1024), (NULL, 1025), (NULL, 100000), (64, 64), (64, 1000), (64, 20000), (64, 100000)) AS v (c, n) OFFSET 0;
SELECT c, n, i.representation, i.items, i.subfilters, i.capacity, i.expected_fpr <= (CASE WHEN c IS NULL THEN 1 ELSE 2 END) * i.target_fpr AS kept,
	missing(f, 1, n) AS lost, kept_rate(f) AS rate
FROM grown, cuckoo_info(f) AS i ORDER BY c NULLS FIRST, n;
-- The tables add up.
SELECT c, n, bool_and(f.items = t.items AND f.blocks = t.blocks AND f.subfilters = t.subfilters AND f.bytes = t.bytes + 4 + 36 + 12 * t.subfilters + 8
	AND abs(f.expected_fpr - t.expected_fpr) <= 1e-12 AND f.expected_fpr = cuckoo_fpr(g.f) AND f.items = cuckoo_cardinality(g.f)
	AND abs(f.bits_per_item - 8.0 * f.bytes / f.items) < 1e-9 AND abs(f.load - t.items / t.entries) < 1e-12) AS agree
FROM grown AS g, cuckoo_info(f) AS f, LATERAL (SELECT sum(items) AS items, sum(blocks) AS blocks, count(*) AS subfilters, sum(bytes) AS bytes,
	1 - exp(sum(ln(1 - expected_fpr))) AS expected_fpr, sum(4.0 * blocks * buckets) AS entries FROM cuckoo_subfilters(g.f)) AS t GROUP BY c, n ORDER BY c NULLS FIRST, n;

-- A capacity specified: one table for all keys, and no space for keys that are
-- not there.
SELECT n, i.representation, i.items, i.capacity, i.subfilters, i.expected_fpr <= i.target_fpr AS kept, i.bytes
FROM unnest('{0,1,33,1000,10000}'::integer[]) AS n, cuckoo_add_all(cuckoo_new(10000, 0.001), ARRAY(SELECT generate_series(1, n))) AS f, cuckoo_info(f) AS i ORDER BY n;

---- Copies: up to eight of a key; the eighth is pinned
SELECT (cuckoo_info(f)).representation, n, cuckoo_count(f, 7) AS count, cuckoo_cardinality(f) - others AS copies, cuckoo_count(f - 7, 7) AS less_one,
	cuckoo_count(cuckoo_remove_all(f, array_fill(7, ARRAY[n + 1])), 7) AS less_all, f - 7 = f AS pinned, f + 7 = f AS full
FROM unnest('{0,100}'::integer[]) AS others, unnest('{0,1,2,7,8,9,10}'::integer[]) AS n,
	cuckoo_add_all(cuckoo_add_all(cuckoo_new(100, 0.0001), CASE WHEN others > 0 THEN ARRAY(SELECT generate_series(101, 200)) END), array_fill(7, ARRAY[n])) AS f
ORDER BY others, n;

---- Removal
-- Removing an absent key leaves the filter as it is, in a sparse and a dense
-- table.
SELECT representation, f - 0 = f AS remove, cuckoo_remove(f, -1) = f AS remove, cuckoo_remove_all(f, '{0,-1}'::integer[]) = f AS remove_all
FROM (VALUES (10), (2000)) AS sizes (n), cuckoo_from_array(ARRAY(SELECT generate_series(1, n))) AS f, cuckoo_info(f);

-- Several tables.  A copy is removed only if exactly one of them seems to hold
-- the key.
SELECT cuckoo_cardinality(f) AS items, (SELECT array_agg(items ORDER BY number) FROM cuckoo_subfilters(f)) AS by_table, cuckoo_count(f, 1) AS count,
	f - 1 = f AS kept, cuckoo_cardinality(f - 2) AS without_2, f - 2 @> 2 AS has_2, cuckoo_count(f - 2, 1) AS others
FROM (SELECT cuckoo_union_all(cuckoo_new(100, 0.01) + 1 + 2, cuckoo_new(100, 0.001) + 1) AS f) AS made;
-- The eighth copy is pinned per table, not by the sum.
SELECT cuckoo_cardinality(f) AS items, (SELECT array_agg(items ORDER BY number) FROM cuckoo_subfilters(f)) AS by_table, cuckoo_count(f, 1) AS count, f - 1 = f AS kept,
	cuckoo_cardinality(f + 1) AS one_more, cuckoo_cardinality(cuckoo_add_all(f, array_fill(1, ARRAY[9]))) AS nine_more
FROM (SELECT cuckoo_union_all(cuckoo_add_all(cuckoo_new(100, 0.01), array_fill(1, ARRAY[5])), cuckoo_add_all(cuckoo_new(100, 0.001), array_fill(1, ARRAY[5]))) AS f) AS made;
-- A removal that empties a table drops it, but not the only one.
SELECT (cuckoo_info(f)).subfilters, (cuckoo_info(f - 1)).subfilters AS less_1, (cuckoo_info(f - 2)).subfilters AS less_2, (cuckoo_info(f - 1 - 2)).subfilters AS less_both,
	f - 1 - 2 = cuckoo_new(100, 0.001) + 2 - 2 AS as_new
FROM (SELECT cuckoo_union_all(cuckoo_new(100, 0.01) + 1, cuckoo_new(100, 0.001) + 2) AS f) AS made;

-- Not removable: two keys may share an item.  The mark is visible and stays,
-- and lookups and additions still work.
CREATE FUNCTION not_removable(f cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS
$$SELECT set_byte(f::bytea, 3, get_byte(f::bytea, 3) | 1)::cuckoofilter$$;
SELECT i.removable, f @> 7 AS found, cuckoo_count(f, 7) AS count, (cuckoo_info(f + 7)).removable AS added, cuckoo_count(f + 7, 7) AS count,
	f - NULL = f AS "null", (cuckoo_info(cuckoo_add_all(f, ARRAY(SELECT generate_series(1, 500))))).removable AS grown
FROM not_removable(cuckoo_from_array(ARRAY(SELECT generate_series(1, 100)))) AS f, cuckoo_info(f) AS i;
-- cuckoo_new makes such a filter.  Two keys share an item if keys are added only
-- if they are new: some would be lost if others were removed.
SELECT cuckoo_new(100, 0.01, -5, false) = not_removable(cuckoo_new(100, 0.01, -5)) AS made, cuckoo_new(removable => false) = not_removable(cuckoo_new()) AS of_unknown_capacity,
	cuckoo_new(100, removable => true) = cuckoo_new(100) AS "true", cuckoo_new(100, 0.001, 0, NULL) = cuckoo_new(100) AS "null";
CREATE TABLE seen AS SELECT name, f FROM (VALUES ('removable', cuckoo_new(2000, 0.01)), ('not removable', cuckoo_new(2000, 0.01, removable => false))) AS v (name, f);
DO $$
BEGIN
	FOR k IN 1 .. 2000 LOOP
		UPDATE seen SET f = f + k WHERE NOT f @> k;
	END LOOP;
END $$;
SELECT name, cuckoo_cardinality(f) AS items, missing(f, 1, 2000) FROM seen ORDER BY name DESC;
SELECT missing(cuckoo_remove_all(f, ARRAY(SELECT generate_series(1, 1000))), 1001, 2000) AS lost FROM seen WHERE name = 'removable';
-- The mark survives every form and operation, also from the right.
CREATE TABLE marked AS
SELECT cuckoo_new(100, removable => false) AS m, cuckoo_agg(k, 100) AS f FROM generate_series(1, 50) AS k;
SELECT what FROM marked, LATERAL (VALUES ('text', m::text::cuckoofilter), ('binary', m::bytea::cuckoofilter), ('add', m + 1), ('grown', cuckoo_add_all(m, ARRAY(SELECT generate_series(1, 500)))),
	('union', m | f), ('union', f | m), ('union all', cuckoo_union_all(m, f)), ('union all', cuckoo_union_all(f, m)), ('intersection', m & f), ('intersection', f & m),
	('intersection', f & (m + 1)), ('union agg', (SELECT cuckoo_union_agg(x) FROM unnest(ARRAY[f, m]) AS x)), ('union all agg', (SELECT cuckoo_union_all_agg(x) FROM unnest(ARRAY[m, f]) AS x)),
	('union with an unset one', m | (SELECT cuckoo_agg(k) FROM generate_series(1, 0) AS k)), ('union all with NULL', cuckoo_union_all(m, NULL))) AS v (what, result)
WHERE (cuckoo_info(result)).removable OR outcome(format('SELECT %L::cuckoofilter - 1', result)) !~ 'cannot remove';
-- An aggregate has no such parameter: a union all gives its result the mark, and
-- changes nothing else.
SELECT cuckoo_union_all(f, m) = not_removable(f) AS marked FROM marked;
DROP TABLE seen, marked;

---- cuckoo_info, column by column
\pset format aligned
\x on
SELECT * FROM cuckoo_info(cuckoo_new(100, 0.01, -5) + 'a' + 'b');
SELECT format_version, representation, key_type, items, capacity, round(load::numeric, 4) AS load, target_fpr, round(expected_fpr::numeric, 5) AS expected_fpr,
	fingerprint_bits, subfilters, blocks, seed, removable, bytes = octet_length(f::bytea) + 4 AS bytes, round(bits_per_item::numeric, 2) = round(8.0 * bytes / items, 2) AS bits_per_item
FROM cuckoo_from_array(ARRAY(SELECT generate_series(1, 2000)), NULL, 0.01) AS f, cuckoo_info(f);
SELECT number, items, capacity, round(load::numeric, 4) AS load, round(expected_fpr::numeric, 5) AS expected_fpr, fingerprint_bits, blocks, buckets, bytes, representation
FROM cuckoo_subfilters(cuckoo_from_array(ARRAY(SELECT generate_series(1, 2000)), NULL, 0.01));
\x off
\pset format unaligned
SELECT (SELECT count(*) FROM cuckoo_subfilters(cuckoo_agg(i))) AS of_unset, (SELECT count(*) FROM cuckoo_subfilters(cuckoo_new())) AS of_empty FROM generate_series(1, 0) AS i;

-- A capacity may be computed, and is rounded up.
SELECT (cuckoo_info(cuckoo_new(capacity => c))).capacity, (SELECT (cuckoo_info(cuckoo_agg(i, c, 0.01))).capacity AS agg FROM generate_series(1, 5) AS i),
	(SELECT (cuckoo_info(cuckoo_stream_agg(i, c, 0.01))).capacity AS stream_agg FROM generate_series(1, 5) AS i),
	cuckoo_new(capacity => c) = cuckoo_new(capacity => ceil(c)) AS same
FROM unnest(ARRAY[1, 99.5, 1.1 * 1000, 1e12 / 7777]::float8[]) AS c;
SELECT (cuckoo_info(cuckoo_agg(i, 99 + i / 10.0, 0.01))).capacity FROM generate_series(1, 9) AS i;
