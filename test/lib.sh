# shellcheck shell=bash
#
# What run.sh and demo.sh share: the Debian packages they need, a private copy
# of PostgreSQL to install into, and throwaway servers run by an unprivileged
# user.  Everything lives in one temporary folder; the system's PostgreSQL and
# its clusters are left alone, and nothing is built inside the checkout.
#
# Environment: PGVERSION=17 chooses a PostgreSQL, KEEP=1 keeps the folder.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=
prefix=
child=

die()
{
	echo "error: $*" >&2
	exit 1
}

# ---------------------------------------------------------------- packages

installed()
{
	dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

available()
{
	installed "$1" || apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# Fresh machines have no package lists, old ones outdated lists.  Once a run.
update_package_lists()
{
	[ -z "${lists_updated:-}" ] || return 0
	lists_updated=1
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		return 0
	fi
	echo "updating Debian's package lists"
	as_root apt-get update -qq >/dev/null || echo "apt-get update failed, going on with the lists at hand"
}

# The PostgreSQL to use: the newest one with server and headers installed,
# otherwise the one that this Debian release comes with.
find_postgresql()
{
	local dir

	pgversion=${PGVERSION:-}
	if [ -z "$pgversion" ]; then
		for dir in $(printf '%s\n' /usr/lib/postgresql/* | sort -V); do
			if [ -x "$dir/bin/postgres" ] && [ -e "$dir/lib/pgxs/src/makefiles/pgxs.mk" ]; then
				pgversion=${dir##*/}
			fi
		done
	fi
	if [ -z "$pgversion" ]; then
		available postgresql || update_package_lists
		pgversion=$(apt-cache depends postgresql 2>/dev/null |
			sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)
	fi
	[ -n "$pgversion" ] || die "found no PostgreSQL: is this a Debian machine?"

	# What builds and runs the extension.
	# shellcheck disable=SC2034  # used by run.sh and demo.sh
	packages=(gcc libc6-dev make libxxhash-dev "postgresql-$pgversion" "postgresql-server-dev-$pgversion")
}

# Runs as root, in a shell of its own, which ends with it.  Debian's server package creates a
# cluster, and starts it and every other one that is down.  The first is turned
# off by a setting of Debian's, the second by policy-rc.d, its hook for
# administrators.  Both are put back, also after an interruption.
#
# shellcheck disable=SC2317,SC2329  # called through declare -f
install_quietly()
{
	config=/etc/postgresql-common/createcluster.conf
	settings=/etc/postgresql-common/createcluster.d
	policy=/usr/sbin/policy-rc.d
	apt=(apt-get -y -q -o DPkg::Lock::Timeout=600 --no-upgrade --no-install-recommends install)

	exec 9>/run/lock/cuckoo-packages
	flock 9
	export DEBIAN_FRONTEND=noninteractive

	# An upgrade would restart servers that run.
	if "${apt[@]}" -s "$@" | grep -E '^Inst postgresql-[0-9]+ \['; then
		echo "error: installing $* would upgrade the installed PostgreSQL server: upgrade that one first" >&2
		return 1
	fi
	# The setting goes into a folder that this file has to include.
	if [[ " $* " =~ " postgresql-"[0-9]+" " ]] && [ -e "$config" ] && ! grep -q '^include_dir' "$config"; then
		echo "error: without include_dir in $config the server package would create a cluster: install $* yourself" >&2
		return 1
	fi

	put_back()
	{
		rm -f "$log" "$settings/zz-cuckoo.conf" "$policy"
		[ ! -e "$policy.cuckoo-saved" ] || mv "$policy.cuckoo-saved" "$policy"
		[ -n "$had_settings" ] || rmdir --ignore-fail-on-non-empty "$settings"
	}
	log=$(mktemp)
	had_settings=
	[ ! -d "$settings" ] || had_settings=1
	trap put_back EXIT
	trap 'exit 1' INT TERM HUP

	mkdir -p "$settings"
	echo "create_main_cluster = false" >"$settings/zz-cuckoo.conf"
	[ ! -e "$policy" ] || [ -e "$policy.cuckoo-saved" ] || mv "$policy" "$policy.cuckoo-saved"
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"

	if ! "${apt[@]}" "$@" >"$log" 2>&1 </dev/null; then
		tail -n 30 "$log" >&2
		return 1
	fi
}

# Installs those of the packages that are missing.  With none missing, apt is
# not run, and no network or root is needed.
need_packages()
{
	local package missing=()

	for package; do
		installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0

	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		die "missing ${missing[*]}: install these first, or run this as root"
	fi
	update_package_lists
	echo "installing ${missing[*]}"
	as_root bash -c "set -euo pipefail; $(declare -f install_quietly); install_quietly \"\$@\"" bash "${missing[@]}" ||
		die "could not install ${missing[*]}"
}

# ------------------------------------------------- the folder and its user

# PostgreSQL refuses to run as root, so root hands over to the user of Debian's
# PostgreSQL packages.  The environment starts empty: PGDATA, PGSERVICE, CFLAGS
# or MAKEFLAGS of the caller have no say here.
as_user()
{
	local run=(env -i LC_ALL=C.UTF-8 "HOME=${work:-/}" "TMPDIR=${work:-/tmp}"
		"PATH=${prefix:+$prefix/lib/postgresql/$pgversion/bin:}/usr/local/bin:/usr/bin:/bin"
		"PGHOST=$work" PGUSER=postgres PGDATABASE=postgres
		"CUCKOO_TEST_LARGE=${CUCKOO_TEST_LARGE:-}")

	if [ "$(id -u)" = 0 ]; then
		run=(setpriv --reuid=postgres --regid=postgres --init-groups -- "${run[@]}")
	fi
	"${run[@]}" "$@"
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
clean_up()
{
	local status=$? pidfile

	trap - EXIT
	trap '' INT TERM HUP
	[ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null || true
	[ -n "$work" ] || exit "$status"
	cd /
	find "$work" -name postmaster.pid 2>/dev/null | while read -r pidfile; do
		as_user pg_ctl -D "${pidfile%/*}" -m immediate -w stop >/dev/null 2>&1 || true
	done
	if [ -n "${KEEP:-}" ]; then
		echo "kept: $work"
	else
		# A process that is just ending may still write its last file.
		rm -rf "$work" 2>/dev/null || { sleep 1; rm -rf "$work"; }
	fi
	exit "$status"
}

# Makes the folder: src/ holds a copy of the checkout, which may be in a place
# that the unprivileged user can neither read nor write; prefix/ a copy of
# PostgreSQL.  Debian's PostgreSQL finds its files relative to its programs, so
# the copy's pg_config and servers use the copy, and so does make install.
make_folder()
{
	local dir part

	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP

	# Sockets have paths of at most 107 bytes, and root's TMPDIR may be closed
	# to others.
	for dir in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
		[ ${#dir} -le 60 ] || continue
		work=$(as_user mktemp -d "$dir/cuckoo.XXXXXX" 2>/dev/null) && break
	done
	[ -n "$work" ] || die "found no folder for temporary files"

	as_user mkdir "$work/src" "$work/log" "$work/prefix"
	tar -C "$root" --exclude=./.git --exclude-from="$root/.gitignore" -cf - . | as_user tar -C "$work/src" -xf -

	prefix=$work/prefix
	for part in lib share; do
		as_user mkdir -p "$prefix/$part/postgresql"
		as_user cp -R "/usr/$part/postgresql/$pgversion" "$prefix/$part/postgresql/"
	done
	as_user ln -s /usr/include "$prefix/include"
	# shellcheck disable=SC2034  # used by run.sh and demo.sh
	pg_config=$prefix/lib/postgresql/$pgversion/bin/pg_config

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
