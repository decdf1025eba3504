-- Hashes keys of one type by PostgreSQL's own extended hash function, a lookup
-- and an aggregate, each beside the same query without them.  The rows repeat
-- 1,000 keys, all of which are in the filter.  Variables: type, hash.

SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET search_path = key_types, public;

-- @ rows | Aggregate
SELECT count(*) FROM :type WHERE k IS NOT NULL;

-- @ own hash | Aggregate
SELECT count(*) FROM :type WHERE :hash(k, 0) IS NOT NULL;

-- @ cuckoo_hash | Aggregate
SELECT count(*) FROM :type WHERE cuckoo_hash(k, 0) IS NOT NULL;

-- @ lookup | Aggregate
SELECT count(*) FROM :type WHERE (SELECT f FROM filters WHERE type = :'type') @> k;

-- @ count | Aggregate
SELECT count(k) FROM :type;

-- @ cuckoo_agg | Aggregate
SELECT cuckoo_agg(k) FROM :type;
