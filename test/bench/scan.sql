-- Finds the rows of a large table whose keys are in a set.  These are 1 % of
-- the rows.  IS TRUE keeps the planner from making a join.

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

-- @ k IN (sub-select), hashed | hashed SubPlan
SELECT count(*) FROM distinct_rows WHERE (k IN (SELECT k FROM members)) IS TRUE;

-- @ k IN (sub-select), as planned | Join
SELECT count(*) FROM distinct_rows WHERE k IN (SELECT k FROM members);

-- @ filter and k IN (sub-select), as planned | Join
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM stored WHERE id = 1) @> k AND k IN (SELECT k FROM members);

SET enable_hashagg = off;

-- @ hash semi-join | Hash Semi Join
SELECT count(*) FROM distinct_rows WHERE k IN (SELECT k FROM members);
