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

-- A few keys are enough to prevent a dense table: eight of one class fill both
-- its buckets, and one more, of another class with the same two buckets, finds
-- no room.  Here this is done for a table of 2,594 buckets (1,297 even ones)
-- and 13 bits.
--
-- The sum of the numbers of a fingerprint's two buckets
CREATE FUNCTION bucket_sum(fingerprint bigint, buckets bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
	h bigint := fingerprint # (fingerprint >> 16);
BEGIN
	h := mod(h::numeric * 2246822507, 4294967296)::bigint;
	h := h # (h >> 13);
	h := mod(h::numeric * 3266489909, 4294967296)::bigint;
	h := h # (h >> 16);
	RETURN div(h::numeric * buckets, 4294967296)::bigint | 1;
END $$;
-- A hash with this fingerprint, and the even bucket of this number
CREATE FUNCTION hash_of(firsts bigint, bits integer, first bigint, fingerprint bigint, i integer) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN signed(ceil((first * 4294967296 + div((fingerprint - 1) * 4294967296::numeric, (1::bigint << bits) - 1) + i) * 4294967296 / firsts));
CREATE VIEW few AS
SELECT key_of(hash_of(1297, 13, 5, 1, i)) AS k FROM generate_series(1, 8) AS i
UNION ALL SELECT key_of(hash_of(1297, 13, 5, (SELECT min(b) FROM generate_series(2, 8191) AS b WHERE bucket_sum(b, 2594) = bucket_sum(1, 2594)), 1))
UNION ALL SELECT generate_series(1, 10000);
SELECT number, t.items, blocks, buckets, fingerprint_bits, t.representation, f @> ALL (ARRAY(SELECT k FROM few)) AS found,
	(SELECT min(cuckoo_count(f, k)) FROM (SELECT k FROM few LIMIT 8) AS eight) AS of_the_class
FROM (SELECT cuckoo_agg(k) AS f FROM few) AS x, cuckoo_subfilters(f) AS t;
-- Without the ninth it is dense.
SELECT items, representation FROM (SELECT cuckoo_agg(k, 10009, 0.001) AS f FROM ((SELECT k FROM few LIMIT 8) UNION ALL (SELECT k FROM few OFFSET 9)) AS x) AS x, cuckoo_subfilters(f);
-- Key by key as well: dense at first, and sparse when the ninth comes
SELECT way, items, subfilters, representation, f @> ALL (ARRAY(SELECT k FROM few)) AS found
FROM (VALUES ('as they come', cuckoo_add_all(cuckoo_new(capacity => 10009), ARRAY(SELECT k FROM few))),
	('into a dense table', cuckoo_add_all((SELECT cuckoo_agg(k, 10009, 0.001) FROM (SELECT k FROM few OFFSET 9) AS many), ARRAY(SELECT k FROM few LIMIT 9)))) AS v (way, f), cuckoo_info(f);
