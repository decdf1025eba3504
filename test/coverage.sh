#!/usr/bin/env bash
#
# Which lines of src/ the tests run: test/coverage.sh [PERCENT]
#
# Builds the core's unit tests and the extension with gcov's counters, runs the
# steps of test/run.sh that reach them, and prints for each file how many lines
# there are, how many ran, and which did not.  Fails where a test does, or where
# fewer than PERCENT (95) of all lines ran.
#
# A line that ran is not a line that was tested; one that did not run is not.
# docs/testing.md says which ones these are, and why.
#
# Needs what test/run.sh needs, and takes its PGVERSION and KEEP.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

export COVERAGE=${1:-95}
exec "$root/test/run.sh" unit regress format isolation tap coverage
