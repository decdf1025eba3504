# Sentences and figures of the README, the guide, the reference and the pages on
# security and performance that neither an example nor test/sql shows.  Each is
# searched for in its page, so that page and test change together.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

my $node = new_server('main');
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo; CREATE EXTENSION cuckoo_citus');

sub query
{
	return $node->safe_psql('postgres', @_);
}

# ------------------------------------------------------------------- Indexes
says('docs/reference.md', "`DISTINCT`, `GROUP BY`, `ORDER BY` and hash indexes work. A B-tree index takes filters of up to 2,696 bytes, because PostgreSQL limits its entries.");
query(<<~SQL);
	CREATE TABLE fits AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, 1500) AS i;
	CREATE TABLE large AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, 20000) AS i;
	CREATE INDEX ON fits (f);
	CREATE INDEX ON large USING hash (f);
	SQL
is(query('SELECT pg_column_size(f) BETWEEN 2000 AND 2696 FROM fits'), 't', 'a filter for a B-tree index');
is(sqlstate($node, 'postgres', 'CREATE INDEX ON large (f)'), '54000', 'a larger one is an error of PostgreSQL');

# --------------------------------------------------------------------- Names
my @functions = sort split /\n/, query(<<~'SQL');
	SELECT DISTINCT proname FROM pg_proc
	WHERE proname LIKE 'cuckoo\_%' AND proname !~ '_(transfn|combine|final|support|sel|joinsel)$'
	SQL
my %reference;
my $reference = page_text('docs/reference.md');
$reference =~ s/^.*^## Functions$//ms;
$reference =~ s/^### Comparing$.*//ms;
$reference{$1} = 1 while $reference =~ /^`(cuckoo_\w+)\(/mg;
is(join(' ', @functions), join(' ', sort keys %reference), 'the reference has every function');

my ($glance) = page_text('docs/reference.md') =~ /^## At a glance$(.*?)^## /ms;
my @missing = grep { $glance !~ /(`|f |key )\Q$_\E(`|\(| )/ } map { s/\|/\\|/r } split /\n/, query(<<~'SQL');
	SELECT DISTINCT proname FROM pg_proc AS p
	WHERE proname LIKE 'cuckoo\_%' AND proname !~ '_(transfn|combine|final|support|sel|joinsel)$'
		AND NOT EXISTS (SELECT FROM pg_operator WHERE oprcode = p.oid)
	UNION SELECT oprname FROM pg_operator WHERE 'cuckoofilter'::regtype IN (oprleft, oprright)
	SQL
is("@missing", '', 'at a glance: every operator, and every function without one');
says('docs/reference.md', 'There is no `f - g`, `f && g` or `f @> g` of two filters, and no list of keys.');
like(sqlstate($node, 'postgres', "SELECT cuckoo_new() $_ cuckoo_new()"), qr/^(0A000|42883)$/, "filter $_ filter") foreach '-', '@>', '&&';

# ---------------------------------------- Keys and results of every function
says('docs/reference.md', 'The functions below are `IMMUTABLE` and `PARALLEL SAFE`.');
is(query(<<~'SQL'), '', 'functions that are not immutable, or not parallel safe');
	SELECT proname FROM pg_proc WHERE (proname LIKE 'cuckoo\_%' OR proname LIKE 'cuckoofilter\_%')
		AND proname !~ 'sel$' AND (provolatile <> 'i' OR proparallel <> 's')
	SQL
says('docs/reference.md', 'Adding to a NULL filter starts from `cuckoo_new()`, but is NULL if there is nothing to add. Removing from a NULL filter gives NULL.');
is(query(<<~'SQL'), 't|t|t|t', 'a NULL filter');
	SELECT NULL::cuckoofilter + 1 = cuckoo_new() + 1, cuckoo_add_all(NULL, '{}'::integer[]) IS NULL,
		cuckoo_add_all(NULL, ARRAY[NULL]::integer[]) IS NULL, NULL::cuckoofilter - 1 IS NULL
	SQL
says('docs/reference.md', 'An array without an element but NULL can have any key type.');
is(query(q{SELECT cuckoo_contains_each(cuckoo_new() + 1, '{}'::text[]), cuckoo_contains_each(cuckoo_new() + 1, '{NULL}'::text[])}), '{}|{NULL}', 'an empty array of another type');
says('docs/reference.md', 'Likewise it sees `regclass` and other `reg` types as integer.');
is(query(q{SELECT (cuckoo_info(cuckoo_agg('pg_class'::regclass))).key_type}), 'integer', 'a constant of regclass, with cuckoo_citus');
is(sqlstate($node, 'postgres', q{SELECT cuckoo_agg(k) FROM (SELECT 'pg_class'::regclass AS k OFFSET 0) AS s}), '0A000', '... and where it is no constant');
is(sqlstate($node, 'postgres', q{BEGIN; DROP EXTENSION cuckoo_citus; SELECT cuckoo_agg('pg_class'::regclass)}), '0A000', '... and without cuckoo_citus');
says('docs/reference.md', '`f @> \'u\' || \'1\'` is the text `false1`, and `k <@ f | g` an error');
is(query(q{SELECT cuckoo_from_array(ARRAY['u1']) @> 'u' || '1'}), 'false1', 'precedence of @>');
is(sqlstate($node, 'postgres', 'SELECT 1 <@ cuckoo_new() | cuckoo_new()'), '42883', 'precedence of <@');
says('docs/reference.md', 'The first `f + $1` makes an empty filter one of text; declare its column with `CHECK ((cuckoo_info(f)).key_type = \'integer\')` to prevent that.');
query(q{CREATE TABLE guarded (f cuckoofilter CHECK ((cuckoo_info(f)).key_type = 'integer')); INSERT INTO guarded VALUES (cuckoo_new())});
is(sqlstate($node, 'postgres', q{PREPARE add AS UPDATE guarded SET f = f + $1; EXECUTE add(1)}), '23514', 'a column of integers does not become one of text');
is(query('UPDATE guarded SET f = f + 1 RETURNING f @> 1'), 't', '... and takes integers');
says('docs/reference.md', 'is a NULL filter, for which `WHERE NOT (SELECT f FROM filters WHERE name = \'typo\') @> k` drops every row, as `@>` without `NOT` does');
is(query('SELECT count(*) FROM generate_series(1, 9) AS k WHERE NOT (SELECT f FROM guarded WHERE false) @> k'), '0', 'a missing row');

