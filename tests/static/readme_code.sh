#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that the README's code compiles as it stands, and that its program says what is printed.
# Usage: readme_code.sh ROOT FOLDER COMPILER [FLAG...]
# Each ```cpp block that begins with #include stands alone, but the one with `main`: the blocks
# after it build on it, in their order. A block behind <!-- statements --> is a function's body. It
# is run, and prints what the block behind <!-- prints --> holds, or nothing. One behind
# <!-- statements of the block above --> is that of a program with the last block that stands alone.
set -u
LC_ALL=C.UTF-8
export LC_ALL
root=$1
folder=$2
shift 2
readme=$root/README.md
rm -rf "$folder"
mkdir -p "$folder" || exit 1

fail() {
    echo "README.md: $1"
    exit 1
}

# Writes alone_N.cpp, program.cpp, fragments.cpp, calls.cpp, output.txt and prints.txt.
awk -v folder="$folder" '
    /^<!-- statements -->$/ { statements = 1; next }
    /^<!-- statements of the block above -->$/ { above = 1; next }
    /^<!-- prints -->$/ { prints = 1; next }
    /^```text$/ && prints { printed = 1; prints = 0; next }
    /^```$/ && printed { printed = 0; next }
    printed { print > prints_to }
    /^```cpp$/ { inside = 1; block = ""; first = ""; next }
    /^```$/ && inside {
        inside = 0
        if (block ~ /int main\(\)/) {
            printf "%s", block > (folder "/program.cpp")
            program = 1
        } else if (first ~ /^#include/) {
            printf "%s", block > (folder "/alone_" ++alone ".cpp")
        } else if (above) {
            printf "#include \"alone_%d.cpp\"\n#include <iostream>\nint main() {\n%s}\n", alone, \
                block > (folder "/run_" alone ".cpp")
            prints_to = folder "/prints_" alone ".txt"
        } else if (statements) {
            prints_to = folder "/prints.txt"
            printf "void statements_%d() {\n%s}\n", ++bodies, block > (folder "/fragments.cpp")
            header = "-- statements " bodies
            print header > prints_to
            printf "std::cout << \"%s\\n\"; statements_%d();\n", header, bodies > \
                (folder "/calls.cpp")
        } else {
            printf "%s\n", block > (folder "/fragments.cpp")
        }
        statements = above = 0
        next
    }
    inside { if (first == "") first = $0; block = block $0 "\n"; next }
    /^\$ \.\/tickets$/ && program { output = 1; next }
    /^```$/ { output = 0 }
    output { print > (folder "/output.txt") }
' "$readme"
for file in alone_1.cpp program.cpp fragments.cpp calls.cpp output.txt prints.txt; do
    [ -s "$folder/$file" ] || fail "this test did not find what it calls $file"
done

for file in "$folder"/alone_*.cpp; do
    "$@" -I "$root/samples" -Wall -Wextra -Werror -fsyntax-only "$file" || fail "$(basename "$file") does not compile"
done

# The definition that is explained line by line is the one that the application runs.
words_of() {
    sed -E 's|//.*||; /^#pragma once$/d' "$1" | tr -d ' \n'
}
[ "$(words_of "$folder/alone_1.cpp")" = "$(words_of "$root/samples/transfer/transfer.hpp")" ] ||
    fail "the transfer is another one than that of samples/transfer/transfer.hpp"

{
    printf '#include <settle/memory.hpp>\n'
    sed 's/^int main()/void tickets()/' "$folder/program.cpp"
    cat "$folder/fragments.cpp"
    printf 'int main() {\n'
    cat "$folder/calls.cpp"
    printf '}\n'
} >"$folder/all.cpp"

for argument; do
    shift
    [ "$argument" = -fsyntax-only ] || set -- "$@" "$argument"
done
cd "$folder" || exit 1
"$@" -Wall -Wextra -Werror all.cpp -lsqlite3 -o all || fail "the blocks do not compile"
./all >all_said.txt || fail "the statements ended with an error"
diff prints.txt all_said.txt || fail "the statements print something else"
for file in run_*.cpp; do
    number=${file#run_}
    number=${number%.cpp}
    "$@" -I "$root/samples" "$file" -o run || fail "$file does not build"
    ./run >"said_$number.txt" || fail "$file ended with an error"
    diff "prints_$number.txt" "said_$number.txt" || fail "$file prints something else"
done
"$@" program.cpp -lsqlite3 -o tickets || fail "tickets.cpp does not build"
for time in first second; do
    ./tickets >said.txt || fail "tickets ended with an error the $time time"
    diff output.txt said.txt || fail "tickets says something else the $time time"
done
