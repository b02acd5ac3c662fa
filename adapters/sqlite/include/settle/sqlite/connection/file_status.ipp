// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that file_status.hpp declares.
#pragma once

#include <settle/sqlite/connection/file_status.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION file_status look_at(char const* path) noexcept {
    struct ::stat status{};
    if (::stat(path, &status) != 0) return {errno};
    return {0,
            {status.st_dev, status.st_ino},
            std::chrono::seconds{status.st_mtim.tv_sec} +
                std::chrono::nanoseconds{status.st_mtim.tv_nsec}};
}

} // namespace sqlite::detail
SETTLE_END
