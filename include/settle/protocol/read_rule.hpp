// SPDX-License-Identifier: BSL-1.0
// The read rule: how a reader finds a record as the decided transactions alone make it. The rule
// does no I/O: the engine and the exhaustive search drive it.
//
// A look is one atomic read of the records of a read, with all their marks. After a look the reader
// asks the log about the marks. It answers as of a look for which it knows of each mark whether the
// transaction was decided at that moment: a decision is final, so a transaction that was decided
// before the look was decided at it, and a transaction that is undecided later was undecided at it.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/protocol/record_rule.hpp>

#include <algorithm>
#include <vector>

SETTLE_BEGIN

/// True if a mark belongs to a decided transaction. All other marks are undone in the reader's
/// copy: those of undecided and canceled transactions, and stray marks.
/// Shape:   entry - of the mark's transaction; nothing if the log has none
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool is_decided(std::optional<standing> const& entry, epoch marked) {
    // A purge follows the close, which follows the confirms: no entry, no mark of its commit.
    if (!entry) return !Rules::reads_absent_as_open;
    bool const is_open = entry->state != state::applied && entry->state != state::done;
    if (is_open) {
        return !Rules::reads_decided_entries && entry->state == state::pending &&
               entry->epoch_number == marked;
    }
    return (entry->committed == marked && marked != 0) || !Rules::reads_committed_epochs;
}

/// True if a reader may give its answer. It looks at its clock after its last look: in the time
/// that a purge waits, an entry that the reader asked for may have been purged.
/// Shape:   is_over - more time has passed since the first look than the reader has
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool may_answer(bool is_over) {
    return !is_over || !Rules::readers_watch_clock;
}

/// True if the versions of two looks can be compared: both are of one session with the server. A
/// server that has stopped meanwhile may have lost a change, and gives its version to another one.
/// Shape:   began - before the first look; session - the begin of the session of the second look.
///          Later moments are greater
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool is_one_session(std::uint64_t began, std::uint64_t session) {
    return session <= began || !Rules::readers_keep_sessions;
}

/// True if a record had the value and the marks of two looks during all the time between them.
/// Shape:   version - of one session; differs after each change of the record's value; nothing if
/// there is no
///          record, or its store has no versions
template <typename Rules = detail::protocol_rules, typename Slot>
[[nodiscard]] bool is_unchanged(Slot const& before, std::optional<std::uint64_t> version_before,
                                Slot const& after, std::optional<std::uint64_t> version_after) {
    // The version of a record that was created and erased meanwhile is gone with it.
    bool const is_absent = !before.record && !after.record;
    bool const has_version = version_before && version_before == version_after;
    if (!has_version && (!is_absent || Rules::readers_suspect_absence)) return false;
    if (!Rules::readers_compare_marks) return true;
    auto const& marks = after.marks;
    return before.marks.size() == marks.size() &&
           std::all_of(before.marks.begin(), before.marks.end(), [&](auto const& mark) {
               auto const* const same = marks.find(mark.id, mark.part);
               return same != nullptr && same->epoch_number == mark.epoch_number;
           });
}

/// The next step of a reader.
enum class read_step : std::uint8_t { look, ask, end };

/// A mark, as a reader asks the log about it.
struct seen_mark {
    transaction_id id;
    epoch epoch_number = 0;

    friend auto operator<=>(seen_mark const&, seen_mark const&) = default;
};

/// What a reader knows about the marks of its records.
/// Shape:   Slots - a range of record slots: all records of the read, in one look
class bracket {
public:
    /// Shape:   with_log - each look includes the entries of its marks
    explicit bracket(bool with_log = false) : with_log_(with_log) {}

    [[nodiscard]] read_step next() const noexcept { return next_; }
    /// The marks about which the log is asked, in the order of ask().
    [[nodiscard]] std::vector<seen_mark> const& open() const noexcept { return open_; }

    /// Takes a look.
    template <typename Rules = detail::protocol_rules, typename Slots>
    void looked(Slots const& slots) {
        open_.clear();
        next_decided_.clear();
        answered_ = 0;
        for (auto const& slot : slots) {
            for (auto const& mark : slot.marks) {
                if (!confirms(mark.id, mark.epoch_number)) {
                    open_.push_back({mark.id, mark.epoch_number});
                }
            }
        }
        // Two parts of one transaction may have marks on one record.
        std::sort(open_.begin(), open_.end());
        open_.erase(std::unique(open_.begin(), open_.end()), open_.end());
        bool const is_second = !decided_.empty();
        bool const asks = !open_.empty() && (Rules::readers_ask_again || !is_second);
        next_ = asks ? read_step::ask : read_step::end;
    }

    /// Takes the log's answer about the next of the open marks.
    /// Shape:   entry - at any moment after the look, or, with the log in the look, at it
    template <typename Rules = detail::protocol_rules>
    void answered(std::optional<standing> const& entry) {
        seen_mark const& asked = open_[answered_++];
        if (is_decided<Rules>(entry, asked.epoch_number)) next_decided_.push_back(asked);
        if (answered_ < open_.size()) return;
        bool const ends = with_log_ || next_decided_.empty() || !Rules::readers_look_again;
        for (auto& decided : next_decided_) {
            decided_.insert(std::lower_bound(decided_.begin(), decided_.end(), decided),
                            std::move(decided));
        }
        next_decided_.clear();
        next_ = ends ? read_step::end : read_step::look;
    }
    /// The number of open marks about which the log has answered.
    [[nodiscard]] std::size_t count_answered() const noexcept { return answered_; }

    /// True if a mark of the last look is confirmed in the answer, false if it is undone.
    [[nodiscard]] bool confirms(transaction_id const& id, epoch marked) const {
        return std::binary_search(decided_.begin(), decided_.end(), seen_mark{id, marked});
    }

    /// Ends all marks of a reader's copy, as the record rule ends them.
    template <typename Record>
    void settle(record_slot<Record>& copy) const {
        while (!copy.marks.empty()) {
            auto const& first = *copy.marks.begin();
            auto* const ended = copy.marks.find(first.id, first.part);
            detail::resolve(copy, ended, confirms(ended->id, ended->epoch_number));
        }
    }

    /// Calls `function(seen_mark&)` for each mark that the reader knows: for a search.
    template <typename Function>
    void visit(Function&& function) {
        for (auto* const marks : {&open_, &next_decided_, &decided_}) {
            for (seen_mark& mark : *marks) function(mark);
        }
    }
    template <typename Function>
    void visit(Function&& function) const {
        for (auto const* const marks : {&open_, &next_decided_, &decided_}) {
            for (seen_mark const& mark : *marks) function(mark);
        }
    }

private:
    bool with_log_;
    read_step next_ = read_step::look;
    std::size_t answered_ = 0;              ///< of the open marks
    std::vector<seen_mark> open_{};         ///< of the last look, not known as decided before it
    std::vector<seen_mark> next_decided_{}; ///< of the open marks
    std::vector<seen_mark> decided_{};      ///< before the last look, or at it; in order
};

SETTLE_END
