# A cuckoo index on several servers and through their crashes: kill -9 during
# inserts, VACUUM and builds, a standby that is promoted, a logical subscriber,
# dump and restore, pg_upgrade; and moments that only a second session can reach.
#
# Pages are not written to the WAL as a whole after each checkpoint, as this would
# hide records that need them, and replay compares each page that it makes.

use CuckooTest;
use File::Temp;
use Time::HiRes qw(usleep);

my $node = new_server('main', replication => 1, conf => <<~'CONF');
	wal_level = logical
	full_page_writes = off
	wal_consistency_checking = 'generic'
	autovacuum = off
	restart_after_crash = on
	wal_keep_size = 4GB
	CONF

# The number of cuckoo indexes of a server's tables, and that of rows that they do
# not find
sub state_of
{
	my ($server, $database) = @_;

	return $server->safe_psql($database // 'postgres', <<~'SQL');
		SELECT count(*), sum(cuckoo_index_check(c.oid)) FROM pg_class AS c JOIN pg_am AS am ON relam = am.oid JOIN pg_index AS i ON indexrelid = c.oid
		WHERE amname = 'cuckoo' AND c.relkind = 'i' AND indisvalid AND (relpersistence = 'p' OR relpersistence = 'u' AND NOT pg_is_in_recovery())
		SQL
}

# Tests that a server keeps the keys of a table unique.
sub keeps_unique
{
	my ($server, $name, $database) = (@_, 'postgres');

	is(sqlstate($server, $database, $_->[0]), $_->[1], "$name: $_->[0]")
	  foreach [ q{INSERT INTO once (tenant, url) VALUES (1, 'page 1')}, '23P01' ], [ q{INSERT INTO once (tenant, url) VALUES (1, 'page 1'), (5, 'page 1') ON CONFLICT DO NOTHING RETURNING tenant}, '5' ];
	return;
}

# Starts a statement in a session, and does not wait for it.
sub start_in
{
	my ($session, $statement) = @_;

	$session->{stdin} .= "$statement;\n";
	$session->{run}->pump_nb();
	return;
}

# Keys of one sixteenth of the hashes make overflow pages, those of a few values long
# chains.  Most pages of the index with a capacity are empty.
$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE grown (k integer);
	CREATE INDEX grown_k ON grown USING cuckoo (k);
	CREATE TABLE chosen AS SELECT i AS k FROM generate_series(1, 200000) AS i WHERE cuckoo_hash(i) BETWEEN 0 AND (1::bigint << 60) - 1;
	CREATE TABLE roomy (k text, few integer);
	CREATE INDEX roomy_k ON roomy USING cuckoo (k) WITH (capacity = 1e6);
	CREATE INDEX roomy_few ON roomy USING cuckoo (few);
	CREATE UNLOGGED TABLE quick (k integer);
	CREATE INDEX quick_k ON quick USING cuckoo (k);
	CREATE TABLE once (tenant integer, url text, EXCLUDE USING cuckoo (tenant WITH =, url WITH =));
	INSERT INTO once SELECT i % 3, 'page ' || i FROM generate_series(1, 3000) AS i;
	CREATE TABLE parts (k integer) PARTITION BY RANGE (k);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (1000);
	CREATE TABLE parts_2 (k integer);
	CREATE INDEX parts_2_own ON parts_2 USING cuckoo (k);
	CREATE INDEX parts_k ON parts USING cuckoo (k);
	INSERT INTO parts_1 SELECT generate_series(1, 999);
	INSERT INTO parts_2 SELECT generate_series(1000, 1999);
	SQL
my $standby = new_standby($node);

# ------------------------------------------------------------- kill -9, replay
# Each statement runs until the file of an index has so many pages, or else a time.
my @victims = (
	[ 'INSERT INTO grown SELECT generate_series(300001, 9000000)', 'grown_k', 3 ],
	[ 'INSERT INTO grown SELECT k FROM chosen, generate_series(1, 100)', 'grown_k', 12 ],
	[ 'INSERT INTO grown SELECT generate_series(310001, 9000000)', 'grown_k', 80 ],
	[ 'INSERT INTO roomy SELECT md5(i::text), i % 50 FROM generate_series(1, 9000000) AS i', 'roomy_few', 4 ],
	[ 'DO $$ BEGIN LOOP INSERT INTO roomy SELECT md5(i::text), i % 50 FROM generate_series(1, 2000) AS i; DELETE FROM roomy WHERE few % 2 = 1; COMMIT; END LOOP; END $$', undef, 1 ],
	[ 'DO $$ BEGIN LOOP DROP INDEX IF EXISTS renewed; CREATE INDEX renewed ON grown USING cuckoo (k); COMMIT; END LOOP; END $$', undef, 1.5 ],
	[ 'DO $$ BEGIN LOOP INSERT INTO roomy SELECT md5(i::text), i FROM generate_series(1, 2000) AS i; COMMIT; END LOOP; END $$', undef, 1 ]);
$node->safe_psql('postgres', 'INSERT INTO grown TABLE chosen; INSERT INTO grown SELECT generate_series(300001, 320000); INSERT INTO quick SELECT generate_series(1, 5000)');
is(state_of($node), '7|0', 'before the crashes');
foreach my $victim (@victims)
{
	my ($statement, $index, $until) = @$victim;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $size = $index && $node->safe_psql('postgres', "SELECT pg_relation_size('$index') + $until * 8192");

	start_in($session, $statement);
	$index ? $node->poll_query_until('postgres', "SELECT pg_relation_size('$index') >= $size") : usleep(1_000_000 * $until);
	is(kill_backend($node, $pid), 1, "killed: $statement");
	eval { $session->quit };
	like(state_of($node), qr/^[78]\|0$/, '... and the indexes find all rows');
	# What the others have written is still there, and can be added to.
	$node->safe_psql('postgres', q{INSERT INTO grown SELECT generate_series(1, 3000); INSERT INTO roomy SELECT 'later ' || i, i FROM generate_series(1, 3000) AS i; VACUUM grown, roomy});
	like(state_of($node), qr/^[78]\|0$/, '... those added later, too');
}
like($node->safe_psql('postgres', q{SELECT overflow_pages > 0, depth > 4 FROM cuckoo_index_info('grown_k')}), qr/^t\|t$/, 'pages have split, and have got overflow pages');
is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM quick WHERE k = 7; INSERT INTO quick SELECT generate_series(1, 3000); SELECT count(*) FROM quick WHERE k = 7; SELECT cuckoo_index_check('quick_k')}),
	"0\n1\n0", 'an unlogged index is empty after a crash, and can be used');

