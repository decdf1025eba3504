-- Catalog: the objects of the extensions, and that they work in any schema
--
-- The checks list violations, so they should return nothing.  They also cover
-- whatever is added later.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
CREATE EXTENSION cuckoo_citus;

CREATE VIEW member AS
	SELECT extname AS extension, classid, objid, pg_describe_object(classid, objid, 0) AS object
	FROM pg_depend JOIN pg_extension ON refobjid = pg_extension.oid
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname LIKE 'cuckoo%'
		-- From 17 on the array type, which PostgreSQL makes, is a member, too.
		AND NOT (classid = 'pg_type'::regclass AND objid = 'cuckoofilter[]'::regtype)
		-- The many operator classes of indexes are checked by index_types.sql.
		AND objid NOT IN (SELECT unnest(ARRAY[pg_opclass.oid, opcfamily])
			FROM pg_opclass JOIN pg_am ON opcmethod = pg_am.oid WHERE amname = 'cuckoo');

-- There is something to check, but not more than users can survey.
SELECT extension, classid::regclass, count(*) > 0 AS some FROM member GROUP BY 1, 2 ORDER BY 1, classid::regclass::text COLLATE "C";
SELECT count(*) < 90 AS few FROM member WHERE extension = 'cuckoo';

-- Every object has a comment.  Every function and aggregate is immutable (the
-- planner's estimators stable, as PostgreSQL's own) and parallel safe, but for
-- those that read an index, which can be temporary; none is
-- declared leakproof or runs with its owner's rights.  A polymorphic parameter is
-- anycompatible, never anyelement: literals of unknown type are text then.
SELECT object FROM member WHERE NOT EXISTS (SELECT FROM pg_description WHERE classoid = classid AND objoid = objid AND objsubid = 0);
SELECT object, provolatile, proparallel FROM member JOIN pg_proc ON objid = pg_proc.oid
WHERE classid = 'pg_proc'::regclass AND (proleakproof OR prosecdef OR 'anyelement'::regtype = ANY (proargtypes::oid[])
	OR provolatile <> (CASE WHEN proname LIKE '%sel' THEN 's' WHEN proname LIKE 'cuckoo_index%' THEN 'v' ELSE 'i' END)
	OR proparallel <> (CASE WHEN proname LIKE 'cuckoo_index%' THEN 'r' ELSE 's' END));

-- Every aggregate can be split: it has a combine function, a state that is not
-- internal, and a final function that changes nothing.
SELECT object FROM member JOIN pg_aggregate ON objid = aggfnoid
WHERE classid = 'pg_proc'::regclass
	AND (aggcombinefn = 0 OR aggtranstype <> 'cuckoofilter'::regtype OR aggfinalmodify <> 'r' OR aggtransspace = 0);

-- Operators have their counterparts, which name them as theirs.  Never @>
-- between two filters: it would capture untyped literals.
SELECT object FROM member JOIN pg_operator AS o ON objid = o.oid
WHERE classid = 'pg_operator'::regclass
	AND ((oprcom <> 0 AND NOT EXISTS (SELECT FROM pg_operator AS c WHERE c.oid = o.oprcom AND c.oprcom = o.oid
			AND c.oprleft = o.oprright AND c.oprright = o.oprleft AND c.oprresult = o.oprresult))
		OR (oprnegate <> 0 AND NOT EXISTS (SELECT FROM pg_operator AS n WHERE n.oid = o.oprnegate AND n.oprnegate = o.oid
			AND n.oid <> o.oid AND n.oprleft = o.oprleft AND n.oprright = o.oprright)) OR (oprcode = 0)
		OR (oprname IN ('=', '<>', '<', '<=', '>', '>=') AND (oprcom = 0 OR oprnegate = 0 OR oprrest = 0 OR oprjoin = 0))
		OR (oprname IN ('@>', '<@') AND (oprcom = 0 OR oprleft = oprright))
		OR (oprname = '=' AND NOT (oprcanhash AND oprcanmerge)));

SELECT amname, opcdefault, amvalidate(pg_opclass.oid)
FROM pg_opclass JOIN pg_am ON opcmethod = pg_am.oid WHERE opcintype = 'cuckoofilter'::regtype ORDER BY amname;

-- Both casts are explicit, and use a function.
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
WHERE 'cuckoofilter'::regtype IN (castsource, casttarget) ORDER BY castsource::regtype::text COLLATE "C";

-- Stored uncompressed, so that slices can be read.
SELECT typlen, typalign, typstorage FROM pg_type WHERE oid = 'cuckoofilter'::regtype;

-- They can be moved to any schema.
SELECT extname, extrelocatable FROM pg_extension WHERE extname LIKE 'cuckoo%' ORDER BY extname;

DROP EXTENSION cuckoo_citus;

---- Moved from one schema to another, neither of which is on the search path.
---- Stored filters and indexes stay.
BEGIN;
DROP EXTENSION cuckoo CASCADE;
CREATE SCHEMA "else where";
CREATE EXTENSION cuckoo SCHEMA "else where";
CREATE EXTENSION cuckoo_index SCHEMA "else where";
SET LOCAL search_path = scratch;
CREATE TABLE kept AS SELECT "else where".cuckoo_from_array(ARRAY[i, i + 1]) AS f FROM generate_series(1, 100) AS i;
CREATE UNIQUE INDEX ON kept (f);
CREATE TABLE members AS SELECT generate_series(1, 1000) AS id;
CREATE INDEX members_id ON members USING cuckoo (id);
CREATE VIEW of_five AS SELECT count(*) FROM kept WHERE f OPERATOR("else where".@>) 5;
CREATE SCHEMA third;
ALTER EXTENSION cuckoo SET SCHEMA third;
ALTER EXTENSION cuckoo_index SET SCHEMA third;
TABLE of_five;
SELECT third.cuckoo_cardinality(third.cuckoo_agg(i)) FROM generate_series(1, 10) AS i;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM kept WHERE f OPERATOR(third.=) third.cuckoo_from_array(ARRAY[7, 8]);
SELECT third.cuckoo_index_filter('members_id') OPERATOR(third.@>) id AS found, third.cuckoo_index_check('members_id') FROM members WHERE id = 7;
ROLLBACK;
