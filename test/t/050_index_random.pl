# Random changes of tables with cuckoo indexes.  Sessions write, VACUUM and DDL run
# beside them, and others compare what the indexes find with sequential scans, and
# the filters of the indexes with all keys of the tables, in one snapshot each.  Two
# indexes are exclusion constraints: table u has one of two columns, and w a partial
# one that is checked at the end of transactions.  From PostgreSQL 18 on others are
# unique: two of table h, in which two sessions update rows of a few keys, and one of an
# unlogged table.
#
# A round makes tables and indexes of random types, runs its sessions for some seconds,
# compares again, deletes all rows, and tests that VACUUM leaves no entries.
# Rounds take turns in these modes:
#
#   plain     changes and VACUUM
#   ddl       also, indexes and tables are made anew, altered, emptied, detached
#   kill      the same as ddl, and the server or one of its processes is killed
#   standby   the same as ddl without CONCURRENTLY, and sessions on a standby compare,
#             too.  (With it, older snapshots of a standby can miss rows by any
#             index of PostgreSQL.)
#   small     the same as ddl, with a library that has small limits: entries of 28
#             bits, chains of 5 links, and splits that are refused
#
# Replay in the modes kill and standby compares pages (wal_consistency_checking).
# small-kill and small-standby are modes, too.
#
# CUCKOO_TEST_MODES names some of them, CUCKOO_TEST_SECONDS sets the duration, 20
# by default, and CUCKOO_TEST_SEED repeats the choices, but not their timing.

use CuckooTest;
use Time::HiRes qw(sleep time);

my @modes = split ' ', $ENV{CUCKOO_TEST_MODES} || 'plain ddl kill standby small';
my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 20;
my $seed = $ENV{CUCKOO_TEST_SEED} || int(time);
my $round_seconds = 4;
my $small_limits = '-DCUCKOO_MAX_LINKS=5 -DCUCKOO_ENTRY_BITS=28 -DCUCKOO_REFUSED_SPLITS=2';

my $node = new_server('random', replication => 1, conf => <<~'CONF');
	autovacuum_naptime = 1s
	client_min_messages = warning
	deadlock_timeout = 50ms
	hot_standby_feedback = off
	jit = off
	lock_timeout = 5s
	max_connections = 30
	max_prepared_transactions = 50
	max_standby_streaming_delay = -1
	max_wal_size = 1GB
	min_parallel_index_scan_size = 0
	restart_after_crash = on
	search_path = 'r, public'
	shared_buffers = 32MB
	statement_timeout = 600s
	wal_keep_size = 4GB
	CONF
my $folder = $node->basedir;

