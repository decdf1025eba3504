# shellcheck shell=bash
#
# What the scripts here share: a private copy of PostgreSQL, the other Debian
# packages they need, and throwaway servers run by an unprivileged user.
#
# Everything lives in one temporary folder.  PostgreSQL's packages are downloaded
# and unpacked there, never installed: the machine's own PostgreSQL and its
# clusters are left alone, server and headers are of one version, and nothing is
# built inside the checkout.
#
# Environment: PGVERSION=17 chooses a PostgreSQL, KEEP=1 keeps the folder, and
# CUCKOO_PACKAGES names a folder that keeps the downloaded packages for the
# next run.

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=
prefix=
child=

# What apt prints is read here.
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

installed()
{
	dpkg-query -W -f='${db:Status-Status} ${Architecture}\n' "$1" 2>/dev/null |
		grep -Eqx "installed (all|$(dpkg --print-architecture))"
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

# apt-get as root.  Interrupted, it would leave packages half installed, and
# every later run of apt-get would fail.  It therefore runs in a session of its
# own, which Ctrl-C does not reach, with signals ignored, and this script acts
# on the signal when apt-get is done.
root_apt_get()
{
	# shellcheck disable=SC2016  # for the shell that root runs
	as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 bash -c '
		trap "" INT TERM HUP QUIT
		exec flock -o /var/lib/dpkg setsid --wait apt-get -q -o DPkg::Lock::Timeout=600 "$@" </dev/null
	' bash "$@"
}

# Fresh machines have no package lists, old ones outdated lists.  Once a run.
update_package_lists()
{
	[ -z "${lists_updated:-}" ] || return 0
	lists_updated=1
	can_be_root || return 0
	echo "updating Debian's package lists"
	root_apt_get update >/dev/null 2>&1 || echo "apt-get update failed, going on with the lists at hand"
}

# Installs those of the packages that are missing.  With none missing, apt is
# not run, and no network or root is needed.  Not to be called in a subshell,
# which would not wait for apt-get after a signal.
newly_installed=()
try_packages()
{
	local package log status=0 missing=()

	for package; do
		installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0

	if ! can_be_root; then
		echo "missing ${missing[*]}: install these first, or run this as root" >&2
		return 1
	fi
	update_package_lists
	echo "installing ${missing[*]}"
	# Open, but without a name, so that a signal leaves no file behind
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

# A line about what this run has changed on the machine
say_installed()
{
	if [ ${#newly_installed[@]} = 0 ]; then
		echo "Nothing was installed on this machine."
	else
		echo "Installed on this machine, with what they depend on: ${newly_installed[*]}"
		echo "To remove them: apt-get purge --autoremove ${newly_installed[*]}"
	fi
}

# What Citus is built with, beside what builds the extension.
# shellcheck disable=SC2034  # used by the scripts
citus_packages=(bison flex libipc-run-perl perl pkg-config libicu-dev libkrb5-dev liblz4-dev libpam0g-dev
	libreadline-dev libselinux1-dev libssl-dev libxml2-dev libxslt1-dev libzstd-dev zlib1g-dev)

# --------------------------------------------------------------- PostgreSQL

# apt as it would be on a machine with nothing installed: it offers only what can
# be downloaded, and lists all that a package depends on.
bare=(-o Dir::State::status=/dev/null -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)

# The version of a package that can be downloaded, or nothing
offered()
{
	apt-cache "${bare[@]}" policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9].*\)$/\1/p'
}

# Whether server and headers of this major version are installed here, both of
# the same minor version
complete()
{
	local server headers

	server=$("/usr/lib/postgresql/$1/bin/postgres" --version 2>/dev/null | sed 's/^postgres (PostgreSQL) //')
	headers=$(sed -n 's/^#define PG_VERSION "\(.*\)"$/\1/p' "/usr/include/postgresql/$1/server/pg_config.h" 2>/dev/null)
	[ -n "$server" ] && [ "$server" = "$headers" ] && [ -e "/usr/lib/postgresql/$1/lib/pgxs/src/makefiles/pgxs.mk" ]
}

# The major versions to try: the installed ones, the newest first, and the one
# that this Debian release comes with.  The extension needs 15.
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

# Sets pgversion to the first major version that can be had.
find_postgresql()
{
	local major

	while true; do
		for major in ${PGVERSION:-$(majors)}; do
			if [ -n "$(offered "postgresql-server-dev-$major")" ] || complete "$major"; then
				pgversion=$major
				# What builds and runs the extension, and is not PostgreSQL's.
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

# offered_versions PACKAGE...: each as PACKAGE=VERSION.  The version is that of
# the first package, if the others have it, too.
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

# Downloads PostgreSQL in one version, the extension that more_postgresql names,
# and the libraries that they need and the machine lacks, into the folder $downloads.
# Sets debs to their files.
download_postgresql()
{
	local name version library libraries
	local server=() all=()
	# libpq may come with a later major version than the server's.
	local names=("postgresql-$pgversion" "postgresql-client-$pgversion" libpq5
		"postgresql-server-dev-$pgversion" libpq-dev libxxhash-dev)

	[ -z "${more_postgresql:-}" ] || names+=("$more_postgresql")
	mapfile -t all < <(offered_versions "${names[@]}")
	[ ${#all[@]} = ${#names[@]} ] || return 1
	# Of what the headers depend on, a compiler is enough.
	for name in "${all[@]}"; do
		[[ $name = *-dev* ]] || server+=("$name")
	done
	libraries=$(apt-get "${bare[@]}" -qq -s --no-install-recommends install "${server[@]}" |
		sed -n 's/^Inst \(lib[^ ]*\) (\([^ ]*\) .*/\1=\2/p') || return 1
	for library in $libraries; do
		case $library in
		libpq5=* | libperl* | *-perl=*) continue ;;
		esac
		installed "${library%%=*}" || all+=("$library")
	done

	(cd "$downloads" && apt-get "${bare[@]}" -qq download "${all[@]}") || return 1
	debs=()
	for name in "${all[@]}"; do
		version=${name#*=}
		debs+=("$(compgen -G "$downloads/${name%%=*}_${version//:/%3a}_*.deb")") || return 1
	done
}

# unpack FOLDER COMMAND...: the files of debs, by a command that runs others
unpack()
{
	local deb folder=$1

	shift
	for deb in "${debs[@]}"; do
		dpkg-deb --fsys-tarfile "$deb" | "$@" tar -C "$folder" --exclude=./usr/share/doc --exclude=./usr/share/man -xf - || return 1
	done
}

# Puts PostgreSQL into $work/prefix.  Debian's PostgreSQL finds its files relative
# to its programs, so pg_config and the servers there use that place, and so
# does make install.
make_prefix()
{
	local part

	prefix=$work/prefix/usr
	pg_config=$prefix/lib/postgresql/$pgversion/bin/pg_config
	as_user mkdir -p "$prefix/lib" "$prefix/share/postgresql" "$prefix/include"

	# Scripts that this one starts find the packages there.
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
	fi
	as_user postgres --version >"$work/log/download" 2>&1 || {
		cat "$work/log/download"
		die "PostgreSQL $pgversion does not run here; does it after apt-get upgrade?"
	}
}

# ------------------------------------------------- the folder and its user

# library_path FOLDER...: where the libraries of packages unpacked there are
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

# PostgreSQL refuses to run as root, so root hands over to the user nobody.  The
# environment starts empty: PGDATA, PGSERVICE, CFLAGS or MAKEFLAGS of the caller
# have no say here.
set_user_command()
{
	user_command=(env -i LC_ALL=C.UTF-8 "HOME=${work:-/}" "TMPDIR=${work:-/tmp}"
		"PATH=${prefix:+$prefix/lib/postgresql/$pgversion/bin:}/usr/local/bin:/usr/bin:/bin"
		"PGHOST=$work" PGUSER=postgres PGDATABASE=postgres
		"CUCKOO_TEST_LARGE=${CUCKOO_TEST_LARGE:-}" "CUCKOO_TEST_SECONDS=${CUCKOO_TEST_SECONDS:-}"
		"CUCKOO_MODEL_OPERATIONS=${CUCKOO_MODEL_OPERATIONS:-}")
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

# As as_user, but so that a signal to this script is acted upon at once: bash
# runs traps only after a foreground command has ended.  A process group of its
# own lets clean_up stop all that the command started.
as_user_interruptibly()
{
	local status=0

	set -m
	as_user "$@" </dev/null &
	child=$!
	set +m
	wait "$child" || status=$?
	child=
	return "$status"
}

# Stops the servers that were started in the folder, and removes it.
leave_running=
clean_up()
{
	local status=$? pidfile

	trap - EXIT
	trap '' INT TERM HUP
	[ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null || true
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
		# A process that is just ending may still write its last file.
		rm -rf "$work" 2>/dev/null || { sleep 1; rm -rf "$work"; }
	fi
	exit "$status"
}

# copy_checkout FOLDER [COMMAND]: this checkout without products of a build, by
# a command that runs others
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

# Makes the folder: src/ holds a copy of the checkout, which may be in a place
# that the unprivileged user can neither read nor write; prefix/ PostgreSQL; and
# run runs a command as as_user does, for those who keep the folder.
make_folder()
{
	local dir

	trap clean_up EXIT

	# Sockets have paths of at most 107 bytes, and root's TMPDIR may be closed
	# to others.
	for dir in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
		[ ${#dir} -le 60 ] || continue
		work=$(as_user mktemp -d "$dir/cuckoo.XXXXXX" 2>/dev/null) && break
	done
	[ -n "$work" ] || die "found no folder for temporary files"

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

	# The folder we were started in may be closed to the unprivileged user.
	cd "$work" || exit
}

# ------------------------------------------------------------------ servers

# A cluster without a network port; its socket is in the folder, so the port
# number cannot clash.  Nobody needs its data after a power failure.
make_cluster()
{
	as_user initdb -D "$work/data" -U postgres -A trust -N --no-instructions \
		--encoding=UTF8 --locale=C.UTF-8 >"$work/log/initdb" 2>&1 ||
		{ cat "$work/log/initdb"; die "initdb failed"; }
	as_user tee -a "$work/data/postgresql.conf" >/dev/null <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$work'
		fsync = off
		synchronous_commit = off
		full_page_writes = off
		max_wal_size = 4GB
		shared_buffers = 128MB
	CONF
}

# run_server [COMMAND...]: starts it, by a command such as env VARIABLE=VALUE
# pg_ctl or pg_ctl -p PROGRAM
run_server()
{
	[ $# -gt 0 ] || set -- pg_ctl
	as_user "$@" -D "$work/data" -l "$work/data/log" -w start >"$work/log/start" 2>&1 ||
		{ cat "$work/log/start" "$work/data/log"; die "the server did not start"; }
}

stop_server()
{
	as_user pg_ctl -D "$work/data" -m fast -t 300 -w stop >"$work/log/stop" 2>&1 ||
		{ cat "$work/log/stop"; die "the server did not stop"; }
}

start_server()
{
	make_cluster
	run_server
}

# --------------------------------------------------------------- sanitizers

# build_sanitized FLAG...: builds and installs the extension, with these flags,
# AddressSanitizer and UndefinedBehaviorSanitizer.  What is found ends the process.
build_sanitized()
{
	as_user_interruptibly make -s -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" CC=gcc with_llvm=no \
		COPT="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g $*" \
		all install >"$work/log/build" 2>&1 || { head -n 50 "$work/log/build"; die "the build failed"; }
}

# A server that loads the sanitizers' libraries first.  Translations of messages
# are left out: with AddressSanitizer loaded first, glibc waits for ever for a
# lock in bindtextdomain.
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
		ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1 \
		pg_ctl

	# That they are there at all: the server's maps name them.
	loaded=$(as_user psql -XqAtc "SELECT maps ~ 'libasan' AND maps ~ 'libubsan' FROM pg_read_file('/proc/' || pg_backend_pid() || '/maps') AS maps") || loaded=unknown
	[ "$loaded" = t ] || die "the server runs without the sanitizers"
}

# What they have reported, as a number of lines or with -A 40 to be read
sanitizer_reports()
{
	grep -E "$@" 'ERROR: AddressSanitizer|runtime error:|cuckoofilter made is not valid' "$work/data/log" || true
}

# ---------------------------------------------------- trees of Debian releases

# The archive that this machine gets its own packages from
debian_mirror()
{
	local mirror

	mirror=$(apt-cache policy | sed -n 's/^ *[0-9]* \([a-z]*:[^ ]*\) .*main.* Packages$/\1/p' |
		grep -E '/debian/?$' | head -n 1)
	[ -n "$mirror" ] || die "apt knows no archive of Debian"
	echo "$mirror"
}

# make_tree FOLDER SUITE: a minimal Debian there, unless there is one already,
# that reaches the archive as this machine does
make_tree()
{
	local tree=$1 suite=$2 script mirror

	if [ ! -x "$tree/usr/bin/apt-get" ]; then
		rm -rf "$tree"
		# A release newer than this machine's debootstrap is made like unstable.
		script=/usr/share/debootstrap/scripts/$suite
		[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
		mirror=$(debian_mirror) || return 1
		debootstrap --variant=minbase "$suite" "$tree" "$mirror" "$script" || return 1
	fi
	cp -r /etc/apt/apt.conf.d/. "$tree/etc/apt/apt.conf.d/"
	cp /etc/resolv.conf /etc/hosts "$tree/etc/" 2>/dev/null || true
	# A mirror that is not updated any more has packages all the same.
	echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/99cuckoo"
}

# in_tree FOLDER COMMAND...: as root
in_tree()
{
	local tree=$1

	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root TERM=dumb chroot "$tree" "$@" </dev/null
}
