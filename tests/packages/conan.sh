#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Builds the Conan package with SQLite and its test package, with a Conan of its own from PyPI.
# Usage: conan.sh ROOT FOLDER
set -u
root=$1
folder=$2
mkdir -p "$folder" && cd "$folder" || exit 1
conan=$folder/python/bin/conan
[ -x "$conan" ] || { python3 -m venv python && python/bin/pip install -q "conan>=2.0,<3"; } >pip.log 2>&1 || {
    echo "SKIPPED: Conan is not here, and could not be installed: $(tail -n 1 pip.log)"
    exit 77
}
CONAN_HOME=$folder/home
export CONAN_HOME
rm -rf home settle
mkdir settle && (cd "$root" && cp -R --parents CMakeLists.txt LICENSE include adapters \
    tests/consumer tests/packages/conan "$folder/settle") || exit 1
"$conan" profile detect --exist-ok && "$conan" create settle/tests/packages/conan \
    -s build_type=Debug -s compiler.cppstd=20 -c tools.build:jobs=1
