#!/usr/bin/env bash
#
# Shows cuckoo at work on real data: the homepages in this machine's Debian
# package index (see demo.sql).  Starts a temporary PostgreSQL, and stops it
# again.
#
# Needs a Debian machine, and root or sudo if packages are missing.
# PGVERSION=17 chooses a PostgreSQL.  CUCKOO_PACKAGES=FOLDER keeps what was
# downloaded for the next run.  KEEP=1 keeps the temporary folder and leaves the
# server running, and the last lines say how to connect to it and how to stop
# it.

set -euo pipefail
# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ $# = 0 ] || die "unexpected argument: $1 (see --help)"

# The index comes from the machine's package lists; fresh machines have none.
packages_known() {
	apt-cache dumpavail | grep -c '^Package:' || true
}

show() {
	build_extension
	start_server
	# One package per line, in COPY's text format
	apt-cache dumpavail | awk -v RS= -v FS='\n' -v OFS='\t' '{
		package = section = homepage = "\\N"
		gsub(/\\/, "\\\\")
		for (i = 1; i <= NF; i++) {
			if (sub(/^Package: */, "", $i)) package = $i
			else if (sub(/^Section: */, "", $i)) section = $i
			else if (sub(/^Homepage: */, "", $i)) homepage = $i
		}
		print package, section, homepage
	}' | as_user tee "$work/packages.tsv" >/dev/null
	as_user psql -X -q -A -t -v ON_ERROR_STOP=1 -f "$src/test/demo.sql"
}

[ "$(packages_known)" -ge 10000 ] || update_package_lists
[ "$(packages_known)" -ge 1000 ] || die "apt knows too few packages for a demo; does apt-get update work here?"
find_postgresql
need_packages "${packages[@]}"
make_folder
interruptibly show

echo
say_installed
if [ -n "${KEEP:-}" ]; then
	leave_running=1
	echo "The server is left running.  To connect, to stop it, and to remove its folder:"
	echo "    $work/run psql"
	echo "    $work/run pg_ctl -D $work/data stop"
	echo "    rm -r $work"
fi
