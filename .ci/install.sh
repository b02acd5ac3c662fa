#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Installs those of the named Debian packages that are missing, as root or through sudo.
# Usage: .ci/install.sh PACKAGE...
set -eu
cd -- "$(dirname -- "$0")/.."

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "settle: this is no Debian; taking it that what these packages hold is here: $*"
    exit 0
fi

missing=
for package; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || :) in
    "install ok installed") ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "settle: packages are missing, and only root can install them:" \
        "apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

mkdir -p build
# Only one apt-get can be at work. A server that it starts must not hold the lock.
exec 9>build/install.lock
if ! flock -n 9; then
    echo "settle: another run installs packages; waiting for it"
    flock 9
fi
echo "settle: installing what is missing with apt-get:$missing"
# shellcheck disable=SC2086 # the lists are meant to be split
if ! { $as_root apt-get update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
        install -y --no-install-recommends $missing; } >build/install.log 2>&1 9>&-; then
    echo "settle: apt-get, which needs a network, could not install these packages; install them," \
        "or see $PWD/build/install.log:$missing" >&2
    exit 1
fi