# --------------------------------------------------------------------- Sizes
says('docs/reference.md', '1,000,000 | 1.11 MB | 9.33 | 1.48 MB | 12.44 | 1.98 MB | 16.58');
says('docs/reference.md', '10,000 | 11.4 kB | 9.38 | 15.2 kB | 12.49 | 20.3 kB | 16.64');
says('README.md', 'A full filter needs 9.3 bits per key at 0.01, 12.4 at 0.001 and 16.6 at 0.0001.');
is(query(<<~SQL), '11.4|9.38 15.2|12.49 20.3|16.64 113.9|9.33 151.9|12.44 202.5|16.59 1138.6|9.33 1518.1|12.44 2024.1|16.58', 'bits per key');
	SELECT string_agg(round(bytes / 1024.0, 1) || '|' || round(bits_per_item::numeric, 2), ' ' ORDER BY n, fpr DESC)
	FROM unnest('{10000,100000,1000000}'::integer[]) AS n, unnest('{0.01,0.001,0.0001}'::float8[]) AS fpr
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, NULL, fpr) AS f FROM generate_series(1, n) AS i) AS q, cuckoo_info(f)
	SQL
says('docs/reference.md', "`cuckoo_new(1e6)` is an empty filter with room for a million keys. It has 74 bytes, as `pg_column_size` and `cuckoo_info` count them; `f::bytea` is 4 bytes smaller, without the header.");
is(query('SELECT bytes, pg_column_size(f), length(f::bytea) FROM cuckoo_new(1e6) AS f, cuckoo_info(f)'), '74|74|70', 'an empty filter');
says('docs/guide.md', '100,000 | 1 | 17.2 | 0.000045 | 2 | 16.2 | 0.0010');
says('docs/guide.md', '1,000,000 | 1 | 14.1 | 0.00045 | 3 | 18.0 | 0.0012');
is(query(<<~SQL), '20.5 17.2 14.1', 'of unknown capacity');
	SELECT string_agg(round(bits_per_item::numeric, 1) || '', ' ' ORDER BY n)
	FROM unnest('{10000,100000,1000000}'::integer[]) AS n
		CROSS JOIN LATERAL (SELECT cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, n))) AS f) AS q, cuckoo_info(f)
	SQL
is(query(<<~SQL), '1|12.5|0.00094 2|16.2|0.00095 2|16.2|0.00101 3|18.0|0.00119', 'grown from 10,000');
	SELECT string_agg(concat_ws('|', subfilters, round(bits_per_item::numeric, 1), round(expected_fpr::numeric, 5)), ' ' ORDER BY n)
	FROM unnest('{10000,20000,100000,1000000}'::integer[]) AS n
		CROSS JOIN LATERAL (SELECT cuckoo_add_all(cuckoo_new(10000), ARRAY(SELECT generate_series(1, n))) AS f) AS q, cuckoo_info(f)
	SQL
