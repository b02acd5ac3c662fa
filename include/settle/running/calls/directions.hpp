// SPDX-License-Identifier: BSL-1.0
// The directions of an engine's types, as a table for code that is compiled once.
#pragma once

#include <settle/running/calls/outcome.hpp>
#include <settle/running/construction/argument_lists.hpp>
#include <settle/running/driving/call_pauses.hpp>
#include <settle/store/descriptor.hpp>

SETTLE_BEGIN
namespace detail {

/// A direction of a type that an engine has.
struct known_direction {
    transaction_descriptor const* type;
    /// The direction of its reversal; null for a reversal and where the library derives none.
    transaction_descriptor const* back = nullptr;
    /// Makes the parameters of the reversal in a slot.
    void (*reverse)(void* slot, void const* parameters, std::vector<image> const& images) = nullptr;
};
using known_directions = std::span<known_direction const>;

template <typename Direction>
consteval known_direction make_known() {
    known_direction known{&descriptor_of<Direction>};
    if constexpr (!Direction::is_reverse) {
        if constexpr (is_reversible<typename Direction::type>) {
            using back = typename opposite<Direction>::type;
            known.back = &descriptor_of<back>;
            known.reverse = [](void* slot, void const* value, std::vector<image> const& images) {
                auto const& parameters = *static_cast<typename Direction::parameters const*>(value);
                ::new (slot) typename back::parameters{parameters, images};
            };
        }
    }
    return known;
}

template <typename Types>
consteval auto make_directions() {
    constexpr std::size_t count = [] {
        std::size_t counted = 0;
        for_each_direction(Types{}, [&](auto) { ++counted; });
        return counted;
    }();
    std::array<known_direction, count> known{};
    std::size_t index = 0;
    for_each_direction(Types{}, [&]<typename Direction>(std::type_identity<Direction>) {
        known[index++] = make_known<Direction>();
    });
    return known;
}
/// The directions of an engine's types, forward and backward.
template <typename Types>
inline constexpr auto directions_of = make_directions<Types>();

/// True if a type has participants that are services.
[[nodiscard]] bool has_calls(known_directions known);

/// The reason why a person cannot pause these calls; empty if that is possible.
[[nodiscard]] error check_pause(known_directions known, pause_scope scope, std::string_view name,
                                std::string_view why);

/// The direction of an entry, found by its name and definition.
/// Errors:  no direction has that name, or none of that name has that definition
[[nodiscard]] result<known_direction const*> direction_for(known_directions known,
                                                           entry const& stored);

/// The descriptor of an entry's direction, or that of an entry without a definition.
[[nodiscard]] transaction_descriptor const& descriptor_for(known_directions known,
                                                           entry const& stored);

/// The parameters of an entry, if they can be read and their guards hold.
[[nodiscard]] result<held_parameters> read_parameters(transaction_descriptor const& type,
                                                      entry const& stored);

/// Finds the direction of an entry, reads its parameters, and calls `function(direction,
/// parameters)`.
[[nodiscard]] outcome
with_entry(known_directions known, entry const& stored,
           function_view<outcome(known_direction const&, void const* parameters)> function);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/directions.ipp>
#endif
