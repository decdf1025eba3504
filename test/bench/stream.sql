-- Aggregates n distinct keys, which come from generate_series.

SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- @ count(k) | ProjectSet
SELECT count(k) FROM (SELECT generate_series(1, :n)::bigint AS k) AS s;

-- @ cuckoo_stream_agg | ProjectSet
SELECT cuckoo_cardinality(cuckoo_stream_agg(k, :n, 0.001)) FROM (SELECT generate_series(1, :n)::bigint AS k) AS s;

-- @ cuckoo_agg | ProjectSet
SELECT cuckoo_cardinality(cuckoo_agg(k, :n, 0.001)) FROM (SELECT generate_series(1, :n)::bigint AS k) AS s;
