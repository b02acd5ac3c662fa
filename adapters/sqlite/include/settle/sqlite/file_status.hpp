// SPDX-License-Identifier: BSL-1.0
// What stands at a path, and what tells a file from every other one.
#pragma once

#include <settle/store/error.hpp>

#include <cerrno>
#include <chrono>

#include <sys/stat.h>

SETTLE_BEGIN
namespace sqlite::detail {

/// What tells a file from every other one that exists at the same time.
struct file_identity {
    ::dev_t device{};
    ::ino_t number{};
    friend bool operator==(file_identity const&, file_identity const&) = default;
};

struct file_status {
    int problem = 0; ///< the errno with which a look at it failed
    file_identity identity{};
    std::chrono::nanoseconds changed{}; ///< when its content changed last, since 1970

    /// Whether a file was found.
    explicit operator bool() const noexcept { return problem == 0; }
    /// Whether the look failed for another reason than that there is no file.
    [[nodiscard]] bool is_unclear() const noexcept {
        return problem != 0 && problem != ENOENT && problem != ENOTDIR && problem != ELOOP;
    }
};

[[nodiscard]] inline file_status look_at(char const* path) noexcept {
    struct ::stat found {};
    if (::stat(path, &found) != 0) return {errno};
    return {0,
            {found.st_dev, found.st_ino},
            std::chrono::seconds{found.st_mtim.tv_sec} +
                std::chrono::nanoseconds{found.st_mtim.tv_nsec}};
}

} // namespace sqlite::detail
SETTLE_END
