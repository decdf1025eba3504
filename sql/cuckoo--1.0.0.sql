-- complain if the script is sourced in psql, rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION cuckoo" to load this file. \quit

-- The type

CREATE TYPE cuckoofilter;

CREATE FUNCTION cuckoofilter_in(cstring) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_in(cstring) IS
	'text input of cuckoofilter: base64 of its portable bytes, validated';

CREATE FUNCTION cuckoofilter_out(cuckoofilter) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter) IS
	'text output of cuckoofilter: base64 of its portable bytes';

CREATE FUNCTION cuckoofilter_recv(internal) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_recv(internal) IS
	'binary input of cuckoofilter: its portable bytes, validated';

CREATE FUNCTION cuckoofilter_send(cuckoofilter) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter) IS
	'the portable bytes of a cuckoofilter: binary output, and the cast to bytea';

-- Fingerprints do not compress, and uncompressed values can be read in slices.
-- The alignment is for the states of aggregates, which have 8-byte fields.
CREATE TYPE cuckoofilter (
	INPUT = cuckoofilter_in,
	OUTPUT = cuckoofilter_out,
	RECEIVE = cuckoofilter_recv,
	SEND = cuckoofilter_send,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE cuckoofilter IS
	'cuckoo filter: an approximate set of keys, with no false negatives and a chosen rate of false positives';

-- Casts from and to bytea: explicit, and the cast from bytea validates

CREATE FUNCTION cuckoofilter_from_bytea(bytea) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_from_bytea(bytea) IS
	'a cuckoofilter from its portable bytes, validated';

CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION cuckoofilter_from_bytea(bytea);
COMMENT ON CAST (bytea AS cuckoofilter) IS 'from the portable bytes, validated';

CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION cuckoofilter_send(cuckoofilter);
COMMENT ON CAST (cuckoofilter AS bytea) IS 'to the portable bytes';

-- Make

CREATE FUNCTION cuckoo_new(capacity float8 DEFAULT NULL, fpr float8 DEFAULT 0.001, seed bigint DEFAULT 0, removable boolean DEFAULT true) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_new(float8, float8, bigint, boolean) IS
	'an empty filter: capacity in keys (from 1; NULL: unknown), rate fpr (2e-8 to 0.1), seed; unless removable, removing keys is an error';

CREATE FUNCTION cuckoo_from_array(keys anycompatiblearray, capacity float8 DEFAULT NULL, fpr float8 DEFAULT 0.001, seed bigint DEFAULT 0) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_from_array(anycompatiblearray, float8, float8, bigint) IS
	'a filter of the distinct elements of an array, with the parameters of cuckoo_agg';

-- Change: adding to a NULL filter makes one, and a NULL key leaves the filter as
-- it is

CREATE FUNCTION cuckoo_add(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add(cuckoofilter, anycompatible) IS
	'the filter (NULL: an empty one) with one more copy of the key, up to eight; an error for another key type';

CREATE FUNCTION cuckoo_add_all(f cuckoofilter, keys anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add_all(cuckoofilter, anycompatiblearray) IS
	'the filter with one more copy of each element of the array, as by cuckoo_add';

CREATE FUNCTION cuckoo_remove(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_remove(cuckoofilter, anycompatible) IS
	'the filter with one copy less of a key that was added, if that is safe; an error for another key type, or if it is not removable';

CREATE FUNCTION cuckoo_remove_all(f cuckoofilter, keys anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_remove_all(cuckoofilter, anycompatiblearray) IS
	'the filter with one copy less of each element of the array, as by cuckoo_remove';

-- Combine: a NULL filter is an empty one

CREATE FUNCTION cuckoo_union(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_union(cuckoofilter, cuckoofilter) IS
	'union: of each key the larger number of copies; an error for other seeds or key types, or more than 16 sub-filters';

CREATE FUNCTION cuckoo_union_all(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_union_all(cuckoofilter, cuckoofilter) IS
	'sum: of each key the copies of both, up to eight; an error for other seeds or key types, or more than 16 sub-filters';

CREATE FUNCTION cuckoo_intersection(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_intersection(cuckoofilter, cuckoofilter) IS
	'the keys of both, and false positives; an error for other seeds or key types';

CREATE FUNCTION cuckoo_common(f cuckoofilter, g cuckoofilter, OUT keys bigint, OUT error float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_common(cuckoofilter, cuckoofilter) IS
	'estimate of how many distinct keys are in both, and its standard error, by linear counting (Whang et al., 1990); an error for other seeds or key types';

-- Look up

CREATE FUNCTION cuckoo_contains_sel(internal, oid, internal, integer) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_contains_sel(internal, oid, internal, integer) IS
	'restriction selectivity of @> and <@';

CREATE FUNCTION cuckoo_contains_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_contains_joinsel(internal, oid, internal, smallint, internal) IS
	'join selectivity of @> and <@';

-- A lookup takes as long as seven comparisons of integers.  But the planner
-- charges each of several filters for every row, also for those that another one
-- has dropped.  With COST 8, it replaced the scan of a fact table with four
-- filters by thousands of index scans, which took twice as long.
CREATE FUNCTION cuckoo_contains(f cuckoofilter, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION cuckoo_contains(cuckoofilter, anycompatible) IS
	'whether the filter may hold the key (Fan et al., CoNEXT 2014); wrongly true at the rate cuckoo_fpr; an error for another key type';

CREATE FUNCTION cuckoo_contained(key anycompatible, f cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION cuckoo_contained(anycompatible, cuckoofilter) IS
	'whether the filter may hold the key: function of the operator <@';

CREATE FUNCTION cuckoo_contains_each(f cuckoofilter, keys anycompatiblearray) RETURNS boolean[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoo_contains_each(cuckoofilter, anycompatiblearray) IS
	'for each element of the array whether the filter may hold it; NULL for a NULL element';

CREATE FUNCTION cuckoo_count(f cuckoofilter, key anycompatible) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_count(cuckoofilter, anycompatible) IS
	'copies of the key, at most 8: never fewer than were added and not removed, up to eight';

CREATE FUNCTION cuckoo_cardinality(f cuckoofilter) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_cardinality(cuckoofilter) IS
	'items of the filter: the copies of all keys; an estimate, in which a key counts in one sub-filter, if several can hold it';

-- Look inside

CREATE FUNCTION cuckoo_info(f cuckoofilter,
	OUT format_version integer,
	OUT representation text,
	OUT key_type text,
	OUT items bigint,
	OUT capacity bigint,
	OUT load float8,
	OUT target_fpr float8,
	OUT expected_fpr float8,
	OUT fingerprint_bits integer,
	OUT subfilters integer,
	OUT blocks bigint,
	OUT seed bigint,
	OUT removable boolean,
	OUT bytes bigint,
	OUT bits_per_item float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_info(cuckoofilter) IS
	'parameters and contents of a filter: capacity in keys (NULL: unknown), load, rates, size in bytes and in bits per item';

CREATE FUNCTION cuckoo_subfilters(f cuckoofilter,
	OUT number integer,
	OUT items bigint,
	OUT capacity bigint,
	OUT load float8,
	OUT expected_fpr float8,
	OUT fingerprint_bits integer,
	OUT blocks bigint,
	OUT buckets integer,
	OUT bytes bigint,
	OUT representation text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 2;
COMMENT ON FUNCTION cuckoo_subfilters(cuckoofilter) IS
	'the sub-filters of a filter in their order: items, capacity in keys, load, expected rate, shape, bytes';

CREATE FUNCTION cuckoo_fpr(f cuckoofilter) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_fpr(cuckoofilter) IS
	'expected false-positive rate of the filter now, 0 to 1: the fraction of absent keys reported as present';

CREATE FUNCTION cuckoo_hash(key anycompatible, seed bigint DEFAULT 0) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_hash(anycompatible, bigint) IS
	'64-bit hash of a key under a seed: XXH3 of its canonical bytes, the same everywhere and in every version';

CREATE FUNCTION cuckoo_shard(key anycompatible, shards integer) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_shard(anycompatible, integer) IS
	'the shard of a key: 0 to shards - 1, evenly, by a hash that is independent of cuckoo_hash';

-- Operators

CREATE OPERATOR @> (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cuckoo_contains,
	COMMUTATOR = <@,
	RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel
);
COMMENT ON OPERATOR @> (cuckoofilter, anycompatible) IS 'whether the filter may hold the key';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = cuckoofilter, FUNCTION = cuckoo_contained,
	COMMUTATOR = @>,
	RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel
);
COMMENT ON OPERATOR <@ (anycompatible, cuckoofilter) IS 'whether the filter may hold the key';

CREATE OPERATOR + (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cuckoo_add
);
COMMENT ON OPERATOR + (cuckoofilter, anycompatible) IS 'the filter with one more copy of the key';

CREATE OPERATOR - (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cuckoo_remove
);
COMMENT ON OPERATOR - (cuckoofilter, anycompatible) IS 'the filter with one copy less of the key';

CREATE OPERATOR | (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoo_union
);
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter) IS 'union of the sets of keys';

CREATE OPERATOR & (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoo_intersection
);
COMMENT ON OPERATOR & (cuckoofilter, cuckoofilter) IS 'the keys of both';

-- Comparison, by bytes: PostgreSQL's own functions for bytea

CREATE FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter) IS
	'equal, by bytes';

CREATE FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'byteane' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter) IS
	'not equal, by bytes';

CREATE FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'bytealt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter) IS
	'less than, by bytes';

CREATE FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'byteale' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter) IS
	'less than or equal, by bytes';

CREATE FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'byteagt' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter) IS
	'greater than, by bytes';

CREATE FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'byteage' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter) IS
	'greater than or equal, by bytes';

CREATE FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter) RETURNS integer
	AS 'byteacmp' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter) IS
	'less than, equal, greater than as negative, 0, positive, by bytes';

CREATE FUNCTION cuckoofilter_hash(cuckoofilter) RETURNS integer
	AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash(cuckoofilter) IS
	'hash of the bytes';

CREATE FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) RETURNS bigint
	AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) IS
	'64-bit hash of the bytes with a salt';

CREATE OPERATOR = (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoofilter_eq,
	COMMUTATOR = =, NEGATOR = <>,
	HASHES, MERGES,
	RESTRICT = eqsel, JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter) IS 'the same bytes';

CREATE OPERATOR <> (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoofilter_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter) IS 'not the same bytes';

CREATE OPERATOR < (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoofilter_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (cuckoofilter, cuckoofilter) IS 'before, by bytes';

CREATE OPERATOR <= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoofilter_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (cuckoofilter, cuckoofilter) IS 'before or the same, by bytes';

CREATE OPERATOR > (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoofilter_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (cuckoofilter, cuckoofilter) IS 'after, by bytes';

CREATE OPERATOR >= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoofilter_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (cuckoofilter, cuckoofilter) IS 'after or the same, by bytes';

CREATE OPERATOR CLASS cuckoofilter_ops
	DEFAULT FOR TYPE cuckoofilter USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 cuckoofilter_cmp(cuckoofilter, cuckoofilter);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING btree IS 'cuckoofilter, by bytes';
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING btree IS 'cuckoofilter, by bytes';

CREATE OPERATOR CLASS cuckoofilter_ops
	DEFAULT FOR TYPE cuckoofilter USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 cuckoofilter_hash(cuckoofilter),
	FUNCTION 2 cuckoofilter_hash_extended(cuckoofilter, bigint);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING hash IS 'cuckoofilter, by bytes';
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING hash IS 'cuckoofilter, by bytes';

-- Aggregates over keys
--
-- The parameters after the key can be left out from the end, so there is an
-- aggregate for each number of them.  CREATE AGGREGATE can be used with the
-- same functions for one key type: planners that distribute aggregates may need
-- that, and the extension cuckoo_citus has such aggregates.

CREATE FUNCTION cuckoo_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_final(cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_final(cuckoofilter) IS
	'final function of cuckoo_agg';

CREATE FUNCTION cuckoo_stream_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_stream_agg';

CREATE FUNCTION cuckoo_combine_final(cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_combine_final(cuckoofilter) IS
	'final function of the aggregates whose states are filters';

CREATE FUNCTION cuckoo_multiset_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_multiset_agg';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible) IS
	'transition function of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8) IS
	'transition function of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8, float8) IS
	'transition function of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8, float8, bigint) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8, float8, bigint) IS
	'transition function of cuckoo_agg';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8) IS
	'transition function of cuckoo_stream_agg';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8, float8) IS
	'transition function of cuckoo_stream_agg';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8, float8, bigint) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8, float8, bigint) IS
	'transition function of cuckoo_stream_agg';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8) IS
	'transition function of cuckoo_multiset_agg';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8, float8) IS
	'transition function of cuckoo_multiset_agg';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8, float8, bigint) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8, float8, bigint) IS
	'transition function of cuckoo_multiset_agg';

