// SPDX-License-Identifier: BSL-1.0
// Reports every step of a job, and the end of its transaction, to an observer.
#pragma once

#include <settle/running/driving/execution_state.hpp>
#include <settle/running/driving/observer.hpp>

#include <exception>

SETTLE_BEGIN
namespace detail {

/// Reports the jobs of one call to an observer.
/// Shape:   TakesNoTime - what a plain step tells of a job may come with a later event
/// Cost:    nothing without an observer
template <typename Observer, bool TakesNoTime>
class observation {
    static constexpr bool observed = !std::is_same_v<Observer, no_observer>;

public:
    explicit observation(Observer& observer) : observer_(observer) {}

    /// The observer's first exception, but at a transaction with a caller of its own. It is
    /// rethrown after the transactions under way have ended.
    [[nodiscard]] std::exception_ptr const& thrown() const noexcept { return thrown_; }

    /// Shape:   again, stuck - as in event
    [[gnu::always_inline]] void
    step_taken([[maybe_unused]] step taken, [[maybe_unused]] job const& work,
               [[maybe_unused]] execution_state& execution, [[maybe_unused]] timestamp time,
               [[maybe_unused]] bool again = false, [[maybe_unused]] bool stuck = false) {
        if constexpr (observed) {
            if (!watches()) return;
            bool const has_news = !TakesNoTime && execution.news != entry_news::none;
            bool const is_plain = !again && taken != step::pause && taken != step::wait;
            if (is_plain && !has_news && skips_plain_steps()) return;
            show(taken, work, execution, time, again, stuck);
        }
    }

    /// Reports the end of the call for a job.
    [[gnu::always_inline]] void call_ended([[maybe_unused]] job const& work,
                                           [[maybe_unused]] execution_state& execution,
                                           [[maybe_unused]] timestamp time) {
        if constexpr (observed) {
            if (!watches()) return;
            auto const& c = work.coordinator;
            bool const is_left = execution.cut != interruption::none || c.vanished();
            if (is_left || c.state() != state::done) return tell_other_end(work, execution, time);
            // Another worker may have committed, so that the reason of this worker's own cancel is
            // obsolete.
            tell_end(work, execution, time, state::done, reason::none, {});
        }
    }

    /// Stores the answer that the observer gets, before a decision clears the answers.
    void note_answers([[maybe_unused]] job const& work,
                      [[maybe_unused]] execution_state& execution) {
        if constexpr (observed) {
            if (!watches() || skips_plain_steps()) return;
            for (std::size_t part = 0; part < work.coordinator.parts(); ++part) {
                answer const reply = work.coordinator.answer_of(part);
                bool const fine = reply == answer::applied || reply == answer::nothing ||
                                  reply == answer::none || reply == answer::later;
                if (execution.failed_answer == answer::none && !fine)
                    execution.failed_answer = reply;
            }
        }
    }

    /// Called before the coordinator takes the log's answer.
    template <step Step>
    void note_right([[maybe_unused]] job const& work, [[maybe_unused]] execution_state& execution) {
        constexpr bool gives_right =
            only_inserts(Step) || Step == step::one_phase || Step == step::claim;
        if constexpr (observed && gives_right) {
            if (!watches() || work.reply != log_answer::taken) return;
            auto const& c = work.coordinator;
            bool const inserts = only_inserts(Step) || (Step == step::one_phase && c.inserts());
            if (inserts) execution.news = execution.news | entry_news::inserted;
            if (Step == step::claim) {
                bool const other = !execution.owns_entry && c.state() != state::initial;
                execution.news = execution.news | entry_news::claimed |
                                 (other ? entry_news::took_over : entry_news::none);
            }
            execution.owns_entry = true;
        }
    }
    /// Called before the coordinator takes the log's answer. The epoch of an unanswered write shows
    /// later whether the write took effect.
    template <step Step>
    void note_write([[maybe_unused]] job const& work, [[maybe_unused]] execution_state& execution) {
        if constexpr (observed && ends_entry(Step)) {
            if (!watches() || work.reply != log_answer::unknown) return;
            auto const& c = work.coordinator;
            if constexpr (only_inserts(Step)) execution.last_unsure = c.insert_epoch();
            else if constexpr (Step == step::one_phase) execution.last_unsure = c.one_phase_epoch();
            else execution.last_unsure = c.change(Step).to_epoch;
            if (execution.first_unsure == 0) execution.first_unsure = execution.last_unsure;
        }
    }
    /// Called after the coordinator has taken the answer.
    template <step Step>
    void note_end([[maybe_unused]] job const& work, [[maybe_unused]] execution_state& execution) {
        if constexpr (observed && ends_entry(Step)) {
            bool const final = is_final(work.coordinator.state());
            execution.ended_here =
                execution.ended_here || (final && work.reply == log_answer::taken);
        }
    }
    /// Called after a read of the entry. No other worker writes under an epoch of this call.
    void note_entry([[maybe_unused]] entry const& stored, [[maybe_unused]] std::string const& owner,
                    [[maybe_unused]] execution_state& execution) {
        if constexpr (observed) {
            if (stored.owner != owner) return;
            execution.owns_entry = true;
            if (execution.first_unsure == 0 || !is_final(stored.state)) return;
            execution.ended_here =
                execution.ended_here || (stored.epoch_number >= execution.first_unsure &&
                                         stored.epoch_number <= execution.last_unsure);
        }
    }

