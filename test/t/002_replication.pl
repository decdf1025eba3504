# Filters survive what happens to servers: logical replication in text and
# binary form, physical replication, crashes in the middle of updates.  Each is
# tested with filters of every representation and size: empty, sparse, dense and
# mixed, inline, toasted, of 1 MB, and of 100 MB if CUCKOO_TEST_LARGE is set.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use IPC::Run;
use PostgreSQL::Test::Utils;

# The standby starts late, from a backup made early, so the WAL has to be kept.
my $wal = large() ? '16GB' : '2GB';
my $primary = new_server('primary', replication => 1, conf => "wal_level = logical\nwal_keep_size = $wal\nmax_wal_senders = 10\nmax_replication_slots = 10\nmax_connections = 30\n");

create_samples($primary, large => large());
$primary->safe_psql('postgres', <<~SQL);
	CREATE TABLE changing (id integer PRIMARY KEY, note text, f cuckoofilter);
	INSERT INTO changing VALUES (1, 'unknown capacity', cuckoo_new()), (2, 'grows', cuckoo_new(1000, 0.01)),
		(3, 'toasted', cuckoo_add_all(cuckoo_new(100000, 0.001), ARRAY(SELECT -i FROM generate_series(1, 50000) AS i))),
		(4, '1 MB', (SELECT cuckoo_agg(-i, 700000, 0.001) FROM generate_series(1, 650000) AS i));
	INSERT INTO changing SELECT 5, name, f FROM samples WHERE name = '100 MB';
	-- Many, so that they stay inline however many keys are added to them.
	INSERT INTO changing SELECT 100 + i, 'one of many inline', cuckoo_new(1000, 0.01) FROM generate_series(0, 99) AS i;
	-- Its rows are found by all their columns, the filter among them.
	CREATE TABLE keyless (note text, f cuckoofilter);
	ALTER TABLE keyless REPLICA IDENTITY FULL;
	INSERT INTO keyless SELECT name, f FROM samples;
	CREATE PUBLICATION filters FOR TABLE samples, changing, keyless;
	SQL
$primary->backup('backup');

# ------------------------------------------------------- Logical replication
my $subscriber = new_server('subscriber');
my %subscription = (in_text => '', in_binary => ', binary = true');
foreach my $form (sort keys %subscription)
{
	my $publisher = $primary->connstr . ' dbname=postgres';

	$subscriber->safe_psql('postgres', "CREATE DATABASE $form");
	$subscriber->safe_psql($form, <<~SQL);
		CREATE EXTENSION cuckoo;
		CREATE TABLE samples (name text PRIMARY KEY, f cuckoofilter);
		CREATE TABLE changing (id integer PRIMARY KEY, note text, f cuckoofilter);
		CREATE TABLE keyless (note text, f cuckoofilter);
		ALTER TABLE keyless REPLICA IDENTITY FULL;
		CREATE SUBSCRIPTION $form CONNECTION '$publisher' PUBLICATION filters WITH (copy_data$subscription{$form});
		SQL
}
$subscriber->wait_for_subscription_sync($primary, $_, $_) for sort keys %subscription;

# Everything that is published, as a database has it
sub published
{
	my ($node, $database) = @_;

	return join "\n", digests($node, $database, 'samples'),
	  digests($node, $database, "(SELECT id || ' ' || note, f FROM changing) AS s (name, f)"),
	  digests($node, $database, '(SELECT note, f FROM keyless) AS s (name, f)');
}

# Digests show neither the representation nor how the value is stored.
sub is_replicated
{
	my ($what) = @_;
	my $expected = published($primary, 'postgres');

	foreach my $form (sort keys %subscription)
	{
		$primary->wait_for_catchup($form);
		is(published($subscriber, $form), $expected, "$what, " . ($form =~ s{_}{ }r));
	}
	return;
}

is_replicated('the initial copy');

$primary->safe_psql('postgres', q{INSERT INTO samples SELECT 'again ' || name, f FROM samples});
is_replicated('INSERT');

$primary->safe_psql('postgres', <<~SQL);
	UPDATE changing SET f = f + 1;
	UPDATE changing SET f = cuckoo_add_all(f, ARRAY(SELECT generate_series(1, 500)));
	UPDATE changing SET f = f - 1 WHERE id = 2;
	UPDATE samples SET f = cuckoo_from_array(ARRAY['a', 'b']) WHERE name = 'null';
	UPDATE samples SET f = NULL WHERE name = 'sparse, 77 bytes';
	SQL
