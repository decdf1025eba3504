# A standby whose snapshots the primary does not know, beside rows that are rewritten all
# the time: each query gets its row, or is cancelled, but never finds nothing.
#
# Each key has one row in any snapshot.  On the primary its entries are removed by lookups,
# additions and VACUUM, while the table grows.
#
# CUCKOO_TEST_SECONDS sets how long, 6 by default.

use CuckooTest;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 6;
my $primary = new_server('primary', replication => 1, conf => "autovacuum = off\nwal_consistency_checking = 'generic'\n");
my $unique = $primary->pg_version < 18 ? 'ALTER TABLE t ADD EXCLUDE USING cuckoo (u WITH =)' : 'CREATE UNIQUE INDEX t_u ON t USING cuckoo (u)';
$primary->safe_psql('postgres', <<~SQL);
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE t (k text, u text, n integer, filling text);
	CREATE INDEX t_k ON t USING cuckoo (k);
	CREATE INDEX t_e ON t USING cuckoo (lower(k)) WHERE n >= 0;
	$unique;
	CREATE INDEX ON t (n);
	CREATE TABLE keys AS SELECT 'hot ' || i AS k FROM generate_series(1, 20) AS i;
	INSERT INTO t SELECT k, k, 0, '' FROM keys;
	-- By one snapshot, for a while
	CREATE FUNCTION look(rounds integer) RETURNS text STABLE LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN 1 .. rounds LOOP
			IF EXISTS (SELECT FROM keys WHERE (SELECT count(*) FROM t WHERE t.k = keys.k) <> 1) THEN RETURN 'wrong by k'; END IF;
			IF EXISTS (SELECT FROM keys WHERE (SELECT count(*) FROM t WHERE t.u = keys.k) <> 1) THEN RETURN 'wrong by u'; END IF;
			IF EXISTS (SELECT FROM keys WHERE (SELECT count(*) FROM t WHERE n >= 0 AND lower(t.k) = keys.k) <> 1) THEN RETURN 'wrong by expression'; END IF;
			PERFORM pg_sleep(0.01);
		END LOOP;
		RETURN 'answered';
	END \$\$;
	SQL
my $standby = new_standby($primary);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = off\nmax_standby_streaming_delay = 500ms\njit = off\nenable_seqscan = off\nenable_hashjoin = off\nenable_mergejoin = off\n");
$standby->restart;

# Waits until the standby has what the primary has logged, also for a lookup, after which
# no commit writes it.
sub catch_up
{
	$primary->safe_psql('postgres', 'CHECKPOINT');
	$primary->wait_for_catchup($standby);
	return;
}

# ------------------------------------------------------- Dead, and pruned later
# Lookups find that all rows of a key are dead.  As long as their pages are not pruned,
# which have room, and so are not by lookups, the standby's snapshot still shows them.
$primary->safe_psql('postgres', <<~'SQL');
	CREATE TABLE d (k text, u integer, filling text) WITH (fillfactor = 50);
	CREATE INDEX d_k ON d USING cuckoo (k);
	-- Of each page, four rows of one key and two of another one
	INSERT INTO d SELECT CASE WHEN i % 6 < 4 THEN 'joined' ELSE 'exact' END, i, repeat('x', 560) FROM generate_series(0, 47) AS i;
	ALTER TABLE d SET (fillfactor = 100);
	SQL
