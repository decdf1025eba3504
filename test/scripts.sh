#!/usr/bin/env bash
#
# Tests the scripts themselves: their help, the ways to start them, their
# messages if something is missing, that a signal does not interrupt apt-get, and
# what test/run.sh says of steps that fail.
#
# Installs nothing: apt-get, apt-cache and sudo are stand-ins, and so are the
# steps.  The last line is
# "N passed, N failed".
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# The stand-ins remove their folders, and have no packages.
unset KEEP CUCKOO_DEBS

passed=0
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$folder in"' EXIT

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
	until [ -e "$STAND_IN.sent" ]; do sleep 0.1; done
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
	rm -f "$STAND_IN.sent"
	set -m
	# shellcheck disable=SC2016  # for that shell
	TMPDIR=$folder/tmp PATH=$folder/bin:$PATH env --default-signal=INT,TERM,HUP bash -c '. "$1"; try_packages cuckoo-no-such-package; echo went on >>"$STAND_IN"' \
		bash "$root/test/lib.sh" &
	script=$!
	set +m
	until [ -s "$STAND_IN" ]; do sleep 0.1; done
	kill "-$1" -- "-$script"
	touch "$STAND_IN.sent"
	wait "$script" || status=$?
	cat "$STAND_IN"
	ls "$folder/tmp"
	[ "$status" = "$2" ] && [ -z "$(ls "$folder/tmp")" ] && [ "$(paste -sd' ' "$STAND_IN")" = "begun ended" ]
}

# folder_without_space TMPDIR: where scripts work if TMPDIR has a space.  It is
# not in this script's folder, which other users cannot read.
folder_without_space()
{
	mkdir -m 777 "$1"
	# shellcheck disable=SC2016  # for that shell
	TMPDIR=$1 bash -c '. "$1"; copy_checkout() { :; }; make_prefix() { :; }; make_folder; echo "$work"; [[ "$work" != *" "* ]]' bash "$root/test/lib.sh"
}

# Steps that are stand-ins.  With one processor, two run at a time: "slow" beside
# all others.
cat >"$folder/steps" <<-'SH'
	set -euo pipefail
	. "$1/test/lib.sh"
	. "$1/test/steps.sh"
	work=$2
	mkdir "$work"
	trap clean_up EXIT
	after_build=(after)
	run_build() { finish build 1 0; }
	run_slow() { until grep -q left_out "$work/../said"; do sleep 0.1; done; finish slow 10 0 "a note"; }
	run_fails() { mkdir "$work/log"; seq 300 >"$work/log/fails"; finish fails 100 2; echo "    why"; echo "    and where"; }
	run_ends() { echo "    said before"; false; finish ends 1000 0; }
	run_killed() { kill -KILL "$BASHPID"; }
	run_after() { finish after 10000 0; }
	run_summary() { mkdir -p "$work/log"; printf '# note: kept\n100000 passed, 0 failed\nkept: folder\n' >"$work/log/summary"; finish_summary summary 0; }
	run_left_out() { skip left_out "not run"; }
	run_waits() { interruptibly sh -c 'echo $$ >>"$0"; sleep 60; exit' "$STAND_IN"; finish waits 1 0; }
	run_waits_too() { run_waits; }
	shift 2
	run_steps "$@"
	echo "$total_passed passed, $total_failed failed"
SH

# steps_say WANTED STEP...: what steps print, without the seconds
steps_say()
{
	local wanted=$1

	shift
	OMP_NUM_THREADS=1 bash "$folder/steps" "$root" "$folder/work" "$@" >"$folder/said" 2>&1 || true
	sed -E '/ Killed /d; s/ +[0-9]+\.[0-9] s +/ /; s/ +/ /g; s/ $//' "$folder/said" | diff - <(echo "$wanted")
}

# interrupted_steps: a signal to the script ends the steps and their children
interrupted_steps()
{
	local script status=0 id

	: >"$STAND_IN"
	set -m
	env --default-signal=INT,TERM,HUP bash "$folder/steps" "$root" "$folder/work" waits waits_too &
	script=$!
	set +m
	until [ "$(wc -l <"$STAND_IN")" = 2 ]; do sleep 0.1; done
	kill -TERM "$script"
	wait "$script" || status=$?
	while read -r id; do
		! kill -0 "$id" || return 1
	done <"$STAND_IN"
	[ "$status" = 143 ] && [ ! -e "$folder/work" ]
}

for script in "$root"/test/*.sh "$root"/test/*/*.sh; do
	case ${script#"$root/test/"} in
	lib.sh | steps.sh) ;;
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
check "a TMPDIR with a space" folder_without_space "$folder in"
check "steps side by side" steps_say "build 1 passed 0 failed
fails 100 passed 2 failed
$(seq -f ' %g' 100; echo ' ...'; seq -f ' %g' 201 300)
 why
 and where
ends 0 passed 1 failed did not run to its end
 said before
killed 0 passed 1 failed did not run to its end
after 10000 passed 0 failed
summary 100000 passed 0 failed kept
left_out not run
slow 10 passed 0 failed a note
110111 passed, 4 failed" build slow fails ends killed after summary left_out
check "SIGTERM while steps run" interrupted_steps

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
