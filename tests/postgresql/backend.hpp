// SPDX-License-Identifier: BSL-1.0
// PostgreSQL for prepared_suite.hpp.
#pragma once

#include "shared_servers.hpp"

#include <settle/postgresql/prepared/resource.hpp>

namespace settle_test {

/// For prepared_suite.hpp.
struct postgresql_backend {
    using resource = settle::postgresql::resource;
    using server = postgresql_server;
    using database = fresh_postgresql;
    using session = psql_session;
    static constexpr bool ends_apart = true;
    static constexpr char const* add_sql = "UPDATE sums SET n = n + $1 WHERE id = $2";
    static constexpr char const* own_id_sql = "SELECT pg_backend_pid()";
    static constexpr char const* prepare_sql = "PREPARE TRANSACTION";
    static constexpr char const* commit_sql = "COMMIT PREPARED";

    static settle::postgresql::database_options limits() {
        settle::postgresql::database_options options;
        options.lock_timeout = std::chrono::seconds{1};
        options.connect_timeout = std::chrono::seconds{2};
        return options;
    }
    static std::string address_of(postgresql_server const& server) {
        return server.address("postgres", "sslmode=disable&gssencmode=disable");
    }
    static std::vector<std::string> waiting(psql_session& by) {
        std::vector<std::string> ids;
        for (auto const& row :
             by.ask("SELECT pid FROM pg_stat_activity WHERE "
                    "datname = current_database() AND wait_event_type = 'Lock'")) {
            ids.push_back(row[0]);
        }
        return ids;
    }
    static void kill(psql_session& by, std::string const& id) {
        by.ask("SELECT pg_terminate_backend(" + id + ")");
    }
    /// The session goes on without a native transaction when its client has only rolled back.
    static bool may_hold_locks(psql_session& by, std::string const& id) {
        return !by.ask("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
                       "AND xact_start IS NOT NULL AND pid = " +
                       id)
                    .empty();
    }
    static void prepare_foreign(std::string const& address, std::string const& name,
                                std::string const& sql) {
        psql_session{address}.ask("BEGIN; " + sql + "; PREPARE TRANSACTION '" + name + "'");
    }
    static std::vector<std::string> prepared_names(psql_session& by) {
        std::vector<std::string> names;
        for (auto const& row : by.ask("SELECT gid FROM pg_prepared_xacts")) names.push_back(row[0]);
        return names;
    }
    static void roll_back_foreign(psql_session& by, std::string const& name) {
        by.ask("ROLLBACK PREPARED '" + name + "'");
    }
};

} // namespace settle_test
