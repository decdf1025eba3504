# Exclusion constraints, and from 18 on unique indexes, where SQL alone does not reach:
# sessions on the same keys while processes are killed, prepared transactions, memory, and
# partitions.
#
# CUCKOO_TEST_SECONDS sets how long sessions are killed, 5 by default, and
# CUCKOO_TEST_SEED repeats the choices, but not their timing.

use CuckooTest;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 5;
my $seed = $ENV{CUCKOO_TEST_SEED} || int(time);
my $node = new_server('unique', conf => <<~'CONF');
	autovacuum = off
	deadlock_timeout = 100ms
	max_prepared_transactions = 10
	restart_after_crash = on
	shared_buffers = 16MB
	CONF
my $folder = $node->basedir;

sub pick { return $_[rand @_]; }

# --------------------------------------------------------- Eight sessions, kill -9
# Keys are of the last moments, so that sessions always meet.  The other index makes
# VACUUM remove what updates leave behind.
$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE pages (tenant integer, url text, n integer, EXCLUDE USING cuckoo (tenant WITH =, url WITH =));
	CREATE INDEX ON pages (n);
	CREATE TABLE counted (tenant integer, url text, n integer);
	CREATE INDEX ON counted (n);
	CREATE FUNCTION keys(count integer) RETURNS TABLE (tenant integer, url text) VOLATILE LANGUAGE sql AS $$
		SELECT DISTINCT k % 3, 'https://example.com/' || k
		FROM (SELECT (extract(epoch FROM clock_timestamp()) * 200 + random() * 200)::bigint % 1000000000 FROM generate_series(1, count)) AS r(k) ORDER BY 1, 2
	$$;
	SQL

# Counts, with some hot keys
my @kinds = $node->pg_version < 18 ? 'constraint' : ('constraint', 'unique');
$node->safe_psql('postgres', 'CREATE UNIQUE INDEX counted_key ON counted USING cuckoo (tenant, url)') if @kinds > 1;

sub upserts
{
	my $count = 'ON CONFLICT (tenant, url) DO UPDATE SET n = counted.n + 1';

	return map { pick(
		("INSERT INTO counted SELECT tenant, url, 1 FROM keys(20) $count RETURNING 'row', tenant, url;") x 2,
		("INSERT INTO counted VALUES (0, 'hot ' || (random() * 5)::integer, 1) $count RETURNING 'row', tenant, url;") x 4,
		"INSERT INTO counted SELECT tenant, url, 0 FROM keys(1);",
		"BEGIN; SAVEPOINT s; INSERT INTO counted SELECT tenant, url, 0 FROM keys(5) $count; ROLLBACK TO s; INSERT INTO counted SELECT tenant, url, 0 FROM keys(5) ON CONFLICT DO NOTHING; COMMIT;") } 1 .. 4000;
}

# Statements of which a session runs as many as it can.  What RETURNING prints is
# committed: each statement is a transaction of its own.
sub statements
{
	my $insert = 'INSERT INTO pages SELECT tenant, url, 0 FROM keys';

	return map { pick(
		("$insert(20) ON CONFLICT DO NOTHING RETURNING 'row', tenant, url;") x 3,
		("$insert(1) RETURNING 'row', tenant, url;") x 2,
		"BEGIN; $insert(20) ON CONFLICT DO NOTHING; ROLLBACK;",
		"BEGIN ISOLATION LEVEL REPEATABLE READ; $insert(5) ON CONFLICT DO NOTHING; COMMIT;",
		'UPDATE pages SET n = n + 1 FROM keys(20) AS k WHERE pages.tenant = k.tenant AND pages.url = k.url;') } 1 .. 4000;
}

# Kills the server or one of its processes, and waits until it is ready again.
sub kill_something
{
	my $pid = rand() < 0.6 && $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE query ~ 'pages' OR backend_type = 'checkpointer' ORDER BY random() LIMIT 1});

	return kill_backend($node, $pid) if $pid;
	# Processes that are left of the server keep another from starting.
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$node->kill9;
		sleep(0.1);
		return 1 if $node->start(fail_ok => 1);
	}
	die 'the server does not start';
}

