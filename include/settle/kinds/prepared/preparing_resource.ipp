// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that preparing_resource.hpp declares.
#pragma once

#include <settle/kinds/prepared/preparing_resource.hpp>

#include <charconv>

SETTLE_BEGIN
namespace detail {

/// Reads a whole text as a number in its shortest form; false if it is none.
template <typename Number>
[[nodiscard]] bool read_number(std::string_view digits, Number& number) {
    auto const* const end = digits.data() + digits.size();
    auto const read = std::from_chars(digits.data(), end, number);
    bool const shortest = digits.size() == 1 || !digits.starts_with('0');
    return read.ec == std::errc{} && read.ptr == end && shortest;
}

/// Takes the text before a separator off a text; false if the text has none.
[[nodiscard]] inline bool take_until(char separator, std::string_view& text,
                                     std::string_view& taken) {
    std::size_t const index = text.find(separator);
    if (index == std::string_view::npos) return false;
    taken = text.substr(0, index);
    text.remove_prefix(index + 1);
    return true;
}

} // namespace detail

SETTLE_FUNCTION std::string prepared_prefix(std::string_view log) {
    return std::string{"settle/"}.append(log).append("/");
}

SETTLE_FUNCTION std::string prepared_part::text() const {
    std::string text = prepared_prefix(log);
    text.append(std::to_string(part.participant)).append(".").append(std::to_string(part.line));
    return text.append("/").append(id).append("/");
}

SETTLE_FUNCTION std::string prepared_name::text() const {
    return of.text() + std::to_string(epoch_number);
}

SETTLE_FUNCTION std::optional<prepared_name> read_prepared_name(std::string_view text) {
    prepared_name name;
    std::string_view begin;
    std::string_view log;
    std::string_view participant;
    std::string_view line;
    bool const begun = detail::take_until('/', text, begin) && begin == "settle" &&
                       detail::take_until('/', text, log) &&
                       detail::take_until('.', text, participant) &&
                       detail::take_until('/', text, line);
    // The id may hold a '/', and the epoch does not.
    std::size_t const last = text.rfind('/');
    if (!begun || log.empty() || last == std::string_view::npos || last == 0 ||
        !detail::read_number(participant, name.of.part.participant) ||
        !detail::read_number(line, name.of.part.line) ||
        !detail::read_number(text.substr(last + 1), name.epoch_number)) {
        return std::nullopt;
    }
    name.of.log = log;
    name.of.id = text.substr(0, last);
    return name;
}

SETTLE_END
