# A followed table on several servers and through their crashes: logical
# replication, a standby, crashes, dump and restore.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use PostgreSQL::Test::Utils;

my $node = new_server('main', replication => 1, conf => "wal_level = logical\nmax_prepared_transactions = 5\nrestart_after_crash = on\n");

# The number of rows missing, whether there are as many copies as rows, and
# whether the triggers are in order.
sub state_of
{
	my ($server, $database) = @_;

	return $server->safe_psql($database, <<~'SQL');
		SELECT missing, (SELECT cuckoo_cardinality(f) FROM members_email_filter WHERE n = 0) + (SELECT coalesce(sum(delta), 0) FROM members_email_filter WHERE n <> 0)
			= (SELECT count(email) FROM members), triggers_enabled
		FROM cuckoo_follow_check('members_email_filter')
		SQL
}

my $members = 'CREATE EXTENSION cuckoo_follow CASCADE; CREATE TABLE members (id integer PRIMARY KEY, email text)';
$node->safe_psql('postgres', <<~SQL);
	$members;
	INSERT INTO members SELECT i, 'user' || i FROM generate_series(1, 5000) AS i;
	SELECT cuckoo_follow('members', 'email', capacity => 100000);
	INSERT INTO members SELECT i, 'user' || i FROM generate_series(5001, 5100) AS i;
	DELETE FROM members WHERE id <= 100;
	SQL
is(state_of($node, 'postgres'), '0|t|t', 'followed');

# -------------------------------------------------------------- Publications
$node->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES; CREATE PUBLICATION members FOR TABLE members');
is($node->safe_psql('postgres', q{INSERT INTO members VALUES (6000, 'published'); SELECT cuckoo_follow_fold('members_email_filter')}), '201', 'folds work under a publication of all tables');

$node->safe_psql('postgres', q{ALTER TABLE members_email_filter REPLICA IDENTITY NOTHING; INSERT INTO members VALUES (6001, 'briefly'); DELETE FROM members WHERE id = 6001});
is(sqlstate($node, 'postgres', $_), '55000', "what could not be replicated is refused: $_")
  foreach q{SELECT cuckoo_follow_fold('members_email_filter')}, q{INSERT INTO members SELECT i, i::text FROM generate_series(100000, 120000) AS i};
$node->safe_psql('postgres', 'ALTER TABLE members_email_filter REPLICA IDENTITY DEFAULT');

# A snapshot that was exported before a rebuild repaired the triggers
$node->safe_psql('postgres', q{ALTER TABLE members DISABLE TRIGGER ALL; INSERT INTO members VALUES (6002, 'unlogged')});
my $exporter = $node->background_psql('postgres');
my $snapshot = $exporter->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()');
$node->safe_psql('postgres', q{SELECT cuckoo_follow_rebuild('members_email_filter', capacity => 100000)});
my $unlogged = q{SELECT cuckoo_follow_contains('members_email_filter', 'unlogged')};
is(sqlstate($node, 'postgres', "SELECT txid_current(); SELECT txid_current(); $unlogged; BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'; CREATE TEMPORARY TABLE written (); $unlogged"),
	'40001', 'a lookup fails in an imported snapshot that is older than the triggers');
$exporter->quit;
is($node->safe_psql('postgres', $unlogged), 't', 'and in a newer one it is right');

my $own = new_server('own');
my $received = new_server('received');
$own->safe_psql('postgres', "$members; SELECT cuckoo_follow('members', 'email', capacity => 100000)");
$own->safe_psql('postgres', "CREATE SUBSCRIPTION own CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION members");
$received->safe_psql('postgres', "$members; CREATE TABLE members_email_filter (hash bigint, n bigint, delta integer NOT NULL, f cuckoofilter, PRIMARY KEY (hash, n))");
$received->safe_psql('postgres', "CREATE SUBSCRIPTION received CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION everything");
$own->wait_for_subscription_sync($node, 'own');
$received->wait_for_subscription_sync($node, 'received');
# That waits for the state "s" at least, but a lookup needs "r".
ok($received->poll_query_until('postgres', q{SELECT every(srsubstate = 'r') FROM pg_subscription_rel}), 'all tables are ready');

