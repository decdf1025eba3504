-- Hostile keys: with the seed known, keys can be made for any hash one likes.
-- Nothing crashes, time and size stay bounded, and what no table takes is a
-- clear error.  docs/security.md says what to do about strangers' keys.
--
-- XXH3 of eight bytes is a bijection, so that every hash has one bigint.

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

-- The sets: 100,000 keys each, but for the last two
CREATE TABLE hostile (name text PRIMARY KEY, keys bigint[]);
INSERT INTO hostile
-- first bucket by the high half of a hash, fingerprint by the low one
SELECT 'one bucket, one fingerprint', array_agg(key_of((1234567890::bigint << 32) | (987654321 + i))) FROM generate_series(1, 100000) AS i
UNION ALL
SELECT 'one bucket', array_agg(key_of((1234567890::bigint << 32) | (i * 42949))) FROM generate_series(1, 100000::bigint) AS i
UNION ALL
-- the slot of a small state: both halves alike but for a constant
SELECT 'one slot', array_agg(key_of((i * 20000 << 32) | (i * 20000 # 5))) FROM generate_series(1, 100000::bigint) AS i
UNION ALL
-- a thousandth of all buckets: one block, and one part of a large state
SELECT 'one block', array_agg(key_of(((7::bigint << 56) | (i * 40::bigint << 32) | ((i * 2654435761) & 4294967295)))) FROM generate_series(1, 100000::bigint) AS i
UNION ALL
-- hash 0 marks an empty slot
SELECT 'edges', ARRAY[key_of(0), key_of(1), key_of(-1), key_of(9223372036854775807), key_of('-9223372036854775808')];

-- What a query makes of a set: a filter that finds all keys, or an error.  A
-- hundred thousand common keys take 160 kB to 1 MB.
CREATE FUNCTION outcome(made text, of text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
	k bigint[];
	n integer;
BEGIN
	SELECT keys INTO k FROM hostile WHERE name = of;
	n := array_length(k, 1);
	EXECUTE 'SELECT ' || made INTO f USING k;
	IF NOT cuckoo_contains_all(f, k) THEN
		RETURN 'keys are missing';
	END IF;
	RETURN format('found, %s%s', CASE WHEN cuckoo_cardinality(f) < n / 2 THEN 'few copies, ' END,
		CASE WHEN (cuckoo_info(f)).bytes <= 10000000 THEN 'below 10 MB' ELSE (cuckoo_info(f)).bytes || ' bytes' END);
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN SQLERRM;
END $$;

-- Many times what any of them takes
SET statement_timeout = '60s';

SELECT name, outcome('cuckoo_agg(k) FROM unnest($1) AS k', name) FROM hostile ORDER BY name;
SELECT name, outcome('cuckoo_agg(k, 0.001, 1e6) FROM unnest($1) AS k', name) FROM hostile ORDER BY name;
SELECT name, outcome('cuckoo_from_array($1)', name) FROM hostile ORDER BY name;
SELECT name, outcome('cuckoo_stream_agg(k, 0.001, 1e5) FROM unnest($1) AS k', name) FROM hostile ORDER BY name;

-- Adding one by one walks long for each: fewer of them
UPDATE hostile SET keys = keys[:10000];
SELECT name, outcome('cuckoo_add_all(cuckoo_new(), $1)', name) FROM hostile ORDER BY name;
SELECT name, outcome('cuckoo_add_all(cuckoo_new(0.001, 1e4, layout => ''plain''), $1)', name) FROM hostile ORDER BY name;
SELECT name, outcome('cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[:5000]) | cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[4000:])', name)
FROM hostile WHERE name <> 'edges' ORDER BY name;
SELECT name, outcome('cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[:5000]) || cuckoo_add_all(cuckoo_new(capacity => 1e4), $1[5001:])', name)
FROM hostile WHERE name <> 'edges' ORDER BY name;
-- Small groups, whose state is a hash set
SELECT bool_and(cuckoo_cardinality(f) = 10)
FROM (SELECT cuckoo_agg(k) AS f FROM (SELECT k, n FROM hostile, unnest(keys) WITH ORDINALITY AS u (k, n) WHERE name = 'one slot') AS s GROUP BY n % 1000) AS g;

-- A few are enough to hinder an exact build: eight of one class fill both its
-- buckets, and one more, of another class with the same two, finds no room in
-- a table of any size.  What grows takes them.
CREATE VIEW few AS
SELECT key_of((1234567890::bigint << 32) | (2295613101 + i)) AS k FROM generate_series(1, 8) AS i
UNION ALL SELECT key_of((1234567890::bigint << 32) | 2295088750)
UNION ALL SELECT generate_series(1, 10000);
SELECT cuckoo_contains_all(f, ARRAY(SELECT k FROM few)), tables FROM (SELECT cuckoo_agg(k) AS f FROM few) AS x, cuckoo_info(f);
SELECT cuckoo_cardinality(f), cuckoo_contains_all(f, ARRAY(SELECT k FROM few)) FROM cuckoo_add_all(cuckoo_new(capacity => 10009), ARRAY(SELECT k FROM few)) AS f;
DROP VIEW few;

-- At the lowest rates all fingerprints have 32 bits, in tables of any size: the
-- finalizer's inverse gives as many as one likes with the same two buckets.
CREATE FUNCTION unfinish(h bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	h := h # (h >> 16);
	h := mod(h::numeric * 2127672349, 4294967296)::bigint;
	h := h # (h >> 13) # (h >> 26);
	h := mod(h::numeric * 2781581891, 4294967296)::bigint;
	RETURN h # (h >> 16);
END $$;
CREATE TABLE vain AS SELECT array_agg(key_of(unfinish(h)) ORDER BY h) AS keys FROM generate_series(1, 400) AS h;
SELECT cuckoo_add_all(cuckoo_new(2e-9, 100), keys) FROM vain;
SELECT cuckoo_cardinality(f), (cuckoo_info(f)).tables, cuckoo_contains_all(f, keys[:100])
FROM vain, cuckoo_add_all(cuckoo_new(2e-9, 100), keys[:100]) AS f;
DROP TABLE vain;
DROP FUNCTION unfinish;

-- Under a seed that those who make the keys do not know, they are as good as any.
SELECT name, outcome('cuckoo_add_all(cuckoo_new(capacity => 1e4, seed => 2718281828459045), $1)', name) FROM hostile ORDER BY name;

DROP TABLE hostile;
DROP FUNCTION outcome, key_of, divide, signed, shift, rotate;
