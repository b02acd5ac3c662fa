// SPDX-License-Identifier: BSL-1.0
// A record inside a native transaction, and the rows in which records and their marks go into SQL.
#pragma once

#include <settle/sqlite/connection/row.hpp>
#include <settle/sqlite/records/key_order.hpp>
#include <settle/sqlite/records/mark_bounds.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::any_slot;
using settle::detail::mark_columns;
using settle::detail::mark_data;
using settle::detail::record_changes;

/// Shape:   one aggregate mark with an empty id represents the unread marks in the slot; it blocks
///          an apply like all of them together
struct record_state {
    /// A record with more marks than `many` has bounds, and loses them when `few` are left.
    static constexpr std::size_t many = 32;
    static constexpr std::size_t few = 16;

    record_state(record_descriptor const& descriptor, part_key const& of_record)
        : key(settle::detail::owned(of_record)), slot(descriptor) {}

    key_value key;
    any_slot slot;
    bool loaded = false;      ///< the record equals its row
    bool knows_marks = false; ///< all marks are in the slot, some perhaps as the aggregate mark
    bool looked_for_bounds = false; ///< `has_bounds` is known
    bool has_bounds = false;
    bool writes_bounds = false; ///< its bounds are yet to be written
    std::int64_t unseen = 0;    ///< marks that the aggregate mark represents
    std::uint64_t changed = 0;  ///< members to be written

    [[nodiscard]] part_key view() const { return settle::detail::view_of(key); }

    /// Takes the bounds of all marks, of which some may be in the slot already.
    void know(std::string_view collection, mark_bounds of_all) {
        slot.for_each_mark(
            [&](mark_view const& mark) { expect(collection, of_all.take_out(mark)); });
        has_bounds = knows_marks = true;
        set_aggregate(std::move(of_all));
    }

    /// Takes a mark that was read. The same mark may be read twice.
    void see(std::string_view collection, mark_data mark) {
        transaction_id const id = mark.id;
        part_number const part = mark.part;
        if (slot.has_mark(id, part)) return;
        if (unseen == 0) return slot.insert(std::move(mark));
        mark_bounds others = unseen_bounds();
        slot.erase({}, {});
        slot.insert(std::move(mark));
        expect(collection, others.take_out(*slot.find(id, part)));
        set_aggregate(std::move(others));
    }

    /// The bounds of all current marks, to be stored; empty if there are few marks, or if a bound
    /// is out of range.
    [[nodiscard]] mark_bounds to_keep() const {
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

    /// True if its marks have bounds, or must get them. False also if the slot lacks some of the
    /// marks: their number is unknown then.
    [[nodiscard]] bool needs_bounds() const {
        return has_bounds || (knows_marks && slot.count_marks() > many);
    }

    /// Notes that the bounds were written.
    void wrote(mark_bounds const& kept) {
        writes_bounds = false;
        has_bounds = kept.marks > 0;
        if (has_bounds || unseen == 0) return;
        // Without bounds the unread marks must be read.
        slot.erase({}, {});
        unseen = 0;
        knows_marks = false;
    }

private:
    [[nodiscard]] mark_bounds unseen_bounds() const {
        auto const all = *slot.find({}, {});
        return {
            unseen, {all.confirm.begin(), all.confirm.end()}, {all.undo.begin(), all.undo.end()}};
    }
    void set_aggregate(mark_bounds others) {
        unseen = others.marks;
        if (unseen == 0) return;
        slot.insert({{}, {}, 0, std::move(others.least), std::move(others.most), nullptr});
    }
    void expect(std::string_view collection, bool fits) const {
        if (!fits) {
            bounds_table::damaged(collection, shown(view()),
                                  "it does not fit the marks of the record");
        }
    }
};

/// Records, or marks of them, as rows of a wave.
class mark_rows {
public:
    mark_rows(std::vector<record_state>& records, std::vector<in_order> const& writes)
        : records_(records), writes_(writes) {}

