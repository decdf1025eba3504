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
# fails if a limit is exceeded.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

failures=0

find_postgresql
need_packages "${packages[@]}"
make_folder
build_extension
start_server

sql()
{
	as_user psql -XqAt -v ON_ERROR_STOP=1 -v VERBOSITY=verbose "$@" 2>&1
}

# measure NAME WANTED SQL [MB]: prints its result, its time, and its backend's
# peak memory.  The result has to be the wanted one, of which % matches
# anything, and to take at most that much more memory than an idle backend.
measure()
{
	local began ended answer verdict=ok

	began=$(date +%s.%N)
	answer=$(sql -v ON_ERROR_STOP=0 -c "$3" -c "SELECT '@' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::integer / 1024") || true
	ended=$(date +%s.%N)
	peak=$(sed -n 's/^@//p' <<<"$answer")
	[ -n "$peak" ] || die "no peak was measured: $1: $answer"
	result=$(sed -n '/^@/d; s/.*ERROR:  \([0-9A-Z]*\):.*/\1/p; /^[^:]*$/p' <<<"$answer" | head -n 1)
	# shellcheck disable=SC2053  # a pattern
	if [[ "$result" != ${2//%/*} ]] || [ "$peak" -gt $((${idle:-$peak} + ${4:-99999})) ]; then
		verdict="FAILED, wanted $2 and ${4:-any} MB"
		failures=$((failures + 1))
	fi
	printf '%-52s %7.2f s %6s MB  %s %s\n' "$1" "$(awk -v a="$began" -v b="$ended" 'BEGIN { print b - a }')" "$peak" "$result" "$verdict"
}

# late NAME SQL: cancels it at moments throughout its run; prints the longest
# delay
late()
{
	local timeout began over worst=0 verdict=ok

	for timeout in 20 100 300 700 1200 2000 3000 4500 7000 10000; do
		began=$(date +%s.%N)
		! sql -c "SET statement_timeout = $timeout" -c "$2" >"$work/late.out" || break
		grep -q 'ERROR:  57014' "$work/late.out" || { verdict=FAILED; break; }
		over=$(awk -v a="$began" -v b="$(date +%s.%N)" -v t="$timeout" 'BEGIN { print int((b - a) * 1000 - t) }')
		[ "$over" -le "$worst" ] || worst=$over
	done
	[ "$worst" -lt 1000 ] || verdict=FAILED
	[ "$verdict" = ok ] || failures=$((failures + 1))
	printf '%-52s %7d ms late at most %s\n' "cancel: $1" "$worst" "$verdict"
}

sql -c 'CREATE EXTENSION cuckoo' -c 'CREATE TABLE big (n integer, f cuckoofilter)' -c 'CREATE TABLE texts (t text)'
measure 'an idle backend' f "SELECT cuckoo_new() @> 'x'"
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
		PERFORM set_config('test.largest', low::bigint::text, false);
	END \$\$" -c "SELECT current_setting('test.largest')"
}

echo "-- the largest capacity"
for rate in 0.001 2e-8; do
	largest=$(largest "$rate")
	echo "at a rate of $rate: $largest keys"
	measure 'one key more' 54000 "SELECT cuckoo_new($largest + 1, $rate)" 16
	measure 'one key more, cuckoo_agg' 54000 "SELECT cuckoo_agg(1, $largest + 1, $rate)" 16
	measure 'one key more, cuckoo_stream_agg' 54000 "SELECT cuckoo_stream_agg(1, $largest + 1, $rate)" 16
	measure 'that many, empty' t "SELECT octet_length(cuckoo_new($largest, $rate)::bytea) < 100"
done

# cuckoo_agg accepts 120 million keys, so the filter is made of two parts.
keys=${1:-$largest}
full() { [ "$keys" = "$largest" ] && echo "$1" || echo '%'; }
echo "-- a filter of that capacity, with $keys keys"
measure 'cuckoo_agg of a half, stored' '' "INSERT INTO big SELECT 4, cuckoo_agg(i, $largest, 2e-8) FROM (SELECT generate_series(1, $keys / 2) AS i) AS s"
measure 'cuckoo_agg of the other half, stored' '' "INSERT INTO big SELECT 5, cuckoo_agg(i, $largest, 2e-8) FROM (SELECT generate_series($keys / 2 + 1, $keys) AS i) AS s"
measure 'cuckoo_union_all_agg of both, stored' '' "INSERT INTO big SELECT 1, cuckoo_union_all_agg(f) FROM big"
sql -c 'DELETE FROM big WHERE n <> 1' -c 'VACUUM big' >/dev/null
measure 'almost the largest size in bytes' "$(full t)" "SELECT (cuckoo_info(f)).bytes BETWEEN 786000001 AND 786432000 FROM big"
measure 'one lookup, in slices' t "SELECT f @> $keys FROM big" 16
measure 'lookups of 10 keys, each by itself' t "SELECT bool_and(f @> (i * 1000)) FROM big, generate_series(1, 10) AS i"
measure 'lookups of 1 million keys' 1000000 "SELECT count(*) FROM generate_series(1, 1000000) AS i WHERE (SELECT f FROM big) @> i * ($keys / 1000000)"
measure 'lookups of 1 million other keys' t "SELECT count(*) < 5 FROM generate_series(1, 1000000) AS i WHERE (SELECT f FROM big) @> -i"
measure 'one key added, stored' '' "UPDATE big SET f = f + -5"
measure 'one key removed' "$keys" "SELECT cuckoo_cardinality(f - -5) FROM big"
# Read back into the same table, so that the rows can be compared.
for form in text binary; do
	measure "COPY to $form" '' "COPY (SELECT n + 1, f FROM big ORDER BY n DESC LIMIT 1) TO '$work/big' (FORMAT $form)"
	measure "COPY from $form" '' "COPY big FROM '$work/big' (FORMAT $form)"
done
rm -f "$work/big"
measure 'compared: the same after text and binary' 3 "SELECT count(*) FROM big AS a, big AS b WHERE a.n = 1 AND a.f = b.f"
sql -c 'DELETE FROM big WHERE n = 3' -c 'VACUUM big' >/dev/null
measure 'union' % "SELECT cuckoo_cardinality(a.f | b.f) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 2"
measure 'union all' % "SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 2"
# These have another shape, and would need tables of their own beside these.
measure 'a half of another capacity' '' "INSERT INTO big SELECT 4, cuckoo_agg(i, 0.9 * $largest, 2e-8) FROM (SELECT generate_series(1, $keys / 2) AS i) AS s"
measure 'union all beyond the largest value' "$(full 54000)" "SELECT cuckoo_cardinality(cuckoo_union_all(a.f, b.f)) FROM big AS a, big AS b WHERE a.n = 1 AND b.n = 4"
sql -c 'DELETE FROM big WHERE n <> 1' -c 'VACUUM big' >/dev/null
as_user pg_dump -t big postgres | wc -c | sed 's/$/ bytes of pg_dump/'

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
measure '120 million distinct keys' 120000000 "SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 120000000) AS i"
measure '120 million and one' 54000 "SELECT cuckoo_cardinality(cuckoo_agg(i)) FROM generate_series(1, 120000001) AS i"
measure '10 million keys 30 times: repetitions take no room' 10000000 "SELECT cuckoo_cardinality(cuckoo_agg(i % 10000000)) FROM generate_series(1, 300000000) AS i"

echo "-- 100,000 groups of 30 keys, work_mem 1 MB"
sql -c 'CREATE UNLOGGED TABLE rows AS SELECT i % 100000 AS g, i AS k FROM generate_series(1, 3000000) AS i' -c 'ANALYZE rows' >/dev/null
for hashagg in on off; do
	for aggregate in 'count(DISTINCT k)' 'cuckoo_cardinality(cuckoo_agg(k))' 'cuckoo_cardinality(cuckoo_stream_agg(k, 30, 0.001))'; do
		measure "hashagg $hashagg: $aggregate" 3000000 "SET work_mem = '1MB'; SET max_parallel_workers_per_gather = 0; SET enable_hashagg = $hashagg;
			SELECT sum(n) FROM (SELECT g, $aggregate AS n FROM rows GROUP BY g) AS s"
	done
done

echo "$failures failed"
[ "$failures" = 0 ]
