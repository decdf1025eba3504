-- Joins of a large table with the table of keys that run.sh puts before this, with a
-- filter of these keys and without one.  The filter is built by the query.

SELECT CASE :'case' WHEN 'some_urls' THEN 'urls' WHEN 'repeated_few' THEN 'repeated_rows' ELSE 'distinct_rows' END AS rows_of,
	CASE :'case' WHEN 'some_urls' THEN 'url' ELSE 'k' END AS key \gset

-- @ :case: join | Hash Join
SELECT count(*) FROM :rows_of JOIN :case USING (:key);

-- @ :case: with a filter | InitPlan
SELECT count(*) FROM :rows_of JOIN :case USING (:key) WHERE (SELECT cuckoo_agg(:key) FROM :case) @> :key;
