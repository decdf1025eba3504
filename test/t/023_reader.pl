# Reading stored filters: first in slices, then whole.  A session has one copy,
# which is freed with its transaction, however that ends, and which is never
# mistaken for another value.  022_limits.pl tests filters that do not fit.

use CuckooTest;

my $node = new_server('main', replication => 1, conf => <<'CONF');
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
max_prepared_transactions = 2
CONF

create_buffers($node);

# Filters of some 3 MB, dense and sparse, a partitioned table of keys in them, and
# a function whose expression "f @> k" keeps its state as long as the transaction.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE TABLE numbers AS SELECT generate_series(1, 1950000) AS i;
CREATE TABLE stored AS SELECT cuckoo_agg(i, 2e6, 0.001) AS f FROM numbers;
CREATE TABLE sparse AS SELECT cuckoo_agg(i, 4e6, 0.001) AS f FROM numbers;
DROP TABLE numbers;
CREATE TABLE keys (p integer, k integer) PARTITION BY LIST (p);
DO $$ BEGIN
	FOR i IN 1..8 LOOP
		EXECUTE format('CREATE TABLE keys_%s PARTITION OF keys FOR VALUES IN (%s)', i, i);
	END LOOP;
END $$;
INSERT INTO keys SELECT p, k FROM generate_series(1, 8) AS p, generate_series(1, 1000) AS k; VACUUM ANALYZE;

CREATE TABLE others (f cuckoofilter);
CREATE FUNCTION found(k integer) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE f cuckoofilter;
	BEGIN
		SELECT o.f INTO f FROM others AS o;
		RETURN f @> k;
	END $$;

-- Whole copies of the filter that there is memory for in this session, beyond
-- what it had at first
CREATE FUNCTION memory() RETURNS numeric LANGUAGE sql
	AS 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
CREATE FUNCTION copies() RETURNS numeric LANGUAGE sql AS $$
	SELECT round((memory() - current_setting('test.memory')::numeric) / (SELECT (cuckoo_info(f)).bytes FROM stored))
	$$;
SQL

