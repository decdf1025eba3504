#!/usr/bin/env bash
#
# Runs the tests on every PostgreSQL in current Debian releases:
# test/versions.sh [RELEASE...], by default bookworm (15), trixie (17), forky
# (18) and experimental (19, or the newest there).  debootstrap makes a tree for
# each release, in a temporary folder, or in the folder TREES, which is kept and
# used again.  Then
#
# - filters made on each version are read and used on every other one;
# - a database with filters goes through pg_upgrade from the oldest version to
#   each newer one.
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
		umount "$trees/$release/proc" 2>/dev/null || true
	done
	[ -n "${TREES:-}" ] || rm -rf --one-file-system "$trees"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# The archive that this machine gets its own packages from.
mirror=$(apt-cache policy | sed -n 's/^ *[0-9]* \([a-z]*:[^ ]*\) .*main.* Packages$/\1/p' |
	grep -E '/debian/?$' | head -n 1)
[ -n "$mirror" ] || die "apt knows no archive of Debian"

# in_tree RELEASE COMMAND...
declare -A majors_of
in_tree()
{
	local tree=$trees/$1 major=${majors_of[$1]:-}

	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TERM=dumb \
		CUCKOO_PACKAGES=/srv/packages PGVERSION="$major" \
		chroot "$tree" "$@" </dev/null
}

# report WHAT PASSED FAILED [NOTE]
report()
{
	total_passed=$((total_passed + $2))
	total_failed=$((total_failed + $3))
	printf '%-30s %5d passed %5d failed  %s\n' "$1" "$2" "$3" "${4:-}"
}

make_tree()
{
	local tree=$trees/$1 log=$trees/$1.log suite=$1 script

	# Experimental is an addition to unstable.
	[ "$suite" != experimental ] || suite=sid
	if [ ! -x "$tree/usr/bin/apt-get" ]; then
		rm -rf "$tree"
		# If this machine's debootstrap does not know the release, it is made
		# like unstable.
		script=/usr/share/debootstrap/scripts/$suite
		[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
		debootstrap --variant=minbase "$suite" "$tree" "$mirror" "$script" >"$log" 2>&1 || return 1
	fi
	# This machine's settings for reaching the archive.
	cp -r /etc/apt/apt.conf.d/. "$tree/etc/apt/apt.conf.d/"
	cp /etc/resolv.conf /etc/hosts "$tree/etc/" 2>/dev/null || true
	mountpoint -q "$tree/proc" || mount -t proc proc "$tree/proc"
	rm -rf "$tree/srv/cuckoo"
	mkdir "$tree/srv/cuckoo"
	tar -C "$root" --exclude=./.git --exclude-from="$root/.gitignore" -cf - . |
		tar -C "$tree/srv/cuckoo" -xf -
	# A mirror that is no longer updated still has packages.
	echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/99cuckoo"
	[ "$1" = "$suite" ] || echo "deb $mirror $1 main" >"$tree/etc/apt/sources.list.d/$1.list"
	in_tree "$1" apt-get update -qq >>"$log" 2>&1 || true
	if [ "$1" = experimental ]; then
		majors_of[$1]=$(in_tree "$1" apt-cache pkgnames postgresql-server-dev- |
			sed -n 's/^postgresql-server-dev-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
	fi
}

# Runs in a tree: a server in /exchange, which is stopped between two calls.
cat >"$trees/exchange.sh" <<'SCRIPT'
set -euo pipefail
command=$1
. /srv/cuckoo/test/lib.sh
find_postgresql
work=/exchange
prefix=/exchange/prefix/usr
start()
{
	trap 'as_user pg_ctl -D "$data" -w stop >/dev/null' EXIT
	data=$1
	as_user pg_ctl -D "$data" -l /exchange/log/server -w start >/dev/null
}
init()
{
	local checksums=()

	# The default differs from 18 on, and pg_upgrade needs the same on both
	# sides.
	! as_user initdb --help | grep no-data-checksums >/dev/null || checksums=(--no-data-checksums)
	as_user initdb -D "$1" -U postgres -A trust -N --locale=C.UTF-8 --encoding=UTF8 "${checksums[@]}" >/dev/null
	echo "listen_addresses = ''
unix_socket_directories = '/exchange'" >>"$1/postgresql.conf"
}
case $command in
make)
	rm -rf /exchange
	install -d -o nobody -g nogroup /exchange
	as_user mkdir /exchange/log /exchange/prefix
	make_prefix
	as_user cp -R /srv/cuckoo /exchange/src
	as_user make -s -C /exchange/src PG_CONFIG="$pg_config" install >/dev/null
	init /exchange/data
	start /exchange/data
	as_user psql -q -X -v ON_ERROR_STOP=1 </srv/cuckoo/test/exchange.sql
	as_user psql -q -X -c '\copy filters to /exchange/filters.text' \
		-c '\copy filters to /exchange/filters.binary (format binary)'
	;;
read)
	start /exchange/data
	as_user psql -q -X -v ON_ERROR_STOP=1 -c 'create table if not exists read (like filters)' \
		-c 'truncate read' -c "\\copy read from $2.text" -c "\\copy read from $2.binary (format binary)"
	as_user psql -q -X -A -t -v ON_ERROR_STOP=1 -c "select count(*) = 2 * (select count(*) from filters)
		and bool_and(same_answers(read.name, read.f)) and bool_and(read.f = own.f)
		from read join filters own using (name)"
	;;
