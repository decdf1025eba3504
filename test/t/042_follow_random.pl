# Random changes of followed tables.  Sessions of all isolation levels write, and
# between their statements compare each filter with its table in one snapshot:
# no key of the table may be missing.
#
# A round makes the tables, runs its sessions for some seconds, folds, and tests
# that the filters hold what the tables hold.  Rounds take turns in these modes:
#
#   plain     changes, folds and rebuilds
#   ddl       also, tables, triggers and filter tables are renamed, swapped,
#             rewritten and damaged, and repaired: by another session, within
#             transactions that go on, and for a row of a statement.  Comparisons
#             may then fail, but not miss a key
#   kill      the same as ddl, and the server or one of its processes is killed
#   standby   the same as ddl, and sessions on a standby compare, too
#   subscriber
#             the same as plain, and sessions on a subscriber compare, too.  It
#             lags, and subscribes to tables and filter tables anew
#
# CUCKOO_TEST_MODES names some of them, CUCKOO_TEST_SECONDS sets the duration, 15
# by default, and CUCKOO_TEST_SEED repeats the choices, but not their timing.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

my @modes = split ' ', $ENV{CUCKOO_TEST_MODES} || 'plain ddl kill standby subscriber';
my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 15;
my $seed = $ENV{CUCKOO_TEST_SEED} || int(time);
my $round_seconds = 3.5;

my $node = new_server('random', replication => 1, conf => <<~'CONF');
	deadlock_timeout = 50ms
	max_connections = 30
	max_prepared_transactions = 50
	restart_after_crash = on
	maintenance_work_mem = 1MB
	shared_buffers = 64MB
	wal_keep_size = 2GB
	wal_level = logical
	CONF
my $folder = $node->basedir;
append_to_file("$folder/snapshot", 'none yet');

# --------------------------------------------------------------- The choices

sub pick { return $_[rand @_]; }
sub number { return 1 + int(rand($_[0])); }

# Of each followed column its table, its name and its filter table
my @followed = map { [ split(/_/), "${_}_filter" ] } qw(a_k a_j b_k b_a p0_k p1_k h_k h1_k s_k);
my %key = (key_expressions(), 'integer[]' => 'ARRAY[n, n % 10]', 'text[]' => q{ARRAY['key', (n)::text]});
my @types = ('integer', 'bigint', 'text', 'numeric', 'uuid', 'timestamp with time zone', 'jsonb', 'integer[]', 'text[]');
# By table, its columns besides id and run, with their types
my %columns;
# Whether the mode has DDL
my $ddl;

# The value of a column for a number, which is an expression
sub value
{
	my ($table, $column, $n) = @_;

	return "(SELECT id FROM a WHERE id = $n)" if $column eq 'a';
	return $table =~ /(\d)/ ? $1 : "($n) % 2" if $column eq 'd';
	return $key{ $columns{$table}{$column} } =~ s/\bn\b/($n)/gr;
}

# Columns, and values for the rows n.  Ids come from 1 to 2000 and keys to 3000,
# so that they meet.  Row $carrier has a statement that a trigger runs.
sub rows
{
	my ($table, $with_id, $carrier, $run) = @_;
	my @columns = sort keys %{ $columns{$table} };
	my ($factor, $offset) = (pick(1, 7, 11), number(3000));

	return (join(', ', $with_id ? 'id' : (), @columns, 'run'),
		join(', ', $with_id ? 'n' : (), map({ value($table, $_, "(n * $factor + $offset) % 3000 + 1 + n / 5000 * 3000") } @columns), "CASE n WHEN $carrier THEN $run END"));
}

