-- The type: its forms, its order, and how it is stored
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`

-- A filter of every representation and size class.
CREATE TABLE samples (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO samples
	SELECT 'unset', cuckoo_agg(i) FROM generate_series(1, 0) AS i
	UNION ALL SELECT 'new', cuckoo_new()
	UNION ALL SELECT 'new, all parameters', cuckoo_new(1234, 0.02, -1)
	UNION ALL SELECT 'one key', cuckoo_new() + 1
	UNION ALL SELECT 'ten keys, short header', cuckoo_agg(i) FROM generate_series(1, 10) AS i
	UNION ALL SELECT 'fifty keys', cuckoo_agg(i) FROM generate_series(1, 50) AS i
	UNION ALL SELECT '1,024 keys', cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 1024)))
	UNION ALL SELECT 'smallest table', cuckoo_agg(i, 1, 0.001) FROM generate_series(1, 1) AS i
	UNION ALL SELECT 'dense table, inline', cuckoo_agg(i, 100, 0.001) FROM generate_series(1, 100) AS i
	UNION ALL SELECT 'two words per bucket', cuckoo_agg(i, NULL, 2e-8) FROM generate_series(1, 2000) AS i
	UNION ALL SELECT 'table of text', cuckoo_agg(i::text) FROM generate_series(1, 500) AS i
	UNION ALL SELECT 'toasted table', cuckoo_agg(i) FROM generate_series(1, 20000) AS i
	UNION ALL SELECT 'two blocks', cuckoo_agg(i) FROM generate_series(1, 150000) AS i
	UNION ALL SELECT 'sparse, toasted', cuckoo_agg(i, 1e6, 0.001) FROM generate_series(1, 20000) AS i
	UNION ALL SELECT 'three tables', cuckoo_add_all(cuckoo_new(33, 0.001), ARRAY(SELECT generate_series(1, 4000)))
	-- Low parts of 16 bits that repeat eight times: compressible
	UNION ALL SELECT 'copies', cuckoo_add_all(cuckoo_new(500000, 0.001), 1 || ARRAY(SELECT k FROM generate_series(2, 1000) AS k, generate_series(1, 8)))
	UNION ALL SELECT 'almost empty table', cuckoo_remove_all(cuckoo_agg(i), ARRAY(SELECT generate_series(2, 10000))) FROM generate_series(1, 10000) AS i;

---- Forms: text, binary and bytea have the same content, and give the same value
---- when read back
SELECT name, i.representation, i.subfilters, i.items, f::text::cuckoofilter::bytea = f::bytea AS text, f::bytea::cuckoofilter::bytea = f::bytea AS bytea,
	cuckoofilter_send(f) = f::bytea AS send, translate(encode(f::bytea, 'base64'), E'\n', '') = f::text AS base64,
	cuckoo_info(f::text::cuckoofilter) = i AS info, octet_length(f::bytea) + 4 = i.bytes AS bytes
FROM samples, cuckoo_info(f) AS i ORDER BY name COLLATE "C";

-- COPY, in text form
COPY (SELECT cuckoo_new() + 'a') TO STDOUT;
CREATE TABLE copied (f cuckoofilter);
COPY copied FROM STDIN;
AQAEAAAAAAD8qfHSTWJQPwAAAAAAAAAAAAAAAAAAAAABAAAAAAAAA42kHULkS3I
\N
\.
SELECT f = cuckoo_new() + 'a' AS same FROM copied ORDER BY f;

-- The input function raises soft errors if PostgreSQL has them (16 and up).
CREATE FUNCTION is_valid(value text) RETURNS boolean LANGUAGE sql
	RETURN (SELECT CASE WHEN o IN ('true', 'false') THEN o::boolean WHEN current_setting('server_version_num')::integer < 160000 THEN false END
		FROM outcome(format(CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SELECT pg_input_is_valid(%L, ''cuckoofilter'')' ELSE
		'SELECT %L::cuckoofilter IS NOT NULL' END, value)) AS o);
SELECT is_valid(cuckoo_new()::text) AS valid, is_valid('?') AS no_base64, is_valid('AQ==') AS short, is_valid('Ag==') AS newer;

---- Order and equality: by bytes
SELECT count(*) AS pairs,
	bool_and((a.f = b.f) = (a.f::bytea = b.f::bytea) AND (a.f <> b.f) = (a.f::bytea <> b.f::bytea) AND (a.f < b.f) = (a.f::bytea < b.f::bytea)
		AND (a.f <= b.f) = (a.f::bytea <= b.f::bytea) AND (a.f > b.f) = (a.f::bytea > b.f::bytea) AND (a.f >= b.f) = (a.f::bytea >= b.f::bytea)) AS operators,
	bool_and(sign(cuckoofilter_cmp(a.f, b.f)) = CASE WHEN a.f::bytea < b.f::bytea THEN -1 WHEN a.f::bytea = b.f::bytea THEN 0 ELSE 1 END) AS cmp,
	bool_and((a.f = b.f) = (cuckoofilter_hash(a.f) = cuckoofilter_hash(b.f)) AND (a.f = b.f) = (cuckoofilter_hash_extended(a.f, 0) = cuckoofilter_hash_extended(b.f, 0))) AS hash,
	bool_and((cuckoofilter_hash_extended(a.f, 0) & 4294967295) = (cuckoofilter_hash(a.f)::bigint & 4294967295)) AS extended,
	bool_and(cuckoofilter_hash_extended(a.f, 0) <> cuckoofilter_hash_extended(a.f, 1)) AS salted
FROM samples AS a, samples AS b;

CREATE TABLE filters (id integer, f cuckoofilter);
INSERT INTO filters SELECT i, cuckoo_from_array(ARRAY[i % 100, i % 100 + 1]) FROM generate_series(1, 1000) AS i;
INSERT INTO filters VALUES (0, NULL);
ANALYZE filters;
SELECT (SELECT count(DISTINCT f) FROM filters) AS "distinct", (SELECT count(*) FROM (SELECT DISTINCT f FROM filters) AS d) AS hashed, (SELECT count(*) FROM (SELECT f FROM filters
	GROUP BY f) AS g) AS grouped,
	(SELECT bool_and(f::bytea >= before) FROM (SELECT f, lag(f::bytea) OVER (ORDER BY f) AS before FROM filters) AS s) AS ordered,
	(SELECT count(*) FROM (SELECT f FROM filters UNION SELECT cuckoo_from_array('{7,8}'::integer[])) AS u) AS "union",
	(SELECT count(*) FROM (SELECT f FROM filters INTERSECT SELECT cuckoo_from_array('{7,8}'::integer[])) AS i) AS "intersect",
	(SELECT count(*) FROM (SELECT f FROM filters EXCEPT SELECT cuckoo_from_array('{7,8}'::integer[])) AS e) AS "except";

-- The same through an index
SET enable_seqscan = off;
CREATE INDEX filters_btree ON filters (f);
SELECT uses('SELECT count(*) FROM filters WHERE f = cuckoo_from_array(''{7,8}''::integer[])', 'filters_btree') AS plan;
SELECT count(*), min(id), max(id) FROM filters WHERE f = cuckoo_from_array('{7,8}'::integer[]);
-- It takes filters of up to 2,696 bytes, because PostgreSQL limits its entries.
SELECT n, bytes, bytes <= 2696 AS fits, left(outcome(format('INSERT INTO filters VALUES (2000, %L)', f)), 5) AS outcome
FROM unnest('{1500,2000}'::integer[]) AS n, LATERAL (SELECT cuckoo_agg(i) AS f FROM generate_series(1, n) AS i) AS s, cuckoo_info(f) ORDER BY n;
DELETE FROM filters WHERE id = 2000;
SELECT (SELECT count(*) FROM filters WHERE f < cuckoo_from_array('{7,8}'::integer[])) + (SELECT count(*) FROM filters WHERE f >= cuckoo_from_array('{7,8}'::integer[])) AS parts,
	(SELECT count(*) FROM filters WHERE f IS NULL) AS nulls;
RESET enable_seqscan;

---- Storage
-- Short headers, inline, toasted and compressed: the same answers, additions and removals.
CREATE TABLE stored (name text, how text, f cuckoofilter);
ALTER TABLE stored ALTER f SET STORAGE external;
INSERT INTO stored SELECT name, 'external', f FROM samples;
ALTER TABLE stored ALTER f SET STORAGE extended;
INSERT INTO stored SELECT name, 'extended', f::bytea::cuckoofilter FROM samples;
ALTER TABLE stored ALTER f SET STORAGE main;
INSERT INTO stored SELECT name, 'main', f::bytea::cuckoofilter FROM samples;
SELECT how, count(*) FILTER (WHERE pg_column_size(stored.f) < octet_length(stored.f::bytea)) > 0 AS some_compressed,
	count(*) FILTER (WHERE pg_column_size(stored.f) = octet_length(stored.f::bytea) + 1) > 0 AS some_short
FROM stored GROUP BY how ORDER BY how;
SELECT name FROM stored JOIN samples USING (name)
WHERE name NOT LIKE '%text' AND NOT (stored.f = samples.f AND stored.f::bytea = samples.f::bytea AND stored.f::text = samples.f::text
	AND stored.f @> 1 = (cuckoo_cardinality(samples.f) > 0) AND cuckoo_count(stored.f, 1) = cuckoo_count(samples.f, 1)
	AND stored.f + 999999 = samples.f + 999999 AND stored.f + 999999 @> 999999 AND cuckoo_cardinality(stored.f + 999999) = cuckoo_cardinality(samples.f) + 1
	AND stored.f - 1 = samples.f - 1 AND cuckoo_cardinality(stored.f - 1) = greatest(cuckoo_cardinality(samples.f) - 1, 0)
	AND cuckoo_add_all(stored.f, '{5,999999}'::integer[]) = samples.f + 5 + 999999 AND cuckoo_remove_all(stored.f, '{1,1}'::integer[]) = samples.f - 1
	AND cuckoofilter_hash(stored.f) = cuckoofilter_hash(samples.f) AND cuckoo_info(stored.f) = cuckoo_info(samples.f)
	AND cuckoo_fpr(stored.f) = cuckoo_fpr(samples.f)
	AND (SELECT array_agg(t) FROM cuckoo_subfilters(stored.f) AS t) IS NOT DISTINCT FROM (SELECT array_agg(t) FROM cuckoo_subfilters(samples.f) AS t));
-- None of that has changed the stored value: arguments are never written to.
SELECT count(*) FROM stored JOIN samples USING (name) WHERE stored.f::bytea <> samples.f::bytea;

-- Arrays and rows of the type
SELECT ARRAY[cuckoo_new(), cuckoo_new() + 1]::text::cuckoofilter[] = ARRAY[cuckoo_new(), cuckoo_new() + 1] AS arrays,
	ROW(cuckoo_new() + 1) = ROW(cuckoo_new() + 1) AS rows, (SELECT array_agg(f ORDER BY f DESC) FROM filters WHERE id IN (1, 101)) = array_fill(cuckoo_from_array('{1,2}'::integer[]), ARRAY[2]) AS sorted;

-- PL/pgSQL variables, of a filter changed step by step
CREATE FUNCTION first_repeated(list integer[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	seen cuckoofilter := cuckoo_new();
BEGIN
	FOR i IN 1 .. cardinality(list) LOOP
		IF seen @> list[i] THEN
			RETURN list[i];
		END IF;
		seen := seen + list[i];
	END LOOP;
	RETURN NULL;
END $$;
SELECT first_repeated('{3,1,4,1,5,9,2,6,5}') AS repeated, first_repeated('{3,1,4}') AS none, first_repeated(ARRAY(SELECT generate_series(1, 3000)) || 77) AS after_growth;
