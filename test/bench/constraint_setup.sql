-- Tables for constraint.sql: URLs of 75 bytes of a hundred tenants, numbered from 1,
-- of which the first are there at the beginning

CREATE FUNCTION page_urls(first bigint, last bigint) RETURNS TABLE (tenant integer, url text) LANGUAGE sql
BEGIN ATOMIC
	SELECT i % 100, 'https://www.example.com/archive/2026/items/' || md5(i::text)
	FROM generate_series(first, last) AS i;
END;

CREATE UNLOGGED TABLE first_urls AS SELECT * FROM page_urls(1, :rows / 10);
CREATE UNLOGGED TABLE new_urls AS SELECT * FROM page_urls(:rows / 5, :rows / 4 - 1);
CREATE UNLOGGED TABLE tenth_new AS
	SELECT * FROM page_urls(:rows * 82 / 1000 + 1, :rows * 102 / 1000) ORDER BY md5(url);
CREATE UNLOGGED TABLE half_new AS
	SELECT * FROM page_urls(:rows * 9 / 100 + 1, :rows * 11 / 100) ORDER BY md5(url);
CREATE UNLOGGED TABLE half_there AS
	SELECT * FROM page_urls(:rows * 24 / 100, :rows * 26 / 100 - 1) ORDER BY md5(url);
CREATE UNLOGGED TABLE half_absent AS
	SELECT * FROM page_urls(:rows * 95 / 1000 + 1, :rows * 105 / 1000) ORDER BY md5(url);
CREATE TABLE constraint_sizes (label text, bytes bigint);
VACUUM (FREEZE, ANALYZE) first_urls, new_urls, tenth_new, half_new, half_there, half_absent;

CREATE PROCEDURE begin_pages() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS pages;
	CREATE TABLE pages AS SELECT * FROM first_urls;
END $$;
