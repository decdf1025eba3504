--
-- Catalog: the extension's objects, and that it works in any schema
--
-- The checks list violations, so they should return nothing.  They also cover
-- whatever is added later.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
\pset format unaligned
\pset footer off

CREATE SCHEMA catalog_test;
SET search_path = catalog_test, public;

CREATE VIEW member AS
	SELECT classid, objid, pg_describe_object(classid, objid, 0) AS object
	FROM pg_depend JOIN pg_extension ON refobjid = pg_extension.oid
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname = 'cuckoo'
		-- From 17 on the array type, which PostgreSQL makes, is a member, too.
		AND NOT (classid = 'pg_type'::regclass AND objid = 'cuckoofilter[]'::regtype);

-- There is something to check.
SELECT classid::regclass, count(*) > 0 AS some FROM member GROUP BY classid ORDER BY classid::regclass::text COLLATE "C";

-- Every object has a comment.
SELECT object FROM member
WHERE NOT EXISTS (SELECT FROM pg_description WHERE classoid = classid AND objoid = objid AND objsubid = 0);

-- Every function and aggregate is immutable (the planner's estimators stable,
-- as PostgreSQL's own) and parallel safe; none is declared leakproof or runs
-- with its owner's rights.
SELECT object, provolatile, proparallel FROM member JOIN pg_proc ON objid = pg_proc.oid
WHERE classid = 'pg_proc'::regclass
	AND (provolatile <> (CASE WHEN proname LIKE '%sel' THEN 's' ELSE 'i' END) OR proparallel <> 's' OR proleakproof OR prosecdef)
	AND proname NOT IN ('cuckoo_follow', 'cuckoo_followed', 'cuckoo_current', 'cuckoo_fold', 'cuckoo_rebuild', 'cuckoo_follow_check',
		'cuckoo_follow_row', 'cuckoo_follow_end', 'cuckoo_follow_truncate');

-- The functions that follow a table read and write tables.  Changes that the
-- session has not written yet are known only to its leader process.
SELECT proname COLLATE "C", provolatile, proparallel, proisstrict FROM member JOIN pg_proc ON objid = pg_proc.oid
WHERE classid = 'pg_proc'::regclass AND (proname ~ '^cuckoo_follow' OR proname IN ('cuckoo_current', 'cuckoo_fold', 'cuckoo_rebuild'))
ORDER BY 1;

-- Lookups are strict; what changes or makes a filter is not.
SELECT DISTINCT proname COLLATE "C", proisstrict FROM member JOIN pg_proc ON objid = pg_proc.oid
WHERE classid = 'pg_proc'::regclass AND proname IN ('cuckoo_new', 'cuckoo_from_array', 'cuckoo_add', 'cuckoo_add_all',
	'cuckoo_remove', 'cuckoo_remove_all', 'cuckoo_contains', 'cuckoo_contained', 'cuckoo_count', 'cuckoo_cardinality',
	'cuckoo_info', 'cuckoo_tables', 'cuckoo_fpr', 'cuckoo_hash', 'cuckoo_shard')
ORDER BY 1;

-- Every aggregate can be split: it has a combine function, a state that is not
-- internal, and a final function that changes nothing.
SELECT object FROM member JOIN pg_aggregate ON objid = aggfnoid
WHERE classid = 'pg_proc'::regclass
	AND (aggcombinefn = 0 OR aggtranstype <> 'cuckoofilter'::regtype OR aggfinalmodify <> 'r' OR aggtransspace = 0);

-- Every built-in scalar key type has an overload of every aggregate at every
-- arity, beside the polymorphic one: planners that distribute aggregates need
-- it.  A type is a key type if a filter can be made from an empty array of it.
CREATE FUNCTION is_key_type(type regtype) RETURNS boolean LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE format('SELECT cuckoo_from_array(''{}''::%s[])', type);
	RETURN true;
EXCEPTION WHEN feature_not_supported THEN
	RETURN false;
END
$$;
CREATE TABLE key_types AS SELECT oid::regtype AS type FROM pg_type
	WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typcategory <> 'A' AND typarray <> 0 AND is_key_type(oid);
SELECT count(*) >= 31 AS enough FROM key_types;
CREATE TABLE aggregates AS SELECT agg, (ARRAY['double precision', 'double precision', 'bigint']::regtype[])[:n] AS parameters
	FROM (VALUES ('cuckoo_agg', 0), ('cuckoo_stream_agg', 2), ('cuckoo_multiset_agg', 2)) AS a (agg, least), generate_series(least, 3) AS n;
SELECT agg, type, parameters FROM aggregates, (SELECT type FROM key_types UNION ALL SELECT 'anycompatible') AS t (type)
WHERE NOT EXISTS (SELECT FROM pg_proc JOIN member ON classid = 'pg_proc'::regclass AND objid = pg_proc.oid
	WHERE proname = agg AND prokind = 'a' AND string_to_array(proargtypes::text, ' ')::regtype[] = type || parameters);
-- And no others
SELECT object FROM member JOIN pg_proc ON objid = pg_proc.oid
WHERE classid = 'pg_proc'::regclass AND prokind = 'a' AND proname IN (SELECT agg FROM aggregates)
	AND NOT EXISTS (SELECT FROM aggregates, (SELECT type FROM key_types UNION ALL SELECT 'anycompatible') AS t (type)
		WHERE proname = agg AND string_to_array(proargtypes::text, ' ')::regtype[] = type || parameters);
-- Each gives the same bytes as the polymorphic one, but is another function.
CREATE FUNCTION differing(OUT agg text, OUT type regtype, OUT parameters regtype[], OUT what text) RETURNS SETOF record LANGUAGE plpgsql AS
$$
DECLARE
	samples CONSTANT jsonb := '{"boolean": ["true", "false"], "\"char\"": ["a", ""], "smallint": [1, -1], "integer": [1, -1], "bigint": [1, -9223372036854775808], "oid": [1, 4294967295],
		"xid8": [1, "18446744073709551615"], "real": [0.1, "NaN"], "double precision": [0.1, "-Infinity"], "numeric": ["1.50", "1e30"], "money": [1, -2], "text": ["z", ""],
		"character varying": ["z", "a "], "character": ["a", "b"], "name": ["z", ""], "bytea": ["\\x00", ""], "bit": [1, 0], "bit varying": [1, "0001"],
		"uuid": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"], "date": ["2000-01-01", "infinity"], "time without time zone": ["00:00", "24:00"],
		"time with time zone": ["00:00+00", "13:00+01"], "timestamp without time zone": ["2000-01-01", "-infinity"], "timestamp with time zone": ["2000-01-01 00:00+00", "infinity"],
		"interval": ["1 mon", "30 days 1 us"], "inet": ["10.0.0.1/8", "::1"], "cidr": ["10.0.0.0/8", "::/0"], "macaddr": ["08:00:2b:01:02:03", "00:00:00:00:00:00"],
		"macaddr8": ["08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:00"], "pg_lsn": ["0/0", "16/B374D848"], "jsonb": ["{\"a\": [1, null]}", "null"]}';
	arguments text;
	same boolean;
