# The extension on Citus: a coordinator, two workers and, later, a third.
# "test/run.sh citus" builds Citus and runs this.
#
# Most tests run a query in two schemas, "distributed" and "plain", and compare
# the results.  The tables of both schemas have the same names and rows.  The
# last tests run the section "On Citus" of docs/distributed.md.

use CuckooTest;

my $conf = <<'CONF';
shared_preload_libraries = 'citus'
wal_level = logical
max_connections = 200
max_prepared_transactions = 100
max_worker_processes = 40
max_replication_slots = 40
max_wal_senders = 40
citus.node_conninfo = 'sslmode=disable'
CONF

sub new_node
{
	my ($name) = @_;
	my $node = new_server($name, conf => $conf);

	# Shards are moved and split over connections of a node to itself.
	$node->append_conf('postgresql.conf', "citus.local_hostname = '" . $node->host . "'\n");
	# Citus splits shards by an output plugin of its own.  In the minor versions
	# that have this setting, it must be allowed.
	if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'}))
	{
		$node->append_conf('postgresql.conf', "output_plugin_libraries = 'pgoutput, citus'\n");
	}
	$node->reload;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus');
	return $node;
}

# The host and port of a node, as arguments of Citus's functions
sub address
{
	my ($node) = @_;

	return "'" . $node->host . "', " . $node->port;
}

my ($hub, @workers) = map { new_node($_) } qw(coordinator worker1 worker2);

# Adds a node; returns the messages of Citus
sub add_node
{
	my ($node) = @_;
	my (undef, undef, $stderr) = $hub->psql('postgres', 'SELECT citus_add_node(' . address($node) . ')');

	return $stderr;
}

# The second worker is added after the extension has been created.
$hub->safe_psql('postgres', 'SELECT citus_set_coordinator_host(' . address($hub) . ')');
is(add_node($workers[0]), '', 'a node is added');
# A view made before cuckoo_citus
$hub->safe_psql('postgres', 'CREATE EXTENSION cuckoo; CREATE TABLE rows_of_view (id bigint); CREATE VIEW early AS SELECT cuckoo_agg(id) AS f FROM rows_of_view');
$hub->safe_psql('postgres', 'CREATE EXTENSION cuckoo_citus CASCADE; CREATE EXTENSION cuckoo_index');
is(add_node($workers[1]), '', 'another is added');
is($_->safe_psql('postgres', q{SELECT string_agg(extname, ' ' ORDER BY extname) FROM pg_extension WHERE extname LIKE 'cuckoo%'}), 'cuckoo cuckoo_citus cuckoo_index', 'all extensions come to ' . $_->name) foreach @workers;

# ----------------------------------------------------------------- Comparing
$hub->safe_psql('postgres', 'CREATE SCHEMA plain; CREATE SCHEMA distributed');

# Creates a table in both schemas, with columns, distributed by a function
# call, and filled with the rows of a query
sub create_tables
{
	my ($name, $columns, $distribute, $rows) = @_;

	$hub->safe_psql('postgres', <<~SQL);
		CREATE TABLE plain.$name ($columns);
		CREATE TABLE distributed.$name (LIKE plain.$name INCLUDING ALL);
		SELECT $distribute;
		@{[ $rows ? "INSERT INTO plain.$name $rows; INSERT INTO distributed.$name TABLE plain.$name" : '' ]};
		SQL
	return;
}

