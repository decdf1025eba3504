# shellcheck shell=bash disable=SC2154  # variables of run.sh and lib.sh
#
# The benchmarks in SQL, which run.sh runs.  They have a server of their own and
# take statements from the *.sql files in this folder.  Each round is a session
# that runs all statements of a file in turn.

# Starts the server and makes the data.  Shared buffers are four times the
# largest table; with less, PostgreSQL would not keep all of the table there
# during scans.
server_ready=
prepare_server()
{
	[ -z "$server_ready" ] || return 0
	as_user_interruptibly make -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" install >"$work/log/build" 2>&1 ||
		{ cat "$work/log/build"; die "the build failed"; }
	start_server
	as_user tee -a "$work/data/postgresql.conf" >/dev/null <<-CONF
		shared_buffers = $shared_buffers
		max_wal_size = 16GB
		autovacuum = off
	CONF
	as_user pg_ctl -D "$work/data" -l "$work/data/log" -w restart >"$work/log/start" 2>&1 ||
		{ cat "$work/data/log"; die "the server did not start with shared_buffers = $shared_buffers"; }
	server_ready=1
}

sql_ready=
prepare_sql()
{
	local started=$SECONDS

	[ -z "$sql_ready" ] || return 0
	prepare_server
	psql_file "$bench/setup.sql" >"$work/log/setup" 2>&1 ||
		{ cat "$work/log/setup"; die "could not make the data"; }
	if [ "$(query "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'cuckoo_stream_agg')")" = t ]; then
		stream=1
	else
		stream=0
	fi
	sql_ready=1
	echo "SQL: PostgreSQL $(query 'SHOW server_version'), $(number "$rows") rows, a filter of $(number "$keys") keys, data made in $((SECONDS - started)) s"
}

psql_file()
{
	as_user_interruptibly psql -X -q -A -t -v ON_ERROR_STOP=1 -v "rows=$rows" -v "keys=$keys" \
		-v "stream=${stream:-0}" "${variables[@]}" -f "$1"
}

query()
{
	as_user psql -X -q -A -t -v ON_ERROR_STOP=1 -c "$1" </dev/null
}

# ------------------------------------------------------ statements of a file

# A statement ends at a semicolon at the end of a line that is not indented.  A
# DO block ends at $$;.
ends_statement='function ends_statement() { return /^[^\t].*;$/ || /\$\$;$/ }'

# timing_script FILE: prints the file as a psql script that times each statement
timing_script()
{
	awk "$ends_statement"'
		BEGIN { print "\\o /dev/null" }
		/^-- @ / {
			sub(/^-- @ /, ""); sub(/ \| .*/, "")
			print "\\echo @" $0 "\n\\timing on"
			measured = 1
			next
		}
		{ print }
		measured && ends_statement() { print "\\timing off"; measured = 0 }' "$1"
}

# plan_script FILE: the same, explaining each statement whose plan node is given
plan_script()
{
	awk "$ends_statement"'
		/^-- @ / {
			skipped = !/ \| /
			print skipped ? "\\if false" : "\\echo @" substr($0, 6) "\nEXPLAIN (COSTS OFF)"
			measured = 1
			next
		}
		{ print }
		measured && ends_statement() { if (skipped) print "\\endif"; measured = 0 }' "$1"
}

# memory_script FILE NUMBER TOUCH: prints the file's settings and the statement
# with this number as a psql script that measures the memory of the statement
memory_script()
{
	awk -v wanted="$2" -v touch="$3" "$ends_statement"'
		/^-- @ / {
			measured = 1
			if (++number == wanted) {
				sub(/^-- @ /, ""); sub(/ \| .*/, "")
				print touch "\n\\echo @" $0 "\n\\o /dev/null"
			}
			next
		}
		!measured || number == wanted { print }
		measured && ends_statement() {
			measured = 0
			if (number == wanted) {
				print "\\o\nSELECT own_peak_kb() - :before_kb;"
				exit
			}
		}' "$1"
}

script_for()
{
	"$@" | as_user tee "$work/script.sql" >/dev/null
}

# check_plans GROUP FILE: prints a note for each statement whose plan does not
# have its plan node, because its time would be that of another plan
check_plans()
{
	script_for plan_script "$2"
	psql_file "$work/script.sql" >"$work/log/plan-$1" || die "EXPLAIN failed: $1"
	awk -v group="$1" '
		function check() { if (label != "" && !found) print "note: " group ": not planned with \"" node "\": " label }
		/^@/ {
			check()
			label = substr($0, 2); node = label
			sub(/ \| .*/, "", label); sub(/.* \| /, "", node)
			found = 0
			next
		}
		index($0, node) { found = 1 }
		END { check() }' "$work/log/plan-$1"
}