# A random statement.  Those that a trigger runs can have others in turn, and
# often change tables of the outer one.
sub statement
{
	my ($depth, @outer) = @_;
	my $table = pick(qw(a a b b p p p0 p1 h h h1 s s), (@outer) x 10);
	my $only = $table eq 'p' ? '' : pick('', 'ONLY ');
	my $column = pick(grep { $_ ne 'd' } sort keys %{ $columns{$table} });
	my ($from, $count, $part) = (number(2000), int(exp(rand(5.5))), pick(5, 17, 100));
	my @near = grep { @outer && index($_->[0], $outer[0]) == 0 } @followed;
	my $filter = pick(@followed, (@near) x 10)->[2];
	my $run = $depth < 2 && rand() < 0.3 ? "\$run$depth\$" . statement($depth + 1, $table) . "\$run$depth\$" : 'NULL';
	my $where = "id % $part = " . (number($part) - 1);
	my $set = "$column = " . value($table, $column, '(id * ' . pick(1, 3, 7) . " + $from) % 3000 + 1");
	my $kind = @outer && rand() < 0.1 ? 98 : rand(100);

	return spoil($table, ($filter) x 3) if $ddl && rand() < (@outer ? 0.1 : 0.003);

	# So many that the statement changes the base, or that memory is short
	($from, $count) = (10000, pick((11000) x 4, 40000)) if $depth == 0 && rand() < 0.006;
	my $with_id = pick(0, 1);
	my ($names, $values) = rows($table, $with_id, $from + int(rand($count)), $run);
	my $insert = "INSERT INTO $table ($names) SELECT $values FROM generate_series($from, $from + $count) AS n ON CONFLICT";

	return "$insert DO NOTHING" if $kind < 22;
	return "$insert (" . ($table =~ /^p/ ? 'id, d' : 'id') . ") DO UPDATE SET $column = excluded.$column, run = NULL" if $kind < 32;
	return "COPY $table (" . join(', ', sort keys %{ $columns{$table} }) . ") FROM '$folder/$table.copy'" if $kind < 37;
	return "UPDATE $only$table SET $set, run = NULL WHERE $where" if $kind < 52;
	return 'UPDATE p SET d = 1 - d, run = NULL' . pick('', ', k = ' . value('p', 'k', "id + $from")) . " WHERE $where" if $kind < 56;
	return "UPDATE $only$table SET run = 'SELECT' WHERE $where" if $kind < 58;
	return 'UPDATE a SET id = id + ' . pick(-2000, 2000) . " WHERE $where" if $kind < 62;
	return "DELETE FROM $only$table WHERE $where" . pick('', ' OR id > 5000', " OR id BETWEEN $from AND $from + $count") if $kind < 76;
	if ($kind < 80)
	{
		my $to = pick(qw(a b h s));

		($names, $values) = rows($to, 0, $from, 'NULL');
		return "WITH gone AS (DELETE FROM $table WHERE $where RETURNING id AS n) INSERT INTO $to ($names) SELECT $values FROM gone";
	}
	return "MERGE INTO $table AS t USING generate_series($from, $from + $count) AS n ON t.id = n WHEN MATCHED AND n % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET " .
	  ($set =~ s/\bid \*/t.id */r) . " WHEN NOT MATCHED THEN INSERT ($names) VALUES ($values)" if $kind < 86;
	return "DO \$do$depth\$ BEGIN " . statement($depth + 1, $table) . '; BEGIN ' . statement($depth + 1, $table) . pick('', '; PERFORM 1 / 0') .
	  '; EXCEPTION WHEN OTHERS THEN PERFORM caught(SQLSTATE, SQLERRM); END; ' . statement($depth + 1, $table) . "; END \$do$depth\$" if $kind < 93 && $depth < 2;
	return "TRUNCATE $table CASCADE" if $kind < 93.5;
	return 'SET LOCAL session_replication_role = ' . pick('replica', 'origin') if $kind < 94;
	# In a trigger of the table this fails, or else it could remove too early.
	return "DO \$fold$depth\$ BEGIN " . (@outer ? "DELETE FROM $outer[0] WHERE $where; " : '') . 'PERFORM ' . ($kind < 99 ? 'cuckoo_follow_fold' : 'rebuild') . "('$filter'); END \$fold$depth\$";
}

# Something that happens to one of our triggers of a table or a filter table.  One
# that is made again does not fire always.
sub spoil
{
	return sprintf q{CALL spoil('%s', '%s', %s)}, pick(@_), pick('ALTER TABLE %s DISABLE TRIGGER %I', 'ALTER TABLE %s ENABLE TRIGGER %I', ('DROP TRIGGER %2$I ON %1$s') x 6, 'DROP TRIGGER %2$I ON %1$s; %3$s',
		'ALTER TRIGGER %2$I ON %1$s RENAME TO renamed'), number(100);
}

# Lines of scripts.  Those that compare print the number of keys, and how many of
# them each way to look them up misses.  A transaction repeats some comparisons,
# because what it knows may be outdated.
my @repeated;
sub change { return statement(0) . ';'; }
sub pause { return 'SELECT pg_sleep(' . rand($_[0]) . ') \g /dev/null'; }

sub compare
{
	my ($table, $column, $filter) = @_ ? @_ : @{ pick(@followed, @repeated) };

	return "SELECT concat_ws('|', 'compared', '$filter', count(*), count(*) FILTER (WHERE NOT one), count(*) FILTER (WHERE NOT whole), left(string_agg(k::text, ' ') FILTER (WHERE NOT (one AND whole)), 100)) " .
	  "FROM (SELECT $column AS k, cuckoo_follow_contains('$filter', $column) AS one, (SELECT cuckoo_follow_filter('$filter')) @> $column AS whole FROM ONLY $table WHERE $column IS NOT NULL OFFSET 0) AS s;";
}

# The same in the snapshot of a query that has begun before, and that does not have
# the table open meanwhile
sub later { return q{SELECT later($compare$} . compare(@_) . q{$compare$)}; }

# Finishes what some session has prepared.
sub finish { return q{SELECT format('%s PREPARED %L', CASE WHEN random() < 0.7 THEN 'COMMIT' ELSE 'ROLLBACK' END, gid) FROM pg_prepared_xacts ORDER BY random() LIMIT 1 \gexec}; }

