#!/usr/bin/env bash
#
# Runs PostgreSQL's own tests with its unique B-trees replaced by cuckoo indexes:
# packaging/server_tests.sh [RELEASE...], by default forky (18).  The regression
# tests and the isolation specs come from the release's source package.
#
# In the databases of the tests, the two access methods have swapped their names.
# PRIMARY KEY, UNIQUE and CREATE UNIQUE INDEX make cuckoo indexes there, also of
# partitioned tables, and messages stay the same.  Other indexes, and those that
# ask for what only a B-tree has, such as INCLUDE, are rewritten to be B-trees.
#
# server_tests.tsv lists what differs from the expected output, with the reason.
# A difference that it does not list fails, and so does one that does not occur.
#
# Needs root, 3 GB, and 5 minutes, some of it for downloads, which
# CUCKOO_PACKAGES=FOLDER keeps for the next run.  The last line is "N passed, N
# failed".

set -euo pipefail
in_tree=${CUCKOO_IN_TREE:-}
# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/../test/lib.sh"

prepare() {
	make_tree "$1" "$1"
	copy_checkout "$trees/$1/srv/cuckoo"
}

run_in_tree() {
	in_tree "$trees/$1" env CUCKOO_IN_TREE=1 CUCKOO_PACKAGES=/srv/downloads "PGVERSION=$(newest_major "$trees/$1")" \
		/srv/cuckoo/packaging/server_tests.sh
}

