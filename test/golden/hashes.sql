-- Makes hashes.tsv from filters.tsv: psql -XqAt -f hashes.sql > hashes.tsv
--
-- The programs of test/unit have no SQL keys, so they read hashes from this
-- file.  It has a line for each filter of filters.tsv, in the same order: its
-- name, and hashes of keys, each with the number of copies in the filter.
-- These are up to 40 of the filter's keys, the first ten absent keys, and up
-- to five more absent keys that it reports as present.  Partial states are not
-- filters and have no copies of any key.

CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TYPE pg_temp.golden_mood AS ENUM ('sad', 'fröhlich');
\set lines `cat filters.tsv`

CREATE FUNCTION pg_temp.is_filter(f cuckoofilter) RETURNS boolean LANGUAGE sql AS 'SELECT get_byte(f::bytea, 1) = 0';

CREATE FUNCTION pg_temp.present(f cuckoofilter, keys text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers text;
BEGIN
	EXECUTE format('SELECT string_agg(lpad(to_hex(hash), 16, ''0'') || ''*'' || copies, '' '' ORDER BY number)
		FROM (SELECT cuckoo_hash(k, coalesce((cuckoo_info($1)).seed, 0)) AS hash, cuckoo_count($1, k) AS copies, row_number() OVER (ORDER BY hash_order) AS number
			FROM (SELECT k, cuckoo_hash(k, 1) AS hash_order FROM (%s) AS keys GROUP BY k) AS k) AS x
		WHERE number <= 40', keys) INTO answers USING f;
	RETURN answers;
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

\echo 'name	hashes'
SELECT concat(line[1], E'\t', concat_ws(' ', CASE WHEN pg_temp.is_filter(f) THEN pg_temp.present(f, line[2]) END, pg_temp.absent(pg_temp.of_texts(f))))
FROM regexp_split_to_table(:'lines', '\n') WITH ORDINALITY AS x (text, number), string_to_array(text, E'\t') AS line,
	LATERAL (SELECT line[5]::cuckoofilter AS f OFFSET 0) AS filter
WHERE number > 1
ORDER BY number;
