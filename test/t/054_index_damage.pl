# The file of an index: it has no holes, a full disk and damage give errors, what a full
# disk leaves is used, and nothing waits for ever.  A snapshot for which VACUUM may have removed entries is an error, too.

use CuckooTest;

my $block_size = 8192;
my $node = new_server('main', initdb => [ '--wal-segsize=1' ], conf => "autovacuum = off\nenable_seqscan = off\nstatement_timeout = 1min\nignore_checksum_failure = on\n");
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

# Places in a page: pd_lower and what follows, and the special space
my ($header, $next, $depth, $bits, $page_id) = (12, map { $block_size - $_ } 8, 4, 3, 2);

# What is written where: to the first home page that has overflow pages, to the first of
# these, or to a block
my %damages = (
	identifier => [ home => $page_id, "\0\0" ],
	special => [ home => $header, pack('S3', (8000) x 3) ],
	lower => [ home => $header, pack('S', 24) ],
	bits => [ home => $bits, "\x40" ],
	deep => [ home => $depth, "\x19" ],
	zeros => [ overflow => 0, "\0" x $block_size ],
	circle => [ overflow => $next, 'itself' ],
	self => [ home => $next, 'itself' ],
	metapage => [ 0 => 24, "\0" ],
	grown => [ 0 => 36, "\xFF" x 4 ],
	beyond => [ 1 => $depth, "\x18" ],
	nowhere => [ 1 => $depth, "\x07" ],
	again => [ 1 => $depth, "\0" ],
	lost => [ 1 => 0, "\0" x $block_size ]);

# Keys of one sixteenth of the hashes make overflow pages.
$node->safe_psql('postgres', <<~'SQL');
	CREATE EXTENSION cuckoo_index CASCADE;
	CREATE EXTENSION pageinspect;
	CREATE TABLE chosen AS SELECT i AS k FROM generate_series(1, 100000) AS i WHERE cuckoo_hash(i) BETWEEN 0 AND (1::bigint << 60) - 1;
	SQL
foreach my $case (sort keys %damages)
{
	my $is_list = $damages{$case}[0] =~ /home|overflow/;
	my $with = $case eq 'beyond' ? 'WITH (capacity = 1e6)' : '';
	# The last rows are one entry, so VACUUM would compare keys.
	my $keys = $is_list ? 'SELECT k FROM chosen, generate_series(1, 8)' : 'SELECT generate_series(1, 9000) UNION ALL SELECT 1 FROM generate_series(1, 3)';

	$node->safe_psql('postgres', "CREATE TABLE $case (k integer); CREATE INDEX ${case}_k ON $case USING cuckoo (k) $with; INSERT INTO $case $keys; DELETE FROM $case WHERE k < 900");
}
# A page is cut off, which is not in use, of a file that would then grow again.
$node->safe_psql('postgres', 'CREATE TABLE cut (k integer); CREATE INDEX cut_k ON cut USING cuckoo (k) WITH (capacity = 2e5); INSERT INTO cut SELECT generate_series(1, 215000)');
my $cut_blocks = $node->safe_psql('postgres', q{SELECT pg_relation_size('cut_k') / 8192 - 1});
my %files = map { split /\|/ } split /\n/, $node->safe_psql('postgres', q{SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relname ~ '_k$'});
$node->stop;

# So a full disk is an error when the index grows, and not when pages are written back.
my $index = $node->data_dir . "/$files{beyond_k}";
my $zeros = $node->basedir . '/zeros';
append_to_file($zeros, "\0" x (-s $index));
my ($index_room, $zeros_room) = map { 512 * (stat)[12] } $index, $zeros;
SKIP:
{
	skip 'the file system does not store zeros', 1 if $zeros_room < -s $index;
	cmp_ok($index_room, '>=', -s $index, 'all pages of an index are stored');
}

truncate $node->data_dir . "/$files{cut_k}", $cut_blocks * $block_size or die "cut_k: $!";

