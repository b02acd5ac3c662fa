// SPDX-License-Identifier: BSL-1.0
// The codec of SQLite's marks, for marks that have the type of their record.
#pragma once

#include <settle/adapter/mark_columns.hpp>

namespace settle_test {

template <settle::Described Record>
[[nodiscard]] settle::detail::mark_columns encode_mark(settle::mark<Record> const& from) {
    settle::detail::mark_columns made;
    settle::detail::encode_mark(settle::detail::descriptor_of_record<Record>,
                                settle::detail::record_type_functions<Record>::view_of(from), made);
    return made;
}

/// Shape:   record - the record under the mark, if there is one; into - gets the effect alone
/// Errors:  errc::damaged, as settle::detail::decode_mark
template <settle::Described Record>
[[nodiscard]] settle::error decode_mark(settle::detail::mark_columns const& from,
                                        std::optional<Record> record, settle::mark<Record>& into) {
    settle::detail::mark_data read;
    auto problem = settle::detail::decode_mark(settle::detail::descriptor_of_record<Record>, from,
                                               record ? &*record : nullptr, read);
    settle::detail::record_type_functions<Record>::fill(into, std::move(read));
    return problem;
}

} // namespace settle_test
