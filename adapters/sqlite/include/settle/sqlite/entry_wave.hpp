// SPDX-License-Identifier: BSL-1.0
// The entries of a wave for SQL: the rows that it inserts, and its changes of other rows.
#pragma once

#include <settle/sqlite/image_codec.hpp>
#include <settle/sqlite/wave_rows.hpp>
#include <settle/store/entry_facts.hpp>

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

using settle::detail::failed_part_of;
using settle::detail::stores_images;

/// True if an entry is finished and both its times precede ?2: either clock may have been wrong. An
/// entry of unknown age stays.
inline constexpr char const* is_old = "state IN (3, 5) AND max(created, modified) < ?2 AND "
                                      "typeof(created) = 'integer' AND "
                                      "typeof(modified) = 'integer'";

/// Entries that are inserted.
/// Shape:   scratch - holds a row's JSON while it is written
class new_entries {
public:
    new_entries(std::span<job* const> jobs, std::string& scratch)
        : jobs_(jobs), scratch_(scratch) {}

    [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }

    /// Columns:  id, state, epoch, reason, created, parameters, participant, line, images, open,
    ///           committed
    void give(cell to, std::size_t row, int column) {
        auto const& work = *jobs_[row];
        auto const& c = work.coordinator;
        switch (column) {
        case 0: return to.give(std::string_view{work.id});
        case 1: return to.give(number_in(c.insert_state()));
        case 2: return to.give(number_in(c.insert_epoch()));
        case 3: return to.give(number_in(c.why()));
        case 4: return to.give(number_in(work.created));
        case 5: return give_parameters(to, work);
        case 6: return to.give(named(failed_part_of(work, c.why())));
        case 7: return to.give(line_in(failed_part_of(work, c.why())));
        case 8: return give_images(to, work);
        case 9:
            if (!is_final(c.insert_state())) to.give(std::int64_t{1});
            return;
        // As long as the epoch that takes its place: a row that grew would part its full page.
        default: to.give(is_final(c.insert_state()) ? 0 : -number_in(c.insert_epoch()));
        }
    }

private:
    static std::optional<std::int64_t> line_in(part_name const& where) { return where.line; }

    void give_parameters(cell to, job const& work) {
        if (!work.direction->described) return;
        scratch_.clear();
        work.direction->append_json(scratch_, work.parameters, secrets::written);
        to.give(std::string_view{scratch_});
    }
    void give_images(cell to, job const& work) {
        if (!stores_images(work)) return;
        images_.clear();
        append_images(images_, work.images);
        to.give(std::string_view{images_});
    }

    std::span<job* const> jobs_;
    std::string& scratch_;
    std::string images_;
};

/// Changes of entries, each a compare-and-set. They look at the rows of the table as a scan of it
/// comes by, so that rows which stand together are found and changed in one go.
class entry_changes {
public:
    struct one_change {
        transaction_id const* id;
        std::int64_t* row; ///< the number of the row
        log_answer* reply;
        transition wanted;
        part_name where;
        std::vector<image> const* images; ///< null if no image goes into the entry
        bool looked_up = false; ///< the row was looked up just now
    };

    void clear() noexcept { all_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    one_change& add(job& work, step known) {
        auto const wanted = work.coordinator.change(known);
        return all_.emplace_back(one_change{&work.id, &work.row, &work.reply, wanted,
                                            failed_part_of(work, wanted.why),
                                            stores_images(work) ? &work.images : nullptr});
    }
    template <typename Wanted>
    void keep(Wanted&& wanted) {
        std::erase_if(all_, [&](auto& one) { return !wanted(one); });
    }

    /// Calls `function(first, last)` for every range of numbers that has few others in it.
    template <typename Function>
    void for_each_run(Function&& function) {
        auto const before = [](auto const& left, auto const& right) {
            return *left.row < *right.row;
        };
        if (!std::is_sorted(all_.begin(), all_.end(), before)) {
            std::stable_sort(all_.begin(), all_.end(), before);
        }
        // Looking at a row that is none of ours costs a small part of one more statement.
        constexpr std::int64_t most_apart = 8;
        for (std::size_t at = 0; at < all_.size();) {
            auto const first = *all_[at].row;
            next_ = at;
            for (++at; at < all_.size(); ++at) {
                if (*all_[at].row - *all_[at - 1].row > most_apart) break;
            }
            function(first, *all_[at - 1].row);
        }
    }

    /// Takes the change for a row; false if no change expects the row in its present state.
    /// Shape:   row - number, state, epoch, id; rows come in the order of their numbers
    [[nodiscard]] bool execute(columns row) {
        auto const number = row.integer(0);
        while (next_ < all_.size() && *all_[next_].row < number) ++next_;
        for (std::size_t at = next_; at < all_.size() && *all_[at].row == number; ++at) {
            auto const& one = all_[at];
            if (*one.reply == log_answer::taken || row.integer(1) != number_in(one.wanted.from) ||
                row.integer(2) != number_in(one.wanted.from_epoch) || row.text(3) != *one.id) {
                continue;
            }
            *one.reply = log_answer::taken;
            last_ = at;
            return true;
        }
        return false;
    }

    /// Shape:   row - its number
    /// Columns:  state, epoch, attempts, reason, participant, line, images, and whether it becomes
    ///           the owner's
    void put(cell to, columns row, int column) {
        auto const& one = taken_at(row.integer(0));
        switch (column) {
        case 0: return to.give(number_in(one.wanted.to));
        case 1: return to.give(number_in(one.wanted.to_epoch));
        case 2: return to.give(number_in(one.wanted.attempts));
        case 3: return to.give(number_in(one.wanted.why));
        case 4: return to.give(named(one.where));
        case 5:
            if (one.where.line) to.give(number_in(*one.where.line));
            return;
        case 6:
            if (one.images == nullptr) return;
            scratch_.clear();
            append_images(scratch_, *one.images);
            return to.give(std::string_view{scratch_});
        default: to.give(std::int64_t{one.wanted.takes_owner});
        }
    }

private:
    /// The change that was taken for a row, which need not be the one that was met last.
    [[nodiscard]] one_change const& taken_at(std::int64_t number) {
        if (*all_[last_].row != number) {
            last_ = static_cast<std::size_t>(
                std::partition_point(all_.begin(), all_.end(),
                                     [&](auto const& one) { return *one.row < number; }) -
                all_.begin());
        }
        while (*all_[last_].reply != log_answer::taken) ++last_;
        return all_[last_];
    }

    std::vector<one_change> all_;
    std::size_t next_ = 0; ///< none before it is of a row to come
    std::size_t last_ = 0;  ///< the change of the row that was met last
    std::string scratch_;  ///< JSON for a row
};

} // namespace sqlite::detail
SETTLE_END
