#!/usr/bin/env bash
#
# Runs the SQL tests with the extension under sanitizers, in an ordinary
# PostgreSQL: test/sanitize.sh [TEST...], by default all of test/sql.
#
# The extension is built with AddressSanitizer and UndefinedBehaviorSanitizer,
# whose libraries the server loads first, and with CUCKOO_CHECK, so that every
# new value is validated.  A finding ends the backend, and therefore the test;
# lib.sh has the details.  cuckoo.cache_size leaves room for only a few stored
# filters in memory, so that all ways of reading them are used.
#
# AddressSanitizer does not see the borders of chunks inside PostgreSQL's own
# memory blocks: the core is tested with exact allocations instead (test/unit).
#
# Needs a Debian machine, and root or sudo if packages are missing.  The last
# line is "N passed, N failed".  PGVERSION=17 chooses a PostgreSQL; KEEP=1 keeps
# the temporary folder.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

find_postgresql
need_packages "${packages[@]}"
make_folder

build_sanitized -DCUCKOO_CHECK
start_sanitized_server

installcheck regress PGOPTIONS='-c cuckoo.cache_size=24kB' ISOLATION= TAP_TESTS= ${1:+REGRESS="$*"}
reports=$(sanitizer_reports -c)
if [ "$failed" != 0 ] || [ "$reports" != 0 ]; then
	tail -n 30 "$work/log/regress"
	head -n 100 "$work/src/regression.diffs" 2>/dev/null || true
	sanitizer_reports -A 40 | head -n 150 || true
fi
echo "# note: $reports reports of sanitizers"
echo "$passed passed, $((failed + reports)) failed"
[ "$failed" = 0 ] && [ "$reports" = 0 ]
