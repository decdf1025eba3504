# The guide's recipes for many sessions, under their load: shards, adding only new
# keys, and removing duplicates from a stream.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

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

sub run_pgbench
{
	my ($what, %scripts) = @_;

	ok($node->run_log(pgbench($node, $seconds, 8, %scripts)), $what);
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

# Removing duplicates from a stream, at a rate at which no false positive is
# expected, so that every URL that is missing has been lost.  The table delivered
# has what committed transactions were given; each row of pages has the
# transaction that stored it, and the snapshot of the statement.
my ($stream, $functions, $call, $lookup) = recipe('docs/guide.md', 'Removing duplicates from a stream', 'seen');

s/\b4e6\b/4e6, 2e-8/g or die foreach $stream, $functions;
$node->safe_psql('postgres', <<~SQL);
	$stream $functions $lookup
	ALTER TABLE pages ADD xid xid8 DEFAULT pg_current_xact_id(), ADD snapshot pg_snapshot DEFAULT pg_current_snapshot();
	CREATE TABLE delivered (url text);
	CREATE FUNCTION urls(shard integer, seed bigint) RETURNS text[] STABLE LANGUAGE sql
	RETURN ARRAY(SELECT url FROM (SELECT 'url ' || abs(hashint8extended(i, seed) % 50000) AS url FROM generate_series(1, 200) AS i) AS s WHERE cuckoo_shard(url, 4) = shard);
	SQL

my $begin = "\\set shard random(0, 3)\n\\set seed random(1, 1000000000)\n";
my $store = "SELECT store_new(:shard, urls(:shard, :seed));\nINSERT INTO delivered SELECT unnest(urls(:shard, :seed));\n";
my $mixed = join ' || ', map { "urls($_, :seed)" } 0 .. 3;
my %scripts = (
	'store@6' => "${begin}BEGIN;\n${store}COMMIT;\n",
	'mixed@2' => "\\set seed random(1, 1000000000)\nCALL store_mixed($mixed);\nINSERT INTO delivered SELECT unnest($mixed);\n",
	'rollback@2' => "${begin}BEGIN;\n${store}ROLLBACK;\n",
	'repeatable@2' => "${begin}BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT count(*) FROM seen;\n${store}COMMIT;\n",
	'fold@1' => "${begin}SELECT fold_seen(:shard);\nSET client_min_messages = error;\nVACUUM (SKIP_LOCKED) seen, seen_delta;\n",
	'look@3' => "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT count(*) FROM pages;\n"
	  . "SELECT 1 / (count(*) = 0)::integer FROM (SELECT url FROM pages ORDER BY random() LIMIT 100) AS s WHERE NOT stored(url);\nCOMMIT;\n"
	  . "SELECT 1 / (count(*) = 0)::integer FROM (SELECT url FROM pages ORDER BY random() LIMIT 100) AS s WHERE NOT stored(url);\n");

sub check_stream
{
	my ($when) = @_;

	note($node->safe_psql('postgres', q{SELECT count(*) || ' of ' || (SELECT count(*) FROM delivered) || ' URLs delivered, ' || count(*) - count(DISTINCT url) || ' twice' FROM pages}));
	is($node->safe_psql('postgres', 'SELECT count(*) > 100 FROM pages'), 't', "$when: URLs are stored");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT url FROM delivered EXCEPT SELECT url FROM pages) AS s'), '0', "$when: none is lost");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT url FROM pages EXCEPT SELECT url FROM delivered) AS s'), '0', "$when: none is stored but those of committed transactions");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pages WHERE NOT stored(url)'), '0', "$when: all are found");
	is($node->safe_psql('postgres', 'SELECT (SELECT sum(cuckoo_cardinality(f)) FROM (SELECT f FROM seen UNION ALL SELECT f FROM seen_delta) AS s) = count(*) FROM pages'), 't', "$when: the filters have nothing else");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pages AS a JOIN pages AS b USING (url) WHERE a.ctid <> b.ctid AND pg_visible_in_snapshot(a.xid, b.snapshot)'),
		'0', "$when: no URL is stored that was committed before the statement began");
	return;
}

run_pgbench('eight sessions store in shards, fold and look up, with rollbacks and old snapshots', %scripts);
check_stream('with the lock');

# Batches delivered again, and in a transaction
my $again = 'ARRAY[' . join(', ', map { "'again $_'" } 1 .. 100) . ']';
is(sqlstate($node, 'postgres', "BEGIN; CALL store_mixed($again)"), '2D000', 'store_mixed in a transaction');
is($node->safe_psql('postgres', "CALL store_mixed($again); CALL store_mixed($again || ARRAY['again 0', 'again 1']); SELECT count(*), count(DISTINCT url) FROM pages WHERE url LIKE 'again %'"),
	'101|101', 'batches delivered again');
$node->safe_psql('postgres', "INSERT INTO delivered SELECT url FROM pages WHERE url LIKE 'again %'");
is($node->safe_psql('postgres', <<~SQL), "100|0|t\n0", 'all shards in a transaction');
	BEGIN;
	DO \$\$ BEGIN
		FOR n IN 0..3 LOOP
			PERFORM store_new(n, ARRAY(SELECT 'once ' || i FROM generate_series(1, 100) AS i WHERE cuckoo_shard('once ' || i, 4) = n));
		END LOOP;
	END \$\$;
	SELECT count(*), count(*) FILTER (WHERE NOT stored(url)), count(DISTINCT cuckoo_shard(url, 4)) = 4 FROM pages WHERE url LIKE 'once %';
	ROLLBACK;
	SELECT count(*) FROM pages WHERE url LIKE 'once %';
	SQL
is($node->safe_psql('postgres', q{CALL store_mixed(ARRAY[NULL, 'again 0']); SELECT store_new(0, ARRAY[NULL]) > 0; SELECT count(*) FROM pages WHERE url IS NULL}), "t\n0", 'NULL URLs');
is($node->safe_psql('postgres', 'SELECT count(*) = count(DISTINCT url) FROM pages'), 't', 'with the lock: none is stored twice');

$functions =~ s/^CREATE FUNCTION store_new/CREATE OR REPLACE FUNCTION store_new/ or die;
$functions =~ s/^    UPDATE seen SET batches = batches \+ 1.*\n//m or die;
$functions =~ s/CREATE FUNCTION fold_seen.*//s;
$node->safe_psql('postgres', $functions);
run_pgbench('the same without the lock', %scripts);
check_stream('without the lock');

# What a fold leaves behind is used by the next, if VACUUM has run: here not by
# itself.
$node->safe_psql('postgres', "ALTER TABLE $_ SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)") foreach qw(seen seen_delta);
sub folds
{
	my ($vacuum) = @_;

	$node->safe_psql('postgres', join '', 'TRUNCATE seen, seen_delta; INSERT INTO seen SELECT 0, 0, cuckoo_agg(i::text, 4e6) FROM generate_series(1, 200000) AS i;',
		map { "SELECT store_new(0, ARRAY(SELECT '$_ ' || i FROM generate_series(1, 100) AS i)); SELECT fold_seen(0);\n$vacuum;\n" } 1 .. 20);
	return $node->safe_psql('postgres', q{SELECT (pg_total_relation_size('seen') + pg_total_relation_size('seen_delta'))::float8 / pg_column_size(f) FROM seen});
}
cmp_ok(folds('VACUUM (SKIP_LOCKED) seen, seen_delta'), '<', 3, 'with VACUUM after each fold the tables have twice the size of the filter');
cmp_ok(folds(''), '>', 20, 'without it they have all filters there were');

$node->stop;
done_testing();