# ------------------------------------------------------------------- A standby
# This fails at once if the standby has found a page that is not the same.
ok($standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '" . $node->lsn('insert') . q{'}), 'a standby replays');
is(state_of($standby), state_of($node) =~ s/^(\d+)/$1 - 1/er, 'a standby finds all rows');
is($standby->safe_psql('postgres', "SET enable_seqscan = off; $_"), $node->safe_psql('postgres', $_), "the same on a standby: $_")
  foreach q{SELECT count(*) FROM chosen JOIN grown USING (k)}, q{SELECT count(*) FROM roomy WHERE few = 7}, q{SELECT count(*) FROM once WHERE tenant = 1 AND url = 'page 1'}, q{SELECT count(*) FROM roomy WHERE k = 'later 7'}, q{SELECT cuckoo_index_info('grown_k')}, q{SELECT md5(cuckoo_index_filter('grown_k')::bytea)};
is(sqlstate($standby, 'postgres', "SELECT cuckoo_index_$_('quick_k')"), '0A000', "an unlogged index is not there: $_") foreach qw(filter info check);
like(($standby->psql('postgres', q{SELECT cuckoo_index_info('quick_k')}))[2], qr/cannot access temporary or unlogged indexes during recovery/, '... which the error says');

$standby->promote;
$standby->safe_psql('postgres', q{INSERT INTO grown SELECT generate_series(1, 3000); INSERT INTO quick VALUES (7); DELETE FROM roomy WHERE few > 20; VACUUM roomy; REINDEX INDEX grown_k});
is(state_of($standby), state_of($node), 'a standby that is promoted can be written to');
keeps_unique($standby, 'a standby that is promoted');
$standby->stop;

