-- Makes random SQL, for "test/run.sh random": \gexec runs the rows of random_sql(n).
-- Expressions are calls of all functions of the extension, which the catalog
-- lists, over edge values of each type, NULLs, damaged bytes, states of
-- aggregates, and one another.

SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS cuckoo;
CREATE TYPE colour AS ENUM ('red', 'green', 'a');
CREATE TYPE pair AS (a integer, b text);
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE text_range AS RANGE (subtype = text);
-- An aggregate without a final function gives its state away.
CREATE AGGREGATE raw_agg(integer) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE TABLE numbers AS SELECT i, i * 37 % 1000 AS k, 't' || i % 50 AS t FROM generate_series(1, 3000) AS i;
ANALYZE numbers;

-- Filters of every representation, and states
CREATE TABLE pool (id integer PRIMARY KEY, f cuckoofilter);
INSERT INTO pool VALUES
	(0, NULL), (1, cuckoo_new()), (2, (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)), (3, cuckoo_from_array(ARRAY['a', 'b'])),
	(4, cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 30000)))), (5, cuckoo_new(700, 0.01, 7) + 1 + 2),
	(6, (SELECT cuckoo_agg(i, 1000000, 0.001) FROM generate_series(1, 30000) AS i)),
	(7, (SELECT cuckoo_union_agg(cuckoo_from_array(ARRAY[i, -i], i, 0.001)) FROM generate_series(10, 160, 10) AS i)),
	(8, (SELECT cuckoo_multiset_agg(i % 300, 3000, 0.01) FROM generate_series(1, 3000) AS i)),
	(9, cuckoo_add_all(cuckoo_new(30, 0.01), ARRAY(SELECT generate_series(1, 40000))));
INSERT INTO pool SELECT i, cuckoo_from_array(ARRAY(SELECT generate_series(i, i * 50)), 20 * i * (1 + i % 3), 0.001) FROM generate_series(10, 24) AS i;
INSERT INTO pool SELECT 24 + g, (SELECT raw_agg(i) FROM generate_series(1, (ARRAY[1, 7, 100, 5000, 120000])[g]) AS i) FROM generate_series(1, 5) AS g;