is_replicated('UPDATE');

# A toasted value that has not changed is not sent again.
$primary->safe_psql('postgres', q{UPDATE changing SET note = note || ', noted'});
is_replicated('UPDATE of another column');

$primary->safe_psql('postgres', <<~SQL);
	UPDATE keyless SET f = f + NULL::text, note = note || '!' WHERE note LIKE 'sparse%';
	UPDATE keyless SET f = cuckoo_from_array(ARRAY[note]) WHERE note LIKE 'words';
	UPDATE keyless SET note = note || '!' WHERE note LIKE '%MB';
	DELETE FROM keyless WHERE note LIKE 'dense%' OR note IN ('grown', '1 MB!', 'sparse, 66 kB!');
	DELETE FROM samples WHERE name LIKE 'again%';
	SQL
is_replicated('UPDATE and DELETE of rows that are found by their filter');

is($subscriber->safe_psql($_, <<~SQL), 't|t|t|t', "what was replicated answers, $_") for sort keys %subscription;
	SELECT (SELECT f @> ALL (ARRAY(SELECT generate_series(1, 670000))) FROM samples WHERE name = '1 MB'),
		(SELECT f @> ALL (ARRAY(SELECT generate_series(-50000, 500) EXCEPT SELECT 0)) FROM changing WHERE id = 3),
		(SELECT NOT f @> 501 AND cuckoo_cardinality(f) = 501 FROM changing WHERE id = 1),
		(SELECT bool_and(f @> ALL (ARRAY(SELECT generate_series(1, 500)))) FROM changing WHERE id >= 4);
	SQL
$subscriber->safe_psql($_, "DROP SUBSCRIPTION $_") for sort keys %subscription;
$subscriber->stop;

# ------------------------------------------------------ Physical replication
my $standby = new_standby($primary, 'backup');
$primary->wait_for_catchup($standby);

is(published($standby, 'postgres'), published($primary, 'postgres'), 'the standby has the same filters');
my $questions = <<~SQL;
	SELECT name, (SELECT count(*) FROM generate_series(1, 2000) AS i WHERE f @> i)
	FROM samples WHERE name ~ '^(sparse|dense|grown|mixed|sixteen|with|1)' ORDER BY name COLLATE "C";
	SELECT id, f @> ALL (ARRAY(SELECT generate_series(1, 500))), cuckoo_contains_each(f, ARRAY[1, 501, -50000, -60000]) FROM changing ORDER BY id;
	SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 1000) AS i;
	SQL
is($standby->safe_psql('postgres', $questions), $primary->safe_psql('postgres', $questions), 'the standby gives the same answers');

# ------------------------------------------------------------------- Crashes

