--
-- Golden filters: bytes that are stored by users, byte by byte
--
-- docs/format.md describes them.  They are the same on every platform and in
-- every version of PostgreSQL, and never change within a format version.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
\pset format unaligned
\pset footer off

CREATE SCHEMA golden_test;
SET search_path = golden_test, public;

-- An aggregate whose result is its state, to see what goes from server to server.
CREATE AGGREGATE state_of(integer) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE AGGREGATE state_of(integer, float8, float8) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);

CREATE FUNCTION show(f cuckoofilter) RETURNS text LANGUAGE sql AS
$$SELECT encode(substr(b, 1, 8), 'hex') || ' ' || encode(substr(b, 9, 8), 'hex') || ' ' || encode(substr(b, 17, 8), 'hex') || ' '
	|| encode(substr(b, 25, 8), 'hex') || ' ' || encode(substr(b, 33, 8), 'hex') || ' ' || encode(substr(b, 41), 'hex')
FROM (SELECT f::bytea AS b) AS bytes$$;

--
-- Headers and lists.  Version, body, kind, element kind, flags, tables, 0, 0;
-- rate; capacity; seed; items; hashes in ascending order.
--
SELECT filter, show(f) AS "header rate capacity seed items hashes" FROM (VALUES
	('over no rows', (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)),
	('new', cuckoo_new()),
	('new, rate', cuckoo_new(0.01)),
	('new, capacity', cuckoo_new(0.001, 1e6)),
	('new, seed', cuckoo_new(0.001, 0, -2)),
	('new, plain', cuckoo_new(layout => 'plain')),
	('new, all', cuckoo_new(2e-9, 1000, 81985529216486895, 'plain')),
	('integer', cuckoo_new() + 1),
	('two copies', cuckoo_new() + 1 + 2 + 1),
	('seed', cuckoo_new(seed => 81985529216486895) + 1),
	('text', cuckoo_new() + 'cuckoo'),
	('array', cuckoo_new() + '{}'::integer[]),
	('range', cuckoo_new() + '[1,5)'::int4range),
	('emptied', cuckoo_new() + 1 - 1),
	('from array', cuckoo_from_array('{2,1,2,NULL}'::integer[])),
	('from array, rate', cuckoo_from_array('{cuckoo}'::text[], 0.01)),
	('aggregate', (SELECT cuckoo_agg(i) FROM generate_series(1, 2) AS i)),
	('aggregate, capacity', (SELECT cuckoo_agg(i, 0.1, 500) FROM generate_series(1, 2) AS i)),
	('state', (SELECT state_of(i) FROM generate_series(1, 2) AS i)),
	('state, parameters', (SELECT state_of(i, 0.1, 500) FROM generate_series(1, 2) AS i))
) AS golden (filter, f);

-- The text form is base64 of them.
SELECT cuckoo_new() + 1 AS text, encode((cuckoo_new() + 1)::bytea, 'base64') AS base64;

--
-- Tables.  After the header: blocks, buckets, bits, 0, items; buckets; tail.
--
SELECT filter, show(f) AS "header rate capacity seed items, table, buckets, tail" FROM (VALUES
	('aggregate', (SELECT cuckoo_agg(i) FROM generate_series(1, 33) AS i)),
	('aggregate, text', (SELECT cuckoo_agg('key ' || i, 0.01) FROM generate_series(1, 33) AS i)),
	('aggregate, two words a bucket', (SELECT cuckoo_agg(i, 2e-9) FROM generate_series(1, 33) AS i)),
	('added', cuckoo_add_all(cuckoo_new(0.1, 33), ARRAY(SELECT generate_series(1, 33)))),
	('added, plain', cuckoo_add_all(cuckoo_new(0.1, 33, 0, 'plain'), ARRAY(SELECT generate_series(1, 33))))
) AS golden (filter, f);

-- Larger ones by their MD5.
SELECT filter, length(f::bytea), md5(f::bytea) FROM (VALUES
	('aggregate, one block', (SELECT cuckoo_agg(i) FROM generate_series(1, 100000) AS i)),
	('aggregate, two blocks', (SELECT cuckoo_agg(i) FROM generate_series(1, 200000) AS i)),
	('aggregate, lowest rate', (SELECT cuckoo_agg(i, 2e-9) FROM generate_series(1, 1000) AS i)),
	('aggregate, highest rate', (SELECT cuckoo_agg(i, 0.1) FROM generate_series(1, 1000) AS i)),
	('aggregate, capacity', (SELECT cuckoo_agg(i, 0.001, 5000) FROM generate_series(1, 1000) AS i)),
	('grown', cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 5000)))),
	('grown, capacity', cuckoo_add_all(cuckoo_new(0.001, 64), ARRAY(SELECT generate_series(1, 1000)))),
	('grown, plain, seed', cuckoo_add_all(cuckoo_new(0.001, 0, 42, 'plain'), ARRAY(SELECT generate_series(1, 5000)))),
	('grown and shrunk', cuckoo_remove_all(cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 5000))), ARRAY(SELECT generate_series(1, 2500))))
) AS golden (filter, f);

DROP SCHEMA golden_test CASCADE;
