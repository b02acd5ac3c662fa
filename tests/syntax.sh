#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles, for the warnings alone, the sources that the build in FOLDER has not compiled.
# Usage: tests/syntax.sh PRESET FOLDER
set -eu
cd -- "$(dirname -- "$0")/.."
preset=$1
folder=$2
.ci/build.sh "$preset" ""
objects=$(ninja -C "build/$preset" -t targets all | sed -n 's/\.o: CXX_COMPILER__.*/.o/p' | sort -u |
    while IFS= read -r object; do
        [ -f "$folder/$object" ] || printf '%s\n' "$object"
    done)
# shellcheck disable=SC2086 # the list is meant to be split, and holds no spaces
if [ -n "$objects" ] && ninja -C "build/$preset" -j "$(nproc)" -k 0 $objects; then
    echo "$preset   $(printf '%s\n' "$objects" | wc -l) more objects compile without a warning"
else
    echo "$preset   does not compile"
    exit 1
fi
