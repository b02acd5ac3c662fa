// SPDX-License-Identifier: BSL-1.0
// The parameters of a transfer as JSON by hand; the ids of the benchmark need no escapes.
#pragma once

#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace baseline {

inline void append_number(std::string& into, std::int64_t number) {
    char digits[24];
    char const* const end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    into.append(digits, static_cast<std::size_t>(end - digits));
}

/// The parameters of a transfer as JSON, written into a text whose memory is reused.
inline void write_json(std::string& into, std::string_view source, std::string_view destination,
                       std::int64_t amount) {
    into.assign(R"({"source":")").append(source).append(R"(","destination":")");
    into.append(destination).append(R"(","amount":)");
    append_number(into, amount);
    into += '}';
}

} // namespace baseline
