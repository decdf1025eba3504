-- Maps the tables' pages in shared buffers into this process, so that all
-- memory that it gets afterwards is its own.

SET jit = off;
SET max_parallel_workers_per_gather = 0;
\o /dev/null
SELECT count(*) FROM distinct_rows;
SELECT count(*) FROM members;
SELECT format('SELECT sum(length(chunk_data)) FROM %s', reltoastrelid::regclass)
	FROM pg_class WHERE oid = 'filters'::regclass \gexec
\o

-- Resets the peak of the resident memory.
COPY (SELECT 5) TO '/proc/self/clear_refs';
SELECT own_peak_kb() AS before_kb \gset
