#!/usr/bin/env bash
#
# Tests the largest filters, states and arrays, and what PostgreSQL does with
# them:
#
#   test/limits.sh [KEYS]
#
# KEYS keys, by default as many as the largest filter holds at the lowest rate
# (some 217 million), are put into a filter of that capacity.  It takes a
# quarter of an hour, 12 GB of memory and 10 GB of disk, and is not part of
# test/run.sh, whose test/t/022_limits.pl tests smaller limits.  It prints what
# it measures, times in seconds and peaks of the backend's memory in MB, and
# fails if a limit is exceeded.  It also measures postgresql-15-hll (or that of
# the version used) if Debian has it.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

failures=0

find_postgresql
need_packages "${packages[@]}"
if [ -n "$(offered "postgresql-$pgversion-hll")" ]; then
	# shellcheck disable=SC2034  # used by lib.sh
	more_postgresql=postgresql-$pgversion-hll
fi
make_folder
as_user make -s -C "$work/src" -j"$(nproc)" PG_CONFIG="$pg_config" all install >"$work/log/build" 2>&1 ||
	{ cat "$work/log/build"; die "the build failed"; }
start_server

sql()
{
	as_user psql -X -q -A -t -v ON_ERROR_STOP=1 -v VERBOSITY=verbose "$@" 2>&1
}

check()
{
	if [ "$1" = "$2" ]; then
		printf '  ok      %s\n' "$3"
	else
		printf '  FAILED  %s: %s, not %s\n' "$3" "$1" "$2"
		failures=$((failures + 1))
	fi
}

# measure NAME SQL: prints its result, its time, and its backend's peak memory
measure()
{
	local began ended answer

	began=$(date +%s.%N)
	answer=$(sql -v ON_ERROR_STOP=0 -c "$2" -c "SELECT '@' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::integer / 1024") || true
	ended=$(date +%s.%N)
	peak=$(sed -n 's/^@//p' <<<"$answer")
	[ -n "$peak" ] || die "no peak was measured: $1: $answer"
	answer=$(grep -v '^@' <<<"$answer" | grep -Eo 'ERROR:  [0-9A-Z]{5}.*|HINT:.*|^[^:]*$' | head -n 3 | paste -sd' ' || true)
	result=$answer
	printf '%-52s %7.2f s %6s MB  %s\n' "$1" "$(awk -v a="$began" -v b="$ended" 'BEGIN { print b - a }')" "$peak" "${answer:0:160}"
}

# late NAME SQL: cancels it at moments throughout its run; prints the longest
# delay
late()
{
	local timeout began over worst=0 cancelled=0

	for timeout in 20 100 300 700 1200 2000 3000 4500 7000 10000; do
		began=$(date +%s.%N)
		if sql -c "SET statement_timeout = $timeout" -c "$2" >"$work/late.out"; then
			break
		fi
		grep -q 'ERROR:  57014' "$work/late.out" && cancelled=$((cancelled + 1))
		over=$(awk -v a="$began" -v b="$(date +%s.%N)" -v t="$timeout" 'BEGIN { print int((b - a) * 1000 - t) }')
		[ "$over" -le "$worst" ] || worst=$over
	done
	printf '%-52s %7d ms late at most, %d moments\n' "cancel: $1" "$worst" "$cancelled"
	check "$((worst < 1000))" 1 "within a second"
}

sql -c 'CREATE EXTENSION cuckoo'
sql -c 'CREATE TABLE big (n integer, f cuckoofilter)' -c 'CREATE TABLE texts (t text)'
measure 'an idle backend' "SELECT cuckoo_new() @> 'x'"
idle=$peak

# largest RATE: the largest capacity
largest()
{
	sql -c "
	DO \$\$ DECLARE low float8 := 1e8; high float8 := 6e8; BEGIN
		WHILE high - low > 1 LOOP
			BEGIN PERFORM cuckoo_new(floor((low + high) / 2), $1); low := floor((low + high) / 2);
			EXCEPTION WHEN program_limit_exceeded THEN high := floor((low + high) / 2); END;
		END LOOP;
		PERFORM set_config('cuckoo.largest', low::bigint::text, false);
	END \$\$" -c "SELECT current_setting('cuckoo.largest')"
}

