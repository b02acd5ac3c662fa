// SPDX-License-Identifier: BSL-1.0
// MariaDB servers that a test starts for itself, on free loopback ports, and may kill at any time.
// Their superuser "root" needs no password.
#pragma once

#include "server_process.hpp"

#include <memory>

namespace settle_test {

/// The path of mariadbd, in the folder $SETTLE_MARIADB or in Debian's place. Empty if there is
/// none, and then the reason.
std::string find_mariadb(std::string& reason);

/// The folder of all servers' data. It is in the build folder, if the servers' user can reach that:
/// MariaDB refuses to run as root, so a test of root starts it as the user "mysql".
std::filesystem::path const& mariadb_folder();
inline constexpr char const* mariadb_prefix = "settle-mariadb-";

/// One MariaDB server. Its constructor starts it and waits until it takes connections, its
/// destructor kills it and removes its data. The system kills it as well when the *thread* that
/// started it ends.
/// Errors: std::runtime_error with the end of its log when it does not start
class mariadb_server {
public:
    /// Shape:   settings - of mariadbd: "max-connections=5"
    explicit mariadb_server(arguments settings = {});
    mariadb_server(mariadb_server const&) = delete;
    mariadb_server& operator=(mariadb_server const&) = delete;
    ~mariadb_server();

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
    /// Shape:   user - "root", or "name:password"
    [[nodiscard]] std::string address(std::string const& database = "test",
                                      std::string const& user = "root") const {
        return "mariadb://" + user + "@" + host() + "/" + database;
    }
    [[nodiscard]] std::string socket() const { return (folder_ / "socket").string(); }

    void kill();                         ///< SIGKILL, as when the power fails
    void stop();                         ///< an ordered end
    void freeze() { process_.freeze(); } ///< its connections stay open, and nothing answers
    void thaw() { process_.thaw(); }
    void start(); ///< on the same port and data as before

private:
    [[noreturn]] void give_up(std::string const& what);

    std::filesystem::path folder_;
    arguments settings_;
    int port_ = 0;
    server_process process_;
};

/// A session of a test's own: what any other program could do.
class mariadb_session {
public:
    /// Errors:  std::runtime_error with the server's text, as of ask()
    explicit mariadb_session(std::string const& address);
    mariadb_session(mariadb_session const&) = delete;
    mariadb_session& operator=(mariadb_session const&) = delete;
    ~mariadb_session();

    /// The rows of the last statement, column by column, "NULL" where there is no value.
    std::vector<std::vector<std::string>> ask(std::string const& sql);
    void reset(); ///< COM_RESET_CONNECTION
    /// The only value of the only row.
    std::string ask_one(std::string const& sql) { return ask(sql).at(0).at(0); }

private:
    struct native;
    std::unique_ptr<native> native_;
};

} // namespace settle_test