-- Expressions of each type.  In those for keys and filters, i is a number that
-- an aggregate runs over.
CREATE TABLE expressions (type regtype, e text[]);
INSERT INTO expressions VALUES
	('integer', '{0,1,-1,7,8,255,256,1024,65536,2147483647,-2147483648,NULL}'), ('bigint', '{0,1,-1,42,4294967296,9223372036854775807,-9223372036854775808,NULL}'),
	('double precision', '{0.001,0.01,0.1,0.1000001,2e-8,1.9e-8,0,-0.0,1,-1,0.5,100,1000,1000,50000,50000,2e6,1e9,1099511627777,1e308,5e-324,''NaN'',''-Infinity'',NULL}'),
	('boolean', '{true,NULL}'), ('text', $${'','AA==','AQ','!',NULL}$$), ('cstring', $${'','AA==','AQ','!'}$$), ('oid', '{0,1,NULL}'),
	('bytea', $${'\\x','\\x01',NULL}$$),
	('cuckoofilter', $${"(SELECT f FROM pool WHERE id = abs(hashint4(i)) % 30)","(SELECT f FROM pool WHERE id = RANDOM)","(SELECT f FROM pool WHERE id = RANDOM)","(SELECT set_byte(f::bytea, 2 * RANDOM, RANDOM * 37 % 256)::cuckoofilter FROM pool WHERE id = RANDOM)",
		"(SELECT substring(f::bytea, 1, 2 * RANDOM)::cuckoofilter FROM pool WHERE id = RANDOM)","(SELECT raw_agg(j) FROM generate_series(1, 5000) AS j)",cuckoo_new(),NULL::cuckoofilter}$$),
	('anycompatiblearray', $${NULL::integer[],NULL::cuckoofilter[],"'{}'::int[]","ARRAY[NULL::integer]","'{{1,2},{3,NULL}}'::int[]","'[5:6]={1,2}'::bigint[]","ARRAY['a', NULL]","ARRAY(SELECT generate_series(1, 30000))","ARRAY(SELECT (j % 7)::bigint FROM generate_series(1, 300) AS j)"}$$),
	('anycompatible', $${i,i,i,i % 5,RANDOM,RANDOM,i::text,i::bigint,i::numeric,"NULLIF(i % 3, 0)",NULL,NULL::integer,'x',"true","'a'::\"char\"","''::text","repeat('y', 200000)","E'\\u00f6'","'ab'::varchar(1)","'a name'::name","'  '::char(5)",
		"'\\x00ff'::bytea","'NaN'::numeric","'-Infinity'::numeric",0.000,1e1000,1e-1000,"'NaN'::real","'-0'::float8","md5(i::text)::uuid","'infinity'::date","'2000-01-01'::date + i","'24:00'::time","'24:00-15:59'::timetz",
		"'-infinity'::timestamp","'2000-01-01 00:00Z'::timestamptz","'1 month'::interval","'-178956970 years -2147483648 days'::interval","'::1/0'::inet","'10.0.0.0/8'::cidr","'08:00:2b:01:02:03'::macaddr","'08:00:2b:01:02:03:04:05'::macaddr8",
		"'1.00'::money","B'101'","repeat('1', 77)::varbit","'FFFFFFFF/FFFFFFFF'::pg_lsn","'18446744073709551615'::xid8","1::oid","'a'::colour","5::positive","'null'::jsonb","'{\"a\": [1, 2.50, {\"b\": null}], \"c\": \"x\"}'::jsonb","(repeat('[', 300) || repeat(']', 300))::jsonb",
		"'{}'::int[]","'[-3:-1]={1,2,3}'::int[]","ARRAY[ROW(1, NULL)]","ARRAY['[1,2)'::int4range]",ROW(),"ROW(i, NULL)","ROW(ROW(1, ARRAY[2]), '{}'::jsonb)","ROW(1, 'x')::pair",NULL::pair,"ROW(1, '{}'::json)","'empty'::int4range","'(,)'::tstzrange",
		"'[\"a\",\"b\"]'::text_range","'{[1,2),[5,)}'::int8multirange","'{}'::json","point '(1,2)'","i::text COLLATE folded","ARRAY['a' COLLATE folded]","'(0,1)'::tid",cuckoo_new()}$$);

CREATE TABLE functions AS
	SELECT p.oid, proname AS name, prokind = 'a' AS aggregate, prorettype::regtype AS result, proargtypes::regtype[] AS arguments, pronargs - pronargdefaults AS required, pronargs AS most, 1 + 9 * (proname ~ '_(transfn|combine|final)$')::integer AS rare
	FROM pg_proc AS p JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = p.oid
	WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoo') AND 'internal'::regtype <> ALL (proargtypes::oid[]);

CREATE FUNCTION pick(anycompatiblearray) RETURNS anycompatible LANGUAGE sql VOLATILE AS 'SELECT $1[array_lower($1, 1) + floor(random() * cardinality($1))::integer]';