# A client that runs statements, one per transaction, until its server ends.  In
# each, KEY is another number.  The output shows which ones it knows to be
# committed.  It is a file, because nobody reads from a pipe before the crash.
my @outputs;
sub start_client
{
	my ($statements, $key) = @_;

	push @outputs, PostgreSQL::Test::Utils::tempdir . '/output';
	return IPC::Run::start(
		[ $^X, '-e', 'for (my $key = $ARGV[1]; print $ARGV[0] =~ s/KEY/$key/gr; $key++) {}', $statements, $key ], '2>', '/dev/null',
		'|', [ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $primary->connstr('postgres') ],
		'>', $outputs[-1], '2>', '/dev/null', IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
}

# Adds numbers to the filter of one row, or to those of a hundred rows in turn.
# Each client has numbers of its own.
sub start_adding
{
	my ($number, $first_id, $round) = @_;
	my $id = $first_id < 100 ? $first_id : "$first_id + KEY % 100";

	return start_client("UPDATE changing SET f = f + KEY WHERE id = $id RETURNING 'added', id, KEY;\n",
		10_000_000 * $round + 1_000_000 * $number);
}

# Copies all samples, over and over.
sub start_copying
{
	return start_client("BEGIN;\nDELETE FROM copies;\nINSERT INTO copies SELECT * FROM samples;\nCOMMIT;\n", 0);
}

# For each row, or hundred rows, that clients add to, and for the copies: a
# value that changes with every committed transaction.
sub versions
{
	return split /\n/, $primary->safe_psql('postgres', <<~SQL);
		SELECT CASE WHEN id < 100 THEN id ELSE 100 END, max(xmin::text::bigint) FROM changing GROUP BY 1 ORDER BY 1;
		SELECT 'copies', max(xmin::text::bigint) FROM copies;
		SQL
}

# After the postmaster was killed, its children notice that and end by
# themselves, but perhaps not at once.
sub start_again
{
	foreach (1 .. 100)
	{
		return if $primary->start(fail_ok => 1);
		$primary->stop('fast', fail_ok => 1);
		select undef, undef, undef, 0.1;
	}
	die 'the server does not start again';
}

$primary->safe_psql('postgres', 'CREATE TABLE copies (name text PRIMARY KEY, f cuckoofilter)');
$primary->safe_psql('postgres', 'VACUUM changing; CHECKPOINT');
my @rows_of_clients = (1, 1, 2, 2, 3, 3, 4, 100, large() ? 5 : ());
my $samples = digests($primary, 'postgres', 'samples');
my $items = $primary->safe_psql('postgres', 'SELECT sum(cuckoo_cardinality(f)) FROM changing');
foreach my $round (1, 2)
{
	my $way = $round == 1 ? 'kill -9' : 'immediate stop';
	my @clients = map { start_adding($_, $rows_of_clients[$_], $round) } 0 .. $#rows_of_clients;
	push @clients, start_copying();

	# Wait for hundreds of transactions, with a checkpoint among them, and then
	# for some with every size of filter: these are replayed.
	my (@before, @now);
	foreach my $part (1 .. 300)
	{
		select undef, undef, undef, 0.2;
		if ($part == 3)
		{
			$primary->safe_psql('postgres', 'CHECKPOINT');
			@before = versions();
		}
		next if $part < 6;
		@now = versions();
		last unless grep { $now[$_] eq $before[$_] } 0 .. $#before;
	}
	is((grep { $now[$_] eq $before[$_] } 0 .. $#before), 0, "$way after changes to filters of every size");
	$way eq 'kill -9' ? $primary->kill9 : $primary->stop('immediate');
	$_->finish for @clients;
	start_again();

	my @added = map { [ slurp_file($_) =~ /^added\|(\d+)\|(\d+)$/mg ] } @outputs;
	my @rows = map { my @pairs = @$_; map { "($pairs[2 * $_], $pairs[2 * $_ + 1])" } 0 .. @pairs / 2 - 1 } @added;
	cmp_ok(scalar @rows, '>', 50, "$way in the middle of updates: " . @rows . ' keys were added before');
	is($primary->safe_psql('postgres', <<~SQL), join("\n", map { "$_|0|t" } 1 .. (large() ? 5 : 4), 100), "after $way every committed key is found, and the filters are valid");
		CREATE TEMP TABLE added (id integer, key integer);
		INSERT INTO added VALUES @{[ join ', ', @rows ]};
		SELECT CASE WHEN id < 100 THEN id ELSE 100 END AS number,
			sum((SELECT count(*) FROM added AS a WHERE a.id = c.id AND NOT f @> key)), bool_and(f::bytea::cuckoofilter = f)
		FROM changing AS c GROUP BY number ORDER BY number;
		SQL
	is(digests($primary, 'postgres', 'copies'), $samples, "after $way the copies are what was copied");

	# At most the last transaction of each client was committed without its
	# knowledge.
	is($primary->safe_psql('postgres', <<~SQL), 't', "after $way nothing is there twice");
		SELECT sum(cuckoo_cardinality(f)) - $items BETWEEN @{[ scalar @rows ]} AND @{[ scalar(@rows) + @rows_of_clients * $round ]} FROM changing;
		SQL
}

is($primary->safe_psql('postgres', <<~SQL), 't|t|t', 'the filters are still inline and toasted');
	SELECT bool_and(pg_column_size(f) BETWEEN 500 AND 1500) FILTER (WHERE id >= 100),
		bool_and(pg_column_size(f) > 1000000) FILTER (WHERE id = 4),
		coalesce(bool_and(pg_column_size(f) > 100000000) FILTER (WHERE id = 5), @{[ large() ? 'false' : 'true' ]})
	FROM changing;
	SQL

# The standby has followed through all crashes, and can be promoted.
$primary->wait_for_catchup($standby);
is(published($standby, 'postgres'), published($primary, 'postgres'), 'the standby has followed through the crashes');
is(digests($standby, 'postgres', 'copies'), $samples, 'and has the copies');
$primary->stop;
$standby->promote;
is($standby->safe_psql('postgres', 'UPDATE changing SET f = f + 7777777; SELECT bool_and(f @> 7777777 AND f @> 1 AND f::bytea::cuckoofilter = f) FROM changing'),
	't', 'a promoted standby adds to the filters');
$standby->stop;
done_testing();
