# Every example of the README, the guide, the reference and the pages on the index
# and on security runs, in the order of the page, and gives what the page shows.
# (docs/distributed.md needs several servers: 003_postgres_fdw.pl.)
#
# A block of SQL can be followed by a block without a language, which has its
# output: a result, notices, the first lines of an error or a warning, or for
# EXPLAIN some lines of the plan.  One that begins with "-- PostgreSQL 18" is for that
# version and later ones.  The reference and the page on the index also have expressions
# with an arrow and their result.

use CuckooTest;

# The pages show dates as PostgreSQL does by default.
my $node = new_server('main', conf => "DateStyle = 'ISO, MDY'\n");
my $database = 'shop';

# The words of each line that is not empty
sub lines_of
{
	return grep { $_ ne '' } map { words($_) } split /\n/, $_[0];
}

sub is_shown
{
	my ($sql, $shown, $stdout, $stderr, $what) = @_;
	my @shown = lines_of($shown);
	my @output = lines_of($stdout);

	if ($shown =~ /^(ERROR|WARNING|NOTICE):/)
	{
		my @messages = lines_of($stderr =~ s/^psql:<stdin>:\d+: //mgr);

		splice @messages, @shown if @messages > @shown;
		is(join("\n", @messages), join("\n", @shown), "raises: $what");
		return;
	}
	is($stderr, '', "runs: $what");
	return shows($stdout, $shown) if $sql =~ /^EXPLAIN/m;

	# Of several statements only the last one's result is shown.
	@output = @output[ -@shown .. -1 ] if @output > @shown;
	is(join("\n", @output), join("\n", @shown), "shows: $what");
	return;
}

foreach my $page (qw(README.md docs/guide.md docs/index.md docs/reference.md docs/security.md))
{
	my @blocks = grep { $_->{language} ne 'sh' } page_blocks($page);
	my $examples = 0;

	$node->safe_psql('postgres', "DROP DATABASE IF EXISTS $database");
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION cuckoo')
	  unless grep { $_->{text} =~ /^CREATE EXTENSION cuckoo;/m } @blocks;
	while (my $block = shift @blocks)
	{
		my $shown = @blocks && $blocks[0]->{language} eq '' ? (shift @blocks)->{text} : undef;
		my ($status, $stdout, $stderr);
		my $what = "$page, $block->{section}: " . (split /\n/, $block->{text})[0];

		is($block->{language}, 'sql', "is an example: $what") or next;
		next if $block->{text} =~ /^-- PostgreSQL (\d+)/ && $node->pg_version < $1;
		($status, $stdout, $stderr) = $node->psql($database,
			"\\pset format aligned\n\\pset tuples_only off\n\\pset footer off\n" . with_hosts($block->{text}, east => $node),
			on_error_stop => 1);
		if (defined $shown)
		{
			is_shown($block->{text}, $shown, $stdout, $stderr, $what);
		}
		else
		{
			# With the lines of its detail, up to the next message
			is($stderr =~ s/^psql:<stdin>:\d+: NOTICE: .*\n?(?:DETAIL: .*\n?(?:(?!psql:).+\n?)*)?//mgr, '', "runs: $what");
		}
		$examples++;
	}
	cmp_ok($examples, '>=', 1, "$page: $examples examples");
}

# The expressions of the reference, after its blocks.  In the first column of a
# table an arrow precedes a result type.
my @pages = qw(docs/reference.md docs/index.md);
my $reference = join '', map { page_text($_) } @pages;
my $text = $reference =~ s/^```.*?^```$//gmsr;
$text =~ s/^`cuckoo_.*(?<!\\) \| //gm;
my @expressions = map { s/\s+/ /gr =~ s/\\\|/|/gr } $text =~ /`([^`]+)`\s→\s`([^`]+)`/g;

$node->safe_psql('postgres', 'DROP DATABASE shop');
$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', 'CREATE EXTENSION cuckoo');
$node->safe_psql('shop', $_) foreach map { $_->{text} } grep { $_->{text} =~ /^CREATE TABLE (?:sample|members)/m } map { page_blocks($_) } @pages;
foreach my $extensions ('cuckoo', 'cuckoo and cuckoo_citus')
{
	$node->safe_psql('shop', 'CREATE EXTENSION IF NOT EXISTS cuckoo_citus') if $extensions =~ /citus/;
	for (my $i = 0; $i < @expressions; $i += 2)
	{
		my $from = $expressions[$i] =~ /_agg\(/ ? 'generate_series(1, 10) AS k' : 'sample';

		is($node->safe_psql('shop', "SELECT $expressions[$i] FROM $from"), $expressions[ $i + 1 ], "reference, $extensions: $expressions[$i]");
	}
}

# Every function and operator has a place in the reference, and an example there.
# At a glance has each operator, and each function without one.
my ($glance) = $reference =~ /^## At a glance$(.*?)^## /ms;
my $names = $node->safe_psql('shop', <<~'SQL');
	SELECT DISTINCT proname, EXISTS (SELECT FROM pg_operator WHERE oprcode = p.oid) FROM pg_proc AS p
	WHERE proname LIKE 'cuckoo\_%' AND proname !~ '_(transfn|combine|final|sel|joinsel|handler)$'
	UNION SELECT oprname, NULL FROM pg_operator WHERE 'cuckoofilter'::regtype IN (oprleft, oprright)
	SQL
foreach (split /\n/, $names)
{
	my ($name, $has_operator) = split /\|(?=[tf]?$)/;
	my $function = $name =~ /^\w/;

	ok((grep { $function ? /\b$name\(/ : / \Q$name\E / } @expressions), "the reference has an example of $name");
	like($reference, qr/^`$name\(/m, "... and its arguments") if $function;
	like($glance, qr/(`|f |key )\Q${\($name =~ s{\|}{\\|}r)}\E(`|\(| )/, '... and it at a glance') if $has_operator ne 't';
}

my $columns = $node->safe_psql('shop', <<~'SQL');
	SELECT proname, name FROM pg_proc, unnest(proargnames, proargmodes) AS a (name, mode)
	WHERE proname LIKE 'cuckoo\_%' AND mode IN ('o', 't') ORDER BY 1, 2
	SQL
like($reference, qr/^`$$_[0]\(.*`$$_[1]`/m, "the reference has column $$_[1] of $$_[0]") foreach map { [ split /\|/ ] } split /\n/, $columns;

# The messages in the README's headings about trouble.  The last three need
# a server without the extension or with another minor version.
my %raised_by = (
	'key type does not match cuckoofilter' => q{SELECT cuckoo_new() + 1 @> 'one'},
	'type "cuckoofilter" does not exist' => q{SET search_path = ''; SELECT NULL::cuckoofilter},
	'could not find function "ckhandler" in file ".../cuckoo.so"' => q{CREATE FUNCTION ckhandler(internal) RETURNS index_am_handler LANGUAGE c AS '$libdir/cuckoo'},
	'extension "cuckoo" is not available' => undef,
	'could not access file "$libdir/cuckoo"' => undef,
	'could not load library ".../cuckoo.so": ... undefined symbol' => undef);
my ($troubles) = page_text('README.md') =~ /^## Troubleshooting$(.*?)^## /ms;
my @messages = sort map { /`([^`]+)`/g } $troubles =~ /^#### (.*)$/mg;
is(join("\n", @messages), join("\n", sort keys %raised_by), 'the messages of the headings');
foreach my $message (grep { $raised_by{$_} } @messages)
{
	my $pattern = join '.*', map { quotemeta } split / *\.\.\. */, $message;

	like(($node->psql('shop', $raised_by{$message}, on_error_stop => 1))[2], qr/ERROR:  .*$pattern/, "raised: $message");
}

# Links: each to a file and a heading that there are, and to every page and picture
# one from the README or from another page
my $root = "$FindBin::RealBin/../..";
my ($pages, $pictures) = map { [ map { s{^\Q$root/\E}{}r } glob "$root/$_" ] } '{*,docs/*,clients/*/*}.md', 'docs/*.svg';
my %linked;
foreach my $page (@$pages)
{
	my ($folder) = $page =~ m{^(.*/)?};

	foreach my $link (page_text($page) =~ /\]\(((?!https?:)[^)\s]+)\)/g)
	{
		my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;

		$file = $file eq '' ? $page : ($folder // '') . $file;
		1 while $file =~ s{[^/]+/\.\./}{};
		ok(-e "$root/$file", "$page: $link") or next;
		$linked{$file} = 1 if $file ne $page;
		next if !defined $anchor;
		# The anchors of headings, as forges make them
		my @anchors = map { lc =~ s/[^\w\- ]//gr =~ tr/ /-/r } page_text($file) =~ /^#+ (.*)$/mg;
		ok((grep { $_ eq $anchor } @anchors), "$page: the heading of $link");
	}
}
ok($linked{$_}, "linked: $_") foreach grep { /^docs/ } @$pages, @$pictures;

$node->stop;
done_testing();
