# Limits: long operations can be cancelled, too large values are refused before
# they use memory, and a server that runs out of memory raises an error and
# stays up.
#
# With CUCKOO_TEST_LARGE=1 the largest filter and state as well, which takes a quarter
# of an hour, 12 GB of memory and 10 GB of disk.  Another number is that of the keys in
# the largest filter, by default as many as it holds (some 217 million).

use CuckooTest;
use List::Util qw(min);
use Time::HiRes qw(time);

my $large = $ENV{CUCKOO_TEST_LARGE};
my $node = new_server('main');

# A sparse filter of 38 MB, used only by the operation tested, for which 9
# million keys are enough at this rate and capacity.  And a dense one.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo;
CREATE UNLOGGED TABLE large AS SELECT cuckoo_agg(i, 2e8, 2e-8) AS f FROM (SELECT generate_series(-9216000, 1000) AS i) AS s;
CREATE UNLOGGED TABLE dense AS SELECT cuckoo_agg(i, 3e6, 0.001) AS f FROM (SELECT generate_series(1, 2900000) AS i) AS s;
CREATE UNLOGGED TABLE thin AS SELECT cuckoo_agg(i, 1e7, 0.001) AS f FROM (SELECT generate_series(1, 2000000) AS i) AS s;
CREATE UNLOGGED TABLE texts (t text);
ALTER TABLE texts ALTER t SET STORAGE external;
INSERT INTO texts SELECT f::text FROM large;
CREATE UNLOGGED TABLE keys (a integer[]);
ALTER TABLE keys ALTER a SET STORAGE external;
INSERT INTO keys SELECT ARRAY(SELECT generate_series(1, 1500000));
CREATE UNLOGGED TABLE compressed (id integer, f cuckoofilter);
ALTER TABLE compressed ALTER f SET STORAGE extended;
-- Copies of 16 bits are the same bytes again.
INSERT INTO compressed SELECT id, cuckoo_multiset_agg(i / 8 * id, 2e7, 0.001) FROM generate_series(1, 3) AS id, generate_series(0, 399999) AS i GROUP BY id;
SQL
is($node->safe_psql('postgres', 'SELECT representation FROM large, cuckoo_info(f) UNION ALL SELECT representation FROM dense, cuckoo_info(f)'),
	"sparse\ndense", 'a large sparse filter and a dense one');

# Does not let a query keep filters.
my $uncached = q{(SELECT set_config('cuckoo.cache_size', '0', true)) AS s};

# Cancel at several moments.  It must take effect within a second, and only give
# an error.
my %operations = (
	'building by cuckoo_agg' => 'SELECT length(cuckoo_agg(i)::text) FROM generate_series(1, 3000000) AS i',
	'building by cuckoo_stream_agg' => 'SELECT cuckoo_cardinality(cuckoo_stream_agg(i, 3e6, 0.001)) FROM generate_series(1, 3000000) AS i',
	'adding, sparse' => 'SELECT cuckoo_cardinality(cuckoo_add_all(f, a)) FROM large, keys',
	'adding, dense' => 'SELECT cuckoo_cardinality(cuckoo_add_all(f, a)) FROM dense, keys',
	'removing, sparse' => 'SELECT cuckoo_cardinality(cuckoo_remove_all(f, ARRAY(SELECT -i FROM generate_series(1, 300000) AS i))) FROM large',
	'removing, dense' => 'SELECT cuckoo_cardinality(cuckoo_remove_all(f, a)) FROM dense, keys',
	'union, sparse' => 'SELECT cuckoo_cardinality(f | (f + 5000)) FROM large',
	'union, dense' => 'SELECT cuckoo_cardinality(f | (f + -5)) FROM dense',
	'union all' => 'SELECT cuckoo_cardinality(cuckoo_union_all(f, f)) FROM large',
	'text output' => 'SELECT length(f::text) FROM large',
	'text input' => 'SELECT cuckoo_cardinality(t::cuckoofilter) FROM texts',
	'bytea input, sparse' => 'SELECT cuckoo_cardinality(f::bytea::cuckoofilter) FROM large',
	'lookups of an array' => 'SELECT array_length(cuckoo_contains_each(f, a || a), 1) FROM large, keys',
	'lookups in a scan' => 'SELECT count(*) FROM large, generate_series(1, 3000000) AS i WHERE f @> i',
	'lookups of a list, in slices' => "SELECT f @> ALL (a) FROM dense, keys, $uncached",
	'lookups of a list, in a compressed filter' => "SELECT f @> ALL (ARRAY(SELECT generate_series(0, 3000))) FROM compressed, $uncached");

