-- Makes lines of filters.tsv: psql -XqAt -F $'\t' -f make.sql > filters.tsv
--
-- Filters that were released stay as they are in filters.tsv: add lines for what
-- is new, never make the old ones again.
--
-- A line has a name, a query for the keys that are in, an expression over these
-- that makes the filter, whether it makes the same bytes in every version, and
-- the filter.  The same bytes are promised of what is built from keys or combined
-- at once, and of every sparse table; where a dense table puts a single key that
-- is added is not part of the format.

BEGIN;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TYPE pg_temp.golden_mood AS ENUM ('sad', 'fröhlich');
CREATE AGGREGATE state_of(anycompatible, float8, float8, bigint) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE TEMP TABLE golden (name text, keys text, made text, same boolean, number serial);

INSERT INTO golden VALUES
	('unset', 'SELECT 1 AS k WHERE false', 'cuckoo_agg(k)', true),
	('partial', 'SELECT k FROM generate_series(1, 20) AS k', 'state_of(k, 0.01, 500, -77)', true),
	('empty', 'SELECT 1 AS k WHERE false', 'cuckoo_new()', true),
	('empty-parameters', 'SELECT 1 AS k WHERE false', 'cuckoo_new(0.01, 500, -77)', true),
	('emptied', 'SELECT 1 AS k WHERE false', 'cuckoo_new(seed => 5) + 1 - 1', true),
	('one', 'SELECT 1 AS k', 'cuckoo_new() + min(k)', true),
	('few', 'SELECT k FROM generate_series(1, 20) AS k', 'cuckoo_agg(k)', true),
	('few-capacity', 'SELECT k FROM generate_series(1, 32) AS k', 'cuckoo_agg(k, 0.01, 5000)', true),
	('few-copies', 'SELECT k FROM generate_series(1, 10) AS k, generate_series(1, k)', 'cuckoo_add_all(cuckoo_new(seed => 9223372036854775807), array_agg(k))', true),
	('few-300', 'SELECT k FROM generate_series(1, 300) AS k', 'cuckoo_add_all(cuckoo_new(0.1), array_agg(k))', true),
	('few-union', 'SELECT k FROM generate_series(1, 15) AS k', 'cuckoo_agg(k) FILTER (WHERE k < 10) | cuckoo_agg(k) FILTER (WHERE k > 5)', true);

-- Every key type
INSERT INTO golden
	SELECT 'key-' || type, 'SELECT unnest(ARRAY[' || keys || ']) AS k',
		'cuckoo_from_array(array_agg(k), 0.01)', true
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
	) AS types (type, keys);
INSERT INTO golden VALUES
	('key-array-integer', 'SELECT k FROM (VALUES (ARRAY[1, NULL, 3]), (''{}''), (''{{1,2},{3,4}}''), (''[-1:0]={7,8}'')) AS v (k)', 'cuckoo_agg(k)', true),
	('key-array-text', 'SELECT ARRAY[''x'', NULL] AS k', 'cuckoo_agg(k)', true),
	-- Signatures of types inside types
	('key-array-range', 'SELECT k FROM (VALUES (ARRAY[''[1,5)''::int4range]), (''{}''), (''{empty,NULL}'')) AS v (k)', 'cuckoo_agg(k)', true),
	('key-array-multirange', 'SELECT ARRAY[''{[1,5),[7,9)}''::nummultirange] AS k', 'cuckoo_agg(k)', true),
	('key-array-row', 'SELECT ARRAY[ROW(1, ''x''::text)] AS k', 'cuckoo_agg(k)', true),
	('key-row-array', 'SELECT ROW(ARRAY[''2000-01-01''::date], 5.0) AS k', 'cuckoo_agg(k)', true),
	('key-row-row', 'SELECT ROW(1, ROW(''x''::text, ROW(true, ''sad''::golden_mood))) AS k', 'cuckoo_agg(k)', true),
	('key-row-range', 'SELECT k FROM (VALUES (ROW(''[1.0,2)''::numrange, ''{(,)}''::datemultirange)), (ROW(''empty''::numrange, NULL::datemultirange))) AS v (k)', 'cuckoo_agg(k)', true);

