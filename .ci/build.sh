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
exec 9>"$folder/build.lock"
if ! flock -n 9; then
    echo "settle: another build is under way in $folder; waiting for it"
    flock 9
fi
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

# In MiB: the memory that is free, or a lower limit of this process.
memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo) / 1024))
group=$(sed -n 's/^0:://p' /proc/self/cgroup)
for limit in /sys/fs/cgroup/memory.max "/sys/fs/cgroup$group/memory.max"; do
    limit=$(cat "$limit" 2>/dev/null || :)
    case $limit in
    '' | *[!0-9]*) continue ;;
    esac
    limit=$((limit / 1048576))
    [ "$limit" -ge "$memory" ] || memory=$limit
done
# One compiler for each core, but not more than have room. Some of the tests' sources need 2 GB.
each=1024
! grep -q '^SETTLE_BUILD_TESTS:BOOL=ON$' "$cache" || each=2048
jobs=$((memory / each))
[ "$jobs" -ge 1 ] || jobs=1
[ "$jobs" -le "$(nproc)" ] || jobs=$(nproc)
cmake --build "$folder" --parallel "$jobs" --target "$@" 9>&- || {
    code=$?
    [ "$memory" -ge "$each" ] ||
        echo "settle: a compiler needs up to $each MiB of memory, and $memory MiB are free" >&2
    exit "$code"
}