version)
	echo "$pgversion"
	;;
library_path)
	library_path /exchange/prefix /exchange/old-prefix
	;;
upgrade)
	cd /exchange
	chown -R nobody:nogroup /exchange
	rm -rf /exchange/new
	init /exchange/new
	as_user env "LD_LIBRARY_PATH=$(library_path /exchange/prefix /exchange/old-prefix):/exchange/old-libraries" \
		pg_upgrade -U postgres -b "/exchange/old-prefix/usr/lib/postgresql/$2/bin" -B "$prefix/lib/postgresql/$pgversion/bin" \
		-d /exchange/old -D /exchange/new -s /exchange
	start /exchange/new
	as_user psql -d postgres -X -A -t -v ON_ERROR_STOP=1 \
		-c 'select bool_and(same_answers(name, f)) and bool_and(f = f::bytea::cuckoofilter) from filters'
	;;
esac
SCRIPT

for release in "${releases[@]}"; do
	if ! make_tree "$release"; then
		report "$release" 0 1 "no tree could be made"
		tail -n 5 "$trees/$release.log"
		continue
	fi
	install -m 755 "$trees/exchange.sh" "$trees/$release/srv/exchange.sh"
	in_tree "$release" bash /srv/cuckoo/test/run.sh "${steps[@]}" >"$trees/$release.log" 2>&1 || true
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
	in_tree "$release" bash /srv/exchange.sh make >>"$trees/$release.log" 2>&1 ||
		{ report "exchange: $release" 0 1 "no filters could be made"; tail -n 5 "$trees/$release.log"; }
done

# Filters made on each are read on all.
for to in "${releases[@]}"; do
	for from in "${releases[@]}"; do
		if [ "$from" = "$to" ] || [ ! -e "$trees/$from/exchange/filters.text" ] ||
			[ ! -e "$trees/$to/exchange/filters.text" ]; then
			continue
		fi
		for form in text binary; do
			cp "$trees/$from/exchange/filters.$form" "$trees/$to/exchange/from-$from.$form"
		done
		if [ "$(in_tree "$to" bash /srv/exchange.sh read "/exchange/from-$from" 2>>"$trees/$to.log" | tail -n 1)" = t ]; then
			report "$from read on $to" 1 0
		else
			report "$from read on $to" 0 1
			tail -n 5 "$trees/$to.log"
		fi
	done
done

# upgrade FROM TO: with the servers of both releases in one tree.  Libraries of
# the old release that the new one lacks are copied, too.
upgrade()
{
	local from=$1 to=$2 tree=$trees/$2 old new path library

	old=$(in_tree "$from" bash /srv/exchange.sh version)
	new=$(in_tree "$to" bash /srv/exchange.sh version)
	[ "$old" != "$new" ] || return 0
	rm -rf "$tree"/exchange/old{,-prefix,-libraries}
	mkdir "$tree/exchange/old-libraries"
	cp -a "$trees/$from/exchange/prefix" "$tree/exchange/old-prefix"
	cp -a "$trees/$from/exchange/data" "$tree/exchange/old"
	path=$(in_tree "$to" bash /srv/exchange.sh library_path):/exchange/old-libraries
	# Libraries of libraries: three times is deep enough.
	for _ in 1 2 3; do
		while read -r library; do
			find "$trees/$from/usr/lib" -name "$library" -exec cp -L {} "$tree/exchange/old-libraries/" \;
		done < <(in_tree "$to" env "LD_LIBRARY_PATH=$path" bash -c "ldd /exchange/old-prefix/usr/lib/postgresql/$old/bin/* \
			/exchange/old-prefix/usr/lib/postgresql/$old/lib/*.so /exchange/old-libraries/* 2>/dev/null" |
			sed -n 's/^[ \t]*\([^ ]*\) => not found$/\1/p' | sort -u)
	done
	if in_tree "$to" bash /srv/exchange.sh upgrade "$old" >"$trees/upgrade-$to.log" 2>&1 && grep -qx t "$trees/upgrade-$to.log"; then
		report "pg_upgrade $old to $new" 1 0
	else
		report "pg_upgrade $old to $new" 0 1
		tail -n 20 "$trees/upgrade-$to.log"
	fi
}

for to in "${releases[@]:1}"; do
	[ ! -e "$trees/${releases[0]}/exchange/filters.text" ] || [ ! -e "$trees/$to/exchange/filters.text" ] ||
		upgrade "${releases[0]}" "$to"
done

echo "$total_passed passed, $total_failed failed"
[ "$total_failed" = 0 ] && [ "$total_passed" -gt 0 ]
