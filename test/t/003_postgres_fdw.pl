# postgres_fdw as a distributed engine: runs docs/distributed.md, except for the
# section on Citus, which test/citus/citus.pl runs.
#
# The page has blocks of SQL, whose first line names the servers to run them on
# ("-- on hub, east"), and blocks of text that follow one and are lines of its
# output.  The tables of figures have to be what is measured here.

use CuckooTest;

my $page = 'docs/distributed.md';
my %server = map { $_ => new_server($_) } qw(hub east west);
my $hub = $server{hub};

# Every block has a session of its own: settings of earlier ones are given again.
my %settings;

sub run_block
{
	my ($sql) = @_;
	my ($names) = $sql =~ /^-- on (.*)$/m or die "no server is named in:\n$sql";
	my $output = '';

	foreach my $name (split /, /, $names)
	{
		my $settings = $settings{$name} // '';
		my ($status, $stdout, $stderr) = $server{$name}->psql('postgres',
			$settings . "\\pset tuples_only off\n\\pset format aligned\n" . with_hosts($sql, %server), on_error_stop => 1);

		is($stderr, '', "runs on $name: " . (split /\n/, $sql)[1]);
		$output .= $stdout;
		$settings{$name} = join '', $settings, map { "$_\n" } $sql =~ /^(SET .*;)$/mg;
	}
	return $output;
}

my $last_output;
foreach my $block (grep { $_->{section} ne 'On Citus' } page_blocks($page))
{
	$last_output = run_block($block->{text}) if $block->{language} eq 'sql';
	shows($last_output, $block->{text}) if $block->{language} ne 'sql';
}

# ------------------------------------ What is moved: the figures of the page

sub with_commas
{
	my ($number) = @_;

	1 while $number =~ s/^(\d+)(\d{3})/$1,$2/;
	return $number;
}

# The rows that the foreign scans of a query return
sub rows_moved
{
	my ($query) = @_;
	my $plan = $hub->safe_psql('postgres', <<~SQL);
		SET enable_partitionwise_aggregate = on;
		EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, SUMMARY OFF) $query
		SQL
	my $rows = 0;

	$rows += $1 while $plan =~ /Foreign Scan.*actual rows=([\d.]+)/g;
	return $rows;
}

# The bytes of columns as text, as postgres_fdw moves them
sub bytes_of
{
	my ($node, $columns, $from) = @_;

	return $node->safe_psql('postgres', "SELECT sum(octet_length(concat($columns))) FROM $from");
}

sub is_on_page
{
	my ($what, $rows, $bytes) = @_;
	return says($page, "$what | " . with_commas($rows) . ' | ' . with_commas($bytes));
}

my $join = 'SELECT id, note FROM payments_east JOIN flagged USING (account)';
my $filter = '(SELECT cuckoo_agg(account) FROM flagged)';
my $filter_text = $hub->safe_psql('postgres', "SELECT f::text FROM $filter AS s (f)");

my $plain = rows_moved($join);
my $filtered = rows_moved("$join WHERE $filter \@> account");
is($plain, 1000000, 'a plain join moves every row');
cmp_ok($filtered, '<=', 10004 + 0.001 * 990000 + 100, 'one with a filter moves those that match, and 0.1 % of the others');
is($filtered, $server{east}->safe_psql('postgres', "SELECT count(*) FROM payments WHERE '$filter_text'::cuckoofilter \@> account"), 'and it is the remote server that drops the others');
is_on_page('plain join', $plain, bytes_of($server{east}, 'id, account, note', 'payments'));
is_on_page('with a filter: payments', $filtered, bytes_of($server{east}, 'id, account, note', "payments WHERE '$filter_text'::cuckoofilter \@> account"));
is_on_page('with a filter: the filter', 1, length $filter_text);

$hub->safe_psql('postgres', 'DELETE FROM copied WHERE id % 200 = 0 OR id % 1000 = 1');
my $missing = '(SELECT cuckoo_agg(id, NULL, 1e-6) FROM copied)';
is_on_page('all payments', $plain, bytes_of($server{east}, 'id, region, account, note', 'payments'));
is_on_page('the filter of rows', 1, $server{east}->safe_psql('postgres', 'SELECT octet_length(cuckoo_agg(p, NULL, 1e-6)::text) FROM payments AS p'));
is_on_page('the filter of ids', 1, $hub->safe_psql('postgres', "SELECT octet_length(f::text) FROM $missing AS s (f)"));
is_on_page('the payments that `east` returns', rows_moved("SELECT * FROM payments_east WHERE NOT $missing \@> id"),
	bytes_of($server{east}, 'id, region, account, note', 'payments WHERE id % 200 = 0 OR id % 1000 = 1'));
