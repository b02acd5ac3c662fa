// SPDX-License-Identifier: BSL-1.0
// Arbitrary bytes: random bytes, damaged values, and a comparison with another JSON reader.
#include "codec_values.hpp"

#include <settle/base/native_value.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace codec_test {
namespace {

using settle::native_value;

/// True if the bytes decode to a value that is encoded and decoded unchanged, or are refused with
/// one short UTF-8 sentence.
template <typename T>
bool round_trips_or_refuses(std::string_view bytes, json_form form) {
    auto const read = settle::decode_json<T>(bytes, form);
    if (read.has_value()) {
        auto const again = settle::decode_json<T>(settle::encode_json(read.value()));
        return again.has_value() && again.value() == read.value();
    }
    auto const sentence = read.problem().message();
    // The path is cut short, so a sentence stays one sentence even with long names.
    return read.problem().code == settle::errc::damaged && settle::is_utf8(sentence) &&
           sentence.starts_with("the stored JSON is damaged at ") && sentence.size() < 3000;
}

TEST_CASE("codec: random bytes do no harm") {
    std::mt19937_64 random{4};
    constexpr std::string_view signs = "{}[],:\"\\u0019.eE+-truefalsn \xC3\xA4\xF0";
    for (int run = 0; run < 60000; ++run) {
        std::string bytes(random() % 40, '\0');
        for (auto& byte : bytes) {
            byte =
                run % 2 == 0 ? static_cast<char>(random() & 0xFFU) : signs[random() % signs.size()];
        }
        CAPTURE(run);
        REQUIRE(round_trips_or_refuses<order>(bytes, json_form::exact));
        REQUIRE(round_trips_or_refuses<shelf>(bytes, json_form::row));
        REQUIRE(round_trips_or_refuses<std::string>(bytes, json_form::exact));
        REQUIRE(round_trips_or_refuses<std::vector<std::optional<std::int64_t>>>(bytes,
                                                                                 json_form::exact));
        native_value value;
        json_reader reader{bytes};
        auto const good = settle::read_native(reader, value);
        REQUIRE(good != reader.failed());
    }
}

TEST_CASE("codec: mutated values do no harm") {
    std::mt19937_64 random{5};
    auto const whole = settle::encode_json(full_order());
    constexpr std::string_view signs = "{}[],:\"\\u01-.etn\x80\xC3";
    int taken = 0;
    for (int run = 0; run < 40000; ++run) {
        auto bytes = whole;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            auto const position = random() % bytes.size();
            switch (random() % 4) {
            case 0: bytes[position] = static_cast<char>(random() & 0xFFU); break;
            case 1: bytes[position] = signs[random() % signs.size()]; break;
            case 2: bytes.erase(position, 1 + random() % 4); break;
            default:
                bytes.insert(position, bytes.substr(random() % bytes.size(), random() % 30));
                break;
            }
            if (bytes.empty()) bytes = "0";
        }
        CAPTURE(run);
        REQUIRE(round_trips_or_refuses<order>(bytes, json_form::exact));
        REQUIRE(round_trips_or_refuses<order>(bytes, json_form::row));
        taken += settle::decode_json<order>(bytes, json_form::row).has_value() ? 1 : 0;
    }
    // A change inside a text leaves valid JSON, so many values are accepted and many are refused.
    CHECK(taken > 1000);
    CHECK(taken < 39000);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK(refusal<order>(std::string_view{whole}.substr(0, size)) != "");
    }
}

/// Empty for a number that is JSON but beyond the range of the other reader.
std::optional<bool> another_reader_takes(std::string const& text) {
    try {
        return !nlohmann::json::parse(text).is_discarded();
    } catch (nlohmann::json::parse_error const&) {
        return false;
    } catch (nlohmann::json::out_of_range const&) {
        return std::nullopt;
    }
}

TEST_CASE("codec: the reader accepts the same JSON as another reader") {
    std::mt19937_64 random{6};
    std::vector<std::string> const tokens{"{",           "}",
                                          "[",           "]",
                                          ",",           ":",
                                          "\"a\"",       "\"b\"",
                                          "\"\\u0061\"", "\"\\ud83d\\ude00\"",
                                          "\"\\ud83d\"", "\"\xC3\xA4\"",
                                          "\"\xC3\"",    "0",
                                          "-0",          "01",
                                          "1.5",         "1.",
                                          ".5",          "2e3",
                                          "2e",          "2E+1",
                                          "-",           "true",
                                          "false",       "null",
                                          "nul",         " ",
                                          "\n",          "{\"c\":",
                                          "[1,",         "\"d\":"};
    int taken = 0;
    for (int run = 0; run < 200000; ++run) {
        std::string text;
        for (auto left = 1 + random() % 9; left > 0; --left) {
            text += tokens[random() % tokens.size()];
        }
        auto const reply = skip_refusal(text);
        CAPTURE(text);
        CAPTURE(reply);
        if (reply.empty()) ++taken;
        // A name that appears twice is refused here and taken there.
        auto const expected = another_reader_takes(text);
        if (expected && !reply.ends_with("appears twice")) REQUIRE(reply.empty() == *expected);
    }
    CHECK(taken > 2000);
}

TEST_CASE("codec: another reader accepts the written JSON") {
    auto const read = nlohmann::json::parse(settle::encode_json(full_order()));
    CHECK(read.at("id").get<std::string>() == full_order().id);
    CHECK(read.at("total").get<std::int64_t>() == full_order().total);
    CHECK(read.at("lines").size() == 2);
    std::string row;
    for (auto const& value :
         std::vector<native_value>{std::monostate{}, 5.0, 1e300, -1e-7, std::string{"\xFF"},
                                   settle::blob{}, std::numeric_limits<double>::infinity()}) {
        row += row.empty() ? '[' : ',';
        settle::append_native(row, value);
    }
    CHECK(nlohmann::json::parse(row + ']').at(1).is_number_float());
}

TEST_CASE("codec: decoding takes linear time") {
    std::string members = R"({"id":"A","open":true,"limit":1)";
    for (int number = 0; number < 200000; ++number) {
        members += ",\"column_" + std::to_string(number * 7919 % 200000) + "\":{\"a\":[]}";
    }
    members += '}';
    CHECK(refusal<native_row>(members, json_form::row) == "");
    CHECK(skip_refusal("\"" + std::string(4000000, 'x') + "\"") == "");
    CHECK(skip_refusal(std::string(4000000, ' ') + "1") == "");
    std::string escapes = "\"";
    for (int number = 0; number < 500000; ++number) escapes += "\\u00e4";
    CHECK(skip_refusal(escapes + "\"") == "");
    auto const long_name = "{\"" + std::string(1000000, 'x') + "\":tru}";
    CHECK(skip_refusal(long_name).size() < 200);
}

} // namespace
} // namespace codec_test
