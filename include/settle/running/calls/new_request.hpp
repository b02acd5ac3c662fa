// SPDX-License-Identifier: BSL-1.0
// What a call runs, for code that is compiled once for all types.
#pragma once

#include <settle/store/descriptor.hpp>

SETTLE_BEGIN
namespace detail {

/// A transaction without its C++ type. The caller owns the parameters.
struct new_request {
    transaction_descriptor const* direction;
    void const* parameters;
    std::size_t parts;
};

[[nodiscard]] inline new_request request_of(transaction_descriptor const& direction,
                                            void const* parameters) {
    return {&direction, parameters, direction.count_parts(parameters)};
}

template <typename Direction>
[[nodiscard]] new_request new_request_of(typename Direction::parameters const& parameters) {
    return {&descriptor_of<Direction>, &parameters,
            Direction::count_parts(Direction::user(parameters))};
}

} // namespace detail
SETTLE_END
