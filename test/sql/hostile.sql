-- Hostile keys: if the seed is known, keys can be made for any hash.  Nothing
-- crashes or is lost, and time and size stay bounded: a table in which they
-- find no place stays sparse.  docs/security.md says what to do about keys from
-- strangers.
--
-- XXH3 of eight bytes is a bijection, so every hash belongs to exactly one
-- bigint.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
CREATE FUNCTION rotate(x bigint, n integer) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN CASE WHEN n = 0 THEN x ELSE (x << n) | ((x >> (64 - n)) & ((1::bigint << n) - 1)) END;
CREATE FUNCTION shift(x bigint, n integer) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN (x >> n) & ((1::bigint << (64 - n)) - 1);
CREATE FUNCTION signed(x numeric) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN CASE WHEN x >= 9223372036854775808 THEN x - 18446744073709551616 ELSE x END::bigint;
-- times the inverse of XXH3's multiplier
CREATE FUNCTION divide(x bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN signed(mod(mod(x::numeric * 192419422752744621, 18446744073709551616) + 18446744073709551616, 18446744073709551616));

-- The bigint that has this hash under seed 0
CREATE FUNCTION key_of(hash bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
	x bigint := hash # shift(hash, 28) # shift(hash, 56);
BEGIN
	x := divide(x);
	x := x # (shift(x, 35) + 8);
	x := divide(x);
	FOR k IN 0..5 LOOP
		x := x # rotate(x, (49 << k) % 64) # rotate(x, (24 << k) % 64);
	END LOOP;
	RETURN rotate(x # 4318808755134421389, 32);
END $$;

SELECT count(*) FROM generate_series(1, 1000) AS i, LATERAL (SELECT signed(mod(i * 1234567890123456789.0, 18446744073709551616)) AS h) AS s
WHERE cuckoo_hash(key_of(h)) = h;

-- The sets: 100,000 keys each, except for the last two
CREATE TABLE hostile (name text PRIMARY KEY, keys bigint[]);
INSERT INTO hostile
-- Codes ascend with hashes, so neighbouring hashes have equal codes.
SELECT 'one bucket, one fingerprint', array_agg(key_of((1234567890::bigint << 32) | (987654321 + i))) FROM generate_series(1, 100000) AS i
UNION ALL
-- one even bucket of a table for 100,000 keys, with all fingerprints
SELECT 'one bucket', array_agg(key_of((1234567890::bigint << 32) + i * 14000000000)) FROM generate_series(1, 100000::bigint) AS i
UNION ALL
-- both halves are equal except for a constant
SELECT 'equal halves', array_agg(key_of((i * 20000 << 32) | (i * 20000 # 5))) FROM generate_series(1, 100000::bigint) AS i
UNION ALL
-- a thousandth of all buckets: one block, and one part of a large state
SELECT 'one block', array_agg(key_of(((7::bigint << 56) | (i * 40::bigint << 32) | ((i * 2654435761) & 4294967295)))) FROM generate_series(1, 100000::bigint) AS i
UNION ALL
-- the smallest and the largest hashes
SELECT 'edges', ARRAY[key_of(0), key_of(1), key_of(-1), key_of(9223372036854775807), key_of('-9223372036854775808')];

-- The result of a query over a set: a filter that finds all keys.  A hundred
-- thousand ordinary keys take 160 kB to 1 MB.
CREATE FUNCTION result_of(made text, of text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
	k bigint[];
	n integer;
BEGIN
	SELECT keys INTO k FROM hostile WHERE name = of;
	n := array_length(k, 1);
	EXECUTE 'SELECT ' || made INTO f USING k;
	IF NOT f @> ALL (k) THEN
		RETURN 'keys are missing';
	END IF;
	RETURN format('found, %s, %s%s', (cuckoo_info(f)).representation, CASE WHEN cuckoo_cardinality(f) < n / 2 THEN 'few copies, ' END,
		CASE WHEN (cuckoo_info(f)).bytes <= 1000000 THEN 'below 1 MB' ELSE (cuckoo_info(f)).bytes || ' bytes' END);
END $$;

-- A timeout far above what any of these takes
SET statement_timeout = '60s';

SELECT format('SELECT name, result_of(%L, name) FROM hostile ORDER BY name', made) AS command FROM unnest(ARRAY['cuckoo_agg(k) FROM unnest($1) AS k',
	'cuckoo_agg(k, 1e6, 0.001) FROM unnest($1) AS k', 'cuckoo_from_array($1)',
	'cuckoo_stream_agg(k, 1e5, 0.001) FROM unnest($1) AS k']) AS made \gexec

-- Added one by one: a tenth of them
UPDATE hostile SET keys = (SELECT array_agg(k) FROM unnest(keys) WITH ORDINALITY AS u (k, n) WHERE n % 10 = 0) WHERE name <> 'edges';
SELECT format(E'SELECT name, result_of(%L, name)\nFROM hostile %sORDER BY name', made, CASE WHEN made LIKE '%[%' THEN 'WHERE name <> ''edges'' ' END) AS command FROM unnest(ARRAY[
	'cuckoo_add_all(cuckoo_new(), $1)', 'cuckoo_add_all(cuckoo_agg(-k, 18000, 0.001), $1) FROM generate_series(1, 14000) AS k',
	'cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[:5000]) | cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[4000:])',
	'cuckoo_union_all(cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[:5000]), cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[5001:]))',
	-- Under a seed that their makers do not know, the keys are like any others.
	'cuckoo_add_all(cuckoo_new(capacity => 1e4, seed => 2718281828459045), $1)']) AS made \gexec
-- Small groups, whose state is flat
SELECT bool_and(cuckoo_cardinality(f) = 10)
FROM (SELECT cuckoo_agg(k) AS f FROM (SELECT k, n FROM hostile, unnest(keys) WITH ORDINALITY AS u (k, n) WHERE name = 'equal halves') AS s GROUP BY n % 1000) AS g;
