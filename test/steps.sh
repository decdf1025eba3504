# shellcheck shell=bash disable=SC2154  # variables of run.sh and lib.sh
#
# The steps of run.sh, each a function step_NAME.  It runs in a shell of its own
# that ends at the first command that fails, in the step's folder $here.  Its
# output is the step's log, in which run.sh counts the lines of passed and failed
# tests.  In a line "# note: TEXT", TEXT is printed; "not run: WHY" says that
# there is nothing to count.

# What the steps need besides the packages of find_postgresql
packages_of() {
	case $1 in
	build) echo ${llvm:+"$clang" "llvm-$llvm"} ;;
	unit | portable | sanitize) echo libcmocka-dev ;;
	clang) echo libcmocka-dev "$clang" ;;
	vpath) echo "$clang" ;;
	fuzz) echo "$clang" ${llvm:+"libclang-rt-$llvm-dev"} ;;
	s390x | s390x_server) echo gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user ;;
	# gcc-multilib conflicts with every cross compiler.
	i386 | i386_server) echo gcc-i686-linux-gnu libc6-dev-i386-cross qemu-user ;;
	arm64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user ;;
	musl) echo musl-tools ;;
	valgrind) echo valgrind libcmocka-dev ;;
	coverage) echo gcovr ;;
	tap) echo libipc-run-perl perl ;;
	golden) echo python3 python3-xxhash ;;
	clients)
		echo python3 python3-xxhash python3-pip python3-setuptools python3-wheel mypy \
			python3-psycopg python3-psycopg2 python3-sqlalchemy python3-django nodejs node-typescript
		# Of languages that are installed, or are to be
		[ -z "$(command -v go)${CUCKOO_LANGUAGES:-}" ] ||
			echo ${CUCKOO_LANGUAGES:+golang-go} golang-github-lib-pq-dev golang-github-jackc-pgx-v4-dev golang-github-jackc-pgx-v5-dev
		[ -z "$(command -v javac)${CUCKOO_LANGUAGES:-}" ] || echo ${CUCKOO_LANGUAGES:+default-jdk-headless} libpostgresql-jdbc-java junit5
		;;
	citus)
		[ ! -e "$citus_source" ] || echo bison flex libipc-run-perl perl pkg-config libicu-dev libkrb5-dev liblz4-dev libpam0g-dev \
			libreadline-dev libselinux1-dev libssl-dev libxml2-dev libxslt1-dev libzstd-dev zlib1g-dev
		;;
	esac
}

# ------------------------------------------------------------- the extension

step_build() {
	own_build "$here" WERROR=1 "${build_flags[@]}"
	echo "# note: PostgreSQL $(as_user "$pg_config" --version | cut -d' ' -f2), $("$compiler" --version | head -n 1)"
	echo "1 passed, 0 failed"
}

# A build in a separate folder installs the same files as one in the tree, and
# finds the tests.
step_vpath() {
	local make smallest

	copy_checkout "$here/src" as_user
	as_user mkdir "$here/build"
	make=(as_user make -s -C "$here/build" -f "$here/src/Makefile" "VPATH=$here/src" WERROR=1 "PG_CONFIG=$pg_config" "CC=$clang"
		"COPT=-O0 -Wno-cpp $clang_options")
	"${make[@]}" -j"$(nproc)" all
	"${make[@]}" DESTDIR="$here/installed" install
	as_user make -s -C "$src" PG_CONFIG="$pg_config" DESTDIR="$here/wanted" install
	diff <(cd "$here/wanted" && find . -type f | sort) <(cd "$here/installed" && find . -type f | sort)
	start_server
	smallest=$(find "$src/test/sql" -name '*.sql' -printf '%s %f\n' | sort -n | sed -n '1s/.* \(.*\)\.sql/\1/p')
	"${make[@]}" ISOLATION= TAP_TESTS= REGRESS="$smallest" installcheck
}

# pg_regress FOLDER MAKE-ARGUMENT...: runs tests by pg_regress, which leaves
# differences in this folder
pg_regress() {
	as_user make -C "$src" PG_CONFIG="$pg_config" "${@:2}" installcheck && return
	head -n 200 "$1/regression.diffs" || true
	server_findings || true
	return 1
}

