// SPDX-License-Identifier: BSL-1.0
// PostgreSQL servers that a test starts for itself, on free loopback ports, and may kill at any
// time. They have fsync on. Their superuser "postgres" needs no password; members of the role
// needs_password need a password, and members of needs_tls need TLS.
#pragma once

#include "server_process.hpp"

struct pg_conn;

namespace settle_test {

/// The folder of initdb and postgres, in $SETTLE_POSTGRESQL or in Debian's place. Empty if there is
/// none, and then the reason.
std::string find_postgresql(std::string& reason);

/// The folder of all servers' data. It is in the build folder, if the servers' user can reach that:
/// PostgreSQL refuses to run as root, so a test of root starts it as the user "postgres".
std::filesystem::path const& postgresql_folder();
inline constexpr char const* postgresql_prefix = "settle-postgresql-";

/// One PostgreSQL server. Its constructor starts it and waits until it takes connections, its
/// destructor kills it and removes its data. The system kills it as well when the *thread* that
/// started it ends.
/// Errors: std::runtime_error with the end of its log when it does not start
class postgresql_server {
public:
    /// Shape:   settings - of postgresql.conf: "max_connections=5"
    explicit postgresql_server(arguments settings = {});
    /// A standby of another server, which replicates everything.
    struct standby_of {
        postgresql_server& primary;
    };
    explicit postgresql_server(standby_of other);
    postgresql_server(postgresql_server const&) = delete;
    postgresql_server& operator=(postgresql_server const&) = delete;
    ~postgresql_server();

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] bool running() const { return process_.running(); }
    [[nodiscard]] std::filesystem::path const& folder() const { return folder_; }
    [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
    /// Shape:   options - "sslmode=require&application_name=x"
    [[nodiscard]] std::string address(std::string const& database = "postgres",
                                      std::string const& options = "",
                                      std::string const& user = "postgres") const;

    void kill();   ///< SIGKILL for all of its processes at once, as when the power fails
    void stop();   ///< a fast shutdown: the clients' native transactions are rolled back
    void freeze(); ///< all of its processes: its connections stay open, and nothing answers
    void thaw();
    void start(); ///< on the same port and data as before
    void begin(); ///< the same without waiting until it takes connections
    void wait_until_ready();

    /// Makes a standby the primary.
    void promote();
    /// From now on each commit waits for a standby, or no longer does.
    void wait_for_standby(bool on);
    /// Changes a setting of a running server.
    void set(std::string const& name, std::string const& value);

    /// Writes a file that only the server's user can read, for `ssl_key_file`.
    [[nodiscard]] std::string write_file(std::string const& name, std::string const& text) const;

private:
    void choose_folder();
    [[nodiscard]] std::vector<pid_t> children() const;
    [[noreturn]] void give_up(std::string const& what);

    std::filesystem::path folder_;
    arguments settings_;
    int port_ = 0;
    server_process process_;
    std::vector<pid_t> frozen_{};
};

/// A session of a test's own: what any other program could do.
/// Errors:  std::runtime_error with the server's text
class psql_session {
public:
    explicit psql_session(std::string const& address);
    psql_session(psql_session const&) = delete;
    psql_session& operator=(psql_session const&) = delete;
    ~psql_session();

    /// The rows, column by column, "NULL" where there is no value.
    std::vector<std::vector<std::string>> ask(std::string const& sql);
    /// The only value of the only row.
    std::string ask_one(std::string const& sql) { return ask(sql).at(0).at(0); }

private:
    pg_conn* native_;
};

/// The same in a session of its own.
inline std::vector<std::vector<std::string>> ask(std::string const& address,
                                                 std::string const& sql) {
    return psql_session{address}.ask(sql);
}
inline std::string ask_one(std::string const& address, std::string const& sql) {
    return psql_session{address}.ask_one(sql);
}

} // namespace settle_test