my $of_keys = q{SELECT count(*) FROM d WHERE k = 'joined'; SELECT count(*) FROM d WHERE k = 'exact'};
my $look = "SET enable_seqscan = off; " . "$of_keys; " x 16;
my $entries = q{SELECT entries, joined_entries FROM cuckoo_index_info('d_k')};
my $before = $primary->safe_psql('postgres', $entries);
catch_up();
my $old = $standby->background_psql('postgres', on_error_stop => 0);
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM keys LIMIT 1');
$primary->safe_psql('postgres', $_) foreach 'DELETE FROM d', $look;
is($primary->safe_psql('postgres', $entries), $before, 'entries of rows that are dead, but not pruned, stay');
catch_up();
is($old->query($of_keys), "32\n16", '... so that an older snapshot of a standby has them');
$primary->safe_psql('postgres', $_) foreach 'VACUUM (INDEX_CLEANUP off, TRUNCATE off) d', $look;
is($primary->safe_psql('postgres', $entries), '0|0', 'those of rows that are pruned go');
catch_up();
like(slurp_file($standby->logfile), qr/terminating connection due to conflict with recovery/, '... and the snapshot before them');
eval { $old->quit };

# ----------------------------------------------------------------- Many sessions
# Runs statements of a file again and again; returns what stops that.
my @running;
sub again
{
	my ($node, $name, $sql) = @_;
	my $file = $node->basedir . "/$name";

	append_to_file("$file.sql", $sql x (200 * $seconds));
	push @running, { node => $node, out => "$file.out", err => "$file.err",
		run => IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate', '-f', "$file.sql" ], '<', '/dev/null', '>', "$file.out", '2>', "$file.err") };
	return;
}

foreach my $session (1 .. 3)
{
	again($primary, "writer$session", <<~SQL);
		UPDATE t SET n = n + 1 WHERE k = 'hot ' || (1 + random() * 19)::integer;
		UPDATE t SET n = n + 1 WHERE u = 'hot ' || (1 + (random() * random() * 19)::integer);
		INSERT INTO t SELECT 'cold', $session || ' ' || i || random(), -1, repeat('x', 200) FROM generate_series(1, 5) AS i;
		INSERT INTO t SELECT k, k, 0, '' FROM keys OFFSET 7 LIMIT 1 ON CONFLICT DO NOTHING;
		SQL
}
again($primary, 'vacuum', q{DELETE FROM t WHERE k = 'cold' AND random() < 0.5; VACUUM (TRUNCATE off) t; SELECT pg_sleep(0.1) \g /dev/null} . "\n");
again($standby, "reader$_", "SELECT look(" . (3 ** $_) . ");\n") foreach 1 .. 4;
# Long snapshots of the primary would leave nothing to cancel.
again($primary, 'reader', "SELECT look(3);\nSELECT pg_sleep(0.3) \\g /dev/null\n");
my $began = time;
sleep(0.1) while time < $began + $seconds;
# psql ends when its connection does.
$_->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}) foreach $primary, $standby;
$_->{run}->finish foreach @running;

my %answers;
my %errors;
foreach my $session (@running)
{
	$answers{ $session->{node}->name . ": $_" }++ foreach split /\n/, slurp_file($session->{out});
	$errors{$session->{node}->name}{$_}++ foreach slurp_file($session->{err}) =~ /ERROR:  (\w{5})/g;
}
delete @{ $errors{$_} }{qw(25P02 57P01)} foreach qw(primary standby);
is(join(' ', grep { !/: answered$/ } sort keys %answers), '', 'no query misses its row');
cmp_ok($answers{'standby: answered'}, '>', 50, 'queries were answered');
is(join(' ', grep { $_ ne '40001' } sort keys %{ $errors{standby} }), '', '... or cancelled');
ok($errors{standby}{40001}, 'the primary has removed what snapshots of the standby show');
is(join(' ', grep { $_ ne '40P01' } sort keys %{ $errors{primary} }), '', 'nothing fails on the primary');
$primary->wait_for_catchup($standby);
is($primary->safe_psql('postgres', q{SELECT sum(cuckoo_index_check(indexrelid)) FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 't'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'cuckoo')}), '0', 'the indexes find all rows');
note("note: standby: $answers{'standby: answered'} queries answered, ", $errors{standby}{40001} // 0, ' cancelled');
$standby->stop;
$primary->stop;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|inconsistent page/, 'replay makes the same pages: ' . $_->name) foreach $primary, $standby;
done_testing();
