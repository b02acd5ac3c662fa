#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that a wrong definition is refused in words that a user understands, and for that reason.
# Usage: refused.sh FILE.cpp both|refused COMPILER [FLAG...]
# A line "// expect: settle: ..." of the file holds the expected sentence. The unchanged file must fail
# with one error that contains the sentence, and the compiler's output must fit into 20 lines. With
# -DFIXED the file must compile, so that it cannot fail for another reason; with `refused` another
# compiler checks that.
set -u
LC_ALL=C
export LC_ALL
source=$1
how=$2
shift 2

fail() {
    echo "$source: $1"
    [ -z "${2-}" ] || printf '%s\n' "$2"
    exit 1
}

expected=$(sed -n 's|^// expect: \(settle: .*[^ ]\) *$|\1|p' "$source")
[ -n "$expected" ] || fail "no line '// expect: settle: ...' says what to expect"
[ "$(printf '%s\n' "$expected" | wc -l)" -eq 1 ] || fail "more than one sentence is expected"

if output=$("$@" "$source" 2>&1); then
    fail "this compiles, and must not; expected: $expected" "$output"
fi
first=$(printf '%s\n' "$output" | grep -m 1 -E '(^|[ :])(fatal )?error: ')
case $first in
*"$expected"*) ;;
*) fail "the first error is another one than: $expected" "$output" ;;
esac
errors=$(printf '%s\n' "$output" | grep -c -E '(^|[ :])(fatal )?error: ')
[ "$errors" -eq 1 ] || fail "there are $errors errors, and the first must be the only one" "$output"
lines=$(printf '%s\n' "$output" | wc -l)
[ "$lines" -le 20 ] || fail "the message takes $lines lines, and 20 are the limit" "$output"

grep -q '^#if.*FIXED' "$source" || fail "no '#ifdef FIXED' shows the right way"
[ "$how" = both ] || exit 0
output=$("$@" -DFIXED "$source" 2>&1) || fail "this must compile with -DFIXED" "$output"
[ -z "$output" ] || fail "this says something with -DFIXED" "$output"
