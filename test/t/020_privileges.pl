# Privileges: an ordinary user can create the extensions, and no search_path,
# however hostile, changes what they do.

use CuckooTest;

my $node = new_server('main');

# The result of a user's query, or the SQLSTATE of its error
sub as
{
	my ($user, $database, $query) = @_;

	return sqlstate($node, $database, $query, extra_params => [ '-U', $user ]);
}

$node->safe_psql('postgres', <<'SQL');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN;
CREATE DATABASE one OWNER alice;
CREATE DATABASE two OWNER alice;
CREATE DATABASE three OWNER alice;
SQL

# The install scripts run with a superuser's rights in a schema of the user, who
# may have put functions and operators there.  They call none of them.

$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN; CREATE DATABASE trap OWNER mallory');
my $traps = '';
foreach my $trap (
	[ '||', 'text', 'text[]', 'array_prepend($1, $2)', 'text[]' ],
	[ '||', 'text', 'name', 'concat($1, $2)', 'text' ],
	[ '||', 'text', 'regtype', 'concat($1, $2)', 'text' ],
	[ '<>', 'regtype', 'regtype', 'oidne($1, $2)', 'boolean' ],
	[ '=', 'oid', 'regtype', 'oideq($1, $2)', 'boolean' ],
	[ '=', 'oid', 'regclass', 'oideq($1, $2)', 'boolean' ],
	[ '=', 'regproc', 'regproc', 'oideq($1, $2)', 'boolean' ])
{
	my ($operator, $left, $right, $result, $type) = @$trap;

	$traps .= <<~SQL;
		CREATE FUNCTION trap.operator($left, $right) RETURNS $type LANGUAGE plpgsql AS
			\$\$ BEGIN INSERT INTO trap.caught VALUES ('$left $operator $right'); RETURN pg_catalog.$result; END \$\$;
		CREATE OPERATOR trap.$operator (LEFTARG = $left, RIGHTARG = $right, FUNCTION = trap.operator);
		SQL
}
$traps .= "CREATE FUNCTION trap.$_ RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO trap.caught VALUES ('$_'); RETURN 'SELECT 1'; END \$\$;\n"
  foreach 'array_to_string(text[], text)', 'format(text, text, text, text, text)', 'format(text, name, regtype)';
is(as('mallory', 'trap', <<~SQL), 'f', 'nothing in the target schema is called as the extensions are created');
	CREATE SCHEMA trap;
	CREATE TABLE trap.caught (name text);
	GRANT ALL ON SCHEMA trap TO PUBLIC;
	GRANT ALL ON TABLE trap.caught TO PUBLIC;
	$traps
	CREATE EXTENSION cuckoo SCHEMA trap;
	CREATE EXTENSION cuckoo_index SCHEMA trap;
	CREATE EXTENSION cuckoo_citus SCHEMA trap;
	SELECT EXISTS (SELECT FROM trap.caught);
	SQL
is(as('mallory', 'trap', 'SHOW search_path'), '"$user", public', 'and the search_path is as before');

# Who may create, change and drop it

is(as('bob', 'one', 'CREATE EXTENSION cuckoo'), '42501',
	'a user without CREATE on a database cannot create the extension there');
is(as('alice', 'one', 'CREATE SCHEMA ext; CREATE EXTENSION cuckoo SCHEMA ext'), '',
	'an ordinary user creates the extension in a database of its own');
# The others may be in another schema, in which somebody has put things with the
# names of ours.
is(as('alice', 'one', q{
		CREATE SCHEMA more;
		CREATE TYPE more.cuckoofilter AS (a integer);
		CREATE FUNCTION more.cuckoo_agg_transfn(more.cuckoofilter, bigint) RETURNS more.cuckoofilter LANGUAGE sql AS 'SELECT $1';
		CREATE FUNCTION more.cuckoo_agg_final(anyelement) RETURNS integer LANGUAGE sql AS 'SELECT 1';
		CREATE EXTENSION cuckoo_citus SCHEMA more;
		CREATE EXTENSION cuckoo_index SCHEMA more}),
	'', 'and the other ones');