CREATE FUNCTION expression(wanted regtype, depth integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f functions;
	arguments text;
BEGIN
	IF depth > 0 AND random() < 0.7 THEN
		SELECT * INTO f FROM functions WHERE result = wanted ORDER BY random() * rare LIMIT 1;
	END IF;
	IF f IS NULL THEN
		RETURN coalesce((SELECT regexp_replace(pick(e), 'RANDOM', floor(random() * 30)::text, 'g') FROM expressions WHERE type = wanted), format('NULL::%s', wanted));
	END IF;
	RETURN call(f, depth - 1);
END $$;

CREATE FUNCTION call(f functions, depth integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	-- Arguments with a default are given by position.
	n integer := f.required + floor(random() * (f.most - f.required + 1));
	arguments text := (SELECT string_agg(expression(t, depth), ', ' ORDER BY o) FROM unnest(f.arguments) WITH ORDINALITY AS u (t, o) WHERE o <= n);
BEGIN
	IF f.aggregate THEN
		RETURN format('(SELECT %s(%s%s) FROM generate_series(1, %s) AS i)', f.name, pick('{"","","","","DISTINCT "}'::text[]), arguments, pick('{0,1,8,33,200,2000,20000}'::text[]));
	END IF;
	RETURN format('%s(%s)', f.name, arguments);
END $$;

CREATE FUNCTION random_sql(statements integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	depth integer;
	filter text;
BEGIN
	FOR s IN 1..statements LOOP
		depth := pick('{1,1,2,2,3,4}'::integer[]);
		filter := expression('cuckoofilter', depth - 1);
		RETURN NEXT CASE floor(random() * 20)
			WHEN 0 THEN format('SELECT count(*) FROM numbers WHERE %s @> %s', filter, pick('{k,t,i::bigint}'::text[]))
			WHEN 1 THEN format('EXPLAIN SELECT * FROM numbers JOIN pool ON %s WHERE %s @> k', pick('{f @> k,k <@ f,f @> t,"f @> ANY (ARRAY[k, i])"}'::text[]), filter)
			WHEN 2 THEN format('SELECT count(*) FROM pool, numbers WHERE id < 20 AND i < 50 AND %s', pick('{f @> k,"cuckoo_count(f, k) > 1","f @> ALL (ARRAY[k, i])"}'::text[]))
			WHEN 3 THEN format('SELECT count(*) FROM (SELECT DISTINCT f FROM pool UNION SELECT %s FROM numbers WHERE i < 3 ORDER BY f) AS s', filter)
			WHEN 4 THEN format('UPDATE pool SET f = %s FROM numbers WHERE i = 1 AND id = %s', filter, floor(random() * 30))
			WHEN 5 THEN 'SET ' || pick('{enable_hashagg = on,enable_hashagg = off,debug_parallel = on,work_mem = 64,work_mem = 4096,jit_above_cost = 0,jit_above_cost = 100000,max_parallel_workers_per_gather = 2,max_parallel_workers_per_gather = 0}'::text[])
			WHEN 6 THEN format('SELECT g, cuckoo_cardinality(cuckoo_agg(k, %s)) FROM (SELECT i %% 10 AS g, k FROM numbers) AS s GROUP BY g', expression('double precision', 0))
			WHEN 7 THEN format('SELECT cuckoo_cardinality(%s OVER (ORDER BY i ROWS BETWEEN 3 PRECEDING AND %s)) FROM numbers JOIN pool ON id = i', pick('{cuckoo_agg(k),"cuckoo_stream_agg(t, 500)",cuckoo_union_agg(f),raw_agg(k)}'::text[]), pick('{CURRENT ROW,UNBOUNDED FOLLOWING}'::text[]))
			WHEN 8 THEN format('DO $d$ DECLARE i integer := 0; f cuckoofilter := %s; BEGIN FOR i IN 1..%s LOOP f := f %s; PERFORM f @> i; END LOOP; END $d$', filter, pick('{5,50,400}'::integer[]), pick('{+ i,+ i % 7,- i,| f,& f}'::text[]))
			WHEN 9 THEN format('DEALLOCATE ALL; PREPARE p AS SELECT %s @> $1 FROM numbers; EXECUTE p (5)', filter)
			WHEN 10 THEN format('SELECT (cuckoo_info(%s)).* FROM numbers LIMIT 2', filter)
			WHEN 11 THEN format('SELECT %s %s %s FROM numbers LIMIT 2', filter, pick('{|,&,=,<,>=,IS DISTINCT FROM}'::text[]), expression('cuckoofilter', depth - 1))
			ELSE format('SELECT %s FROM numbers LIMIT 2', (SELECT call(f, depth) FROM functions AS f ORDER BY random() * rare LIMIT 1))
		END;
	END LOOP;
END $$;
