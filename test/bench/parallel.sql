-- Runs aggregates in one process, and in the leader and two parallel workers.

SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0;

-- @ cuckoo_agg: one process | Aggregate
SELECT cuckoo_cardinality(cuckoo_agg(k)) FROM :table;

-- @ cuckoo_stream_agg: one process | Aggregate
SELECT cuckoo_cardinality(cuckoo_stream_agg(k, :capacity, 0.001)) FROM :table;

SET max_parallel_workers_per_gather = 2;

-- @ cuckoo_agg: two workers | Workers Planned: 2
SELECT cuckoo_cardinality(cuckoo_agg(k)) FROM :table;

-- @ cuckoo_stream_agg: two workers | Workers Planned: 2
SELECT cuckoo_cardinality(cuckoo_stream_agg(k, :capacity, 0.001)) FROM :table;