# ------------------------------------------------------------ Moments of others
$node->safe_psql('postgres', q{CREATE FUNCTION bulk_delete(regclass, tid[], tid[]) RETURNS bigint LANGUAGE c STRICT AS '$libdir/cuckoo_test'; CREATE TABLE removals (n bigint)});
my ($holder, $remover) = map { $node->background_psql('postgres') } 1 .. 2;

# Runs a statement while rows are removed from an index, at the moment at which it has
# asked about some; returns how many are removed, and the statement's result.
sub removed_beside
{
	my ($call, $statement) = @_;

	$holder->query_safe('SELECT pg_advisory_lock(1)');
	start_in($remover, "INSERT INTO removals SELECT $call");
	ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}), 'VACUUM stops');
	my $result = $node->safe_psql('postgres', $statement);
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	return ($remover->query_safe('DELETE FROM removals RETURNING n; SELECT pg_advisory_unlock_all()') =~ s/\s//gr, $result);
}

# All rows of the joined entries of the keys 1 and 3 are dead.  Each gets a new one
# when one entry has been looked at, and the other one has not.
$node->safe_psql('postgres', <<~'SQL');
	CREATE TABLE joined (k integer);
	INSERT INTO joined VALUES (1), (1), (0), (14), (1), (16), (17), (18), (3), (3), (0), (22), (3), (24), (25);
	DELETE FROM joined WHERE k = 0;
	VACUUM joined;
	CREATE INDEX joined_k ON joined USING cuckoo (k);
	CREATE TABLE dead AS SELECT array_agg(ctid) AS rows FROM joined;
	DELETE FROM joined;
	VACUUM (INDEX_CLEANUP off) joined;
	SQL
is_deeply([ removed_beside(q{bulk_delete('joined_k', (SELECT rows FROM dead), '{"(0,1)","(0,8)"}')}, q{INSERT INTO joined VALUES (1), (3) RETURNING ctid}) ], [ 7, "(0,3)\n(0,11)" ], 'joined entries get rows while VACUUM looks for some');
is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM joined WHERE k = 1; SELECT count(*) FROM joined WHERE k = 3; SELECT cuckoo_index_check('joined_k')}), "1\n1\n0", '... which the index finds');

# A base page that has split twice, and whose right half splits while VACUUM is at the
# next base page.  VACUUM reads the page that gets entries after the one that had them.
$node->safe_psql('postgres', <<~'SQL');
	CREATE TABLE halves (k integer, h bigint);
	CREATE INDEX halves_k ON halves USING cuckoo (k) WITH (capacity = 1e5);
	INSERT INTO halves SELECT i, h FROM generate_series(1, 1000000) AS i, cuckoo_hash(i) AS h WHERE h BETWEEN 0 AND 224962001872091850 AND (h < 112481000936045925 OR i < 100000);
	INSERT INTO halves SELECT i, h FROM generate_series(1, 1000) AS i, cuckoo_hash(i) AS h WHERE h BETWEEN 224962001872091851 AND 449924003744183700 LIMIT 1;
	CREATE TABLE more AS SELECT i AS k FROM generate_series(1000001, 1300000) AS i, cuckoo_hash(i) AS h WHERE h BETWEEN 112481000936045925 AND 224962001872091850;
	SQL
my $shape = q{SELECT depth, overflow_pages > 0, pages FROM cuckoo_index_info('halves_k')};
my ($depth, $has_overflow, $pages) = split /\|/, $node->safe_psql('postgres', $shape);
is("$depth|$has_overflow", '2|t', 'split twice');
my $right = q{SELECT array_agg(ctid) FROM halves WHERE h BETWEEN 112481000936045925 AND 224962001872091850};
my ($removed) = removed_beside(qq{bulk_delete('halves_k', ($right), (SELECT ARRAY[ctid] FROM halves WHERE h > 224962001872091850))}, 'INSERT INTO halves SELECT k, 0 FROM more');
is($removed, $node->safe_psql('postgres', "SELECT cardinality(($right))"), 'entries that a split moves while VACUUM runs are removed');
cmp_ok((split /\|/, $node->safe_psql('postgres', $shape))[2], '>', $pages, '... and it has split');
$_->quit foreach $holder, $remover;
$node->safe_psql('postgres', 'DROP TABLE halves, more');

