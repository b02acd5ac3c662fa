// SPDX-License-Identifier: BSL-1.0
// Keeps the two servers that short tests share: a single server, and a replica set of one member.
//
//   settle_mongodb_keeper start   starts them; they end with the calling program (ctest)
//   settle_mongodb_keeper keep    the same, but they run until "stop"
//   settle_mongodb_keeper stop    stops them
//
// A child of "start" owns them and lives on. It holds a lock on a file while it lives,
// so that a later start distinguishes a living keeper from leftovers of an interrupted run.
#include "../servers.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

fs::path const scratch{SETTLE_SCRATCH_DIR};
fs::path const list{SETTLE_SHARED_SERVERS};
volatile std::sig_atomic_t ending_requested = 0;

/// Held by the keeper as long as it lives; the file holds its process id.
class life_lock {
public:
    life_lock() : fd_{::open((scratch / "mongodb_keeper.lock").c_str(), O_RDWR | O_CREAT, 0600)} {
        if (fd_ < 0) throw std::runtime_error{"cannot open a file in " + scratch.string()};
    }
    life_lock(life_lock const&) = delete;
    life_lock& operator=(life_lock const&) = delete;
    ~life_lock() { ::close(fd_); }

    bool take() const { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }
    void sign() const {
        auto const text = std::to_string(::getpid());
        if (::ftruncate(fd_, 0) != 0 ||
            ::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
            throw std::runtime_error{"cannot write to " + scratch.string()};
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
    int fd_;
};

/// Another process. Its end is seen even before its parent waits for it.
class observed {
public:
    /// 0 is no process, and never ends.
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
void stop(life_lock const& lock) {
    auto const limit = std::chrono::steady_clock::now() + 60s;
    for (bool ending = false; !lock.take(); std::this_thread::sleep_for(20ms)) {
        if (!ending && lock.holder() > 0) ending = ::kill(lock.holder(), SIGTERM) == 0;
        if (std::chrono::steady_clock::now() > limit) {
            throw std::runtime_error{"the keeper of the servers, process " +
                                     std::to_string(lock.holder()) + ", does not end"};
        }
    }
    fs::remove(list);
}

/// Tests that were killed could not remove the data of their servers, which died with them.
void remove_leftovers() {
    for (auto const& entry : fs::directory_iterator{scratch}) {
        auto const name = entry.path().filename().string();
        if (!name.starts_with("mongod-")) continue;
        pid_t owner = -1;   // of no process
        std::from_chars(name.data() + 7, name.data() + name.size(), owner);
        if (observed{owner}.ended_within(0ms)) fs::remove_all(entry.path());
    }
}

void write_list(std::string const& text) {
    auto const unfinished = list.string() + ".new";
    std::ofstream{unfinished} << text;
    fs::rename(unfinished, list);
}

/// The keeper itself. It writes one byte to the pipe when the servers take writes, or the text of
/// an error.
int keep(life_lock const& lock, int ready, pid_t until) {
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
        settle_test::server alone;
        settle_test::replica_set set{1};
        write_list("standalone=" + alone.host() + "\nreplica_set=" + set.member(0).host() +
                   "/?replicaSet=settle\n");
        report("+");
        while (!ending_requested && !caller.ended_within(100ms)) {}
        fs::remove(list);
        set.stop_all();
        alone.stop();
        return 0;
    } catch (std::exception const& error) {
        report(error.what());
        return 1;
    }
}

int start(pid_t until) {
    {
        life_lock const lock;
        stop(lock);
    }
    remove_leftovers();
    std::string reason;
    if (settle_test::find_mongod(reason).empty()) {
        write_list("missing=" + reason + "\n");
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
        life_lock const lock;
        ::_exit(keep(lock, ends[1], until));
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

} // namespace

int main(int count, char** words) {
    std::string const what = count == 2 ? words[1] : "";
    try {
        if (what == "start") return start(::getppid());
        if (what == "keep") return start(0);
        if (what == "stop") {
            stop(life_lock{});
            return 0;
        }
    } catch (std::exception const& error) {
        std::fprintf(stderr, "settle_mongodb_keeper: %s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: settle_mongodb_keeper start | keep | stop\n");
    return 2;
}
