// SPDX-License-Identifier: BSL-1.0
// A store and a log in one SQLite file, which several processes and threads may use at once.
#pragma once

#include <settle/sqlite/connection/database_options.hpp>
#include <settle/sqlite/log/log_session.hpp>
#include <settle/sqlite/records/record_session.hpp>

#include <memory>

SETTLE_BEGIN
namespace sqlite {

/// One database file. Each collection is an ordinary table, created on first use; an existing table
/// is used unchanged if it fits the collection. People read entries with the sqlite3 shell, in the
/// view settle_entries.
/// Shape:   path - a file, created if it does not exist; a file of another application is refused
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    a wave is one transaction and one sync of the disk (write-ahead log, synchronous=FULL).
///          Threads and engines may share it
/// Example: samples/transfer
class database {
public:
    explicit database(std::string const& path, database_options const& options = {});
    database(database const&) = delete;
    database& operator=(database const&) = delete;
    ~database();

    /// As the constructor, but returns the error.
    static result<std::unique_ptr<database>> open(std::string const& path,
                                                  database_options const& options = {});

    /// A session for the records of these collections. The database outlives the session.
    /// Shape:   log_name - the name() of the log that holds the transactions of these records
    /// Errors:  throws settle::failure when a table does not fit its collection, or when the file's
    ///          records belong to another log (errc::other_log)
    template <typename... Collections>
    record_session<Collections...> bind(std::string const& log_name) {
        return record_session<Collections...>{*file_, log_name};
    }

    /// As bind(), for any_database.
    std::shared_ptr<detail::record_store>
    bind_described(std::string const& log_name,
                   std::span<settle::detail::collection_descriptor const* const> bound);

    /// True if both objects have one file open: an engine then takes them for one store.
    [[nodiscard]] bool is_same(database const& other) const noexcept;

    /// Errors:  throws settle::failure when the file cannot be read or written
    log_session bind_log();

private:
    std::unique_ptr<detail::file> file_;
};

} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite.ipp>
#endif
