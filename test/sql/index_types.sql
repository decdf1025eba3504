-- Every type, types that are compared with each other, ALTER TYPE, operator classes
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/index.psql"`
\i `echo "$PG_ABS_SRCDIR/sql/types.psql"`

---- Every type: stored and looked up are all pairs of values, of which some are
-- equal and some are there when the index is built
CREATE FUNCTION type_agrees(type text, list text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format('CREATE TABLE keys (id integer GENERATED ALWAYS AS IDENTITY, k %s, seen boolean)', type);
	EXECUTE format('INSERT INTO keys (k, seen) SELECT v::%s, n %% 2 = 1 '
		'FROM unnest(string_to_array(%L, '';'', ''NULL'')) WITH ORDINALITY AS u(v, n) ORDER BY n',
	type, list);
	EXECUTE 'CREATE TABLE lookups AS TABLE keys; DELETE FROM keys WHERE id % 3 = 0';
	CREATE INDEX ON keys USING cuckoo (k);
	INSERT INTO keys (k, seen) SELECT k, seen FROM lookups WHERE id % 4 = 0;
	EXECUTE
	format('SELECT bool_and(agrees(format(''SELECT array_agg(id ORDER BY id) FROM keys '
		'WHERE k = (SELECT %%L::%s)'', v))) FROM unnest(string_to_array(%L, '';'')) AS v',
	type, list) INTO result;
	EXECUTE 'SELECT bool_and(cuckoo_index_filter(''keys_k_idx'') @> k) AND $1 FROM keys' INTO result USING result;
	result := result AND
	agrees('SELECT array_agg((l.id, keys.id) ORDER BY l.id, keys.id) FROM lookups AS l JOIN keys USING (k)')
		AND is_whole('keys_k_idx') AND by_scan('SELECT count(*) FROM lookups AS l JOIN keys USING (k)')::integer
		BETWEEN 2 AND 100;
	DROP TABLE keys, lookups;
	RETURN result;
END $$;
CREATE DOMAIN small AS integer;
CREATE DOMAIN word AS varchar(9);
INSERT INTO samples (type, list) VALUES ('small', '0;-1;7;-1;8;0'), ('word', 'a;a ;A;a;;;é'), ('small[]', '{1,2};{1};{1,2};{}');
SELECT type AS disagrees FROM samples WHERE type_agrees(type, list) IS NOT TRUE;
-- Every type that filters take is above.
SELECT oid::regtype AS not_above FROM pg_type
WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typcategory <> 'A' AND typarray <> 0 AND
	outcome(format('SELECT cuckoo_from_array(''{}''::%s[])', oid::regtype)) !~ '^0A000' AND
	oid NOT IN (SELECT type::regtype FROM samples);
-- Each type has one class, the default, and only those of enums and records have
-- no type above.
SELECT opcname AS not_above, opcdefault AS "default" FROM pg_opclass
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo') AND (NOT opcdefault OR opcintype NOT IN (SELECT type::regtype FROM samples
	UNION SELECT ('any' || key_type)::regtype FROM samples WHERE key_type IN ('array', 'range', 'multirange'))) ORDER BY 1;

---- Types that hash alike are compared as they are
CREATE TABLE numbers (i2 smallint, i4 integer, i8 bigint, f4 real, f8 float8, t text COLLATE "C", n name, v
	varchar COLLATE "C", c char(9));
INSERT INTO numbers SELECT i, i, i, i / 4.0, i / 4.0, 'w' || i, 'w' || i, 'w' || i, 'w' || i FROM
	generate_series(-40, 40) AS i;
SELECT format('CREATE INDEX ON numbers USING cuckoo (%I)', attname) FROM pg_attribute WHERE attrelid =
	'numbers'::regclass AND attnum > 0 \gexec
INSERT INTO numbers VALUES (NULL, NULL, 4294967297, NULL, 0.1), (0, 0, 0, '-0', 0), (0, 0, 0, 0, '-0');
INSERT INTO numbers (i8, f8) VALUES (1::bigint << 40, 0.1::real);
SELECT a, b AS disagrees FROM unnest('{"i2 i4 i8","f4 f8","t n v"}'::text[]) AS family,
	regexp_split_to_table(family, ' ') AS a, regexp_split_to_table(family, ' ') AS b
