#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Checks the compiled part of the core and of the adapters, their headers and bodies included, with
# the checks of .clang-tidy. Prints each finding with its file and line.
# Usage: .ci/tidy.sh
set -eu
cd -- "$(dirname -- "$0")/.."

# Releases have different checks, so one is used everywhere.
checker=clang-tidy-19
.ci/install.sh "$checker" git g++ cmake ninja-build pkg-config libboost-dev librange-v3-dev \
    libsqlite3-dev libmongoc-dev libpq-dev libmariadb-dev libcurl4-openssl-dev
.ci/build.sh tidy ""
# What it prints beside the findings counts those of system headers.
git ls-files -z include/settle/settle.cpp 'adapters/*.cpp' | xargs -0 -P "$(nproc)" -n 1 \
    "$checker" --quiet --warnings-as-errors='*' -p build/tidy 2>build/tidy/tidy.log || {
    grep -v 'warnings\{0,1\} generated\.$' build/tidy/tidy.log >&2 || :
    echo "settle: clang-tidy finds the above; .clang-tidy says what it looks for" >&2
    exit 1
}