    /// True if an observer was given.
    [[nodiscard]] bool watches() const noexcept {
        if constexpr (requires { observer_.watches(); }) return observer_.watches();
        else return observed;
    }

private:
    [[gnu::noinline]] void show(step taken, job const& work, execution_state& execution,
                                timestamp time, bool again, bool stuck) {
        auto const& c = work.coordinator;
        event seen{work.id,        work.type->name(), taken,
                   c.state(),      c.attempts(),      execution.failed_answer,
                   c.why(),        work.problem.text, work.type->append_json,
                   work.parameters};
        seen.stuck = stuck;
        seen.created = work.created;
        seen.when = time;
        seen.again = again;
        seen.traceparent = work.traceparent;
        tell_news(seen, execution);
        std::size_t const failed = stuck ? first_due(work) : c.failed_part();
        if (failed != coordinator::no_part) {
            auto const name = work.name_part(failed);
            seen.participant = name.participant;
            seen.line = name.line;
        }
        notify(seen, execution);
        execution.failed_answer = answer::none;
    }

    // Inlined where the transaction is done, so that the event of most ends is not made in memory.
    [[gnu::always_inline]] void tell_end(job const& work, execution_state& execution,
                                         timestamp time, settle::state last, reason why,
                                         std::string_view problem) {
        event seen{work.id,
                   work.type->name(),
                   step::end,
                   last,
                   work.coordinator.attempts(),
                   answer::none,
                   why,
                   problem,
                   work.type->append_json,
                   work.parameters,
                   execution.ended_here};
        seen.created = work.created;
        seen.when = time;
        seen.traceparent = work.traceparent;
        tell_news(seen, execution);
        notify(seen, execution);
    }
    [[gnu::noinline]] void tell_other_end(job const& work, execution_state& execution,
                                          timestamp time) {
        auto const& c = work.coordinator;
        if (execution.cut != interruption::none || c.vanished() || !is_final(c.state())) {
            return tell_leave(work, execution, time);
        }
        auto why = c.why();
        auto problem = reason_text_of(work);
        if (execution.seen && execution.seen->why != reason::none) {
            why = execution.seen->why;
            problem = execution.seen->why_text;
        } else if (why == reason::none) {
            why = work.found_why;
            problem = work.found_text();
        }
        tell_end(work, execution, time, c.state(), why, problem);
    }
    [[gnu::noinline]] void tell_leave(job const& work, execution_state& execution, timestamp time) {
        if constexpr (requires { observer_.left(std::string_view{}); }) {
            bool const inserts = has(execution.news, entry_news::inserted);
            // What a plain step has not told.
            if (inserts || has(execution.news, entry_news::claimed)) {
                show(inserts ? step::insert : step::claim, work, execution, time, false, false);
            }
            if (!has(execution.news, entry_news::first_event)) observer_.left(work.type->name());
        }
    }

    static void tell_news(event& seen, execution_state& execution) {
        auto const news = std::exchange(execution.news, entry_news::none);
        seen.first = has(news, entry_news::first_event);
        seen.inserted = has(news, entry_news::inserted);
        seen.claimed = has(news, entry_news::claimed);
        seen.took_over = has(news, entry_news::took_over);
    }

    /// The first part that a repeated step sends to its store, or no_part.
    static std::size_t first_due(job const& work) {
        auto const& c = work.coordinator;
        std::size_t failed = coordinator::no_part;
        if (!calls_stores(c.next())) return failed;
        work.type->for_each_part(work.parameters,
                                 [&](part_descriptor const& one, std::size_t, std::size_t part) {
                                     if (failed == coordinator::no_part && c.due(part, one.stage))
                                         failed = part;
                                 });
        return failed;
    }

    static constexpr bool calls_stores(step taken) {
        return applies(taken) || undoes(taken) || taken == step::confirm;
    }

    static constexpr bool ends_entry(step taken) {
        return only_inserts(taken) || taken == step::close || taken == step::cancel ||
               taken == step::commit_and_close || taken == step::one_phase;
    }

    [[nodiscard]] bool skips_plain_steps() const noexcept {
        if constexpr (requires { observer_.skips_plain_steps(); })
            return observer_.skips_plain_steps();
        else return skips_steps<Observer>;
    }

    /// The observer's exception must not keep a transaction from its end.
    [[gnu::always_inline]] void notify(event const& seen, execution_state const& execution) {
        // An event that is not passed on need not be made in memory.
        if constexpr (noexcept(observer_(seen))) return static_cast<void>(observer_(seen));
        try {
            observer_(seen);
        } catch (testing::crash const&) {
            throw;
        } catch (...) {
            auto& first = execution.own == nullptr ? thrown_ : execution.own->thrown;
            if (!first) first = std::current_exception();
        }
    }

    Observer& observer_;
    std::exception_ptr thrown_;
};

} // namespace detail
SETTLE_END
