#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Shows that a compiler without what the library needs stops in each public header at one sentence.
# Usage: stops.sh OPTION SENTENCE COMPILE...
set -u
option=$1
sentence=$2
shift 2
cd -- "$(dirname -- "$0")/../.." || exit 1
for folder in include adapters/*/include; do set -- "$@" "-I$folder"; done
code=0
# Those that a user includes alone.
for header in include/settle/*.hpp include/settle/testing/*.hpp adapters/*/include/settle/*.hpp \
    adapters/*/include/settle/*/receiver_server.hpp adapters/*/include/settle/*/receiver/receiver.hpp; do
    name=${header##*include/}
    [ "$name" != settle/version.hpp ] || continue
    printed=$(echo "#include <$name>" | "$@" "$option" -x c++ - 2>&1)
    errors=$(echo "$printed" | grep -c 'error:')
    first=$(echo "$printed" | grep -m 1 'error:')
    case $first in
    *"$sentence"*) [ "$errors" -eq 2 ] && continue ;;
    esac
    echo "$name with $option: $errors errors, the first of them: $first"
    code=1
done
exit "$code"
