#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds the sample applications and runs one of them.
set -eu

usage() {
    cat <<'TEXT'
samples/run.sh                          6,471 payment orders of a bank: open, run, check
samples/run.sh payment                  512 invoices of a shop: open, run, check
samples/run.sh trip                     400 trips at four services over HTTP: open, run, check
samples/run.sh books                    the bank's orders between PostgreSQL and a MariaDB ledger
samples/run.sh mongodb                  the bank's orders on a MongoDB replica set of its own
samples/run.sh postgresql               the bank's orders on a PostgreSQL server of its own
samples/run.sh mariadb                  the bank's orders on a MariaDB server of its own
samples/run.sh transfer ARGUMENT...     the program itself: samples/run.sh transfer --help
samples/run.sh payment ARGUMENT...      the same for the shop's; also for trip and books
samples/run.sh ARGUMENT...              the same as with `transfer`

What a command needs is built into build/bin, and its missing Debian packages are installed: ten
for SQLite, and the client of a server for an address of that server. The first three begin with new
databases, build/bank.db, build/shop.db or those of build/trip, and exit as their check does. The
third starts its services and stops them in the end. The next four start servers of their own, and
stop them in the end: for a trial. MongoDB's is found or fetched, the others are Debian's. A run
waits for another that has the same files or servers. Files that you name in an ARGUMENT are
relative to your current folder.
TEXT
}

case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
transfer | payment | trip | books)
    program=$1
    shift
    ;;
*) program=transfer ;;
esac
trial=
case $program${1-} in
transfermongodb | transferpostgresql | transfermariadb)
    trial=$1
    shift
    if [ $# -gt 0 ]; then
        echo "samples/run.sh: the trial takes no argument; for a server of yours:" >&2
        echo "samples/run.sh transfer --store $trial://HOST/DATABASE $*" >&2
        exit 2
    fi
    ;;
esac

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# The parts that the program needs beside SQLite's, and the targets to build.
needs=
targets=$program
case $program in
trip) needs=HTTP ;;
books) needs="POSTGRESQL MARIADB" ;;
*)
    for argument in ${trial:+"$trial:"} "$@"; do
        case ${argument#--store=} in
        mongodb:* | mongodb+srv:*) needs="$needs MONGODB" targets="$targets $program-mongodb" ;;
        postgresql:* | postgres:*) needs="$needs POSTGRESQL" targets="$targets $program-postgresql" ;;
        mariadb:*) needs="$needs MARIADB" targets="$targets $program-mariadb" ;;
        esac
    done
    ;;
esac
for argument in "$@"; do
    [ "$argument" != serve ] || needs="$needs CONSOLE"
done
# The programs that start servers belong to the tests.
keepers=
servers=
case $program$trial$# in
transfermongodb0) keepers=settle_mongodb_keeper ;;
transferpostgresql0) keepers=settle_postgresql_keeper servers=postgresql-15 ;;
transfermariadb0) keepers=settle_mariadb_keeper servers=mariadb-server ;;
books0)
    keepers="settle_postgresql_keeper settle_mariadb_keeper"
    servers="postgresql-15 mariadb-server"
    ;;
esac
[ -z "$keepers" ] || needs="$needs TESTS"

# A part stays switched on if it was before.
# Usage: choose PART OPTION PACKAGE...
choose() {
    part=$1
    option=$2
    shift 2
    case " $needs " in
    *" $part "*) ;;
    *)
        if ! grep -qs "^$option:[A-Z]*=ON$" "$root/build/CMakeCache.txt"; then
            options="$options -D$option=OFF"
            return
        fi
        ;;
    esac
    options="$options -D$option=ON"
    packages="$packages $*"
}
options=
packages="g++ cmake ninja-build libboost-dev librange-v3-dev libsqlite3-dev libcli11-dev libfmt-dev
    libcsv-dev nlohmann-json3-dev"
choose MONGODB SETTLE_WITH_MONGODB libmongoc-dev
choose POSTGRESQL SETTLE_WITH_POSTGRESQL libpq-dev
choose MARIADB SETTLE_WITH_MARIADB libmariadb-dev
choose HTTP SETTLE_WITH_HTTP libcurl4-openssl-dev libcpp-httplib-dev pkg-config
choose CONSOLE SETTLE_SAMPLES_SERVE
choose TESTS SETTLE_BUILD_TESTS doctest-dev
# Messages go to stderr, so that a program's output can be piped.
# shellcheck disable=SC2086 # the lists are meant to be split
"$root/.ci/install.sh" $packages $servers >&2
if [ "$trial" = mongodb ]; then
    SETTLE_MONGOD=$("$root/tests/mongodb/mongod.sh")
    export SETTLE_MONGOD
