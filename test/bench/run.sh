#!/usr/bin/env bash
#
# Runs the benchmarks: test/bench/run.sh for all, in about twenty minutes,
# test/bench/run.sh STEP... for some of
#
#   speed      the core: ns per key to build, add, look up, remove
#   rates      the core: bits per key against the false-positive rate
#   sizes      the core: filters of 1,000 to 10 million keys
#   figures    the core: room to spare, unknown capacity, copies, single adds, a
#              union of 365 filters
#   peers      the core against the cuckoo filters of the paper's authors and of
#              FastFilter, in turns.  CUCKOO_PEERS=FOLDER has their sources in
#              cuckoofilter and fastfilter_cpp; without it the step is left out
#   build      SQL: cuckoo_agg against other aggregates over the same rows
#   parallel   SQL: aggregates on two parallel workers
#   scan       SQL: a scan through a filter against IN, = ANY, a semi-join
#   partitions SQL: a scan of 60 partitions through one filter
#   year       SQL: the union of 365 daily filters against the rows behind them
#   forms      SQL: scans through a filter that comes from a sub-select, a
#              parameter, a join and others
#   point      SQL: one lookup in a stored filter
#   dedupe     SQL: removing duplicates from a stream by the guide's recipe, by
#              a unique index, and by one filter that every batch updates, with
#              1 and 4 sessions and batches of 100 to 100,000 rows: rows per
#              second, WAL per row and bloat
#   memory     SQL: peak memory of builds and scans
#   follow     SQL: a followed table against one untouched and one with a B-tree
#   keys       SQL: lookups and aggregates by key type, against PostgreSQL's own
#              extended hash of the value
#   stream     SQL: cuckoo_stream_agg over 10 and 40 million keys, and its memory
#
# With --quick it uses a tenth of the data and fewer rounds, which shows that
# all steps work.  It prints tables, and writes charts to docs/ or to the
# folder that CHARTS names; with --quick and no CHARTS it writes none.  Times
# are medians.  Statements that are compared run in turns.
#
# Needs a Debian machine with 8 GB of memory, and root or sudo where packages
# are missing.  PGVERSION=17 chooses a PostgreSQL; KEEP=1 keeps the temporary
# folder.
#
# shellcheck source-path=SCRIPTDIR
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

bench=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib.sh
. "$bench/../lib.sh"
# shellcheck source=sql.sh
. "$bench/sql.sh"
# shellcheck source=follow.sh
. "$bench/follow.sh"

all_steps=(speed rates sizes figures peers build parallel scan partitions year forms point dedupe memory follow keys stream)

# Sets the sizes of a quick run or a full one.
set_sizes()
{
	if [ -n "$quick" ]; then
		speed_runs=("10000 3 3" "1000000 3 3" "5000000 1 1")
		rate_keys=100000
		max_size=1000000
		rows=1000000
		keys=100000
		rounds=3
		point_s=1
		dedupe_s=1
		dedupe_keys=100000
		dedupe_batches=(100 10000)
		memory_keys=(1000000)
		stream_keys=(1000000)
		shared_buffers=512MB
		charts=
	else
		# keys, passes, passes of the slow parts (insert and remove one by one)
		speed_runs=("10000 9 9" "100000 9 9" "1000000 5 5" "10000000 5 5" "60000000 5 1")
		rate_keys=1000000
		max_size=10000000
		rows=10000000
		keys=1000000
		rounds=5
		point_s=1
		dedupe_s=3
		dedupe_keys=1000000
		dedupe_batches=(100 1000 10000 100000)
		memory_keys=(8400000 10000000 16800000)
		stream_keys=(10000000 40000000)
		shared_buffers=2GB
		charts=$root/docs
	fi
	if [ -n "${CHARTS:-}" ]; then
		charts=$(realpath "$CHARTS")
	fi
}

# ------------------------------------------------------------------ arithmetic

calculate()
{
	awk "BEGIN { print $1 }"
}

# number 1234567: prints 1,234,567
number()
{
	printf '%s\n' "$1" | sed -e ':a' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta'
}

# aim TITLE most|least LIMIT VALUE: adds a line to the table at the end of the
# run, if there is a value
aim()
{
	[ -z "$4" ] || printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>"$results/aims"
}

