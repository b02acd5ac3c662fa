// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: an engine hands its waves to it.
#pragma once

#include <settle/adapter/record_session.hpp>
#include <settle/postgresql/log/log_session.hpp>

SETTLE_BEGIN
namespace postgresql {
namespace detail {

using record_store = settle::detail::one_phase_store<log_session>;

/// Shape:   the pool outlives the store
/// Errors:  throws settle::failure when a table does not fit its collection, or when the schema's
///          records belong to another log
[[nodiscard]] std::shared_ptr<record_store>
make_record_store(pool& with, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound);

template <typename... Collections>
using session_base = settle::detail::one_phase_session<
    settle::detail::overlapping_session<record_store, Collections...>, log_session>;

} // namespace detail

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave is one native transaction in two round trips, however many operations: the first
///          locks and reads, the second writes and commits
template <typename... Collections>
class record_session : public detail::session_base<Collections...> {
    using base = detail::session_base<Collections...>;

public:
    /// Errors:  throws settle::failure when a table does not fit its collection, or when the
    ///          schema's records belong to another log
    record_session(detail::pool& with, std::string const& log_name)
        : base(detail::make_record_store(with, log_name, base::bound)) {}
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/records/record_session.ipp>
#endif