WHERE NOT
	agrees(format('SELECT count(*) FROM numbers AS a CROSS JOIN LATERAL '
		'(SELECT FROM numbers AS b WHERE b.%s = a.%s OFFSET 0) AS s', b, a));
SELECT query AS disagrees FROM unnest(ARRAY['i2 = 7', 'i2 = 4294967297', 'i4 = 7::smallint', 'i4 = 4294967297',
	'i4 = -7::bigint', 'i8 = 7::smallint', 'i8 = -7', 'i4 = ANY (''{1,2,4294967297}''::bigint[])',
	'i8 = ANY (''{1,-1}''::smallint[])', 'f4 = 0.25::float8',
	'f4 = 0.1::float8', 'f8 = 0.1::real', 'f8 = 0.25::real', 'f8 = 0.1', 't = ''w7''::name', 'n = ''w7''::text',
	'v = ''w7''::name', 'v = ''w7''', 'c = ''w7''', 'c = ''w7   ''']) AS query
WHERE NOT agrees('SELECT count(*) FROM numbers WHERE ' || query);
-- Others are compared in ways that depend on TimeZone or rounding, without the index.
CREATE TABLE days (d date, t timestamp);
CREATE INDEX ON days USING cuckoo (d);
CREATE INDEX ON days USING cuckoo (t);
SELECT query, by_index('SELECT count(*) FROM days WHERE ' || query) FROM
	unnest(ARRAY['d = timestamp ''2000-01-01''', 't = timestamptz ''2000-01-01''', 'd > date ''2000-01-01''',
	'd IS NULL', 'd IN (SELECT now()::date) OR t IS NULL']) AS query;

---- ALTER TYPE
CREATE TABLE altered (a varchar(20), b integer, c varchar, d text, e integer);
INSERT INTO altered SELECT 'w' || i, i, 'w' || i, 'w' || i, i FROM generate_series(1, 3000) AS i;
CREATE INDEX altered_a ON altered USING cuckoo (a);
CREATE INDEX altered_b ON altered USING cuckoo (b);
CREATE INDEX altered_c ON altered USING cuckoo (c);
CREATE INDEX altered_d ON altered USING cuckoo (d);
CREATE INDEX altered_e ON altered USING cuckoo (e) WHERE e > 0;
CREATE TEMPORARY TABLE files AS SELECT relname, relfilenode FROM pg_class WHERE relname ~ '^altered_[abc]$';
ALTER TABLE altered ALTER a TYPE text;
SELECT relname, relfilenode = pg_relation_filenode(relname::regclass) AS same_file, is_whole(relname) FROM files
	ORDER BY relname;
INSERT INTO altered (a) VALUES ('later');
ALTER TABLE altered ALTER b TYPE bigint, ALTER c TYPE char(20), ALTER e TYPE numeric;
INSERT INTO altered VALUES ('last', 1::bigint << 40, 'last', 'last', 7.50);
SELECT relname, relfilenode = pg_relation_filenode(relname::regclass) AS same_file, is_whole(relname) FROM files
	WHERE relname <> 'altered_a' ORDER BY relname;
SELECT query AS disagrees FROM unnest(ARRAY['a = ''w7''', 'a = ''later''', 'a = ''last''', 'b = 7',
	'b = 1::bigint << 40', 'c = ''w7''', 'c = ''last''', 'd = ''last''', 'e = 7.5 AND e > 0']) AS query
WHERE by_index('SELECT count(*) FROM altered WHERE ' || query) <> '1' OR NOT
	agrees('SELECT count(*) FROM altered WHERE ' || query);
-- What has no class is refused, and the table stays as it was.  (From 17 on the
-- search path of such commands is empty, and messages have the types' schema.)
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a integer, b text);
SELECT type, lines(format('ALTER TABLE altered ALTER a TYPE %s USING NULL', type)) AS outcome FROM
	unnest('{json,pair,point,mood[]}'::text[]) AS type;
