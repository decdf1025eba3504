# The recipes for many sessions, under their load: shards, adding only new keys, and
# streams.

use CuckooTest;

my $seconds = $ENV{CUCKOO_TEST_SECONDS} || 3;
my $node = new_server('main');
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_index CASCADE');

# The blocks of SQL of a section that say something, in order
sub recipe
{
	my ($page, $section, $something) = @_;

	my @blocks = grep { /$something/ } map { $_->{text} } grep { $_->{section} eq $section && $_->{language} eq 'sql' } page_blocks($page);
	ok(scalar @blocks, "$page has the recipe: $section");
	return @blocks;
}

sub run_pgbench
{
	my ($what, %scripts) = @_;

	$node->pgbench("--no-vacuum --max-tries=1000000 --client=8 --time=$seconds", 0, [], [], $what, \%scripts);
	return;
}

# Shards: the guide's statements with keys of their own for 42 and for 1 to 10.
# A transaction records what it has added.
my ($setup, $several) = recipe('docs/guide.md', 'Partitions and shards', 'shards');
my ($single) = $setup =~ /^(UPDATE shards .*;)$/m;

$node->safe_psql('postgres', $setup);
$node->safe_psql('postgres', 'CREATE TABLE added (key integer); CREATE SEQUENCE keys INCREMENT 100');
$single =~ s/42/:key/g;
my ($before, $commit) = $several =~ /^(.*?)(COMMIT;\n)$/s;
$before =~ s/generate_series\(1, 10\)/generate_series(:key, :key + 99, 10)/g or die;
$before =~ s/\n(?!SELECT|UPDATE|$)/ /g;
run_pgbench('eight sessions add to one shard and to several, without a deadlock',
	one => "SELECT nextval('keys')::integer AS key \\gset\nBEGIN;\n$single\nINSERT INTO added VALUES (:key);\nCOMMIT;\n",
	several => "SELECT nextval('keys')::integer AS key \\gset\n${before}INSERT INTO added SELECT generate_series(:key, :key + 99, 10);\n$commit");
note($node->safe_psql('postgres', q{SELECT 'keys: ' || count(*) FROM added}));
is($node->safe_psql('postgres', 'SELECT count(*) FROM added JOIN shards ON n = cuckoo_shard(key, 128) WHERE NOT f @> key'), '0', 'every key is in its shard');
is($node->safe_psql('postgres', 'SELECT (SELECT sum(cuckoo_cardinality(f)) FROM shards) - 1 = count(*) FROM added'), 't', 'as often as it was added');

# Full shards, as the guide counts them, are stored in their rows; shards that
# grow go to the TOAST table, which is no error.
is($node->safe_psql('postgres', <<~SQL), 't|t', 'a full shard has 0.5 to 2 kB, and all stand in their rows');
	UPDATE shards SET f = cuckoo_new(1000);
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

# Adding only new keys: a statement without a new key changes nothing.
my ($sets) = recipe('docs/guide.md', 'Recipes', 'CREATE TABLE sets');
my ($add_new) = recipe('docs/guide.md', 'Recipes', 'array_agg\(DISTINCT key\)');
my ($add_one) = $sets =~ /^(UPDATE sets .*;)$/ms;

is($node->safe_psql('postgres', "BEGIN; $sets $add_one " . $add_one =~ s/'urls'/'url'/r), 't', 'a key is new once, and only in a filter that there is');
is($node->safe_psql('postgres', "BEGIN; $sets SELECT ctid FROM sets; $add_new SELECT ctid FROM sets; $add_new SELECT ctid FROM sets"),
	"t\n(0,2)\n{https://example.com/2}\n(0,3)\n(0,3)", 'without a new key no row is written');
is(sqlstate($node, 'postgres', "BEGIN; $sets UPDATE sets SET f = f - 'https://example.com/'"), '55000', 'and none can be removed');

# Each key is new for one session only.  At this rate no false positive is
# expected.

$sets =~ s/cuckoo_new\(1e6/cuckoo_new(1e6, 2e-8/ or die;
$add_new =~ s/ARRAY\['https.*'\]/ARRAY(SELECT (abs(hashint8(:seed + i)) % 5000)::text FROM generate_series(1, 20) AS i)/ or die;
$add_new =~ s/\)\s*UPDATE/), changed AS (UPDATE/ or die;
$add_new =~ s/;\s*$/) INSERT INTO new_keys SELECT unnest(keys) FROM changed;\n/ or die;
$add_new =~ s/\s*\n\s*/ /g;
$node->safe_psql('postgres', "$sets; CREATE TABLE new_keys (key text)");
run_pgbench('eight sessions add the new ones of several keys', new => "\\set seed random(1, 1000000)\n$add_new\n");
is($node->safe_psql('postgres', 'SELECT count(*) > 100, count(*) = count(DISTINCT key) FROM new_keys'), 't|t', 'each key is new once');
is($node->safe_psql('postgres', q{SELECT bool_and(f @> key), count(*) = cuckoo_cardinality(f) - 1 FROM new_keys, sets WHERE name = 'urls' GROUP BY f}), 't|t', 'the filter has them, and the one that the recipe began with');
is(sqlstate($node, 'postgres', q{UPDATE sets SET f = f - 'https://example.com/'}), '55000', 'and refuses to remove any');

# Streams: the statement with batches that many sessions have in common
my ($seen) = (recipe('docs/index.md', 'Unique values', 'CREATE TABLE seen'))[0] =~ /^(CREATE TABLE seen .*;)$/m;
my ($store) = recipe('docs/index.md', 'Unique values', 'ORDER BY url ON CONFLICT');

$store =~ s/ARRAY\['.*?'\]/ARRAY(SELECT 'url ' || abs(hashint8extended(i, :seed) % 50000) FROM generate_series(1, 100) AS i)/ or die;
$node->safe_psql('postgres', $seen);
run_pgbench('eight sessions store URLs', store => "\\set seed random(1, 1000000000)\n" . $store =~ s/\n(?=.)/ /gr);
is($node->safe_psql('postgres', q{SELECT count(*) > 1000, count(*) - count(DISTINCT url) FROM seen}), 't|0', 'no URL is stored twice');
is($node->safe_psql('postgres', q{SELECT cuckoo_index_check('seen_url_excl')}), '0', 'and the index finds all');

$node->safe_psql('postgres', 'ALTER TABLE seen DROP CONSTRAINT seen_url_excl');
run_pgbench('the same without the constraint', store_twice => "\\set seed random(1, 1000000000)\n" . $store =~ s/\n(?=.)/ /gr);
like($node->safe_psql('postgres', q{SELECT count(*) - count(DISTINCT url) FROM seen}), qr/^[1-9]/, 'then some are');

$node->stop;
done_testing();