unlike(remote_sql('SELECT cuckoo_agg(payments_east) FROM payments_east'), qr/cuckoo_agg/, 'an aggregate over whole rows is not sent');

# A column declared with another type than the remote one
$server{east}->safe_psql('postgres', q{CREATE TABLE codes AS SELECT i::text::char(8) AS code FROM generate_series(1, 10) AS i});
$hub->safe_psql('postgres', q{CREATE FOREIGN TABLE codes (code text) SERVER east OPTIONS (table_name 'codes');
	CREATE FOREIGN TABLE padded_codes (code char(8)) SERVER east OPTIONS (table_name 'codes')});
is($hub->safe_psql('postgres', "SELECT count(*) FROM $_ WHERE (SELECT cuckoo_agg(code) FROM (SELECT code FROM $_ OFFSET 0) AS s) \@> code"), $_ eq 'codes' ? 0 : 10, "filtered by its own values: $_")
  foreach qw(codes padded_codes);

my $by_region = 'SELECT region, cuckoo_agg(account, 750000) AS f FROM payments GROUP BY region';
is_on_page('a filter built on `hub`', rows_moved('SELECT cuckoo_agg(account, 750000) FROM payments'),
	bytes_of($server{east}, 'account', 'payments') + bytes_of($server{west}, 'account', 'payments'));
is_on_page('filters built where the rows are', rows_moved("SELECT cuckoo_union_agg(f) FROM ($by_region) AS s"),
	$hub->safe_psql('postgres', "SELECT sum(octet_length(f::text)) FROM ($by_region) AS s"));

# What is sent for sets of keys, as an array and as a filter
foreach my $keys (500, 10000, 100000, 860000)
{
	my ($array, $filter) = split /\|/, $hub->safe_psql('postgres', <<~SQL);
		SELECT octet_length(array_agg(account)::text), octet_length(cuckoo_agg(account)::text)
		FROM (SELECT hashint8extended(i, 7) & 33554431 AS account FROM generate_series(1, $keys) AS i) AS s
		SQL

	says($page, join(' | ', map { with_commas($_) } $keys, $array, $filter) . ' |');
}

# The union is the filter that one server would make, but for its marks: no
# larger, and it finds all.
is($hub->safe_psql('postgres', <<~SQL), '1|750000|t|t', 'the union of filters of the same shape has this shape, and misses none');
	SELECT subfilters, capacity, (SELECT bool_and(accounts \@> account) FROM payments),
		(SELECT count(*) < 250 FROM generate_series(20000000, 20100000) AS i WHERE accounts \@> i::bigint)
	FROM known, cuckoo_info(accounts);
	SQL

# ------------------------ What is sent to the remote server, and what is not

