# Sizes, rates and counts that README, guide and reference print, and which no example
# shows: they are the same on every machine.

use CuckooTest;

my $node = new_server('main');
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo');

sub figures
{
	my ($what, $expected, $query) = @_;

	return is($node->safe_psql('postgres', $query), $expected, $what);
}

# ----------------------------------------------------------------------- Sizes
figures('bits per key at three rates', '11.4|9.38 15.2|12.49 20.3|16.64 113.9|9.33 151.9|12.44 202.5|16.59 1138.6|9.33 1518.1|12.44 2024.1|16.58', <<~SQL);
	SELECT string_agg(round(bytes / 1024.0, 1) || '|' || round(bits_per_item::numeric, 2), ' ' ORDER BY n, fpr DESC)
	FROM unnest('{10000,100000,1000000}'::integer[]) AS n, unnest('{0.01,0.001,0.0001}'::float8[]) AS fpr
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, NULL, fpr) AS f FROM generate_series(1, n) AS i) AS q, cuckoo_info(f)
	SQL
figures('an empty filter, and one that is emptied', "74|74|70\n74", <<~SQL);
	SELECT bytes, pg_column_size(f), length(f::bytea) FROM cuckoo_new(1e6) AS f, cuckoo_info(f);
	SELECT bytes FROM (SELECT array_agg(k) AS keys FROM generate_series(1, 100000) AS k) AS s, cuckoo_info(cuckoo_remove_all(cuckoo_from_array(keys), keys))
	SQL
figures('keys added to filters of unknown capacity, and for 10,000 keys',
	'1|20.5|0.000004 1|17.2|0.000045 1|14.1|0.000449 10000: 1|12.5|0.00094 2|16.2|0.00101 3|18.0|0.00119', <<~SQL);
	SELECT string_agg(CASE WHEN c = n THEN c || ': ' ELSE '' END || concat_ws('|', subfilters, round(bits_per_item::numeric, 1), round(expected_fpr::numeric, CASE WHEN c = 10000 THEN 5 ELSE 6 END)), ' ' ORDER BY c NULLS FIRST, n)
	FROM unnest('{10000,100000,1000000}'::integer[]) AS n, unnest('{NULL,10000}'::integer[]) AS c
		CROSS JOIN LATERAL (SELECT cuckoo_add_all(cuckoo_new(c), ARRAY(SELECT generate_series(1, n))) AS f) AS q, cuckoo_info(f)
	SQL
figures('100,000 keys with room for more, and a day with the capacity of a year', '155508 199044 172734 185234 197734 242776 284702|28', <<~SQL);
	SELECT string_agg(bytes || '', ' ' ORDER BY n), (SELECT round(365 * bytes / 1024.0 ^ 2) FROM cuckoo_info((SELECT cuckoo_agg(i, 11e6) FROM generate_series(1, 30000) AS i)))
	FROM unnest('{100000,128000,200000,400000,800000,10000000,100000000}'::integer[]) WITH ORDINALITY AS u (capacity, n)
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, u.capacity) AS f FROM generate_series(1, 100000) AS i) AS q, cuckoo_info(f)
	SQL
figures('small sets', '10 111 91 87 104|100 407 252 204 824|1000 3052 1656 1257 8024', <<~SQL);
	SELECT string_agg(concat_ws(' ', n, any_capacity, its_capacity, one_percent, ids), '|' ORDER BY n)
	FROM (SELECT n, pg_column_size(cuckoo_agg(i)) AS any_capacity, pg_column_size(cuckoo_agg(i, n)) AS its_capacity,
			pg_column_size(cuckoo_agg(i, n, 0.01)) AS one_percent, pg_column_size(array_agg(i)) AS ids
		FROM unnest('{10,100,1000}'::integer[]) AS n CROSS JOIN LATERAL generate_series(1::bigint, n) AS i GROUP BY n) AS s
	SQL
figures('100 rows per key', '16|160', <<~SQL);
	SELECT (SELECT bytes / 1024 FROM cuckoo_info((SELECT cuckoo_multiset_agg(i % 1000, 1e5) FROM generate_series(1, 100000) AS i))),
		(SELECT bytes / 1024 FROM cuckoo_info((SELECT cuckoo_multiset_agg(i % 10000, 1e6) FROM generate_series(1, 1000000) AS i)))
	SQL

# ------------------------------------------------------ Combining and comparing
figures('unions of two filters', '2|264336|0.00188 1|233244|0.00075 1|238396|0.00011', <<~SQL);
	SELECT string_agg(concat_ws('|', subfilters, bytes, round(expected_fpr::numeric, 5)), ' ' ORDER BY whole NULLS FIRST)
	FROM unnest('{NULL,150000,1000000}'::integer[]) AS whole
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS a FROM generate_series(1, 100000) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS b FROM generate_series(50001, 120000) AS i) AS y, cuckoo_info(a | b)
	SQL
figures('small filters of any size and a large one of unknown capacity share a shape', '1', <<~SQL);
	SELECT subfilters FROM (SELECT cuckoo_union_agg(f) | cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 50000))) AS u
		FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, 30) AS n, generate_series(1, n * 30) AS i GROUP BY n) AS s) AS q, cuckoo_info(u)
	SQL
