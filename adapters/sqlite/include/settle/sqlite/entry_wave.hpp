// SPDX-License-Identifier: BSL-1.0
// The entries of a wave for SQL: the rows that it inserts, and its changes of other rows.
#pragma once

#include <settle/sqlite/image_codec.hpp>
#include <settle/sqlite/wave_rows.hpp>
#include <settle/store/entry_facts.hpp>
#include <settle/store/seam.hpp>

#include <algorithm>
#include <vector>

SETTLE_BEGIN
namespace sqlite::detail {

template <typename Number>
[[nodiscard]] std::int64_t number_in(Number value) {
    if constexpr (std::is_same_v<Number, timestamp>) return value.time_since_epoch().count();
    else return static_cast<std::int64_t>(value);
}

[[nodiscard]] inline std::optional<std::string_view> named(part_name const& where) {
    if (where.participant.empty()) return std::nullopt;
    return where.participant;
}

/// A write to the log, and its result.
struct entry_job {
    entry_write const* write;
    write_result* result;
};

/// Sorts writes by their types, and calls `function(span)` for the writes of each type.
template <typename Function>
void for_each_type(std::vector<entry_job>& jobs, Function&& function) {
    auto const before = [](entry_job const& left, entry_job const& right) {
        return std::less<>{}(left.write->type, right.write->type);
    };
    if (!std::is_sorted(jobs.begin(), jobs.end(), before)) {
        std::stable_sort(jobs.begin(), jobs.end(), before);
    }
    for (auto begin = jobs.begin(); begin != jobs.end();) {
        auto const end = std::upper_bound(begin, jobs.end(), *begin, before);
        function(std::span<entry_job const>{begin, end});
        begin = end;
    }
}

/// True if an entry is finished and both its times precede ?2: either clock may have been wrong. An
/// entry of unknown age stays.
inline constexpr char const* is_old = "state IN (3, 5) AND max(created, modified) < ?2 AND "
                                      "typeof(created) = 'integer' AND "
                                      "typeof(modified) = 'integer'";

/// Entries that are inserted.
/// Shape:   scratch - holds a row's JSON while it is written
class new_entries {
public:
    new_entries(std::span<entry_job const> jobs, std::string& scratch)
        : jobs_(jobs), scratch_(scratch) {}

    [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }

    /// Columns:  id, state, epoch, reason, created, parameters, participant, line, images, open,
    ///           committed
    void give(cell to, std::size_t row, int column);

private:
    void give_parameters(cell to, entry_write const& write);
    void give_images(cell to, entry_write const& write);

    std::span<entry_job const> jobs_;
    std::string& scratch_;
    std::string images_;
};

/// Changes of entries, each a compare-and-set. They look at the rows of the table as a scan of it
/// comes by, so that rows which stand together are found and changed in one go.
class entry_changes {
public:
    struct one_change {
        entry_write const* write;
        write_result* result;
        bool looked_up = false; ///< the row was looked up just now

        /// The number of the row.
        [[nodiscard]] std::int64_t& row() const noexcept { return result->row; }
        [[nodiscard]] transition const& wanted() const noexcept { return write->change; }
    };

    void clear() noexcept { all_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    one_change& add(entry_job const& one) {
        return all_.emplace_back(one_change{one.write, one.result});
    }
    template <typename Wanted>
    void keep(Wanted&& wanted) {
        std::erase_if(all_, [&](auto& one) { return !wanted(one); });
    }

    /// Calls `function(first, last)` for every range of numbers that has few others in it.
    template <typename Function>
    void for_each_run(Function&& function) {
        auto const before = [](auto const& left, auto const& right) {
            return left.row() < right.row();
        };
        if (!std::is_sorted(all_.begin(), all_.end(), before)) {
            std::stable_sort(all_.begin(), all_.end(), before);
        }
        // Looking at a row that is none of ours costs a small part of one more statement.
        constexpr std::int64_t most_apart = 8;
        for (std::size_t at = 0; at < all_.size();) {
            auto const first = all_[at].row();
            next_ = at;
            for (++at; at < all_.size(); ++at) {
                if (all_[at].row() - all_[at - 1].row() > most_apart) break;
            }
            function(first, all_[at - 1].row());
        }
    }

    /// Takes the change for a row; false if no change expects the row in its present state.
    /// Shape:   row - number, state, epoch, id, revision; rows come in the order of their numbers
    [[nodiscard]] bool execute(columns row);

    /// Shape:   row - its number
    /// Columns:  state, epoch, attempts, reason, participant, line, images, whether it becomes
    ///           the owner's, revision, stages_kept, results
    void put(cell to, columns row, int column);

private:
    /// The change that was taken for a row, which need not be the one that was met last.
    [[nodiscard]] one_change const& taken_at(std::int64_t number);

    std::vector<one_change> all_;
    std::size_t next_ = 0; ///< none before it is of a row to come
    std::size_t last_ = 0;  ///< the change of the row that was met last
    std::string scratch_;  ///< JSON for a row
    std::string results_;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/entry_wave.ipp>
#endif
