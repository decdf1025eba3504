-- Combines the daily filters of a year, each with the capacity of the year, and
-- builds a filter from the rows that they were built from.

SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- @ cuckoo_agg over the rows | Aggregate
SELECT cuckoo_cardinality(cuckoo_agg(k, :year_keys, 0.001)) FROM year_rows;

-- @ cuckoo_union_agg of 365 filters | Aggregate
SELECT cuckoo_cardinality(cuckoo_union_agg(f)) FROM days;

-- @ cuckoo_union_all_agg of 365 filters | Aggregate
SELECT cuckoo_cardinality(cuckoo_union_all_agg(f)) FROM days;
