// SPDX-License-Identifier: BSL-1.0
// Writes the protocol of a transaction type as a model for an independent checker.
#pragma once

#include <settle/picture.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   as for draw()
[[nodiscard]] std::string promela_text(std::vector<definition_item> items,
                                       std::span<drawn_participant const> participants,
                                       bool undone_by_stage);
[[nodiscard]] std::string tla_text(std::vector<definition_item> items,
                                   std::span<drawn_participant const> participants,
                                   bool undone_by_stage);

template <typename Participant>
consteval bool is_modeled() {
    constexpr bool known = RecordParticipant<Participant> || CallParticipant<Participant> ||
                           PreparedParticipant<Participant>;
    static_assert(known, "settle: the models of a type have records, calls and prepared parts, and "
                         "no participant of another kind. Search such a type with "
                         "settle::testing::explore. See pictures#models-for-checkers");
    return known;
}

template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
[[nodiscard]] std::string
write_model(transaction_definition<Parameters, Name, Guards, Participants...> const& definition,
            decltype(&promela_text) write) {
    if constexpr ((is_modeled<Participants>() && ...)) {
        using type = transaction_definition<Parameters, Name, Guards, Participants...>;
        constexpr auto const& participants = drawn_participants<type, Participants...>;
        std::vector<definition_item> items(count_items(definition) + 1);
        item_list out{items.data()};
        put_definition(out, definition);
        return write(std::move(items), participants, definition.undone_by_stage());
    } else {
        return {};
    }
}

} // namespace detail

/// The protocol of a type in Promela, for the checker spin: its participants, stages, pivot and
/// order of compensations, with a switch for each rule. It follows from the definition alone.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
[[nodiscard]] std::string
promela(transaction_definition<Parameters, Name, Guards, Participants...> const& definition) {
    return detail::write_model(definition, &detail::promela_text);
}

/// The same machine in TLA+, as a module for the checker TLC. The file has the name of the module.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
[[nodiscard]] std::string
tla(transaction_definition<Parameters, Name, Guards, Participants...> const& definition) {
    return detail::write_model(definition, &detail::tla_text);
}

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/model.ipp>
#endif
