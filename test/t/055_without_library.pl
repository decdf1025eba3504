# A database whose extension has lost its library, as when the package has been
# removed: with cuckoo alone, only what uses a filter fails.

use CuckooTest;

my $node = new_server('main');
$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo;
	CREATE TABLE plain AS SELECT i AS a, 'text ' || i AS t, i::float8 AS f, current_date + i AS d, ARRAY[i] AS list FROM generate_series(1, 1000) AS i;
	CREATE UNIQUE INDEX plain_a ON plain (a);
	CREATE INDEX plain_t ON plain USING hash (t);
	CREATE TABLE filters AS SELECT 1 AS id, cuckoo_agg(a) AS f FROM plain;
	SQL

# The library's file may not be ours to move, so the functions name another one.
sub lose_library
{
	$node->safe_psql('postgres', q{UPDATE pg_proc SET probin = '$libdir/cuckoo_lost' WHERE probin = '$libdir/cuckoo'});
	return;
}
lose_library();

# Each statement gets a connection of its own.
my @statements = (
	'SELECT 1 WHERE 1 = 1',
	(map { "SELECT a FROM plain WHERE $_" } 'a = 1', q{t = 'text 7'}, 'f = 7', 'd = current_date', 'a = ANY (ARRAY[1, 2])', q{list = '{1}'}, 'a = 1::bigint'),
	(map { "SELECT count(*) FROM plain AS p JOIN plain AS q USING ($_)" } qw(a t f d list)),
	'SET enable_hashjoin = off; SET enable_nestloop = off; SELECT count(*) FROM plain AS p JOIN plain AS q USING (t, a)',
	'SELECT DISTINCT t, a FROM plain ORDER BY t',
	'SELECT d, count(*) FROM plain GROUP BY d ORDER BY count(*)',
	'SELECT a FROM plain UNION SELECT a + 1 FROM plain',
	'SELECT a FROM plain WHERE a IN (SELECT a + 500 FROM plain)',
	'INSERT INTO plain VALUES (1) ON CONFLICT (a) DO NOTHING',
	'UPDATE plain SET t = NULL WHERE a = 5; DELETE FROM plain WHERE a = 6',
	'VACUUM ANALYZE plain', 'VACUUM ANALYZE filters',
	'SELECT count(*), sum(id) FROM filters WHERE id = 1',
	'SELECT count(*) FROM filters AS a JOIN filters AS b USING (f)',
	q{SELECT relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE relname = 'plain'},
	'\d plain', '\d filters', '\dx+ cuckoo', '\df cuckoo_*', '\dAc', 'CREATE TABLE more (a integer PRIMARY KEY, f cuckoofilter)');

# Those that fail, and why
sub failing
{
	return join "\n", map { my ($status, undef, $stderr) = $node->psql('postgres', $_, on_error_stop => 1); $status == 0 ? () : "$_: $stderr" } @_;
}
is(failing(@statements), '', 'statements that use no filter work');
$node->command_ok([ 'pg_dump', '--schema-only', '-d', $node->connstr('postgres') ], '... and a dump of the definitions');
$node->command_ok([ 'pg_dump', '--table=plain', '-d', $node->connstr('postgres') ], '... or of another table');
is(sqlstate($node, 'postgres', $_), '58P01', "fails: $_")
  foreach 'SELECT f @> 1 FROM filters', 'SELECT cuckoo_new()', 'TABLE filters', 'SELECT cuckoo_agg(a) FROM plain';
like(($node->psql('postgres', 'TABLE filters'))[2], qr/could not access file ".*cuckoo_lost"/, '... and says which file it has not got');
is(failing('ALTER TABLE filters ALTER f TYPE text USING NULL; DROP TABLE more; DROP EXTENSION cuckoo'), '', 'the extension can be dropped');

# From 18 on all statements with an equality that an access method knows load it.
# This is why the index is not in cuckoo, and shows that the statements above
# would fail.
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_index CASCADE');
lose_library();
my $failed = failing(@statements);
if ($node->pg_version < 18)
{
	is($failed, '', 'with cuckoo_index they work, too');
}
else
{
	like($failed, qr/WHERE a = 1: .*could not access file/, 'with cuckoo_index they need the library');
}
is(sqlstate($node, 'postgres', 'CREATE INDEX ON plain USING cuckoo (a)'), '58P01', 'as does a new index');

$node->stop;
done_testing();
