-- What the extension cuckoo_index adds to types, filters and tables: enum and composite
-- columns, filters of the indexes of partitions, which combine, temporary tables
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/index.psql"`

---- An enum has a default operator class.  An index stays right when ALTER TYPE
---- renames a value or adds one, also in the first of several columns.
CREATE TYPE kind AS ENUM ('page', 'image');
CREATE DOMAIN some_kind AS kind;
CREATE TABLE links (kind kind, url text, same some_kind);
INSERT INTO links SELECT k, 'url ' || n, k FROM generate_series(1, 1000) AS n,
	LATERAL (SELECT (enum_range(NULL::kind))[1 + n % 2]) AS k (k);
CREATE INDEX links_kind_url ON links USING cuckoo (kind, url);
CREATE INDEX links_same ON links USING cuckoo (same) WHERE url = 'url 7';
ALTER TYPE kind RENAME VALUE 'image' TO 'picture';
ALTER TYPE kind ADD VALUE 'script' BEFORE 'page';
INSERT INTO links VALUES ('script', 'url 7'), ('picture', 'url 2000');
SET enable_seqscan = off;
SELECT uses($$SELECT FROM links WHERE kind = 'script' AND url = 'url 7'$$, 'links_kind_url') AS by_index,
	cuckoo_index_check('links_kind_url'), cuckoo_index_check('links_same') AS of_domain;
SELECT kind, count(*) FROM unnest('{script,page,picture}'::kind[]) AS k
	JOIN links ON kind = k AND url = 'url 7' GROUP BY kind ORDER BY kind;
SELECT count(*) FROM links WHERE kind = ANY ('{picture,script}') AND url = 'url 2000';
RESET enable_seqscan;
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcintype IN ('anyenum'::regtype, 'record'::regtype)
	AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo') ORDER BY opcname;
-- The operator class hashes OIDs, as filters do not.
SELECT lines($$CREATE INDEX links_kind ON links USING cuckoo (kind); SELECT cuckoo_index_filter('links_kind')$$);

---- A composite column is refused with the reason, as are arrays of it.
CREATE TYPE pair AS (a integer, b kind);
CREATE DOMAIN some_pair AS pair;
CREATE TABLE composite (p pair, s some_pair, ps pair[], link links);
SELECT c, replace(substring(outcome(format('CREATE INDEX ON composite USING cuckoo (%s)', c)) FROM '\| (.*?)\s+\|'),
	'scratch.', '') AS error FROM unnest('{p,s,ps,link}'::text[]) AS c;
SELECT lines('CREATE INDEX ON composite USING cuckoo (p)') AS outcome;

---- Filters with the same capacity and rate combine.  Twenty-one, of which
---- one is empty, are one sub-filter with the bytes of a filter built from all keys.
CREATE TABLE visits (visitor integer, day integer) PARTITION BY LIST (day);
DO $$BEGIN
	FOR day IN 1 .. 21 LOOP
		EXECUTE format('CREATE TABLE visits_%s PARTITION OF visits FOR VALUES IN (%1$s)', day);
	END LOOP;
END$$;
INSERT INTO visits SELECT n, 1 + floor(20 * sqrt(n / 20001.0)) FROM generate_series(1, 20000) AS n
UNION ALL SELECT n, 1 FROM generate_series(1, 3000) AS n;
CREATE INDEX visits_visitor ON visits USING cuckoo (visitor);
CREATE FUNCTION filters(capacity float8, fpr float8) RETURNS SETOF cuckoofilter LANGUAGE sql AS
	$$SELECT cuckoo_index_filter(relid, capacity, fpr) FROM pg_partition_tree('visits_visitor') WHERE isleaf$$;
SELECT count(*) AS filters, count(f) AS not_null, bool_and((cuckoo_info(f)).capacity = 30000) AS capacity
FROM filters(3e4, 0.01) AS f;
SELECT cuckoo_union_agg(f) = (SELECT cuckoo_stream_agg(visitor, 3e4, 0.01) FROM visits) AS stream,
	(SELECT count(*) FROM cuckoo_subfilters(cuckoo_union_agg(f))) AS subfilters,
	missing(cuckoo_union_agg(f), 1, 20000), kept_rate(cuckoo_union_agg(f)) FROM filters(3e4, 0.01) AS f;
-- cuckoo_agg counts keys that share an item, so its filter is removable.
SELECT cuckoo_cardinality(f) AS agg, cuckoo_cardinality(u) AS of_indexes
FROM (SELECT cuckoo_agg(visitor, 3e4, 0.01) AS f FROM visits) AS agg,
	(SELECT cuckoo_union_agg(f) AS u FROM filters(3e4, 0.01) AS f) AS indexes;
-- Without a capacity, each has that of its keys.
SELECT replace(lines('SELECT cuckoo_union_agg(f) FROM filters(NULL, 0.01) AS f'), ': ', E':\n    ');
-- A capacity below the number of keys is as none: the filter has room for all.
SELECT (cuckoo_info(f)).capacity BETWEEN 3000 AND 3300 AS capacity, missing(f, 1, 3000), kept_rate(f),
	f = cuckoo_index_filter('visits_1_visitor_idx') AS as_none
FROM cuckoo_index_filter('visits_1_visitor_idx', 10) AS f;
SELECT capacity, lines(format('SELECT cuckoo_index_filter(''visits_1_visitor_idx'', %L) @> 1', capacity))
FROM unnest('{0.01,0,NaN,1e300,1e11,4052.5,Infinity}'::text[]) AS capacity;
SELECT lines('SELECT cuckoo_index_filter(''visits_visitor'')');

---- The index of a temporary table that is emptied at each commit is built anew
---- then, without its capacity, which would take longer than the transaction.
CREATE TEMPORARY TABLE session (k integer) ON COMMIT DELETE ROWS;
CREATE INDEX session_k ON session USING cuckoo (k) WITH (capacity = 1e6);
SELECT pg_relation_size('session_k') > 6e6 AS for_capacity;
INSERT INTO session VALUES (1);
SELECT pg_relation_size('session_k') < 50000 AS for_none;
BEGIN;
INSERT INTO session SELECT generate_series(1, 5000);
SELECT cuckoo_index_check('session_k');
COMMIT;
