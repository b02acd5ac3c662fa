// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that file_access.hpp declares.
#pragma once

#include <settle/sqlite/connection/file_access.hpp>

#include <settle/sqlite/connection/connection.hpp>

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

SETTLE_BEGIN
namespace sqlite::detail {

/// True if this process may do this to a file, by its effective user.
[[nodiscard]] SETTLE_FUNCTION bool may(int mode, std::string const& path) {
    if (::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0) return true;
    return errno != EACCES && errno != EROFS && errno != EPERM;
}

[[noreturn]] SETTLE_FUNCTION void refuse_file(int code, std::string const& path,
                                              std::string const& cause) {
    std::string text{"settle: '"};
    text.append(path).append("' ").append(cause).append(". See sqlite#open-a-file");
    throw failure({{code, sqlite_category()}, std::move(text)});
}

SETTLE_FUNCTION void check_access(std::string const& path) {
    std::string const file = plain_path(path);
    struct ::stat status{};
    auto const of_user = [&] {
        return " the user " + std::to_string(status.st_uid) + ", and this process is of the user " +
               std::to_string(::geteuid());
    };
    if (::stat(file.c_str(), &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) return;
        auto const parent = std::filesystem::path{file}.parent_path();
        bool const is_missing = !parent.empty() && ::stat(parent.c_str(), &status) != 0;
        // A symbolic link without a target has a folder as well.
        if (!is_missing) return;
        refuse_file(SQLITE_CANTOPEN, path,
                    "cannot be opened: its folder does not exist. Make the folder, or correct the "
                    "path");
    }
    if (!S_ISREG(status.st_mode)) {
        refuse_file(SQLITE_CANTOPEN, path,
                    "cannot be opened: it is a folder or a device. Name a file");
    }
    if (!may(R_OK, file)) {
        refuse_file(SQLITE_CANTOPEN, path,
                    "cannot be opened: it belongs to" + of_user() +
                        ". Allow reading and writing it");
    }
    if (!may(W_OK, file)) {
        refuse_file(SQLITE_READONLY, path,
                    "can only be read: it belongs to" + of_user() +
                        ". Allow writing to it and its folder");
    }
    // SQLite has its files beside the target of a symbolic link.
    std::error_code problem;
    auto const target = std::filesystem::canonical(file, problem);
    if (problem) return;
    for (auto const* const suffix : {"-wal", "-shm", "-journal"}) {
        std::string const beside = target.string() + suffix;
        if (::stat(beside.c_str(), &status) != 0 || may(R_OK | W_OK, beside)) continue;
        refuse_file(SQLITE_READONLY, beside,
                    "belongs to" + of_user() +
                        ", which may not write to it. Give it the owner "
                        "and the mode of '" +
                        target.string() + "'");
    }
}

} // namespace sqlite::detail
SETTLE_END
