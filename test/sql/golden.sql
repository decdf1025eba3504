--
-- Golden filters, byte by byte, as users store them
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

-- An aggregate whose result is its state, which goes from server to server.
CREATE AGGREGATE state_of(integer) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE AGGREGATE state_of(integer, float8, float8, bigint) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);

-- Version, content, key type and flags; signature; rate; capacity; seed; number
-- of tables and zeros.  Then for each table its blocks, items, buckets per
-- block, bits and representation, and then the rest.
CREATE FUNCTION show(f cuckoofilter) RETURNS text LANGUAGE sql AS
$$SELECT concat_ws(' ', (SELECT string_agg(encode(substr(b, at, bytes), 'hex'), ' ' ORDER BY at) FROM (VALUES (1, 4), (5, 4), (9, 8), (17, 8), (25, 8), (33, 4)) AS fields (at, bytes)),
	(SELECT string_agg('/ ' || concat_ws(' ', encode(substr(b, at, 4), 'hex'), encode(substr(b, at + 4, 4), 'hex'), encode(substr(b, at + 8, 2), 'hex'), encode(substr(b, at + 10, 1), 'hex'), encode(substr(b, at + 11, 1), 'hex')), ' ' ORDER BY at)
		FROM generate_series(37, 36 + 12 * get_byte(b, 32), 12) AS at),
	'/', encode(substr(b, 37 + 12 * get_byte(b, 32)), 'hex'))
FROM (SELECT decode(f::text, 'base64') AS b) AS bytes$$;

--
-- Headers, and sparse tables of few keys
--
SELECT filter, show(f) AS "header / tables / index, bits, tail" FROM (VALUES
	('over no rows', (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)),
	('new', cuckoo_new()),
	('new, rate', cuckoo_new(NULL, 0.01)),
	('new, capacity', cuckoo_new(1e6, 0.001)),
	('new, seed', cuckoo_new(NULL, 0.001, -2)),
	('new, all', cuckoo_new(1000, 2e-8, 81985529216486895)),
	('integer', cuckoo_new() + 1),
	('two copies', cuckoo_new() + 1 + 2 + 1),
	('seed', cuckoo_new(seed => 81985529216486895) + 1),
	('text', cuckoo_new() + 'cuckoo'),
	('array', cuckoo_new() + '{}'::integer[]),
	('range', cuckoo_new() + '[1,5)'::int4range),
	('row', cuckoo_new() + ROW(1, 'x'::text)),
	('emptied', cuckoo_new() + 1 - 1),
	('not removable', cuckoo_new() + 1 | cuckoo_new() + 1),
	('from array', cuckoo_from_array('{2,1,2,NULL}'::integer[])),
	('from array, all', cuckoo_from_array('{cuckoo}'::text[], 500, 0.01, -1)),
	('aggregate', (SELECT cuckoo_agg(i) FROM generate_series(1, 2) AS i)),
	('aggregate, all', (SELECT cuckoo_agg(i, 500, 0.1, 7) FROM generate_series(1, 2) AS i)),
	('two tables', cuckoo_union_all(cuckoo_new(5, 0.01) + 1, cuckoo_new(5, 0.001) + 2 + 3)),
	('state', (SELECT state_of(i) FROM generate_series(1, 2) AS i)),
	('state, parameters', (SELECT state_of(i, 500, 0.1, 7) FROM generate_series(1, 2) AS i))
) AS golden (filter, f);

-- The text form is these bytes in base64.
SELECT cuckoo_new() + 1 AS text, encode((cuckoo_new() + 1)::bytea, 'base64') AS base64;

--
-- Tables with many keys: sparse of one group and of two, dense of one word per
-- bucket and of two, and both in one filter
--
SELECT filter, show(f) AS "header / tables / content" FROM (VALUES
	('sparse', (SELECT cuckoo_agg(i) FROM generate_series(1, 33) AS i)),
	('sparse, several groups', (SELECT cuckoo_agg(i, 150, 0.01) FROM generate_series(1, 90) AS i)),
	('sparse, copies', (SELECT cuckoo_multiset_agg(i % 4, 30, 0.01) FROM generate_series(0, 22) AS i)),
	('dense', (SELECT cuckoo_agg(i, 100, 0.001) FROM generate_series(1, 100) AS i)),
	('dense, text', (SELECT cuckoo_agg('key ' || i, 100, 0.01) FROM generate_series(1, 100) AS i)),
	('dense, two words per bucket', (SELECT cuckoo_agg(i, 100, 2e-8) FROM generate_series(1, 100) AS i)),
	('grown', cuckoo_add_all(cuckoo_new(1, 0.1), ARRAY(SELECT generate_series(1, 25))))
) AS golden (filter, f);

-- Larger ones by their MD5.
SELECT filter, length(f::bytea), md5(f::bytea) FROM (VALUES
	('aggregate, one block', (SELECT cuckoo_agg(i) FROM generate_series(1, 100000) AS i)),
	('aggregate, two blocks', (SELECT cuckoo_agg(i) FROM generate_series(1, 200000) AS i)),
	('aggregate, lowest rate', (SELECT cuckoo_agg(i, NULL, 2e-8) FROM generate_series(1, 2000) AS i)),
	('aggregate, highest rate', (SELECT cuckoo_agg(i, NULL, 0.1) FROM generate_series(1, 2000) AS i)),
	('aggregate, unknown capacity', (SELECT cuckoo_agg(i) FROM generate_series(1, 1024) AS i)),
	('aggregate, capacity', (SELECT cuckoo_agg(i, 5000, 0.001) FROM generate_series(1, 1000) AS i)),
	('aggregate, large capacity', (SELECT cuckoo_agg(i, 1e8, 0.001) FROM generate_series(1, 1000) AS i)),
	('multiset', (SELECT cuckoo_multiset_agg(i / 5, 10000, 0.001) FROM generate_series(1, 5000) AS i)),
	('added, unknown capacity', cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 5000)))),
	('grown', cuckoo_add_all(cuckoo_new(64, 0.001), ARRAY(SELECT generate_series(1, 1000)))),
	('shrunk', cuckoo_remove_all(cuckoo_add_all(cuckoo_new(64, 0.001), ARRAY(SELECT generate_series(1, 5000))), ARRAY(SELECT generate_series(1, 2500)))),
	('merged', (SELECT cuckoo_union_all_agg(f) FROM (SELECT cuckoo_agg(i, 1000 + i % 3, 0.001) AS f FROM generate_series(1, 2000) AS i GROUP BY i % 3) AS x)),
	('united', (SELECT cuckoo_union_agg(f) FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, 2000) AS i GROUP BY i % 3) AS x))
) AS golden (filter, f);

DROP SCHEMA golden_test CASCADE;
