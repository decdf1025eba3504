-- complain if the script is sourced in psql, rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION cuckoo_citus" to load this file. \quit

-- Citus distributes an aggregate only if it is not polymorphic.  So each
-- aggregate over keys of the extension cuckoo gets an overload for each built-in
-- scalar key type, over the same functions.  With only some of them a key of
-- another type could be cast: after double precision alone, a smallint would be.

DO $overloads$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	target CONSTANT name := pg_catalog.current_schema();
BEGIN
	-- This runs with a superuser's rights in a schema that may be anybody's, as
	-- may be that of the extension cuckoo.  It may only call what is in
	-- pg_catalog, and names the schema of everything it creates.
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	DECLARE
		key_types CONSTANT regtype[] := '{
			bool, "\"char\"", int2, int4, int8, oid, xid8, float4, float8, numeric, money,
			text, varchar, bpchar, name, bytea, bit, varbit, uuid,
			date, time, timetz, timestamp, timestamptz, interval,
			inet, cidr, macaddr, macaddr8, pg_lsn, jsonb}';
		key_type regtype;
		agg record;
		signature text;
	BEGIN
		FOR agg IN
			SELECT p.proname AS name, p.proargnames AS names, a.aggtranstype::regtype AS state, a.aggtransspace AS space,
				a.aggtransfn AS transition, a.aggfinalfn AS final, a.aggcombinefn AS combine,
				(string_to_array(oidvectortypes(p.proargtypes), ', '))[2:] AS parameters,
				obj_description(p.oid, 'pg_proc') AS comment
			FROM pg_extension AS e
				JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
				JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
			WHERE e.extname = 'cuckoo' AND d.deptype = 'e' AND p.proargtypes[0] = 'anycompatible'::regtype
		LOOP
			FOREACH key_type IN ARRAY key_types LOOP
				signature := format('%I.%I(%s)', target, agg.name, array_to_string(key_type::text || agg.parameters, ', '));
				EXECUTE format('CREATE AGGREGATE %I.%I(%s) (
						SFUNC = %s, STYPE = %s, SSPACE = %s,
						FINALFUNC = %s, FINALFUNC_MODIFY = READ_ONLY,
						COMBINEFUNC = %s, PARALLEL = SAFE)',
					target, agg.name,
					(SELECT string_agg(format('%I %s', u.name, u.type), ', ' ORDER BY u.number)
						FROM unnest(agg.names, key_type::text || agg.parameters) WITH ORDINALITY AS u (name, type, number)),
					agg.transition, agg.state, agg.space, agg.final, agg.combine);
				-- A function of that name for this very type may be somebody's.
				IF NOT EXISTS (SELECT FROM pg_aggregate WHERE aggfnoid = signature::regprocedure
						AND aggtransfn = agg.transition AND aggfinalfn = agg.final AND aggcombinefn = agg.combine) THEN
					RAISE invalid_object_definition
						USING MESSAGE = format('aggregate %s would use a function that is not of the extension cuckoo', signature);
				END IF;
				EXECUTE format('COMMENT ON AGGREGATE %s IS %L', signature, agg.comment);
			END LOOP;
		END LOOP;
	END;
	PERFORM pg_catalog.set_config('search_path', path, true);
END
$overloads$;
