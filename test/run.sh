#!/usr/bin/env bash
#
# Runs the tests: test/run.sh for all, test/run.sh NAME... for some of
#
#   scripts    the scripts themselves: test/scripts.sh
#   build      builds and installs the extension, with warnings as errors
#   vpath      builds it in a separate folder, as Debian's package tools do,
#              with clang
#   unit       unit tests of the core, with gcc
#   clang      the same with clang
#   portable   the same in plain C11, without extensions of gcc and clang
#   sanitize   the same under AddressSanitizer and UndefinedBehaviorSanitizer
#   fuzz       fuzzing of the core, ten seconds: test/fuzz
#   s390x      portable tests of the core on an emulated big-endian machine
#   i386       the same on a 32-bit one, whose x87 computes with more precision
#   regress    SQL tests: pg_regress, test/sql and expected/
#   clients    the packages in Python and JavaScript, and the examples of
#              docs/drivers.md: test/clients
#   isolation  concurrent sessions: test/isolation
#   tap        tests with servers of their own: test/t
#   sanitized  the SQL tests with the extension under the sanitizers:
#              test/sanitize.sh
#   citus      the extension on Citus: test/citus.sh.  CUCKOO_CITUS=PATH names
#              the source of Citus, by default ../shared/citus.  If there is
#              none, the step is left out
#
# Some steps run only if you name them:
#
#   musl       portable tests of the core with the C library musl
#   arm64      the same on an emulated arm64
#   coverage   which lines of src/ the steps unit, regress, isolation and
#              tap ran, which are built with counters.  Fails if fewer than
#              COVERAGE (95) percent of all lines ran.  A line that ran was not
#              necessarily tested, but a line that did not run was not
#   valgrind   unit tests of the core under valgrind: test/valgrind.sh
#   servers    the SQL tests on emulated servers of i386 and s390x:
#              test/servers.sh
#
# As many steps run side by side as there are processors, but at least two.  A
# step prints its line when it has ended, and if it failed, its output below.
#
# Needs a Debian machine, and root or sudo if packages are missing.  The last
# line is "N passed, N failed".  The exit status is 0 only if a test ran and
# none failed.
#
# PGVERSION=17 chooses a PostgreSQL.  COMPILER=clang builds the extension with
# clang.  CUCKOO_PACKAGES=FOLDER keeps downloads for the next run.  KEEP=1 keeps
# the temporary folder.  CUCKOO_TEST_LARGE=1 also tests filters of 100 MB.
# PROVE_TESTS=FILE runs only this test of the step tap.  CUCKOO_TEST_CONF=SETTINGS
# runs the tests with other settings of PostgreSQL: lines for postgresql.conf.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
# shellcheck source=test/steps.sh
. "$root/test/steps.sh"

# In the order in which they start: first what others need, then the longest
all_steps=(build sanitized tap citus regress unit sanitize clients fuzz vpath portable clang s390x i386 isolation scripts)
other_steps=(valgrind musl arm64 coverage servers)
after_build=(vpath regress clients isolation tap coverage)
RUN=

# For the step coverage, every object counts how often its lines run.  It is
# built without optimization, which would merge lines, and without the warning
# that the C library's headers then give.  It is also built without bitcode,
# because the JIT would run functions from there without counting.
coverage_flags=()
coverage_unit=()
if [[ " $* " == *" coverage "* ]]; then
	set -- "$@" unit regress isolation tap
	coverage_flags=(with_llvm=no "COPT=--coverage -O0 -Wno-cpp")
	coverage_unit=("CFLAGS=-O0 -g --coverage")
fi

# logged NAME COMMAND...: runs a command as the unprivileged user, and appends
# its output to log/NAME
logged()
{
	local log=$work/log/$1

	shift
	as_user_interruptibly "$@" >>"$log" 2>&1
}

# finish_by NAME COMMAND...: a step that is one test, a command, which can set
# note
finish_by()
{
	local name=$1 status=0 note=

	shift
	"$@" || status=1
	finish "$name" $((1 - status)) "$status" "$note"
}

