#!/usr/bin/env bash
#
# Runs the core's unit tests, and the SQL tests with their server, under
# valgrind: test/valgrind.sh, or test/valgrind.sh TEST... for some of test/sql.
#
# The extension is built with CUCKOO_CHECK, which validates every new value, so
# that a byte that was never set is noticed at once, and not only when something
# uses it.
#
# An error counts if our sources occur in any of its stacks: where it happened,
# where the memory was allocated or freed, or where the value that was never set
# was made.  Other errors belong to the server or the C library.  They are
# counted separately, and KEEP=1 keeps them in log/others; test/valgrind.supp
# excludes the known ones.  valgrind's --error-exitcode is not used for the
# server's processes, because the postmaster would take it for a crash and end
# all other processes.
#
# docs/testing.md says what valgrind cannot see in an ordinary server.
#
# Needs a Debian machine, and root or sudo if packages are missing.  The last
# line is "N passed, N failed".  PGVERSION=17 chooses a PostgreSQL; KEEP=1 keeps
# the temporary folder.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

unit_passed=0
unit_failed=0
if [ $# = 0 ]; then
	exec 3>&1
	unit=$("$root/test/run.sh" valgrind | tee /dev/fd/3 | tail -n 1 || true)
	[[ "$unit" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || die "the unit tests did not run"
	unit_passed=${BASH_REMATCH[1]}
	unit_failed=${BASH_REMATCH[2]}
fi

find_postgresql
need_packages "${packages[@]}" valgrind
make_folder

build_extension CC=gcc with_llvm=no COPT="-O1 -g -fno-omit-frame-pointer -DCUCKOO_CHECK"

# A program of that name, so that pg_ctl finds the rest beside it.
as_user mkdir "$work/valgrind"
as_user tee "$work/postgres" >/dev/null <<-SH
	#!/bin/sh
	exec valgrind --quiet --trace-children=yes --log-file="$work/valgrind/%p" --suppressions="$work/src/test/valgrind.supp" \\
		--track-origins=yes --leak-check=no --error-limit=no --num-callers=60 --fullpath-after= \\
		"${pg_config%/*}/postgres" "\$@"
SH
as_user chmod +x "$work/postgres"

# Without the JIT, which calls the same functions of ours, because valgrind
# would spend its time in LLVM.
make_cluster
echo "jit = off" | as_user tee -a "$work/data/postgresql.conf" >/dev/null
run_server pg_ctl -p "$work/postgres"

# Check that valgrind is used at all: the server's maps name it.
loaded=$(as_user psql -XqAtc "SELECT pg_read_file('/proc/' || pg_backend_pid() || '/maps') ~ 'vgpreload_memcheck'") || loaded=unknown

# Everything takes fifty times as long here, but the tests' own limits are for a
# real machine.
as_user sed -i "s/^SET statement_timeout = '60s';\$/SET statement_timeout = '3600s';/" \
	"$work"/src/test/sql/*.sql "$work"/src/expected/*.out

installcheck regress ISOLATION= TAP_TESTS= ${1:+REGRESS="$*"}
stop_server

# errors FILE...: prints the errors, with an empty line after each.  In
# valgrind's logs, a line with only the process separates errors.
errors()
{
	awk 'function finish() { if (text ~ / (at|by) 0x/) print text; text = "" }
		FNR == 1 { finish() }
		{ sub(/^(==|\*\*)[0-9]+(==|\*\*) ?/, "") }
		$0 == "" { finish(); next }
		{ text = text $0 "\n" }
		END { finish() }' "$@"
}

find "$work/valgrind" -type f -size +0 | sort >"$work/log/valgrind"
mapfile -t logs <"$work/log/valgrind"
: >"$work/log/all"
[ "${#logs[@]}" = 0 ] || errors "${logs[@]}" >"$work/log/all"
awk -v RS= -v ORS='\n\n' -v ours="$work/src/src/" 'index($0, ours)' "$work/log/all" >"$work/log/ours"
awk -v RS= -v ORS='\n\n' -v ours="$work/src/src/" '!index($0, ours)' "$work/log/all" >"$work/log/others"
reports=$(grep -c '^$' "$work/log/ours" || true)
others=$(grep -c '^$' "$work/log/others" || true)

if [ "$loaded" != t ]; then
	failed=$((failed + 1))
fi
if [ "$failed" != 0 ] || [ "$reports" != 0 ]; then
	tail -n 30 "$work/log/regress"
	head -n 100 "$work/src/regression.diffs" 2>/dev/null || true
	head -n 150 "$work/log/ours"
	grep -E -A 3 'PANIC|terminated by signal' "$work/data/log" | head -n 30 || true
fi
echo "$((passed + failed)) SQL tests, $reports errors with a place in src/, $others of the server's own"
failed=$((unit_failed + failed + reports))
echo "$((unit_passed + passed)) passed, $failed failed"
[ "$failed" = 0 ]