    [[nodiscard]] std::size_t size() const noexcept { return writes_.size(); }

    /// Columns:  key, index, id, participant, line, epoch, effect, confirm, undo, image
    void give(cell to, std::size_t row, int column) {
        auto const& write = writes_[row];
        switch (column) {
        case 0: return give_key(to, records_[write.index].view());
        case 1: return to.give(static_cast<std::int64_t>(write.index));
        case 2: return to.give(std::string_view{*write.id});
        case 3: return to.give(std::int64_t{write.part.participant});
        case 4: return to.give(std::int64_t{write.part.line});
        case 5: return to.give(static_cast<std::int64_t>(encode(row)));
        case 6: return to.give(columns_.effect);
        case 7: return give_text(to, columns_.confirm);
        case 8: return give_text(to, columns_.undo);
        default: return give_text(to, columns_.image);
        }
    }

    /// True if the next mark belongs to this row.
    /// Shape:   row - key, id, participant, line; the rows come in this order, as the marks do
    [[nodiscard]] bool execute(columns row) {
        for (; next_ < writes_.size(); ++next_) {
            auto const& write = writes_[next_];
            auto const order = order_of(write, row);
            if (order > 0) return false;
            if (order == 0) return true;
        }
        return false;
    }

    /// Calls `function(key, id, part)` for each mark.
    template <typename Function>
    void for_each(Function&& function) const {
        for (auto const& one : writes_) {
            function(records_[one.index].view(), *one.id, one.part);
        }
    }

private:
    /// Compares a mark with a row: below 0 if the mark comes before the row.
    [[nodiscard]] int order_of(in_order const& in_order, columns row) const {
        if (auto const order = compare_key(row, records_[in_order.index].view(), 0); order != 0) {
            return order;
        }
        if (auto const order = row.compare(*in_order.id, 1); order != 0) return order;
        auto const participant = std::int64_t{in_order.part.participant};
        if (auto const order = row.compare(participant, 2); order != 0) return order;
        return row.compare(std::int64_t{in_order.part.line}, 3);
    }

    static void give_text(cell to, std::string_view text) {
        if (!text.empty()) to.give(text);
    }
    /// Encodes the mark of a row, once: its other columns are given after its epoch.
    epoch encode(std::size_t row) {
        auto const& write = writes_[row];
        any_slot const& slot = records_[write.index].slot;
        auto const found = slot.find(*write.id, write.part);
        settle::detail::encode_mark(slot.of(), *found, columns_);
        return found->epoch_number;
    }

    std::vector<record_state>& records_;
    std::vector<in_order> const& writes_;
    mark_columns columns_{};
    std::size_t next_ = 0; ///< the marks before it are of earlier rows
};

/// Bounds of records as rows of a wave.
class bound_rows {
public:
    bound_rows(std::vector<record_state>& records, std::vector<in_order> const& writes)
        : records_(records), writes_(writes) {}

    [[nodiscard]] std::size_t size() const noexcept { return writes_.size(); }

    /// Columns:  key, index, marks or 0, least, most
    void give(cell to, std::size_t row, int column) {
        record_state const& state = records_[writes_[row].index];
        switch (column) {
        case 0: return give_key(to, state.view());
        case 1: return to.give(static_cast<std::int64_t>(writes_[row].index));
        case 2: return to.give(state.to_keep().marks);
        case 3: return give_sums(to, state.slot.of(), state.to_keep().least);
        default: return give_sums(to, state.slot.of(), state.to_keep().most);
        }
    }

private:
    void give_sums(cell to, record_descriptor const& descriptor,
                   std::vector<std::int64_t> const& sums) {
        if (sums.empty()) return;
        encode_deltas(text_, descriptor, sums);
        if (!text_.empty()) to.give_copy(text_);
    }

    std::vector<record_state>& records_;
    std::vector<in_order> const& writes_;
    std::string text_;
};

} // namespace sqlite::detail
SETTLE_END