srand($seed);
note("seed $seed");
my $began = time;
my (%committed, %errors);
my $kills = 0;
for (; time < $began + $seconds || $kills < 3 * @kinds; $kills++)
{
	my $kind = $kinds[ $kills % @kinds ];
	my @others = ($kind eq 'unique' ? 'VACUUM counted; REINDEX INDEX CONCURRENTLY counted_key;' : 'VACUUM pages;', 'SELECT pg_sleep(0.05) \g /dev/null');
	my @sessions = map { { name => "$folder/session$_", sql => [ !$_ ? (@others) x 1000 : $kind eq 'unique' ? upserts() : statements() ] } } 0 .. 8;

	foreach my $session (@sessions)
	{
		unlink "$session->{name}.sql";
		append_to_file("$session->{name}.sql", join "\n", @{ $session->{sql} }, '');
		$session->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate', '-f', "$session->{name}.sql" ],
			'<', '/dev/null', '>', "$session->{name}.out", '2>', "$session->{name}.err");
	}
	sleep(0.5 + rand(1));
	kill_something();
	foreach my $session (@sessions)
	{
		$session->{run}->finish;
		$committed{$kind}{$_}++ foreach grep { s/^row\|// } split /\n/, slurp_file("$session->{name}.out");
		$errors{$kind}{$_}++ foreach slurp_file("$session->{name}.err") =~ /(?:ERROR|FATAL|PANIC|WARNING):  (\w{5})/g;
	}
}
# Two plain insertions can wait for each other only with a constraint.
my %expected = (constraint => qr/^(?:23P01|40001|40P01|57P0\d)$/, unique => qr/^(?:23505|57P0\d)$/);
foreach my $kind (@kinds)
{
	is(join(' ', grep { !/$expected{$kind}/ } sort keys %{ $errors{$kind} }), '', "$kind: no unexpected error");
	ok((grep { /^23/ } keys %{ $errors{$kind} }), "$kind: sessions met") or diag(explain(\%errors));
	append_to_file("$folder/$kind", join '', map { "$_|$committed{$kind}{$_}\n" } keys %{ $committed{$kind} });
	note("note: $kind, seed $seed: $kills kills, ", scalar(keys %{ $committed{$kind} }), ' keys, errors ', join ', ', map { "$_ $errors{$kind}{$_}" } sort keys %{ $errors{$kind} });
	my ($table, $index, $least) = $kind eq 'unique' ? ('counted', 'counted_key', 'acknowledged') : ('pages', 'pages_tenant_url_excl', '0');

	is($node->safe_psql('postgres', <<~SQL), "0\n0\n0", "$kind, seed $seed, $kills kills: nothing committed is lost, no key is twice, the index finds all");
		CREATE TEMPORARY TABLE committed (tenant integer, url text, acknowledged integer);
		COPY committed FROM '$folder/$kind' WITH (DELIMITER '|');
		SELECT count(*) FROM committed AS c WHERE NOT EXISTS (SELECT FROM $table AS t WHERE t.tenant = c.tenant AND t.url = c.url AND n >= $least);
		SELECT count(*) FROM (SELECT FROM $table GROUP BY tenant, url HAVING count(*) > 1) AS twice;
		SELECT cuckoo_index_check('$index');
		SQL
}
is(join(' ', grep { $committed{constraint}{$_} > 1 } keys %{ $committed{constraint} }), '', 'none was reported twice');

# ------------------------------------------------------- Prepared transactions
foreach my $table (@kinds > 1 ? qw(pages counted) : 'pages')
{
	my ($kept, $undone) = map { "INSERT INTO $table VALUES (1, '$_')" } qw(kept undone);

	$node->safe_psql('postgres', "BEGIN; $kept; PREPARE TRANSACTION 'kept'; BEGIN; $undone; PREPARE TRANSACTION 'undone'");
	$node->stop('immediate');
	$node->start;
	is(sqlstate($node, 'postgres', "SET lock_timeout = '100ms'; $_"), '55P03', "waits for a prepared transaction after a crash: $_")
	  foreach $kept, $undone, "$kept ON CONFLICT DO NOTHING";
	$node->safe_psql('postgres', $_) foreach q{COMMIT PREPARED 'kept'}, q{ROLLBACK PREPARED 'undone'};
	is(sqlstate($node, 'postgres', $kept), $table eq 'pages' ? '23P01' : '23505', "a conflict when it is committed: $table");
	is(sqlstate($node, 'postgres', $undone), '', "none when it is rolled back: $table");
}

# --------------------------------------------------------------------- Memory
# Each row has a scan of its own.
$node->safe_psql('postgres', <<~'SQL');
	CREATE TABLE checked (a integer, b text, EXCLUDE USING cuckoo (a WITH =, b WITH =) WHERE (a > 0));
	CREATE TABLE unchecked (a integer, b text);
	CREATE INDEX ON unchecked USING cuckoo (a, b) WHERE a > 0;
	SQL
my ($checked, $unchecked) = map { (measure($node, "INSERT INTO $_ SELECT i, i FROM generate_series(1, 200000) AS i"))[1] } qw(checked unchecked);
cmp_ok($checked, '<=', $unchecked + 2, 'memory of an INSERT does not depend on the number of rows that a constraint checks');

# ----------------------------------------------------------------- Partitions
my $create = 'CREATE TABLE parts (tenant integer, url text, EXCLUDE USING cuckoo (tenant WITH =, url WITH =)) PARTITION BY LIST (tenant)';
if ($node->pg_version < 17)
{
	is(sqlstate($node, 'postgres', $create), '0A000', 'no constraint on a partitioned table before 17');
}
else
{
	$node->safe_psql('postgres', <<~SQL);
		$create;
		CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
		CREATE TABLE parts_2 (tenant integer, url text);
		INSERT INTO parts_2 VALUES (2, 'a'), (2, 'a');
		INSERT INTO parts VALUES (1, 'a');
		SQL
	is(sqlstate($node, 'postgres', 'ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2)'), '23P01', 'a partition with a key twice is not attached');
	$node->safe_psql('postgres', q{DELETE FROM parts_2 WHERE ctid = '(0,1)'; ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2)});
	is(sqlstate($node, 'postgres', $_->[0]), $_->[1], "partitions: $_->[0]")
	  foreach [ q{INSERT INTO parts VALUES (2, 'a')}, '23P01' ], [ q{INSERT INTO parts VALUES (1, 'b'), (2, 'a'), (2, 'b') ON CONFLICT DO NOTHING RETURNING tenant, url}, "1|b\n2|b" ],
	  [ 'UPDATE parts SET tenant = 3 - tenant WHERE tenant = 1', '23P01' ], [ q{UPDATE parts SET tenant = 2, url = 'c' WHERE tenant = 1 AND url = 'a' RETURNING tenant}, '2' ],
	  [ q{INSERT INTO parts VALUES (2, 'c')}, '23P01' ], [ 'ALTER TABLE parts ADD EXCLUDE USING cuckoo (url WITH =)', '0A000' ];
}
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal (?!9:)/, 'no crash except ours');
done_testing();