# aim_ratio TITLE most|least LIMIT NAME GROUP LABEL LABEL: the same for the
# ratio of two medians
aim_ratio()
{
	local a b

	a=$(median "$4" "$5" "$6")
	b=$(median "$4" "$5" "$7")
	if [ -n "$a" ] && [ -n "$b" ]; then
		aim "$1" "$2" "$3" "$(calculate "$a / $b")"
	fi
}

# -------------------------------------------------------------------- the core

core_built=
core()
{
	if [ -z "$core_built" ]; then
		as_user_interruptibly gcc -O2 -std=gnu11 -Wall -Wextra -I"$work/src/src/core" -DCUCKOO_STANDALONE -o "$work/core" "$work/src/test/bench/core.c" \
			"$work"/src/src/core/{shape,list,dense,sparse,table,format,filter,combine}.c -lm >"$work/log/core" 2>&1 ||
			{ cat "$work/log/core"; die "the core did not compile"; }
		core_built=1
	fi
	as_user_interruptibly "$work/core" "$@"
}

# speed_of KEYS REPRESENTATION PART
speed_of()
{
	awk -F '\t' -v keys="$1" -v representation="$2" -v part="$3" '$1 == keys && $2 == representation && $3 == part { print $5 }' "$results/speed"
}

run_speed()
{
	local sizes=() run n negative positive

	for run in "${speed_runs[@]}"; do
		# shellcheck disable=SC2086  # three arguments
		core speed $run >>"$results/speed"
		# The figures to reach are those of large filters.
		[ "${run%% *}" -lt 1000000 ] || sizes+=("${run%% *}")
	done

	printf '\ncore: ns per key, fpr 0.001 (13 bits per fingerprint), medians; dense at full load, sparse at a third of it\n'
	awk -F '\t' '
		{ row = $1 FS $2; if (!(row in seen)) { seen[row]; rows[++n] = row }; v[row, $3] = $5; passes[row, $3] = $4 }
		END {
			printf "  %9s %-11s  %6s %6s %6s = %6s  %8s %8s  %6s %6s  %6s  %s\n", "keys", "table",
				"sort", "unique", "table", "build", "negative", "positive", "insert", "remove", "read", "passes"
			for (i = 1; i <= n; i++) {
				row = rows[i]
				split(row, f, FS)
				printf "  %9d %-11s  %6.1f %6.1f %6.1f = %6.1f  %8.1f %8.1f  %6.1f %6.1f  %6.1f  %d, insert and remove %d\n", f[1], f[2],
					v[row, "sort"], v[row, "unique"], v[row, "table"], v[row, "build"], v[row, "negative"],
					v[row, "positive"], v[row, "insert"], v[row, "remove"], v[row, "read"], passes[row, "build"], passes[row, "insert"]
			}
			print "  read: one byte of the filter, each read waiting for the one before: what memory allows"
		}' "$results/speed"

	for n in "${sizes[@]}"; do
		aim "core build, $(number "$n") keys, ns per key" most 24 "$(speed_of "$n" dense build)"
	done
	for n in "${sizes[@]}"; do
		negative=$(speed_of "$n" dense negative)
		positive=$(speed_of "$n" dense positive)
		case $n in
			1000000)
				aim "core negative lookup, dense, $(number "$n") keys, ns" most 7.9 "$negative"
				aim "core negative lookup, sparse, $(number "$n") keys, ns" most 30 "$(speed_of "$n" sparse negative)"
				;;
			10000000) aim "core negative lookup, $(number "$n") keys, ns" most 25 "$negative" ;;
		esac
		aim "core positive / negative lookup, $(number "$n") keys" most 1.5 "$(calculate "$positive / $negative")"
	done
}

