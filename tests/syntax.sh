#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles with clang, for its warnings alone, the sources that build/clang has not compiled.
set -eu
cd -- "$(dirname -- "$0")/.."
.ci/build.sh syntax ""
objects=$(ninja -C build/syntax -t targets all | sed -n 's/\.o: CXX_COMPILER__.*/.o/p' | sort -u |
    while IFS= read -r object; do
        [ -f "build/clang/$object" ] || printf '%s\n' "$object"
    done)
# shellcheck disable=SC2086 # the list is meant to be split, and holds no spaces
if [ -n "$objects" ] && ninja -C build/syntax -j "$(nproc)" $objects; then
    echo "syntax   $(printf '%s\n' "$objects" | wc -l) more objects compile without a warning"
else
    echo "syntax   does not compile"
    exit 1
fi
