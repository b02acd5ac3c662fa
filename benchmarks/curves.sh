#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Measures the curves and draws them into build/curves. Called by run.sh, which has built settle_curves.
# Usage: curves.sh --curves [--quick]
set -eu
cd -- "$(dirname -- "$0")/.."

repetitions=5
for argument; do
    case $argument in
    --curves) ;;
    --quick) repetitions=2 ;;
    *)
        echo "benchmarks/curves.sh: --curves goes with --quick only, not with $argument" >&2
        exit 2
        ;;
    esac
done

folder=build/curves
build/benchmarks/bin/settle_curves "$folder" "--benchmark_repetitions=$repetitions" \
    --benchmark_report_aggregates_only=true

# Usage: draw CURVE "LABEL OF THE X AXIS" SCALE
draw() {
    lines=$(grep -c '^"' "$folder/$1.dat")
    gnuplot -e "folder='$folder'; curve='$1'; lines=$lines; x='$2'; scale='$3'" benchmarks/curves.gp
    echo "$folder/$1.svg"
}
draw batch_size "transactions in a batch" log
draw participants "participants of a transaction" log
draw hot_share "share of ten hot accounts, in percent (batches of 1,000)" linear
draw threads "threads that call run" log
draw growth "records, entries or marks that are there already (two engines take turns)" log
