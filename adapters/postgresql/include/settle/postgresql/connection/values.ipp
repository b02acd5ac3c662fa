// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that values.hpp declares.
#pragma once

#include <settle/postgresql/connection/values.hpp>

#include <charconv>
#include <cstring>

SETTLE_BEGIN
namespace postgresql::detail {

/// Where the header of an array has the number of its elements, and where it ends.
inline constexpr std::size_t array_count_at = 12;
inline constexpr std::size_t array_header = 20;

SETTLE_FUNCTION array_value::array_value(value_type value) {
    append_number(bytes_, std::int32_t{1}); // dimensions
    append_number(bytes_, std::int32_t{0}); // whether an element is NULL; the server counts itself
    append_number(bytes_, static_cast<std::int32_t>(value));
    append_number(bytes_, std::int32_t{0}); // the number of elements
    append_number(bytes_, std::int32_t{1}); // the index of the first element
}

SETTLE_FUNCTION array_value& array_value::add(std::nullptr_t) {
    append_number(bytes_, std::int32_t{-1});
    return counted();
}

SETTLE_FUNCTION array_value& array_value::counted() {
    auto const count = static_cast<std::uint32_t>(++count_);
    for (std::size_t at = 0; at < 4; ++at) {
        bytes_[array_count_at + at] = static_cast<char>(count >> (24 - 8 * at) & 0xffU);
    }
    return *this;
}

SETTLE_FUNCTION std::string_view array_value::elements() const noexcept {
    return bytes().substr(array_header);
}

SETTLE_FUNCTION void column_values::bind_value(parameters& to) const noexcept {
    auto const value = all_.elements().substr(0, first_);
    constexpr std::size_t length = 4;
    if (number_at<std::int32_t>(value.data()) < 0) to.bind(nullptr);
    else to.bind(value.substr(length));
}

SETTLE_FUNCTION parameters& parameters::set(char const* bytes, std::size_t size) noexcept {
    // A null pointer would mean NULL instead of an empty text.
    borrowed_[count_] = bytes == nullptr ? "" : bytes;
    lengths_[count_++] = static_cast<int>(size);
    return *this;
}

SETTLE_FUNCTION parameters& parameters::bind(std::int64_t value) noexcept {
    auto const bits = static_cast<std::uint64_t>(value);
    for (std::size_t at = 0; at < 8; ++at) {
        numbers_[count_][at] = static_cast<char>(bits >> (56 - 8 * at) & 0xffU);
    }
    borrowed_[count_] = nullptr;
    lengths_[count_++] = 8;
    return *this;
}

SETTLE_FUNCTION parameters& parameters::bind(bool value) noexcept {
    return set(value ? "\1" : "\0", 1);
}

SETTLE_FUNCTION parameters& parameters::bind(std::nullptr_t) noexcept {
    borrowed_[count_] = nullptr;
    lengths_[count_++] = -1;
    return *this;
}

SETTLE_FUNCTION std::array<char const*, parameters::most> parameters::values() const noexcept {
    auto pointers = borrowed_;
    for (std::size_t at = 0; at < count_; ++at) {
        if (pointers[at] == nullptr && lengths_[at] >= 0) pointers[at] = numbers_[at].data();
    }
    return pointers;
}

SETTLE_FUNCTION parameters parameters::of_one_row() const noexcept {
    auto values = *this;
    for (std::size_t index = 0; index < count_; ++index) {
        if (!arrays_.test(index)) continue;
        char const* const element = borrowed_[index] + array_header;
        values.lengths_[index] = number_at<std::int32_t>(element);
        values.borrowed_[index] =
            values.lengths_[index] < 0 ? nullptr : element + sizeof(std::int32_t);
    }
    values.arrays_.reset();
    values.wave_size_ = 0;
    return values;
}

SETTLE_FUNCTION std::int64_t rows::changed() const noexcept {
    std::string_view const text{PQcmdTuples(native())};
    std::int64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

SETTLE_FUNCTION std::int64_t rows::integer(int row, int column) const noexcept {
    char const* const bytes = PQgetvalue(native(), row, column);
    switch (PQgetlength(native(), row, column)) {
    case 8: return number_at<std::int64_t>(bytes);
    case 4: return number_at<std::int32_t>(bytes);
    case 2: return number_at<std::int16_t>(bytes);
    default: return 0;
    }
}

SETTLE_FUNCTION bool rows::boolean(int row, int column) const noexcept {
    return PQgetlength(native(), row, column) == 1 && *PQgetvalue(native(), row, column) != 0;
}

SETTLE_FUNCTION double rows::real(int row, int column) const noexcept {
    return std::bit_cast<double>(integer(row, column));
}

} // namespace postgresql::detail
SETTLE_END
