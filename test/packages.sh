#!/usr/bin/env bash
#
# Builds the packages and uses them as their users do: test/packages.sh
# [RELEASE...], by default on bookworm (PostgreSQL 15) and trixie (17).
#
# - the release's archives;
# - the Debian packages: built, installed, tested by autopkgtest, upgraded to a
#   second build, removed, purged;
# - the steps of the Dockerfile, in a tree laid out as the official image is;
# - archives and Debian packages have the same bytes if they are built again in
#   another folder, time zone and umask.
#
# The tests of each release run in clean trees made by debootstrap in a
# temporary folder.  TREES names a folder to use instead, which keeps the
# minimal trees for the next run.  CUCKOO_PACKAGES names a folder that keeps
# downloads.
#
# Needs root, about 5 GB, and about ten minutes per release.  Prints a line per
# check.  The last line is "N passed, N failed".
# shellcheck disable=SC2016  # commands for other shells, formats of dpkg-query
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

# shellcheck source=test/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie)
passed=0
failed=0

[ "$(id -u)" = 0 ] || die "debootstrap and chroot need root"
need_packages debootstrap git make python3
trees=${TREES:-}
[ -n "$trees" ] || trees=$(mktemp -d /var/tmp/cuckoo-packages.XXXXXX)
mkdir -p "$trees"
# Checks run in copies of the minimal trees, because those may be kept.
copies=$(mktemp -d "$trees/copies.XXXXXX")
log=$copies/log

# Ends the processes that still run in the copies, such as servers, by their
# ids.
end_processes()
{
	local id

	for id in $(find /proc -maxdepth 2 -name root -lname "$copies/*" 2>/dev/null | cut -d / -f 3); do
		kill -KILL "$id" 2>/dev/null || true
	done
}

child=
clean_up()
{
	local status=$?

	trap - EXIT
	trap '' INT TERM HUP
	[ -z "$child" ] || kill -KILL -- "-$child" 2>/dev/null || true
	end_processes
	unmount_below "$copies/"
	unmount_below "$trees/minimal-"
	rm -rf --one-file-system "$copies"
	[ -n "${TREES:-}" ] || rm -rf --one-file-system "$trees"
	exit "$status"
}
trap clean_up EXIT

# check NAME COMMAND...: runs a check, and prints its output if it fails
check()
{
	local name=$1 from status=0

	shift
	from=$(date +%s)
	# In the background, so that this script acts on a signal at once
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	child=$!
	set +m
	wait "$child" || status=$?
	child=
	if [ "$status" = 0 ]; then
		passed=$((passed + 1))
		printf 'ok      %-60s %4d s\n' "$name" $(($(date +%s) - from))
	else
		failed=$((failed + 1))
		echo "FAILED  $name"
		tail -n 60 "$log" | sed 's/^/    /'
	fi
}

# fails COMMAND...: succeeds if the command fails
fails()
{
	! "$@"
}

# ---------------------------------------------------------------- archives

# Makes a repository whose only commit is this checkout, with uncommitted
# changes.
make_repository()
{
	mkdir "$copies/repository"
	copy_checkout "$copies/repository"
	cd "$copies/repository"
	git init -q .
	git add -A
	GIT_AUTHOR_DATE='@1700000000 +0000' GIT_COMMITTER_DATE='@1700000000 +0000' \
		git -c user.name=nobody -c user.email=nobody@example.org commit -q -m 'The checkout'
}

# make dist needs pg_config only because the Makefile gets the path of PGXS
# from it.
dist()
{
	rm -rf "$1"
	git clone -q "$copies/repository" "$1"
	make -s -C "$1" PG_CONFIG=: PGXS=/dev/null dist
}

archives_are_equal()
{
	dist "$copies/one"
	(
		umask 077
		export TZ=Pacific/Kiritimati
		dist "$copies/another/folder"
	)
	[ -s "$copies/one/dist/$archive.zip" ]
	cmp "$copies/one/dist/$archive.zip" "$copies/another/folder/dist/$archive.zip"
	cmp "$copies/one/dist/$archive.tar.gz" "$copies/another/folder/dist/$archive.tar.gz"
}

