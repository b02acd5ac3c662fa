// SPDX-License-Identifier: BSL-1.0
// MariaDB for prepared_suite.hpp.
#pragma once

#include "shared_servers.hpp"

#include <settle/mariadb.hpp>

namespace settle_test {

/// For prepared_suite.hpp.
struct mariadb_backend {
    using resource = settle::mariadb::resource;
    using server = mariadb_server;
    using database = fresh_mariadb;
    using session = mariadb_session;
    static constexpr bool ends_apart = false;
    static constexpr char const* add_sql = "UPDATE sums SET n = n + ? WHERE id = ?";
    static constexpr char const* own_id_sql = "SELECT CONNECTION_ID()";
    static constexpr char const* prepare_sql = "XA PREPARE";
    static constexpr char const* commit_sql = "XA COMMIT";

    static settle::mariadb::options limits() {
        settle::mariadb::options options;
        options.lock_timeout = std::chrono::seconds{1};
        options.connect_timeout = std::chrono::seconds{2};
        return options;
    }
    static std::string address_of(mariadb_server const& server) { return server.address(); }
    /// The sessions that update `sums`: a test holds the row. INNODB_TRX, which knows the waits,
    /// is not refreshed while it is read every 20 ms.
    static std::vector<std::string> waiting(mariadb_session& by) {
        std::vector<std::string> ids;
        for (auto const& row : by.ask("SELECT id FROM information_schema.processlist "
                                      "WHERE db = DATABASE() AND info LIKE 'UPDATE sums%'")) {
            ids.push_back(row[0]);
        }
        return ids;
    }
    static void kill(mariadb_session& by, std::string const& id) { by.ask("KILL " + id); }
    /// A session leaves the list after it has released its locks.
    static bool may_hold_locks(mariadb_session& by, std::string const& id) {
        return !by.ask("SELECT 1 FROM information_schema.processlist WHERE id = " + id).empty();
    }
    static void prepare_foreign(std::string const& address, std::string const& name,
                                std::string const& sql) {
        mariadb_session session{address};
        for (auto const& each : {"XA START '" + name + "'", sql, "XA END '" + name + "'",
                                 "XA PREPARE '" + name + "'"}) {
            session.ask(each);
        }
    }
    static std::vector<std::string> prepared_names(mariadb_session& by) {
        std::vector<std::string> names;
        for (auto const& row : by.ask("XA RECOVER")) names.push_back(row[3]);
        return names;
    }
    static void roll_back_foreign(mariadb_session& by, std::string const& name) {
        by.ask("XA ROLLBACK '" + name + "'");
    }
};

} // namespace settle_test
