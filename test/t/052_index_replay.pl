# A standby can be asked when replay has just come to any record.  Whenever the metapage
# of an index names new pages, they are there, so all lookups can be answered.

use CuckooTest;

my $primary = new_server('primary', replication => 1, conf => "autovacuum = off\n");
$primary->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE t (k integer);
	CREATE INDEX i ON t USING cuckoo (k);
	INSERT INTO t SELECT generate_series(1, 500);
	SQL
$primary->backup('before');
my $start = $primary->lsn('insert');
$primary->safe_psql('postgres', 'INSERT INTO t SELECT generate_series(1000, 20000)');
my $end = $primary->lsn('flush');
my ($file) = $primary->safe_psql('postgres', q{SELECT pg_relation_filepath('i')}) =~ /(\d+)$/;

# The records that change nothing but the metapage begin a piece of a region.
my ($records) = run_command([ 'pg_waldump', '--rmgr=Generic', '--path=' . $primary->data_dir . '/pg_wal', "--start=$start", "--end=$end" ]);
my @targets = map { m{lsn: (\S+),.*blkref #0: rel \d+/\d+/$file (?:fork main )?blk 0\b} && !/blkref #1/ ? $1 : () } split /\n/, $records;
cmp_ok(scalar(@targets), '>', 10, 'the index has grown by pieces');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'before', has_streaming => 1);
$standby->append_conf('postgresql.conf', "recovery_target_action = pause\nenable_seqscan = off\n");
# At the last ones lookups begin with the pages that splits make.
foreach my $target (@targets[ -4 .. -1 ])
{
	$standby->append_conf('postgresql.conf', "recovery_target_lsn = '$target'");
	$standby->start;
	$standby->poll_query_until('postgres', q{SELECT pg_get_wal_replay_pause_state() = 'paused'}) or die 'replay does not end';
	is(sqlstate($standby, 'postgres', <<~'SQL'), '500|t', 'lookups find all rows, and all pages are read');
		SELECT count(*), bool_and(entries >= 500) FROM generate_series(1, 20000) AS n, LATERAL (SELECT FROM t WHERE k = n OFFSET 0) AS t, (SELECT * FROM cuckoo_index_info('i')) AS i
		SQL
	$standby->stop;
}
$primary->stop;
done_testing();
