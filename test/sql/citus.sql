-- cuckoo_citus: aggregates for each key type, over the transition functions of
-- the polymorphic ones
--
-- How Citus calls them is tested by test/t/004_states.pl and test/citus.
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/types.psql"`
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'cuckoo' \gset
CREATE SCHEMA typed;
CREATE EXTENSION cuckoo_citus SCHEMA typed;

CREATE VIEW aggregate AS
	SELECT p.oid, proname AS name, string_to_array(proargtypes::text, ' ')::regtype[] AS types, proargnames AS names, extname AS extension,
		aggtransfn, aggcombinefn, aggfinalfn, aggtranstype, aggtransspace, aggfinalmodify, proparallel, obj_description(p.oid, 'pg_proc') AS comment
	FROM pg_depend AS d JOIN pg_extension AS e ON refobjid = e.oid JOIN pg_proc AS p ON d.objid = p.oid JOIN pg_aggregate ON aggfnoid = p.oid
	WHERE refclassid = 'pg_extension'::regclass AND classid = 'pg_proc'::regclass AND deptype = 'e' AND extname IN ('cuckoo', 'cuckoo_citus');

-- Every built-in scalar key type has an overload of every aggregate at every
-- arity, and nothing else has.  A type is a key type if a filter can be made
-- from an empty array of it.
CREATE FUNCTION is_key_type(type regtype) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT cuckoo_from_array(''{}''::%s[])', type);
	RETURN true;
EXCEPTION WHEN feature_not_supported THEN RETURN false;
END $$;
CREATE TABLE key_types AS SELECT oid::regtype AS type FROM pg_type
	WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typcategory <> 'A' AND typarray <> 0 AND is_key_type(oid);
SELECT count(*) >= 31 AS enough FROM key_types;
CREATE VIEW wanted AS SELECT name, type || types[2:] AS types, names, aggtransfn, aggcombinefn, aggfinalfn, aggtranstype, aggtransspace, aggfinalmodify, proparallel, comment
	FROM aggregate, key_types WHERE extension = 'cuckoo' AND types[1] = 'anycompatible'::regtype;
SELECT name, cardinality(types) AS arguments, count(*) = (SELECT count(*) FROM key_types) AS all_types FROM wanted GROUP BY 1, 2 ORDER BY 1, 2;
CREATE VIEW found AS SELECT name, types, names, aggtransfn, aggcombinefn, aggfinalfn, aggtranstype, aggtransspace, aggfinalmodify, proparallel, comment
	FROM aggregate WHERE extension = 'cuckoo_citus';
(SELECT 'missing' AS what, name, types FROM (TABLE wanted EXCEPT TABLE found) AS m)
UNION ALL (SELECT 'too much', name, types FROM (TABLE found EXCEPT TABLE wanted) AS f) ORDER BY 2, 3;

-- Each gives the same bytes as the polymorphic one.
CREATE FUNCTION differing(OUT agg text, OUT type regtype, OUT arguments text, OUT what text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	list text;
	same boolean;
BEGIN
	FOR agg, type, arguments IN SELECT name, types[1], array_to_string((ARRAY['', '100', '0.01', '7'])[:cardinality(types)], ', ') FROM wanted LOOP
		list := (SELECT s.list FROM samples AS s WHERE s.type::regtype = differing.type LIMIT 1);
		EXECUTE format('SELECT typed.%1$I(k%2$s) = %3$I.%1$I(k%2$s) AND cuckoo_cardinality(typed.%1$I(k%2$s)) >= 2 FROM (SELECT unnest(string_to_array(%4$L, '';''))::%5$s UNION ALL SELECT NULL) AS v (k)',
			agg, arguments, current_setting('scratch.home'), list, type) INTO same;
		what := CASE WHEN list IS NULL THEN 'no samples' ELSE 'other bytes' END;
		IF same IS NOT TRUE THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT set_config('scratch.home', :'home', false) = :'home' AS set;
SELECT * FROM differing();

-- A view keeps the aggregate that it was made with.
CREATE TABLE numbers AS SELECT i AS n, i::text AS t FROM generate_series(1, 10) AS i;
SET search_path = scratch, typed, public;
CREATE VIEW typed_one AS SELECT cuckoo_agg(n) AS f FROM numbers;
SELECT refobjid::regprocedure = 'typed.cuckoo_agg(integer)'::regprocedure AS typed FROM pg_depend JOIN pg_rewrite AS r ON objid = r.oid
WHERE ev_class = 'typed_one'::regclass AND refclassid = 'pg_proc'::regclass;

-- Beside the polymorphic ones they change nothing for other types.
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN small AS integer;
SELECT (cuckoo_info(cuckoo_agg('x'))).key_type AS literal, (cuckoo_info(cuckoo_agg('sad'::mood))).key_type AS enum, (cuckoo_info(cuckoo_agg(ARRAY[n]))).key_type AS array,
	(cuckoo_info(cuckoo_agg(n::small))).key_type AS domain, (cuckoo_info(cuckoo_agg(t COLLATE "C", 10))).key_type AS text, (cuckoo_info(cuckoo_agg(t::scratch.mood, 10) FILTER (WHERE n
	> 10))).items AS none
FROM numbers;

-- A constant of regclass becomes an integer, a column remains a type that is refused.
SELECT (cuckoo_info(cuckoo_agg('pg_class'::regclass))).key_type, left(outcome('SELECT public.cuckoo_agg(k) FROM (SELECT ''pg_class''::regclass AS k OFFSET 0) AS s'), 5) AS of_a_column;

-- One's own for another type
CREATE AGGREGATE cuckoo_agg(key mood, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE);
SELECT scratch.cuckoo_agg(m, 5) = public.cuckoo_agg(m, 5, 0.001) AS same, scratch.cuckoo_agg(m, 5) @> 'happy'::mood AS found FROM unnest(enum_range(NULL::mood)) AS m;

-- citext is an error for the polymorphic ones.  For a typed one the parser
-- relabels it as text, which is found out for a column outside of a window.
CREATE EXTENSION citext SCHEMA scratch;
CREATE TABLE folded (c citext, d text);
INSERT INTO folded VALUES ('A', 'A'), ('a', 'a');
SELECT call, outcome('SELECT ' || call || ' FROM folded') FROM unnest(ARRAY['public.cuckoo_agg(''A''::citext)', 'public.cuckoo_agg(c) OVER ()', 'cuckoo_agg(c)', 'cuckoo_agg(c, 100)',
	'cuckoo_agg(DISTINCT c)', 'cuckoo_stream_agg(c, 100)']) AS call;
SELECT cuckoo_cardinality(cuckoo_agg(c) OVER ()) AS relabelled, cuckoo_cardinality(cuckoo_agg(c::text) OVER ()) AS cast FROM folded LIMIT 1;
DROP EXTENSION citext CASCADE;

-- The extension needs all of cuckoo, and only its functions.
SET search_path = scratch, public;
DROP VIEW typed_one;
DROP EXTENSION cuckoo_citus;
BEGIN;
CREATE FUNCTION public.cuckoo_agg_transfn(cuckoofilter, boolean) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT $1';
\set VERBOSITY terse
CREATE EXTENSION cuckoo_citus SCHEMA typed;
ROLLBACK;

DROP SCHEMA typed CASCADE;