figures('a union counts a few too few', '999795', 'SELECT cuckoo_cardinality(cuckoo_union_agg(f)) FROM (SELECT cuckoo_agg(i, 2e6) AS f FROM generate_series(1, 1000000) AS i GROUP BY i % 10) AS q');
figures('two sets without common keys', '41|68.1|1803 2|1.4|4', <<~SQL);
	SELECT string_agg(concat_ws('|', keys, round(error::numeric, 1), cuckoo_cardinality(small & large)), ' ' ORDER BY whole NULLS FIRST)
	FROM unnest('{NULL,5e6}'::float8[]) AS whole
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS large FROM generate_series(1, 5000000) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS small FROM generate_series(10000001, 10002000) AS i) AS y, cuckoo_common(small, large)
	SQL
figures('the keys of three sets, none and 10,000', 't|t t|t', <<~SQL);
	SELECT string_agg(concat_ws('|', abs(ab.keys + ac.keys - abc.keys - common) <= 2 * sqrt(ab.error ^ 2 + ac.error ^ 2 + abc.error ^ 2), wrong.keys > common + 20), ' ' ORDER BY common)
	FROM unnest('{0,10000}'::integer[]) AS common
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 60000, 0.01) AS a FROM generate_series(1, 30000) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 60000, 0.01) AS b FROM generate_series(30001 - common, 60000) AS i) AS y
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 60000, 0.01) AS c FROM generate_series(1, 60000) AS i) AS z,
		cuckoo_common(a, b) AS ab, cuckoo_common(a, c) AS ac, cuckoo_common(a, b | c) AS abc, cuckoo_common(a & b, c) AS wrong
	SQL
figures('false positives of two filters that share half of their keys, or all with another seed', '955|489|0', <<~SQL);
	SELECT count(*) FILTER (WHERE a @> x), count(*) FILTER (WHERE a @> x AND b @> x), count(*) FILTER (WHERE a @> x AND other_seed @> x)
	FROM (SELECT cuckoo_agg(i) AS a, cuckoo_agg(i, 100000, 0.001, 99) AS other_seed FROM generate_series(1, 100000) AS i) AS f,
		(SELECT cuckoo_agg(i) AS b FROM generate_series(50001, 150000) AS i) AS g, generate_series(1000001, 2000000) AS x
	SQL

# -------------------------------------------------------------------- Removing
figures('copies that stay after the removal of one to eight of each key', '0 0 0 32 16 16 8 159992', <<~SQL);
	SELECT string_agg(cuckoo_cardinality(cuckoo_remove_all(cuckoo_add_all(cuckoo_new(20000 * c), keys), keys)) || '', ' ' ORDER BY c)
	FROM generate_series(1, 8) AS c CROSS JOIN LATERAL (SELECT array_agg(k) AS keys FROM generate_series(1, 20000) AS k, generate_series(1, c)) AS s
	SQL
figures('keys that stay in two sub-filters', '213', 'SELECT cuckoo_cardinality(cuckoo_remove_all(cuckoo_add_all(cuckoo_new(), keys), keys)) FROM (SELECT array_agg(k) AS keys FROM generate_series(1, 2000000) AS k) AS s');
figures('keys lost by removing a million others', '950', <<~SQL);
	SELECT count(*) FROM (SELECT cuckoo_remove_all(cuckoo_agg(i), (SELECT array_agg(k) FROM generate_series(1000001, 2000000) AS k)) AS f
		FROM generate_series(1, 100000) AS i) AS q, generate_series(1, 100000) AS x WHERE NOT f @> x
	SQL
# Each of 2,000 rows is replaced by one with a random key of 1,000, 100 rows at a time.
figures('absent keys reported as present after 20, 100 and 400 turnovers', 't|t|t|t', <<~SQL);
	CREATE FUNCTION churn(turnovers integer) RETURNS float8 LANGUAGE plpgsql AS \$\$
	DECLARE
		rows integer[] := ARRAY(SELECT 1 + floor(random() * 1000)::integer FROM generate_series(1, 2000));
		f cuckoofilter := cuckoo_add_all(cuckoo_new(8000), rows);
	BEGIN
		FOR i IN 0 .. turnovers * 20 - 1 LOOP
			f := cuckoo_remove_all(f, rows[:100]);
			rows := rows[101:] || ARRAY(SELECT 1 + floor(random() * 1000)::integer FROM generate_series(1, 100));
			f := cuckoo_add_all(f, rows[1901:]);
		END LOOP;
		RETURN (SELECT avg((f @> k)::integer) FROM generate_series(1, 1000) AS k WHERE k <> ALL (rows));
	END \$\$;
	DO \$\$ BEGIN PERFORM setseed(0.5); END \$\$;
	SELECT c[1] BETWEEN 0.01 AND 0.3, c[2] BETWEEN 0.25 AND 0.5, c[3] BETWEEN 0.75 AND 0.95, c[1] < c[2] FROM (SELECT ARRAY[churn(20), churn(100), churn(400)] AS c OFFSET 0) AS s
	SQL

$node->stop;
done_testing();
