-- Pages that split, overflow pages, joined entries, and VACUUM
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/index.psql"`

---- Pages that split, and overflow pages: keys chosen for one sixteenth of the hashes
CREATE TEMPORARY TABLE chosen AS SELECT i AS k FROM generate_series(1, 200000) AS i WHERE cuckoo_hash(i) BETWEEN
	0 AND (1::bigint << 60) - 1;
CREATE TEMPORARY TABLE grown (k integer);
CREATE INDEX grown_k ON grown USING cuckoo (k);
INSERT INTO grown TABLE chosen;
SELECT overflow_pages > 2 AS overflow_pages, depth BETWEEN 4 AND 8 AS depth, entries >= 12000 AS entries,
	is_whole('grown_k'), by_index('SELECT count(*) FROM chosen JOIN grown USING (k)') = (SELECT count(*)::text FROM
	chosen) AS all_found,
	by_index('SELECT count(*) FROM generate_series(300001, 310000) AS k JOIN grown USING (k)') AS absent FROM
	cuckoo_index_info('grown_k') \gx
-- The pages with the other hashes fill, those with overflow pages split, and nothing is lost.
INSERT INTO grown SELECT generate_series(300001, 340000);
SELECT is_whole('grown_k'), entries >= 52000 AS entries, depth >= 6 AS depth,
	missing(cuckoo_index_filter('grown_k'), 300001, 340000) FROM cuckoo_index_info('grown_k') \gx
-- Built at once, the page has overflow pages.
CREATE TEMPORARY TABLE built AS TABLE chosen;
CREATE INDEX built_k ON built USING cuckoo (k) WITH (capacity = 5e4);
SELECT overflow_pages > 0 AS overflow_pages, entries = (SELECT count(*) FROM built) AS entries,
	is_whole('built_k') FROM cuckoo_index_info('built_k') \gx
-- In temporary files, with heavy keys
SET maintenance_work_mem = '1MB';
CREATE TEMPORARY TABLE heavy AS SELECT CASE WHEN i % 5 = 0 THEN i % 3 ELSE i END AS k, i AS n, i % 20 AS few
	FROM generate_series(1, 200000) AS i;
CREATE INDEX heavy_k ON heavy USING cuckoo (k);
RESET maintenance_work_mem;
SELECT is_whole('heavy_k'), entries BETWEEN 160000 AND 162000 AS entries, joined_entries BETWEEN 3 AND 2000 AS
	joined, agrees('SELECT sum(n) FROM heavy WHERE k = 1') AS "k = 1",
	agrees('SELECT sum(n) FROM heavy WHERE k = 77') AS "k = 77" FROM cuckoo_index_info('heavy_k') \gx
-- Of few base pages, of which the last ones have twice as many entries as the first
CREATE FUNCTION built_whole(rows integer, memory text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('maintenance_work_mem', memory, true);
	CREATE TABLE sized AS SELECT i AS k FROM generate_series(1, 2 * rows) AS i WHERE i % 2 = 0 OR cuckoo_hash(i) <
	0 LIMIT rows;
	CREATE INDEX sized_k ON sized USING cuckoo (k);
	ASSERT is_whole('sized_k') AND (SELECT entries = rows FROM cuckoo_index_info('sized_k')), format('%s rows, %s',
	rows, memory);
	DROP TABLE sized;
	RETURN true;
END $$;
SELECT bool_and(built_whole(rows, '64MB')) AS in_memory FROM unnest('{0,1,1200}'::integer[] || ARRAY(SELECT
	generate_series(1225, 2449, 136)) || '{3000,3600,5000}') AS rows;
SELECT bool_and(built_whole(rows, '1MB')) AS in_files FROM generate_series(70000, 78000, 1600) AS rows;
-- Inserted
CREATE INDEX heavy_few ON heavy USING cuckoo (few);
INSERT INTO heavy SELECT i, i, i % 20 FROM generate_series(200001, 240000) AS i;
SELECT is_whole('heavy_few'), entries < 20 * 200 AS few_entries,
	agrees('SELECT sum(n) FROM heavy WHERE few = 7') AS "few = 7",
	agrees('SELECT sum(n) FROM heavy WHERE few = 20') AS "few = 20" FROM cuckoo_index_info('heavy_few') \gx

---- VACUUM removes what is dead from all pages, and only that
SELECT entries + tombstones AS before FROM cuckoo_index_info('grown_k') \gset
DELETE FROM grown WHERE k % 10 <> 0;
VACUUM grown;
SELECT entries BETWEEN (SELECT count(*) FROM grown) AND (SELECT 1.01 * count(*) FROM grown) AS entries, entries
	+ tombstones < :before / 5 AS room, is_whole('grown_k'),
	agrees('SELECT count(*) FROM chosen JOIN grown USING (k)') AS "join" FROM cuckoo_index_info('grown_k') \gx
INSERT INTO grown TABLE chosen;
DELETE FROM grown;
VACUUM grown;
SELECT entries, tombstones, overflow_pages > 0 AS overflow_pages, expected_false_rows FROM
	cuckoo_index_info('grown_k') \gx
INSERT INTO grown TABLE chosen;
SELECT is_whole('grown_k'), agrees('SELECT count(*) FROM chosen JOIN grown USING (k)') \gx
-- Joined entries: of a page whose rows are all dead, and of one with a row left
CREATE TEMPORARY TABLE clustered AS SELECT i / 40 AS k, i AS n FROM generate_series(0, 39999) AS i;
CREATE INDEX clustered_k ON clustered USING cuckoo (k);
SELECT entries < 2500 AS few_entries, joined_entries > 1000 AS joined FROM cuckoo_index_info('clustered_k') \gx
DELETE FROM clustered WHERE k < 500 AND n <> 100;
VACUUM clustered;
SELECT entries < 700 AS entries, is_whole('clustered_k'), agrees('SELECT sum(n) FROM clustered WHERE k = 2') AS
	"k = 2", agrees('SELECT sum(n) FROM clustered WHERE k = 3') AS "k = 3",
	agrees('SELECT sum(n) FROM clustered WHERE k = 700') AS "k = 700" FROM cuckoo_index_info('clustered_k') \gx

---- An entry may name pages that the table has no longer
DELETE FROM heavy WHERE n > 1000;
VACUUM heavy;
SELECT pg_relation_size('heavy') < 100000 AS truncated, joined_entries > 0 AS joined FROM
	cuckoo_index_info('heavy_few') \gx
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT agrees('SELECT sum(n) FROM heavy WHERE few = 7') AS "few = 7",
	agrees('SELECT sum(n) FROM heavy WHERE k = 1') AS "k = 1", agrees('SELECT sum(n) FROM heavy WHERE k = 77') \gx
COMMIT;
