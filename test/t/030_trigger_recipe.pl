# The guide's recipe for a filter that follows a table, run as it stands there:
# on a plain table, on a partitioned one under the load of many sessions, on an
# inheritance parent, and on a subscriber of logical replication.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 5;
my @recipe = map { $_->{text} }
  grep { $_->{section} eq 'In step with a table' && $_->{language} eq 'sql' } page_blocks('docs/guide.md');
cmp_ok(scalar @recipe, '>=', 9, 'the guide has the recipe');

my $node = new_server('main', replication => 1, conf => "wal_level = logical\nmax_connections = 30\n");

# Makes a database with a table customers, and runs all of the recipe in it.
sub follow
{
	my ($server, $database, $customers) = @_;

	$server->safe_psql('postgres', "CREATE DATABASE $database");
	$server->safe_psql($database, "CREATE EXTENSION cuckoo; CREATE TABLE newsletter (email text); $customers");
	foreach my $block (@recipe)
	{
		my ($status, $stdout, $stderr) = $server->psql($database, $block, on_error_stop => 1);

		is($stderr, '', "$database: runs: " . (split /\n/, $block)[0]);
	}
	return;
}

# Compares filter and log with the table.  As long as no key has had eight rows,
# the filter's copies and the sum of the log add up to the number of rows.
sub is_followed
{
	my ($server, $database, $what, $from) = @_;
	$from //= 'customers';

	is($server->safe_psql($database, <<~SQL), 't|t|t', $what);
		SELECT NOT EXISTS (SELECT FROM $from WHERE NOT customer_known(email)),
			cuckoo_cardinality(f) + (SELECT coalesce(sum(delta), 0) FROM customers_log) = (SELECT count(email) FROM $from),
			(SELECT count(*) FILTER (WHERE customer_known('never ' || i)) < 10 FROM generate_series(1, 1000) AS i)
		FROM customers_filter;
		SQL
	return;
}

# Folds, and compares the filter alone with the table.
sub is_folded
{
	my ($server, $database, $what, $from) = @_;
	$from //= 'customers';

	is($server->safe_psql($database, <<~SQL), "t\nt|t|t", $what);
		SELECT customers_fold();
		SELECT NOT EXISTS (SELECT FROM $from WHERE NOT (SELECT f FROM customers_filter) \@> email),
			cuckoo_cardinality(f) = (SELECT count(email) FROM $from), NOT EXISTS (SELECT FROM customers_log)
		FROM customers_filter;
		SQL
	return;
}

#
# One session, every kind of change
#
follow($node, 'plain', <<~SQL);
	CREATE TABLE customers (id integer PRIMARY KEY, email text, note text);
	INSERT INTO customers SELECT i, 'user' || i || '\@example.com' FROM generate_series(1, 10000) AS i;
	INSERT INTO customers SELECT -i FROM generate_series(1, 10) AS i;
	SQL
is_followed($node, 'plain', 'the rows that are there');

