# shellcheck shell=bash disable=SC2034,SC2154  # variables of run.sh and lib.sh
#
# Steps side by side, for run.sh.  The function run_NAME runs the step NAME in a
# process of its own, and what it prints is kept until it ends, so that steps do
# not mix their lines.

total_passed=0
total_failed=0

# finish NAME PASSED FAILED [NOTE]: prints the line of a step and, if a test
# failed, its log: the beginning and the end of a long one
finish()
{
	echo "$2 $3" >"$work/result/$1"
	printf '%-10s %5d passed %5d failed %7.1f s  %s\n' "$1" "$2" "$3" "$(seconds_since "$started")" "${4:-}"
	[ "$3" = 0 ] || awk '{ line[NR] = $0 }
		END { for (i = 1; i <= NR; i++) if (i <= 100 || i > NR - 100) print "    " line[i]; else if (i == 101) print "    ..." }' "$work/log/$1" 2>/dev/null || true
}

skip()
{
	printf '%-10s %s\n' "$1" "$2"
}

# finish_summary NAME STATUS: a step whose log ends with "N passed, N failed", or
# with "not run: " and the reason, perhaps before what KEEP=1 prints.  A line
# before can begin with "# note: ".
finish_summary()
{
	local log=$work/log/$1 passed=0 failed=1 line

	line=$(grep -E '^([0-9]+ passed, [0-9]+ failed$|not run: )' "$log" | tail -n 1) || true
	if [[ "$line" == "not run: "* ]]; then
		skip "$1" "$line"
		return
	fi
	[ -z "$line" ] || read -r passed _ failed _ <<<"$line"
	[ "$2" = 0 ] || [ "$failed" != 0 ] || failed=1
	finish "$1" "$passed" "$failed" "$(sed -n 's/^# note: //p' "$log")"
}

seconds_since()
{
	awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { print to - from }'
}

# By the id of its process, the name of a step that runs, and when it began
declare -A running=()

begin()
{
	local step=$1 started

	mkdir -p "$work/result"
	started=$(date +%s.%N)
	# With a process group of its own, which stop_children needs
	set -m
	step_process "$step" >"$work/result/$step.output" 2>&1 </dev/null &
	set +m
	running[$!]="$step $started"
	children=("${!running[@]}")
}

step_process()
{
	children=()
	trap stop_children EXIT
	trap 'exit 143' INT TERM HUP
	"run_$1"
}

# Waits until a step has ended, prints what it printed, and adds up.  A step
# whose process fails without a failed test has not run to its end.
end_one()
{
	local pid='' step started passed=0 failed=0 status=0

	wait -n -p pid "${!running[@]}" 2>/dev/null || status=$?
	if [ -z "${pid:-}" ]; then
		# Bash has already taken one that has ended out of its list of jobs.
		for pid in "${!running[@]}"; do kill -0 "$pid" 2>/dev/null || break; done
		status=0
		wait "$pid" || status=$?
	fi
	read -r step started <<<"${running[$pid]}"
	unset "running[$pid]"
	children=("${!running[@]}")
	[ ! -e "$work/result/$step" ] || read -r passed failed <"$work/result/$step"
	if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
		failed=1
		finish "$step" "$passed" "$failed" "did not run to its end"
	fi
	cat "$work/result/$step.output"
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	[ "$step" != build ] || built=$passed
}

# run_steps STEP...: starts them in this order, as many at a time as there are
# processors, but at least two, because many steps use only one, or wait.  Those
# in after_build need the step build, and coverage counts what all others did.
# Those that have begun already are not started again.
built=
run_steps()
{
	local step room

	room=$(nproc)
	[ "$room" -ge 2 ] || room=2
	for step; do
		[ ! -e "$work/result/$step.output" ] || continue
		if [[ " ${after_build[*]} " == *" $step "* ]]; then
			while [ -z "$built" ]; do end_one; done
			[ "$built" = 1 ] || { skip "$step" "not run: the build failed"; continue; }
		fi
		[ "$step" != coverage ] || room=1
		while [ ${#running[@]} -ge "$room" ]; do end_one; done
		begin "$step"
	done
	while [ ${#running[@]} -gt 0 ]; do end_one; done
}
