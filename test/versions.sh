#!/usr/bin/env bash
#
# Runs the tests on every PostgreSQL in current Debian releases:
# test/versions.sh [RELEASE...], by default bookworm (15), trixie (17), forky
# (18) and experimental (19, or the newest there).  debootstrap makes a tree for
# each release, in a temporary folder, or in the folder TREES, which is kept and
# used again.  Then a database with filters goes through pg_upgrade from the
# oldest version to each newer one.  (That versions read and write the same bytes
# is tested by test/sql/golden.sql on each.)
#
# Needs root, some 3 GB, and about a quarter of an hour, much of it for
# downloads.  STEPS chooses the steps of test/run.sh to run (build, regress,
# isolation, tap).  One line per version; the last line is "N passed, N failed".
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

read -r -a steps <<<"${STEPS:-build regress isolation tap}"
releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie forky experimental)
total_passed=0
total_failed=0

[ "$(id -u)" = 0 ] || die "debootstrap and chroot need root"
need_packages debootstrap
trees=${TREES:-}
if [ -z "$trees" ]; then
	trees=$(mktemp -d /var/tmp/cuckoo-versions.XXXXXX)
fi
mkdir -p "$trees"

# /proc stays mounted in a tree for as long as this runs.
clean_up()
{
	local status=$? release

	trap - EXIT
	for release in "${releases[@]}"; do
		unmount_below "$trees/$release/"
	done
	[ -n "${TREES:-}" ] || rm -rf --one-file-system "$trees"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# of_release RELEASE COMMAND...
declare -A majors_of
of_release()
{
	local release=$1

	shift
	in_tree "$trees/$release" env CUCKOO_PACKAGES=/srv/packages "PGVERSION=${majors_of[$release]:-}" "$@"
}

# report WHAT PASSED FAILED [NOTE]
report()
{
	total_passed=$((total_passed + $2))
	total_failed=$((total_failed + $3))
	printf '%-30s %5d passed %5d failed  %s\n' "$1" "$2" "$3" "${4:-}"
}

prepare_tree()
{
	local tree=$trees/$1 log=$trees/$1.log suite=$1

	# Experimental is an addition to unstable.
	[ "$suite" != experimental ] || suite=sid
	make_tree "$tree" "$suite" >"$log" 2>&1 || return 1
	mountpoint -q "$tree/proc" || mount -t proc proc "$tree/proc"
	rm -rf "$tree/srv/cuckoo"
	mkdir "$tree/srv/cuckoo"
	copy_checkout "$tree/srv/cuckoo"
	[ "$1" = "$suite" ] || echo "deb $(debian_mirror) $1 main" >"$tree/etc/apt/sources.list.d/$1.list"
	of_release "$1" apt-get update -qq >>"$log" 2>&1 || true
	if [ "$1" = experimental ]; then
		majors_of[$1]=$(of_release "$1" apt-cache pkgnames postgresql-server-dev- |
			sed -n 's/^postgresql-server-dev-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
	fi
}

# Runs in a tree: a server in /upgrade, which is stopped between two calls.
cat >"$trees/upgrade.sh" <<'SCRIPT'
set -euo pipefail
command=$1
. /srv/cuckoo/test/lib.sh
find_postgresql
work=/upgrade
prefix=/upgrade/prefix/usr
start()
{
	trap 'as_user pg_ctl -D "$data" -w stop >/dev/null' EXIT
	data=$1
	as_user pg_ctl -D "$data" -l /upgrade/log/server -w start >/dev/null
}
init()
{
	local checksums=()

	# The default differs from 18 on, and pg_upgrade needs the same on both
	# sides.
	! as_user initdb --help | grep no-data-checksums >/dev/null || checksums=(--no-data-checksums)
	as_user initdb -D "$1" -U postgres -A trust -N --locale=C.UTF-8 --encoding=UTF8 "${checksums[@]}" >/dev/null
	echo "listen_addresses = ''
unix_socket_directories = '/upgrade'" >>"$1/postgresql.conf"
}
case $command in
make)
	rm -rf /upgrade
	install -d -o nobody -g nogroup /upgrade
	as_user mkdir /upgrade/log /upgrade/prefix
	make_prefix
	as_user cp -R /srv/cuckoo /upgrade/src
	as_user make -s -C /upgrade/src PG_CONFIG="$pg_config" install >/dev/null
	init /upgrade/data
	start /upgrade/data
	as_user psql -q -X -v ON_ERROR_STOP=1 <<-'SQL'
		CREATE EXTENSION cuckoo_citus CASCADE;
		CREATE TABLE filters AS SELECT c AS capacity, cuckoo_agg(i, c, 0.001) AS f, md5(cuckoo_agg(i, c, 0.001)::bytea) AS digest
			FROM generate_series(1, 30000) AS i, unnest('{NULL,30000,100000000}'::integer[]) AS c GROUP BY c;
		INSERT INTO filters SELECT 10, f, md5(f::bytea) FROM cuckoo_add_all(cuckoo_new(10), ARRAY(SELECT generate_series(1, 30000))) AS f;
		CREATE INDEX ON filters USING hash (f);
	SQL
	;;
version)
	echo "$pgversion"
	;;
