#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that the sample programs print what the README shows, number for number.
# Usage: readme_programs.sh ROOT FOLDER BIN
# In a ```console block, each line that begins with `$ transfer` or `$ payment` is run, one after
# the other in FOLDER, and prints the lines up to the next. `…` stands for anything in a line.
set -u
LC_ALL=C.UTF-8
export LC_ALL
root=$1
folder=$2
bin=$3
rm -rf "$folder"
mkdir -p "$folder/build" || exit 1
ln -s "$root/samples" "$folder/samples"

awk -v folder="$folder" '
    /^```console$/ { inside = 1; next }
    /^```$/ { inside = 0; command = 0 }
    !inside { next }
    /^\$ / { command = 0 }
    /^\$ (transfer|payment) / {
        command = sprintf("%02d", ++count)
        print substr($0, 3) > (folder "/command_" command)
        printf "" > (folder "/shown_" command)
        next
    }
    command && NF { print > (folder "/shown_" command) }
' "$root/README.md"
[ -e "$folder/command_03" ] || {
    echo "README.md shows fewer than three commands of the programs; this test looks at nothing"
    exit 1
}

cd "$folder" || exit 1
PATH=$bin:$PATH
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
        sed -n "${line}p" "said_$number" | grep -qx -- "$(sed -n "${line}p" "expected_$number")" ||
            same=0
    done
    [ "$same" -gt 0 ] && continue
    echo "README.md shows another output of: $(cat "$command")"
    diff "shown_$number" "said_$number"
    cat "errors_$number"
    exit 1
done
