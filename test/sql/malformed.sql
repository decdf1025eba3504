--
-- Malformed values: refused by the one validator, in all forms
--
-- Whatever bytes come in, they either are a filter, which every function
-- takes, or are refused with an error of the user's making: never XX000, never
-- a crash.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo;
\pset format unaligned
\pset footer off

CREATE SCHEMA malformed_test;
SET search_path = malformed_test, public;
CREATE AGGREGATE state_of(anycompatible) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE AGGREGATE merge_states(cuckoofilter) (SFUNC = cuckoo_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final);

CREATE TABLE sound (name text PRIMARY KEY, b bytea);
INSERT INTO sound
	SELECT 'unset', cuckoo_agg(i)::bytea FROM generate_series(1, 0) AS i
	UNION ALL SELECT 'list', (cuckoo_new() + 1 + 2 + 2)::bytea
	UNION ALL SELECT 'array list', cuckoo_agg(ARRAY[i], 0.01, 50)::bytea FROM generate_series(1, 2) AS i
	UNION ALL SELECT 'table', cuckoo_agg(i)::bytea FROM generate_series(1, 33) AS i
	UNION ALL SELECT 'plain table', cuckoo_add_all(cuckoo_new(0.001, 33, 0, 'plain'), ARRAY(SELECT generate_series(1, 33)))::bytea
	UNION ALL SELECT 'two tables', cuckoo_add_all(cuckoo_new(0.1, 1), ARRAY(SELECT generate_series(1, 150)))::bytea
	UNION ALL SELECT 'wide table', cuckoo_agg(i, 2e-9)::bytea FROM generate_series(1, 33) AS i
	UNION ALL SELECT 'state', state_of(i)::bytea FROM generate_series(1, 3) AS i;

-- Tries bytes in a form: NULL if they are a filter that all functions take,
-- otherwise the SQLSTATE of what refused them.
CREATE FUNCTION attempt(b bytea, as_text boolean) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	f cuckoofilter;
	i record;
	answer boolean;
BEGIN
	BEGIN
		IF as_text THEN
			f := translate(encode(b, 'base64'), E'\n', '')::cuckoofilter;
		ELSE
			f := b::cuckoofilter;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END;
	IF f::bytea <> b THEN
		RETURN 'changed';
	END IF;
	SELECT * INTO i FROM cuckoo_info(f);
	-- What needs a key of its kind or a filter that can grow may refuse.
	BEGIN
		PERFORM * FROM cuckoo_tables(f);
		answer := f @> 1;
		answer := cuckoo_count(f, 1) BETWEEN 0 AND 8;
		PERFORM cuckoo_fpr(f), cuckoo_cardinality(f), (f + 1)::bytea, (f + 1 + 2)::bytea::cuckoofilter;
		PERFORM (f - 1)::bytea::cuckoofilter;
	EXCEPTION WHEN datatype_mismatch OR object_not_in_prerequisite_state OR program_limit_exceeded THEN
		NULL;
	END;
	RETURN NULL;
END
$$;

-- Counts of a set of attempts, by outcome.
CREATE FUNCTION outcomes(OUT refused_as_text bigint, OUT refused_as_bytea bigint, OUT newer bigint, OUT accepted bigint, OUT other text, query text)
LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE 'SELECT count(*) FILTER (WHERE t = ''22P02''), count(*) FILTER (WHERE b = ''22P03''), count(*) FILTER (WHERE t = ''0A000''),
		count(*) FILTER (WHERE t IS NULL AND b IS NULL),
		string_agg(DISTINCT concat_ws('' '', t, b), '', '') FILTER (WHERE coalesce(t, ''-'') || coalesce(b, ''-'') NOT IN (''22P0222P03'', ''0A0000A000'', ''--''))
		FROM (SELECT attempt(bad, true) AS t, attempt(bad, false) AS b FROM (' || query || ') AS q (bad) OFFSET 0) AS a'
	INTO refused_as_text, refused_as_bytea, newer, accepted, other;
END
$$;

-- The sound ones are.
SELECT name FROM sound WHERE coalesce(attempt(b, true), attempt(b, false)) IS NOT NULL;

-- Cut off at every length, and too long
SELECT name, o.refused_as_text = length(b) AND o.refused_as_bytea = length(b) AS all_refused, o.accepted, o.other
FROM sound, outcomes(format('SELECT substr(%L::bytea, 1, n) FROM generate_series(0, %s) AS n', b, length(b) - 1)) AS o ORDER BY name COLLATE "C";
SELECT name, o.* FROM sound, outcomes(format('SELECT %1$L::bytea || substr(decode(repeat(''00'', 16), ''hex''), 1, n) FROM generate_series(1, 16) AS n', b)) AS o
ORDER BY name COLLATE "C";