# Transactions, of which each but the first looks whether it is time to end
sub script
{
	my ($count, $transaction) = @_;
	my @look = (q{SELECT extract(epoch FROM clock_timestamp()) > :end AS done \gset}, '\if :done', '\q', '\endif');

	return map { ($_ > 1 ? @look : (), $transaction->($_), '\echo transaction') } 1 .. $count;
}

sub writer
{
	my ($session) = @_;

	return script(150, sub {
		my ($transaction) = @_;
		my $level = pick(('READ COMMITTED') x 5, ('REPEATABLE READ') x 3, 'SERIALIZABLE');
		my @lines = ('\set ON_ERROR_ROLLBACK ' . pick('off', 'off', 'on'), rand() < 0.2 ? () : "BEGIN ISOLATION LEVEL $level;");
		my $cursor = rand() < 0.2;

		@repeated = (pick(@followed)) x @followed;
		return (@lines, change(), compare()) if @lines == 1;
		push @lines, "\\set snapshot `cat $folder/snapshot`", q{SET TRANSACTION SNAPSHOT :'snapshot';} if $level eq 'REPEATABLE READ' && rand() < 0.5;
		# Early, when a deadlock is rare
		push @lines, damaged() if $ddl && $level eq 'READ COMMITTED' && rand() < 0.3;
		push @lines, compare() if rand() < 0.3;
		push @lines, change(), 'DECLARE c CURSOR FOR ' . pick(compare(), later() . ';') if $cursor;
		foreach my $step (1 .. number(4))
		{
			my @steps = map { (change(), rand() < 0.7 ? compare() : ()) } 1 .. number(2);

			@steps = (damaged(), @steps) if $ddl && rand() < 0.02;
			@steps = ("SAVEPOINT s$step;", @steps, rand() < 0.3 ? 'SELECT 1 / 0;' : (), pick('ROLLBACK TO', 'RELEASE') . " s$step;", compare()) if rand() < 0.3;
			push @steps, "DECLARE u$step CURSOR FOR SELECT * FROM s FOR UPDATE;", "FETCH 2 FROM u$step \\g /dev/null", 'UPDATE s SET k = ' . value('s', 'k', 'id + ' . number(3000)) . " WHERE CURRENT OF u$step;", compare() if rand() < 0.05;
			push @lines, @steps;
		}
		push @lines, 'FETCH c;' if $cursor;
		# COMMIT PREPARED shows rows before other sessions know of triggers turned off.
		return (@lines, pick(('COMMIT;') x 3, 'ROLLBACK;')) if rand() < 0.9 || grep { /ABLE TRIGGER/ } @lines;
		return (@lines, "PREPARE TRANSACTION '$session $transaction';", pick("COMMIT PREPARED '$session $transaction';", "ROLLBACK PREPARED '$session $transaction';", finish(), pause(0.1)));
	});
}

sub maintainer
{
	return script(200, sub {
		my $filter = pick(@followed)->[2];
		# The query's snapshot can be older than what it does.
		my $later = pick('', ' FROM (SELECT pg_sleep(0.02) OFFSET 0) AS s');

		return (pick(("SELECT cuckoo_follow_fold('$filter')$later") x 6, "SELECT rebuild('$filter')$later",
				"SELECT rebuild('$filter', " . pick(100, 5000, 50000) . ', ' . pick(0.1, 0.001) . ')', "VACUUM $filter", 'SELECT txid_current()') . ' \g /dev/null', finish(),
			# The lookup reports a snapshot that is older than a repair.
			"SELECT 'compared', '$filter', 0, missing, 0, log_rows FROM cuckoo_follow_check('$filter') WHERE triggers_enabled AND cuckoo_follow_filter('$filter') IS NOT NULL;", pause(0.04));
	});
}

# For others to import
sub exporter
{
	return script(100, sub { return ('BEGIN;', "SELECT pg_export_snapshot() \\g $folder/snapshot.new", "\\! mv $folder/snapshot.new $folder/snapshot", pause(0.5), 'COMMIT;'); });
}

sub committer { return script(400, sub { return ('SELECT txid_current() \g /dev/null', pause(0.02)); }); }

sub reader
{
	return script(300, sub {
		return ('BEGIN ISOLATION LEVEL ' . pick('READ COMMITTED', 'REPEATABLE READ') . ';', map({ (compare(), pause(0.03)) } 1 .. number(4)), 'COMMIT;');
	});
}