if [ -z "$in_tree" ]; then
	# shellcheck source=packaging/debian.sh
	. "$root/packaging/debian.sh"
	[ $# -gt 0 ] || set -- forky
	need_packages debootstrap
	for release; do
		check "$release: a tree" prepare "$release"
		[ "$bad" = 0 ] || continue
		check "$release: the tests of PostgreSQL $(newest_major "$trees/$release")" run_in_tree "$release"
		[ "$bad" = 0 ] || cat "$log"
	done
	finish
	exit
fi

# What follows runs in the tree.
find_postgresql
need_packages "${packages[@]}" bzip2
make_folder
build_extension
source=$work/source

# Puts the folders of the tests there, from the source of the same version.
unpack_source() {
	local package=postgresql-$pgversion version

	version=$(apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
	sed -n 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list >/etc/apt/sources.list.d/source.list
	root_apt_get update && cd "$downloads" && apt-get -q --download-only source "$package=$version" && as_user mkdir "$source" &&
		as_user tar -C "$source" --strip-components=3 --wildcards -xf "${package}_${version%-*}".orig.tar.* \
			'*/src/test/regress' '*/src/test/isolation'
}
(unpack_source) >"$work/log/source" 2>&1 || { cat "$work/log/source"; die "could not get the source of PostgreSQL"; }

# These tests are about access methods by name, or about INCLUDE.
sed -Ei 's/\b(amutils|index_including|object_address|opr_sanity|psql)\b//g' "$source/regress/parallel_schedule"
sed -Ei 's/\bINCLUDE \([^)]*\)//I' "$source"/isolation/specs/*.spec
# shellcheck disable=SC2016  # The program is for perl.
as_user perl -0777 -i -pe '
	s/\busing \K([bB])(?=tree\b)/$1 eq "b" ? "x" : "X"/gie;
	s{\bcreate\s+(unique\s+)?index\b[^;]*}{
		my ($statement, $unique) = ($&, $1);
		if ($unique && $statement !~ /\b(include|desc|nulls|deduplicate_items)\b|_ops\b/i) {
			$statement =~ s/\busing \K([xX])(?=tree\b)/$1 eq "x" ? "b" : "B"/ie;
		} else {
			$statement =~ s/\bon\s+(only\s+)?[\w."]+\K(?=\s*\()/ Using xtree/i;
		}
		$statement}gie' "$source"/regress/sql/*.sql "$source"/isolation/specs/*.spec
undo() { sed 's/ Using xtree//; s/xtree/btree/g; s/XTREE/BTREE/g' "$1"; }

# An extension that swaps the names
extension=$("$pg_config" --sharedir)/extension/swapped
printf '%s\n' "default_version = '1'" "requires = 'cuckoo_index'" | as_user tee "$extension.control" >/dev/null
as_user tee "$extension--1.sql" >/dev/null <<'SQL'
SET LOCAL allow_system_table_mods = on;
UPDATE pg_am SET amname = CASE amname WHEN 'btree' THEN 'xtree' ELSE 'btree' END WHERE amname IN ('btree', 'cuckoo');
SQL

# run SUITE PROGRAM SCHEDULE ARGUMENT...: runs pg_regress or pg_isolation_regress
run() {
	as_user "$(dirname "$("$pg_config" --pgxs)")/../test/$1/$2" --no-locale --inputdir="$source/$1" --expecteddir="$source/$1" \
		--bindir="${pg_config%/*}" --load-extension=cuckoo --load-extension=cuckoo_index --load-extension=swapped \
		--schedule="$source/$1/$3" --outputdir="$source/$1" "${@:4}" >"$source/$1.log" 2>&1 || true
}

# part PLANS FILE: prints the plans in a test's output, or the other lines
part() { awk -v plans="$1" '/^ *QUERY PLAN *$/ { plan = 1 } plan == plans; /^\([0-9]+ rows?\)$/ { plan = 0 }' "$2"; }

# difference EXPECTED RESULT: prints what differs in these outputs: plans, and a
# checksum of other lines
difference() {
	diff -q <(part 1 "$1") <(part 1 "$2") >/dev/null || echo plans
	{ diff <(part 0 "$1") <(part 0 "$2") || true; } | sed -n '/^[<>]/p' | cksum | sed -n 's/ [1-9].*//p'
}

passed=0 failures=()
# expect NAME COMMAND...: counts a test, which passes if the command succeeds
expect() { if "${@:2}"; then passed=$((passed + 1)); else failures+=("$1"); fi; }

# compare SUITE: compares the results of all tests with what is expected
compare() {
	local name expected best new=$work/new found listed results=("$source/$1"/results/*.out)

	for name in "${results[@]}"; do
		undo "$name" >"$new"
		name=$(basename "$name" .out)
		# A test may have several expected outputs.
		best=$(for expected in "$source/$1/expected/$name"{,_[0-9]}.out; do
			[ ! -e "$expected" ] || echo "$({ diff "$expected" "$new" || true; } | wc -l) $expected"
		done | sort -n | sed -n '1s/^[0-9]* //p')
		found=$(difference "$best" "$new" | xargs)
		listed=$(awk -F'\t' -v name="$1/$name" -v version="$pgversion:" \
			'$1 == name && ($2 !~ /:/ || sub(version, "", $2)) { print $2 }' "$list" | sort -r | xargs)
		[ "$found" = "$listed" ] || diff -U1 "$best" "$new" || true
		expect "$1/$name differs: $found; listed: $listed" [ "$found" = "$listed" ]
	done
	expect "$1: a test did not run" grep -qx "1\.\.${#results[@]}" "$source/$1.log"
}

CUCKOO_TEST_CONF+=$'\nsynchronous_commit = on\nmax_prepared_transactions = 2\nwal_level = logical' start_server
as_user gcc -O1 -w -fPIC -shared -I"$("$pg_config" --includedir-server)" -o "$work/regress.so" "$source/regress/regress.c"
run regress pg_regress parallel_schedule --dlpath="$work"
run isolation pg_isolation_regress isolation_schedule prepared-transactions prepared-transactions-cic
list=$root/packaging/server_tests.tsv
compare regress
compare isolation
while read -r name _; do
	[ -e "$source/${name%/*}/results/${name#*/}.out" ] || failures+=("$name is listed, but did not run")
done < <(grep -v '^#' "$list")
# The regression tests leave tables with many unique indexes.
expect "fewer than 100 indexes are left, or one is damaged" \
	grep -qx t <(as_user psql -X -A -t -d regression -c "SELECT count(*) >= 100 AND sum(cuckoo_index_check(indexrelid)) = 0
		FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = relam
		WHERE amhandler = 'cuckoo_index_handler'::regproc AND indisunique AND i.relkind = 'i'")
[ ${#failures[@]} = 0 ] || printf 'FAILED: %s\n' "${failures[@]}"
echo "$passed passed, ${#failures[@]} failed"
[ ${#failures[@]} = 0 ]
