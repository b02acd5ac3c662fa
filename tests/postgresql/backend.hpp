// SPDX-License-Identifier: BSL-1.0
// PostgreSQL for prepared_suite.hpp.
#pragma once

#include "shared_servers.hpp"

#include <settle/postgresql/prepared/resource.hpp>

namespace settle_test {

/// A session of another program, with the functions that the suite asks for.
class psql_session {
public:
    explicit psql_session(std::string const& address) : native_{PQconnectdb(address.c_str())} {}
    psql_session(psql_session const&) = delete;
    psql_session& operator=(psql_session const&) = delete;
    ~psql_session() { PQfinish(native_); }

    std::vector<std::vector<std::string>> ask(std::string const& sql) {
        std::unique_ptr<PGresult, decltype(&PQclear)> const found{PQexec(native_, sql.c_str()),
                                                                  &PQclear};
        auto const status = PQresultStatus(found.get());
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            throw std::runtime_error{PQerrorMessage(native_)};
        }
        std::vector<std::vector<std::string>> all;
        for (int row = 0; row < PQntuples(found.get()); ++row) {
            auto& values = all.emplace_back();
            for (int column = 0; column < PQnfields(found.get()); ++column) {
                values.emplace_back(PQgetvalue(found.get(), row, column));
            }
        }
        return all;
    }
    std::string ask_one(std::string const& sql) { return ask(sql).at(0).at(0); }

private:
    PGconn* native_;
};

/// A database of the shared server: prepared transactions are listed for a whole database.
class fresh_postgresql {
public:
    fresh_postgresql() : server_{shared_postgresql()}, name_{fresh_name()} {
        psql_session{"postgresql://" + server_}.ask("CREATE DATABASE " + name_);
    }
    fresh_postgresql(fresh_postgresql const&) = delete;
    fresh_postgresql& operator=(fresh_postgresql const&) = delete;
    ~fresh_postgresql() {
        try {
            psql_session{"postgresql://" + server_}.ask("DROP DATABASE " + name_ + " WITH (FORCE)");
        } catch (std::exception const&) {
            // A test that failed may leave a native transaction there.
        }
    }
    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] std::string address() const { return address_at(port()); }
    [[nodiscard]] int port() const {
        return std::stoi(server_.substr(server_.find(':', server_.find('@')) + 1));
    }
    [[nodiscard]] std::string address_at(int port) const {
        return "postgresql://" + server_.substr(0, server_.rfind(':') + 1) + std::to_string(port) +
               "/" + name_ + "?sslmode=disable&gssencmode=disable";
    }

private:
    std::string server_;
    std::string name_;
};

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
        settle::postgresql::database_options all;
        all.lock_timeout = std::chrono::seconds{1};
        all.connect_timeout = std::chrono::seconds{2};
        return all;
    }
    static std::string address_of(postgresql_server const& of) {
        return of.address("postgres", "sslmode=disable&gssencmode=disable");
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