# Prints what the server's log says of crashes and of sanitizers, and fails if it
# says nothing.
server_findings() {
	grep -E -A 40 -m 5 'PANIC|TRAP:|terminated by signal|ERROR: AddressSanitizer|runtime error:|cuckoofilter made is not valid' \
		"$cluster/data/log" | cut -c 1-1000
}

# shellcheck disable=SC2120  # steps pass arguments
sql_tests() {
	pg_regress "$src" ISOLATION= TAP_TESTS= ${REGRESS:+"REGRESS=$REGRESS"} "$@"
}

step_regress() { start_server && sql_tests; }
step_isolation() { start_server && pg_regress "$src/output_iso" REGRESS= TAP_TESTS= ${ISOLATION:+"ISOLATION=$ISOLATION"}; }

# By Debian's own interpreter, because others would not find Debian's modules
step_clients() { start_server && as_user /usr/bin/python3 "$src/test/clients/test.py" "$node_modules"; }

# Makes the files of test/golden again, and writes those that changed.
step_golden() {
	local file changed=

	start_server
	as_user make -s -f "$src/test/unit/Makefile" BUILD="$here" "$here/portable_golden"
	as_user cp -R "$src/test/golden" "$here/golden"
	as_user "$here/portable_golden" --print | as_user tee "$here/golden/core.tsv" >/dev/null
	as_user /usr/bin/python3 "$src/test/clients/malformed.py" | as_user tee "$here/golden/malformed.tsv" >/dev/null
	as_user env -C "$here/golden" psql -XqAt -v ON_ERROR_STOP=1 -f make.sql
	for file in "$here"/golden/*.tsv; do
		if ! cmp -s "$file" "$root/test/golden/${file##*/}"; then
			cat "$file" >"$root/test/golden/${file##*/}"
			changed+=" ${file##*/}"
		fi
	done
	echo "# note: changed:${changed:- nothing}"
	echo "1 passed, 0 failed"
}

# prove_tests MAKE-ARGUMENT...: runs TAP tests, and prints why one ended early,
# which only its own log says
prove_tests() {
	as_user make -C "$src" PG_CONFIG="$pg_config" REGRESS= ISOLATION= "$@" installcheck && return
	grep -l 'your test exited with' "$src"/tmp_check/log/regress_log_* 2>/dev/null | xargs -r tail -n 30
	return 1
}

step_tap() {
	local pgxs

	pgxs=$(as_user "$pg_config" --pgxs)
	as_user make -s -C "$src/test/module" -f "$pgxs" PGXS="$pgxs" PG_CONFIG="$pg_config" \
		MODULES=cuckoo_test with_llvm=no COPT=-Werror install
	prove_tests PROVE_FLAGS="--verbose --timer -j$(nproc)" ${PROVE_TESTS:+"PROVE_TESTS=$PROVE_TESTS"}
}

