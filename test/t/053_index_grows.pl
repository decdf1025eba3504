# Indexes while a session adds rows, one transaction after another: filters have all keys
# that were there before, however many pages split meanwhile, and CREATE INDEX CONCURRENTLY
# adds the rows that come while it reads the table.

use CuckooTest;

my $node = new_server('main', conf => "autovacuum = off\n");
$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE t (k integer);
	CREATE INDEX i ON t USING cuckoo (k);
	INSERT INTO t SELECT generate_series(1, 10000);
	CREATE TABLE c (id serial, k integer);
	CREATE PROCEDURE add(rows_sql text, times integer) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. times LOOP
			EXECUTE rows_sql USING i;
			COMMIT;
		END LOOP;
	END $$;
	CREATE FUNCTION adds() RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_stat_clear_snapshot();
		RETURN EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'CALL%' AND state = 'active');
	END $$;
	CREATE FUNCTION look(OUT filters integer, OUT missing bigint) LANGUAGE plpgsql AS $$
	DECLARE f cuckoofilter;
	BEGIN
		missing := 0;
		filters := 0;
		WHILE adds() LOOP
			f := cuckoo_index_filter('i');
			missing := missing + (SELECT count(*) FROM generate_series(1, 10000) AS n WHERE NOT f @> n);
			filters := filters + 1;
		END LOOP;
	END $$;
	SQL

# Starts a session that adds rows, and waits until it does.
sub add
{
	my ($rows, $times) = @_;
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "CALL add('$rows', $times)" ]);

	$node->poll_query_until('postgres', 'SELECT adds()');
	return $session;
}

my $session = add('INSERT INTO t SELECT generate_series($1 * 10000, $1 * 10000 + 999)', 400);
my ($filters, $missing, $pages) = split /\|/, $node->safe_psql('postgres', q{SELECT filters, missing, pages FROM look(), cuckoo_index_info('i')});
$session->finish;
cmp_ok($filters, '>', 10, 'filters were made while the index grew');
cmp_ok($pages, '>', 200, 'the index has grown');
is($missing, 0, 'no key is missing in a filter');

# Several rows of a key in a page are one entry, which has room for rows that come.
$session = add('INSERT INTO c (k) VALUES ($1 / 50)', 2**31 - 1);
$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY ic ON c USING cuckoo (k)');
my ($came, $lost) = (0, 0);
for (1 .. 3)
{
	$came -= $node->safe_psql('postgres', 'SELECT max(id) FROM c');
	$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY ic');
	$came += $node->safe_psql('postgres', 'SELECT max(id) FROM c');
	$lost += $node->safe_psql('postgres', q{SELECT cuckoo_index_check('ic')});
}
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL%'});
$session->finish;
cmp_ok($came, '>', 100, 'rows came while the index was built');
is($lost, 0, 'it has all of them');

# What a backend remembers of an index is freed when another alters it, even while the
# first looks into the catalogs, where it waits here.
$node->stop;
{
	local $ENV{MALLOC_PERTURB_} = 85;	# what is freed is overwritten

	$node->start;
}
$node->safe_psql('postgres', <<~'SQL');
	CREATE PROCEDURE wait_for_waiter() LANGUAGE plpgsql AS $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
	SQL
$session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), map { ('-c', $_) } "SET statement_timeout = '1min'", 'SELECT pg_advisory_lock(1)', 'CALL wait_for_waiter()',
		'BEGIN', 'LOCK pg_amproc', 'SELECT pg_advisory_unlock(1)', 'SELECT pg_sleep(0.1)', 'CALL wait_for_waiter()', 'ALTER INDEX i SET (fillfactor = 80)', 'COMMIT' ]);
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory'});
is($node->safe_psql('postgres', 'EXPLAIN (COSTS off) TABLE t; SELECT pg_advisory_lock_shared(1); INSERT INTO t VALUES (-1); SELECT count(*) FROM t WHERE k = -1'), "Seq Scan on t\n\n1", 'an index is altered while another session begins to use it');
$session->finish;
$node->stop;
done_testing();