says('README.md', 'Each further doubling adds one bit per key and halves the expected rate.');
says('README.md', 'capacity | 100,000 | 200,000 | 800,000 | 10 million | unknown');
says('README.md', 'bytes | 155,508 | 172,734 | 197,734 | 242,776 | 214,922');
says('docs/guide.md', '(100,000 keys need 199,044 bytes at a capacity of 128,000, and 172,734 at 200,000)');
is(query('SELECT bytes FROM (SELECT cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 100000))) AS f) AS q, cuckoo_info(f)'), '214922', 'of unknown capacity');
is(query(<<~SQL), '155508 199044 172734 185234 197734 242776 284702', 'of 100,000 keys with room for more');
	SELECT string_agg(bytes || '', ' ' ORDER BY n)
	FROM unnest('{100000,128000,200000,400000,800000,10000000,100000000}'::integer[]) WITH ORDINALITY AS u (capacity, n)
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, u.capacity) AS f FROM generate_series(1, 100000) AS i) AS q, cuckoo_info(f)
	SQL
says('README.md', 'A filter is at most 750 MiB: about 500 million keys at 0.001.');
says('README.md', '`SELECT *` would print it in base64, 207,340 characters.');
is(query('SELECT length(f::text) FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, 100000) AS i) AS q'), '207340', 'the text of a filter');
is(sqlstate($node, 'postgres', 'SELECT cuckoo_new(5.1e8)'), '54000', '510 million are too many');
is(query('SELECT cuckoo_cardinality(cuckoo_new(5e8))'), '0', '500 million are not');

# ----------------------------------------------------------------- Combining
is(query('SELECT round(365 * bytes / 1024.0 ^ 2) FROM (SELECT cuckoo_agg(i, 11e6) AS f FROM generate_series(1, 30000) AS i) AS q, cuckoo_info(f)'), '28', 'the days of a year');
says('docs/guide.md', '`cuckoo_agg(i)` | 2 | 264,336 | 0.0019');
says('docs/guide.md', '`cuckoo_agg(i, 150000)` | 1 | 233,244 | 0.00075');
says('docs/guide.md', '`cuckoo_agg(i, 1000000)` | 1 | 238,396 | 0.00011');
is(query(<<~SQL), '2|264336|0.00188 1|233244|0.00075 1|238396|0.00011', 'unions of two filters');
	SELECT string_agg(concat_ws('|', subfilters, bytes, round(expected_fpr::numeric, 5)), ' ' ORDER BY whole NULLS FIRST)
	FROM unnest('{NULL,150000,1000000}'::integer[]) AS whole
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS a FROM generate_series(1, 100000) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS b FROM generate_series(50001, 120000) AS i) AS y,
		cuckoo_info(a | b)
	SQL
says('README.md', '(Without a capacity the rates add up, and more than sixteen filters often cannot be combined.)');
is(sqlstate($node, 'postgres', "SELECT cuckoo_union_agg(f) FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, $_) AS n, generate_series(1, n * 2000) AS i GROUP BY n) AS s") eq '54000', $_ > 16, "$_ filters of different capacities")
  foreach 16, 17;
says('docs/guide.md', 'such filters, and those of at most 1,024 keys, share three shapes');
is(query(<<~SQL), '1', 'small filters and one that has no capacity');
	SELECT subfilters FROM (SELECT cuckoo_union_agg(f) | cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 50000))) AS u
		FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, 30) AS n, generate_series(1, n * 30) AS i GROUP BY n) AS s) AS q, cuckoo_info(u)
	SQL

says('docs/reference.md', 'An upper bound if items have several copies, or there are several sub-filters');
is(query(<<~SQL), 't', 'the expected rate of a union all of the same keys');
	SELECT cuckoo_fpr(twice) > 1.9 * count(*) / 1e6
	FROM (SELECT cuckoo_union_all(f, f) AS twice FROM (SELECT cuckoo_agg(i) AS f FROM generate_series(1, 100000) AS i OFFSET 0) AS s OFFSET 0) AS q,
		generate_series(1000001, 2000000) AS x
	WHERE twice @> x GROUP BY twice
	SQL

