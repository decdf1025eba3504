-- Finds the rows of a large table whose keys are in a set.  These are 1 % of
-- the rows.

-- @ hashint8(k) = constant | Seq Scan
SELECT count(*) FROM distinct_rows WHERE hashint8(k) = 42;

-- @ (SELECT f FROM stored) @> k | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM stored WHERE id = 1) @> k;

-- @ the same, a sparse filter | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM stored WHERE id = 2) @> k;

-- @ (SELECT cuckoo_agg(k) FROM members) @> k | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT cuckoo_agg(k) FROM members) @> k;

-- @ k = ANY(array) | Seq Scan
SELECT count(*) FROM distinct_rows WHERE k = ANY (members_array());

-- @ k IN (sub-select) | Join
SELECT count(*) FROM distinct_rows WHERE k IN (SELECT k FROM members);

-- @ filter and k IN (sub-select) | Join
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM stored WHERE id = 1) @> k AND k IN (SELECT k FROM members);
