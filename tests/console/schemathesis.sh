#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Has schemathesis, of a Python environment of its own, send to a console what its description
# allows and what it does not, and check each answer.
# Usage: schemathesis.sh FOLDER URL TOKEN
set -u
folder=$1
url=$2
token=$3
mkdir -p "$folder" && cd "$folder" || exit 1
program=$folder/python/bin/schemathesis
[ -x "$program" ] || { python3 -m venv python &&
    python/bin/pip install -q schemathesis==4.32.5; } >pip.log 2>&1 || {
    echo "SKIPPED: schemathesis is not here, and could not be installed: $(tail -n 1 pip.log)"
    exit 77
}
exec "$program" run "$url/openapi.json" --seed "${SETTLE_SEED-1}" --max-examples "${SETTLE_EXAMPLES-100}" \
    -H "Authorization: Bearer $token" -H "Accept: application/json" --no-color
