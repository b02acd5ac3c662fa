#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that what the messages and the documents point to is there.
# Usage: readme.sh ROOT
set -u
LC_ALL=C.UTF-8
export LC_ALL
cd "$1" || exit 1
found=0

# Prints the anchors of a document, as a heading becomes one: "One log" is #one-log.
anchors_of() {
    awk '/^```/ { code = !code } !code && /^#+ /' "$1" |
        sed -E 's/^#+ +//; s/`//g; s/\[([^]]*)\]\([^)]*\)/\1/g' |
        tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
    sed -nE 's/.*<a id="([^"]+)">.*/\1/p' "$1"
}

complain() {
    echo "$1"
    found=1
}

# Messages are looked for as the compiler joins them: a literal may end within a word.
joined() {
    tr '\n' ' ' <"$1" | sed -E 's/" +"//g'
}
places() {
    find include adapters samples -name '*.hpp' -o -name '*.cpp' | sort | while read -r file; do
        joined "$file" | grep -oE 'README#[A-Za-z0-9_-]*' | sed "s|^|$file |"
    done
}

anchors=$(anchors_of README.md)
named=$(places)
[ -n "$named" ] || complain "no message points to README.md; this test looks at nothing"
while read -r file place; do
    printf '%s\n' "$anchors" | grep -qxF -- "${place#README#}" ||
        complain "$file: a message points to $place, and README.md has no such heading"
done <<LIST
$(printf '%s\n' "$named" | sort -u)
LIST

# A message that is quoted is one that somebody can get.
quoted=$(awk '/^```/ { code = !code } code && /^settle: /' README.md)
[ -n "$quoted" ] || complain "README.md quotes no message; this test looks at nothing"
while read -r message; do
    for file in $(find include -name '*.hpp'); do
        joined "$file"
    done | grep -qF -- "$message" || complain "README.md quotes what nothing says: $message"
done <<LIST
$quoted
LIST

links=0
for document in $(find . -name '*.md' -not -path './build/*' | sort); do
    folder=$(dirname "$document")
    # A heading that stands twice has two anchors of one name, and a link finds the first.
    twice=$(anchors_of "$document" | sort | uniq -d)
    [ -z "$twice" ] || complain "$document: more than one heading is called: $twice"
    for link in $(awk '/^```/ { code = !code } !code' "$document" |
        grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(//; s/\)$//'); do
        case $link in
        *://*) continue ;;
        esac
        links=$((links + 1))
        path=${link%%#*}
        target=$document
        [ -z "$path" ] || target=$folder/$path
        if [ ! -e "$target" ]; then
            complain "$document: the link $link leads nowhere"
        elif [ "$link" != "$path" ]; then
            anchors_of "$target" | grep -qxF -- "${link#*#}" ||
                complain "$document: the link $link leads to no heading of $target"
        fi
    done
done
[ "$links" -gt 0 ] || complain "no document has a link; this test looks at nothing"
exit "$found"
