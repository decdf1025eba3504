# The version is the same everywhere, and an update from every released version
# gives the same as a fresh install.

use CuckooTest;
use JSON::PP;

my $source = "$FindBin::RealBin/../..";

# The extensions share a library, so they have one version.
my @extensions = qw(cuckoo cuckoo_citus cuckoo_index);

# ---------------- The version is written in several places, which must agree

sub read_source
{
	return slurp_file("$source/$_[0]");
}

my ($version) = read_source('cuckoo.control') =~ /^default_version = '(.*)'$/m;
my $meta = decode_json(read_source('META.json'));
my %found = (
	'META.json' => $meta->{version},
	'src/cuckoo.c' => read_source('src/cuckoo.c') =~ /^CUCKOO_MODULE_MAGIC\("cuckoo", "(.*)"\);$/m,
	'CHANGELOG.md' => read_source('CHANGELOG.md') =~ /^## \[?(\d[\d.]*)/m,
	'packaging/debian/changelog' => read_source('packaging/debian/changelog') =~ /\Apostgresql-cuckoo \(([\d.]+)-/);
foreach my $extension (@extensions)
{
	$found{"META.json, $extension"} = $meta->{provides}{$extension}{version};
	($found{"$extension.control"}) = read_source("$extension.control") =~ /^default_version = '(.*)'$/m;
	is($meta->{provides}{$extension}{file}, "sql/$extension--$version.sql", "META.json: the script of $extension");
	ok(-e "$source/$_", "META.json: there is $_") foreach @{ $meta->{provides}{$extension} }{qw(file docfile)};
}
is($found{$_} // 'none', $version, "version in: $_") for sort keys %found;

# What PGXN demands of META.json
is_deeply([ sort keys %{ $meta->{provides} } ], \@extensions, 'META.json: the extensions');
ok(defined $meta->{$_}, "META.json has $_") foreach qw(name abstract maintainer license meta-spec);
is(join(' ', grep { !/^(name|version|abstract|description|maintainer|license|provides|prereqs|release_status|resources|tags|meta-spec)$/ } keys %$meta), '', 'META.json: no unknown field');

# ------------------------------------------------------------------- Updates
my $node = new_server('main');

# What an extension consists of after statements that create it, in a database
# of its own.  For an upgrade of the server, pg_dump writes the definitions of an
# extension's objects.
my $databases = 0;
sub objects_after
{
	my @statements = @_;
	my $database = 'objects_' . $databases++;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $_) for @statements;
	my ($dump) = run_command([ 'pg_dump', '--binary-upgrade', '--schema-only', '-d', $node->connstr($database) ]);
	return $dump =~ s/^\\(un)?restrict .*$//mgr =~ s/'\d+'::pg_catalog\.oid//gr;
}

my %few = (cuckoo => 80, cuckoo_citus => 380, cuckoo_index => 35);
foreach my $extension (@extensions)
{
	my $fresh = objects_after("CREATE EXTENSION $extension CASCADE");

	cmp_ok(scalar(() = $fresh =~ /^CREATE /mg), '>', $few{$extension}, "$extension has its objects");
	is(objects_after("CREATE EXTENSION $extension VERSION '$version' CASCADE"), $fresh, '... whose default version is that of the control file');

	# Every version that can be installed can be updated, together with cuckoo.
	my @older = split /\n/, $node->safe_psql('postgres',
		"SELECT version FROM pg_available_extension_versions WHERE name = '$extension' AND version <> '$version' ORDER BY version");
	note "older versions of $extension: " . (join(', ', @older) || 'none');
	foreach my $older (@older)
	{
		my $base = $extension eq 'cuckoo' ? '' : "CREATE EXTENSION cuckoo VERSION '$older';";

		is(objects_after("$base CREATE EXTENSION $extension VERSION '$older'", "ALTER EXTENSION cuckoo UPDATE; ALTER EXTENSION $extension UPDATE"),
			$fresh, "an update of $extension from $older gives the same as a fresh install");
	}
}

# The comparison notices a property that an update might lack.
isnt(objects_after('CREATE EXTENSION cuckoo', 'ALTER FUNCTION cuckoo_cardinality PARALLEL UNSAFE'), objects_after('CREATE EXTENSION cuckoo'), 'a function that is not parallel safe is noticed');

# From 18 on the library can state its version.
SKIP:
{
	skip 'modules have no versions yet', 1 if $node->pg_version < 18;
	is($node->safe_psql('postgres', "LOAD 'cuckoo'; SELECT version FROM pg_get_loaded_modules() WHERE module_name = 'cuckoo'"), $version, 'the loaded library states its version');
}

$node->stop;
done_testing();
