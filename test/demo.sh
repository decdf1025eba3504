#!/usr/bin/env bash
#
# Shows cuckoo at work on real data: the homepages in this machine's Debian
# package index (see demo.sql).  Starts a temporary PostgreSQL, and stops it
# again.
#
# Needs a Debian machine, and root or sudo if packages are missing.
# PGVERSION=17 chooses a PostgreSQL; CUCKOO_PACKAGES=FOLDER keeps what was
# downloaded for the next run.  KEEP=1 keeps the temporary folder and leaves the
# server running, and the last lines say how to connect to it and how to stop
# it.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ $# = 0 ] || die "unexpected argument: $1 (see --help)"

# The index comes from the machine's package lists; fresh machines have none.
packages_known()
{
	apt-cache dumpavail | grep -c '^Package:' || true
}

if [ "$(packages_known)" -lt 10000 ]; then
	update_package_lists
fi
[ "$(packages_known)" -ge 1000 ] || die "apt knows too few packages for a demo; does apt-get update work here?"
find_postgresql
need_packages "${packages[@]}"
make_folder

build_extension
start_server

# One package per line, in COPY's text format.
apt-cache dumpavail | awk -v OFS='\t' '
	function put()
	{
		if (package != "")
			print package, section, homepage
		package = section = homepage = "\\N"
	}
	BEGIN { put(); package = "" }
	/^Package: / { put() }
	/^(Package|Section|Homepage): / {
		field = $1
		sub(/^[^ ]* */, "")
		gsub(/\\/, "\\\\")
		if (field == "Package:") package = $0
		if (field == "Section:") section = $0
		if (field == "Homepage:") homepage = $0
	}
	END { put() }' | as_user tee "$work/packages.tsv" >/dev/null

as_user_interruptibly psql -X -q -A -t -v ON_ERROR_STOP=1 -f "$work/src/test/demo.sql"

echo
say_installed
keep_server