# time_statements GROUP FILE [PSQL-ARGUMENTS]: appends group, label and ms of
# each run to $results/times
time_statements()
{
	local group=$1 file=$2 round variables

	shift 2
	variables=("$@")
	check_plans "$group" "$file"
	script_for timing_script "$file"
	for ((round = 0; round < rounds; round++)); do
		psql_file "$work/script.sql" >"$work/log/times" || die "a statement of $file failed"
		awk -v OFS='\t' -v group="$group" '
			/^@/ { label = substr($0, 2) }
			/^Time: / { print group, label, $2 }' "$work/log/times" >>"$results/times"
	done
}

# memory_of_statements GROUP FILE TOUCH [PSQL-ARGUMENTS]: runs each statement
# in a new process and appends group, label and its peak in kB to
# $results/memory
memory_of_statements()
{
	local group=$1 file=$2 touch=$3 number count variables

	shift 3
	variables=("$@")
	count=$(grep -c '^-- @ ' "$file")
	for ((number = 1; number <= count; number++)); do
		script_for memory_script "$file" "$number" "\\i $touch"
		psql_file "$work/script.sql" >"$work/log/memory" || die "statement $number of $file failed"
		awk -v OFS='\t' -v group="$group" '
			/^@/ { label = substr($0, 2) }
			/^-?[0-9]+$/ && label != "" { print group, label, $1 }' "$work/log/memory" >>"$results/memory"
	done
}

# -------------------------------------------------------------------- reading

# medians NAME: writes the median, least and most of each label in
# $results/NAME to $results/NAME.medians, in the order of their first lines
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

# median NAME GROUP LABEL: prints a median, or nothing if it was not measured
median()
{
	awk -F '\t' -v group="$2" -v label="$3" '$1 == group && $2 == label { print $3 }' "$results/$1.medians"
}

# time_table GROUP BASELINE TITLE [ROWS]: prints the times of a group's
# statements, and their ratios to one of them
time_table()
{
	medians times
	printf '\n%s\n' "$3"
	awk -F '\t' -v group="$1" -v base="$(median times "$1" "$2")" -v rows="${4:-$rows}" -v name="$2" '
		BEGIN { printf "  %-44s %9s %9s %9s %9s\n", "", "ms", "ns/row", "ratio", "min-max ms" }
		$1 == group {
			printf "  %-44s %9.1f %9.1f %9.2f %9.0f-%.0f\n", $2, $3, $3 * 1e6 / rows, $3 / base, $4, $5
		}
		END { printf "  ratio: to %s\n", name }' "$results/times.medians"
}

# memory_table GROUP KEYS TITLE: prints the memory of a group's statements
memory_table()
{
	medians memory
	printf '\n%s\n' "$3"
	awk -F '\t' -v group="$1" -v keys="$2" '
		BEGIN { printf "  %-44s %9s %11s\n", "", "MB", "bytes/key" }
		$1 == group { printf "  %-44s %9.1f %11.1f\n", $2, $3 / 1024, $3 * 1024 / keys }' "$results/memory.medians"
}

# ---------------------------------------------------------------------- steps

run_build()
{
	prepare_sql
	time_statements build "$bench/build.sql" -v table=distinct_rows
	time_table build "max(k)" "build: $(number "$rows") rows, all distinct, one process"
	time_statements repeated "$bench/build.sql" -v table=repeated_rows
	time_table repeated "max(k)" "build: $(number "$rows") rows, 1,000 distinct, one process"

	aim_ratio "cuckoo_agg, distinct rows / max(k)" most 2.0 times build "cuckoo_agg(k)" "max(k)"
	aim_ratio "cuckoo_agg, distinct rows / count(DISTINCT k)" most 1.0 times build "cuckoo_agg(k)" "count(DISTINCT k)"
	aim_ratio "SELECT DISTINCT k / cuckoo_agg, distinct rows" least 6.0 times build "SELECT DISTINCT k, hashed" "cuckoo_agg(k)"
	aim_ratio "cuckoo_agg, distinct rows / hll" most 1.7 times build "cuckoo_agg(k)" "hll_add_agg(hll_hash_bigint(k))"
	aim_ratio "cuckoo_agg, 1,000 distinct / max(k)" most 1.3 times repeated "cuckoo_agg(k)" "max(k)"
}