BEGIN
	FOR agg, parameters, type IN SELECT a.agg, a.parameters, t.type FROM aggregates AS a, key_types AS t LOOP
		arguments := array_to_string((ARRAY['', '0.01', '100', '7'])[:cardinality(parameters) + 1], ', ');
		EXECUTE format('SELECT %1$I(k%2$s) = %3$I(k%2$s) AND cuckoo_cardinality(%1$I(k%2$s)) >= 2 FROM (SELECT (jsonb_array_elements_text(%4$L))::%5$s UNION ALL SELECT NULL) AS v (k)',
			agg, arguments, 'polymorphic_' || agg, samples -> type::text, type) INTO same;
		what := CASE WHEN same IS NULL THEN 'no samples' ELSE 'other bytes' END;
		IF same IS NOT TRUE THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END
$$;
DO $$
DECLARE
	a record;
BEGIN
	FOR a IN SELECT agg, array_to_string('anycompatible'::regtype || parameters, ', ') AS arguments FROM aggregates LOOP
		EXECUTE format('CREATE AGGREGATE %I(%s) (SFUNC = %I, STYPE = cuckoofilter, FINALFUNC = %I)', 'polymorphic_' || a.agg, a.arguments, a.agg || '_transfn',
			CASE a.agg WHEN 'cuckoo_agg' THEN 'cuckoo_agg_final' ELSE 'cuckoo_stream_agg_final' END);
	END LOOP;
END $$;
SELECT * FROM differing();
SELECT object FROM member JOIN pg_aggregate ON objid = aggfnoid JOIN pg_proc ON pg_proc.oid = objid
WHERE classid = 'pg_proc'::regclass AND proargtypes[0] IN (SELECT type FROM key_types) AND (SELECT proargtypes[1] FROM pg_proc WHERE oid = aggtransfn::oid) <> proargtypes[0];

