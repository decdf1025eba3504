# A filter that follows a table, under load: at least eight sessions write in
# every possible way, while others fold, rebuild and compare the filter with the
# table.  No key of a row that a snapshot shows may be missing.
#
# CUCKOO_TEST_SECONDS sets the duration, 10 by default.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 10;
my $node = new_server('follow', conf => "max_connections = 40\nmax_prepared_transactions = 20\n");

$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo;

	-- Unique keys, so that in the end copies can be compared with rows.  At a
	-- rate of 0.1 many keys share a class.
	CREATE TABLE one (id bigint GENERATED ALWAYS AS IDENTITY, k integer UNIQUE, note text);
	INSERT INTO one (k) SELECT i FROM generate_series(1, 2000) AS i;
	SELECT cuckoo_follow('one', 'k', 0.1, 3000);

	-- Keys of a few rows, in partitions: written directly, through the root,
	-- and moved.
	CREATE TABLE many (id bigint GENERATED ALWAYS AS IDENTITY, k integer, d integer DEFAULT (random() * 2)::integer)
		PARTITION BY LIST (d);
	CREATE TABLE many0 PARTITION OF many FOR VALUES IN (0);
	CREATE TABLE many1 PARTITION OF many FOR VALUES IN (1);
	CREATE TABLE many2 PARTITION OF many FOR VALUES IN (2);
	INSERT INTO many (k) SELECT i FROM generate_series(1, 3000) AS i;
	CREATE INDEX ON many (k);
	SELECT cuckoo_follow('many0', 'k', 0.1, 3000), cuckoo_follow('many1', 'k', 0.1, 3000), cuckoo_follow('many2', 'k', 0.1, 3000);

	-- Statements large enough to fold their changes themselves
	CREATE TABLE bulk (k integer);
	INSERT INTO bulk SELECT generate_series(1, 5000);
	-- Room for all that comes and goes: beyond its capacity a filter keeps some keys.
	SELECT cuckoo_follow('bulk', 'k', 0.1, 200000);
	CREATE FUNCTION bulky() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		DELETE FROM bulk WHERE k < 2000000000 AND k >= 1900000000;
		IF EXISTS (SELECT FROM bulk WHERE NOT cuckoo_followed('bulk_k_filter', k)) THEN RAISE EXCEPTION 'missing in bulk'; END IF;
		RETURN NULL;
	END
	$$;
	CREATE TRIGGER a_bulky AFTER INSERT ON bulk FOR EACH ROW WHEN (new.k = 1900000000) EXECUTE FUNCTION bulky();

	CREATE FUNCTION compare() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		missing text;
	BEGIN
		-- Each is one query, and so one snapshot.
		SELECT string_agg(k::text, ' ') INTO missing FROM one WHERE NOT cuckoo_followed('one_k_filter', k);
		IF missing IS NOT NULL THEN RAISE EXCEPTION 'missing in one: %', missing; END IF;
		SELECT string_agg(d || ':' || k, ' ') INTO missing FROM many
			WHERE NOT cuckoo_followed(CASE d WHEN 0 THEN 'many0_k_filter' WHEN 1 THEN 'many1_k_filter' ELSE 'many2_k_filter' END, k);
		IF missing IS NOT NULL THEN RAISE EXCEPTION 'missing in many: %', missing; END IF;
		SELECT string_agg(k::text, ' ') INTO missing FROM one WHERE NOT (SELECT cuckoo_current('one_k_filter')) @> k;
		IF missing IS NOT NULL THEN RAISE EXCEPTION 'missing in the current filter of one: %', missing; END IF;
	END
	$$;

	-- A statement inside a statement, before and after our triggers, in
	-- subtransactions of which one fails.
	CREATE FUNCTION nest() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		BEGIN
			INSERT INTO one (k) VALUES (new.k + 100000);
			DELETE FROM one WHERE k BETWEEN 1 AND 3;
			RAISE EXCEPTION 'no';
		EXCEPTION WHEN raise_exception OR unique_violation THEN NULL;
		END;
		BEGIN
			INSERT INTO one (k) VALUES (new.k + 200000);
			DELETE FROM one WHERE k = new.k + 200000 AND new.k % 2 = 0;
		EXCEPTION WHEN unique_violation THEN NULL;
		END;
		RETURN NULL;
	END
	$$;
	CREATE TRIGGER a_nest AFTER INSERT ON one FOR EACH ROW WHEN (new.k BETWEEN 1800 AND 1899) EXECUTE FUNCTION nest();
	CREATE TRIGGER z_nest AFTER INSERT ON one FOR EACH ROW WHEN (new.k BETWEEN 1900 AND 2000) EXECUTE FUNCTION nest();

	-- Lookups while a transaction commits
	CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM one WHERE k = new.k AND NOT cuckoo_followed('one_k_filter', k)) THEN
			RAISE EXCEPTION 'missing at commit: %', new.k;
		END IF;
		RETURN NULL;
	END
	$$;
	CREATE CONSTRAINT TRIGGER look AFTER INSERT OR UPDATE ON one DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look();
	SQL

