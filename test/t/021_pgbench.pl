# Concurrency: eight clients add, remove and look up keys in the same rows, and
# no change is lost, even if the server is stopped in the middle.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

use IPC::Run ();

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 3;
my $node = new_server('main', conf => "max_connections = 20\nfull_page_writes = on\n");

# Filters that become dense and sparse again as keys come and go, inline and
# toasted; one that grows by several tables, and one of unknown capacity.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE TABLE kept (id integer PRIMARY KEY, f cuckoofilter NOT NULL);
INSERT INTO kept VALUES
	(1, cuckoo_new(capacity => 20)),
	(2, cuckoo_new(capacity => 1000)),
	(3, cuckoo_new(capacity => 100000)),
	(4, cuckoo_new(capacity => 100)),
	(5, cuckoo_new());
-- What the filters should hold: a row a copy.
CREATE TABLE live (id integer, key bigint);
CREATE INDEX ON live (id);
CREATE SEQUENCE keys INCREMENT 10;
-- Enough keys that removals find some, and few enough in the small ones.
CREATE FUNCTION limit_of(integer) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN ('{20,900,80000,5000,5000}'::bigint[])[$1];
SQL

# The filter changes with each version of the row: a client must add to the
# version that the last one has written (EvalPlanQual).
my %scripts = (
	'add' => <<'SQL',
\set id random(1, 5)
SELECT nextval('keys') AS key \gset
WITH changed AS (UPDATE kept SET f = f + :key::bigint WHERE id = :id AND cuckoo_cardinality(f) < limit_of(id) RETURNING id)
INSERT INTO live SELECT id, :key FROM changed;
SQL
	'several' => <<'SQL',
\set id random(2, 5)
SELECT nextval('keys') AS key \gset
WITH changed AS (UPDATE kept SET f = cuckoo_add_all(f, ARRAY(SELECT generate_series(:key::bigint, :key + 9)))
	WHERE id = :id AND cuckoo_cardinality(f) < limit_of(id) RETURNING id)
INSERT INTO live SELECT id, generate_series(:key::bigint, :key + 9) FROM changed;
SQL
	'remove' => <<'SQL',
\set id random(1, 5)
BEGIN;
WITH gone AS (DELETE FROM live WHERE ctid = (SELECT ctid FROM live WHERE id = :id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING key)
SELECT coalesce(max(key), 0) AS key FROM gone \gset
UPDATE kept SET f = f - :key::bigint WHERE id = :id AND :key > 0;
END;
SQL
	'ask' => <<'SQL',
\set id random(1, 5)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 1 / ((f @> ALL (ARRAY(SELECT key FROM live WHERE id = :id ORDER BY key DESC LIMIT 200))) IS NOT FALSE)::integer FROM kept WHERE id = :id;
END;
SQL
);

my @pgbench = ('pgbench', '--no-vacuum', '--client=8', '--jobs=2', '--random-seed=1');
foreach my $name (sort keys %scripts)
{
	my $file = $node->basedir . "/$name.sql";

	PostgreSQL::Test::Utils::append_to_file($file, $scripts{$name});
	push @pgbench, "--file=$file\@" . ($name eq 'add' ? 3 : 2);
}

sub check_all
{
	my ($when) = @_;

	is( $node->safe_psql('postgres', <<'SQL'),
SELECT id FROM kept WHERE NOT f @> ALL (ARRAY(SELECT key FROM live WHERE live.id = kept.id))
SQL
		'', "$when: every key that was added and not removed is found");

	# With several tables a removal may be refused, so such a filter may hold
	# more.
	is( $node->safe_psql('postgres', <<'SQL'),
SELECT id, cuckoo_cardinality(f), count(live.id), (cuckoo_info(f)).subfilters FROM kept LEFT JOIN live USING (id) GROUP BY id, f
HAVING (CASE WHEN (cuckoo_info(f)).subfilters > 1 THEN cuckoo_cardinality(f) < count(live.id)
	ELSE cuckoo_cardinality(f) <> count(live.id) END)
SQL
		'', "$when: as many copies as there are rows");
	is($node->safe_psql('postgres', 'SELECT id FROM kept WHERE f <> f::bytea::cuckoofilter'),
		'', "$when: all filters are valid");
	return;
}

my $result = $node->run_log([ @pgbench, "--time=$seconds", '--host', $node->host, '--port', $node->port, 'postgres' ]);
ok($result, 'eight clients ran without an error');
check_all('afterwards');
note($node->safe_psql('postgres', q{SELECT string_agg(id || ': ' || cuckoo_cardinality(f), ', ' ORDER BY id) || ' of ' || (SELECT last_value FROM keys) FROM kept}));

# The same, stopped in the middle
my ($stdout, $stderr) = ('', '');
my $run = IPC::Run::start([ @pgbench, '--time=60', '--host', $node->host, '--port', $node->port, 'postgres' ],
	'<', \undef, '>', \$stdout, '2>', \$stderr, IPC::Run::timeout(120));
sleep 1;
# Others see a sequence advance before its WAL is on disk.  What a committed
# transaction has seen of it survives.
$node->safe_psql('postgres', 'CREATE TABLE before AS SELECT last_value FROM keys');
$node->stop('immediate');
eval { $run->finish; };
$node->start;
is($node->safe_psql('postgres', 'SELECT keys.last_value >= before.last_value FROM keys, before'), 't', 'stopped at work, and started again');
check_all('after recovery');

my $log = slurp_file($node->logfile);
my @errors = grep { !/terminating connection|the database system is|SSL|could not receive/ } $log =~ /(?:ERROR|FATAL|PANIC):.*/g;
is("@errors", '', 'no error in the log of the server');
unlike($log, qr/deadlock|TRAP:|signal 11/, 'no deadlock, no crash');

$node->stop;
done_testing();