sub replicated
{
	my ($what) = @_;

	$node->wait_for_catchup('own');
	$node->wait_for_catchup('received');
	is(state_of($own, 'postgres'), '0|t|t', "$what: a subscriber that follows its own copy");
	is($received->safe_psql('postgres', <<~'SQL'), '0|t', "$what: a subscriber that receives the filter table");
		SELECT count(*) FILTER (WHERE NOT cuckoo_follow_contains('members_email_filter', email)),
			(SELECT cuckoo_cardinality(f) FROM members_email_filter WHERE n = 0) + (SELECT coalesce(sum(delta), 0) FROM members_email_filter WHERE n <> 0) = count(*) FROM members
		SQL
	return;
}
replicated('initial copy');
$node->safe_psql('postgres', <<~'SQL');
	INSERT INTO members SELECT i, 'user' || i FROM generate_series(7001, 7100) AS i;
	UPDATE members SET email = 'changed ' || id WHERE id BETWEEN 1000 AND 1099;
	DELETE FROM members WHERE id BETWEEN 2000 AND 2099;
	BEGIN; INSERT INTO members VALUES (8000, 'rolled back'); SAVEPOINT a; INSERT INTO members VALUES (8001, 'too'); ROLLBACK TO a; INSERT INTO members VALUES (8002, 'kept'); COMMIT;
	SQL
replicated('changes');
$node->safe_psql('postgres', q{SELECT cuckoo_follow_fold('members_email_filter')});
replicated('a fold');
$own->safe_psql('postgres', q{SELECT cuckoo_follow_fold('members_email_filter')});
replicated('a fold of its own');
like($received->safe_psql('postgres', q{SELECT 1}) && sqlstate($received, 'postgres', q{SELECT cuckoo_follow_fold('members_email_filter')}), qr/55000/, 'a received filter table cannot be folded');
$node->safe_psql('postgres', q{SELECT cuckoo_follow_rebuild('members_email_filter', capacity => 100000)});
replicated('a rebuild');
$node->safe_psql('postgres', q{TRUNCATE members; INSERT INTO members SELECT i, 'again ' || i FROM generate_series(1, 1000) AS i});
replicated('TRUNCATE');
is($own->safe_psql('postgres', q{SELECT cuckoo_follow_contains('members_email_filter', 'user3000')}), 'f', 'which empties the filter of the subscriber');
my $looked_up = q{SELECT cuckoo_follow_contains('members_email_filter', 'again 1')};
$own->safe_psql('postgres', 'DROP SUBSCRIPTION own');
is(sqlstate($received, 'postgres', "$looked_up; DROP SUBSCRIPTION received; $looked_up"), '55000', 'a lookup fails when the subscription has ended');
my $subscribe = "CREATE SUBSCRIPTION another CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION everything WITH (enabled = false, create_slot = false, slot_name = NONE, copy_data = %s)";
$received->safe_psql('postgres', sprintf($subscribe, 'true'));
is(sqlstate($received, 'postgres', $looked_up), '55000', 'or has not copied the filter table');
my $older = $received->background_psql('postgres', on_error_stop => 0);
$older->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM members');
$received->safe_psql('postgres', 'DROP SUBSCRIPTION another; ' . sprintf($subscribe, 'false'));
is($received->safe_psql('postgres', $looked_up), 't', 'a lookup trusts a subscription that is said to be in step');
$older->query("$looked_up;");
like($older->{stderr}, qr/was built or repaired after the snapshot was taken/, 'but not in an older snapshot');
$older->quit;
$own->safe_psql('postgres', sprintf($subscribe, 'false'));
is(sqlstate($own, 'postgres', $_), '55000', "a filter table cannot be received and follow, too: $_")
  foreach $looked_up, q{SELECT cuckoo_follow_fold('members_email_filter')}, q{INSERT INTO members VALUES (9000, 'twice')};
is($own->safe_psql('postgres', "DROP SUBSCRIPTION another; SELECT cuckoo_follow_rebuild('members_email_filter'); $looked_up"), "\nt", 'and follows again after a rebuild without the subscription');

