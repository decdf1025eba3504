-- Sizes of indexes, in lines of a group, a label and a number.

CREATE FUNCTION built_size(method text, key text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX sized ON index_rows USING %s (%I)', method, key);
	RETURN pg_relation_size('sized') / (SELECT reltuples FROM pg_class WHERE oid = 'index_rows'::regclass);
END $$;

CREATE FUNCTION grown_sizes(method text, n bigint) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	sizes float8[];
BEGIN
	CALL empty_table('USING ' || method || ' (k)');
	FOR i IN 1..100 LOOP
		INSERT INTO target SELECT hashint8extended(g, 0) FROM generate_series((i - 1) * n / 100 + 1, i * n / 100) AS g;
		sizes := sizes || pg_relation_size('target_index')::float8;
	END LOOP;
	RETURN sizes;
END $$;

SELECT format(E'built, %s\t%s\t%s', key, method, built_size(method, key))
FROM unnest('{k,u,email,heavy}'::text[]) AS key, unnest('{btree,hash,cuckoo}'::text[]) AS method
WHERE key <> 'heavy' OR method <> 'hash' ORDER BY key, method \gset size_
