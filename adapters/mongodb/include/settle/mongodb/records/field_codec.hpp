// SPDX-License-Identifier: BSL-1.0
// Members of described structs as values of documents, in the forms that other programs use.
//
//   integer, enum   int64; read from int32, int64, or a double without a fraction
//   decimal         Decimal128; read from a whole number, too
//   bool            bool
//   std::string     string
//   time            date where its unit is a millisecond or longer; else int64, the count of its
//                   unit. Read from either
//   std::optional   null, or its value; read from null or nothing
//   struct, vector  document, array; fields that the struct does not name are passed over
#pragma once

#include <settle/mongodb/connection/bson.hpp>
#include <settle/store/record_descriptor.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::member_access;
using settle::detail::member_descriptor;
using milliseconds = std::chrono::milliseconds;

/// A count of units as a decimal with so many places: `-12.34`.
[[nodiscard]] std::string decimal_text(std::int64_t units, int places);

/// Reads a decimal as the library prints it: `-12.34`, `1E+3`, `NaN`.
/// Returns: false when it is not a whole number of units, or too large for them
[[nodiscard]] bool read_decimal_text(std::string_view text, int places, std::int64_t& units);

/// Appends a value as a field of a document.
void append_value(document& to, std::string_view name, member_access const& access,
                  void const* value);
/// Reads a value. Returns why the field does not fit it; empty when it was read.
[[nodiscard]] std::string_view read_value(value_view const& from, member_access const& access,
                                          void* value);

/// The same for the value of a member, which may be a decimal.
void append_member(document& to, std::string_view name, member_descriptor const& member,
                   void const* value);
[[nodiscard]] std::string_view read_member(value_view const& from, member_descriptor const& member,
                                           void* value);

template <typename Field>
void append_field(document& to, std::string_view name, Field const& value) {
    append_value(to, name, settle::detail::access_to<Field>, &value);
}
template <typename Field>
[[nodiscard]] std::string_view read_field(value_view const& from, Field& into) {
    return read_value(from, settle::detail::access_to<Field>, &into);
}

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/records/field_codec.ipp>
#endif
