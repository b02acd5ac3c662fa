// SPDX-License-Identifier: BSL-1.0
// The codec of marks as columns, for marks that have the type of their record.
#pragma once

#include <settle/adapter/mark_columns.hpp>

namespace settle_test {

template <settle::Described Record>
[[nodiscard]] settle::detail::mark_columns encode_mark(settle::mark<Record> const& from) {
    settle::detail::mark_view view{&from.id, from.part, from.epoch_number, from.confirm_delta,
                                   from.undo_delta};
    if (from.exclusive) {
        auto const& effect = *from.exclusive;
        view.is_exclusive = true;
        view.exclusive = {&effect.undone,        &effect.confirmed, effect.undo_fields,
                          effect.confirm_fields, effect.created,    effect.erases,
                          effect.image};
    }
    settle::detail::mark_columns made;
    settle::detail::encode_mark(settle::detail::descriptor_of_record<Record>, view, made);
    return made;
}

/// Shape:   record - the record under the mark, if there is one; into - gets the effect alone
/// Errors:  errc::damaged, as settle::detail::decode_mark
template <settle::Described Record>
[[nodiscard]] settle::error decode_mark(settle::detail::mark_columns const& from,
                                        std::optional<Record> record, settle::mark<Record>& into) {
    using namespace settle::detail;
    mark_data read;
    auto problem =
        decode_mark(descriptor_of_record<Record>, from, record ? &*record : nullptr, read);
    std::copy(read.confirm.begin(), read.confirm.end(), into.confirm_delta.begin());
    std::copy(read.undo.begin(), read.undo.end(), into.undo_delta.begin());
    if (!read.exclusive) return problem;
    auto const& effect =
        *static_cast<settle::exclusive_effect<any_record> const*>(read.exclusive.get());
    auto const typed = [](any_record const& kept) {
        return *static_cast<Record const*>(kept.get());
    };
    into.exclusive =
        std::make_shared<settle::exclusive_effect<Record>>(settle::exclusive_effect<Record>{
            typed(effect.undone), typed(effect.confirmed), effect.undo_fields,
            effect.confirm_fields, effect.created, effect.erases, effect.image});
    return problem;
}

} // namespace settle_test
