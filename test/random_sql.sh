#!/usr/bin/env bash
#
# Runs random SQL over the extension, built with assertions, for some seconds:
#
#   test/random_sql.sh [SECONDS [SEED]]
#   SANITIZE=1 test/random_sql.sh [SECONDS [SEED]]
#
# It fails if it finds a server that crashes or fails an assertion, a connection
# that is closed, or an error whose SQLSTATE says that it is internal (XX...).
# The last lines count the statements, and the errors by SQLSTATE.  With
# SANITIZE=1 the extension is built, and the server started, as by
# test/sanitize.sh, and it also fails if AddressSanitizer or
# UndefinedBehaviorSanitizer reports anything.  sqlsmith also runs for a quarter
# of the time, if Debian has a package of it.
#
# Needs what test/run.sh needs.  The same seed gives the same statements;
# KEEP=1 keeps the temporary folder with all of them.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

seconds=${1:-60}
seed=${2:-$(date +%s)}
batch=500

find_postgresql
need_packages "${packages[@]}" perl
try_packages sqlsmith || echo "going on without sqlsmith"
make_folder
if [ -n "${SANITIZE:-}" ]; then
	build_sanitized -DUSE_ASSERT_CHECKING=1
	start_sanitized_server
else
	as_user make -s -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" COPT=-DUSE_ASSERT_CHECKING=1 all install >"$work/log/build" 2>&1 ||
		{ cat "$work/log/build"; die "the build failed"; }
	start_server
fi

as_user psql -q -v ON_ERROR_STOP=1 >"$work/log/setup" 2>&1 <<'SQL' || { cat "$work/log/setup"; die "could not make the tables"; }
CREATE EXTENSION cuckoo;
CREATE TYPE colour AS ENUM ('red', 'green', 'a');
CREATE TYPE pair AS (a integer, b text);
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN short AS text CHECK (length(VALUE) < 5);
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN cistring AS text COLLATE folded;
CREATE TYPE text_range AS RANGE (subtype = text);
-- Aggregates without a final function give their state away.
CREATE AGGREGATE raw_agg(integer) (SFUNC = cuckoo_agg_transfn, STYPE = cuckoofilter);
CREATE TABLE numbers AS SELECT i, i * 37 % 1000 AS k, 't' || i % 50 AS t, date '2000-01-01' + i AS d FROM generate_series(1, 3000) AS i;
ANALYZE numbers;
CREATE TABLE states (id integer PRIMARY KEY, f cuckoofilter);
INSERT INTO states SELECT g, (SELECT raw_agg(i) FROM generate_series(1, (ARRAY[1, 7, 100, 5000, 120000])[g]) AS i) FROM generate_series(1, 5) AS g;
CREATE TABLE pool (id integer PRIMARY KEY, f cuckoofilter);
INSERT INTO pool VALUES
	(0, NULL), (1, cuckoo_new()), (2, (SELECT cuckoo_agg(i) FROM generate_series(1, 0) AS i)),
	(3, cuckoo_from_array(ARRAY[1, 2, 3])), (4, cuckoo_from_array(ARRAY['a', 'b'])),
	(5, cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 1000)))),
	(6, cuckoo_from_array(ARRAY(SELECT generate_series(1, 600)))),
	(7, cuckoo_add_all(cuckoo_new(), ARRAY(SELECT generate_series(1, 30000)))),
	(8, cuckoo_new(700, 0.01, 7) + 1 + 2), (9, cuckoo_add_all(cuckoo_new(100, 2e-8, 0), ARRAY(SELECT generate_series(1, 90)))),
	(10, cuckoo_add_all(cuckoo_new(40, 0.1), ARRAY(SELECT i % 5 FROM generate_series(1, 60) AS i)));
-- Sparse and dense ones, and of several tables
INSERT INTO pool SELECT i, cuckoo_from_array(ARRAY(SELECT generate_series(i, i * 50)), CASE i % 3 WHEN 0 THEN 0 WHEN 1 THEN 40 * i ELSE 50 * i END, 0.001)
	FROM generate_series(11, 25) AS i;