# Citus 13 supports PostgreSQL 15 to 17, Citus 14 supports 16 to 18.
step_citus() {
	local source=$citus_source version tarballs

	[ -e "$source" ] || { echo "not run: there is no source of Citus, which CUCKOO_CITUS=PATH would name"; return; }
	src=$here/src
	copy_checkout "$src" as_user
	as_user cp -al "$prefix" "$here/prefix"
	use_prefix "$here/prefix"

	# The source may be in a place that the unprivileged user cannot read.
	as_user mkdir "$here/citus"
	tarballs=("$source"/*.tar.*)
	[ ! -e "${tarballs[0]}" ] || source=${tarballs[0]}
	if [ -d "$source" ]; then
		tar -C "$source" --exclude=./.git -cf - . | as_user tar -C "$here/citus" -xf -
	else
		as_user tee "$here/tarball" <"$source" >/dev/null
		as_user tar -C "$here/citus" --strip-components=1 -xf "$here/tarball"
	fi
	version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$here/citus/configure")

	# Citus 13 has a copy of this function.  Remove it if this minor version of
	# PostgreSQL exports the function.
	! grep -rqw have_createdb_privilege "$(as_user "$pg_config" --includedir-server)/commands" ||
		as_user sed -i '/^static inline bool$/{N;/\nhave_createdb_privilege(void)/{:a;N;/\n}$/!ba;d}}' \
			"$here/citus/src/include/pg_version_compat.h"
	# Without optimization and debug information it builds in half the time.  The
	# target install would also install headers.
	as_user env -C "$here/citus" ./configure --quiet --without-libcurl PG_CONFIG="$pg_config"
	as_user make -s -C "$here/citus" -j"$(nproc)" with_llvm=no "COPT=-O0 -g0" extension
	as_user make -s -C "$here/citus" with_llvm=no "COPT=-O0 -g0" install-extension
	echo "# note: Citus $version"
	prove_tests PROVE_FLAGS=--verbose PROVE_TESTS=test/citus/citus.pl
}

# ------------------------------------------------------------------ the core

# unit_tests MAKE-ARGUMENT...: builds the programs of test/unit, whose names have
# no dot, and runs several at once, by the command RUN if that is set.  A program
# that ends before its tests or crashes is a failed test.
unit_tests() {
	local program status good bad

	as_user make -s -f "$src/test/unit/Makefile" -j"$(nproc)" BUILD="$here" "$@" all
	# shellcheck disable=SC2016  # for the shells of the unprivileged user
	as_user sh -c 'find "$1" -maxdepth 1 -type f ! -name "*.*" | sort |
		xargs -P "$2" -I "{}" sh -c "$3 {} >{}.log 2>&1; echo \$? >{}.status"' sh "$here" "$(nproc)" "${RUN:-}"
	for program in "$here"/*.status; do
		status=$(cat "$program")
		program=${program%.status}
		cat "$program.log"
		read -r good bad < <(count "$program.log")
		[ "$bad" != 0 ] || { [ "$status" = 0 ] && [ "$good" != 0 ]; } ||
			echo "not ok ${program##*/}: $good tests passed, exit status $status"
	done
}

# The step "unit" compares the core with a model over ten million operations.
# The steps with other compilers or flags do not need as many.
fewer='env CUCKOO_MODEL_OPERATIONS=300000'

step_unit() { unit_tests CC=gcc "${unit_flags[@]}"; }
step_clang() { RUN=$fewer unit_tests CC="$clang"; }
step_portable() { RUN=$fewer unit_tests CC=gcc PORTABLE=1; }
step_sanitize() { RUN="$fewer ASAN_OPTIONS=quarantine_size_mb=8" unit_tests CC=gcc SANITIZE=1; }

# emulated EMULATOR COMPILER: linked statically, so that they need no libraries
emulated() {
	command -v "$2" >/dev/null || { echo "not run: there is no $2"; return; }
	RUN=$1 unit_tests CC="$2" LDFLAGS=-static cmocka=
}

step_s390x() { emulated qemu-s390x s390x-linux-gnu-gcc; }
# Emulated, too, because not every amd64 kernel runs 32-bit programs
step_i386() { emulated qemu-i386 i686-linux-gnu-gcc; }
step_arm64() { emulated qemu-aarch64 aarch64-linux-gnu-gcc; }
step_musl() { emulated '' musl-gcc; }

step_fuzz() {
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		as_user "$clang" -fsanitize=fuzzer -x c -o "$here/there" - ||
		{ echo "not run: $clang or its libFuzzer is missing"; return; }
	as_user env CC="$clang" "$work/src/test/fuzz/run.sh" 10 | sed '$ s/^/# note: /'
	echo "1 passed, 0 failed"
}

# ---------------------------------------------- sanitizers, valgrind, coverage