my %blocks;
foreach my $case (sort keys %damages)
{
	my ($where, $offset, $bytes) = @{ $damages{$case} };
	my $file = $node->data_dir . '/' . $files{"${case}_k"};
	my $pages = slurp_file($file);
	# The first page that has another after it
	my ($home, $overflow) = map { $_->[1] != 0xFFFFFFFF && $_->[2] > 0 ? @$_ : () } map { [ $_, unpack('LxC', substr($pages, $_ * $block_size + $next, 6)) ] } 1 .. length($pages) / $block_size - 1;

	$blocks{$case} = $where eq 'home' ? $home : $where eq 'overflow' ? $overflow : $where;
	$bytes = pack('L', $blocks{$case}) if $bytes eq 'itself';
	open my $handle, '+<:raw', $file or die "$file: $!";
	seek $handle, $blocks{$case} * $block_size + $offset, 0;
	print $handle $bytes;
	close $handle or die "$file: $!";
}
$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 1h') if $version < 170000;
$node->start;

# The error of a statement
sub error_of
{
	my (undef, undef, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\n$_[0]", on_error_stop => 1);

	return $stderr =~ /ERROR:  (.*)/ ? $1 : 'none';
}

foreach my $case (qw(identifier special lower bits deep zeros circle self metapage grown beyond nowhere))
{
	# The metapage leads nowhere.
	my $block = $case eq 'nowhere' ? 0 : $blocks{$case};
	my $error = "XX002: index \"${case}_k\" contains corrupted page at block $block";

	is(error_of("SELECT cuckoo_index_filter('${case}_k')"), $error, "$case: a filter");
	is(error_of("SELECT cuckoo_index_check('${case}_k')"), $error, "$case: lookups");
	is(error_of("INSERT INTO $case TABLE $case"), $error, "$case: INSERT");
	# VACUUM passes over it, and does its work.
	next unless $case =~ /identifier|special|lower|bits|deep|self|metapage|grown/;
	my $begin = -s $node->logfile;
	my $digest = "SELECT md5(get_raw_page('${case}_k', $block))";
	my $before = $node->safe_psql('postgres', $digest);
	is(error_of("VACUUM $case"), 'none', "$case: VACUUM");
	is($node->safe_psql('postgres', $digest), $before, "$case: VACUUM leaves the page");
	is(slurp_file($node->logfile, $begin) =~ /LOG:  (index "${case}_k" .*)/ ? "XX002: $1" : 'nothing', $error, "$case: VACUUM's report");
	is($node->safe_psql('postgres', "SELECT count(*) FROM heap_page_items(get_raw_page('$case', 0)) WHERE lp_flags = 3"), 0, "$case: VACUUM removes dead rows");
}
like(error_of('INSERT INTO again SELECT generate_series(10000, 30000)'), qr/^XX002: index "again_k" contains corrupted page at block \d+$/, 'a page that would split again');
cmp_ok($node->safe_psql('postgres', q{SELECT cuckoo_index_check('lost_k')}), '>', 100, 'a page of zeros is taken for an empty one, and its rows are not found');

is(error_of('INSERT INTO cut SELECT generate_series(215001, 235000)'), "XX002: index \"cut_k\" contains corrupted page at block $cut_blocks", 'a file that was cut');
is($node->safe_psql('postgres', q{SELECT pg_relation_size('cut_k') / 8192}), $cut_blocks, '... does not grow');

# The metapage is lost while backends have copies of the
# metapage, and the index grows: by splits, or by overflow pages.
$node->safe_psql('postgres', q{CREATE FUNCTION lose_page(index regclass, block bigint) RETURNS boolean LANGUAGE c AS '$libdir/cuckoo_test'});
foreach my $case (qw(split overflow))
{
	my ($keys, $more) = $case eq 'split' ? map { "SELECT generate_series($_)" } '1, 900', '1000, 9000' :
	  map { "SELECT k FROM chosen, generate_series($_)" } '1, 1', '1, 8';

	is(error_of("CREATE TABLE gone_$case (k integer); CREATE INDEX gone_${case}_k ON gone_$case USING cuckoo (k);\nINSERT INTO gone_$case $keys;\nSELECT lose_page('gone_${case}_k', 0);\nINSERT INTO gone_$case $more"),
		"XX002: index \"gone_${case}_k\" contains corrupted page at block 0", "no metapage: $case");
}

# A limit for the files of a backend is as good as a full disk.  The index has 164 base
# pages, of which 11 split, and pieces of three pages.  Two of these fit, and a page of a
# third, which two more pages make whole.  Each attempt but the last fails.
SKIP:
{
	skip 'there is no prlimit', 3 if system('prlimit --version >/dev/null 2>&1') != 0;

	my $limit = sub { "\\! prlimit --pid=\$BACKEND --fsize=" . ($_[0] eq 'unlimited' ? $_[0] : (165 + $_[0]) * $block_size) . ":\n" };
	my $insert = sub { "INSERT INTO full_disk SELECT k FROM many WHERE n BETWEEN $_[0] AND $_[1];\n" };
	# What the metapage takes for the end of the file, and its length
	my $show = q{SELECT get_byte(page, 44) + 256 * get_byte(page, 45) - 165, pg_relation_size('full_disk_k') / 8192 - 165 FROM get_raw_page('full_disk_k', 0) AS page;} . "\n";
	my (undef, $stdout, $stderr) = $node->psql('postgres', <<~SQL . $limit->(7) . join('', map { $insert->(1000 * $_, 1000 * $_ + 999) . $show } 13 .. 16) . $limit->(9) . $insert->(17000, 17999) . $show . $limit->('unlimited') . $insert->(10000, 18000) . $show, on_error_stop => 0);
		CREATE TABLE many AS SELECT row_number() OVER () AS n, k FROM generate_series(100000, 410000) AS k WHERE cuckoo_hash(k) BETWEEN 0 AND (1::bigint << 60) - 1;
		CREATE TABLE full_disk (k integer);
		CREATE INDEX full_disk_k ON full_disk USING cuckoo (k) WITH (capacity = 2e5);
		INSERT INTO full_disk SELECT k FROM many WHERE n < 13000;
		SELECT pg_backend_pid() AS pid \\gset
		\\setenv BACKEND :pid
		$show
		SQL
	is($stdout, join("\n", '0|0', ('6|7') x 4, '9|9', '12|12'), 'on a full disk, what failed attempts to grow left is used');
	is(() = $stderr =~ /ERROR:  could not extend file "base.*": File too large/g, 5, '... and each is an error');
	is($node->safe_psql('postgres', q{SELECT cuckoo_index_check('full_disk_k')}), 0, '... and nothing is lost');
}

SKIP:
{
	skip 'since 17 no snapshot is too old', 3 if $version >= 170000;

	my $aged = 'FROM (SELECT age_snapshot() AS aged OFFSET 0) AS a WHERE aged';

	$node->safe_psql('postgres', q{CREATE FUNCTION age_snapshot() RETURNS boolean LANGUAGE c AS '$libdir/cuckoo_test'; CREATE TABLE old AS SELECT 7 AS k; CREATE INDEX old_k ON old USING cuckoo (k)});
	is($node->safe_psql('postgres', "SELECT (SELECT count(*) FROM old WHERE k = 8), cuckoo_index_filter('old_k') @> 8"), '0|f', 'a key that is not there');
	is(error_of("SELECT (SELECT count(*) FROM old WHERE k = 8) $aged"), '72000: snapshot too old', '... unless it was removed for an old snapshot: a lookup');
	is(error_of("SELECT cuckoo_index_filter('old_k') @> 8 $aged"), '72000: snapshot too old', '... the filter');
}
$node->stop;
done_testing();
