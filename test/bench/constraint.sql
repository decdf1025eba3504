-- Keeping URLs unique by the method that run.sh puts before this, once for each:
-- constraint_setup.sql.

SELECT CASE :'case' WHEN 'btree' THEN 'ALTER TABLE pages ADD UNIQUE (url)'
		WHEN 'unique' THEN 'CREATE UNIQUE INDEX ON pages USING cuckoo (url)'
		ELSE format('ALTER TABLE pages ADD EXCLUDE USING %s (url WITH =)', :'case') END AS one,
	CASE :'case' WHEN 'btree' THEN 'ALTER TABLE pages ADD UNIQUE (tenant, url)'
		WHEN 'unique' THEN 'CREATE UNIQUE INDEX ON pages USING cuckoo (tenant, url)'
		ELSE format('ALTER TABLE pages ADD EXCLUDE USING %s (tenant WITH =, url WITH =)', :'case') END AS two,
	:'case' <> 'hash' AS columns, :'case' IN ('btree', 'unique') AS upserts \gset

SET max_parallel_maintenance_workers = 0;

CALL begin_pages();

VACUUM (FREEZE, ANALYZE) pages;

-- @ built, with its check: :case
:one;

INSERT INTO constraint_sizes SELECT 'built: ' || :'case', pg_indexes_size('pages');

SET enable_hashjoin = off;

SET enable_mergejoin = off;

-- @ nested loop, half absent: :case | Nested Loop
SELECT sum(p.tenant) FROM half_absent JOIN pages AS p USING (url);

-- @ semi-join, half absent: :case | Nested Loop Semi Join
SELECT count(*) FROM half_absent AS h WHERE EXISTS (SELECT FROM pages AS p WHERE p.url = h.url);

-- @ ON CONFLICT, a tenth new: :case
INSERT INTO pages SELECT * FROM tenth_new ON CONFLICT DO NOTHING;

-- @ INSERT of new: :case
INSERT INTO pages SELECT * FROM new_urls;

\if :upserts

-- @ DO UPDATE, half there: :case
INSERT INTO pages SELECT * FROM half_there ON CONFLICT (url) DO UPDATE SET tenant = excluded.tenant;

\endif

INSERT INTO constraint_sizes SELECT 'half as many added: ' || :'case', pg_indexes_size('pages');

CALL begin_pages();

\if :columns

:two;

-- @ two columns, INSERT of new: :case
INSERT INTO pages SELECT * FROM new_urls;

-- @ two columns, ON CONFLICT, half new: :case
INSERT INTO pages SELECT * FROM half_new ON CONFLICT DO NOTHING;

\if :upserts

-- @ two columns, DO UPDATE, half there: :case
INSERT INTO pages SELECT * FROM half_there ON CONFLICT (tenant, url) DO UPDATE SET tenant = excluded.tenant;

\endif

\endif