# own_sanitized_build FLAG...: builds the extension with AddressSanitizer and
# UndefinedBehaviorSanitizer, whose libraries the server loads first.  A process
# ends at the first finding.  AddressSanitizer does not see the borders of
# chunks inside PostgreSQL's own memory blocks: the core is tested with exact
# allocations by the step sanitize.
own_sanitized_build() {
	local loaded options

	own_build "$here" CC=gcc with_llvm=no \
		COPT="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1 $*"
	# With AddressSanitizer loaded first, glibc waits forever in bindtextdomain.
	as_user gcc -x c -shared -fPIC -fno-builtin -o "$here/untranslated.so" - <<-'C'
		char *bindtextdomain(char *domain, char *folder) { (void) domain; return folder; }
	C
	# The stacks that find uses after a return are small, because
	# AddressSanitizer searches them after every error that SQL catches, which
	# took most of the time.  Little freed memory is kept from being used again,
	# because a new page costs more than what is done with it.
	options=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1:max_uar_stack_size_log=16:quarantine_size_mb=8
	make_cluster
	run_server env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) $here/untranslated.so" \
		ASAN_OPTIONS="$options" UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1 pg_ctl
	loaded=$(as_user psql -XqAtc "SELECT maps ~ 'libasan' AND maps ~ 'libubsan' FROM pg_read_file('/proc/' || pg_backend_pid() || '/maps') AS maps")
	[ "$loaded" = t ] || die "the server runs without the sanitizers"
}

# With little room for stored filters in memory, so that all ways of reading them
# are used
step_sanitized() {
	own_sanitized_build -DCUCKOO_CHECK -DUSE_ASSERT_CHECKING=1
	sql_tests PGOPTIONS='-c cuckoo.cache_size=24kB'
	! server_findings
}

