#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Installs those of the named Debian packages that are missing, as root or through sudo.
# Usage: .ci/install.sh PACKAGE...
set -eu

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
    echo "settle: these packages are missing and only root can install them:$missing" >&2
    echo "settle: run this as root, install sudo, or ask for: apt-get install$missing" >&2
    exit 1
fi

echo "settle: installing what is missing with apt-get:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # the lists are meant to be split
if ! { $as_root apt-get update &&
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "settle: apt-get could not install:$missing" >&2
    exit 1
fi
