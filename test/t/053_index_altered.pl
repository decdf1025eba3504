# What a backend remembers of an index is freed when another alters it, even while the
# first looks into the catalogs, where it waits here.

use CuckooTest;

local $ENV{MALLOC_PERTURB_} = 85;	# what is freed is overwritten
my $node = new_server('main', conf => "autovacuum = off\n");
$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE t AS SELECT generate_series(1, 10000) AS k;
	CREATE INDEX i ON t USING cuckoo (k);
	CREATE PROCEDURE wait_for_waiter() LANGUAGE plpgsql AS $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
	SQL
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), map { ('-c', $_) } "SET statement_timeout = '1min'", 'SELECT pg_advisory_lock(1)', 'CALL wait_for_waiter()',
		'BEGIN', 'LOCK pg_amproc', 'SELECT pg_advisory_unlock(1)', 'SELECT pg_sleep(0.1)', 'CALL wait_for_waiter()', 'ALTER INDEX i SET (fillfactor = 80)', 'COMMIT' ]);
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory'});
is($node->safe_psql('postgres', 'EXPLAIN (COSTS off) TABLE t; SELECT pg_advisory_lock_shared(1); INSERT INTO t VALUES (-1); SELECT count(*) FROM t WHERE k = -1'), "Seq Scan on t\n\n1", 'an index is altered while another session begins to use it');
$session->finish;
$node->stop;
done_testing();