# The followed table, which can be any table of the subscription, is not in step.
foreach my $table ('members_email_filter', 'members')
{
	foreach my $state ('i', 'd', 's')
	{
		$received->safe_psql('postgres', "UPDATE pg_subscription_rel SET srsubstate = '$state' WHERE srrelid = '$table'::regclass");
		is(sqlstate($received, 'postgres', $looked_up), '55000', "a lookup fails while $table has the state $state");
	}
	$older = $received->background_psql('postgres', on_error_stop => 0);
	$older->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM members');
	$received->safe_psql('postgres', "UPDATE pg_subscription_rel SET srsubstate = 'r' WHERE srrelid = '$table'::regclass");
	is($received->safe_psql('postgres', $looked_up), 't', 'and not when both are in step');
	$older->query("$looked_up;");
	like($older->{stderr}, qr/was built or repaired after the snapshot was taken/, 'but in an older snapshot');
	$older->quit;
}
is(sqlstate($received, 'postgres', q{SELECT cuckoo_follow_fold('members_email_filter')}), '55000', 'and a fold fails');

# Two subscriptions have no common order.  A copy of the database has neither.
is(sqlstate($received, 'postgres', sprintf($subscribe =~ s/another/second/r, 'false') . "; $looked_up"), '55000', 'a lookup fails if there are two subscriptions');
is($received->safe_psql('postgres', "DROP SUBSCRIPTION second; $looked_up"), 't', 'and not when one is gone');
$received->safe_psql('template1', 'CREATE DATABASE copied TEMPLATE postgres');
is(sqlstate($received, 'copied', $looked_up), '55000', "a lookup fails in a copy of a subscriber's database");
$_->stop for $own, $received;

# ----------------------------------------------------------------- A standby
my $standby = new_standby($node);
$node->safe_psql('postgres', q{INSERT INTO members VALUES (9000, 'standby'); DELETE FROM members WHERE id = 1});
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', <<~'SQL'), '0|t|t|f', 'a standby looks up');
	SELECT count(*) FILTER (WHERE NOT cuckoo_follow_contains('members_email_filter', email)), cuckoo_follow_contains('members_email_filter', 'standby'),
		cuckoo_follow_filter('members_email_filter') @> 'standby', cuckoo_follow_contains('members_email_filter', 'never') FROM members
	SQL
is(sqlstate($standby, 'postgres', q{SELECT cuckoo_follow_fold('members_email_filter')}), '25006', 'and cannot fold');
$node->safe_psql('postgres', q{CREATE UNLOGGED TABLE quick (k integer); SELECT cuckoo_follow('quick', 'k'); INSERT INTO quick VALUES (1)});
$node->wait_for_catchup($standby);
is(sqlstate($standby, 'postgres', "SELECT cuckoo_follow_$_"), '0A000', "an unlogged filter table is not there: $_")
  foreach q{contains('quick_k_filter', 1)}, q{filter('quick_k_filter')}, q{check('quick_k_filter')};
$standby->stop;

# ------------------------------------------------------------------- Crashes
my $writer = $node->background_psql('postgres', on_error_stop => 0);
$writer->query_safe(q{BEGIN; INSERT INTO members VALUES (9001, 'lost'); DELETE FROM members WHERE id = 2;});
$node->safe_psql('postgres', q{BEGIN; INSERT INTO members VALUES (9002, 'prepared'); PREPARE TRANSACTION 'p'});
$node->stop('immediate');
$node->start;
eval { $writer->quit };
is(state_of($node, 'postgres'), '0|t|t', 'a crash between a statement and its commit');
is($node->safe_psql('postgres', q{SELECT cuckoo_follow_contains('members_email_filter', 'lost'), cuckoo_follow_contains('members_email_filter', 'prepared')}), 'f|f', 'loses its changes');
$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
is($node->safe_psql('postgres', q{SELECT cuckoo_follow_contains('members_email_filter', 'prepared')}), 't', 'but not those that were prepared');
$node->safe_psql('postgres', q{SELECT cuckoo_follow_fold('members_email_filter')});
$node->stop('immediate');
$node->start;
is(state_of($node, 'postgres'), '0|t|t', 'a crash after a fold');
# The same if a server process is killed within a statement
my $victim = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $victim->query_safe('SELECT pg_backend_pid()');
$victim->{stdin} .= q{INSERT INTO members SELECT i, 'killed ' || i FROM (SELECT i, pg_sleep(CASE i WHEN 50000 THEN 600 ELSE 0 END) FROM generate_series(40001, 100000) AS i) AS s;} . "\n";
$victim->{run}->pump_nb();
ok($node->poll_query_until('postgres', "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $pid"), 'a statement that has written half of its rows');
is(kill_backend($node, $pid), 1, 'a server process is killed, and all others restart');
eval { $victim->quit };
is(state_of($node, 'postgres'), '0|t|t', 'nothing is missing then, nor too much');
is($node->safe_psql('postgres', q{SELECT count(*) FROM members WHERE id > 40000}), '0', 'of what was not committed');
$node->stop('immediate');
$node->start;
is(sqlstate($node, 'postgres', q{SELECT cuckoo_follow_contains('quick_k_filter', 1)}), '55000', 'after a crash the filter of an unlogged table has to be rebuilt');
is($node->safe_psql('postgres', q{INSERT INTO quick VALUES (2); SELECT cuckoo_follow_rebuild('quick_k_filter'); SELECT cuckoo_follow_contains('quick_k_filter', 2), cuckoo_follow_contains('quick_k_filter', 1); DROP TABLE quick, quick_k_filter}), "\nt|f", 'and is then correct');

