-- Finds the rows of a large table whose keys are in a set.  These are 1 % of
-- the rows.

SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '1GB';

-- @ no filter | Seq Scan
SELECT count(*) FROM distinct_rows;

-- @ hashint8(k) = constant | Seq Scan
SELECT count(*) FROM distinct_rows WHERE hashint8(k) = 42;

-- @ filter, stored | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM filters WHERE id = 1) @> k;

-- @ filter, built by the query | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT cuckoo_agg(k) FROM members) @> k;

-- IS TRUE keeps the planner from converting the sub-select into a join.
-- @ k IN (sub-select), hashed | hashed SubPlan
SELECT count(*) FROM distinct_rows WHERE (k IN (SELECT k FROM members)) IS TRUE;

-- @ k = ANY(array) | Seq Scan
SELECT count(*) FROM distinct_rows WHERE k = ANY (members_array());

-- @ filter and k IN (sub-select), hashed | hashed SubPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM filters WHERE id = 1) @> k AND (k IN (SELECT k FROM members)) IS TRUE;

SET enable_hashagg = off;

-- @ hash semi-join | Hash Semi Join
SELECT count(*) FROM distinct_rows WHERE k IN (SELECT k FROM members);

RESET enable_hashagg;

-- @ k IN (sub-select), as planned | Join
SELECT count(*) FROM distinct_rows WHERE k IN (SELECT k FROM members);

-- @ filter and k IN (sub-select), as planned | Join
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM filters WHERE id = 1) @> k AND k IN (SELECT k FROM members);
