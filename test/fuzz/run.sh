#!/usr/bin/env bash
#
# Fuzzes the core for some time: test/fuzz/run.sh [seconds], by default 60.
#
# It starts with the golden filters of test/golden.  Each further input is made
# from these, and from earlier inputs that took a new path.  It compares with an
# exact model, and runs under AddressSanitizer and UndefinedBehaviorSanitizer.
# The last line has the number of inputs and of paths.  An input that fails is
# kept and named, and FUZZ_INPUT=file test/fuzz/run.sh runs it again.
#
# CC chooses a clang, which needs its libclang-rt-*-dev.  FUZZ_CORPUS names a
# folder that keeps the inputs from run to run.  FUZZ_SEED sets the seed of the
# generator.

set -euo pipefail
# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib.sh"

seconds=${1:-60}
here=$root/test/fuzz
src=$here/../../src
folder=$(mktemp -d "${TMPDIR:-/tmp}/cuckoo-fuzz.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# Tracing comparisons costs half of the time, so only the validator is built
# with it: its header has values that must be guessed.
flags=(-std=gnu11 -g -O2 -Wall -Wextra -Werror -fno-omit-frame-pointer -I"$src/core" -I"$src/index" -DCUCKOO_STANDALONE -DCUCKOO_MAX_LINKS=4
	"-fsanitize=fuzzer,address,undefined" -fno-sanitize-recover=all)
objects=()
for file in "$here/filter_fuzz.c" "$src"/core/{shape,list,bucket,dense,sparse,table,format,filter,combine,overlap}.c "$src/index/page.c"; do
	object=$folder/$(basename "$file" .c).o
	guess=(-fno-sanitize-coverage=trace-cmp)
	[ "$object" != "$folder/format.o" ] || guess=()
	"${CC:-clang}" "${flags[@]}" "${guess[@]}" -c -o "$object" "$file"
	objects+=("$object")
done
"${CC:-clang}" "${flags[@]}" -o "$folder/filter_fuzz" "${objects[@]}" -lm

# The default quarantine of freed memory is so large that it only evicts caches.
export ASAN_OPTIONS=quarantine_size_mb=8
if [ -n "${FUZZ_INPUT:-}" ]; then
	"$folder/filter_fuzz" "$FUZZ_INPUT"
	exit
fi

# Raw inputs (first byte 0) from the golden filters, and some inputs of the
# other three sorts to begin with.
mkdir "$folder/seeds" "$folder/found"
while IFS=$'\t' read -r name base64; do
	{ printf '\0'; base64 -d <<<"$base64"; } >"$folder/seeds/$name"
done < <(cut -f 1,5 "$here/../golden/filters.tsv" | tail -n +2)
for i in 1 2 3 4 5 6 7 8; do
	printf '\1\%o\2\3\1\0\1%0400d' "$i" 0 >"$folder/seeds/sound-$i"
	printf '\2\%o\%o\1\354\0\356\1\354\12\0\4\353\5\42\1\3\0\2' "$i" "$((i * 7))" >"$folder/seeds/differential-$i"
	printf '\3\%o\1\2\%o%0400d' "$i" "$((i * 5))" 0 >"$folder/seeds/pages-$i"
done

status=0
"$folder/filter_fuzz" -seed="${FUZZ_SEED:-1}" -max_len=4096 -len_control=0 -timeout=20 -max_total_time="$seconds" \
	-print_final_stats=1 -artifact_prefix="$folder/" \
	"${FUZZ_CORPUS:-$folder/found}" "$folder/seeds" >"$folder/log" 2>&1 || status=$?
if [ "$status" != 0 ]; then
	grep -Ev '^#[0-9]+' "$folder/log" | head -n 60
	for file in "$folder"/{crash,leak,timeout,oom}-*; do
		[ -e "$file" ] || continue
		cp "$file" "${TMPDIR:-/tmp}/"
		echo "failed with ${TMPDIR:-/tmp}/$(basename "$file"), in base64:"
		base64 "$file"
	done
fi

# "#123 DONE cov: 1000 ft: 4000 corp: 500/100Kb ...": edges of code, and edges by
# how often they were taken.
awk -v seconds="$seconds" '
	/cov: [0-9]+ ft: / { for (i = 1; i < NF; i++) value[$i] = $(i + 1) }
	/^stat::number_of_executed_units/ { runs = $2 }
	END { printf "%d executions in %d s, %d edges of code, %d features, %s inputs kept\n",
		runs, seconds, value["cov:"], value["ft:"], value["corp:"] }' "$folder/log"
exit "$status"