CREATE AGGREGATE cuckoo_agg(key anycompatible) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible) IS
	'cuckoo_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_agg(key anycompatible, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, float8) IS
	'cuckoo_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_agg(key anycompatible, capacity float8, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, float8, float8) IS
	'cuckoo_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_agg(key anycompatible, capacity float8, fpr float8, seed bigint) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, float8, float8, bigint) IS
	'a filter of the distinct keys: capacity in keys (default: counted), rate fpr (2e-8 to 0.1; default 0.001), seed (default 0)';

CREATE AGGREGATE cuckoo_stream_agg(key anycompatible, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(anycompatible, float8) IS
	'cuckoo_stream_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_stream_agg(key anycompatible, capacity float8, fpr float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(anycompatible, float8, float8) IS
	'cuckoo_stream_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_stream_agg(key anycompatible, capacity float8, fpr float8, seed bigint) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(anycompatible, float8, float8, bigint) IS
	'a filter of the distinct keys, not removable, in the memory of a few filters; an error without a capacity, in keys';

CREATE AGGREGATE cuckoo_multiset_agg(key anycompatible, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(anycompatible, float8) IS
	'cuckoo_multiset_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_multiset_agg(key anycompatible, capacity float8, fpr float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(anycompatible, float8, float8) IS
	'cuckoo_multiset_agg(key, capacity, fpr, seed) with defaults';

CREATE AGGREGATE cuckoo_multiset_agg(key anycompatible, capacity float8, fpr float8, seed bigint) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(anycompatible, float8, float8, bigint) IS
	'a filter with a copy of the key for each row, up to eight; an error without a capacity, in copies';

-- Aggregates over filters
--
-- States are filters, so the transition functions combine them, too.

CREATE FUNCTION cuckoo_union_agg_transfn(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_union_agg_transfn(cuckoofilter, cuckoofilter) IS
	'transition and combine function of cuckoo_union_agg';
CREATE AGGREGATE cuckoo_union_agg(f cuckoofilter) (
	SFUNC = cuckoo_union_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_union_agg_transfn, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_union_agg(cuckoofilter) IS
	'union of all filters, as by cuckoo_union; a WARNING if the expected rate is over ten times the target rate';

CREATE FUNCTION cuckoo_union_all_agg_transfn(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_union_all_agg_transfn(cuckoofilter, cuckoofilter) IS
	'transition and combine function of cuckoo_union_all_agg';
CREATE AGGREGATE cuckoo_union_all_agg(f cuckoofilter) (
	SFUNC = cuckoo_union_all_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_union_all_agg_transfn, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_union_all_agg(cuckoofilter) IS
	'sum of all filters, as by cuckoo_union_all; a WARNING if the expected rate is over ten times the target rate';

CREATE AGGREGATE cuckoo_intersection_agg(f cuckoofilter) (
	SFUNC = cuckoo_intersection, STYPE = cuckoofilter, SSPACE = 16384,
	COMBINEFUNC = cuckoo_intersection, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_intersection_agg(cuckoofilter) IS
	'the keys that all filters have, as by cuckoo_intersection; NULL is skipped, and over no rows the result is NULL';