run_peers()
{
	local keys round sizes=(100000 1000000)

	[ -n "$quick" ] || sizes+=(10000000)
	if [ -z "${CUCKOO_PEERS:-}" ]; then
		printf '\npeers: left out, because CUCKOO_PEERS names no folder\n'
		return
	fi
	need_packages g++ libssl-dev
	tar -C "$CUCKOO_PEERS" -chf - cuckoofilter/src fastfilter_cpp/src | as_user tar -C "$work" -xf -
	as_user_interruptibly g++ -O2 -std=c++17 -w -I"$work/cuckoofilter/src" \
		-o "$work/authors" "$work/src/test/bench/peers.cpp" >"$work/log/peers" 2>&1 &&
		as_user_interruptibly g++ -O2 -std=c++17 -w -DSTABLE -I"$work/fastfilter_cpp/src" -I"$work/fastfilter_cpp/src/cuckoo" \
			-o "$work/fastfilter" "$work/src/test/bench/peers.cpp" >>"$work/log/peers" 2>&1 ||
		{ cat "$work/log/peers"; die "the peers did not compile"; }
	for round in 1 2 3 4 5; do
		for keys in "${sizes[@]}"; do
			core speed "$keys" 1 0 | awk -F '\t' -v OFS='\t' '
				$3 == "negative" { $3 = "absent" } $3 == "positive" { $3 = "present" }
				{ print $1, "cuckoo, " $2, $3, $5 }' >>"$results/peers"
			as_user_interruptibly "$work/authors" "$keys" >>"$results/peers"
			as_user_interruptibly "$work/fastfilter" "$keys" >>"$results/peers"
		done
	done
	printf '\ncore: ns per key, medians of %d; dense at full load, sparse at a third of it\n' "$round"
	sort -t "$(printf '\t')" -k1,1n -k2,2 -k3,3 -k4,4n "$results/peers" | awk -F '\t' '
		{ at = $1 FS $2; if (!(at in seen)) { seen[at]; order[++n] = at }; v[at, $3, ++count[at, $3]] = $4 }
		function median(part) { return v[at, part, int((count[at, part] + 1) / 2)] }
		END {
			printf "  %9s  %-33s %7s %7s %8s  %8s %7s\n", "keys", "filter", "build", "absent", "present", "bits/key", "rate %"
			for (i = 1; i <= n; i++) {
				at = order[i]
				split(at, f, FS)
				printf "  %9d  %-33s %7.1f %7.1f %8.1f  %8s %7s\n", f[1], f[2], median("build"), median("absent"), median("present"), median("bits"), median("rate")
			}
		}'
}

run_rates()
{
	core rates "$rate_keys" >"$results/rates"
	printf '\ncore: bits per key of a stored value of %s keys, against the rate measured\n' "$(number "$rate_keys")"
	awk -F '\t' '
		BEGIN {
			printf "  %-11s %8s %3s  %8s  %9s %9s  %8s %8s  %s\n", "table", "asked", "f", "bits/key", "measured",
				"expected", "Bloom", "bound", "bits/key to Bloom"
		}
		{
			bound = -log($5) / log(2)
			printf "  %-11s %8s %3d  %8.2f  %9s %9s  %8.2f %8.2f  %.2f\n", $2, $1, $3, $4, $5, $6, 1.44 * bound, bound, $4 / (1.44 * bound)
		}
		END { print "  Bloom: 1.44 log2(1/e), bound: log2(1/e), both at the rate measured" }' "$results/rates"
}

run_sizes()
{
	core sizes "$max_size" >"$results/sizes"
	printf '\ncore: whole stored values of a counted capacity; build from sorted hashes\n'
	awk -F '\t' '
		BEGIN { printf "  %9s %7s %3s  %8s  %9s  %s\n", "keys", "fpr", "f", "bits/key", "measured", "build, ns per key" }
		{ printf "  %9d %7s %3d  %8.3f  %9s  %15.1f\n", $1, $2, $3, $4, $5, $6 }' "$results/sizes"

	aim "bits per key at 0.001, 20,000 keys and more" most 12.5 \
		"$(awk -F '\t' '$2 == 0.001 && $1 >= 20000 && $4 > most { most = $4 } END { print most }' "$results/sizes")"
	aim "core build from sorted hashes, ns per key" most 24 \
		"$(awk -F '\t' '$2 == 0.001 && $1 >= 1000000 && $6 > most { most = $6 } END { print most }' "$results/sizes")"
}

# figure NAME UNIT: one of the single figures
figure()
{
	awk -F '\t' -v name="$1" -v unit="$2" '$1 == name && $3 == unit { print $2 }' "$results/figures"
}