# What CREATE INDEX reports, and the temporary index of another session
my $builder = $node->background_psql('postgres');
$builder->query_safe('CREATE TEMPORARY TABLE own AS SELECT i AS k FROM generate_series(1, 800000) AS i');
$node->safe_psql('postgres', 'CREATE TABLE phases (phase text, done bigint, total bigint)');
my $seen = '';
# A build may be over before the other session looks.
for (my $try = 0; $seen eq '' && $try < 5; $try++)
{
	$builder->query_safe('DROP INDEX own_k') if $try > 0;
	start_in($builder, 'CREATE INDEX own_k ON own USING cuckoo (k)');
	$seen = $node->safe_psql('postgres', <<~'SQL');
		TRUNCATE phases;
		DO $$
		BEGIN
			FOR i IN 1 .. 60000 LOOP
				PERFORM pg_stat_clear_snapshot(), pg_sleep(0.0005);
				INSERT INTO phases SELECT phase, tuples_done, tuples_total FROM pg_stat_progress_create_index;
				EXIT WHEN NOT FOUND AND EXISTS (SELECT FROM phases);
			END LOOP;
		END $$;
		SELECT bool_and(phase ~ '^building index: (initializing|scanning table|sorting keys)$' OR phase ~ ': writing pages$' AND done <= total AND total = 800000) FROM phases WHERE phase LIKE 'building%'
		SQL
}
is($seen, 't', 'the phases of a build that are seen');
my $own = $builder->query_safe(q{SELECT 'own_k'::regclass::oid});
is(sqlstate($node, 'postgres', "SELECT cuckoo_index_$_($own)"), '0A000', "the temporary index of another session is refused: $_") foreach qw(filter info check);
$builder->quit;

# ------------------------------------------------------------------ Partitions
$node->safe_psql('postgres', 'ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (1000) TO (2000)');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_index WHERE indrelid = 'parts_2'::regclass}), '1', 'a partition that is attached keeps its index');
$node->safe_psql('postgres', 'INSERT INTO parts SELECT generate_series(1, 1999); ALTER TABLE parts DETACH PARTITION parts_1 CONCURRENTLY');
is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM parts WHERE k = 1500; SELECT count(*) FROM parts_1 WHERE k = 500; ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (1) TO (1000); SELECT count(*) FROM parts WHERE k = 500}), "2\n2\n2", 'detached, and attached again');

# --------------------------------------------------------- A logical subscriber
my $subscriber = new_server('subscriber', conf => "autovacuum = off\n");
$node->safe_psql('postgres', 'ALTER TABLE roomy REPLICA IDENTITY FULL; ALTER TABLE once REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE roomy, parts, once');
$subscriber->safe_psql('postgres', <<~SQL);
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE roomy (few integer, k varchar);
	CREATE INDEX roomy_k ON roomy USING cuckoo (k);
	CREATE TABLE parts_1 (k integer);
	CREATE TABLE parts_2 (k integer);
	CREATE INDEX ON parts_2 USING cuckoo (k);
	CREATE TABLE once (url varchar, tenant integer, EXCLUDE USING cuckoo (tenant WITH =, url WITH =));
	CREATE SUBSCRIPTION s CONNECTION '@{[ $node->connstr ]} dbname=postgres' PUBLICATION p;
	SQL
$subscriber->wait_for_subscription_sync($node, 's');
$node->safe_psql('postgres', q{UPDATE roomy SET k = 'updated' WHERE k = 'later 7'; DELETE FROM roomy WHERE k = 'later 8'; INSERT INTO roomy VALUES ('inserted', 1); INSERT INTO parts VALUES (1500)});
$node->safe_psql('postgres', q{INSERT INTO once VALUES (NULL, 'page 2'); UPDATE once SET url = 'moved' WHERE tenant IS NULL OR url = 'page 2'});
$node->wait_for_catchup('s');
is($subscriber->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) > 0 FROM roomy WHERE k = 'updated'; SELECT count(*) FROM roomy WHERE k = ANY ('{later 7,later 8}'); SELECT count(*) FROM roomy WHERE k = 'inserted'; SELECT count(*) FROM parts_2 WHERE k = 1500}),
	"t\n0\n1\n3", 'a subscriber has an index of its own');