sub remote_sql
{
	my ($query, $before) = @_;
	my $plan = $hub->safe_psql('postgres', ($before // '') . "EXPLAIN (VERBOSE, COSTS OFF) $query");

	return $plan =~ /Remote SQL: (.*)/ ? $1 : $plan;
}

is($hub->safe_psql('postgres', "SELECT count(*), min(id), max(id) FROM payments_east WHERE account = ANY (ARRAY(SELECT account FROM flagged))"), '10004|100|999995', 'an array has the same answer');
like(remote_sql('SELECT id, note FROM payments_east WHERE account = ANY (ARRAY(SELECT account FROM flagged))'), qr/WHERE \(\(account = ANY \(\$1::bigint\[\]\)\)\)/, 'an array is sent');

like(remote_sql("SELECT id FROM payments_east WHERE account <\@ $filter"), qr/WHERE \(\(account OPERATOR\(public\.<@\) \$1::public\.cuckoofilter\)\)/, 'key <@ filter is sent');
like(remote_sql("SELECT id FROM payments_east WHERE cuckoo_contains($filter, account)"), qr/WHERE \(public\.cuckoo_contains\(\$1::public\.cuckoofilter, account\)\)/, 'cuckoo_contains is sent');
like(remote_sql("SELECT id FROM payments_east WHERE '$filter_text'::cuckoofilter \@> account"), qr/WHERE \(\('[A-Za-z0-9+\/=]+'::public\.cuckoofilter OPERATOR/, 'a constant filter is sent');
like(remote_sql("EXECUTE ask('$filter_text')", 'PREPARE ask(cuckoofilter) AS SELECT id FROM payments_east WHERE $1 @> account; SET plan_cache_mode = force_generic_plan; '),
	qr/WHERE \(\(\$1::public\.cuckoofilter OPERATOR/, 'a parameter is sent');
# Keys that postgres_fdw sends, in conditions and aggregates, and others: with text
# but no text column, that are not immutable, and other forms and types.  A
# condition that is not sent is tested here.
$hub->safe_psql('postgres', q{CREATE DOMAIN whole AS bigint; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a bigint, b text);
	CREATE FOREIGN TABLE sent (id bigint, region text, account bigint, note text, at timestamptz, ts timestamp, b bytea, ip inet, u uuid, j jsonb, d whole, m mood, c pair, ds whole[]) SERVER east OPTIONS (table_name 'payments')});
foreach my $key ('account', 'note', 'at', 'ARRAY[id, account]', 'ARRAY[region, note]', q{region || ':' || note}, 'account::numeric', 'lower(note)',
	'ts::date', q{decode(note, 'hex')}, q{split_part(note, ':', 1)}, 'md5(note)', 'ip::cidr')
{
	like(remote_sql("SELECT id FROM sent WHERE (SELECT cuckoo_new()) \@> ($key)"), qr/WHERE .*OPERATOR\(public\.\@>\)/, "is sent: f \@> $key");
	like(remote_sql("SELECT cuckoo_agg($key) FROM sent"), qr/SELECT public\.cuckoo_agg\(/, "is sent: cuckoo_agg($key)");
}
foreach my $key (q{date_trunc('day', ts)}, q{ts AT TIME ZONE 'UTC'}, 'extract(epoch FROM ts)', q{encode(b, 'hex')}, 'host(ip)', q{j -> 'n'}, q{j ->> 'n'},
	'at::date', 'u::text', 'account::text', q{id || ':' || note},
	'ROW(account, note)', 'ROW(account, note)::pair', 'coalesce(note, region)', q{format('%s:%s', region, note)}, 'd', 'm', 'c', 'ds')
{
	unlike(remote_sql("SELECT id FROM sent WHERE (SELECT cuckoo_new()) \@> ($key)"), qr/ WHERE /, "is not sent: f \@> $key");
	unlike(remote_sql("SELECT cuckoo_agg($key) FROM sent"), qr/cuckoo_agg/, "is not sent: cuckoo_agg($key)");
}
like(remote_sql("SELECT id FROM sent WHERE $_"), qr/ WHERE .*public\./, "is sent: $_")
  foreach 'NOT (SELECT cuckoo_new()) @> account', 'cuckoo_new() @> account', '(SELECT cuckoo_new()) @> account OR id = 3', '(SELECT cuckoo_new()) @> ANY (ARRAY[id, account])',
  'cuckoo_count((SELECT cuckoo_new()), account) > 1', '(cuckoo_contains_each((SELECT cuckoo_new()), ARRAY[id, account]))[1]', 'cuckoo_shard(account, 4) = 1';
like(remote_sql("$_ WHERE (SELECT cuckoo_new()) \@> account"), qr/ WHERE .*OPERATOR\(public\.\@>\)/, "is sent: $_") foreach q{UPDATE sent SET note = 'x'}, 'DELETE FROM sent';
unlike(remote_sql('SELECT id FROM known, payments_east WHERE accounts @> account'), qr/WHERE/, 'a filter from a join is not sent');

# -------------------------- A remote server that does not have the extension
my $answer = $hub->safe_psql('postgres', "SELECT count(*), sum(id) FROM payments_east WHERE $filter \@> account");

$server{east}->safe_psql('postgres', 'DROP EXTENSION cuckoo');
is(sqlstate($hub, 'postgres', "SELECT count(*) FROM payments_east WHERE $filter \@> account"), '42704', 'a server that is said to have the extension raises an error');
$hub->safe_psql('postgres', 'ALTER SERVER east OPTIONS (DROP extensions)');
is($hub->safe_psql('postgres', "SELECT count(*), sum(id) FROM payments_east WHERE $filter \@> account"), $answer, 'one that is not gives the same answer, filtered here');
is($hub->safe_psql('postgres', "SELECT count(*) FROM payments WHERE $filter \@> account"),
	$hub->safe_psql('postgres', "SELECT (SELECT count(*) FROM payments_east WHERE $filter \@> account) + (SELECT count(*) FROM payments_west WHERE $filter \@> account)"),
	'servers with it and without it are asked together');
is($hub->safe_psql('postgres', <<~SQL), 't', 'and filters are built from their rows');
	SET enable_partitionwise_aggregate = on;
	SELECT cuckoo_union_agg(f) = (SELECT accounts FROM known) FROM ($by_region) AS s;
	SQL

$_->stop for values %server;
done_testing();
