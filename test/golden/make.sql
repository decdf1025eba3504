-- Makes lines of filters.tsv: psql -XqAt -F $'\t' -f make.sql > filters.tsv
--
-- Filters that were released stay as they are in filters.tsv: add lines for what
-- is new, never make the old ones again.
--
-- A line has a name, a query for the keys that are in, an expression over these
-- that makes the filter, whether it makes the same bytes in every version, and
-- the filter.  The same bytes are promised of what is built from a list of keys
-- and of what combines such filters; where a single key is put when it is added
-- is not part of the format.

CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TYPE pg_temp.golden_mood AS ENUM ('sad', 'fröhlich');
CREATE TEMP TABLE golden (name text, keys text, made text, same boolean, number serial);

INSERT INTO golden VALUES
	('unset', 'SELECT 1 AS k WHERE false', 'cuckoo_agg(k)', true),
	('empty', 'SELECT 1 AS k WHERE false', 'cuckoo_new()', true),
	('empty-plain', 'SELECT 1 AS k WHERE false', 'cuckoo_new(0.01, 500, -77, ''plain'')', true),
	('emptied', 'SELECT 1 AS k WHERE false', 'cuckoo_new(seed => 5) + 1 - 1', true),
	('list', 'SELECT k FROM generate_series(1, 20) AS k', 'cuckoo_agg(k)', true),
	('list-32', 'SELECT k FROM generate_series(1, 32) AS k', 'cuckoo_agg(k, 0.01, 5000)', true),
	('list-copies', 'SELECT k FROM generate_series(1, 10) AS k, generate_series(1, k)', 'cuckoo_add_all(cuckoo_new(seed => 9223372036854775807), array_agg(k))', true),
	('list-300', 'SELECT k FROM generate_series(1, 300) AS k', 'cuckoo_add_all(cuckoo_new(0.1, layout => ''plain''), array_agg(k))', true),
	('list-union', 'SELECT k FROM generate_series(1, 15) AS k', 'cuckoo_agg(k) FILTER (WHERE k < 10) | cuckoo_agg(k) FILTER (WHERE k > 5)', true);