# ------------------------------------------------------------- the extension

# start_own_server NAME: starts a server for one step, so that the steps cannot
# disturb one another
start_own_server()
{
	cluster=$work/servers/$1
	as_user mkdir -p "$cluster/log"
	start_server
}

build()
{
	local make=(make -s -C "$work/src" WERROR=1 PG_CONFIG="$pg_config" "${coverage_flags[@]}" "${compiler_flags[@]}")

	note="PostgreSQL $(as_user "$pg_config" --version | cut -d' ' -f2), $("$compiler" --version | head -n 1)"
	logged build "${make[@]}" -j"$(nproc)" all && logged build "${make[@]}" install
}

run_build() { finish_by build build; }

# A build in a separate folder installs the same files as one in the tree, and
# finds the tests.  It uses a clean tree, because make would use build products
# that it finds there.
vpath()
{
	local vpath=$work/vpath tree=$work/vpath-src smallest make

	as_user mkdir "$vpath" "$tree"
	copy_checkout "$tree" as_user
	make=(make -s -C "$vpath" -f "$tree/Makefile" "VPATH=$tree" WERROR=1 "PG_CONFIG=$pg_config" "CC=$(find_clang)"
		"COPT=-O0 -Wno-cpp $clang_options")
	smallest=$(find "$work/src/test/sql" -name '*.sql' -printf '%s %f\n' | sort -n | sed -n '1s/.* \(.*\)\.sql/\1/p')
	logged vpath "${make[@]}" -j"$(nproc)" all &&
		logged vpath "${make[@]}" DESTDIR="$vpath/installed" install &&
		logged vpath make -s -C "$work/src" PG_CONFIG="$pg_config" DESTDIR="$vpath/reference" install &&
		diff <(cd "$vpath/reference" && find . -type f | sort) \
			<(cd "$vpath/installed" && find . -type f | sort) >>"$work/log/vpath" &&
		logged vpath "${make[@]}" ISOLATION= TAP_TESTS= REGRESS="$smallest" installcheck
}

run_vpath()
{
	start_own_server vpath
	finish_by vpath vpath
	stop_server
}

# pg_regress_step NAME FOLDER MAKE-ARGUMENTS...: runs tests by pg_regress, whose
# folder it is
pg_regress_step()
{
	local name=$1 diffs=$2/regression.diffs passed failed

	shift 2
	start_own_server "$name"
	installcheck "$name" "$@"
	[ ! -s "$diffs" ] || cp "$diffs" "$work/log/$name"
	# The lines of the server's log that only a crash causes
	[ "$failed" = 0 ] || grep -E 'PANIC|TRAP|terminated by signal' "$cluster/data/log" >>"$work/log/$name" || true
	finish "$name" "$passed" "$failed"
	stop_server
}

run_regress() { pg_regress_step regress "$work/src" ISOLATION= TAP_TESTS=; }
run_isolation() { pg_regress_step isolation "$work/src/output_iso" REGRESS= TAP_TESTS=; }

# python_step NAME SCRIPT ARGUMENT...: runs a script by Debian's own
# interpreter, because others would not find Debian's modules
python_step()
{
	local name=$1 status=0

	shift
	start_own_server "$name"
	logged "$name" /usr/bin/python3 "$work/src/test/$1" "${@:2}" || status=1
	finish_summary "$name" "$status"
	stop_server
}

run_clients() { python_step clients clients/test.py "$node_modules"; }

