// SPDX-License-Identifier: BSL-1.0
// JSON for other programs: members in their given order, and ASCII alone.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace samples {

/// A value of a document: null, a text, a number, true or false, or a list or an object of values.
class json_value {
public:
    using members = std::vector<std::pair<std::string_view, json_value>>;

    json_value() = default;
    /// Shape:   text - any bytes
    template <std::convertible_to<std::string_view> Text>
    json_value(Text const& text) : content_(std::string_view{text}), is_text_(true) {}
    template <typename Number>
        requires std::is_arithmetic_v<Number>
    json_value(Number value) : content_(fmt::format("{}", value)) {}

    static json_value list(std::vector<json_value> const& elements);
    static json_value object(members const& all);
    /// The value of a JSON text; the text itself where it is no JSON, and null where it is empty.
    static json_value parsed(std::string_view text);

    bool is_null() const { return !is_text_ && content_ == "null"; }
    /// The text of a value that is a text; null for another value.
    std::string const* text() const { return is_text_ ? &content_ : nullptr; }
    /// The value in ASCII, since a terminal obeys some other characters.
    /// Shape:   indent - of each level of lists and objects; below 0: all is on one line
    std::string to_ascii(int indent = -1) const;

private:
    void append_to(std::string& out) const;

    std::string content_ = "null"; // the text, or else JSON
    bool is_text_ = false;
};

} // namespace samples
