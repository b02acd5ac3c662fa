#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that the sources keep the house style where a pattern can tell.
# Usage: style.sh ROOT
set -u
LC_ALL=C.UTF-8
export LC_ALL
cd "$1" || exit 1
found=0

sources=$(find include adapters samples tests benchmarks -name '*.[hci]pp' | sort)
[ -n "$sources" ] || { echo "there is no source below $1"; exit 1; }

# Prints the findings of a check, under a sentence that names the rule.
report() {
    [ -n "$2" ] || return 0
    printf '%s:\n%s\n' "$1" "$2"
    found=1
}

first_line_is() {
    for file in $sources; do
        head -n 1 "$file" | grep -qxF "$1" || echo "$file"
    done
}

longer_than() {
    for file in $sources; do
        [ "$(wc -l <"$file")" -le "$1" ] || echo "$file"
    done
}

# Entries of coverage.txt whose text is not in their file.
outdated_coverage() {
    grep -v -e '^#' -e '^$' tests/coverage.txt | while IFS= read -r entry; do
        file=${entry%% | *}
        rest=${entry#* | * | }
        text=${rest% | *}
        [ -f "$file" ] && grep -qF -- "$text" "$file" || printf '%s\n' "$entry"
    done
}

# Bodies that no library compiles would be missing for users of the compiled part.
uncompiled() {
    for file in $(printf '%s\n' "$sources" | grep '\.ipp$'); do
        grep -qrF "#include <${file#*include/}>" --include='*.cpp' include adapters || echo "$file"
    done
}

# A layer includes only itself and the layers before it.
backward() {
    earlier="version"
    for layer in base definition protocol store kinds adapter running; do
        earlier="$earlier|$layer/"
        grep -rnE --include="*.[hi]pp" "^#include <settle/" "include/settle/$layer" |
            grep -vE "#include <settle/($earlier)" || :
    done
    # The memory store is a container, whose calls are compiled with the engine.
    grep -rn "^#include <settle/running/" adapters |
        grep -v "^adapters/memory/include/settle/memory.hpp:.*/container_calls.hpp>"
}

headers=$(printf '%s\n' "$sources" | grep '\.[hi]pp$')
# shellcheck disable=SC2086 # the lists are meant to be split, and hold no spaces
{
    report "the first line is not the licence" \
        "$(first_line_is '// SPDX-License-Identifier: BSL-1.0')"
    report "a header can be included twice" "$(grep -L '^#pragma once$' $headers)"
    report "a file includes a later layer" "$(backward)"
    report "a line has more than 100 columns" "$(grep -nE '^.{101,}' $sources)"
    report "a file has more than 500 lines" "$(longer_than 500)"
    report "a line ends in a blank, or holds a tab" "$(grep -nP '[ \t]+$|\t' $sources)"
    report "a name begins with an underscore" \
        "$(grep -nP '^[^"/]*(?<![\w"$%.-])_[A-Za-z]\w*' $sources | grep -vP '\b_exit\b')"
    report "work is left for later" "$(grep -nE '\b(TO''DO|FIX''ME|X''XX|HA''CK)\b' $sources)"
    report "range-v3 is included whole" "$(grep -n 'range/v3/all.hpp' $sources)"
    report "an entry of coverage.txt names text that its file lacks" "$(outdated_coverage)"
    report "no library compiles the bodies" "$(uncompiled)"
    library=$(find include adapters -name '*.[hi]pp')
    macros=$(grep -hoE '^ *# *define +[A-Z_a-z0-9]+' $library |
        sed 's/.* //' | sort -u)
    report "a macro of the library is not SETTLE_..." "$(printf '%s\n' "$macros" | grep -v '^SETTLE_')"
    # The preprocessor has no loop: SETTLE_STRUCT_... are its steps, and not macros for users.
    offered=$(printf '%s\n' "$macros" | grep -v '^SETTLE_STRUCT_')
    [ "$(printf '%s\n' "$offered" | grep -c .)" -le 7 ] ||
        report "the library defines more than seven macros" "$offered"
}
exit "$found"
