-- Makes the data of keys.sql: a table of a million rows for each key type.

CREATE SCHEMA key_types;
SET search_path = key_types, public;
CREATE TYPE pair AS (number integer, word text);
CREATE TABLE filters (type text PRIMARY KEY, f cuckoofilter);

DO $$
DECLARE
	type record;
BEGIN
	FOR type IN SELECT * FROM (VALUES
		('bigint_keys', 'k::bigint'),
		('text_keys', $t$'user' || k || '@example.com'$t$),
		('char_keys', $t$('user' || k || '@example.com')::char(30)$t$),
		('numeric_keys', '(k * 7919.25)::numeric(12,2)'),
		('jsonb_keys', $t$jsonb_build_object('id', k, 'name', 'user' || k, 'tags', jsonb_build_array('a', 'b' || k), 'price', k * 1.25)$t$),
		('text_array_keys', $t$ARRAY['tag' || k, 'red', 'green' || k % 10]$t$),
		('integer_array_keys', 'ARRAY[k, k + 1, k + 2]'),
		('composite_keys', $t$ROW(k, 'user' || k)::pair$t$)) AS t (name, expression)
	LOOP
		EXECUTE format('CREATE UNLOGGED TABLE %I WITH (autovacuum_enabled = off) AS SELECT %s AS k
			FROM (SELECT (abs(hashint8extended(i, 1)) %% 1000)::integer AS k FROM generate_series(1, 1000000) AS i OFFSET 0) AS s', type.name, type.expression);
		EXECUTE format('INSERT INTO filters SELECT %L, cuckoo_agg(k, 1000, 0.001) FROM %I', type.name, type.name);
	END LOOP;
END $$;

VACUUM (FREEZE, ANALYZE);
