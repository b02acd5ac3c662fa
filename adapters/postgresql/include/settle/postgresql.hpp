// SPDX-License-Identifier: BSL-1.0
// A store and a log in one schema of a PostgreSQL database, which any number of programs may share.
#pragma once

#include <settle/adapter/sql/database.hpp>
#include <settle/postgresql/connection/listener.hpp>
#include <settle/postgresql/prepared/resource.hpp>
#include <settle/postgresql/records/record_session.hpp>

SETTLE_BEGIN
#ifdef SETTLE_COMPILED
extern template class detail::sql::database<postgresql::detail::parts>;
#endif
namespace postgresql {

/// What holds the oldest snapshot of a server. While it does, VACUUM removes no row that was erased
/// since.
struct snapshot_holder {
    std::string name;           ///< "the session 4711 of psql", for people
    std::chrono::seconds age{}; ///< 0 for a replication slot, whose age the server does not keep
};

/// One schema of a database. Each collection is an ordinary table, created on first use; an
/// existing table is used unchanged if it fits the collection. People read entries with psql, in
/// the view settle_entries.
/// Shape:   address - `postgresql://[user[:password]@]host[:port][,…]/database[?options]`, or
///          `host=… dbname=…`, with any option of libpq
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    connections come from a pool. Threads and engines share them
/// Source:  postgresql#address
class database : public settle::detail::sql::database<detail::parts> {
public:
    explicit database(std::string const& address, database_options const& options = {});

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<database>> open(std::string const& address,
                                                  database_options const& options = {});

    /// Wakes a worker when a transaction is submitted to this database's log, by any program.
    /// Errors:  throws settle::failure when the server cannot be reached
    [[nodiscard]] listener listen();

    /// The holder of the oldest snapshot; empty if there is none. Sessions of other users are seen
    /// with the rights of `pg_monitor`.
    /// Cost:    one round trip
    [[nodiscard]] result<std::optional<snapshot_holder>> oldest_snapshot();
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql.ipp>
#endif
