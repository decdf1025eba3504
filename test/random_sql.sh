#!/usr/bin/env bash
#
# Runs random SQL over the extension, built with assertions, for some seconds:
#
#   test/random_sql.sh [SECONDS [SEED]]
#   SANITIZE=1 test/random_sql.sh [SECONDS [SEED]]
#
# It fails if it finds a server that crashes or fails an assertion, a connection
# that is closed, or an error whose SQLSTATE says that it is internal (XX...).
# The last lines count the errors by SQLSTATE.  With SANITIZE=1 the extension is
# built, and the server started, as by test/sanitize.sh, and it also fails if
# AddressSanitizer or UndefinedBehaviorSanitizer reports anything.
#
# Needs what test/run.sh needs.  The same seed gives the same statements;
# KEEP=1 keeps the temporary folder with the server's log.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

seconds=${1:-60}
seed=${2:-$((RANDOM * 100))}

find_postgresql
need_packages "${packages[@]}"
make_folder
if [ -n "${SANITIZE:-}" ]; then
	build_sanitized -DUSE_ASSERT_CHECKING=1
	start_sanitized_server
else
	build_extension COPT=-DUSE_ASSERT_CHECKING=1
	start_server
fi
as_user psql -qX -v ON_ERROR_STOP=1 -f "$work/src/test/random_sql.sql" >"$work/log/setup" 2>&1 || { cat "$work/log/setup"; die "could not make the tables"; }

errors=$work/log/errors
internal='closed the connection|connection to server was lost|ERROR:  XX'
: >"$errors"
until_time=$((SECONDS + seconds))
for ((now = seed; SECONDS < until_time; now++)); do
	as_user tee "$work/batch.sql" >/dev/null <<-SQL
		SELECT setseed($now % 10000 / 10000.0) \\g /dev/null
		SET statement_timeout = '5s';
		\\o /dev/null
		SELECT random_sql(500) \\gexec
	SQL
	as_user_interruptibly psql -X -q -v VERBOSITY=verbose -f "$work/batch.sql" >/dev/null 2>"$work/log/batch" || true
	cat "$work/log/batch" >>"$errors"
	if grep -Eq "$internal" "$work/log/batch"; then
		echo "seed $now:"
		grep -E -A 2 "$internal" "$work/log/batch" | cut -c 1-1000 | head -n 10
		# A server that crashed recovers by itself.
		sleep 5
	fi
done

echo "$(((now - seed) * 500)) statements, seeds $seed to $((now - 1)), errors by SQLSTATE:"
grep -o 'ERROR:  [0-9A-Z]*' "$errors" | sort | uniq -c | sort -rn || true
bad=$(grep -Ec "$internal" "$errors" || true)
crashes=$(grep -Ec 'PANIC|TRAP:|terminated by signal' "$work/data/log" || true)
reports=$(sanitizer_reports -c)
if [ "$((bad + crashes + reports))" -gt 0 ]; then
	echo "found: $crashes crashes, $bad internal errors, $reports reports of sanitizers"
	sanitizer_reports -A 40 | head -n 150
	grep -E -A 3 'PANIC|TRAP:|terminated by signal|(ERROR|FATAL|PANIC):  XX' "$work/data/log" | cut -c 1-1000 | head -n 40
	exit 1
fi
echo "no crash, no failed assertion, no internal error${SANITIZE:+, no report of sanitizers}"
