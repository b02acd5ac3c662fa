// SPDX-License-Identifier: BSL-1.0
// The addresses of stores, and the stores without a server.
#include "store.hpp"

#include <settle/memory/kind.hpp>
#include <settle/sqlite/kind.hpp>

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace samples {

namespace {

namespace files = std::filesystem;

/// True if this user may write to a SQLite file and to the files that SQLite has beside it.
bool may_write(std::string const& path) {
    for (char const* const suffix : {"", "-wal", "-shm", "-journal"}) {
        auto const file = path + suffix;
        bool const may = ::faccessat(AT_FDCWD, file.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
        if (!may && errno != ENOENT) return false;
    }
    return true;
}

/// The tables of a SQLite file except the tables of SQLite and settle; nothing for a file that this
/// user may not use: SQLite would leave files beside it, and the store refuses it with the reason.
std::vector<std::string> tables_in(std::string const& path) {
    if (!may_write(path)) return {};
    constexpr char const* query = "SELECT name FROM sqlite_master WHERE type = 'table' "
                                  "AND name NOT GLOB 'settle_*' AND name NOT GLOB 'sqlite_*'";
    sqlite3* opened = nullptr;
    int const code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    std::unique_ptr<sqlite3, decltype(&sqlite3_close)> const file{opened, &sqlite3_close};
    std::vector<std::string> names;
    if (code != SQLITE_OK) return names;
    sqlite3_busy_timeout(opened, 5000);
    auto const take = [](void* to, int, char** values, char**) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(*values);
        return 0;
    };
    sqlite3_exec(opened, query, take, &names, nullptr);
    return names;
}

/// Refuses a missing file, and a file of another program.
void check_file(std::string const& path, std::span<std::string_view const> tables,
                bool may_create) {
    std::error_code failed;
    if (files::is_regular_file(path, failed)) {
        auto const existing = tables_in(path);
        // SQLite's file of no table may be one that this program may not read.
        if (!existing.empty()) check_own(path, "table", existing, tables, may_create);
        return;
    }
    auto const folder = files::path{path}.parent_path();
    std::error_code ignored;
    bool const has_folder = folder.empty() || files::exists(folder, ignored);
    // Opening a missing database would create it, and hide a mistyped path. The store says what
    // else is wrong.
    if (may_create || !has_folder || files::exists(path, ignored)) return;
    bool const is_missing = !failed || failed == std::errc::no_such_file_or_directory;
    throw std::runtime_error(fmt::format("{}: {}", path,
                                         is_missing ? "there is no such database; 'open' makes one"
                                                    : "cannot be looked at: " + failed.message()));
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> schemes{
    {{"mongodb", "mongodb"},
     {"mongodb+srv", "mongodb"},
     {"postgresql", "postgresql"},
     {"postgres", "postgresql"},
     {"mariadb", "mariadb"}}};

} // namespace

constinit linked_store const file_store{
    "", [](std::string const& address, std::span<std::string_view const> tables, bool may_create) {
        constexpr std::string_view scheme = "sqlite:";
        if (address.starts_with(scheme)) {
            check_file(address.substr(scheme.size()), tables, may_create);
        }
        return settle::any_database{address, {settle::memory::kind(), settle::sqlite::kind()}};
    }};

std::string known_stores(bool has_servers) {
    return has_servers ? "sqlite:PATH, memory:, mongodb://HOST[:PORT][,…]/DATABASE, "
                         "postgresql://HOST[:PORT][,…]/DATABASE and mariadb://HOST[:PORT]/DATABASE"
                       : "sqlite:PATH and memory:";
}

std::string_view server_of(std::string_view address, bool has_servers) {
    auto const scheme = address.substr(0, address.find(':'));
    bool const has_scheme = scheme.size() < address.size();
    if (has_scheme && (scheme == "sqlite" || scheme == "memory")) return {};
    for (auto const& [known, server] : schemes) {
        if (has_servers && has_scheme && scheme == known) return server;
    }
    throw input_error(fmt::format("{} is no address of a store; known are {}",
                                  has_scheme ? fmt::format("'{}:…'", scheme) : "the --store",
                                  known_stores(has_servers)));
}

void become_store_program(std::string_view name, std::string_view server, char** argv) {
    std::error_code failed;
    auto const own = files::read_symlink("/proc/self/exe", failed);
    auto const other = own.parent_path() / fmt::format("{}-{}", name, server);
    // The counters of MongoDB's client serve only its own tools. Where shared memory is full, they
    // would end the process with SIGBUS.
    ::setenv("MONGOC_DISABLE_SHM", "1", 0);
    ::execv(other.c_str(), argv);
    auto const error = std::error_code(errno, std::generic_category());
    throw std::runtime_error(
        error == std::errc::no_such_file_or_directory
            ? fmt::format(
                  "{}: there is no such program; 'samples/run.sh {} --store {}://…' builds it",
                  other.string(), name, server)
            : fmt::format("{}: cannot be started: {}", other.string(), error.message()));
}

void check_own(std::string_view database, std::string_view noun,
               std::vector<std::string> const& existing, std::span<std::string_view const> tables,
               bool may_create) {
    if (existing.empty() && may_create) return;
    if (existing.empty()) {
        throw std::runtime_error(fmt::format(
            "the database '{}' holds nothing that was opened; 'open' does that", database));
    }
    auto const is_existing = [&](std::string_view name) {
        return std::find(existing.begin(), existing.end(), name) != existing.end();
    };
    if (std::any_of(tables.begin(), tables.end(), is_existing)) return;
    throw std::runtime_error(fmt::format("the database '{}' belongs to another application: it has "
                                         "a {} '{}' and none named '{}'",
                                         database, noun, existing.front(), tables.front()));
}

} // namespace samples