fi
# shellcheck disable=SC2086
"$root/.ci/build.sh" release "$options" $targets $keepers >&2

[ $# -eq 0 ] || exec "$root/build/bin/$program" "$@"

run() {
    echo
    echo "\$ $program $*"
    "build/bin/$program" "$@"
}

# Exit code 1 means refused lines of the input; `check` shows whether the books are right.
step() {
    code=0
    run "$@" || code=$?
    [ "$code" -le 1 ] || echo "samples/run.sh: this ended with exit code $code" >&2
}

pids=
services=

# Starts the four services on free ports; sets `services` to the options that name them.
start_services() {
    rm -rf build/trip
    mkdir -p build/trip
    trap stop_services EXIT
    # Not every shell runs the trap of EXIT when it is interrupted.
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    for kind in flight hotel car card; do
        # In a session of its own, a service does not end at Ctrl-C before the trips do.
        setsid build/bin/trip-service "$kind" --database "build/trip/$kind.db" --port 0 \
            >"build/trip/$kind.txt" 8>&- &
        pids="$pids $!"
    done
    for kind in flight hotel car card; do
        tries=0
        until [ -s "build/trip/$kind.txt" ]; do
            tries=$((tries + 1))
            if [ "$tries" -gt 100 ]; then
                echo "samples/run.sh: the service $kind does not start" >&2
                exit 3
            fi
            sleep 0.1
        done
        address=$(cat "build/trip/$kind.txt")
        services="$services --$kind $address --$kind-database build/trip/$kind.db"
    done
}

stop_services() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null || :
    done
    for pid in $pids; do
        wait "$pid" 2>/dev/null || :
    done
}

# Starts servers of its own, to be stopped at the exit.
start_servers() {
    mkdir -p build/tests/scratch
    trap stop_servers EXIT
    # Not every shell runs the trap of EXIT when it is interrupted.
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
    for each in $keepers; do
        "build/tests/$each" keep 8>&-
    done
}

stop_servers() {
    for each in $keepers; do
        "build/tests/$each" stop || :
    done
}

# "server=USER@HOST:PORT/DATABASE", MariaDB's without a database.
address_of() {
    sed -n 's|^server=||p' "build/tests/scratch/$1_servers.txt"
}

cd "$root"
# Each run makes its databases and its servers anew. Services and servers do not hold the lock: they
# outlive a killed run.
lock=build/samples.lock
[ -z "$keepers" ] || lock=build/servers.lock
exec 8>"$lock"
if ! flock -n 8; then
    echo "samples/run.sh: another run is under way in build/; waiting for it" >&2
    flock 8
fi
# `options` are several words without spaces in them, and so is `how`.
how=
case $program$trial in
transfermongodb)
    start_servers
    # "replica_set=HOST:PORT/?OPTIONS" becomes mongodb://HOST:PORT/bank?OPTIONS.
    options="--store $(sed -n 's|^replica_set=\([^/]*\)/|mongodb://\1/bank|p' \
        build/tests/scratch/mongodb_servers.txt)"
    ;;
transferpostgresql)
    start_servers
    options="--store postgresql://$(address_of postgresql)"
    ;;
transfermariadb)
    start_servers
    options="--store mariadb://$(address_of mariadb)/test"
    ;;
transfer)
    rm -f build/bank.db build/bank.db-wal build/bank.db-shm
    options="--store sqlite:build/bank.db"
    ;;
payment)
    rm -f build/shop.db build/shop.db-wal build/shop.db-shm
    options="--store sqlite:build/shop.db"
    ;;
trip)
    start_services
    options="--store sqlite:build/trip/trip.db $services"
    ;;
books)
    start_servers
    options="--accounts postgresql://$(address_of postgresql)
        --ledger mariadb://$(address_of mariadb)/test"
    how="--threads 8"
    ;;
esac
case $program in
payment) input=samples/payment/online_retail.csv opening="--balance 2000.00 --stock 1000" ;;
trip) input=samples/trip/orders.csv opening="--balance 3000.00" ;;
*) input=samples/transfer/payment_orders.csv opening="--balance 1000.00" ;;
esac
# shellcheck disable=SC2086 # the options are several words
{
    step $options open "$input" $opening
    step $options run "$input" $how
    run $options check
}
