// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bare_mark.hpp declares.
#pragma once

#include <settle/mongodb/tutorial/bare_mark.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

[[nodiscard]] SETTLE_FUNCTION bool holds_bare_mark(record_state const& state,
                                                   transaction_id const& id) {
    return std::find(state.bare.begin(), state.bare.end(), id) != state.bare.end();
}

/// Undoes the effect of a bare mark that was removed from the list.
SETTLE_FUNCTION void undo_bare_mark(record_state& state, collection_descriptor const& descriptor,
                                    mark_data taken) {
    auto const member =
        settle::detail::member_out_of_range(*descriptor.record, state.slot.record(), taken);
    if (!member.empty()) {
        throw failure(damaged_record(descriptor, state.key,
                                     "it would take '" + std::string{member} +
                                         "' out of its range to undo a mark of another program"));
    }
    // No mark has an empty id, so the effect does not replace the mark of the same part.
    taken.id.clear();
    part_number const part = taken.part;
    state.slot.insert(std::move(taken));
    state.changed |= state.slot.resolve({}, part, false).fields;
    state.rewritten = true;
}

SETTLE_FUNCTION void bare_marks::adopt(record_state& state, collection_descriptor const& descriptor,
                                       part_request const& request) const {
    if (!holds_bare_mark(state, *request.id)) return;
    auto taken = take(state, descriptor, request, false);
    state.bare_replaced = true;
    if (!state.slot.has_mark(*request.id, request.part)) state.slot.insert(std::move(taken));
    // Where a mark of settle is there already, the other program's late addition has taken effect
    // a second time. A late assignment has not.
    else if (taken.exclusive) state.rewritten = true;
    else undo_bare_mark(state, descriptor, std::move(taken));
}

SETTLE_FUNCTION answer bare_marks::raise(record_table& table, part_request const& request) const {
    record_state& state = table.next_usable();
    adopt(state, table.of(), request);
    auto const mark = state.slot.find(*request.id, request.part);
    if (!mark) return answer::nothing;
    epoch const under = request.epoch_number;
    if (mark->epoch_number > under) return answer::fenced;
    state.rewritten = state.rewritten || mark->epoch_number < under;
    state.slot.raise(*request.id, request.part, under);
    return answer::applied;
}

SETTLE_FUNCTION answer bare_marks::pull(record_table& table, part_request const& request,
                                        bool committed, bool confirmed) const {
    record_state& state = table.next_usable();
    if (!holds_bare_mark(state, *request.id)) return answer::nothing;
    auto taken = take(state, table.of(), request, committed || confirmed);
    if (!confirmed && (!taken.exclusive || !committed)) {
        undo_bare_mark(state, table.of(), std::move(taken));
    }
    state.rewritten = true;
    return answer::applied;
}

SETTLE_FUNCTION mark_data bare_marks::take(record_state& state,
                                           collection_descriptor const& descriptor,
                                           part_request const& request, bool committed) const {
    transaction_id const& id = *request.id;
    std::vector<std::int64_t> const none(descriptor.record->integers);
    mark_data taken{id, request.part, 0, none, none};
    std::string problem = read_(request, state.slot.record(), taken);
    bool const alone = std::all_of(state.bare.begin(), state.bare.end(),
                                   [&](std::string const& other) { return other == id; });
    if (taken.exclusive && !alone) {
        problem = "other transactions of such programs have left marks there, too, so the earlier "
                  "value is unknown";
    }
    if (!problem.empty() && !committed) {
        throw failure({make_error_code(errc::damaged),
                       "settle: " + name_of_record(descriptor, state.key) +
                           " has a mark of the transaction '" + id + "' of another program: " +
                           problem + ". Finish it by hand. See mongodb#coming-from-the-tutorial"});
    }
    // A repeated assignment has one effect; each repeated addition has its own mark.
    if (taken.exclusive) std::erase(state.bare, id);
    else state.bare.erase(std::find(state.bare.begin(), state.bare.end(), id));
    return taken;
}

} // namespace mongodb::detail

SETTLE_END
