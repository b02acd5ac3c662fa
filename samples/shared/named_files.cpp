// SPDX-License-Identifier: BSL-1.0
// Compares files by identity, and missing files by name.
#include "named_files.hpp"

#include "input_error.hpp"
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace samples {

namespace {

namespace files = std::filesystem;

/// A path as the system resolves it; for `-` the path of standard input.
files::path real(files::path const& path) {
    std::error_code failed;
    auto const target = path == "-" ? files::path{"/proc/self/fd/0"} : real_path(path);
    // weakly_canonical alone leaves a relative path relative if none of it exists.
    auto const found = files::weakly_canonical(files::absolute(target, failed), failed);
    return failed ? path : found;
}

bool status_of(files::path const& path, struct ::stat& found) {
    return (path == "-" ? ::fstat(STDIN_FILENO, &found) : ::stat(path.c_str(), &found)) == 0;
}

/// True if two paths name the same file, also through links, or the same missing file.
bool are_same_file(files::path const& first, files::path const& second) {
    struct ::stat left{};
    struct ::stat right{};
    bool const exists = status_of(first, left);
    if (exists != status_of(second, right)) return false;
    if (exists) return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
    return real(first) == real(second);
}

/// The database and SQLite's files beside it, under the given name and under a link's target.
std::vector<files::path> database_files(settings const& given) {
    std::vector<files::path> all;
    if (given.store.kind != store_kind::sqlite) return all;
    for (auto const& path : {files::path{given.store.path}, real(given.store.path)}) {
        for (auto const* end : {"", "-wal", "-shm", "-journal"}) {
            all.emplace_back(path.string() + end);
        }
    }
    return all;
}

bool is_any_of(files::path const& path, std::vector<files::path> const& all) {
    return std::any_of(all.begin(), all.end(),
                       [&](files::path const& each) { return are_same_file(path, each); });
}

/// True for a file that begins with one of `heads`.
bool begins_with(files::path const& path, std::initializer_list<std::string_view> heads) {
    std::error_code ignored;
    if (!files::is_regular_file(path, ignored)) return false;
    std::array<char, 16> bytes{};
    std::ifstream{path, std::ios::binary}.read(bytes.data(), bytes.size());
    std::string_view const begin{bytes.data(), bytes.size()};
    return std::any_of(heads.begin(), heads.end(),
                       [&](std::string_view head) { return begin.starts_with(head); });
}

bool is_database(files::path const& path) { return begins_with(path, {"SQLite format 3"}); }

/// True for a file that SQLite keeps beside a database, by its first bytes or by its name.
bool is_beside_database(files::path const& path) {
    constexpr std::string_view journal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    if (begins_with(path, {"\x37\x7f\x06\x82", "\x37\x7f\x06\x83", journal})) return true;
    for (std::string_view const end : {"-wal", "-shm", "-journal"}) {
        for (auto name : {path.string(), real(path).string()}) {
            if (!name.ends_with(end)) continue;
            name.resize(name.size() - end.size());
            if (is_database(name)) return true;
        }
    }
    return false;
}

/// The input files of the commands.
std::vector<std::pair<command, files::path>> inputs_of(settings const& given) {
    std::vector<std::pair<command, files::path>> all;
    for (auto const each : given.commands) {
        if (each == command::open) all.emplace_back(each, given.file);
        if (each == command::run) all.emplace_back(each, given.input);
    }
    return all;
}

void check_report(settings const& given) {
    auto const refuse = [&](std::string_view replaced) {
        throw input_error(fmt::format("--report {} would replace {}; name another file",
                                      given.report.string(), replaced));
    };
    if (is_any_of(given.report, database_files(given))) refuse("the database");
    for (auto const& [which, path] : inputs_of(given)) {
        struct ::stat found{};
        // A terminal can be both read and written.
        bool const device = status_of(path, found) && S_ISCHR(found.st_mode);
        if (device || !are_same_file(given.report, path)) continue;
        refuse(fmt::format("the file that '{}' reads", name_of(which)));
    }
    if (is_database(given.report)) refuse("a database");
    if (is_beside_database(given.report)) refuse("a file of a database");
    check_report_path(given.report);
}

} // namespace

void check_named_files(settings const& given) {
    auto const inputs = inputs_of(given);
    for (auto const& [which, path] : inputs) {
        // Closing the database file again would release SQLite's locks on it.
        if (!is_any_of(path, database_files(given))) continue;
        throw input_error(fmt::format("'{}' is to read {}, which is the database itself",
                                      name_of(which), path.string()));
    }
    bool const twice = inputs.size() == 2 && are_same_file(inputs[0].second, inputs[1].second);
    struct ::stat found{};
    if (twice && status_of(inputs[0].second, found) && !S_ISREG(found.st_mode) &&
        !S_ISDIR(found.st_mode)) {
        throw input_error(fmt::format("'{}' and '{}' are to read {}, which can be read once only; "
                                      "save it in a file first",
                                      name_of(inputs[0].first), name_of(inputs[1].first),
                                      inputs[0].second.string()));
    }
    bool const runs = std::find(given.commands.begin(), given.commands.end(), command::run) !=
                      given.commands.end();
    if (runs && !given.report.empty()) check_report(given);
}

} // namespace samples
