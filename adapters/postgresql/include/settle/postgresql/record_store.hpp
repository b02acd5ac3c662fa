// SPDX-License-Identifier: BSL-1.0
// The records of a session's collections, as its typed half calls them.
#pragma once

#include <settle/adapter/record_session.hpp>
#include <settle/postgresql/log_session.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::collection_descriptor;

/// Shape:   threads may share a store
class record_store : public settle::detail::overlapping_store {
public:
    /// Shape:   log - of the same database
    virtual void one_phase(std::span<one_phase_request> requests, log_session& log,
                           write_context const& at, one_phase_decider& decider) = 0;
};

} // namespace postgresql::detail
SETTLE_END