library_path)
	library_path /upgrade/prefix /upgrade/old-prefix
	;;
upgrade)
	cd /upgrade
	chown -R nobody:nogroup /upgrade
	rm -rf /upgrade/new
	init /upgrade/new
	as_user env "LD_LIBRARY_PATH=$(library_path /upgrade/prefix /upgrade/old-prefix):/upgrade/old-libraries" \
		pg_upgrade -U postgres -b "/upgrade/old-prefix/usr/lib/postgresql/$2/bin" -B "$prefix/lib/postgresql/$pgversion/bin" \
		-d /upgrade/old -D /upgrade/new -s /upgrade
	start /upgrade/new
	as_user psql -d postgres -X -A -t -v ON_ERROR_STOP=1 \
		-c "select count(*) = 4 and bool_and(md5(f::bytea) = digest and f = f::bytea::cuckoofilter and f @> all (array(select generate_series(1, 30000)))) from filters"
	;;
esac
SCRIPT

for release in "${releases[@]}"; do
	if ! prepare_tree "$release"; then
		report "$release" 0 1 "no tree could be made"
		tail -n 5 "$trees/$release.log"
		continue
	fi
	install -m 755 "$trees/upgrade.sh" "$trees/$release/srv/upgrade.sh"
	of_release "$release" bash /srv/cuckoo/test/run.sh "${steps[@]}" >"$trees/$release.log" 2>&1 || true
	count=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$trees/$release.log" | tail -n 1 || true)
	version=$(sed -n 's/^build .*\(PostgreSQL .*\)/\1/p' "$trees/$release.log")
	if [ -z "$count" ]; then
		report "$release" 0 1 "the tests did not run"
		tail -n 20 "$trees/$release.log"
		continue
	fi
	read -r passed _ failed _ <<<"$count"
	report "$release" "$passed" "$failed" "$version"
	[ "$failed" = 0 ] || grep -A 60 -E ' [1-9][0-9]* failed ' "$trees/$release.log" | head -n 80
	of_release "$release" bash /srv/upgrade.sh make >>"$trees/$release.log" 2>&1 ||
		{ report "a database of $release" 0 1 "no filters could be made"; tail -n 5 "$trees/$release.log"; }
done

# upgrade FROM TO: with the servers of both releases in one tree.  Libraries of
# the old release that the new one lacks are copied, too.
upgrade()
{
	local from=$1 to=$2 tree=$trees/$2 old new path library

	old=$(of_release "$from" bash /srv/upgrade.sh version)
	new=$(of_release "$to" bash /srv/upgrade.sh version)
	[ "$old" != "$new" ] || return 0
	rm -rf "$tree"/upgrade/old{,-prefix,-libraries}
	mkdir "$tree/upgrade/old-libraries"
	cp -a "$trees/$from/upgrade/prefix" "$tree/upgrade/old-prefix"
	cp -a "$trees/$from/upgrade/data" "$tree/upgrade/old"
	path=$(of_release "$to" bash /srv/upgrade.sh library_path):/upgrade/old-libraries
	# Libraries of libraries: three times is deep enough.
	for _ in 1 2 3; do
		while read -r library; do
			find "$trees/$from/usr/lib" -name "$library" -exec cp -L {} "$tree/upgrade/old-libraries/" \;
		done < <(of_release "$to" env "LD_LIBRARY_PATH=$path" bash -c "ldd /upgrade/old-prefix/usr/lib/postgresql/$old/bin/* \
			/upgrade/old-prefix/usr/lib/postgresql/$old/lib/*.so /upgrade/old-libraries/* 2>/dev/null" |
			sed -n 's/^[ \t]*\([^ ]*\) => not found$/\1/p' | sort -u)
	done
	if of_release "$to" bash /srv/upgrade.sh upgrade "$old" >"$trees/upgrade-$to.log" 2>&1 && grep -qx t "$trees/upgrade-$to.log"; then
		report "pg_upgrade $old to $new" 1 0
	elif grep -qs 'unrecognized parameter "pg_attver"' "$tree"/upgrade/new/pg_upgrade_output.d/*/log/*; then
		# A security release, such as 15.20, marks attributes in a way of its own.
		report "pg_upgrade $old to $new" 0 0 "not run: this $new is older than a security release that $old has"
	else
		report "pg_upgrade $old to $new" 0 1
		tail -n 20 "$trees/upgrade-$to.log"
	fi
}

for to in "${releases[@]:1}"; do
	[ ! -e "$trees/${releases[0]}/upgrade/data" ] || [ ! -e "$trees/$to/upgrade/data" ] ||
		upgrade "${releases[0]}" "$to"
done

echo "$total_passed passed, $total_failed failed"
[ "$total_failed" = 0 ] && [ "$total_passed" -gt 0 ]