# Runs a query with a timeout in milliseconds.  Returns whether it was cancelled,
# how many seconds it took, and how many of them after the timeout.  psql measures
# these, without its own start.  If it is late, it gets three attempts: a busy machine
# delays some of them, a stretch without checks all.
sub run_with
{
	my ($timeout, $bound, $query) = @_;
	my ($cancelled, $seconds, $late);

	foreach my $attempt (1 .. 3)
	{
		my (undef, $stdout, $stderr) = $node->psql('postgres',
			"\\set VERBOSITY sqlstate\nSET statement_timeout = $timeout;\n\\timing on\n$query;", on_error_stop => 1);

		$cancelled = $stderr =~ /ERROR:  57014/;
		$seconds = ($stdout =~ /^Time: ([\d.]+) ms/m)[0] / 1000;
		$late = $seconds - $timeout / 1000;
		last if $late < $bound;
	}
	return ($cancelled, $seconds, $late);
}

sub cancel
{
	my ($name, $query, @timeouts) = @_;

	foreach my $timeout (@timeouts)
	{
		my ($cancelled, undef, $late) = run_with($timeout, 1, $query);

		ok($cancelled, "$name is cancelled") if $timeout == $timeouts[0];
		cmp_ok($late, '<', 1, "$name: within a second");
		last if !$cancelled;
	}
	return;
}
cancel($_, $operations{$_}, 5, 40) foreach sort keys %operations;
# After a second, the filter is in memory.
cancel('lookups of a list, in memory', <<'SQL', 5, 1000);
SELECT f @> ALL (b || b) FROM large, (SELECT a || a || a || a AS b FROM (SELECT ARRAY(SELECT -i FROM generate_series(1, 1500000) AS i) AS a OFFSET 0) AS s OFFSET 0) AS s
SQL

# Nothing runs longer than 100 ms without checking for interrupts.  Here
# thousands of keys have the same even bucket: they cannot be placed, and the
# table, which would otherwise be dense, is made sparse.
my ($key_of) = slurp_file("$FindBin::RealBin/../sql/hostile.sql") =~ /^(CREATE FUNCTION rotate.*?^END \$\$;)/ms;
$node->safe_psql('postgres', <<SQL);
$key_of
CREATE UNLOGGED TABLE crowded (a bigint[]);
ALTER TABLE crowded ALTER a SET STORAGE external;
INSERT INTO crowded SELECT ARRAY(SELECT i FROM generate_series(1, 4000000::bigint) AS i
	UNION ALL SELECT key_of((1234567890::bigint << 32) + (i << 30)) FROM generate_series(1, 20000::bigint) AS i);
SQL
is($node->safe_psql('postgres', <<'SQL'), 'sparse|1|4020000', 'keys of one bucket, in an array: a table that cannot be placed is sparse');
SELECT representation, subfilters, capacity FROM crowded, cuckoo_info(cuckoo_from_array(a));
SQL
{
	my $query = 'SELECT cuckoo_cardinality(cuckoo_from_array(a)) FROM crowded';
	my ($moments, $latest) = (0, 0);

	# On a busy machine everything takes longer.
	my $bound = 0.3 * (run_with(0, 1e9, $query))[1];
	$bound = 0.15 if $bound < 0.15;
	for (my $timeout = 20; ; $timeout += 20 + int($timeout / 5))
	{
		my ($cancelled, undef, $late) = run_with($timeout, $bound, $query);

		$latest = $late if $late > $latest;
		last if !$cancelled;
		$moments++;
	}
	cmp_ok($moments, '>', 2, 'keys of one bucket, in an array: cancelled at several moments');
	cmp_ok($latest, '<', $bound, '... soon');
}

# Memory

# Tests the result of a query, and that it takes at most so much more memory than an
# idle session.
my $idle;
sub is_within
{
	my ($query, $expected, $room) = @_;
	my $began = time;
	my ($result, $peak) = measure($node, $query);

	is($result, $expected, sprintf '%s: %.1f s, %d MB', $query, time - $began, $peak) if defined $expected;
	cmp_ok($peak, '<=', $idle + $room, '... before it takes memory') if $room;
	return;
}

