// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database of tables: an engine hands its waves to it.
#pragma once

#include <settle/adapter/record_session.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp. The pool outlives the
///          store
/// Errors:  throws settle::failure when a table does not fit its collection, or when the database's
///          records belong to another log
template <typename Sql>
[[nodiscard]] std::shared_ptr<one_phase_store<typename Sql::log_session>>
make_record_store(typename Sql::pool& from, std::string const& log_name,
                  std::span<collection_descriptor const* const> bound);

template <typename Sql, typename... Collections>
using record_session_base = one_phase_session<
    overlapping_session<one_phase_store<typename Sql::log_session>, Collections...>,
    typename Sql::log_session>;

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave is one native transaction in two round trips, however many operations: the first
///          locks and reads, the second writes and commits
template <typename Sql, typename... Collections>
class record_session : public record_session_base<Sql, Collections...> {
    using base = record_session_base<Sql, Collections...>;

public:
    /// Errors:  as make_record_store()
    record_session(typename Sql::pool& from, std::string const& log_name)
        : base(make_record_store<Sql>(from, log_name, base::bound)) {}
};

} // namespace detail::sql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/sql/record_session.ipp>
#endif
