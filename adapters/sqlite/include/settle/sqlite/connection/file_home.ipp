// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that file_home.hpp declares.
#pragma once

#include <settle/sqlite/connection/file_home.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/sqlite/connection/file_status.hpp>
#include <settle/sqlite/connection/file_watch.hpp>

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>

SETTLE_BEGIN
namespace sqlite::detail {

/// When a file was made, in nanoseconds since 1970; empty if its file system does not keep it.
[[nodiscard]] SETTLE_FUNCTION std::string birth_of([[maybe_unused]] char const* path) {
#ifdef STATX_BTIME
    struct ::statx status{};
    if (::statx(AT_FDCWD, path, 0, STATX_BTIME, &status) == 0 &&
        (status.stx_mask & STATX_BTIME) != 0) {
        constexpr std::int64_t second = 1'000'000'000;
        return std::to_string(status.stx_btime.tv_sec * second + status.stx_btime.tv_nsec);
    }
#endif
    return {};
}

SETTLE_FUNCTION std::string home_of(connection const& connection) {
    // SQLite gives an absolute path, without symbolic links.
    char const* const path = sqlite3_db_filename(connection.get(), "main");
    if (path == nullptr || *path == '\0' || !has_plain_files(connection)) return {};
    auto const file = look_at(path);
    if (!file) return {};
    return "device=" + std::to_string(file.identity.device) +
           " inode=" + std::to_string(file.identity.number) + " birth=" + birth_of(path) +
           " path=" + path;
}

SETTLE_FUNCTION bool is_same_file(std::string_view kept, std::string_view present) {
    using settle::detail::part_of_home;
    auto const path_of = [](std::string_view home) {
        return home.substr(std::min(home.find(" path="), home.size()));
    };
    auto const shares = [&](std::string_view key) {
        return settle::detail::share_parts(kept, present, {key});
    };
    auto const born = part_of_home(kept, "birth");
    auto const born_now = part_of_home(present, "birth");
    bool const same_birth = born.empty() || born_now.empty() || born == born_now;
    // A restart may number the devices anew.
    return shares("inode") && same_birth && (shares("device") || path_of(kept) == path_of(present));
}

} // namespace sqlite::detail
SETTLE_END
