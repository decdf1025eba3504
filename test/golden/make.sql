-- Makes filters.tsv in the current folder again: test/run.sh golden.
--
-- A line has the name of a filter, a query for its keys, an expression over these
-- keys that makes the filter, whether every version makes the same bytes from it,
-- and the filter.  Lines that end before the filter are completed.  In others it
-- stays: a filter that was released is never made again.
--
-- The same bytes are expected of a filter that is built from all its keys at
-- once, and of one that combines such filters: a later release may choose other
-- sizes, but not without a test that notices it.  They are not expected if keys
-- are added one by one, because the format does not say where such a key is
-- stored.
--
-- PostgreSQL did not make the filters written-*, which have no expression: they
-- have several blocks, or fingerprint sizes that no target rate requires.  They
-- were written by docs/format.md.
--
-- The columns that follow are for programs without SQL: hashes of keys, each with
-- the number of copies in the filter.  These are up to 40 of the filter's keys, the
-- first ten absent keys, and up to five more absent keys that it reports as present.
-- Partial states are not filters and have no copies of any key.  A filter type-* also
-- has the SQL type of its keys, and the keys as text, in JSON, in the order of their
-- hashes.

\set lines `cat filters.tsv`
BEGIN;
CREATE EXTENSION IF NOT EXISTS cuckoo;
SET LOCAL timezone = 'UTC';
CREATE TYPE pg_temp.golden_mood AS ENUM ('sad', 'fröhlich');
-- The state of cuckoo_agg, as one server sends it to another
CREATE AGGREGATE state_of(anycompatible, float8, float8, bigint) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);

CREATE FUNCTION pg_temp.make(keys text, made text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	-- The result is one row, also without keys or without an aggregate
	EXECUTE format('WITH keys AS (%s) SELECT %s, count(*) FROM keys', keys, made) INTO f;
	RETURN f;
END
$$;

CREATE TEMP TABLE golden AS
SELECT number, line[1] AS name, line[2] AS keys, line[3] AS made, line[4] AS same, coalesce(line[5]::cuckoofilter, pg_temp.make(line[2], line[3])) AS f
FROM regexp_split_to_table(:'lines', '\n') WITH ORDINALITY AS x (text, number), string_to_array(text, E'\t') AS line
WHERE number > 1;

CREATE FUNCTION pg_temp.is_filter(f cuckoofilter) RETURNS boolean LANGUAGE sql AS 'SELECT get_byte(f::bytea, 1) = 0';

-- Something of up to 40 keys of a filter, each called k, in an order that only
-- depends on them
CREATE FUNCTION pg_temp.of_keys(f cuckoofilter, keys text, what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE format('SELECT %s FROM (SELECT k, row_number() OVER (ORDER BY cuckoo_hash(k, 1)) AS number FROM (%s) AS keys GROUP BY k) AS x
		WHERE number <= 40', what, keys) INTO found USING f;
	RETURN found;
END
$$;

-- The same filter with the key type text, so that texts can be looked up in it.
CREATE FUNCTION pg_temp.of_texts(f cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS $$
	SELECT CASE WHEN get_byte(f::bytea, 2) = 0 THEN f ELSE overlay(f::bytea PLACING '\x04' || substr(f::bytea, 4, 1) || '\x00000000' FROM 3)::cuckoofilter END
$$;

CREATE FUNCTION pg_temp.absent(f cuckoofilter) RETURNS text LANGUAGE sql AS $$
	WITH asked AS MATERIALIZED (
		SELECT i, cuckoo_hash('absent ' || i, coalesce((cuckoo_info(f)).seed, 0)) AS hash,
			CASE WHEN pg_temp.is_filter(f) THEN cuckoo_count(f, 'absent ' || i) ELSE 0 END AS copies
		FROM generate_series(1, 20000) AS i
	), chosen AS (
		SELECT * FROM asked WHERE i <= 10
		UNION ALL
		(SELECT * FROM asked WHERE i > 10 AND copies > 0 ORDER BY i LIMIT 5)
	)
	SELECT string_agg(lpad(to_hex(hash), 16, '0') || '*' || copies, ' ' ORDER BY i) FROM chosen
$$;

\set hashes 'string_agg(lpad(to_hex(cuckoo_hash(k, coalesce((cuckoo_info($1)).seed, 0))), 16, ''0'') || ''*'' || cuckoo_count($1, k), '' '' ORDER BY number)'
\set texts 'min(pg_typeof(k)::text) || E''\\t'' || json_agg(k::text ORDER BY number)'
\o filters.tsv
\qecho 'name	keys	made	same	filter	hashes	type	texts'
SELECT concat_ws(E'\t', name, keys, made, same, f,
	concat_ws(' ', CASE WHEN pg_temp.is_filter(f) THEN pg_temp.of_keys(f, keys, :'hashes') END, pg_temp.absent(pg_temp.of_texts(f))),
	CASE WHEN name LIKE 'type-%' THEN pg_temp.of_keys(f, keys, :'texts') END)
FROM golden ORDER BY number;
ROLLBACK;