SKIP:
{
	skip 'no /proc here', 22 if !-r '/proc/self/status';
	(undef, $idle) = measure($node, 'SELECT NULL');
	is_within("SELECT $_", '54000', 16) foreach 'cuckoo_new(capacity => 5.1e8)', 'cuckoo_agg(1, 5.1e8, 0.001)',
	  'cuckoo_stream_agg(1, 5.1e8, 0.001)', 'cuckoo_stream_agg(1, 1e12, 2e-8)';

	# Repetitions take little room: of keys that come again and again, fast or
	# slowly, of 200 frequent keys, and if no hash begins with a 0.
	is_within("SELECT cuckoo_cardinality(cuckoo_agg($$_[0])) FROM generate_series(1, $$_[1]) AS i", $$_[2], $$_[3])
	  foreach [ 'i % 35000', 2100000, 35000, 14 ], [ 'i % 425000', 4250000, 425000, 20 ], [ 'CASE i % 27 WHEN 0 THEN i ELSE i % 200 END', 8100000, 300193, 20 ], [ 'i % 850000) FILTER (WHERE cuckoo_hash(i % 850000) < 0', 8500000, 424888, 20 ];
	# Also beside many keys whose hashes have the same first byte
	is_within(<<~'SQL', '39464', 20);
		SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM (SELECT i FROM generate_series(1, 10000000) AS i WHERE cuckoo_hash(i) >> 56 = 5
			UNION ALL SELECT i FROM (SELECT min(i) AS i FROM generate_series(1, 5000) AS i GROUP BY cuckoo_hash(i) >> 56) AS s, generate_series(1, 25000)) AS s
		SQL

	# Each lookup of a list reads the filter, of 900 kB, anew.
	is_within("SELECT f @> ALL (ARRAY(SELECT generate_series(0, 300))) FROM compressed, $uncached WHERE id = 1", 't', 16);

	# 38 MB in base64, which are in memory as text and as a C string in any case
	my ($text) = (measure($node, 'SELECT textout(t) IS NULL FROM texts'))[1];
	is_within('SELECT cuckoo_cardinality(t::cuckoofilter) > 0 FROM texts', 't', $text + 12 - $idle);
}

# The largest filter of each rate, and one full of keys
SKIP:
{
	skip 'the largest filters: set CUCKOO_TEST_LARGE=1', 1 unless $large;
	my $largest;

	foreach my $rate (qw(0.001 2e-8))
	{
		my $too_many = 600_000_000;

		$largest = 100_000_000;
		while ($too_many - $largest > 1)
		{
			my $middle = int(($largest + $too_many) / 2);
			my $empty = sqlstate($node, 'postgres', "SELECT cuckoo_cardinality(cuckoo_new($middle, $rate))");

			($empty eq '0' ? $largest : $too_many) = $middle;
		}
		is_within("SELECT octet_length(cuckoo_new($largest, $rate)::bytea) < 100", 't');
		is_within("SELECT $_$too_many, $rate)", '54000', 16) foreach 'cuckoo_new(', 'cuckoo_agg(1, ', 'cuckoo_stream_agg(1, ';
	}

	# cuckoo_agg accepts 120 million keys, so the filter is made of two parts.
	my $keys = $large > 1 ? $large : $largest;
	my $half = int($keys / 2);
	my $file = $node->basedir . '/big';
	my $is_full = $keys == $largest;
	my $agg = "SELECT %d, cuckoo_agg(i, $largest, 2e-8) FROM (SELECT generate_series(%d, %d) AS i) AS s";

	$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE big (n integer, f cuckoofilter)');
	is_within('INSERT INTO big ' . sprintf($agg, 4, 1, $half), '');
	is_within('INSERT INTO big ' . sprintf($agg, 5, $half + 1, $keys), '');
	is_within('INSERT INTO big SELECT 1, cuckoo_union_all_agg(f) FROM big', '');
	$node->safe_psql('postgres', 'DELETE FROM big WHERE n <> 1; VACUUM big');
	is_within('SELECT (cuckoo_info(f)).bytes BETWEEN 786000001 AND 786432000 FROM big', $is_full ? 't' : 'f');
	is_within("SELECT f @> $keys FROM big", 't', 16);
	is_within("SELECT count(*) FROM generate_series(1, 1000000) AS i WHERE (SELECT f FROM big) @> i * ($keys / 1000000)",
		'1000000');
	is_within('SELECT count(*) < 5 FROM generate_series(1, 1000000) AS i WHERE (SELECT f FROM big) @> -i', 't');
	is_within('UPDATE big SET f = f + -5', '');
	is_within('SELECT cuckoo_cardinality(f - -5) FROM big', $keys);
	foreach my $format (qw(text binary))
	{
		is_within("COPY (SELECT n + 1, f FROM big ORDER BY n DESC LIMIT 1) TO '$file' (FORMAT $format)", '');
		is_within("COPY big FROM '$file' (FORMAT $format)", '');
	}
	unlink $file;
	is_within('SELECT count(*) FROM big AS a, big AS b WHERE a.n = 1 AND a.f = b.f', '3');
	is_within('SELECT cuckoo_cardinality(a.f | b.f) > 0 FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 2', 't');
	# Twice as many copies do not fit.
	is_within('SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) > 0 FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 2',
		$is_full ? '54000' : 't');
	# These have another shape, and would need tables of their own beside these.
	is_within('INSERT INTO big ' . sprintf($agg =~ s/, $largest/, 0.9 * $largest/r, 4, 1, $half), '');
	is_within('SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 4',
		$is_full ? '54000' : undef);
	$node->safe_psql('postgres', 'DELETE FROM big WHERE n <> 1; VACUUM big');
	$node->command_ok([ 'pg_dump', '-t', 'big', '-f', $file, '-d', $node->connstr('postgres') ], 'pg_dump');

	# The functions are called directly: PostgreSQL copies and measures a text of 1
	# GB for seconds, and cannot be interrupted then.
	cancel("the largest: $_", "SELECT $_", 20, 100, 300, 700, 1200, 2000, 3000, 4500, 7000, 10000) foreach
	  'cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 30000000) AS i',
	  "cuckoo_cardinality(cuckoo_agg(i, $largest, 2e-8)) FROM generate_series(1, 10000000) AS i",
	  'cuckoo_cardinality(cuckoo_from_array(array_fill(1, ARRAY[100]) || ARRAY(SELECT generate_series(1, 30000000))))',
	  'cuckoo_cardinality(cuckoo_stream_agg(i, 2e8, 2e-8)) FROM generate_series(1, 10000000) AS i',
	  map { "$_ FROM big" } 'cuckoo_cardinality(f | (f + -7))', 'cuckoo_cardinality(cuckoo_union_all(f, f))',
	  'cuckoofilter_out(f) IS NULL', 'cuckoo_cardinality(f::bytea::cuckoofilter)',
	  'cuckoofilter_in(cuckoofilter_out(f)) IS NULL',
	  'cuckoo_cardinality(f + -7)', 'f < (f + -7)', 'cuckoofilter_hash(f)';
	$node->safe_psql('postgres', 'DROP TABLE big');

	# The state of cuckoo_agg, in which repetitions take no room
	is_within("SELECT cuckoo_cardinality(cuckoo_agg($$_[0])) FROM generate_series(1, $$_[1]) AS i", $$_[2])
	  foreach [ 'i', 120000000, 120000000 ], [ 'i', 120000001, '54000' ], [ 'i % 10000000', 300000000, 10000000 ];
}

