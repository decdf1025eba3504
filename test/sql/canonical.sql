-- Canonical bytes of numeric against a reference in SQL, written from docs/format.md
--
-- key_scalar.c reads numeric as PostgreSQL stores it, and the reference takes it apart
-- by numeric_send.  A hash tells whether the bytes are the same.  test/clients/compare.py
-- compares those of all types.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
-- As stored by every version
SET default_toast_compression = pglz;

-- The hash of bytes as those of a key type: it is part of the seed, and bytea is 5.
CREATE FUNCTION hash_as(bytes bytea, key_type integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	seed numeric := ((key_type - 5 + 64) * 11400714819323198485 - 64 * 11400714819323198485) % 18446744073709551616;
BEGIN
	seed := CASE WHEN seed < 0 THEN seed + 18446744073709551616 ELSE seed END;
	RETURN cuckoo_hash(bytes, (CASE WHEN seed >= 9223372036854775808 THEN seed - 18446744073709551616 ELSE seed END)::bigint);
END $$;

-- A little-endian number of two bytes
CREATE FUNCTION u16(n integer) RETURNS bytea LANGUAGE sql RETURN
	set_byte(set_byte('\x0000', 0, n & 255), 1, n >> 8 & 255);

CREATE FUNCTION numeric_bytes(n numeric) RETURNS bytea LANGUAGE plpgsql STRICT AS $$
DECLARE
	wire bytea := numeric_send(n);
	digits integer := get_byte(wire, 0) << 8 | get_byte(wire, 1);
	weight integer := get_byte(wire, 2) << 8 | get_byte(wire, 3);
	sign integer := get_byte(wire, 4) << 8 | get_byte(wire, 5);
	bytes bytea := '';
BEGIN
	FOR i IN 0 .. digits - 1 LOOP
		bytes := bytes || substr(wire, 10 + 2 * i, 1) || substr(wire, 9 + 2 * i, 1);
	END LOOP;
	RETURN u16(sign) || u16(CASE WHEN digits = 0 THEN 0 ELSE weight END) || bytes;
END $$;

-- The reference itself against a golden hash
SELECT to_hex(hash_as(numeric_bytes(-98765.4321), 8)) AS numeric, numeric_bytes(-98765.4321) AS bytes;

---- In memory, and stored with a short header, a long one, compressed
CREATE TABLE numbers (how text, n numeric);
INSERT INTO numbers SELECT 'special', n::numeric FROM unnest('{NaN,Infinity,-Infinity,0,0.000,-0,-0.0,0e100,1,-1,1.000,10000,0.0001,9999,99990000}'::text[]) AS n;
-- Every weight and sign; the short form has weights of -64 to 63
INSERT INTO numbers SELECT 'powers of ten', s * power(10::numeric, e) FROM unnest('{1,-1,1.0,-12345.678}'::numeric[]) AS s, generate_series(0, 280) AS e;
INSERT INTO numbers SELECT 'negative powers', (m || 'e-' || e)::numeric FROM unnest('{1,-1,1.0,-12345678}'::text[]) AS m, generate_series(0, 280) AS e;
-- and display scales of up to 63
INSERT INTO numbers SELECT 'display scales', round(n, scale) FROM unnest('{0,1,-1,12345.6789,1e-60}'::numeric[]) AS n, generate_series(0, 70) AS scale;
INSERT INTO numbers SELECT 'random', sign * ('x' || substr(h, 1, 8))::bit(32)::bigint / power(10::numeric, i % 40) + ('x' || substr(h, 8, 8))::bit(32)::bigint * power(10::numeric, i % 50)
FROM generate_series(1, 3000) AS i, unnest('{1,-1}'::integer[]) AS sign, md5(i::text) AS h;
INSERT INTO numbers SELECT 'quotients', i::numeric / 7 / power(10::numeric, abs(i) % 90) FROM generate_series(-500, 500) AS i;
INSERT INTO numbers SELECT 'lengths', (repeat('9876', n) || '.' || repeat('0123', n % 5))::numeric FROM generate_series(1, 70) AS n;
INSERT INTO numbers VALUES ('huge', '1e131071'), ('huge', '-1e131071'), ('huge', '1e-16383'), ('huge', repeat('123456789', 2000)::numeric), ('huge', ('-0.' || repeat('123456789', 1800))::numeric);
SELECT how, count(*), count(*) FILTER (WHERE cuckoo_hash(n) <> hash_as(numeric_bytes(n), 8)) AS stored, count(*) FILTER (WHERE cuckoo_hash(- (- n)) <> hash_as(numeric_bytes(n), 8)) AS computed
FROM numbers GROUP BY how ORDER BY how;
-- Aggregates and lookups hash alike.
SELECT count(*) FILTER (WHERE NOT f @> n) AS missing, cuckoo_cardinality(f) AS keys FROM numbers, (SELECT cuckoo_agg(n, NULL, 1e-6) AS f FROM numbers) AS _ GROUP BY f;
SELECT count(DISTINCT n) AS keys FROM numbers;