INSERT INTO pool VALUES
	(26, (SELECT cuckoo_agg(i, 1000000, 0.001) FROM generate_series(1, 30000) AS i)),
	(27, (SELECT cuckoo_union_agg(cuckoo_from_array(ARRAY[i, -i], i, 0.001)) FROM generate_series(10, 160, 10) AS i)),
	(28, (SELECT cuckoo_multiset_agg(i % 300, 3000, 0.01) FROM generate_series(1, 3000) AS i)),
	(29, cuckoo_add_all(cuckoo_new(30, 0.01), ARRAY(SELECT generate_series(1, 40000))));
SQL

# run_batch SEED: runs its statements, and prints errors with their SQLSTATEs
run_batch()
{
	perl "$root/test/random_sql.pl" "$1" "$batch" >"$work/log/statements.$1.sql"
	chmod a+r "$work/log/statements.$1.sql"
	as_user_interruptibly env PGOPTIONS='-c statement_timeout=5s' psql -X -q -v VERBOSITY=verbose -f "$work/log/statements.$1.sql" >/dev/null 2>"$work/log/errors.$1" || true
	cat "$work/log/errors.$1" >>"$work/log/errors"
	if grep -Eq 'closed the connection|connection to server was lost|ERROR:  XX' "$work/log/errors.$1"; then
		bad+=("$1")
		grep -En 'closed the connection|connection to server was lost|ERROR:  XX' "$work/log/errors.$1" | head -n 3
		# A server that crashed recovers by itself.
		sleep 5
	else
		rm "$work/log/statements.$1.sql" "$work/log/errors.$1"
	fi
}

bad=()
: >"$work/log/errors"
first=$seed
smith=
if command -v sqlsmith >/dev/null; then
	smith=$((seconds / 4))
fi
until_time=$((SECONDS + seconds - ${smith:-0}))
while [ "$SECONDS" -lt "$until_time" ]; do
	run_batch "$seed"
	seed=$((seed + 1))
done

if [ -n "$smith" ]; then
	# sqlsmith does not report SQLSTATEs; the server's log has them.
	as_user psql -q -c "ALTER SYSTEM SET log_error_verbosity = verbose" -c "ALTER SYSTEM SET statement_timeout = '2s'" -c "SELECT pg_reload_conf()" >/dev/null
	as_user_interruptibly timeout "$smith" sqlsmith --verbose --exclude-catalog --target="host=$work dbname=postgres user=postgres" --seed="$first" >"$work/log/sqlsmith" 2>&1 || true
	smith_statements=$(grep -ho 'queries: [0-9]*' "$work/log/sqlsmith" | tail -n 1 || true)
	echo "sqlsmith: ${smith_statements:-no report}, errors by SQLSTATE:"
	grep -Eho '(ERROR|FATAL|PANIC):  [0-9A-Z]{5}:' "$work/data/log" | sort | uniq -c | sort -rn | head -n 20 || true
fi

echo "$(((seed - first) * batch)) statements, seeds $first to $((seed - 1)), errors by SQLSTATE:"
grep -o 'ERROR:  [0-9A-Z]*' "$work/log/errors" | sort | uniq -c | sort -rn || true
crashes=$(grep -Ec 'PANIC|TRAP:|terminated by signal' "$work/data/log" || true)
# sqlsmith also finds PostgreSQL's own internal errors: only ours count.
ours=$(cd "$root/src" && printf '%s\n' *.c | paste -sd'|')
internal=$(grep -A 3 -E '(ERROR|FATAL|PANIC):  XX' "$work/data/log" | grep -Ec "LOCATION:  [a-zA-Z_0-9]+, (.*/)?($ours):" || true)
internal=$((internal + $(grep -Ec '(ERROR|FATAL|PANIC):  XX' "$work/log/errors" || true)))
reports=$(sanitizer_reports -c)
if [ "${#bad[@]}" -gt 0 ] || [ "$crashes" -gt 0 ] || [ "$internal" -gt 0 ] || [ "$reports" -gt 0 ]; then
	echo "found: $crashes crashes, $internal internal errors, $reports reports of sanitizers; seeds ${bad[*]}"
	sanitizer_reports -A 40 | head -n 150 || true
	grep -E -A 3 'PANIC|TRAP:|terminated by signal|(ERROR|FATAL|PANIC):  XX' "$work/data/log" | cut -c 1-1000 | head -n 40
	exit 1
fi
echo "no crash, no failed assertion, no internal error${SANITIZE:+, no report of sanitizers}"
