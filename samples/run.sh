#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds the sample applications and runs one of them.
set -eu

usage() {
    cat <<'TEXT'
samples/run.sh                          6,471 payment orders of a bank: open, run, check
samples/run.sh payment                  512 invoices of a shop: open, run, check
samples/run.sh mongodb                  the bank's orders on a MongoDB replica set of its own
samples/run.sh transfer ARGUMENT...     the program itself: samples/run.sh transfer --help
samples/run.sh payment ARGUMENT...      the same for the shop's
samples/run.sh ARGUMENT...              the same as with `transfer`

Missing Debian packages are installed, and the programs are built into build/bin. The first two
begin with a new database, build/bank.db or build/shop.db, and exit as their check does. The third
finds or fetches a server, starts a replica set of one, and stops it in the end: for a trial. Files
that you name in an ARGUMENT are relative to your current folder.
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
trial=
if [ "$program" = transfer ] && [ "${1-}" = mongodb ]; then
    trial=mongodb
    shift
    if [ $# -gt 0 ]; then
        echo "samples/run.sh: the trial takes no argument; for a server of yours:" >&2
        echo "samples/run.sh transfer --store mongodb://HOST/DATABASE $*" >&2
        exit 2
    fi
fi

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# The tests need more packages; they stay as they are where they have been configured before.
tests=-DSETTLE_BUILD_TESTS=OFF
if grep -qs '^SETTLE_BUILD_TESTS:BOOL=ON$' "$root/build/CMakeCache.txt"; then
    tests=
fi
# The program that starts servers belongs to the tests.
keeper=
doctest=
if [ -n "$trial" ]; then
    tests=-DSETTLE_BUILD_TESTS=ON
    keeper=settle_mongodb_keeper
    doctest=doctest-dev
fi
# Messages go to stderr, so that a program's output can be piped.
# shellcheck disable=SC2086 # empty words must vanish
"$root/.ci/install.sh" g++ cmake ninja-build libboost-dev librange-v3-dev libsqlite3-dev \
    libmongoc-dev libcurl4-openssl-dev libcpp-httplib-dev pkg-config libcli11-dev libfmt-dev \
    nlohmann-json3-dev libcsv-dev libicu-dev $doctest >&2
# shellcheck disable=SC2086
"$root/.ci/build.sh" release "$tests" "$program" $keeper >&2

[ $# -eq 0 ] || exec "$root/build/bin/$program" "$@"

run() {
    echo
    echo "\$ $program $*"
    "build/bin/$program" "$@"
}

# Exit code 1 means refused lines of the input; `check` shows whether all is well.
step() {
    code=0
    run "$@" || code=$?
    [ "$code" -le 1 ] || echo "samples/run.sh: this ended with exit code $code" >&2
}

cd "$root"
case $program$trial in
transfermongodb)
    SETTLE_MONGOD=$(tests/mongodb/mongod.sh)
    export SETTLE_MONGOD
    mkdir -p build/tests/scratch
    build/tests/settle_mongodb_keeper keep
    trap 'build/tests/settle_mongodb_keeper stop' EXIT
    # Not every shell takes the way by EXIT when it is interrupted.
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    # "replica_set=HOST:PORT/?OPTIONS" becomes mongodb://HOST:PORT/bank?OPTIONS.
    store=$(sed -n 's|^replica_set=\([^/]*\)/|mongodb://\1/bank|p' \
        build/tests/scratch/mongodb_servers.txt)
    input=samples/transfer/payment_orders.csv
    step --store "$store" open "$input" --balance 1000.00
    ;;
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
