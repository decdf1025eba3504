-- Scans 60 partitions through one stored filter.  A filter tested in the scans
-- of partitions has a call site in each of them.  One tested above the Append,
-- or in the scan of a single table with the same rows, has one call site in
-- all.

SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- @ above the Append | Subquery Scan
SELECT count(*) FROM (SELECT k FROM partitioned_rows OFFSET 0) AS r WHERE (SELECT f FROM large_filter) @> k;

-- @ in each partition | Append
SELECT count(*) FROM partitioned_rows WHERE (SELECT f FROM large_filter) @> k;

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;

-- @ one table, two workers | Parallel Seq Scan
SELECT count(*) FROM unpartitioned_rows WHERE (SELECT f FROM large_filter) @> k;

-- @ in each partition, two workers | Parallel Append
SELECT count(*) FROM partitioned_rows WHERE (SELECT f FROM large_filter) @> k;
