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
	'cuckoo filter: an approximate set of keys; a lookup has no false negatives, and false positives at a chosen rate';

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

CREATE FUNCTION cuckoo_new(fpr float8 DEFAULT 0.001, capacity float8 DEFAULT 0, seed bigint DEFAULT 0) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_new(float8, float8, bigint) IS
	'an empty filter: target rate fpr (2e-8 to 0.1), capacity in keys (rounded up; 0: unknown), seed of the hash; NULL means the default. An error if a filter of that capacity would be too large';

CREATE FUNCTION cuckoo_from_array(keys anycompatiblearray, fpr float8 DEFAULT 0.001, capacity float8 DEFAULT 0, seed bigint DEFAULT 0) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_from_array(anycompatiblearray, float8, float8, bigint) IS
	'a filter over the distinct elements of an array, as cuckoo_agg makes it, with the same parameters (target rate, capacity in keys, seed); NULL elements are skipped';

-- Change: a NULL key leaves the filter as it is

CREATE FUNCTION cuckoo_add(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add(cuckoofilter, anycompatible) IS
	'the filter with one more copy of the key; a key with eight copies is pinned, and further copies change nothing. An error for another key type';

CREATE FUNCTION cuckoo_add_new(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add_new(cuckoofilter, anycompatible) IS
	'the filter with one copy of the key, added only if the filter does not contain it; the result is marked not removable, because two keys may then share an item. An error for another key type';

CREATE FUNCTION cuckoo_add_all(f cuckoofilter, keys anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_add_all(cuckoofilter, anycompatiblearray) IS
	'the filter with one more copy of each element of the array; NULL elements are skipped. An error for another key type';

CREATE FUNCTION cuckoo_remove(f cuckoofilter, key anycompatible) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_remove(cuckoofilter, anycompatible) IS
	'the filter with one copy less of a key that was added to it; unchanged if there is none, if the key is pinned, or if several tables contain it. Removing a key that was never added can lose another. An error for another key type, and for a filter that is not removable';

CREATE FUNCTION cuckoo_remove_all(f cuckoofilter, keys anycompatiblearray) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_remove_all(cuckoofilter, anycompatiblearray) IS
	'the filter with one copy less of each element of the array, as by cuckoo_remove';

-- Combine: a NULL second filter leaves the first as it is

CREATE FUNCTION cuckoo_union(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_union(cuckoofilter, cuckoofilter) IS
	'union of the sets: of each key the larger number of copies. Tables of equal shape become one, others are kept side by side, 16 at most. Not removable if both filters hold keys. An error for different seeds or key types';

CREATE FUNCTION cuckoo_merge(f cuckoofilter, g cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_merge(cuckoofilter, cuckoofilter) IS
	'sum of the multisets: the copies of both, up to eight. Tables of equal shape become one, others are kept side by side, 16 at most. Removable if both filters are. An error for different seeds or key types';

CREATE FUNCTION cuckoo_mergeable(f cuckoofilter, g cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_mergeable(cuckoofilter, cuckoofilter) IS
	'whether two filters can be combined: same key type and seed, and a result within the limits. Reads only the headers; also false if the items of both might not fit';

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
	'whether the filter may hold the key: always true for a key it holds, and for others at the rate that cuckoo_fpr expects (Fan et al., CoNEXT 2014). An error for another key type';

CREATE FUNCTION cuckoo_contained(key anycompatible, f cuckoofilter) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION cuckoo_contained(anycompatible, cuckoofilter) IS
	'whether the filter may hold the key: function of the operator <@';

CREATE FUNCTION cuckoo_contains_any(f cuckoofilter, keys anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoo_contains_any(cuckoofilter, anycompatiblearray) IS
	'whether the filter may hold at least one element of the array; NULL if only a NULL element could make it true';

CREATE FUNCTION cuckoo_contains_all(f cuckoofilter, keys anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoo_contains_all(cuckoofilter, anycompatiblearray) IS
	'whether the filter may hold every element of the array; NULL if only a NULL element could make it false';

CREATE FUNCTION cuckoo_contains_each(f cuckoofilter, keys anycompatiblearray) RETURNS boolean[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoo_contains_each(cuckoofilter, anycompatiblearray) IS
	'for each element of the array whether the filter may hold it; NULL for a NULL element';

CREATE FUNCTION cuckoo_count(f cuckoofilter, key anycompatible) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_count(cuckoofilter, anycompatible) IS
	'copies of the key, 0 to 8: never fewer than were added and not removed, up to eight';

CREATE FUNCTION cuckoo_cardinality(f cuckoofilter) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_cardinality(cuckoofilter) IS
	'items of the filter: the copies of all keys';

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
	OUT tables integer,
	OUT blocks bigint,
	OUT seed bigint,
	OUT removable boolean,
	OUT bytes bigint,
	OUT bits_per_item float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_info(cuckoofilter) IS
	'parameters and state of a filter: representation (sparse, dense, mixed, or partial: the state of an aggregate), key type, items stored, capacity in keys (NULL: unknown), load of its entries, target and expected false-positive rate, bits of a fingerprint in the first table, tables, blocks, seed, whether keys can be removed, size in bytes and in bits per item';

CREATE FUNCTION cuckoo_tables(f cuckoofilter,
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
COMMENT ON FUNCTION cuckoo_tables(cuckoofilter) IS
	'the tables of a filter, in their order: items stored, capacity in keys, load of their entries, expected false-positive rate, bits of a fingerprint, blocks, buckets per block, bytes, representation (sparse or dense)';

CREATE FUNCTION cuckoo_fpr(f cuckoofilter) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_fpr(cuckoofilter) IS
	'the expected false-positive rate of the filter as it is now: the fraction of absent keys reported as present';

CREATE FUNCTION cuckoo_hash(key anycompatible, seed bigint DEFAULT 0) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_hash(anycompatible, bigint) IS
	'the 64-bit hash of a key under a seed: XXH3 of its canonical bytes, the same on every platform and in every version';

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

-- Aggregates over keys
--
-- There is an overload for each built-in scalar key type, and one for all
-- others, because planners that distribute aggregates do so only if they are not
-- polymorphic.  The parameters after the key can be left out from the end.

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

CREATE FUNCTION cuckoo_stream_agg_final(cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_stream_agg_final(cuckoofilter) IS
	'final function of cuckoo_stream_agg and cuckoo_multiset_agg';

CREATE FUNCTION cuckoo_multiset_agg_combine(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_multiset_agg_combine(cuckoofilter, cuckoofilter) IS
	'combine function of cuckoo_multiset_agg';

DO $overloads$
DECLARE
	-- The extension can be created by users who are not superusers, in a schema
	-- of their own, but this runs with a superuser's rights.  It may only call
	-- what is in pg_catalog, and names the schema of everything it creates.
	path CONSTANT text := pg_catalog.current_setting('search_path');
	target CONSTANT name := pg_catalog.current_schema();
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	DECLARE
		key_types CONSTANT regtype[] := '{anycompatible,
			bool, "\"char\"", int2, int4, int8, oid, xid8, float4, float8, numeric, money,
			text, varchar, bpchar, name, bytea, bit, varbit, uuid,
			date, time, timetz, timestamp, timestamptz, interval,
			inet, cidr, macaddr, macaddr8, pg_lsn, jsonb}';
		parameters CONSTANT text[] := '{fpr float8, capacity float8, seed bigint}';
		key_type regtype;
		agg record;
		count integer;
		symbol text;
		types text;
	BEGIN
		FOR agg IN
			SELECT * FROM (VALUES
				('cuckoo_agg', 0, 1024, 'cuckoo_agg_final',
				 'a filter over the distinct keys: target rate fpr (2e-8 to 0.1, default 0.001), capacity in keys (default: the number counted, or unknown for up to 1,024) and seed of the hash (default 0); NULL keys are skipped. An error if parameters differ between rows'),
				('cuckoo_stream_agg', 2, 16384, 'cuckoo_stream_agg_final',
				 'a filter over the keys, each added if the filter does not contain it yet; needs only the memory of the filter; not removable; target rate fpr, capacity in keys and seed of the hash; NULL keys are skipped. An error without a capacity'),
				('cuckoo_multiset_agg', 2, 16384, 'cuckoo_stream_agg_final',
				 'a filter with a copy for each row, up to eight of a key; needs only the memory of the filter; target rate fpr, capacity in copies and seed of the hash; NULL keys are skipped. An error without a capacity'))
				AS a (name, least, space, final, comment)
		LOOP
			FOREACH key_type IN ARRAY key_types LOOP
				symbol := agg.name || '_transfn';
				IF key_type <> 'anycompatible'::regtype THEN
					symbol := symbol || '_' || (SELECT typname FROM pg_type WHERE oid = key_type);
				END IF;
				FOR count IN agg.least .. 3 LOOP
					types := array_to_string(key_type::text ||
						(ARRAY['float8', 'float8', 'bigint'])[:count], ', ');
					EXECUTE format($$
						CREATE FUNCTION %1$I.%2$I(%1$I.cuckoofilter, %3$s) RETURNS %1$I.cuckoofilter
							AS 'MODULE_PATHNAME', %4$L LANGUAGE C IMMUTABLE PARALLEL SAFE$$,
						target, agg.name || '_transfn', types, symbol);
					EXECUTE format($$
						COMMENT ON FUNCTION %1$I.%2$I(%1$I.cuckoofilter, %3$s) IS %4$L$$,
						target, agg.name || '_transfn', types, 'transition function of ' || agg.name);
					EXECUTE format($$
						CREATE AGGREGATE %1$I.%2$I(%3$s) (
							SFUNC = %1$I.%4$I, STYPE = %1$I.cuckoofilter, SSPACE = %5$s,
							FINALFUNC = %1$I.%6$I, FINALFUNC_MODIFY = READ_ONLY,
							COMBINEFUNC = %1$I.%7$I, PARALLEL = SAFE)$$,
						target, agg.name,
						array_to_string(('key ' || key_type) || parameters[:count], ', '),
						agg.name || '_transfn', agg.space, agg.final, agg.name || '_combine');
					EXECUTE format($$
						COMMENT ON AGGREGATE %1$I.%2$I(%3$s) IS %4$L$$,
						target, agg.name, types, agg.comment);
				END LOOP;
			END LOOP;
		END LOOP;
	END;
	PERFORM pg_catalog.set_config('search_path', path, true);
END
$overloads$;

-- Aggregates over filters
--
-- States are filters, so the transition functions combine them, too.

CREATE FUNCTION cuckoo_combine_final(cuckoofilter) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoo_combine_final(cuckoofilter) IS
	'final function of cuckoo_union_agg and cuckoo_merge_agg';

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
	'union of the sets of keys of all filters, as by cuckoo_union; NULL is skipped. A WARNING if the expected rate is more than ten times the target rate';

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
	'sum of the multisets of keys of all filters, as by cuckoo_merge; NULL is skipped. A WARNING if the expected rate is more than ten times the target rate';

-- Following a table
--
-- Each followed column has a filter table.  The three trigger functions are for
-- the triggers that cuckoo_follow makes.

CREATE FUNCTION cuckoo_follow_row() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow_row() IS
	'trigger of a followed table, after each row: notes which key was added or removed';

CREATE FUNCTION cuckoo_follow_end() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow_end() IS
	'trigger of a followed table, after each statement: writes what the rows'' triggers have noted to the filter table';

CREATE FUNCTION cuckoo_follow_truncate() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow_truncate() IS
	'trigger of a followed table, after TRUNCATE: empties the filter';

CREATE FUNCTION cuckoo_follow(tbl regclass, col name, fpr float8 DEFAULT 0.001, capacity float8 DEFAULT NULL, build boolean DEFAULT true) RETURNS regclass
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow(regclass, name, float8, float8, boolean) IS
	'follow a column of a table: make its filter table, which this returns, and the triggers that keep it in step; target rate from 2e-8 to 0.1; capacity in keys, by default one and a half times the rows; build => false leaves building the filter to cuckoo_rebuild. Writers wait, readers do not. Errors: 0A000 for what cannot be followed, 55000 outside READ COMMITTED and for a column in which more than 1 % of the keys have eight rows or more';

CREATE FUNCTION cuckoo_followed(filter regclass, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoo_followed(regclass, anycompatible) IS
	'whether the followed table may have a row with this key: never false for a row that the snapshot shows, except for rows of a statement that has not ended and for COPY FREEZE; true for other keys at the rate of the filter. Error 55000 until the filter is built';

CREATE FUNCTION cuckoo_current(filter regclass) RETURNS cuckoofilter
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoo_current(regclass) IS
	'the filter of a filter table with all changes, as an ordinary filter. Error 55000 until it is built';

CREATE FUNCTION cuckoo_fold(filter regclass) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION cuckoo_fold(regclass) IS
	'put the log of a filter table into its filter; returns how many rows of the log, or NULL if another session is doing it. Writers do not wait. Error 55000 outside READ COMMITTED, before the filter is built, if its key type differs from that of the column, and if triggers are not in order';

CREATE FUNCTION cuckoo_rebuild(filter regclass, fpr float8 DEFAULT NULL, capacity float8 DEFAULT NULL) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_rebuild(regclass, float8, float8) IS
	'build the filter of a filter table from the rows of the followed table, while others change them, and mend the triggers; target rate, by default as it is; capacity in keys, by default one and a half times the rows. Error 55000 outside READ COMMITTED';

CREATE FUNCTION cuckoo_follow_check(filter regclass,
	OUT missing bigint,
	OUT log_rows bigint,
	OUT pinned bigint,
	OUT expected_fpr float8,
	OUT triggers_in_order boolean)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION cuckoo_follow_check(regclass) IS
	'compare a filter table with the table it follows, which is read whole: rows whose key is missing (0, or cuckoo_rebuild is needed), rows of the log, classes with eight copies (which are never removed), the expected false-positive rate, and whether all triggers exist and fire always';
