// SPDX-License-Identifier: BSL-1.0
// MongoDB servers that a test starts for itself, on free loopback ports, and may kill at any time.
#pragma once

#include "server_process.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace settle_test {

/// The server program of these tests; without it the test is skipped.
std::string const& mongod_program();
/// The same for a caller that handles its absence: empty, and then the reason.
std::string find_mongod(std::string& reason);

/// One mongod. Its constructor starts it and waits until it listens, its destructor kills it and
/// removes its data. The system kills it as well when the *thread* that started it ends.
/// Errors: std::runtime_error with the end of its log when it does not start
class server {
public:
    explicit server(arguments more = {});
    server(server const&) = delete;
    server& operator=(server const&) = delete;
    ~server();

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] pid_t pid() const { return process_.pid(); } ///< -1 while it does not run
    [[nodiscard]] bool running() const { return process_.running(); }
    [[nodiscard]] bool frozen() const { return process_.frozen(); }
    [[nodiscard]] std::filesystem::path const& folder() const { return folder_; }
    [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
    /// The address of this server alone, even if it belongs to a replica set.
    [[nodiscard]] std::string address(std::string const& database = "",
                                      std::string const& options = "") const;

    void kill() { process_.kill(); }     ///< writes that were not journaled are lost
    void ask_to_end();                   ///< SIGTERM, without waiting
    void stop();                         ///< SIGTERM, and waits for its end
    void freeze() { process_.freeze(); } ///< its connections stay open, and nothing answers
    void thaw() { process_.thaw(); }
    void start(); ///< on the same port and data as before
    void begin(); ///< the same without waiting until it listens
    void wait_until_listening();

private:
    /// Whether this process has written since begin() that it listens. Another test's server may
    /// listen on this port.
    [[nodiscard]] bool reports_that_it_listens() const;
    [[nodiscard]] std::string end_of_log() const { return end_of_file(folder_ / "log"); }

    std::filesystem::path folder_;
    arguments more_;
    int port_ = 0;
    std::uintmax_t earlier_log_ = 0; ///< bytes of the log that earlier processes wrote
    server_process process_;
};

/// Several mongods that elect a primary, within about a second of the previous primary's end.
class replica_set {
public:
    using milliseconds = std::chrono::milliseconds;
    /// On a busy machine members may repeatedly miss each other's votes. A killed member has to
    /// read its journal, and may have to roll back writes.
    static constexpr milliseconds patience{900'000};

    /// Starts the members and waits until one member is the primary and the others follow it.
    /// Shape: more - further arguments of every member: "--keyFile", "FILE"
    ///        options - of the addresses by which the set is steered: "tls=true&tlsCAFile=..."
    explicit replica_set(std::size_t members = 3, arguments more = {}, std::string options = "");

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] server& member(std::size_t number) { return *members_.at(number); }
    [[nodiscard]] std::string address(std::string const& database = "") const;
    /// From now on the set is controlled as this user, if it has users: "name:password".
    void log_in(std::string user) { user_ = std::move(user); }

    /// The member that reports itself as primary; if several do, the member elected last.
    [[nodiscard]] std::optional<std::size_t> primary();
    std::size_t wait_for_primary(milliseconds limit = patience);
    /// Waits until each member that runs and is not frozen is the primary or follows it. Returns
    /// the primary's number.
    std::size_t wait_until_whole(milliseconds limit = patience);

    std::size_t kill_primary(); ///< returns its number, as the next two functions do
    std::size_t freeze_primary();
    std::size_t step_down(); ///< waits until another member is the primary
    void thaw(std::size_t number) { member(number).thaw(); }
    void restart(std::size_t number) { member(number).start(); }
    void stop_all();
    void start_all(); ///< the stopped members; waits for a primary

private:
    void initiate();
    [[nodiscard]] std::string direct(server const& server, int timeout_ms) const;

    std::vector<std::unique_ptr<server>> members_;
    std::string options_;
    std::string user_;
};

} // namespace settle_test
