-- cuckoo_index_filter, cuckoo_index_info, cuckoo_index_check, and who may call them
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/index.psql"`

---- The functions, and what they refuse
CREATE TABLE members (id integer, email text) WITH (autovacuum_enabled = off);
INSERT INTO members SELECT i, 'user' || i || '@example.com' FROM generate_series(1, 12000) AS i;
INSERT INTO members VALUES (20000, 'UPPER'), (NULL, 'Upper'), (1, NULL);
CREATE INDEX members_email ON members USING cuckoo (email);
CREATE INDEX members_some ON members USING cuckoo (id) WHERE id > 11000;
CREATE INDEX members_lower ON members USING cuckoo (lower(email));
CREATE TABLE empty (k integer);
CREATE INDEX ON empty USING cuckoo (k);
CREATE TABLE parts (k integer, v text) PARTITION BY RANGE (k);
CREATE INDEX parts_k ON parts USING cuckoo (k);
SELECT missing(f, 11001, 12000), cuckoo_fpr(f) <= 0.001 AS rate, (SELECT count(*) < 60 FROM
	generate_series(200000, 229999) AS k WHERE f @> k) AS kept_rate, cuckoo_cardinality(f) BETWEEN 990 AND 1001 AS
	cardinality, outcome('SELECT $$' || f::text || '$$::cuckoofilter - 11500') LIKE '55000%' AS not_removable
FROM cuckoo_index_filter('members_some', partial => true) AS f \gx
SELECT (SELECT bool_and(f @> email) FROM members) AS emails, cuckoo_fpr(f) <= 0.01 AS rate,
	cuckoo_index_filter(NULL) IS NULL AS of_null, (SELECT bool_and(lower @> lower(email)) FROM members) AS
	expression,
	cuckoo_cardinality(cuckoo_index_filter('empty_k_idx')) AS empty, NOT cuckoo_index_filter('empty_k_idx') @> 1 AS
	nothing, cuckoo_index_info(NULL) IS NULL AND cuckoo_index_check(NULL) IS NULL AS nulls
FROM cuckoo_index_filter('members_email', fpr => 0.01) AS f, cuckoo_index_filter('members_lower') AS lower \gx
SELECT rate,
	lines(format('SELECT cuckoo_index_filter(''members_email'', fpr => %L) @> ''user5@example.com''::text', rate))
	FROM unnest('{0.1,0.1000001,0,-1,NaN,Infinity,1e-9,2e-8,1e-4}'::text[]) AS rate;
-- The lowest rate that the hint has is accepted.
CREATE TABLE rated AS SELECT generate_series(1, 11500) AS k;
CREATE INDEX rated_k ON rated USING cuckoo (k);
SELECT cuckoo_index_filter('rated_k', fpr =>
	substring(outcome('SELECT cuckoo_index_filter(''rated_k'', fpr => 0)') FROM 'rate of (\S+) to')::float8) @> 7
	AS found;
CREATE TABLE broken (k integer);
INSERT INTO broken VALUES (0);
CREATE INDEX CONCURRENTLY broken_k ON broken USING cuckoo ((1 / k));
CREATE INDEX broken_hash ON broken USING hash (k);
CREATE VIEW a_view AS SELECT 1;
SELECT object, lines(format('SELECT cuckoo_index_info(%L::regclass)', object)) AS outcome FROM
	unnest('{members,a_view,broken_hash,pg_class_oid_index,parts_k,broken_k,0,4294967295}'::text[]) AS object
UNION ALL SELECT object, lines(format('SELECT cuckoo_index_check(%L::regclass)', object)) FROM
	unnest('{members,broken_hash,parts_k,broken_k}'::text[]) AS object
UNION ALL SELECT object, lines(format('SELECT cuckoo_index_filter(%L::regclass)', object)) FROM
	unnest('{members,broken_hash,parts_k,broken_k,members_some}'::text[]) AS object;
DELETE FROM broken;
REINDEX INDEX broken_k;
INSERT INTO broken VALUES (1);
SELECT cuckoo_index_check('broken_k'), agrees('SELECT k FROM broken WHERE 1 / k = 1') \gx

-- Whoever may read the column may know its keys, unless rows are hidden.
CREATE ROLE regress_cuckoo_reader;
GRANT USAGE ON SCHEMA scratch TO regress_cuckoo_reader;
CREATE FUNCTION owners(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
	$$ BEGIN ASSERT current_user <> 'regress_cuckoo_reader'; RETURN $1; END $$;
CREATE TABLE guarded (a integer, b integer, c integer);
INSERT INTO guarded VALUES (1, 1, 1);
CREATE INDEX guarded_a ON guarded USING cuckoo (a);
CREATE INDEX guarded_b ON guarded USING cuckoo (b);
CREATE INDEX guarded_both ON guarded USING cuckoo (b, a);
CREATE INDEX guarded_some ON guarded USING cuckoo (a) WHERE c > 0;
CREATE INDEX guarded_owners ON guarded USING cuckoo (owners(a));
CREATE FUNCTION allowed() RETURNS TABLE (index text, filter text, numbers text, missing text) LANGUAGE sql AS $$
	SELECT i, left(outcome(format('SELECT cuckoo_index_filter(%L, partial => true) @> 1', i)), 5),
		left(outcome(format('SELECT entries FROM cuckoo_index_info(%L)', i)), 5),
		left(outcome(format('SELECT cuckoo_index_check(%L)', i)), 5)
	FROM unnest('{guarded_a,guarded_b,guarded_both,guarded_some,guarded_owners}'::text[]) AS i $$;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed() LIMIT 1 \gx
RESET ROLE;
GRANT SELECT (a, b) ON guarded TO regress_cuckoo_reader;
REVOKE SELECT (b) ON guarded FROM regress_cuckoo_reader;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed();
RESET ROLE;
GRANT SELECT ON guarded TO regress_cuckoo_reader;
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed();
RESET ROLE;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
SELECT index, filter, numbers, missing FROM allowed() LIMIT 1 \gx
SET ROLE regress_cuckoo_reader;
SELECT * FROM allowed() LIMIT 1 \gx
RESET ROLE;

---- A metapage that is damaged, as far as SQL can: the file of a B-tree
CREATE INDEX btree_k ON broken (k);
CREATE INDEX damaged_k ON broken USING cuckoo (k);
UPDATE pg_class SET relfilenode = (SELECT relfilenode FROM pg_class WHERE oid = 'btree_k'::regclass) WHERE oid =
	'damaged_k'::regclass;
SELECT lines('SELECT cuckoo_index_info(''damaged_k'')'), outcome('INSERT INTO broken VALUES (2)');
REINDEX INDEX damaged_k;
SELECT is_whole('damaged_k');
DROP OWNED BY regress_cuckoo_reader;
DROP ROLE regress_cuckoo_reader;
