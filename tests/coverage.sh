#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Prints which share of the library's lines the tests ran, file by file.
# Usage: coverage.sh FOLDER   a build with clang's coverage, whose tests left FOLDER/coverage/*
#
# A template counts when it is instantiated. A line that only the compiler evaluates has no
# count; coverage.txt names such lines, and lines that no test can reach, with their reasons.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
folder=$(CDPATH='' cd -- "$1" && pwd)
cd "$root"

llvm-profdata-14 merge -sparse "$folder"/coverage/*.profraw -o "$folder/coverage.profdata"
set --
for program in "$folder"/tests/settle_* "$folder"/tests/static/settle_* "$folder"/bin/*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    set -- "$@" -object "$program"
done
[ $# -gt 0 ] || { echo "settle: no program of the tests is in $folder" >&2; exit 1; }
shift
llvm-cov-14 export -format=lcov -instr-profile="$folder/coverage.profdata" "$@" \
    >"$folder/coverage.lcov" 2>"$folder/coverage.log" || { cat "$folder/coverage.log" >&2; exit 1; }

awk -v root="$root/" '
    function indent(text) { match(text, /^ */); return RLENGTH }
    # Marks the lines that coverage.txt leaves out of a file.
    function leave_out(file,    line, lines, number, text, i, within, hit) {
        number = 0
        while ((getline text < (root file)) > 0) lines[++number] = text
        close(root file)
        for (i = 1; i <= entries; ++i) {
            if (files[i] != file) continue
            within = -1
            for (line = 1; line <= number; ++line) {
                hit = index(lines[line], texts[i])
                if (hit) used[i] = 1
                if (hit && kinds[i] == "function") within = indent(lines[line])
                if (hit || within >= 0) left_out[file, line] = 1
                if (within >= 0 && indent(lines[line]) == within &&
                    lines[line] ~ /^ *}|[^ ].*}$/) within = -1
            }
        }
    }
    FILENAME ~ /coverage.txt$/ {
        if ($0 ~ /^#/ || $0 ~ /^$/) next
        count = split($0, part, / *\| */)
        if (count != 4) { print "coverage.txt: not FILE | KIND | TEXT | REASON: " $0; bad = 1; next }
        files[++entries] = part[1]; kinds[entries] = part[2]; texts[entries] = part[3]
        next
    }
    /^SF:/ {
        file = substr($0, 4)
        wanted = index(file, root "include/") == 1 || index(file, root "adapters/") == 1
        file = substr(file, length(root) + 1)
        if (wanted) { names[++found] = file; leave_out(file) }
        next
    }
    /^DA:/ && wanted {
        split(substr($0, 4), pair, ",")
        if ((file, pair[1] + 0) in left_out) next
        ++total[file]; ++all
        if (pair[2] > 0) { ++run[file]; ++all_run } else missed[file] = missed[file] " " pair[1]
    }
    END {
        printf "%-62s %6s %6s %7s\n", "lines of", "there", "run", "share"
        for (i = 1; i <= found; ++i) {
            file = names[i]
            if (!total[file]) continue
            share = 100 * run[file] / total[file]
            printf "%-62s %6d %6d %6.1f%%\n", file, total[file], run[file], share | "sort"
        }
        close("sort")
        printf "%-62s %6d %6d %6.1f%%\n", "all", all, all_run, 100 * all_run / all
        for (i = 1; i <= found; ++i) {
            file = names[i]
            if (!total[file] || 100 * run[file] >= 95 * total[file]) continue
            print "below 95 %: " file " does not run" missed[file] | "sort"
        }
        close("sort")
        for (i = 1; i <= entries; ++i) {
            # No program of this build may have the file.
            if (!used[i]) leave_out(files[i])
            if (used[i]) continue
            print "coverage.txt: " files[i] " has no line with: " texts[i]; bad = 1
        }
        exit bad
    }
' tests/coverage.txt "$folder/coverage.lcov"
