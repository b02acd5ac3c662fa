// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that refusals.hpp declares.
#pragma once

#include <settle/running/calls/refusals.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION outcome refuse(transaction_id const& id, error problem) {
    outcome concluded;
    concluded.id = id;
    concluded.verdict = verdict::refused;
    concluded.problem = std::move(problem);
    return concluded;
}

SETTLE_FUNCTION outcome refuse_parameters(transaction_id const& id,
                                          transaction_descriptor const& direction,
                                          void const* parameters, refusal const& refused) {
    outcome concluded = refuse(
        id, {make_error_code(errc::bad_parameters),
             "settle: the parameters are refused: " + direction.explain(parameters, refused) +
                 ". Correct them; nothing was written. "
                 "See definition#parameters"});
    concluded.why = refused.why;
    concluded.participant = refused.where.participant;
    concluded.line = refused.where.line;
    return concluded;
}

SETTLE_FUNCTION bool has_fault(transaction_descriptor const& direction, void const* parameters) {
    std::string path;
    return !find_bad_text(*direction.codec, parameters, path).empty() ||
           direction.check(parameters).why != reason::none;
}

SETTLE_FUNCTION outcome refused_before_write(transaction_id const& id,
                                             transaction_descriptor const& direction,
                                             void const* parameters) {
    auto const texts = check_each_text(*direction.codec, parameters);
    if (!texts.has_value()) return refuse(id, texts.problem());
    return refuse_parameters(id, direction, parameters, direction.check(parameters));
}

SETTLE_FUNCTION outcome unknown_id(transaction_id const& id) {
    return refuse(id, {make_error_code(errc::unknown_id),
                       "settle: the log has no entry '" + id + "'. See errors#errors"});
}

SETTLE_FUNCTION error record_missing(std::string_view collection, std::string_view key) {
    std::string text{"settle: '"};
    text.append(collection).append("' has no record ").append(key);
    return {make_error_code(errc::record_missing),
            text.append(". Create it first, or ask with read(). See errors#errors")};
}

SETTLE_FUNCTION outcome unreadable(transaction_id const& id, error const& problem) {
    outcome concluded;
    concluded.id = id;
    concluded.problem = problem;
    return concluded;
}

SETTLE_FUNCTION error nothing_begun() {
    return {make_error_code(errc::stopped),
            "settle: the call wrote nothing: before it began, its deadline had passed or a stop "
            "was requested. Call again with other limits. See running#undecided"};
}

SETTLE_FUNCTION error ended_waiting(std::string_view limit) {
    return {make_error_code(errc::stopped),
            "settle: " + std::string{limit} +
                " ended the call before the outcome was known. Ask again with the same id, or let "
                "recovery settle it. See running#undecided"};
}

SETTLE_FUNCTION error stopped_early() {
    return {make_error_code(errc::stopped),
            "settle: a stop request ended the call early, and it did not look at the later "
            "entries or marks. Call again for the rest. See running#undecided"};
}

SETTLE_FUNCTION error cause_of(entry const& stored, transaction_descriptor const& type) {
    if (!has_text(stored.why) || stored.why_text.empty()) return {};
    auto const prepares = [&](part_descriptor const& part) {
        return part.kind == &prepared_kind &&
               static_cast<prepared_functions const*>(part.functions)->participant ==
                   stored.participant;
    };
    auto const code = [&] {
        switch (stored.why) {
        case reason::refused:
            return std::any_of(type.participants.begin(), type.participants.end(), prepares)
                       ? errc::work_refused
                       : errc::call_refused;
        case reason::unavailable: return errc::call_unavailable;
        case reason::unanswered: return errc::call_unknown;
        default: return errc::record_unusable;
        }
    };
    return {make_error_code(code()), stored.why_text};
}

SETTLE_FUNCTION outcome outcome_of(entry const& stored, transaction_descriptor const& type) {
    outcome concluded;
    concluded.id = stored.id;
    concluded.verdict = stored.state == state::done ? verdict::done : verdict::canceled;
    concluded.why = stored.why;
    concluded.participant = stored.participant;
    concluded.line = stored.line;
    concluded.results = stored.results;
    if (concluded.canceled()) concluded.problem = cause_of(stored, type);
    return concluded;
}