run_tap()
{
	local log=$work/log/tap status=0 passed failed pgxs

	pgxs=$(as_user "$pg_config" --pgxs)
	{
		logged tap make -s -C "$work/src/test/module" -f "$pgxs" PGXS="$pgxs" PG_CONFIG="$pg_config" \
			MODULES=cuckoo_test with_llvm=no COPT=-Werror install &&
			logged tap make -C "$work/src" PG_CONFIG="$pg_config" REGRESS= ISOLATION= PROVE_FLAGS="--verbose -j$(nproc)" \
				${PROVE_TESTS:+"PROVE_TESTS=$PROVE_TESTS"} installcheck
	} || status=$?
	passed=$(grep -E '^ok ' "$log" | grep -vc '# skip' || true)
	failed=$(grep -c '^not ok ' "$log" || true)
	if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
		failed=1
	fi
	sed -i '/^ok /d' "$log"
	# Why a test ended early is in its own log.
	[ "$failed" = 0 ] || grep -l 'your test exited with' "$work"/src/tmp_check/log/regress_log_* 2>/dev/null |
		xargs -r tail -n 30 >>"$log" || true
	finish tap "$passed" "$failed" "$(sed -n 's/^# note: //p' "$log")"
}

# ------------------------------------------------------------------ the core

# tests_that passed|failed LOG: prints the number of tests from cmocka's
# summary, in which later versions also name the group, or from the line "N
# passed, N failed" of the portable tests
tests_that()
{
	awk -v what="$1" '
		$0 ~ "^\\[  " toupper(what) "  \\] .*[0-9]+ test\\(s\\)" { sub(/ test\(s\).*/, ""); sub(/.* /, ""); n += $0 }
		/^[0-9]+ passed, [0-9]+ failed$/ { n += what == "passed" ? $1 : $3 }
		END { print n + 0 }' "$2"
}

