-- Aggregates in bounded memory
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\pset null NULL

-- A short description of a filter
CREATE FUNCTION brief(f cuckoofilter, OUT representation text, OUT key_type text, OUT items bigint, OUT subfilters integer, OUT removable boolean,
	OUT capacity bigint, OUT fpr float8)
LANGUAGE sql RETURN (SELECT (i.representation, i.key_type, i.items, i.subfilters, i.removable, i.capacity, i.target_fpr) FROM cuckoo_info(f) AS i);
---- cuckoo_stream_agg
-- Each key once, except for those whose fingerprint was there already
SELECT (brief(f)).*, missing(f, 1, 10000), (brief(f)).items > 9900 AS nearly_all
FROM (SELECT cuckoo_stream_agg(k % 10000 + 1, 10000, 0.00001) AS f FROM generate_series(1, 30000) AS k) AS x;
-- The same as cuckoo_agg as long as the table is sparse, but not removable
SELECT (brief(f)).*, f = set_byte(g::bytea, 3, 1)::cuckoofilter AS same FROM (SELECT cuckoo_stream_agg(k % 30, 10000, 0.001) AS f, cuckoo_agg(k % 30, 10000, 0.001) AS g FROM
	generate_series(1, 300) AS k) AS x;
-- Beyond the capacity it grows like any filter.
SELECT (brief(f)).*, missing(f, 1, 5000), cuckoo_fpr(f) < 2 * 0.0001 AS rate
FROM (SELECT cuckoo_stream_agg(k, 1000, 0.0001) AS f FROM generate_series(1, 5000) AS k) AS x;

---- cuckoo_multiset_agg
SELECT (brief(f)).*, cuckoo_count(f, 1), cuckoo_count(f, 2), cuckoo_count(f, 3), cuckoo_count(f, 4)
FROM (SELECT cuckoo_multiset_agg(k, 1000, 0.00001) AS f FROM unnest(ARRAY[1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]) AS k) AS x;
-- One copy can be removed for each row that is deleted.
SELECT (brief(f)).*, missing(f, 1, 1000) AS missing, cuckoo_cardinality(once) AS once, missing(once, 1, 1000) AS missing, cuckoo_cardinality(cuckoo_remove_all(once, keys)) AS twice,
	cuckoo_cardinality(cuckoo_remove_all(cuckoo_remove_all(once, keys), keys)) AS thrice
FROM (SELECT cuckoo_multiset_agg(k % 1000 + 1, 3000, 0.00001) AS f FROM generate_series(1, 3000) AS k) AS x,
	(SELECT array_agg(k) AS keys FROM generate_series(1, 1000) AS k) AS a, cuckoo_remove_all(f, keys) AS once;

-- Many keys with many copies: eight of each, in one sparse table, without
-- effect on other keys
CREATE TABLE crowded AS SELECT cuckoo_multiset_agg(k % 1000, 100000, 0.001) AS f FROM generate_series(1, 100000) AS k;
ALTER TABLE crowded ALTER f SET STORAGE external;
SELECT t.number, t.items, t.capacity, t.representation FROM crowded, cuckoo_subfilters(f) AS t ORDER BY number;
SELECT count(*), min(cuckoo_count(f, k)), missing(f, 0, 999), (cuckoo_info(f)).bytes <= 20480 AS "20 kB", cuckoo_fpr(f) < 0.001 AS rate
FROM crowded, generate_series(0, 999) AS k GROUP BY f;
-- Read whole and in slices; additions and removals do not change it
SELECT count(*) FROM generate_series(0, 999) AS k WHERE cuckoo_count((SELECT f FROM crowded), k) < 8 OR NOT (SELECT f FROM crowded) @> k;
SELECT cuckoo_count(f, 7) AS count, f @> 7 AS found FROM crowded;
SELECT cuckoo_add_all(f, keys) = f AS added, cuckoo_remove_all(f, keys) = f AS removed, cuckoo_union_all(f, f) = f AS summed, missing(f | f, 0, 999) AS missing,
	cuckoo_cardinality(cuckoo_remove_all(cuckoo_add_all(f, others), others)) - cuckoo_cardinality(f) < 100 AS others_go
