-- Prints of filters of a number of keys, dense and a third full: rate asked,
-- representation, bits per key of the stored value, measured rate.

CREATE TEMP TABLE made AS
	SELECT asked, room, (SELECT cuckoo_agg(i, room * :keys, asked) FROM generate_series(1, :keys) AS i) AS f
	FROM unnest('{0.1,0.03,0.01,0.003,0.001,3e-4,1e-4,3e-5,1e-5,3e-6,1e-6}'::float8[]) AS asked, generate_series(1, 3, 2) AS room;
\pset fieldsep '\t'
-- Lookups enough for 100 positive answers
SELECT format('SELECT asked, i.representation, round(8.0 * pg_column_size(f) / %3$s, 3), count / lookups
	FROM made, cuckoo_info(f) AS i, greatest(1e7, 100 / asked) AS lookups,
		LATERAL (SELECT count(*) FROM generate_series(1, lookups::bigint) AS k WHERE (SELECT f FROM made WHERE asked = %1$s AND room = %2$s) @> -k) AS c
	WHERE asked = %1$s AND room = %2$s', asked, room, :keys)
FROM made ORDER BY room, asked DESC \gexec
