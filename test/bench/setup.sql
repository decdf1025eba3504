-- Makes the data of the SQL benchmarks.  Variables: rows, and keys, the number
-- of keys in the filters of scans.

CREATE EXTENSION IF NOT EXISTS cuckoo_index CASCADE;
CREATE EXTENSION hll;

-- Rows of distinct keys in random order, and rows that repeat 1,000 keys.

CREATE UNLOGGED TABLE distinct_rows (k bigint);
INSERT INTO distinct_rows SELECT hashint8extended(generate_series(1, :rows), 0);

CREATE UNLOGGED TABLE repeated_rows (k bigint);
INSERT INTO repeated_rows SELECT abs(hashint8extended(generate_series(1, :rows), 1) % 1000);

-- The members of the set of a scan.  1 % of the rows are among them.

CREATE UNLOGGED TABLE members (k bigint);
INSERT INTO members SELECT hashint8extended(generate_series(1, :rows / 100), 0);
INSERT INTO members SELECT hashint8extended(generate_series(:rows + 1, :rows + :keys - :rows / 100), 0);

-- Keys of joins, many to few, that all occur in the rows, and few among which are
-- the keys of all repeated rows.  The same with URLs.

CREATE UNLOGGED TABLE tenth (k bigint);
INSERT INTO tenth SELECT hashint8extended(generate_series(1, :keys), 0);
CREATE UNLOGGED TABLE hundredth AS SELECT k FROM tenth LIMIT :rows / 100;
CREATE UNLOGGED TABLE few AS SELECT k FROM tenth LIMIT :rows / 1000;
CREATE UNLOGGED TABLE repeated_few (k bigint);
INSERT INTO repeated_few SELECT generate_series(0, greatest(1000, :rows / 1000) - 1);

CREATE UNLOGGED TABLE urls AS
	SELECT 'https://www.example.com/items/' || md5(i::text) AS url FROM generate_series(1, :rows * 3 / 10) AS i;
CREATE UNLOGGED TABLE some_urls AS SELECT url FROM urls LIMIT :rows / 500;

CREATE TABLE stored (id integer PRIMARY KEY, f cuckoofilter);
INSERT INTO stored SELECT 1, cuckoo_agg(k) FROM members;
INSERT INTO stored SELECT 2, cuckoo_agg(k, 3 * :keys) FROM members;

-- An array that the planner folds into a constant.  Only constant arrays are
-- hashed.

CREATE FUNCTION members_array() RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE
	AS 'BEGIN RETURN (SELECT array_agg(k) FROM members); END';

-- A year of days with keys for each day, and a filter for each day.

CREATE UNLOGGED TABLE year_rows (day integer, k bigint);
INSERT INTO year_rows SELECT day, hashint8extended(day * 1000000 + i, 2) FROM generate_series(0, 364) AS day, generate_series(1, :rows * 3 / 1000) AS i;
CREATE TABLE days AS SELECT day, cuckoo_agg(k, :rows * 1.1, 0.001) AS f FROM year_rows GROUP BY day;

-- Stored values for single lookups.  At full size these are dense and sparse
-- filters of 1 MB and 100 MB, and small rows.

CREATE TABLE stored_filters (id integer PRIMARY KEY, f cuckoofilter);
INSERT INTO stored_filters SELECT 1, cuckoo_agg(k) FROM (SELECT generate_series(1, :rows::bigint * 64 / 1000) AS k) AS s;
INSERT INTO stored_filters SELECT 100, cuckoo_agg(k) FROM (SELECT generate_series(1, :rows::bigint * 64 / 10) AS k) AS s;
INSERT INTO stored_filters SELECT 2, cuckoo_agg(k, :rows * 0.12, 0.001) FROM (SELECT generate_series(1, :rows::bigint * 60 / 1000) AS k) AS s;
INSERT INTO stored_filters SELECT 200, cuckoo_agg(k, :rows * 12, 0.001) FROM (SELECT generate_series(1, :rows::bigint * 60 / 10) AS k) AS s;

CREATE TABLE small_rows (id integer PRIMARY KEY, filler text);
INSERT INTO small_rows SELECT i, repeat('x', 100) FROM generate_series(1, 1000) AS i;

VACUUM (FREEZE, ANALYZE);