FROM crowded, (SELECT array_agg(k) AS keys FROM generate_series(0, 999) AS k) AS a, (SELECT array_agg(k) AS others FROM generate_series(1000001, 1010000) AS k) AS b;
-- In any order: keys in turn, or key after key.  If the capacity is the number
-- of copies, there is one table; if it is too small, the filter grows like any
-- other.
SELECT rows, capacity, in_turn, (cuckoo_info(f)).items, (cuckoo_info(f)).subfilters, missing(f, 0, 1999) AS missing, (SELECT min(cuckoo_count(f, k)) FROM generate_series(0, 1999) AS k) AS least
FROM (VALUES (5), (8), (50)) AS v (rows), (VALUES (2000), (16000), (100000)) AS c (capacity), (VALUES (true), (false)) AS o (in_turn),
	LATERAL (SELECT cuckoo_multiset_agg(CASE WHEN in_turn THEN k % 2000 ELSE k / rows END, capacity, 0.001) AS f FROM generate_series(0, rows * 2000 - 1) AS k) AS a
ORDER BY rows, capacity, in_turn;

---- Parameters
SELECT (brief(cuckoo_stream_agg(k, 100, NULL))).*, (brief(cuckoo_multiset_agg(k, 100, NULL))).* FROM generate_series(1, 3) AS k;
SELECT (brief(cuckoo_stream_agg(NULL::integer, 100, 0.01))).*, cuckoo_multiset_agg(NULL::text, 100, 0.01) = cuckoo_new(100, 0.01) AS multiset;
SELECT (brief(cuckoo_stream_agg(k, 100, 0.01))).* FROM generate_series(1, 3) AS k WHERE false;
SELECT (brief(cuckoo_stream_agg(CASE WHEN k % 2 = 0 THEN k END, 100, 0.01))).* FROM generate_series(1, 6) AS k;
-- Key types of several storages: the same as cuckoo_agg, except for the mark
SELECT bool_and(s = set_byte(a::bytea, 3, 1)::cuckoofilter AND m = a) AS same FROM
	(SELECT ARRAY[cuckoo_stream_agg(k, 100, 0.001), cuckoo_stream_agg(k::text, 100, 0.001), cuckoo_stream_agg(k / 7.0, 100, 0.001), cuckoo_stream_agg(ARRAY[k], 100, 0.001)] AS ss,
		ARRAY[cuckoo_multiset_agg(k, 100, 0.001), cuckoo_multiset_agg(k::text, 100, 0.001), cuckoo_multiset_agg(k / 7.0, 100, 0.001), cuckoo_multiset_agg(ARRAY[k], 100, 0.001)] AS ms,
		ARRAY[cuckoo_agg(k, 100, 0.001), cuckoo_agg(k::text, 100, 0.001), cuckoo_agg(k / 7.0, 100, 0.001), cuckoo_agg(ARRAY[k], 100, 0.001)] AS fs FROM generate_series(1, 20) AS k) AS x,
		unnest(ss, ms, fs) AS u (s, m, a);

---- Plans
-- Windows: earlier results do not change
SELECT k, cuckoo_cardinality(s), missing(s, 1, k) AS s_missing, cuckoo_cardinality(m) FROM
	(SELECT k, cuckoo_stream_agg(k, 100, 2e-8) OVER w AS s, cuckoo_multiset_agg(1, 100, 2e-8) OVER w AS m FROM generate_series(1, 60) AS k WINDOW w AS (ORDER BY k)) AS x
WHERE k IN (1, 5, 8, 9, 32, 33, 34, 60) ORDER BY k;
-- Large states, before and after three quarters, in frames that grow and slide
SELECT p, cuckoo_cardinality(s) - 2000 * (p + 1) >= -20 AS keys, missing(s, 0, 2000 * p + 1999) AS missing, (brief(s)).representation, cuckoo_cardinality(m) AS copies,
	(SELECT count(*) FROM generate_series(0, 1000 * p + 999) AS k WHERE cuckoo_count(m, k) < 2) AS fewer, (brief(m)).representation, cuckoo_cardinality(l) AS sliding, missing(l, 2000
	* greatest(p - 1, 0), 2000 * p + 1999) AS missing
