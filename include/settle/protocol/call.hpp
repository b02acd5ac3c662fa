// SPDX-License-Identifier: BSL-1.0
// The operations of a call of a service, and the status of its answer.
#pragma once

#include <settle/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

SETTLE_BEGIN

/// The operation of a call: the moment of its participant. A query is an apply without an effect:
/// its receiver remembers nothing of it.
enum class call_operation : std::uint8_t { apply, confirm, compensate, query };

[[nodiscard]] constexpr std::string_view name_of(call_operation value) {
    constexpr std::string_view names[]{"apply", "confirm", "compensate", "query"};
    return names[static_cast<std::size_t>(value)];
}

enum class call_status : std::uint8_t {
    unknown,    ///< the call took effect at most once, possibly later
    ok,         ///< the call took effect, now or at an earlier try
    refused,    ///< the call took no effect and never will; only for an apply or a query
    unavailable ///< the call certainly took no effect; it may be sent again
};

[[nodiscard]] constexpr std::string_view name_of(call_status value) {
    constexpr std::string_view names[]{"unknown", "ok", "refused", "unavailable"};
    return names[static_cast<std::size_t>(value)];
}

SETTLE_END
