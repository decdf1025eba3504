-- Hashing keys of one type: PostgreSQL's own extended hash, a lookup and an
-- aggregate, and for each what is left without them.  Variables: type, hash.
-- 1,000 keys again and again, all of which the filter has.

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
