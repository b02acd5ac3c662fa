// SPDX-License-Identifier: BSL-1.0
// A record as it stands inside a native transaction, and how records and their marks go into SQL.
#pragma once

#include <settle/sqlite/key_order.hpp>
#include <settle/sqlite/mark_bounds.hpp>
#include <settle/sqlite/row.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// Shape:   unread marks are represented in the slot by one aggregate mark with an empty id; it
///          blocks an apply as all of them do
struct record_state {
    /// A record with more marks than `many` has bounds, and loses them when `few` are left.
    static constexpr std::size_t many = 32;
    static constexpr std::size_t few = 16;

    record_state(record_descriptor const& of, part_key const& of_record)
        : key(settle::detail::owned(of_record)), slot(of) {}

    key_value key;
    any_slot slot;
    bool loaded = false;       ///< the record equals its row
    bool knows_marks = false;  ///< all marks are in the slot, some perhaps as the aggregate mark
    bool asked_bounds = false; ///< whether it has bounds is known
    bool has_bounds = false;
    bool writes_bounds = false; ///< they are yet to be written
    std::int64_t unseen = 0;    ///< marks that the aggregate mark represents
    std::uint64_t changed = 0;  ///< members to be written

    [[nodiscard]] part_key view() const { return settle::detail::view_of(key); }

    /// Takes the bounds of all marks, of which some may be in the slot already.
    void know(std::string_view collection, mark_bounds of_all);

    /// Takes a mark that was read. The same mark may be read twice.
    void see(std::string_view collection, mark_data found);

    /// The bounds to be kept of all marks as they are now; none where there are few marks, or where
    /// a sum of them is out of range.
    [[nodiscard]] mark_bounds to_keep() const;

    /// True if its marks have bounds, or are to have them. A state that knows only some of the
    /// marks cannot tell.
    [[nodiscard]] bool needs_bounds() const {
        return has_bounds || (knows_marks && slot.count_marks() > many);
    }

    /// The bounds are written now.
    void wrote(mark_bounds const& kept);

private:
    [[nodiscard]] mark_bounds unseen_bounds() const;
    void stand_for(mark_bounds others);
    void expect(std::string_view collection, bool fits) const;
};

/// Records, or marks of them, as rows of a wave.
class mark_rows {
public:
    mark_rows(std::vector<record_state>& records, std::vector<in_order> const& writes)
        : records_(records), writes_(writes) {}

    [[nodiscard]] std::size_t size() const noexcept { return writes_.size(); }

    /// Columns:  key, place, id, participant, line, epoch, effect, confirm, undo, image
    void give(cell to, std::size_t row, int column);

    /// True if the next mark belongs to this row.
    /// Shape:   row - key, id, participant, line; rows come in their order, and the marks, too
    [[nodiscard]] bool execute(columns row);

    /// Calls `function(key, id, part)` for each.
    template <typename Function>
    void for_each(Function&& function) const {
        for (auto const& one : writes_) {
            function(records_[one.index].view(), *one.id, one.part);
        }
    }

private:
    /// Where a mark stands beside a row: below 0 it comes before it.
    [[nodiscard]] int order_of(in_order const& one, columns row) const;

    static void give_text(cell to, std::string_view text) {
        if (!text.empty()) to.give(text);
    }
    /// Encodes the mark of a row, once: its other columns are given after its epoch.
    mark_view encoded(std::size_t row);

    std::vector<record_state>& records_;
    std::vector<in_order> const& writes_;
    mark_columns columns_{};
    std::size_t next_ = 0; ///< none before it is of a row to come
};

/// Bounds of records as rows of a wave.
class bound_rows {
public:
    bound_rows(std::vector<record_state>& records, std::vector<in_order> const& writes)
        : records_(records), writes_(writes) {}

    [[nodiscard]] std::size_t size() const noexcept { return writes_.size(); }

    /// Columns:  key, place, marks or 0, least, most
    void give(cell to, std::size_t row, int column);

private:
    void give_sums(cell to, record_descriptor const& of, std::vector<std::int64_t> const& sums);

    std::vector<record_state>& records_;
    std::vector<in_order> const& writes_;
    std::string text_;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/record_state.ipp>
#endif
