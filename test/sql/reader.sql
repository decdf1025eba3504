-- Stored filters: read in slices or whole, shared by all operators of a session
--
-- Only answers are tested here; memory and buffers are tested in
-- test/t/023_reader.pl.  The tests with sanitizers keep so few bytes that there
-- is never room for all filters.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
SET max_parallel_workers_per_gather = 0;

-- Two filters in a scan of 400 partitions, which once filled the session's
-- memory with copies of the first and then could not read the second.
CREATE TABLE part (p integer, k integer, c integer) PARTITION BY LIST (p);
DO $$ BEGIN
	FOR i IN 1..400 LOOP
		EXECUTE format('CREATE TABLE part_%s PARTITION OF part FOR VALUES IN (%s)', i, i);
	END LOOP;
END $$;
INSERT INTO part SELECT p, k, k % 500 FROM generate_series(1, 400) AS p, generate_series(1, 300) AS k;
CREATE TABLE big AS SELECT cuckoo_agg(i, 1e6, 0.001) AS f FROM generate_series(1, 1000) AS i;
CREATE TABLE small AS SELECT cuckoo_add_all(cuckoo_new(), array_agg(i)) AS f FROM generate_series(0, 899) AS i;
SELECT count(*) FROM part WHERE (SELECT f FROM big) @> k AND (SELECT f FROM small) @> c;
SELECT count(*) FROM part WHERE cuckoo_count((SELECT f FROM big), k) = 1 AND (SELECT f FROM small) @> ALL (ARRAY[c, k]);

-- Filters of every size and storage: one after another, and all of them for each
-- key
CREATE TABLE filters (id serial, how text, f cuckoofilter);
INSERT INTO filters (how, f) VALUES
	('inline', cuckoo_from_array(ARRAY(SELECT generate_series(1, 500)))),
	('8 kB', cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 1000)))),
	('16 kB', cuckoo_from_array(ARRAY(SELECT generate_series(1, 10000)))),
	('160 kB', cuckoo_add_all(cuckoo_new(100000, 0.001), ARRAY(SELECT generate_series(1, 1000)))),
	('grown', cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 30000))));
-- The low parts of eight copies are 16 bits each, and repeat.
ALTER TABLE filters ALTER f SET STORAGE extended;
INSERT INTO filters (how, f) VALUES
	('compressed', cuckoo_add_all(cuckoo_new(500000, 0.001), ARRAY(SELECT k FROM generate_series(1, 1000) AS k, generate_series(1, 8))));
VACUUM ANALYZE filters;
SELECT how, pg_column_size(f) < octet_length(f::bytea) AS compressed FROM filters ORDER BY id;

\set one_after_another '(SELECT * FROM filters ORDER BY id OFFSET 0) AS f, LATERAL (SELECT k FROM generate_series(1, 500) AS k OFFSET 0 * id) AS k'
\set all_for_each_key '(SELECT k FROM generate_series(1, 500) AS k OFFSET 0) AS k, LATERAL (SELECT * FROM filters ORDER BY id OFFSET 0 * k) AS f'
\set answers 'count(*) FILTER (WHERE f @> k) AS contains, count(*) FILTER (WHERE k <@ f) AS contained'
\set others 'bool_and(cuckoo_count(f, k) >= 1) AS counted, count(*) FILTER (WHERE f @> ALL (ARRAY[k, 501 - k])) AS array, count(*) FILTER (WHERE f @> -k) < 10 AS few_others'
SELECT how, :answers, :others FROM :one_after_another GROUP BY id, how ORDER BY id;
SELECT how, :answers, :others FROM :all_for_each_key GROUP BY id, how ORDER BY id;

-- The same without copies, which anyone may choose, but for those that one statement needs
CREATE ROLE regress_cuckoo_user;
SET ROLE regress_cuckoo_user;
SET cuckoo.cache_size = 0;
RESET ROLE;
DROP ROLE regress_cuckoo_user;
SELECT how, :answers, :others FROM :one_after_another GROUP BY id, how ORDER BY id;
RESET cuckoo.cache_size;

-- A filter that changes while it is in use: the cursor continues with the old
-- one.
BEGIN;
DECLARE d CURSOR FOR SELECT f @> 777777 AS contains FROM filters, generate_series(1, 2000) WHERE how = 'grown';
FETCH d;
MOVE FORWARD 1000 IN d;
UPDATE filters SET f = f + 777777;
FETCH d;
SELECT how, f @> 777777 AS contains FROM filters ORDER BY id;
SAVEPOINT s;
UPDATE filters SET f = f - 777777;
SELECT bool_or(f @> 777777) AS contains FROM filters;
ROLLBACK TO s;
SELECT bool_and(f @> 777777) AS contains FROM filters;
FETCH d;
CLOSE d;
COMMIT;
SELECT bool_and(f @> 777777) AS contains FROM filters;

-- More filters than a session keeps, in turn
CREATE TABLE many AS SELECT g, cuckoo_from_array(ARRAY(SELECT generate_series(g, g + 5000))) AS f FROM generate_series(1, 40) AS g;
SELECT count(*) FILTER (WHERE f @> (g + k)) AS contained, count(*) AS looked_up
FROM (SELECT k FROM generate_series(1, 100) AS k OFFSET 0) AS k, LATERAL (SELECT * FROM many ORDER BY g OFFSET 0 * k) AS m;
