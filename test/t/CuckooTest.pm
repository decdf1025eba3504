# Shared by these tests: servers, and filters of every representation and size.
#
# "use CuckooTest;" also brings PostgreSQL::Test's modules and Test::More.

package CuckooTest;

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

sub import
{
	my $into = caller;

	strict->import;
	warnings->import;
	Test::More->export_to_level(1);
	no strict 'refs';
	*{"${into}::$_"} = \&{$_}
	  for grep({ /^\w/ } @PostgreSQL::Test::Utils::EXPORT), qw(new_server new_standby create_samples
	  create_buffers digests sqlstate measure split_aggregates key_expressions page_text says
	  page_blocks words with_hosts kill_backend shows);
	return;
}

# Starts a server.  The options may make it one that others can replicate.
sub new_server
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	# C sorts the same everywhere.  It knows no letters beyond ASCII, which does
	# not matter for keys.
	$node->init(
		allows_streaming => $options{replication},
		extra => [ '--encoding=UTF8', '--locale=C', '--no-sync', @{ $options{initdb} || [] } ]);
	$node->append_conf('postgresql.conf', <<~CONF);
		max_wal_size = 2GB
		log_statement = none
		log_min_duration_statement = -1
		CONF
	$node->append_conf('postgresql.conf', $ENV{CUCKOO_TEST_CONF}) if $ENV{CUCKOO_TEST_CONF};
	# What a test needs comes last.
	$node->append_conf('postgresql.conf', $options{conf}) if $options{conf};
	$node->start;
	return $node;
}

# Starts a standby of a server, from a backup that it makes unless there is one.
sub new_standby
{
	my ($node, $backup) = @_;
	my $standby = PostgreSQL::Test::Cluster->new('standby');

	$node->backup('now') unless $backup;
	$standby->init_from_backup($node, $backup // 'now', has_streaming => 1);
	$standby->start;
	return $standby;
}

# Makes the table samples with one filter per row, of every representation and
# stored in every way.
sub create_samples
{
	my ($node, %options) = @_;
	my $database = $options{database} // 'postgres';

	$node->safe_psql($database, <<~SQL);
		CREATE EXTENSION IF NOT EXISTS cuckoo;
		CREATE TABLE samples (name text PRIMARY KEY, f cuckoofilter);
		INSERT INTO samples VALUES
			('null', NULL),
			('unset', (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)),
			('empty', cuckoo_new()),
			('empty, parameters', cuckoo_new(1000, 0.01, 42)),
			('sparse, 77 bytes', cuckoo_from_array(ARRAY[1, 2, 3])),
			('sparse, 740 bytes', cuckoo_from_array(ARRAY(SELECT generate_series(1, 300)), 100000, 0.01, 7)),
			('sparse, 66 kB', (SELECT cuckoo_agg(i, 1000000, 0.001) FROM generate_series(1, 30000) AS i)),
			('dense, 1 kB', cuckoo_from_array(ARRAY(SELECT generate_series(1, 600)), 600, 0.001)),
			('words', cuckoo_from_array(ARRAY(SELECT 'w\N{U+F6}rd ' || i FROM generate_series(1, 5000) AS i))),
			('rows', cuckoo_from_array(ARRAY(SELECT row(i, i::text) FROM generate_series(1, 500) AS i))),
			('grown', cuckoo_add_all(cuckoo_new(700, 0.001), ARRAY(SELECT generate_series(1, 30000)))),
			('mixed, 1.5 kB', cuckoo_add_all(cuckoo_new(700, 0.01), ARRAY(SELECT generate_series(1, 1000)))),
			('sixteen tables', (SELECT cuckoo_union_agg(cuckoo_from_array(ARRAY[i, i + 1, -i], i, 0.001)) FROM generate_series(1, 160, 10) AS i)),
			('with copies', (SELECT cuckoo_multiset_agg(i % 500, 5000, 0.001) FROM generate_series(1, 5000) AS i)),
			('with removals, dense', cuckoo_remove_all(cuckoo_from_array(ARRAY(SELECT generate_series(1, 3000))), ARRAY(SELECT generate_series(1, 1000)))),
			('with removals, sparse', cuckoo_remove_all(cuckoo_from_array(ARRAY(SELECT generate_series(1, 3000))), ARRAY(SELECT generate_series(1, 2000)))),
			('1 MB', (SELECT cuckoo_agg(i) FROM generate_series(1, 670000) AS i)),
			('1 MB, sparse', (SELECT cuckoo_agg(i, 1000000, 0.001) FROM generate_series(1, 600000) AS i));
		SQL
	$node->safe_psql($database, <<~SQL) if $options{large};
		INSERT INTO samples SELECT '100 MB', cuckoo_agg(i) FROM (SELECT generate_series(1, 65000000) AS i) AS s;
		SQL
	return;
}

# Makes the function buffers(query): the buffers that a query reads, in the cache
# or not.
sub create_buffers
{
	my ($node) = @_;

	$node->safe_psql('postgres', <<~'SQL');
		CREATE FUNCTION buffers(query text) RETURNS bigint LANGUAGE plpgsql AS $$
			DECLARE plan json;
			BEGIN
				EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
				plan := plan -> 0 -> 'Plan';
				RETURN (plan ->> 'Shared Hit Blocks')::bigint + (plan ->> 'Shared Read Blocks')::bigint;
			END $$;
		SQL
	return;
}

# The filters of a table, one line per row: a digest of the bytes, and whether
# they pass the validator.
sub digests
{
	my ($node, $database, $table) = @_;

	return $node->safe_psql($database, <<~SQL);
		SELECT name, md5(f::bytea), f = f::bytea::cuckoofilter FROM $table ORDER BY name COLLATE "C"
		SQL
}

# The SQLSTATE of a query's error, or its result.
sub sqlstate
{
	my ($node, $database, $query, %options) = @_;
	my ($status, $stdout, $stderr) =
	  $node->psql($database, "\\set VERBOSITY sqlstate\n$query", on_error_stop => 1, %options);

	return $1 if $stderr =~ /ERROR:  ([0-9A-Z]{5})/;
	return $status == 0 ? $stdout : $stderr;
}

# Kills a process of a server, and waits until the server has noticed it and is
# ready again.  poll_query_until could not wait: it dies if psql fails to connect
# before it has been given its query.
sub kill_backend
{
	my ($node, $pid) = @_;
	my $killed = kill('KILL', $pid);

	usleep(10_000) while kill(0, $pid);
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return $killed if system('pg_isready', '-q', '-h', $node->host, '-p', $node->port) == 0;
		usleep(100_000);
	}
	die 'the server does not answer';
}