-- A polymorphic parameter is anycompatible, never anyelement: literals of
-- unknown type are text then.
SELECT object FROM member JOIN pg_proc ON objid = pg_proc.oid
WHERE classid = 'pg_proc'::regclass AND 'anyelement'::regtype = ANY (proargtypes::oid[]);

-- Operators have their counterparts, which name them as theirs.
SELECT object FROM member JOIN pg_operator AS o ON objid = o.oid
WHERE classid = 'pg_operator'::regclass
	AND ((oprcom <> 0 AND NOT EXISTS (SELECT FROM pg_operator AS c WHERE c.oid = o.oprcom AND c.oprcom = o.oid
			AND c.oprleft = o.oprright AND c.oprright = o.oprleft AND c.oprresult = o.oprresult))
		OR (oprnegate <> 0 AND NOT EXISTS (SELECT FROM pg_operator AS n WHERE n.oid = o.oprnegate AND n.oprnegate = o.oid
			AND n.oid <> o.oid AND n.oprleft = o.oprleft AND n.oprright = o.oprright))
		OR (oprcode = 0)
		OR (oprname IN ('=', '<>', '<', '<=', '>', '>=') AND (oprcom = 0 OR oprnegate = 0 OR oprrest = 0 OR oprjoin = 0))
		OR (oprname IN ('@>', '<@') AND oprcom = 0)
		OR (oprname = '=' AND NOT (oprcanhash AND oprcanmerge)));

-- Never @> between two filters: it would capture untyped literals.
SELECT object FROM member JOIN pg_operator ON objid = pg_operator.oid
WHERE classid = 'pg_operator'::regclass AND oprname IN ('@>', '<@') AND oprleft = oprright;

SELECT amname, opcdefault, amvalidate(pg_opclass.oid)
FROM pg_opclass JOIN pg_am ON opcmethod = pg_am.oid WHERE opcintype = 'cuckoofilter'::regtype ORDER BY amname;

-- Both casts are explicit, and use a function.
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
WHERE 'cuckoofilter'::regtype IN (castsource, casttarget) ORDER BY castsource::regtype::text COLLATE "C";

-- Stored uncompressed, so that slices can be read.
SELECT typlen, typalign, typstorage FROM pg_type WHERE oid = 'cuckoofilter'::regtype;

-- It can be moved to any schema.
SELECT extrelocatable FROM pg_extension WHERE extname = 'cuckoo';

--
-- In another schema that is not on the search path
--
BEGIN;
DROP EXTENSION cuckoo CASCADE;
CREATE SCHEMA "else where";
CREATE EXTENSION cuckoo SCHEMA "else where";
SET LOCAL search_path = catalog_test;
SELECT f OPERATOR("else where".@>) 5 AS contains, 6 OPERATOR("else where".<@) f AS contained,
	"else where".cuckoo_cardinality(f OPERATOR("else where".+) 6 OPERATOR("else where".-) 5) AS items,
	"else where".cuckoo_count("else where".cuckoo_agg(i), 3) AS count,
	(SELECT representation FROM "else where".cuckoo_info(f)) AS representation
FROM "else where".cuckoo_from_array(ARRAY[5]) AS f, generate_series(1, 3) AS i GROUP BY f;

-- Moved to a third one.  Stored filters and indexes stay.
CREATE TABLE kept AS SELECT "else where".cuckoo_from_array(ARRAY[i, i + 1]) AS f FROM generate_series(1, 100) AS i;
CREATE UNIQUE INDEX ON kept (f);
CREATE VIEW of_five AS SELECT count(*) FROM kept WHERE f OPERATOR("else where".@>) 5;
CREATE SCHEMA third;
ALTER EXTENSION cuckoo SET SCHEMA third;
TABLE of_five;
SELECT third.cuckoo_cardinality(third.cuckoo_agg(i)) FROM generate_series(1, 10) AS i;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM kept WHERE f OPERATOR(third.=) third.cuckoo_from_array(ARRAY[7, 8]);
ROLLBACK;

-- Without the extension's schema in the search path, no operator is found, not
-- even another one by chance.
\set VERBOSITY sqlstate
SET search_path = pg_catalog;
SELECT public.cuckoo_new() @> 5;
SELECT public.cuckoo_new() OPERATOR(public.@>) 5 AS contains;
RESET search_path;

DROP SCHEMA catalog_test CASCADE;