run_parallel()
{
	prepare_sql
	time_statements parallel-repeated "$bench/parallel.sql" -v table=repeated_rows -v distinct=1000
	time_table parallel-repeated "cuckoo_agg(k)" "parallel: $(number "$rows") rows, 1,000 distinct, two workers on $(nproc) cores"
	time_statements parallel-distinct "$bench/parallel.sql" -v table=distinct_rows -v "distinct=$rows"
	time_table parallel-distinct "cuckoo_agg(k)" "parallel: $(number "$rows") rows, all distinct, two workers on $(nproc) cores"

	aim_ratio "speed-up by two workers, 1,000 distinct" least 1.6 times parallel-repeated "cuckoo_agg(k)" "cuckoo_agg(k), parallel"
	aim_ratio "speed-up by two workers, all distinct" least 1.0 times parallel-distinct "cuckoo_agg(k)" "cuckoo_agg(k), parallel"
	aim_ratio "speed-up by two workers, cuckoo_stream_agg" least 1.6 times parallel-distinct \
		"cuckoo_stream_agg(k)" "cuckoo_stream_agg(k), parallel"
}

run_scan()
{
	prepare_sql
	time_statements scan "$bench/scan.sql"
	time_table scan "hashint8(k) = constant" "scan: $(number "$rows") rows, a set of $(number "$keys") keys, 1 % matching"

	aim_ratio "scan through the filter / hashint8(k) = constant" most 1.8 times scan "filter, stored" "hashint8(k) = constant"
	aim_ratio "hashed IN (sub-select) / the filter" least 5.0 times scan "k IN (sub-select), hashed" "filter, stored"
	aim_ratio "hash semi-join / the filter" least 5.0 times scan "hash semi-join" "filter, stored"
	aim_ratio "IN alone / filter AND IN, hashed" least 3.0 times scan \
		"k IN (sub-select), hashed" "filter and k IN (sub-select), hashed"
	aim_ratio "IN alone / filter AND IN, as planned" least 3.0 times scan \
		"k IN (sub-select), as planned" "filter and k IN (sub-select), as planned"
}

run_partitions()
{
	local per_partition=$((rows / 500))

	prepare_sql
	time_statements partitions "$bench/partitions.sql"
	time_table partitions "above the Append" \
		"scan: 60 partitions, $(number "$((per_partition * 60))") rows, a filter of $(number "$((keys * 10))") keys" "$((per_partition * 60))"

	aim_ratio "filter in each of 60 partitions / above the Append" most 1.5 times partitions "in each partition" "above the Append"
	aim_ratio "the same with two workers / one table" most 1.5 times partitions \
		"in each partition, two workers" "one table, two workers"
}

# At full size there are 365 days of 30,000 keys.
run_year()
{
	local per_day=$((rows * 3 / 1000)) bytes

	prepare_sql
	time_statements year "$bench/year.sql" -v "year_keys=$((rows * 11 / 10))"
	time_table year "cuckoo_agg over the rows" \
		"year: 365 daily filters of $(number "$per_day") keys with the capacity of $(number "$((rows * 11 / 10))")" "$((per_day * 365))"
	bytes=$(query "SELECT pg_total_relation_size('days')")
	printf '  the table of filters: %s bytes\n' "$(number "$bytes")"

	aim "365 daily filters, bits per key" most 23.4 "$(calculate "8 * $bytes / ($per_day * 365)")"
	aim_ratio "union of 365 daily filters / cuckoo_agg over the rows" most 1.0 times year \
		"cuckoo_union_agg of 365 filters" "cuckoo_agg over the rows"
}

run_forms()
{
	prepare_sql
	time_statements forms "$bench/forms.sql"
	time_table forms "sub-select, stored filter" "scan: where the filter comes from"
}

# pgbench_ms SCRIPT LABEL PGBENCH-ARGUMENTS: times a script with one client and
# prepared statements
pgbench_ms()
{
	local script=$1 label=$2

	shift 2
	printf '%s\n' "$script" | as_user tee "$work/pgbench.sql" >/dev/null
	as_user_interruptibly pgbench -n -M prepared -c 1 "$@" -f "$work/pgbench.sql" >"$work/log/pgbench" 2>&1 ||
		{ cat "$work/log/pgbench"; die "pgbench failed"; }
	awk -v OFS='\t' -v label="$label" '/^tps = / { print "point", label, 1000 / $3 }' "$work/log/pgbench" >>"$results/times"
}