my %scripts = (
	'insert@6' => <<~'SQL',
		\set k random(1, 4000)
		\set n random(1, 5)
		INSERT INTO one (k) SELECT :k + i FROM generate_series(1, :n) AS i ON CONFLICT (k) DO NOTHING;
		SQL
	'delete@6' => <<~'SQL',
		\set k random(1, 4000)
		DELETE FROM one WHERE k BETWEEN :k AND :k + 4;
		SQL
	'update@6' => <<~'SQL',
		\set k random(1, 4000)
		\set j random(1, 4000)
		UPDATE one SET k = :j WHERE k = :k AND NOT EXISTS (SELECT FROM one WHERE k = :j);
		UPDATE one SET note = :j WHERE k = :j;
		SQL
	'upsert@3' => <<~'SQL',
		\set k random(1, 4000)
		\set j random(300000, 400000)
		INSERT INTO one (k) VALUES (:k) ON CONFLICT (k) DO UPDATE SET k = :j + one.id;
		DELETE FROM one WHERE k = :j;
		SQL
	'savepoint@6' => <<~'SQL',
		\set k random(1, 4000)
		\set j random(1, 4000)
		\set end random(0, 2)
		BEGIN;
		INSERT INTO one (k) VALUES (:k) ON CONFLICT DO NOTHING;
		SAVEPOINT a;
		DELETE FROM one WHERE k = :k;
		SAVEPOINT b;
		INSERT INTO one (k) VALUES (:j) ON CONFLICT DO NOTHING;
		SELECT count(*) FILTER (WHERE NOT cuckoo_followed('one_k_filter', k)) AS missing FROM one WHERE k IN (:k, :j) \gset
		\if :missing
			SELECT 1 / 0;
		\endif
		ROLLBACK TO a;
		DELETE FROM one WHERE k = :j;
		INSERT INTO one (k) VALUES (:j);
		RELEASE a;
		\if :end
			COMMIT;
		\else
			ROLLBACK;
		\endif
		SQL
	'partitions@8' => <<~'SQL',
		\set k random(1, 3000)
		\set j random(1, 3000)
		\set d random(0, 2)
		\set end random(0, 2)
		BEGIN;
		INSERT INTO many (k) VALUES (:k), (:k), (:j);
		INSERT INTO many:d (id, k, d) VALUES (0, :k, :d);
		SAVEPOINT a;
		UPDATE many SET d = (d + 1) % 3, k = :j WHERE id IN (SELECT id FROM many WHERE k = :k ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED);
		DELETE FROM many WHERE id IN (SELECT id FROM many WHERE k = :j ORDER BY id LIMIT 3 FOR UPDATE SKIP LOCKED);
		SELECT count(*) FILTER (WHERE NOT cuckoo_followed('many0_k_filter', k)) AS missing FROM many0 WHERE k IN (:k, :j) \gset
		\if :missing
			SELECT 1 / 0;
		\endif
		\if :end
			RELEASE a;
		\else
			ROLLBACK TO a;
		\endif
		DELETE FROM many:d WHERE id IN (SELECT id FROM many:d WHERE k = :k ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED);
		COMMIT;
		SQL
	'prepare@2' => <<~'SQL',
		\set k random(500000, 900000)
		\set gid random(1, 1000000000000)
		BEGIN;
		INSERT INTO one (k) VALUES (:k) ON CONFLICT DO NOTHING;
		INSERT INTO many (k) VALUES (:k);
		DELETE FROM one WHERE k = :k - 1;
		PREPARE TRANSACTION 'p:gid';
		\sleep 2 ms
		COMMIT PREPARED 'p:gid';
		SQL
	'rollback@2' => <<~'SQL',
		\set k random(1, 4000)
		BEGIN;
		DELETE FROM one WHERE k BETWEEN :k AND :k + 50;
		UPDATE many SET k = k + 1 WHERE id IN (SELECT id FROM many WHERE k = :k FOR UPDATE SKIP LOCKED);
		SELECT compare();
		ROLLBACK;
		SQL
	'cursor@2' => <<~'SQL',
		\set k random(1, 3000)
		BEGIN;
		INSERT INTO many (k) VALUES (:k), (:k);
		DECLARE c CURSOR FOR SELECT k, cuckoo_followed('many1_k_filter', k) AS found FROM many1 WHERE k = :k;
		INSERT INTO many (k) VALUES (:k + 1);
		DELETE FROM many WHERE id IN (SELECT id FROM many WHERE k = :k ORDER BY id DESC LIMIT 3 FOR UPDATE SKIP LOCKED);
		INSERT INTO many (k) VALUES (:k + 2);
		INSERT INTO many1 (id, k, d) VALUES (0, :k + 3, 1);
		CREATE TEMP TABLE IF NOT EXISTS seen (found boolean) ON COMMIT DELETE ROWS;
		DO $$
		DECLARE c refcursor := 'c'; r record;
		BEGIN
			LOOP
				FETCH c INTO r;
				EXIT WHEN NOT FOUND;
				IF NOT r.found THEN RAISE EXCEPTION 'missing in a cursor: %', r.k; END IF;
			END LOOP;
		END $$;
		ROLLBACK;
		SQL
	'bulk@1' => <<~'SQL',
		\set k random(10000, 1800000000)
		INSERT INTO bulk SELECT :k + i FROM generate_series(1, 11000) AS i;
		SELECT 1 / (NOT EXISTS (SELECT FROM bulk WHERE NOT cuckoo_followed('bulk_k_filter', k)))::integer;
		DELETE FROM bulk WHERE k BETWEEN :k AND :k + 10998;
		SELECT 1 / (NOT EXISTS (SELECT FROM bulk WHERE NOT cuckoo_followed('bulk_k_filter', k)))::integer;
		BEGIN;
		INSERT INTO bulk SELECT 1900000000 + i FROM generate_series(0, 11000) AS i;
		INSERT INTO bulk SELECT :k + i FROM generate_series(0, 11000) AS i;
		DELETE FROM bulk WHERE k BETWEEN :k AND :k + 11000;
		COMMIT;
		DELETE FROM bulk WHERE k > 5000;
		SQL
	'committed@2' => 'SELECT compare();',
	'repeatable@2' => <<~'SQL',
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT compare();
		\sleep 40 ms
		SELECT compare();
		COMMIT;
		SQL
	'serializable@1' => <<~'SQL',
		\set k random(1, 4000)
		BEGIN ISOLATION LEVEL SERIALIZABLE;
		SELECT compare();
		INSERT INTO one (k) VALUES (:k) ON CONFLICT DO NOTHING;
		\sleep 20 ms
		SELECT compare();
		COMMIT;
		SQL
);

