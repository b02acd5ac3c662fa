#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds the sample applications and runs one of them.
set -eu

usage() {
    cat <<'TEXT'
samples/run.sh                          6,471 payment orders of a bank: open, run, check
samples/run.sh payment                  512 invoices of a shop: open, run, check
samples/run.sh transfer ARGUMENT...     the program itself: samples/run.sh transfer --help
samples/run.sh payment ARGUMENT...      the same for the shop's
samples/run.sh ARGUMENT...              the same as with `transfer`

Missing Debian packages are installed, and the programs are built into build/bin. The first two
begin with a new database, build/bank.db or build/shop.db, and exit as their check does. Files
that you name in an ARGUMENT are looked for from where you stand.
TEXT
}

case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
transfer | payment)
    program=$1
    shift
    ;;
*) program=transfer ;;
esac

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# The tests need more packages; they stay as they are where they have been configured before.
tests=-DSETTLE_BUILD_TESTS=OFF
if grep -qs '^SETTLE_BUILD_TESTS:BOOL=ON$' "$root/build/CMakeCache.txt"; then
    tests=
fi
# What is said on the way goes to stderr, so that a program's output can be piped.
"$root/.ci/install.sh" g++ cmake ninja-build libboost-dev librange-v3-dev libsqlite3-dev \
    libcli11-dev libfmt-dev nlohmann-json3-dev libcsv-dev >&2
"$root/.ci/build.sh" release "$tests" "$program" >&2

[ $# -eq 0 ] || exec "$root/build/bin/$program" "$@"

run() {
    echo
    echo "\$ $program $*"
    "build/bin/$program" "$@"
}

# Exit code 1 means refused lines of the input; whether all is well is for `check` to say.
step() {
    code=0
    run "$@" || code=$?
    [ "$code" -le 1 ] || echo "samples/run.sh: this ended with exit code $code" >&2
}

cd "$root"
case $program in
transfer)
    store=sqlite:build/bank.db
    input=samples/transfer/payment_orders.csv
    rm -f build/bank.db build/bank.db-wal build/bank.db-shm
    step --store "$store" open "$input" --balance 1000.00
    ;;
payment)
    store=sqlite:build/shop.db
    input=samples/payment/online_retail.csv
    rm -f build/shop.db build/shop.db-wal build/shop.db-shm
    step --store "$store" open "$input" --balance 2000.00 --stock 1000
    ;;
esac
step --store "$store" run "$input"
run --store "$store" check
