// SPDX-License-Identifier: BSL-1.0
// The samples' escaped texts, and the names that look alike.
#include <shared/alike_names.hpp>
#include <shared/printable.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

TEST_SUITE("samples: names") {
    TEST_CASE("names: invisible characters are escaped, and all others stay") {
        struct text {
            std::string_view raw, shown;
        };
        for (text const& each : {
                 text{"", ""},
                 text{"plain text, 12.50!", "plain text, 12.50!"},
                 text{"caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80",
                      "caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80"},
                 text{"a\nb\r\tc", "a\\nb\\r\\tc"},
                 text{"back\\slash", "back\\\\slash"},
                 text{"\x1B[31m\x7F\x07", "\\x1b[31m\\x7f\\x07"},
                 text{"\xC2\x9B"
                      "1m\xC2\x85",
                      "\\u{9b}1m\\u{85}"},
                 text{"\xE2\x80\xAE"
                      "abc\xE2\x81\xA6",
                      "\\u{202e}abc\\u{2066}"},
                 text{"a\xE2\x80\x8B"
                      "b\xEF\xBB\xBF",
                      "a\\u{200b}b\\u{feff}"},
                 text{"a\xC2\xA0"
                      "b\xE2\x80\xA8",
                      "a\\u{a0}b\\u{2028}"},
                 text{"\xF3\xA0\x81\xA1", "\\u{e0061}"},
                 text{"\xFF\xC3(\xED\xA0\x80", "\\xff\\xc3(\\xed\\xa0\\x80"},
             }) {
            CAPTURE(each.shown);
            CHECK(samples::printable(each.raw) == each.shown);
        }
        CHECK(samples::printable({"a\0b", 3}) == "a\\x00b");
    }

    TEST_CASE("names: they look alike if only spaces, unseen characters or encodings differ") {
        for (std::string_view const name : {"ann", " ann", "ann ", "\tann",
                                            "\xC2\xA0"
                                            "ann",
                                            "a\xE2\x80\x8Bnn", "ann\xEF\xBB\xBF", "\xEF\xBD\x81nn",
                                            "a\xC2\xADnn", "ann\xE3\x80\x80"}) {
            CHECK(samples::visible_form(name) == "ann");
        }
        CHECK(samples::visible_form("cafe\xCC\x81") == samples::visible_form("caf\xC3\xA9"));
        CHECK(samples::visible_form("a  b") == samples::visible_form("a\xC2\xA0"
                                                                     "b"));
        CHECK(samples::visible_form("a b") == "a b");
        CHECK(samples::visible_form("Ann") != samples::visible_form("ann"));
        CHECK(samples::visible_form("cafe") != samples::visible_form("caf\xC3\xA9"));
        CHECK(samples::visible_form("") == "");
        samples::alike_names names;
        CHECK(names.add("ann") == nullptr);
        CHECK(names.add("ann") == nullptr);
        CHECK(*names.add("ann ") == "ann");
        CHECK(names.add("bob") == nullptr);
    }

    TEST_CASE("names: a repeated id is found with the line of its first use") {
        samples::seen_ids ids;
        for (std::uint64_t line = 2; line < 50'000; ++line) {
            REQUIRE(ids.add("id" + std::to_string(line), line) == 0);
        }
        for (std::uint64_t line = 2; line < 50'000; ++line) {
            REQUIRE(ids.add("id" + std::to_string(line), line + 1) == line);
        }
        CHECK(ids.alike("id7", 60'000) == 0);
        CHECK(ids.alike("id7 ", 60'001) == 7);
        CHECK(ids.alike(" new", 60'002) == 0);
        CHECK(ids.alike("new", 60'003) == 60'002);
        CHECK(ids.alike("new ", 60'004) == 60'002);
    }
}
