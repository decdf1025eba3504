# Which file of src/ includes which, as CONTRIBUTING.md says: only those before it in
# its table, in which every file is, and few other files include some of them; and
# whether docs/testing.md names every test.

use strict;
use warnings;

use File::Basename;
use Test::More;

chdir(dirname(__FILE__) . '/../..') or die $!;

sub content { local @ARGV = @_; local $/; return <> }

# Folders and names as in a row: `src/a.[ch]`, `b.c`
my %place;
for (grep { m{^`src/} } split /\n/, content('CONTRIBUTING.md'))
{
	my ($cell) = /^(.*?) \|/;
	my ($folder) = $cell =~ m{^`(.*/)};
	for my $name ($cell =~ /`(.*?)`/g)
	{
		$name = $folder . basename($name);
		$place{$_} = %place + 1 for $name =~ s/\[ch\]$// ? ($name . 'h', $name . 'c') : $name;
	}
}

my @files = (glob('src/*.[ch]'), glob('src/core/*.[ch]'), glob('src/index/*.[ch]'));
is(join(' ', grep { !exists $place{$_} } @files), '', 'all files are in the table');

my @wrong;
for my $file (@files)
{
	for my $name (content($file) =~ /^#include "(.*)"/mg)
	{
		my $included = dirname($file) . "/$name";
		1 while $included =~ s{[^/]+/\.\./}{};
		if (!-e $included)
		{
			# One of PostgreSQL
			push @wrong, "$file: $name"
			  if $file =~ m{^src/(core/|index/page\.)} && $file ne 'src/core/port.h';
			next;
		}
		push @wrong, "$file: $name"
		  if $place{$included} >= $place{$file}
		  || ($included eq 'src/core/hash.h' && $file ne 'src/key.h')
		  || ($included eq 'src/index/index.h' && $file !~ m{^src/(index/|cuckoo\.c)})
		  || ($file =~ m{^src/index/page\.} && $included !~ m{/(page|shape)\.h$});
	}
}
is(join(', ', @wrong), '', 'each file includes only what it may');

# docs/testing.md has each test by its name, in test/t/ by its number.
my $page = content('docs/testing.md');
my @tests = map { basename($_) =~ s/^(\d+)_.*|\.(?:sql|spec|c)$/$1 \/\/ ''/er } glob('test/sql/* test/t/* test/isolation/specs/* test/unit/*.[ch] test/clients/*.*');
is(join(' ', grep { $page !~ /(?<![\w-])\Q$_\E(?![\w-])/ } @tests), '', 'docs/testing.md has every test');

done_testing();
