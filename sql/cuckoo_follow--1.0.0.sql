-- complain if the script is sourced in psql, rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION cuckoo_follow" to load this file. \quit

-- Each followed column has a filter table: see src/follow_table.c.

CREATE FUNCTION cuckoo_follow_change() RETURNS trigger
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow_change() IS
	'trigger that cuckoo_follow makes: writes to the filter table which keys were added and removed, and refuses other writes to it (42809)';

CREATE FUNCTION cuckoo_follow(table_name regclass, column_name name, capacity float8 DEFAULT NULL, fpr float8 DEFAULT 0.001, build boolean DEFAULT true) RETURNS regclass
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow(regclass, name, float8, float8, boolean) IS
	'follow a column of a table: make its filter table, which this returns, and the triggers that keep it up to date; capacity in keys, by default one and a half times the rows with a key, or unknown if that is at most 1,024; target rate from 2e-8 to 0.1; build => false leaves building the filter to cuckoo_follow_rebuild. Writers wait, readers do not. Errors: 0A000 for what cannot be followed, 55000 outside READ COMMITTED and for a column in which more than 1 % of the keys have eight rows or more, 55006 while the table is in use in this session';

CREATE FUNCTION cuckoo_unfollow(filter_table regclass) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION cuckoo_unfollow(regclass) IS
	'stop following a column: drop its filter table and triggers. Error 55000 outside READ COMMITTED, 55006 while the table is in use in this session';

CREATE FUNCTION cuckoo_follow_contains(filter_table regclass, key anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoo_follow_contains(regclass, anycompatible) IS
	'whether the followed table may have a row with this key: never false for a row that the snapshot shows, except for rows of children, of a statement that had not ended then, and of COPY FREEZE, after an ALTER TABLE of the own transaction that rewrites the table, and on a subscriber that missed changes; true for other keys at the rate of the filter, and for removed keys until the next fold. Error 55000 until the filter is built, and if changes may be missing: triggers are missing or disabled, table or column was renamed, the filter table follows no table, was altered or was restored from a dump, or not all tables of its subscription are in step; 40001 if the snapshot is older than a build or repair';

DO $filter$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	target CONSTANT name := pg_catalog.current_schema();
BEGIN
	-- This runs with a superuser's rights in a schema that may be anybody's.  It
	-- may only call what is in pg_catalog, and must not take another type of the
	-- same name for that of the extension cuckoo.
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	EXECUTE format($$
		CREATE FUNCTION %I.cuckoo_follow_filter(filter_table regclass) RETURNS %s
			AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED$$,
		target,
		(SELECT t.oid::regtype
			FROM pg_extension AS e
				JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
			WHERE e.extname = 'cuckoo' AND d.deptype = 'e' AND t.typname = 'cuckoofilter'));
	PERFORM pg_catalog.set_config('search_path', path, true);
END
$filter$;
COMMENT ON FUNCTION cuckoo_follow_filter(regclass) IS
	'the filter of a filter table with all keys added since, as an ordinary filter. Errors as those of cuckoo_follow_contains';

CREATE FUNCTION cuckoo_follow_list(OUT table_name regclass, OUT column_name name, OUT filter_table regclass) RETURNS SETOF record
	LANGUAGE sql STABLE PARALLEL RESTRICTED
	-- An update trigger depends on the column that it compares.  The casts leave
	-- no room for an operator of somebody else who may create in this schema.
	BEGIN ATOMIC
		SELECT t.tgrelid::regclass, a.attname, t.tgconstrrelid::regclass
		FROM pg_trigger AS t
			JOIN pg_depend AS d ON d.classid = 'pg_trigger'::regclass::oid AND d.objid = t.oid
				AND d.refclassid = 'pg_class'::regclass::oid AND d.refobjid = t.tgrelid
			JOIN pg_attribute AS a ON a.attrelid = t.tgrelid AND a.attnum = d.refobjsubid
		WHERE t.tgfoid = 'cuckoo_follow_change()'::regprocedure::oid AND t.tgconstrrelid <> '0'::oid AND a.attnum > 0
		ORDER BY t.tgrelid, a.attnum;
	END;
COMMENT ON FUNCTION cuckoo_follow_list() IS
	'the followed columns, with their tables and filter tables';

CREATE FUNCTION cuckoo_follow_fold(filter_table regclass) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION cuckoo_follow_fold(regclass) IS
	'apply the log of a filter table to its filter; returns the number of its rows, or NULL if another transaction is changing the filter. Writers do not wait. Error 55000 outside READ COMMITTED, before the filter is built, if its key type differs from that of the column, and if triggers are missing or disabled; 55006 while the table is in use in this session';

CREATE FUNCTION cuckoo_follow_rebuild(filter_table regclass, capacity float8 DEFAULT NULL, fpr float8 DEFAULT NULL) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION cuckoo_follow_rebuild(regclass, float8, float8) IS
	'build the filter of a filter table from the rows of the followed table, while others change them, and repair the triggers and names; capacity in keys, by default one and a half times the rows with a key, or unknown if that is at most 1,024; target rate, by default as it is. Error 55000 outside READ COMMITTED, 55006 while the table is in use in this session';

CREATE FUNCTION cuckoo_follow_check(filter_table regclass,
	OUT missing bigint,
	OUT log_rows bigint,
	OUT pinned bigint,
	OUT expected_fpr float8,
	OUT triggers_enabled boolean)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION cuckoo_follow_check(regclass) IS
	'compare a filter table with the table it follows, which is read whole: rows whose key is missing (0, or cuckoo_follow_rebuild is needed), rows of the log, classes with eight copies (which are never removed), the expected false-positive rate, and whether all triggers exist and fire always (false also after a restore)';
