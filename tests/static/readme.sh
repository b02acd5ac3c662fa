#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Checks the pages (all *.md files): links, pointers from sources, quoted messages, the map.
# Usage: readme.sh ROOT
# A source points to a page as `definition#amounts`; a message writes `See definition#amounts`. The
# word before # is the name of the page: README, or the folder of a README.md below include/settle
# or adapters, or the name of another page in include/settle.
set -u
LC_ALL=C.UTF-8
export LC_ALL
cd "$1" || exit 1
found=0

# Prints the anchors of a page, as a heading becomes one: "One log" is #one-log.
anchors_of() {
    awk '/^ *```/ { code = !code } !code && /^#+ /' "$1" |
        sed -E 's/^#+ +//; s/`//g; s/\[([^]]*)\]\([^)]*\)/\1/g' |
        tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
    sed -nE 's/.*<a id="([^"]+)">.*/\1/p' "$1"
}

# Whether the page $1 has the anchor $2.
has_anchor() {
    printf '%s\n' "$anchors" | grep -qxF -- "$1#$2"
}

complain() {
    echo "$1"
    found=1
}

pages=$(find . -name '*.md' -not -path './build/*' | sed 's|^\./||' | sort)
# PAGE#ANCHOR, a line each.
anchors=$(for page in $pages; do anchors_of "$page" | sed "s|^|$page#|"; done)

# Prints the path of the page that a pointer names, or nothing.
page_of() {
    case $1 in
    README) echo README.md ;;
    protocol) echo include/settle/README.md ;;
    tests) echo tests/README.md ;;
    *) ls "include/settle/$1.md" "include/settle/$1/README.md" "adapters/$1/README.md" 2>/dev/null ;;
    esac
}
names=$(printf '%s\n' "$pages" |
    sed -nE 's#^include/settle/([a-z]+)(/README)?\.md$#\1#p; s#^adapters/([a-z]+)/README\.md$#\1#p' |
    tr '\n' '|')README\|protocol\|tests

# Literals are joined as the compiler does it: a pointer may begin in one and end in the next.
joined() {
    tr '\n' ' ' <"$1" | sed -E 's/" +"//g'
}
without_comments() {
    sed -E 's#(^|[^:"])//.*#\1#' "$1" | tr '\n' ' ' | sed -E 's/" +"//g'
}
# Only these sources can hold a pointer; the others need not be joined.
sources=$(find include adapters samples tests benchmarks -name '*.hpp' -o -name '*.cpp' |
    xargs grep -lE '[A-Za-z"]#' | sort)

pointers=$(for file in $sources; do
    joined "$file" | grep -oE "\b($names)#[A-Za-z0-9_-]+" | sed "s|^|$file |"
done | sort -u)
[ -n "$pointers" ] || complain "no source points to a page; this test looks at nothing"
while read -r file pointer; do
    page=$(page_of "${pointer%%#*}")
    has_anchor "$page" "${pointer#*#}" ||
        complain "$file: $pointer is no heading of $page"
done <<LIST
$pointers
LIST
for file in $sources; do
    without_comments "$file" | grep -oE "[^ ]* ?\b($names)#[A-Za-z0-9_-]+" |
        grep -vE '(^|")See ' | sed "s|^|$file: a message does not spell 'See page#heading': |"
    case $file in tests/*) continue ;; esac
    without_comments "$file" | grep -oE '\bSee [A-Za-z]*#[A-Za-z0-9_-]*' |
        grep -vE "^See ($names)#[a-z]" | sed "s|^|$file: a message points to no page: |"
done >"${TMPDIR:-/tmp}/settle_pointers.$$"
[ -s "${TMPDIR:-/tmp}/settle_pointers.$$" ] && {
    cat "${TMPDIR:-/tmp}/settle_pointers.$$"
    found=1
}
rm -f "${TMPDIR:-/tmp}/settle_pointers.$$"

# The library has every message that a page quotes.
messages=$(for file in $(find include adapters -name '*.hpp'); do
    joined "$file"
    echo
done)
quotes=0
for page in $pages; do
    quoted=$(awk '/^```/ { code = !code } code && /^settle: /' "$page")
    [ -n "$quoted" ] || continue
    quotes=$((quotes + 1))
    while read -r message; do
        printf '%s\n' "$messages" | grep -qF -- "$message" ||
            complain "$page quotes a message that the library does not have: $message"
    done <<LIST
$quoted
LIST
done
[ "$quotes" -gt 0 ] || complain "no page quotes a message; this test looks at nothing"

links=0
for page in $pages; do
    [ "$(wc -l <"$page")" -le 400 ] || complain "$page has more than 400 lines"
    folder=$(dirname "$page")
    # A repeated heading has two anchors of one name, and a link finds the first anchor.
    twice=$(printf '%s\n' "$anchors" | grep "^$page#" | sort | uniq -d)
    [ -z "$twice" ] || complain "$page: more than one heading is called: $twice"
    for link in $(awk '/^ *```/ { code = !code } !code' "$page" |
        grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(//; s/\)$//'); do
        case $link in
        *://*) continue ;;
        esac
        links=$((links + 1))
        path=${link%%#*}
        target=$page
        [ -z "$path" ] || target=$folder/$path
        if [ ! -e "$target" ]; then
            complain "$page: the link $link leads nowhere"
        elif [ "$link" != "$path" ]; then
            has_anchor "$(realpath --relative-to=. "$target")" "${link#*#}" ||
                complain "$page: the link $link leads to no heading of $target"
        fi
    done
    case $page in README.md | CHANGELOG.md) continue ;; esac
    grep -qF "]($page)" README.md || complain "README.md: the map of the pages lacks $page"
    sed -n 3p "$page" | grep -q '^After this page you can ' ||
        complain "$page: line 3 does not begin with 'After this page you can'"
done
# Every verdict, reason and error has a row in the page of errors.
for value in $(sed -nE '/^enum class (verdict|reason|errc|condition)\>/,/^};/p' \
    include/settle/running/calls/outcome.hpp include/settle/protocol/state.hpp \
    include/settle/base/error.hpp | sed -nE 's/^    ([a-z_]+).*/\1/p'); do
    grep -q "^| \`$value\` |" include/settle/errors.md ||
        complain "include/settle/errors.md has no row for $value"
done
for value in $(sed -nE '/^enum class step\>/,/^};/p' include/settle/protocol/step.hpp |
    sed -nE 's/^    ([a-z_]+).*/\1/p'); do
    grep -q "^|.*\`$value\`.*|" include/settle/reference.md ||
        complain "include/settle/reference.md has no row for the step $value"
done
# The tutorial is eight short programs, and its page shows each.
for number in 1 2 3 4 5 6 7 8; do
    step=samples/tutorial/step_$number.cpp
    [ "$(wc -l <"$step")" -le 60 ] || complain "$step is missing, or has more than 60 lines"
    grep -qE "^<!-- (refused )?excerpt of ${step##*/} -->$" samples/tutorial/README.md ||
        complain "samples/tutorial/README.md does not show ${step##*/}"
done
[ "$links" -gt 0 ] || complain "no page has a link; this test looks at nothing"
[ "$(wc -l <README.md)" -le 300 ] || complain "README.md has more than 300 lines"
exit "$found"
