-- Makes lines of filters.tsv: psql -XqAt -F $'\t' -f make.sql > filters.tsv
--
-- Filters that were released must stay in filters.tsv as they are.  Add lines
-- for new filters, but never make the old ones again.
--
-- A line has the name of a filter, a query for its keys, an expression over
-- these keys that makes the filter, whether every version makes the same bytes
-- from it, and the filter.  The same bytes are expected of a filter that is
-- built from all its keys at once, and of one that combines such filters: a
-- later release may choose other sizes, but not without a test that notices
-- it.  They are not expected if keys are added one by one, because the format
-- does not say where such a key is stored.

BEGIN;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TYPE pg_temp.golden_mood AS ENUM ('sad', 'fröhlich');
-- The state of cuckoo_agg, as one server sends it to another
CREATE AGGREGATE state_of(anycompatible, float8, float8, bigint) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE TEMP TABLE golden (name text, keys text, made text, same boolean, number serial);

INSERT INTO golden VALUES
	('unset', 'SELECT 1 AS k WHERE false', 'cuckoo_agg(k)', true),
	('empty', 'SELECT 1 AS k WHERE false', 'cuckoo_new()', true),
	('empty-capacity', 'SELECT 1 AS k WHERE false', 'cuckoo_new(500, 0.01, -77)', true),
	('emptied', 'SELECT 1 AS k WHERE false', 'cuckoo_new(seed => 5) + 1 - 1', true),
	('one', 'SELECT 42 AS k', 'cuckoo_agg(k, 1, 0.001)', true),
	('unknown', 'SELECT k FROM generate_series(1, 20) AS k', 'cuckoo_agg(k)', true),
	('unknown-copies', 'SELECT k FROM generate_series(1, 10) AS k, generate_series(1, k)', 'cuckoo_add_all(cuckoo_new(seed => 9223372036854775807), array_agg(k))', false),
	('unknown-300', 'SELECT k FROM generate_series(1, 300) AS k', 'cuckoo_add_all(cuckoo_new(NULL, 0.1), array_agg(k))', false),
	('unknown-union', 'SELECT k FROM generate_series(1, 15) AS k', 'cuckoo_agg(k) FILTER (WHERE k < 10) | cuckoo_agg(k) FILTER (WHERE k > 5)', true),
	('counted', 'SELECT k FROM generate_series(1, 1025) AS k', 'cuckoo_agg(k, NULL, 0.1)', true);

-- Every key type
INSERT INTO golden
	SELECT 'type-' || type, 'SELECT unnest(ARRAY[' || keys || ']) AS k',
		'cuckoo_from_array(array_agg(k), NULL, 0.01)', true
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
	('type-array-integer', 'SELECT k FROM (VALUES (ARRAY[1, NULL, 3]), (''{}''), (''{{1,2},{3,4}}''), (''[-1:0]={7,8}'')) AS v (k)', 'cuckoo_agg(k)', true),
	('type-array-text', 'SELECT ARRAY[''x'', NULL] AS k', 'cuckoo_agg(k)', true),
	('type-array-range', 'SELECT ARRAY[''[1,5)'', ''empty'']::numrange[] AS k', 'cuckoo_agg(k)', true),
	('type-array-record', 'SELECT ARRAY[ROW(1, ''x''::text), ROW(2, NULL::text)] AS k', 'cuckoo_agg(k)', true),
	('type-composite-nested', 'SELECT ROW(1.50, ARRAY[true], ROW(''x''::text)) AS k', 'cuckoo_agg(k)', true);

-- Every fingerprint size that a target rate can require, in both
-- representations
INSERT INTO golden
	SELECT format('%s-%s', representation, bits), 'SELECT k FROM generate_series(1, 60) AS k', format('cuckoo_agg(k, %s, %s)', fpr, capacity), true
	FROM (VALUES ('dense', 60), ('sparse', 600)) AS x (representation, capacity), generate_series(7, 29) AS bits,
		LATERAL (SELECT greatest(7.73 / (2 ^ bits - 1), 2e-8) AS fpr) AS y
	ORDER BY bits, capacity;
