-- Scans through a filter that the query gets in different ways.

SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '1GB';

-- @ sub-select, stored filter | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT f FROM filters WHERE id = 1) @> k;

-- @ sub-select, fresh aggregate | InitPlan
SELECT count(*) FROM distinct_rows WHERE (SELECT cuckoo_agg(k) FROM members) @> k;

SELECT f::text AS filter FROM filters WHERE id = 1 \gset

-- @ constant
SELECT count(*) FROM distinct_rows WHERE :'filter'::cuckoofilter @> k;

SET plan_cache_mode = force_generic_plan;
PREPARE scan(cuckoofilter) AS SELECT count(*) FROM distinct_rows WHERE $1 @> k;

-- @ parameter
EXECUTE scan(:'filter');

RESET plan_cache_mode;

-- @ CTE | CTE
WITH c AS MATERIALIZED (SELECT f FROM filters WHERE id = 1) SELECT count(*) FROM distinct_rows, c WHERE f @> k;

-- @ joined row | Nested Loop
SELECT count(*) FROM distinct_rows JOIN filters ON f @> k WHERE id = 1;

-- @ PL/pgSQL variable
DO $$
	DECLARE stored cuckoofilter;
	BEGIN
		SELECT f INTO stored FROM filters WHERE id = 1;
		PERFORM count(*) FROM distinct_rows WHERE stored @> k;
	END $$;

-- @ two filters, both for every row | Nested Loop
SELECT count(*) FROM distinct_rows JOIN filters ON f @> k;

-- @ two filters in turn | Join
SELECT count(*) FROM distinct_rows JOIN filters ON id = 1 + (k & 1) WHERE f @> k;

-- @ the same join without a lookup | Join
SELECT count(*) FROM distinct_rows JOIN filters ON id = 1 + (k & 1) WHERE f IS NOT NULL;
