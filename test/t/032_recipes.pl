# The recipes of guide and README for many sessions, under their load: shards,
# and removing duplicates from a stream.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 3;
my $node = new_server('main');
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo');

# The blocks of SQL of a section that say something, in order
sub recipe
{
	my ($page, $section, $something) = @_;

	my @blocks = grep { /$something/ } map { $_->{text} } grep { $_->{section} eq $section && $_->{language} eq 'sql' } page_blocks($page);
	ok(scalar @blocks, "$page has the recipe: $section");
	return @blocks;
}

sub pgbench
{
	my ($what, %scripts) = @_;
	my @files;

	foreach my $name (sort keys %scripts)
	{
		PostgreSQL::Test::Utils::append_to_file($node->basedir . "/$name.sql", $scripts{$name});
		push @files, '--file=' . $node->basedir . "/$name.sql";
	}
	ok($node->run_log([ 'pgbench', '--no-vacuum', '--client=8', '--jobs=2', "--time=$seconds", '--host', $node->host, '--port', $node->port, @files, 'postgres' ]), $what);
	return;
}

#
# Shards: the guide's statements with keys of their own for 42 and for 1 to 10.
# A transaction records what it has added.
#
my ($setup, $several) = recipe('docs/guide.md', 'Partitions and shards', 'shards');
my ($single) = $setup =~ /^(UPDATE shards .*;)$/m;

$node->safe_psql('postgres', $setup);
$node->safe_psql('postgres', 'CREATE TABLE added (key integer); CREATE SEQUENCE keys INCREMENT 100');
$single =~ s/42/:key/g;
my ($before, $commit) = $several =~ /^(.*?)(COMMIT;\n)$/s;
$before =~ s/generate_series\(1, 10\)/generate_series(:key, :key + 99, 10)/g or die;
$before =~ s/\n(?!SELECT|UPDATE|$)/ /g;
pgbench('eight sessions add to one shard and to several, without a deadlock',
	one => "SELECT nextval('keys')::integer AS key \\gset\nBEGIN;\n$single\nINSERT INTO added VALUES (:key);\nCOMMIT;\n",
	several => "SELECT nextval('keys')::integer AS key \\gset\n${before}INSERT INTO added SELECT generate_series(:key, :key + 99, 10);\n$commit");
note($node->safe_psql('postgres', q{SELECT 'keys: ' || count(*) FROM added}));
is($node->safe_psql('postgres', 'SELECT count(*) FROM added JOIN shards ON n = cuckoo_shard(key, 128) WHERE NOT f @> key'), '0', 'every key is in its shard');
is($node->safe_psql('postgres', 'SELECT (SELECT sum(cuckoo_cardinality(f)) FROM shards) - 1 = count(*) FROM added'), 't', 'as often as it was added');

# Full shards, as the guide counts them, are stored in their rows; shards that
# grow go to the TOAST table, which is no error.
is($node->safe_psql('postgres', <<~SQL), 't|t', 'a full shard has 0.5 to 2 kB, and all stand in their rows');
	UPDATE shards SET f = cuckoo_new(0.001, 1000);
	UPDATE shards SET f = cuckoo_add_all(f, keys)
	FROM (SELECT cuckoo_shard(i, 128) AS shard, array_agg(i) AS keys FROM generate_series(1, 110000) AS i GROUP BY 1) AS s WHERE n = shard;
	VACUUM FULL shards;
	SELECT bool_and(pg_column_size(f) BETWEEN 512 AND 2048), pg_relation_size(reltoastrelid) = 0
	FROM shards, pg_class WHERE oid = 'shards'::regclass GROUP BY reltoastrelid;
	SQL
is($node->safe_psql('postgres', <<~SQL), 't|t', 'shards that grow leave their rows');
	UPDATE shards SET f = cuckoo_add_all(f, keys)
	FROM (SELECT cuckoo_shard(i, 128) AS shard, array_agg(i) AS keys FROM generate_series(200001, 500000) AS i GROUP BY 1) AS s WHERE n = shard;
	SELECT bool_and(pg_column_size(f) > 2048), pg_relation_size(reltoastrelid) > 0
	FROM shards, pg_class WHERE oid = 'shards'::regclass GROUP BY reltoastrelid;
	SQL
is(sqlstate($node, 'postgres', <<~SQL), '54000', 'which with STORAGE PLAIN is an error');
	CREATE TABLE plain (f cuckoofilter);
	ALTER TABLE plain ALTER f SET STORAGE PLAIN;
	INSERT INTO plain SELECT cuckoo_add_all(f, ARRAY(SELECT generate_series(1, 20000))) FROM shards LIMIT 1;
	SQL

#
# Removing duplicates: a view in place of the table incoming gives each session
# URLs that the others have, too.
#
my ($stream) = recipe('README.md', 'Removing duplicates from a stream', 'seen');
my ($tables, $transaction) = $stream =~ /^(.*)(BEGIN;.*)$/s;
$tables =~ s/^CREATE TABLE incoming.*?(?=CREATE TABLE pages)//s or die;
$node->safe_psql('postgres', <<~SQL);
	$tables
	CREATE VIEW incoming AS SELECT 'url ' || (random() * 20000)::integer AS url FROM generate_series(1, 50);
	SQL
pgbench('eight sessions store what is new', stream => $transaction);
is($node->safe_psql('postgres', 'SELECT count(*) > 1000, count(*) = count(DISTINCT url) FROM pages'), 't|t', 'no URL is stored twice');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pages WHERE NOT (SELECT f FROM seen) @> url'), '0', 'the filter has all that are stored');
is($node->safe_psql('postgres', 'SELECT (SELECT cuckoo_cardinality(f) FROM seen) = count(*) FROM pages'), 't', 'once each');

$node->stop;
done_testing();
