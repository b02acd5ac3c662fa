#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds README.md's first program with CMake lines of the page of building, and compares what it prints.
# Usage: cmake.sh ROOT FOLDER VERSION WAY [CMAKE OPTION...]
#   WAY   a word of the block that brings settle: find_package(settle, FetchContent or CPM
set -u
root=$1
folder=$2
version=$3
way=$4
shift 4
page=$root/include/settle/building.md
cpm=${SETTLE_CPM:-} # the file CPM.cmake
command -v git >/dev/null || {
    echo "SKIPPED: git is not here"
    exit 77
}
rm -rf "$folder"
mkdir -p "$folder/project/cmake" "$folder/settle" && cd "$folder" || exit 1

# What the page's address stands for: a repository with the tag of this version.
(
    cd "$root" && cp -R CMakeLists.txt include adapters "$folder/settle" &&
        { [ -z "$cpm" ] || cp "$cpm" "$folder/project/cmake/CPM.cmake"; } && cd "$folder/settle" &&
        export GIT_CONFIG_GLOBAL=/dev/null && git init -q && git add -A &&
        git -c user.name=settle -c user.email=settle@example.org commit -q -m "the sources" &&
        git tag "v$version"
) || exit 1

# Usage: block WORD   prints the page's CMake block with the word
block() {
    awk -v word="$1" '
        /^```cmake$/ { inside = 1; text = ""; next }
        /^```$/ { if (inside && index(text, word)) printf "%s", text; inside = 0 }
        inside { text = text $0 "\n" }
    ' "$page"
}
{
    echo 'cmake_minimum_required(VERSION 3.24)'
    echo 'project(bank LANGUAGES CXX)'
    block "$way" | sed "s|https://example.org/settle.git|file://$folder/settle|"
    block 'add_executable(bank'
} >project/CMakeLists.txt
awk '
    /^```cpp$/ { inside = 1; text = ""; next }
    /^```$/ && inside && text ~ /int main\(\)/ { printf "%s", text; exit }
    /^```$/ { inside = 0 }
    inside { text = text $0 "\n" }
' "$root/README.md" >project/bank.cpp
awk '/^\$ \.\/bank$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/README.md" >shown

cmake -S project -B build "$@" && cmake --build build --target bank || exit 1
cd build && ./bank >../said && diff ../shown ../said
