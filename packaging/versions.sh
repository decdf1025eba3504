#!/usr/bin/env bash
#
# Runs the tests on every PostgreSQL in current Debian releases:
# packaging/versions.sh [RELEASE...], by default bookworm (15), trixie (17), forky
# (18) and experimental (19, or the newest there).  Then a database with filters
# and indexes goes through pg_upgrade from the first release to each of the others.  (That
# versions read and write the same bytes is tested by test/sql/golden.sql on
# each.)
#
# Needs root, 6 GB, and about a quarter of an hour, much of it for downloads,
# which CUCKOO_PACKAGES=FOLDER keeps for the next run.  STEPS chooses the steps of
# test/run.sh to run (build, regress, isolation, tap).  The last line is "N
# passed, N failed".

set -euo pipefail
# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/../test/lib.sh"
# shellcheck source=packaging/debian.sh
. "$root/packaging/debian.sh"

[ $# -gt 0 ] || set -- bookworm trixie forky experimental
first=$1
need_packages debootstrap

prepare() {
	make_tree "$1" "$1"
	copy_checkout "$trees/$1/srv/cuckoo"
	cp "$folder/upgrade.sh" "$trees/$1/srv"
}

# in_release RELEASE COMMAND...
in_release() {
	in_tree "$trees/$1" env CUCKOO_PACKAGES=/srv/downloads "PGVERSION=$(newest_major "$trees/$1")" "${@:2}"
}

run_tests() {
	# shellcheck disable=SC2086  # several steps
	in_release "$1" /srv/cuckoo/test/run.sh ${STEPS:-build regress isolation tap}
}

# Runs in a tree: upgrade.sh from makes a database, upgrade.sh to upgrades one
# that is below /old.
cat >"$folder/upgrade.sh" <<'SCRIPT'
set -euo pipefail
direction=$1
. /srv/cuckoo/test/lib.sh
find_postgresql
need_packages "${packages[@]}" patchelf
make_folder
build_extension
make_cluster
case $direction in
from)
	run_server
	as_user psql -q -X -v ON_ERROR_STOP=1 <<-'SQL'
		CREATE EXTENSION cuckoo_citus CASCADE;
		CREATE EXTENSION cuckoo_index;
		CREATE TABLE filters AS SELECT c AS capacity, cuckoo_agg(i, c, 0.001) AS f, md5(cuckoo_agg(i, c, 0.001)::bytea) AS digest
			FROM generate_series(1, 30000) AS i, unnest('{NULL,30000,100000000}'::integer[]) AS c GROUP BY c;
		INSERT INTO filters SELECT 10, f, md5(f::bytea) FROM cuckoo_add_all(cuckoo_new(10), ARRAY(SELECT generate_series(1, 30000))) AS f;
		CREATE INDEX ON filters USING hash (f);
		CREATE TABLE rows AS SELECT 'key ' || i AS k FROM generate_series(1, 30000) AS i;
		CREATE INDEX rows_k ON rows USING cuckoo (k);
		ALTER TABLE rows ADD CONSTRAINT rows_excl EXCLUDE USING cuckoo (k WITH =);
	SQL
	stop_servers "$work" fast
	# The programs will run in another release, with the libraries of this one.
	printf -v libraries ':/old%s' "$prefix"/usr/lib/*-linux-* /usr/lib/*-linux-*
	linker=/old$(readlink -f "$(patchelf --print-interpreter "${pg_config%/*}/postgres")")
	find "${pg_config%/*}" -type f -exec patchelf --set-interpreter "$linker" --force-rpath --set-rpath "${libraries#:}" {} \;
	ln -sr "$work" /upgrade
	KEEP=1
	;;
to)
	old=$(echo /old/upgrade/prefix/usr/lib/postgresql/*/bin)
	if ! as_user pg_upgrade -U postgres -b "$old" -B "${pg_config%/*}" -d /old/upgrade/data -D "$work/data" -s "$work"; then
		cat "$work"/data/pg_upgrade_output.d/*/log/* || true
		# A security release, such as 15.20, marks attributes in a way of its own.
		! grep -q 'unrecognized parameter "pg_attver"' "$work"/data/pg_upgrade_output.d/*/log/* ||
			{ echo "not run: this PostgreSQL is older than a security release that the other one has"; exit 0; }
		exit 1
	fi
	run_server
	as_user psql -X -A -t -v ON_ERROR_STOP=1 -c "select count(*) = 4 and bool_and(md5(f::bytea) = digest and f = f::bytea::cuckoofilter
		and f @> all (array(select generate_series(1, 30000)))) and cuckoo_index_check('rows_k') = 0
		and (select bool_and((select cuckoo_index_filter('rows_k')) @> k) from rows) from filters" | tee /dev/stderr | grep -qx t
	as_user psql -X -q -v ON_ERROR_STOP=1 <<-'SQL'
		INSERT INTO rows VALUES ('key 7') ON CONFLICT DO NOTHING;
		SELECT count(*) = 30000 AS kept, current_setting('server_version_num')::integer >= 180000 AS can_be_unique FROM rows \gset
		SELECT 1 / :'kept'::boolean::integer;
		\if :can_be_unique
			CREATE UNIQUE INDEX CONCURRENTLY rows_unique ON rows USING cuckoo (k);
			ALTER TABLE rows DROP CONSTRAINT rows_excl;
			INSERT INTO rows VALUES ('key 7') ON CONFLICT (k) DO UPDATE SET k = 'upserted';
		\endif
	SQL
	;;
esac
SCRIPT

upgrade() {
	mkdir "$trees/$1/old"
	mount --bind "$trees/$first" "$trees/$1/old"
	in_release "$1" bash /srv/upgrade.sh to
}

for release; do
	check "$release: a tree" prepare "$release"
	[ "$bad" = 0 ] || continue
	version="PostgreSQL $(newest_major "$trees/$release")"
	check "$release: the tests on $version" run_tests "$release"
	if [ $# = 1 ]; then
		continue
	elif [ "$release" = "$first" ]; then
		check "$release: a database to upgrade" in_release "$release" bash /srv/upgrade.sh from
	else
		check "$release: pg_upgrade from $first's to $version" upgrade "$release"
		grep '^not run: ' "$log" || true
	fi
done
finish
