# shellcheck shell=bash
#
# Functions for the scripts in this folder: Debian packages, a private copy of
# PostgreSQL, and temporary servers that an unprivileged user runs.
#
# Everything is in one temporary folder, $work.  prefix/ has PostgreSQL, whose
# packages are downloaded and unpacked there but never installed, so the
# machine's own PostgreSQL and its clusters are left alone.  src/ is a copy of
# the checkout, which the unprivileged user may be unable to read or write.
# docs/testing.md explains the variables of the environment.

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work='' src='' prefix='' pg_config='' cluster=''
# The functions below read the output of apt, so it must not be translated.
export LC_ALL=C.UTF-8

die() {
	echo "error: $*" >&2
	exit 1
}

# The comment at the head of each script is its help.
if [[ ${1:-} =~ ^(-h|--help)$ ]]; then
	sed -n '3,/^$/ s/^#\( \|$\)//p' "$0"
	exit
fi

# ---------------------------------------------------------------- packages

installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -x installed >/dev/null; }

sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo)
can_be_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }

# Runs apt-get in a session of its own, which Ctrl-C does not reach, because
# interrupted it would leave packages half installed.  Bash acts on a signal
# when apt-get has ended.
root_apt_get() {
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
		setsid --wait apt-get -q -o DPkg::Lock::Timeout=600 "$@" </dev/null
}

# Updates the package lists, once per run: new machines have none, and those of
# old machines are outdated.
update_package_lists() {
	[ -z "${lists_updated:-}" ] && can_be_root || return 0
	lists_updated=1
	echo "updating Debian's package lists"
	root_apt_get update >/dev/null 2>&1 || echo "apt-get update failed, going on with the lists at hand"
}