# Runs scripts in one session in a schema; returns the messages, and the output
# of each script
sub answers
{
	my ($schema, @scripts) = @_;
	my ($status, $stdout, $stderr) = $hub->psql('postgres', join "\n\\echo ---\n", "SET search_path = $schema, public;", @scripts);
	my (undef, @answers) = map { s/^\n|\n$//gr } split /^---$/m, $stdout;

	return ($stderr, @answers);
}

# compare(name => script, ...): tests that each script has the same output in
# both schemas, which is not empty
sub compare
{
	my @pairs = @_;
	my @names = map { $pairs[ 2 * $_ ] } 0 .. $#pairs / 2;
	my @scripts = map { $pairs[ 2 * $_ + 1 ] } 0 .. $#pairs / 2;
	my ($said, @distributed) = answers('distributed', @scripts);
	my ($expected_said, @plain) = answers('plain', @scripts);

	unlike("$said$expected_said", qr/ERROR:/, "no errors: $names[0]" . (@names > 1 ? " and $#names more" : ''));
	foreach my $i (0 .. $#names)
	{
		is($distributed[$i], ($plain[$i] // '') eq '' ? 'something' : $plain[$i], $names[$i])
			or diag("$scripts[$i]\n$said$expected_said");
	}
	return;
}

# The lines of a plan that have the tasks of the nodes
sub tasks
{
	my ($query) = @_;

	return join "\n", grep { /Query: |Task Count: / } split /\n/, $hub->safe_psql('postgres', "SET search_path = distributed, public; EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# The bytes of an aggregate's result
sub digest
{
	return "md5($_[0]::bytea)";
}

# Every aggregate, over columns of every type, with every number of arguments
my %key = key_expressions();
my %column;
@column{ sort keys %key } = map { "k$_" } 1 .. keys %key;
my %parameter = (fpr => '0.002', capacity => '200000', seed => '42');

$hub->safe_psql('postgres', "CREATE TABLE plain.keys AS SELECT i::bigint AS id, i % 9 AS part, n, "
	  . (join ', ', map { "$key{$_} AS $column{$_}" } sort keys %key)
	  . ' FROM (SELECT i, CASE WHEN i % 50 <> 0 THEN i % 701 END AS n FROM generate_series(1, 3000) AS i) AS s');
$hub->safe_psql('postgres', <<~'SQL');
	CREATE TABLE distributed.keys (LIKE plain.keys);
	SELECT create_distributed_table('distributed.keys', 'id', shard_count => 8);
	INSERT INTO distributed.keys TABLE plain.keys;
	SQL

my @aggregates;
foreach my $aggregate (split_aggregates($hub))
{
	my (undef, $signature, $name, $types, $names) = @$aggregate;
	my ($type) = split /,/, $types;
	my (undef, @parameters) = split /,/, $names;

	push @aggregates, [ $signature, 'SELECT ' . digest("$name(" . (join ', ', $column{$type}, map { $parameter{$_} } @parameters) . ')') . ' FROM keys' ];
}
my (undef, @plans) = answers('distributed', map { "EXPLAIN (VERBOSE, COSTS OFF) $_->[1];" } @aggregates);
foreach my $i (0 .. $#aggregates)
{
	my $signature = $aggregates[$i][0] =~ s/(?=cuckoo)/public./gr;

	like($plans[$i], qr/^\s*Query: .*worker_partial_agg\('\Q$signature\E'::regprocedure, /m, "every shard aggregates its own rows: $signature");
}
compare(map { ($_->[0] => "$_->[1];") } @aggregates);
cmp_ok(scalar @aggregates, '>=', 31 * 10 + 2, scalar @aggregates . ' aggregates');

# --------------------------------------------------- Queries with aggregates
my $text = $column{text};
my %statement = (
	'groups' => "SELECT part, @{[ digest('cuckoo_agg(n)') ]}, @{[ digest('cuckoo_stream_agg(n, 1000, 0.001)') ]}, @{[ digest('cuckoo_multiset_agg(n, 10000, 0.001)') ]} FROM keys GROUP BY part ORDER BY part",
	'GROUPING SETS over a sub-select' => "SELECT part, n % 2, @{[ digest('cuckoo_agg(n)') ]} FROM (SELECT part, n FROM keys OFFSET 0) AS s GROUP BY CUBE (part, n % 2) ORDER BY 1, 2, 3",
	'windows by the distribution column' => "SELECT id, @{[ digest('cuckoo_agg(n) OVER (PARTITION BY id)') ]} FROM keys ORDER BY id LIMIT 10",
	'DISTINCT' => "SELECT @{[ digest(qq{cuckoo_agg(DISTINCT $text)}) ]} FROM keys",
	'no rows' => "SELECT @{[ digest('cuckoo_agg(n, 500, 0.01)') ]}, cuckoo_cardinality(cuckoo_stream_agg(n, 500, 0.01)) FROM keys WHERE part > 100",
	'rows of one shard' => "SELECT @{[ digest('cuckoo_agg(n, 500, 0.01)') ]} FROM keys WHERE id = 77",
	'rows without keys' => "SELECT @{[ digest('cuckoo_agg(n, 500, 0.01, 3)') ]} FROM keys WHERE n IS NULL",
	'keys of nothing but NULL' => "SELECT @{[ digest('cuckoo_agg(NULL::inet, 500, 0.01)') ]} FROM keys",
	'parameters of NULL' => "SELECT @{[ digest('cuckoo_agg(n, NULL, NULL, NULL)') ]} FROM keys",
	'a constant key' => "SELECT @{[ digest(q{cuckoo_agg('x')}) ]}, @{[ digest(q{cuckoo_agg('x', 100)}) ]} FROM keys",
	'in a CTE' => "WITH f AS (SELECT part, cuckoo_agg(n) AS f FROM keys GROUP BY part) SELECT @{[ digest('cuckoo_union_agg(f)') ]}, @{[ digest('cuckoo_union_all_agg(f)') ]} FROM f",
	'of a sub-select that each shard runs' => "SELECT @{[ digest('cuckoo_union_agg(f)') ]} FROM (SELECT id, cuckoo_agg(n, 1000, 0.001) AS f FROM keys GROUP BY id) AS s",
	'intersections' => "SELECT @{[ digest('cuckoo_intersection_agg(cuckoo_new(1000) + 7 + n)') ]} FROM keys",
	'of a prepared statement' => "PREPARE agg(float8, float8, integer) AS SELECT @{[ digest('cuckoo_agg(n, $1, $2)') ]} FROM keys WHERE part <> \$3;\n"
	  . (join ";\n", map { "EXECUTE agg(${_}000, 0.01, $_)" } 1 .. 8));
compare(map { ("aggregates: $_" => "$statement{$_};") } sort keys %statement);

# Errors are the same as with a plain table.
foreach my $case (
	[ '22023', 'parameters that differ between rows', 'SELECT cuckoo_agg(n, 100 * (part + 1), 0.01) FROM keys' ],
	[ '22023', 'parameters that differ between shards', 'SELECT cuckoo_agg(n, 100 * id, 0.01) FROM keys WHERE id < 20' ],
	[ '22023', 'a rate that is none', 'SELECT cuckoo_agg(n, 100, 5) FROM keys' ],
	[ '42804', 'key types that differ between filters', 'SELECT cuckoo_union_agg(CASE WHEN id % 2 = 0 THEN cuckoo_new() + n ELSE cuckoo_new() + n::text END) FROM keys' ],
	[ '42804', 'a key of another type', 'SELECT count(*) FROM keys WHERE (SELECT cuckoo_agg(n) FROM keys) @> part::text' ])
{
	my ($code, $name, $query) = @$case;

	is(sqlstate($hub, 'postgres', "SET search_path = $_, public;\n$query"), $code, "$name, $_") foreach qw(plain distributed);
}

# Keys of polymorphic types, which Citus refuses, and two ways to avoid that.
# A domain is not polymorphic.
$hub->safe_psql('postgres', q{CREATE TYPE mood AS ENUM ('sad', 'content', 'happy'); CREATE TYPE pair AS (a integer, b text); CREATE DOMAIN natural_number AS integer CHECK (VALUE >= 0)});
create_tables('polymorphic', 'id bigint, e mood, a integer[], r int4range, m int4multirange, c pair, d natural_number', q{create_distributed_table('distributed.polymorphic', 'id', shard_count => 8)},
	q{SELECT i, (enum_range(NULL::mood))[1 + i % 3], ARRAY[i % 300, 1], int4range(i % 300, 400), int4multirange(int4range(i % 300, 400)), row(i % 300, 'x')::pair, i % 300 FROM generate_series(1, 2000) AS i});
compare('a domain' => "SELECT @{[ digest('cuckoo_agg(d)') ]}, @{[ digest('cuckoo_agg(d, 500)') ]} FROM polymorphic;");
foreach my $column (qw(e a r m c))
{
	like(sqlstate($hub, 'postgres', "SET search_path = distributed, public;\nSELECT cuckoo_agg($column) FROM polymorphic"), qr/^XX000$/, "Citus refuses cuckoo_agg($column)");
	compare(
		"DISTINCT: $column" => "SELECT @{[ digest(qq{cuckoo_agg($column)}) ]}, @{[ digest(qq{cuckoo_agg($column, 5000, 0.01, 3)}) ]} FROM (SELECT DISTINCT $column FROM polymorphic) AS s;",
		"... inside: $column" => "SELECT @{[ digest(qq{cuckoo_agg(DISTINCT $column)}) ]} FROM polymorphic;",
		"one filter per row: $column" => "SELECT @{[ digest(qq{cuckoo_union_agg(cuckoo_new(1000, 0.001) + $column)}) ]} FROM polymorphic;",
		"... finds all: $column" => "SELECT count(*) FROM polymorphic WHERE (SELECT cuckoo_union_agg(cuckoo_new(1000, 0.001) + $column) FROM polymorphic) @> $column;");
}

# A user's own aggregates for such types, declared as for a plain table
$hub->safe_psql('postgres', <<~'SQL');
	CREATE AGGREGATE own_agg(key mood) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final, COMBINEFUNC = cuckoo_agg_combine);
	CREATE AGGREGATE own_agg(key pair, capacity float8) (SFUNC = cuckoo_stream_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_combine_final, COMBINEFUNC = cuckoo_stream_agg_combine);
	CREATE AGGREGATE own_agg(key integer[]) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, FINALFUNC = cuckoo_agg_final, COMBINEFUNC = cuckoo_agg_combine);
	SQL
foreach my $case ([ 'mood', 'e' ], [ 'pair,float8', 'c, 1000' ], [ 'integer[]', 'a' ])
{
	my ($types, $arguments) = @$case;
	my $query = 'SELECT ' . digest("own_agg($arguments)") . ' FROM polymorphic';

	like(tasks($query), qr/worker_partial_agg\('public\.own_agg/, "own_agg($types) is pushed down");
	compare("own_agg($types)" => "$query;");
}
is(sqlstate($hub, 'postgres', q{SELECT create_distributed_table('rows_of_view', 'id'); INSERT INTO rows_of_view VALUES (1); TABLE early}), 'XX000', 'a view made before cuckoo_citus keeps the polymorphic aggregate');

# An aggregate whose transition function also combines, and is given states: Citus has no
# type for them.  Other forms of such calls are in 004_states.pl.
$hub->safe_psql('postgres', 'CREATE AGGREGATE strange_agg(key bigint) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter, COMBINEFUNC = cuckoo_agg_transfn)');
is(sqlstate($hub, 'postgres', q{SELECT coord_combine_agg('strange_agg(bigint)'::regprocedure, worker_partial_agg, NULL::cuckoofilter)
	FROM (SELECT worker_partial_agg('cuckoo_agg(bigint)'::regprocedure, id) FROM plain.keys) AS s}), '42P18', 'the transition function on states');

# ------------------------------------------------------------------- Lookups
create_tables('reference', 'name text, f cuckoofilter', q{create_reference_table('distributed.reference')},
	q{SELECT part || '', cuckoo_agg(n) FROM plain.keys GROUP BY part UNION ALL SELECT 'all', cuckoo_agg(n, 5000, 0.001) FROM plain.keys WHERE n % 10 = 1});
# A table on the coordinator only
create_tables('here', 'name text, f cuckoofilter', '1', 'TABLE plain.reference');
create_tables('parts', 'id bigint PRIMARY KEY, f cuckoofilter', q{create_distributed_table('distributed.parts', 'id', colocate_with => 'distributed.keys')},
	'SELECT id, cuckoo_agg(n) FROM plain.keys GROUP BY id');
create_tables('others', 'part integer, f cuckoofilter', q{create_distributed_table('distributed.others', 'part', colocate_with => 'none', shard_count => 4)},
	'SELECT part, cuckoo_agg(n) FROM plain.keys GROUP BY part');

my $literal = $hub->safe_psql('postgres', q{SELECT f::text FROM plain.reference WHERE name = 'all'});
my $count = 'SELECT count(*), sum(id) FROM keys WHERE';
my %lookup = (
	'in a reference table' => "$count (SELECT f FROM reference WHERE name = 'all') @> n",
	'in a local table' => "$count (SELECT f FROM here WHERE name = 'all') @> n",
	'in a distributed table' => "$count (SELECT f FROM others WHERE part = 3) @> n",
	'in a CTE' => "WITH f AS (SELECT cuckoo_agg(n) AS f FROM keys WHERE part = 3) $count (SELECT f FROM f) @> n",
	'in a literal' => "$count '$literal'::cuckoofilter @> n",
	'joined with a local table' => 'SELECT name, count(*) FROM keys JOIN here ON f @> n GROUP BY name ORDER BY name',
	'joined with a table distributed alike' => 'SELECT count(*), count(*) FILTER (WHERE f @> n), count(*) FILTER (WHERE f @> (n + 1)) FROM keys JOIN parts USING (id)',
	'in a column, of one key' => 'SELECT id FROM parts WHERE f @> 7 ORDER BY id',
	'from a prepared statement' => "PREPARE lookup(cuckoofilter, integer) AS $count \$1 @> n AND id <> \$2;\n" . (join ";\n", map { "EXECUTE lookup('$literal', $_)" } 1 .. 8));
compare(map { ("lookups $_" => "$lookup{$_};") } sort keys %lookup);

# Each shard filters its own rows, and only filters are sent.
foreach my $name (grep { !/column|prepared|joined with a table/ } sort keys %lookup)
{
	like(tasks($lookup{$name}), qr/Task Count: 8\n.*Query: .*(OPERATOR\(public\.(\@>|<\@)\)|cuckoo_contains)/, "lookups $name are pushed down");
}

# ------------------------------------------------------------------- Changes
create_tables('copies', 'id bigint PRIMARY KEY, part integer, f cuckoofilter', q{create_distributed_table('distributed.copies', 'id', colocate_with => 'distributed.keys')});
create_tables('byfilter', 'f cuckoofilter, n integer', q{create_distributed_table('distributed.byfilter', 'f', colocate_with => 'none', shard_count => 8)});
create_tables('sharded', 'shard integer, n integer', q{create_distributed_table('distributed.sharded', 'shard', colocate_with => 'none', shard_count => 8)},
	'SELECT cuckoo_shard(n, 16), n FROM plain.keys WHERE n IS NOT NULL');
create_tables('shardfilters', 'shard integer PRIMARY KEY, f cuckoofilter', q{create_distributed_table('distributed.shardfilters', 'shard', colocate_with => 'distributed.sharded')});

my $copies = "SELECT count(*), md5(string_agg(part || ' ' || f::text, ',' ORDER BY id)) FROM copies";
compare(
	'INSERT ... SELECT in every shard' => "INSERT INTO copies SELECT id, min(part), cuckoo_agg(n) FROM keys GROUP BY id; $copies;",
	'INSERT ... SELECT from another distribution' => "INSERT INTO copies SELECT 10000 + part, part, f FROM others; $copies;",
	'ON CONFLICT' => "INSERT INTO copies SELECT 10000 + part, part, f FROM others ON CONFLICT (id) DO UPDATE SET f = cuckoo_union_all(copies.f, excluded.f); $copies;",
	'UPDATE of all' => "UPDATE copies SET f = f + 654321 WHERE part <= 6; SELECT count(*) FROM copies WHERE f @> 654321; $copies;",
	'UPDATE from a table distributed alike' => "UPDATE copies SET f = copies.f | parts.f FROM parts WHERE parts.id = copies.id AND parts.id % 5 = 0; $copies;",
	'DELETE by a filter' => "DELETE FROM copies WHERE f @> 600; $copies;",
	'distributed by a filter' => "INSERT INTO byfilter SELECT f, 1 FROM parts; INSERT INTO byfilter SELECT f, 2 FROM others; SELECT count(*), count(DISTINCT f) FROM byfilter;",
	'... looked up' => 'SELECT n FROM byfilter WHERE f = cuckoo_from_array(ARRAY[7]) LIMIT 1; SELECT count(*) FROM byfilter WHERE f @> 7;',
	'filters by cuckoo_shard' => "INSERT INTO shardfilters SELECT shard, cuckoo_agg(n) FROM sharded GROUP BY shard; SELECT shard, md5(f::bytea) FROM shardfilters ORDER BY shard;",
	'... all found' => 'SELECT count(*) FROM sharded JOIN shardfilters USING (shard) WHERE f @> n;',
	'... changed' => 'UPDATE shardfilters SET f = f + 99999 WHERE shard = cuckoo_shard(99999, 16); SELECT shard FROM shardfilters WHERE f @> 99999;');
like(tasks('SELECT f @> 123 FROM shardfilters WHERE shard = cuckoo_shard(123, 16)'), qr/Task Count: 1\n/, 'a lookup by cuckoo_shard asks one shard');
like(tasks('SELECT n FROM byfilter WHERE f = cuckoo_from_array(ARRAY[7])'), qr/Task Count: 1\n/, 'so does one by the filter');
like(tasks('SELECT cuckoo_intersection_agg(f) FROM shardfilters'), qr/worker_partial_agg\('public\.cuckoo_intersection_agg/, 'an intersection is made in parts, on the workers');
like(tasks('SELECT shard, cuckoo_agg(n) FROM sharded GROUP BY shard'), qr/Query: SELECT shard, public\.cuckoo_agg\(n\)/, 'groups by the distribution column are made whole in their shards');

# COPY out of and into distributed tables
my $file = PostgreSQL::Test::Utils::tempdir() . '/copied';
compare(map { ("COPY, $_" => "COPY copies TO '$file' (FORMAT $_); TRUNCATE copies; COPY copies FROM '$file' (FORMAT $_); $copies;") } qw(text binary));

# Columnar tables
create_tables('columnar', 'id bigint, n integer, f cuckoofilter', q{create_distributed_table('distributed.columnar', 'id', colocate_with => 'none', shard_count => 8)});
$hub->safe_psql('postgres', q{CREATE EXTENSION citus_columnar; SELECT alter_table_set_access_method('distributed.columnar', 'columnar')});
is($hub->safe_psql('postgres', q{SELECT amname FROM pg_class JOIN pg_am ON relam = pg_am.oid WHERE pg_class.oid = 'distributed.columnar'::regclass}), 'columnar', 'a columnar table');
compare(
	'columnar: stored' => "INSERT INTO columnar SELECT id, n, f FROM keys JOIN parts USING (id); SELECT count(*), md5(string_agg(f::text, ',' ORDER BY id)) FROM columnar;",
	'columnar: aggregates' => "SELECT @{[ digest('cuckoo_agg(n)') ]}, @{[ digest('cuckoo_union_agg(f)') ]} FROM columnar;",
	'columnar: lookups' => "SELECT count(*) FROM columnar WHERE f @> 7; SELECT count(*) FROM columnar WHERE (SELECT f FROM here WHERE name = 'all') @> n;");

# Indexes of each shard, and of a reference table on every node
$hub->safe_psql('postgres', "CREATE INDEX ON distributed.keys USING cuckoo ($column{text}); CREATE INDEX ON distributed.reference USING cuckoo (name)");
is(sqlstate($hub, 'postgres', 'CREATE INDEX ON distributed.columnar USING cuckoo (id)'), '0A000', 'an index of a columnar table is refused');

# Whether all placements of a table have an index, and the number of rows that these
# do not find
sub indexes
{
	my ($table) = @_;

	return $hub->safe_psql('postgres', <<~SQL);
		SELECT bool_and(success AND result ~ '^[0-9]+\$'), sum(result::integer)
		FROM run_command_on_placements('distributed.$table', \$\$SELECT cuckoo_index_check(indexrelid) FROM pg_index WHERE indrelid = '%s'::regclass AND pg_get_indexdef(indexrelid) ~ 'USING cuckoo'\$\$)
		SQL
}
is(indexes($_), 't|0', "indexed: $_") foreach qw(keys reference);
my $by_index = "SELECT count(*), sum(n) FROM keys WHERE $column{text} = 'key 7'; SELECT count(*), sum(n) FROM keys WHERE $column{text} = ANY ('{key 8,key 9,none}'); "
  . "SELECT count(*) FROM keys JOIN reference ON $column{text} = 'key ' || name; SELECT count(*) FROM reference WHERE name = '3'";
compare(
	'indexed' => "$by_index;",
	'indexed: written' => "INSERT INTO keys (id, n, $column{text}) SELECT 100000 + i, i, 'key ' || i FROM generate_series(1, 2000) AS i; UPDATE keys SET $column{text} = 'key 7' WHERE id = 100003; $by_index; DELETE FROM keys WHERE id > 100000; $by_index;");
like($hub->safe_psql('postgres', "SET citus.propagate_set_commands = 'local'; BEGIN; SET LOCAL enable_seqscan = off; EXPLAIN SELECT * FROM distributed.keys WHERE $column{text} = 'key 7'"), qr/(Bitmap Index Scan on|Index Scan using) keys_/, 'workers use the index');

# Queries can be run on every node.
is($workers[0]->safe_psql('postgres', "SET search_path = distributed, public; $_"), $hub->safe_psql('postgres', "SET search_path = plain, public; $_"), 'through a worker')
  foreach 'SELECT ' . digest('cuckoo_agg(n)') . ' FROM keys', $lookup{'in a reference table'}, $lookup{'in a CTE'};

# -------------------- Adding and removing nodes; moving and splitting shards
my $everything = "SELECT @{[ digest(qq{cuckoo_agg($text)}) ]} FROM keys; $copies; SELECT count(*) FROM keys JOIN parts USING (id) WHERE f @> n; "
  . "SELECT shard, md5(f::bytea) FROM shardfilters ORDER BY shard; SELECT count(*), count(DISTINCT f) FROM byfilter; $lookup{'in a reference table'};";

sub shards
{
	return $hub->safe_psql('postgres', "SELECT count(*) FROM citus_shards WHERE $_[0]");
}

foreach my $mode (qw(block_writes force_logical))
{
	my ($shard, $port) = split /\|/, $hub->safe_psql('postgres', q{SELECT shardid, nodeport FROM citus_shards WHERE table_name = 'distributed.copies'::regclass ORDER BY shardid LIMIT 1});
	my ($from, $to) = $port == $workers[0]->port ? @workers : reverse @workers;

	$hub->safe_psql('postgres', "SELECT citus_move_shard_placement($shard, @{[ address($from) ]}, @{[ address($to) ]}, '$mode')");
	is(shards("shardid = $shard AND nodeport = " . $to->port), '1', "a shard is moved, $mode");
	compare("... and has all, $mode" => "$everything $by_index;");
	is(indexes('keys'), 't|0', "... and its index, $mode");

	my ($last, $middle) = split /\|/, $hub->safe_psql('postgres', q{SELECT shardid, (shardminvalue::bigint + shardmaxvalue::bigint) / 2 FROM pg_dist_shard WHERE logicalrelid = 'distributed.copies'::regclass ORDER BY shardid DESC LIMIT 1});
	my $before = shards(q{table_name = 'distributed.copies'::regclass});
	$hub->safe_psql('postgres', "SELECT citus_split_shard_by_split_points($last, ARRAY['$middle'], (SELECT array_agg(nodeid::integer) FROM pg_dist_node WHERE groupid <> 0), '$mode')");
	is(shards(q{table_name = 'distributed.copies'::regclass}), $before + 1, "a shard is split, $mode");
	compare("... and has all, $mode" => $everything);
}
$hub->safe_psql('postgres', q{SELECT citus_split_shard_by_split_points(shardid, ARRAY[((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::text], ARRAY[nodeid, nodeid], 'block_writes')
	FROM (SELECT shardid, shardminvalue, shardmaxvalue, nodeid FROM pg_dist_shard JOIN citus_shards USING (shardid) JOIN pg_dist_node USING (nodename, nodeport) WHERE logicalrelid = 'distributed.byfilter'::regclass ORDER BY shardid LIMIT 1) AS s});
is(shards(q{table_name = 'distributed.byfilter'::regclass}), 9, 'a shard of a table distributed by a filter is split');
compare('... and has all' => $everything);

push @workers, new_node('worker3');
# On a new node, Citus creates tables distributed by a filter before it creates
# the extension.
like(add_node($workers[2]), qr/type "public.cuckoofilter" does not exist/, 'a node added later lacks the type of a distribution column');
$workers[2]->safe_psql('postgres', 'CREATE EXTENSION cuckoo');
is(add_node($workers[2]), '', '... unless it has the extension');
$hub->safe_psql('postgres', q{SELECT replicate_reference_tables('block_writes')});
$hub->safe_psql('postgres', q{SELECT rebalance_table_shards('distributed.copies', shard_transfer_mode => 'block_writes')});
cmp_ok(shards(q{table_name = 'distributed.copies'::regclass AND nodeport = } . $workers[2]->port), '>', 1, 'it gets shards');
compare('... that have all' => $everything, map { ("... lookups $_" => "$lookup{$_};") } grep { /table|CTE/ } sort keys %lookup);

# --------------------------------------------------------- In another schema
$hub->safe_psql('postgres', 'CREATE SCHEMA "else where"; ALTER EXTENSION cuckoo SET SCHEMA "else where"; ALTER EXTENSION cuckoo_citus SET SCHEMA "else where"; ALTER EXTENSION cuckoo_index SET SCHEMA "else where"');
is($_->safe_psql('postgres', q{SELECT DISTINCT extnamespace::regnamespace FROM pg_extension WHERE extname LIKE 'cuckoo%'}), '"else where"', 'moved on ' . $_->name) foreach $hub, @workers;
{
	my $elsewhere = 'SELECT set_config(\'search_path\', current_setting(\'search_path\') || \', "else where"\', false) IS NOT NULL;';

	compare('... with all it holds' => "$elsewhere $everything", '... and aggregates' => "$statement{groups}; $statement{'no rows'};");
	like($hub->safe_psql('postgres', 'SET search_path = distributed, "else where"; EXPLAIN (VERBOSE, COSTS OFF) SELECT cuckoo_agg(n) FROM keys'), qr/worker_partial_agg\('"else where"\.cuckoo_agg\(integer\)'::regprocedure/, '... which are pushed down');
}
$hub->safe_psql('postgres', 'ALTER EXTENSION cuckoo SET SCHEMA public; ALTER EXTENSION cuckoo_citus SET SCHEMA public; ALTER EXTENSION cuckoo_index SET SCHEMA public');

# ------------------------------------------------------ The number of shards

# A stream aggregate beyond its capacity, and one within it
my $page = 'docs/distributed.md';

$hub->safe_psql('postgres', 'CREATE TABLE plain.stream AS SELECT i AS id FROM generate_series(1, 500000::bigint) AS i');
my %stream;
foreach my $shards (0, 4, 32)
{
	my $table = $shards ? "distributed.stream$shards" : 'plain.stream';
	my $key = q{('key ' || id)};

	$hub->safe_psql('postgres', <<~SQL) if $shards;
		CREATE TABLE $table (id bigint);
		SELECT create_distributed_table('$table', 'id', shard_count => $shards, colocate_with => 'none');
		INSERT INTO $table TABLE plain.stream;
		SQL
	my ($few, $items, $found, $rate, $digest) = split /\|/, $hub->safe_psql('postgres', <<~SQL);
		SET client_min_messages = error;
		CREATE TEMP TABLE f AS SELECT cuckoo_stream_agg($key, 1000, 0.001) AS f FROM $table;
		SELECT subfilters <= 4, items BETWEEN 497500 AND 500000,
			(SELECT count(*) FROM plain.stream WHERE (SELECT f::bytea::cuckoofilter FROM f) \@> $key), round(expected_fpr::numeric, 3),
			(SELECT @{[ digest(qq{cuckoo_stream_agg($key, 1e6, 0.001)}) ]} FROM $table)
		FROM f, cuckoo_info(f);
		SQL

	is("$few $items $found", 't t 500000', "cuckoo_stream_agg far beyond its capacity, over $shards shards: a rate of $rate");
	$shards == 32 and is($rate, '0.033', '... which the page names');
	$stream{$shards} = $digest;
}
is($stream{$_}, $stream{0}, "within its capacity, over $_ shards: the same bytes") foreach 4, 32;

# --------------------------------- Keys that Citus turns into others, or none

$hub->safe_psql('postgres', <<~'SQL');
	CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE EXTENSION citext;
	CREATE TABLE distributed.names (id bigint, name text COLLATE nocase, ci citext, r regclass);
	SELECT create_distributed_table('distributed.names', 'id');
	INSERT INTO distributed.names VALUES (1, 'a', 'a', 'pg_class'), (2, 'A', 'A', 'pg_proc');
	SQL
is($hub->safe_psql('postgres', 'SELECT cuckoo_cardinality(cuckoo_agg(ci)), cuckoo_cardinality(cuckoo_agg(ci, 100)), cuckoo_cardinality(cuckoo_agg(lower(ci::text))) FROM distributed.names'), '2|2|1', 'keys of citext are sent as text');
is(sqlstate($hub, 'postgres', 'CREATE TABLE plain.names AS SELECT * FROM distributed.names; SELECT cuckoo_agg(ci) FROM plain.names'), '0A000', '... and are an error on a plain table');
is($hub->safe_psql('postgres', 'SELECT f @> 1259, items, key_type FROM (SELECT cuckoo_agg(r) AS f FROM distributed.names) AS s, cuckoo_info(f)'), 't|2|integer', 'keys of regclass are sent as integers');
is(sqlstate($hub, 'postgres', 'SELECT cuckoo_agg(r) FROM plain.names'), '0A000', '... and are an error on a plain table');
foreach my $query ('SELECT cuckoo_agg(name) FROM names', 'SELECT cuckoo_agg(name, 100) FROM names')
{
	like((answers('distributed', $query))[0], qr/nondeterministic collation/, "a nondeterministic collation: $query");
}
my $is_13 = $hub->safe_psql('postgres', q{SELECT extversion LIKE '13.%' FROM pg_extension WHERE extname = 'citus'}) eq 't';
# The page: its blocks of SQL and their output, in a database without the
# extensions
$hub->safe_psql('postgres', 'DROP SCHEMA plain, distributed CASCADE; DROP EXTENSION cuckoo CASCADE; DROP TABLE rows_of_view');
is($_->safe_psql('postgres', q{SELECT count(*) FROM pg_type WHERE typname = 'cuckoofilter'}), '0', 'the extension is gone from ' . $_->name) foreach $hub, @workers;

my @blocks = grep { $_->{section} eq 'On Citus' } page_blocks($page);
my %block;
while (my $block = shift @blocks)
{
	my $sql = $block->{text};
	my $shown = @blocks && $blocks[0]->{language} eq 'text' ? (shift @blocks)->{text} : '';
	my $name = (split /\n/, $sql)[0];
	my (undef, $stdout, $stderr) = $hub->psql('postgres', "\\pset tuples_only off\n\\pset format aligned\n$sql");

	$block{$name} = $sql;
	if ($shown =~ /^ERROR:/)
	{
		shows($stderr =~ s/^psql:<stdin>:\d+: //mgr, $shown);
		next;
	}
	is($stderr =~ s/^.*NOTICE: .*\n?(^(DETAIL|HINT): .*\n?)*//mgr, '', "runs: $name");
	shows($stdout, $shown);
}
cmp_ok(scalar keys %block, '>=', 8, 'examples: ' . keys %block);
{
	my ($plain, $filtered) = map { $hub->safe_psql('postgres', $block{$_} =~ s/^(?=SELECT|WITH)/EXPLAIN /mr) } 'SET citus.enable_repartition_joins = on;', 'WITH ordered AS MATERIALIZED (';

	like($plain, qr/MapMergeJob/, 'a join that sends all rows of both tables to other nodes');
	unlike($filtered, qr/MapMergeJob/, '... and with filters does not');
}
is($hub->safe_psql('postgres', 'SELECT count(*) FROM refunds WHERE (SELECT cuckoo_agg(customer) FROM orders) @> customer'), '10911', 'refunds that travel');

# The amount of data sent
sub received
{
	my ($query) = @_;

	return $hub->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query") =~ /Tuple data received from nodes: (.*)/ ? $1 : 'nothing';
}

sub sent_by_shards
{
	my ($query) = @_;

	return $hub->safe_psql('postgres', "SELECT pg_size_pretty(sum(length(result))) FROM run_command_on_shards('visits', \$\$$query FROM %s\$\$)");
}

# The size of states of aggregates as Citus 13 sends them
says($page, '`count(DISTINCT url)` | ' . received('SELECT count(DISTINCT url) FROM visits'));
$is_13 and says($page, '`cuckoo_agg(url)` | '
	  . sent_by_shards(q{SELECT worker_partial_agg('cuckoo_agg(text)'::regprocedure, url)}));
$is_13 and says($page, '`cuckoo_stream_agg(url, 200000)` | '
	  . sent_by_shards(
		q{SELECT worker_partial_agg('cuckoo_stream_agg(text,float8)'::regprocedure, ROW(url, 200000::float8))}));
says($page, '`cuckoo_agg(url, 200000)`, a filter per shard | '
	  . sent_by_shards('SELECT cuckoo_agg(url, 200000)'));
says($page, 'the same of `pages` [below](#tables-of-filters), distributed by `cuckoo_shard` | '
	  . received('SELECT shard, cuckoo_agg(url, 200000) FROM pages GROUP BY shard'));
if ($hub->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'hll'}))
{
	$hub->safe_psql('postgres', 'CREATE EXTENSION hll');
	says($page, '`hll_add_agg(hll_hash_text(url))`, which counts keys and knows none | '
		  . received('SELECT hll_add_agg(hll_hash_text(url)) FROM visits'));
}

done_testing();
$_->stop foreach $hub, @workers;