-- citext is taken for text: the index is useless, but in nobody's way.
CREATE EXTENSION citext SCHEMA scratch;
\set VERBOSITY sqlstate
ALTER TABLE altered ALTER a TYPE citext;
INSERT INTO altered (a) VALUES ('W7');
REINDEX INDEX altered_a;
CREATE TABLE like_citext (LIKE altered INCLUDING ALL);
SELECT by_index('SELECT count(*) FROM altered WHERE a = ''w7'''),
	by_scan('SELECT count(*) FROM altered WHERE a = ''w7'''),
	agrees('SELECT count(*) FROM altered WHERE a::text = ''w7''') AS "a::text = 'w7'", is_whole('altered_a') \gx
TRUNCATE altered;
\set VERBOSITY default
-- The same if a class is named that compares otherwise, but not for types that
-- compare as that of the class
CREATE TABLE padded (t text, c regclass, v varchar);
INSERT INTO padded VALUES ('a  ', 'pg_class', 'a');
CREATE INDEX padded_t ON padded USING cuckoo (t bpchar_ops);
CREATE INDEX padded_c ON padded USING cuckoo (c);
CREATE INDEX padded_v ON padded USING cuckoo (v);
SELECT lines('SELECT cuckoo_index_filter(''padded_t'')') AS other, cuckoo_index_filter('padded_c') @>
	'pg_class'::regclass::oid AS regclass, cuckoo_index_filter('padded_v') @> 'a'::text AS varchar,
	by_index('SELECT count(*) FROM padded WHERE c = ''pg_class''::regclass');

---- Operator classes: every one is valid, and what is wrong with others is found
SELECT opcname FROM pg_opclass JOIN pg_am AS am ON opcmethod = am.oid WHERE amname = 'cuckoo' AND
	amvalidate(pg_opclass.oid) IS NOT TRUE;
CREATE OPERATOR CLASS less FOR TYPE integer USING cuckoo AS OPERATOR 1 <;
CREATE OPERATOR CLASS no_operator FOR TYPE integer USING cuckoo AS FUNCTION 1 hashint4extended(integer, bigint);
CREATE OPERATOR CLASS no_function FOR TYPE citext USING cuckoo AS OPERATOR 1 = (citext, citext);
CREATE OPERATOR CLASS short_function FOR TYPE citext USING cuckoo AS OPERATOR 1 = (citext, citext), FUNCTION 1
	citext_hash(citext);
CREATE OPERATOR CLASS two_types FOR TYPE integer USING cuckoo AS OPERATOR 1 = (integer, integer), FUNCTION 1
	(integer, bigint) hashint4extended(integer, bigint);
CREATE OPERATOR CLASS days FOR TYPE date USING cuckoo AS OPERATOR 1 = (date, date), OPERATOR 1 = (date,
	timestamp);
CREATE OPERATOR CLASS half_hashed FOR TYPE text USING cuckoo AS OPERATOR 1 = (text, text), OPERATOR 1 = (text,
	name), FUNCTION 1 hashtextextended(text, bigint);