-- Every byte of the header and directory changed to every other value: where
-- at least one is accepted, by offset.
CREATE TABLE changed AS
	SELECT name, at, attempt(bad, true) AS as_text, attempt(bad, false) AS as_bytea
	FROM (SELECT name, at, set_byte(b, at, value) AS bad FROM sound, generate_series(0, 255) AS value,
			generate_series(0, CASE WHEN get_byte(b, 1) = 1 THEN 39 + 16 * get_byte(b, 5) ELSE 39 END) AS at
		WHERE get_byte(b, at) <> value OFFSET 0) AS bytes;
SELECT coalesce(as_text, 'accepted') AS text, coalesce(as_bytea, 'accepted') AS bytea, count(*) > 100 AS many FROM changed GROUP BY 1, 2 ORDER BY 1;
SELECT name, string_agg(at::text, ' ' ORDER BY at) AS free_offsets
FROM (SELECT DISTINCT name, at FROM changed WHERE as_bytea IS NULL) AS free GROUP BY name ORDER BY name COLLATE "C";
SELECT DISTINCT at, count(*) AS newer_versions FROM changed WHERE as_text = '0A000' GROUP BY name, at;

-- Every byte of the content changed to some others
SELECT name, o.refused_as_text = o.refused_as_bytea AS agree, o.newer, o.other
FROM sound, outcomes(format('SELECT set_byte(%1$L::bytea, at, (get_byte(%1$L::bytea, at) + d) %% 256) FROM generate_series(40, %2$s) AS at, unnest(''{1,16,128,255}''::integer[]) AS d', b, length(b) - 1)) AS o
WHERE length(b) > 40 ORDER BY name COLLATE "C";

