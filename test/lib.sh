# shellcheck shell=bash
#
# Functions for the scripts in this folder.  They provide a private copy of
# PostgreSQL, other Debian packages, and temporary servers that an unprivileged
# user runs.
#
# Everything is in one temporary folder.  PostgreSQL's packages are downloaded
# and unpacked there, but never installed.  The machine's own PostgreSQL and
# its clusters are therefore left alone, the server and the headers have the
# same version, and nothing is built inside the checkout.
#
# Environment: PGVERSION=17 chooses a PostgreSQL, KEEP=1 keeps the folder, and
# CUCKOO_PACKAGES names a folder that keeps the downloaded packages for the
# next run.

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=
cluster=
prefix=
initdb=initdb
foreign=
children=()

# The functions below read the output of apt, so it must not be translated.
export LC_ALL=C.UTF-8

die()
{
	echo "error: $*" >&2
	exit 1
}

# The comment at the head of each script is its help.
case ${1:-} in
-h | --help)
	sed -n '3,/^[^#]/ { /^[^#]/d; /^# shellcheck/d; s/^# \{0,1\}//; p }' "$0"
	exit 0
	;;
esac

# A trap runs when the command in the foreground has ended.
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---------------------------------------------------------------- packages

# Whether a package of this machine's architecture is installed, or of $foreign
installed()
{
	dpkg-query -W -f='${db:Status-Status} ${Architecture}\n' "$1" 2>/dev/null |
		grep -Eqx "installed (all|${foreign:-$(dpkg --print-architecture)})"
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

can_be_root()
{
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null
}

# Runs apt-get as root.  If it were interrupted, packages would be half
# installed and later runs of apt-get would fail.  It therefore ignores signals
# and runs in a session of its own, which Ctrl-C does not reach.  This script
# acts on a signal when apt-get has ended.
root_apt_get()
{
	# shellcheck disable=SC2016  # for the shell that root runs
	as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 bash -c '
		trap "" INT TERM HUP QUIT
		exec flock -o /var/lib/dpkg setsid --wait apt-get -q -o DPkg::Lock::Timeout=600 "$@" </dev/null
	' bash "$@"
}

# Updates the package lists, once per run.  New machines have no lists, and old
# machines have outdated ones.
update_package_lists()
{
	[ -z "${lists_updated:-}" ] || return 0
	lists_updated=1
	can_be_root || return 0
	echo "updating Debian's package lists"
	root_apt_get update >/dev/null 2>&1 || echo "apt-get update failed, going on with the lists at hand"
}

# Installs the packages that are missing.  If none is missing, this does not run
# apt and needs neither a network nor root.  Do not call it in a subshell, which
# would not wait for apt-get after a signal.
newly_installed=()
try_packages()
{
	local package log status=0 missing=()

	for package; do
		installed "$package" || [[ " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0

	if ! can_be_root; then
		echo "missing ${missing[*]}: install these first, or run this as root" >&2
		return 1
	fi
	update_package_lists
	echo "installing ${missing[*]}"
	# The file is open but has no name, so that a signal leaves no file behind.
	log=$(mktemp)
	exec 8<>"$log"
	rm "$log"
	root_apt_get -y --no-upgrade --no-install-recommends install "${missing[@]}" >&8 2>&1 || status=1
	if [ "$status" = 0 ]; then
		newly_installed+=("${missing[@]}")
	else
		tail -n 30 /dev/fd/8 >&2
	fi
	exec 8>&-
	return "$status"
}

need_packages()
{
	try_packages "$@" || die "could not install $*"
}

# Prints what this run has installed on the machine.
say_installed()
{
	if [ ${#newly_installed[@]} = 0 ]; then
		echo "Nothing was installed on this machine."
	else
		echo "Installed on this machine, with what they depend on: ${newly_installed[*]}"
		echo "To remove them: apt-get purge --autoremove ${newly_installed[*]}"
	fi
}

# The packages that Citus needs to be built, besides those of the extension.
# shellcheck disable=SC2034  # used by the scripts
citus_packages=(bison flex libipc-run-perl perl pkg-config libicu-dev libkrb5-dev liblz4-dev libpam0g-dev
	libreadline-dev libselinux1-dev libssl-dev libxml2-dev libxslt1-dev libzstd-dev zlib1g-dev)

# --------------------------------------------------------------- PostgreSQL

# Options that make apt act as if nothing were installed: it offers only
# packages that can be downloaded, and lists everything that a package depends
# on.
bare=(-o Dir::State::status=/dev/null -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)

# offered PACKAGE: prints the version that can be downloaded, or nothing
offered()
{
	apt-cache "${bare[@]}" policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9].*\)$/\1/p'
}

# complete MAJOR: whether the server and the headers of this major version are
# installed, in the same minor version
complete()
{
	local server headers

	server=$("/usr/lib/postgresql/$1/bin/postgres" --version 2>/dev/null | sed 's/^postgres (PostgreSQL) //')
	headers=$(sed -n 's/^#define PG_VERSION "\(.*\)"$/\1/p' "/usr/include/postgresql/$1/server/pg_config.h" 2>/dev/null)
	[ -n "$server" ] && [ "$server" = "$headers" ] && [ -e "/usr/lib/postgresql/$1/lib/pgxs/src/makefiles/pgxs.mk" ]
}

# Prints the major versions to try: the installed ones from the newest on, then
# the one of this Debian release.  The extension needs 15 or later.
majors()
{
	local server

	for server in $(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -rV); do
		server=${server#/usr/lib/postgresql/}
		[ "${server%%/*}" = "*" ] || [ "${server%%/*}" -lt 15 ] || echo "${server%%/*}"
	done
	apt-cache "${bare[@]}" depends postgresql 2>/dev/null |
		sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1
}

# Sets pgversion to the first major version that is offered or installed.
find_postgresql()
{
	local major

	while true; do
		for major in ${PGVERSION:-$(majors)}; do
			if [ -n "${CUCKOO_DEBS:-}" ] || [ -n "$(offered "postgresql-server-dev-$major")" ] || complete "$major"; then
				pgversion=$major
				# The packages that the extension needs, besides PostgreSQL's
				# shellcheck disable=SC2034  # used by the scripts
				packages=(gcc libc6-dev make tzdata)
				return
			fi
		done
		[ -z "${lists_updated:-}" ] || break
		update_package_lists
	done
	die "found no PostgreSQL ${PGVERSION:-}: apt offers none, and server and headers of one version are not installed"
}

# offered_versions PACKAGE...: prints each as PACKAGE=VERSION.  The version is
# that of the first package if the package is offered in it, else the package's
# own.
offered_versions()
{
	apt-cache "${bare[@]}" policy "$@" | awk '
		/^[^ ]/ { name = substr($1, 1, length($1) - 1); names[++n] = name }
		$1 == "Candidate:" { candidate[name] = $2 }
		/^     [^ ]/ { has[name, $1] = 1 }
		END {
			wanted = candidate[names[1]]
			for (i = 1; i <= n; i++)
				print names[i] "=" (has[names[i], wanted] ? wanted : candidate[names[i]])
		}'
}

# Downloads packages into the folder $downloads, and sets debs to their files.
# These are PostgreSQL in one version, the extension that more_postgresql
# names, and the libraries that they need and that the machine does not have.
download_postgresql()
{
	local name version library libraries=''
	local server=() all=()
	# libpq may have a later major version than the server.
	local names=("postgresql-$pgversion" "postgresql-client-$pgversion" libpq5
		"postgresql-server-dev-$pgversion" libpq-dev libxxhash-dev)

	debs=()
	if [ -n "${CUCKOO_DEBS:-}" ] && [ -z "$foreign" ]; then
		# The script that started this one has them.
		mapfile -t debs <<<"$CUCKOO_DEBS"
		names=()
	fi
	[ -z "${more_postgresql:-}" ] || names+=("$more_postgresql")
	[ ${#names[@]} -gt 0 ] || return 0
	mapfile -t all < <(offered_versions "${names[@]}")
	[ ${#all[@]} = ${#names[@]} ] || return 1
	# The headers depend on many packages, but a compiler is enough here.
	for name in "${all[@]}"; do
		[[ $name = *-dev* ]] || server+=("$name")
	done
	if [ ${#debs[@]} = 0 ]; then
		libraries=$(apt-get "${bare[@]}" -qq -s --no-install-recommends install "${server[@]}" |
			sed -nE 's/^Inst ((lib|zlib)[^ ]*) \(([^ ]*) .*/\1=\3/p') || return 1
	fi
	for library in $libraries; do
		case $library in
		libpq5=* | libperl* | *-perl=*) continue ;;
		esac
		installed "${library%%=*}" || all+=("$library")
	done

	(cd "$downloads" && apt-get "${bare[@]}" -qq download "${all[@]}") || return 1
	for name in "${all[@]}"; do
		version=${name#*=}
		debs+=("$(compgen -G "$downloads/${name%%=*}_${version//:/%3a}_*.deb")") || return 1
	done
}

# unpack FOLDER COMMAND...: unpacks the files of debs there.  COMMAND, such as
# as_user, runs tar.
unpack()
{
	local deb folder=$1

	shift
	for deb in "${debs[@]}"; do
		dpkg-deb --fsys-tarfile "$deb" | "$@" tar -C "$folder" --exclude=./usr/share/doc --exclude=./usr/share/man -xf - || return 1
	done
}

# Puts PostgreSQL into $work/prefix.  Debian's PostgreSQL finds its files
# relative to its programs, so pg_config, the servers and make install use this
# folder.
make_prefix()
{
	local part

	prefix=$work/prefix/usr
	pg_config=$prefix/lib/postgresql/$pgversion/bin/pg_config
	as_user mkdir -p "$prefix/lib" "$prefix/share/postgresql" "$prefix/include"

	# Scripts that this one starts then use the same packages.
	downloads=${CUCKOO_PACKAGES:-$work/packages}
	mkdir -p "$downloads"
	downloads=$(cd "$downloads" && pwd)
	export CUCKOO_PACKAGES=$downloads

	if ! download_postgresql >"$work/log/download" 2>&1 &&
		! { update_package_lists && download_postgresql >"$work/log/download" 2>&1; }; then
		if ! complete "$pgversion"; then
			cat "$work/log/download"
			die "could not download PostgreSQL $pgversion, and server and headers of one version are not installed"
		fi
		echo "could not download PostgreSQL $pgversion, using the installed one"
		for part in lib share; do
			as_user mkdir -p "$prefix/$part/postgresql"
			as_user cp -R "/usr/$part/postgresql/$pgversion" "$prefix/$part/postgresql/"
		done
		as_user ln -s /usr/include/postgresql "$prefix/include/postgresql"
		try_packages libxxhash-dev || die "libxxhash-dev is missing"
	else
		unpack "$work/prefix" as_user || die "could not unpack PostgreSQL's packages"
		CUCKOO_DEBS=$(printf '%s\n' "${debs[@]}")
		export CUCKOO_DEBS PGVERSION=$pgversion
	fi
	as_user postgres --version >"$work/log/download" 2>&1 || {
		cat "$work/log/download"
		die "PostgreSQL $pgversion does not run here; does it after apt-get upgrade?"
	}
}

# ------------------------------------------------- the folder and its user

# library_path FOLDER...: prints the folders of the libraries that were unpacked
# into these folders
library_path()
{
	local folder library_folder path=

	for folder; do
		for library_folder in "$folder"/{usr/,}lib/*-linux-*; do
			[ ! -d "$library_folder" ] || path=$path:$library_folder
		done
	done
	echo "${path#:}"
}

# Sets user_command, which runs a command as the unprivileged user.  PostgreSQL
# refuses to run as root, so root uses the user nobody.  The environment starts
# empty, so that PGDATA, PGSERVICE, CFLAGS or MAKEFLAGS of the caller have no
# effect.
set_user_command()
{
	user_command=(env -i LC_ALL=C.UTF-8 "HOME=${work:-/}" "TMPDIR=${work:-/tmp}"
		"PATH=${prefix:+$prefix/lib/postgresql/$pgversion/bin:}/usr/local/bin:/usr/bin:/bin"
		"PGHOST=${cluster:-$work}" PGUSER=postgres PGDATABASE=postgres
		"CUCKOO_TEST_LARGE=${CUCKOO_TEST_LARGE:-}" "CUCKOO_TEST_SECONDS=${CUCKOO_TEST_SECONDS:-}"
		"CUCKOO_MODEL_OPERATIONS=${CUCKOO_MODEL_OPERATIONS:-}" "CUCKOO_TEST_CONF=${CUCKOO_TEST_CONF:-}"
		PG_TEST_TIMEOUT_DEFAULT=900 PGCTLTIMEOUT=600)
	if [ -n "$prefix" ]; then
		user_command+=("C_INCLUDE_PATH=$prefix/include" "LD_LIBRARY_PATH=$(library_path "${prefix%/usr}")")
	fi
	if [ "$(id -u)" = 0 ]; then
		user_command=(setpriv --reuid=nobody --regid=nogroup --clear-groups -- "${user_command[@]}")
	fi
}

as_user()
{
	set_user_command
	"${user_command[@]}" "$@"
}

# interruptibly COMMAND...: runs a command, but this script acts on a signal at
# once.  (Bash runs traps only after a foreground command has ended.)  The
# command has a process group of its own, so that clean_up can stop everything
# that it started.
interruptibly()
{
	local status=0

	set -m
	"$@" </dev/null &
	set +m
	children=("$!")
	wait "$!" || status=$?
	children=()
	return "$status"
}

as_user_interruptibly()
{
	interruptibly as_user "$@"
}

# Stops what runs in the background, and waits until it has cleaned up.
stop_children()
{
	local child

	for child in "${children[@]}"; do
		kill -TERM -- "-$child" 2>/dev/null || true
	done
	[ ${#children[@]} = 0 ] || wait "${children[@]}" 2>/dev/null || true
}

# Stops the servers in the folder, and removes the folder.
leave_running=
clean_up()
{
	local status=$? pidfile

	trap - EXIT
	trap '' INT TERM HUP
	stop_children
	[ -n "$work" ] || exit "$status"
	cd /
	if [ -z "$leave_running" ]; then
		find "$work" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
			as_user pg_ctl -D "${pidfile%/*}" -m immediate -w stop >/dev/null 2>&1 || true
		done
	fi
	if [ -n "${KEEP:-}" ]; then
		echo "kept: $work"
	else
		# A process that is about to end may still write a file.
		rm -rf "$work" 2>/dev/null || { sleep 1; rm -rf "$work"; }
	fi
	exit "$status"
}

# copy_checkout FOLDER [COMMAND]: copies this checkout without build products.
# COMMAND, such as as_user, runs tar.
copy_checkout()
{
	local folder=$1

	shift
	tar -C "$root" --exclude=./.git --exclude-from="$root/.gitignore" -cf - . | "$@" tar -C "$folder" -xf -
}

# With KEEP=1, leaves the server running, and says how to connect to it.
keep_server()
{
	[ -n "${KEEP:-}" ] || return 0
	leave_running=1
	echo "The server is left running.  To connect, to stop it, and to remove its folder:"
	echo "    $work/run psql"
	echo "    $work/run pg_ctl -D $work/data stop"
	echo "    rm -r $work"
}

# Makes the folder.  src/ is a copy of the checkout, because the unprivileged
# user may be unable to read or write the checkout itself.  prefix/ has
# PostgreSQL.  The script run does the same as as_user, for use with a kept
# folder.
make_folder()
{
	local dir megabytes

	trap clean_up EXIT

	# The path of a socket has at most 107 bytes, other users may have no access
	# to root's TMPDIR, and make does not build in a folder with a space.  The
	# tests need 2 GB, and /tmp can be in memory.
	for megabytes in 3000 0; do
		for dir in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
			[[ ${#dir} -le 50 && "$dir" != *[[:space:]]* ]] || continue
			[ "$(df -m --output=avail "$dir" 2>/dev/null | tail -n 1)" -ge "$megabytes" ] 2>/dev/null || continue
			work=$(as_user mktemp -d "$dir/cuckoo.XXXXXX" 2>/dev/null) && break 2
		done
	done
	[ -n "$work" ] || die "found no folder for temporary files"
	cluster=$work

	as_user mkdir "$work/src" "$work/log" "$work/prefix"
	copy_checkout "$work/src" as_user
	make_prefix

	set_user_command
	{
		echo '#!/bin/bash'
		printf '%q ' exec "${user_command[@]}"
		# shellcheck disable=SC2016  # for that script
		echo '"TERM=${TERM:-dumb}" "$@"'
	} >"$work/run"
	chmod a+rx "$work/run"

	# The unprivileged user may have no access to the current folder.
	cd "$work" || exit
}

# ------------------------------------------------------------------ servers

# Makes a cluster in the folder $cluster, without a network port.  Its socket is
# in that folder, so its port number cannot be in use already.  It does not sync
# files, because nobody needs its data after a power failure.  initdb names
# a program other than that in the path.
make_cluster()
{
	as_user "$initdb" -D "$cluster/data" -U postgres -A trust -N --no-instructions \
		--encoding=UTF8 --locale=C.UTF-8 >"$cluster/log/initdb" 2>&1 ||
		{ cat "$cluster/log/initdb"; die "initdb failed"; }
	as_user tee -a "$cluster/data/postgresql.conf" >/dev/null <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$cluster'
		fsync = off
		synchronous_commit = off
		full_page_writes = off
		max_wal_size = 4GB
		shared_buffers = 128MB
		${CUCKOO_TEST_CONF:-}
	CONF
}

# run_server [COMMAND...]: starts the cluster.  COMMAND is pg_ctl, or for
# example env VARIABLE=VALUE pg_ctl, or pg_ctl -p PROGRAM.
run_server()
{
	[ $# -gt 0 ] || set -- pg_ctl
	as_user "$@" -D "$cluster/data" -l "$cluster/data/log" -w start >"$cluster/log/start" 2>&1 ||
		{ cat "$cluster/log/start" "$cluster/data/log"; die "the server did not start"; }
}

stop_server()
{
	as_user pg_ctl -D "$cluster/data" -m fast -w stop >"$cluster/log/stop" 2>&1 ||
		{ cat "$cluster/log/stop"; die "the server did not stop"; }
}

start_server()
{
	make_cluster
	run_server
}

# ------------------------------------------------------------ the extension

# build_extension MAKE-ARGUMENT...: builds and installs the extension
build_extension()
{
	as_user_interruptibly make -s -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" "$@" all install >"$work/log/build" 2>&1 ||
		{ head -n 50 "$work/log/build"; die "the build failed"; }
}

# installcheck LOG MAKE-ARGUMENT...: runs tests by pg_regress, and sets passed
# and failed.  That of 15 prints "test x ... ok", later ones print "ok 1 - x".
installcheck()
{
	local log=$work/log/$1 status=0

	shift
	as_user_interruptibly make -C "$work/src" PG_CONFIG="$pg_config" "$@" installcheck >>"$log" 2>&1 || status=1
	passed=$(grep -Ec '^(ok +[0-9]+ |test .*\.\.\. ok )' "$log") || true
	failed=$(grep -Ec '^(not ok +[0-9]+ |test .*\.\.\. FAILED)' "$log") || true
	if [ "$failed" = 0 ] && { [ "$status" != 0 ] || [ "$passed" = 0 ]; }; then
		failed=1
	fi
}

# --------------------------------------------------------------- sanitizers

# build_sanitized FLAG...: the same with these flags, AddressSanitizer and
# UndefinedBehaviorSanitizer.  A process ends at the first finding.
build_sanitized()
{
	build_extension CC=gcc with_llvm=no COPT="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1 $*"
}

# Starts a server that loads the sanitizers' libraries first.  It does not
# translate messages: with AddressSanitizer loaded first, glibc waits forever
# for a lock in bindtextdomain.  The stacks that find uses after a return are
# small, because AddressSanitizer searches them after every error that SQL
# catches, which took most of the time.  Not much freed memory is kept from being
# used again, because a new page costs more than what is done with it.
start_sanitized_server()
{
	local loaded

	as_user tee "$work/untranslated.c" >/dev/null <<-'C'
		char *bindtextdomain(const char *domain, const char *folder) { (void) domain; return (char *) folder; }
		char *bind_textdomain_codeset(const char *domain, const char *codeset) { (void) domain; return (char *) codeset; }
		char *textdomain(const char *domain) { return (char *) domain; }
		char *gettext(const char *text) { return (char *) text; }
		char *dgettext(const char *domain, const char *text) { (void) domain; return (char *) text; }
		char *dcgettext(const char *domain, const char *text, int category)
		{ (void) domain; (void) category; return (char *) text; }
	C
	as_user gcc -shared -fPIC -fno-builtin -o "$work/untranslated.so" "$work/untranslated.c"

	make_cluster
	run_server env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) $work/untranslated.so" \
		ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1:max_uar_stack_size_log=16:quarantine_size_mb=8 \
		UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1 \
		pg_ctl

	# Check that the server's maps list the libraries.
	loaded=$(as_user psql -XqAtc "SELECT maps ~ 'libasan' AND maps ~ 'libubsan' FROM pg_read_file('/proc/' || pg_backend_pid() || '/maps') AS maps") || loaded=unknown
	[ "$loaded" = t ] || die "the server runs without the sanitizers"
}

# sanitizer_reports OPTION...: prints the reports of the sanitizers in the log,
# by grep with options such as -c or -A 40
sanitizer_reports()
{
	grep -E "$@" 'ERROR: AddressSanitizer|runtime error:|cuckoofilter made is not valid' "$work/data/log" || true
}

# ---------------------------------------------------- trees of Debian releases

# Prints the archive from which this machine gets its packages.
debian_mirror()
{
	local mirror

	mirror=$(apt-cache policy | sed -n 's/^ *[0-9]* \([a-z]*:[^ ]*\) .*main.* Packages$/\1/p' |
		grep -E '/debian/?$' | head -n 1)
	[ -n "$mirror" ] || die "apt knows no archive of Debian"
	echo "$mirror"
}

# unmount_below PREFIX: unmounts everything whose path begins so
unmount_below()
{
	awk -v prefix="$1" 'index($2, prefix) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount -l
}

# make_tree FOLDER SUITE: makes a minimal Debian in the folder, unless there is
# a whole one already: debootstrap works in a folder debootstrap inside, which
# it removes at the end.  It gets packages in the same way as this machine.  A release has
# its security updates, because its users have them.
make_tree()
{
	local tree=$1 suite=$2 script mirror

	mirror=$(debian_mirror) || return 1
	if [ ! -x "$tree/usr/bin/apt-get" ] || [ -e "$tree/debootstrap" ]; then
		unmount_below "$tree/"
		rm -rf --one-file-system "$tree"
		# If debootstrap does not know the release yet, treat it like unstable.
		script=/usr/share/debootstrap/scripts/$suite
		[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
		debootstrap --variant=minbase "$suite" "$tree" "$mirror" "$script" || return 1
	fi
	cp -r /etc/apt/apt.conf.d/. "$tree/etc/apt/apt.conf.d/"
	cp /etc/resolv.conf /etc/hosts "$tree/etc/" 2>/dev/null || true
	[ "$suite" = sid ] ||
		echo "deb ${mirror%/}-security $suite-security main" >"$tree/etc/apt/sources.list.d/security.list"
	# Accept a mirror that is no longer updated.
	echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/99cuckoo"
}

# in_tree FOLDER COMMAND...: runs a command in the tree, as root
in_tree()
{
	local tree=$1

	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TERM=dumb chroot "$tree" "$@" </dev/null
}
