-- Builds a filter from a column, and finds the distinct values in other ways.

-- @ max(k) | Aggregate
SELECT max(k) FROM :table;

-- @ cuckoo_agg(k) | Aggregate
SELECT cuckoo_cardinality(cuckoo_agg(k)) FROM :table;

-- @ hll_add_agg(hll_hash_bigint(k)) | Aggregate
SELECT hll_cardinality(hll_add_agg(hll_hash_bigint(k))) FROM :table;

-- @ count(DISTINCT k) | Aggregate
SELECT count(DISTINCT k) FROM :table;

-- @ array_agg(DISTINCT k) | Aggregate
SELECT cardinality(array_agg(DISTINCT k)) FROM :table;
