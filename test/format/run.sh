#!/usr/bin/env bash
#
# Compares the package in clients/python, which follows docs/format.md, with a
# server: hashes of every key type, filters of both representations and every
# width, grown and combined ones, filters written without PostgreSQL, and
# altered ones.
#
# Needs a Debian machine, and root or sudo where packages are missing.  The last
# line is "N passed, N failed".  PGVERSION=17 chooses a PostgreSQL; KEEP=1 keeps
# the temporary folder.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib.sh"

find_postgresql
need_packages "${packages[@]}" python3 python3-xxhash
make_folder

as_user_interruptibly make -s -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" install >"$work/log/build" 2>&1 ||
	{ head -n 50 "$work/log/build"; die "the build failed"; }
start_server

# Debian's own interpreter: another one would not know Debian's modules.
as_user_interruptibly /usr/bin/python3 "$work/src/test/format/compare.py"
