#!/usr/bin/env bash
#
# Runs the SQL tests with the extension under sanitizers, in an ordinary
# PostgreSQL: test/sanitize.sh [TEST...], by default all of test/sql.
#
# The extension is built with AddressSanitizer and UndefinedBehaviorSanitizer,
# whose libraries the server loads first, and with CUCKOO_CHECK, so that every
# value made is checked whole.  What is found ends the backend, and so the test.
#
# AddressSanitizer sees the stack, the extension's globals and what malloc gives.
# It does not see the borders of chunks within palloc's blocks: that takes a
# server built with its own support for that (USE_VALGRIND).  The core, where the
# buckets are, is tested with exact allocations in test/unit and test/fuzz.
#
# Needs a Debian machine, and root or sudo where packages are missing.  The last
# line is "N passed, N failed".  PGVERSION=17 chooses a PostgreSQL; KEEP=1 keeps
# the temporary folder.
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

find_postgresql
need_packages "${packages[@]}"
make_folder

flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g -DCUCKOO_CHECK"
as_user_interruptibly make -s -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" CC=gcc COPT="$flags" \
	with_llvm=no all install >"$work/log/build" 2>&1 || { head -n 50 "$work/log/build"; die "the build failed"; }

# Translations of messages are left out: with AddressSanitizer loaded first,
# glibc waits for ever for a lock in bindtextdomain.
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

start_server
as_user pg_ctl -D "$work/data" -w stop >/dev/null
as_user env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) $work/untranslated.so" \
	ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1 \
	UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1 \
	pg_ctl -D "$work/data" -l "$work/data/log" -w start >/dev/null || { cat "$work/data/log"; die "the server did not start"; }

as_user_interruptibly make -C "$work/src" PG_CONFIG="$pg_config" ISOLATION= TAP_TESTS= ${1:+REGRESS="$*"} \
	installcheck >"$work/log/regress" 2>&1 || true
passed=$(grep -Ec '^(ok +[0-9]+ |test .*\.\.\. ok )' "$work/log/regress" || true)
failed=$(grep -Ec '^(not ok +[0-9]+ |test .*\.\.\. FAILED)' "$work/log/regress" || true)
reports=$(grep -Ec 'ERROR: AddressSanitizer|runtime error:|cuckoofilter made is not valid' "$work/data/log" || true)

# That they were there at all: the server's maps name them.
loaded=$(as_user psql -XqAtc "SELECT pg_read_file('/proc/' || pg_backend_pid() || '/maps') ~ 'libasan'") || loaded=unknown
if [ "$loaded" != t ] || [ "$passed" = 0 ]; then
	failed=$((failed + 1))
fi
if [ "$failed" != 0 ] || [ "$reports" != 0 ]; then
	tail -n 30 "$work/log/regress"
	head -n 100 "$work/src/regression.diffs" 2>/dev/null || true
	grep -E -A 40 'ERROR: AddressSanitizer|runtime error:|PANIC' "$work/data/log" | head -n 150 || true
fi
echo "$reports reports of sanitizers"
echo "$passed passed, $((failed + reports)) failed"
[ "$failed" = 0 ] && [ "$reports" = 0 ]