is(as('alice', 'one', q{SELECT DISTINCT pg_get_userbyid(extowner) FROM pg_extension WHERE extname LIKE 'cuckoo%'}), 'alice', 'that user owns the extensions');
# What other objects those of the extensions depend on, but for schemas
my $strangers = q{
	SELECT count(*) FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname LIKE 'cuckoo%'
		JOIN pg_depend AS used ON used.classid = d.classid AND used.objid = d.objid AND used.deptype = 'n' AND used.refclassid <> 'pg_namespace'::regclass
	WHERE d.deptype = 'e' AND NOT EXISTS (SELECT FROM pg_depend AS o JOIN pg_extension AS first ON first.oid = o.refobjid AND first.extname IN ('cuckoo', e.extname)
		WHERE o.deptype = 'e' AND o.classid = used.refclassid AND o.objid = used.refobjid)};
is(as('alice', 'one', $strangers), '0', 'which depend on nothing but objects of the first and their own');
is(as('alice', 'one', q{SELECT pg_typeof(more.cuckoo_agg(1, 10)), pg_typeof(more.cuckoo_stream_agg('a'::text, 10))}),
	'ext.cuckoofilter|ext.cuckoofilter', '... and make its type');

my $functions = q{
	pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
	JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname LIKE 'cuckoo%'};

is( as('alice', 'one', "SELECT count(*) FROM $functions WHERE p.proowner = 'alice'::regrole OR p.proconfig IS NOT NULL"),
	'0', 'but none of its functions, none of which sets anything');
# (That none runs with its owner's rights is tested by test/sql/catalog.sql,
# and what the planner may tell of hidden rows by test/sql/selectivity.sql.)
is( as('alice', 'one', "SELECT string_agg(DISTINCT l.lanname, ' ' ORDER BY l.lanname) FROM $functions JOIN pg_language AS l ON l.oid = p.prolang WHERE p.prosqlbody IS NULL"),
	'c internal', 'no function has a body whose names a search_path could change');

# A hostile search_path.  All planted objects raise an error when they are used.

my $raise = q{RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = 'TRAP1'; END$$};
my @planted_types = qw(bigint integer text bytea anyelement anycompatible);
my $plants = join "\n",
  "CREATE FUNCTION %1\$s.trap(anyelement) $raise;",
  (map { "CREATE FUNCTION %1\$s.trap($_, $_) $raise;" } @planted_types),
  (map { my $operator = $_; map { "CREATE OPERATOR %1\$s.$operator (LEFTARG = $_, RIGHTARG = $_, FUNCTION = %1\$s.trap);" } @planted_types }
	  '=', '<>', '<', '<=', '>', '>=', '@>', '<@', '|', '||', '+', '-'),
  (map { "CREATE FUNCTION %1\$s.$_(anycompatible, anycompatible) $raise;" }
	  qw(cuckoo_add cuckoo_remove cuckoo_contains cuckoo_contained cuckoo_contains_each cuckoo_union cuckoo_union_all
	  cuckoofilter_eq cuckoofilter_cmp cuckoofilter_lt cuckoo_count hash_any eqsel eqjoinsel int8eq texteq count md5)),
  (map { "CREATE FUNCTION %1\$s.$_(anyelement) $raise;" }
	  qw(cuckoofilter_in cuckoofilter_out cuckoofilter_send cuckoofilter_hash cuckoo_cardinality cuckoo_info cuckoo_agg_final)),
  (map { "CREATE DOMAIN %1\$s.$_ AS integer CHECK (%1\$s.trap(VALUE));" } qw(text bytea float8 int8 int4 bool internal cstring anycompatible timestamptz));