# --------------------------------------------------------------- Common keys
says('docs/guide.md', '`cuckoo_agg(key)` | 41 | 68.1 | 1,803');
says('docs/guide.md', '`cuckoo_agg(key, 5e6)` | 2 | 1.4 | 4');
is(query(<<~SQL), '41|68.1|1803 2|1.4|4', 'two sets without common keys');
	SELECT string_agg(concat_ws('|', keys, round(error::numeric, 1), cuckoo_cardinality(small & large)), ' ' ORDER BY whole NULLS FIRST)
	FROM unnest('{NULL,5e6}'::float8[]) AS whole
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS large FROM generate_series(1, 5000000) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, whole) AS small FROM generate_series(10000001, 10002000) AS i) AS y,
		cuckoo_common(small, large)
	SQL

says('docs/guide.md', 'For three sets, add the keys of `cuckoo_common(a, b)` and `cuckoo_common(a, c)`, subtract those of `cuckoo_common(a, b | c)`, and add the errors in squares.');
is(query(<<~SQL), 't|t t|t', 'the keys of three sets, none and 10,000');
	SELECT string_agg(concat_ws('|', abs(ab.keys + ac.keys - abc.keys - common) <= 2 * sqrt(ab.error ^ 2 + ac.error ^ 2 + abc.error ^ 2), wrong.keys > common + 20), ' ' ORDER BY common)
	FROM unnest('{0,10000}'::integer[]) AS common
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 60000, 0.01) AS a FROM generate_series(1, 30000) AS i) AS x
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 60000, 0.01) AS b FROM generate_series(30001 - common, 60000) AS i) AS y
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 60000, 0.01) AS c FROM generate_series(1, 60000) AS i) AS z,
		cuckoo_common(a, b) AS ab, cuckoo_common(a, c) AS ac, cuckoo_common(a, b | c) AS abc, cuckoo_common(a & b, c) AS wrong
	SQL

# -------------------------------------------------------------------- Copies
says('docs/guide.md', 'with a capacity for all rows, 1,000 keys with 100 rows each need 16 kB, and 10,000 such keys 160 kB');
is(query(<<~SQL), '16|160', 'copies beyond eight cost nothing');
	SELECT (SELECT bytes / 1024 FROM (SELECT cuckoo_multiset_agg(i % 1000, 1e5) AS f FROM generate_series(1, 100000) AS i) AS q, cuckoo_info(f)),
		(SELECT bytes / 1024 FROM (SELECT cuckoo_multiset_agg(i % 10000, 1e6) AS f FROM generate_series(1, 1000000) AS i) AS q, cuckoo_info(f))
	SQL
says('docs/guide.md', 'Of 20,000 keys with one to three copies each, no copy stayed after all were removed. With four to seven copies each, up to 32 copies stayed. Keys with eight copies or more stay for good.');
is(query(<<~SQL), '0 0 0 32 16 16 8 159992', 'copies that stay');
	SELECT string_agg(cuckoo_cardinality(cuckoo_remove_all(cuckoo_add_all(cuckoo_new(20000 * c), keys), keys)) || '', ' ' ORDER BY c)
	FROM generate_series(1, 8) AS c CROSS JOIN LATERAL (SELECT array_agg(k) AS keys FROM generate_series(1, 20000) AS k, generate_series(1, c)) AS s
	SQL
says('docs/guide.md', 'After each row was replaced 20, 100 and 400 times by a row with a random key, 10 %, 37 % and 85 % of the absent keys were reported as present.');
query(<<~SQL);
	CREATE FUNCTION churn(turnovers integer) RETURNS numeric LANGUAGE plpgsql AS \$\$
	DECLARE
		n CONSTANT integer := 2000;
		rows integer[] := ARRAY(SELECT 1 + floor(random() * 1000)::integer FROM generate_series(1, n));
		f cuckoofilter := cuckoo_add_all(cuckoo_new(8000), rows);
		first integer;
		come integer[];
	BEGIN
		FOR i IN 0 .. turnovers * n / 100 - 1 LOOP
			first := (i * 100) % n + 1;
			come := ARRAY(SELECT 1 + floor(random() * 1000)::integer FROM generate_series(1, 100));
			f := cuckoo_add_all(cuckoo_remove_all(f, rows[first:first + 99]), come);
			rows[first:first + 99] := come;
		END LOOP;
		RETURN (SELECT count(*) FILTER (WHERE f @> k)::numeric / count(*) FROM generate_series(1, 1000) AS k WHERE k <> ALL (rows));
	END \$\$;
	SQL
my @wrong = split /\|/, query("SELECT setseed(0.5); SELECT churn(20), churn(100), churn(400)") =~ s/^\n//r;
note("absent keys reported as present: @wrong");
ok($wrong[0] > 0.03 && $wrong[0] < 0.2, '20 turnovers');
ok($wrong[1] > 0.25 && $wrong[1] < 0.5, '100 turnovers');
ok($wrong[2] > 0.75 && $wrong[2] < 0.95, '400 turnovers');

