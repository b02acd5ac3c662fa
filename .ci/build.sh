#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Configures a preset of CMakePresets.json and builds the targets of it that are named.
# Usage: .ci/build.sh PRESET "CMAKE OPTION..." [TARGET...]
set -eu
cd -- "$(dirname -- "$0")/.."
preset=$1
options=$2
shift 2

folder=build/$preset
[ "$preset" != release ] || folder=build

# Usage: configure [--fresh]
configure() {
    # shellcheck disable=SC2086 # the options are meant to be split
    cmake --preset "$preset" "$@" $options >"$folder/configure.log" 2>&1
}

# A folder that another generator or another place of the sources left behind is begun anew, and
# so is one of another compiler: CMake drops its cache then, and the preset's settings with it.
mkdir -p "$folder"
echo "settle: building in $folder"
cache=$folder/CMakeCache.txt
fresh=
if [ -f "$cache" ]; then
    if ! grep -qx 'CMAKE_GENERATOR:INTERNAL=Ninja' "$cache" ||
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$cache"; then
        fresh=--fresh
    fi
fi
configured=0
configure $fresh || configured=$?
if grep -q 'require your cache to be deleted' "$folder/configure.log"; then
    configured=0
    configure --fresh || configured=$?
fi
if [ "$configured" -ne 0 ]; then
    cat "$folder/configure.log" >&2
    echo "settle: CMake could not configure $folder" >&2
    exit 1
fi
[ $# -gt 0 ] || exit 0
# One compiler for each core: more of them would only fight for memory.
cmake --build "$folder" --parallel "$(nproc)" --target "$@"
