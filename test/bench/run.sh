#!/usr/bin/env bash
#
# Measures the figures of README, guide and docs/performance.md: test/bench/run.sh
# for all, in about half an hour, test/bench/run.sh STEP... for some of
#
#   speed    the core: ns per key to build, add, look up, remove
#   peers    the core against the cuckoo filters of the paper's authors and of
#            FastFilter, in turns.  CUCKOO_PEERS=FOLDER has their sources in
#            cuckoofilter and fastfilter_cpp; without it the step is left out.
#            They are compiled as their own benchmarks are, for this machine
#   rates    SQL: bits per key against the false-positive rate
#   build    SQL: cuckoo_agg against other aggregates over the same rows
#   parallel SQL: aggregates on two parallel workers
#   scan     SQL: a scan through a filter against IN, = ANY, a semi-join
#   join     SQL: joins with many and few keys, with a filter and without it
#   year     SQL: the union of 365 daily filters against the rows behind them
#   point    SQL: one lookup in a stored filter
#   index    SQL: building, writing, vacuuming and looking up in a cuckoo index and
#            a B-tree, and their sizes
#   constraint SQL: keeping URLs unique by a unique B-tree, constraints with a hash and
#            a cuckoo index, and from 18 on a unique cuckoo index
#
# With --quick it uses a tenth of the data and fewer rounds, which shows that
# all steps work.  It prints tables, and writes charts to docs/ or to the
# folder that CHARTS names; with --quick and no CHARTS it writes none.  Times
# are medians.  What is compared runs in turns.
#
# Needs a Debian machine with 8 GB of memory, and root or sudo where packages
# are missing.  PGVERSION=17 chooses a PostgreSQL; KEEP=1 keeps the temporary
# folder.

set -euo pipefail
bench=$(dirname "$(readlink -f "$0")")
# shellcheck source=test/lib.sh
. "$bench/../lib.sh"

all_steps=(speed rates peers build parallel scan join year point index constraint)
charts=$root/docs
# keys, passes, passes of the slow parts (add and remove)
speed_runs=("10000 9 9" "100000 9 9" "1000000 5 5" "10000000 5 5" "60000000 5 1")
peer_keys=(100000 1000000 10000000)
rows=10000000
rounds=5
seconds=3
shared_buffers=2GB

steps=()
for argument; do
	if [ "$argument" = --quick ]; then
		charts=
		speed_runs=("10000 3 3" "1000000 3 3")
		peer_keys=(100000)
		rows=1000000
		rounds=3
		seconds=1
		shared_buffers=512MB
	else
		[[ " ${all_steps[*]} " == *" $argument "* ]] || die "no step is called $argument, there are: ${all_steps[*]}"
		steps+=("$argument")
	fi
