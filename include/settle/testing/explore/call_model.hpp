// SPDX-License-Identifier: BSL-1.0
// The calls of a search: parts that are no records.
#pragma once

#include <settle/definition/call_participant.hpp>
#include <settle/protocol/state.hpp>

#include <functional>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// The moments of a modeled call.
enum class call_moments : std::uint8_t {
    query,    ///< an apply without an effect, whose answer may differ each time
    undoable, ///< apply, confirm and compensate
    pivot,    ///< an apply that cannot be undone, alone in the last stage
    confirm_only
};

/// When a receiver stores its row. A receiver that stores row and effect apart may stop in between.
enum class row_write : std::uint8_t {
    with_effect, ///< in one native transaction
    before_effect,
    after_effect
};

/// A part of a transaction that calls a receiver. Its key is the transaction and the part.
struct call_model {
    std::string name;
    stage_number stage = 1; ///< at least 1; its parameters are the results of earlier stages
    call_moments moments = call_moments::undoable;
    receiver_grade grade = barrier;
    std::uint8_t results = 1; ///< the number of different results of a first answer; at most 14
    bool refuses = false;     ///< a first answer may refuse the call
    bool busy = false;        ///< a first answer may be busy
    bool confirms = true;     ///< a call that can be undone is confirmed after the commit
    row_write writes = row_write::with_effect;
    bool keyed = false; ///< a second effect of one key changes nothing, nor does a second undo
    /// A bit for each call of the transaction whose result it uses, if that call is earlier. Those
    /// are compensated after it.
    std::uint8_t uses = 15;
    bool in_order = false; ///< the transaction compensates each stage after all later ones
    bool ends = true;      ///< if false, the receiver never takes a confirm or a compensation
};

/// The call that a search makes for a participant that is no record. A kind specialises it for its
/// participants.
/// Shape:   make() - static: the call_model, with the participant's stage
template <typename Participant>
struct searched_call;

/// The default model of a service: it may refuse a call that has an effect, and its queries give
/// two results.
template <CallParticipant Participant>
struct searched_call<Participant> {
    static call_model make() {
        call_model model{std::string{Participant::name},
                         static_cast<stage_number>(Participant::stage)};
        model.grade = Participant::service_type::grade;
        if (!Participant::applies) model.moments = call_moments::confirm_only;
        else if (!Participant::has_effect) model.moments = call_moments::query;
        else if (Participant::is_pivot) model.moments = call_moments::pivot;
        model.results = model.moments == call_moments::query ? 2 : 1;
        model.refuses = Participant::has_effect;
        model.confirms = Participant::confirms;
        return model;
    }
};

/// True if the receiver gets a call after the commit.
[[nodiscard]] constexpr bool confirms(call_model const& model) {
    return model.moments == call_moments::confirm_only ||
           (model.moments == call_moments::undoable && model.confirms);
}

struct calls_clause {
    transaction_id id;
    std::vector<call_model> parts;
};

/// Adds calls to the transaction of another clause: `calls("t1", call_model{"seat", 1})`.
template <typename... Calls>
[[nodiscard]] calls_clause calls(transaction_id id, Calls const&... parts) {
    return {std::move(id), {parts...}};
}

struct model_clause {
    std::string participant;
    std::function<void(call_model&)> change;
};

/// Changes the model of a participant's calls:
/// `models("flight", [](call_model& flight) { flight.writes = row_write::after_effect; })`.
template <typename Change>
[[nodiscard]] model_clause models(std::string participant, Change change) {
    return {std::move(participant), std::move(change)};
}

/// The results of a transaction's calls, 4 bits each; 0 is no result.
using call_results = std::uint16_t;
inline constexpr std::size_t most_calls = 4;

[[nodiscard]] constexpr std::uint8_t result_of(call_results all, std::size_t index) {
    return static_cast<std::uint8_t>(all >> (4 * index) & 15U);
}
[[nodiscard]] constexpr call_results with_result(call_results all, std::size_t index,
                                                 std::uint8_t result) {
    return static_cast<call_results>((all & ~(15U << (4 * index))) | static_cast<unsigned>(result)
                                                                         << (4 * index));
}

} // namespace testing
SETTLE_END