# ------------------------------------------ Removal from several sub-filters
says('docs/guide.md', 'of two million keys in the two sub-filters of a grown `cuckoo_new()`, 213 were not removed');
is(query('SELECT cuckoo_cardinality(cuckoo_remove_all(cuckoo_add_all(cuckoo_new(), keys), keys)) FROM (SELECT array_agg(k) AS keys FROM generate_series(1, 2000000) AS k) AS s'), '213', 'copies that stay in two sub-filters');

says('docs/guide.md', 'From a filter of 100,000 keys, removing a million other keys lost 950.');
is(query(<<~SQL), '950', 'keys lost by removing others');
	SELECT count(*) FROM (SELECT cuckoo_remove_all(cuckoo_agg(i), (SELECT array_agg(k) FROM generate_series(1000001, 2000000) AS k)) AS f
		FROM generate_series(1, 100000) AS i) AS q, generate_series(1, 100000) AS x WHERE NOT f @> x
	SQL

# --------------------------------------------------- Filters that share keys
says('docs/guide.md', 'Of 955 false positives of a filter of 100,000 keys, one that shares half of these keys reported 489, too, and one of the same keys with another seed none: then the rates multiply.');
is(query(<<~SQL), '955|489|0', 'two filters of the same keys or of half of them');
	SELECT count(*) FILTER (WHERE a @> x), count(*) FILTER (WHERE a @> x AND b @> x), count(*) FILTER (WHERE a @> x AND other_seed @> x)
	FROM (SELECT cuckoo_agg(i) AS a, cuckoo_agg(i, 100000, 0.001, 99) AS other_seed FROM generate_series(1, 100000) AS i) AS f,
		(SELECT cuckoo_agg(i) AS b FROM generate_series(50001, 150000) AS i) AS g, generate_series(1000001, 2000000) AS x
	SQL

says('docs/guide.md', 'A filter that is emptied also becomes smaller.');
is(query('SELECT bytes FROM (SELECT array_agg(k) AS keys FROM generate_series(1, 100000) AS k) AS s, cuckoo_info(cuckoo_remove_all(cuckoo_from_array(keys), keys))'), '74', 'an emptied filter');

# ----------------------------------------- Removing duplicates from a stream
says('docs/guide.md', 'a *delta*, of about 400 bytes for 100 URLs');
is(query("SELECT pg_column_size(cuckoo_agg('https://www.example.com/articles/' || md5(i::text), 4e6)) FROM generate_series(1, 100) AS i"), '418', 'a delta');

# ------------------------------------------------------------------- Recipes

says('docs/guide.md', "`sha256('pass\\word')` would take the backslash for an escape. Public lists have SHA-1 in hexadecimal: load `decode(hex, 'hex')`, and look up pgcrypto's `digest('12345', 'sha1')`.");
is(sqlstate($node, 'postgres', q{SELECT sha256('pass\word')}), '22P02', 'a backslash is an error');
is(query(q{SELECT sha256('\x41') = sha256('A'), sha256(convert_to('\x41', 'UTF8')) = sha256(convert_to('A', 'UTF8'))}), 't|f', '... or another password');
is(query(q{CREATE EXTENSION pgcrypto; SELECT digest('12345', 'sha1') = decode('8CB2237D0679CA88DB6464EAC60DA96345513964', 'hex'), digest('pass\word', 'sha1') = digest(convert_to('pass\word', 'UTF8'), 'sha1')}),
	't|t', 'SHA-1 of passwords');

# Windows of seven days, against the exact ones
says('docs/guide.md', "Build every day's filter with the capacity of the window. The rates of the days then add up to that of one filter.");
is(query(<<~SQL), "30|t|t\n0.00094", 'a sliding window');
	CREATE TABLE day_keys AS SELECT date '2026-01-01' + d AS day, hashint8extended(i, d) & 65535 AS k FROM generate_series(0, 29) AS d, generate_series(1, 5000) AS i;
	CREATE TABLE day_filters AS SELECT day, cuckoo_agg(k, 35000) AS f FROM day_keys GROUP BY day;
	SELECT count(*), bool_and(abs(items - exact) <= 0.001 * exact), bool_and((SELECT bool_and(found) FROM (
		SELECT (SELECT bool_or(f \@> k) FROM day_filters WHERE day > w.day - 7 AND day <= w.day) AS found FROM day_keys WHERE day > w.day - 7 AND day <= w.day AND k % 500 = 0) AS s))
	FROM (SELECT day, cuckoo_cardinality(cuckoo_union_agg(f) OVER (ORDER BY day ROWS 6 PRECEDING)) AS items FROM day_filters) AS w
		CROSS JOIN LATERAL (SELECT count(DISTINCT k) AS exact FROM day_keys AS d WHERE d.day > w.day - 7 AND d.day <= w.day) AS e;
	SELECT round(sum(cuckoo_fpr(f))::numeric, 5) FROM (SELECT cuckoo_agg(i, 35000) AS f FROM generate_series(0, 34999) AS i GROUP BY i / 5000) AS days
	SQL
