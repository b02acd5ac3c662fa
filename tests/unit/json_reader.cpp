// SPDX-License-Identifier: BSL-1.0
// The JSON reader, called step by step, and its check that a text is UTF-8.
#include "codec_values.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codec_test {
namespace {

using namespace std::string_literals;
using settle::json_kind;

TEST_CASE("json_reader: it checks UTF-8 strictly") {
    for (auto const good :
         {"", "plain", "\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
          "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "a\xC3\xA4z"}) {
        CAPTURE(good);
        CHECK(settle::is_utf8(good));
    }
    for (auto const& bad : {"\x80"s,
                            "\xBF"s,
                            "\xC0\x80"s,
                            "\xC1\xBF"s,
                            "\xC2"s,
                            "\xC2z"s,
                            "\xE0\x9F\xBF"s,
                            "\xE0\xA0"s,
                            "\xE1\x80\xC0"s,
                            "\xED\xA0\x80"s,
                            "\xED\xBF\xBF"s,
                            "\xF0\x8F\xBF\xBF"s,
                            "\xF0\x90\x80"s,
                            "\xF4\x90\x80\x80"s,
                            "\xF5\x80\x80\x80"s,
                            "\xFF"s,
                            "\xFE"s,
                            "ok\xF8\x88\x80\x80\x80"s,
                            "\0"s,
                            "a\0b"s}) {
        CAPTURE(bad);
        CHECK_FALSE(settle::is_utf8(bad));
    }
}

TEST_CASE("json_reader: a caller may call its steps in turn") {
    json_reader reader{R"({"a":[1,-2.5e1,"x"],"b":null,"c":{"d":true},"e":[]} )"};
    std::string seen;
    REQUIRE(reader.begin_object());
    for (std::string_view name; reader.next_member(name);) {
        seen += name;
        if (name == "a") {
            REQUIRE(reader.begin_array());
            std::int64_t whole = 0;
            double real = 0;
            std::string text;
            CHECK(reader.next_element());
            CHECK(reader.peek() == json_kind::whole);
            CHECK(reader.read_integer(whole));
            CHECK(reader.next_element());
            CHECK(reader.peek() == json_kind::real);
            CHECK(reader.read_real(real));
            CHECK(reader.next_element());
            CHECK(reader.read_text(text));
            CHECK_FALSE(reader.next_element());
            CHECK(whole == 1);
            CHECK(real == -25.0);
            CHECK(text == "x");
        } else {
            CHECK(reader.skip_value());
        }
    }
    CHECK(reader.finish());
    CHECK(seen == "abce");
    CHECK(reader.peek() == json_kind::none);
}

TEST_CASE("json_reader: a misused reader fails and keeps its first error") {
    std::string_view name;
    std::int64_t number = 7;
    json_reader unread{R"({"a":1,"b":2})"};
    REQUIRE(unread.begin_object());
    REQUIRE(unread.next_member(name));
    CHECK_FALSE(unread.next_member(name));
    CHECK(unread.problem().message().ends_with("a, byte 5: the value before was not read"));
    CHECK_FALSE(unread.read_integer(number));
    CHECK_FALSE(unread.skip_value());
    CHECK_FALSE(unread.finish());
    CHECK(unread.peek() == json_kind::none);
    CHECK(number == 7);

    json_reader twice{"1 2"};
    CHECK(twice.read_integer(number));
    CHECK_FALSE(twice.read_integer(number));
    CHECK(twice.problem().message().ends_with("byte 1: no value can be read here"));
    json_reader closed{"[]"};
    CHECK_FALSE(closed.next_element());
    CHECK(closed.problem().message().ends_with("byte 0: no array is open here"));
    json_reader other{"[]"};
    CHECK(other.begin_array());
    CHECK_FALSE(other.next_member(name));
    CHECK(other.problem().message().ends_with("byte 1: no object is open here"));
    json_reader early{"[1]"};
    CHECK(early.begin_array());
    CHECK_FALSE(early.finish());
    CHECK(early.problem().message().ends_with("byte 1: the value was not read to its end"));
}

TEST_CASE("json_reader: a whole number of another language is read where it is exact") {
    auto const read = [](std::string_view text) -> std::optional<std::int64_t> {
        json_reader reader{text};
        std::int64_t value = -1;
        if (reader.read_whole(value) && reader.finish()) return value;
        CHECK(reader.failed());
        return std::nullopt;
    };
    CHECK(read("300") == 300);
    CHECK(read("300.0") == 300);
    CHECK(read("300.000e0") == 300);
    CHECK(read("1.2e4") == 12000);
    CHECK(read("12000E-2") == 120);
    CHECK(read("-2.5e+1") == -25);
    CHECK(read("-0.0") == 0);
    CHECK(read("0e99999999999999999999") == 0);
    CHECK(read("9223372036854775807.0") == INT64_MAX);
    CHECK(read("-9.223372036854775808e18") == INT64_MIN);
    CHECK(read(R"("300")") == 300);
    CHECK(read(R"("-9223372036854775808")") == INT64_MIN);
    for (auto const* text :
         {"300.5", "1e-1", "1e19", "9223372036854775808", "9.3e18", "1e99999999999999999999",
          "1e-99999999999999999999", R"("300.0")", R"("1e2")", R"(" 300")", R"("+300")", R"("")",
          R"("-")", R"("9223372036854775808")", "true", "null", "[]", "{}", ""}) {
        CHECK_MESSAGE(!read(text), text);
    }
    // What settle stores has one spelling.
    std::int64_t value = 0;
    CHECK_FALSE(json_reader{"300.0"}.read_integer(value));
    CHECK_FALSE(json_reader{R"("300")"}.read_integer(value));
}

TEST_CASE("json_reader: it limits nesting") {
    auto const nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    CHECK(skip_refusal(nested(32)) == "");
    CHECK(skip_refusal(nested(33)).ends_with("byte 32: nested deeper than 32 levels"));
    CHECK(skip_refusal(nested(1000000)).ends_with("byte 32: nested deeper than 32 levels"));
    std::string branches;
    for (int depth = 0; depth < 16; ++depth) branches += R"({"branches":[)";
    CHECK(refusal<tree>(branches + R"({"branches":[]})").ends_with("deeper than 32 levels"));
    auto deepest = tree{};
    for (int depth = 1; depth < 16; ++depth) deepest = tree{{deepest}};
    CHECK(settle::decode_json<tree>(settle::encode_json(deepest)).value() == deepest);
}

} // namespace
} // namespace codec_test
