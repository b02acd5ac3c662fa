// SPDX-License-Identifier: BSL-1.0
// Takes the entries that a driver reads for its jobs.
#pragma once

#include <settle/protocol/fresh.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/construction/owner.hpp>
#include <settle/running/driving/execution_state.hpp>
#include <settle/running/driving/observation.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail {

/// The base of a driver's progress.
/// Shape:   TakesNoTime - as in observation
template <typename Environment, typename Observer, bool TakesNoTime>
class found_entries {
public:
    /// True if the last wave of reads found entries, as when a range runs again. Then the next ids
    /// may exist, too.
    [[nodiscard]] bool finds_entries() const { return finds_entries_; }

protected:
    found_entries(Environment const& environment, Observer& observer, options const& limits,
                  std::string const& owner)
        : environment_(environment), watch_(observer), limits_(limits), owner_(owner),
          now_(environment.now()) {}

    [[nodiscard]] bool expired(job const& work) const {
        return age_of(work.created, now_, limits_.clocks) > limits_.lifetime;
    }

    [[gnu::noinline]] interruption take_found(job& work, execution_state& execution,
                                              result<std::optional<entry>>&& looked_up, bool same) {
        if (!looked_up.has_value()) {
            work.problem = looked_up.problem();
            return looked_up.problem().code == condition::permanent ? interruption::failed
                                                                    : interruption::none;
        }
        view_of_entry view;
        bool const is_bar = looked_up.value() && looked_up.value()->state == state::barred;
        if (!looked_up.value() || is_bar) {
            view.fresh = fresh_epoch(environment_, now_);
            if (is_bar) view.barred = looked_up.value()->epoch_number;
            // A repeated insert keeps the call's creation time, so that an old transaction expires:
            // it may have been settled and purged while this worker slept.
            work.coordinator.found_nothing(view);
            return interruption::none;
        }
        // This job has not inserted yet, so the entry belongs to another caller.
        if (work.new_id) {
            work.id = fresh_id(environment_);
            return interruption::none;
        }
        finds_entries_ = true;
        entry const& stored = *looked_up.value();
        watch_.note_entry(stored, owner_, execution);
        if (auto damaged = fault_of(stored); !damaged.empty()) {
            work.problem = std::move(damaged);
            return interruption::failed;
        }
        execution.behind_marks = std::exchange(execution.fenced, false) &&
                                 stored.state == work.coordinator.state() &&
                                 stored.epoch_number == work.coordinator.epoch_number();
        auto const unfit = same ? interruption::none : compare_entry(work, stored);
        if (unfit != interruption::none) {
            execution.seen = std::make_unique<entry>(*std::move(looked_up).value());
            return unfit;
        }
        view.mine = stored.owner == owner_;
        // No caller waits for the owner of a final entry, so the owner is not looked at.
        view.abandoned =
            !is_final(stored.state) && (stored.state == state::initial || is_gone(stored.owner) ||
                                        stands_still(stored, execution) || execution.behind_marks);
        work.created = stored.created;
        work.traceparent = stored.traceparent;
        work.coordinator.found(standing_of(stored), view);
        if (work.type->stages.count > 1) {
            work.results = stored.results;
            work.take_tries(stored, is_ahead(stored.modified, now_, limits_.clocks));
            // Another worker or a person may have ended some of them.
            work.failing.clear();
        }
        // The outcome of an entry that is done needs only its state.
        bool const needs_entry = stored.state != state::done || !work.type->described;
        if (needs_entry) execution.seen = std::make_unique<entry>(*std::move(looked_up).value());
        return interruption::none;
    }

    Environment const& environment_;
    observation<Observer, TakesNoTime> watch_;
    options const& limits_;
    std::string const& owner_;
    timestamp now_; ///< the clock is read once a wave
    bool finds_entries_ = false;

private:
    /// True when the entry has not moved for `takeover`, by this process's own clock.
    bool stands_still(entry const& stored, execution_state& execution) {
        auto const elapsed = environment_.elapsed();
        auto const& seen = execution.seen;
        bool const moved = !seen || seen->state != stored.state ||
                           seen->epoch_number != stored.epoch_number ||
                           seen->attempts != stored.attempts || seen->modified != stored.modified;
        if (moved || !execution.still_since) execution.still_since = elapsed;
        using std::chrono::milliseconds;
        return std::chrono::duration_cast<milliseconds>(elapsed - *execution.still_since) >=
               limits_.takeover;
    }
};

} // namespace detail
SETTLE_END