run_figures()
{
	core figures "$max_size" >"$results/figures"
	printf '\ncore: single figures, fpr 0.001\n'
	awk -F '\t' '{ printf "  %-44s %12s %s\n", $1, $2, $3 }' "$results/figures"

	aim "bits per key, 1,000,000 keys, 100 times the capacity" most 20 \
		"$(figure "1000000 keys, capacity 100 times" "bits per key")"
	aim "bits per key, unknown capacity, worst above 2,000 keys" most 24 \
		"$(figure "unknown capacity, worst above 2000 keys" "bits per key")"
	aim "bytes, 1,000 keys of 100 copies each" most 20000 "$(figure "1000 keys of 100 copies each" bytes)"
	aim "bytes, 10,000 keys of 100 copies each" most 200000 "$(figure "10000 keys of 100 copies each" bytes)"
	aim "bytes, 1,000,000 keys of 6 copies each" most 10000000 "$(figure "1000000 keys of 6 copies each" bytes)"
	aim "single add to 30,000 keys of 1,000,000, us" most 1 "$(figure "single add to 30000 keys of 1000000" us)"
	aim "single add to 500,000 keys of 1,100,000, us" most 30 "$(figure "single add to 500000 keys of 1100000" us)"
	# The union against cuckoo_agg over the rows is measured in SQL.
	if [ -z "$quick" ]; then
		aim "365 daily filters of 30,000 keys, MB" most 32 "$(figure "365 daily filters" MB)"
		aim "core union of 365 daily filters, s" most 0.34 "$(figure "union of 365 daily filters" s)"
	fi
}

# -------------------------------------------------------------------- charts

# chart NAME DATA-FILES...: draws a chart by NAME.gp, if all of the data was
# measured.  In a browser with a dark scheme the chart has dark colours.
chart()
{
	local name=$1 file

	shift
	for file; do
		[ -s "$results/$file" ] || return 0
	done
	[ -n "$charts" ] || return 0
	mkdir -p "$charts"
	(cd "$results" && gnuplot -e "set output '$charts/$name.svg'" "$bench/$name.gp") || die "gnuplot failed: $name"
	sed -i 's|^<g id="gnuplot_canvas">|<style>@media (prefers-color-scheme: dark) { #gnuplot_canvas { filter: invert(0.93) hue-rotate(180deg) } }</style>\n&|' \
		"$charts/$name.svg"
	echo "chart: $charts/$name.svg"
}

# bars GROUP: writes the ns per row of a group's statements, for a bar chart
bars()
{
	awk -F '\t' -v group="$1" -v rows="$rows" '$1 == group { printf "\"%s\"\t%.1f\n", $2, $3 * 1e6 / rows }' \
		"$results/times.medians" 2>/dev/null >"$results/bars-$1" || true
}

draw_charts()
{
	bars build
	bars repeated
	bars scan
	echo
	chart bits-per-key rates
	chart core-speed speed
	chart sql-speed bars-build bars-repeated bars-scan
}

# -------------------------------------------------------------------- the run

print_aims()
{
	[ -s "$results/aims" ] || return 0
	[ -z "$quick" ] || printf '\nnote: the figures to reach are those of a full run, and --quick says little about them\n'
	printf '\nfigures to reach (ratio: of the figure measured to the one to reach)\n'
	awk -F '\t' '
		BEGIN { printf "  %-52s %14s %9s %7s\n", "", "to reach", "measured", "ratio" }
		{
			good = $2 == "most" ? $4 <= $3 : $4 >= $3
			reached += good
			printf "  %-52s %8s %5s %9.2f %7.2f  %s\n", $1, "at " $2, $3, $4, $4 / $3, good ? "ok" : "not"
			if (!good)
				missed = missed (missed == "" ? "" : "; ") $1
		}
		END { printf "\n%d of %d figures reached%s\n", reached, NR, missed == "" ? "" : ", not: " missed }' "$results/aims"
}

quick=
steps=()
for argument; do
	case $argument in
		--quick) quick=1 ;;
		*) [[ " ${all_steps[*]} " == *" $argument "* ]] || die "no step is called $argument, there are: ${all_steps[*]}"
			steps+=("$argument") ;;
	esac
done
[ ${#steps[@]} -gt 0 ] || steps=("${all_steps[@]}")
set_sizes
variables=()

find_postgresql
need_packages "${packages[@]}" gnuplot-nox
more_postgresql=postgresql-$pgversion-hll
make_folder
# From here on use the copy, which the unprivileged user can read.
bench=$work/src/test/bench
results=$work/results
mkdir "$results"
echo "machine: $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg)"

for step in "${steps[@]}"; do
	"run_$step"
done
draw_charts
print_aims
echo "$SECONDS s in all"
