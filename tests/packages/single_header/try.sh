#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles README.md's first program with settle-single.hpp in one line, runs it, and compares its output.
# Usage: try.sh ROOT FOLDER COMPILER [FLAG...]
set -eu
LC_ALL=C.UTF-8
export LC_ALL
root=$1
folder=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder"
cd -- "$folder"
sh "$root/tests/packages/single_header/amalgamate.sh" "$root" >settle-single.hpp
if grep -n '#include <settle/.*\.[hi]pp>' settle-single.hpp; then
    echo "these headers of settle are not in the one header"
    exit 1
fi

# The program is the page's first block with a main; what it prints stands after the line that runs it.
awk '
    /^```$/ && inside {
        if (block ~ /int main\(\)/ && !found++) printf "%s", block >"bank.cpp"
        inside = printed = 0
    }
    inside && !/^#include <settle\// { block = block $0 "\n" }
    printed { print >"expected" }
    /^```cpp$/ { inside = 1; block = "#include \"settle-single.hpp\"\n" }
    /^\$ \.\/bank$/ { inside = printed = 1; block = "" }
' "$root/README.md"
# The page's line without a path to settle.
"$@" bank.cpp -lsqlite3 -o bank
./bank >printed
diff expected printed || { echo "README.md shows other lines"; exit 1; }
