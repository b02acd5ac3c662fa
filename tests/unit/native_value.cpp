// SPDX-License-Identifier: BSL-1.0
// Scalars of native rows: each keeps its kind and its exact value.
#include <settle/base/native_value.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace codec_test {
namespace {

using namespace std::string_literals;
using settle::json_reader;
using settle::native_value;

std::string native_text(native_value const& value) {
    std::string out;
    settle::append_native(out, value);
    return out;
}

std::string native_refusal(std::string_view text) {
    json_reader reader{text};
    native_value value;
    return settle::read_native(reader, value) && reader.finish() ? "" : reader.problem().message();
}

native_value native_again(std::string_view text) {
    json_reader reader{text};
    native_value value;
    CHECK(settle::read_native(reader, value));
    CHECK(reader.finish());
    return value;
}

TEST_CASE("native_value: native scalars are written with their kind") {
    CHECK(native_text(std::monostate{}) == "null");
    CHECK(native_text(true) == "true");
    CHECK(native_text(std::int64_t{5}) == "5");
    CHECK(native_text(5.0) == "5.0");
    CHECK(native_text(-0.0) == "-0.0");
    CHECK(native_text(0.1) == "0.1");
    CHECK(native_text(1e300) == "1e+300");
    CHECK(native_text(std::numeric_limits<double>::infinity()) == R"({"$real":"inf"})");
    CHECK(native_text("{\"$blob\":\"\"}"s) == R"("{\"$blob\":\"\"}")");
    CHECK(native_text(settle::blob{std::byte{0}, std::byte{0xAF}}) == R"({"$blob":"00af"})");
    CHECK(native_text("a\0\xFF"s) == R"({"$text":"6100ff"})");
}

TEST_CASE("native_value: native scalars are read back exactly") {
    std::vector<native_value> values{std::monostate{},
                                     true,
                                     false,
                                     std::int64_t{0},
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max(),
                                     0.0,
                                     1.0,
                                     0.1 + 0.2,
                                     9007199254740993.0,
                                     std::numeric_limits<double>::max(),
                                     std::numeric_limits<double>::min(),
                                     std::numeric_limits<double>::denorm_min(),
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     ""s,
                                     "text"s,
                                     "\u20ac\n"s,
                                     "a\0b"s,
                                     "\xFF\xFE"s,
                                     settle::blob{}};
    settle::blob all;
    for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<std::byte>(byte));
    values.emplace_back(all);
    std::mt19937_64 random{20240229};
    for (int run = 0; run < 20000; ++run) {
        auto const real = std::bit_cast<double>(random());
        if (!std::isnan(real)) values.emplace_back(real);
    }
    for (auto const& value : values) {
        auto const text = native_text(value);
        CAPTURE(text);
        REQUIRE(native_again(text) == value);
    }
    CHECK(std::signbit(std::get<double>(native_again(native_text(-0.0)))));
    auto const nan = native_text(std::numeric_limits<double>::quiet_NaN());
    CHECK(nan == R"({"$real":"nan"})");
    CHECK(std::isnan(std::get<double>(native_again(nan))));
}

TEST_CASE("native_value: text that is not a native scalar is refused") {
    auto const ends = [](std::string_view text, std::string_view sentence) {
        auto const reply = native_refusal(text);
        CAPTURE(reply);
        return reply.ends_with(sentence);
    };
    CHECK(ends("", "byte 0: expected a value"));
    CHECK(ends(" [1]", "byte 1: expected a scalar, found an array"));
    CHECK(ends("{}", "byte 0: expected a scalar, or $blob, $real or $text"));
    CHECK(ends(R"({"$date":"1"})", "byte 0: expected a scalar, or $blob, $real or $text"));
    CHECK(ends(R"({"$blob":"0"})", "byte 9: expected pairs of hexadecimal digits"));
    CHECK(ends(R"({"$text":"0g"})", "byte 9: expected pairs of hexadecimal digits"));
    CHECK(ends(R"({"$real":"1"})", "byte 9: expected inf, -inf or nan"));
    CHECK(ends(R"({"$blob":5})", "byte 9: expected a text, found a whole number"));
    CHECK(ends(R"({"$blob":"00","x":1})", "byte 14: expected the end of the object"));
    CHECK(ends("9223372036854775808", "byte 0: the number is beyond 64 bits"));
    CHECK(ends("1e999", "byte 0: the number is too large or too small for a double"));
    CHECK(ends("1e-999", "byte 0: the number is too large or too small for a double"));
}

} // namespace
} // namespace codec_test