says('docs/guide.md', '10 | 111 | 91 | 87 | 104 100 | 407 | 252 | 204 | 824 1,000 | 3,052 | 1,656 | 1,257 | 8,024');
is(query(<<~SQL), '10 111 91 87 104|100 407 252 204 824|1000 3052 1656 1257 8024', 'small sets');
	SELECT string_agg(concat_ws(' ', n, any_capacity, its_capacity, one_percent, ids), '|' ORDER BY n)
	FROM (SELECT n, pg_column_size(cuckoo_agg(i)) AS any_capacity, pg_column_size(cuckoo_agg(i, n)) AS its_capacity,
			pg_column_size(cuckoo_agg(i, n, 0.01)) AS one_percent, pg_column_size(array_agg(i)) AS ids
		FROM unnest('{10,100,1000}'::integer[]) AS n CROSS JOIN LATERAL generate_series(1::bigint, n) AS i GROUP BY n) AS s
	SQL
says('docs/guide.md', 'a key that was added twice counts twice. After `cuckoo_agg` the count is exact. A union within its capacity counts too few, on average by half its expected rate: 0.05 % at 0.001, and of 1,000 keys sometimes 0.3 %.');
is(query('SELECT cuckoo_cardinality(cuckoo_new() + 1 + 1)'), '2', 'a key that was added twice');
is(query(<<~SQL), '1000000|999795', 'distinct counts');
	SELECT (SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 1000000) AS i),
		(SELECT cuckoo_cardinality(cuckoo_union_agg(f)) FROM (SELECT cuckoo_agg(i, 2e6) AS f FROM generate_series(1, 1000000) AS i GROUP BY i % 10) AS q)
	SQL
says('docs/guide.md', 'Sixteen filters of 37.5 million keys each need 59 MB each, 950 MB together');
says('docs/guide.md', 'one scan gives the same bytes: `SELECT cuckoo_shard(hash, 16), cuckoo_agg(hash, 4e7) FROM leaked GROUP BY 1`');
is(query(<<~SQL), '16', 'one scan gives the same bytes');
	SELECT count(*) FROM generate_series(0, 15) AS n
		CROSS JOIN LATERAL (SELECT cuckoo_agg(i, 4e7) AS f FROM generate_series(1, 10000) AS i WHERE cuckoo_shard(i, 16) = n) AS s
		JOIN (SELECT cuckoo_shard(i, 16) AS n, cuckoo_agg(i, 4e7) AS f FROM generate_series(1, 10000) AS i GROUP BY 1) AS once USING (n, f)
	SQL
says('docs/guide.md', 'Mark a filter made by `cuckoo_agg` with `cuckoo_union_all(cuckoo_agg(key, 1e6), cuckoo_new(1e6, removable => false))`.');
is(query('SELECT removable, subfilters, items FROM cuckoo_info((SELECT cuckoo_union_all(cuckoo_agg(i, 1e6), cuckoo_new(1e6, removable => false)) FROM generate_series(1, 1000) AS i))'),
	'f|1|1000', 'a filter that is marked as not removable');

# ------------------------------------------------------------ Untrusted keys

# Nine keys whose classes share both buckets in a table for 100,009 keys: eight
# of one class and one of another.
says('docs/security.md', 'make a full filter sparse: nine chosen keys among 100,000 others are enough. It is then 3 % larger');
is(query(<<~SQL), 'dense|155520|t sparse|160249|t', 'nine keys make a filter sparse');
	SELECT string_agg(concat_ws('|', representation, bytes, f @> ALL (keys)), ' ' ORDER BY representation)
	FROM (SELECT ARRAY(SELECT generate_series(1, 100000)) || last AS keys
		FROM (VALUES (ARRAY(SELECT generate_series(100001::bigint, 100009))),
			('{-6997071883842410278,-2704190888799707325,-1971070233647962119,3490436283436210216,332025974030263679,3735590459052449118,-4190798362369381933,-2074573834914871243,8599452078814404211}'::bigint[])) AS v (last)) AS s
		CROSS JOIN LATERAL cuckoo_from_array(keys) AS f, cuckoo_info(f)
	SQL
