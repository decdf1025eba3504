-- What an index costs, beside a B-tree and a hash index: index_setup.sql.

SET max_parallel_maintenance_workers = 0;

-- @ build, bigint: btree
CREATE INDEX timed ON index_rows USING btree (k);

DROP INDEX IF EXISTS timed;

-- @ build, bigint: hash
CREATE INDEX timed ON index_rows USING hash (k);

DROP INDEX IF EXISTS timed;

-- @ build, bigint: cuckoo
CREATE INDEX timed ON index_rows USING cuckoo (k);

DROP INDEX IF EXISTS timed;

-- @ build, uuid: btree
CREATE INDEX timed ON index_rows USING btree (u);

DROP INDEX IF EXISTS timed;

-- @ build, uuid: cuckoo
CREATE INDEX timed ON index_rows USING cuckoo (u);

DROP INDEX IF EXISTS timed;

-- @ build, e-mail: btree
CREATE INDEX timed ON index_rows USING btree (email);

DROP INDEX IF EXISTS timed;

-- @ build, e-mail: cuckoo
CREATE INDEX timed ON index_rows USING cuckoo (email);

DROP INDEX IF EXISTS timed;

-- @ build, 1,000 keys: btree
CREATE INDEX timed ON index_rows USING btree (heavy);

DROP INDEX IF EXISTS timed;

-- @ build, 1,000 keys: cuckoo
CREATE INDEX timed ON index_rows USING cuckoo (heavy);

DROP INDEX IF EXISTS timed;

CALL empty_table();

-- @ INSERT: no index
INSERT INTO target SELECT k FROM distinct_rows;

CALL empty_table('USING btree (k)');

-- @ INSERT: btree
INSERT INTO target SELECT k FROM distinct_rows;

CALL empty_table('USING cuckoo (k)');

-- @ INSERT: cuckoo from empty
INSERT INTO target SELECT k FROM distinct_rows;

CALL empty_table('USING cuckoo (k) WITH (capacity = ' || :rows || ')');

-- @ INSERT: cuckoo with capacity
INSERT INTO target SELECT k FROM distinct_rows;

CALL empty_table();

-- @ COPY: no index
COPY target FROM :'copied' (FORMAT binary);

CALL empty_table('USING btree (k)');

-- @ COPY: btree
COPY target FROM :'copied' (FORMAT binary);

CALL empty_table('USING cuckoo (k)');

-- @ COPY: cuckoo from empty
COPY target FROM :'copied' (FORMAT binary);

CALL empty_table();

-- @ 100 keys: no index
INSERT INTO target SELECT k FROM heavy_rows;

CALL empty_table('USING btree (k)');

-- @ 100 keys: btree
INSERT INTO target SELECT k FROM heavy_rows;

CALL empty_table('USING cuckoo (k)');

-- @ 100 keys: cuckoo
INSERT INTO target SELECT k FROM heavy_rows;

CALL empty_table('USING btree (k)');

INSERT INTO target SELECT k FROM distinct_rows;

DELETE FROM target WHERE k % 10 = 0;

-- @ VACUUM of a tenth: btree
VACUUM target;

CALL empty_table('USING cuckoo (k)');

INSERT INTO target SELECT k FROM distinct_rows;

DELETE FROM target WHERE k % 10 = 0;

-- @ VACUUM of a tenth: cuckoo
VACUUM target;
