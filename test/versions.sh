#!/usr/bin/env bash
#
# Runs the tests on every PostgreSQL that current Debian releases come with:
# test/versions.sh [RELEASE...], by default bookworm (15), trixie (17) and forky
# (18).  Each release gets a tree of its own by debootstrap, in a temporary folder
# or where TREES says (kept then, and used again).  Then
#
# - filters made on each version are read, and asked, on every other one;
# - a database with filters goes through pg_upgrade from the oldest version to
#   each newer one.
#
# Needs root and some 2 GB; about ten minutes, most of them downloads.  STEPS
# chooses the steps of test/run.sh to run (build, regress, isolation, tap).  One
# line a version; the last line is "N passed, N failed".
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
read -r -a steps <<<"${STEPS:-build regress isolation tap}"
releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie forky)
total_passed=0
total_failed=0

die()
{
	echo "error: $*" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || die "debootstrap and chroot need root"
command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
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
in_tree()
{
	local tree=$trees/$1

	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TERM=dumb \
		chroot "$tree" "$@" </dev/null
}

# report WHAT PASSED FAILED [NOTE]
report()
{
	total_passed=$((total_passed + $2))
	total_failed=$((total_failed + $3))
	printf '%-28s %5d passed %5d failed  %s\n' "$1" "$2" "$3" "${4:-}"
}

make_tree()
{
	local tree=$trees/$1 log=$trees/$1.log script

	if [ ! -x "$tree/usr/bin/apt-get" ]; then
		rm -rf "$tree"
		# A release newer than this machine's debootstrap is made like unstable.
		script=/usr/share/debootstrap/scripts/$1
		[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
		debootstrap --variant=minbase "$1" "$tree" "$mirror" "$script" >"$log" 2>&1 || return 1
	fi
	# How this machine reaches the archive.
	cp -r /etc/apt/apt.conf.d/. "$tree/etc/apt/apt.conf.d/"
	cp /etc/resolv.conf /etc/hosts "$tree/etc/" 2>/dev/null || true
	mountpoint -q "$tree/proc" || mount -t proc proc "$tree/proc"
	rm -rf "$tree/srv/cuckoo"
	mkdir "$tree/srv/cuckoo"
	tar -C "$root" --exclude=./.git --exclude-from="$root/.gitignore" -cf - . |
		tar -C "$tree/srv/cuckoo" -xf -
	in_tree "$1" apt-get update -qq >>"$log" 2>&1 || true
}

# Sets a tree's PostgreSQL up for the exchange: a server in /exchange, left
# stopped.  A file for each function would be longer than what they do.
cat >"$trees/exchange.sh" <<'SCRIPT'
set -euo pipefail
. /srv/cuckoo/test/lib.sh
find_postgresql
bin=/usr/lib/postgresql/$pgversion/bin
export PGHOST=/exchange PGUSER=postgres PGDATABASE=postgres
as_postgres()
{
	setpriv --reuid=postgres --regid=postgres --init-groups -- env "PATH=$bin:$PATH" "$@"
}
case $1 in
make)
	make -s -C /srv/cuckoo install >/dev/null
	rm -rf /exchange
	install -d -o postgres /exchange
	as_postgres initdb -D /exchange/data -U postgres -A trust -N --locale=C.UTF-8 --encoding=UTF8 \
		$(initdb --help 2>/dev/null | grep -q no-data-checksums && echo --no-data-checksums) >/dev/null
	echo "listen_addresses = ''
unix_socket_directories = '/exchange'" >>/exchange/data/postgresql.conf
	as_postgres pg_ctl -D /exchange/data -l /exchange/log -w start >/dev/null
	as_postgres psql -q -X -v ON_ERROR_STOP=1 </srv/cuckoo/test/exchange.sql
	as_postgres psql -q -X -c '\copy filters to /exchange/filters.text' \
		-c '\copy filters to /exchange/filters.binary (format binary)'
	as_postgres pg_ctl -D /exchange/data -w stop >/dev/null
	;;
read)
	as_postgres pg_ctl -D /exchange/data -l /exchange/log -w start >/dev/null
	trap 'as_postgres pg_ctl -D /exchange/data -w stop >/dev/null' EXIT
	as_postgres psql -q -X -v ON_ERROR_STOP=1 -c 'create table if not exists read (like filters)' \
		-c 'truncate read' -c "\\copy read from $2.text" -c "\\copy read from $2.binary (format binary)"
	as_postgres psql -q -X -A -t -v ON_ERROR_STOP=1 -c "select count(*) = 2 * (select count(*) from filters)
		and bool_and(same_answers(read.name, read.f)) and bool_and(read.f = own.f)
		from read join filters own using (name)"
	;;
