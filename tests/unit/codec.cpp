// SPDX-License-Identifier: BSL-1.0
// Typed values as JSON text: values are read back exactly, and refusals have the right sentence.
#include "codec_values.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codec_test {
namespace {

using namespace std::string_literals;

template <typename T>
void check_round_trip(T const& value) {
    auto const text = settle::encode_json(value);
    CAPTURE(text);
    CHECK(refusal<T>(text) == "");
    CHECK(settle::decode_json<T>(text).value() == value);
    CHECK(settle::decode_json<T>(text, json_form::row).value() == value);
}

TEST_CASE("codec: values are written in their usual JSON form") {
    order value;
    value.id = "A1";
    value.total = -5;
    value.urgency = level::high;
    value.due = day{day::duration{20000}};
    value.lines = {{"pen", 2}, {"ink", 1}};
    CHECK(settle::encode_json(value) ==
          R"({"id":"A1","total":-5,"paid":false,"urgency":127,"placed":0,"due":20000,)"
          R"("discount":null,"destination":{"street":"","door":null},)"
          R"("lines":[{"item":"pen","quantity":2},{"item":"ink","quantity":1}]})");
    CHECK(settle::encode_json("\"\\/\b\f\n\r\t\x01\x1f\x7f\u00e4"s) ==
          "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\u00e4\"");
    CHECK(settle::encode_json(nothing{}) == "{}");
    CHECK(settle::encode_json(std::vector<std::int64_t>{}) == "[]");
    std::string out = "kept ";
    settle::append_json(out, std::vector<bool>{true, false});
    CHECK(out == "kept [true,false]");
}

TEST_CASE("codec: every value is decoded unchanged") {
    check_round_trip(order{});
    check_round_trip(full_order());
    check_round_trip(nothing{});
    check_round_trip(std::numeric_limits<std::int64_t>::min());
    check_round_trip(std::numeric_limits<std::int64_t>::max());
    check_round_trip(std::int64_t{0});
    check_round_trip(std::optional<std::string>{});
    check_round_trip(std::optional<std::string>{""});
    check_round_trip(shelf{});
    check_round_trip(shelf{{true, false, true},
                           {{}, 0, -1},
                           {{}, {""}, {"a", "b"}},
                           address{"x", {}},
                           std::numeric_limits<std::uint32_t>::max()});
    std::string every_code_point;
    for (std::uint32_t code = 1; code < 0x110000; code += code < 0x900 ? 1 : 251) {
        if (code >= 0xD800 && code < 0xE000) continue;
        settle::detail::append_utf8(every_code_point, code);
    }
    CHECK(settle::is_utf8(every_code_point));
    check_round_trip(every_code_point);
}

TEST_CASE("codec: members may come in any order, with any white space and any escapes") {
    auto const read = settle::decode_json<line>(
        " \t\r\n{ \"quantity\" :\n7 , \"\\u0069te\\u006D\":\"\\u00e4\\/\\ud83d\\uDE00\" } \n");
    REQUIRE(read.has_value());
    CHECK(read.value() == line{"\u00e4/\U0001F600", 7});
}

TEST_CASE("codec: an error names its position") {
    auto const in_line = [](std::string_view text) { return refusal<line>(text); };
    CHECK(in_line("") == "byte 0: expected an object, found no value");
    CHECK(in_line("[]") == "byte 0: expected an object, found an array");
    CHECK(in_line("{}") == "byte 0: the member item is missing");
    CHECK(in_line(R"( {"item":"a"})") == "byte 1: the member quantity is missing");
    CHECK(in_line(R"({"item":"a","quantity":1,"price":2})") ==
          "price, byte 25: the struct has no such member");
    CHECK(in_line(R"({"item":"a","quantity":1,"a\n.b":2})") ==
          R"(["a\n.b"], byte 25: the struct has no such member)");
    CHECK(in_line(R"({"item":"a","quantity":1,"item":"b"})") ==
          "byte 25: the member item appears twice");
    CHECK(in_line(R"({"item":"a","quantity":1,"\u0069tem":"a"})") ==
          "byte 25: the member item appears twice");
    CHECK(in_line(R"({"item":1,"quantity":1})") ==
          "item, byte 8: expected a text, found a whole number");
    CHECK(in_line(R"({"item":null,"quantity":1})") == "item, byte 8: expected a text, found null");
    CHECK(in_line(R"({"item":"a","quantity":"1"})") ==
          "quantity, byte 23: expected a whole number, found a text");
    CHECK(in_line(R"({"item":"a","quantity":2147483648})") ==
          "quantity, byte 23: the number is none of the type's values");
    CHECK(in_line(R"({"item":"a","quantity":1} x)") == "byte 26: something follows the value");
    CHECK(in_line(R"({"item":"a" "quantity":1})") == "item, byte 12: expected ',' or '}'");
    CHECK(in_line(R"({"item" "a"})") == "item, byte 8: expected ':' after the member name");
    CHECK(in_line(R"({"item":"a",})") == "byte 12: expected a member name");
    CHECK(in_line(R"({item:"a"})") == "byte 1: expected a member name");
    CHECK(in_line(R"({"item":)") == "item, byte 8: expected a text, found no value");
    CHECK(in_line(R"({"it)") == "byte 4: a text has no end");
    CHECK(in_line(R"({"item":"a","quantity":1)") == "quantity, byte 24: expected ',' or '}'");

    CHECK(refusal<order>(R"({"lines":[{"item":"a","quantity":1},{"item":"b","quantity":1.5}]})") ==
          "lines[1].quantity, byte 59: expected a whole number, found a number with a fraction or "
          "an exponent");
    CHECK(refusal<order>(R"({"lines":[{"item":"a"}]})") ==
          "lines[0], byte 10: the member quantity is missing");
    CHECK(refusal<order>(R"({"destination":{"street":"a","door":7}})") ==
          "destination.door, byte 36: expected a text, found a whole number");
    CHECK(refusal<order>(R"({"urgency":128})") ==
          "urgency, byte 11: the number is none of the type's values");
    CHECK(refusal<order>(R"({"paid":1})") ==
          "paid, byte 8: expected true or false, found a whole number");
    CHECK(refusal<order>(R"({"paid":tru})") == "paid, byte 8: expected a value");
    CHECK(refusal<std::vector<bool>>("[true,]") ==
          "[1], byte 6: expected true or false, found no value");
    CHECK(refusal<std::vector<bool>>("[true false]") == "[0], byte 6: expected ',' or ']'");
    CHECK(refusal<std::uint8_t>("-1") == "byte 0: the number is none of the type's values");
    CHECK(refusal<std::optional<bool>>("nul") == "byte 0: expected a value");
}

TEST_CASE("codec: damaged numbers are refused") {
    auto const number = [](std::string_view text) { return refusal<std::int64_t>(text); };
    CHECK(number("9223372036854775807") == "");
    CHECK(number("9223372036854775808") == "byte 0: the number is beyond 64 bits");
    CHECK(number("-9223372036854775809") == "byte 0: the number is beyond 64 bits");
    CHECK(number(std::string(100000, '9')) == "byte 0: the number is beyond 64 bits");
    CHECK(number("01") == "byte 0: a number begins with a needless 0");
    CHECK(number("-012") == "byte 1: a number begins with a needless 0");
    CHECK(number("-0") == "byte 0: expected a whole number, found -0");
    CHECK(number("-") == "byte 1: expected a digit");
    CHECK(number("--1") == "byte 1: expected a digit");
    CHECK(number("+1") == "byte 0: expected a whole number, found no value");
    CHECK(number("0x10") == "byte 1: something follows the value");
    CHECK(number("1 2") == "byte 2: something follows the value");
    for (auto const real : {"1.0", "1e2", "1E2", "-1.5e-3"}) {
        CAPTURE(real);
        CHECK(number(real) == "byte 0: expected a whole number, found a number with a fraction or "
                              "an exponent");
    }
}

TEST_CASE("codec: damaged texts are refused") {
    auto const text = [](std::string const& bytes) { return refusal<std::string>(bytes); };
    CHECK(text("\"ab") == "byte 3: a text has no end");
    CHECK(text("\"ab\\") == "byte 3: a text has an unknown escape");
    CHECK(text("\"a\\x\"") == "byte 2: a text has an unknown escape");
    CHECK(text("\"a\nb\"") == "byte 2: a control character is not escaped");
    CHECK(text("\"a\0b\""s) == "byte 2: a control character is not escaped");
    CHECK(text("\"a\\u0000\"") == "byte 2: a text holds a NUL");
    CHECK(text("\"ab\xC3\"") == "byte 3: a text is not UTF-8");
    CHECK(text("\"\xED\xA0\x80\"") == "byte 1: a text is not UTF-8");
    CHECK(text("\"\\u12\"") == "byte 3: expected four hexadecimal digits after \\u");
    CHECK(text("\"\\u12g4\"") == "byte 3: expected four hexadecimal digits after \\u");
    CHECK(text("\"\\u-123\"") == "byte 3: expected four hexadecimal digits after \\u");
    for (auto const half : {"\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\ud800\\n\"",
                            "\"\\udbffx\"", "\"\\udfff\\udbff\""}) {
        CAPTURE(half);
        CHECK(text(half) == "byte 1: half a surrogate pair");
    }
}

TEST_CASE("codec: a native row may have more columns, lack optional ones, and keep a bool as 0") {
    auto const text = R"({"extra":{"$blob":"00"},"id":"A","open":1,"more":[1.5,{"a":null}]})";
    CHECK(settle::decode_json<native_row>(text, json_form::row).value() ==
          native_row{"A", true, {}});
    CHECK(refusal<native_row>(text) == "extra, byte 1: the struct has no such member");
    CHECK(refusal<native_row>(R"({"id":"A","open":true})") ==
          "byte 0: the member limit is missing");
    CHECK(refusal<native_row>(R"({"id":"A","open":2})", json_form::row) ==
          "open, byte 17: the number is none of the type's values");
    CHECK(refusal<native_row>(R"({"id":"A"})", json_form::row) ==
          "byte 0: the member open is missing");
    CHECK(refusal<native_row>(R"({"id":"A","open":0,"x":{"a":[0,tru]}})", json_form::row) ==
          "x.a[1], byte 31: expected a value");
    CHECK(refusal<native_row>(R"({"id":"A","open":0,"x":1,"x":1})", json_form::row) ==
          "byte 25: the member x appears twice");
}

TEST_CASE("codec: secrets are not shown") {
    wallet const value{"Ann", {{"Ann", "4111", 500}, {"Bob", "4222", {}}}, {"Hidden Road", {}}};
    CHECK(settle::encode_json(value, settle::secrets::hidden) ==
          R"({"owner":"Ann","cards":[{"holder":"Ann","number":"***","limit":"***"},)"
          R"({"holder":"Bob","number":"***","limit":"***"}],"home":"***"})");
    CHECK(settle::encode_json(value).find("4222") != std::string::npos);
    // A refusal does not quote the refused value either.
    CHECK(refusal<card>(R"({"holder":"Ann","number":4111222233334444})").find("4111") ==
          std::string::npos);
}

TEST_CASE("codec: a text that no store could keep is refused before it is written") {
    order value = full_order();
    CHECK(settle::check_texts(value).has_value());
    value.lines[1].item = "\xFF";
    CHECK(settle::check_texts(value).problem().code == settle::errc::bad_text);
    CHECK(settle::check_texts(value).problem().message() ==
          "settle: 'lines[1].item': the text is not UTF-8; nothing was written. Give it as UTF-8 "
          "without a NUL. See definition#field-types");
    value.destination.door = "a\0"s;
    std::string const message = settle::check_texts(value).problem().message();
    CHECK(message.starts_with("settle: 'destination.door': the text holds a NUL; "));
    shelf words;
    words.words = {{"a"}, {"b", "\xC0\x80"}};
    CHECK(settle::check_texts(words).problem().message().starts_with("settle: 'words[1][1]': "));
    CHECK(settle::check_texts("\x80"s).problem().message() ==
          "settle: the text is not UTF-8; nothing was written. Give it as UTF-8 without a NUL. "
          "See definition#field-types");
    CHECK_FALSE(settle::decode_json<std::string>(settle::encode_json("\x80"s)).has_value());
    CHECK_FALSE(settle::decode_json<std::string>(settle::encode_json("\0"s)).has_value());
}

} // namespace
} // namespace codec_test
