// SPDX-License-Identifier: BSL-1.0
// Servers that tests start as processes, on free loopback ports, and may kill at any time.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace settle_test {

using arguments = std::vector<std::string>;

/// Prints why a test cannot run here, and ends the process so that ctest reports it as skipped.
[[noreturn]] void skip(std::string const& reason);

/// A loopback port that belongs to this process until it ends, also while its server is killed. It
/// is outside of the range that the system gives to clients.
int free_port();
/// Whether something listens at a loopback port.
bool listens_at(int port);

/// A name for a database or a schema. A server named by the environment outlives a process, and a
/// process number can repeat.
std::string fresh_name();

template <typename Condition>
bool wait_until(std::chrono::milliseconds limit, Condition condition) {
    auto const end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return true;
}

/// The last 3,000 bytes of a file, such as a server's log.
std::string end_of_file(std::filesystem::path const& path);

/// The system's user that a server runs as.
struct system_user {
    uid_t user;
    gid_t group;
};
/// Makes that user the owner of a file; without a user, the owner stays.
void give_to(std::optional<system_user> const& user, std::filesystem::path const& path);
/// Whether every user can reach the content of the folder.
bool is_open_to_all(std::filesystem::path folder);

/// One program. The system kills it when the *thread* that started it ends.
class server_process {
public:
    server_process() = default;
    server_process(server_process const&) = delete;
    server_process& operator=(server_process const&) = delete;
    ~server_process() { kill(); }

    /// Shape:   command - the program's path, then its arguments; output - the file that its output
    ///          is added to, or nothing; as - another user, if this process may become that user
    void begin(arguments command, std::filesystem::path const& output = "/dev/null",
               std::optional<system_user> as = {});
    /// Runs a program to its end, and returns its exit code; -1 when a signal ended it.
    static int run(arguments command, std::filesystem::path const& output = "/dev/null",
                   std::optional<system_user> as = {});
    /// Errors:  std::runtime_error with the end of the output if the program does not exit with 0
    static void run_to_success(arguments command, std::filesystem::path const& output,
                               std::optional<system_user> as);

    [[nodiscard]] pid_t pid() const { return pid_; } ///< -1 while it does not run
    [[nodiscard]] bool running() const { return pid_ > 0; }
    [[nodiscard]] bool frozen() const { return frozen_; }
    /// Whether it has ended by itself; then it does not run any more.
    [[nodiscard]] bool ended();
    /// False when it has not ended in time.
    [[nodiscard]] bool wait_for_end(std::chrono::milliseconds limit);

    void kill(); ///< SIGKILL, and waits for its end
    void signal(int number);
    void freeze(); ///< SIGSTOP: its connections stay open, and nothing answers
    void thaw();

private:
    pid_t pid_ = -1;
    bool frozen_ = false;
};

} // namespace settle_test
