#!/usr/bin/env bash
#
# Runs the tests: test/run.sh for all, test/run.sh NAME... for some steps, which
# docs/testing.md explains.  Each is a function in steps.sh.
#
# As many steps run side by side as there are processors, but at least two.  A
# step prints its line when it has ended, and if it failed, its log.  The last
# line is "N passed, N failed".  The exit status is 0 only if a test ran and none
# failed.
#
# REGRESS=NAME, ISOLATION=NAME and PROVE_TESTS=FILE choose tests of the steps
# regress, isolation and tap.
#
# Needs a Debian machine, and root or sudo if packages are missing.
#
# PGVERSION=17 chooses a PostgreSQL.  COMPILER=clang builds the extension with
# clang.  CUCKOO_PACKAGES=FOLDER keeps downloads for the next run.  KEEP=1 keeps
# the temporary folder.  CUCKOO_TEST_LARGE=1 also tests filters of 100 MB.
# CUCKOO_TEST_CONF=SETTINGS runs the tests with other settings of PostgreSQL.
# CUCKOO_CITUS=PATH names the source of Citus.

set -euo pipefail
# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
# shellcheck source=test/steps.sh
. "$root/test/steps.sh"

# In the order in which they start: first the longest
all_steps=(build sanitized tap citus regress unit sanitize clients fuzz vpath portable clang s390x i386 isolation)
other_steps=(golden valgrind i386_server s390x_server musl arm64 random coverage)
after_build=' golden vpath regress clients isolation tap citus coverage '

steps=" ${*:-${all_steps[*]}} "
steps=${steps/ servers / i386_server s390x_server }
for step in $steps; do
	[[ " ${all_steps[*]} ${other_steps[*]} " == *" $step "* ]] || die "no step is called $step, there are: ${all_steps[*]} ${other_steps[*]} servers"
	[[ "$after_build" != *" $step "* ]] || steps+='build '
done

selected() { [[ "$steps" == *" $1 "* ]]; }

# Coverage counts how often lines run.  Without optimization, which would merge
# lines, the C library's headers warn, and from bitcode the JIT would run
# functions without counting.
build_flags=()
unit_flags=()
if selected coverage; then
	steps+='unit regress isolation tap '
	build_flags=(with_llvm=no "COPT=--coverage -O0 -Wno-cpp")
	unit_flags=("CFLAGS=-O0 -g --coverage")
fi

# count LOG: prints the numbers of passed and failed tests: lines of pg_regress,
# of TAP, of cmocka and of "N passed, N failed"
count() {
	awk '
		/^ok [0-9 ]+- .*# [Ss][Kk][Ii][Pp]/ { next }
		/^ok +[0-9]+ |^test .* \.\.\. ok / { passed++ }
		/^not ok |^test .* \.\.\. FAILED/ { failed++ }
		/^\[  (PASSED|FAILED)  \] .*[0-9] test\(s\)/ {
			passing = $2 == "PASSED"; sub(/ test\(s\).*/, "")
			if (passing) passed += $NF; else failed += $NF
		}
		/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 }
		END { print passed + 0, failed + 0 }' "$1"
}

# Runs a step and prints its line.  A step that fails, or in which no test ran,
# counts as a failed test.
run_step() {
	local step=$1 began=$SECONDS status=0 passed failed note
	local here=$work/$step log=$work/log/$step cluster=$work/$step

	as_user mkdir "$here"
	set +e
	(set -e; "step_$step") >"$log" 2>&1
	status=$?
	set -e
	stop_servers "$here" fast
	read -r passed failed < <(count "$log")
	if [ "$status $passed $failed" = "0 0 0" ] && note=$(grep '^not run: ' "$log"); then
		printf '%-12s %s\n' "$step" "$note"
		echo 0 0 >"$work/result/$step"
		return
	fi
	[ "$failed" != 0 ] || { [ "$status" = 0 ] && [ "$passed" != 0 ]; } || failed=1
	note=$(sed -n 's/^# note: //p' "$log")
	[ "$failed" = 0 ] || note+=$'\n'$(awk -f "$root/test/failed.awk" "$log" | sed 's/^/    /')
	printf '%-12s %5d passed %5d failed %5d s  %s\n' "$step" "$passed" "$failed" $((SECONDS - began)) "$note"
	echo "$passed $failed" >"$work/result/$step"
}

# Starts a step when there is room for it.
start_step() {
	local room

	room=$(nproc)
	while [ "$(jobs -rp | wc -l)" -ge $((room > 2 ? room : 2)) ]; do
		sleep 0.1
	done
	start run_step "$1"
}

# Debian's node-postgres, or npm's if Debian's does not fit the machine's
# Node.js, which need not be Debian's
find_node_postgres() {
	node_modules=/usr/share/nodejs
	installed node-pg || { apt-get -qq -s install node-pg >/dev/null 2>&1 && need_packages node-pg; } && return
	[ -d "$downloads/npm/node_modules/pg" ] ||
		npm install --loglevel=error --ignore-scripts --no-audit --no-fund --prefix "$downloads/npm" pg@8
	node_modules=$work/node_modules
	tar -C "$downloads/npm" -cf - node_modules | as_user tar -C "$work" -xf -
}

citus_source=$(realpath -m "${CUCKOO_CITUS:-$root/../shared/citus}")
find_postgresql
# docs/distributed.md compares hll with the extension.
! selected citus || [ -z "$(apt-cache policy "postgresql-$pgversion-hll")" ] || more_postgresql=("postgresql-$pgversion-hll")
need_packages "${packages[@]}"
make_folder
mkdir "$work/result"

# The clang that PostgreSQL's makefiles use for the JIT's bitcode.  They have
# options of gcc, some of which clang does not know.
llvm=$(sed -n 's/^CLANG *= *.*clang-\([0-9]*\)$/\1/p' "$prefix/usr/lib/postgresql/$pgversion/lib/pgxs/src/Makefile.global")
clang=clang${llvm:+-$llvm}
clang_options='-Wno-unknown-warning-option -Wno-ignored-optimization-argument'
compiler=gcc
if [ "${COMPILER:-gcc}" = clang ]; then
	compiler=$clang
	build_flags+=("CC=$clang" "COPT=$clang_options")
fi

# This long step needs no other packages, so it starts before apt-get.
! selected sanitized || start_step sanitized
mapfile -t packages < <(for step in $steps; do packages_of "$step"; done | xargs -r -n 1 | sort -u)
need_packages "${packages[@]}"
! selected clients || find_node_postgres

if selected build; then
	start_step build
	wait $! || true
	src=$work/build/src
	use_prefix "$work/build/prefix"
fi
for step in "${all_steps[@]}" "${other_steps[@]}"; do
	[ "$step" != coverage ] || wait
	if ! selected "$step" || [[ " build sanitized " == *" $step "* ]]; then
		continue
	elif [[ "$after_build" == *" $step "* ]] && ! grep -qx '1 0' "$work/result/build"; then
		printf '%-12s not run: the build failed\n' "$step"
		echo 0 0 >"$work/result/$step"
	else
		start_step "$step"
	fi
done
wait

passed=0
failed=0
for step in $(xargs -n 1 <<<"$steps" | sort -u); do
	read -r good bad <"$work/result/$step" || { good=0; bad=1; echo "$step did not run to its end"; }
	passed=$((passed + good))
	failed=$((failed + bad))
done
say_installed
echo "total $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