run_point()
{
	local round kind size variables=()

	prepare_sql
	for ((round = 0; round < rounds; round++)); do
		# shellcheck disable=SC2016  # pgbench makes parameters of its variables
		{
			pgbench_ms $'\\set id random(1, 1000)\nSELECT filler FROM small_rows WHERE id = :id;' "a row of 100 bytes" -T "$point_s"
			pgbench_ms $'\\set key random(1, 1000000)\n\\set id 1\nSELECT f @> :key::bigint FROM stored_filters WHERE id = :id;' \
				"dense filter of 1 MB, one lookup" -T "$point_s"
			pgbench_ms $'\\set key random(1, 1000000)\n\\set id 100\nSELECT f @> :key::bigint FROM stored_filters WHERE id = :id;' \
				"dense filter of 100 MB, one lookup" -T "$point_s"
			pgbench_ms $'\\set key random(1, 1000000)\n\\set id 2\nSELECT f @> :key::bigint FROM stored_filters WHERE id = :id;' \
				"sparse filter of 1 MB, one lookup" -T "$point_s"
			pgbench_ms $'\\set key random(1, 1000000)\n\\set id 200\nSELECT f @> :key::bigint FROM stored_filters WHERE id = :id;' \
				"sparse filter of 100 MB, one lookup" -T "$point_s"
			pgbench_ms $'\\set id 1\nSELECT get_byte(b, 0) FROM stored_bytes WHERE id = :id;' "bytea of 1 MB, read whole" -t 300
			pgbench_ms $'\\set id 100\nSELECT get_byte(b, 0) FROM stored_bytes WHERE id = :id;' "bytea of 100 MB, read whole" -t 3
		}
	done
	medians times
	printf '\npoint lookup: prepared, through the protocol, one client\n'
	awk -F '\t' -v base="$(median times point "a row of 100 bytes")" '
		BEGIN { printf "  %-44s %9s %9s %9s\n", "", "us", "ratio", "min-max us" }
		$1 == "point" { printf "  %-44s %9.1f %9.2f %9.1f-%.1f\n", $2, $3 * 1e3, $3 / base, $4 * 1e3, $5 * 1e3 }
		END { print "  ratio: to a row of 100 bytes" }' "$results/times.medians"

	for kind in dense sparse; do
		for size in 1 100; do
			aim_ratio "lookup in a $kind filter of $size MB / a row of 100 bytes" most 1.5 times point \
				"$kind filter of $size MB, one lookup" "a row of 100 bytes"
		done
	done
}

# Prints the tables and functions of the guide's recipe.
dedupe_recipe()
{
	awk '
		/^## / { here = $0 == "## Removing duplicates from a stream" }
		here && /^```sql$/ { block = ""; inside = 1; next }
		inside && /^```$/ { inside = 0; if (block ~ /^CREATE (TABLE|FUNCTION) (pages|store_new)/) print block; next }
		inside { block = block $0 "\n" }' "$root/docs/guide.md"
}

# dedupe_run METHOD SESSIONS BATCH ROUND SCRIPT: appends rows per second to
# $results/dedupe_rows and bytes of WAL per row to $results/dedupe_wal.
# Session n has stream n and, with the guide's recipe, shard n.
dedupe_run()
{
	local method=$1 sessions=$2 batch=$3 round=$4 before after

	printf '\\set number :number + 1\n%s\n' "$5" | as_user tee "$work/pgbench.sql" >/dev/null
	query 'VACUUM' && query 'CHECKPOINT'
	before=$(query 'SELECT pg_current_wal_insert_lsn()')
	as_user_interruptibly pgbench -n -M prepared -c "$sessions" -j "$sessions" -T "$dedupe_s" -D "number=$((round * 1000000))" \
		-D "n=$batch" -D "known=$((dedupe_keys / sessions))" -f "$work/pgbench.sql" >"$work/log/pgbench" 2>&1 ||
		{ cat "$work/log/pgbench"; die "pgbench failed"; }
	after=$(query "SELECT pg_current_wal_insert_lsn() - '$before'")
	awk -v OFS='\t' -v group="$sessions $batch" -v method="$method" -v n="$batch" -v wal="$after" -v rows="$results/dedupe_rows" -v bytes="$results/dedupe_wal" '
		/actually processed/ { done = $NF; sub(/\/.*/, "", done) }
		/^tps = / { print group, method, $3 * n >>rows; print group, method, wal / (done * n) >>bytes }' "$work/log/pgbench"
}

