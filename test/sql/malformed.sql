--
-- Malformed values: the validator refuses them, in all forms
--
-- Whatever the input, it either is a filter, which every function accepts, or
-- is refused with an ordinary error: never XX000, never a crash.
--
\i `echo "$PG_ABS_SRCDIR/sql/setup.psql"`

CREATE TABLE sound (name text PRIMARY KEY, b bytea);
INSERT INTO sound
	SELECT 'unset', cuckoo_agg(i)::bytea FROM generate_series(1, 0) AS i
	UNION ALL SELECT 'empty', cuckoo_new(50, 0.01, 7)::bytea
	UNION ALL SELECT 'sparse table', (cuckoo_new() + 1 + 2 + 2)::bytea
	UNION ALL SELECT 'of arrays', cuckoo_agg(ARRAY[i], 50, 0.01)::bytea FROM generate_series(1, 2) AS i
	UNION ALL SELECT 'two or more groups', cuckoo_agg(i, 200, 0.001)::bytea FROM generate_series(1, 70) AS i
	UNION ALL SELECT 'dense table', cuckoo_agg(i, 90, 0.001)::bytea FROM generate_series(1, 90) AS i
	UNION ALL SELECT 'dense and sparse', cuckoo_add_all(cuckoo_new(1, 0.1), ARRAY(SELECT generate_series(1, 50)))::bytea
	UNION ALL SELECT 'two words per bucket', cuckoo_agg(i, 60, 2e-8)::bytea FROM generate_series(1, 60) AS i
	UNION ALL SELECT 'state', decode(state_of(i)::text, 'base64') FROM generate_series(1, 3) AS i;

-- Tries bytes in a form: NULL if they are a filter that all functions accept,
-- otherwise the SQLSTATE of the error.
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
	-- Functions that need a key of its type, or a filter that can grow, may
	-- refuse it.
	BEGIN
		PERFORM * FROM cuckoo_subfilters(f);
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

-- The sound values are accepted.
SELECT name FROM sound WHERE coalesce(attempt(b, true), attempt(b, false)) IS NOT NULL;

-- Cut off at every length, and too long
SELECT name, o.refused_as_text = length(b) AND o.refused_as_bytea = length(b) AS all_refused, o.accepted, o.other
FROM sound, outcomes(format('SELECT substr(%L::bytea, 1, n) FROM generate_series(0, %s) AS n', b, length(b) - 1)) AS o ORDER BY name COLLATE "C";
SELECT name, o.* FROM sound, outcomes(format('SELECT %1$L::bytea || substr(decode(repeat(''00'', 16), ''hex''), 1, n) FROM generate_series(1, 16) AS n', b)) AS o
ORDER BY name COLLATE "C";

-- Every byte of the header and directory changed to every other value: the
-- offsets at which at least one is accepted.
CREATE TABLE changed AS
	SELECT name, at, attempt(bad, true) AS as_text, attempt(bad, false) AS as_bytea
	FROM (SELECT name, at, set_byte(b, at, value) AS bad FROM sound, generate_series(0, 255) AS value,
			generate_series(0, 35 + 12 * get_byte(b, 32)) AS at
		WHERE get_byte(b, at) <> value OFFSET 0) AS bytes;
SELECT coalesce(as_text, 'accepted') AS text, coalesce(as_bytea, 'accepted') AS bytea, count(*) > 100 AS many FROM changed GROUP BY 1, 2 ORDER BY 1;
SELECT name, string_agg(at::text, ' ' ORDER BY at) AS free_offsets
FROM (SELECT DISTINCT name, at FROM changed WHERE as_bytea IS NULL) AS free GROUP BY name ORDER BY name COLLATE "C";
SELECT DISTINCT at, count(*) AS newer_versions FROM changed WHERE as_text = '0A000' GROUP BY name, at;