# Each query gives one value, and uses qualified names.
my @questions = (
	q{EXT.cuckoo_new(1000, 0.01, 42)},
	q{(SELECT EXT.cuckoo_agg(i) FROM EXT.numbers)},
	q{(SELECT EXT.cuckoo_agg(t, 9000, 0.01) FROM EXT.numbers)},
	q{(SELECT EXT.cuckoo_agg(ROW(i, t)) FROM EXT.numbers)},
	q{(SELECT EXT.cuckoo_agg(j) FROM EXT.numbers)},
	q{(SELECT EXT.cuckoo_agg(r) FROM EXT.numbers)},
	q{(SELECT EXT.cuckoo_stream_agg(i, 6000, 0.01) FROM EXT.numbers)},
	q{(SELECT EXT.cuckoo_cardinality(f OPERATOR(EXT.+) 5 OPERATOR(EXT.-) 5) FROM EXT.kept)},
	q{(SELECT f OPERATOR(EXT.@>) 17 FROM EXT.kept)},
	q{(SELECT EXT.cuckoo_contains_each(f, ARRAY[17, 999999, NULL]) FROM EXT.kept)},
	q{(SELECT f OPERATOR(EXT.@>) ANY (ARRAY[999999, 17]) FROM EXT.kept)},
	q{(SELECT EXT.cuckoo_count(f, 17) FROM EXT.kept)},
	q{(SELECT f OPERATOR(EXT.|) EXT.cuckoo_from_array(ARRAY[7, 8]) FROM EXT.kept)},
	q{(SELECT EXT.cuckoo_union_all(f, EXT.cuckoo_from_array(ARRAY[7, 8])) FROM EXT.kept)},
	q{(SELECT EXT.cuckoo_union_agg(f) FROM EXT.kept)},
	q{(SELECT EXT.cuckoo_union_all_agg(f) FROM EXT.kept)},
	q{(SELECT f OPERATOR(EXT.=) f::pg_catalog.text::EXT.cuckoofilter FROM EXT.kept)},
	q{(SELECT f OPERATOR(EXT.=) f::pg_catalog.bytea::EXT.cuckoofilter FROM EXT.kept)},
	q{(SELECT (EXT.cuckoo_info(f))::pg_catalog.text FROM EXT.kept)},
	q{EXT.cuckoo_hash(12::pg_catalog.int8)},
	q{EXT.cuckoo_shard('abc'::pg_catalog.text, 100)},
	q{(SELECT pg_catalog.count(*) FROM (SELECT DISTINCT a.f FROM EXT.kept AS a, EXT.numbers) AS d)},
	q{(SELECT pg_catalog.count(*) FROM EXT.kept AS a JOIN EXT.kept AS b ON a.f OPERATOR(EXT.=) b.f)},
	q{(SELECT pg_catalog.count(*) FROM (SELECT f FROM EXT.kept ORDER BY f) AS sorted)},
	q{(SELECT pg_catalog.count(*) FROM EXT.numbers, EXT.kept WHERE f OPERATOR(EXT.@>) i)});

# The answers with nothing planted.  The tables are in the extension's schema.
sub answers
{
	my ($database, $schema, $path, $first) = @_;

	return as('alice', $database, join "\n", 'SET client_min_messages = error;', $first // '', "SET search_path = $path;",
		map { 'SELECT ' . s/EXT\./$schema./gr . ';' } @questions);
}

my $keep = q{
	CREATE TABLE %1$s.kept AS SELECT %1$s.cuckoo_from_array(ARRAY(SELECT generate_series(1, 2000))) AS f;
	CREATE TABLE %1$s.numbers AS
	SELECT i, i::pg_catalog.text AS t, pg_catalog.jsonb_build_object('k', i) AS j, pg_catalog.int4range(i, 5000) AS r
	FROM pg_catalog.generate_series(1, 4000) AS i;
};

as('alice', 'one', sprintf $keep, 'ext');
my $expected = answers('one', 'ext', 'ext');
is(scalar(split /\n/, $expected), scalar @questions, 'all queries have an answer');
unlike($expected, qr/ERROR|^[0-9A-Z]{5}$/, 'and none is an error');

# Planted before CREATE EXTENSION, in the schema that it goes to, and in pg_temp, which
# ends with its session
is(as('alice', 'two', sprintf $plants, 'public'), '', 'objects planted before CREATE EXTENSION');
is(as('alice', 'two', "SET search_path = public, pg_catalog; CREATE EXTENSION $_ SCHEMA public"), '', "$_ is created among them")
  foreach qw(cuckoo cuckoo_index cuckoo_citus);
