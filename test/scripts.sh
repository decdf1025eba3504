#!/usr/bin/env bash
#
# Tests the scripts themselves: their help, the ways to start them, their
# messages if something is missing, and that a signal does not interrupt
# apt-get.
#
# Installs nothing: apt-get, apt-cache and sudo are stand-ins.  The last line is
# "N passed, N failed".
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

passed=0
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# check NAME COMMAND...
check()
{
	local name=$1

	shift
	if "$@" >"$folder/output" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name"
		sed 's/^/    /' "$folder/output"
	fi
}

mkdir "$folder/bin" "$folder/tmp"
cat >"$folder/bin/apt-get" <<-'SH'
	#!/bin/sh
	case "$*" in
	*cuckoo-no-such-package*) ;;
	*cuckoo-broken-package*) echo "E: it is broken"; exit 100 ;;
	*) exit 0 ;;
	esac
	echo begun >>"$STAND_IN"
	sleep 1
	echo ended >>"$STAND_IN"
SH
printf '#!/bin/sh\n' >"$folder/bin/apt-cache"
# shellcheck disable=SC2016  # for the stand-in
printf '#!/bin/sh\nexec "$@"\n' >"$folder/bin/sudo"
chmod +x "$folder"/bin/*
export STAND_IN=$folder/log

# Started by sh, through a link in another folder, which is the working
# directory
help_of()
{
	ln -sf "$1" "$folder/link"
	(cd "$folder" && sh ./link --help) >"$folder/help" 2>&1 || return 1
	cat "$folder/help"
	[ "$(head -n 1 "$folder/help")" = "$(sed -n '3s/^# //p' "$1")" ] &&
		! grep -Eq 'shellcheck|BASH_VERSION|^#' "$folder/help"
}

# says STATUS MESSAGE COMMAND...
says()
{
	local status=0 wanted=$1 message=$2

	shift 2
	PATH=$folder/bin:$PATH "$@" >"$folder/said" 2>&1 || status=$?
	cat "$folder/said"
	[ "$status" = "$wanted" ] && grep -Fq -- "$message" "$folder/said"
}

# interrupted SIGNAL STATUS: sends a signal to a script that installs a package,
# and to its whole process group, as Ctrl-C does.  The program that starts the
# tests may ignore signals, which a shell could then not trap, so the script is
# started with none ignored.
interrupted()
{
	local script status=0

	: >"$STAND_IN"
	set -m
	# shellcheck disable=SC2016  # for that shell
	TMPDIR=$folder/tmp PATH=$folder/bin:$PATH env --default-signal=INT,TERM,HUP bash -c '. "$1"; try_packages cuckoo-no-such-package; echo went on >>"$STAND_IN"' \
		bash "$root/test/lib.sh" &
	script=$!
	set +m
	until [ -s "$STAND_IN" ]; do sleep 0.1; done
	kill "-$1" -- "-$script"
	wait "$script" || status=$?
	cat "$STAND_IN"
	ls "$folder/tmp"
	[ "$status" = "$2" ] && [ -z "$(ls "$folder/tmp")" ] && [ "$(paste -sd' ' "$STAND_IN")" = "begun ended" ]
}

for script in "$root"/test/*.sh "$root"/test/*/*.sh; do
	case ${script#"$root/test/"} in
	lib.sh | bench/sql.sh | bench/follow.sh) ;;
	*) check "help of ${script#"$root/"}" help_of "$script" ;;
	esac
done
check "a step that does not exist" says 1 "no step is called nonsense" "$root/test/run.sh" nonsense
check "a compiler that is not supported" says 1 "not tcc" env COMPILER=tcc "$root/test/run.sh" build
check "an argument of the demo" says 1 "unexpected argument: nonsense" "$root/test/demo.sh" nonsense
check "no source of Citus" says 1 "give the source of Citus" "$root/test/citus.sh"
check "a source of Citus that does not exist" says 1 "there is no $folder/nonsense" "$root/test/citus.sh" "$folder/nonsense"
check "a folder without a source of Citus" says 1 "nor holds one tarball" "$root/test/citus.sh" "$folder/tmp"
check "a PostgreSQL that does not exist" says 1 "found no PostgreSQL 99" env PGVERSION=99 "$root/test/run.sh" build
# shellcheck disable=SC2016  # for that shell
check "a package that cannot be installed" says 1 "E: it is broken" \
	bash -c '. "$1"; need_packages cuckoo-broken-package' bash "$root/test/lib.sh"
check "Ctrl-C while apt-get works" interrupted INT 130
check "SIGTERM while apt-get works" interrupted TERM 143
check "SIGHUP while apt-get works" interrupted HUP 143

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