# Statements for one transaction, from which only repair() helps, or which should
# not matter
sub damage
{
	my ($table, $column, $filter) = @_;
	my $root = $table =~ /^([ph])/ ? $1 : $table;
	my ($names, $values) = rows('s', 0, 1, 'NULL');
	my ($insert, $spoiling) = map { sprintf 'INSERT INTO %s (%s) SELECT %s FROM generate_series(1, 30) AS n', $table, rows($table, 0, number(30), $_) } 'NULL', '$run$' . spoil($filter) . '$run$';

	return @{ pick(
		(map { [ "ALTER TABLE $_ RENAME TO ${_}_away" ] } $table, $filter),
		([ "ALTER TABLE $filter RENAME TO ${filter}_away", "CREATE TABLE $filter (LIKE ${filter}_away INCLUDING ALL)", "INSERT INTO $filter TABLE ${filter}_away", 'SELECT pg_sleep(0.05)' ]) x 2,
		[ "ALTER TABLE $table RENAME TO ${table}_away", "CREATE TABLE $table (LIKE ${table}_away INCLUDING ALL)", $insert ],
		[ "ALTER TABLE $root ADD swapped $columns{$table}{$column}", "UPDATE $root SET swapped = " . pick($column, value($table, $column, 'id')), "ALTER TABLE $root RENAME $column TO away_$column", "ALTER TABLE $root RENAME swapped TO $column" ],
		[ "ALTER TABLE $root RENAME $column TO away_$column" ], [ 'ALTER SCHEMA r RENAME TO r_away' ], [ "ALTER TABLE $filter SET SCHEMA away" ],
		[ "ALTER TABLE $root ADD extra float8 DEFAULT random()" ],
		(map { my $command = $_; map { [ "$command $_" ] } $table, $filter } 'VACUUM FULL', 'VACUUM FREEZE', 'REINDEX TABLE CONCURRENTLY'),
		(map { [ "CLUSTER $_ USING ${_}_pkey" ] } $table, $filter),
		(map { [ "ALTER TABLE $table DISABLE TRIGGER $_", $insert ], [ "ALTER TABLE $table DISABLE TRIGGER $_", $insert, "ALTER TABLE $table ENABLE TRIGGER $_" ] } 'ALL', ('USER') x 7),
		([$spoiling]) x 15,
		(map { [ spoil($table, $filter) ], [ spoil($table, $filter), $insert ] } 1 .. 5),
		# What refuses SQL may be dropped.
		(map { [ 'SET LOCAL session_replication_role = origin', pick('SELECT', spoil($filter)), "$_ $filter" ] } 'DELETE FROM', 'TRUNCATE'),
		[ "CREATE TRIGGER extra BEFORE UPDATE ON $filter FOR EACH ROW EXECUTE FUNCTION suppress()" ],
		[ "CREATE RULE extra AS ON UPDATE TO $filter DO INSTEAD NOTHING" ],
		[ "ALTER TABLE $filter ADD extra integer" ], [ "CREATE INDEX extra ON $filter (delta)" ], [ "ALTER TABLE $filter OWNER TO other" ],
		[ "CREATE CONSTRAINT TRIGGER extra AFTER UPDATE ON other FROM $filter FOR EACH ROW WHEN (old.k IS DISTINCT FROM new.k) EXECUTE FUNCTION cuckoo_follow_change()", 'UPDATE other SET k = ' . value('s', 'k', 'n') ],
		[ 'ALTER TABLE p DETACH PARTITION p0' ], [ 'ALTER TABLE h1 NO INHERIT h' ],
		([ 'CREATE TABLE s_new (LIKE s INCLUDING ALL)', "INSERT INTO s_new ($names) SELECT $values FROM generate_series(1, 300) AS n", 'DROP TABLE s CASCADE', 'ALTER TABLE s_new RENAME TO s' ],
			[ 'ALTER TABLE s DROP COLUMN k CASCADE', "ALTER TABLE s ADD k $columns{s}{k}", 'UPDATE s SET k = ' . value('s', 'k', 'id') ],
			[ "SELECT cuckoo_unfollow('$filter')" ], [ "DROP TABLE $filter CASCADE" ]) x 2) };
}

sub damager
{
	return script(100, sub {
		my @damage = damage(@{ pick(@followed) });

		@damage = ('BEGIN', @damage, 'COMMIT') if @damage > 1;
		return (map({ "$_;" } @damage), pause(0.2), 'SELECT repair() \g /dev/null');
	});
}

# Damage within a transaction, which it may repair itself.  That does not help a
# cursor and a query that have begun before.
sub damaged
{
	my @column = @{ pick(@followed, @repeated) };
	my $cursor = 'd' . number(1e9);
	my $rebuild = "SELECT rebuild('$column[2]')";
	my @damage;

	# A rewrite shows the own transaction rows that are newer than its snapshot.
	do { @damage = damage(@column); } while grep { /DEFAULT random/ } @damage;

	# Its id is older than those of transactions that end meanwhile.
	return ('SELECT txid_current() \g /dev/null', pause(0.04), "DECLARE $cursor CURSOR FOR " . later(@column) . ';', map({ "$_;" } @damage), pick(change(), pause(0.02)), pick('SELECT repair() \g /dev/null', "$rebuild \\g /dev/null", "SELECT CASE WHEN ($rebuild) THEN (" . later(@column) . ') END;', pause(0.02)), "FETCH $cursor;", compare(@column));
}