says('docs/security.md', 'eight such keys are pinned and cannot be removed any more');
is(query(<<~SQL), '1', 'eight keys that share their copies');
	SELECT count(DISTINCT f - k) FROM cuckoo_new() AS e
		CROSS JOIN LATERAL cuckoo_add_all(cuckoo_new(100009), '{-6997071883842410278,-2704190888799707325,-1971070233647962119,3490436283436210216,332025974030263679,3735590459052449118,-4190798362369381933,-2074573834914871243}'::bigint[]) AS f,
		unnest('{-6997071883842410278,-2704190888799707325,-1971070233647962119,3490436283436210216,332025974030263679,3735590459052449118,-4190798362369381933,-2074573834914871243}'::bigint[]) AS k
	WHERE (f - k) = f
	SQL

# ------------------------------------------------------------ Scans and joins

sub plan_of
{
	return query("SET max_parallel_workers_per_gather = 2; EXPLAIN $_[0]");
}

query('CREATE TABLE scanned AS SELECT i AS k FROM generate_series(1, 1000000) AS i; CREATE TABLE chosen AS SELECT cuckoo_agg(k) AS f FROM scanned WHERE k % 500 = 0; ANALYZE scanned, chosen');
says('docs/guide.md', 'A joined filter, `FROM orders, vip_filter WHERE f @> customer`, can be read again for every row, and up to PostgreSQL 17 can prevent a parallel scan.)');
like(plan_of('SELECT count(*) FROM scanned WHERE (SELECT f FROM chosen) @> k'), qr/Parallel Seq Scan on scanned/, 'a filter from a sub-select');
my $joined = plan_of('SELECT count(*) FROM scanned, chosen WHERE f @> k');
ok(($joined =~ /Parallel Seq Scan on scanned/) == ($node->pg_version >= 18), 'a joined filter') or diag($joined);

# PostgreSQL hashes only constant arrays.  The time is that of the processor, in
# ticks of 10 ms.
says('docs/performance.md', 'PostgreSQL hashes an array only if it is a constant.');
says('README.md', 'there are up to about 10,000 keys | a join or `IN (SELECT ...)`: exact, can use an index');
SKIP:
{
	skip 'no /proc here', 4 unless -e '/proc/self/stat';
	my $used = q{(SELECT f[14]::integer + f[15]::integer FROM string_to_array(pg_read_file('/proc/self/stat'), ' ') AS f)};
	my $array = query('SELECT array_agg(k) FROM scanned WHERE k <= 3000');
	my ($in, $literal, $other) = map {
		my ($before, $found, $after) = split /\n/, query("SET max_parallel_workers_per_gather = 0; SET jit = off; SELECT $used; SELECT count(*) FROM scanned WHERE k > 900000 AND $_; SELECT $used");
		is($found, '0', 'no row: ' . substr $_, 0, 30);
		$after - $before;
	} 'k IN (SELECT k FROM scanned WHERE k <= 3000)', "k = ANY ('$array'::integer[])", 'k = ANY (ARRAY(SELECT k FROM scanned WHERE k <= 3000))';
	cmp_ok($other, '>', 3 * ($in > $literal ? $in : $literal), "an array from a sub-select is slow: $other ticks, a constant $literal, IN $in");
}

# ------------------------------------------------- Parameters and partitions
says('docs/guide.md', 'PostgreSQL copies a filter that is a parameter or a PL/pgSQL variable into a custom plan, once per partition');
query(<<~SQL);
	CREATE TABLE part (p integer, k integer) PARTITION BY LIST (p);
	DO 'BEGIN FOR i IN 1..100 LOOP EXECUTE format(''CREATE TABLE part_%s PARTITION OF part FOR VALUES IN (%s)'', i, i); END LOOP; END';
	INSERT INTO part SELECT p, k FROM generate_series(1, 100) AS p, generate_series(1, 10) AS k;
	CREATE TABLE stored AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, 700000) AS i;
	SQL

SKIP:
{
	skip 'no /proc here', 1 unless -e '/proc/self/status';
	my ($copied, $not_copied) = map { (measure($node, <<~SQL))[1] } 'v @> k', '(SELECT v) @> k';
		DO \$\$ DECLARE v cuckoofilter := (SELECT f FROM stored); BEGIN
			IF (SELECT count(*) FROM part WHERE $_) <> 1000 THEN RAISE 'rows are missing'; END IF;
		END \$\$
		SQL
	cmp_ok($copied - $not_copied, '>', 60,
		'a variable is copied for each of 100 partitions, 1.1 MB each time, a sub-select is not');
}

