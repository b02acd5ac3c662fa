// SPDX-License-Identifier: BSL-1.0
// The records of a session's collections, as its typed half calls them.
#pragma once

#include <settle/adapter/record_session.hpp>
#include <settle/sqlite/log/log_session.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::collection_descriptor;
using record_store = settle::detail::one_phase_store<log_session>;

} // namespace sqlite::detail
SETTLE_END
