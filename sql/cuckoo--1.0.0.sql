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
	'cuckoo filter: a set of keys that answers "may it hold this one?" at a chosen false-positive rate, without false negatives';

-- bytea: both ways explicit, and into the type only through the validator

CREATE FUNCTION cuckoofilter_from_bytea(bytea) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_from_bytea(bytea) IS
	'a cuckoofilter from its portable bytes, validated';

CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION cuckoofilter_from_bytea(bytea);
COMMENT ON CAST (bytea AS cuckoofilter) IS 'from the portable bytes, validated';

CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION cuckoofilter_send(cuckoofilter);
COMMENT ON CAST (cuckoofilter AS bytea) IS 'to the portable bytes';

-- Make

CREATE FUNCTION cuckoo_new(fpr float8 DEFAULT 0.001, capacity float8 DEFAULT 0, seed bigint DEFAULT 0, layout text DEFAULT 'semisorted') RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_new(float8, float8, bigint, text) IS
	'an empty filter: false-positive rate from 2e-9 to 0.1; capacity in keys, rounded up, 0 for growing as needed; seed of the hash; layout semisorted (12.5 bits a key at 0.001) or plain (one bit more, faster to change). NULL means the default';

CREATE FUNCTION cuckoo_from_array(anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_from_array(anycompatiblearray) IS
	'a filter over the distinct elements of an array, as cuckoo_agg makes it; NULL elements are skipped';

CREATE FUNCTION cuckoo_from_array(keys anycompatiblearray, fpr float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_from_array(anycompatiblearray, float8) IS
	'a filter over the distinct elements of an array at this false-positive rate (2e-9 to 0.1; NULL: 0.001)';

-- Change: a NULL key leaves the filter as it is

CREATE FUNCTION cuckoo_add(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add(cuckoofilter, anycompatible) IS
	'the filter with one copy more of the key; of copies beyond eight nothing is kept but that there are many';

CREATE FUNCTION cuckoo_add_new(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add_new(cuckoofilter, anycompatible) IS
	'the filter with one copy of the key, added only where the filter does not contain it; a filter of tables is marked not removable by this, because two keys may then share an entry';

CREATE FUNCTION cuckoo_add_all(f cuckoofilter, keys anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add_all(cuckoofilter, anycompatiblearray) IS
	'the filter with one copy more of each element of the array; NULL elements are skipped';

CREATE FUNCTION cuckoo_remove(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_remove(cuckoofilter, anycompatible) IS
	'the filter with one copy less of a key that was added to it; unchanged if there is none, or none that can be taken out with safety. Removing a key that was never added can lose another';

CREATE FUNCTION cuckoo_remove_all(f cuckoofilter, keys anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_remove_all(cuckoofilter, anycompatiblearray) IS
	'the filter with one copy less of each element of the array, as by cuckoo_remove';

-- Combine: a NULL second filter leaves the first as it is

CREATE FUNCTION cuckoo_union(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_union(cuckoofilter, cuckoofilter) IS
	'union of the sets: of each key the larger number of copies. Tables of equal shape become one where the result fits, others are held side by side, 16 at most. Where tables take part the result is not removable. An error for different seeds or kinds of keys';

CREATE FUNCTION cuckoo_merge(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_merge(cuckoofilter, cuckoofilter) IS
	'sum of the multisets: the copies of both, up to eight. Tables of equal shape become one where the result fits, others are held side by side, 16 at most. Keys stay removable. An error for different seeds or kinds of keys';

CREATE FUNCTION cuckoo_mergeable(f cuckoofilter, g cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_mergeable(cuckoofilter, cuckoofilter) IS
	'whether union and merge of the two filters raise no error: keys of one kind, the same seed, no more tables and bytes than one filter can hold';

-- Ask

CREATE FUNCTION cuckoo_contains_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_contains_support(internal) IS
	'planner support: what asking a filter costs, and how many rows pass where that is asked by function';

CREATE FUNCTION cuckoo_contains_sel(internal, oid, internal, integer) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_contains_sel(internal, oid, internal, integer) IS
	'restriction selectivity of @> and <@';

CREATE FUNCTION cuckoo_contains_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_contains_joinsel(internal, oid, internal, smallint, internal) IS
	'join selectivity of @> and <@';

CREATE FUNCTION cuckoo_contains(f cuckoofilter, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT cuckoo_contains_support;
COMMENT ON FUNCTION cuckoo_contains(cuckoofilter, anycompatible) IS
	'whether the filter may hold the key: never false for one it holds, true for others at the rate of cuckoo_fpr (Fan et al., CoNEXT 2014)';

CREATE FUNCTION cuckoo_contained(key anycompatible, f cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT cuckoo_contains_support;
COMMENT ON FUNCTION cuckoo_contained(anycompatible, cuckoofilter) IS
	'whether the filter may hold the key: behind the operator <@';

CREATE FUNCTION cuckoo_contains_any(f cuckoofilter, keys anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT cuckoo_contains_support;
COMMENT ON FUNCTION cuckoo_contains_any(cuckoofilter, anycompatiblearray) IS
	'whether the filter may hold at least one element of the array; NULL where only a NULL element could make it so';

CREATE FUNCTION cuckoo_contains_all(f cuckoofilter, keys anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT cuckoo_contains_support;
COMMENT ON FUNCTION cuckoo_contains_all(cuckoofilter, anycompatiblearray) IS
	'whether the filter may hold every element of the array; NULL where only a NULL element could make it false';

CREATE FUNCTION cuckoo_contains_each(f cuckoofilter, keys anycompatiblearray) RETURNS boolean[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT cuckoo_contains_support;
COMMENT ON FUNCTION cuckoo_contains_each(cuckoofilter, anycompatiblearray) IS
	'for each element of the array whether the filter may hold it; NULL for a NULL element';

CREATE FUNCTION cuckoo_count(f cuckoofilter, key anycompatible) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_count(cuckoofilter, anycompatible) IS
	'copies of the key that the filter seems to hold, 0 to 8: never fewer than were added and not removed, up to eight';

CREATE FUNCTION cuckoo_cardinality(f cuckoofilter) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_cardinality(cuckoofilter) IS
	'copies of keys stored in the filter in all';

-- Look inside

CREATE FUNCTION cuckoo_info(f cuckoofilter,
	OUT format_version integer,
	OUT body text,
	OUT key_kind text,
	OUT items bigint,
	OUT capacity bigint,
	OUT load float8,
	OUT fpr_asked float8,
	OUT fpr_expected float8,
	OUT fingerprint_bits integer,
	OUT layout text,
	OUT tables integer,
	OUT blocks bigint,
	OUT seed bigint,
	OUT removable boolean,
	OUT bytes bigint,
	OUT bits_per_item float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_info(cuckoofilter) IS
	'what a filter is: body (list of hashes, tables, or partial state of an aggregate), kind of its keys, items stored, capacity stated in keys, load of its entries (0 to 1), false-positive rates, bits of a fingerprint in the first table, layout, tables, blocks, seed, whether keys can be removed, size in bytes and in bits an item';

CREATE FUNCTION cuckoo_tables(f cuckoofilter,
	OUT number integer,
	OUT items bigint,
	OUT capacity bigint,
	OUT load float8,
	OUT fpr float8,
	OUT fingerprint_bits integer,
	OUT blocks bigint,
	OUT buckets integer,
	OUT bytes bigint,
	OUT stash boolean)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 2;
COMMENT ON FUNCTION cuckoo_tables(cuckoofilter) IS
	'the tables of a filter, in their order: items stored, capacity in keys, load (0 to 1), false-positive rate, bits of a fingerprint, blocks, buckets a block, bytes, whether it is a stash, whose keys stay';

CREATE FUNCTION cuckoo_fpr(f cuckoofilter) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_fpr(cuckoofilter) IS
	'the false-positive rate expected of the filter as it is filled now';

CREATE FUNCTION cuckoo_hash(value anycompatible, seed bigint DEFAULT 0) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_hash(anycompatible, bigint) IS
	'the 64-bit hash of a key under a seed: XXH3 of its canonical bytes, the same on every platform and in every version';

CREATE FUNCTION cuckoo_shard(value anycompatible, shards integer) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_shard(anycompatible, integer) IS
	'the shard of a key: 0 to shards - 1, evenly, by a hash that is independent of cuckoo_hash';

-- Operators

CREATE OPERATOR @> (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cuckoo_contains,
	COMMUTATOR = <@,
	RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel
);
COMMENT ON OPERATOR @> (cuckoofilter, anycompatible) IS 'may the filter hold the key?';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = cuckoofilter, FUNCTION = cuckoo_contained,
	COMMUTATOR = @>,
	RESTRICT = cuckoo_contains_sel, JOIN = cuckoo_contains_joinsel
);
COMMENT ON OPERATOR <@ (anycompatible, cuckoofilter) IS 'may the filter hold the key?';

CREATE OPERATOR + (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cuckoo_add
);
COMMENT ON OPERATOR + (cuckoofilter, anycompatible) IS 'the filter with one copy more of the key';

CREATE OPERATOR - (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible, FUNCTION = cuckoo_remove
);
COMMENT ON OPERATOR - (cuckoofilter, anycompatible) IS 'the filter with one copy less of the key';

CREATE OPERATOR | (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoo_union
);
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter) IS 'union of the sets of keys';

CREATE OPERATOR || (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = cuckoo_merge
);
COMMENT ON OPERATOR || (cuckoofilter, cuckoofilter) IS 'sum of the multisets of keys';

-- Comparison, by bytes

CREATE FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter) IS
	'equal, by bytes';

CREATE FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter) IS
	'not equal, by bytes';

CREATE FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter) IS
	'less than, by bytes';

CREATE FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter) IS
	'less than or equal, by bytes';

CREATE FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter) IS
	'greater than, by bytes';

CREATE FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter) IS
	'greater than or equal, by bytes';

CREATE FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter) IS
	'less than, equal, greater than as negative, 0, positive, by bytes';

CREATE FUNCTION cuckoofilter_hash(cuckoofilter) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash(cuckoofilter) IS
	'hash of the bytes';

CREATE FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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

-- Aggregates
--
-- One overload a common key type, and one for all others: a planner that
-- distributes aggregates may do so only with those that are not polymorphic.

CREATE FUNCTION cuckoo_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_final(cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_final(cuckoofilter) IS
	'final function of cuckoo_agg';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key anycompatible) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key anycompatible, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, anycompatible, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key anycompatible, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(anycompatible, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, text) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, text) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key text) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(text) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, text, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, text, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key text, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(text, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, text, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, text, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key text, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(text, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, "char") RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_char' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, "char") IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key "char") (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg("char") IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, "char", float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_char' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, "char", float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key "char", fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg("char", float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, "char", float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_char' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, "char", float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key "char", fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg("char", float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, smallint) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, smallint) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key smallint) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(smallint) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, smallint, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, smallint, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key smallint, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(smallint, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, smallint, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, smallint, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key smallint, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(smallint, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, integer) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, integer) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key integer) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(integer) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, integer, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, integer, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key integer, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(integer, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, integer, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, integer, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key integer, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(integer, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, bigint) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, bigint) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key bigint) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(bigint) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, bigint, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, bigint, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key bigint, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(bigint, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, bigint, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, bigint, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key bigint, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(bigint, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, uuid) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, uuid) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key uuid) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(uuid) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, uuid, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, uuid, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key uuid, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(uuid, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, uuid, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, uuid, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key uuid, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(uuid, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, bytea) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_bytea' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, bytea) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key bytea) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(bytea) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, bytea, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_bytea' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, bytea, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key bytea, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(bytea, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, bytea, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_bytea' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, bytea, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key bytea, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(bytea, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, numeric) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, numeric) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key numeric) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(numeric) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, numeric, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, numeric, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key numeric, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(numeric, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, numeric, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, numeric, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key numeric, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(numeric, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, real) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, real) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key real) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(real) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, real, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, real, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key real, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(real, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, real, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, real, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key real, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(real, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, double precision) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, double precision) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key double precision) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(double precision) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, double precision, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, double precision, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key double precision, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(double precision, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, double precision, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, double precision, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key double precision, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(double precision, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, date) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_date' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, date) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key date) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(date) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, date, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_date' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, date, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key date, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(date, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, date, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_date' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, date, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key date, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(date, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamp) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_timestamp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamp) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key timestamp) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(timestamp) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamp, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_timestamp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamp, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key timestamp, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(timestamp, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamp, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_timestamp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamp, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key timestamp, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(timestamp, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamptz) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_timestamptz' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamptz) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key timestamptz) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(timestamptz) IS
	'a filter over the distinct keys; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamptz, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_timestamptz' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamptz, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key timestamptz, fpr float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(timestamptz, float8) IS
	'a filter over the distinct keys at a false-positive rate; NULL keys are skipped';

CREATE FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamptz, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_agg_transfn_timestamptz' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_agg_transfn(cuckoofilter, timestamptz, float8, float8) IS 'transition function of cuckoo_agg';
CREATE AGGREGATE cuckoo_agg(key timestamptz, fpr float8, capacity float8) (
	SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, SSPACE = 1024,
	FINALFUNC = cuckoo_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_agg(timestamptz, float8, float8) IS
	'a filter over the distinct keys at a false-positive rate, for a capacity in keys; NULL keys are skipped';

-- Aggregates that combine filters: the state is the filter so far, and a
-- state is combined with another as with a row.

CREATE FUNCTION cuckoo_combine_final(cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_combine_final(cuckoofilter) IS
	'final function of the aggregates whose state is a filter';

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
	'union of the sets of keys of all filters, as cuckoo_union has it; NULL is skipped';

CREATE FUNCTION cuckoo_merge_agg_transfn(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_merge_agg_transfn(cuckoofilter, cuckoofilter) IS
	'transition and combine function of cuckoo_merge_agg';
CREATE AGGREGATE cuckoo_merge_agg(f cuckoofilter) (
	SFUNC = cuckoo_merge_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_merge_agg_transfn, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_merge_agg(cuckoofilter) IS
	'sum of the multisets of keys of all filters, as cuckoo_merge has it; NULL is skipped';

-- Aggregates in bounded memory

CREATE FUNCTION cuckoo_stream_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_stream_agg';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, anycompatible, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key anycompatible, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(anycompatible, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, text, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, text, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key text, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(text, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, "char", float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_char' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, "char", float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key "char", fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg("char", float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, smallint, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, smallint, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key smallint, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(smallint, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, integer, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, integer, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key integer, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(integer, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, bigint, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, bigint, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key bigint, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(bigint, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, uuid, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, uuid, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key uuid, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(uuid, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, bytea, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_bytea' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, bytea, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key bytea, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(bytea, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, numeric, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, numeric, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key numeric, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(numeric, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, real, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, real, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key real, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(real, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, double precision, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, double precision, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key double precision, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(double precision, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, date, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_date' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, date, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key date, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(date, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, timestamp, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_timestamp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, timestamp, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key timestamp, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(timestamp, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, timestamptz, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_stream_agg_transfn_timestamptz' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_transfn(cuckoofilter, timestamptz, float8, float8) IS 'transition function of cuckoo_stream_agg';
CREATE AGGREGATE cuckoo_stream_agg(key timestamptz, fpr float8, capacity float8) (
	SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_stream_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_stream_agg(timestamptz, float8, float8) IS
	'a filter over the keys, each added where the filter does not contain it yet, in memory for the capacity in keys; not removable; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_multiset_agg';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, anycompatible, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key anycompatible, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(anycompatible, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, text, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, text, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key text, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(text, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, "char", float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_char' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, "char", float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key "char", fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg("char", float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, smallint, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_int2' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, smallint, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key smallint, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(smallint, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, integer, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_int4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, integer, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key integer, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(integer, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, bigint, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_int8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, bigint, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key bigint, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(bigint, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, uuid, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_uuid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, uuid, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key uuid, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(uuid, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, bytea, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_bytea' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, bytea, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key bytea, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(bytea, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, numeric, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_numeric' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, numeric, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key numeric, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(numeric, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, real, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_float4' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, real, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key real, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(real, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, double precision, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_float8' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, double precision, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key double precision, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(double precision, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, date, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_date' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, date, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key date, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(date, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, timestamp, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_timestamp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, timestamp, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key timestamp, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(timestamp, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';

CREATE FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, timestamptz, float8, float8) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoo_multiset_agg_transfn_timestamptz' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_transfn(cuckoofilter, timestamptz, float8, float8) IS 'transition function of cuckoo_multiset_agg';
CREATE AGGREGATE cuckoo_multiset_agg(key timestamptz, fpr float8, capacity float8) (
	SFUNC = cuckoo_multiset_agg_transfn, STYPE = cuckoofilter, SSPACE = 16384,
	FINALFUNC = cuckoo_combine_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoo_multiset_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoo_multiset_agg(timestamptz, float8, float8) IS
	'a filter with one copy for every row, up to eight of a key, in memory for the capacity in copies; NULL keys are skipped';
