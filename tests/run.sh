#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds and runs every test.
set -u

usage() {
    cat <<'TEXT'
tests/run.sh                  each promise of the README at work, with g++: the rules, the store suite
                              on SQLite and memory, searches of a transfer, faults at the seam,
                              recovery, sagas and prepared parts, the bank's program under kills, and
                              programs that are killed on PostgreSQL, MongoDB, MariaDB and over HTTP
tests/run.sh --all            with g++: every test but the long ones
tests/run.sh --ci             the same as both, then the short tests of the library with clang and its
                              address and undefined behaviour sanitizers, and those with threads with
                              its thread sanitizer
tests/run.sh --full           every test, also the long ones; the sanitizers as above, with the coverage
                              of the library's lines, the conformance tests without the compiled part;
                              every other source with clang's warnings; clang-tidy
tests/run.sh --full --kills N the applications are killed N times instead of 300, and the primary
                              of three servers instead of 20
tests/run.sh --exhaustive     with g++: the searches that are too large for --full
tests/run.sh --compilers      unit and conformance tests with clang 19, with clang 19 and libc++,
                              and with g++ and C++23; every other source with their warnings
tests/run.sh --fuzz [SECONDS] the fuzz targets search, 60 s each
tests/run.sh ARGUMENT...      ARGUMENTs go through to ctest, after --all or alone, which stands for
                              --all: tests/run.sh -L unit -R escrow

Missing Debian packages are installed, and everything is built below build/. The tests of MongoDB
start servers of their own, with the program that SETTLE_MONGOD names, that is on the PATH, or that
is fetched. So do the tests of PostgreSQL, with the programs in the folder that SETTLE_POSTGRESQL
names, or of Debian's package. Where there is none they are skipped, which --ci and --full count as a
failure.
TEXT
}

mode=first
case ${1-} in
'') ;;
-h | --help)
    usage
    exit 0
    ;;
--all | --ci | --full | --exhaustive | --compilers | --fuzz)
    mode=${1#--}
    shift
    ;;
*) mode=all ;;
esac
if [ "$mode" = full ] && [ "${1-}" = --kills ]; then
    case ${2-} in
    '' | *[!0-9]*)
        echo "tests/run.sh: --kills needs a number" >&2
        exit 2
        ;;
    esac
    SETTLE_KILLS=$2
    export SETTLE_KILLS
    shift 2
fi

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1

clang="clang-14 libclang-rt-14-dev llvm-14"
tools="pgbouncer prometheus graphviz spin"
more_packages=
case $mode in
all) more_packages=$tools ;;
ci) more_packages="$tools $clang" ;;
full)
    more_packages="$tools default-jre-headless libbenchmark-dev git debhelper lintian python3-venv
        chromium chromium-driver $clang"
    ;;
fuzz) more_packages=$clang ;;
compilers) more_packages="clang-19 libc++-19-dev libc++abi-19-dev" ;;
esac
# shellcheck disable=SC2086 # the list is meant to be split
.ci/install.sh g++ cmake ninja-build libboost-dev librange-v3-dev doctest-dev libsqlite3-dev \
    sqlite3 libmongoc-dev libpq-dev postgresql-15 libmariadb-dev mariadb-server \
    libcurl4-openssl-dev libcpp-httplib-dev pkg-config openssl nghttp2-server python3 \
    libcli11-dev libfmt-dev nlohmann-json3-dev libcsv-dev $more_packages || exit 1

[ "$mode" != fuzz ] || exec tests/fuzz/run.sh "$@"

mkdir -p build
# The samples start the same servers. What outlives this run does not hold the lock.
exec 8>build/servers.lock
if ! flock -n 8; then
    echo "tests/run.sh: another run is under way in build/; waiting for it"
    flock 8
fi
# A server that must be fetched is fetched while the programs are built.
tests/mongodb/mongod.sh --assign >build/mongod.txt 2>&1 8>&- &
finder=$!
# The models for TLC need its file, and the console's page is checked by axe-core.
if [ "$mode" = full ] && checker=$(tests/operating/tla2tools.sh); then
    export SETTLE_TLA2TOOLS="$checker"
fi
if [ "$mode" = full ] && checker=$(tests/console/axe.sh); then
    export SETTLE_AXE="$checker"
fi