# A session keeps up to cuckoo.cache_size, 256 MB, of filters read whole, which is seven of these.
# After 4,700 lookups in slices an eighth replaces the one used longest ago.
create_buffers($node);
$node->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE kept (id integer, f cuckoofilter);
INSERT INTO kept SELECT i, cuckoo_add_all(f, ARRAY[i * 100000]) FROM large, generate_series(1, 8) AS i;
VACUUM kept;
CREATE FUNCTION lookups(id integer) RETURNS text LANGUAGE sql RETURN
	format('SELECT FROM generate_series(-5000, 0) AS i WHERE (SELECT f FROM kept WHERE id = %s) @> i', id);
CREATE FUNCTION filters_kept() RETURNS numeric LANGUAGE sql
	AS $$SELECT round(sum(total_bytes) / (SELECT (cuckoo_info(f)).bytes FROM large)) FROM pg_backend_memory_contexts WHERE name = 'stored cuckoofilter'$$;
SQL
is($node->safe_psql('postgres', 'SELECT 2^28 / bytes BETWEEN 7 AND 7.02 FROM large, cuckoo_info(f)'), 't', 'seven filters fill what may be kept');
is($node->safe_psql('postgres', 'SELECT bool_and(octet_length(f::bytea) > 900000 AND pg_column_size(f) < 400000) FROM compressed'), 't', 'filters that are compressed');
is($node->safe_psql('postgres', <<'SQL'), "7\n7\n1\n1|8\n2|8\n3|8\n6", 'an eighth filter replaces the one used longest ago, and so do compressed ones');
BEGIN;
SELECT buffers(lookups(id)) FROM generate_series(1, 7) AS id \g /dev/null
SELECT filters_kept();
SELECT buffers(lookups(8)) \g /dev/null
SELECT filters_kept();
-- Those that have to be read again: the others come first.
SELECT id FROM generate_series(8, 1, -1) AS id WHERE buffers(lookups(id)) > 1000;
SELECT id, count(*) FROM generate_series(1, 8) AS i, LATERAL (SELECT * FROM compressed WHERE i > 0 ORDER BY id) AS s WHERE f @> (i * id) GROUP BY id ORDER BY id;
SELECT filters_kept();
COMMIT;
SQL
# All of them for each key, so that one is always read in slices
is($node->safe_psql('postgres', <<'SQL'), join("\n", map { "$_|1001" } 1 .. 8), 'eight filters, more than can be kept');
SELECT id, count(*) FROM (SELECT i FROM generate_series(1, 12000) AS i OFFSET 0) AS i, LATERAL (SELECT * FROM kept WHERE i > 0) AS k
WHERE f @> CASE i WHEN 12000 THEN id * 100000 ELSE i END GROUP BY id ORDER BY id;
SQL