# ---------------------------------------------------------- Dump and restore
$node->safe_psql('postgres', q{INSERT INTO members SELECT i, 'in the log ' || i FROM generate_series(10001, 10100) AS i; DELETE FROM members WHERE id BETWEEN 10 AND 20});
my $folder = $node->basedir;
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-Fd', '-j2', '-f', "$folder/directory", '--no-publications', '--no-subscriptions' ], 'pg_dump, in parallel');
$node->safe_psql('postgres', 'CREATE DATABASE parallel');
$node->safe_psql('postgres', 'CREATE DATABASE data');
$node->command_ok([ 'pg_restore', '-j2', '-d', $node->connstr('parallel'), "$folder/directory" ], 'restored in parallel');
is(state_of($node, 'parallel'), '0|t|f', 'a dump restores filter, log and triggers');
is(sqlstate($node, 'parallel', $_), '55000', "but a rebuild is needed: $_") foreach $looked_up, q{SELECT cuckoo_follow_filter('members_email_filter')};
like(($node->psql('parallel', $looked_up))[2], qr/filter table "members_email_filter" has to be rebuilt/, '... which the error says');
$node->safe_psql('parallel', q{INSERT INTO members VALUES (20000, 'restored'); DELETE FROM members WHERE id = 30; SELECT cuckoo_follow_fold('members_email_filter')});
is(state_of($node, 'parallel'), '0|t|f', 'changes are logged, and can be folded');

# A rebuild then lets writers go on, and snapshots from before it know nothing
# of it.
$node->safe_psql('parallel', 'CREATE TABLE restored AS SELECT id FROM members LIMIT 0');
my $stale = $node->background_psql('parallel', on_error_stop => 0);
$stale->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM restored');
my $rebuilder = $node->background_psql('parallel');
$rebuilder->query_safe(q{BEGIN; SELECT cuckoo_follow_rebuild('members_email_filter')});
is(sqlstate($node, 'parallel', q{SET lock_timeout = '60s'; INSERT INTO members VALUES (20002, 'beside')}), '', 'writers do not wait for a rebuild');
$rebuilder->query_safe('COMMIT');
$rebuilder->quit;
unlike($stale->query($looked_up) // '', qr/^[tf]$/m, 'an older snapshot does not trust the rebuilt filter');
like($stale->{stderr}, qr/was built or repaired after the snapshot was taken/, '... and says so');
$stale->quit;
is($node->safe_psql('parallel', <<~'SQL'), "\nt\nt|f", 'rebuilt');
	SELECT format('SELECT cuckoo_follow_rebuild(%L)', filter_table) FROM cuckoo_follow_list() \gexec
	INSERT INTO members VALUES (20001, 'rebuilt');
	SELECT cuckoo_follow_fold('members_email_filter') > 0;
	SELECT cuckoo_follow_contains('members_email_filter', 'restored') AND cuckoo_follow_contains('members_email_filter', 'rebuilt'), cuckoo_follow_contains('members_email_filter', 'again 30');
	SQL
is(state_of($node, 'parallel'), '0|t|t', 'folded');

# A restore puts rows into other partitions, by the OIDs of an enum.
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(parts parts_restored);
$node->safe_psql('parts', <<~'SQL');
	CREATE EXTENSION cuckoo_follow CASCADE;
	CREATE TYPE region AS ENUM ('africa', 'america', 'asia', 'europe', 'oceania');
	CREATE TABLE parts (r region, k text) PARTITION BY HASH (r);
	CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT (enum_range(NULL::region))[1 + i % 5], i FROM generate_series(1, 1000) AS i;
	SELECT cuckoo_follow('part0', 'k'), cuckoo_follow('part1', 'k');
	SQL
my $parts = 'SELECT count(*) FROM parts WHERE NOT cuckoo_follow_contains(CASE tableoid::regclass::text WHEN $$part0$$ THEN $$part0_k_filter$$ ELSE $$part1_k_filter$$ END, k)';
is($node->safe_psql('parts', $parts), '0', 'partitions');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('parts'), '-f', "$folder/parts" ], 'dumped');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('parts_restored'), '-f', "$folder/parts" ], 'restored');
is(sqlstate($node, 'parts_restored', $parts), '55000', 'rows may be in another partition than their keys');
is($node->safe_psql('parts_restored', "SELECT cuckoo_follow_rebuild(filter_table) FROM cuckoo_follow_list(); $parts"), "\n\n0", '... until the filters are rebuilt');