# The SQL tests and then the unit tests.  CUCKOO_CHECK validates every new value,
# so that a byte that was never set is noticed at once.  An error of the server
# counts if our sources occur in its stacks: where it happened, where the memory
# was allocated or freed, or where the value that was never set was made.  Other
# errors belong to the server or the C library; test/valgrind.supp excludes the
# known ones.  valgrind's --error-exitcode would end all of the server.
step_valgrind() {
	local failed=0

	own_build "$here" CC=gcc with_llvm=no COPT="-O1 -g -fno-omit-frame-pointer -DCUCKOO_CHECK"
	as_user mkdir "$here"/{errors,bin}
	# A program of that name, so that pg_ctl finds the rest beside it
	as_user tee "$here/bin/postgres" >/dev/null <<-SH
		#!/bin/sh
		exec valgrind --quiet --trace-children=yes --log-file="$here/errors/%p" --suppressions="$src/test/valgrind.supp" \\
			--track-origins=yes --leak-check=no --error-limit=no --num-callers=60 --fullpath-after= \\
			"${pg_config%/*}/postgres" "\$@"
	SH
	as_user chmod +x "$here/bin/postgres"
	make_cluster
	# The JIT calls the same functions of ours, and would take most of the time.
	as_user tee -a "$cluster/data/postgresql.conf" >/dev/null <<<'jit = off'
	run_server pg_ctl -p "$here/bin/postgres"
	[ "$(as_user psql -XqAtc "SELECT pg_read_file('/proc/' || pg_backend_pid() || '/maps') ~ 'vgpreload_memcheck'")" = t ] ||
		die "the server runs without valgrind"
	# Everything takes fifty times as long here.
	as_user sed -i "s/^SET statement_timeout = '60s';\$/SET statement_timeout = '3600s';/" "$src"/test/sql/*.sql "$src"/expected/*.out
	sql_tests || failed=1
	stop_servers "$here" fast

	# A line with only the process separates errors.
	# shellcheck disable=SC2016  # for sed
	sed -sE 's/^(==|\*\*)[0-9]+(==|\*\*) ?//; $G' "$here"/errors/* | awk -v RS= -v ours="$src/src/" '
		!/ (at|by) 0x/ { next }
		index($0, ours) { print $0 "\n\nnot ok - an error with a place in src/\n"; next }
		{ others++ }
		END { print "# note: " others + 0 " errors of the server and the C library" }'
	RUN='valgrind -q --track-origins=yes --error-exitcode=9' unit_tests CC=gcc
	[ "$failed" = 0 ]
}

# foreign_server_tests ARCHITECTURE COMPILER: the SQL tests on a server for
# another architecture: i386, whose x87 computes with more precision than others
# and whose pointers have 32 bits, or s390x, which is big-endian.  The server is
# Debian's package for it and runs under qemu-user; psql and pg_regress are this
# machine's.
foreign_server_tests() {
	local program tree=$here/tree bin=$here/tree/usr/lib/postgresql/$pgversion/bin
	local options=(-o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State::lists=$here/lists")

	as_user mkdir -p "$tree" "$here/lists/partial"
	mkdir -p "$downloads/$1"
	# Only some of a release's suites have every architecture.
	apt-get "${bare[@]}" "${options[@]}" -qq update || true
	download_postgresql "$downloads/$1" "${options[@]}"
	unpack "$tree"
	# Scripts start the programs that run here.  These find the libraries in the
	# tree, so LD_LIBRARY_PATH, which would name this machine's, is unset.
	for program in initdb pg_config postgres; do
		as_user mv "$bin/$program" "$bin/$program.$1"
		as_user tee "$bin/$program" >/dev/null <<-SH
			#!/bin/sh
			unset LD_LIBRARY_PATH
			exec qemu-$1 -L $tree -0 $bin/$program $bin/$program.$1 "\$@"
		SH
		as_user chmod +x "$bin/$program"
	done
	src=$here/src
	copy_checkout "$src" as_user
	build_extension PG_CONFIG="$bin/pg_config" CC="$2" with_llvm=no WERROR=1
	initdb=$bin/initdb make_cluster
	run_server pg_ctl -p "$bin/postgres"
	echo "# note: $(as_user psql -XAtc 'SELECT version()')"
	sql_tests
}

step_i386_server() { foreign_server_tests i386 i686-linux-gnu-gcc; }
step_s390x_server() { foreign_server_tests s390x s390x-linux-gnu-gcc; }

# With assertions.  It fails if a server crashes, closes a connection, or reports
# an error whose SQLSTATE says that it is internal (XX...).  The same seed gives
# the same statements.
step_random() {
	local seed=${CUCKOO_TEST_SEED:-$((RANDOM * 100))} end statements=0
	local errors internal='closed the connection|connection to server was lost|ERROR:  XX'

	own_sanitized_build -DUSE_ASSERT_CHECKING=1
	as_user psql -qX -v ON_ERROR_STOP=1 -f "$src/test/random_sql.sql"
	end=$((SECONDS + ${CUCKOO_TEST_SECONDS:-60}))
	while [ "$SECONDS" -lt "$end" ]; do
		as_user psql -Xq -v VERBOSITY=verbose >/dev/null 2>"$here/batch" <<-SQL || true
			SELECT setseed($((seed % 10000)) / 10000.0) \\g /dev/null
			SET statement_timeout = '5s';
			SELECT random_sql(500) \\gexec
		SQL
		if grep -Eq "$internal" "$here/batch"; then
			echo "not ok - seed $seed"
			grep -E -A 2 "$internal" "$here/batch" | cut -c 1-1000 | head -n 10
			# A server that crashed recovers by itself.
			sleep 5
		fi
		cat "$here/batch" >>"$here/errors"
		statements=$((statements + 500))
		seed=$((seed + 1))
	done
	errors=$(grep -o 'ERROR:  [0-9A-Z]*' "$here/errors" | sort | uniq -c | sort -rn | awk '{ printf " %s (%d)", $3, $1 }')
	echo "# note: $statements statements, errors by SQLSTATE:$errors"
	if server_findings; then return 1; fi
	echo "1 passed, 0 failed"
}

# Adds up the counts of the unit tests and of the extension.  Processes write
# their counts when they exit; those that a test has killed write none.
step_coverage() {
	local status=0

	gcovr --root "$src" --filter "$src/src/" --fail-under-line "${COVERAGE:=95}" "$src/src" "$work/unit" >"$here/lines" || status=1
	sed -n '/^File /,$p' "$here/lines"
	awk -v wanted="$COVERAGE" '/^TOTAL / { print "# note: " $3 " of " $2 " lines, at least " wanted " % wanted" }' "$here/lines"
	[ "$status" = 0 ]
	echo "1 passed, 0 failed"
}