# Installs the packages that are missing, except those that apt does not offer:
# not every architecture has every cross compiler.  If none is missing, this
# needs neither root nor a network.
newly_installed=()
need_packages() {
	local package log missing=()

	for package; do
		installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	update_package_lists
	mapfile -t missing < <(apt-cache policy "${missing[@]}" | awk '
		/^[^ ]/ { name = substr($1, 1, length($1) - 1) }
		$1 == "Candidate:" && $2 != "(none)" { print name }')
	[ ${#missing[@]} -gt 0 ] || return 0
	can_be_root || die "missing ${missing[*]}: install these first, or run this as root"
	echo "installing ${missing[*]}"
	log=$(root_apt_get -y --no-upgrade --no-install-recommends install "${missing[@]}" 2>&1) ||
		{ tail -n 30 <<<"$log"; die "could not install ${missing[*]}"; }
	newly_installed+=("${missing[@]}")
}

say_installed() {
	[ ${#newly_installed[@]} = 0 ] || echo "Installed on this machine, with what they depend on: ${newly_installed[*]}
To remove them: apt-get purge --autoremove ${newly_installed[*]}"
}

# --------------------------------------------------------------- PostgreSQL

# What the extension needs besides PostgreSQL
# shellcheck disable=SC2034  # used by the scripts
packages=(gcc libc6-dev make tzdata)

# Sets pgversion to a major version: PGVERSION, or that of the Debian release.
find_postgresql() {
	pgversion=${PGVERSION:-$(default_version)}
	[ -n "$pgversion" ] || { update_package_lists; pgversion=$(default_version); }
	[ -n "$pgversion" ] || die "apt knows no package postgresql"
}

default_version() {
	apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' || true
}

# Options that make apt act as if nothing were installed.  It then lists all that
# a package needs.
bare=(-o Dir::State::status=/dev/null -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)

# download_postgresql FOLDER [APT-OPTION...]: downloads the packages of the
# server, the headers and more_postgresql into the folder, with those of the
# libraries that they need and this machine does not have, and sets debs to the
# files.  APT-OPTIONs are for another architecture, of which this machine has
# no libraries.
more_postgresql=()
download_postgresql() {
	local folder=$1 version name library libraries names=() headers=()
	local bare=("${bare[@]}" "${@:2}")

	version=$(apt-cache "${bare[@]}" policy "postgresql-$pgversion" | sed -n 's/^ *Candidate: \([0-9].*\)$/\1/p')
	[ -n "$version" ] || return 1
	for name in "postgresql-$pgversion" "postgresql-client-$pgversion" libpq5 "${more_postgresql[@]}" \
		"postgresql-server-dev-$pgversion" libpq-dev libxxhash-dev; do
		# apt may prefer another version of some of them, from another release.
		[ -z "$(apt-cache "${bare[@]}" show "$name=$version" 2>/dev/null)" ] || name=$name=$version
		# The headers depend on many packages, but a compiler is enough here.
		[[ $name = *-dev* ]] && headers+=("$name") || names+=("$name")
	done
	libraries=$(apt-get "${bare[@]}" -qq -s --no-install-recommends install "${names[@]}") || return 1
	libraries=$(sed -nE '/^Inst (libpq5|libperl|.*-perl) /d; s/^Inst ((lib|zlib)[^ ]*) \(([^ ]*) .*/\1=\3/p' <<<"$libraries")
	for library in $libraries; do
		[ $# = 1 ] && installed "${library%%=*}" || names+=("$library")
	done
	names+=("${headers[@]}")
	# In a folder without them, because it names only files that are not there.
	mapfile -t debs < <(cd "$work" && apt-get "${bare[@]}" -qq --print-uris download "${names[@]}" | awk '{ print $2 }')
	debs=("${debs[@]/#/$folder/}")
	(cd "$folder" && apt-get "${bare[@]}" -qq download "${names[@]}") && [ ${#debs[@]} = ${#names[@]} ]
}

# unpack FOLDER: unpacks the files of debs there
unpack() {
	local deb

	for deb in "${debs[@]}"; do
		dpkg-deb --fsys-tarfile "$deb" | as_user tar -C "$1" --exclude=./usr/share/{doc,man} -xf - || return 1
	done
}

# use_prefix FOLDER: what follows uses the PostgreSQL there.  Debian's finds its
# files relative to its programs, so pg_config, the server and make install use
# this folder.
use_prefix() {
	prefix=$1
	pg_config=$prefix/usr/lib/postgresql/$pgversion/bin/pg_config
}

# Puts PostgreSQL into $work/prefix.
make_prefix() {
	local part

	downloads=${CUCKOO_PACKAGES:-$work/packages}
	mkdir -p "$downloads"
	downloads=$(realpath "$downloads")
	if download_postgresql "$downloads" >"$work/log/download" 2>&1 ||
		{ update_package_lists; download_postgresql "$downloads" >"$work/log/download" 2>&1; }; then
		unpack "$work/prefix" || die "could not unpack PostgreSQL's packages"
	else
		tail -n 5 "$work/log/download"
		[ -e "/usr/lib/postgresql/$pgversion/lib/pgxs" ] ||
			die "could not download PostgreSQL $pgversion, and its server and headers are not installed"
		echo "could not download PostgreSQL $pgversion, using a copy of the installed one"
		for part in lib share include; do
			as_user mkdir -p "$work/prefix/usr/$part/postgresql"
			as_user cp -R "/usr/$part/postgresql/$pgversion" "$work/prefix/usr/$part/postgresql/"
		done
		need_packages libxxhash-dev
	fi
	use_prefix "$work/prefix"
	as_user postgres --version >/dev/null || die "PostgreSQL $pgversion does not run here; does it after apt-get upgrade?"
}

# ------------------------------------------------- the folder and its user

# Sets user_command, which runs a command as the unprivileged user.  PostgreSQL
# refuses to run as root, so root uses the user nobody.  The environment starts
# empty, so that PGDATA, CFLAGS or MAKEFLAGS of the caller have no effect.
set_user_command() {
	local variable libraries

	printf -v libraries '%s:' "$prefix"/{usr/,}lib/*-linux-*
	user_command=(env -i LC_ALL=C.UTF-8 "HOME=${work:-/}" "TMPDIR=${work:-/tmp}"
		"PATH=${pg_config:+${pg_config%/*}:}/usr/local/bin:/usr/bin:/bin"
		"C_INCLUDE_PATH=$prefix/usr/include" "LD_LIBRARY_PATH=${libraries%:}"
		"PGHOST=$cluster" PGUSER=postgres PGDATABASE=postgres PG_TEST_TIMEOUT_DEFAULT=900 PGCTLTIMEOUT=600)
	for variable in "${!CUCKOO_@}"; do
		user_command+=("$variable=${!variable}")
	done
	[ "$(id -u)" != 0 ] ||
		user_command=(setpriv --reuid=nobody --regid=nogroup --clear-groups -- "${user_command[@]}")
}

as_user() { set_user_command && "${user_command[@]}" "$@"; }

# start COMMAND...: runs a command in the background, in a process group of its
# own, so that clean_up can stop all that it has started
start() {
	set -m
	"$@" </dev/null &
	set +m
}

# interruptibly COMMAND...: the same, and waits for it.  (Bash acts on a signal
# at once if it waits, but not while a command runs in the foreground.)
interruptibly() {
	start "$@"
	wait $!
}

# Ends what runs in the background, and waits until it has ended.
end_jobs() {
	local groups signal

	mapfile -t groups < <(jobs -rp | sed 's/^/-/')
	for signal in TERM KILL; do
		for _ in {1..100}; do
			[ ${#groups[@]} -gt 0 ] && kill -"$signal" -- "${groups[@]}" 2>/dev/null || return 0
			signal=0
			sleep 0.1
		done
	done
}

# stop_servers FOLDER MODE: stops all servers whose data is in this folder
stop_servers() {
	local pidfile

	find "$1" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
		as_user pg_ctl -D "${pidfile%/*}" -m "$2" -w stop >/dev/null 2>&1 || true
	done
}

# Stops what runs, and removes the folder.
leave_running=
clean_up() {
	local status=$?

	trap - EXIT
	trap '' INT TERM HUP
	end_jobs
	cd /
	[ -n "$leave_running" ] || stop_servers "$work" immediate
	if [ -n "${KEEP:-}" ]; then echo "kept: $work"; else rm -rf "$work"; fi
	exit "$status"
}

trap 'exit 130' INT
trap 'exit 143' TERM HUP

# copy_checkout FOLDER [COMMAND]: copies this checkout without build products.
# COMMAND, such as as_user, makes the folder and runs tar.
copy_checkout() {
	"${@:2}" mkdir -p "$1"
	tar -C "$root" --exclude=./.git --exclude-from="$root/.gitignore" -cf - . | "${@:2}" tar -C "$1" -xf -
}

# Makes the temporary folder.  Its script run does the same as as_user, for use
# with a kept folder.
make_folder() {
	local dir

	# The path of a socket has at most 107 bytes, other users may have no access
	# to root's TMPDIR, make does not build in a folder with a space, and /tmp
	# can be in memory, but the tests need 2 GB.
	for dir in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
		if [ -z "$work" ] && [[ ${#dir} -le 50 && "$dir" != *[[:space:]]* ]] &&
			[ "$(df -m --output=avail "$dir" | tail -n 1)" -ge 3000 ]; then
			work=$(as_user mktemp -d "$dir/cuckoo.XXXXXX" 2>/dev/null) || true
		fi
	done
	[ -n "$work" ] || die "found no folder with 3 GB for temporary files"
	trap clean_up EXIT

	cluster=$work
	src=$work/src
	as_user mkdir "$work/log" "$work/prefix"
	copy_checkout "$src" as_user
	make_prefix

	set_user_command
	# shellcheck disable=SC2016  # for that script
	{ printf '#!/bin/bash\n'; printf '%q ' exec "${user_command[@]}"; echo '"TERM=${TERM:-dumb}" "$@"'; } >"$work/run"
	chmod a+rx "$work/run"
	# The unprivileged user may have no access to the current folder.
	cd "$work" || exit
}

# --------------------------------------------- the extension and its servers

# build_extension MAKE-ARGUMENT...: builds and installs the extension
build_extension() {
	{ as_user make -s -C "$src" -j"$(nproc)" PG_CONFIG="$pg_config" "$@" all &&
		as_user make -s -C "$src" PG_CONFIG="$pg_config" "$@" install; } >"$cluster/build.log" 2>&1 ||
		{ head -n 100 "$cluster/build.log"; die "the build failed"; }
}

# own_build FOLDER MAKE-ARGUMENT...: the same in this folder, with a copy of the
# checkout and one of PostgreSQL, which what follows uses
own_build() {
	src=$1/src
	copy_checkout "$src" as_user
	as_user cp -al "$work/prefix" "$1/prefix"
	use_prefix "$1/prefix"
	build_extension "${@:2}"
}

# Makes a cluster in the folder $cluster, without a network port.  Its socket is
# in that folder, so its port number cannot be in use already.  It does not sync
# files, because nobody needs its data after a power failure.  $initdb can be
# another program than that in the path.
make_cluster() {
	as_user "${initdb:-initdb}" -D "$cluster/data" -U postgres -A trust -N -k --no-instructions \
		--encoding=UTF8 --locale=C.UTF-8 >"$cluster/initdb.log" 2>&1 ||
		{ cat "$cluster/initdb.log"; die "initdb failed"; }
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
run_server() {
	[ $# -gt 0 ] || set -- pg_ctl
	as_user "$@" -D "$cluster/data" -l "$cluster/data/log" -w start >"$cluster/start.log" 2>&1 ||
		{ cat "$cluster/start.log" "$cluster/data/log"; die "the server did not start"; }
}

start_server() { make_cluster && run_server; }
