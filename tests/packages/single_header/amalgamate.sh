#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Writes settle with its memory and SQLite stores as one header, for a first try or Compiler Explorer.
# Usage: amalgamate.sh ROOT >settle-single.hpp
# Each header of settle stands where it is first included, without its comments. The file is
# header-only, and needs Boost.Hana, range-v3 and SQLite.
set -eu
cd -- "$1"
awk '
    # Prints a file and, in place of their #include lines, the files of settle that it includes first.
    function expand(name, folders, count, i, path, line, status) {
        if (name in seen) return
        seen[name] = 1
        count = split("include adapters/memory/include adapters/sqlite/include", folders, " ")
        for (i = 1; i <= count; ++i) {
            path = folders[i] "/" name
            status = (getline line <path)
            if (status >= 0) break
        }
        if (status < 0) {
            print "amalgamate.sh: " name " is in none of the folders" >"/dev/stderr"
            exit failed = 1
        }
        for (; status > 0; status = (getline line <path)) {
            if (line ~ /^ *# *include <settle\/[^>]*\.[hi]pp>/) {
                sub(/^[^<]*</, "", line)
                sub(/>.*/, "", line)
                expand(line)
            } else if (line !~ /^#pragma once/ && line !~ /^ *\/\//) {
                print line
            }
        }
        close(path)
    }
    BEGIN {
        print "// SPDX-License-Identifier: BSL-1.0"
        print "// settle in one header, with its memory and SQLite stores. Made from the headers; do not edit."
        print "#pragma once"
        print "#ifdef SETTLE_COMPILED"
        print "#error \"settle: settle-single.hpp is header-only. Do not define SETTLE_COMPILED.\""
        print "#endif"
        expand("settle/settle.hpp")
        expand("settle/memory.hpp")
        expand("settle/sqlite.hpp")
        exit failed
    }
'