run_dedupe()
{
	local sessions batch round group

	prepare_sql
	dedupe_recipe | as_user tee "$work/dedupe.sql" >/dev/null
	psql_file "$work/dedupe.sql" >"$work/log/dedupe" 2>&1 && psql_file "$bench/dedupe.sql" >>"$work/log/dedupe" 2>&1 ||
		{ cat "$work/log/dedupe"; die "the recipe failed"; }
	for sessions in 1 4; do
		for batch in "${dedupe_batches[@]}"; do
			query "CALL begin_stream($sessions, $((dedupe_keys / sessions)))"
			query 'VACUUM ANALYZE'
			# shellcheck disable=SC2016  # pgbench's variables
			for ((round = 0; round < rounds; round++)); do
				dedupe_run "unique index" "$sessions" "$batch" "$round" \
					'SELECT store_indexed(batch(:client_id, :known, :number, :n));'
				dedupe_run "one filter" "$sessions" "$batch" "$round" \
					$'SELECT store_filtered(batch(:client_id, :known, :number, :n));\n\\if :number % 64 = 0\nVACUUM (SKIP_LOCKED) one_filter;\n\\endif'
				dedupe_run "deltas" "$sessions" "$batch" "$round" \
					$'SELECT store_new(:client_id, batch(:client_id, :known, :number, :n));\n\\if :number % 64 = 0\nSELECT fold_seen(:client_id);\nVACUUM (SKIP_LOCKED) seen, seen_delta;\n\\endif'
			done
			query "
				SELECT '$sessions $batch', 'unique index', pg_indexes_size('indexed_pages'), 0
				UNION ALL SELECT '$sessions $batch', 'one filter', pg_total_relation_size('one_filter'), sum(pg_column_size(f)) FROM one_filter
				UNION ALL SELECT '$sessions $batch', 'deltas', pg_total_relation_size('seen') + pg_total_relation_size('seen_delta'), sum(pg_column_size(f)) FROM seen" |
				tr '|' '\t' >>"$results/dedupe_sizes"
		done
	done
	medians dedupe_rows
	medians dedupe_wal
	printf '\ndedupe: a stream of URLs, half of them new, into a table of %s; deltas folded every 64 batches, a shard per session\n' "$(number "$dedupe_keys")"
	awk -F '\t' '
		BEGIN { printf "  %-17s %-13s %10s %6s %17s %10s %9s %9s\n", "sessions, batch", "", "rows per s", "ratio", "min-max", "WAL B/row", "MB at end", "filter MB" }
		FILENAME ~ /wal/ { wal[$1, $2] = $3; next }
		FILENAME ~ /sizes/ { size[$1, $2] = $3 / 1e6; filter[$1, $2] = $4 / 1e6; next }
		$2 == "unique index" { base = $3 }
		{ printf "  %-17s %-13s %10d %6.2f %17s %10d %9.1f %9.1f\n", $1, $2, $3, $3 / base, int($4) "-" int($5), wal[$1, $2], size[$1, $2], filter[$1, $2] }
		END { print "  ratio: to the unique index; WAL without full-page images; MB: the index, or the tables of filters" }' \
		"$results/dedupe_wal.medians" "$results/dedupe_sizes" "$results/dedupe_rows.medians"

	group="1 100"
	aim_ratio "batches of 100: deltas / one filter, rows per s" least 3 dedupe_rows "$group" deltas "one filter"
	aim "batches of 100: WAL of deltas, bytes per row" most 947 "$(median dedupe_wal "$group" deltas)"
	aim_ratio "batches of 10,000: deltas / unique index, rows per s" least 1 dedupe_rows "1 10000" deltas "unique index"
}

