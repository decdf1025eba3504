-- Tables for index.sql and index_sizes.sql: keys of distinct_rows, and others
-- made of them.  The server writes them to a file, too, for COPY.

CREATE TABLE index_rows AS
	SELECT k, abs(hashint8extended(k, 1) % 1000) AS heavy, md5(k::text)::uuid AS u,
		'member' || abs(k) % 100000000 || '@mail' || abs(k) % 17 || '.example.com' AS email
	FROM distinct_rows;
CREATE TABLE heavy_rows AS SELECT heavy % 100 AS k FROM index_rows LIMIT :rows * 3 / 100;
COPY distinct_rows TO :'copied' (FORMAT binary);
VACUUM (FREEZE, ANALYZE) index_rows, heavy_rows;

-- Tables for lookups, of a fifth of the rows

CREATE TABLE lookup_btree AS SELECT row_number() OVER () AS id, k FROM distinct_rows LIMIT :rows / 5;
CREATE TABLE lookup_cuckoo AS SELECT * FROM lookup_btree;
CREATE INDEX ON lookup_btree (k);
CREATE INDEX ON lookup_cuckoo USING cuckoo (k);
VACUUM (FREEZE, ANALYZE) lookup_btree, lookup_cuckoo;

-- An empty table with an index, or none

CREATE PROCEDURE empty_table(definition text) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS target;
	CREATE TABLE target (k bigint);
	IF definition <> '' THEN
		EXECUTE 'CREATE INDEX target_index ON target ' || definition;
	END IF;
END $$;