# Both archives have all committed files except those that .gitattributes
# excludes.
archives_are_whole()
{
	cd "$copies/repository"
	git ls-files | grep -Ev '^(\.ci/|\.github/|\.gitattributes$)' | sed "s|^|$archive/|" | sort >"$copies/wanted"
	tar -tf "$copies/one/dist/$archive.tar.gz" | grep -v '/$' | sort | diff "$copies/wanted" -
	python3 -m zipfile -l "$copies/one/dist/$archive.zip" | awk 'NR > 1 && $1 !~ /\/$/ { print $1 }' |
		sort | diff "$copies/wanted" -
}

# ----------------------------------------------------------- Debian packages

# new_tree NAME: copies the release's minimal tree.  Packages start no daemons
# there.
new_tree()
{
	tree=$copies/$1
	copy_tree "$trees/minimal-$release"
	printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
	chmod +x "$tree/usr/sbin/policy-rc.d"
}

# copy_tree FROM: copies a tree without its mounts to the folder $tree
copy_tree()
{
	cp -a --one-file-system "$1" "$tree"
	mkdir -p "$tree/srv/downloads"
	mount --bind "$downloads" "$tree/srv/downloads"
	mount -t proc proc "$tree/proc"
}

remove_tree()
{
	end_processes
	umount -l "$copies/$1/proc" "$copies/$1/srv/downloads"
	rm -rf --one-file-system "${copies:?}/$1"
}

make_minimal_tree()
{
	make_tree "$trees/minimal-$release" "$release"
	echo 'Dir::Cache::archives "/srv/downloads";' >"$trees/minimal-$release/etc/apt/apt.conf.d/99downloads"
	mkdir -p "$trees/minimal-$release/srv"
	in_tree "$trees/minimal-$release" apt-get -q update
}

in_tree_install()
{
	in_tree "$tree" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@"
}

as_builder()
{
	in_tree "$tree" runuser -u builder -- env HOME=/build "$@"
}

# Installs exactly the build dependencies that the package declares.
prepare_build()
{
	new_tree build
	in_tree "$tree" useradd -d /build -m builder
	cp -R "$copies/one/packaging/debian" "$tree/build/debian"
	in_tree_install install build-essential postgresql-common
	in_tree "$tree" bash -c 'cd /build && PG_UPDATECONTROL=yes pg_buildext updatecontrol'
	in_tree_install build-dep /build
}

# The committed control file differs from the generated one only in the version.
control_is_current()
{
	diff <(sed -E 's/(postgresql-|PostgreSQL )17/\1NN/g' "$root/packaging/debian/control") \
		<(sed -E "s/(postgresql-|PostgreSQL )$major/\1NN/g" "$tree/build/debian/control")
}

# build FOLDER REVISION VARIABLE=VALUE...: builds the package with these
# environment variables
build()
{
	local folder=/build/$1 revision=$2

	shift 2
	as_builder mkdir -p "$folder"
	cp "$copies/one/dist/$archive.tar.gz" "$tree$folder/postgresql-cuckoo_$version.orig.tar.gz"
	as_builder tar -C "$folder" -xf "$folder/postgresql-cuckoo_$version.orig.tar.gz"
	as_builder cp -R "$folder/$archive/packaging/debian" "$folder/$archive/debian"
	if [ "$revision" != 1 ]; then
		as_builder sed -i "1s/-1)/-$revision)/" "$folder/$archive/debian/changelog"
	fi
	as_builder env "$@" bash -c 'umask "${MASK:-022}"; cd "$1" && exec dpkg-buildpackage -us -uc' bash "$folder/$archive"
}

# package FOLDER: prints the file of the package that was built there
package()
{
	(cd "$tree" && compgen -G "build/$1/postgresql-$major-cuckoo_*.deb")
}

packages_are_equal()
{
	local file files=0

	for file in "$tree/build/first/"*.{deb,dsc,debian.tar.xz}; do
		cmp "$file" "$tree/build/second/elsewhere/$(basename "$file")"
		files=$((files + 1))
	done
	# The package, its debugging symbols, and two files of the source
	[ "$files" = 4 ]
}

