-- Golden filters: stored filters can be read forever
--
-- test/golden/filters.tsv has filters of both representations, every key type
-- and every width, as earlier releases wrote them.  Each must be valid, be
-- returned byte by byte, and find every key it was made from.  If it was built
-- as a whole, building it again must give the same bytes.  Partial states must
-- become filters for which this is true.
SET client_encoding = 'UTF8';
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
CREATE TYPE golden_mood AS ENUM ('sad', 'fröhlich');
\set lines `cat "$PG_ABS_SRCDIR/golden/filters.tsv"`
CREATE TABLE golden (number bigint, name text, keys text, made text, same boolean, filter text, texts text);
INSERT INTO golden SELECT number, line[1], line[2], line[3], line[4]::boolean, line[5], line[7] || E'\t' || line[8]
	FROM regexp_split_to_table(:'lines', '\n') WITH ORDINALITY AS x (text, number), string_to_array(text, E'\t') AS line
	WHERE number > 1;

CREATE FUNCTION answers(f cuckoofilter, keys text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
	counted bigint;
	number bigint;
BEGIN
	-- A partial state becomes a filter first.
	IF (cuckoo_info(f)).representation = 'partial' THEN
		f := (SELECT merge_states(s) FROM (VALUES (f)) AS v (s));
	END IF;
	EXECUTE format('SELECT count(*) FILTER (WHERE $1 @> k), sum(least(copies, 8)) FILTER (WHERE cuckoo_count($1, k) >= least(copies, 8)), sum(least(copies, 8))
		FROM (SELECT k, count(*) AS copies FROM (%s) AS keys GROUP BY k) AS k', keys) INTO found, counted, number USING f;
	RETURN CASE WHEN counted IS NOT DISTINCT FROM number THEN format('%s keys', found) ELSE format('%s of %s copies', counted, number) END;
END $$;

CREATE FUNCTION made_again(f cuckoofilter, keys text, made text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	again cuckoofilter;
BEGIN
	EXECUTE format('WITH keys AS (%s) SELECT %s, count(*) FROM keys', keys, made) INTO again;
	RETURN again = f;
END $$;

CREATE TEMPORARY VIEW answered AS SELECT name, key_type, items,
	(SELECT string_agg(format('%s %s x %s x %s', t.representation, blocks, buckets, fingerprint_bits), ', ' ORDER BY number)
		FROM cuckoo_subfilters(CASE WHEN representation <> 'partial' THEN f END) AS t) AS tables,
	f::text = filter AND f::bytea = decode(filter, 'base64') AND f::bytea::cuckoofilter = f AS read, answers(f, keys), CASE WHEN same THEN made_again(f, keys, made) END AS made_again
FROM (SELECT *, filter::cuckoofilter AS f FROM golden OFFSET 0) AS g, cuckoo_info(f) AS i
ORDER BY g.number;
SELECT * FROM answered WHERE name NOT LIKE 'type-%';
-- One that is not right, of filters that differ only in the type of their keys
SELECT * FROM answered WHERE name LIKE 'type-%' AND (read AND made_again AND answers = items || ' keys') IS NOT TRUE;

-- All key types: the next one is refused
SELECT count(*) = max(number) + 1 AS "all", outcome(format('SELECT set_byte((cuckoo_new() + 1)::bytea, 2, %s)::cuckoofilter', max(number) + 1)) AS next
FROM (SELECT DISTINCT get_byte(filter::cuckoofilter::bytea, 2) AS number FROM golden) AS key_types;

-- What it says of keys differently
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
-- (19 writes 0/0 of a pg_lsn with more zeros.)
CREATE FUNCTION texts(keys text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE format('SELECT min(pg_typeof(k)::text) || E''\t'' || json_agg(k::text ORDER BY cuckoo_hash(k, 1)) FROM (%s) AS keys', keys) INTO found;
	RETURN replace(found, '"0/00000000"', '"0/0"');
END $$;
SELECT name, texts, texts(keys) FROM golden WHERE name LIKE 'type-%' AND texts IS DISTINCT FROM texts(keys);

---- Larger ones by their MD5.  They are the same on every platform and in every
---- version of PostgreSQL, and never change within a format version.
SELECT filter, length(f::bytea), md5(f::bytea) FROM (VALUES
	('aggregate, one block', (SELECT cuckoo_agg(i) FROM generate_series(1, 100000) AS i)),
	('aggregate, two blocks', (SELECT cuckoo_agg(i) FROM generate_series(1, 200000) AS i)),
	('aggregate, capacity', (SELECT cuckoo_agg(i, 5000, 0.001) FROM generate_series(1, 1000) AS i)),
	('aggregate, large capacity', (SELECT cuckoo_agg(i, 1e8, 0.001) FROM generate_series(1, 1000) AS i)),
	('added, unknown capacity', cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 5000)))),
	('grown', cuckoo_add_all(cuckoo_new(64, 0.001), ARRAY(SELECT generate_series(1, 1000)))),
	('shrunk', cuckoo_remove_all(cuckoo_add_all(cuckoo_new(64, 0.001), ARRAY(SELECT generate_series(1, 5000))), ARRAY(SELECT generate_series(1, 2500)))),
	('union all', (SELECT cuckoo_union_all_agg(f) FROM (SELECT cuckoo_agg(i, 1000 + i % 3, 0.001) AS f FROM generate_series(1, 2000) AS i GROUP BY i % 3) AS x)),
	('union', (SELECT cuckoo_union_agg(f) FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, 2000) AS i GROUP BY i % 3) AS x))
) AS golden (filter, f);