version)
	echo "$pgversion"
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
	count=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$trees/$release.log" | tail -n 1)
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

# upgrade FROM TO: with the old release's server beside the new one's.  What
# libraries of the old release the new one lacks come along.
upgrade()
{
	local from=$1 to=$2 tree=$trees/$2 old new library

	old=$(in_tree "$from" bash /srv/exchange.sh version)
	new=$(in_tree "$to" bash /srv/exchange.sh version)
	[ "$old" != "$new" ] || return 0
	cp -a "$trees/$from/usr/lib/postgresql/$old" "$tree/usr/lib/postgresql/"
	cp -a "$trees/$from/usr/share/postgresql/$old" "$tree/usr/share/postgresql/"
	mkdir -p "$tree/usr/lib/old-release"
	while read -r library; do
		find "$trees/$from/usr/lib" -name "$library" -not -path '*old-release*' \
			-exec cp -L {} "$tree/usr/lib/old-release/" \;
	done < <(in_tree "$to" bash -c "ldd /usr/lib/postgresql/$old/bin/* /usr/lib/postgresql/$old/lib/*.so 2>/dev/null" |
		sed -n 's/^[ \t]*\([^ ]*\) => not found$/\1/p' | sort -u)
	# Libraries of libraries: twice is deep enough.
	for _ in 1 2; do
		while read -r library; do
			find "$trees/$from/usr/lib" -name "$library" -not -path '*old-release*' \
				-exec cp -L {} "$tree/usr/lib/old-release/" \;
		done < <(in_tree "$to" bash -c "LD_LIBRARY_PATH=/usr/lib/old-release ldd /usr/lib/postgresql/$old/bin/postgres /usr/lib/old-release/* 2>/dev/null" |
			sed -n 's/^[ \t]*\([^ ]*\) => not found$/\1/p' | sort -u)
	done
	rm -rf "$tree/exchange/old"
	cp -a "$trees/$from/exchange/data" "$tree/exchange/old"
	cat >"$tree/srv/upgrade.sh" <<-SCRIPT
		set -euo pipefail
		as_postgres()
		{
			setpriv --reuid=postgres --regid=postgres --init-groups -- env LD_LIBRARY_PATH=/usr/lib/old-release "\$@"
		}
		new=/usr/lib/postgresql/$new/bin
		cd /exchange
		chown -R postgres: /exchange
		rm -rf /exchange/new
		checksums=
		as_postgres \$new/initdb --help | grep -q no-data-checksums && checksums=--no-data-checksums
		as_postgres \$new/initdb -D /exchange/new -U postgres -A trust -N --locale=C.UTF-8 --encoding=UTF8 \$checksums
		echo "listen_addresses = ''
		unix_socket_directories = '/exchange'" >>/exchange/new/postgresql.conf
		as_postgres \$new/pg_upgrade -U postgres -b /usr/lib/postgresql/$old/bin -B \$new -d /exchange/old -D /exchange/new -s /exchange
		as_postgres \$new/pg_ctl -D /exchange/new -l /exchange/log -w start
		trap 'as_postgres \$new/pg_ctl -D /exchange/new -w stop' EXIT
		as_postgres \$new/psql -h /exchange -U postgres -d postgres -X -A -t -v ON_ERROR_STOP=1 \\
			-c 'select bool_and(same_answers(name, f)) and bool_and(f = f::bytea::cuckoofilter) from filters'
	SCRIPT
	if in_tree "$to" bash /srv/upgrade.sh >"$trees/upgrade-$to.log" 2>&1 && grep -qx t "$trees/upgrade-$to.log"; then
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
