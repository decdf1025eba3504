# Filters survive what happens to servers: logical replication in text and
# binary form, physical replication, crashes in the middle of updates.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use IPC::Run;
use PostgreSQL::Test::Utils;

my $primary = new_server('primary', replication => 1, conf => "wal_level = logical\nwal_keep_size = 2GB\nmax_wal_senders = 10\nmax_replication_slots = 10\n");

create_samples($primary);
$primary->safe_psql('postgres', <<~SQL);
	CREATE TABLE changing (id integer PRIMARY KEY, note text, f cuckoofilter);
	INSERT INTO changing VALUES (1, 'list', cuckoo_new()), (2, 'inline', cuckoo_new(0.01, 1000)),
		(3, 'toasted', cuckoo_add_all(cuckoo_new(0.001, 100000), ARRAY(SELECT -i FROM generate_series(1, 50000) AS i)));
	-- Its rows are found by all their columns, the filter among them.
	CREATE TABLE keyless (note text, f cuckoofilter);
	ALTER TABLE keyless REPLICA IDENTITY FULL;
	INSERT INTO keyless SELECT name, f FROM samples WHERE name NOT LIKE '%MB';
	CREATE PUBLICATION filters FOR TABLE samples, changing, keyless;
	SQL
$primary->backup('backup');

#
# Logical replication
#
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

# All that is published, as it looks in a database
sub published
{
	my ($node, $database) = @_;

	return join "\n", digests($node, $database, 'samples'),
	  digests($node, $database, "(SELECT id || ' ' || note, f FROM changing) AS s (name, f)"),
	  digests($node, $database, '(SELECT note, f FROM keyless) AS s (name, f)');
}

# Digests do not name the form of the value: list, inline, toasted alike.
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
	UPDATE samples SET f = NULL WHERE name = 'list, 60 bytes';
	SQL
is_replicated('UPDATE');

# A toasted value that has not changed is not sent again.
$primary->safe_psql('postgres', q{UPDATE changing SET note = note || ', noted'});
is_replicated('UPDATE of another column');

$primary->safe_psql('postgres', <<~SQL);
	UPDATE keyless SET f = f + NULL::text, note = note || '!' WHERE note LIKE 'list%';
	UPDATE keyless SET f = cuckoo_from_array(ARRAY[note]) WHERE note LIKE 'words';
	DELETE FROM keyless WHERE note LIKE '1 kB%' OR note = 'grown';
	DELETE FROM samples WHERE name LIKE 'again%';
	SQL
is_replicated('UPDATE and DELETE of rows that are found by their filter');

is($subscriber->safe_psql($_, <<~SQL), 't|t|t', "what was replicated answers, $_") for sort keys %subscription;
	SELECT (SELECT cuckoo_contains_all(f, ARRAY(SELECT generate_series(1, 670000))) FROM samples WHERE name = '1 MB'),
		(SELECT cuckoo_contains_all(f, ARRAY(SELECT generate_series(-50000, 500) EXCEPT SELECT 0)) FROM changing WHERE id = 3),
		(SELECT NOT f @> 501 AND cuckoo_cardinality(f) = 501 FROM changing WHERE id = 1);
	SQL
$subscriber->safe_psql($_, "DROP SUBSCRIPTION $_") for sort keys %subscription;
$subscriber->stop;

#
# Physical replication
#
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);

is(published($standby, 'postgres'), published($primary, 'postgres'), 'the standby has the same filters');
my $questions = <<~SQL;
	SELECT name, (SELECT count(*) FROM generate_series(1, 2000) AS i WHERE f @> i)
	FROM samples WHERE name ~ '^(list|grown|with|1)' ORDER BY name COLLATE "C";
	SELECT id, cuckoo_contains_all(f, ARRAY(SELECT generate_series(1, 500))), cuckoo_contains_each(f, ARRAY[1, 501, -50000, -60000]) FROM changing ORDER BY id;
	SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 1000) AS i;
	SQL
is($standby->safe_psql('postgres', $questions), $primary->safe_psql('postgres', $questions), 'the standby gives the same answers');

#
# Crashes
#

# Adds numbers, one a transaction, to the filters of one row, and says which
# were added.  Each client has numbers of its own.
my @outputs;
sub start_client
{
	my ($number, $id, $round) = @_;
	my $first = 1_000_000 * $round + 10_000 * $number;
	my $file = PostgreSQL::Test::Utils::tempdir . '/updates.sql';

	append_to_file($file, join '', map { my $key = $first + $_; "UPDATE changing SET f = f + $key WHERE id = $id;\n\\echo added $id $key\n" } 0 .. 9_999);
	push @outputs, '';
	return IPC::Run::start(
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, '-d', $primary->connstr('postgres') ],
		'>', \$outputs[-1], '2>', '/dev/null', IPC::Run::timeout(60));
}

# After a kill of the postmaster, its children notice and end by themselves,
# but need not have done so yet.
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

$primary->safe_psql('postgres', 'VACUUM changing; CHECKPOINT');
foreach my $round (1 .. 3)
{
	my $way = $round == 2 ? 'immediate stop' : 'kill -9';
	my @clients = map { start_client($_, $_ % 3 + 1, $round) } 1 .. 6;

	# Long enough for hundreds of transactions, with a checkpoint among them
	foreach my $part (1 .. 6)
	{
		select undef, undef, undef, 0.2;
		$primary->safe_psql('postgres', 'CHECKPOINT') if $part == 3;
	}
	if ($way eq 'kill -9')
	{
		$primary->kill9;
	}
	else
	{
		$primary->stop('immediate');
	}
	$_->finish for @clients;
	start_again();

	my @added = map { [/^added (\d) (\d+)$/mg] } @outputs;
	my @rows = map { my @pairs = @$_; map { "($pairs[2 * $_], $pairs[2 * $_ + 1])" } 0 .. @pairs / 2 - 1 } @added;
	cmp_ok(scalar @rows, '>', 50, "$way in the middle of updates: " . @rows . ' keys were added before');
	is($primary->safe_psql('postgres', <<~SQL), "1|0|t\n2|0|t\n3|0|t", "after $way every committed key is found, and the filters are valid");
		CREATE TEMP TABLE added (id integer, key integer);
		INSERT INTO added VALUES @{[ join ', ', @rows ]};
		SELECT id, (SELECT count(*) FROM added AS a WHERE a.id = c.id AND NOT f @> key), f::bytea::cuckoofilter = f
		FROM changing AS c ORDER BY id;
		SQL

	# At most the last transaction of a client was committed without its
	# knowledge.
	is($primary->safe_psql('postgres', <<~SQL), 't', "after $way nothing is there twice");
		SELECT sum(cuckoo_cardinality(f)) - (501 + 500 + 50501) BETWEEN @{[ scalar @rows ]} AND @{[ scalar(@rows) + 6 * $round ]} FROM changing;
		SQL
}

# The standby has followed through all crashes, and can take over.
$primary->wait_for_catchup($standby);
is(published($standby, 'postgres'), published($primary, 'postgres'), 'the standby has followed through the crashes');
$primary->stop;
$standby->promote;
is($standby->safe_psql('postgres', 'UPDATE changing SET f = f + 7777777; SELECT bool_and(f @> 7777777 AND f @> 1 AND f::bytea::cuckoofilter = f) FROM changing'),
	't', 'a promoted standby adds to the filters');
$standby->stop;
done_testing();