-- Random bytes, alone and behind a sound header and directory
SELECT o.refused_as_text + o.newer AS refused, o.accepted, o.other
FROM outcomes('SELECT substr(decode(md5(i::text) || md5((-i)::text) || md5(''x'' || i), ''hex''), 1, i % 49) FROM generate_series(1, 1000) AS i') AS o;
SELECT name, o.refused_as_text + o.accepted AS total, o.other
FROM sound, outcomes(format('SELECT substr(%1$L::bytea, 1, %2$s) || substr(decode((SELECT string_agg(md5(i::text || n), '''') FROM generate_series(1, 40) AS n), ''hex''), 1, greatest(length(%1$L::bytea) - %2$s - 8, 0))
	|| substr(%1$L::bytea, greatest(length(%1$L::bytea) - 7, %2$s + 1)) FROM generate_series(1, 200) AS i', b, CASE WHEN get_byte(b, 1) = 1 THEN 40 + 16 * get_byte(b, 5) ELSE 40 END)) AS o
WHERE length(b) > 40 ORDER BY name COLLATE "C";

--
-- What it says: one of each
--
\pset tuples_only on
\pset fieldsep '\n  -> '
CREATE FUNCTION says(what text) RETURNS text LANGUAGE plpgsql AS
$$
DECLARE
	value text;
	detail text;
	hint text;
BEGIN
	EXECUTE 'SELECT ' || what INTO value;
	RETURN value;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END
$$;
-- A header: version, body, kind, element kind, flags, tables, version of a
-- partial state and a zero; rate, capacity and items; what follows it.
CREATE FUNCTION head(hex text, fpr text DEFAULT '7b14ae47e17a843f', capacity text DEFAULT '0000000000000000', items text DEFAULT '0000000000000000', more text DEFAULT '')
RETURNS bytea LANGUAGE sql IMMUTABLE AS $$SELECT decode(hex || fpr || capacity || '0000000000000000' || items || more, 'hex')$$;
SELECT what, says(what || '::cuckoofilter') FROM unnest(ARRAY[
	-- text
	$$''$$, $$'?'$$, $$'AQ'$$, $$'AQAA AAAA'$$, $$'\x0100'$$,
	-- lengths
	$$'\x'::bytea$$, $$'\x01'::bytea$$, $$(head('0100000000000000') || '\x00')$$,
	$$head('0100010000000000', items => '0200000000000000', more => '0000000000000001')$$,
	-- versions
	$$'\x00'::bytea$$, $$'\x02'::bytea$$, $$'\x0f'::bytea$$, $$'\x10'::bytea$$, $$'\xff'::bytea$$, $$'Ag=='$$, $$head('0200000000000000')$$,
	-- the first eight bytes
	$$head('0103000000000000')$$, $$head('01ff000000000000')$$, $$head('0100ff0000000000')$$, $$head('0100000000000000', items => '0100000000000000', more => '0000000000000001')$$,
	$$head('0100180000000000')$$, $$head('0100010100000000')$$, $$head('010018ff00000000')$$, $$head('0100000008000000')$$, $$head('0100000002000000')$$,
	$$head('0100000000010000')$$, $$head('0101000000000000')$$, $$head('0101000000110000')$$, $$head('0100000000000100')$$, $$head('0100000000000001')$$,
	$$head('0102010000000000')$$, $$head('0102010000000200')$$, $$head('0102010000010100')$$,
	-- unset
	$$head('0100000004000000')$$, $$head('0100000005000000', fpr => '0000000000000000')$$, $$head('0101000004010000', fpr => '0000000000000000')$$,
	$$head('0100010004000000', fpr => '0000000000000000')$$, $$head('0100000004000000', fpr => '0000000000000000', capacity => '0100000000000000')$$,
	-- rate: 0, negative, NaN, infinity, 1, a little over 0.1, a little under 2e-9
	$$head('0100000000000000', fpr => '0000000000000000')$$, $$head('0100000000000000', fpr => '7b14ae47e17a84bf')$$, $$head('0100000000000000', fpr => '000000000000f87f')$$,
	$$head('0100000000000000', fpr => '000000000000f07f')$$, $$head('0100000000000000', fpr => '000000000000f03f')$$, $$head('0100000000000000', fpr => '9b9999999999b93f')$$,
	$$head('0100000000000000', fpr => '94d626e80b2e213e')$$,
	-- capacity, items
	$$head('0100000000000000', capacity => '0100000000010000')$$, $$head('0100000000000000', capacity => 'ffffffffffffffff')$$,
	$$head('0100010000000000', items => 'ffffffffffffffff')$$, $$head('0100010000000000', items => '0104000000000000')$$,
	$$head('0100010000000000', capacity => '0100000000000000', items => '2100000000000000')$$, $$head('0102010000000100', items => '0000000000000010')$$,
	$$head('0102010000000100', items => '0000e02e00000000')$$,
	-- lists: order, copies
	$$head('0100010000000000', items => '0200000000000000', more => '02000000000000000100000000000000')$$,
	$$head('0100010000000000', items => '0900000000000000', more => repeat('0100000000000000', 9))$$,
	$$head('0102010000000100', items => '0200000000000000', more => repeat('0100000000000000', 2))$$,
	-- directories: blocks, buckets, bits, reserved, items
	$$head('0101010000010000')$$,
	$$head('0101010000010000', more => '00000000020005000000000000000000')$$, $$head('0101010000010000', more => 'ffffffff020005000000000000000000')$$,
	$$head('0101010000010000', more => '01000000000005000000000000000000')$$, $$head('0101010000010000', more => '01000000030005000000000000000000')$$,
	$$head('0101010000010000', more => '01000000028005000000000000000000')$$, $$head('0101010000010000', more => 'ff7f0000008005000000000000000000')$$,
	$$head('0101010000010000', more => '01000000020004000000000000000000')$$, $$head('0101010000010000', more => '01000000020021000000000000000000')$$,
	$$head('0101010000010000', more => '01000000020005010000000000000000')$$, $$head('0101010000010000', more => '01000000020005000900000000000000')$$,
	$$head('0101010000010000', more => '0100000002000500ffffffffffffffff')$$,
	$$head('0101010000100000', more => repeat('002c0000008020000000000000000000', 16))$$,
	$$head('0101010000020000', items => '0000000000000000', more => '01000000020005000800000000000000' || '0100000002000500f8ffffffffffffff')$$,
	$$head('0101010000010000', items => '0100000000000000', more => '01000000020005000000000000000000' || '00000000' || '0000000000000000')$$,
	-- buckets: no multiset, out of order, another number of items, a tail
	$$head('0101010000010000', more => '01000000020005000000000000000000' || '240f0000' || '0000000000000000')$$,
	$$head('0101010000010000', items => '0100000000000000', more => '01000000020005000100000000000000' || '00100000' || '0000000000000000')$$,
	$$head('0101010000010000', items => '0100000000000000', more => '01000000020005000100000000000000' || '00f00000' || '0000000000000000')$$,
	$$head('0101010001010000', items => '0100000000000000', more => '01000000020005000100000000000000' || '0100000000' || '0000000000000000')$$,
	$$head('0101010000010000', items => '0100000000000000', more => '01000000020005000100000000000000' || '00000000' || '0000000000000000')$$,
	$$head('0101010000010000', more => '01000000020005000000000000000000' || '00000000' || '0000000000000001')$$,
	-- and what is fine
	$$head('0100000000000000')$$, $$head('0100000004000000', fpr => '0000000000000000')$$, $$head('0101010003010000', more => '01000000020005000000000000000000' || '0000000000' || '0000000000000000')$$,
	$$head('0102010000000100', items => '0100000000000000', more => '0000000000000000')$$
]) AS what;

-- A hash of 0 is one like any other.
SELECT cuckoo_info(merge_states(head('0102010000000100', items => '0200000000000000', more => '0000000000000000ffffffffffffffff')::cuckoofilter));
SELECT merge_states(s)::bytea = head('0100010000000000', capacity => '0300000000000000', items => '0300000000000000', more => '00000000000000000100000000000000ffffffffffffffff')
FROM (VALUES (head('0102010000000100', items => '0200000000000000', more => '0000000000000000ffffffffffffffff')::cuckoofilter),
	(head('0102010000000100', items => '0200000000000000', more => '00000000000000000100000000000000')::cuckoofilter)) AS states (s);

DROP SCHEMA malformed_test CASCADE;
