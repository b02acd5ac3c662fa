// SPDX-License-Identifier: BSL-1.0
// A job: one transaction under way, with its coordinator. Drivers own jobs; stores and logs get
// requests that are made from them.
#pragma once

#include <settle/protocol/coordinator.hpp>
#include <settle/running/driving/failing_parts.hpp>
#include <settle/store/entry_facts.hpp>
#include <settle/store/seam.hpp>

#include <algorithm>

SETTLE_BEGIN

/// An error that may be behind the reason of a cancel.
struct part_error {
    std::size_t part; ///< coordinator::no_part: of the log
    error problem;
};

namespace detail {
struct waiting_parts; // driving/store_waves.hpp
class store_wave;
} // namespace detail

struct job {
    transaction_id id;
    transaction_descriptor const* type = nullptr;
    void const* parameters = nullptr; ///< of that type, owned by the maker of the job
    settle::coordinator coordinator;
    timestamp created{};
    std::vector<image> images{};            ///< of exclusive effects, in the order of the parts
    std::vector<kept_result> results{};     ///< of the applied parts that give results
    log_answer reply = log_answer::unknown; ///< the log's answer to the last step
    bool resting = false;                   ///< takes no step for now
    /// The id was drawn for this call. If the log has it already, another id is drawn, even if that
    /// entry has the same parameters.
    bool new_id = false;
    bool hopeless = false;        ///< a part of this wave can never succeed
    bool was_tried = false;       ///< a part of the last wave was sent
    bool sends_more = false;      ///< the next compensate is of a part that waited for another
    bool is_paused = false;       ///< a person has paused a call of the last wave
    bool for_person = false;      ///< a part had an answer that only a person can change
    bool leaves_out_text = false; ///< the entry has no room for the text of a reason
    /// The reason of a cancel that was in the entry when this job took it over; see found_text().
    reason found_why = reason::none;
    std::uint32_t retry_after_ms = 0; ///< the longest pause that a store asks for
    /// The most failed tries of a call of the current stage, by all workers.
    std::uint32_t call_tries = 0;
    /// When the entry has calls made again that failed, by the clock of the worker that made them.
    timestamp next_try{};
    bool notes_tries = false;     ///< the entry does not have the last two members
    bool awaits_next_try = false; ///< no call is made before `next_try`
    bool follows_earlier = false; ///< its joined commit waits for an earlier job of its window
    bool for_caller = false;      ///< a person has asked for this job, which does not wait for that
    bool is_forced = true;        ///< the stores have its confirms on the disk
    bool waits_behind = false;    ///< for the end of a wave, before it sends its parts
    bool is_denied = false;       ///< it waited so, and was given up for `problem`
    /// Before its first confirm that a store may lose, or 0.
    session_moment confirmed_since = 0;
    std::int64_t row = 0; ///< the log's own number of the entry, or 0
    /// The epoch of the insert, or of the claim of an `initial` entry, that the log acknowledged to
    /// this job: under it no other worker has called a service. 0 if there is none.
    epoch first_epoch = 0;
    std::vector<std::size_t> unanswered{}; ///< parts that had an unknown outcome
    std::string traceparent{};             ///< that the entry has or gets; empty for none
    error problem{};                       ///< the last error that a store or the log gave
    std::vector<part_error> part_errors{}; ///< of the parts whose last apply had an error
    detail::failing_parts failing{};       ///< of the stage of a transaction with calls
    /// The parts of the next step that stores have begun, or null. The job rests until they have
    /// their answers.
    std::shared_ptr<detail::waiting_parts> waiting{};
    /// A wave that may still change parts of the job, which does not wait for their answers.
    std::shared_ptr<detail::store_wave> unanswered_wave{};

    // A constructor, not an aggregate: an aggregate is cleared as a whole before it is filled.
    job(transaction_id&& own_id, transaction_descriptor const* own_type, void const* own_parameters,
        settle::coordinator&& work)
        : id(std::move(own_id)), type(own_type), parameters(own_parameters),
          coordinator(std::move(work)) {}
    /// A job that is new to the log; its coordinator is made in place.
    job(transaction_id&& own_id, transaction_descriptor const* own_type, void const* own_parameters,
        timestamp time, std::size_t parts, epoch first, goal purpose, phases how, stage_plan stages)
        : id(std::move(own_id)), type(own_type), parameters(own_parameters),
          coordinator(settle::coordinator::begin(parts, first, purpose, how, stages)),
          created(time) {}

