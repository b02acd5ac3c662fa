// SPDX-License-Identifier: BSL-1.0
// JSON as bytes and as text for people.
#include "views.hpp"

#include <algorithm>
#include <ctime>

SETTLE_BEGIN
namespace detail {

namespace {

constexpr std::string_view seconds_suffix = "_seconds";

/// The name of a member as a person reads it.
[[nodiscard]] std::string shown_name(std::string_view name) {
    if (name.ends_with(seconds_suffix)) name.remove_suffix(seconds_suffix.size());
    std::string shown{name};
    std::replace(shown.begin(), shown.end(), '_', ' ');
    return shown;
}

/// Escapes what a terminal obeys, and what turns the direction of text.
[[nodiscard]] std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t index = 0; index < text.size(); ++index) {
        auto const byte = static_cast<unsigned char>(text[index]);
        auto const next =
            index + 1 < text.size() ? static_cast<unsigned char>(text[index + 1]) : 0U;
        bool const is_control = byte < 0x20 || byte == 0x7f;
        bool const is_high_control = byte == 0xc2 && next < 0xa0;
        bool const turns = byte == 0xe2 && (next == 0x80 || next == 0x81);
        if (is_control || is_high_control || turns) {
            shown.append("\\x");
            shown.push_back(hex_digit(byte >> 4U));
            shown.push_back(hex_digit(byte));
        } else {
            shown.push_back(text[index]);
        }
    }
    return shown;
}

[[nodiscard]] std::string scalar(std::string_view name, console_json const& value) {
    if (value.is_null()) return "-";
    if (value.is_string()) return printable(value.get_ref<std::string const&>());
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_number_integer() && name.ends_with(seconds_suffix))
        return span_text(std::chrono::seconds{value.get<std::int64_t>()});
    return printable(json_text(value));
}

[[nodiscard]] bool is_table(console_json const& value) {
    return value.is_array() && !value.empty() && value.front().is_object();
}

void append_padded(std::string& to, std::string_view text, std::size_t width) {
    to.append(text).append(width > text.size() ? width - text.size() : 0, ' ');
}

void append_table(std::string& to, console_json const& rows, std::size_t indent) {
    std::vector<std::string> columns;
    for (auto const& row : rows) {
        for (auto const& [name, value] : row.items()) {
            if (std::find(columns.begin(), columns.end(), name) == columns.end())
                columns.push_back(name);
        }
    }
    std::vector<std::vector<std::string>> lines{{}};
    for (auto const& name : columns) lines.front().push_back(shown_name(name));
    for (auto const& row : rows) {
        auto& line = lines.emplace_back();
        for (auto const& name : columns)
            line.push_back(row.contains(name) ? scalar(name, row[name]) : "-");
    }
    std::vector<std::size_t> widths(columns.size());
    for (auto const& line : lines) {
        for (std::size_t index = 0; index < line.size(); ++index)
            widths[index] = std::max(widths[index], line[index].size());
    }
    for (auto const& line : lines) {
        to.append(indent, ' ');
        for (std::size_t index = 0; index + 1 < line.size(); ++index)
            append_padded(to, line[index], widths[index] + 2);
        to.append(line.back()).push_back('\n');
    }
}

void append_members(std::string& to, console_json const& data, std::size_t indent) {
    constexpr std::size_t width = 14;
    for (auto const& [name, value] : data.items()) {
        to.append(indent, ' ');
        // A picture is the only text with lines, and the library makes it. A record may have a
        // member of this name.
        if (name == "picture" && indent == 0 && value.is_string()) {
            to.append(shown_name(name)).append("\n").append(value.get<std::string>());
        } else if (is_table(value)) {
            to.append(shown_name(name)).push_back('\n');
            append_table(to, value, indent + 2);
        } else if (value.is_object() && !value.empty()) {
            to.append(shown_name(name)).push_back('\n');
            append_members(to, value, indent + 2);
        } else {
            append_padded(to, shown_name(name), width);
            to.append(value.is_array() && value.empty() ? " none" : " " + scalar(name, value));
            to.push_back('\n');
        }
    }
}

} // namespace

console_reply problem_reply(unsigned status, std::string const& sentence) {
    return {status, {{"problem", sentence}}};
}

console_reply problem_reply(error const& problem) {
    return problem_reply(problem.code == errc::damaged ? 500 : 503, problem.message());
}

std::string json_text(console_json const& data) {
    return data.dump(-1, ' ', true, console_json::error_handler_t::replace);
}

std::string plain_text(console_json const& data) {
    std::string text;
    append_members(text, data, 0);
    return text;
}

std::string utc(timestamp when) {
    auto const seconds = std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
    std::time_t const time{seconds};
    std::tm parts{};
    std::array<char, 40> text{};
    if (gmtime_r(&time, &parts) == nullptr) return "unknown";
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

} // namespace detail
SETTLE_END