done
[ ${#steps[@]} -gt 0 ] || steps=("${all_steps[@]}")
[ -z "${CHARTS:-}" ] || charts=$(realpath "$CHARTS")
keys=$((rows / 10))

# -------------------------------------------------------------------- results

# $results/NAME has lines of a group, a label and a number, separated by tabs.

# medians NAME: writes the median, least and most of each label to NAME.medians,
# in the order of their first lines
medians()
{
	awk -F '\t' -v OFS='\t' '
		{ key = $1 FS $2; if (!(key in n)) order[++keys] = key; v[key, ++n[key]] = $3 }
		END {
			for (i = 1; i <= keys; i++) {
				key = order[i]
				for (a = 2; a <= n[key]; a++)
					for (b = a; b > 1 && v[key, b - 1] + 0 > v[key, b] + 0; b--) {
						t = v[key, b]; v[key, b] = v[key, b - 1]; v[key, b - 1] = t
					}
				print key, v[key, int(n[key] / 2) + 1], v[key, 1], v[key, n[key]]
			}
		}' "$results/$1" >"$results/$1.medians"
}

# table NAME TITLE UNIT: prints the medians, and the ratio of each to the first
# of its group, or of what its label begins with ("COPY: ")
table()
{
	medians "$1"
	printf '\n%s\n' "$2"
	awk -F '\t' -v unit="$3" '
		BEGIN { printf "  %-17s %-52s %10s %7s  %s\n", "", "", unit, "ratio", "min-max" }
		{
			base = $1; if (match($2, /^[^:]*: /)) base = base substr($2, 1, RLENGTH)
			if (!(base in first)) first[base] = $3
			printf "  %-17s %-52s %10.1f %7.2f  %.1f-%.1f\n", $1, $2, $3, $3 / (first[base] ? first[base] : 1), $4, $5
		}' "$results/$1.medians"
}

# chart NAME: draws a chart by NAME.gp.  In a browser with a dark scheme it has
# dark colours.
chart()
{
	[ -n "$charts" ] || return 0
	(cd "$results" && gnuplot -e "set output '$charts/$1.svg'" "$bench/$1.gp") || die "gnuplot failed: $1"
	sed -i 's|^<g id="gnuplot_canvas">|<style>@media (prefers-color-scheme: dark) { #gnuplot_canvas { filter: invert(0.93) hue-rotate(180deg) } }</style>\n&|' \
		"$charts/$1.svg"
	echo "chart: $charts/$1.svg"
}

# -------------------------------------------------------------------- the core

core()
{
	[ -x "$work/core" ] || as_user sh -c "gcc -O2 -std=gnu11 -Wall -Wextra -I'$work/src/src/core' -DCUCKOO_STANDALONE \
		-o '$work/core' '$bench/core.c' '$work'/src/src/core/*.c -lm" >"$work/log/core" 2>&1 || { cat "$work/log/core"; die "the core did not compile"; }
	as_user "$work/core" "$@"
}

run_speed()
{
	local run

	for run in "${speed_runs[@]}"; do
		# shellcheck disable=SC2086  # three arguments
		core $run >>"$results/speed"
	done
	table speed "core: dense at full load, sparse at a third of it; read: one read of memory" "ns per key"
	chart core-speed
}

run_rates()
{
	prepare
	printf '\nstored values of %d keys: rate asked, representation, bits per key, rate measured\n' "$keys"
	psql_file "$bench/rates.sql" | tee "$results/rates"
	chart bits-per-key
}

run_peers()
{
	local n flags=(-O3 -DNDEBUG -march=native -std=c++17 -w)

	[ -n "${CUCKOO_PEERS:-}" ] || { printf '\npeers: left out, because CUCKOO_PEERS names no folder\n'; return; }
	need_packages g++ libssl-dev
	tar -C "$CUCKOO_PEERS" -chf - cuckoofilter/src fastfilter_cpp/src | as_user tar -C "$work" -xf -
	as_user g++ "${flags[@]}" -I"$work/cuckoofilter/src" -o "$work/authors" "$bench/peers.cpp"
	as_user g++ "${flags[@]}" -DSTABLE -I"$work/fastfilter_cpp/src" -I"$work/fastfilter_cpp/src/cuckoo" -o "$work/fastfilter" "$bench/peers.cpp"
	for n in "${peer_keys[@]}"; do
		for _ in 1 2 3 4 5; do
			{ core "$n" 1 0; as_user "$work/authors" "$n"; as_user "$work/fastfilter" "$n"; } >>"$results/peers"
		done
	done
	table peers "core beside other cuckoo filters; bits: bits per key; rate: in percent" "ns per key"
}

# ------------------------------------------------------------------------ SQL

# Starts the server and makes the data.  Shared buffers are four times the
# largest table; with less, PostgreSQL would not keep all of it there.
server_ready=
prepare()
{
	[ -z "$server_ready" ] || return 0
	build_extension
	make_cluster
	as_user tee -a "$work/data/postgresql.conf" >/dev/null <<-CONF
		shared_buffers = $shared_buffers
		max_wal_size = 16GB
		autovacuum = off
		jit = off
		work_mem = '1GB'
		max_parallel_workers_per_gather = 0
	CONF
	run_server
	psql_file "$bench/setup.sql" >"$work/log/setup" 2>&1 || { cat "$work/log/setup"; die "could not make the data"; }
	server_ready=1
	echo "SQL: PostgreSQL $(query 'SHOW server_version'), $rows rows"
}

# psql_file FILE PSQL-ARGUMENTS...
psql_file()
{
	as_user psql -XqAt -v ON_ERROR_STOP=1 -v "rows=$rows" -v "keys=$keys" "${@:2}" -f "$1"
}

query()
{
	as_user psql -XqAt -v ON_ERROR_STOP=1 -c "$1" </dev/null
}

# script FILE KIND: writes a psql script from paragraphs of SQL.  Those that begin
# with "-- @ LABEL | PLAN NODE" are measured: it times all, or explains all that
# have a plan node.
script()
{
	awk -v RS= -v kind="$2" '
		BEGIN { print "\\o /dev/null" }
		!/^-- @ /  { print; next }
		{
			label = substr($0, 6, index($0, "\n") - 6); node = label
			if (!sub(/.* \| /, "", node)) node = ""
			sub(/ \| .*/, "", label)
			sub(/^[^\n]*\n/, "")
		}
		kind == "time" { print "\\echo @" label "\n\\timing on\n" $0 "\n\\timing off" }
		kind == "plan" && node != "" { print "\\o\n\\echo @" label " | " node "\nEXPLAIN (COSTS OFF) " $0 "\n\\o /dev/null" }' "$1" |
		as_user tee "$work/script.sql" >/dev/null
}

# run_statements NAME FILE [PSQL-ARGUMENTS]: times the statements of a file in
# sessions that each run all of them in turn.  A note is printed for each whose
# plan lacks its plan node, because its time would be that of another plan.
run_statements()
{
	local name=$1 file=$2 round

	shift 2
	script "$file" plan
	psql_file "$work/script.sql" "$@" >"$work/log/plan" || die "EXPLAIN failed: $file"
	awk '
		function check() { if (label != "" && !found) print "note: not planned with \"" node "\": " label }
		/^@/ { check(); label = node = substr($0, 2); sub(/ \| .*/, "", label); sub(/.* \| /, "", node); found = 0; next }
		index($0, node) { found = 1 }
		END { check() }' "$work/log/plan"
	script "$file" time
	for ((round = 0; round < rounds; round++)); do
		psql_file "$work/script.sql" "$@" >"$work/log/times" || die "a statement of $file failed"
		awk -v OFS='\t' -v group="$name" '/^@/ { label = substr($0, 2) } /^Time: / { print group, label, $2 }' "$work/log/times" >>"$results/$name"
	done
}

# run_cases NAME CASE...: times the statements of NAME.sql for each case in turn
run_cases()
{
	local name=$1 case

	for case in "${@:2}"; do
		printf '\\set case %s\n\n' "$case"
		cat "$bench/$name.sql"
		echo
	done >"$results/$name.sql"
	run_statements "$name" "$results/$name.sql" -v "copied=$work/copied"
}

# latency NAME LABEL STATEMENT...: times a psql script with a prepared statement
latency()
{
	printf '%s\n' "${@:3}" | as_user tee "$work/pgbench.sql" >/dev/null
	as_user pgbench -n -M prepared -T "$seconds" -f "$work/pgbench.sql" 2>&1 |
		awk -v OFS='\t' -v name="$1" -v label="$2" '/^tps = / { print name, label, 1e6 / $3 }' >>"$results/$1"
}

# statements_step NAME TITLE SQL-FILE [PSQL-ARGUMENTS]: a step that prints a table of
# times
statements_step()
{
	prepare
	run_statements "$1" "$bench/$3" "${@:4}"
	table "$1" "$2" ms
}

distinct=(-v table=distinct_rows -v "capacity=$rows")
repeated=(-v table=repeated_rows -v capacity=1000)

run_build()
{
	statements_step distinct "build: all rows distinct, one process" build.sql "${distinct[@]}"
	statements_step repeated "build: 1,000 distinct keys, one process" build.sql "${repeated[@]}"
}

run_parallel()
{
	statements_step parallel-distinct "parallel: all rows distinct, two workers" parallel.sql "${distinct[@]}"
	statements_step parallel-repeated "parallel: 1,000 distinct keys, two workers" parallel.sql "${repeated[@]}"
}

run_scan() { statements_step scan "scan: a set of $keys keys, 1 % matching" scan.sql; }

run_join()
{
	prepare
	run_cases join members tenth hundredth some_urls few repeated_few
	table join "join: with the keys of tables of setup.sql" ms
}

run_year()
{
	statements_step year "year: 365 daily filters with the capacity of the year" year.sql
	echo "  the filters have $(query "SELECT pg_total_relation_size('days')") bytes"
}

run_point()
{
	local round kind id

	prepare
	for ((round = 0; round < rounds; round++)); do
		latency point "a row of 100 bytes" '\set id random(1, 1000)' 'SELECT filler FROM small_rows WHERE id = :id;'
		while read -r id kind; do
			latency point "$kind" '\set key random(1, 1000000)' "\\set id $id" \
				'SELECT f @> :key::bigint FROM stored_filters WHERE id = :id;'
		done <<-FILTERS
			1 dense filter of 1 MB
			100 dense filter of 100 MB
			2 sparse filter of 1 MB
			200 sparse filter of 100 MB
		FILTERS
	done
	table point "point lookup: prepared, through the protocol, one client" us
}

run_index()
{
	local round method key

	prepare
	psql_file "$bench/index_setup.sql" -v "copied=$work/copied" >/dev/null
	psql_file "$bench/index_sizes.sql" | grep -P '\t' >"$results/index-size"
	table index-size "index: bytes per row when built, and ratios" ""
	run_cases index none btree hash cuckoo
	table index "index: builds, inserts, VACUUM" ms
	for ((round = 0; round < rounds; round++)); do
		for key in absent present; do
			for method in btree cuckoo; do
				latency lookup "$key: $method" "\\set key random(1, $((rows / 5)))" \
					"SELECT id FROM lookup_$method WHERE k = hashint8extended(:key, $([ "$key" = absent ] && echo 5 || echo 0));"
			done
		done
	done
	table lookup "index: a prepared lookup through the protocol, one client" us
}

run_constraint()
{
	local methods=(btree hash cuckoo)

	# Unique cuckoo indexes
	[ "$pgversion" -lt 18 ] || methods+=(unique)
	prepare
	psql_file "$bench/constraint_setup.sql"
	run_cases constraint "${methods[@]}"
	table constraint "constraint: $((rows / 10)) URLs of 75 bytes there" ms
	query "SELECT format(E'constraint\t%s\t%s', label, bytes / 1e6) FROM constraint_sizes WHERE bytes > 0" >>"$results/constraint-size"
	table constraint-size "constraint: the index" MB
}

# -------------------------------------------------------------------- the run

run_steps()
{
	local step

	for step in "${steps[@]}"; do
		"run_$step"
	done
}

find_postgresql
need_packages "${packages[@]}" gnuplot-nox
more_postgresql=("postgresql-$pgversion-hll")
make_folder
# From here on use the copy, which the unprivileged user can read.
bench=$work/src/test/bench
results=$work/results
mkdir "$results"
echo "machine: $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg)"
interruptibly run_steps
echo "$SECONDS s in all"