$node->command_ok([ 'pg_restore', '--schema-only', '-d', $node->connstr('data'), "$folder/directory" ], 'the schema alone');
$node->command_ok([ 'pg_restore', '--data-only', '--disable-triggers', '-d', $node->connstr('data'), "$folder/directory" ], 'then the data, with triggers disabled');
is(state_of($node, 'data'), '0|t|f', 'leaves triggers that do not fire always');
is(sqlstate($node, 'data', $looked_up), '55000', 'so lookups require a rebuild');
$node->safe_psql('data', q{SET session_replication_role = replica; INSERT INTO members VALUES (30000, 'applied unseen')});
is(sqlstate($node, 'data', q{SELECT cuckoo_follow_fold('members_email_filter')}), '55000', 'and so does a fold');
$node->safe_psql('data', q{SELECT cuckoo_follow_rebuild('members_email_filter')});
is(state_of($node, 'data'), '0|t|t', 'which puts everything in order');
$node->safe_psql('data', q{SET session_replication_role = replica; INSERT INTO members VALUES (30001, 'applied and seen')});
is($node->safe_psql('data', q{SELECT cuckoo_follow_contains('members_email_filter', 'applied unseen'), cuckoo_follow_contains('members_email_filter', 'applied and seen')}), 't|t', 'also for applied changes');

is($node->safe_psql($_, q{DROP TABLE members; SELECT to_regclass('members_email_filter') IS NULL}), 't', 'rebuilt, the filter table goes with the followed table') foreach qw(parallel data);

# What a session remembers of a transaction, 2^31 transactions later.  VACUUM has
# frozen the rows of the catalog, and no later transaction writes.
my $worn = new_server('worn', conf => "autovacuum = off\n");
$worn->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_follow CASCADE;
	CREATE FUNCTION next_xid(xid8) RETURNS xid8 LANGUAGE c STRICT AS '$libdir/cuckoo_test';
	CREATE FUNCTION completed_xid(xid8) RETURNS void LANGUAGE c STRICT AS '$libdir/cuckoo_test';
	CREATE TABLE members AS SELECT 'old'::text AS email; SELECT cuckoo_follow('members', 'email');
	VACUUM (FREEZE);
	ALTER TABLE members_email_filter DISABLE TRIGGER cuckoo_follow_write;
	ALTER TABLE members_email_filter ENABLE ALWAYS TRIGGER cuckoo_follow_write;
	SQL
my $session = $worn->background_psql('postgres');
my $remembered = q{SELECT cuckoo_follow_contains('members_email_filter', 'old')};
is($session->query_safe($remembered), 't', 'a lookup remembers who made the triggers');
$worn->safe_psql('postgres', 'VACUUM (FREEZE) pg_trigger');
$worn->safe_psql('postgres', <<~'SQL');
	SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 2147483648)::text AS later \gset
	SELECT next_xid((:later + 1)::text::xid8), completed_xid(:'later');
	SQL
is($session->query_safe($remembered), 't', 'and is right when that counts as later');
$session->quit;
$worn->stop('immediate');

my @unexpected = grep { /PANIC|TRAP|signal (?!9:)/ } split /\n/, slurp_file($node->logfile);
is("@unexpected", '', 'no crash except ours');
$node->stop;
done_testing();