-- Every byte of the content changed to some others
SELECT name, o.refused_as_text = o.refused_as_bytea AS agree, o.newer, o.other
FROM sound, outcomes(format('SELECT set_byte(%1$L::bytea, at, (get_byte(%1$L::bytea, at) + d) %% 256) FROM generate_series(%3$s, %2$s) AS at, unnest(''{1,16,128,255}''::integer[]) AS d', b, length(b) - 1, 36 + 12 * get_byte(b, 32))) AS o
ORDER BY name COLLATE "C";

-- Random bytes, alone and behind a sound header and directory
SELECT o.refused_as_text + o.newer AS refused, o.accepted, o.other
FROM outcomes('SELECT substr(decode(md5(i::text) || md5((-i)::text) || md5(''x'' || i), ''hex''), 1, i % 49) FROM generate_series(1, 1000) AS i') AS o;
SELECT name, o.refused_as_text + o.accepted AS total, o.other
FROM sound, outcomes(format('SELECT substr(%1$L::bytea, 1, %2$s) || substr(decode((SELECT string_agg(md5(i::text || n), '''') FROM generate_series(1, 40) AS n), ''hex''), 1, greatest(length(%1$L::bytea) - %2$s - 8, 0))
	|| substr(%1$L::bytea, greatest(length(%1$L::bytea) - 7, %2$s + 1)) FROM generate_series(1, 200) AS i', b, 36 + 12 * get_byte(b, 32))) AS o
WHERE length(b) > 44 ORDER BY name COLLATE "C";

--
-- The messages, one of each
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
-- A value: version, content, key type, flags; signature, rate, capacity, number
-- of tables; what follows the header, and the tail
CREATE FUNCTION head(hex text, signature text DEFAULT '00000000', fpr text DEFAULT '7b14ae47e17a843f', capacity text DEFAULT '0000000000000000',
	tables text DEFAULT '01000000', more text DEFAULT '', tail text DEFAULT '0000000000000000')
RETURNS bytea LANGUAGE sql IMMUTABLE AS $$SELECT decode(hex || signature || fpr || capacity || '0000000000000000' || tables || more || tail, 'hex')$$;
-- An entry of the directory
CREATE FUNCTION entry(blocks text DEFAULT '01000000', items text DEFAULT '00000000', buckets text DEFAULT '0200', bits text DEFAULT '05', representation text DEFAULT '00')
RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT blocks || items || buckets || bits || representation$$;
-- A bit string, lowest bit first
CREATE FUNCTION bits(b text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT string_agg(lpad(to_hex(reverse(rpad(substr(s, at, 8), 8, '0'))::bit(8)::integer), 2, '0'), '' ORDER BY at) FROM replace(b, ' ', '') AS s, generate_series(1, length(s), 8) AS at$$;
-- Sparse tables of codes below 32, all of one group: without items (the whole
-- table), one item with 5 low bits, two with 4, and nine with 2.  An upper part
-- goes on with 15, 14 and 8 zeros.
CREATE FUNCTION empty_() RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT entry() || repeat('00', 14)$$;
CREATE FUNCTION one(upper_ text, low text, index text DEFAULT '00000000' || repeat('01', 8), fill text DEFAULT '0') RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT entry(items => '01000000') || index || bits(upper_ || repeat('0', 15) || low || fill)$$;
CREATE FUNCTION two(upper_ text, lows text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT entry(items => '02000000') || '00000000' || repeat('02', 8) || bits(upper_ || repeat('0', 14) || lows)$$;
CREATE FUNCTION nine(upper_ text, lows text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT entry(items => '09000000') || '00000000' || repeat('09', 8) || bits(upper_ || repeat('0', 8) || lows)$$;
-- A dense table of two buckets
CREATE FUNCTION dense(items text, buckets text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT entry(items => items, representation => '01') || buckets$$;

SELECT what, says(what || '::cuckoofilter') FROM unnest(ARRAY[
	-- text
	$$''$$, $$'?'$$, $$'AQ'$$, $$'AQAA AAAA'$$, $$'\x0100'$$,
	-- lengths, the last one far longer than a filter may be
	$$'\x'::bytea$$, $$'\x01'::bytea$$, $$(head('01000000', more => empty_()) || '\x00')$$, $$head('01000000')$$, $$head('01000000', more => entry())$$,
	$$head('01000000', more => entry(blocks => 'e02e0000', buckets => '0080', bits => '20', representation => '01'))$$,
	$$head('01010100', tables => '00000000', more => '00')$$,
	-- versions
	$$'\x00'::bytea$$, $$'\x02'::bytea$$, $$'\x0f'::bytea$$, $$'\x10'::bytea$$, $$'\xff'::bytea$$, $$'Ag=='$$, $$head('02000000')$$,
	-- content, key type, flags, signature
	$$head('01020000', more => empty_())$$, $$head('01ff0000', more => empty_())$$, $$head('0100ff00', more => empty_())$$, $$head('01001800', more => empty_())$$,
	$$head('01000004', more => empty_())$$, $$head('01000080', more => empty_())$$,
	$$head('01000100', signature => '01000000', more => empty_())$$, $$head('01000000', signature => '00000001', more => empty_())$$, $$head('01000000', more => one('10', '10000'))$$,
	-- number of tables, reserved bytes
	$$head('01000000', tables => '00000000')$$, $$head('01000000', tables => '11000000', more => repeat(empty_(), 17))$$, $$head('01000000', tables => '01010000', more => empty_())$$,
	$$head('01000000', tables => '01000001', more => empty_())$$,
	-- partial states
	$$head('01010000', tables => '01000000', more => empty_())$$, $$head('01010000', tables => '00000000', more => '0000000000000000')$$,
	$$head('01010100', tables => '00000000', more => '02000000000000000100000000000000')$$, $$head('01010100', tables => '00000000', more => repeat('0100000000000000', 2))$$,
	$$head('01010101', tables => '00000000')$$,
	-- unset
	$$head('01000002', tables => '00000000')$$, $$head('01000003', fpr => '0000000000000000', tables => '00000000')$$, $$head('01000002', fpr => '0000000000000000', more => empty_())$$,
	$$head('01000102', fpr => '0000000000000000', tables => '00000000')$$, $$head('01000002', fpr => '0000000000000000', capacity => '0100000000000000', tables => '00000000')$$,
	-- rate: 0, negative, NaN, infinity, 1, a little over 0.1, a little under 2e-8
	$$head('01000000', fpr => '0000000000000000', more => empty_())$$, $$head('01000000', fpr => '7b14ae47e17a84bf', more => empty_())$$, $$head('01000000', fpr => '000000000000f87f', more => empty_())$$,
	$$head('01000000', fpr => '000000000000f07f', more => empty_())$$, $$head('01000000', fpr => '000000000000f03f', more => empty_())$$, $$head('01000000', fpr => '9b9999999999b93f', more => empty_())$$,
	$$head('01000000', fpr => '398c30e28e79553e', more => empty_())$$,
	-- capacity
	$$head('01000000', capacity => '0000000000010000', more => empty_())$$, $$head('01000000', capacity => 'ffffffffffffffff', more => empty_())$$,
	-- directories: blocks, buckets (none, odd, too many, too many in all), bits, representation, items, order
	$$head('01000100', more => entry(blocks => '00000000'))$$, $$head('01000100', more => entry(blocks => 'ffffffff'))$$,
	$$head('01000100', more => entry(buckets => '0000'))$$, $$head('01000100', more => entry(buckets => '0300'))$$, $$head('01000100', more => entry(buckets => '0280'))$$,
	$$head('01000100', more => entry(blocks => 'e12e0000', buckets => '0080'))$$, $$head('01000100', more => entry(bits => '04'))$$, $$head('01000100', more => entry(bits => '21'))$$,
	$$head('01000100', more => entry(representation => '02') || '00000000')$$, $$head('01000100', more => dense('09000000', '00000000'))$$,
	$$head('01000100', tables => '02000000', more => entry() || entry() || repeat('00', 2 * 14))$$,
	$$head('01000100', tables => '02000000', more => entry(bits => '06') || entry() || repeat('00', 2 * 14))$$,
	$$head('01000100', tables => '02000000', more => entry(buckets => '0400') || entry() || repeat('00', 2 * 14))$$,
	-- sparse: the index, the upper part, a fingerprint of 0, fill bits, descending
	-- codes, nine copies, a code too large
	$$head('01000100', more => one('10', '10000', index => '01000000' || repeat('01', 8)))$$, $$head('01000100', more => one('10', '10000', index => repeat('00', 12)))$$,
	$$head('01000100', more => one('10', '10000', index => '00000000' || repeat('02', 8)))$$, $$head('01000100', more => one('10', '10000', index => '00000000' || repeat('ff', 8)))$$,
	$$head('01000100', more => one('10', '10000', index => '00000000' || '01' || repeat('00', 7)))$$, $$head('01000100', more => one('01', '10000'))$$, $$head('01000100', more => one('00', '10000'))$$,
	$$head('01000100', more => one('11', '10000'))$$, $$head('01000100', more => one('10', '00000'))$$, $$head('01000100', more => one('10', '10000', fill => '1'))$$,
	$$head('01000100', more => two('1100', '0100 1000'))$$, $$head('01000100', more => two('1010', '0000 1000'))$$, $$head('01000100', more => nine('11111111100000000', '101010101010101010'))$$,
	$$head('01000100', more => entry(items => '01000000', buckets => '0600') || '00000000' || repeat('01', 8) || bits('10' || repeat('0', 15) || '1000011'))$$,
	-- dense: no multiset, out of order, another number of items
	$$head('01000100', more => dense('00000000', '240f0000'))$$, $$head('01000100', more => dense('01000000', '00100000'))$$, $$head('01000100', more => dense('01000000', '00f00000'))$$,
	$$head('01000100', more => dense('01000000', '00000000'))$$, $$head('01000100', more => dense('00000000', '01000000'))$$,
	-- a tail
	$$head('01000000', more => empty_(), tail => '0000000000000001')$$, $$head('01010100', tables => '00000000', tail => '0100000000000000')$$,
	-- what is accepted
	$$head('01000000', more => empty_())$$, $$head('01000002', fpr => '0000000000000000', tables => '00000000')$$, $$head('01000101', more => empty_())$$,
	$$head('01000000', fpr => '3a8c30e28e79553e', more => empty_())$$, $$head('01000100', more => one('10', '10000'))$$, $$head('01000100', more => one('10', '11111'))$$, $$head('01000100', more => two('1100', '1000 0100'))$$, $$head('01000100', more => two('1100', '1000 1000'))$$,
	$$head('01000100', more => two('1010', '1000 1000'))$$, $$head('01000100', more => entry(items => '01000000', buckets => '0600') || '00000000' || repeat('01', 8) || bits('10' || repeat('0', 15) || '1111101'))$$,
	$$head('01000100', more => dense('00000000', '00000000'))$$, $$head('01000100', more => dense('01000000', '01000000'))$$,
	$$head('01000100', tables => '02000000', more => entry() || entry(bits => '06') || repeat('00', 2 * 14))$$,
	$$head('01010100', tables => '00000000', more => '0000000000000000')$$, $$head('01010000', tables => '00000000')$$
]) AS what;

-- A hash of 0 is like any other.
SELECT cuckoo_info(merge_states(head('01010100', tables => '00000000', more => '0000000000000000ffffffffffffffff')::cuckoofilter));
SELECT cuckoo_info(merge_states(s))
FROM (VALUES (head('01010100', tables => '00000000', more => '0000000000000000ffffffffffffffff')::cuckoofilter),
	(head('01010100', tables => '00000000', more => '00000000000000000100000000000080')::cuckoofilter)) AS states (s);
