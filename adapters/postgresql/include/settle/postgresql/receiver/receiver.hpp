// SPDX-License-Identifier: BSL-1.0
// The database of a receiver in PostgreSQL: its rows, beside the service's own tables.
#pragma once

#include <settle/adapter/sql/receiver_database.hpp>
#include <settle/postgresql/connection/parts.hpp>
#include <settle/postgresql/prepared/work_connection.hpp>
#include <settle/receiver.hpp>

SETTLE_BEGIN
namespace postgresql {
namespace detail {

struct receiver_parts : parts {
    using options = database_options;
    using work_connection = detail::work_connection;
    /// The savepoints of a native transaction that a session of PostgreSQL keeps in its cache.
    static constexpr std::size_t largest_wave = 64;

    static settle::detail::sql::receiver_statements<statement> prepare_receiver(pool& from);
    static void bind_receiver(pool& from, std::string const& name);
    static bool is_fatal(std::error_code const& code) { return is_conflict(code) || is_lost(code); }
};

} // namespace detail

/// The access of a handler to its database, inside the native transaction of the call.
using receiver_session = sql_connection;
using receiver_transaction = settle::detail::sql::receiver_transaction<detail::receiver_parts>;

/// The database of a service in PostgreSQL. The table settle_receiver is beside the service's
/// own tables, which the service creates itself.
/// Shape:   address - as for postgresql::database; name - of the receiver. A schema belongs to the
///          first receiver that opened it
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    a wave of calls is one native transaction: two round trips, and the handler's own
using receiver_database = settle::detail::sql::receiver_database<detail::receiver_parts>;

} // namespace postgresql
#ifdef SETTLE_COMPILED
extern template class detail::sql::receiver_transaction<postgresql::detail::receiver_parts>;
extern template class detail::sql::receiver_database<postgresql::detail::receiver_parts>;
#endif
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/receiver/receiver.ipp>
#endif
