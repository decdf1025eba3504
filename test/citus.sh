#!/usr/bin/env bash
#
# Tests the extension on Citus, a coordinator and two workers:
#
#   test/citus.sh SOURCE
#
# SOURCE is the source of Citus: its folder, a tarball, or a folder with one
# tarball.  The script builds Citus without libcurl and installs it in the
# temporary folder, which is removed at the end.  It then runs
# test/citus/citus.pl, which compares the results of queries on Citus with
# those on plain tables.  Citus 13 supports PostgreSQL 15 to 17, Citus 14
# supports 16 to 18.
#
# Needs a Debian machine, and root or sudo if packages are missing.  The last
# line is "N passed, N failed".
#
# PGVERSION=17 chooses a PostgreSQL.  CUCKOO_PACKAGES=FOLDER keeps downloads
# for the next run.  KEEP=1 keeps the temporary folder.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ $# = 1 ] || die "give the source of Citus (see --help)"
source=$1
if [ -d "$source" ] && [ ! -e "$source/configure" ]; then
	tarballs=("$source"/*.tar.*)
	{ [ ${#tarballs[@]} = 1 ] && [ -e "${tarballs[0]}" ]; } || die "$source is neither a source of Citus nor holds one tarball"
	source=${tarballs[0]}
fi
[ -e "$source" ] || die "there is no $source"
source=$(realpath "$source")

find_postgresql
need_packages "${packages[@]}" "${citus_packages[@]}"
# docs/distributed.md compares hll with the extension, so citus.pl tests that,
# too.
if [ -n "$(offered "postgresql-$pgversion-hll")" ]; then
	# shellcheck disable=SC2034  # used by lib.sh
	more_postgresql=postgresql-$pgversion-hll
fi
make_folder

# The JIT is not tested here.
build_extension with_llvm=no

# logged COMMAND...: runs a command as the unprivileged user, and ends the
# script if it fails
logged()
{
	as_user_interruptibly "$@" >>"$work/log/build" 2>&1 || { tail -n 50 "$work/log/build"; die "the build failed"; }
}


# The source may be in a place that the unprivileged user cannot read.
as_user mkdir "$work/citus"
if [ -d "$source" ]; then
	tar -C "$source" --exclude=./.git -cf - . | as_user tar -C "$work/citus" -xf -
else
	as_user tee "$work/citus.tarball" <"$source" >/dev/null
	as_user tar -C "$work/citus" --strip-components=1 -xf "$work/citus.tarball"
fi
version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$work/citus/configure")

# Citus 13 has a copy of this function.  Remove it if this minor version of
# PostgreSQL exports the function.
if grep -rqw have_createdb_privilege "$(as_user "$pg_config" --includedir-server)/commands"; then
	as_user sed -i '/^static inline bool$/{N;/\nhave_createdb_privilege(void)/{:a;N;/\n}$/!ba;d}}' \
		"$work/citus/src/include/pg_version_compat.h"
fi
# To build without optimization and debug information takes half the time.  The target install is not
# used, because it also installs headers.
as_user_interruptibly env -C "$work/citus" ./configure --quiet --without-libcurl PG_CONFIG="$pg_config" >"$work/log/configure" 2>&1 || {
	tail -n 20 "$work/log/configure"
	! grep -q 'is not compatible with the detected PostgreSQL' "$work/log/configure" ||
		{ echo "not run: Citus $version does not support PostgreSQL $pgversion"; exit 1; }
	die "Citus cannot be configured"
}
logged make -s -C "$work/citus" -j"$(nproc)" with_llvm=no "COPT=-O0 -g0" extension
logged make -s -C "$work/citus" with_llvm=no "COPT=-O0 -g0" install-extension

as_user_interruptibly make -s -C "$work/src" PG_CONFIG="$pg_config" REGRESS= ISOLATION= \
	PROVE_TESTS=test/citus/citus.pl PROVE_FLAGS=--verbose installcheck >"$work/log/citus" 2>&1 || true
passed=$(grep -c '^ok ' "$work/log/citus" || true)
failed=$(grep -c '^not ok ' "$work/log/citus" || true)
if ! grep -q '^Result: PASS' "$work/log/citus"; then
	grep -v '^ok ' "$work/log/citus" || true
	# If no test failed, it ended early, and its own log says why.
	if [ "$failed" = 0 ]; then
		failed=1
		grep -v '^# ' "$work/src/tmp_check/log/regress_log_citus" | tail -n 30 || true
	fi
fi
echo "# note: Citus $version, PostgreSQL $(as_user "$pg_config" --version | cut -d' ' -f2)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
