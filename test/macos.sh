#!/usr/bin/env bash
#
# Builds, installs and tests the extension on macOS: test/macos.sh VERSION.
#
# It installs this version of PostgreSQL and xxHash with Homebrew, builds the
# extension with warnings as errors, and installs it.  Then it runs the SQL
# tests with a server in a temporary folder, which it removes at the end.  The
# extension stays installed.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ $# = 1 ] || die "which version of PostgreSQL?"
command -v brew >/dev/null || die "found no Homebrew"
brew install --quiet "postgresql@$1" xxhash
bin=$(brew --prefix "postgresql@$1")/bin
COPT=-I$(brew --prefix xxhash)/include
export COPT

cd "$root"
make -s WERROR=1 PG_CONFIG="$bin/pg_config"
make -s WERROR=1 PG_CONFIG="$bin/pg_config" install

folder=$(mktemp -d /tmp/cuckoo.XXXXXX)
trap '"$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
"$bin/initdb" -D "$folder/data" --locale=C --encoding=UTF8 -A trust >/dev/null
"$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -o "-c listen_addresses= -k $folder" -w start
# Homebrew's package lacks isolationtester and the modules of the TAP tests.
PGHOST=$folder make PG_CONFIG="$bin/pg_config" ISOLATION= TAP_TESTS= installcheck ||
	{ cat regression.diffs; exit 1; }