echo "-- the largest capacity"
for rate in 0.001 2e-8; do
	largest=$(largest "$rate")
	echo "at a rate of $rate: $largest keys"
	measure 'one key more' "SELECT cuckoo_new($largest + 1, $rate)"
	check "${result:8:5}" 54000 "refused"
	check "$((peak < idle + 16))" 1 "before memory is taken"
	measure 'one key more, cuckoo_agg' "SELECT cuckoo_agg(1, $largest + 1, $rate)"
	check "${result:8:5}" 54000 "refused"
	check "$((peak < idle + 16))" 1 "before memory is taken"
	measure 'one key more, cuckoo_stream_agg' "SELECT cuckoo_stream_agg(1, $largest + 1, $rate)"
	check "${result:8:5}" 54000 "refused"
	check "$((peak < idle + 16))" 1 "before memory is taken"
	measure 'that many, empty' "SELECT octet_length(cuckoo_new($largest, $rate)::bytea) < 100"
	check "$result" t "takes less than 100 bytes"
done

# cuckoo_agg accepts 120 million keys, so the filter is made of two parts.
keys=${1:-$largest}
echo "-- a filter of that capacity, with $keys keys"
measure 'cuckoo_agg of a half, stored' "INSERT INTO big SELECT 4, cuckoo_agg(i, $largest, 2e-8) FROM (SELECT generate_series(1, $keys / 2) AS i) AS s"
measure 'cuckoo_agg of the other half, stored' "INSERT INTO big SELECT 5, cuckoo_agg(i, $largest, 2e-8) FROM (SELECT generate_series($keys / 2 + 1, $keys) AS i) AS s"
measure 'cuckoo_union_all_agg of both, stored' "INSERT INTO big SELECT 1, cuckoo_union_all_agg(f) FROM big"
sql -c 'DELETE FROM big WHERE n <> 1' -c 'VACUUM big' >/dev/null
measure 'its size in bytes' "SELECT (cuckoo_info(f)).bytes FROM big"
[ $# -gt 0 ] || check "$((result > 786000000 && result <= 786432000))" 1 "almost the largest"
measure 'one lookup' "SELECT f @> $keys FROM big"
check "$result" t "found"
check "$((peak < idle + 16))" 1 "in slices"
measure 'lookups of 10 keys, each by itself' "SELECT bool_and(f @> (i * 1000)) FROM big, generate_series(1, 10) AS i"
check "$result" t "found"
measure 'lookups of 1 million keys' "SELECT count(*) FROM generate_series(1, 1000000) AS i WHERE (SELECT f FROM big) @> i * ($keys / 1000000)"
check "$result" 1000000 "all found"
measure 'lookups of 1 million other keys' "SELECT count(*) FROM generate_series(1, 1000000) AS i WHERE (SELECT f FROM big) @> -i"
check "$((result < 5))" 1 "no more found than the rate says"
measure 'one key added, stored' "UPDATE big SET f = f + -5"
measure 'one key removed' "SELECT cuckoo_cardinality(f - -5) FROM big"
check "$result" "$keys" "as many as before"
# Read back into the same table, so that the rows can be compared.
measure 'COPY to text' "COPY (SELECT 2, f FROM big) TO '$work/big.txt'"
measure 'COPY from text' "COPY big FROM '$work/big.txt'"
rm -f "$work/big.txt"
measure 'COPY to binary' "COPY (SELECT 3, f FROM big WHERE n = 1) TO '$work/big.bin' (FORMAT binary)"
measure 'COPY from binary' "COPY big FROM '$work/big.bin' (FORMAT binary)"
rm -f "$work/big.bin"
measure 'compared' "SELECT count(*) FROM big AS a, big AS b WHERE a.n = 1 AND a.f = b.f"
check "$result" 3 "the same after text and binary"
sql -c 'DELETE FROM big WHERE n = 3' -c 'VACUUM big' >/dev/null
measure 'union' "SELECT cuckoo_cardinality(a.f | b.f) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 2"
measure 'union all' "SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 2"
# These have another shape, and would need tables of their own beside these.
measure 'a half of another capacity' "INSERT INTO big SELECT 4, cuckoo_agg(i, 0.9 * $largest, 2e-8) FROM (SELECT generate_series(1, $keys / 2) AS i) AS s"
measure 'union all beyond the largest value' "SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 4"
[ $# -gt 0 ] || check "${result:8:5}" 54000 "refused"
sql -c 'DELETE FROM big WHERE n <> 1' -c 'VACUUM big' >/dev/null
began=$SECONDS
as_user pg_dump -t big postgres | wc -c | sed 's/$/ bytes of pg_dump/'
echo "pg_dump took $((SECONDS - began)) s"

echo "-- cancelled"
late 'cuckoo_agg' "SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 30000000) AS i"
late 'cuckoo_agg of a large capacity' "SELECT cuckoo_cardinality(cuckoo_agg(i, $largest, 2e-8)) FROM generate_series(1, 10000000) AS i"
late 'cuckoo_from_array' "SELECT cuckoo_cardinality(cuckoo_from_array(array_fill(1, ARRAY[100]) || ARRAY(SELECT generate_series(1, 30000000))))"
late 'cuckoo_stream_agg' "SELECT cuckoo_cardinality(cuckoo_stream_agg(i, 2e8, 2e-8)) FROM generate_series(1, 10000000) AS i"
late 'union' "SELECT cuckoo_cardinality(a.f | (b.f + -7)) FROM big AS a, big AS b"
late 'union all' "SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) FROM big AS a, big AS b"
# The functions are called directly: PostgreSQL copies and measures a text of 1
# GB for seconds, and cannot be interrupted then.
late 'text output' "SELECT cuckoofilter_out(f) IS NULL FROM big"
late 'bytea input' "SELECT cuckoo_cardinality(f::bytea::cuckoofilter) FROM big"
late 'text output and input' "SELECT cuckoofilter_in(cuckoofilter_out(f)) IS NULL FROM big"
late 'add' "SELECT cuckoo_cardinality(f + -7) FROM big"
late 'comparing' "SELECT f < (f + -7) FROM big"
late 'hashing' "SELECT cuckoofilter_hash(f) FROM big"
sql -c 'DROP TABLE big' >/dev/null

echo "-- cuckoo_agg at the limit of its state"
measure '120 million distinct keys' "SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 120000000) AS i"
check "$result" 120000000 "all counted"
measure '120 million and one' "SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 120000001) AS i"
check "${result:8:5}" 54000 "refused"
measure '10 million keys 30 times' "SELECT cuckoo_cardinality(cuckoo_agg(i % 10000000)) FROM generate_series(1, 300000000) AS i"
check "$result" 10000000 "repetitions take no room"

echo "-- 100,000 groups of 30 keys, work_mem 1 MB"
sql -c 'CREATE UNLOGGED TABLE rows AS SELECT i % 100000 AS g, i AS k FROM generate_series(1, 3000000) AS i' -c 'ANALYZE rows' >/dev/null
for hashagg in on off; do
	small="SET work_mem = '1MB'; SET max_parallel_workers_per_gather = 0; SET enable_hashagg = $hashagg;"
	measure "hashagg $hashagg: count(*)" "$small SELECT sum(n) FROM (SELECT g, count(*) AS n FROM rows GROUP BY g) AS s"
	measure "hashagg $hashagg: count(DISTINCT)" "$small SELECT sum(n) FROM (SELECT g, count(DISTINCT k) AS n FROM rows GROUP BY g) AS s"
	measure "hashagg $hashagg: cuckoo_agg" "$small SELECT sum(cuckoo_cardinality(f)) FROM (SELECT g, cuckoo_agg(k) AS f FROM rows GROUP BY g) AS s"
	check "$result" 3000000 "all keys"
	measure "hashagg $hashagg: cuckoo_stream_agg" "$small SELECT sum(cuckoo_cardinality(f)) FROM (SELECT g, cuckoo_stream_agg(k, 30, 0.001) AS f FROM rows GROUP BY g) AS s"
	if sql -c 'CREATE EXTENSION IF NOT EXISTS hll' >/dev/null; then
		measure "hashagg $hashagg: hll_add_agg" "$small SELECT count(n) FROM (SELECT g, hll_add_agg(hll_hash_integer(k)) AS n FROM rows GROUP BY g) AS s"
	fi
done

echo "$failures failed"
[ "$failures" = 0 ]