my @changes = (
	[ 'INSERT', q{INSERT INTO customers SELECT i, 'user' || i FROM generate_series(10001, 11000) AS i} ],
	[ 'a NULL key', q{INSERT INTO customers VALUES (20000), (20001); UPDATE customers SET email = 'was null' WHERE id = 20000;
		UPDATE customers SET email = NULL WHERE id = 10001; DELETE FROM customers WHERE id = 20001} ],
	[ 'UPDATE of keys', q{UPDATE customers SET email = 'new ' || email WHERE id <= 5000} ],
	[ 'UPDATE that swaps keys', q{UPDATE customers AS a SET email = b.email FROM customers AS b WHERE a.id BETWEEN 1 AND 100 AND b.id = 101 - a.id} ],
	[ 'DELETE', q{DELETE FROM customers WHERE id BETWEEN 2001 AND 3000} ],
	[ 'INSERT ... ON CONFLICT', q{INSERT INTO customers SELECT i, 'upserted ' || i FROM generate_series(1000, 2500) AS i
		ON CONFLICT (id) DO UPDATE SET email = excluded.email WHERE excluded.id % 2 = 0} ],
	[ 'MERGE', q{MERGE INTO customers AS c USING (SELECT generate_series(2400, 2600) AS id) AS s ON c.id = s.id
		WHEN MATCHED AND c.id % 3 = 0 THEN DELETE
		WHEN MATCHED THEN UPDATE SET email = 'merged ' || c.id
		WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'inserted ' || s.id)} ],
	[ 'COPY', qq{COPY customers (id, email) FROM stdin;\n30000\tcopied\n30001\t\\N\n\\.\n} ],
	[ 'several rows of a key', q{INSERT INTO customers SELECT i, 'shared' FROM generate_series(40001, 40005) AS i; DELETE FROM customers WHERE id IN (40001, 40003)} ],
	[ 'a rollback', q{BEGIN; DELETE FROM customers WHERE id < 1000; INSERT INTO customers VALUES (50000, 'rolled back'); ROLLBACK} ],
	[ 'savepoints', q{BEGIN; INSERT INTO customers VALUES (50001, 'kept'); SAVEPOINT a; DELETE FROM customers WHERE id = 50001;
		INSERT INTO customers VALUES (50002, 'lost'); ROLLBACK TO a; SAVEPOINT b; INSERT INTO customers VALUES (50003, 'kept, too'); RELEASE b; COMMIT} ],
	[ 'a row that comes and goes in a transaction', q{BEGIN; INSERT INTO customers VALUES (50004, 'short'); UPDATE customers SET email = 'shorter' WHERE id = 50004; DELETE FROM customers WHERE id = 50004; COMMIT} ],
	[ 'a BEFORE trigger that changes the key', q{
		CREATE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.email := lower(NEW.email); RETURN NEW; END';
		CREATE TRIGGER lowered BEFORE INSERT OR UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION lowered();
		INSERT INTO customers VALUES (50005, 'UPPER'); UPDATE customers SET note = 'x', email = 'Mixed' WHERE id = 50005;
		DROP TRIGGER lowered ON customers} ],
	[ 'a BEFORE trigger that changes the key in an UPDATE of something else', q{
		CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.email := NEW.note; RETURN NEW; END';
		CREATE TRIGGER noted BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION noted();
		UPDATE customers SET note = 'by a trigger' WHERE id = 50005;
		DROP TRIGGER noted ON customers} ],
	[ 'a cascade', q{
		CREATE TABLE regions (id integer PRIMARY KEY); INSERT INTO regions VALUES (1);
		ALTER TABLE customers ADD region integer REFERENCES regions ON DELETE CASCADE;
		UPDATE customers SET region = 1 WHERE id BETWEEN 500 AND 600; DELETE FROM regions;
		ALTER TABLE customers DROP region} ],
	[ 'changes for replicas only', q{SET session_replication_role = replica; INSERT INTO customers VALUES (50006, 'applied'); DELETE FROM customers WHERE id = 700} ],
	[ 'a rebuild', q{SELECT customers_rebuild()} ],
	[ 'a prepared statement in REPEATABLE READ', q{BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE customers SET email = email || '!' WHERE id BETWEEN 800 AND 900; COMMIT} ],
	[ 'TRUNCATE', q{TRUNCATE customers; INSERT INTO customers VALUES (1, 'user1@example.com')} ]);
foreach my $change (@changes)
{
	my ($name, $sql) = @$change;

	$node->safe_psql('plain', $sql);
	is_followed($node, 'plain', "$name, in the log");
	is_folded($node, 'plain', "$name, folded");
}

$node->safe_psql('plain', q{UPDATE customers SET note = 'noted'; UPDATE customers SET email = email});
is($node->safe_psql('plain', 'SELECT count(*) FROM customers_log'), '0', 'an UPDATE that changes no key is not logged');
is($node->safe_psql('plain', <<~SQL), "t|f|t\nt\nt|f|f", 'a transaction sees its own changes; a deleted key that the filter has is found until the fold');
	BEGIN;
	INSERT INTO customers VALUES (2, 'mine'), (3, 'ours');
	DELETE FROM customers WHERE id IN (1, 3);
	SELECT customer_known('mine'), customer_known('ours'), customer_known('user1\@example.com');
	SELECT customers_fold();
	SELECT customer_known('mine'), customer_known('ours'), customer_known('user1\@example.com');
	ROLLBACK;
	SQL

# Keys with eight rows at once, which stay until a rebuild, as the guide says.
is($node->safe_psql('plain', <<~SQL), "t\nt\nt|f\n\nf|f", 'keys with eight rows at once stay until the filter is rebuilt');
	INSERT INTO customers SELECT i, CASE WHEN i <= 108 THEN 'eight' ELSE 'seven' END FROM generate_series(101, 115) AS i;
	SELECT customers_fold();
	DELETE FROM customers WHERE id > 100;
	SELECT customers_fold();
	SELECT customer_known('eight'), customer_known('seven');
	SELECT customers_rebuild();
	SELECT customer_known('eight'), customer_known('seven');
	SQL

