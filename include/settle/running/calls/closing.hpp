// SPDX-License-Identifier: BSL-1.0
// Closes the part of a call whose service never answers.
#pragma once

#include <settle/kinds/services/service_part.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/worker.hpp>

SETTLE_BEGIN
namespace detail {

/// A part of a transaction, and its number among all parts.
struct found_part {
    part_descriptor const* descriptor = nullptr;
    part_number number{};
    std::size_t at = entry_write::no_part;
};

/// The named part, if it is a call that the state of the entry allows to close.
[[nodiscard]] inline found_part find_call(entry const& in, transaction_descriptor const& direction,
                                          void const* parameters, part_name const& named) {
    found_part named_part;
    direction.for_each_part(
        parameters, [&](part_descriptor const& descriptor, std::size_t line, std::size_t part) {
            part_name const name = direction.name_part(parameters, part);
            if (name.participant != named.participant || name.line != named.line) return;
            if (descriptor.make_result == nullptr) return;
            if (in.state == state::deciding && !descriptor.is_pivot) return;
            named_part = {
                &descriptor, {descriptor.participant, static_cast<std::uint32_t>(line)}, part};
        });
    return named_part;
}

/// Reads the result that a person gives for a pivot, as its service would give it.
/// Errors:  why the entry cannot keep it
[[nodiscard]] inline error read_stated(entry const& stored, part_descriptor const& pivot,
                                       std::string const& stated, std::string& value) {
    bool const is_call = pivot.kind == &service_kind;
    auto* const read_result =
        is_call ? static_cast<call_functions const*>(pivot.functions)->read_result : nullptr;
    std::string const service{pivot.name};
    if (read_result == nullptr) {
        if (stated.empty()) return {};
        return not_closable(stored, "the service '" + service + "' gives no result");
    }
    auto const fault = read_result(stated, value);
    if (fault.empty()) return {};
    return not_closable(stored, "no result of the service '" + service + "' can be read from '" +
                                    stated + "': " + fault.text);
}

/// The end of a closing.
struct closing {
    error problem{};        ///< empty if the part is closed
    bool is_certain = true; ///< false if the log could not be reached, or its answer was lost
};

/// Writes the reason into the entry, in a compare-and-set on state, epoch and revision. A live
/// worker then loses its next compare-and-set, since the revision is raised or the state changed.
/// A pivot that was applied is closed in `deciding`: the next worker applies the records under its
/// own epoch, takes the pivot as applied, and commits. A pivot that was not applied is closed by
/// the compare-and-set that cancels.
/// Errors:  why the part is not closed
template <typename Rules>
closing close_part(seam_context<Rules> const& context, patience& patience, entry const& stored,
                   transaction_descriptor const& direction, void const* parameters,
                   part_name const& named, std::string_view why,
                   resolve_options const& call_options) {
    if (auto refused = check_closing(stored, why, call_options); !refused.empty()) return {refused};
    auto const part = find_call(stored, direction, parameters, named);
    if (part.descriptor == nullptr) return {no_such_call(stored, named)};
    kept_result closed{part.number.participant, part.number.line, {}, std::string{why}};
    if (call_options.pivot == pivot_outcome::was_applied) {
        auto problem = read_stated(stored, *part.descriptor, call_options.result, closed.value);
        if (!problem.empty()) return {problem};
    }
    std::vector<kept_result> results = stored.results;
    auto const position =
        std::find_if(results.begin(), results.end(), [&](kept_result const& result) {
            return result.participant == closed.participant && result.line == closed.line;
        });
    if (position != results.end()) {
        position->closed = std::move(closed.closed);
        // A person who states the outcome again may correct the result.
        if (call_options.pivot == pivot_outcome::was_applied)
            position->value = std::move(closed.value);
    } else {
        results.push_back(std::move(closed));
    }
    bool const cancels = call_options.pivot == pivot_outcome::was_not_applied;
    auto const change = closing_of(standing_of(stored), cancels);
    entry_write write{
        &stored.id, &direction, parameters,     cancels ? step::cancel : step::keep,
        false,      change,     stored.created, cancels ? part.at : entry_write::no_part,
        nullptr,    0,          &results};
    write_result answer;
    bool again = true;
    while (again) {
        answer = {};
        context.ports.log.write({&write, 1}, {&answer, 1},
                                {context.environment.now(), context.owner});
        again = answer.reply == log_answer::unavailable &&
                answer.problem.code == condition::retryable && patience.pause();
    }
    if (answer.reply == log_answer::taken) return {};
    if (answer.reply == log_answer::conflict) return {moved_meanwhile(stored)};
    bool const is_certain =
        answer.reply != log_answer::unavailable && answer.reply != log_answer::unknown;
    return {answer.problem, is_certain};
}

} // namespace detail
SETTLE_END