# Messages in the README's headings about trouble, and in the reference's questions.
# The last two need a server without the extension or with another minor version.
my %raised_by = (
	'key type does not match cuckoofilter' => q{SELECT cuckoo_new() + 1 @> 'one'},
	'type "cuckoofilter" does not exist' => q{SET search_path = ''; SELECT NULL::cuckoofilter},
	'could not find function "ckhandler" in file ".../cuckoo.so"' => q{CREATE FUNCTION ckhandler(internal) RETURNS index_am_handler LANGUAGE c AS '$libdir/cuckoo'},
	'extension "cuckoo" is not available' => undef,
	'could not load library ".../cuckoo.so": ... undefined symbol' => undef);
my ($troubles) = page_text('README.md') =~ /^## Troubleshooting$(.*?)^## /ms;
my @messages = map { /`([^`]+)`/g } $troubles =~ /^#### (.*)$/mg;
query('CREATE TABLE generated AS SELECT generate_series(1, 100000) AS k');
is(join("\n", sort @messages), join("\n", sort keys %raised_by), 'the messages of the headings');
foreach my $message (grep { defined $raised_by{$_} } @messages)
{
	my ($status, $stdout, $stderr) = $node->psql('postgres', $raised_by{$message}, on_error_stop => 1);
	my $pattern = join '.*', map { quotemeta } split / *\.\.\. */, $message;

	like($stderr, qr/ERROR:  .*$pattern/, "raised: $message");
}
says('docs/reference.md', '"combined cuckoofilter would have too many sub-filters"');
my (undef, undef, $too_many) = $node->psql('postgres',
	'SELECT cuckoo_union_agg(f) FROM (SELECT cuckoo_add_all(cuckoo_new(n * 1000), ARRAY(SELECT generate_series(1, n * 40000))) AS f FROM generate_series(1, 6) AS n) AS s');
like($too_many, qr/ERROR:  combined cuckoofilter would have too many sub-filters/, 'raised by six filters of one rate that have grown');

says('docs/reference.md', 'Parallel workers cannot read a large filter of a *temporary table*: write `(SELECT f::bytea::cuckoofilter FROM ...)`');
my $temporary = <<~'SQL';
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers = 8; SET parallel_leader_participation = off;
	CREATE TEMPORARY TABLE chosen AS SELECT f FROM stored;
	SELECT count(*) FROM generated WHERE (SELECT f FROM chosen) @> k;
	SQL
is(sqlstate($node, 'postgres', $temporary), '25000', 'a large filter of a temporary table');
is(sqlstate($node, 'postgres', $temporary =~ s/SELECT f FROM chosen/SELECT f::bytea::cuckoofilter FROM chosen/r), '100000', '... as it is written for workers');

# The picture of filters between servers, whose figures 003_postgres_fdw.pl
# measures
says('docs/distributed.md', 'plain join | 1,000,000 | 33,666,666 with a filter: payments | 10,940 | 368,290 with a filter: the filter | 1 | 207,340');
says('docs/servers.svg', $_) foreach '>1,000,000 rows, 32 MB<', '>10,940 rows, 360 kB<', '>filter, 202 kB<';

# Links: each to a file and a heading that there are, and to every page and picture
# one from the README or from another page
my $root = "$FindBin::RealBin/../..";
my ($pages, $pictures) = map { [ map { s{^\Q$root/\E}{}r } glob "$root/$_" ] }
  '{*,docs/*,clients/*/*}.md', 'docs/*.svg';
my %linked;
foreach my $page (@$pages)
{
	my ($folder) = $page =~ m{^(.*/)?};

	foreach my $link (page_text($page) =~ /\]\(((?!https?:)[^)\s]+)\)/g)
	{
		my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;

		$file = $file eq '' ? $page : ($folder // '') . $file;
		1 while $file =~ s{[^/]+/\.\./}{};
		ok(-e "$root/$file", "$page: $link") or next;
		$linked{$file} = 1 if $file ne $page;
		next if !defined $anchor;
		# The anchors of headings, as forges make them
		my @anchors = map { lc =~ s/[^\w\- ]//gr =~ tr/ /-/r } page_text($file) =~ /^#+ (.*)$/mg;
		ok((grep { $_ eq $anchor } @anchors), "$page: the heading of $link");
	}
}
ok($linked{$_}, "linked: $_") foreach grep { /^docs/ } @$pages, @$pictures;

$node->stop;
done_testing();
