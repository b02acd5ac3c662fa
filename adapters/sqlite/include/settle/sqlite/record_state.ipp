// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_state.hpp declares.
#pragma once

#include <settle/sqlite/record_state.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void record_state::know(std::string_view collection, mark_bounds of_all) {
    slot.for_each_mark([&](mark_view const& one) { expect(collection, of_all.take_out(one)); });
    has_bounds = knows_marks = true;
    stand_for(std::move(of_all));
}

SETTLE_FUNCTION void record_state::see(std::string_view collection, mark_data found) {
    transaction_id const id = found.id;
    part_number const part = found.part;
    if (slot.has_mark(id, part)) return;
    if (unseen == 0) return slot.insert(std::move(found));
    mark_bounds others = unseen_bounds();
    slot.erase({}, {});
    slot.insert(std::move(found));
    expect(collection, others.take_out(*slot.find(id, part)));
    stand_for(std::move(others));
}

SETTLE_FUNCTION mark_bounds record_state::to_keep() const {
    mark_bounds kept;
    std::size_t const as_one = unseen > 0 ? 1 : 0;
    auto const count = static_cast<std::size_t>(unseen) + slot.count_marks() - as_one;
    if (count <= (has_bounds ? few : many) || slot.any_exclusive()) return {};
    kept.marks = static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < slot.of().integers; ++i) {
        settle::detail::wide least = 0;
        settle::detail::wide most = 0;
        slot.reach(i, least, most);
        kept.least.push_back(static_cast<std::int64_t>(least));
        kept.most.push_back(static_cast<std::int64_t>(most));
        if (kept.least[i] != least || kept.most[i] != most) return {};
    }
    return kept;
}

SETTLE_FUNCTION void record_state::wrote(mark_bounds const& kept) {
    writes_bounds = false;
    has_bounds = kept.marks > 0;
    if (has_bounds || unseen == 0) return;
    // Without bounds the unread marks must be read.
    slot.erase({}, {});
    unseen = 0;
    knows_marks = false;
}

SETTLE_FUNCTION mark_bounds record_state::unseen_bounds() const {
    auto const all = *slot.find({}, {});
    return {unseen, {all.confirm.begin(), all.confirm.end()}, {all.undo.begin(), all.undo.end()}};
}

SETTLE_FUNCTION void record_state::stand_for(mark_bounds others) {
    unseen = others.marks;
    if (unseen == 0) return;
    slot.insert({{}, {}, 0, std::move(others.least), std::move(others.most), nullptr});
}

SETTLE_FUNCTION void record_state::expect(std::string_view collection, bool fits) const {
    if (!fits) {
        bounds_table::damaged(collection, shown(view()), "it does not fit the marks of the record");
    }
}

SETTLE_FUNCTION void mark_rows::give(cell to, std::size_t row, int column) {
    auto const& one = writes_[row];
    switch (column) {
    case 0: return give_key(to, records_[one.index].view());
    case 1: return to.give(static_cast<std::int64_t>(one.index));
    case 2: return to.give(std::string_view{*one.id});
    case 3: return to.give(std::int64_t{one.part.participant});
    case 4: return to.give(std::int64_t{one.part.line});
    case 5: return to.give(static_cast<std::int64_t>(encoded(row).epoch_number));
    case 6: return to.give(columns_.effect);
    case 7: return give_text(to, columns_.confirm);
    case 8: return give_text(to, columns_.undo);
    default: return give_text(to, columns_.image);
    }
}

SETTLE_FUNCTION bool mark_rows::execute(columns row) {
    for (; next_ < writes_.size(); ++next_) {
        auto const& one = writes_[next_];
        auto const behind = order_of(one, row);
        if (behind > 0) return false;
        if (behind == 0) return true;
    }
    return false;
}

SETTLE_FUNCTION int mark_rows::order_of(in_order const& one, columns row) const {
    if (auto const order = compare_key(row, records_[one.index].view(), 0); order != 0) {
        return order;
    }
    if (auto const order = row.compare(*one.id, 1); order != 0) return order;
    auto const participant = std::int64_t{one.part.participant};
    if (auto const order = row.compare(participant, 2); order != 0) return order;
    return row.compare(std::int64_t{one.part.line}, 3);
}

SETTLE_FUNCTION mark_view mark_rows::encoded(std::size_t row) {
    auto const& one = writes_[row];
    any_slot const& slot = records_[one.index].slot;
    auto const found = *slot.find(*one.id, one.part);
    encode_mark(slot.of(), found, columns_);
    return found;
}

SETTLE_FUNCTION void bound_rows::give(cell to, std::size_t row, int column) {
    record_state const& at = records_[writes_[row].index];
    switch (column) {
    case 0: return give_key(to, at.view());
    case 1: return to.give(static_cast<std::int64_t>(writes_[row].index));
    case 2: return to.give(at.to_keep().marks);
    case 3: return give_sums(to, at.slot.of(), at.to_keep().least);
    default: return give_sums(to, at.slot.of(), at.to_keep().most);
    }
}

SETTLE_FUNCTION void bound_rows::give_sums(cell to, record_descriptor const& of,
                                           std::vector<std::int64_t> const& sums) {
    if (sums.empty()) return;
    encode_deltas(text_, of, sums);
    if (!text_.empty()) to.give_copy(text_);
}

} // namespace sqlite::detail
SETTLE_END
