#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Formats the sources as .clang-format says; with --check, names those that differ.
# Usage: .ci/format.sh [--check]
set -eu
cd -- "$(dirname -- "$0")/.."

# Releases format differently, so one is used everywhere.
formatter=clang-format-19
.ci/install.sh "$formatter" git
how=-i
[ "${1-}" != --check ] || how="--dry-run -Werror"
# shellcheck disable=SC2086 # the options are meant to be split
git ls-files -z '*.hpp' '*.cpp' '*.ipp' | xargs -0 -P "$(nproc)" -n 50 "$formatter" $how || {
    echo "settle: these sources are not formatted; .ci/format.sh formats them" >&2
    exit 1
}
