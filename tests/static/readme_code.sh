#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compiles and runs the code of every page (all *.md files), and compares its output.
# Usage: readme_code.sh ROOT FOLDER LIBRARY:... COMPILER [FLAG...]
#   LIBRARY   the libraries of the compiled part, in their order for the linker; if there are none,
#             everything is compiled header-only. README.md's program always is.
# The use of a ```cpp block:
#   it has `int main()`                 a program. README.md's is built as it stands; the others are
#                                       built together, each in a namespace of its own
#   it begins with #include             compiled alone
#   after <!-- statements -->           the body of a function, after all fragments
#   after <!-- statements of the block above -->
#                                       the body of main in a program with the last block compiled alone
#   after <!-- file NAME -->            a header that later blocks include by this name
#   after <!-- members of TYPE -->      each declaration is compared with the member of that name
#   after <!-- excerpt -->              not compiled
#   any other                           a fragment: it follows README.md's program and all fragments
#                                       before it, in the order of the pages
# The block after <!-- prints --> is the output of the statements or the program before it.
set -u
LC_ALL=C.UTF-8
export LC_ALL
root=$1
folder=$2
libraries=$3
shift 3
compiled=
[ -z "$libraries" ] || compiled=-DSETTLE_COMPILED
rm -rf "$folder"
mkdir -p "$folder" || exit 1

fail() {
    echo "$1"
    exit 1
}

