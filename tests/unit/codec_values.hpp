// SPDX-License-Identifier: BSL-1.0
// The values that the tests of the codec write and read, and a function that returns a refusal's
// sentence.
#pragma once

#include <settle/definition/codec.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>
#include <vector>

namespace codec_test {

enum class level : std::int8_t { low = -128, middle = 0, high = 127 };
using day = std::chrono::time_point<std::chrono::system_clock,
                                    std::chrono::duration<std::int32_t, std::ratio<86400>>>;

struct line {
    std::string item;
    std::int32_t quantity = 0;
    friend bool operator==(line const&, line const&) = default;
};
struct address {
    std::string street;
    std::optional<std::string> door;
    friend bool operator==(address const&, address const&) = default;
};
struct order {
    std::string id;
    std::int64_t total = 0;
    bool paid = false;
    level urgency = level::middle;
    std::chrono::system_clock::time_point placed;
    day due;
    std::optional<std::int64_t> discount;
    address destination;
    std::vector<line> lines;
    friend bool operator==(order const&, order const&) = default;
};
struct shelf {
    std::vector<bool> flags;
    std::vector<std::optional<std::int64_t>> counts;
    std::vector<std::vector<std::string>> words;
    std::optional<address> place;
    std::uint32_t unsigned_number = 0;
    friend bool operator==(shelf const&, shelf const&) = default;
};
struct card {
    std::string holder, number;
    std::optional<std::int64_t> limit;
};
struct wallet {
    std::string owner;
    std::vector<card> cards;
    address home;
};
struct nothing {
    friend bool operator==(nothing const&, nothing const&) = default;
};
struct native_row {
    std::string id;
    bool open = false;
    std::optional<std::int64_t> limit;
    friend bool operator==(native_row const&, native_row const&) = default;
};
struct tree {
    std::vector<tree> branches;
    friend bool operator==(tree const&, tree const&) = default;
};

} // namespace codec_test

BOOST_HANA_ADAPT_STRUCT(codec_test::line, item, quantity);
BOOST_HANA_ADAPT_STRUCT(codec_test::address, street, door);
BOOST_HANA_ADAPT_STRUCT(codec_test::order, id, total, paid, urgency, placed, due, discount,
                        destination, lines);
BOOST_HANA_ADAPT_STRUCT(codec_test::shelf, flags, counts, words, place, unsigned_number);
BOOST_HANA_ADAPT_STRUCT(codec_test::card, holder, number, limit);
BOOST_HANA_ADAPT_STRUCT(codec_test::wallet, owner, cards, home);
BOOST_HANA_ADAPT_STRUCT(codec_test::nothing);
BOOST_HANA_ADAPT_STRUCT(codec_test::native_row, id, open, limit);
BOOST_HANA_ADAPT_STRUCT(codec_test::tree, branches);

template <>
inline constexpr bool settle::secret<&codec_test::card::number> = true;
template <>
inline constexpr bool settle::secret<&codec_test::card::limit> = true;
template <>
inline constexpr bool settle::secret<&codec_test::wallet::home> = true;

namespace codec_test {

using settle::json_form;
using settle::json_reader;

/// The sentence of the refusal, or an empty text if the value is accepted.
template <typename T>
std::string refusal(std::string_view text, json_form form = json_form::exact) {
    auto const read = settle::decode_json<T>(text, form);
    if (read.has_value()) return "";
    CHECK(read.problem().code == settle::errc::damaged);
    constexpr std::string_view opening = "the stored JSON is damaged at ";
    auto const sentence = read.problem().message();
    REQUIRE(sentence.starts_with(opening));
    return sentence.substr(opening.size());
}

/// Empty if the library accepts the text as JSON, else the text of its error.
inline std::string skip_refusal(std::string_view text) {
    json_reader reader{text};
    return reader.skip_value() && reader.finish() ? "" : reader.problem().message();
}

inline order full_order() {
    return {"a \"quoted\" \\ /\b\f\n\r\t\x01\x1f\x7f \u00e4\u20ac\U0001F600\U0010FFFF",
            std::numeric_limits<std::int64_t>::min(),
            true,
            level::low,
            std::chrono::system_clock::time_point::min(),
            day{day::duration{-1}},
            std::numeric_limits<std::int64_t>::max(),
            {"Main Street", "3b"},
            {{"x", std::numeric_limits<std::int32_t>::max()},
             {"", std::numeric_limits<std::int32_t>::min()}}};
}

} // namespace codec_test
