// SPDX-License-Identifier: BSL-1.0
// The entries of a wave for SQL: the rows that it inserts, and its changes of other rows. A value
// has the number of its field.
#pragma once

#include <settle/adapter/entry_row.hpp>
#include <settle/adapter/sent_write.hpp>
#include <settle/sqlite/connection/wave_rows.hpp>

#include <algorithm>
#include <vector>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::entry_field;
using settle::detail::number_in;
using settle::detail::sent_write;

/// True if an entry is finished and both its times precede ?2: either clock may have been wrong. An
/// entry of unknown age stays.
inline constexpr char const* is_old = "state IN (3, 5, 7) AND max(created, modified) < ?2 AND "
                                      "typeof(created) = 'integer' AND "
                                      "typeof(modified) = 'integer'";

/// Gives the value that a write stores in a field. Texts stay until the next value of the field.
class entry_values {
public:
    void give(cell to, entry_write const& write, write_context const& context, int field);

private:
    std::array<std::string, settle::detail::all_entry_fields.size()> texts_;
};

/// Entries that are inserted.
class new_entries {
public:
    new_entries(std::span<sent_write const> all, write_context const& context, entry_values& values)
        : all_(all), at_(context), values_(values) {}

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    void give(cell to, std::size_t row, int field);

private:
    std::span<sent_write const> all_;
    write_context const& at_;
    entry_values& values_;
};

/// Changes of entries, each a compare-and-set. A scan of the table passes its rows to this object,
/// so that neighbouring rows are found and changed in one statement.
class entry_changes {
public:
    struct one_change : sent_write {
        bool looked_up = false; ///< the row was looked up just now

        /// The number of the row.
        [[nodiscard]] std::int64_t& row() const noexcept { return result->row; }
        [[nodiscard]] transition const& transition_of() const noexcept { return write->change; }
    };

    explicit entry_changes(entry_values& values) : values_(values) {}

    /// Begins a wave.
    void clear(write_context const& context) noexcept {
        all_.clear();
        at_ = &context;
    }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    /// True if a write stores images or results. Few do.
    [[nodiscard]] bool store_lists() const noexcept {
        return std::any_of(all_.begin(), all_.end(), [](one_change const& change) {
            return change.write->images != nullptr || change.write->results != nullptr;
        });
    }

    one_change& add(sent_write const& write) { return all_.emplace_back(one_change{write}); }
    template <typename Predicate>
    void keep(Predicate&& selects) {
        std::erase_if(all_, [&](auto& write) { return !selects(write); });
    }

    /// Calls `function(first, last)` for each range of row numbers that holds rows of the wave, and
    /// few other rows between them.
    template <typename Function>
    void for_each_range(Function&& function) {
        auto const before = [](auto const& left, auto const& right) {
            return left.row() < right.row();
        };
        if (!std::is_sorted(all_.begin(), all_.end(), before)) {
            std::stable_sort(all_.begin(), all_.end(), before);
        }
        // Reading a row without a change costs a small part of one more statement.
        constexpr std::int64_t most_apart = 8;
        for (std::size_t index = 0; index < all_.size();) {
            auto const first = all_[index].row();
            next_ = index;
            for (++index; index < all_.size(); ++index) {
                if (all_[index].row() - all_[index - 1].row() > most_apart) break;
            }
            function(first, all_[index - 1].row());
        }
    }

    /// Takes the change for a row; false if no change expects the row in its present state.
    /// Shape:   row - number, state, epoch, id, revision; rows come in the order of their numbers
    [[nodiscard]] bool execute(columns row);

    /// Shape:   row - its number
    void put(cell to, columns row, int field) {
        values_.give(to, *taken_at(row.integer(0)).write, *at_, field);
    }

private:
    /// The change that was taken for a row, which need not be the last row.
    [[nodiscard]] one_change const& taken_at(std::int64_t number);

    entry_values& values_;
    write_context const* at_ = nullptr;
    std::vector<one_change> all_;
    std::size_t next_ = 0; ///< the changes before it are of earlier rows
    std::size_t last_ = 0; ///< the change of the last row
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/log/entry_wave.ipp>
#endif
