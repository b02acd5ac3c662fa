// SPDX-License-Identifier: BSL-1.0
// The row of a receiver: its memory of one key.
#pragma once

#include <settle/kinds/services/service.hpp>
#include <settle/protocol/receiver_rule.hpp>

#include <optional>
#include <string>

SETTLE_BEGIN

/// The row of one key, as a database keeps it.
struct receiver_row {
    std::string key;
    receiver_standing standing;
    /// The text of the apply's answer: its result as JSON, or the reason of its refusal.
    std::string answer;
    /// A fingerprint of the request that the row was made for; empty if it was made without one.
    /// After a space, those of other requests that came with the key.
    std::string request;
    // For people; the rule does not read them.
    std::string service;
    std::string transaction;
    std::string participant;
    std::optional<std::uint32_t> line;
    timestamp created;
    timestamp modified;

    friend bool operator==(receiver_row const&, receiver_row const&) = default;
};

namespace detail {

/// The status with this name; empty if there is none.
[[nodiscard]] constexpr std::optional<receiver_status>
receiver_status_named(std::string_view name) {
    using enum receiver_status;
    for (auto const one : {applied, confirmed, compensated, refused, closed}) {
        if (name_of(one) == name) return one;
    }
    return std::nullopt;
}

} // namespace detail

/// A choice of rows.
struct receiver_filter {
    std::optional<receiver_status> status{};
    std::string transaction{}; ///< an id, or empty for every transaction
};

namespace detail {

/// The error of a call whose key no row can have; empty if a row can have it.
[[nodiscard]] std::string fault_of_key(std::string_view key);

} // namespace detail
SETTLE_END