CREATE FUNCTION h_volatile(text, bigint) RETURNS bigint STRICT LANGUAGE sql AS 'SELECT hashtext($1)::bigint';
CREATE FUNCTION h_lax(text, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT hashtext($1)::bigint';
CREATE OPERATOR CLASS is_volatile FOR TYPE text USING cuckoo AS
	OPERATOR 1 = (text, text), FUNCTION 1 h_volatile(text, bigint);
CREATE OPERATOR CLASS not_strict FOR TYPE text USING cuckoo AS
	OPERATOR 1 = (text, text), FUNCTION 1 h_lax(text, bigint);
CREATE FUNCTION h_parsed(text, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql RETURN hashtext($1)::bigint;
CREATE OPERATOR CLASS is_parsed FOR TYPE text USING cuckoo AS
	OPERATOR 1 = (text, text), FUNCTION 1 h_parsed(text, bigint);
-- The operator is for another type than the class.
CREATE OPERATOR CLASS of_mood FOR TYPE mood USING cuckoo AS
	OPERATOR 1 = (anyenum, anyenum), FUNCTION 1 hashenumextended(anyenum, bigint);
-- These are valid, but not for types in which there are composite ones.
CREATE OPERATOR CLASS of_records FOR TYPE record USING cuckoo AS
	OPERATOR 1 = (record, record), FUNCTION 1 hash_record_extended(record, bigint);
CREATE OPERATOR CLASS of_arrays FOR TYPE anyarray USING cuckoo AS
	OPERATOR 1 = (anyarray, anyarray), FUNCTION 1 hash_array_extended(anyarray, bigint);
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcnamespace = 'scratch'::regnamespace AND opcname !~
	'citext' ORDER BY oid;
CREATE DOMAIN pairs AS pair;
CREATE TABLE wrong (i integer, t text, m mood, c citext, d date, p pair, ps pair[], w pairs, ms mood[]);
SELECT key, lines(format('CREATE INDEX ON wrong USING cuckoo (%s)', key)) FROM unnest('{i less,i no_operator}'::text[]
	|| '{c no_function,c short_function,i two_types,d days,t half_hashed,t is_volatile,t not_strict,t is_parsed,m of_mood}'
	|| '{p of_records,ps of_arrays,w of_records,ms of_arrays}') AS key;
SELECT definition, lines('CREATE OPERATOR CLASS wrong FOR TYPE integer USING cuckoo AS ' || definition)
FROM unnest(ARRAY['OPERATOR 2 =', 'OPERATOR 1 = (integer, integer) FOR ORDER BY integer_ops',
	'FUNCTION 2 hashint4extended(integer, bigint)', 'OPERATOR 1 =, STORAGE bigint']) AS definition;

-- A class for citext
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING cuckoo AS OPERATOR 1 = (citext, citext), FUNCTION
	1 citext_hash_extended(citext, bigint);
CREATE TABLE folded (id integer, c citext);
INSERT INTO folded SELECT i, CASE WHEN i % 2 = 0 THEN 'word' ELSE 'WORD' END || i % 1000 FROM generate_series(1,
	3000) AS i;
CREATE INDEX folded_c ON folded USING cuckoo (c);
INSERT INTO folded VALUES (3001, 'Word7'), (3002, 'Late');
SELECT amvalidate(oid), agrees('SELECT array_agg(id ORDER BY id) FROM folded WHERE c = ''wORD7''') AS
	"c = 'wORD7'", by_index('SELECT count(*) FROM folded WHERE c = ''wORD7''') AS rows,
	agrees('SELECT count(*) FROM folded AS a JOIN folded AS b USING (c)') AS "join",
	agrees('SELECT count(*) FROM folded WHERE c = ANY (''{LATE,word8,none}''::citext[])') AS
	"c = ANY ('{LATE,word8,none}'::citext[])", is_whole('folded_c'),
	lines('SELECT cuckoo_index_filter(''folded_c'')')
FROM pg_opclass WHERE opcname = 'citext_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'cuckoo');

---- How an index is hashed is compared with how its operator class hashes now
CREATE FUNCTION of_index(index text, query text) RETURNS TABLE (call text, outcome text) LANGUAGE sql
	SET enable_seqscan = off AS $$
	SELECT c, lines(c) FROM unnest(ARRAY[query, format('SELECT cuckoo_index_check(%L)', index),
		format('SELECT cuckoo_index_filter(%L) IS NULL', index)]) AS c $$;
CREATE TABLE counted AS SELECT i AS k, 'k' || i AS t FROM generate_series(1, 20000) AS i;
CREATE INDEX counted_k ON counted USING cuckoo (k);
CREATE FUNCTION h_integer(integer, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT $1::bigint';
ALTER OPERATOR FAMILY integer_ops USING cuckoo ADD FUNCTION 1 (integer, integer) h_integer(integer, bigint);
SELECT * FROM of_index('counted_k', 'SELECT count(*) FROM counted WHERE k = 7');
SELECT * FROM of_index('counted_k', 'SELECT count(*) FROM counted WHERE k = 7::bigint') LIMIT 1;
SELECT lines('INSERT INTO counted VALUES (20001)');
ALTER OPERATOR FAMILY integer_ops USING cuckoo DROP FUNCTION 1 (integer, integer);
SELECT * FROM of_index('counted_k', 'SELECT count(*) FROM counted WHERE k = 7');
-- A hash of 32 bits, without an overflow page.  To rename its function, to move it or
-- to alter its flags changes nothing, and another body does.
CREATE FUNCTION h_short(text, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS
	'SELECT hashtext(lower($1))::bigint';
CREATE OPERATOR CLASS short FOR TYPE text USING cuckoo AS
	OPERATOR 1 = (text, text), FUNCTION 1 h_short(text, bigint);
CREATE INDEX counted_t ON counted USING cuckoo (t short);
SELECT overflow_pages, expected_false_rows < 1e-3 AS exact FROM cuckoo_index_info('counted_t') \gx
ALTER FUNCTION h_short RENAME TO h_moved;
ALTER FUNCTION h_moved SET SCHEMA public;
SELECT * FROM of_index('counted_t', 'SELECT count(*) FROM counted WHERE t = ''k7''');
ALTER FUNCTION public.h_moved SET SCHEMA scratch;
ALTER FUNCTION h_moved VOLATILE;
SELECT agrees('SELECT count(*) FROM counted WHERE t = ''k7'''), lines('TRUNCATE counted'), lines('REINDEX INDEX counted_t') \gx
CREATE OR REPLACE FUNCTION h_moved(text, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS
	'SELECT hashtext(upper($1))::bigint';
SELECT * FROM of_index('counted_t', 'SELECT count(*) FROM counted WHERE t = ''k7''') LIMIT 2;
REINDEX INDEX counted_t;
SELECT * FROM of_index('counted_t', 'SELECT count(*) FROM counted WHERE t = ''k7''') LIMIT 2;
-- A library counts, but not its path.  (PostgreSQL does not load that of an SQL function.)
CREATE FUNCTION in_library(library text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	UPDATE pg_proc SET probin = library WHERE proname = 'h_moved';
	RETURN lines('SELECT cuckoo_index_check(''counted_t'')');
END $$;
SELECT left(in_library('/old/path/hashes'), 5), outcome('REINDEX INDEX counted_t');
SELECT library, in_library(library) FROM unnest('{hashes,hashes2,$libdir/hashes}'::text[]) AS library;
-- A body that is no string is another one, and cannot be indexed.
CREATE OR REPLACE FUNCTION h_moved(text, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql
	RETURN hashtext(upper($1))::bigint;
SELECT lines('SELECT cuckoo_index_check(''counted_t'')'), lines('REINDEX INDEX counted_t') \gx
DROP FUNCTION h_moved CASCADE;
-- The functions of a family for other types count: an index of text is searched for
-- a name by that for name.
CREATE FUNCTION h_text(text, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT hashtext($1)::bigint';
CREATE FUNCTION h_name(name, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT hashtext($1::text)::bigint';
CREATE OPERATOR CLASS words FOR TYPE text USING cuckoo AS
	OPERATOR 1 = (text, text), FUNCTION 1 h_text(text, bigint), OPERATOR 1 = (text, name);
ALTER OPERATOR FAMILY words USING cuckoo ADD OPERATOR 1 = (name, text), OPERATOR 1 = (name, name),
	FUNCTION 1 (name, name) h_name(name, bigint);
CREATE INDEX counted_words ON counted USING cuckoo (t COLLATE pg_catalog."C" words);
SELECT * FROM of_index('counted_words', 'SELECT count(*) FROM counted WHERE t = ''k7''::name') LIMIT 2;
-- Added again it is the same one.
ALTER OPERATOR FAMILY words USING cuckoo DROP FUNCTION 1 (name, name);
SELECT * FROM of_index('counted_words', 'SELECT count(*) FROM counted WHERE t = ''k7''::name') LIMIT 2;
ALTER OPERATOR FAMILY words USING cuckoo ADD FUNCTION 1 (name, name) h_name(name, bigint);
SELECT * FROM of_index('counted_words', 'SELECT count(*) FROM counted WHERE t = ''k7''::name') LIMIT 2;
CREATE OR REPLACE FUNCTION h_name(name, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT length($1)';
SELECT * FROM of_index('counted_words', 'SELECT count(*) FROM counted WHERE t = ''k7''::name') LIMIT 2;
-- Two functions that change places are others.
CREATE OR REPLACE FUNCTION h_name(name, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT hashtext($1)::bigint';
CREATE OR REPLACE FUNCTION h_text(text, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT hashtext($1::text)::bigint';
SELECT lines('SELECT cuckoo_index_check(''counted_words'')');
