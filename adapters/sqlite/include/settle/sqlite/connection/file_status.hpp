// SPDX-License-Identifier: BSL-1.0
// The status of the file at a path, and the file's identity.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/error.hpp>

#include <cerrno>

#include <sys/stat.h>

SETTLE_BEGIN
namespace sqlite::detail {

/// Identifies a file among all files that exist at the same time.
struct file_identity {
    ::dev_t device{};
    ::ino_t number{};
    friend bool operator==(file_identity const&, file_identity const&) = default;
};

struct file_status {
    int problem = 0; ///< the errno of a failed look-up
    file_identity identity{};
    std::chrono::nanoseconds changed{}; ///< when its content changed last, since 1970

    /// True if a file was found.
    explicit operator bool() const noexcept { return problem == 0; }
    /// True if the look-up failed for another reason than a missing file.
    [[nodiscard]] bool is_unclear() const noexcept {
        return problem != 0 && problem != ENOENT && problem != ENOTDIR && problem != ELOOP;
    }
};

[[nodiscard]] file_status look_at(char const* path) noexcept;

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/file_status.ipp>
#endif
