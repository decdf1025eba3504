# Every example of the README, the guide, the reference and the page on security
# runs, in the order of the page, and gives what the page shows.
# (docs/distributed.md needs several servers: 003_postgres_fdw.pl.)
#
# A block of SQL can be followed by a block without a language, which has its
# output: a result, notices, the first lines of an error or a warning, or for
# EXPLAIN some lines of the plan.

use FindBin;
use lib $FindBin::RealBin;
use CuckooTest;

my $node = new_server('main');
my $database = 'shop';

# The words of each line that is not empty
sub lines_of
{
	my ($text) = @_;

	return grep { $_ ne '' } map { join ' ', split } split /\n/, $text;
}

# Plans as PostgreSQL 15 prints them
sub plan_lines_of
{
	my ($text) = @_;

	# 17: the result of an InitPlan has its name; 18: rows of fractions, and
	# several lines for a scan never executed.
	$text =~ s/\(InitPlan \w+\)\.col1/\$0/g;
	$text =~ s/ \(returns \$0\)//g;
	# 19: another name of the InitPlan itself
	$text =~ s/InitPlan expr_(\d+)/InitPlan $1/g;
	$text =~ s/(rows=\d+)\.00/$1/g;
	return grep { !/^Params Evaluated:/ } lines_of($text);
}

# The foreign server is this one.
sub with_hosts
{
	my ($sql) = @_;

	$sql =~ s{host 'east\.example\.com'}{"host '" . $node->host . "', port '" . $node->port . "'"}ge;
	return $sql;
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
	if ($sql =~ /^EXPLAIN/m)
	{
		@shown = plan_lines_of($shown);
		@output = plan_lines_of($stdout);
		foreach my $line (@shown)
		{
			shift @output while @output && index($output[0], $line) < 0;
			ok(scalar @output, "says: $line") or diag($stdout);
			shift @output;
		}
		return;
	}

	# Of several statements only the last one's result is shown.
	@output = @output[ -@shown .. -1 ] if @output > @shown;
	is(join("\n", @output), join("\n", @shown), "shows: $what");
	return;
}

foreach my $page (qw(README.md docs/guide.md docs/reference.md docs/security.md))
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
		($status, $stdout, $stderr) = $node->psql($database,
			"\\pset format aligned\n\\pset tuples_only off\n\\pset footer off\n" . with_hosts($block->{text}), on_error_stop => 1);
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
	cmp_ok($examples, '>=', 2, "$page: $examples examples");
}

$node->stop;
done_testing();
