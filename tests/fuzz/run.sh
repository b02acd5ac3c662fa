#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Lets every fuzz target search for a while, from its corpus on.
# Usage: run.sh [SECONDS]   for each target; 60 when not given
set -u
seconds=${1:-60}
case $seconds in
'' | *[!0-9]*)
    echo "settle: the time is a number of seconds, not '$seconds'" >&2
    exit 2
    ;;
esac
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root" || exit 1
.ci/build.sh clang -DSETTLE_BUILD_SAMPLES=ON settle_fuzz || exit 1

found=build/fuzz
failed=0
count=0
for program in build/clang/tests/fuzz/fuzz_*; do
    [ -x "$program" ] || continue
    count=$((count + 1))
    target=${program##*/fuzz_}
    mkdir -p "$found/$target"
    log=$found/$target.log
    echo "settle: fuzzing $target for $seconds s"
    # New inputs stay in build/; the corpus of the repository is only read.
    if "$program" -max_total_time="$seconds" -timeout=10 -artifact_prefix="$found/$target-" \
        "$found/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
        grep -E '^Done ' "$log"
        continue
    fi
    failed=1
    grep -vE '^#[0-9]|^INFO: |^0x' "$log" | head -n 60
    input=$(sed -n 's/.*Test unit written to //p' "$log")
    echo "settle: $target fails for the input ${input:-that is named in $log}; to replay it:"
    echo "    $program ${input:-INPUT}"
done
if [ "$count" -eq 0 ]; then
    echo "settle: no fuzz target was built. See the flags of the preset clang" >&2
    exit 1
fi
exit "$failed"
