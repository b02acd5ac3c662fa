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
template <typename Collection>
struct record_state {
    using record_type = typename Collection::record_type;
    using mark_type = mark<record_type>;
    using bounds = mark_bounds<record_type>;
    using stored_key = std::conditional_t<std::is_same_v<key_view<Collection>, std::string_view>,
                                          std::string, std::int64_t>;

    /// A record with more marks than `many` has bounds, and loses them when `few` are left.
    static constexpr std::size_t many = 32;
    static constexpr std::size_t few = 16;

    stored_key key{};
    record_slot<record_type> slot{};
    bool loaded = false;       ///< the record equals its row
    bool knows_marks = false;  ///< all marks are in the slot, some perhaps as the aggregate mark
    bool asked_bounds = false; ///< whether it has bounds is known
    bool has_bounds = false;
    bool writes_bounds = false; ///< they are yet to be written
    std::int64_t unseen = 0;    ///< marks that the aggregate mark represents
    std::uint64_t changed = 0;  ///< members to be written

    /// Marks of which some may be in the slot already.
    void know(bounds of_all) {
        for (auto const& one : slot.marks) expect(of_all.take_out(one));
        has_bounds = knows_marks = true;
        stand_for(of_all);
    }

    /// One of the marks is read; the same twice is one.
    void see(mark_type found) {
        if (slot.marks.find(found.id, found.part) != nullptr) return;
        if (unseen > 0) {
            bounds others = unseen_bounds();
            expect(others.take_out(found));
            slot.marks.erase(slot.marks.find({}, {}));
            slot.marks.insert(std::move(found));
            stand_for(others);
        } else {
            slot.marks.insert(std::move(found));
        }
    }

    /// The bounds to be kept of all marks as they are now: of none where they are few, or where a
    /// sum of them is out of range.
    [[nodiscard]] bounds to_keep() const {
        bounds kept;
        std::size_t const as_one = unseen > 0 ? 1 : 0;
        auto const count = static_cast<std::size_t>(unseen) + slot.marks.size() - as_one;
        if (count <= (has_bounds ? few : many) || slot.marks.any_exclusive()) return {};
        kept.marks = static_cast<std::int64_t>(count);
        for (std::size_t i = 0; i < integer_count<record_type>; ++i) {
            auto const least = slot.marks.low(i);
            auto const most = slot.marks.high(i);
            kept.least[i] = static_cast<std::int64_t>(least);
            kept.most[i] = static_cast<std::int64_t>(most);
            if (kept.least[i] != least || kept.most[i] != most) return {};
        }
        return kept;
    }

    /// Whether its marks have bounds, or are to have them: who knows some of them cannot say.
    [[nodiscard]] bool needs_bounds() const {
        return has_bounds || (knows_marks && slot.marks.size() > many);
    }

    /// They are written now.
    void wrote(bounds const& kept) {
        writes_bounds = false;
        has_bounds = kept.marks > 0;
        if (has_bounds || unseen == 0) return;
        // Without bounds the unread marks must be read.
        slot.marks.erase(slot.marks.find({}, {}));
        unseen = 0;
        knows_marks = false;
    }

private:
    [[nodiscard]] bounds unseen_bounds() const {
        auto const& all = *slot.marks.find({}, {});
        return {unseen, all.confirm_delta, all.undo_delta};
    }
    void stand_for(bounds const& others) {
        unseen = others.marks;
        if (unseen == 0) return;
        mark_type all;
        all.confirm_delta = others.least;
        all.undo_delta = others.most;
        slot.marks.insert(std::move(all));
    }
    void expect(bool fits) const {
        if (!fits) {
            bounds_table<Collection>::damaged(shown(key_view<Collection>(key)),
                                              "it does not fit the marks of the record");
        }
    }
};

/// Records, or marks of them, as rows of a wave.
template <typename Collection>
class mark_rows {
public:
    using state_type = record_state<Collection>;
    using key_type = key_view<Collection>;

    mark_rows(std::vector<state_type>& records, std::vector<in_order> const& writes)
        : records_(records), writes_(writes) {}

    [[nodiscard]] std::size_t size() const noexcept { return writes_.size(); }

    /// Columns:  key, place, id, participant, line, epoch, effect, confirm, undo, image
    void give(cell to, std::size_t row, int column) {
        auto const& one = writes_[row];
        switch (column) {
        case 0: return to.give(key_type(records_[one.index].key));
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

    /// True if the next mark belongs to this row.
    /// Shape:   row - key, id, participant, line; rows come in their order, and the marks, too
    [[nodiscard]] bool execute(columns row) {
        for (; next_ < writes_.size(); ++next_) {
            auto const& one = writes_[next_];
            auto const behind = order_of(one, row);
            if (behind > 0) return false;
            if (behind == 0) return true;
        }
        return false;
    }

    /// Calls `function(key, id, part)` for each.
    template <typename Function>
    void for_each(Function&& function) const {
        for (auto const& one : writes_) {
            function(key_type(records_[one.index].key), *one.id, one.part);
        }
    }

private:
    /// Where a mark stands beside a row: below 0 it comes before it.
    [[nodiscard]] int order_of(in_order const& one, columns row) const {
        if (auto const order = row.compare(records_[one.index].key, 0); order != 0) return order;
        if (auto const order = row.compare(*one.id, 1); order != 0) return order;
        auto const participant = std::int64_t{one.part.participant};
        if (auto const order = row.compare(participant, 2); order != 0) return order;
        return row.compare(std::int64_t{one.part.line}, 3);
    }

    static void give_text(cell to, std::string_view text) {
        if (!text.empty()) to.give(text);
    }
    /// Encodes the mark of a row, once: its other columns are given after its epoch.
    mark<typename Collection::record_type> const& encoded(std::size_t row) {
        auto const& one = writes_[row];
        auto const& found = *records_[one.index].slot.marks.find(*one.id, one.part);
        encode_mark(found, columns_);
        return found;
    }

    std::vector<state_type>& records_;
    std::vector<in_order> const& writes_;
    mark_columns columns_{};
    std::size_t next_ = 0; ///< none before it is of a row to come
};

/// Bounds of records as rows of a wave.
template <typename Collection>
class bound_rows {
public:
    using state_type = record_state<Collection>;
    using record_type = typename Collection::record_type;

    bound_rows(std::vector<state_type>& records, std::vector<in_order> const& writes)
        : records_(records), writes_(writes) {}

    [[nodiscard]] std::size_t size() const noexcept { return writes_.size(); }

    /// Columns:  key, place, marks or 0, least, most
    void give(cell to, std::size_t row, int column) {
        state_type const& at = records_[writes_[row].index];
        switch (column) {
        case 0: return to.give(key_view<Collection>(at.key));
        case 1: return to.give(static_cast<std::int64_t>(writes_[row].index));
        case 2: return to.give(at.to_keep().marks);
        case 3: return give_sums(to, at.to_keep().least);
        default: return give_sums(to, at.to_keep().most);
        }
    }

private:
    void give_sums(cell to, integers<record_type> const& sums) {
        encode_deltas<record_type>(text_, sums);
        if (!text_.empty()) to.give_copy(text_);
    }

    std::vector<state_type>& records_;
    std::vector<in_order> const& writes_;
    std::string text_;
};

} // namespace sqlite::detail
SETTLE_END
