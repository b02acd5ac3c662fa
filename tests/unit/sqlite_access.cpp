// SPDX-License-Identifier: BSL-1.0
// Files of a database that this process may not write, or that another user has.
#include "sqlite_file.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace sqlite_test {
namespace {

/// The refusal that another user without groups gets; empty if the file is opened.
std::string opening_as(::uid_t user, std::string const& path) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
        bool const changed =
            ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
        ::umask(022);
        std::string const reply = changed ? refusal([&] { settle::sqlite::database{path}; })
                                          : "the user cannot be changed";
        bool const written = ::write(ends[1], reply.data(), reply.size()) >= 0;
        ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string reply(2000, ' ');
    auto const got = ::read(ends[0], reply.data(), reply.size());
    ::close(ends[0]);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    reply.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return reply;
}

TEST_CASE("sqlite access: a user who may only read leaves no file, and the owner goes on") {
    if (::geteuid() != 0) {
        MESSAGE("SKIPPED: only root can change users");
        return;
    }
    constexpr ::uid_t owner = 1001;
    constexpr ::uid_t guest = 1002;
    folder const folder; // every user may create files in it
    std::string const path = folder.file();
    REQUIRE(opening_as(owner, path).empty());
    std::string const reply = opening_as(guest, path);
    CHECK_MESSAGE(contains(reply, "can only be read: it belongs to the user 1001, and this "
                                  "process is of the user 1002"),
                  reply);
    CHECK_FALSE(std::filesystem::exists(path + "-wal"));
    CHECK_FALSE(std::filesystem::exists(path + "-shm"));
    CHECK(opening_as(owner, path).empty());

    // The owner's own look at a file that is read-only for a while.
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    CHECK(contains(opening_as(owner, path), "can only be read"));
    CHECK_FALSE(std::filesystem::exists(path + "-wal"));
    std::string const secret = opening_as(guest, path);
    CHECK_MESSAGE(contains(secret, "cannot be opened: it belongs to the user 1001"), secret);
    std::filesystem::permissions(path, std::filesystem::perms{0644});
    CHECK(opening_as(owner, path).empty());

    // Files that another program of the guest has left.
    for (auto const* const suffix : {"-wal", "-journal"}) {
        std::ofstream{path + suffix};
        REQUIRE(::chown((path + suffix).c_str(), guest, guest) == 0);
        std::string const foreign = opening_as(owner, path);
        CHECK_MESSAGE(
            contains(foreign, std::string{"test.db"} + suffix + "' belongs to the user 1002"),
            foreign);
        CHECK(contains(foreign, "Give it the owner and the mode of '" + path + "'"));
        std::filesystem::remove(path + suffix);
    }
}

} // namespace
} // namespace sqlite_test
