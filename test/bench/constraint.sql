-- Keeping URLs unique by the method that run.sh puts before this, once for each:
-- constraint_setup.sql.

SELECT CASE :'method' WHEN 'btree' THEN 'UNIQUE (url)' ELSE format('EXCLUDE USING %s (url WITH =)', :'method') END AS one,
	CASE :'method' WHEN 'btree' THEN 'UNIQUE (tenant, url)' ELSE format('EXCLUDE USING %s (tenant WITH =, url WITH =)', :'method') END AS two,
	:'method' <> 'hash' AS columns \gset

SET max_parallel_maintenance_workers = 0;

CALL begin_pages();

VACUUM (FREEZE, ANALYZE) pages;

-- @ ADD CONSTRAINT: :method
ALTER TABLE pages ADD :one;

INSERT INTO constraint_sizes SELECT 'built: ' || :'method', pg_indexes_size('pages');

SET enable_hashjoin = off;

SET enable_mergejoin = off;

-- @ nested loop, half absent: :method | Nested Loop
SELECT sum(p.tenant) FROM half_absent JOIN pages AS p USING (url);

-- @ semi-join, half absent: :method | Nested Loop Semi Join
SELECT count(*) FROM half_absent AS h WHERE EXISTS (SELECT FROM pages AS p WHERE p.url = h.url);

-- @ ON CONFLICT, a tenth new: :method
INSERT INTO pages SELECT * FROM tenth_new ON CONFLICT DO NOTHING;

-- @ INSERT of new: :method
INSERT INTO pages SELECT * FROM new_urls;

INSERT INTO constraint_sizes SELECT 'half as many added: ' || :'method', pg_indexes_size('pages');

CALL begin_pages();

\if :columns

ALTER TABLE pages ADD :two;

-- @ two columns, INSERT of new: :method
INSERT INTO pages SELECT * FROM new_urls;

-- @ two columns, ON CONFLICT, half new: :method
INSERT INTO pages SELECT * FROM half_new ON CONFLICT DO NOTHING;

\endif
