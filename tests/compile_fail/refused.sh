#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that wrong definitions are refused in words that a user understands, and for that reason.
# Usage: refused.sh FOLDER both|refused FILE.cpp... -- COMPILER [FLAG...]
# The folder is absolute, and the files are those beside this script.
# A line "// expect: settle: ..." of a file holds the expected sentence. The unchanged file must fail
# with one error that contains the sentence, and the compiler's output must fit into 20 lines. A line
# "// also: ..." holds a word of the second error, where the language has one. With
# -DFIXED the file must compile, so that it cannot fail for another reason; with `refused` another
# compiler checks that.
#
# The headers take the compiler longer than the files, so the files are compiled together, each in a
# namespace of its own. The compiler reports an instantiation only once, so a file whose error is the
# error of another file is compiled together with the rest. A file that has no error then, or not the
# expected error, is compiled alone, and only that decides.
set -u
LC_ALL=C
export LC_ALL
cd -- "$(dirname -- "$0")" || exit 1
here=$(pwd)
folder=$1
how=$2
shift 2
files=
while [ "$1" != -- ]; do
    files="$files ${1##*/}"
    shift
done
shift
rm -rf "$folder"
mkdir -p "$folder" || exit 1

failed=0
# Usage: fail FILE TEXT [OUTPUT]
fail() {
    echo "$1: $2"
    [ -z "${3-}" ] || printf '%s\n' "$3"
    failed=1
}

expected_of() {
    sed -n 's|^// expect: \(settle: .*[^ ]\) *$|\1|p' "$1"
}

# Usage: compile_alone FILE COMPILER [FLAG...]
compile_alone() {
    file=$1
    shift
    expected=$(expected_of "$file")
    if output=$("$@" "$file" 2>&1); then
        fail "$file" "this compiles, and must not; expected: $expected" "$output"
        return
    fi
    first=$(printf '%s\n' "$output" | grep -m 1 -E '(^|[ :])(fatal )?error: ')
    # The language adds this error, which no header can keep back.
    also=$(sed -n 's|^// also: \(.*[^ ]\) *$|\1|p' "$file")
    errors=$(printf '%s\n' "$output" | grep -E '(^|[ :])(fatal )?error: ' |
        sed "2{/${also:-^$}/d}" | wc -l)
    # How it came to a header says nothing about the mistake.
    lines=$(printf '%s\n' "$output" | grep -vcE '^(In file included| *) from ')
    case $first in
    *"$expected"*)
        [ "$errors" -eq 1 ] ||
            fail "$file" "there are $errors errors, and the first must be the only one" "$output"
        [ "$lines" -le 20 ] ||
            fail "$file" "the message takes $lines lines, and 20 are the limit" "$output"
        ;;
    *) fail "$file" "the first error is another one than: $expected" "$output" ;;
    esac
}

# Writes one source of all files. A header that uses a record of its file is copied to each file.
# Usage: join FILE...
join() {
    cat "$@" | grep '^#include' | grep -v '_in_use.hpp"' | sort -u
    echo 'namespace bank {}'
    awk -v here="$here" '
        FNR == 1 {
            if (number) print "#undef bank"
            name = FILENAME
            sub(/.*\//, "", name)
            printf "namespace bank_%d { using namespace bank; }\n", ++number
            printf "#define bank bank_%d\n#line 1 \"%s\"\n", number, name
        }
        /^#include .*_in_use.hpp"$/ {
            split($0, part, "\"")
            printf "#line 1 \"%s/%s\"\n", name, part[2]
            while ((getline line < (here "/" part[2])) > 0)
                if (line !~ /^#(include|pragma)/) print line; else print ""
            close(here "/" part[2])
            printf "#line %d \"%s\"\n", FNR + 1, name
            next
        }
        /^#include/ { print ""; next }
        { print }
    ' "$@"
}

# Prints the files whose error, their only error, is the expected error and is short. The compiler
# prints how it came to an error before the error or after it. g++ prints how it came to a header
# only when it is another header than before, so the limit leaves room for these lines.
# Usage: refused_in OUTPUT FILE...
refused_in() {
    output=$1
    shift
    for file; do
        printf '%s %s\n' "$file" "$(expected_of "$file")"
    done >"$folder/expected.txt"
    awk '
        function close_error(    file) {
            if (title != "" && files == 1) {
                ++errors[found]
                if (lines <= (includes ? 19 : 12)) titles[found] = title
            } else if (title != "") {
                for (file in named) errors[file] += 2
            }
            title = ""
            files = lines = includes = 0
            split("", named)
        }
        function add(line,    name) {
            ++lines
            if (line ~ /^In file included|^ +from /) {
                ++includes
                return
            }
            if (!match(line, /(^| |")[a-z0-9_]+\.cpp[:\/]/)) return
            name = substr(line, RSTART, RLENGTH - 1)
            sub(/^[ "]/, "", name)
            if (name in named) return
            named[name] = 1
            found = name
            ++files
        }
        NR == FNR {
            name = $1
            sub(/.*\//, "", name)
            paths[name] = $1
            expected[name] = substr($0, length($1) + 2)
            next
        }
        /^In file included from |^ +from |: In |:   required |:   in .*expansion of|: At global scope/ {
            before[++waiting] = $0
            next
        }
        / (fatal )?error: / { close_error(); title = $0 }
        {
            for (i = 1; i <= waiting; ++i) add(before[i])
            waiting = 0
            add($0)
        }
        END {
            close_error()
            for (name in paths)
                if (errors[name] == 1 && index(titles[name], expected[name])) print paths[name]
        }
    ' "$folder/expected.txt" "$output" | sort
}

for file in $files; do
    case $(expected_of "$file" | wc -l) in
    1) ;;
    *) fail "$file" "one line '// expect: settle: ...' must say what to expect" ;;
    esac
    grep -q '^#if.*FIXED' "$file" || fail "$file" "no '#ifdef FIXED' shows the right way"
    [ -z "$(grep '^namespace' "$file" | grep -v '^namespace bank {')" ] ||
        fail "$file" "all of the file must be in the namespace bank"
done
[ "$failed" -eq 0 ] || exit 1

# shellcheck disable=SC2086 # the lists are meant to be split
{
    join $files >"$folder/together.cpp"
    if [ "$how" = both ]; then
        output=$("$@" -I"$here" -DFIXED "$folder/together.cpp" 2>&1) ||
            fail "$folder/together.cpp" "this must compile with -DFIXED" "$output"
        [ "$failed" -ne 0 ] || [ -z "$output" ] ||
            fail "$folder/together.cpp" "this says something with -DFIXED" "$output"
    fi
    left=$files
    for round in 1 2; do
        join $left >"$folder/together_$round.cpp"
        "$@" -I"$here" "$folder/together_$round.cpp" >"$folder/output_$round.txt" 2>&1
        refused_in "$folder/output_$round.txt" $left >"$folder/refused_$round.txt"
        left=$(printf '%s\n' $left | grep -v -x -F -f "$folder/refused_$round.txt")
        [ -n "$left" ] || break
    done
    for file in $left; do
        echo "alone: $file"
        compile_alone "$file" "$@"
    done
}
exit "$failed"
