#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Prints the path of axe.min.js, axe-core's checks of accessibility, or the reason why there is none:
# $SETTLE_AXE if it is set, else the one in a Python package that wraps it.
exec "$(dirname -- "$0")/../wheel_file.sh" "${SETTLE_AXE-}" axe-playwright-python==0.1.8 \
    fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8 axe_playwright_python/axe.min.js