# The result of a query in a session of its own, or the SQLSTATE of its error, and the
# peak of this session's memory in MB
sub measure
{
	my ($node, $query) = @_;
	my (undef, $stdout, $stderr) = $node->psql('postgres', <<~SQL, on_error_stop => 0);
		\\set VERBOSITY sqlstate
		SET max_parallel_workers_per_gather = 0;
		SET jit = off;
		SELECT cuckoo_new() + 1 \\g /dev/null
		$query;
		SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::integer / 1024;
		SQL
	my ($result, $peak) = $stdout =~ /^(?:(.*)\n)?(\d+)$/s or die "$stdout$stderr";

	return ($stderr =~ /ERROR:  ([0-9A-Z]{5})/ ? $1 : $result // '', $peak);
}

# The aggregates that can be split, because they are not polymorphic: of each
# its OID, its signature, its name, and the types and names of its arguments,
# separated by commas.
sub split_aggregates
{
	my ($node) = @_;

	return map { [ split /\t/ ] } split /\n/, $node->safe_psql('postgres', <<~'SQL');
		SELECT concat_ws(E'\t', p.oid, p.oid::regprocedure, proname,
			replace(oidvectortypes(proargtypes), ', ', ','), array_to_string(proargnames, ','))
		FROM pg_depend AS d
			JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
			JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
			JOIN pg_aggregate AS a ON a.aggfnoid = p.oid
		WHERE e.extname IN ('cuckoo', 'cuckoo_citus') AND d.deptype = 'e'
			AND NOT 'anycompatible'::regtype = ANY (p.proargtypes::oid[])
		ORDER BY p.oid::regprocedure::text
		SQL
}

# By each type that these aggregates take: how a number n becomes a value of it.
sub key_expressions
{
	my %key = (
		'boolean' => q{n % 2 = 0},
		'"char"' => q{(n % 256 - 128)::"char"},
		'smallint' => q{(n % 65536 - 32768)::smallint},
		'integer' => q{n},
		'bigint' => q{n * 10000000000},
		'oid' => q{n::oid},
		'xid8' => q{n::text::xid8},
		'real' => q{n::real / 8},
		'double precision' => q{n::float8 / 10},
		'numeric' => q{n / 8.0},
		'money' => q{n::money},
		'text' => q{'key ' || n},
		'character varying' => q{'key ' || n},
		'character' => q{'key ' || n},
		'name' => q{'key ' || n},
		'bytea' => q{decode(lpad(to_hex(n), 8, '0'), 'hex')},
		'bit' => q{n::bit(32)},
		'bit varying' => q{n::bit(32)},
		'uuid' => q{md5(n::text)::uuid},
		'date' => q{date '2000-01-01' + n},
		'time without time zone' => q{time '00:00' + n * interval '1 second'},
		'time with time zone' => q{timetz '00:00+01' + n * interval '1 second'},
		'timestamp without time zone' => q{timestamp '2000-01-01' + n * interval '1 minute'},
		'timestamp with time zone' => q{timestamptz '2000-01-01 00:00:00Z' + n * interval '1 minute'},
		'interval' => q{n * interval '1 minute'},
		'inet' => q{inet '10.0.0.0' + n},
		'cidr' => q{inet '10.0.0.0' + n},
		'macaddr' => q{lpad(to_hex(n), 12, '0')::macaddr},
		'macaddr8' => q{lpad(to_hex(n), 16, '0')::macaddr8},
		'pg_lsn' => q{pg_lsn '0/0' + n},
		'jsonb' => q{jsonb_build_object('key', n)},
		'cuckoofilter' => q{cuckoo_from_array(ARRAY[n, n + 1, n + 2])});
	# Names of types that mean one character or bit without a length
	my %cast = ('character' => 'bpchar', 'bit' => '"bit"');

	return map { ($_ => "($key{$_})::" . ($cast{$_} // $_)) } keys %key;
}

# A page of the documentation
sub page_text
{
	return slurp_file("$FindBin::RealBin/../../$_[0]");
}

# Tests that a page has a row of figures.
sub says
{
	my ($page, $sentence) = @_;

	ok(index(words(page_text($page)), $sentence) >= 0, "$page: $sentence");
	return;
}

# The blocks of code of a page of the documentation, in order: each with its
# language, its text without the indentation of a list, and its section.
sub page_blocks
{
	my ($page) = @_;
	my $section = '';
	my @blocks;
	my $block;

	foreach my $line (split /\n/, page_text($page))
	{
		if ($block && $line =~ /^\s*```$/)
		{
			push @blocks, $block;
			undef $block;
		}
		elsif ($block)
		{
			$line =~ s/^ {0,$block->{indent}}//;
			$block->{text} .= "$line\n";
		}
		elsif ($line =~ /^( *)```(\w*)$/)
		{
			$block = { indent => length $1, language => $2, section => $section, text => '' };
		}
		elsif ($line =~ /^## (.*)$/)
		{
			$section = $1;
		}
	}
	die "a block of $page has no end" if $block;
	return @blocks;
}

# The words of a line, whatever the spaces between them
sub words
{
	return join ' ', split ' ', $_[0];
}

# Plans as PostgreSQL 15 prints them
sub plan_as_in_15
{
	my ($line) = @_;

	# 17: the result of an InitPlan has its name; 18: rows of fractions; 19:
	# another name of the InitPlan itself.
	$line =~ s/\(InitPlan \w+\)\.col1/\$0/g;
	$line =~ s/ \(returns \$0\)//g;
	$line =~ s/InitPlan expr_(\d+)/InitPlan $1/g;
	$line =~ s/(rows=\d+)\.00/$1/g;
	return $line;
}

# The SQL of a page, with our servers in place of its hosts
sub with_hosts
{
	my ($sql, %server) = @_;

	$sql =~ s{host '(\w+)\.example\.com'}{"host '" . $server{$1}->host . "', port '" . $server{$1}->port . "'"}ge;
	return $sql;
}

# Tests that the lines of a block of text are lines of the output, or parts of
# them, in this order.
sub shows
{
	my ($output, $text) = @_;
	my @output = map { words($_) } split /\n/, $output;

	foreach my $line (map { words($_) } split /\n/, $text)
	{
		shift @output while @output && index($output[0], $line) < 0 && index(plan_as_in_15($output[0]), $line) < 0;
		ok(scalar @output, "says: $line") or diag($output);
		shift @output;
	}
	return;
}

1;
