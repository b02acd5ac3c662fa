#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds the Debian packages without optimisation, checks them with lintian, installs them into a
# folder, and builds programs with them.
# Usage: debian.sh ROOT FOLDER VERSION
set -u
root=$1
folder=$2
version=$3
for program in dpkg-buildpackage dh lintian git pkg-config; do
    command -v "$program" >/dev/null || {
        echo "SKIPPED: $program is not here; install debhelper, dpkg-dev, lintian, git, pkg-config"
        exit 77
    }
done
rm -rf "$folder"
mkdir -p "$folder/settle-$version" "$folder/programs" && cd "$folder" || exit 1

(cd "$root" && cp -R CMakeLists.txt CHANGELOG.md LICENSE README.md include adapters \
    "$folder/settle-$version") || exit 1
tar -czf "settle_$version.orig.tar.gz" "settle-$version" || exit 1
cp -R "$root/tests/packages/debian" "settle-$version/debian" || exit 1
(cd "settle-$version" && DEB_BUILD_OPTIONS="noopt parallel=1" dpkg-buildpackage -us -uc) || exit 1
[ -f "$(echo libsettle-dev_"$version"-*.deb)" ] || {
    echo "debian/changelog has another version than $version"
    exit 1
}
lintian --allow-root --fail-on error ./*.changes || exit 1

# What the packages depend on can be installed, and they hold what their users need.
apt-get -s -o Debug::NoLocking=1 install ./*.deb || exit 1
mkdir -p installed/var/lib/dpkg/info installed/var/lib/dpkg/updates
: >installed/var/lib/dpkg/status
: >installed/var/lib/dpkg/available
PATH=$PATH:/usr/sbin:/sbin dpkg --root="$folder/installed" --force-not-root --force-depends \
    --install ./libsettle*.deb || exit 1
libraries=$(dirname "$(find "$folder/installed/usr/lib" -name libsettle_core.so)")
LD_LIBRARY_PATH=$libraries
export LD_LIBRARY_PATH
sh "$root/tests/packages/cmake.sh" "$root" "$folder/programs/cmake" "$version" "find_package(settle" \
    "-Dsettle_DIR=$libraries/cmake/settle" || exit 1
for adapter in sqlite postgresql mariadb mongodb http; do
    sh "$root/tests/packages/pkg_config.sh" "$root" "$folder/programs/$adapter" \
        "$libraries/pkgconfig" g++ "$adapter" || exit 1
done
