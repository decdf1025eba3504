#!/usr/bin/env bash
#
# Builds the packages and uses them as their users do: packaging/packages.sh
# [RELEASE...], by default on bookworm (PostgreSQL 15) and trixie (17).
#
# - the release's archives;
# - the Debian packages: built, installed, tested by autopkgtest, upgraded to a
#   second build, removed, purged;
# - the steps of the Dockerfile, in a tree laid out as the official image is;
# - archives and Debian packages have the same bytes if they are built again in
#   another folder, time zone and umask.
#
# Needs root, about 5 GB, and about ten minutes per release.
# CUCKOO_PACKAGES=FOLDER keeps downloads for the next run.  Prints a line per
# check.  The last line is "N passed, N failed".
# shellcheck disable=SC2016  # commands for other shells, formats of dpkg-query

set -euo pipefail
# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/../test/lib.sh"
# shellcheck source=packaging/debian.sh
. "$root/packaging/debian.sh"

[ $# -gt 0 ] || set -- bookworm trixie
need_packages debootstrap git make python3

# ---------------------------------------------------------------- archives

# Makes a repository whose only commit is this checkout with uncommitted changes.
make_repository() {
	mkdir "$folder/repository"
	copy_checkout "$folder/repository"
	cd "$folder/repository"
	git init -q .
	git add -A
	GIT_AUTHOR_DATE='@1700000000 +0000' GIT_COMMITTER_DATE='@1700000000 +0000' \
		git -c user.name=nobody -c user.email=nobody@example.org commit -q -m 'The checkout'
}

# The Makefile would get the path of PGXS from pg_config.
dist() {
	git clone -q "$folder/repository" "$1"
	make -s -C "$1" PG_CONFIG=: PGXS=/dev/null dist
}

archives_are_equal() {
	dist "$folder/one"
	(umask 077 && TZ=Pacific/Kiritimati dist "$folder/another/folder")
	diff -r "$folder/one/dist" "$folder/another/folder/dist"
}

# They have all committed files except those that .gitattributes excludes.
archives_are_whole() {
	cd "$folder/repository"
	git ls-files | grep -Ev '^(\.ci/|\.github/|\.gitattributes$)' | sed "s|^|$archive/|" | sort >"$folder/wanted"
	tar -tf "$folder/one/dist/$archive.tar.gz" | grep -v '/$' | sort | diff "$folder/wanted" -
	python3 -m zipfile -l "$folder/one/dist/$archive.zip" | awk 'NR > 1 && $1 !~ /\/$/ { print $1 }' | sort | diff "$folder/wanted" -
}

# ----------------------------------------------------------- Debian packages

# copy_tree FROM TO: copies a tree, and sets tree to the copy
copy_tree() {
	tree=$trees/$2
	cp -a --one-file-system "$trees/$1" "$tree"
	mount_tree "$2" "$release"
}

in_tree_install() { in_tree "$tree" apt-get -q -y --no-install-recommends "$@"; }

as_builder() { in_tree "$tree" runuser -u builder -- env HOME=/build "$@"; }

# Installs exactly the build dependencies that the package declares.
prepare_build() {
	copy_tree minimal build
	in_tree "$tree" useradd -d /build -m builder
	cp -R "$folder/one/packaging/debian" "$tree/build/debian"
	in_tree_install install build-essential postgresql-common
	in_tree "$tree" bash -c 'cd /build && PG_UPDATECONTROL=yes pg_buildext updatecontrol'
	in_tree_install build-dep /build
}

# The committed control file differs from the generated one only in the version.
control_is_current() {
	diff <(sed -E 's/(postgresql-|PostgreSQL )17/\1NN/g' "$root/packaging/debian/control") \
		<(sed -E "s/(postgresql-|PostgreSQL )$major/\1NN/g" "$tree/build/debian/control")
}

# build FOLDER REVISION VARIABLE=VALUE...: builds the package with these
# environment variables
build() {
	local there=/build/$1 revision=$2

	shift 2
	as_builder mkdir -p "$there"
	cp "$folder/one/dist/$archive.tar.gz" "$tree$there/postgresql-cuckoo_$version.orig.tar.gz"
	as_builder tar -C "$there" -xf "$there/postgresql-cuckoo_$version.orig.tar.gz"
	as_builder cp -R "$there/$archive/packaging/debian" "$there/$archive/debian"
	as_builder sed -i "1s/-1)/-$revision)/" "$there/$archive/debian/changelog"
	as_builder env "$@" bash -c 'umask "${MASK:-022}"; cd "$1" && exec dpkg-buildpackage -us -uc' bash "$there/$archive"
}

# package FOLDER: prints the file of the package that was built there
package() { (cd "$tree" && compgen -G "build/$1/postgresql-$major-cuckoo_*.deb"); }

packages_are_equal() {
	local file files=0

	for file in "$tree/build/first/"*.{deb,dsc,debian.tar.xz}; do
		cmp "$file" "$tree/build/second/elsewhere/$(basename "$file")"
		files=$((files + 1))
	done
	# The package, its debugging symbols, and two files of the source
	[ "$files" = 4 ]
}

depends_on_minor() {
	local minor

	minor=$(in_tree "$tree" "/usr/lib/postgresql/$major/bin/pg_config" --version | sed 's/^PostgreSQL \([^ ]*\).*/\1/; s/\([0-9]\)\([a-z]\)/\1~\2/')
	dpkg-deb -f "$tree/$(package first)" Depends
	# With >> since postgresql-common 248+deb12u2
	[[ ", $(dpkg-deb -f "$tree/$(package first)" Depends)," = *", postgresql-$major (>"[=\>]" $minor),"* ]]
}

sql() { in_tree "$tree" runuser -u postgres -- psql -XqAt -v ON_ERROR_STOP=1 -c "$1"; }

# answers WANTED QUERY: whether the query has the wanted result
answers() {
	sql "$2" | tee /dev/stderr | grep -Fqx "$1"
}

# Installs the package while the server runs, which is not restarted.
install_package() {
	copy_tree minimal installed
	in_tree_install install "postgresql-$major"
	in_tree "$tree" pg_conftool "$major" main set listen_addresses ''
	in_tree "$tree" pg_ctlcluster "$major" main start
	mkdir "$tree/build"
	cp -R "$trees/build/build/." "$tree/build"
	in_tree_install install "/$(package first)"
	ls "$tree/usr/share/doc/postgresql-$major-cuckoo/"{README.md,docs/guide.md}
}

use_extension() {
	sql "CREATE EXTENSION cuckoo; CREATE EXTENSION cuckoo_index; CREATE EXTENSION cuckoo_citus"
	sql "CREATE TABLE filters AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, 100000) AS i"
	answers 't|100000' "SELECT (SELECT f FROM filters) @> 42, cuckoo_cardinality(f) FROM filters"
}

# In the tree of the build, because the tests need the build dependencies, too.
run_autopkgtest() {
	in_tree_install install autopkgtest dpkg-dev
	in_tree "$tree" autopkgtest "/$(package first)" "/build/first/postgresql-cuckoo_$version-1.dsc" -- null
	grep -Eq '^installcheck +PASS' "$log"
	# 15 prints "test NAME ... ok", later versions print "ok N - NAME".
	grep -Eq '(^ok [0-9]+ +- +|^test )filter +' "$log"
	grep -Eq '(^ok [0-9]+ +- +|^test )row-type +' "$log"
}

upgrade_package() {
	in_tree_install install "/$(package next)"
	[ "$(in_tree "$tree" dpkg-query -W -f '${Version}' "postgresql-$major-cuckoo")" = "$version-2" ]
	answers 't|100000' "SELECT (SELECT f FROM filters) @> 42, cuckoo_cardinality(f) FROM filters"
}

# Without the package the server still runs, but cannot use filters.  When the
# package is installed again, the filters are unchanged.
remove_package() {
	in_tree_install remove "postgresql-$major-cuckoo"
	answers 1 "SELECT 1"
	(! sql "SELECT cuckoo_cardinality(f) FROM filters") 2>&1 | grep -F 'could not access file "$libdir/cuckoo"'
	in_tree_install install "/$(package next)"
	answers 100000 "SELECT cuckoo_cardinality(f) FROM filters"
}

purge_package() {
	in_tree_install purge "postgresql-$major-cuckoo"
	[ -z "$(find "$tree/usr" "$tree/etc" "$tree/var" -name '*cuckoo*' ! -path '*/apt.conf.d/*' | tee /dev/stderr)" ]
	[ -z "$(in_tree "$tree" dpkg-query -W -f '${Status}\n' "postgresql-$major-cuckoo" 2>/dev/null | grep -v not-installed | tee /dev/stderr)" ]
}

# ------------------------------------------------------------------- Docker

# Runs the instructions of our Dockerfile, in trees like the official image, which
# has the server's packages.  It knows only those that occur there.
run_dockerfile() {
	local instruction rest image_version

	copy_tree minimal image
	in_tree_install install "postgresql-$major"
	in_tree "$tree" pg_dropcluster "$major" main
	image_version=$(in_tree "$tree" dpkg-query -W -f '${Version}' "postgresql-$major")
	while read -r instruction rest; do
		echo "$instruction $rest"
		case "$instruction $rest" in
		"ARG "*) ;;
		"FROM postgres:"*)
			copy_tree image "stage-$([[ $rest = *" AS build" ]] && echo build || echo final)"
			;;
		"RUN "*) in_tree "$tree" env "PG_MAJOR=$major" "PG_VERSION=$image_version" sh -c "$rest" ;;
		"COPY . /src")
			mkdir "$tree/src"
			sed -n 's/^!//p' "$root/.dockerignore" | tar -C "$folder/repository" -cf - -T - | tar -C "$tree/src" -xf -
			;;
		"COPY --from=build /installed/ /") cp -a "$trees/stage-build/installed/." "$tree" ;;
		*) return 1 ;;
		esac
	done < <(sed -n '/^#/d; :a; /\\$/ { N; s/\\\n[\t ]*//; ta }; /./p' "$root/packaging/docker/Dockerfile")
}