is(state_of($subscriber), '3|0', '... with all rows');
is($subscriber->safe_psql('postgres', q{SELECT url, tenant FROM once EXCEPT SELECT 'page ' || i, i % 3 FROM generate_series(1, 3000) AS i ORDER BY tenant}), "moved|2\nmoved|", '... and a constraint');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s');
$subscriber->stop;

# ------------------------------------------------- Dump and restore, pg_upgrade
my $definitions = q{SELECT indexdef FROM pg_indexes WHERE indexdef ~ 'USING cuckoo' ORDER BY indexname};
my $dump = $node->basedir . '/dump';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-Fc', '-f', $dump, '--no-publications', '--no-subscriptions' ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored; DROP PUBLICATION p; DROP FUNCTION bulk_delete');
$node->command_ok([ 'pg_restore', '-j2', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $definitions), $node->safe_psql('postgres', $definitions), 'the same indexes');
is(state_of($node, 'restored'), state_of($node), '... with all rows');
keeps_unique($node, 'restored', 'restored');

my $before = join "\n", map { $node->safe_psql('postgres', $_) } $definitions, q{SELECT cuckoo_index_info('grown_k')}, q{SELECT cuckoo_index_info('roomy_few')};
$node->stop;
my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C', '--no-sync' ]);
my $programs = $node->config_data('--bindir');
my $folder = File::Temp->newdir;
chdir $folder;
command_ok([ 'pg_upgrade', '--no-sync', '-b', $programs, '-B', $programs, '-d', $node->data_dir, '-D', $upgraded->data_dir, '-p', $node->port, '-P', $upgraded->port, '-s', $node->host ], 'pg_upgrade');
chdir $FindBin::RealBin;
$upgraded->start;
is((join "\n", map { $upgraded->safe_psql('postgres', $_) } $definitions, q{SELECT cuckoo_index_info('grown_k')}, q{SELECT cuckoo_index_info('roomy_few')}), $before, 'the same indexes');
$upgraded->safe_psql('postgres', 'INSERT INTO grown SELECT generate_series(1, 20000); INSERT INTO roomy SELECT i, i FROM generate_series(1, 3000) AS i');
unlike(state_of($upgraded), qr/\|[^0]/, '... with all rows');
keeps_unique($upgraded, 'pg_upgrade');
$upgraded->stop;

# ------------------------------------------------------------ wal_level = minimal
# A table that is made in the same transaction is not logged, but synced or copied to
# the WAL in the end.
my $minimal = new_server('minimal', conf => "wal_level = minimal\nmax_wal_senders = 0\nautovacuum = off\n");
$minimal->safe_psql('postgres', 'CREATE EXTENSION cuckoo_index CASCADE');
foreach my $threshold ('0', '1GB')
{
	$minimal->safe_psql('postgres', <<~SQL);
		SET wal_skip_threshold = '$threshold';
		DROP TABLE IF EXISTS made, filled;
		CREATE TABLE filled (k integer);
		CREATE INDEX filled_k ON filled USING cuckoo (k) WITH (capacity = 1e5);
		CHECKPOINT;
		BEGIN;
		CREATE TABLE made (k integer);
		CREATE INDEX made_k ON made USING cuckoo (k);
		INSERT INTO made SELECT generate_series(1, 50000);
		TRUNCATE filled;
		INSERT INTO filled SELECT generate_series(1, 20000);
		SAVEPOINT s;
		INSERT INTO filled SELECT generate_series(1, 200000);
		ROLLBACK TO s;
		COMMIT;
		SQL
	$minimal->stop('immediate');
	$minimal->start;
	is(state_of($minimal), '2|0', "wal_level = minimal, wal_skip_threshold = $threshold: a crash");
	$minimal->safe_psql('postgres', 'INSERT INTO made SELECT generate_series(50001, 80000); INSERT INTO filled SELECT generate_series(20001, 40000)');
	is(state_of($minimal), '2|0', '... and additions after it');
}
$minimal->stop;

unlike(slurp_file($_->logfile), qr/PANIC|TRAP|inconsistent page|signal (?!9:)/, 'no crash except ours: ' . $_->name) foreach $node, $standby, $upgraded, $minimal;
done_testing();
