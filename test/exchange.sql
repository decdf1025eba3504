-- For versions.sh: filters to be carried to other versions of PostgreSQL, and
-- what they answer.  Everything here gives the same on every version.

CREATE EXTENSION cuckoo_citus CASCADE;
CREATE EXTENSION cuckoo_follow;

CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter);

INSERT INTO filters VALUES
	('unset', (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)),
	('empty', cuckoo_new(1000, 0.01, 42)),
	('few', cuckoo_from_array(ARRAY[1, 2, 3])),
	('text', (SELECT cuckoo_agg('key ' || i) FROM generate_series(1, 10000) AS i)),
	('numeric', (SELECT cuckoo_agg(i / 4.0) FROM generate_series(1, 5000) AS i)),
	('jsonb', cuckoo_add_all(cuckoo_new(), (SELECT array_agg(jsonb_build_object('k', i)) FROM generate_series(1, 2000) AS i))),
	('interval', cuckoo_add_all(cuckoo_new(), (SELECT array_agg(make_interval(mins => i)) FROM generate_series(1, 500) AS i))),
	('large', (SELECT cuckoo_agg(i) FROM generate_series(1, 300000) AS i)),
	('sparse', (SELECT cuckoo_agg(i, 10000000, 0.00001) FROM generate_series(1, 100000) AS i)),
	('grown', cuckoo_add_all(cuckoo_new(1000, 0.001), (SELECT array_agg(i) FROM generate_series(1, 40000) AS i))),
	('unknown capacity', cuckoo_add_all(cuckoo_new(), (SELECT array_agg(i) FROM generate_series(1, 40000) AS i))),
	('copies', (SELECT cuckoo_multiset_agg(i % 1000, 10000, 0.001) FROM generate_series(1, 5000) AS i)),
	('nested', (SELECT cuckoo_agg(ROW(i, ARRAY['key ' || i], int4range(i, i + 5))) FROM generate_series(1, 500) AS i)),
	('union', (SELECT cuckoo_union_agg(f) FROM (SELECT cuckoo_agg(i, 20000 + 5000 * (i % 4), 0.001) AS f
		FROM generate_series(1, 20000) AS i GROUP BY i % 4, 20000 + 5000 * (i % 4)) AS parts));

CREATE FUNCTION same_answers(name text, f cuckoofilter) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	CASE name
		WHEN 'unset', 'empty' THEN
			RETURN cuckoo_cardinality(f) = 0 AND NOT f @> 1;
		WHEN 'few' THEN
			RETURN (SELECT bool_and(f @> i) FROM generate_series(1, 3) AS i) AND NOT f @> 4;
		WHEN 'text' THEN
			RETURN (SELECT bool_and(f @> ('key ' || i)) FROM generate_series(1, 10000) AS i);
		WHEN 'numeric' THEN
			RETURN (SELECT bool_and(f @> (i / 4.0)) FROM generate_series(1, 5000) AS i);
		WHEN 'jsonb' THEN
			RETURN (SELECT bool_and(f @> jsonb_build_object('k', i)) FROM generate_series(1, 2000) AS i);
		WHEN 'interval' THEN
			RETURN (SELECT bool_and(f @> make_interval(mins => i)) FROM generate_series(1, 500) AS i);
		WHEN 'large' THEN
			RETURN (SELECT bool_and(f @> i) FROM generate_series(1, 300000) AS i)
				AND (SELECT count(*) FILTER (WHERE f @> i) < 600 FROM generate_series(300001, 600000) AS i);
		WHEN 'sparse' THEN
			RETURN (SELECT bool_and(f @> i) FROM generate_series(1, 100000) AS i)
				AND (SELECT count(*) FILTER (WHERE f @> i) < 10 FROM generate_series(100001, 200000) AS i);
		WHEN 'copies' THEN
			RETURN (SELECT bool_and(cuckoo_count(f, i) >= 5) FROM generate_series(0, 999) AS i);
		WHEN 'nested' THEN
			RETURN (SELECT bool_and(f @> ROW(i, ARRAY['key ' || i], int4range(i, i + 5))) FROM generate_series(1, 500) AS i);
		WHEN 'grown', 'unknown capacity' THEN
			RETURN (SELECT bool_and(f @> i) FROM generate_series(1, 40000) AS i);
		WHEN 'union' THEN
			RETURN (SELECT bool_and(f @> i) FROM generate_series(1, 20000) AS i);
	END CASE;
END
$$;
