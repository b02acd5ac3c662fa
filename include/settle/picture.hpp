// SPDX-License-Identifier: BSL-1.0
// Draws a transaction type from its definition: its stages, what may fail in each, and what
// follows.
#pragma once

#include <settle/picture/drawn_type.hpp>

SETTLE_BEGIN

/// A transaction type as a flow chart, in two languages.
struct type_picture {
    std::string mermaid; ///< as GitHub draws it in a block of Markdown: mermaid
    std::string dot;     ///< for Graphviz
};

namespace detail {

/// Shape:   items - of the definition, with its end; participants - in the order of the definition;
///          undone_by_stage - as in stage_plan
[[nodiscard]] type_picture draw(std::vector<definition_item> items,
                                std::span<drawn_participant const> participants,
                                bool undone_by_stage);

template <typename Participant>
consteval drawn_participant drawn() {
    drawn_participant part{Participant::stage, false};
    if constexpr (requires { Participant::is_pivot; }) part.is_pivot = Participant::is_pivot;
    if constexpr (CallParticipant<Participant>) {
        constexpr receiver_grade grade = Participant::service_type::grade;
        part.keeps_rows = grade.remembers == receiver_grade::memory::rows;
    }
    return part;
}

/// Shape:   Type - of transaction_definition
template <typename Type, typename... Participants>
inline constexpr auto drawn_participants = [] {
    std::array participants{drawn<Participants>()...};
    auto const after = Type::undone_after();
    for (std::size_t n = 0; n < after.size(); ++n) participants[n].undone_after = after[n];
    return participants;
}();

} // namespace detail

/// The picture of a type: participants, stages, guards and moments, which records are exclusive,
/// the pivot, what may fail where and what then happens. It follows from the definition alone.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
[[nodiscard]] type_picture
picture(transaction_definition<Parameters, Name, Guards, Participants...> const& definition) {
    using type = transaction_definition<Parameters, Name, Guards, Participants...>;
    constexpr auto const& participants = detail::drawn_participants<type, Participants...>;
    std::vector<detail::definition_item> items(detail::count_items(definition) + 1);
    detail::item_list out{items.data()};
    detail::put_definition(out, definition);
    return detail::draw(std::move(items), participants, definition.undone_by_stage());
}

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/picture.ipp>
#endif
