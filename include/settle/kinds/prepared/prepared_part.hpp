// SPDX-License-Identifier: BSL-1.0
// Parts that a database prepares: how a part request becomes the request of the user's work.
#pragma once

#include <settle/definition/prepared_participant.hpp>
#include <settle/kinds/call_arguments.hpp>
#include <settle/store/request.hpp>

SETTLE_BEGIN

/// Statements that a database prepares. The functions of its parts are prepared_functions.
inline constexpr part_kind prepared_kind{"prepared", false};

/// The functions of a prepared part.
struct prepared_functions {
    std::string_view participant;
    /// Sets the request of the user's work.
    /// Shape:   request - a value of the target's request type
    void (*fill)(part_request const&, void* request);
};

namespace detail {

template <typename Target>
inline constexpr bool is_prepared = false;
template <typename Request, fixed_string Name>
inline constexpr bool is_prepared<prepared<Request, Name>> = true;

[[nodiscard]] inline prepared_functions const& prepared_functions_of(part_request const& request) {
    return *static_cast<prepared_functions const*>(request.descriptor->functions);
}

/// The functions of one participant whose target is a settle::prepared.
template <typename Direction, std::size_t Index>
struct prepared_part_functions {
    using participant = typename Direction::template participant<Index>;

    static void fill(part_request const& request, void* into) {
        auto const& parameters = Direction::user(
            *static_cast<typename Direction::parameters const*>(request.parameters));
        // The parameters were checked before the first write, so no argument overflows.
        bool overflow = false;
        scope<nothing, typename Direction::user_parameters,
              typename Direction::template element_of<Index>> const values{
            nullptr, &parameters, Direction::template element<Index>(parameters, request.part.line),
            &overflow};
        fill_request(*static_cast<typename participant::prepared_type::request_type*>(into),
                     Direction::template description<Index>().applying.arguments, values);
    }
};

} // namespace detail

template <typename Request, fixed_string Name>
struct kind_of_target<prepared<Request, Name>> {
    static constexpr part_kind const& kind = prepared_kind;
    static constexpr std::nullptr_t make_image = nullptr;
    static constexpr std::nullptr_t make_result = nullptr;
    template <typename Direction, std::size_t Index>
    static constexpr prepared_functions functions{
        Direction::template participant<Index>::name,
        &detail::prepared_part_functions<Direction, Index>::fill};
};

SETTLE_END