# Without arguments a run that finds no test is a failure; with arguments it may be intended.
no_tests=
[ $# -gt 0 ] || no_tests=--no-tests=error

# The sanitizers of clang 14 lose their way where the kernel spreads addresses too widely.
fixed_addresses=
if setarch "$(uname -m)" -R true 2>/dev/null; then
    fixed_addresses="setarch $(uname -m) -R"
fi

# shellcheck disable=SC2086 # empty words must vanish
run_tests() {
    folder=$1
    shift
    if [ -n "$finder" ]; then
        wait "$finder"
        finder=
        eval "$(cat build/mongod.txt)"
    fi
    rm -f "$folder/ctest.log"
    $wrap ctest --test-dir "$folder" --output-on-failure -j "$(($(nproc) + beside))" $no_tests \
        -O "$folder/ctest.log" "$@" 8>&-
    result=$?
    # ctest names the skipped tests without the reason, so the reason is printed here.
    skipped=$(grep -cs '\*\*\*Skipped' "$folder/ctest.log")
    skipped=${skipped:-0}
    [ "$skipped" -eq 0 ] ||
        echo "SKIPPED: $skipped tests; ${SETTLE_NO_MONGOD:-each says why with ctest -V}"
    return "$result"
}

wrap=
# More tests than processors run at once, since most tests wait for the disk or for a server. Beside
# a build, fewer do, and the long tests need what is left.
beside=4
# A build folder of the samples alone has fewer parts.
everything="-DSETTLE_BUILD_TESTS=ON -DSETTLE_WITH_MONGODB=ON -DSETTLE_WITH_POSTGRESQL=ON
    -DSETTLE_WITH_MARIADB=ON -DSETTLE_WITH_HTTP=ON"
case $mode in
first)
    beside=10
    .ci/build.sh release "$everything" settle_first || exit 1
    run_tests build -L '^first$' -LE '^(long|exhaustive)$'
    exit
    ;;
all)
    beside=10
    .ci/build.sh release "$everything" all || exit 1
    run_tests build -LE '^(long|laws|exhaustive)$' "$@"
    exit
    ;;
exhaustive)
    .ci/build.sh release "$everything" all || exit 1
    # One at a time: each may want most of the memory. What they saw is what they are run for.
    ctest --test-dir build -L '^exhaustive$' --verbose $no_tests "$@"
    exit
    ;;
esac

summary=build/$mode.txt
failed=0
: >"$summary"

# Usage: begin NAME COMMAND...
# Runs a build in the background, with the time that the tests of the stage before leave to it.
begin() {
    log=build/$1.log
    shift
    $wrap setsid nice -n 19 "$@" >"$log" 2>&1 &
    builder=$!
}
builder=
trap '[ -z "$builder" ] || kill -TERM "-$builder" 2>/dev/null' EXIT
trap 'exit 130' INT TERM

# Usage: end NAME   waits for the build that began last, and shows its output
end() {
    echo
    echo "== $1"
    wait "$builder"
    built=$?
    builder=
    cat "build/$1.log"
    return "$built"
}