-- Every kind of key, by a list
INSERT INTO golden
	SELECT 'kind-' || kind, 'SELECT unnest(ARRAY[' || keys || ']) AS k',
		CASE WHEN kind IN ('array-integer', 'array-text') THEN 'cuckoo_agg(k)' ELSE 'cuckoo_from_array(array_agg(k), 0.01)' END, true
	FROM (VALUES
		('smallint', '0::smallint, -1::smallint, 32767::smallint'),
		('bigint', '0, -9223372036854775808, 9223372036854775807'),
		('oid', '1::oid, 4294967295::oid'),
		('boolean', 'true, false'),
		('char', '''a''::"char", ''''::"char"'),
		('text', ''''', ''cuckoo'', ''Kuckuck äöü'', ''カッコウ'', repeat(''k'', 300)'),
		('varchar', '''cuckoo''::varchar, ''blank ''::varchar'),
		('bpchar', '''cuckoo''::char(12), ''''::char(3)'),
		('name', '''cuckoo''::name'),
		('bytea', '''\x''::bytea, ''\x00ff''::bytea'),
		('bit', 'B''101'', B''000'''),
		('varbit', 'B''''::varbit, B''1''::varbit, B''0000000001''::varbit'),
		('real', '0.1::real, ''-0''::real, ''NaN''::real, ''-Infinity''::real'),
		('double', '0.1::float8, 1e308::float8, ''NaN''::float8'),
		('numeric', '0::numeric, 1.50, -12345678901234567890.00001, 1e100, ''NaN'', ''Infinity'', ''-Infinity'''),
		('money', '12.34::numeric::money'),
		('uuid', '''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''::uuid'),
		('date', '''2000-01-01''::date, ''1969-07-20''::date, ''infinity''::date'),
		('time', '''00:00''::time, ''24:00''::time'),
		('timetz', '''13:14:15+02''::timetz, ''11:14:15+00''::timetz'),
		('timestamp', '''2013-08-01 12:00''::timestamp, ''-infinity''::timestamp'),
		('timestamptz', '''2013-08-01 12:00+00''::timestamptz, ''infinity''::timestamptz'),
		('interval', '''1 mon''::interval, ''-3 days 04:05:06.789''::interval'),
		('inet', '''192.168.1.5/24''::inet, ''2001:db8::1''::inet'),
		('cidr', '''10.0.0.0/8''::cidr'),
		('macaddr', '''08:00:2b:01:02:03''::macaddr'),
		('macaddr8', '''08:00:2b:01:02:03:04:05''::macaddr8'),
		('pg-lsn', '''0/0''::pg_lsn, ''16/B374D848''::pg_lsn'),
		('xid8', '''0''::xid8, ''18446744073709551615''::xid8'),
		('enum', '''sad''::golden_mood, ''fröhlich''::golden_mood'),
		('jsonb', '''null''::jsonb, ''{"b": 1, "aa": {"x": []}, "a": [false, -2.5e3]}'', ''"ä"'''),
		('range', '''[1,5)''::int4range, ''empty'', ''(,)'''),
		('multirange', '''{[1,5),[7,9)}''::int4multirange, ''{}'''),
		('composite', 'ROW(1, ''x''::text, NULL::integer), ROW(2, ''y''::text, 3)')
	) AS kinds (kind, keys);
INSERT INTO golden VALUES
	('kind-array-integer', 'SELECT k FROM (VALUES (ARRAY[1, NULL, 3]), (''{}''), (''{{1,2},{3,4}}''), (''[-1:0]={7,8}'')) AS v (k)', 'cuckoo_agg(k)', true),
	('kind-array-text', 'SELECT ARRAY[''x'', NULL] AS k', 'cuckoo_agg(k)', true);

-- Tables of all kinds of widths: one word a bucket or two, in the middle of a
-- byte or not
INSERT INTO golden
	SELECT 'table-' || bits, 'SELECT k FROM generate_series(1, 60) AS k', format('cuckoo_agg(k, %s)', fpr), true
	FROM (SELECT bits, greatest(7.85 / (2 ^ bits - 1), 2e-9) AS fpr FROM unnest(ARRAY[7, 8, 13, 16, 17, 18, 24, 31, 32]) AS bits) AS x;
INSERT INTO golden
	SELECT 'plain-' || bits, 'SELECT k FROM generate_series(1, 60) AS k',
		format('cuckoo_add_all(cuckoo_new(%s, 60, %s, ''plain''), array_agg(k))', fpr, bits), false
	FROM (SELECT bits, greatest(7.85 / (2 ^ bits - 1), 2e-9) AS fpr FROM unnest(ARRAY[7, 8, 13, 16, 17, 18, 24, 31, 32]) AS bits) AS x;
INSERT INTO golden VALUES
	('table-text', 'SELECT ''key '' || k AS k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k)', true),
	('table-capacity', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_agg(k, 0.01, 400)', true),
	('table-seed', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_add_all(cuckoo_new(0.01, 100, -1), array_agg(k))', false),
	('table-copies', 'SELECT k FROM generate_series(1, 12) AS k, generate_series(1, k)', 'cuckoo_add_all(cuckoo_new(0.01, 200), array_agg(k))', false),
	('table-removed', 'SELECT k FROM generate_series(1, 200) AS k WHERE k % 3 > 0', 'cuckoo_remove_all(cuckoo_agg(k), array_agg(k) FILTER (WHERE k % 3 = 0))', false),
	('table-add-new', 'SELECT k FROM generate_series(1, 101) AS k', 'cuckoo_add_new(cuckoo_agg(k) FILTER (WHERE k < 101), 101)', false),
	('table-stream', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_stream_agg(k, 0.01, 100)', false),
	('table-multiset', 'SELECT k FROM generate_series(1, 50) AS k, generate_series(1, 2)', 'cuckoo_multiset_agg(k, 0.01, 200)', false),
	('union', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 0.01, 200) FILTER (WHERE k <= 120) | cuckoo_agg(k, 0.01, 200) FILTER (WHERE k > 80)', true),
	('merge', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 0.01, 200) FILTER (WHERE k <= 120) || cuckoo_agg(k, 0.01, 200) FILTER (WHERE k > 120)', true),
	('union-apart', 'SELECT k FROM generate_series(1, 150) AS k', 'cuckoo_agg(k, 0.01) FILTER (WHERE k <= 100) | cuckoo_agg(k, 0.001) FILTER (WHERE k > 100)', true),
	('grown-2', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_add_all(cuckoo_new(0.1, 33), array_agg(k))', false),
	('grown-3', 'SELECT k FROM generate_series(1, 900) AS k', 'cuckoo_add_all(cuckoo_new(0.1, 33, 7, ''plain''), array_agg(k))', false),
	('grown-unstated', 'SELECT k FROM generate_series(1, 1100) AS k', 'cuckoo_add_all(cuckoo_new(0.1), array_agg(k))', false),
	('stash', 'SELECT k FROM generate_series(1, 30) AS k, generate_series(1, 8)', 'cuckoo_multiset_agg(k, 0.001, 1000)', false),
	('stash-plain', 'SELECT k FROM generate_series(1, 50) AS k, generate_series(1, 20)', 'cuckoo_add_all(cuckoo_new(0.00001, 2000, 9, ''plain''), array_agg(k))', false),
	('stash-equal', 'SELECT k FROM generate_series(1, 40) AS k, generate_series(1, 8 - k % 2) UNION ALL SELECT generate_series(1001, 1100)', 'cuckoo_multiset_agg(k, 0.001, 1000)', false),
	('stash-merged', 'SELECT k FROM generate_series(1, 40) AS k, generate_series(1, 12)', 'cuckoo_multiset_agg(k, 0.001, 1000) FILTER (WHERE k < 30) || cuckoo_multiset_agg(k, 0.001, 1000) FILTER (WHERE k > 10)', false),
	-- Of several blocks, as they are large when built: made by test/format/compare.py.
	('blocks', 'SELECT k FROM generate_series(1, 110) AS k', '''AQEBAAABAAB7FK5H4XqEPwAAAAAAAAAAYwAAAAAAAABuAAAAAAAAAAMAAAASAAsAbgAAAAAAAAAuA4jTkIUH+ANylAcAeA2eAkCGYmeXMWQUaQUAROxVBQAACnzDrNm2HQcAyPtKAQAAIPQLAAAaHAioG21bM9XIQmgC8OfBRgAAAGDSAACcon8O8JTdggEAyNELHnrFJgAAAAAAAAAAAACdk6RqwcsCAACEFwwAAHGBtaYjaFKr5zvjTAkAAFJ+AAAA9FUFAAAc0AwAbHBQAAAgrZMAyKF8fgAAAP5cJu+SqO0DAFzaAAAAAAABuXIyrW8JACy2AAAAAACiDQDX9gAAAAAAAQAA5JQPAAAAlPV1OuAYNwawlmwAAAAAAKsOCAHfWAPwowIFAAAASgAAAAAAAAAAAACfDgCGdgAAAAAASgEAALIAAAAAAAAAAA==''::cuckoofilter', true),
	('blocks-plain', 'SELECT k FROM generate_series(1, 110) AS k', '''AQEBAAECAAB7FK5H4XqEPwAAAAAAAAAAYwAAAAAAAABuAAAAAAAAAAIAAAAQAA4ANwAAAAAAAAAFAAAABAAJADcAAAAAAAAAAAAAAACsbQAAAAAAAACxzCAJYU63AMBLs47hcQAAABCPO/wAAAAAAMT+AEDIgM4ptQAAAAAALDdfh9pzrK/7AMDT+C5P+QAAANBtO+QAwFlhjNVxAAAAkG+crAAAAAAAQMEAAABQDKlgAAAAAAAIuwAAAAAAZMEAQPCgZXCsAMB+F/Ph9wAAAMB/X+gAAAAAAAAAAAAAAAAscgDAM9Clsa0AAAAAAOScAIAqFDohlAAAAAAAMEsAAAAAAEQuAAAAAAAAAAAAAPBYiWsAAAAAANAnAAAAAAAAAAAAAAAAAAAcRuotLqBImZAXqmnbDgCAEGmHlDUVzMnobvOFfolODgAAAKkARARUiGona/UAAABIDwBAqJCTpibv7wLgzLcAAAAAAEAcuZQAAADYVkkUwfwAAAAAAAAAIrMAAAAAAAAAAA==''::cuckoofilter', true);

CREATE FUNCTION pg_temp.make(keys text, made text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	-- One row, also where there are no keys or nothing aggregates them
	EXECUTE format('WITH keys AS (%s) SELECT %s, count(*) FROM keys', keys, made) INTO f;
	RETURN f;
END
$$;

\echo 'name	keys	made	same	filter'
SELECT name, keys, CASE WHEN name LIKE 'blocks%' THEN '' ELSE made END, same AND name NOT LIKE 'blocks%', pg_temp.make(keys, made)
FROM golden ORDER BY number;
