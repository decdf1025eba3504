-- Combines the daily filters of a year, each with the capacity of the year, and
-- builds a filter from the rows that they were built from.

-- @ cuckoo_agg over the rows | Aggregate
SELECT cuckoo_cardinality(cuckoo_agg(k, :rows * 1.1, 0.001)) FROM year_rows;

-- @ cuckoo_union_agg of 365 filters | Aggregate
SELECT cuckoo_cardinality(cuckoo_union_agg(f)) FROM days;