# On the subscriber: leaves a filter table, or a table with its filter tables, out
# of the subscription, and takes them in again.  (Out of a publication would
# be wrong: until a REFRESH the subscriber does not know it.)
sub resubscriber
{
	return script(30, sub {
		my ($table, undef, $filter) = @{ pick(@followed) };
		my @tables = @{ pick([$filter], [ $table, map { $_->[2] } grep { $_->[0] eq $table } @followed ]) };
		my $publications = join ', ', map { "of_$_" } @tables;

		return ("ALTER SUBSCRIPTION subscribed DROP PUBLICATION $publications;", map({ "DELETE FROM ONLY $_;" } @tables), pause(0.3),
			"ALTER SUBSCRIPTION subscribed ADD PUBLICATION $publications;", 'CALL settle();', pause(0.5));
	});
}

# Makes the tables of a round, with rows, and files to copy.
sub tables
{
	my ($ak, $aj, $bk, $p, $h, $s) = map { pick(@types) } 1 .. 6;
	my ($id, $gone) = (q{id integer DEFAULT nextval('ids'), run text}, pick('CASCADE', 'SET NULL'));
	my $sql = <<~SQL;
		DROP SCHEMA IF EXISTS r, r_away, away CASCADE;
		CREATE SCHEMA r;
		CREATE SCHEMA away;
		CREATE SEQUENCE ids START 1000001;
		CREATE TABLE a ($id, k $ak, j $aj, PRIMARY KEY (id));
		CREATE TABLE b ($id, k $bk, a integer REFERENCES a ON DELETE $gone ON UPDATE CASCADE, PRIMARY KEY (id));
		CREATE INDEX ON b (a);
		CREATE TABLE p ($id, k $p, d integer, PRIMARY KEY (id, d)) PARTITION BY LIST (d);
		CREATE TABLE p0 PARTITION OF p FOR VALUES IN (0);
		CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
		CREATE TABLE h ($id, k $h, PRIMARY KEY (id));
		CREATE TABLE h1 (PRIMARY KEY (id)) INHERITS (h);
		CREATE TABLE s ($id, k $s, PRIMARY KEY (id));
		CREATE TRIGGER suppress BEFORE UPDATE ON s FOR EACH ROW WHEN (new.id % 10 = 0) EXECUTE FUNCTION suppress();
		CREATE TABLE other AS SELECT n, NULL::$s AS k FROM generate_series(1, 100) AS n;
		SQL

	%columns = (a => { k => $ak, j => $aj }, b => { k => $bk, a => 'integer' }, s => { k => $s },
		map({ $_ => { k => $p, d => 'integer' } } qw(p p0 p1)), map({ $_ => { k => $h } } qw(h h1)));
	foreach my $table (sort keys %columns)
	{
		my ($names, $values) = rows($table, 1, 1, 'NULL');
		my $whose = 0;

		$sql .= "INSERT INTO $table ($names) SELECT $values FROM generate_series(1, 1000) AS n;\n" if $table !~ /^p\d/;
		# Before and after our triggers, and at commit
		$sql .= "CREATE $_ INSERT ON $table " . (/CON/ ? 'DEFERRABLE INITIALLY DEFERRED ' : '') . 'FOR EACH ROW WHEN (new.run IS NOT NULL AND new.id % 4 = ' . $whose++ . ") EXECUTE FUNCTION run();\n"
		  foreach $table =~ /^p\d/ ? () : ('TRIGGER before BEFORE', 'TRIGGER a_after AFTER', 'TRIGGER z_after AFTER', 'CONSTRAINT TRIGGER commit AFTER');
		($names, $values) = rows($table, 0, 1, 'NULL');
		$sql .= 'CREATE TRIGGER ' . pick('a', 'z') . "_refill AFTER TRUNCATE ON $table EXECUTE FUNCTION refill(\$refill\$INSERT INTO $table ($names) SELECT $values FROM generate_series(1, 10) AS n\$refill\$);\n";
		$sql .= 'COPY (SELECT ' . ($values =~ s/, CASE .*//r) . " FROM generate_series(1, 50) AS n) TO '$folder/$table.copy';\n";
	}
	$sql .= "SELECT cuckoo_follow('$_->[0]', '$_->[1]', " . pick(100, 10000, 100000) . ', ' . pick(0.1, 0.01, 0.001) . ");\n"
	  foreach @followed;
	return $sql;
}

# ---------------------------------------------------------------- The server

# What the rounds share.  caught() lets an error be counted that SQL has caught.
# rebuild() does not accept another name that the table or its column has now, as
# cuckoo_follow_rebuild does: comparisons go by the names.
my $shared = <<~'SQL';
	CREATE EXTENSION cuckoo_follow CASCADE;
	CREATE ROLE other SUPERUSER;
	ALTER DATABASE postgres SET search_path = r, public;
	ALTER DATABASE postgres SET client_min_messages = warning;
	ALTER DATABASE postgres SET lock_timeout = '2s';
	ALTER DATABASE postgres SET statement_timeout = '600s';

	CREATE FUNCTION caught(state text, message text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING USING ERRCODE = state, MESSAGE = message; END $$;
	CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		BEGIN EXECUTE new.run; EXCEPTION WHEN OTHERS THEN PERFORM caught(SQLSTATE, SQLERRM); END;
		RETURN new;
	END $$;
	CREATE FUNCTION refill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE TG_ARGV[0]; RETURN NULL; END $$;
	CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$;
	CREATE FUNCTION later(query text) RETURNS text STABLE LANGUAGE plpgsql AS $$ DECLARE line text; BEGIN EXECUTE query INTO line; RETURN line; END $$;
	CREATE PROCEDURE spoil(relation regclass, command text, n integer) LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE coalesce((SELECT format(command, relation, tgname, pg_get_triggerdef(oid)) FROM pg_trigger WHERE tgrelid = relation AND tgfoid::regproc::text ~ '^cuckoo_follow' ORDER BY md5(tgname || n) LIMIT 1), 'SELECT');
	END $$;
	CREATE PROCEDURE settle() LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 100 LOOP
			EXIT WHEN NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r');
			PERFORM pg_sleep(0.02);
		END LOOP;
	END $$;
	CREATE TABLE followed (t text, c text, filter text);
	CREATE FUNCTION rebuild(wanted text, capacity float8 DEFAULT NULL, fpr float8 DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE names followed;
	BEGIN
		SELECT * INTO names FROM followed WHERE filter = wanted;
		EXECUTE 'LOCK TABLE ONLY ' || names.t || ' IN ACCESS SHARE MODE';
		IF NOT EXISTS (SELECT FROM cuckoo_follow_list() WHERE (table_name, column_name, filter_table) = (names.t::regclass, names.c, names.filter::regclass)) THEN
			RAISE object_not_in_prerequisite_state USING MESSAGE = 'renamed';
		END IF;
		PERFORM cuckoo_follow_rebuild(wanted, capacity, fpr);
		RETURN true;
	END $$;
	CREATE FUNCTION healthy(filter regclass) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT triggers_enabled FROM cuckoo_follow_check(filter));
	EXCEPTION WHEN object_not_in_prerequisite_state THEN RETURN false;
	END $$;
	CREATE FUNCTION repair() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE query text; command text;
	BEGIN
		FOREACH query IN ARRAY ARRAY[
			$q$SELECT 'ALTER SCHEMA r_away RENAME TO r' WHERE to_regnamespace('r_away') IS NOT NULL$q$,
			-- An earlier repair may have followed the column anew.
			$q$SELECT format('DROP TABLE IF EXISTS r.%I CASCADE; ALTER TABLE %s SET SCHEMA r', relname, oid::regclass) FROM pg_class WHERE relnamespace = 'away'::regnamespace AND relkind = 'r'$q$,
			$q$SELECT format('DROP TABLE IF EXISTS %2$I; ALTER TABLE %1$s RENAME TO %2$I', oid::regclass, replace(relname, '_away', '')) FROM pg_class WHERE relname LIKE '%\_away' AND relkind IN ('r', 'p')$q$,
			$q$SELECT format('ALTER TABLE %1$s DROP COLUMN IF EXISTS %3$I; ALTER TABLE %1$s RENAME %2$I TO %3$I', attrelid::regclass, attname, substr(attname, 6)) FROM pg_attribute WHERE attname LIKE 'away\_%' AND attinhcount = 0$q$,
			$q$SELECT format('ALTER TABLE %s DROP COLUMN extra', attrelid::regclass) FROM pg_attribute WHERE attname = 'extra' AND attinhcount = 0$q$,
			$q$SELECT format('DROP TRIGGER extra ON %s', tgrelid::regclass) FROM pg_trigger WHERE tgname = 'extra'$q$,
			$q$SELECT format('DROP RULE extra ON %s', ev_class::regclass) FROM pg_rewrite WHERE rulename = 'extra'$q$,
			-- Also those that a killed REINDEX CONCURRENTLY has left
			$q$SELECT format('DROP INDEX %s', oid::regclass) FROM pg_class WHERE relname ~ '^extra$|_cc(new|old)\d*$' AND relkind = 'i' AND relnamespace = 'r'::regnamespace$q$,
			$q$SELECT format('ALTER TABLE %s OWNER TO CURRENT_USER', oid::regclass) FROM pg_class WHERE relowner = 'other'::regrole AND relkind = 'r'$q$,
			$q$SELECT 'ALTER TABLE p ATTACH PARTITION p0 FOR VALUES IN (0)' FROM pg_class WHERE oid = 'p0'::regclass AND NOT relispartition$q$,
			$q$SELECT 'ALTER TABLE h1 INHERIT h' WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = 'h1'::regclass)$q$,
			-- A column with too many duplicate values would be refused.
			$q$SELECT format('ALTER TABLE %1$I DISABLE TRIGGER ALL; DELETE FROM ONLY %1$I WHERE ctid IN (SELECT ctid FROM (SELECT ctid, row_number() OVER (PARTITION BY %2$I) AS n FROM ONLY %1$I) AS s WHERE n > 7);
				ALTER TABLE %1$I ENABLE TRIGGER ALL; DROP TABLE IF EXISTS %3$I CASCADE; SELECT cuckoo_follow(%1$L, %2$L, 10000, 0.01)', t, c, filter) FROM followed
				WHERE (t, c) NOT IN (SELECT table_name::text, column_name FROM cuckoo_follow_list() WHERE filter_table = to_regclass(filter))$q$,
			$q$SELECT format('SELECT rebuild(%L)', filter) FROM followed WHERE NOT healthy(filter)$q$]
		LOOP
			FOR command IN EXECUTE query LOOP EXECUTE command; END LOOP;
		END LOOP;
	END $$;
	SQL
$shared .= "INSERT INTO followed VALUES ('$_->[0]', '$_->[1]', '$_->[2]');\n" foreach @followed;
$node->safe_psql('postgres', $shared);
my $standby = grep({ $_ eq 'standby' } @modes) ? new_standby($node) : undef;
my $subscriber;
if (grep { $_ eq 'subscriber' } @modes)
{
	$subscriber = new_server('subscriber', conf => "wal_retrieve_retry_interval = 10ms\nmax_logical_replication_workers = 12\nmax_sync_workers_per_subscription = 6\n");
	# Nothing but the subscription writes: triggers and foreign keys do nothing.
	$subscriber->safe_psql('postgres', "$shared; ALTER DATABASE postgres SET session_replication_role = replica");
}

# Lets the subscriber have the tables of a round, but no triggers.
sub subscribe
{
	my ($tables) = @_;
	my @names = (qw(a b p0 p1 h h1 s), map { $_->[2] } @followed);

	$node->safe_psql('postgres', join '', map { "DROP PUBLICATION IF EXISTS of_$_; CREATE PUBLICATION of_$_ FOR TABLE ONLY $_;\n" } @names);
	$subscriber->safe_psql('postgres', $tables . <<~'SQL');
		SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) FROM pg_trigger WHERE tgfoid::regproc::text ~ '^cuckoo_follow' \gexec
		SELECT format('DELETE FROM ONLY %s', oid::regclass) FROM pg_class WHERE relnamespace = 'r'::regnamespace AND relkind = 'r' \gexec
		SQL
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION subscribed CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION " . join(', ', map { "of_$_" } @names));
	$subscriber->wait_for_subscription_sync($node, 'subscribed');
	# In every other second it lags.
	$subscriber->safe_psql('postgres', join '', map { <<~SQL } qw(a b s));
		CREATE TRIGGER slow AFTER UPDATE ON $_ FOR EACH ROW WHEN (extract(epoch FROM clock_timestamp())::bigint % 2 = 0) EXECUTE FUNCTION refill('SELECT pg_sleep(0.002)');
		ALTER TABLE $_ ENABLE ALWAYS TRIGGER slow;
		SQL
}

# Starts a session with a script.  What it prints goes to files, so that nobody
# has to read it meanwhile.
sub start_session
{
	my ($server, $end, $name, @script) = @_;
	my $path = "$folder/$name";

	unlink "$path.sql";
	append_to_file("$path.sql", join "\n", @script, '');
	return {
		name => $name, path => $path, script => \@script,
		run => IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr('postgres'), '-v', 'VERBOSITY=verbose', '-v', "end=$end", '-f', "$path.sql" ],
			'<', '/dev/null', '>', "$path.out", '2>', "$path.err", IPC::Run::timeout(900)) };
}

