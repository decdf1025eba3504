-- Measures the memory of cuckoo_agg over n distinct keys, which come from
-- generate_series.

SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- @ state
SELECT transition_only(k) FROM (SELECT generate_series(1, :n)::bigint AS k) AS s;

-- @ whole aggregate
SELECT cuckoo_cardinality(cuckoo_agg(k)) FROM (SELECT generate_series(1, :n)::bigint AS k) AS s;
