#!/usr/bin/env bash
#
# Which lines of src/ the tests run: test/coverage.sh [PERCENT]
#
# Builds the core's unit tests and the extension with gcov's counters, runs the
# steps of test/run.sh that reach them, and prints for each file how many lines
# there are, how many ran, and which did not.  Fails if a test fails, or if
# fewer than PERCENT (95) of all lines ran.
#
# A line that ran was not necessarily tested, but a line that did not run was
# not.  docs/testing.md says why the latter do not.
#
# Needs what test/run.sh needs, and accepts its PGVERSION and KEEP.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

export COVERAGE=${1:-95}
exec "$root/test/run.sh" unit regress format isolation tap coverage