my @files;
foreach my $name (sort keys %scripts)
{
	my ($file, $weight) = $name =~ /(.*)@(.*)/;

	$file = $node->basedir . "/$file.sql";
	append_to_file($file, $scripts{$name});
	push @files, "--file=$file\@$weight";
}
append_to_file($node->basedir . '/fold.sql', <<~'SQL');
	-- The query's snapshot is older than the fold.
	SELECT cuckoo_fold('one_k_filter') FROM (SELECT pg_sleep(0.02) OFFSET 0) AS s;
	SELECT cuckoo_fold('bulk_k_filter'), cuckoo_fold('many0_k_filter'), cuckoo_fold('many1_k_filter'), cuckoo_fold('many2_k_filter');
	\sleep 30 ms
	SQL
append_to_file($node->basedir . '/rebuild.sql', <<~'SQL');
	SELECT cuckoo_rebuild('one_k_filter');
	SELECT cuckoo_rebuild('many1_k_filter') FROM (SELECT pg_sleep(0.02) OFFSET 0) AS s;
	SELECT cuckoo_rebuild('bulk_k_filter', capacity => 200000);
	\sleep 500 ms
	SQL

my @connection = ('--host', $node->host, '--port', $node->port);
my @pgbench = ('pgbench', @connection, '--no-vacuum', "--time=$seconds", '--max-tries=1000000');
my %output;
my @background = map
{
	IPC::Run::start([ @pgbench, '--client=' . ($_ eq 'fold' ? 2 : 1), '--file=' . $node->basedir . "/$_.sql", 'postgres' ], '>', \$output{"$_ out"}, '2>', \$output{$_})
} ('fold', 'rebuild');
my ($stdout, $stderr) = run_command([ @pgbench, '--client=8', '--jobs=2', @files, 'postgres' ]);
unlike("$stdout$stderr", qr/aborted|ERROR/, 'eight sessions write and compare without an error');
note($stderr) if $stderr;
note($1) if $stdout =~ /(number of transactions actually processed.*)/;
$_->finish foreach @background;
unlike($output{$_}, qr/aborted|ERROR/, "$_ meanwhile") foreach 'fold', 'rebuild';

is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), '0', 'all prepared transactions are committed');
is($node->safe_psql('postgres', 'SELECT compare()'), '', 'nothing is missing at the end');
is($node->safe_psql('postgres', <<~'SQL'), "t|t|t|t|t", 'there are as many copies as rows');
	SELECT (SELECT cuckoo_cardinality(cuckoo_current('bulk_k_filter')) = count(*) FROM bulk),
		(SELECT cuckoo_cardinality(cuckoo_current('one_k_filter')) = count(*) FROM one),
		(SELECT cuckoo_cardinality(cuckoo_current('many0_k_filter')) = count(*) FROM many0),
		(SELECT cuckoo_cardinality(cuckoo_current('many1_k_filter')) = count(*) FROM many1),
		(SELECT cuckoo_cardinality(cuckoo_current('many2_k_filter')) = count(*) FROM many2)
	SQL
note($node->safe_psql('postgres', q{SELECT * FROM cuckoo_follow_check('one_k_filter')}));
$node->safe_psql('postgres', q{SELECT cuckoo_fold('one_k_filter'); DELETE FROM one; SELECT cuckoo_fold('one_k_filter')});
is($node->safe_psql('postgres', q{SELECT cuckoo_cardinality(f) FROM one_k_filter WHERE f IS NOT NULL}), '0', 'and none is left over');

$node->stop;
done_testing();