-- Tables of all widths: low parts and buckets in one word or two, in the middle
-- of a byte or not
INSERT INTO golden
	SELECT name || bits, 'SELECT k FROM generate_series(1, 60) AS k', format('cuckoo_agg(k, %s, %s)', fpr, capacity), true
	FROM (SELECT bits, greatest(7.75 / (2 ^ bits - 1), 2e-8) AS fpr FROM unnest(ARRAY[7, 8, 13, 16, 17, 18, 24, 29]) AS bits) AS x,
		(VALUES ('dense-', 50), ('sparse-', 200)) AS v (name, capacity);
INSERT INTO golden VALUES
	('counted', 'SELECT ''key '' || k AS k FROM generate_series(1, 1025) AS k', 'cuckoo_agg(k)', true),
	('capacity', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_agg(k, 0.01, 400)', true),
	('seed', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_add_all(cuckoo_new(0.01, 100, -1), array_agg(k))', false),
	('copies', 'SELECT k FROM generate_series(1, 12) AS k, generate_series(1, k)', 'cuckoo_add_all(cuckoo_new(0.01, 200), array_agg(k))', true),
	('dense-copies', 'SELECT k FROM generate_series(1, 100) AS k, generate_series(1, 1 + k % 3)', 'cuckoo_add_all(cuckoo_new(0.01, 220), array_agg(k))', false),
	('sparse-copies', 'SELECT k FROM generate_series(1, 30) AS k, generate_series(1, 8 - k % 2)', 'cuckoo_multiset_agg(k, 0.001, 230)', true),
	('removed', 'SELECT k FROM generate_series(1, 200) AS k WHERE k % 5 > 0', 'cuckoo_remove_all(cuckoo_from_array(ARRAY(SELECT generate_series(1, 200)), 0.001, 200), ARRAY(SELECT generate_series(5, 200, 5)))', false),
	('removed-sparse', 'SELECT k FROM generate_series(1, 200) AS k WHERE k % 3 = 0', 'cuckoo_remove_all(cuckoo_from_array(ARRAY(SELECT generate_series(1, 200)), 0.001, 200), ARRAY(SELECT k FROM generate_series(1, 200) AS k WHERE k % 3 > 0))', true),
	('add-new', 'SELECT k FROM generate_series(1, 101) AS k', 'cuckoo_add_new(cuckoo_agg(k) FILTER (WHERE k < 101), 101)', true),
	('stream', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_stream_agg(k, 0.01, 100)', false),
	('multiset', 'SELECT k FROM generate_series(1, 50) AS k, generate_series(1, 2)', 'cuckoo_multiset_agg(k, 0.01, 100)', false),
	('union', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 0.01, 200) FILTER (WHERE k <= 120) | cuckoo_agg(k, 0.01, 200) FILTER (WHERE k > 80)', true),
	('merge', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 0.01, 200) FILTER (WHERE k <= 120) || cuckoo_agg(k, 0.01, 200) FILTER (WHERE k > 120)', true),
	('merge-past-capacity', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 0.01, 50) FILTER (WHERE k <= 50) || cuckoo_from_array(ARRAY(SELECT generate_series(51, 90)), 0.01, 50) || cuckoo_from_array(ARRAY(SELECT generate_series(91, 130)), 0.01, 50) || cuckoo_from_array(ARRAY(SELECT generate_series(131, 170)), 0.01, 50) || cuckoo_from_array(ARRAY(SELECT generate_series(171, 200)), 0.01, 50)', true),
	('union-apart', 'SELECT k FROM generate_series(1, 150) AS k', 'cuckoo_agg(k, 0.01) FILTER (WHERE k <= 100) | cuckoo_agg(k, 0.001, 45) FILTER (WHERE k > 100)', true),
	('mixed', 'SELECT k FROM generate_series(1, 110) AS k', 'cuckoo_agg(k, 0.01, 100) FILTER (WHERE k <= 100) || cuckoo_agg(k, 0.001, 45) FILTER (WHERE k > 100)', true),
	('grown-2', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_add_all(cuckoo_new(0.1, 33), array_agg(k))', false),
	('grown-3', 'SELECT k FROM generate_series(1, 1000) AS k', 'cuckoo_add_all(cuckoo_new(0.1, 1, 7), array_agg(k))', false),
	('grown-lowest', 'SELECT k FROM generate_series(1, 900) AS k', 'cuckoo_add_all(cuckoo_new(2e-8, 1), array_agg(k))', false),
	('unknown-capacity', 'SELECT k FROM generate_series(1, 1100) AS k', 'cuckoo_add_all(cuckoo_new(0.1), array_agg(k))', true),
	-- Of widths and blocks that SQL makes only of very many keys, or not at all: by
	-- CuckooMakeFilter from these shapes
	('sparse-5', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAACamZmZmZm5PwAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAoAAUAAAAAACgAAAAnFjejrgxqtXhVo85DKuOWY+7a718cEFPO71Toje8AAAAAAAAAAA==''', false),
	('dense-5', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAACamZmZmZm5PwAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAMAAUBRgd69LAd9IuDdfv03Yf4x7IHajgInQjMAAAAAAAAAAA=''', false),
	('sparse-6', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAACamZmZmZm5PwAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAoAAYAAAAAACgAAAAnFjejrgxqtXhVZXJ8EC2FM1kY51T/7RMWQJi1sd9Jva7j7wAAAAAAAAAA''', false),
	('dense-6', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAACamZmZmZm5PwAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAMAAYBhwPEw/6UbGUA8L1kytL++Ufz3ehfTqAUgBtSpQL8AAAAAAAAAAA=''', false),
	('sparse-30', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAAA6jDDijnlVPgAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAoAB4AAAAAACgAAAAnFjejrgxqtXhVc5MtZN9PYha04/Cpz9Ur+Whw/rwRkaUw5aRljyUhII8FNzyBF5EGsCsIGDlBUkgi+bFWzmYOJ0Fn4eWeDjSANFD/crX+3AeEDTxz5E1P9hLtzSOGdh4Qy59+oCgUM3yDbhb6bn9VscGv0cpUsCIlkV8ZM9eljMpoUcRLBch3vm0zzv7sx6Vtss9i9My1H0ht6wAAAAAAAAAA''', false),
	('dense-30', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAAA6jDDijnlVPgAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAMAB4BpL6/uMVYNGn2DRSQ3h2iFAAAAAAAAJA9HNNFbsi1eVYR2Og7Xzv87OmF5uhIAAAAAAAAMAK0rMhq2iqRrndYWN6kjdcgGrnJSiNf9yhjNDqNbhjoCu/9ngIAAIBe0ejxG8f48D3kwMniKmdb3r/RdGVeOdJHEH17znDLZv+SNeTYUbOD3FG045/ODyaCYdGvoW00KqPSiL1SxdVgt4c4VgAAAAAAAAAAAABAE2bDAAAAAAAAAAA=''', false),
	('sparse-31', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAAA6jDDijnlVPgAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAoAB8AAAAAACgAAAAnFjejrgxqtXhV5SZbyH0/ibmgHYef+ly9JB8Nzj9vRNRSmHKiZY8lQkAeC9zwBJ6INIC9goCRJkgKSUh+rDVnM4cnQWfhyz0d6ADSQP2Xq/XHfUDYgWeOPNOTvZT25hGDdh4Qlz/9gKJQzNAbdLOg7/ZXKjb4dbQyFVyRkshbGTPXSxmVUUURLyVAvvPZNuPsnf24NJvsszh65tofSG3rAAAAAAAAAAA=''', false),
	('dense-31', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAAA6jDDijnlVPgAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAMAB8BJmt/cQtj0aQlvTukfQMFiCBZXOXF1WBf4b2/yGrar+2sIjCj73zVC83RDj97AQAAAAAAAAAAAADgRW7IxC1d7zBheZMycpNV4zWIbQEAAAAAAABowmwYRqPT+gEAAIDxG8f04XuIXtHoNIM7inZf9yjbaLpy0a+hyu5fsgY5dtSEvj2ncMtmkAUAAAD4p/PLtrwfumGgLCF7OCajMioZsVdqe4hjdQkAAIAjQMsGE8FwXjnSAAAAAAAAAAA=''', false),
	('sparse-32', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAAA6jDDijnlVPgAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAoACAAAAAAACgAAAAnFjejrgxqtXhVyU22kPb9JGYF7Ti8qc/Vm+SjwfHPGxFlKUw5o2WPJYWAPJZwwxN4RKQBrCsIGMkESSEJkh9rnbOZwyNBZ+GXezrQA0gD9b9crV/cB4Q98MyRz/RkL01784h/dh4QLn/6gYlCMYPeoJsl+m5/NcUGvx6tTAWvSEnkWRkz15YyKqMVRbwUAfKdr20zzq6zH5fOJvssFj1z7R9IbesAAAAAAAAAAA==''', false),
	('dense-32', 'SELECT k FROM generate_series(1, 40) AS k', '''AQABAAAAAAA6jDDijnlVPgAAAAAAAAAAAAAAAAAAAAABAAAAAQAAACgAAAAMACABZcb+4haT3h3CWDRp2zdQoHNwR9F+0a+h4J/Of1450rnHWUVgjb7ztV5oju3ws7fUXuSGTBNmw4KJYMhG05WLSrreYYTlTZqRm6w1XoPIcQAAAAAAAAAAAACgyGraSwAAAADGbxyTXtHo+vA9pFoAAABgcTXYrvDez9c9yoDLv2QN5dhRM/TtOQu3bBZ8JIurHEaj06EbBkq25f0oS/ZwTIzKqGR7iGOM2CvlBwAAAAAAAAAAAADgCNCyAAAAAAAAAAA=''', false),
	('blocks', 'SELECT k FROM generate_series(1, 190) AS k', '''AQABAAAAAAB7FK5H4XqEPwAAAAAAAAAAAAAAAAAAAAABAAAAAwAAAL4AAAASAAsB4bWgzBgHDcAphYmmENhkQ3GcrIQWCjoZWEMEYOLYx7S5gUwPAAAAenEwElEs9AIQVxfpPK4IDkoBAADuQ2XBGEgjAAAAdnRXiwA8kwUYx4mClamdQjuLNd+WR8KDQCNaAICBx5wJgHQUBf9Cg/ldKjvkFs3NxcPlOyQjSABc7hqdwaa2k75ams19ifvquSI4JOoAROb1McSKOJ6FnRxfUYzrYguGRwRI5bAJOYI0lhwHAAAUzuFpfO/pAwAAzl5yWvYSVQdgC1Yi2iDQMCNglvfPAIgc3VIFAGDnw6ha+UlToOERWU0MiNOpPipHnfP/smwLtj/pSDw70ZwtBINgjqfH1iGDCyVKegUAAADWAAAAAAAAAAA=''', false),
	('blocks-mixed', 'SELECT k FROM generate_series(1, 150) AS k', '''AQABAAAAAAB7FK5H4XqEPwAAAAAAAAAABQAAAAAAAAACAAAAAgAAADwAAAAQAA4AAwAAAFoAAAAOAAoBAAAAADwAAACmd2K70gIVVytVTGk00nQzgFQ+SImAp+QO+M1yorf8uWfAHOfxMD82vCFM6YAs2lEC1TkCF+xlu0Igmvmb7t6RW0kKWzDkjIolF1nbE8Yl7K5TSgCp80yDFVrKo0pbLeebgvxxRJF5WWMHvLi8quMHAADI4LhsZ2wEAACA2yhAEFNVAADQ9AsAhioNAAAwtQkYYTcIgN75yQ7MF28bUorlf4ZdFfQAAAC8OjbTSg4AAAAA8wMAu8BxAAC8RgAAQAEAAAAA0gAAwAoAAAAAjnFRcAcAAAAAfALA0gUAAAAAZE4SXQUAAAAA9VRK/5w+AAA4Z7QNgzoCAACcmsV1xlAC8f//9sOaRwcAAADIowSoHZ0+AAComDiOMBYAAADc0gAAgDQCAACUAAAAAAAAAAA=''', false);

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
SELECT name, keys, CASE WHEN made LIKE '''%' THEN '' ELSE made END, same, pg_temp.make(keys, made)
FROM golden ORDER BY number;
ROLLBACK;
