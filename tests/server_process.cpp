// SPDX-License-Identifier: BSL-1.0
#include "server_process.hpp"

#include "sockets.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace settle_test {
namespace {

/// Calls a function with a socket and an address on that port, and returns whether it succeeded.
bool try_port(int fd, int port, int (*what)(int, sockaddr const*, socklen_t)) {
    auto const address = loopback(port);
    return what(fd, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
}

} // namespace

void skip(std::string const& reason) {
    std::printf("SKIPPED: %s\n", reason.c_str());
    std::fflush(stdout);
    // The process ends here, so neither doctest nor a destructor can run.
    ::_exit(SETTLE_SKIP_CODE);
}

int free_port() {
    static std::mt19937 random{std::random_device{}()};
    // From 32768 on the system gives ports to clients, and a client could take the port of a killed
    // server.
    std::uniform_int_distribution<int> any{15'000, 32'000};
    for (int tries = 0; tries < 1'000; ++tries) {
        int const port = any(random);
        int const fd = new_socket();
        if (try_port(fd, port, ::bind)) {
            hold_port_of(fd);
            return port;
        }
        ::close(fd);
    }
    throw std::runtime_error{"there is no free port"};
}

bool listens_at(int port) {
    int const fd = new_socket();
    bool const listens = try_port(fd, port, ::connect);
    ::close(fd);
    return listens;
}

std::string end_of_file(std::filesystem::path const& path) {
    std::ifstream file{path};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    return text.size() <= 3'000 ? text : text.substr(text.size() - 3'000);
}

void give_to(std::optional<system_user> const& user, std::filesystem::path const& path) {
    if (user && ::lchown(path.c_str(), user->user, user->group) != 0) {
        throw std::runtime_error{"cannot give " + path.string() + " to another user"};
    }
}

bool is_open_to_all(std::filesystem::path folder) {
    for (;; folder = folder.parent_path()) {
        struct stat found{};
        if (::stat(folder.c_str(), &found) != 0 || (found.st_mode & S_IXOTH) == 0) return false;
        if (folder == folder.root_path()) return true;
    }
}

void server_process::begin(arguments command, std::filesystem::path const& output,
                           std::optional<system_user> as) {
    if (running()) throw std::logic_error{command.front() + " runs already"};
    std::vector<char*> native;
    for (auto& argument : command) native.push_back(argument.data());
    native.push_back(nullptr);
    char const* const to = output.c_str();

    auto const parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
    if (pid_ > 0) return;
    // From here to exec nothing may allocate: another thread may have held the heap's lock.
    int const in = ::open("/dev/null", O_RDONLY);
    int const out = ::open(to, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0) ::_exit(127);
    ::close_range(3, ~0U, 0);
    bool const other = as && ::geteuid() != as->user;
    if (other &&
        (::setgroups(0, nullptr) != 0 || ::setgid(as->group) != 0 || ::setuid(as->user) != 0)) {
        ::_exit(126);
    }
    // Behind the change of the user, which would undo it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::setpgid(0, 0); // an interrupt from a terminal ends the test, which then ends the servers
    ::execv(native.front(), native.data());
    ::_exit(127);
}

int server_process::run(arguments command, std::filesystem::path const& output,
                        std::optional<system_user> as) {
    server_process process;
    process.begin(std::move(command), output, as);
    int status = 0;
    ::waitpid(std::exchange(process.pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void server_process::run_to_success(arguments command, std::filesystem::path const& output,
                                    std::optional<system_user> as) {
    auto const program = command.front();
    if (run(std::move(command), output, as) == 0) return;
    throw std::runtime_error{program + " failed:\n" + end_of_file(output)};
}

bool server_process::ended() {
    if (running() && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return !running();
}

bool server_process::wait_for_end(std::chrono::milliseconds limit) {
    return wait_until(limit, [this] { return ended(); });
}

void server_process::kill() {
    if (!running()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    frozen_ = false;
}

void server_process::signal(int number) {
    if (running()) ::kill(pid_, number);
}

void server_process::freeze() {
    if (!running()) throw std::logic_error{"the server does not run"};
    ::kill(pid_, SIGSTOP);
    int status = 0;
    // The signal has arrived when the system reports the process as stopped.
    ::waitpid(pid_, &status, WUNTRACED);
    frozen_ = WIFSTOPPED(status);
    if (!frozen_) pid_ = -1;
}

void server_process::thaw() {
    if (!frozen_) return;
    ::kill(pid_, SIGCONT);
    frozen_ = false;
}

std::string fresh_name() {
    static std::atomic<int> count = 0;
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    auto const second = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    return "settle_" + std::to_string(::getpid()) + "_" + std::to_string(second) + "_" +
           std::to_string(++count);
}

} // namespace settle_test