SETTLE_FUNCTION error id_in_use(transaction_id const& id) {
    return {make_error_code(errc::id_in_use),
            "settle: the id '" + id +
                "' belongs to another transaction. Use a new id for new parameters. "
                "See running#ids"};
}

SETTLE_FUNCTION error other_definition(entry const& stored) {
    return {make_error_code(errc::other_definition),
            "settle: the entry '" + stored.id + "' of type '" + stored.type +
                "' was made by another definition. Keep the old definition in an engine until its "
                "entries are settled. See upkeep#changing-definitions"};
}

SETTLE_FUNCTION error unknown_type(entry const& stored) {
    return {make_error_code(errc::unknown_type),
            "settle: the entry '" + stored.id + "' is of type '" + stored.type +
                "', which this engine does not have. Add it with settle::type<…>, or let the "
                "program that has it recover. See upkeep#changing-definitions"};
}

SETTLE_FUNCTION error damaged_parameters(entry const& stored, error const& problem) {
    return {make_error_code(errc::damaged), "settle: the parameters of the entry '" + stored.id +
                                                "' cannot be read: " + problem.message() +
                                                ". See errors#errors"};
}

SETTLE_FUNCTION error fault_of(entry const& stored) {
    // A claim raises the epoch once more, unless the entry is final.
    epoch const limit = is_birth(stored.epoch_number) ? birth_limit : epoch_limit - 1;
    bool const is_valid = stored.epoch_number < limit;
    if (is_final(stored.state) || is_valid) return {};
    return {make_error_code(errc::damaged),
            "settle: the entry '" + stored.id + "' is damaged: its epoch " +
                std::to_string(stored.epoch_number) +
                " is higher than any valid epoch. Restore the entry, or give it the highest epoch "
                "of its marks. See errors#damaged"};
}

SETTLE_FUNCTION error entry_behind_marks(transaction_id const& id) {
    return {make_error_code(errc::damaged),
            "settle: a record has a mark of '" + id +
                "' with a later epoch than the entry has: log and records are from different "
                "times. Perhaps only one was restored. Stop all recovery, and restore both. "
                "See errors#damaged"};
}

SETTLE_FUNCTION error vanished_entry(transaction_id const& id) {
    return {make_error_code(errc::damaged),
            "settle: the entry '" + id +
                "' was in the log and is gone: it was purged, or another program has removed it. "
                "See errors#errors"};
}

SETTLE_FUNCTION error too_young(std::chrono::milliseconds age, std::chrono::milliseconds horizon) {
    using std::chrono::hours;
    auto const in_hours = [](auto time) {
        return std::to_string(std::chrono::ceil<hours>(time).count()) + " h";
    };
    return {make_error_code(errc::too_young),
            "settle: a call or a late write may still need entries that are " + in_hours(age) +
                " old; only entries older than " + in_hours(horizon) +
                " (the longest resubmission + lifetime + clocks of this log's programs) can be "
                "purged. Give a larger older_than. "
                "See upkeep#purge"};
}

SETTLE_FUNCTION error pivot_decides(entry const& stored) {
    return {make_error_code(errc::too_late),
            "settle: it is too late to cancel '" + stored.id +
                "': its last call may have been made and cannot be undone, so its answer decides. "
                "Wait, or call retry. See running#calls-of-services"};
}

SETTLE_FUNCTION error not_closable(entry const& stored, std::string const& why) {
    return {make_error_code(errc::not_closable), "settle: no call of '" + stored.id +
                                                     "' is closed: " + why +
                                                     ". See stuck#stuck-transactions"};
}

SETTLE_FUNCTION bool was_closed(entry const& entry, std::string_view why) {
    return std::any_of(entry.results.begin(), entry.results.end(),
                       [&](kept_result const& result) { return result.closed == why; });
}

