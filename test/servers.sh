#!/usr/bin/env bash
#
# Runs the SQL tests on emulated machines: test/servers.sh [ARCHITECTURE...], by
# default i386, whose x87 computes with more precision than others and whose
# pointers have 32 bits, and s390x, which is big-endian.
#
# The servers are Debian's packages for these architectures, and run under
# qemu-user; psql and pg_regress are this machine's.  Among the tests,
# test/sql/golden.sql compares hashes and bytes of all key types with those of
# other machines.
#
# Needs a Debian machine, and root or sudo if packages are missing.  Takes about
# nine minutes per architecture.  The last line is "N passed, N failed".
#
# PGVERSION=17 chooses a PostgreSQL.  CUCKOO_PACKAGES=FOLDER keeps downloads
# for the next run.  KEEP=1 keeps the temporary folder.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

declare -A triplets=([i386]=i686-linux-gnu [s390x]=s390x-linux-gnu)
architectures=("$@")
[ $# -gt 0 ] || architectures=(i386 s390x)
total_passed=0
total_failed=0

find_postgresql
packages+=(qemu-user)
for architecture in "${architectures[@]}"; do
	[ -n "${triplets[$architecture]:-}" ] || die "no architecture is called $architecture, there are: ${!triplets[*]}"
	packages+=("gcc-${triplets[$architecture]/_/-}" "libc6-dev-$architecture-cross")
done
need_packages "${packages[@]}"
make_folder

# Puts PostgreSQL for the architecture into $tree, with what it needs.  Its
# programs that run here are started by scripts of the same names.  As there are
# libraries in the tree, they need no LD_LIBRARY_PATH, which would name those of
# this machine.
make_foreign_tree()
{
	local program foreign=$architecture downloads=$downloads/$architecture lists=$work/lists/$architecture
	local native=("${bare[@]}")
	local bare=("${native[@]}" -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
		-o "Dir::State::lists=$lists")

	mkdir -p "$downloads" "$lists/partial"
	# Only some of a release's suites have every architecture.
	apt-get "${bare[@]}" -qq update || true
	download_postgresql
	as_user mkdir "$tree"
	unpack "$tree" as_user
	for program in initdb pg_config postgres; do
		as_user mv "$bin/$program" "$bin/$program.$architecture"
		as_user tee "$bin/$program" >/dev/null <<-SH
			#!/bin/sh
			unset LD_LIBRARY_PATH
			exec qemu-$architecture -L $tree -0 $bin/$program $bin/$program.$architecture "\$@"
		SH
		as_user chmod +x "$bin/$program"
	done
}

for architecture in "${architectures[@]}"; do
	tree=$work/$architecture
	bin=$tree/usr/lib/postgresql/$pgversion/bin
	cluster=$work/servers/$architecture
	as_user mkdir -p "$cluster/log"
	make_foreign_tree >"$work/log/$architecture" 2>&1 || { cat "$work/log/$architecture"; die "no server for $architecture"; }
	as_user make -s -C "$work/src" PG_CONFIG="$pg_config" clean
	build_extension PG_CONFIG="$bin/pg_config" CC="${triplets[$architecture]}-gcc" with_llvm=no WERROR=1
	initdb=$bin/initdb make_cluster
	run_server pg_ctl -p "$bin/postgres"
	as_user psql -XAtc 'SELECT version()'
	installcheck "$architecture" ISOLATION= TAP_TESTS=
	[ "$failed" = 0 ] || head -n 100 "$work/src/regression.diffs"
	echo "$architecture: $passed passed, $failed failed"
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	stop_server
done

echo "$total_passed passed, $total_failed failed"
[ "$total_failed" = 0 ]
