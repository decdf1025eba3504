-- Completes lines of filters.tsv:
--     psql -XqAt -F $'\t' -f make.sql < new.tsv >> filters.tsv
--
-- A line has the name of a filter, a query for its keys, an expression over
-- these keys that makes the filter, whether every version makes the same bytes
-- from it, and the filter.  The lines of new.tsv end before the filter.
--
-- Filters that were released must stay in filters.tsv as they are.  Add lines
-- for new filters, but never make the old ones again.  The same bytes are
-- expected of a filter that is built from all its keys at once, and of one that
-- combines such filters: a later release may choose other sizes, but not without
-- a test that notices it.  They are not expected if keys are added one by one,
-- because the format does not say where such a key is stored.
--
-- PostgreSQL did not make the filters written-*, which have no expression: they
-- have several blocks, or fingerprint sizes that no target rate requires.  They
-- were written by docs/format.md.

BEGIN;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TYPE pg_temp.golden_mood AS ENUM ('sad', 'fröhlich');
-- The state of cuckoo_agg, as one server sends it to another
CREATE AGGREGATE state_of(anycompatible, float8, float8, bigint) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE TEMP TABLE golden (number serial, name text, keys text, made text, same boolean);
-- A quote that occurs nowhere, so that nothing is escaped
\copy golden (name, keys, made, same) from pstdin with (format csv, delimiter E'\t', quote E'\b')

CREATE FUNCTION pg_temp.make(keys text, made text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	-- The result is one row, also without keys or without an aggregate
	EXECUTE format('WITH keys AS (%s) SELECT %s, count(*) FROM keys', keys, made) INTO f;
	RETURN f;
END
$$;

SELECT name, keys, made, same, pg_temp.make(keys, made) FROM golden ORDER BY number;
ROLLBACK;
