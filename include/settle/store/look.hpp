// SPDX-License-Identifier: BSL-1.0
// A look of a store at one record: one atomic read of the record and all its marks.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/store/any_record.hpp>

#include <map>

SETTLE_BEGIN

/// What a look has seen.
struct record_look {
    record_slot<detail::any_record> slot{}; ///< the record, if there is one, and all its marks
    bool has_entries = false;               ///< the same atomic read was at the log, too
    /// Then: the entries of the marks, without those of which there is none.
    std::map<transaction_id, standing> entries{};
};

/// A record and its marks without their C++ type.
template <Described Record>
[[nodiscard]] record_slot<detail::any_record> without_type(record_slot<Record> const& typed) {
    using detail::any_record;
    auto const& of = detail::descriptor_of_record<Record>;
    record_slot<any_record> slot;
    if (typed.record) slot.record.emplace(of, &*typed.record);
    for (auto const& from : typed.marks) {
        mark<any_record> copy{from.id, from.part, from.epoch_number};
        copy.confirm_delta.assign(from.confirm_delta.begin(), from.confirm_delta.end());
        copy.undo_delta.assign(from.undo_delta.begin(), from.undo_delta.end());
        if (from.is_exclusive()) {
            auto const& effect = *from.exclusive;
            copy.exclusive =
                std::make_shared<exclusive_effect<any_record>>(exclusive_effect<any_record>{
                    any_record{of, &effect.undone}, any_record{of, &effect.confirmed},
                    effect.undo_fields, effect.confirm_fields, effect.created, effect.erases,
                    effect.image});
        }
        slot.marks.insert(std::move(copy));
    }
    return slot;
}

SETTLE_END