# Isolation
is(sqlstate($node, 'plain', 'BEGIN ISOLATION LEVEL REPEATABLE READ; TRUNCATE customers'), '25001', 'TRUNCATE in REPEATABLE READ is refused');
is(sqlstate($node, 'plain', 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT customers_rebuild()'), '25001', 'a rebuild in SERIALIZABLE is refused');
{
	my $late = $node->background_psql('plain', on_error_stop => 0);

	$late->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM customers');
	$node->safe_psql('plain', q{INSERT INTO customers VALUES (3, 'later'); SELECT customers_fold()});
	is($late->query_safe(q{SELECT customer_known('later')}), 'f', 'a lookup in REPEATABLE READ sees filter and log of one snapshot');
	$late->query('SELECT customers_fold()');
	like($late->{stderr}, qr/could not serialize access/, 'a fold whose snapshot is older than the filter fails');
	$late->{stderr} = '';
	$late->quit;
}
{
	my $folding = $node->background_psql('plain');

	$folding->query_safe('BEGIN; SELECT customers_fold()');
	is($node->safe_psql('plain', q{INSERT INTO customers VALUES (4, 'meanwhile'); SELECT customers_fold(), customer_known('meanwhile')}), 'f|t',
		'while another session folds, writing and lookups go on, and a fold returns false');
	$folding->query_safe('COMMIT');
	$folding->quit;
}
is_folded($node, 'plain', 'and the next fold takes the rest');

# Rights: a role that may write the table needs no rights on the log, and gets
# none.
$node->safe_psql('plain', 'CREATE ROLE clerk; GRANT ALL ON customers TO clerk; CREATE SCHEMA clerk AUTHORIZATION clerk');
$node->safe_psql('plain', q{SET ROLE clerk; INSERT INTO customers VALUES (5, 'by the clerk'); UPDATE customers SET email = 'again' WHERE id = 5; TRUNCATE customers; INSERT INTO customers VALUES (6, 'more')});
is_folded($node, 'plain', 'a role without rights on the log changes the table');
is(sqlstate($node, 'plain', q{SET ROLE clerk; INSERT INTO customers_log VALUES ('more', -1)}), '42501', 'it cannot write the log itself');
is(sqlstate($node, 'plain', q{SET ROLE clerk; CREATE TABLE clerk.mine (email text);
	CREATE TRIGGER forge AFTER DELETE ON clerk.mine FOR EACH ROW EXECUTE FUNCTION customers_changed()}), '42501', 'nor by a trigger on a table of its own');

#
# An inheritance parent: rows of children are not its own
#
follow($node, 'family', <<~SQL);
	CREATE TABLE customers (id integer PRIMARY KEY, email text);
	INSERT INTO customers SELECT i, 'user' || i FROM generate_series(1, 1000) AS i;
	CREATE TABLE child () INHERITS (customers);
	SQL
$node->safe_psql('family', <<~SQL);
	INSERT INTO child SELECT i, 'child ' || i FROM generate_series(1, 1000) AS i;
	UPDATE customers SET email = email || ' changed' WHERE id <= 500;
	DELETE FROM customers WHERE id > 900;
	SQL
is_folded($node, 'family', 'changes through the parent count its own rows only', 'ONLY customers');
is($node->safe_psql('family', <<~SQL), '', 'with triggers on the child, too, its rows count');
	CREATE TRIGGER customers_log_rows AFTER INSERT OR DELETE ON child FOR EACH ROW EXECUTE FUNCTION public.customers_changed();
	CREATE TRIGGER customers_log_updates AFTER UPDATE ON child
		FOR EACH ROW WHEN (OLD.email IS DISTINCT FROM NEW.email) EXECUTE FUNCTION public.customers_changed();
	CREATE TRIGGER customers_log_truncate BEFORE TRUNCATE ON child FOR EACH STATEMENT EXECUTE FUNCTION public.customers_truncated();
	SELECT customers_rebuild();
	SQL
is_folded($node, 'family', 'a rebuild reads parent and child');
$node->safe_psql('family', q{UPDATE customers SET email = email || ' again' WHERE id < 800; DELETE FROM customers WHERE id % 7 = 0});
is_followed($node, 'family', 'changes of both, in the log');
$node->safe_psql('family', 'TRUNCATE ONLY customers');
is_folded($node, 'family', 'TRUNCATE of the parent alone');
$node->safe_psql('family', q{INSERT INTO customers VALUES (1, 'one'); TRUNCATE customers; INSERT INTO child VALUES (1, 'two')});
is_folded($node, 'family', 'TRUNCATE of both');

#
# Partitions, many sessions
#
follow($node, 'shop', <<~SQL);
	CREATE TABLE customers (id integer, region integer, email text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
	CREATE TABLE customers_0 PARTITION OF customers FOR VALUES IN (0);
	-- Another order of columns, and one that is gone
	CREATE TABLE customers_1 (gone text, email text, region integer NOT NULL, id integer NOT NULL);
	ALTER TABLE customers_1 DROP gone;
	ALTER TABLE customers ATTACH PARTITION customers_1 FOR VALUES IN (1);
	CREATE TABLE customers_2 PARTITION OF customers FOR VALUES IN (2);
	INSERT INTO customers SELECT i, i % 2, 'user' || i FROM generate_series(1, 10000) AS i;
	-- These move between partitions.
	INSERT INTO customers SELECT i, 0, 'user' || i FROM generate_series(20001, 20100) AS i;
	SQL

# Of 30,000 keys for 10,000 rows, none has eight at once: the probability is
# 30,000 * 3e-9.
my %scripts = (
	'upsert@6' => <<~'SQL',
		\set id random(1, 20000)
		\set key random(1, 30000)
		INSERT INTO customers VALUES (:id, :id % 2, nullif('user' || :key, 'user7')) ON CONFLICT (id, region) DO UPDATE SET email = excluded.email;
		SQL
	'update@4' => <<~'SQL',
		\set id random(1, 20000)
		\set key random(1, 30000)
		UPDATE customers SET email = 'user' || (:key + id - :id) WHERE id BETWEEN :id AND :id + 3;
		SQL
	'direct@4' => <<~'SQL',
		\set id random(1, 9990) * 2 + 1
		\set key random(1, 30000)
		BEGIN;
		INSERT INTO customers_1 (id, region, email) VALUES (:id, 1, 'user' || :key) ON CONFLICT DO NOTHING;
		UPDATE customers_1 SET email = 'user' || (:key + 1) WHERE id = :id + 2;
		DELETE FROM customers_0 WHERE id = :id + 7;
		COMMIT;
		SQL
	'delete@4' => <<~'SQL',
		\set id random(1, 20000)
		DELETE FROM customers WHERE id BETWEEN :id AND :id + 2;
		SQL
	'move@2' => <<~'SQL',
		\set id random(20001, 20100)
		UPDATE customers SET region = 1 - region, email = 'moved ' || :id WHERE id = :id;
		SQL
	'rollback@3' => <<~'SQL',
		\set id random(1, 20000)
		\set key random(1, 30000)
		BEGIN;
		DELETE FROM customers WHERE id = :id;
		SAVEPOINT a;
		INSERT INTO customers VALUES (:id, :id % 2, 'user' || :key) ON CONFLICT DO NOTHING;
		ROLLBACK TO a;
		UPDATE customers SET email = 'user' || :key WHERE id = :id + 1;
		ROLLBACK;
		SQL
	'truncate@1' => <<~'SQL',
		\set id random(1, 1000)
		INSERT INTO customers SELECT i, 2, 'user' || i FROM generate_series(:id, :id + 20) AS i ON CONFLICT DO NOTHING;
		TRUNCATE customers_2;
		SQL
	'fold@3' => "SELECT customers_fold();\n",
	'rebuild@1' => "SELECT customers_rebuild();\n",
	'ask@3' => <<~'SQL',
		\set id random(1, 20000)
		SELECT 1 / (NOT EXISTS (SELECT FROM customers WHERE id BETWEEN :id AND :id + 200 AND customer_known(email) IS FALSE))::integer;
		SQL
);
my @pgbench = ('pgbench', '--no-vacuum', '--client=8', '--jobs=2', '--max-tries=1000', "--time=$seconds");
foreach my $name (sort keys %scripts)
{
	my ($file, $weight) = $name =~ /(.*)@(.*)/;

	$file = $node->basedir . "/$file.sql";
	PostgreSQL::Test::Utils::append_to_file($file, $scripts{$name});
	push @pgbench, "--file=$file\@$weight";
}
ok($node->run_log([ @pgbench, '--host', $node->host, '--port', $node->port, 'shop' ]), 'eight sessions write, fold, rebuild and look up without an error');
note($node->safe_psql('shop', q{SELECT 'rows: ' || count(*) || ', log: ' || (SELECT count(*) FROM customers_log) || ', tables: ' ||
	(SELECT (cuckoo_info(f)).subfilters FROM customers_filter) || ', rows of a key: ' || (SELECT max(n) FROM (SELECT count(email) AS n FROM customers GROUP BY email) AS s) FROM customers}));

is_followed($node, 'shop', 'no key of a committed row is missing, in filter and log');
is_folded($node, 'shop', 'nor in the filter, which has one copy for each row');

# All keys that ever existed: user1 to user30001, moved ...
$node->safe_psql('shop', 'DELETE FROM customers WHERE id % 2 = 0; DELETE FROM customers_1 WHERE id > 10000; TRUNCATE customers');
is_folded($node, 'shop', 'after all rows are deleted and truncated, no copy is left');
is($node->safe_psql('shop', q{SELECT count(*) FROM generate_series(1, 40000) AS i WHERE customer_known('user' || i) OR customer_known('moved ' || i)}),
	'0', 'and no key is found');

# A partition that comes and goes with its rows, as the guide says
$node->safe_psql('shop', <<~SQL);
	CREATE TABLE part (id integer NOT NULL, region integer NOT NULL, email text);
	INSERT INTO part SELECT i, 3, 'part ' || i FROM generate_series(1, 500) AS i;
	BEGIN;
	ALTER TABLE customers ATTACH PARTITION part FOR VALUES IN (3);
	CREATE TRIGGER customers_log_truncate BEFORE TRUNCATE ON part FOR EACH STATEMENT EXECUTE FUNCTION public.customers_truncated();
	INSERT INTO customers_log SELECT email, 1 FROM part WHERE email IS NOT NULL;
	COMMIT;
	UPDATE part SET email = email || '!' WHERE id <= 100;
	SQL
is_folded($node, 'shop', 'a partition that is attached');
$node->safe_psql('shop', <<~SQL);
	BEGIN;
	ALTER TABLE customers DETACH PARTITION part;
	DROP TRIGGER customers_log_truncate ON part;
	INSERT INTO customers_log SELECT email, -1 FROM part WHERE email IS NOT NULL;
	COMMIT;
	DELETE FROM part WHERE id > 200;
	TRUNCATE part;
	CREATE TABLE customers_4 PARTITION OF customers FOR VALUES IN (4);
	SET session_replication_role = replica;
	INSERT INTO customers_4 VALUES (1, 4, 'a new partition');
	SQL
is_folded($node, 'shop', 'one that is detached, and one that is new');

#
# A subscriber with a filter of its own
#
my $subscriber = new_server('subscriber');
$node->safe_psql('plain', q{INSERT INTO customers SELECT i, 'user' || i FROM generate_series(1, 1000) AS i ON CONFLICT DO NOTHING;
	CREATE PUBLICATION customers FOR TABLE customers});
follow($subscriber, 'copy', 'CREATE TABLE customers (id integer PRIMARY KEY, email text, note text)');
$subscriber->safe_psql('copy', "CREATE SUBSCRIPTION customers CONNECTION '" . $node->connstr . " dbname=plain' PUBLICATION customers");
$subscriber->wait_for_subscription_sync($node, 'customers', 'copy');
is_followed($subscriber, 'copy', 'a subscriber follows the initial copy');
is($subscriber->safe_psql('copy', 'SELECT count(*) > 900 FROM customers_log'), 't', 'which is in its log');
is_folded($subscriber, 'copy', 'and folds it');

$node->safe_psql('plain', q{UPDATE customers SET email = 'new ' || email WHERE id < 300; DELETE FROM customers WHERE id > 800;
	UPDATE customers SET note = 'noted' WHERE id < 500; INSERT INTO customers VALUES (5000, 'inserted'), (5001, NULL)});
$node->wait_for_catchup('customers');
is_followed($subscriber, 'copy', 'changes that are applied, in the log');
cmp_ok($subscriber->safe_psql('copy', 'SELECT count(*) FROM customers_log'), '>=', 2 * 299 + 200 + 1, 'which has them all');
is_folded($subscriber, 'copy', 'and folded');
$node->safe_psql('plain', q{TRUNCATE customers; INSERT INTO customers VALUES (1, 'after')});
$node->wait_for_catchup('customers');
is_folded($subscriber, 'copy', 'TRUNCATE that is applied');
is($subscriber->safe_psql('copy', q{SELECT count(*) FROM customers}), '1', 'it was applied');

# Published, the log needs a replica identity.
$node->safe_psql('plain', q{CREATE PUBLICATION everything FOR ALL TABLES; INSERT INTO customers VALUES (2, 'two')});
is(sqlstate($node, 'plain', 'SELECT customers_fold()'), '55000', 'a log that is published without a replica identity cannot be folded');
$node->safe_psql('plain', 'ALTER TABLE customers_log REPLICA IDENTITY FULL');
is_folded($node, 'plain', 'with one it can');

my @unexpected = grep { /PANIC|TRAP|signal 11|too large|too many sub-filters/ } split /\n/, slurp_file($node->logfile);
is("@unexpected", '', 'no crash, no filter too full');

$subscriber->safe_psql('copy', 'DROP SUBSCRIPTION customers');
$_->stop for $subscriber, $node;
done_testing();