SETTLE_FUNCTION error check_closing(entry const& stored, std::string_view why,
                                    resolve_options const& call_options) {
    constexpr std::size_t longest = 1000;
    if (why.empty() || why.size() > longest || utf8_prefix(why) != why.size())
        return not_closable(stored, "the reason must be UTF-8 of 1 to 1,000 bytes");
    if (!call_options.result.empty() && call_options.pivot != pivot_outcome::was_applied)
        return not_closable(stored, "only a pivot that was applied has a result");
    if (may_close(stored.state, call_options.pivot.has_value())) return {};
    std::string const state = "its state is " + std::string{name_of(stored.state)};
    if (stored.state == state::deciding) {
        return not_closable(stored, state + ", so its pivot may have been applied. Ask the "
                                            "service, and set resolve_options::pivot");
    }
    if (call_options.pivot)
        return not_closable(stored,
                            state + ". Only a pivot that is deciding has an outcome to set");
    return not_closable(stored, state + ". Only a confirm, a compensation or a pivot that is "
                                        "deciding is closed");
}

SETTLE_FUNCTION error no_such_call(entry const& stored, part_name const& named) {
    std::string text = "settle: '" + stored.id + "' has no call '";
    text.append(named.participant).append("'");
    if (named.line) text.append(" on line ").append(std::to_string(*named.line + 1));
    return {make_error_code(errc::not_closable),
            text + ". Name a participant of its type that is a call, and the line of a range. "
                   "See stuck#stuck-transactions"};
}

SETTLE_FUNCTION error moved_meanwhile(entry const& stored) {
    return {make_error_code(errc::not_closable),
            "settle: a worker changed '" + stored.id +
                "' meanwhile, so no call was closed. Look at the entry, and call resolve again. "
                "See stuck#stuck-transactions"};
}

SETTLE_FUNCTION error check_options(options const& limits) {
    error problem;
    auto const check = [&](std::string_view name, auto limit, bool may_be_zero = true) {
        if (limit.count() > (may_be_zero ? -1 : 0) || !problem.empty()) return;
        problem = bad_limit(std::string{"options::"}.append(name), limit,
                            may_be_zero ? "0 or more" : "more than 0", "See options#options");
    };
    check("takeover", limits.takeover);
    check("resubmission", limits.resubmission);
    check("lifetime", limits.lifetime, false);
    check("clocks", limits.clocks);
    check("first_pause", limits.first_pause);
    check("call_first_pause", limits.call_first_pause);
    check("call_longest_pause", limits.call_longest_pause);
    check("longest_pause", limits.longest_pause);
    check("call_patience", limits.call_patience);
    check("stuck_after", limits.stuck_after);
    check("patience", limits.patience);
    return problem;
}

SETTLE_FUNCTION std::string why_not_reversible(entry const& original, timestamp now,
                                               options const& limits) {
    if (is_reversal_id(original.id)) {
        return "settle: '" + original.id +
               "' is a reversal and is not reversed again. Run a new transaction. "
               "See upkeep#reverse";
    }
    if (!may_reverse(original.state)) {
        return "settle: '" + original.id + "' is " + std::string{name_of(original.state)} +
               "; only a transaction that is done can be reversed. See upkeep#reverse";
    }
    // The reversal may have been purged meanwhile, and would take effect a second time.
    bool const unknown = is_ahead(original.modified, now, limits.clocks);
    if (unknown && limits.resubmission != std::chrono::milliseconds::max()) {
        return "settle: '" + original.id +
               "' has an end time in the future, from a wrong clock, so it may have ended too long "
               "ago to be reversed. Set the clock, or run a new transaction. See upkeep#reverse";
    }
    if (time_between(original.modified, now) > limits.resubmission) {
        return "settle: '" + original.id +
               "' was done too long ago to be reversed under its own id. Run a new transaction. "
               "See upkeep#reverse";
    }
    return {};
}

SETTLE_FUNCTION error no_reversal(entry const& original) {
    return {make_error_code(errc::not_reversible),
            "settle: '" + original.id +
                "' has a participant that is no record, so it has no derived reversal. Run a new "
                "transaction. See upkeep#reverse"};
}

} // namespace detail
SETTLE_END
