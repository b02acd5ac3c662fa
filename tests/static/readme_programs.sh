#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Compares the output of the sample programs with the pages (all *.md files), number for number.
# Usage: readme_programs.sh ROOT FOLDER BIN
# In a ```console block, each line that begins with `$ transfer` or `$ payment` is run, in the order
# of its page and in a folder of that page. It prints the lines up to the next `$`. `…` stands for
# anything in a line.
set -u
LC_ALL=C.UTF-8
export LC_ALL
root=$1
folder=$2
bin=$3
rm -rf "$folder"
mkdir -p "$folder" || exit 1
PATH=$bin:$PATH

# Writes the commands of the page $1, and their expected output, into the current folder.
commands_of() {
    awk '
        /^```console$/ { inside = 1; next }
        /^```$/ { inside = 0; command = 0 }
        !inside { next }
        /^\$ / { command = 0 }
        /^\$ (transfer|payment) / {
            command = sprintf("%02d", ++count)
            print substr($0, 3) > ("command_" command)
            printf "" > ("shown_" command)
            next
        }
        command && NF { print > ("shown_" command) }
    ' "$1"
}

# Runs the commands of the page $1 in the current folder.
check() {
    for command in command_*; do
        number=${command#command_}
        sh "./$command" 2>"errors_$number" | sed '/^$/d' >"said_$number"
        # Each line that is shown, as an expression; lines are compared one by one.
        sed -e 's/[][\.*^$]/\\&/g' -e 's/…/.*/g' "shown_$number" >"expected_$number"
        same=$(wc -l <"expected_$number")
        [ "$same" -eq "$(wc -l <"said_$number")" ] || same=0
        line=0
        while [ "$line" -lt "$same" ]; do
            line=$((line + 1))
            sed -n "${line}p" "said_$number" |
                grep -qx -- "$(sed -n "${line}p" "expected_$number")" || same=0
        done
        [ "$same" -gt 0 ] && continue
        echo "$1 shows another output of: $(cat "$command")"
        diff "shown_$number" "said_$number"
        cat "errors_$number"
        exit 1
    done
}

cd "$root" || exit 1
commands=0
for page in $(find . -name '*.md' -not -path './build/*' | sort); do
    grep -qE '^\$ (transfer|payment) ' "$page" || continue
    here=$folder/$(printf '%s' "${page#./}" | tr / _)
    mkdir -p "$here/build" || exit 1
    ln -s "$root/samples" "$here/samples"
    cd "$here" || exit 1
    commands_of "$root/$page"
    commands=$((commands + $(ls command_* 2>/dev/null | wc -l)))
    check "$page"
    cd "$root" || exit 1
done
[ "$commands" -ge 3 ] || {
    echo "the pages show fewer than three commands of the programs; this test looks at nothing"
    exit 1
}