run_memory()
{
	local n size label

	prepare_sql
	memory_of_statements memory-build "$bench/build.sql" "$bench/touch.sql" -v "table=distinct_rows"
	memory_table memory-build "$rows" "memory of a build at its peak: $(number "$rows") rows, all distinct, a new process each"
	memory_of_statements memory-scan "$bench/scan.sql" "$bench/touch.sql"
	memory_table memory-scan "$keys" "memory of a scan at its peak: a set of $(number "$keys") keys, a new process each"

	for n in "${memory_keys[@]}"; do
		memory_of_statements "memory-$n" "$bench/memory.sql" "$bench/touch.sql" -v "n=$n"
		memory_table "memory-$n" "$n" "memory of cuckoo_agg at its peak: $(number "$n") distinct keys"
	done

	for n in "${memory_keys[@]}"; do
		size="$(number "$n") keys"
		label="bytes per key in the state, $size"
		aim "$label" most 10 "$(calculate "$(median memory "memory-$n" state) * 1024 / $n")"
		label="bytes per key at the end, $size"
		aim "$label" most 28 "$(calculate "$(median memory "memory-$n" "whole aggregate") * 1024 / $n")"
	done
	aim_ratio "memory of hashed IN / of the filter's scan" least 10 memory memory-scan "k IN (sub-select), hashed" "filter, stored"
	aim_ratio "memory of the semi-join / of the filter's scan" least 10 memory memory-scan "hash semi-join" "filter, stored"
}

# net GROUP LABEL BASE ROWS: prints the ns per row that a statement takes longer
# than another one
net()
{
	calculate "($(median times "$1" "$2") - $(median times "$1" "$3")) * 1e6 / $4"
}

run_keys()
{
	local type hash own agg lookup key_rows=1000000
	# Differences of short times: more of them.
	local rounds=$((3 * rounds))

	prepare_sql
	psql_file "$bench/keys_setup.sql" >"$work/log/keys-setup" 2>&1 ||
		{ cat "$work/log/keys-setup"; die "could not make the keys"; }
	while read -r type hash; do
		time_statements "keys-$type" "$bench/keys.sql" -v "type=$type" -v "hash=$hash"
	done <<-TYPES
		bigint_keys hashint8extended
		text_keys hashtextextended
		char_keys hashbpcharextended
		numeric_keys hash_numeric_extended
		jsonb_keys jsonb_hash_extended
		text_array_keys hash_array_extended
		integer_array_keys hash_array_extended
		composite_keys hash_record_extended
	TYPES
	medians times

	printf '\nkeys: %s rows of 1,000 keys; ns per row beyond the scan, and ratios to the own hash\n' "$(number "$key_rows")"
	printf '  %-20s %9s %11s %9s %7s %9s %7s\n' '' 'own hash' cuckoo_hash lookup ratio aggregate ratio
	for type in bigint text char numeric jsonb text_array integer_array composite; do
		own=$(net "keys-${type}_keys" "own hash" rows "$key_rows")
		hash=$(net "keys-${type}_keys" cuckoo_hash rows "$key_rows")
		lookup=$(net "keys-${type}_keys" lookup rows "$key_rows")
		agg=$(net "keys-${type}_keys" cuckoo_agg count "$key_rows")
		awk -v type="$type" -v own="$own" -v hash="$hash" -v lookup="$lookup" -v agg="$agg" 'BEGIN {
			printf "  %-20s %9.1f %11.1f %9.1f %7.2f %9.1f %7.2f\n", type, own, hash, lookup, lookup / own, agg, agg / own }'
		case $type in
			numeric | jsonb | text_array | integer_array | composite)
				aim "lookup of a key of type $type / own hash" most 1.5 "$(calculate "$lookup / $own")"
				aim "cuckoo_agg of keys of type $type / own hash" most 1.5 "$(calculate "$agg / $own")"
				;;
			char)
				aim "cuckoo_agg of char(n) / of text" most 1.3 \
					"$(calculate "$agg / $(net keys-text_keys cuckoo_agg count "$key_rows")")"
				;;
		esac
	done
}

run_stream()
{
	local n

	prepare_sql
	for n in "${stream_keys[@]}"; do
		time_statements "stream-$n" "$bench/stream.sql" -v "n=$n"
		time_table "stream-$n" "count(k)" "stream: $(number "$n") distinct keys, one process" "$n"
		memory_of_statements "stream-memory-$n" "$bench/stream.sql" "$bench/touch.sql" -v "n=$n"
		memory_table "stream-memory-$n" "$n" "memory at its peak: $(number "$n") distinct keys"
		case $n in
			10000000) aim "cuckoo_stream_agg, 10,000,000 keys, ns per key" most 75 \
				"$(net "stream-$n" cuckoo_stream_agg "count(k)" "$n")" ;;
			40000000) aim "cuckoo_stream_agg, 40,000,000 keys, ns per key" most 130 \
				"$(net "stream-$n" cuckoo_stream_agg "count(k)" "$n")" ;;
		esac
	done
}