# Errors that comparisons may report, other statements, and both beside DDL: the
# last are also what PostgreSQL says of a table that another session drops.
my %expected = (
	compare => qr/^(?:25P0[12]|34000|40001|40P01|55P03)/,
	other => qr/^(?:2[14]000|22012|22023|25001|2350[35]|25P0[12]|27000|34000|3B001|40001|40P01|42704|5500[06]|55P03)/,
	ddl => qr/^(?:0A000|23514|2BP01|42601:\ syntax\ error\ at\ or\ near\ "\d|39P01|3F000|42501|42701|42703|42704|42710|42804|42809|42P01|42P07|42P16|5500[06]
		|XX002:\ cannot\ reindex\ invalid\ index|XX000:\ (?:could\ not\ open\ relation\ with\ OID|cache\ lookup\ failed|tuple\ concurrently|.*has\ been\ deleted))/x);
my (%total, %errors);

# Reads what a session printed: where keys were missing, and what errors were not
# expected.
sub read_session
{
	my ($mode, $session) = @_;
	my ($out, $err) = map { slurp_file("$session->{path}.$_") } qw(out err);
	my (@missing, @unexpected);

	foreach my $line (grep { $_ ne '' } split /\n/, $out)
	{
		my ($what, undef, $keys, $one, $whole) = split /\|/, $line;

		$total{$mode}{$what}++;
		next if $what ne 'compared';
		$total{$mode}{keys} += $keys;
		$total{$mode}{there} += $keys if $session->{name} =~ /reader/;
		push @missing, "$session->{name}: $line" if $one || $whole;
	}
	while ($err =~ /^psql:[^\n]*?:(\d+): (ERROR|FATAL|PANIC|WARNING):  (\w{5}: [^\n]*)/gm)
	{
		my ($line, $severity, $message) = ($1, $2, $3);
		my $kind = $severity ne 'WARNING' && $session->{script}[ $line - 1 ] =~ /'compared'|^FETCH [cd]/ ? 'compare' : 'other';

		$errors{$mode}{ substr $message, 0, 5 }++;
		push @unexpected, "$session->{name}, line $line: $severity $message"
		  unless $message =~ $expected{$kind} || ($mode ne 'plain' && $message =~ $expected{ddl}) || ($mode eq 'kill' && $message =~ /^57P0/);
	}
	return (\@missing, \@unexpected);
}

