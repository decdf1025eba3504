-- complain if the script is sourced in psql, rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION cuckoo_index CASCADE" to load this file. \quit

-- An extension of its own: from 18 on PostgreSQL asks the access method of every
-- operator class that names an equality operator whether it can order.  A query
-- with an "=" would load the library, also where there are only filters.

-- The index access method

CREATE FUNCTION cuckoo_index_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoo_index_handler(internal) IS
	'handler of the index access method cuckoo';

CREATE ACCESS METHOD cuckoo TYPE INDEX HANDLER cuckoo_index_handler;
COMMENT ON ACCESS METHOD cuckoo IS
	'small index for equality';

-- Only types that are hashed alike share a family: a date and a timestamp do
-- not, as whether they are equal depends on TimeZone.
CREATE OPERATOR FAMILY integer_ops USING cuckoo;
CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING cuckoo FAMILY integer_ops AS
	OPERATOR 1 = (int2, int2);
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING cuckoo FAMILY integer_ops AS
	OPERATOR 1 = (int4, int4);
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING cuckoo FAMILY integer_ops AS
	OPERATOR 1 = (int8, int8);
ALTER OPERATOR FAMILY integer_ops USING cuckoo ADD
	OPERATOR 1 = (int2, int4), OPERATOR 1 = (int2, int8),
	OPERATOR 1 = (int4, int2), OPERATOR 1 = (int4, int8),
	OPERATOR 1 = (int8, int2), OPERATOR 1 = (int8, int4);
CREATE OPERATOR FAMILY float_ops USING cuckoo;
CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING cuckoo FAMILY float_ops AS
	OPERATOR 1 = (float4, float4);
CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING cuckoo FAMILY float_ops AS
	OPERATOR 1 = (float8, float8);
ALTER OPERATOR FAMILY float_ops USING cuckoo ADD
	OPERATOR 1 = (float4, float8), OPERATOR 1 = (float8, float4);
CREATE OPERATOR FAMILY text_ops USING cuckoo;
CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING cuckoo FAMILY text_ops AS
	OPERATOR 1 = (text, text);
CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING cuckoo FAMILY text_ops AS
	OPERATOR 1 = (name, name);
ALTER OPERATOR FAMILY text_ops USING cuckoo ADD
	OPERATOR 1 = (text, name), OPERATOR 1 = (name, text);
CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING cuckoo AS
	OPERATOR 1 = (oid, oid);
CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE bool USING cuckoo AS
	OPERATOR 1 = (bool, bool);
CREATE OPERATOR CLASS char_ops DEFAULT FOR TYPE "char" USING cuckoo AS
	OPERATOR 1 = ("char", "char");
CREATE OPERATOR CLASS bpchar_ops DEFAULT FOR TYPE bpchar USING cuckoo AS
	OPERATOR 1 = (bpchar, bpchar);
CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING cuckoo AS
	OPERATOR 1 = (bytea, bytea);
CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING cuckoo AS
	OPERATOR 1 = (bit, bit);
CREATE OPERATOR CLASS varbit_ops DEFAULT FOR TYPE varbit USING cuckoo AS
	OPERATOR 1 = (varbit, varbit);
CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING cuckoo AS
	OPERATOR 1 = (numeric, numeric);
CREATE OPERATOR CLASS money_ops DEFAULT FOR TYPE money USING cuckoo AS
	OPERATOR 1 = (money, money);
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING cuckoo AS
	OPERATOR 1 = (uuid, uuid);
CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING cuckoo AS
	OPERATOR 1 = (date, date);
CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING cuckoo AS
	OPERATOR 1 = (time, time);
CREATE OPERATOR CLASS timetz_ops DEFAULT FOR TYPE timetz USING cuckoo AS
	OPERATOR 1 = (timetz, timetz);
CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING cuckoo AS
	OPERATOR 1 = (timestamp, timestamp);
CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING cuckoo AS
	OPERATOR 1 = (timestamptz, timestamptz);
CREATE OPERATOR CLASS interval_ops DEFAULT FOR TYPE interval USING cuckoo AS
	OPERATOR 1 = (interval, interval);
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING cuckoo AS
	OPERATOR 1 = (inet, inet);
CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING cuckoo AS
	OPERATOR 1 = (macaddr, macaddr);
CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING cuckoo AS
	OPERATOR 1 = (macaddr8, macaddr8);
CREATE OPERATOR CLASS pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING cuckoo AS
	OPERATOR 1 = (pg_lsn, pg_lsn);
CREATE OPERATOR CLASS xid8_ops DEFAULT FOR TYPE xid8 USING cuckoo AS
	OPERATOR 1 = (xid8, xid8);
CREATE OPERATOR CLASS jsonb_ops DEFAULT FOR TYPE jsonb USING cuckoo AS
	OPERATOR 1 = (jsonb, jsonb);
CREATE OPERATOR CLASS array_ops DEFAULT FOR TYPE anyarray USING cuckoo AS
	OPERATOR 1 = (anyarray, anyarray);
CREATE OPERATOR CLASS range_ops DEFAULT FOR TYPE anyrange USING cuckoo AS
	OPERATOR 1 = (anyrange, anyrange);
CREATE OPERATOR CLASS multirange_ops DEFAULT FOR TYPE anymultirange USING cuckoo AS
	OPERATOR 1 = (anymultirange, anymultirange);
-- An enum's values are hashed by their OIDs, which ALTER TYPE keeps.
CREATE OPERATOR CLASS enum_ops DEFAULT FOR TYPE anyenum USING cuckoo AS
	OPERATOR 1 = (anyenum, anyenum), FUNCTION 1 hashenumextended(anyenum, bigint);
-- Building an index of a composite type is refused, with the reason.
CREATE OPERATOR CLASS record_ops DEFAULT FOR TYPE record USING cuckoo AS
	OPERATOR 1 = (record, record);

-- The type is that of the extension cuckoo, whatever else has its name here.
-- This runs with a superuser's rights in a schema that may be anybody's: it may
-- only call what is in pg_catalog.
DO $filter$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	target CONSTANT name := pg_catalog.current_schema();
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	EXECUTE (SELECT format('CREATE FUNCTION %I.cuckoo_index_filter(index regclass, capacity float8 DEFAULT NULL, fpr float8 DEFAULT NULL, partial boolean DEFAULT false) RETURNS %s
			AS ''MODULE_PATHNAME'' LANGUAGE C PARALLEL RESTRICTED', target, t.oid::regtype)
		FROM pg_extension AS e
			JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
			JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
		WHERE e.extname = 'cuckoo' AND t.typname = 'cuckoofilter');
	PERFORM pg_catalog.set_config('search_path', path, true);
END
$filter$;
COMMENT ON FUNCTION cuckoo_index_filter(regclass, float8, float8, boolean) IS
	'the keys of a cuckoo index as a filter that is not removable: capacity in keys (default: those of the index), rate fpr (default 0.001, or the lowest that the index can give)';

CREATE FUNCTION cuckoo_index_info(index regclass, OUT file_pages bigint, OUT pages bigint, OUT overflow_pages bigint, OUT depth integer, OUT entries bigint, OUT joined_entries bigint, OUT wide_entries bigint, OUT pages_per_key float8, OUT tombstones bigint, OUT load float8, OUT min_fingerprint_bits integer, OUT max_fingerprint_bits integer, OUT expected_false_rows float8)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoo_index_info(regclass) IS
	'the pages and entries of a cuckoo index, and the rows that a lookup of an absent key is expected to find';

CREATE FUNCTION cuckoo_index_check(index regclass) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoo_index_check(regclass) IS
	'the number of rows that a cuckoo index does not find: 0 unless it is damaged';
