-- What an index of a method costs, or none, which run.sh puts before this:
-- index_setup.sql.

SELECT :'case' <> 'none' AS builds, :'case' IN ('btree', 'cuckoo') AS of_all, :'case' <> 'hash' AS adds,
	:'case' = 'cuckoo' AS has_capacity,
	CASE :'case' WHEN 'none' THEN '' ELSE format('USING %s (k)', :'case') END AS index \gset

SET max_parallel_maintenance_workers = 0;

\if :builds

-- @ build, bigint: :case
CREATE INDEX timed ON index_rows USING :case (k);

DROP INDEX IF EXISTS timed;

\endif

\if :of_all

-- @ build, uuid: :case
CREATE INDEX timed ON index_rows USING :case (u);

DROP INDEX IF EXISTS timed;

-- @ build, e-mail: :case
CREATE INDEX timed ON index_rows USING :case (email);

DROP INDEX IF EXISTS timed;

-- @ build, 1,000 keys: :case
CREATE INDEX timed ON index_rows USING :case (heavy);

DROP INDEX IF EXISTS timed;

\endif

\if :adds

CALL empty_table(:'index');

-- @ INSERT: :case
INSERT INTO target SELECT k FROM distinct_rows;

DELETE FROM target WHERE k % 10 = 0;

-- @ VACUUM of a tenth: :case
VACUUM target;

CALL empty_table(:'index');

-- @ COPY: :case
COPY target FROM :'copied' (FORMAT binary);

CALL empty_table(:'index');

-- @ 100 keys: :case
INSERT INTO target SELECT k FROM heavy_rows;

\endif

\if :has_capacity

CALL empty_table(:'index' || ' WITH (capacity = ' || :rows || ')');

-- @ INSERT: cuckoo with capacity
INSERT INTO target SELECT k FROM distinct_rows;

\endif
