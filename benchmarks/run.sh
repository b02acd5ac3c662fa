#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Measures settle beside the same work by hand.
set -eu

usage() {
    cat <<'TEXT'
benchmarks/run.sh                   every case: prints a table, writes build/benchmarks.json
benchmarks/run.sh --quick           fewer and smaller rounds
benchmarks/run.sh --filter REGEX    the cases whose names match, in either case: mongo
benchmarks/run.sh --folder FOLDER   files of SQLite there; the servers keep build/benchmarks/data
benchmarks/run.sh --list            the names of the cases
benchmarks/run.sh --curves          draws build/curves/*.svg instead; also with --quick

Missing Debian packages are installed, and everything is built below build/. The table
shows whether each budget holds. The exit code is not 0 if a result is wrong.
TEXT
}

curves=
for argument; do
    case $argument in
    -h | --help)
        usage
        exit 0
        ;;
    --curves) curves=yes ;;
    esac
done

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
packages="g++ cmake ninja-build libboost-dev librange-v3-dev libsqlite3-dev libmongoc-dev libpq-dev
    postgresql-15 libmariadb-dev mariadb-server
    libcurl4-openssl-dev libcpp-httplib-dev pkg-config libcli11-dev libfmt-dev nlohmann-json3-dev libcsv-dev libbenchmark-dev"
[ -z "$curves" ] || packages="$packages gnuplot-nox"
# Messages go to stderr, so that the table can be piped.
# shellcheck disable=SC2086 # the list is meant to be split
.ci/install.sh $packages >&2

if [ -n "$curves" ]; then
    .ci/build.sh benchmarks "" settle_curves >&2
    exec benchmarks/curves.sh "$@"
fi
.ci/build.sh benchmarks "" settle_benchmarks >&2
# Without a server, the program omits the cases that need it and prints the reason.
eval "$(tests/mongodb/mongod.sh --assign)"
exec build/benchmarks/bin/settle_benchmarks --folder build/benchmarks/data \
    --json build/benchmarks.json "$@"
