// SPDX-License-Identifier: BSL-1.0
// The result of a call, from an outcome or an entry.
#pragma once

#include <settle/definition/codec.hpp>
#include <settle/protocol/direction.hpp>
#include <settle/running/calls/outcome.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   Type - a transaction_definition
template <typename Type, fixed_string Participant>
struct call_result;
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants,
          fixed_string Participant>
struct call_result<transaction_definition<Parameters, Name, Guards, Participants...>, Participant> {
    static constexpr std::size_t index = index_of_participant<Participants...>(Participant.view());
    static constexpr bool gives_result = [] {
        if constexpr (index == sizeof...(Participants)) {
            return false;
        } else {
            using found = participant_named<Participant, Participants...>;
            if constexpr (is_call_participant<found>) return found::gives_result;
            else return false;
        }
    }();
    static consteval auto value() {
        if constexpr (gives_result) {
            using found = participant_named<Participant, Participants...>;
            return std::type_identity<typename found::service_type::result_type>{};
        } else {
            return std::type_identity<nothing>{};
        }
    }
    using type = typename decltype(value())::type;
};

} // namespace detail

/// The result of a call: `settle::result_of<trip_type, "flight">(outcome)`.
/// Shape:   Type - the definition; Participant - a name; holder - an outcome or an entry of that
/// type;
///          line - of the participant, in a range, from 0
/// Returns: an empty optional if the log keeps no readable result of the call
template <auto const& Type, fixed_string Participant, typename Holder>
[[nodiscard]] auto result_of(Holder const& holder, std::uint32_t line = 0) {
    using looked_for = detail::call_result<std::remove_cvref_t<decltype(Type)>, Participant>;
    static_assert(looked_for::gives_result,
                  "settle: result_of names no participant of the type that calls a "
                  "service with a result. See definition#services");
    std::optional<typename looked_for::type> value;
    if constexpr (looked_for::gives_result) {
        for (kept_result const& kept : holder.results) {
            if (kept.participant != looked_for::index || kept.line != line) continue;
            auto read = decode_json<typename looked_for::type>(kept.value);
            if (read) value = *std::move(read);
        }
    }
    return value;
}

SETTLE_END