image_has_extension() {
	local ctl=(runuser -u postgres -- "/usr/lib/postgresql/$major/bin/pg_ctl" -D /var/lib/postgresql/data)

	tree=$trees/stage-final
	in_tree "$tree" "${ctl[@]}" init
	in_tree "$tree" "${ctl[@]}" -o "-c listen_addresses=" -l /var/lib/postgresql/log -w start
	use_extension
	in_tree "$tree" "${ctl[@]}" -w stop
}

image_has_nothing_else() {
	[ -z "$(diff <(cd "$trees/image" && find usr/bin usr/lib usr/share | sort) \
		<(cd "$trees/stage-final" && find usr/bin usr/lib usr/share | sort) | grep '^[<>]' | grep -Ev 'cuckoo|/bitcode$' | tee /dev/stderr)" ]
}

# ------------------------------------------------------------------- the run

version=$(sed -n "s/^default_version = '\(.*\)'$/\1/p" "$root/cuckoo.control")
archive=cuckoo-$version

check "a repository of this checkout" make_repository
check "make dist twice gives the same bytes" archives_are_equal
check "the archives hold all files" archives_are_whole

for release; do
	check "$release: a minimal tree" make_tree minimal "$release"
	[ "$bad" = 0 ] || continue
	major=$(newest_major "$trees/minimal")
	tree=$trees/build
	check "$release: the build dependencies" prepare_build
	check "$release: debian/control is current" control_is_current
	check "$release: the packages for PostgreSQL $major, and installcheck" build first 1
	check "$release: the same elsewhere" build second/elsewhere 1 DEB_BUILD_OPTIONS='nocheck parallel=1' TZ=Pacific/Kiritimati MASK=002
	check "$release: both have the same bytes" packages_are_equal
	check "$release: it depends on the minor version it was built with" depends_on_minor
	check "$release: a second version" build next 2 DEB_BUILD_OPTIONS=nocheck
	check "$release: autopkgtest runs installcheck" run_autopkgtest
	tree=$trees/installed
	check "$release: apt installs the package" install_package
	check "$release: CREATE EXTENSION, and a filter" use_extension
	check "$release: the upgrade keeps filters" upgrade_package
	check "$release: removal, and back" remove_package
	check "$release: purge leaves nothing" purge_package
	check "$release: the Dockerfile's steps" run_dockerfile
	check "$release: the image has the extension" image_has_extension
	check "$release: and nothing else" image_has_nothing_else
	remove_trees
done
finish