INSERT INTO golden VALUES
	('dense-text', 'SELECT ''key '' || k AS k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 200, 0.001)', true),
	('dense-seed', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_add_all(cuckoo_new(100, 0.01, -1), array_agg(k))', false),
	('dense-copies', 'SELECT k FROM generate_series(1, 60) AS k, generate_series(1, 1 + k % 3)', 'cuckoo_add_all(cuckoo_new(120, 0.01), array_agg(k))', false),
	('dense-removed', 'SELECT k FROM generate_series(1, 200) AS k WHERE k % 3 > 0', '(SELECT cuckoo_remove_all(cuckoo_agg(i, 200, 0.001), array_agg(i) FILTER (WHERE i % 3 = 0)) FROM generate_series(1, 200) AS i)', false),
	('sparse-removed', 'SELECT k FROM generate_series(1, 200) AS k WHERE k % 3 = 0', '(SELECT cuckoo_remove_all(cuckoo_agg(i, 200, 0.001), array_agg(i) FILTER (WHERE i % 3 > 0)) FROM generate_series(1, 200) AS i)', false),
	('sparse-capacity', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_agg(k, 10000000, 0.01)', true),
	('sparse-copies', 'SELECT k FROM generate_series(1, 50) AS k, generate_series(1, 20)', 'cuckoo_add_all(cuckoo_new(2000, 0.00001, 9), array_agg(k))', false),
	('sparse-crowded', 'SELECT k FROM generate_series(1, 12) AS k, generate_series(1, k)', 'cuckoo_add_all(cuckoo_new(60, 0.01), array_agg(k))', false),
	('stream', 'SELECT k FROM generate_series(1, 100) AS k', 'cuckoo_stream_agg(k, 100, 0.01)', false),
	('multiset', 'SELECT k FROM generate_series(1, 50) AS k, generate_series(1, 2)', 'cuckoo_multiset_agg(k, 200, 0.01)', false),
	('union', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_agg(k, 200, 0.01) FILTER (WHERE k <= 120) | cuckoo_agg(k, 200, 0.01) FILTER (WHERE k > 80)', true),
	('union-all', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_union_all(cuckoo_agg(k, 200, 0.01) FILTER (WHERE k <= 120), cuckoo_agg(k, 200, 0.01) FILTER (WHERE k > 120))', true),
	('union-apart', 'SELECT k FROM generate_series(1, 150) AS k', 'cuckoo_agg(k, 100, 0.01) FILTER (WHERE k <= 100) | cuckoo_agg(k, 100, 0.001) FILTER (WHERE k > 100)', true),
	('past-capacity', 'SELECT k FROM generate_series(1, 300) AS k', 'cuckoo_union_all(cuckoo_union_all(cuckoo_agg(k, 100, 0.01) FILTER (WHERE k <= 100), cuckoo_agg(k, 100, 0.01) FILTER (WHERE k BETWEEN 101 AND 200)), cuckoo_agg(k, 100, 0.01) FILTER (WHERE k > 200))', true),
	('multiset-united', 'SELECT k FROM generate_series(1, 40) AS k, generate_series(1, 12)', 'cuckoo_union_all(cuckoo_multiset_agg(k, 1000, 0.001) FILTER (WHERE k < 30), cuckoo_multiset_agg(k, 1000, 0.001) FILTER (WHERE k > 10))', false),
	('grown-2', 'SELECT k FROM generate_series(1, 200) AS k', 'cuckoo_add_all(cuckoo_new(33, 0.1), array_agg(k))', false),
	('grown-3', 'SELECT k FROM generate_series(1, 1400) AS k', 'cuckoo_add_all(cuckoo_new(1, 0.1, 7), array_agg(k))', false),
	-- Tables of several blocks, which PostgreSQL builds only for many keys,
	-- and of fingerprint sizes that no target rate requires.
	-- Functions beside PostgreSQL wrote them, by docs/format.md.
	('written-dense-5', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAAUB3ckwgQcFWkBQ5EqACQMKwWANcMMjgFlFKEoKgV7h6YMzY3bGuQDzw06BYIkRwFUFKMqRgX+AnI4AAKcDUIBVBYvCCIzuQl4BDAQMBEwJVQVGgHiFWUUBgPMDAYBgyYIAAoA9hPHJX0XBxxyHAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-5', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAAUAAAAAABcmOUdVZW5ux7WZ2zL6iLn5onpt1mhF1uLiP9ZmBR7bfIjWUsVetC2EzNZzU5AQ0iGn/mo9pUqAQ3y1G021qazWnoy2qONcGcMgTB2nAAAAAAAAAAA=''::cuckoofilter', false),
	('written-dense-6', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAAYBoMmgEMx1TcrGgE3DWC4AeAURCmDBBwXWgNIASHngNIXJxrABANgafCmYeHU86AYwDcAjAMOUwPuAEnzAN8BdVcDqA6jWBAAAAJpQywLoBwD+y/OW4N8CKRxADATBccDpAwQ3EMsCiAiwboGGogChAAQ38BICeQIg3wDmB8CICAwAAA8AnD7AAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-6', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAAYAAAAAABcmOUdVZW5ux7WZ27JjB2k04x8sfTrjMrQia3Fl/5325lbgwzYforVICbMHmZkg7qZu56YgwSdyoI5cN62eUiUeC4addMtyqTaV1XQdM6pMSCutK2MYyI3y9CgAAAAAAAAAAA==''::cuckoofilter', false),
	('written-dense-11', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAAsBtgBwYDZ/AABIw8IK8DpU9AsAANpdk3xM3QUAAMDRDQNILdggB9BPVNwAAOhiAAAAAAAPAAAAnhwCABsI1gCwrm0/DXh5sf0DAECDlAIAYLxujJpKtNANIF+8DQS4YC6eAQB48vMBAIAPAAAAAPpvDVAW3YIBAAeUcwYAPM7zAQCgdu0DAFwhEwAAeMIAAAAAABwHADgc9QAAVBWOBACg9F4BAJj5NgxwwQJ4BQBMTxwHAAAKywIAzFUAAAAAAAEAAABsBQAAANiECQDcqdIAAAD2jAOICZP0CwBMyu8BACiGfgAAACjvAQBIVQIAALBg5QwQtIoAAAAAAFYJAGD0VgkAcJj9AwCY6ZIAABwmAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-11', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAAsAAAAAABcmOUdVZW5ux7WZ2zJwhm1bMAKaXStXj8knsVcJ53tB6mz1paQMoBVZi+vi6PTf5slMfDYkWFkbCK4nsM2HaK0yKAPli/m6S7u4ewvnEWABHDkupd7t3BQk+84LSpQbAJ/VHxbKhX6qavWUKiHeIKoJZDAj51PTqCpnMMNSbSqrObU7PODFFJpABctBB2YqkMJuV8YwMKHti83BX1yTWQoAAAAAAAAAAA==''::cuckoofilter', false),
	('written-dense-18', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASABIBOOTa+Buu8EA/PwAAAAACQ9ATAACoVWtVH0t1AAAAoHw51jj8ekjdwmkpKQgAAACg9BoJ9QAAAADpiyi1gwCA1wGZZL1wAwAAALjYRqcQAEASEyPvvQEAAAAAAMDlOTQAAACwwvS1dAYAEKw620Fa4gAAbGFA6dv1AAAAACCoNoirAAAAIIA/2YsAADCmPsnJYAQAAAAAAJC8LAwAmB0iTPVilQAAADDzPFBgDQAAAMWDA5xnAEDejQocLsUNAHSLKqXHhQgAAACA3BGVjgQAAADe81ZfAAAAAAAAFPolDgBgIfdA42qVAAAAAAA3PAAAAAAAAAAAUAAAAABQRFnCbwkAAAA1xanqLgAAAADMy2BnAgAAACAzkV9VAAAAAABQH5IAAAAA4tNqOjQAAAAgLvQbGA0A/OVLFYwiDQAAAAAAYOnLAgAAAAAAwjYCAAAAAAAUh4IBAAAAbirtnlUAAABQVLkmlAQAKIUH2DQJlgAAAPBg62KCAQAAAAkWPwEfAAAAoJdYODoIABCkn8NtXwAAAAAAAFQwYwkApAT7YrQFAAAAAAAAwJlqCgAAAP0yXA8AAAAAAAAAACMAAAAAAADIDAAAAAAAAAAAAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-18', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASABIAAAAAABcmOUdVZW5ux7WZ2zLzN1xhcW1zBYuRHejwOlArWavp4yJ5MxJ5vS8lE87b+4UgkrqArUrfEyV/MhZAK7IWV+KibrQo/etbXN5CJiTx6iwfZBBsO9ZpQ4FgZ/2AwDYforXsZMYn3YBM+YQxta9RXMDs+HC/ek2EuXjeARYVtN/e46hbWqUm73ZuChKmvpl5fyAookHuAYD0nt1qv4fAwm9cKfSqKT/V6ilVwhteZdCISiwBQaaAOYmcxMdW82F0lwrgbP5SEZZqU1nN3BRpNy08D9B1cZRipwn5yRKMimM/J/RSigoIkh6sb7syhoGkhEcb7Qu7plTw9ovDNYHMYSkAAAAAAAAAAA==''::cuckoofilter', false),
	('written-dense-30', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAB4BN2Vg/saMxciEt8LEmSs8GwAAAHjWyeBawimm+CQhBAAAAAAAAPSxVnkUydsCAAAAAAAAkFLpiwaoVYw0SVK3XbweN7f3kn0pqQUAAAAAAACgXcrXUDvW8wEAAAAAAAB4JkrdAmxxiQAAAEhz1juwA/3hQtAvCAAAgIBudMuh9H4iLtY/AAAAAAAAYDp9LAofpCMAAAAAAAAAAAAAfMXlCQAAAAAAAAAAAAAA14DAuw0AAAAAAABLCplQrM42CAAAAIgGwXocrk0KeB1hBAAAAAAAAOCmDf4SCJofAAAAAAAAcL8COKo/2YwHAAAAXBtQpMKYlmdfOwUAAAAMPhKjXUZCxOvbEAkAAMDHVy+sX3ZslwiDqwAAAAAAAIB64kLMAMAxBgAAAAAAAB7vAJNs8QCaAAAAAAAA0FHAPHlYwgEAAACA/HSLmqxSJr3HZZUAAAAAAACgMnm31B4uwgEAAAAAAADH6T3v7lY/ZwAAAAAAAGAvyB1UEvkZCwAAwI0U+vPeuH71PRAAAAAAAAAAAAAAwAAUUQAAAAAAAAAAAAAAAAAAUFUAAAAAAAAAAACA1FIf+AsAAAAAAACeVFNI96m6LAAAAAAAAAAAAABjP1B/DgAAQHg3PJUpg6EgyGyVAAAAAAAAUJ/9xrDMPCwMAAAAAAAA+bWa+o74dMEAAABcAxaCo6jAZRGVWQUAAAAAAAA1DqMs61KVPgAAAAAAAAAAAMDU9svSAAAAAAAAAAAAAFwmwvYeAAAAAAAAAAAAgBcVhxAAAAAAAAAAreWmAiDt/h4AAAAAAAAAAACAR9/27gIAAAAAAAAfO02auC7WcQAAAAAAABDc0RaUfg4jAAAAAAAAAG+VYIUdP2EEAAAAAAAAAAAAQOq/mcQJAAAAAAAABlJUoQFBSgIAAAAAAADgDHqJQlo4VAEAAAAAAACWkRJA0L4IAAAAAAAAAAAAAMAzPdj+CwAAAAAAANUO1z9HBXMEAAAAAAAAEJQHGMkohW0BAAAAAAAAZoelgxDIjKIAAAAAAAAgNn+58bomAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-30', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAB4AAAAAABcmOUdVZW5ux7WZ27IxMH9bwlthOQ7X3jhzhZyxGOGBHWhLAa8jDVAro4+1ItPp4/Uokh/tMhK0i9dbsi+lcy3hxJvb+z5cCLpJkrq8BdialEpfwTNRSlR/srlfAbQia3H1J+KiCuhG63IofUW8vtFXXF4vKWTK4CPxU6zOLgofZIgGwdZQOxaCmzbsL4FgSXPWA9eAwDYforXMs04GMcUnD64NiLRL+Y5UGLPLs68Z9cSlWb/sXGoPNz++enu7RJhJtnjU4x2gcBQVpj77LZLe40B+ugU0WaVGZfJu56YgYamlPh+WmVfGfqAYgCJae0FujxkAwOP0Htzdrfavvge4BizseW/cuZFCF0+qqZfuU62eUiU6vBveK1MG/7KIysnDEh4FQeY6CpgZKon8fUd8LL9WU2ocRnlZl6pS/81UbP7yLhNhqTaV1aK13HQAkHZJIS08gvIA1cR1sUhGKepjp4nCjp/grRIsvag4Gko/J5xBL9FAisrRgCDhmR4sPfq2K2MYjGWkRAR3tCEE7Ysbr2v+c1TwTm2/TLXDNYIQyJTZYSkAAAAAAAAAAA==''::cuckoofilter', false),
	('written-dense-31', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAB8BywAAAAAG5m8kvBVmnLnCEAAAAAAAAAC8BdjC4CMxzQUAAAAAAADQALUKfaxVjgkAAIDLofRKqfTFJEnd9QAAAIB28XrQLiMh2ZeScwYAAAAAAAAYasdaCngdLQAAAAAAAABE9ScbnolSXwUAAAAAAAA4DteGZ50MAwIAAAAAAAAU0I3uJ+Ji5gEAAADapXwxnT72wA70SgEAAAAAAAAAAADAV1yefwoAAAD3K4A/XAiaawmnowkAAACiQbBG4YM0xepsSgAAAAAAAACcsRi5R5G8gAAAAIDgpg3iGhD4L4GgEg0AAIA3t/eKeH0bXBtQ+AcAAICY4pMsz74WqTCmpwMAAAAAAABcUsiENGe98AEAAAAAAAD8+OrldokwRgIAAAADUESVWuoDjqIC5gAAAAAAAAD0eAc4yRYP0gAAAAAAAAC4BiyEyuTd+QsAAADy0y1Keo9rJquU6QMAAAAAAAAAAACg1B4uDQQAAIDH6T23F+TusMw87wEAAAAAAAAAAAAg65cdTQYAAAA3Uuif98b1V98DagoAAAAAAACsTBnsZRGVAAAAAAAAAAAAAAAAAAAASgEAAAAAAAAAAAAg6okL/gsAAAAAAADwpJqidJ+q+gUAAAAAAAAM74ZnzADA6A0AAIBQSeQnD0s4CoLMhAkAAIC7u9Wrz35DRwHzYA0AAAAAAADIr9W074hPDwAAAAAAAAAAAAAgYz9Q3AAAAAAAAACocRjlsi5VxgQAAADBHW2F0s8BySiFHAcAAAAAAAAAAADAZSJsMAcAAAAAAAAUm7/8c1QwAQAAAAAAAAAAAABAa7mp0gAAAAAAAAAAAADg1PbLagIAAABBeYBRSAvHx06T6QMAAAAAAAAAAACg8bomVAEAAAAAAAD0ouJQ2PETSgAAAAAAAAD06Nu+ietiHQcAAAAAAABwBr0kGhCk0gAAAAAAAAAAAAAAANLuRwAAAAAAAACEoH2RZaQEAAAAAAAAAAAAAADAMz3YfgAAAAAAAAAAAABAtcP1AQAAAAAAAAAAAADAWyVY6QMAAAAAAAAEIZCZ2WHp6gMAAAAAAAA0kKJK6r+ZAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-31', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASAB8AAAAAABcmOUdVZW5ux7WZ2zJjYP5mCW+Fx3G4to0zV5AzFiN4YAeapYDXIQ1QK0Yfa4VMp4+rR5F80S4jgXbxepfsS8m5lnDCm9v7fbgQ5CZJ6uItwJZJqfQleCZKE9WfzNyvAFqRtbjyJ+IiFdCNpsuh9Cvi9Q19xeXpJYXMMfhI7ClWZy8KH6QQDYJdQ+1YEdy0wf4SCCppzvrANSCwzYdoLeZZJwMxxScfXBsQ0i7la6TCmLo8+xqjnrhk1i+7LbWHGz++evN2ifAl2eKhHu8ACUdRwdRnv4mk97ggP93yM1mljsrk3c5NQXKllvr2sMz8ZOwHEgNQRNVekJvHDADE4/QeuLtbzb/6HsA1YKGe98Y9N1Low5Nq6kv3qVZPqRI5vBt+V6YM+ssiqk4elvBREGRcRwFzhkoi/74jPiy/VnPUOIzeZV2qlfpvRsXmL9tlIizVprJaaC03PQBIu0ghLVwE5QFWE9fFRTJKkT52mlDY8VN4qwSbXlQcGko/JziDXkYDKaqOBgQJnunBpEffdmUMg2IZKRGCO9oiBO3LNl7X7M9RwXdq+8VUO1xDEAKZZXZYCgAAAAAAAAAA''::cuckoofilter', false),
	('written-dense-32', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASACABggYAAAAch2sj4a0wGJi/wc4AAABQxOvbaJeRgHYpX30EAAAApYDXEX2sVXoUyevAAAAA8JJCJs5YjIwGqFUTq128Ht7c3tskSd2SfSn5cwAAAAAAAABJc9ZrnLnCqQcAAACi+pMNnolS3K8ALg0AAAAAAAAAAAAAkGedDE4BAAAAAAAA8CfiYgroRmexAAAA4C3AFsG1ASUKH6QBAAAAAAAAAAAAAAB9xeU5DQAAAAAAAAAP7EDfUDvWhwUAAAAMPhKDaBCsU6zOthQAAAAAAAAAmU4f63IovVkFAAAAAAAAILhpg/4SCPoAAAAAAAAAAAAAAADXgMD9AwAAAGKKT3J59rWRCmOKaAAAAPDhQtCkVPqSawmnAgAAAACjnrjgx1cvb5cIY5UAAAAAAAAADEARpdRSH/EJAAAAAAAAoMc7wJJs8eAHAAAAAAAAAAAAALDUHi4BDAAAAMhPt0jSe1yoTN5tBAAAAAAAAAAAAADwsMw8zwIAAAAAAADgcXrP2gtyR78AAAAAAAAA7u5WfyarlFcMAAAAz3vj+lffA9xIod9YAAAAAAAAADL2A1VHAfMAAAAAAAAAAAAAAAAAAAAwPwAAAAAAAABDJZFPffYbbwkAAAAAAACAJ9UUS/epmgAAAAAAAAAA4SgqMOuXHYUJAAAAh3fDc2XKYKMgyEy/AAAAAAAAAAAAALA1YCHBBwAAAAAAAFB+rab7jvh0hgAAAHDMAMCThyX8ZRGVbwkAAAAAAABAjcMoLutStSwAAAAAAAAAKaSF83NUMMsCAAAAAAAAAAAAAF0mwuYHAAAAAAAAAAAAAJDZYen+CwAAAAAAAEBruakAIO0eAAAAAAAAAAAAAACggRRVGQAAAAAAAABAUB5gfew0eSIAAAAAAAAApf6bqYnrYgEAAAAAAAAAUNjxE7xVgpXJAAAAAAAAAIrNX+7U9svPAgAAAAAAAIAz6CWjAUH6AAAAAAAAAAAAAAAwlH4O9gEAAAAEd7QlBO2LWEZKEAAAAAAAAAAAAAAAwDM92BwHAAAAAAAAAAAAAFQ7XJ8GAAAAAAAAABuva6JH3/YBAAAAAAAAAAAAAACCEMhsCwAAAAAAAACRjFKoFxWHAAAAAAAAAAA=''::cuckoofilter', false),
	('written-sparse-32', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAAAAAAB7FK5H4XqEP24AAAAAAAAAYwAAAAAAAAABAAAAAwAAAG4AAAASACAAAAAAABcmOUdVZW5ux7WZ2zLGwPxtJbwVLo7Dtds4cwVyxmIkHtiBvlLA6x4NUCuMPtYqMp0+Xj2K5BXtMhLQLl7PJftS4lxLOMGb23v7cCGomySpE28BtpaUSl8Ez0TJRPUna+5XAK3IWlzyJ+IiKqAbjS6H0l8Rr2/RV1zevKSQWQw+EvMUq7MuCh9kIRoEew21Y4ngpg3sL4FgJc1ZP3ANCGzzIVrr8qyTATHFJzu4NqBHu5RvIxXGpMuzr2HUExeZ9cvOltrDDT++euPtEmGXZIsn9XgHkHAUFZb67Lch6T1OkJ9u+TNZpR6Vybudm4LElVrqq4dl5k3GfqBhAIpItRfkzmMGAMTj9B5wd7f6/up7+K0BC+t5b9znRgq98KSa8qX7VKunVIk4vBverkwZ7C+LqHbysAQfBUGG6yhgnqGSyHvfEZ8sv1azqHEYdZd1qazUf7NUbP5Su0yEpdpUVhtay00fAKRdSCEtfAjKA0xNXBctklGK6WOnCQo7fgreKsFMLyqOGUo/R3AGvQwNpKh0NCDI4JkerPTo266MYZBYRkoIwR1tIgTtS228rqk/RwW/U9svTbXDdQhCIGOZHZYCAAAAAAAAAAA=''::cuckoofilter', false),
	('written-mixed', 'SELECT k FROM generate_series(1, 110) AS k', '''AQABAQAAAAB7FK5H4XqEPwAAAAAAAAAABwAAAAAAAAADAAAABQAAACgAAAAGAAkBAgAAADIAAAAQAA4BBAAAABQAAAAwdRQAKAqArBwHAJh+AACTEADAQEcAgKrSAABwcAPAig8AgG83AECkywLAc/gHgAGUBwCqAQAA+AUAAGDVAkDd9AsA6PQLAPgBAADQAQCA8zEGgI34C4C/AAAAACMAAIBVBQBQTAkAaAAAAAB+AABAAAAAAO8BAHAAAAAAJwAAANTRNrEAAMCL6HAHAACQmzUCAAAAQP0FAAAAAHw6AgAAAIBVxAbAHF3MIw0AAACA8gAAAAAAMAcAAAAAAABwBwAAtJFgBAAAAEANSgAAABcgwZQAAABA7yMAAAC6mHAEAAAQfunSAAAAAETKlAAAAMDvDAQAAB6UewQAAMBUbtYAAACl+dlxAAAAFhD5C8ATGhIDAAAAAAAAIwAAAABUJCEAAFAsJxAAAADD1CsIAADgJmssDAAAg+1NFQAAoHRZYA0AAMIzCAAAAAAAAAAAAAAUFBQUFBQUFNcap20hnTPTYXs1O0xt26+cBq7tjjULZgQ6ZgsqyyD1nm1luyDYIPvLmDJTpHUqjba2a6WmdlMykOD/3obfQBM+D21IwvNQ3BoRi6KhHhvcpFpT/woAAAAAAAAAAA==''::cuckoofilter', false);

-- States of aggregates
INSERT INTO golden VALUES
	('partial', 'SELECT k FROM generate_series(1, 20) AS k', 'state_of(k, 500, 0.01, -77)', true),
	('partial-array', 'SELECT k FROM (VALUES (ARRAY[1, NULL, 3]), (''{}''), (''[-1:0]={7,8}'')) AS v (k)', 'state_of(k, NULL, 0.001, 7)', true),
	('partial-empty', 'SELECT 1 AS k WHERE false', '(SELECT state_of(NULL::integer, 500, 0.01, -77))', true);

CREATE FUNCTION pg_temp.make(keys text, made text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	-- The result is one row, also without keys or without an aggregate
	EXECUTE format('WITH keys AS (%s) SELECT %s, count(*) FROM keys', keys, made) INTO f;
	RETURN f;
END
$$;

\echo 'name	keys	made	same	filter'
SELECT name, keys, CASE WHEN name LIKE 'written%' THEN '' ELSE made END, same, pg_temp.make(keys, made)
FROM golden ORDER BY number;
ROLLBACK;