# What is wrong with filters, when their log has been folded.  Each has a copy of
# every key, unless some copies are never removed: see docs/reference.md.  It
# finds others as rarely as it says.
sub wrong_filters
{
	return $node->safe_psql('postgres', join '', map
	{
		my ($table, $column, $filter) = @$_;
		my $key = $column eq 'a' ? 'n' : value($table, $column, 'n');

		<<~SQL;
			SELECT cuckoo_follow_fold('$filter') \\g /dev/null
			SELECT '$filter', c.*, cuckoo_cardinality(f), keys, found
			FROM cuckoo_follow_check('$filter') AS c, $filter, (SELECT count($column) AS keys FROM ONLY $table) AS k,
				(SELECT count(*) AS found FROM (SELECT $key AS k FROM generate_series(1, 10000) AS n EXCEPT SELECT $column FROM ONLY $table) AS s WHERE cuckoo_follow_contains('$filter', k)) AS s
			WHERE n = 0 AND (missing > 0 OR log_rows > 0 OR NOT triggers_enabled OR
				(pinned = 0 AND (cuckoo_info(f)).subfilters = 1 AND (found > 30000 * expected_fpr + 20 OR cuckoo_cardinality(f) <> keys)));
			SQL
	} @followed);
}

note("seed $seed");
my $until = time + $seconds;
for (my $round = 0; $round < @modes || time < $until; $round++)
{
	my $mode = $modes[ $round % @modes ];
	my $here = 'seed ' . ($seed + $round) . ", $mode";

	srand($seed + $round);
	$ddl = $mode !~ /plain|subscriber/;
	my $tables = tables();
	$node->safe_psql('postgres', $tables);
	my @scripts = (map({ [ "writer$_", writer($_) ] } 1 .. ($mode eq 'subscriber' ? 2 : 5)), map({ [ "maintainer$_", maintainer() ] } 1 .. 2), [ 'exporter', exporter() ], [ 'committer', committer() ]);
	push @scripts, [ 'damager', damager() ] if $ddl;
	my $other = $mode eq 'standby' ? $standby : $mode eq 'subscriber' ? $subscriber : undef;
	my @others = $other ? map { [ "reader$_", reader() ] } 1 .. 2 : ();
	if ($mode eq 'subscriber')
	{
		subscribe($tables);
		push @others, [ 'resubscriber', resubscriber() ];
	}
	my $wait = 0.3 + rand($round_seconds - 0.5);
	$node->wait_for_catchup($standby) if $standby;
	my $end = time + $round_seconds;
	my @sessions = (map({ start_session($other, $end, @$_) } @others), map { start_session($node, $end, @$_) } @scripts);
	if ($mode eq 'kill')
	{
		sleep($wait);
		my $pid = rand() < 0.5 && $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY state LIMIT 1});
		kill_backend($node, $pid) if $pid;
		$node->stop('immediate') if !$pid;
		$node->start if !$pid;
	}
	$_->{run}->finish foreach @sessions;

	my @read = map { [ read_session($mode, $_) ] } @sessions;
	foreach my $test ([ 'no key is missing', map { @{ $_->[0] } } @read ], [ 'no unexpected error', map { @{ $_->[1] } } @read ])
	{
		my ($name, @found) = @$test;

		is(join("\n", @found > 10 ? (@found[ 0 .. 9 ], 'and more') : @found), '', "$here: $name");
	}
	foreach my $gid (split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts'))
	{
		$node->safe_psql('postgres', ($gid =~ /[02468]$/ ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$gid'");
	}
	$node->safe_psql('postgres', 'SELECT repair()') if $ddl;
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION subscribed') if $mode eq 'subscriber';
	is(wrong_filters(), '', "$here: after folds the filters hold what the tables hold");
}

foreach my $mode (@modes)
{
	my $sum = $total{$mode};

	ok($sum->{keys} && ($mode !~ /standby|subscriber/ || $sum->{there}), "$mode: keys were compared");
	note("$mode: $sum->{transaction} transactions, $sum->{compared} comparisons of $sum->{keys} keys, ", $sum->{there} // 0, " on another server; errors: ", join ', ', map { "$errors{$mode}{$_} $_" } sort keys %{ $errors{$mode} });
}
# test/run.sh prints this.
note("note: seed $seed, keys compared: ", join ', ', map { "$total{$_}{keys} $_" } @modes);
my @crashes = grep { /PANIC|TRAP|signal (?!9:)/ } split /\n/, slurp_file($node->logfile);
is("@crashes", '', 'no crash except ours');
$_->stop foreach grep { defined } $standby, $subscriber, $node;
done_testing();
