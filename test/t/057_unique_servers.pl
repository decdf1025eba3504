# Unique indexes between servers, from PostgreSQL 18 on: logical replication, whose
# workers rely on what the index returns; a standby; dump and restore.

use CuckooTest;

my $node = new_server('node', replication => 1, conf => "wal_level = logical\nautovacuum = off\n");
if ($node->pg_version < 18)
{
	$node->stop;
	plan(skip_all => 'PostgreSQL lets only B-trees be unique before 18');
}
my $one_hash = <<~'SQL';
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE FUNCTION one_hash(integer, bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT 1::bigint';
	CREATE OPERATOR CLASS one_hash FOR TYPE integer USING cuckoo AS OPERATOR 1 pg_catalog.=, FUNCTION 1 one_hash(integer, bigint);
	SQL
my $tables = <<~'SQL';
	CREATE TABLE pages (url text NOT NULL, hits integer);
	CREATE UNIQUE INDEX pages_url ON pages USING cuckoo (url);
	ALTER TABLE pages REPLICA IDENTITY USING INDEX pages_url;
	CREATE TABLE same (k integer NOT NULL, n integer);
	CREATE UNIQUE INDEX same_k ON same USING cuckoo (k public.one_hash);
	ALTER TABLE same REPLICA IDENTITY USING INDEX same_k;
	CREATE TABLE keyless (k text, n integer);
	CREATE INDEX keyless_k ON keyless USING cuckoo (k);
	CREATE UNIQUE INDEX keyless_kn ON keyless USING cuckoo (k, n);
	ALTER TABLE keyless REPLICA IDENTITY FULL;
	SQL
$node->safe_psql('postgres', <<~SQL);
	$one_hash $tables
	INSERT INTO pages SELECT 'page ' || i, 0 FROM generate_series(1, 3000) AS i;
	INSERT INTO same SELECT i, 0 FROM generate_series(1, 300) AS i;
	INSERT INTO keyless SELECT nullif(i % 100, 0)::text, i FROM generate_series(1, 1000) AS i;
	CREATE PUBLICATION p FOR ALL TABLES;
	SQL

sub contents { return $_[0]->safe_psql('postgres', 'SELECT url, hits FROM pages ORDER BY url COLLATE "C"; TABLE same ORDER BY k; TABLE keyless ORDER BY n'); }
sub missing { return $_[0]->safe_psql('postgres', q{SELECT sum(cuckoo_index_check(i::regclass)) FROM unnest('{pages_url,same_k,keyless_k,keyless_kn}'::text[]) AS i}); }

# ---------------------------------------------------------- Logical replication
# The worker takes the first row that the index returns for one of the key.
my $subscriber = new_server('subscriber', conf => "autovacuum = off\n");
$subscriber->safe_psql('postgres', "$one_hash $tables CREATE SUBSCRIPTION s CONNECTION '@{[ $node->connstr ]} dbname=postgres' PUBLICATION p");
$subscriber->wait_for_subscription_sync($node, 's');
$node->safe_psql('postgres', $_) foreach
  q{UPDATE same SET n = k WHERE k % 7 = 3; DELETE FROM same WHERE k % 7 = 5; UPDATE same SET k = k + 1000 WHERE k % 7 = 1},
  (q{UPDATE pages SET hits = hits + 1 WHERE url IN ('page 7', 'page 8')}) x 200,
  q{UPDATE pages SET url = 'moved ' || url WHERE url LIKE '%99'; DELETE FROM pages WHERE url LIKE '%55'},
  q{UPDATE keyless SET n = -n WHERE k IS NULL OR n % 5 = 1; DELETE FROM keyless WHERE n % 50 = 0 OR n % 50 = 7},
  q{INSERT INTO pages VALUES ('page 7', 1) ON CONFLICT (url) DO UPDATE SET hits = -1};
$node->wait_for_catchup('s');
is(contents($subscriber), contents($node), 'a subscriber changes the rows of the key, also those with NULLs');
is(missing($subscriber), '0', '... and its indexes find all');

# A row that is there already stops the worker, which says which one.
sub conflicts
{
	my ($kind, $sql, $mend) = @_;
	my $offset = -s $subscriber->logfile;

	$node->safe_psql('postgres', $sql);
	ok($subscriber->wait_for_log(qr/conflict detected on relation "public.pages": conflict=$kind.*Key already exists in unique index "pages_url"/s, $offset), "$kind is logged");
	$subscriber->safe_psql('postgres', $mend);
	$node->wait_for_catchup('s');
	return;
}
$subscriber->safe_psql('postgres', q{INSERT INTO pages VALUES ('here', 1), ('here, too', 2)});
conflicts('insert_exists', q{INSERT INTO pages VALUES ('here', 3)}, q{DELETE FROM pages WHERE url = 'here'});
conflicts('update_exists', q{UPDATE pages SET url = 'here, too' WHERE url = 'page 9'}, q{DELETE FROM pages WHERE url = 'here, too'});
is(contents($subscriber), contents($node), 'when they are gone, it goes on');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s');
$subscriber->stop;

# ------------------------------------------------ A standby, and dump and restore
my $standby = new_standby($node);
$node->safe_psql('postgres', q{INSERT INTO pages SELECT 'new ' || i, 0 FROM generate_series(1, 1000) AS i ON CONFLICT DO NOTHING});
$node->wait_for_catchup($standby);
is(contents($standby), contents($node), 'a standby');
my $dump = $node->basedir . '/dump';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-Fc', '-f', $dump, '--no-publications' ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '-j2', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', q{INSERT INTO pages VALUES ('here', 1), ('restored', 1) ON CONFLICT (url) DO UPDATE SET hits = 3 RETURNING url, hits; SELECT relreplident FROM pg_class WHERE relname = 'pages'}), "here|3\nrestored|1\ni", 'the same indexes');
$node->stop;
$standby->promote;
is(sqlstate($standby, 'postgres', q{INSERT INTO pages VALUES ('new 7', 1)}), '23505', 'a standby that is promoted knows the keys');
is(missing($standby), '0', '... and finds all rows');
$standby->stop;

unlike(slurp_file($_->logfile), qr/PANIC|TRAP|signal (?!9:)/, 'no crash: ' . $_->name) foreach $node, $subscriber, $standby;
done_testing();
