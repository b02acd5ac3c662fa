// SPDX-License-Identifier: BSL-1.0
// Inspects a SQLite file with SQLite's own client.
#include "database_file.hpp"

#include "own_database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace samples {

namespace {

struct closing {
    void operator()(sqlite3* file) const noexcept { sqlite3_close(file); }
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

/// The tables of the file except the tables of SQLite and settle; nothing for an unreadable
/// database.
std::optional<std::vector<std::string>> tables_in(std::string const& path) {
    // SQLite leaves files beside a database also when it is only read. The store says why it
    // refuses a file that this program may not write to.
    for (auto const& each : {path, path + "-wal", path + "-shm"}) {
        bool const is_missing = ::access(each.c_str(), F_OK) != 0 && each != path;
        if (!is_missing && ::access(each.c_str(), R_OK | W_OK) != 0) return std::nullopt;
    }
    sqlite3* opened = nullptr;
    int const code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    std::unique_ptr<sqlite3, closing> const file{opened};
    if (code != SQLITE_OK) return std::nullopt;
    sqlite3_busy_timeout(opened, 5000);
    constexpr char const* query = "SELECT name FROM sqlite_master WHERE type = 'table' "
                                  "AND name NOT GLOB 'settle_*' AND name NOT GLOB 'sqlite_*'";
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(opened, query, -1, &prepared, nullptr) != SQLITE_OK) return std::nullopt;
    std::unique_ptr<sqlite3_stmt, closing> const statement{prepared};
    std::vector<std::string> names;
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(prepared)) == SQLITE_ROW) {
        auto const* const text = sqlite3_column_text(prepared, 0);
        names.emplace_back(reinterpret_cast<char const*>(text));
    }
    if (step != SQLITE_DONE) return std::nullopt;
    return names;
}

} // namespace

void check_database_file(std::string const& path, std::span<std::string_view const> tables,
                         bool may_create) {
    std::error_code ignored;
    struct ::stat found{};
    if (::stat(path.c_str(), &found) != 0) {
        if (errno != ENOENT) {
            std::string const why = std::generic_category().message(errno);
            throw std::runtime_error(
                fmt::format("{}: cannot be looked at: {}. Correct the path, or the modes of its "
                            "folders",
                            path, why));
        }
        if (!may_create && std::filesystem::is_symlink(path, ignored)) {
            throw std::runtime_error(
                fmt::format("{}: is a link to a file that is not there. Correct the link", path));
        }
        auto const folder = std::filesystem::path{path}.parent_path();
        bool const has_folder = folder.empty() || std::filesystem::exists(folder, ignored);
        // The store names the missing folder.
        if (may_create || !has_folder) return;
        throw std::runtime_error(
            fmt::format("{}: there is no such database; 'open' makes one", path));
    }
    // The store says that a folder or a device is no file.
    if (!std::filesystem::is_regular_file(path, ignored)) return;
    auto const existing = tables_in(path);
    if (!existing) return;
    check_own(path, "table", *existing, tables, may_create);
}

} // namespace samples
