# Logical replication in text and binary form of filters of every representation and
# size: empty, sparse, dense and mixed, inline, toasted, of 1 MB, and of 100 MB if
# CUCKOO_TEST_LARGE is set.

use CuckooTest;

my $primary = new_server('primary', replication => 1, conf => "wal_level = logical\nmax_connections = 30\n");

create_samples($primary, large => $ENV{CUCKOO_TEST_LARGE});
$primary->safe_psql('postgres', <<~SQL);
	CREATE TABLE changing (id integer PRIMARY KEY, note text, f cuckoofilter);
	INSERT INTO changing VALUES (1, 'unknown capacity', cuckoo_new()), (2, 'grows', cuckoo_new(1000, 0.01)),
		(3, 'toasted', cuckoo_add_all(cuckoo_new(100000, 0.001), ARRAY(SELECT -i FROM generate_series(1, 50000) AS i))),
		(4, '1 MB', (SELECT cuckoo_agg(-i, 700000, 0.001) FROM generate_series(1, 650000) AS i));
	INSERT INTO changing SELECT 5, name, f FROM samples WHERE name = '100 MB';
	-- Its rows are found by all their columns, the filter among them.
	CREATE TABLE keyless (note text, f cuckoofilter);
	ALTER TABLE keyless REPLICA IDENTITY FULL;
	INSERT INTO keyless SELECT name, f FROM samples;
	CREATE PUBLICATION filters FOR TABLE samples, changing, keyless;
	SQL
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

$subscriber->safe_psql($_, "DROP SUBSCRIPTION $_") for sort keys %subscription;
$subscriber->stop;

$primary->stop;
done_testing();
