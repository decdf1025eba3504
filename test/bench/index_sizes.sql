-- Sizes of indexes, in lines of a group, a label and a number.

CREATE FUNCTION built_size(method text, key text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX sized ON index_rows USING %s (%I)', method, key);
	RETURN (SELECT pg_relation_size('sized') / reltuples FROM pg_class WHERE oid = 'index_rows'::regclass);
END $$;

SELECT format($$SELECT E'index\t%s: %s\t' || built_size(%L, %L); DROP INDEX sized$$, key, method, method, key)
FROM unnest('{k,u,email,heavy}'::text[]) AS key, unnest('{btree,hash,cuckoo}'::text[]) AS method
WHERE key <> 'heavy' OR method <> 'hash' \gexec

-- Grown from empty by inserts of random keys, at a hundred sizes

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

CREATE TABLE grown AS SELECT i, b[i] AS btree, c[i] AS cuckoo
FROM grown_sizes('btree', :rows) AS b, grown_sizes('cuckoo', :rows) AS c, generate_series(1, 100) AS i;
SELECT E'grown\t% of a B-tree grown so: ' || what || E'\t' || 100 * ratio FROM (
	SELECT max(cuckoo / btree), avg(cuckoo / btree) FROM grown WHERE i * :rows / 100 >= 100000
) AS g (most, mean), LATERAL (VALUES ('at most', most), ('on average', mean)) AS v (what, ratio);

-- Rows that move eight times, with VACUUM after each time

CREATE TABLE moving AS SELECT i AS id, hashint8extended(i, 0) AS k FROM generate_series(1, :rows / 10) AS i;
CREATE INDEX moving_index ON moving USING cuckoo (k);
SELECT pg_relation_size('moving_index') AS built \gset
SELECT statement FROM generate_series(1, 8) AS i, unnest('{UPDATE moving SET id = id + 1,VACUUM moving}'::text[]) WITH ORDINALITY AS s (statement, n)
ORDER BY i, n \gexec
SELECT E'moved\t% of the size built\t' || 100.0 * pg_relation_size('moving_index') / :built;