    /// True if a wave of this step has work for the job.
    [[nodiscard]] bool takes(step action) const noexcept {
        return !resting && coordinator.next() == action;
    }
    template <typename Direction>
    [[nodiscard]] typename Direction::parameters const& parameters_of() const noexcept {
        return *static_cast<typename Direction::parameters const*>(parameters);
    }
    /// Takes a store's answer to one part.
    void take(std::size_t number, part_number part, part_descriptor const& descriptor,
              part_result const& result) {
        coordinator.answered(number, result.what, result.marked);
        bool const is_call = descriptor.stage != 0;
        bool const counts = is_call || detail::ends_parts(coordinator.next());
        if (counts && coordinator.stages() > 1) {
            failing.note(number, result, is_call, call_tries);
        }
        for_person = for_person || result.for_person;
        was_tried = was_tried || (is_call && !result.not_sent);
        if (result.what == answer::unknown) unanswered.push_back(number);
        if (result.kept) keep(part, descriptor, result.kept.get());
        bool const any_error = !result.problem.empty() || !part_errors.empty();
        bool const begins = applies(coordinator.next()) || commits(coordinator.next());
        if (any_error && begins) put_error(number, result.problem);
        if (!result.problem.empty()) note(result.what, result.problem);
        retry_after_ms = std::max(retry_after_ms, result.retry_after_ms);
    }
    /// Orders the next wave of compensates; true if it sends a part that has waited for another.
    bool order_undo() {
        if (coordinator.stages() == 1) return false;
        return coordinator.order_undo([this](auto const& look) {
            type->for_each_part(
                parameters, [&](part_descriptor const& part, std::size_t, std::size_t number) {
                    look(number, undo_place{part.participant, part.stage, part.undone_after});
                });
        });
    }
    /// Answers a part that waits for its next try; true if it does.
    bool withholds(std::size_t number) {
        error const* const why = failing.withholds(number);
        if (why == nullptr) return false;
        coordinator.answered(number, answer::unavailable);
        problem = *why;
        return true;
    }
    /// True if an earlier call of the part may still be under way.
    [[nodiscard]] bool may_be_under_way(std::size_t number) const {
        return first_epoch == 0 || first_epoch != coordinator.epoch_number() ||
               std::find(unanswered.begin(), unanswered.end(), number) != unanswered.end();
    }
    /// Keeps an image for the entry, in place of an earlier image of the same part.
    [[gnu::noinline]] void keep(image kept) { put(images, std::move(kept)); }
    /// Takes the log's answer to a write.
    void take(write_result&& result) {
        reply = result.reply;
        row = result.row;
        if (took_no_effect(reply) || reply == log_answer::unknown) {
            problem = std::move(result.problem);
        }
        if (reply != log_answer::unfit) return;
        if (coordinator.next() != step::cancel) {
            return put_error(settle::coordinator::no_part, problem);
        }
        // An entry that is full takes the cancel without the text.
        if (std::exchange(leaves_out_text, true)) return;
        reply = log_answer::unavailable;
        problem = {};
    }
    /// The error behind the reason of this job's cancel, or null.
    [[nodiscard]] error const* cause() const {
        return has_text(coordinator.why()) ? error_of(coordinator.failed_part()) : nullptr;
    }
    /// Notes what earlier workers have tried.
    /// Shape:   is_of_wrong_clock - then no time of theirs counts
    void take_tries(entry const& entry, bool is_of_wrong_clock) {
        call_tries = entry.call_tries;
        next_try = entry.next_try;
        awaits_next_try = !for_caller && !is_of_wrong_clock;
    }
    /// Notes the reason of a cancel that is in the entry already.
    void take_reason(entry const& entry) {
        found_why = entry.why;
        if (!entry.why_text.empty()) put_error(found_part, {{}, entry.why_text});
    }
    /// The text of found_why.
    [[nodiscard]] std::string_view found_text() const {
        auto const* const found = error_of(found_part);
        return found == nullptr ? std::string_view{} : found->text;
    }
    [[nodiscard]] part_name name_part(std::size_t part) const {
        return type->name_part(parameters, part);
    }

private:
    [[gnu::noinline]] void keep(part_number part, part_descriptor const& descriptor,
                                void const* kept) {
        if (descriptor.make_image != nullptr) put(images, descriptor.make_image(part, kept));
        if (descriptor.make_result != nullptr) put(results, descriptor.make_result(part, kept));
    }
    /// Shape:   T - image or kept_result
    template <typename T>
    static void put(std::vector<T>& into, T added) {
        for (T& kept : into) {
            if (kept.participant != added.participant || kept.line != added.line) continue;
            kept = std::move(added);
            return;
        }
        into.push_back(std::move(added));
    }
    static constexpr std::size_t found_part = settle::coordinator::no_part - 1;

