// SPDX-License-Identifier: BSL-1.0
// Keeps the servers that the short tests of an adapter share. Its program is called as
//
//   … start   starts them; they end with the calling program (ctest)
//   … keep    the same, but they run until "stop"
//   … stop    stops them
//
// A child of "start" owns them and lives on. It holds a lock on a file while it lives,
// so that a later start distinguishes a living keeper from leftovers of an interrupted run.
#pragma once

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace settle_test {

using namespace std::chrono_literals;

/// The servers of one kind.
struct kept_servers {
    std::string name;             ///< of the kind
    std::filesystem::path list;   ///< the file that lists their addresses for tests
    std::filesystem::path folder; ///< of all servers' data
    std::string prefix;           ///< of the names of the servers' own folders
    /// Empty if there is no program to start, and then the reason.
    std::function<std::string(std::string& reason)> find;
    /// Starts them, calls `serve(list)`, and stops them.
    std::function<void(std::function<void(std::string const&)> const& serve)> run;
};

inline std::sig_atomic_t volatile ending_requested = 0;

/// Held by the keeper as long as it lives; the file holds its process id.
class life_lock {
public:
    explicit life_lock(kept_servers const& servers)
        : path_{servers.list.string() + ".lock"},
          fd_{::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
        if (fd_ < 0) throw std::runtime_error{"cannot open the file " + path_};
    }
    life_lock(life_lock const&) = delete;
    life_lock& operator=(life_lock const&) = delete;
    ~life_lock() { ::close(fd_); }

    bool take() const { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }
    void sign() const {
        auto const text = std::to_string(::getpid());
        if (::ftruncate(fd_, 0) != 0 ||
            ::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
            throw std::runtime_error{"cannot write to " + path_};
        }
    }
    [[nodiscard]] pid_t holder() const {
        char text[32]{};
        auto const length = ::pread(fd_, text, sizeof text - 1, 0);
        pid_t pid = -1;
        if (length > 0) std::from_chars(text, text + length, pid);
        return pid;
    }

private:
    std::string path_;
    int fd_;
};

/// Another process. Its end is seen even before its parent waits for it.
class observed {
public:
    /// 0 stands for no process, and never ends.
    explicit observed(pid_t pid)
        : fd_{pid == 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))},
          ended_{pid != 0 && fd_ < 0} {}
    observed(observed const&) = delete;
    observed& operator=(observed const&) = delete;
    ~observed() {
        if (fd_ >= 0) ::close(fd_);
    }

    bool ended_within(std::chrono::milliseconds time) const {
        pollfd one{fd_, POLLIN, 0};
        return ended_ || ::poll(&one, 1, static_cast<int>(time.count())) > 0;
    }

private:
    int fd_;
    bool ended_;
};

/// Ends a keeper that still lives, with its servers.
inline void stop_keeper(kept_servers const& servers, life_lock const& lock) {
    auto const limit = std::chrono::steady_clock::now() + 15min;
    for (bool ending = false; !lock.take(); std::this_thread::sleep_for(20ms)) {
        if (!ending && lock.holder() > 0) ending = ::kill(lock.holder(), SIGTERM) == 0;
        if (std::chrono::steady_clock::now() > limit) {
            throw std::runtime_error{"the keeper of the servers, process " +
                                     std::to_string(lock.holder()) + ", does not end"};
        }
    }
    std::filesystem::remove(servers.list);
}

/// Tests that were killed could not remove the data of their servers, which died with them.
inline void remove_leftovers(kept_servers const& servers) {
    for (auto const& entry : std::filesystem::directory_iterator{servers.folder}) {
        auto const name = entry.path().filename().string();
        if (!name.starts_with(servers.prefix)) continue;
        pid_t owner = -1; // of no process
        std::from_chars(name.data() + servers.prefix.size(), name.data() + name.size(), owner);
        if (owner > 0 && observed{owner}.ended_within(0ms)) {
            std::filesystem::remove_all(entry.path());
        }
    }
}

inline void write_list(kept_servers const& servers, std::string const& text) {
    auto const unfinished = servers.list.string() + ".new";
    std::ofstream{unfinished} << text;
    std::filesystem::rename(unfinished, servers.list);
}

/// The keeper itself. It writes one byte to the pipe when the servers take writes, or the text of
/// an error.
inline int keep_servers(kept_servers const& these, life_lock const& lock, int ready, pid_t until) {
    ::setsid();
    std::signal(SIGTERM, [](int) { ending_requested = 1; });
    std::signal(SIGINT, [](int) { ending_requested = 1; });
    std::signal(SIGPIPE, SIG_IGN);
    auto const report = [ready](std::string const& text) {
        if (::write(ready, text.data(), text.size()) < 0) ending_requested = 1;
        ::close(ready);
    };
    observed const caller{until};
    try {
        while (!lock.take()) std::this_thread::sleep_for(10ms);
        lock.sign();
        these.run([&](std::string const& list) {
            write_list(these, list);
            report("+");
            while (!ending_requested && !caller.ended_within(100ms)) {
            }
            std::filesystem::remove(these.list);
        });
        return 0;
    } catch (std::exception const& error) {
        report(error.what());
        return 1;
    }
}

inline int start_keeper(kept_servers const& these, pid_t until) {
    stop_keeper(these, life_lock{these});
    remove_leftovers(these);
    std::string reason;
    if (these.find(reason).empty()) {
        write_list(these, "missing=" + reason + "\n");
        std::printf("SKIPPED: %s\n", reason.c_str());
        return 0;
    }
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error{"no pipe"};
    auto const child = ::fork();
    if (child < 0) throw std::runtime_error{"no process"};
    if (child == 0) {
        ::close(ends[0]);
        // ctest waits until no process has its pipe open.
        int const null = ::open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
        life_lock const lock{these};
        ::_exit(keep_servers(these, lock, ends[1], until));
    }
    ::close(ends[1]);
    std::string answer;
    char part[512];
    for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
        answer.append(part, static_cast<std::size_t>(got));
    }
    if (answer == "+") return 0;
    std::fprintf(stderr, "the servers do not start: %s\n",
                 answer.empty() ? "their keeper has ended" : answer.c_str());
    return 1;
}

/// The main() of a keeper.
inline int keeper_main(kept_servers const& these, int count, char** argv) {
    auto const program = "settle_" + these.name + "_keeper";
    std::string const what = count == 2 ? argv[1] : "";
    try {
        if (what == "start") return start_keeper(these, ::getppid());
        if (what == "keep") return start_keeper(these, 0);
        if (what == "stop") {
            stop_keeper(these, life_lock{these});
            return 0;
        }
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: %s start | keep | stop\n", program.c_str());
    return 2;
}

} // namespace settle_test
