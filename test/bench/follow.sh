# shellcheck shell=bash disable=SC2154  # variables of run.sh and lib.sh
#
# The benchmark of followed tables, which run.sh runs.  It compares the same
# table untouched, with a B-tree on the column, and followed.

follow_tables=(untouched btree followed)

# follow_ms GROUP LABEL SQL: times SQL in ms and appends that to $results/times
follow_ms()
{
	local ms

	ms=$(printf '%s\n' '\o /dev/null' '\timing on' "$3" | as_user psql -X -q -v ON_ERROR_STOP=1 2>&1 |
		sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p')
	[ -n "$ms" ] || die "failed: $3"
	printf '%s\t%s\t%s\n' "$1" "$2" "$ms" >>"$results/times"
}

# follow_tps CLIENTS TABLE: the same for a transaction that inserts one row
follow_tps()
{
	local tps

	as_user tee "$work/insert.sql" >/dev/null <<-SQL
		\\set k random(1, 1000000000000)
		INSERT INTO $2 VALUES (1, :k, 'note');
	SQL
	tps=$(as_user pgbench -n -M prepared -c "$1" -j 2 -T "$point_s" -f "$work/insert.sql" 2>&1 |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p')
	[ -n "$tps" ] || die "pgbench failed on $2"
	printf '%s\t%s\t%s\n' "insert-$1" "$2" "$(calculate "1000 / $tps")" >>"$results/times"
}

# follow_table GROUP TITLE UNIT FACTOR: prints the medians of a group as a table
follow_table()
{
	printf '\n%s\n' "$2"
	awk -F '\t' -v group="$1" -v unit="$3" -v factor="$4" -v base="$(median times "$1" untouched)" '
		BEGIN { printf "  %-12s %10s %8s  %s\n", "", unit, "ratio", "min-max" }
		$1 == group { printf "  %-12s %10.2f %8s  %.2f-%.2f\n", $2, $3 * factor, (base > 0 ? sprintf("%.2f", $3 / base) : "-"), $4 * factor, $5 * factor }' "$results/times.medians"
}

follow_deadlocks()
{
	query "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
}

run_follow()
{
	local round clients table wal deadlocks

	prepare_server
	query "CREATE EXTENSION IF NOT EXISTS cuckoo_follow CASCADE;
		CREATE TABLE untouched (id bigint, k bigint, note text) WITH (autovacuum_enabled = off);
		CREATE TABLE btree (LIKE untouched) WITH (autovacuum_enabled = off); CREATE INDEX ON btree (k);
		CREATE TABLE followed (LIKE untouched) WITH (autovacuum_enabled = off);
		SELECT cuckoo_follow('followed', 'k');
		COPY (SELECT i, hashint8extended(i, 0), 'note ' || i FROM generate_series(1, 1000000) AS i) TO '$work/data/rows'" >/dev/null
	deadlocks=$(follow_deadlocks)

	# Insert rows one by one, with a fold now and then, as by a schedule
	for ((round = 0; round < rounds; round++)); do
		for clients in 1 4 8; do
			for table in "${follow_tables[@]}"; do
				follow_tps "$clients" "$table"
			done
			query "SELECT cuckoo_follow_fold('followed_k_filter')" >/dev/null
		done
	done
	deadlocks=$(($(follow_deadlocks) - deadlocks))

	# Measure the second 10,000 rows, when the WAL has full images of the pages
	query "SELECT cuckoo_follow_fold('followed_k_filter')" >/dev/null
	query "VACUUM followed_k_filter"
	query CHECKPOINT
	query "CREATE TABLE wal AS SELECT pg_current_wal_insert_lsn() AS lsn"
	for table in untouched followed; do
		wal=$(query "DO \$\$ BEGIN FOR i IN 1..10000 LOOP INSERT INTO $table VALUES (i, hashint8extended(i, 5), 'note'); END LOOP; END \$\$;
			UPDATE wal SET lsn = pg_current_wal_insert_lsn();
			DO \$\$ BEGIN FOR i IN 1..10000 LOOP INSERT INTO $table VALUES (i, hashint8extended(i, 6), 'note'); END LOOP; END \$\$;
			SELECT pg_current_wal_insert_lsn() - lsn FROM wal")
		printf '%s\t%s\n' "$table" "$(calculate "$wal / 10000")" >>"$results/follow-wal"
	done

	# COPY into empty tables
	for ((round = 0; round < rounds; round++)); do
		query "TRUNCATE untouched, btree, followed; SELECT cuckoo_follow_rebuild('followed_k_filter')" >/dev/null
		query "VACUUM followed_k_filter"
		query CHECKPOINT
		for table in "${follow_tables[@]}"; do
			follow_ms copy "$table" "COPY $table FROM '$work/data/rows';"
		done
	done

	# COPY through a root of ten partitions, and bulk changes
	query "CREATE TABLE divided (LIKE untouched) PARTITION BY HASH (id); CREATE TABLE divided_followed (LIKE untouched) PARTITION BY HASH (id);
		DO \$\$ BEGIN FOR i IN 0..9 LOOP
			EXECUTE format('CREATE TABLE divided%1\$s PARTITION OF divided FOR VALUES WITH (MODULUS 10, REMAINDER %1\$s)', i);
			EXECUTE format('CREATE TABLE divided_followed%1\$s PARTITION OF divided_followed FOR VALUES WITH (MODULUS 10, REMAINDER %1\$s)', i);
			PERFORM cuckoo_follow(format('divided_followed%s', i)::regclass, 'k');
		END LOOP; END \$\$" >/dev/null
	for ((round = 0; round < rounds; round++)); do
		query "TRUNCATE divided, divided_followed; SELECT cuckoo_follow_rebuild(filter_table) FROM cuckoo_follow_list() WHERE table_name::text LIKE 'divided%'" >/dev/null
		follow_ms root untouched "COPY divided FROM '$work/data/rows';"
		follow_ms root followed "COPY divided_followed FROM '$work/data/rows';"
		for table in untouched followed; do
			query "TRUNCATE $table; COPY $table FROM '$work/data/rows'"
			follow_ms delete "$table" "DELETE FROM $table WHERE id <= 100000;"
			follow_ms update "$table" "UPDATE $table SET k = -k WHERE id BETWEEN 100001 AND 200000;"
		done
	done
	query "DROP TABLE divided, divided_followed"

	# 10 million keys: lookups, folds, sizes
	query "TRUNCATE untouched, btree, followed;
		ALTER TABLE followed DISABLE TRIGGER USER;
		INSERT INTO followed SELECT i, hashint8extended(i, 0) FROM generate_series(1, $rows) AS i;
		DROP INDEX btree_k_idx; INSERT INTO btree SELECT * FROM followed; CREATE INDEX ON btree (k);
		TRUNCATE followed_k_filter; SELECT cuckoo_follow_rebuild('followed_k_filter')" >/dev/null
	query "VACUUM ANALYZE"
	for ((round = 0; round < rounds; round++)); do
		follow_ms lookup untouched "DO \$\$ DECLARE b boolean; BEGIN FOR i IN 1..100000 LOOP b := hashint8extended(i, 0) = 0; END LOOP; END \$\$;"
		follow_ms lookup btree "DO \$\$ DECLARE b boolean; BEGIN FOR i IN 1..100000 LOOP SELECT EXISTS (SELECT FROM btree WHERE k = hashint8extended(i, 0)) INTO b; END LOOP; END \$\$;"
		follow_ms lookup followed "DO \$\$ DECLARE b boolean; BEGIN FOR i IN 1..100000 LOOP SELECT cuckoo_follow_contains('followed_k_filter', hashint8extended(i, 0)) INTO b; END LOOP; END \$\$;"
	done
	query "DO \$\$ BEGIN FOR g IN 1..$((rows / 100 / 5000)) LOOP INSERT INTO followed SELECT i, hashint8extended(g * 5000 + i, 9) FROM generate_series(1, 5000) AS i; END LOOP; END \$\$" >/dev/null
	printf 'before the first fold\t%s\n' "$(query "SELECT pg_total_relation_size('followed_k_filter')")" >>"$results/follow-size"
	follow_ms fold followed "SELECT cuckoo_follow_fold('followed_k_filter');"
	for ((round = 1; round < rounds; round++)); do
		# As autovacuum would do after a while
		query "VACUUM followed_k_filter"
		query "DO \$\$ BEGIN FOR g IN 1..$((rows / 100 / 5000)) LOOP INSERT INTO followed SELECT i, hashint8extended(g * 5000 + i, 10 + $round) FROM generate_series(1, 5000) AS i; END LOOP; END \$\$" >/dev/null
		follow_ms fold followed "SELECT cuckoo_follow_fold('followed_k_filter');"
	done
	printf 'after folds\t%s\n' "$(query "SELECT pg_total_relation_size('followed_k_filter')")" >>"$results/follow-size"
	printf 'B-tree\t%s\n' "$(query "SELECT pg_relation_size('btree_k_idx')")" >>"$results/follow-size"

	medians times
	for clients in 1 4 8; do
		follow_table "insert-$clients" "followed: a transaction of one inserted row, $clients clients ($deadlocks deadlocks in all)" "us" 1000
	done
	follow_table copy "followed: COPY of $(number 1000000) rows into an empty table" "ms" 1
	follow_table root "followed: COPY of $(number 1000000) rows through a root of ten partitions" "ms" 1
	follow_table delete "followed: DELETE of $(number 100000) rows" "ms" 1
	follow_table update "followed: UPDATE of $(number 100000) keys" "ms" 1
	follow_table lookup "followed: a lookup at $(number "$rows") keys, and PL/pgSQL's loop (untouched: the loop alone)" "us" 0.01
	follow_table fold "followed: a fold of $((rows / 100)) changes into $(number "$rows") keys" "us/change" "$(calculate "1000 / ($rows / 100)")"
	printf '\nfollowed: WAL of a row inserted in a statement of its own, and bytes of the filter table\n'
	awk -F '\t' '{ printf "  %-24s %10.0f bytes\n", $1, $2 }' "$results/follow-wal"
	awk -F '\t' '{ printf "  %-24s %10.1f MiB\n", $1, $2 / 1048576 }' "$results/follow-size"

	for clients in 1 4 8; do
		aim_ratio "followed: time of an insert, $clients clients, to untouched" most 1.5 times "insert-$clients" followed untouched
	done
	aim "followed: deadlocks" most 0.5 "$deadlocks"
	aim "followed: WAL per inserted row, bytes" most 171 "$(awk -F '\t' '{ n = $2 - n } END { print n }' "$results/follow-wal")"
	aim_ratio "followed: COPY to untouched" most 2 times copy followed untouched
	aim_ratio "followed: COPY to B-tree" most 0.5 times copy followed btree
	aim_ratio "followed: COPY through a root, to untouched" most 2.5 times root followed untouched
	aim "followed: lookup, us" most 10 "$(calculate "($(median times lookup followed) - $(median times lookup untouched)) / 100")"
	aim_ratio "followed: lookup to B-tree" most 1.5 times lookup followed btree
	aim "followed: fold, us per change" most 8 "$(calculate "$(median times fold followed) * 1000 / ($rows / 100)")"
	aim "followed: MiB before the first fold" most 25 "$(awk -F '\t' '/before/ { print $2 / 1048576 }' "$results/follow-size")"
	aim "followed: MiB after folds" most 45 "$(awk -F '\t' '/after/ { print $2 / 1048576 }' "$results/follow-size")"
}
