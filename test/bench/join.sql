-- Joins of a large table with a table of keys, with a filter of these keys and
-- without one.  The filter is built by the query.

-- @ many keys, 1 % of the rows: join | Hash Join
SELECT count(*) FROM distinct_rows JOIN members USING (k);

-- @ many keys, 1 % of the rows: with a filter | InitPlan
SELECT count(*) FROM distinct_rows JOIN members USING (k) WHERE (SELECT cuckoo_agg(k) FROM members) @> k;

-- @ many keys, 10 % of the rows: join | Hash Join
SELECT count(*) FROM distinct_rows JOIN tenth USING (k);

-- @ many keys, 10 % of the rows: with a filter | InitPlan
SELECT count(*) FROM distinct_rows JOIN tenth USING (k) WHERE (SELECT cuckoo_agg(k) FROM tenth) @> k;

-- @ fewer keys, 1 % of the rows: join | Hash Join
SELECT count(*) FROM distinct_rows JOIN hundredth USING (k);

-- @ fewer keys, 1 % of the rows: with a filter | InitPlan
SELECT count(*) FROM distinct_rows JOIN hundredth USING (k) WHERE (SELECT cuckoo_agg(k) FROM hundredth) @> k;

-- @ some keys, 0.2 % of the rows: join | Hash Join
SELECT count(*) FROM distinct_rows JOIN some_keys USING (k);

-- @ some keys, 0.2 % of the rows: with a filter | InitPlan
SELECT count(*) FROM distinct_rows JOIN some_keys USING (k) WHERE (SELECT cuckoo_agg(k) FROM some_keys) @> k;

-- @ some URLs, 0.7 % of the rows: join | Hash Join
SELECT count(*) FROM urls JOIN some_urls USING (url);

-- @ some URLs, 0.7 % of the rows: with a filter | InitPlan
SELECT count(*) FROM urls JOIN some_urls USING (url) WHERE (SELECT cuckoo_agg(url) FROM some_urls) @> url;

-- @ few keys, 0.1 % of the rows: join | Hash Join
SELECT count(*) FROM distinct_rows JOIN few USING (k);

-- @ few keys, 0.1 % of the rows: with a filter | InitPlan
SELECT count(*) FROM distinct_rows JOIN few USING (k) WHERE (SELECT cuckoo_agg(k) FROM few) @> k;

-- @ few keys, all rows: join | Hash Join
SELECT count(*) FROM repeated_rows JOIN repeated_few USING (k);

-- @ few keys, all rows: with a filter | InitPlan
SELECT count(*) FROM repeated_rows JOIN repeated_few USING (k) WHERE (SELECT cuckoo_agg(k) FROM repeated_few) @> k;

-- @ fewest keys, 0.002 % of the rows: join | Hash Join
SELECT count(*) FROM distinct_rows JOIN fewest USING (k);

-- @ fewest keys, 0.002 % of the rows: = ANY (ARRAY(SELECT ...)) | Seq Scan
SELECT count(*) FROM distinct_rows WHERE k = ANY (ARRAY(SELECT k FROM fewest));