    [[nodiscard]] error const* error_of(std::size_t part) const {
        auto const of_part = [&](part_error const& error) { return error.part == part; };
        auto const found = std::find_if(part_errors.begin(), part_errors.end(), of_part);
        return found == part_errors.end() ? nullptr : &found->problem;
    }
    [[gnu::cold, gnu::noinline]] void put_error(std::size_t part, error const& why) {
        std::erase_if(part_errors, [&](part_error const& error) { return error.part == part; });
        if (!why.text.empty()) part_errors.push_back({part, why});
    }
    void note(answer reply_of_part, error const& why) {
        // A temporary error of another part would hide why the transaction cannot go on.
        if (hopeless) return;
        hopeless = reply_of_part == answer::unavailable && why.code == condition::permanent;
        problem = why;
    }
};

/// Shape:   parameters - outlive the job
template <typename Direction>
[[nodiscard]] job make_job(transaction_id id, typename Direction::parameters const& parameters,
                           coordinator work) {
    return job{std::move(id), &descriptor_of<Direction>, &parameters, std::move(work)};
}

namespace detail {

/// True if the job's next step makes calls.
[[nodiscard]] inline bool calls_next(job const& work) {
    auto const& c = work.coordinator;
    if (c.stages() == 1 || c.stage() == 0) return false;
    if (c.next() != step::compensate) return applies(c.next()) || c.next() == step::confirm;
    bool any = false;
    work.type->for_each_part(work.parameters,
                             [&](part_descriptor const& part, std::size_t, std::size_t number) {
                                 any = any || (part.stage != 0 && c.due(number, part.stage));
                             });
    return any;
}

/// The text of a job's reason to cancel, as its entry keeps it; empty if there is none.
[[nodiscard]] inline std::string_view reason_text_of(job const& work) {
    auto const* const cause = work.leaves_out_text ? nullptr : work.cause();
    return cause == nullptr ? std::string_view{} : bounded_reason(cause->text);
}

/// The write that a step of a job sends to the log.
/// Shape:   Step - the job's next step
template <step Step>
[[nodiscard, gnu::always_inline]] inline entry_write write_of(job const& work) {
    auto const& c = work.coordinator;
    bool const inserts = only_inserts(Step) || (Step == step::one_phase && c.inserts());
    auto const change = [&]() __attribute__((always_inline)) {
        if (!inserts) return c.change(Step);
        bool const replaces = Step == step::insert && c.replaced_bar() != 0;
        bool const commits = Step == step::decide && c.insert_state() == state::applied;
        return transition{replaces ? state::barred : state::initial,
                          replaces ? c.replaced_bar() : 0,
                          c.insert_state(),
                          c.insert_epoch(),
                          commits ? c.insert_epoch() : 0,
                          0,
                          c.why(),
                          true,
                          0,
                          0,
                          c.stages_kept()};
    };
    bool const decides = Step == step::one_phase || Step == step::decide;
    bool const ends_done = decides ? c.insert_state() != state::canceled : commits(Step);
    // The write is built in place, so that no member is set twice.
    return {&work.id,
            work.type,
            work.parameters,
            Step,
            inserts,
            change(),
            work.created,
            c.failed_part(),
            ends_done && !work.images.empty() ? &work.images : nullptr,
            work.row,
            stores_results(Step) && !work.results.empty() ? &work.results : nullptr,
            Step == step::cancel || Step == step::refuse || decides ? reason_text_of(work)
                                                                    : std::string_view{},
            Step == step::pause ? work.call_tries : 0,
            Step == step::pause ? work.next_try : timestamp{},
            inserts ? std::string_view{work.traceparent} : std::string_view{}};
}

} // namespace detail
SETTLE_END
