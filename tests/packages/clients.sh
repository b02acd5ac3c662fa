#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Configures settle by README.md's line where SQLite's client library alone is found: the other adapters
# are left out, and one that is asked for ends the configuration with the sentence of its client.
# Usage: clients.sh ROOT FOLDER [CMAKE OPTION...]
set -u
root=$1
folder=$2
shift 2
line=$(sed -n 's/.*`cmake -S settle -B build \([^`]*\)`.*/\1/p' "$root/README.md")
[ -n "$line" ] || {
    echo "README.md has no line that configures settle"
    exit 1
}
for hidden in PostgreSQL CURL PkgConfig unofficial-libmariadb mongoc-1.0 mongoc nlohmann_json; do
    set -- "$@" "-DCMAKE_DISABLE_FIND_PACKAGE_$hidden=ON"
done
set -- "$@" -Dsettle_mariadb_include=OFF
rm -rf "$folder"
mkdir -p "$folder" && cd "$folder" && ln -s "$root" settle || exit 1

# shellcheck disable=SC2086 # the line is meant to be split
cmake -S settle -B build $line "$@" >said 2>&1 || {
    cat said
    exit 1
}
[ -f build/adapters/sqlite/settle-sqlite.pc ] || {
    echo "settle::sqlite is not offered"
    exit 1
}
for adapter in postgresql mariadb mongodb http console; do
    grep -q "^-- settle: .* is not here, so settle::$adapter is not offered\.$" said || {
        echo "the configuration does not say that settle::$adapter is left out"
        exit 1
    }
    option=SETTLE_WITH_$(echo $adapter | tr '[:lower:]' '[:upper:]')
    cmake -S settle -B build "-D$option=ON" >asked 2>&1 && {
        echo "$option=ON is accepted without its client library"
        exit 1
    }
    tr '\n' ' ' <asked | tr -s ' ' | grep -q "is not here\. Install it, .* or set $option=OFF" || {
        cat asked
        exit 1
    }
    cmake -S settle -B build "-D$option=AUTO" >asked 2>&1 || exit 1
done
