// SPDX-License-Identifier: BSL-1.0
// The effect of a mark on its record, as the columns of its row: readable JSON.
// adapter/mark_effect.hpp shows the effects.
#pragma once

#include <settle/adapter/mark_effect.hpp>

SETTLE_BEGIN
namespace detail {

/// The columns of a mark's effect. An empty column is NULL.
struct mark_columns {
    std::string_view effect{};
    std::string confirm{};
    std::string undo{};
    std::string image{};
};

/// Shape:   deltas - one for each integer member
void encode_deltas(std::string& out, record_descriptor const& descriptor,
                   std::span<std::int64_t const> deltas);

[[nodiscard]] error decode_deltas(record_descriptor const& descriptor, std::string_view text,
                                  std::vector<std::int64_t>& deltas);

/// Shape:   into - may hold the columns of another mark; their memory is reused
void encode_mark(record_descriptor const& descriptor, mark_view const& from, mark_columns& into);

/// Reads the columns that encode_mark wrote.
/// Shape:   record - the record under the mark, or null; an exclusive effect keeps only the members
///          that it changes, and no other transaction changes the other members before the mark
///          ends
/// Errors:  errc::damaged, with the position in the JSON, or the member whose range a sum would
///          leave
[[nodiscard]] error decode_mark(record_descriptor const& descriptor, mark_columns const& from,
                                void* record, mark_data& into);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/mark_columns.ipp>
#endif
