# shellcheck shell=bash
#
# Debian releases in folders, for packages.sh, server_tests.sh and versions.sh,
# which read this after test/lib.sh: minimal trees made by debootstrap, in which
# root runs commands by chroot.  CUCKOO_PACKAGES=FOLDER keeps the downloads for
# the next run.

[ "$(id -u)" = 0 ] || die "debootstrap and chroot need root"
folder=$(mktemp -d /var/tmp/cuckoo.XXXXXX)
trees=$folder/trees
log=$folder/log
downloads=$(realpath "${CUCKOO_PACKAGES:-$folder}")
passed=0
failed=0

# Ends the processes in the trees, such as servers, and removes the trees.
remove_trees() {
	find /proc -maxdepth 2 -name root -lname "$trees/*" 2>/dev/null | cut -d / -f 3 | xargs -r kill -KILL 2>/dev/null || true
	awk -v prefix="$trees/" 'index($2, prefix) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount -l
	rm -rf --one-file-system "$trees"
}

clean_up() {
	local status=$?

	trap - EXIT
	trap '' INT TERM HUP
	end_jobs
	remove_trees
	rm -rf --one-file-system "$folder"
	exit "$status"
}
trap clean_up EXIT

# check NAME COMMAND...: runs a check, and prints its output if it fails.  It is
# one test, or as many as the last line "N passed, N failed" of its output says.
# Sets bad to the number of those that failed.
check() {
	local name=$1 began=$SECONDS status=0 good

	start "${@:2}" >"$log" 2>&1
	wait $! || status=$?
	read -r good _ bad _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1) || { good=1; bad=0; }
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		good=0
		bad=1
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	printf '%-65s %5d passed %3d failed %5d s\n' "$name" "$good" "$bad" $((SECONDS - began))
	[ "$bad" = 0 ] || tail -n 60 "$log" | sed 's/^/    /'
}

# make_tree NAME RELEASE: makes a minimal Debian in trees/NAME.  It gets packages
# in the same way as this machine, and has the security updates that its users
# have.
make_tree() {
	local tree=$trees/$1 suite=$2 mirror script

	# Experimental is an addition to unstable.
	[ "$suite" != experimental ] || suite=sid
	mirror=$(apt-cache policy | sed -n 's/^ *[0-9]* \([a-z]*:[^ ]*\) .*main.* Packages$/\1/p' | grep -E -m 1 '/debian/?$')
	# If debootstrap does not know the release yet, treat it like unstable.
	script=/usr/share/debootstrap/scripts/$suite
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	mkdir -p "$trees" "$downloads/apt-$suite/partial"
	debootstrap --variant=minbase --cache-dir="$downloads/apt-$suite" "$suite" "$tree" "$mirror" "$script"

	cp -r /etc/apt/apt.conf.d/. "$tree/etc/apt/apt.conf.d/"
	cp /etc/resolv.conf /etc/hosts "$tree/etc/" 2>/dev/null || true
	case $2 in
	sid) ;;
	experimental) echo "deb $mirror experimental main" ;;
	*) echo "deb ${mirror%/}-security $suite-security main" ;;
	esac >"$tree/etc/apt/sources.list.d/more.list"
	# A mirror may be no longer updated.
	printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'Dir::Cache::archives "/srv/downloads";' >"$tree/etc/apt/apt.conf.d/99cuckoo"
	# Packages start no daemons.
	printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
	chmod +x "$tree/usr/sbin/policy-rc.d"
	mount_tree "$1" "$suite"
	in_tree "$tree" apt-get -q update
}

# mount_tree NAME SUITE
mount_tree() {
	mkdir -p "$trees/$1/srv/downloads"
	mount --bind "$downloads/apt-$2" "$trees/$1/srv/downloads"
	mount -t proc proc "$trees/$1/proc"
}

# in_tree FOLDER COMMAND...: runs a command in the tree, as root
in_tree() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
		chroot "$1" "${@:2}" </dev/null
}

# newest_major FOLDER: prints the newest major version of PostgreSQL in the tree
newest_major() {
	in_tree "$1" apt-cache pkgnames postgresql-server-dev- |
		sed -n 's/^postgresql-server-dev-\([0-9]*\)$/\1/p' | sort -n | tail -n 1
}

finish() {
	say_installed
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
