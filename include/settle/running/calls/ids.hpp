// SPDX-License-Identifier: BSL-1.0
// The rules for ids of users, and the ids of reversals.
#pragma once

#include <settle/base/error.hpp>
#include <settle/base/utf8.hpp>

#include <cstdint>
#include <string>
#include <string_view>

SETTLE_BEGIN

inline constexpr std::size_t longest_id = 200;

/// The id of a reversal: `<id>/reverse`, then `<id>/reverse/2` and so on.
[[nodiscard]] std::string reversal_id(std::string const& id, std::uint32_t attempt);

[[nodiscard]] bool is_reversal_id(std::string_view id);

/// The fault of a user's id; empty if there is none.
[[nodiscard]] std::string_view fault_of_id(std::string_view id);

/// Errors:  errc::bad_text that names the fault, or none
[[nodiscard]] error check_id(std::string_view id);

/// The error of an id that does not fit into a name of a database.
[[nodiscard]] error long_id(std::string_view target, std::size_t longest);

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/ids.ipp>
#endif
