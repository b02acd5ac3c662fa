// SPDX-License-Identifier: BSL-1.0
// A store and a log in one database of a MariaDB server, which any number of programs may share;
// and a database whose native transactions are prepared.
#pragma once

#include <settle/mariadb/prepared/resource.hpp>
#include <settle/mariadb/records/record_session.hpp>

SETTLE_BEGIN
namespace mariadb {

/// One database of a server. Each collection is an ordinary table, created on first use; an
/// existing table is used unchanged if it fits the collection. People read entries in the view
/// settle_entries.
/// Shape:   address - `mariadb://[user[:password]@]host[:port]/database`, or
///          `mariadb://[user[:password]@]/database?socket=path`
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    connections come from a pool. Threads and engines share them
/// Source:  mariadb#address
class database {
public:
    explicit database(std::string const& address, options const& limits = {});
    database(database const&) = delete;
    database& operator=(database const&) = delete;
    ~database();

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<database>> open(std::string const& address,
                                                  options const& limits = {});

    /// Errors:  throws settle::failure when a table does not fit its collection, or when the
    ///          database's records belong to another log
    template <typename... Collections>
    record_session<Collections...> bind(std::string const& log_name) {
        return record_session<Collections...>{*pool_, log_name};
    }

    /// As bind(), for any_database.
    std::shared_ptr<settle::detail::one_phase_store<log_session>>
    bind_described(std::string const& log_name,
                   std::span<settle::detail::collection_descriptor const* const> bound);

    /// Errors:  throws settle::failure when the database cannot be read or written
    log_session bind_log();

    /// The round trips to the server up to now, without the round trips that connect.
    [[nodiscard]] std::uint64_t round_trips() const noexcept;

private:
    std::unique_ptr<detail::pool> pool_;
};

} // namespace mariadb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb.ipp>
#endif