# A server whose processes can allocate little memory: 380 MB more than a process
# has mapped that does nothing, which depends on the libraries and locales of the
# machine

my $mapped = -r '/proc/self/status' ? $node->safe_psql('postgres', q{SELECT substring(pg_read_file('/proc/self/status') FROM 'VmSize:\s+(\d+)')}) : 220 * 1024;
$node->stop;
{
	my $data = $node->data_dir;
	my $log = $node->logfile;
	my $memory = $mapped + 380 * 1024;

	is( system('sh', '-c', "ulimit -v $memory && exec pg_ctl -D '$data' -l '$log' -o --cluster-name=main -w start >/dev/null"),
		0, 'a server with little memory started');
	$node->_update_pid(1);
}
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my %hungry = (
	'union all of rows' => 'SELECT cuckoo_cardinality(cuckoo_union_all_agg(f)) FROM large, generate_series(1, 8)',
	'cuckoo_agg, on its way' => 'SELECT cuckoo_cardinality(cuckoo_agg(i * 1000 + j)) FROM generate_series(1, 60000) AS i, generate_series(1, 1000) AS j');
foreach my $name (sort keys %hungry)
{
	is(sqlstate($node, 'postgres', $hungry{$name}), '53200', "out of memory: $name");
}

# More and more memory is taken by something else, so that one allocation after
# another fails.
my %frugal = (
	'union, sparse' => 'cuckoo_cardinality(f | (f + 5000)) FROM thin',
	'union, dense' => 'cuckoo_cardinality(f | (f + -5)) FROM dense',
	'lookups' => 'count(*) FROM large, generate_series(1, 10000) AS i WHERE f @> i',
	'text output and input' => 'cuckoo_cardinality(f::text::cuckoofilter) FROM large',
	'streaming' => 'cuckoo_cardinality(cuckoo_stream_agg(i, 2e8, 2e-8)) FROM generate_series(1, 300000) AS i',
	'building' => 'cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 300000) AS i',
	'from an array' => 'cuckoo_cardinality(cuckoo_from_array(a)) FROM keys');
foreach my $name (sort keys %frugal)
{
	is( $node->safe_psql('postgres', <<~SQL), '53200: t, fine: t', "an allocation fails, and no harm is done: $name");
		DO \$\$ DECLARE part integer; ballast text; failed integer := 0; fine integer := 0;
		BEGIN
			FOREACH part IN ARRAY ARRAY[6, 4, 2, 0] LOOP
				BEGIN
					ballast := repeat(repeat('x', 1000000), part * 60);
					PERFORM $frugal{$name};
					fine := fine + 1;
				EXCEPTION WHEN out_of_memory THEN
					failed := failed + 1;
				END;
				ballast := NULL;
			END LOOP;
			PERFORM set_config('test.result', format('53200: %s, fine: %s', failed > 0, fine > 0), false);
		END \$\$;
		SELECT current_setting('test.result');
		SQL
}

# In a cumulative window, cuckoo_agg builds a filter of all keys so far for each
# row, and cuckoo_stream_agg copies one.
my ($built, $copied) = map {
	my $query = "SELECT extract(epoch FROM clock_timestamp() - statement_timestamp()) FROM (SELECT sum(cuckoo_fpr(f)) AS rates FROM (SELECT $_ OVER (ORDER BY i) AS f FROM generate_series(1, 6000) AS i) AS s) AS s WHERE rates > 0";

	min(map { $node->safe_psql('postgres', $query) } 1 .. 3);
} 'cuckoo_agg(i)', 'cuckoo_stream_agg(i, 6000)';
cmp_ok($built, '>', 3 * $copied, sprintf 'a cumulative window of 6,000 rows: %.2f s by cuckoo_agg, %.2f s by cuckoo_stream_agg', $built, $copied);
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server is still up');
is($node->safe_psql('postgres', 'SELECT f @> 1000 FROM large'), 't', 'and answers');
unlike(slurp_file($node->logfile), qr/TRAP:|terminated by signal|PANIC/, 'no process crashed');

$node->stop;
done_testing();
