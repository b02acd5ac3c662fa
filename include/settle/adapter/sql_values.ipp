// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sql_values.hpp declares.
#pragma once

#include <settle/adapter/sql_values.hpp>

#include <charconv>

SETTLE_BEGIN

SETTLE_FUNCTION std::int64_t sql_rows::integer(std::size_t index, std::size_t column) const {
    auto const& value = all_.at(index).at(column);
    std::int64_t number = 0;
    if (value) {
        auto const* const end = value->data() + value->size();
        auto const read = std::from_chars(value->data(), end, number);
        if (read.ec == std::errc{} && read.ptr == end) return number;
    }
    throw failure({make_error_code(errc::damaged),
                   "settle: column " + std::to_string(column) +
                       " of a result is no integer: " + value.value_or("NULL") +
                       ". Read it as a text, or cast it in the statement"});
}

SETTLE_END
