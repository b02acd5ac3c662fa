// SPDX-License-Identifier: BSL-1.0
// A PostgreSQL database as a resource of prepared transactions.
#pragma once

#include <settle/adapter/sql_connection.hpp>
#include <settle/postgresql/connection/native.hpp>

SETTLE_BEGIN
namespace postgresql {

/// The connection of the user's work.
using connection = sql_connection;

/// A PreparingResource. Threads and engines may share it; it outlives its engines.
/// Cost:    a prepare is two round trips and the work's own, every other call is one round trip
/// Source:  PostgreSQL 15, "PREPARE TRANSACTION"; adapters/postgresql/README.md
class resource {
public:
    using connection = postgresql::connection;
    static constexpr std::size_t most_name = 199; ///< GIDSIZE of PostgreSQL, without its NUL

    /// Connects once.
    /// Shape:   address - postgresql://user:password@host:5432/database
    /// Errors:  throws settle::failure
    explicit resource(std::string const& address, database_options const& options = {});

    /// Makes the table settle_receipt if it is missing, and checks the server.
    /// Errors:  throws settle::failure
    void bind(std::string const& log);

    [[nodiscard]] prepare_result prepare(prepared_name const& name, work_function<connection> work);
    [[nodiscard]] end_result commit(prepared_name const& name);
    [[nodiscard]] end_result roll_back(prepared_name const& name);
    [[nodiscard]] result<std::vector<in_doubt_name>>
    in_doubt(std::string_view prefix, std::string_view after, std::size_t limit);
    [[nodiscard]] result<std::optional<epoch>> receipt_of(prepared_part const& part);
    [[nodiscard]] end_result deny(prepared_name const& name);
    [[nodiscard]] result<std::uint64_t> forget(std::string_view prefix, timestamp before,
                                               std::size_t limit);
    [[nodiscard]] result<timestamp> time();

private:
    end_result end(prepared_name const& name, char const* verb, char const* phase);

    detail::pool pool_;
    std::string receipts_;           ///< the table, as SQL takes it
    detail::statement const& write_; ///< a receipt
    detail::statement const& read_;  ///< a receipt
    detail::statement const& list_;  ///< prepared transactions
    detail::statement const& erase_; ///< receipts
};

static_assert(PreparingResource<resource>);

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/prepared/resource.ipp>
#endif
