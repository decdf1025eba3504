-- Malformed values: the validator refuses them, in all forms
--
-- Whatever the input, it either is a filter, which every function accepts, or
-- is refused with an ordinary error: never XX000, never a crash.
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
CREATE FUNCTION attempt(b bytea, as_text boolean) RETURNS text LANGUAGE plpgsql AS $$
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
END $$;

-- Counts of a set of attempts, by outcome.
CREATE FUNCTION outcomes(OUT refused_as_text bigint, OUT refused_as_bytea bigint, OUT newer bigint, OUT accepted bigint, OUT other text, query text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT count(*) FILTER (WHERE t = ''22P02''), count(*) FILTER (WHERE b = ''22P03''), count(*) FILTER (WHERE t = ''0A000''),
		count(*) FILTER (WHERE t IS NULL AND b IS NULL),
		string_agg(DISTINCT concat_ws('' '', t, b), '', '') FILTER (WHERE coalesce(t, ''-'') || coalesce(b, ''-'') NOT IN (''22P0222P03'', ''0A0000A000'', ''--''))
		FROM (SELECT attempt(bad, true) AS t, attempt(bad, false) AS b FROM (' || query || ') AS q (bad) OFFSET 0) AS a'
	INTO refused_as_text, refused_as_bytea, newer, accepted, other;
END $$;

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
FROM sound,
	outcomes(format('SELECT set_byte(%1$L::bytea, at, (get_byte(%1$L::bytea, at) + d) %% 256) FROM generate_series(%3$s, %2$s) AS at, unnest(''{1,16,128,255}''::integer[]) AS d', b,
	length(b) - 1, 36 + 12 * get_byte(b, 32))) AS o
ORDER BY name COLLATE "C";

-- Random bytes, alone and behind a sound header and directory
SELECT o.refused_as_text + o.newer AS refused, o.accepted, o.other
FROM outcomes('SELECT substr(decode(md5(i::text) || md5((-i)::text) || md5(''x'' || i), ''hex''), 1, i % 49) FROM generate_series(1, 1000) AS i') AS o;
SELECT name, o.refused_as_text + o.accepted AS total, o.other
FROM sound,
	outcomes(format('SELECT substr(%1$L::bytea, 1, %2$s) || substr(decode((SELECT string_agg(md5(i::text || n), '''') FROM generate_series(1, 40) AS n), ''hex''), 1, '
		'greatest(length(%1$L::bytea) - %2$s - 8, 0))
	|| substr(%1$L::bytea, greatest(length(%1$L::bytea) - 7, %2$s + 1)) FROM generate_series(1, 200) AS i', b, 36 + 12 * get_byte(b, 32))) AS o
WHERE length(b) > 44 ORDER BY name COLLATE "C";

---- The messages: for each rule of docs/format.md a value that breaks it, and for
---- the text form
\pset tuples_only on
\pset fieldsep '\n  -> '
\set lines `cat "$PG_ABS_SRCDIR/golden/malformed.tsv"`
SELECT split_part(line, E'\t', 1), outcome(format('SELECT %L::bytea::cuckoofilter', '\x' || split_part(line, E'\t', 2)))
FROM regexp_split_to_table(:'lines', '\n') WITH ORDINALITY AS x (line, number) WHERE number > 1 ORDER BY number;
SELECT value, outcome(format('SELECT %L::cuckoofilter', value)) FROM unnest(ARRAY['', '?', 'AQ', 'AQAA AAAA', '\x0100', 'Ag==', 'Dw==', '/w==']) AS value;
