-- Canonical bytes against a reference in SQL, written from docs/format.md
--
-- key_scalar.c and key.c read numeric and arrays as PostgreSQL stores them.
-- The reference takes them apart by public functions: numeric_send, jsonb_each,
-- unnest.  A hash tells whether the bytes are the same.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
-- As stored by every version
SET default_toast_compression = pglz;

CREATE TYPE triple AS (number integer, word text, amount numeric);

-- The hash of bytes as those of a key type: it is part of the seed, and bytea is 5.
CREATE FUNCTION hash_as(bytes bytea, key_type integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	seed numeric := ((key_type - 5 + 64) * 11400714819323198485 - 64 * 11400714819323198485) % 18446744073709551616;
BEGIN
	seed := CASE WHEN seed < 0 THEN seed + 18446744073709551616 ELSE seed END;
	RETURN cuckoo_hash(bytes, (CASE WHEN seed >= 9223372036854775808 THEN seed - 18446744073709551616 ELSE seed END)::bigint);
END $$;

-- Little-endian numbers of two and four bytes
CREATE FUNCTION u16(n integer) RETURNS bytea LANGUAGE sql RETURN
	set_byte(set_byte('\x0000', 0, n & 255), 1, n >> 8 & 255);
CREATE FUNCTION u32(n integer) RETURNS bytea LANGUAGE sql RETURN u16(n & 65535) || u16(n >> 16 & 65535);
CREATE FUNCTION counted(bytes bytea) RETURNS bytea LANGUAGE sql RETURN
	CASE WHEN bytes IS NULL THEN '\xffffffff' ELSE u32(length(bytes)) || bytes END;
CREATE FUNCTION text_bytes(t text) RETURNS bytea LANGUAGE sql RETURN convert_to(t, 'UTF8');
CREATE FUNCTION integer_bytes(n integer) RETURNS bytea LANGUAGE sql RETURN
	u32(n) || CASE WHEN n < 0 THEN '\xffffffff'::bytea ELSE '\x00000000' END;

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

CREATE FUNCTION jsonb_bytes(j jsonb, root boolean DEFAULT true) RETURNS bytea LANGUAGE plpgsql STRICT AS $$
BEGIN
	RETURN CASE jsonb_typeof(j)
		WHEN 'null' THEN '\x00'::bytea
		WHEN 'boolean' THEN CASE WHEN j::boolean THEN '\x02'::bytea ELSE '\x01' END
		WHEN 'number' THEN '\x03' || counted(numeric_bytes(j::numeric))
		WHEN 'string' THEN '\x04' || counted(text_bytes(j #>> '{}'))
		WHEN 'array' THEN '\x05' || u32(jsonb_array_length(j)) ||
			(SELECT coalesce(string_agg(jsonb_bytes(e), '' ORDER BY i), '') FROM jsonb_array_elements(j) WITH ORDINALITY AS _ (e, i))
		WHEN 'object' THEN '\x06' || u32((SELECT count(*)::integer FROM jsonb_object_keys(j))) ||
			(SELECT coalesce(string_agg(counted(text_bytes(k)) || jsonb_bytes(v), '' ORDER BY octet_length(k), text_bytes(k)), '') FROM jsonb_each(j) AS _ (k, v))
		END;
END $$;

-- Of elements, each as bytes, in their order
CREATE FUNCTION array_bytes(a anyarray, key_type integer, elements bytea[]) RETURNS bytea LANGUAGE sql AS $$
	SELECT substr(u16(key_type), 1, 1) || u32(coalesce(array_ndims(a), 0)) ||
		coalesce((SELECT string_agg(u32(array_length(a, d)) || u32(array_lower(a, d)), '' ORDER BY d) FROM generate_series(1, array_ndims(a)) AS d), '') ||
		coalesce((SELECT string_agg(counted(e), '' ORDER BY i) FROM unnest(elements) WITH ORDINALITY AS _ (e, i)), '')
$$;
CREATE FUNCTION triple_bytes(t triple) RETURNS bytea LANGUAGE sql AS $$
	SELECT u32(3) || '\x01' || counted(integer_bytes(t.number)) || '\x04' || counted(text_bytes(t.word)) || '\x08' || counted(numeric_bytes(t.amount))
$$;

-- The reference itself against the golden hashes
SELECT hash_as('\x61', 4) = cuckoo_hash('a'::text) AS text, hash_as(integer_bytes(-7), 1) = cuckoo_hash(-7) AS integer,
	to_hex(hash_as(numeric_bytes(-98765.4321), 8)) AS numeric, numeric_bytes(-98765.4321) AS bytes;

---- numeric: in memory, and stored with a short header, a long one, compressed
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

---- jsonb
CREATE TABLE documents (how text, j jsonb);
INSERT INTO documents SELECT 'scalars and empty', j::jsonb FROM unnest(ARRAY['null', 'true', 'false', '0', '-1.50', '1e300', '""', '"a"', '"é"', '[]', '{}', '[[]]', '[{}]',
	'{"": {}}', '[null]', '[1]', '["1"]']) AS j;
-- Of many numbers of children: offsets are stored at every 32nd
INSERT INTO documents SELECT 'arrays', jsonb_agg(v ORDER BY i) FROM generate_series(1, 140, 3) AS n, generate_series(1, n) AS i,
	LATERAL (SELECT CASE i % 7 WHEN 0 THEN 'null' WHEN 1 THEN to_jsonb(i * 1.5) WHEN 2 THEN to_jsonb(repeat('x', i % 5)) WHEN 3 THEN to_jsonb(i % 2 = 0)
		WHEN 4 THEN jsonb_build_array(i, repeat('y', n % 4), -i) WHEN 5 THEN jsonb_build_object('k', i, 'kk', i / 7.0) ELSE '[]' END AS v) AS _ GROUP BY n;
INSERT INTO documents SELECT 'objects', jsonb_object_agg(repeat('k', i % 4) || i * 7919 % 1000, CASE i % 5 WHEN 0 THEN to_jsonb(i / 3.0) WHEN 1 THEN to_jsonb('é' || i) WHEN 2 THEN 'null'
		WHEN 3 THEN jsonb_build_object('a', jsonb_build_array(i, 'b', 0.5)) ELSE 'true' END) FROM generate_series(1, 140, 3) AS n, generate_series(1, n) AS i GROUP BY n;
INSERT INTO documents SELECT 'deep', j::jsonb FROM generate_series(1, 100, 9) AS n, LATERAL (SELECT repeat('[1, {"a": ', n) || '"x"' || repeat('}, 2]', n) AS j) AS _;
INSERT INTO documents SELECT 'numbers', jsonb_agg(n ORDER BY n) FROM numbers WHERE how IN ('quotients', 'display scales') GROUP BY n;
INSERT INTO documents SELECT 'long', jsonb_build_object('a', repeat('x', 5000), 'n', repeat('7', 3000)::numeric, 'b', md5(i::text)) FROM generate_series(1, 3) AS i;
-- To append nothing to an array makes a new one with the same bytes.
SELECT how, count(*), count(*) FILTER (WHERE cuckoo_hash(j) <> hash_as(bytes, 23)) AS stored,
	count(*) FILTER (WHERE cuckoo_hash(j || '[]') <> hash_as(CASE jsonb_typeof(j) WHEN 'array' THEN bytes ELSE jsonb_bytes(j || '[]') END, 23)) AS computed,
	count(*) FILTER (WHERE pg_column_size(j) < 127) > 0 AS short
FROM documents, LATERAL (SELECT jsonb_bytes(j) AS bytes OFFSET 0) AS made GROUP BY how ORDER BY how;

---- Arrays: of elements of every length, alignment and kind of storage
CREATE TABLE arrays AS SELECT i, ARRAY(SELECT i * 77 - k FROM generate_series(1, i % 9) AS k) AS integers,
	ARRAY(SELECT CASE WHEN (i + k) % 5 > 0 THEN repeat('é', k % 3) || repeat('w', (i * k) % 11) END FROM generate_series(1, i % 40) AS k) AS words,
	ARRAY(SELECT nullif(i - k, 3)::numeric / 8 FROM generate_series(1, i % 30) AS k) AS numbers,
	ARRAY(SELECT CASE WHEN k % 4 > 0 THEN ROW(i, repeat('v', k), k / 8.0)::triple END FROM generate_series(1, i % 6) AS k) AS triples
FROM generate_series(1, 400) AS i;
INSERT INTO arrays VALUES (1001, '[-3:-1]={1,2,NULL}', '[0:1][5:6]={{a,b},{NULL,""}}', '{{{1.0,NULL}}}', '{}');
INSERT INTO arrays SELECT 1002, array_agg(k), array_agg(md5(k::text)), array_agg(k / 3.0), array_agg(ROW(k, 'x', NULL)::triple) FROM generate_series(1, 1000) AS k;
SELECT count(*),
	count(*) FILTER (WHERE cuckoo_hash(integers) <> hash_as(array_bytes(integers, 1, ARRAY(SELECT integer_bytes(e) FROM unnest(integers) WITH ORDINALITY AS _ (e, o) ORDER BY o)), 24)) AS integers,
	count(*) FILTER (WHERE cuckoo_hash(words) <> hash_as(array_bytes(words, 4, ARRAY(SELECT text_bytes(e) FROM unnest(words) WITH ORDINALITY AS _ (e, o) ORDER BY o)), 24)) AS words,
	count(*) FILTER (WHERE cuckoo_hash(numbers) <> hash_as(array_bytes(numbers, 8, ARRAY(SELECT numeric_bytes(e) FROM unnest(numbers) WITH ORDINALITY AS _ (e, o) ORDER BY o)), 24)) AS numbers,
	count(*) FILTER (WHERE cuckoo_hash(triples) <> hash_as(array_bytes(triples, 25, ARRAY(SELECT CASE WHEN triples[o] IS DISTINCT FROM NULL THEN triple_bytes(triples[o]) END FROM
	generate_series(1, cardinality(triples)) AS o ORDER BY o)), 24)) AS triples
FROM arrays;

---- Composite
SELECT count(*), count(*) FILTER (WHERE cuckoo_hash(t) <> hash_as(triple_bytes(t), 25)) AS triples
FROM (SELECT ROW(nullif(i % 10, 3), CASE WHEN i % 7 > 0 THEN repeat('é', i % 90) END, nullif(i % 11, 4) / 3.0)::triple AS t FROM generate_series(1, 1000) AS i OFFSET 0) AS _;
CREATE TABLE triples AS SELECT ROW(i, repeat('w', i % 200), i / 3.0)::triple AS t FROM generate_series(1, 1000) AS i;
SELECT count(*), count(*) FILTER (WHERE cuckoo_hash(t) <> hash_as(triple_bytes(t), 25)) AS triples FROM triples;