FROM (SELECT DISTINCT ON (p) p, s, m, l FROM
		(SELECT k / 2000 AS p, cuckoo_stream_agg(k, 10000, 0.001) OVER w AS s, cuckoo_multiset_agg(k / 2, 10000, 0.001) OVER w AS m,
			cuckoo_multiset_agg(k, 10000, 0.001) OVER (ORDER BY k / 2000 GROUPS 1 PRECEDING) AS l
		FROM generate_series(0, 9999) AS k WINDOW w AS (ORDER BY k / 2000)) AS x ORDER BY p) AS y ORDER BY p;
-- Many groups of a large specified capacity stay small.
SELECT count(*), sum(cuckoo_cardinality(f)), max(pg_column_size(f)) FROM
	(SELECT k % 20000 AS n, cuckoo_stream_agg(k, 1000000, 0.001) AS f FROM generate_series(1, 60000) AS k GROUP BY 1) AS g;
CREATE AGGREGATE combine(cuckoofilter) (SFUNC = cuckoo_stream_agg_combine, STYPE = cuckoofilter);
-- States of cuckoo_agg are not accepted by these aggregates, not even as the
-- first state.
CREATE AGGREGATE combine_copies(cuckoofilter) (SFUNC = cuckoo_multiset_agg_combine, STYPE = cuckoofilter);
CREATE FUNCTION last_of(cuckoofilter, cuckoofilter) RETURNS cuckoofilter LANGUAGE sql RETURN $2;
CREATE AGGREGATE final_of(cuckoofilter) (SFUNC = last_of, STYPE = cuckoofilter, FINALFUNC = cuckoo_combine_final);
CREATE TABLE states AS SELECT state_of(k) AS memory, state_of(k)::text::cuckoofilter AS portable FROM generate_series(1, 20) AS k;
SELECT form, by, outcome(format('SELECT %s(%s) FROM states', by, form)) FROM unnest('{memory,portable}'::text[]) AS form,
	unnest('{combine,combine_copies,final_of,cuckoo_union_agg,cuckoo_union_all_agg}'::text[]) AS by ORDER BY form, by;
-- States with equal parameters give one table, however many there are.  The
-- WARNING that they hold too many keys for it comes once.
CREATE AGGREGATE combine_all(cuckoofilter) (SFUNC = cuckoo_stream_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoo_combine_final);
CREATE AGGREGATE combine_all_copies(cuckoofilter) (SFUNC = cuckoo_multiset_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoo_combine_final);
CREATE TABLE workers AS SELECT k / 1000 AS n, cuckoo_stream_agg(k, 1000, 0.001) AS s, cuckoo_multiset_agg(k, 1000, 0.001) AS m FROM generate_series(0, 29999) AS k GROUP BY 1;
SELECT (brief(combine_all(s))).*, missing(combine_all(s), 0, 9999) FROM workers WHERE n < 10;
SELECT (brief(combine_all_copies(m))).*, missing(combine_all_copies(m), 0, 29999) FROM workers;
SELECT n % 2 AS g, cuckoo_cardinality(combine_all(s)) > 14500 AS items FROM workers GROUP BY 1 ORDER BY 1;
-- Workers without rows
SELECT combine(f ORDER BY f NULLS LAST) = cuckoo_stream_agg(1, 100, 0.01) AS last, combine(f ORDER BY f NULLS FIRST) = cuckoo_stream_agg(1, 100, 0.01) AS first,
	combine(NULL) IS NULL AS all FROM (SELECT cuckoo_stream_agg(1, 100, 0.01) AS f UNION ALL SELECT NULL) AS x;
-- Unset filters, which these aggregates return over no rows
SELECT (SELECT combine(f) = made FROM unnest(ARRAY[unset, made]) AS f) AS unset_first, (SELECT combine(f) = made FROM unnest(ARRAY[made, unset]) AS f) AS unset_last
	FROM (SELECT (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i) AS unset, (SELECT cuckoo_stream_agg(1, 100, 0.01)) AS made) AS x;

-- A user's own aggregate may begin with a removable filter.  The result is not
-- removable, because two keys may share an item.
SELECT cuckoo_new(2000, 0.1)::text AS begun \gset
CREATE AGGREGATE stream_from(integer, float8, float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, INITCOND = :'begun');
SELECT (cuckoo_info(stream_from(i, 2000, 0.1))).removable FROM generate_series(1, 1900) AS i;
SELECT (cuckoo_info(stream_from(NULL, 2000, 0.1))).removable;