# The library with small limits is built while other modes run.
my $build;
if (grep { /small/ } @modes)
{
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
	mkdir "$folder/small";
	$build = IPC::Run::start([ 'sh', '-ec', <<~'SH', "$FindBin::RealBin/../..", "$folder/small", $small_limits ], '>', "$folder/small/log", '2>&1');
		cd "$1"
		cp -R "$0/Makefile" "$0"/*.control "$0/src" .
		find src -name '*.o' -exec rm {} +
		make -s PG_CONFIG="$(command -v pg_config)" with_llvm=no COPT="-O1 $2" all
		SH
}

# --------------------------------------------------------------- The choices

sub pick { return $_[rand @_]; }
sub number { return 1 + int(rand($_[0])); }

my %key = (key_expressions(), bigint => '(n)::bigint', text => q{('user' || n || '@example.' || n % 7)}, name => q{('user' || n || '@example.' || n % 7)::name},
	'double precision' => '(n / 8.0)::float8', 'integer[]' => 'ARRAY[n, n % 10]::integer[]', 'text[]' => q{ARRAY['key', (n)::text]}, int4range => 'int4range(n::integer, n::integer + 10)');
# Types that operators compare with it, and that the type's values have a form in
my %alike = (integer => 'bigint', bigint => 'integer', 'double precision' => 'real', real => 'double precision', text => 'name', name => 'text');
my @types = (sort(keys %alike), 'numeric', 'uuid', 'timestamp with time zone', 'jsonb', 'integer[]', 'text[]', 'int4range', 'bytea', 'date', 'inet');
my @tables = qw(a t o p l u w h);
my $has_unique = $node->pg_version >= 18;
note('only B-trees can be unique before PostgreSQL 18: constraints take their places') unless $has_unique;
# By table, its columns of keys with their types
my %columns;
# By name, the table, expression, predicate and key of an index: an expression of n.
# One of two columns has the condition for the second, a constraint when it is checked,
# and a unique one says so.
my %indexes;
# The mode, and whether it has DDL and CONCURRENTLY
my ($mode, $ddl, $concurrently);

sub key { return $key{ $_[0] } =~ s/\bn\b/($_[1])::integer/gr; }

# The number of a row's key: one of many, of few, that follow each other, or of those
# whose hashes begin alike
sub key_number
{
	my ($n, $table) = (@_, '');
	my $offset = number(20000);

	return "($n * 7919 + $offset) % 20000" if $table =~ /[uh]/;
	# Only where d = 0 they are different.
	return "CASE WHEN $n % 2 = 0 THEN ($n * 7919 + $offset) % 20000 ELSE $n % 60 END" if $table eq 'w';
	return pick("($n * 7919 + $offset) % 20000", "($n * 7919 + $offset) % 20000", "$n / 5 % 20000", "($n / 300 + $offset) % 1000", "$n % " . number(60),
		"(SELECT number FROM public.chosen WHERE i = ($n + $offset) % 4000)");
}

# Columns, and values for the rows n
sub rows
{
	my ($table, $with_id) = @_;
	my @keys = sort keys %{ $columns{$table} };
	my %value = map { $_ => key($columns{$table}{$_}, key_number('n', $table)) } @keys;

	$value{j} = "CASE WHEN n % 3 > 0 THEN $value{j} END" if $value{j};
	return (join(', ', $with_id ? 'id' : (), @keys, 'v', 'd', 'pad'),
		join(', ', $with_id ? 'n' : (), @value{@keys}, 'n % 100', 'n % 2', q{repeat('x', (n % 7 * 30)::integer)}));
}

# A random statement
sub statement
{
	my ($table) = (@_, pick(@tables));
	my ($from, $count, $part) = (number(20000), int(exp(3 + rand(5))), pick(3, 11, 50, 200));
	my $where = pick("id % $part = " . (number($part) - 1), "id BETWEEN $from AND $from + $count");
	my $column = pick(sort keys %{ $columns{$table} });
	my $set = "$column = " . key($columns{$table}{$column}, key_number('id', $table));
	my $with_id = pick(0, 1);
	my $kind = rand(100);

	# So many that the index grows, or that memory is short
	$count = pick(10000, 10000, 80000) if rand() < 0.02;
	my ($names, $values) = rows($table, $with_id);
	my $insert = "INSERT INTO $table ($names) SELECT $values FROM generate_series($from, $from + $count) AS n ON CONFLICT";

	return $table eq 'w' ? $insert =~ s/ ON CONFLICT$//r : "$insert DO NOTHING" if $kind < 35;
	return "$insert (" . ($table eq 'p' ? 'id, d' : 'id') . ") DO UPDATE SET $column = excluded.$column" if $kind < 42;
	return "COPY $table ($names) FROM PROGRAM 'cat $folder/$table.copy'" if $kind < 47 && !$with_id;
	return "UPDATE $table SET v = v + 1 WHERE $where" if $kind < 57;
	return "UPDATE $table SET $set WHERE $where" if $kind < 70;
	return "UPDATE w SET k = k + 1" if $kind < 72 && $table eq 'w';
	return "UPDATE " . pick('p', 'u', 'w') . " SET d = 1 - d WHERE $where" if $kind < 72;
	return "UPDATE $table SET j = NULL WHERE $where" if $kind < 74 && $columns{$table}{j};
	# At the table's end, so that VACUUM can shorten it
	return "DELETE FROM $table WHERE ctid >= '(" . pick(0, 3, 20, 100) . ",1)'" if $kind < 77 && $table ne 'p';
	return "MERGE INTO $table AS t USING generate_series($from, $from + $count) AS n ON t.id = n WHEN MATCHED AND n % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 0, $column = " .
	  key($columns{$table}{$column}, key_number('n', $table)) . " WHEN NOT MATCHED THEN INSERT ($names) VALUES ($values)" if $kind < 83;
	return "DELETE FROM $table WHERE $where" . pick('', " OR id > $from");
}

# Adds or changes one row, mostly of a few keys
sub hot_statement
{
	my $key = key($columns{h}{k}, int(rand(rand() < 0.9 ? 20 : 2000)));
	my $d = pick(0, 1, 1);
	my $where = pick("k = $key AND d = 1", "md5(k::text) = md5(($key)::text) AND d = $d");
	my $insert = "INSERT INTO h (k, d, v) VALUES ($key, $d, 0)";
	my $target = $d && rand() < 0.5 ? '(k) WHERE d = 1' : '(md5(k::text), d)';

	return "UPDATE h SET v = v + 1 WHERE $where" if rand() < 0.5;
	return pick($insert, "DELETE FROM h WHERE $where") if rand() < 0.2;
	return "$insert ON CONFLICT " . ($has_unique ? "$target DO UPDATE SET v = h.v + 1" : 'DO NOTHING');
}

# Lines of scripts.  Those that compare print the number of keys, and how many answers are wrong.
sub pause { return 'SELECT pg_sleep(' . rand($_[0]) . ') \g /dev/null'; }

sub compare
{
	my ($name, $count) = (@_ > 0 ? $_[0] : pick(sort keys %indexes), $_[1] // 300);
	my $index = $indexes{$name};
	my $key = rand() < 0.3 && $alike{ $index->{type} } ? "($index->{key})::$alike{ $index->{type} }" : $index->{key};

	my $where = join ' AND ', $index->{predicate}, $index->{second} ? "$index->{second} = " . pick(0, 1) : ();

	return "SELECT compare('$index->{table}', '$name', '$index->{expr}', '$where', \$key\$$key\$key\$, $count);";
}

sub filter
{
	my ($name) = (@_, pick(sort keys %indexes));
	my $index = $indexes{$name};

	return "SELECT filter('$name', '$index->{expr}', '$index->{predicate}', " . pick('NULL', 0.03, 0.001) . ');';
}

# Finishes what some session has prepared.
sub finish { return q{SELECT format('%s PREPARED %L', CASE WHEN random() < 0.7 THEN 'COMMIT' ELSE 'ROLLBACK' END, gid) FROM pg_prepared_xacts WHERE database = current_database() ORDER BY random() LIMIT 1 \gexec}; }

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

	return script(200, sub {
		my ($transaction) = @_;
		my @lines = ('\set ON_ERROR_ROLLBACK ' . pick('off', 'on'));

		return (@lines, statement() . ';') if rand() < 0.4;
		my $level = pick(('READ COMMITTED') x 4, 'REPEATABLE READ', 'SERIALIZABLE');
		push @lines, "BEGIN ISOLATION LEVEL $level;";
		foreach my $step (1 .. number(3))
		{
			my @steps = map { statement() . ';' } 1 .. number(2);

			@steps = ("SAVEPOINT s$step;", @steps, pick('ROLLBACK TO', 'RELEASE') . " s$step;") if rand() < 0.4;
			push @lines, @steps, $level ne 'READ COMMITTED' && rand() < 0.3 ? compare() : ();
		}
		return (@lines, pick(('COMMIT;') x 4, 'ROLLBACK;')) if rand() < 0.9;
		return (@lines, "PREPARE TRANSACTION '$session $transaction';", pick("COMMIT PREPARED '$session $transaction';", finish(), pause(0.1)));
	});
}

# The others may delete all rows, so look for a key that is twice in between.
sub hot_writer
{
	my $twice = q{SELECT 'unique', 'h', count(*), string_agg(k, ', ') FILTER (WHERE c > 1) FROM (SELECT k::text, count(*) AS c FROM h GROUP BY h.k, d) AS t;};

	return (script(100, sub { return ((map { hot_statement() . ';' } 1 .. 20), $twice) })) x 10;
}

# With the isolation level of every third transaction, as a standby has no SERIALIZABLE
sub checker
{
	my ($third) = @_;

	return script(300, sub {
		my @lines = ('BEGIN ISOLATION LEVEL ' . ($_[0] % 3 == 0 ? $third : 'REPEATABLE READ') . ';', map { rand() < 0.3 ? filter() : compare() } 1 .. number(3));

		# An old snapshot, which other sessions outlive
		push @lines, map { (pause(0.5), compare(), filter()) } 1 .. 2 if rand() < 0.2;
		return (@lines, 'COMMIT;');
	});
}

# Of all indexes.  Under SERIALIZABLE a scan also reads pages that a table has no longer.
sub last_comparisons
{
	my ($level) = @_;

	return map { ("BEGIN ISOLATION LEVEL $level;", compare($_, 1000), filter($_), 'COMMIT;') } sort keys %indexes;
}

sub vacuumer
{
	return script(200, sub {
		my $table = pick(@tables);

		return ('SET maintenance_work_mem = ' . pick("'1MB'", "'64MB'") . ';',
			"VACUUM (" . pick('FREEZE', 'INDEX_CLEANUP OFF', ('INDEX_CLEANUP ON, PARALLEL 2') x 3, ('INDEX_CLEANUP ON, PARALLEL 0') x 3, 'ANALYZE', 'DISABLE_PAGE_SKIPPING') . ") $table;",
			rand() < 0.1 ? 'CHECKPOINT;' : (), rand() < 0.2 ? finish() : (), pause(0.1));
	});
}

sub is_unique { return $_[0]{unique} || exists $_[0]{checked}; }

sub create_index
{
	my ($name, $option) = @_;
	my $index = $indexes{$name};
	my $with = exists $index->{checked} ? ' WITH =' : '';
	my $kind = $index->{unique} ? 'UNIQUE INDEX' : 'INDEX';
	my $columns = join ', ', map { "$_$with" } $index->{expr}, $index->{second} // ();
	my $rest = "USING cuckoo ($columns) " . pick('', '', 'WITH (fillfactor = ' . pick(10, 50, 100) . ')', 'WITH (capacity = ' . pick(100, 50000) . ')') .
	  ($index->{predicate} eq 'true' ? '' : " WHERE ($index->{predicate})");

	return "ALTER TABLE $index->{table} ADD CONSTRAINT $name EXCLUDE $rest $index->{checked}" if $with;
	return "CREATE $kind $option $name ON $index->{table} $rest";
}

sub drop_index
{
	my ($name) = @_;

	return exists $indexes{$name}{checked} ? "ALTER TABLE $indexes{$name}{table} DROP CONSTRAINT IF EXISTS $name" : "DROP INDEX IF EXISTS $name";
}

# Statements for one transaction, or one that may not be in any
sub definition
{
	my $name = pick(sort keys %indexes);
	my $table = $indexes{$name}{table};
	my $type = $columns{$table}{k};
	my $alike = { integer => 'bigint', bigint => 'integer', text => 'varchar', 'double precision' => 'real', real => 'float8' }->{$type};
	my @more = ($table ne 'p' ? ([ "CLUSTER $table USING ${table}_pkey" ], [ "VACUUM FULL $table" ], [ "ALTER TABLE $table SET (fillfactor = " . pick(20, 100) . ')' ])
		: ([ 'ALTER TABLE p DETACH PARTITION p0', statement('p'), 'ALTER TABLE p ATTACH PARTITION p0 FOR VALUES IN (0)' ], [ 'VACUUM FULL p' ]));

	push @more, [ "ALTER TABLE $table ALTER k TYPE $alike" ], [ "ALTER TABLE $table ALTER k TYPE $type" ] if $alike && $table =~ /[op]/;
	push @more, [ 'ALTER TABLE l SET LOGGED' ], [ 'ALTER TABLE l SET UNLOGGED' ] if $table eq 'l' && $mode !~ /standby/;
	push @more, ([ drop_index($name) ], [ create_index($name, 'CONCURRENTLY') ]) if $concurrently && $table ne 'p' && !is_unique($indexes{$name});
	push @more, ([ "REINDEX INDEX CONCURRENTLY $name" ]) x 2, [ "REINDEX TABLE CONCURRENTLY $table" ] if $concurrently;
	return pick([ "TRUNCATE $table" ], [ "TRUNCATE $table", statement($table) ], [ "REINDEX TABLE $table" ], ([ "REINDEX INDEX $name" ]) x 3,
		([ drop_index($name), statement($table), create_index($name, ''), statement($table) ]) x 3, @more);
}

sub definer
{
	return script(100, sub {
		my @lines = @{ definition() };

		push @lines, create_index($1, 'CONCURRENTLY') if $concurrently && @lines == 1 && $lines[0] =~ /^DROP INDEX IF EXISTS (\w+)/;
		# A transaction fits what does not have to be alone.
		@lines = ('BEGIN ISOLATION LEVEL REPEATABLE READ', @lines, rand() < 0.3 ? compare() : (), pick('COMMIT', 'COMMIT', 'ROLLBACK')) if @lines > 1 && "@lines" !~ /CONCURRENTLY|VACUUM/;
		return (map({ s/;?$/;/r } @lines), pause(0.3));
	});
}

# Makes the tables of a round, with rows, and files to copy.
sub tables
{
	my ($a, $t, $h, $o, $oj, $p, $l, $u) = (pick(qw(integer bigint)), pick(qw(text text varchar name)), pick(qw(bigint text uuid numeric)), map { pick(@types) } 1 .. 5);
	my $columns = 'v integer, d integer, pad text';
	my $id = q{id bigint DEFAULT nextval('ids')};
	my $sql = <<~SQL;
		DROP SCHEMA IF EXISTS r CASCADE;
		CREATE SCHEMA r;
		CREATE SEQUENCE ids START 20001;
		CREATE TABLE a ($id PRIMARY KEY, k $a, j $a, $columns) WITH (fillfactor = 70);
		CREATE TABLE t ($id PRIMARY KEY, k $t, $columns) WITH (fillfactor = 70);
		CREATE TABLE o ($id PRIMARY KEY, k $o, j $oj, $columns);
		CREATE TABLE p ($id, k $p, $columns, PRIMARY KEY (id, d)) PARTITION BY LIST (d);
		CREATE TABLE p0 PARTITION OF p FOR VALUES IN (0);
		CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
		CREATE UNLOGGED TABLE l ($id PRIMARY KEY, k $l, $columns);
		CREATE TABLE u ($id PRIMARY KEY, k $u, $columns);
		CREATE TABLE w ($id PRIMARY KEY, k $a, $columns) WITH (fillfactor = 70);
		CREATE TABLE h ($id PRIMARY KEY, k $h, $columns);
		SQL

	$sql =~ s/UNLOGGED // if $mode =~ /standby/;
	$t = 'text' if $t eq 'varchar';
	%columns = (a => { k => $a, j => $a }, t => { k => $t }, o => { k => $o, j => $oj }, p => { k => $p }, l => { k => $l }, u => { k => $u }, w => { k => $a }, h => { k => $h });
	%indexes = (
		a_near => { table => 'a', expr => '(id / 10)', type => 'bigint' },
		a_few => { table => 'a', expr => '(id % 100)', type => 'bigint' },
		t_lower => { table => 't', expr => 'upper(k::text)', type => 'none', key => 'upper(' . key('text', 'n') . ')' });
	foreach my $table (@tables)
	{
		$indexes{"${table}_$_"} = { table => $table, expr => $_, type => $columns{$table}{$_} } foreach keys %{ $columns{$table} };
	}
	$indexes{a_j}{predicate} = 'v % 3 = 0';
	$indexes{a_two} = { table => 'a', expr => '(id % 1000)', second => 'd', type => 'bigint' };
	$indexes{u_k} = { table => 'u', expr => 'k', second => 'd', type => $u, checked => '' };
	$indexes{w_k} = { table => 'w', expr => 'k', predicate => 'd = 0', type => $a, checked => 'DEFERRABLE INITIALLY DEFERRED' };
	my @unique = $has_unique ? (unique => 1) : (checked => '');
	$indexes{h_k} = { table => 'h', expr => 'k', predicate => 'd = 1', type => $h, @unique };
	$indexes{h_text} = { table => 'h', expr => 'md5(k::text)', second => 'd', type => 'none', key => 'md5((' . key($h, 'n') . ')::text)', @unique };
	$indexes{h_v} = { table => 'h', expr => 'v', type => 'integer' };
	$indexes{l_next} = { table => 'l', expr => '(id + 1)', type => 'bigint', @unique };
	foreach my $index (values %indexes)
	{
		$index->{predicate} //= 'true';
		$index->{key} //= key($index->{type}, 'n');
	}
	my @created = map { create_index($_, '') . ";\n" } sort keys %indexes;
	foreach my $table (@tables)
	{
		my ($names, $values) = rows($table, 0);

		$sql .= "COPY (SELECT $values FROM generate_series(1, " . number(1000) . ") AS n) TO '$folder/$table.copy';\n";
		# Some indexes grow from empty, others are built.
		$sql .= join '', splice(@created, rand @created, 1) if rand() < 0.5;
		$sql .= "INSERT INTO $table ($names) SELECT $values FROM generate_series(1, " . pick(1, 1000, 20000) . ") AS n;\n";
	}
	return join '', $sql, @created;
}

# ---------------------------------------------------------------- The server

# compare() asks a sequential scan of all rows about keys, and then the index, by plain scans
# or bitmap scans: about each as a nested loop's inner side, about some as constants, and
# about several in an array by a parallel bitmap scan.  It counts only answers for which the index was read.
my $shared = <<~'SQL';
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE TABLE chosen AS SELECT row_number() OVER () - 1 AS i, number FROM generate_series(1, 1000000) AS number WHERE cuckoo_hash(number) >> 56 = 17;
	ALTER TABLE chosen ADD PRIMARY KEY (i);

	CREATE FUNCTION numbers(count integer) RETURNS bigint[] LANGUAGE sql AS $$
		SELECT ARRAY(SELECT floor(random() * pick) FROM generate_series(1, count / 5) AS i, (VALUES (100), (1000), (20000), (1e6)) AS p(pick) UNION ALL (SELECT number FROM chosen ORDER BY random() LIMIT count / 5))
	$$;
	CREATE FUNCTION leaves(index text) RETURNS oid[] LANGUAGE sql AS $$
		SELECT ARRAY(SELECT c.oid FROM pg_class AS c JOIN pg_index ON indexrelid = c.oid AND indisvalid
			WHERE relkind = 'i' AND (c.oid = to_regclass(index) OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass(index)))))
	$$;
	CREATE FUNCTION scans(indexes oid[]) RETURNS bigint LANGUAGE sql AS $$ SELECT sum(pg_stat_get_xact_numscans(i)) FROM unnest(indexes) AS i $$;
	CREATE FUNCTION compare(rel text, index text, expr text, predicate text, key text, count integer) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		ns bigint[] := numbers(count);
		keys text := format('(SELECT %s AS k, o FROM unnest($1) WITH ORDINALITY AS u(n, o))', key);
		leaves oid[];
		before bigint;
		counts bigint[]; sums bigint[]; counts_found bigint[]; sums_found bigint[];
		n bigint; one_count bigint; one_sum bigint; all_count bigint; all_sum bigint;
		wrong text[];
		compared bigint := cardinality(ns) + 3;
		plain boolean := random() < 0.5;
	BEGIN
		SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_nestloop = off;
		EXECUTE format('SELECT array_agg(coalesce(c, 0) ORDER BY o), array_agg(coalesce(s, 0) ORDER BY o) FROM %s AS x
			LEFT JOIN (SELECT %s AS k, count(*) AS c, sum(id)::bigint AS s FROM %s WHERE %s GROUP BY 1) AS t ON t.k = x.k', keys, expr, rel, predicate) INTO counts, sums USING ns;
		EXECUTE format('SELECT sum(c), sum(s) FROM (SELECT DISTINCT k, ($2)[o] AS c, ($3)[o] AS s FROM %s AS x WHERE o <= 20) AS d', keys) INTO all_count, all_sum USING ns, counts, sums;

		SET LOCAL enable_seqscan = off; SET LOCAL enable_nestloop = on; SET LOCAL enable_memoize = off;
		PERFORM set_config('enable_indexscan', plain::text, true), set_config('enable_bitmapscan', (NOT plain)::text, true);
		leaves := leaves(index);
		before := scans(leaves);
		EXECUTE format('SELECT array_agg(c ORDER BY o), array_agg(s ORDER BY o) FROM %s AS x
			CROSS JOIN LATERAL (SELECT count(*) AS c, coalesce(sum(id), 0)::bigint AS s FROM %s WHERE %s AND %s = x.k) AS t', keys, rel, predicate, expr) INTO counts_found, sums_found USING ns;
		wrong := ARRAY(SELECT format('%s: %s/%s, not %s/%s', t.n, cf, sf, c, s) FROM unnest(ns, counts, sums, counts_found, sums_found) AS t(n, c, s, cf, sf) WHERE (c, s) <> (cf, sf));
		FOR i IN 1 .. 3 LOOP
			n := ns[1 + floor(random() * cardinality(ns))];
			EXECUTE format('SELECT count(*), coalesce(sum(id), 0) FROM %s WHERE %s AND %s = %s', rel, predicate, expr, regexp_replace(key, '\mn\M', n::text, 'g')) INTO one_count, one_sum;
			IF (one_count, one_sum) <> (counts[array_position(ns, n)], sums[array_position(ns, n)]) THEN
				wrong := wrong || format('constant %s: %s/%s', n, one_count, one_sum);
			END IF;
		END LOOP;
		IF cardinality(leaves) = 0 OR scans(leaves) - before < compared THEN
			RETURN concat_ws('|', 'unused', index, compared, 0, '');
		END IF;
		IF key NOT LIKE 'ARRAY%' THEN
			SET LOCAL enable_bitmapscan = on; SET LOCAL max_parallel_workers_per_gather = 2; SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0;
			EXECUTE format('SELECT count(*), coalesce(sum(id), 0) FROM %s WHERE %s AND %s = ANY (ARRAY(SELECT k FROM %s AS x WHERE o <= 20))', rel, predicate, expr, keys) INTO one_count, one_sum USING ns;
			SET LOCAL max_parallel_workers_per_gather = 0;
			compared := compared + 1;
			IF (one_count, one_sum) <> (all_count, all_sum) THEN
				wrong := wrong || format('array: %s/%s, not %s/%s', one_count, one_sum, all_count, all_sum);
			END IF;
		END IF;
		RETURN concat_ws('|', CASE WHEN plain THEN 'plain' ELSE 'compared' END, index, compared, cardinality(wrong), array_to_string(wrong[: 3], ', '));
	END $$;

	-- What a filter says of the keys of all rows, and how many the index does not find
	CREATE FUNCTION filter(index text, expr text, predicate text, fpr float8) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE leaf regclass; keys bigint; missing bigint; lost bigint; f cuckoofilter;
	BEGIN
		FOREACH leaf IN ARRAY leaves(index) LOOP
			lost := 0;
			BEGIN
				lost := cuckoo_index_check(leaf);
				f := cuckoo_index_filter(leaf, fpr => fpr, partial => true);
			EXCEPTION WHEN object_not_in_prerequisite_state OR invalid_parameter_value OR feature_not_supported THEN f := NULL;
			END;
			SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = off;
			EXECUTE format('SELECT count(*), count(*) FILTER (WHERE NOT $1 @> k) FROM (SELECT %s AS k FROM %s WHERE %s) AS t WHERE k IS NOT NULL', expr, (SELECT indrelid::regclass FROM pg_index WHERE indexrelid = leaf), predicate)
				INTO keys, missing USING f;
			RETURN NEXT concat_ws('|', CASE WHEN f IS NULL THEN 'refused' ELSE 'filtered' END, leaf, keys, missing + lost, format('%s lost, %s not in the filter', lost, missing));
		END LOOP;
	END $$;
	SQL

my $standby;

# Starts a session with a script.  What it prints goes to files, so that nobody
# has to read it meanwhile.
sub start_session
{
	my ($server, $database, $end, $name, @script) = @_;
	my $path = "$folder/$name";

	unlink "$path.sql";
	append_to_file("$path.sql", join "\n", @script, '');
	return {
		name => $name, path => $path,
		run => IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr($database), '-v', 'VERBOSITY=verbose', '-v', "end=$end", '-f', "$path.sql" ],
			'<', '/dev/null', '>', "$path.out", '2>', "$path.err", IPC::Run::timeout(900)) };
}

# Errors that sessions may report, and beside DDL: the last are also what PostgreSQL
# says of a relation that another session drops.
my $expected = qr/^(?:23505|23P01|25P02|3B001|40001|40P01|42704:\ prepared\ transaction|42710:\ transaction\ identifier|55000:\ prepared\ transaction|55P03)/x;
my $expected_ddl = qr/^(?:22003|22001|22P02|23514|25001|3B001|42704|42710|42P10|42804|42883|42P01|42P07|42P17|42809|55000|55006|57014
	|(?:XX002|0A000):\ cannot\ reindex\ (?:invalid|exclusion\ constraint)\ index|0A000:\ concurrent\ index\ creation\ for\ exclusion|XX000:\ (?:could\ not\ open\ relation\ with\ OID|cache\ lookup\ failed|tuple\ concurrently|.*has\ been\ deleted))/x;
my (%total, %errors);

# Reads what sessions printed, and tests that no answer is wrong and every error expected.
sub report
{
	my ($where, @sessions) = @_;
	my (@wrong, @unexpected);

	foreach my $session (@sessions)
	{
		$session->{run}->finish;
		my ($out, $err) = map { slurp_file("$session->{path}.$_") } qw(out err);

		foreach my $line (grep { $_ ne '' } split /\n/, $out)
		{
			my ($what, undef, $keys, $wrong) = split /\|/, $line;

			$total{$mode}{$what} += $keys // 1;
			$total{$mode}{there} += $keys if $session->{name} =~ /reader/ && $what =~ /compared|plain/;
			push @wrong, "$session->{name}: $line" if $wrong;
		}
		while ($err =~ /^psql:[^\n]*?:(\d+): (ERROR|FATAL|PANIC|WARNING):  (\w{5}: [^\n]*)/gm)
		{
			my ($line, $severity, $message) = ($1, $2, $3);

			$errors{$mode}{ substr $message, 0, 5 }++;
			push @unexpected, "$session->{name}, line $line: $severity $message"
			  unless $message =~ $expected || ($ddl && $message =~ $expected_ddl) || ($mode =~ /kill/ && $message =~ /^57P0/);
		}
	}
	is(join("\n", splice @wrong, 0, 10), '', "$where: no wrong answer");
	is(join("\n", splice @unexpected, 0, 10), '', "$where: no unexpected error");
	return;
}

# Kills the server or one of its processes, and waits until it is ready again.
sub kill_something
{
	my ($database) = @_;
	my $pid = rand() < 0.6 && $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE datname = '$database' OR backend_type = 'checkpointer' ORDER BY random() LIMIT 1");

	return kill_backend($node, $pid) if $pid;
	$node->stop('immediate');
	return $node->start;
}

# Waits until the standby has replayed what there is.  This fails at once if the standby
# has ended.
sub catch_up
{
	$standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '" . $node->lsn('insert') . q{'}) or die 'the standby does not replay';
	return;
}

my $infos = q{pg_class AS c JOIN pg_am AS am ON am.oid = relam AND amname = 'cuckoo' JOIN pg_index ON indexrelid = c.oid AND indisvalid AND relkind = 'i', cuckoo_index_info(c.oid) AS i};
my %databases;
my $began = time;
note("seed $seed");
for (my $round = 0; Test::More->builder->is_passing && ($round < @modes || time < $began + $seconds); $round++)
{
	$mode = $modes[ $round % @modes ];
	my $where = 'seed ' . ($seed + $round) . ", $mode";
	my $database = $mode =~ /small/ ? 'small' : 'usual';

	srand($seed + $round);
	($ddl, $concurrently) = ($mode ne 'plain', $mode !~ /standby/);
	if (!$databases{$database}++)
	{
		$build->finish or die slurp_file("$folder/small/log") if $database eq 'small';
		$node->safe_psql('postgres', "CREATE DATABASE $database");
		$node->safe_psql($database, $shared);
		$node->safe_psql($database, "UPDATE pg_proc SET probin = '$folder/small/cuckoo' WHERE probin = '\$libdir/cuckoo'") if $database eq 'small';
	}
	$standby //= new_standby($node) if $mode =~ /standby/;
	# Crash recovery checks pages of indexes that are dropped later, too, and without images
	# in WAL it takes those that it has not read for wrong ones.
	my $images = $mode =~ /standby/ ? pick('on', 'off') : pick('on', 'off', 'off');
	my $check = $mode =~ /standby/ || ($mode =~ /kill/ && $images eq 'on');
	$node->safe_psql('postgres', $_)
	  foreach 'ALTER SYSTEM SET wal_consistency_checking = ' . ($check ? 'generic' : "''"), "ALTER SYSTEM SET full_page_writes = $images", 'SELECT pg_reload_conf()';
	$node->safe_psql($database, tables());
	$node->safe_psql($database, 'CHECKPOINT');
	catch_up() if $standby;

	my $end = time + $round_seconds;
	foreach my $turn ($mode =~ /kill/ ? (1 .. 3) : 1)
	{
		my $wait = $round_seconds * (0.1 + rand(0.3));
		my @sessions = map { start_session($node, $database, $end, @$_) } map({ [ "writer$_", writer("writer$round.$turn.$_") ] } 1 .. 3), map({ [ "hot$_", hot_writer() ] } 1 .. 2),
		  map({ [ "checker$_", checker('SERIALIZABLE') ] } 1 .. 2), [ 'vacuumer', vacuumer() ], $ddl ? [ 'definer', definer() ] : ();

		push @sessions, map { start_session($standby, $database, $end, "reader$_", checker('REPEATABLE READ')) } 1 .. 2 if $mode =~ /standby/;
		if ($mode =~ /kill/ && $turn < 3)
		{
			sleep($wait);
			kill_something($database);
		}
		report("$where, turn $turn", @sessions);
	}
	my @prepared = split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
	$node->safe_psql($database, ($_ =~ /[02468]$/ ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$_'") foreach @prepared;

	# An index that is not valid may be what CONCURRENTLY has left.
	catch_up() if $mode =~ /standby/;
	report("$where, at the end", start_session($node, $database, 0, 'last', last_comparisons('SERIALIZABLE')),
		$mode =~ /standby/ ? start_session($standby, $database, 0, 'reader', last_comparisons('REPEATABLE READ')) : ());
	my @twice = map { my $i = $indexes{$_}; "SELECT '$_', ($i->{expr})::text FROM $i->{table} WHERE $i->{predicate} GROUP BY $i->{expr}" . ($i->{second} ? ", $i->{second}" : '') . " HAVING count(*) > 1 AND $i->{expr} IS NOT NULL" } grep { is_unique($indexes{$_}) } sort keys %indexes;
	is($node->safe_psql($database, join ' UNION ALL ', @twice), '', "$where: no key is twice");
	my $figures = join ', ', map({ "'$_ ' || sum($_)" } qw(pages overflow_pages joined_entries tombstones)), map({ "'$_ ' || max($_)" } qw(depth max_fingerprint_bits));
	note(sprintf '%s after %.0f s: %s', $where, time - $began, $node->safe_psql($database, "SELECT concat_ws(', ', $figures) FROM $infos"));
	$node->safe_psql($database, "DELETE FROM $_") foreach @tables;
	# The snapshot of an automatic ANALYZE may keep rows for a moment.
	my $left = '';
	foreach my $try (1 .. 10)
	{
		$node->safe_psql($database, 'VACUUM (INDEX_CLEANUP ON) ' . join ', ', @tables);
		$left = $node->safe_psql($database, "SELECT c.oid::regclass, i.* FROM $infos WHERE entries > joined_entries");
		last if $left eq '';
		note("VACUUM left, try $try: $left");
		sleep(1);
	}
	is($left, '', "$where: VACUUM leaves no entries of single rows");
	report("$where, without rows", start_session($node, $database, 0, 'last', last_comparisons('SERIALIZABLE')));
}

foreach my $mode (@modes)
{
	my $sum = $total{$mode};

	ok($sum->{compared} && $sum->{plain} && $sum->{filtered} && ($mode !~ /standby/ || $sum->{there}) && ($mode ne 'plain' || !$sum->{unused}), "$mode: answers were compared");
	note("$mode: ", join ', ', map({ "$_ $sum->{$_}" } sort keys %$sum), map { "error $_ $errors{$mode}{$_}" } sort keys %{ $errors{$mode} });
}
# test/run.sh prints this.
note("note: index, seed $seed: ", join ', ', map { "$_ $total{$_}{compared} comparisons by bitmap scans, $total{$_}{plain} by plain scans, $total{$_}{filtered} keys by the filter" } @modes);
my @crashes = grep { /PANIC|TRAP|signal (?!9:)/ } split /\n/, slurp_file($node->logfile);
is("@crashes", '', 'no crash except ours');
$_->stop foreach grep { defined } $standby, $node;
done_testing();