# unit_step NAME MAKE-ARGUMENTS...: builds and runs the programs of test/unit,
# and adds up the numbers of tests that they report.  RUN is a command to run
# them with, such as an emulator.
unit_step()
{
	local name=$1 build=$work/unit/$1 log status passed=0 failed=0 good bad

	shift
	if ! logged "$name" make -s -f "$work/src/test/unit/Makefile" -j"$(nproc)" BUILD="$build" "$@" all; then
		finish "$name" 0 1
		return
	fi
	# Programs have no dot in their names.  Several run at once, because each
	# has only one thread.
	# shellcheck disable=SC2016  # for the shells of the unprivileged user
	logged "$name" sh -c 'find "$1" -maxdepth 1 -type f ! -name "*.*" | sort |
		xargs -P "$2" -I "{}" sh -c "$3 {} >{}.log 2>&1; echo \$? >{}.status"' sh "$build" "$(nproc)" "$RUN"
	for log in "$build"/*.log; do
		status=$(cat "${log%.log}.status")
		good=$(tests_that passed "$log")
		bad=$(tests_that failed "$log")
		# The program crashed, or ended before its tests.
		if [ "$bad" = 0 ] && { [ "$status" != 0 ] || [ "$good" = 0 ]; }; then
			bad=1
		fi
		# cmocka prints a line when a test starts and when it ends.  Leave out
		# the tests that passed, but not the one in which the program crashed.
		[ "$bad" = 0 ] || awk -v name="$(basename "$log" .log)" 'BEGIN { print name ":" }
			/^\[ RUN / { running = $0; next }
			/^\[ +OK / { running = ""; next }
			running != "" { print running; running = "" }
			{ print }
			END { if (running != "") print running }' "$log" >>"$work/log/$name"
		passed=$((passed + good))
		failed=$((failed + bad))
	done
	finish "$name" "$passed" "$failed"
}

# The step "unit" compares the core with a model over ten million operations.
# The steps with other compilers or flags do not need as many.
fewer_operations='env CUCKOO_MODEL_OPERATIONS=300000'

run_unit() { unit_step unit CC=gcc "${coverage_unit[@]}"; }
run_clang() { RUN=$fewer_operations unit_step clang CC="$(find_clang)"; }
run_portable() { RUN=$fewer_operations unit_step portable CC=gcc PORTABLE=1; }
run_sanitize() { RUN="$fewer_operations ASAN_OPTIONS=quarantine_size_mb=8" unit_step sanitize CC=gcc SANITIZE=1; }
run_valgrind() { RUN='valgrind -q --track-origins=yes --error-exitcode=9' unit_step valgrind CC=gcc; }
# These are linked statically, so that the emulator and musl need no libraries.
run_s390x() { RUN=qemu-s390x unit_step s390x CC=s390x-linux-gnu-gcc LDFLAGS=-static cmocka=; }
# This is emulated, too, because not every amd64 kernel runs 32-bit programs.
run_i386() { RUN=qemu-i386 unit_step i386 CC=i686-linux-gnu-gcc LDFLAGS=-static cmocka=; }
run_arm64() { RUN=qemu-aarch64 unit_step arm64 CC=aarch64-linux-gnu-gcc LDFLAGS=-static cmocka=; }
run_musl() { unit_step musl CC=musl-gcc LDFLAGS=-static cmocka=; }

fuzz()
{
	local status=0

	logged fuzz env CC="$(find_clang)" "$work/src/test/fuzz/run.sh" 10 || status=1
	note=$(tail -n 1 "$work/log/fuzz")
	return "$status"
}

run_fuzz()
{
	if ! echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		as_user "$(find_clang)" -fsanitize=fuzzer -x c -o "$work/fuzzer-there" - >/dev/null 2>&1; then
		skip fuzz "not run: clang or its libFuzzer missing"
		return
	fi
	finish_by fuzz fuzz
}

# ------------------------------------------------------------- other scripts

# script_step NAME SCRIPT ARGUMENT...
script_step()
{
	local status=0

	interruptibly "$root/test/$2" "${@:3}" >"$work/log/$1" 2>&1 || status=1
	finish_summary "$1" "$status"
}

run_scripts() { script_step scripts scripts.sh; }
run_sanitized() { script_step sanitized sanitize.sh; }
run_servers() { script_step servers servers.sh; }

citus_source=$(realpath -m "${CUCKOO_CITUS:-$root/../shared/citus}")
citus_given()
{
	[ -n "${CUCKOO_CITUS:-}" ] || [ -e "$citus_source" ]
}

run_citus()
{
	citus_given || { skip citus "left out: there is no source of Citus, which CUCKOO_CITUS=PATH would name"; return; }
	script_step citus citus.sh "$citus_source"
}

# Adds up the counts of the unit tests and of the extension.  Processes write
# their counts when they exit.  Processes that a test has killed write none.
run_coverage()
{
	local status=0 note

	logged coverage gcovr --root "$work/src" --filter "$work/src/src/" --fail-under-line "${COVERAGE:=95}" \
		"$work/src/src" "$work/unit" || status=1
	sed -n '/^File /,$p' "$work/log/coverage"
	note=$(awk '/^TOTAL / { print $3 " of " $2 " lines" }' "$work/log/coverage")
	[ -n "$note" ] || status=1
	finish coverage $((1 - status)) "$status" "$note, at least $COVERAGE % wanted"
}

# Prints the major version of the clang that PostgreSQL's makefiles use for the
# JIT's bitcode, or nothing if PostgreSQL was built without JIT.
clang_version()
{
	sed -n 's/^CLANG *= *.*clang-\([0-9]*\)$/\1/p' "$prefix/lib/postgresql/$pgversion/lib/pgxs/src/Makefile.global"
}

find_clang()
{
	local version

	version=$(clang_version)
	echo "clang${version:+-$version}"
}

# ------------------------------------------------------------------ the run

selected()
{
	[[ " ${steps[*]} " == *" $1 "* ]]
}

# Sets node_modules to a folder with node-postgres.  This is Debian's package
# unless it does not fit the machine's Node.js, which need not be Debian's.
try_node_postgres()
{
	if installed node-pg || { apt-get -qq -s install node-pg >/dev/null 2>&1 && try_packages node-pg; }; then
		node_modules=/usr/share/nodejs
		return
	fi
	[ -d "$downloads/npm/node_modules/pg" ] ||
		npm install --loglevel=error --ignore-scripts --no-audit --no-fund --prefix "$downloads/npm" pg@8 || return 1
	node_modules=$work/node_modules
	tar -C "$downloads/npm" -cf - node_modules | as_user tar -C "$work" -xf -
}

# PostgreSQL's makefiles use options of gcc, some of which clang does not know.
clang_options='-Wno-unknown-warning-option -Wno-ignored-optimization-argument'
compiler=gcc
compiler_flags=()
choose_compiler()
{
	if [ "${COMPILER:-gcc}" = clang ]; then
		compiler=$(find_clang)
		packages+=("$compiler")
		compiler_flags=("CC=$compiler" "COPT=$clang_options")
	fi
}

# Installs the packages that the selected steps need.  A machine that has them
# all needs neither root nor a network.  A step is dropped if there is no cross
# compiler or emulator for it on this architecture, or no node-postgres.
declare -A dropped=()
install_what_steps_need()
{
	local step needed=("${packages[@]}") all=()
	# Steps that run without these do less.
	local -A optional=(
		[fuzz]="$(find_clang) libclang-rt-$(clang_version)-dev"
		[clients]=libpostgresql-jdbc-java
		[s390x]="gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user"
		# gcc-multilib cannot be used: it conflicts with every cross compiler.
		[i386]="gcc-i686-linux-gnu libc6-dev-i386-cross qemu-user"
		[arm64]="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user")

	if selected unit || selected clang || selected portable || selected sanitize || selected valgrind; then
		needed+=(libcmocka-dev)
	fi
	! selected tap || needed+=(libipc-run-perl perl)
	# Debian's package of PostgreSQL's headers depends on these.
	[ -z "$(clang_version)" ] || needed+=("clang-$(clang_version)" "llvm-$(clang_version)")
	if selected clang || selected vpath; then
		needed+=("$(find_clang)")
	fi
	! selected valgrind || needed+=(valgrind)
	! selected coverage || needed+=(gcovr)
	if selected citus && citus_given; then
		needed+=("${citus_packages[@]}")
	fi
	! selected clients || needed+=(python3 python3-xxhash python3-pip python3-setuptools python3-wheel mypy
		python3-psycopg python3-psycopg2 python3-sqlalchemy nodejs node-typescript)
	! selected musl || needed+=(musl-tools)
	for step in "${!optional[@]}"; do
		if ! selected "$step" || { [ "$step" = clients ] && ! command -v javac >/dev/null; }; then
			unset "optional[$step]"
		fi
	done

	# Try all at once, because each call of apt-get takes seconds.
	read -r -a all <<<"${optional[*]}"
	if ! try_packages "${needed[@]}" "${all[@]}" 2>/dev/null; then
		need_packages "${needed[@]}"
		for step in "${!optional[@]}"; do
			read -r -a all <<<"${optional[$step]}"
			try_packages "${all[@]}" || [[ $step =~ ^(fuzz|clients)$ ]] || dropped[$step]="cross compiler or emulator missing"
		done
	fi
	! selected clients || try_node_postgres ||
		dropped[clients]="node-postgres could be installed neither by apt-get nor by npm"
}

for step; do
	[[ " ${all_steps[*]} ${other_steps[*]} " == *" $step "* ]] || die "no step is called $step, there are: ${all_steps[*]}"
done
[[ ${COMPILER:-gcc} =~ ^(gcc|clang)$ ]] || die "COMPILER is gcc or clang, not $COMPILER"
steps=("$@")
[ $# -gt 0 ] || steps=("${all_steps[@]}")
for step in "${after_build[@]}"; do
	! selected "$step" || steps+=(build)
done

began=$(date +%s.%N)
find_postgresql
make_folder
choose_compiler
# Of the long steps this needs no other packages, so it starts before apt-get.
if selected sanitized; then
	need_packages "${packages[@]}"
	begin sanitized
fi
install_what_steps_need

in_order=()
for step in "${all_steps[@]}" "${other_steps[@]}"; do
	if [ -n "${dropped[$step]:-}" ]; then
		skip "$step" "not run: ${dropped[$step]}"
	elif selected "$step"; then
		in_order+=("$step")
	fi
done
run_steps "${in_order[@]}"

say_installed
printf '%-10s %34.1f s\n' total "$(seconds_since "$began")"
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" = 0 ] && [ "$total_passed" -gt 0 ]