depends_on_minor()
{
	local minor

	minor=$(in_tree "$tree" "/usr/lib/postgresql/$major/bin/pg_config" --version | sed 's/^PostgreSQL \([^ ]*\).*/\1/; s/\([0-9]\)\([a-z]\)/\1~\2/')
	dpkg-deb -f "$tree/$(package first)" Depends
	# With >> since postgresql-common 248+deb12u2
	[[ ", $(dpkg-deb -f "$tree/$(package first)" Depends)," = *", postgresql-$major (>"[=\>]" $minor),"* ]]
}

has_its_files()
{
	local files

	files=$(dpkg-deb -c "$tree/$(package first)" | awk '{ print $6 }')
	echo "$files"
	for file in "lib/postgresql/$major/lib/cuckoo.so" \
		"share/postgresql/$major/extension/cuckoo"{,_citus}{.control,"--$version.sql"} \
		"share/doc/postgresql-$major-cuckoo/README.md" \
		"share/doc/postgresql-$major-cuckoo/docs/guide.md"; do
		grep -Fqx "./usr/$file" <<<"$files"
	done
}

sql()
{
	in_tree "$tree" runuser -u postgres -- psql -XqAt -v ON_ERROR_STOP=1 -c "$1"
}

# answers WANTED QUERY: whether the query has the wanted result
answers()
{
	local answer

	answer=$(sql "$2")
	echo "$answer"
	[ "$answer" = "$1" ]
}

# Installs the package while the server runs, which is not restarted.
install_package()
{
	new_tree installed
	in_tree_install install "postgresql-$major"
	in_tree "$tree" pg_conftool "$major" main set listen_addresses ''
	in_tree "$tree" pg_ctlcluster "$major" main start
	mkdir "$tree/build"
	cp -R "$copies/build/build/." "$tree/build"
	in_tree_install install "/$(package first)"
}

use_extension()
{
	sql "CREATE EXTENSION cuckoo; CREATE EXTENSION cuckoo_citus"
	sql "CREATE TABLE filters AS SELECT cuckoo_agg(i) AS f FROM generate_series(1, 100000) AS i"
	answers 't|100000' "SELECT (SELECT f FROM filters) @> 42, cuckoo_cardinality(f) FROM filters"
}

# Runs in the tree of the build, because the tests need the build dependencies,
# too.
run_autopkgtest()
{
	in_tree_install install autopkgtest dpkg-dev
	in_tree "$tree" autopkgtest "/$(package first)" "/build/first/postgresql-cuckoo_$version-1.dsc" -- null
	grep -Eq '^installcheck +PASS' "$log"
	# Check that tests ran.  15 prints "test NAME ... ok", later versions print
	# "ok N - NAME".
	grep -Eq '(^ok [0-9]+ +- +|^test )filter +' "$log"
	grep -Eq '(^ok [0-9]+ +- +|^test )row-type +' "$log"
}

upgrade_package()
{
	in_tree_install install "/$(package next)"
	[ "$(in_tree "$tree" dpkg-query -W -f '${Version}' "postgresql-$major-cuckoo")" = "$version-2" ]
	answers 't|100000' "SELECT (SELECT f FROM filters) @> 42, cuckoo_cardinality(f) FROM filters"
}

# Without the package the server still runs, but cannot use filters.  When the
# package is installed again, the filters are unchanged.
remove_package()
{
	in_tree_install remove "postgresql-$major-cuckoo"
	answers 1 "SELECT 1"
	fails sql "SELECT cuckoo_cardinality(f) FROM filters" 2>&1 | grep -F 'could not access file "$libdir/cuckoo"'
	in_tree_install install "/$(package next)"
	answers 100000 "SELECT cuckoo_cardinality(f) FROM filters"
}

purge_package()
{
	in_tree_install purge "postgresql-$major-cuckoo"
	[ -z "$(find "$tree/usr" "$tree/etc" "$tree/var" -name '*cuckoo*' ! -path '*/apt.conf.d/*' | tee /dev/stderr)" ]
	[ -z "$(in_tree "$tree" dpkg-query -W -f '${Status}\n' "postgresql-$major-cuckoo" 2>/dev/null | grep -v not-installed | tee /dev/stderr)" ]
}

# ------------------------------------------------------------------- Docker