# The output of statements in one session, with each line as a field, and errors
# by their SQLSTATE.
sub session
{
	my ($statements, $server) = @_;
	my ($status, $stdout, $stderr) = ($server // $node)->psql('postgres', <<~SQL);
		\\set VERBOSITY sqlstate
		\\set ON_ERROR_STOP off
		\\o /dev/null
		SELECT memory(), found(1), (SELECT f FROM stored) @> 1;
		BEGIN; DECLARE c CURSOR FOR SELECT memory(); FETCH c; COMMIT;
		SELECT set_config('test.memory', memory()::text, false);
		\\o
		$statements
		SQL
	my @errors = $stderr =~ /ERROR:  ([0-9A-Z]{5})/g;

	return join ' ', split(/\n/, $stdout), @errors;
}

my $scan = 'SELECT k FROM keys WHERE (SELECT f FROM stored) @> k';
my $above = 'SELECT k FROM (SELECT k FROM keys OFFSET 0) AS k WHERE (SELECT f FROM stored) @> k';

is($node->safe_psql('postgres', <<SQL), "dense|t\nsparse|t", 'a dense and a sparse filter of some 3 MB');
SELECT representation, bytes BETWEEN 3000000 AND 3500000 FROM stored, cuckoo_info(f);
SELECT representation, bytes BETWEEN 3000000 AND 3500000 FROM sparse, cuckoo_info(f);
SQL

# Slices: a lookup of an absent key reads two, whatever the size of the filter.
# Each takes two pages of the TOAST table's index and one of the table.  After
# some 400 lookups the filter is read whole, and not again after that.  Each query
# here has a transaction of its own.

foreach my $table (qw(stored sparse))
{
	my $lookups = "format('SELECT count(*) FROM generate_series(1, %s) AS i WHERE (SELECT f FROM $table) \@> -i', n)";

	is(session(<<~SQL), 't 6 t t t', "lookups read slices of the filter, and then all of it: $table");
		SELECT buffers($lookups) FROM (SELECT 1) AS s (n) \\g /dev/null
		CREATE TEMP TABLE read (n integer, buffers bigint);
		SELECT format('INSERT INTO read VALUES (%s, buffers(%L))', n, $lookups) FROM unnest('{1,101,301,500,2000}'::integer[]) AS n \\gexec
		SELECT buffers < 20 FROM read WHERE n = 1;
		SELECT round(((SELECT buffers FROM read WHERE n = 101) - (SELECT buffers FROM read WHERE n = 1)) / 100.0);
		SELECT (SELECT buffers FROM read WHERE n = 301) BETWEEN 1780 AND 1830;
		SELECT (SELECT buffers FROM read WHERE n = 2000) = (SELECT buffers FROM read WHERE n = 500);
		SELECT count(*) = 1000 FROM generate_series(1, 1949000, 1949) AS i WHERE (SELECT f FROM $table) \@> i;
		SQL
}

# For a filter of several tables, two slices of each are read.  This one is
# small: a slice takes one page of the index and one of the table.

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE several AS SELECT cuckoo_union_agg(f) AS f FROM
	(SELECT cuckoo_agg(i, CASE g WHEN 0 THEN 50000 ELSE 200000 * g END, 0.001) AS f
	FROM generate_series(0, 3) AS g, generate_series(1, 45000) AS i GROUP BY g) AS s;
VACUUM several;
SQL
is(session(<<SQL), 'mixed|4 16 45000', 'lookups read slices of each table');
SELECT representation, subfilters FROM several, cuckoo_info(f);
SELECT buffers('SELECT count(*) FROM generate_series(1, 1) AS i WHERE (SELECT f FROM several) \@> -i') AS one \\gset
SELECT round((buffers('SELECT count(*) FROM generate_series(1, 11) AS i WHERE (SELECT f FROM several) \@> -i') - :one) / 10.0);
SELECT count(*) FROM generate_series(1, 45000) AS i WHERE (SELECT f FROM several) \@> i;
SQL

# Keys with the same even bucket, so that one group is almost the whole filter:
# a lookup reads 200 kB, and for the second one it pays to read the filter
# whole.
my ($key_of) = slurp_file("$FindBin::RealBin/../sql/hostile.sql") =~ /^(CREATE FUNCTION rotate.*?^END \$\$;)/ms;
$node->safe_psql('postgres', <<SQL);
$key_of
CREATE TABLE hostile_keys AS SELECT i, key_of((1234567890::bigint << 32) + (i << 27)) AS k FROM generate_series(1, 50000::bigint) AS i;
CREATE TABLE hostile AS SELECT cuckoo_agg(k, 1e6, 2e-8) AS f FROM hostile_keys;
SQL
is(session(<<'SQL'), '1000 t t', 'a group made to be large is not read again and again');
SELECT count(*) FROM hostile_keys WHERE i <= 1000 AND (SELECT f FROM hostile) @> k;
SELECT pg_column_size(f) BETWEEN 200000 AND 220000 FROM hostile;
SELECT buffers('SELECT FROM hostile_keys WHERE i <= 1000 AND (SELECT f FROM hostile) @> k')
	- buffers('SELECT FROM hostile_keys WHERE i <= 1000') < 150;
SQL

# The first chunk must be that of the value.  If it is not, the value is read
# whole, which takes all its pages, and reports what is wrong.
is(session(<<'SQL'), 't t t', 'slices are read only if the first chunk has the size of the value');
CREATE FUNCTION one_byte_less(cuckoofilter) RETURNS cuckoofilter LANGUAGE c STRICT AS '$libdir/cuckoo_test';
SELECT buffers('SELECT f @> 1 FROM stored') < 20;
SELECT buffers('SELECT one_byte_less(f) @> 1 FROM stored') > 300;
SELECT one_byte_less(f) @> 1 FROM stored;
SQL

# One copy for all operators and queries of a transaction

foreach my $table (qw(stored sparse))
{
	my ($c, $d) = map { s/stored/$table/r } $scan, $above;

	is(session(<<~SQL), '1 1 t 0', "the operators of eight partitions and another query share a copy until the transaction ends: $table");
		BEGIN; DECLARE c CURSOR FOR $c; DECLARE d CURSOR FOR $d; MOVE FORWARD ALL IN c; MOVE FORWARD ALL IN d;
		SELECT copies(); CLOSE c; CLOSE d; SELECT copies(); SELECT buffers('$d') < 100; COMMIT; SELECT copies();
		SQL
}
is(session(<<SQL), 't', 'eight partitions read no more of the filter than one scan');
SELECT buffers('$above') AS above \\gset
SELECT buffers('$scan') < 1.1 * :above;
SQL
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET max_parallel_workers = 8; SET parallel_leader_participation = off;'
  . 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
my $parallel_scan = 'SELECT count(*) FROM keys WHERE (SELECT f FROM stored) @> k';
is(session(<<SQL), 't', 'parallel workers read one copy each');
$parallel
SELECT buffers('$above') AS above \\gset
SELECT buffers('$parallel_scan') < 3.1 * :above;
SQL
like($node->safe_psql('postgres', "$parallel EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $parallel_scan"), qr/Workers Launched: [12]/, '... that there are');

# The setting: 2 MB are too few for a copy, and there is nothing else to set.
is(session(<<SQL), '256MB 0 1 22023 42602', 'cuckoo.cache_size bounds the copies');
SHOW cuckoo.cache_size;
BEGIN;
SET cuckoo.cache_size = '2MB';
DECLARE c CURSOR FOR $scan;
MOVE FORWARD ALL IN c;
SELECT copies();
RESET cuckoo.cache_size;
DECLARE d CURSOR FOR $scan;
MOVE FORWARD ALL IN d;
SELECT copies();
COMMIT;
SET cuckoo.cache_size = -1;
SET cuckoo.cache = 1;
SQL

# A copy makes room for another, and is read again when it is needed again.
is(session(<<SQL), '1 1 1 1 0', 'copies make room for each other, as often as they must');
SET cuckoo.cache_size = '4MB';
BEGIN;
@{[ join "\n", map { ($scan =~ s/stored/$_/r) . " \\g /dev/null\nSELECT copies();" } qw(stored sparse stored sparse) ]}
COMMIT; SELECT copies();
SQL

# Freed however it ends

is(session(<<SQL), '0 22012', 'a query fails');
SELECT count(*) FROM keys WHERE (SELECT f FROM stored) @> k AND 1 / (k - 1000) < 2; SELECT copies();
SQL
foreach my $end (qw(COMMIT ROLLBACK))
{
	is(session(<<~SQL), '1 0', "$end ends an open cursor");
		BEGIN; DECLARE c CURSOR FOR $scan; MOVE FORWARD 1500 IN c; SELECT copies(); $end; SELECT copies();
		SQL
}
is(session(<<SQL), '1 0 999', 'an open cursor is held');
BEGIN; DECLARE c CURSOR WITH HOLD FOR $scan; MOVE FORWARD 1998 IN c; SELECT copies(); COMMIT; SELECT copies();
FETCH c;
SQL
is(session(<<SQL), '1 1 500 1 0', 'a cursor goes on after what it has read is rolled back');
BEGIN; DECLARE c CURSOR FOR $scan; SAVEPOINT s; MOVE FORWARD 1499 IN c; SELECT copies(); ROLLBACK TO s;
SELECT copies(); FETCH c; MOVE FORWARD 2000 IN c; SELECT copies(); COMMIT; SELECT copies();
SQL
is(session(<<SQL), '0 22012', 'a query fails in a block that catches it');
DO \$\$ BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			PERFORM count(*) FROM keys WHERE (SELECT f FROM stored) @> k AND 1 / (k - 1000) < 2;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
		IF copies() > 1 THEN RAISE 'more than one'; END IF;
	END LOOP;
END \$\$;
SELECT copies(); SELECT 1 / 0;
SQL

# In PL/pgSQL's expressions
$node->safe_psql('postgres', 'INSERT INTO others SELECT f FROM stored');
is(session(<<SQL), '1000 1 1 1000 1 0', 'an expression of PL/pgSQL ends with its transaction, but not with its savepoint');
BEGIN; SAVEPOINT s; SELECT count(*) FILTER (WHERE found(k)) FROM generate_series(1, 1000) AS k; SELECT copies();
ROLLBACK TO s; SELECT copies(); SELECT count(*) FILTER (WHERE found(k)) FROM generate_series(1, 1000) AS k;
SELECT copies(); COMMIT; SELECT copies();
SQL
is(session(<<SQL), '0', 'and a block that commits does not gather copies');
DO \$\$ DECLARE v cuckoofilter; lost integer := 0; most numeric := 0;
BEGIN
	FOR i IN 1..5 LOOP
		FOR k IN 1..1000 LOOP
			IF NOT found(k) THEN lost := lost + 1; END IF;
		END LOOP;
		UPDATE others SET f = f + (1000 + i); COMMIT;
		most := greatest(most, copies());
	END LOOP;
	IF lost > 0 OR most > 1 THEN RAISE '% lost, % copies', lost, most; END IF;
END \$\$;
SELECT copies();
SQL

# A copy is used on after others have written: only the row of the first chunk is
# looked at.
my $psql = sprintf q{\! psql -X -q -A -t -h '%s' -p %d -U "$(id -un)" postgres -c }, $node->host, $node->port;
$node->safe_psql('postgres', 'CREATE TABLE written (i integer)');
is(session(<<SQL), 't t 1', 'writers do not make a session read the filter again');
BEGIN; SELECT buffers('SELECT FROM generate_series(1, 1000) AS k WHERE found(k)') > 700;
$psql "INSERT INTO written VALUES (1)"
SELECT buffers('SELECT found(1)') < 20; SELECT copies(); COMMIT;
SQL

# A value id that is used again.  There are two filters of the same size.  After
# the first is gone the second gets its id, within a transaction that has read
# the first.

$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION dblink;
CREATE FUNCTION next_oid(oid) RETURNS void LANGUAGE c STRICT AS '$libdir/cuckoo_test';
CREATE FUNCTION next_xid(xid8) RETURNS xid8 LANGUAGE c STRICT AS '$libdir/cuckoo_test';
CREATE FUNCTION evens(k integer) RETURNS cuckoofilter LANGUAGE sql
	AS 'SELECT cuckoo_from_array(ARRAY(SELECT 2 * i + k FROM generate_series(1, 20000) AS i), 100000, 0.001, k)';
CREATE TABLE ids (id oid);
CREATE FUNCTION id() RETURNS oid LANGUAGE plpgsql AS $$
	DECLARE id oid;
	BEGIN
		EXECUTE format('SELECT DISTINCT chunk_id FROM %s', (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'others'::regclass)) INTO id;
		RETURN id;
	END $$;
-- The same id again, that of evens in the table before
CREATE FUNCTION insert_odds() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM next_oid((SELECT id FROM ids));
		INSERT INTO others SELECT evens(1);
		IF id() <> (SELECT id FROM ids) THEN RAISE 'not the same id'; END IF;
	END $$;
-- ... by a transaction with this number
CREATE FUNCTION insert_odds(number xid) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE next xid8 := next_xid(number::text::xid8);
	BEGIN
		PERFORM insert_odds();
		PERFORM next_xid(next);
		IF (SELECT xmin FROM others) <> number THEN RAISE 'not the same number'; END IF;
	END $$;
CREATE DATABASE elsewhere;
SQL
my $connection = sprintf 'host=%s port=%d dbname=postgres', $node->host, $node->port;
my $evens = 'SELECT count(*) FILTER (WHERE found(2 * k)) FROM generate_series(1, 1000) AS k';
my $odds = 'SELECT count(*) FILTER (WHERE found(2 * k + 1)) FROM generate_series(1, 1000) AS k';
my $start = 'TRUNCATE others; INSERT INTO others SELECT evens(0); TRUNCATE ids; INSERT INTO ids SELECT id()';
# In another session, while the running one waits.  Truncating the file would
# wait for it.
my $use_again = <<SQL;
$psql "VACUUM (TRUNCATE false) others"
$psql "SELECT insert_odds()" >/dev/null
SQL
my $replace = qq{$psql "DELETE FROM others"\n$use_again};

# With and without a transaction running in another database, whose id keeps the
# xmin of our snapshots, but not the rows of our tables.
foreach my $elsewhere ('', ', with a transaction elsewhere')
{
	$node->safe_psql('elsewhere', "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'elsewhere'") if $elsewhere;
	is(session(<<~SQL), '1000 1000', "a value id used again: between statements, after VACUUM$elsewhere");
		$start; BEGIN; $evens;
		$replace
		$odds; COMMIT;
		SQL
	is(session(<<~SQL), '1000 1000', "... between lookups in slices, after VACUUM$elsewhere");
		$start; BEGIN; SELECT 999 + count(*) FROM (SELECT) AS k WHERE found(2);
		$replace
		$odds; COMMIT;
		SQL
	# With a lock held from before, so that invalidations by VACUUM are not
	# received.
	is(session(<<~SQL), '1000 1000', "... after a savepoint was rolled back$elsewhere");
		$start; TRUNCATE others; BEGIN; SELECT FROM others; SAVEPOINT s; INSERT INTO others SELECT evens(0);
		SELECT id() AS id \\gset
		\\setenv ID :id
		$evens; ROLLBACK TO s;
		$psql "UPDATE ids SET id = \$ID"
		$use_again
		$odds; COMMIT;
		SQL
	# With the first snapshot's xmin and xmax, if xmin is kept: there is only less
	# running.
	is(session(<<~SQL), '1000 1000', "... by a transaction that was running$elsewhere");
		$start;
		SELECT dblink_connect(name, '$connection'), dblink_exec(name, 'BEGIN'), (SELECT xid FROM dblink(name, 'SELECT txid_current()') AS d (xid text))
			FROM unnest('{deleting,inserting}'::text[]) AS name \\g /dev/null
		SELECT txid_current() \\g /dev/null
		BEGIN; $evens;
		SELECT dblink_exec('deleting', sql) FROM unnest('{DELETE FROM others,COMMIT}'::text[]) AS sql \\g /dev/null
		$psql "VACUUM (TRUNCATE false) others"
		SELECT odds FROM dblink('inserting', 'SELECT insert_odds()') AS d (odds text) \\g /dev/null
		SELECT dblink_exec('inserting', 'COMMIT') \\g /dev/null
		$odds; COMMIT;
		SQL
	$node->safe_psql('elsewhere', "ROLLBACK PREPARED 'elsewhere'") if $elsewhere;
}
# Four thousand million transactions later: only the place of the row differs.
is(session(<<SQL), '1000 1000', '... by a transaction with the same number');
TRUNCATE others; INSERT INTO others SELECT evens(-2); INSERT INTO others SELECT evens(0);
DELETE FROM others WHERE ctid = '(0,1)'; VACUUM others; UPDATE ids SET id = id();
SELECT xmin AS number FROM others \\gset
\\setenv NUMBER :number
BEGIN; $evens;
$psql "DELETE FROM others"
$psql "VACUUM (TRUNCATE false) others"
$psql "SELECT insert_odds('\$NUMBER'::xid)" >/dev/null
$odds; COMMIT;
SQL
is(session(<<SQL), '1000 1000', '... after TRUNCATE in the same transaction');
$start; BEGIN; $evens; TRUNCATE others;
SELECT insert_odds() \\g /dev/null
$odds; COMMIT;
SQL
# The snapshot of the cursor is active all the time, but found() takes its own.
is(session(<<SQL), '1000 1000', '... after a savepoint was rolled back, in a function of an open cursor');
$start; TRUNCATE others; BEGIN;
DECLARE c CURSOR FOR SELECT (SELECT count(*) FILTER (WHERE found(2 * k + odd)) FROM generate_series(1, 1000) AS k)
	FROM generate_series(0, 1) AS odd;
SAVEPOINT s; INSERT INTO others SELECT evens(0);
SELECT id() AS id \\gset
\\setenv ID :id
FETCH c; ROLLBACK TO s;
$psql "UPDATE ids SET id = \$ID"
$use_again
FETCH c; COMMIT;
SQL
# With another transaction running, so that xmin stays the same.
is(session(<<SQL), '1000 1000', '... in a later transaction, in a temporary table');
BEGIN;
SELECT txid_current() \\g /dev/null
PREPARE TRANSACTION 'old';
CREATE TEMPORARY TABLE others (f cuckoofilter);
INSERT INTO others SELECT evens(0); UPDATE ids SET id = id(); $evens; DELETE FROM others; VACUUM others;
SELECT insert_odds() \\g /dev/null
$odds; ROLLBACK PREPARED 'old';
SQL

# On a standby the primary's VACUUM removes rows.  The session first reads all the
# catalog rows that it needs, because it would receive invalidations with them.

my $standby = new_standby($node);
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'\nsynchronous_commit = remote_apply");
$node->reload;
# The checkpointer, which takes the setting over before it answers, decides
# whether commits wait.
$node->safe_psql('postgres', 'CHECKPOINT');
$node->wait_for_catchup($standby);
foreach my $elsewhere ('', ', with a transaction elsewhere')
{
	$node->safe_psql('elsewhere', "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'elsewhere'") if $elsewhere;
	$node->safe_psql('postgres', $start);
	is(session(<<~SQL, $standby), '1000 1000', "a value id used again: on a standby$elsewhere");
		BEGIN;
		$odds \\g /dev/null
		$evens;
		$replace
		$odds; COMMIT;
		SQL
}
$standby->stop;
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$node->reload;

$node->stop;
done_testing();
