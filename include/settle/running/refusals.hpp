// SPDX-License-Identifier: BSL-1.0
// The outcomes of calls that wrote nothing: refusals, each with its sentence, and ends that stand.
#pragma once

#include <settle/protocol/direction.hpp>
#include <settle/protocol/entry.hpp>
#include <settle/running/ids.hpp>
#include <settle/running/outcome.hpp>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] inline outcome refuse(transaction_id const& id, error problem) {
    outcome told;
    told.id = id;
    told.verdict = verdict::refused;
    told.problem = std::move(problem);
    return told;
}

[[nodiscard]] inline outcome refuse_parameters(transaction_id const& id, refusal const& refused) {
    outcome told = refuse(id, {make_error_code(errc::bad_parameters),
                               "settle: the parameters break a guard of theirs (an amount is "
                               "negative, a condition does not hold, or a sum overflows); nothing "
                               "was written. README#parameters"});
    told.why = refused.why;
    told.participant = refused.where.participant;
    told.line = refused.where.line;
    return told;
}

[[nodiscard]] inline outcome unknown_id(transaction_id const& id) {
    return refuse(id, {make_error_code(errc::unknown_id),
                       "settle: the log has no entry '" + id + "'. README#errors"});
}

/// The log could not be read, so nothing is known of the id.
[[nodiscard]] inline outcome unreadable(transaction_id const& id, error const& problem) {
    outcome told;
    told.id = id;
    told.problem = problem;
    return told;
}

/// A limit of the call had passed when it began.
[[nodiscard]] inline error nothing_begun() {
    return {make_error_code(errc::stopped),
            "settle: nothing was begun, since the call's deadline had passed or its stop was "
            "requested before. Call again with other limits. README#undecided"};
}

/// A stop request ended a call that takes many things one after the other.
[[nodiscard]] inline error stopped_early() {
    return {make_error_code(errc::stopped),
            "settle: a stop request ended the call early; what stood behind its last step was not "
            "looked at. Call again for the rest. README#undecided"};
}

/// The outcome of an entry that is final.
[[nodiscard]] inline outcome told_by(entry const& found) {
    outcome told;
    told.id = found.id;
    told.verdict = found.state == state::done ? verdict::done : verdict::canceled;
    told.why = found.why;
    told.participant = found.participant;
    told.line = found.line;
    return told;
}

[[nodiscard]] inline error id_in_use(transaction_id const& id) {
    return {make_error_code(errc::id_in_use),
            "settle: the id '" + id +
                "' belongs to another transaction. Use a new id for new parameters. README#ids"};
}

[[nodiscard]] inline error other_definition(entry const& found) {
    return {make_error_code(errc::other_definition),
            "settle: the entry '" + found.id + "' of type '" + found.type +
                "' was made by another definition. Keep the old definition in an engine until its "
                "entries are settled. README#changing-definitions"};
}

[[nodiscard]] inline error unknown_type(entry const& found) {
    return {make_error_code(errc::unknown_type),
            "settle: the entry '" + found.id + "' is of type '" + found.type +
                "', which this engine does not have. Add it with settle::type<…>, or let the "
                "program that has it recover. README#changing-definitions"};
}

[[nodiscard]] inline error damaged_parameters(entry const& found, error const& problem) {
    return {make_error_code(errc::damaged), "settle: the parameters of the entry '" + found.id +
                                                "' cannot be read: " + problem.message() +
                                                ". README#errors"};
}

/// What is wrong with an entry that could be read; nothing when it can be taken up.
[[nodiscard]] inline error fault_of(entry const& found) {
    // A claim raises it once more, unless it has come to its end.
    if (is_final(found.state) || found.epoch_number < epoch_limit - 1) return {};
    return {make_error_code(errc::damaged),
            "settle: the entry '" + found.id + "' is damaged: its epoch " +
                std::to_string(found.epoch_number) +
                " is none that settle gives. Restore it, or give it the highest epoch of its "
                "marks. README#damaged"};
}

/// The log is behind the records: no worker can raise a mark before it has raised the entry.
[[nodiscard]] inline error entry_behind_marks(transaction_id const& id) {
    return {make_error_code(errc::damaged),
            "settle: a record has a mark of '" + id +
                "' under a later epoch than the entry's: log and records are not of one moment, "
                "as after a restore of one of them. Stop what recovers, and restore both together. "
                "README#damaged"};
}

[[nodiscard]] inline error vanished_entry(transaction_id const& id) {
    return {make_error_code(errc::damaged),
            "settle: the entry '" + id +
                "' was in the log and is gone: it was purged, or another program has removed it. "
                "README#errors"};
}

[[nodiscard]] inline error too_young(std::chrono::milliseconds asked,
                                     std::chrono::milliseconds horizon) {
    using std::chrono::hours;
    auto const in_hours = [](auto time) {
        return std::to_string(std::chrono::ceil<hours>(time).count()) + " h";
    };
    return {make_error_code(errc::too_young),
            "settle: entries of " + in_hours(asked) + " may still be asked for, or meet a late "
            "write; only those older than " + in_hours(horizon) +
                " (resubmission + lifetime + clocks) can be purged. Ask for older ones. "
                "README#purge"};
}

/// Why an entry cannot be reversed, or nothing.
[[nodiscard]] inline std::string why_not_reversible(entry const& original, timestamp now,
                                                    std::chrono::milliseconds within) {
    if (is_reversal_id(original.id)) {
        return "settle: '" + original.id +
               "' is a reversal and is not reversed again. Run a new transaction. README#reverse";
    }
    if (original.state != state::done) {
        return "settle: '" + original.id + "' is " + std::string{name_of(original.state)} +
               "; only what is done can be reversed. README#reverse";
    }
    if (now - original.modified > within) {
        return "settle: '" + original.id +
               "' was done too long ago to be reversed under its own id. Run a new transaction. "
               "README#reverse";
    }
    return {};
}

} // namespace detail
SETTLE_END