# Writes alone_PAGE_N.cpp, tickets.cpp, program_N.cpp, fragments.cpp, members.cpp, calls.cpp and the
# expected output.
cd "$root" || exit 1
pages=$(find . -name '*.md' -not -path './build/*' -not -path ./README.md | sort)
# shellcheck disable=SC2086 # the list is meant to be split, and holds no spaces
awk -v folder="$folder" '
    function to(name, text) { printf "%s", text >> (folder "/" name) }
    # One declaration of a synopsis: a member function, or a data member with its default value.
    function member(type, declaration,    name, before, arguments, value, constant) {
        gsub(/[ \n]+/, " ", declaration)
        gsub(/^ | $/, "", declaration)
        if (declaration == "") return
        ++members
        if (match(declaration, /[a-z_]+\(/)) {
            name = substr(declaration, RSTART, RLENGTH - 1)
            before = substr(declaration, 1, RSTART - 1)
            arguments = substr(declaration, RSTART + RLENGTH - 1)
            constant = arguments
            sub(/ noexcept$/, "", arguments)
            to("members.cpp", sprintf("[[maybe_unused]] auto const member_%d = " \
                "static_cast<%s (%s::*)%s>(&%s::%s);\n", members, before, type, arguments, type, name))
            return
        }
        value = ""
        if (match(declaration, / = /)) {
            value = substr(declaration, RSTART + 3)
            declaration = substr(declaration, 1, RSTART - 1)
        }
        match(declaration, /[a-z_]+$/)
        name = substr(declaration, RSTART)
        before = substr(declaration, 1, RSTART - 1)
        to("members.cpp", sprintf("static_assert(std::is_same_v<decltype(%s::%s), %s>);\n", \
            type, name, before))
        if (value != "")
            to("defaults.cpp", sprintf("    default_is<%s>(\"%s::%s\", [](auto const& of) " \
                "{ return of.%s; }, %s(%s));\n", type, type, name, name, before, value))
    }
    FNR == 1 {
        if (inside) { print FILENAME ": a block has no end"; exit 1 }
        page = FILENAME
        gsub(/^\.\/|\.md$/, "", page)
        gsub(/\//, "_", page)
        alone = statements = above = prints = excerpt = 0
        type = file = ""
    }
    /^<!-- file .* -->$/ { file = $3; next }
    /^<!-- statements -->$/ { statements = 1; next }
    /^<!-- statements of the block above -->$/ { above = 1; next }
    /^<!-- excerpt -->$/ { excerpt = 1; next }
    /^<!-- members of .* -->$/ { type = $4; next }
    /^<!-- prints -->$/ { prints = 1; next }
    /^```text$/ && prints { printed = 1; prints = 0; next }
    /^```$/ && printed { printed = 0; next }
    printed { to(prints_to, $0 "\n"); next }
    /^```cpp$/ { inside = 1; block = ""; first = ""; next }
    /^```$/ && inside {
        inside = 0
        if (excerpt) {
            ;
        } else if (file != "") {
            to(file, block)
        } else if (type != "") {
            gsub(/\/\/[^\n]*/, "", block)
            count = split(block, declarations, ";")
            for (i = 1; i <= count; ++i) member(type, declarations[i])
        } else if (block ~ /int main\(\)/ && page == "README") {
            to("tickets.cpp", block)
        } else if (block ~ /int main\(\)/) {
            prints_to = "prints_programs.txt"
            to(prints_to, "-- program " ++programs "\n")
            count = split(block, lines, "\n")
            body = ""
            for (i = 1; i < count; ++i) {
                if (lines[i] ~ /^#include/) to("includes.txt", lines[i] "\n")
                else body = body lines[i] "\n"
            }
            sub(/int main\(\)/, "void run()", body)
            to("programs.txt", "namespace program_" programs " {\n" body "}\n")
            to("program_calls.txt", "std::cout << \"-- program " programs "\\n\"; program_" \
                programs "::run();\n")
        } else if (first ~ /^#include/) {
            last_alone = page "_" ++alone
            to("alone_" last_alone ".cpp", block)
        } else if (above) {
            to("run_" last_alone ".cpp", "#include \"alone_" last_alone ".cpp\"\n" \
                "#include <iostream>\nint main() {\n" block "}\n")
            prints_to = "prints_" last_alone ".txt"
        } else if (statements) {
            prints_to = "prints.txt"
            to("fragments.cpp", "void statements_" ++bodies "() {\n" block "}\n")
            to(prints_to, "-- statements " bodies " (" page ")\n")
            to("calls.cpp", "std::cout << \"-- statements " bodies " (" page \
                ")\\n\"; statements_" bodies "();\n")
        } else {
            to("fragments.cpp", block "\n")
        }
        statements = above = excerpt = 0
        type = file = ""
        next
    }
    inside { if (first == "") first = $0; block = block $0 "\n"; next }
    /^\$ \.\/tickets$/ && page == "README" { output = 1; next }
    /^```$/ { output = 0 }
    output { to("output.txt", $0 "\n") }
' README.md $pages || exit 1
for file in alone_README_1.cpp tickets.cpp fragments.cpp calls.cpp output.txt prints.txt; do
    [ -s "$folder/$file" ] || fail "this test did not find what it calls $file"
done

# The application runs the explained definition.
words_of() {
    sed -E 's|//.*||; /^#pragma once$/d' "$1" | tr -d ' \n'
}
[ "$(words_of "$folder/alone_README_1.cpp")" = "$(words_of "$root/samples/transfer/transfer.hpp")" ] ||
    fail "README.md: the transfer differs from samples/transfer/transfer.hpp"

cd "$folder" || exit 1
touch members.cpp defaults.cpp
{
    printf '#include <settle/memory.hpp>\n'
    sed 's/^int main()/void tickets()/' tickets.cpp
    cat fragments.cpp
    printf 'namespace members {\nusing namespace settle;\n'
    cat members.cpp <<'END' -
template <typename T, typename Read, typename Value>
void default_is(char const* name, Read const& read, Value const& value) {
    if constexpr (std::is_default_constructible_v<T>) {
        if (!(read(T{}) == value)) std::cout << "another default: " << name << '\n';
    }
}
END
    printf 'void defaults() {\n'
    cat defaults.cpp
    printf '}\n} // namespace members\nint main() {\nmembers::defaults();\n'
    cat calls.cpp
    printf '}\n'
} >all.cpp

# Usage: check_alone COMPILER [FLAG...]; compiles one block on each processor.
# shellcheck disable=SC2016,SC2086 # the inner shell expands its own words; $compiled may be empty
check_alone() {
    for file in alone_*.cpp; do echo "$file"; done |
        xargs -P "$(nproc)" -I FILE sh -c '
            file=$1
            shift
            "$@" -Wall -Wextra -Werror -fsyntax-only "$file" || {
                echo "$file does not compile"
                exit 1
            }' sh FILE "$@" $compiled -I "$root/samples"
}

for argument; do
    shift
    [ "$argument" = -fsyntax-only ] || set -- "$@" "$argument"
done

# Each of the following takes the same arguments as check_alone, and links. It is called in a shell
# of its own.
# shellcheck disable=SC2086 # the libraries are a list, and there may be none
check_blocks() {
    IFS=:
    "$@" $compiled -Wall -Wextra -Werror all.cpp $libraries -lsqlite3 -o all ||
        fail "the blocks do not compile"
    ./all >all_said.txt || fail "the statements ended with an error"
    diff prints.txt all_said.txt || fail "the statements print something else"
}
# shellcheck disable=SC2086 # as above
check_runs() {
    IFS=:
    for file in run_*.cpp; do
        number=${file#run_}
        number=${number%.cpp}
        "$@" $compiled -I "$root/samples" "$file" $libraries -lsqlite3 -o run ||
            fail "$file does not build"
        ./run >"said_$number.txt" || fail "$file ended with an error"
        diff "prints_$number.txt" "said_$number.txt" || fail "$file prints something else"
    done
}
# shellcheck disable=SC2086 # as above
check_programs() {
    IFS=:
    [ -s programs.txt ] || return 0
    {
        sort -u includes.txt
        cat programs.txt
        printf 'int main() {\n'
        cat program_calls.txt
        printf '}\n'
    } >programs.cpp
    "$@" $compiled -Wall -Wextra -Werror programs.cpp $libraries -lsqlite3 -pthread -o programs ||
        fail "the programs do not compile"
    ./programs >programs_said.txt || fail "a program ended with an error"
    diff prints_programs.txt programs_said.txt || fail "a program prints something else"
}
check_tickets() {
    "$@" tickets.cpp -lsqlite3 -o tickets || fail "tickets.cpp does not build"
    for time in first second; do
        ./tickets >said.txt || fail "tickets ended with an error the $time time"
        diff output.txt said.txt || fail "tickets says something else the $time time"
    done
}

# The parts run at the same time, and each one that fails shows its output.
parts="alone blocks runs programs tickets"
processes=
for part in $parts; do
    ("check_$part" "$@") >"output_of_$part.txt" 2>&1 &
    processes="$processes $!"
done
failed=0
for process in $processes; do
    part=${parts%% *}
    parts=${parts#* }
    wait "$process" && continue
    cat "output_of_$part.txt"
    failed=1
done
exit "$failed"