is(as('alice', 'two', sprintf $keep, 'public'), '', 'and used');
is( answers(
		'two', 'public', 'pg_temp, public, pg_catalog',
		sprintf($plants, 'pg_temp') . "CREATE TEMPORARY TABLE kept (f text);\nCREATE TYPE pg_temp.cuckoofilter AS (a integer);\n"),
	$expected, 'the same answers with names planted before all others');
is(as('alice', 'two', q{SELECT 1::bigint OPERATOR(public.=) 2::bigint}), 'TRAP1', 'the planted operators would have been noticed');
is(as('alice', 'two', $strangers), '0', 'nothing in the extensions depends on what is planted');
is(as('alice', 'two', 'DROP TABLE kept; DROP EXTENSION cuckoo_citus, cuckoo_index, cuckoo'), '', 'their owner drops them');

# If there is an object in the place of one of our functions, creation fails.
# The object is neither replaced nor used as ours.
foreach my $squatter (
	q{CREATE FUNCTION public.cuckoo_hash(value anycompatible, seed bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'},
	q{CREATE FUNCTION public.cuckoo_shard(value anycompatible, shards integer) RETURNS integer LANGUAGE sql AS 'SELECT 0'},
	q{CREATE DOMAIN public.cuckoofilter AS text})
{
	my ($what) = $squatter =~ /^(\w+ \w+ [\w.]+)/;
	like(as('alice', 'three', "BEGIN; $squatter; CREATE EXTENSION cuckoo SCHEMA public"), qr/^42(710|723)$/,
		"refused where there is one already: $what");
}
is(as('alice', 'three', 'CREATE EXTENSION cuckoo_index CASCADE'), '', 'and created when it is gone');
foreach my $squatter (
	q{CREATE FUNCTION public.cuckoo_agg(key integer) RETURNS integer LANGUAGE sql AS 'SELECT 0'},
	q{CREATE FUNCTION public.cuckoo_agg_transfn(cuckoofilter, boolean) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT $1'},
	q{CREATE FUNCTION public.cuckoo_agg_final(cuckoofilter, VARIADIC integer[]) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT $1'})
{
	my ($what) = $squatter =~ /^CREATE (\w+ [\w.]+\(.*?\))/;

	like(as('alice', 'three', "BEGIN; $squatter; CREATE EXTENSION cuckoo_citus SCHEMA public"), $squatter =~ /VARIADIC/ ? qr/^$/ : qr/^42(723|P17)$/, "cuckoo_citus beside $what");
}

is( as('bob', 'three', q{SELECT cuckoo_from_array(ARRAY[1, 2]) @> 2}), 't',
	'whoever may use the schema may use the extension');
is(as('bob', 'three', 'DROP EXTENSION cuckoo'), '42501', 'and may not drop it');

# Whoever reads a table may have the filter of an index, but not call the functions in
# its expression with the rights of their owner: bob chooses what lower is.
my $bob_reads = q{CREATE SCHEMA IF NOT EXISTS bob; SET search_path = bob, public, pg_catalog;
	CREATE OR REPLACE FUNCTION bob.lower(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT current_user::text'; };
is( as('alice', 'three', q{
		CREATE TABLE names (name text);
		INSERT INTO names VALUES ('A');
		CREATE FUNCTION folded(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT lower($1)';
		CREATE INDEX names_folded ON names USING cuckoo (folded(name));
		GRANT SELECT ON names TO bob;
		GRANT CREATE ON DATABASE three TO bob;
		SELECT cuckoo_index_check('names_folded')}),
	'0', 'the owner of a table checks its index');
is(as('bob', 'three', $bob_reads . q{SELECT cuckoo_index_check('names_folded')}),
	'42501', '... another reader may not');
is(as('bob', 'three', $bob_reads . q{SELECT cuckoo_index_filter('names_folded') @> 'a'::text}),
	't', '... but have its filter');

done_testing();