# Runs the instructions of our Dockerfile, in trees like the official image, which
# has the server's packages.  It knows only those that occur there.
run_dockerfile()
{
	local instruction rest image_version

	new_tree image
	in_tree_install install "postgresql-$major"
	in_tree "$tree" pg_dropcluster "$major" main
	image_version=$(in_tree "$tree" dpkg-query -W -f '${Version}' "postgresql-$major")
	while read -r instruction rest; do
		echo "$instruction $rest"
		case "$instruction $rest" in
		"ARG "*) ;;
		"FROM postgres:"*)
			tree=$copies/stage-$([[ $rest = *" AS build" ]] && echo build || echo final)
			copy_tree "$copies/image"
			;;
		"RUN "*) in_tree "$tree" env "PG_MAJOR=$major" "PG_VERSION=$image_version" sh -c "$rest" ;;
		"COPY . /src")
			mkdir "$tree/src"
			sed -n 's/^!//p' "$root/.dockerignore" | tar -C "$copies/repository" -cf - -T - | tar -C "$tree/src" -xf -
			;;
		"COPY --from=build /installed/ /") cp -a "$copies/stage-build/installed/." "$tree" ;;
		*) return 1 ;;
		esac
	done < <(sed -n '/^#/d; :a; /\\$/ { N; s/\\\n[\t ]*//; ta }; /./p' "$root/packaging/docker/Dockerfile")
}

image_has_extension()
{
	local ctl=(runuser -u postgres -- "/usr/lib/postgresql/$major/bin/pg_ctl" -D /var/lib/postgresql/data)

	tree=$copies/stage-final
	in_tree "$tree" "${ctl[@]}" init
	in_tree "$tree" "${ctl[@]}" -o "-c listen_addresses=" -l /var/lib/postgresql/log -w start
	use_extension
	in_tree "$tree" "${ctl[@]}" -w stop
}

image_has_nothing_else()
{
	[ -z "$(diff <(cd "$copies/image" && find usr/bin usr/lib usr/share | sort) \
		<(cd "$copies/stage-final" && find usr/bin usr/lib usr/share | sort) | grep '^[<>]' | grep -Ev 'cuckoo|/bitcode$' | tee /dev/stderr)" ]
}

# ------------------------------------------------------------------- the run

version=$(sed -n "s/^default_version = '\(.*\)'$/\1/p" "$root/cuckoo.control")
archive=cuckoo-$version

check "a repository of this checkout" make_repository
check "make dist twice gives the same bytes" archives_are_equal
check "the archives hold all files" archives_are_whole

for release in "${releases[@]}"; do
	downloads=${CUCKOO_PACKAGES:-$trees}/apt-$release
	mkdir -p "$downloads"
	check "$release: a minimal tree" make_minimal_tree
	major=$(in_tree "$trees/minimal-$release" apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p') || true
	[ -n "$major" ] || continue
	tree=$copies/build
	check "$release: the build dependencies" prepare_build
	check "$release: debian/control is current" control_is_current
	check "$release: the packages for PostgreSQL $major, and installcheck" build first 1
	check "$release: the same elsewhere" build second/elsewhere 1 DEB_BUILD_OPTIONS='nocheck parallel=1' TZ=Pacific/Kiritimati MASK=002
	check "$release: both have the same bytes" packages_are_equal
	check "$release: the package has its files" has_its_files
	check "$release: it depends on the minor version it was built with" depends_on_minor
	check "$release: a second version" build next 2 DEB_BUILD_OPTIONS=nocheck
	check "$release: autopkgtest runs installcheck" run_autopkgtest
	tree=$copies/installed
	check "$release: apt installs the package" install_package
	check "$release: CREATE EXTENSION, and a filter" use_extension
	check "$release: the upgrade keeps filters" upgrade_package
	check "$release: removal, and back" remove_package
	check "$release: purge leaves nothing" purge_package
	check "$release: the Dockerfile's steps" run_dockerfile
	check "$release: the image has the extension" image_has_extension
	check "$release: and nothing else" image_has_nothing_else
	for name in build installed image stage-build stage-final; do
		remove_tree "$name" >/dev/null 2>&1 || true
	done
done

say_installed
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
