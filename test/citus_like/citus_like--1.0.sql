\echo Use "CREATE EXTENSION citus_like" to load this file. \quit

-- These run on a worker and return the aggregate's transition state in its
-- text form.  Several arguments are passed as one record.

CREATE FUNCTION worker_partial_sfunc(internal, oid, anyelement) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION worker_partial_ffunc(internal) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE AGGREGATE worker_partial_agg(oid, anyelement) (
	SFUNC = worker_partial_sfunc, STYPE = internal, FINALFUNC = worker_partial_ffunc
);

-- These run on the coordinator and return the aggregate's result from such
-- states.  The last argument is a NULL of the result's type.

CREATE FUNCTION coord_combine_sfunc(internal, oid, cstring, anyelement) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION coord_combine_ffunc(internal, oid, cstring, anyelement) RETURNS anyelement
	AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE AGGREGATE coord_combine_agg(oid, cstring, anyelement) (
	SFUNC = coord_combine_sfunc, STYPE = internal,
	FINALFUNC = coord_combine_ffunc, FINALFUNC_EXTRA
);

-- The size in bytes of the memory context of the last aggregate above, at its
-- end.
CREATE FUNCTION aggregate_memory() RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C;
