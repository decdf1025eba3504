-- Runs aggregates in one process, and in the leader and two parallel workers.

SET jit = off;
SET work_mem = '1GB';
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;

SET max_parallel_workers_per_gather = 0;

-- @ max(k) | Aggregate
SELECT max(k) FROM :table;

-- @ cuckoo_agg(k) | Aggregate
SELECT cuckoo_cardinality(cuckoo_agg(k)) FROM :table;

\if :stream
-- @ cuckoo_stream_agg(k) | Aggregate
SELECT cuckoo_cardinality(cuckoo_stream_agg(k, :distinct, 0.001)) FROM :table;
\endif

SET max_parallel_workers_per_gather = 2;

-- @ max(k), parallel | Workers Planned: 2
SELECT max(k) FROM :table;

-- @ cuckoo_agg(k), parallel | Workers Planned: 2
SELECT cuckoo_cardinality(cuckoo_agg(k)) FROM :table;

\if :stream
-- @ cuckoo_stream_agg(k), parallel | Workers Planned: 2
SELECT cuckoo_cardinality(cuckoo_stream_agg(k, :distinct, 0.001)) FROM :table;
\endif