# Usage: stage NAME FOLDER "CTEST OPTION..." [ARGUMENT...]
# Waits for the build NAME, begins the build that the function next_build begins, and runs the tests.
stage() {
    name=$1
    folder=$2
    selection=$3
    shift 3
    began=$(date +%s)
    named=
    code=0
    end "$name" || code=1
    tests_began=$(date +%s)
    next_build
    if [ "$code" -eq 0 ]; then
        # A pipe would hide the exit code, so the closing lines are read back from a file.
        # shellcheck disable=SC2086 # the list is meant to be split
        run_tests "$folder" $selection "$@"
        code=$?
        closing=$(grep -E 'tests passed, |^No tests were found' "$folder/ctest.log" | tail -n 1)
        # The closing lines name the failed tests, for a reader of the end alone.
        named=$(awk '
            /^ *[0-9]+\/[0-9]+ Test +#.*\*\*\*/ { sub(/ \.\.+/, " "); print "  " $0; left = 30; next }
            /^ *([0-9]+\/[0-9]+ Test|Start) +#?[0-9]/ { left = 0 }
            /^[0-9]+% tests passed/ { left = 0 }
            left > 0 && NF > 0 && !/^\[doctest\]/ { print "    " substr($0, 1, 300); left-- }
            /^The following tests FAILED:/ { listed = 1; next }
            listed && /^\t/
        ' "$folder/ctest.log")
        if [ "$skipped" -ne 0 ]; then
            code=1
            closing="$closing; $skipped SKIPPED"
        fi
    else
        closing="does not build"
    fi
    [ "$code" -eq 0 ] || failed=1
    printf '%-8s built after %4d s, tested in %4d s  %s\n' "$name" "$((tests_began - began))" \
        "$(($(date +%s) - tests_began))" "$closing" >>"$summary"
    [ -z "$named" ] || printf '%s\n' "$named" >>"$summary"
}

report_and_exit() {
    echo
    echo "== all stages"
    cat "$summary"
    exit "$failed"
}

short="-LE ^(long|laws|exhaustive)$"
if [ "$mode" = compilers ]; then
    next_build() { begin "$name-syntax" tests/syntax.sh "$name-syntax" "build/$name"; }
    for name in clang19 libcxx cxx23; do
        begin "$name" .ci/build.sh "$name" "" settle_unit settle_conformance
        stage "$name" "build/$name" "-L ^(unit|conformance)$ $short" "$@"
        end "$name-syntax" || failed=1
        tail -n 1 "build/$name-syntax.log" >>"$summary"
    done
    report_and_exit
fi

# The library's tests; those of the samples, the pages and the installation say nothing new with
# another compiler.
threaded="settle_suites settle_conformance settle_mongodb_tests settle_postgresql_tests
    settle_mariadb_tests settle_prepared_tests settle_http_tests"
threaded_labels="conformance|mongodb|postgresql|mariadb|prepared|http"
library="settle_unit settle_stories settle_engine settle_operating settle_console_tests
    settle_fuzz settle_fault settle_disks settle_smoke $threaded"
not_library="application|static|consumer"
# All processes add their counts to four files: a file for each process would fill the disk.
rm -rf build/coverage/coverage
profile=$root/build/coverage/coverage/%4m.profraw
sanitized=coverage
if [ "$mode" = ci ]; then
    sanitized=clang
    began=$(date +%s)
    .ci/format.sh --check || exit 1
    flock -u 8
    "$0" || failed=1
    flock 8
    printf '%-8s built and tested in %4d s\n' first "$(($(date +%s) - began))" >>"$summary"
    begin release .ci/build.sh release "$everything" all
    # What the first stage has run is not run again.
    tested="-LE ^(first|long|laws|exhaustive)$"
    not_library="$not_library|compile_fail|search|simulation"
    with_threads="-DSETTLE_TESTS_WITH_THREADS=ON"
    # Of the store suite only the cases "a wave …" and "threads …" have threads.
    single_thread='-E :.(log|engine|home):|:.store:.([^at]|a.[^w]|t[^h])'
else
    # The laws of random values run in this stage alone: their engines take the compiler long. The
    # benchmarks are only built.
    begin release .ci/build.sh release "$everything -DSETTLE_BUILD_BENCHMARKS=ON
        -DSETTLE_SAMPLES_SERVE=ON" all settle_rules \
        settle_laws settle_linked_units
    tested="-LE ^exhaustive$"
    library="$library settle_simulation settle_search settle_searches"
    threaded="$threaded settle_fault settle_disks settle_simulation settle_smoke"
    threaded_labels="$threaded_labels|fault|simulation|smoke"
    with_threads="-DSETTLE_TESTS_WITH_THREADS=OFF"
    single_thread=
fi
next_build() {
    wrap=$fixed_addresses
    # shellcheck disable=SC2086 # the list is meant to be split
    begin clang env "LLVM_PROFILE_FILE=$profile" .ci/build.sh "$sanitized" "" $library
    wrap=
}
stage release build "$tested" "$@"

# A test opens a database in a child of fork(), and the driver of a database has threads.
TSAN_OPTIONS="suppressions=$root/tests/tsan.txt die_after_fork=0 ${TSAN_OPTIONS-}"
export TSAN_OPTIONS
wrap=$fixed_addresses
next_build() {
    # shellcheck disable=SC2086 # the list is meant to be split
    begin tsan .ci/build.sh tsan "$with_threads" $threaded
}
export LLVM_PROFILE_FILE="$profile"
stage clang "build/$sanitized" "-LE ^($not_library|long|laws|exhaustive)$" "$@"
unset LLVM_PROFILE_FILE

next_build() { :; }
if [ "$mode" = full ]; then
    # Not in a pipe, which would hide the exit code.
    if ! tests/coverage.sh build/coverage >build/coverage.txt 2>&1; then
        failed=1
        printf 'coverage failed\n%s\n' "$(tail -n 20 build/coverage.txt)" >>"$summary"
    fi
    cat build/coverage.txt
    next_build() { begin syntax tests/syntax.sh syntax build/coverage; }
fi
[ "$mode" = full ] || beside=10
stage tsan build/tsan "-L ^($threaded_labels)$ $short $single_thread" "$@"
wrap=
if [ "$mode" = full ]; then
    end syntax || failed=1
    tail -n 1 build/syntax.log >>"$summary"
    .ci/format.sh --check || failed=1
    if ! .ci/tidy.sh; then
        failed=1
        echo "clang-tidy failed" >>"$summary"
    fi
fi
report_and_exit
