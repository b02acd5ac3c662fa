// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that file_watch.hpp declares.
#pragma once

#include <settle/sqlite/connection/file_watch.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION bool is_descriptor_of(int descriptor, file_identity const& file) noexcept {
    struct ::stat found{};
    return descriptor >= 0 && ::fstat(descriptor, &found) == 0 &&
           file_identity{found.st_dev, found.st_ino} == file;
}

SETTLE_FUNCTION int descriptor_of(file_identity const& file) noexcept {
    int const end = std::min(::getdtablesize(), 1 << 20);
    for (int at = 0; at < end; ++at) {
        if (is_descriptor_of(at, file) && (::fcntl(at, F_GETFL) & O_ACCMODE) == O_RDWR) return at;
    }
    return -1;
}

SETTLE_FUNCTION bool has_plain_files(connection const& connection) {
    char* name = nullptr;
    sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_VFSNAME, static_cast<void*>(&name));
    bool const plain = name != nullptr && std::string_view{name} == "unix";
    sqlite3_free(name);
    return plain;
}

SETTLE_FUNCTION void check_links(connection const& connection, std::string const& path) {
    struct ::stat status{};
    if (!has_plain_files(connection) ||
        ::stat(sqlite3_db_filename(connection.get(), "main"), &status) != 0)
        return;
    if (status.st_nlink < 2) return;
    raise(errc::unfit_store,
          "settle: '" + path + "' is a file of " + std::to_string(status.st_nlink) +
              " names (hard links), and programs that open it by different names destroy it. "
              "Remove the other names, or copy the file. See sqlite#files");
}

SETTLE_FUNCTION void file_watch::watch(connection const& connection, std::string const& path) {
    if (!has_plain_files(connection)) return;
    name_files(sqlite3_db_filename(connection.get(), "main"), plain_path(path));
    for (std::size_t index = 0; index < paths_.size(); ++index) {
        auto const current = look_at(paths_[index].c_str());
        if (current.is_unclear()) raise_unclear({index, current.problem});
        int const open = current ? descriptor_of(current.identity) : -1;
        // An older connection of this process may have earlier files open.
        if (open < 0 || (index == database && has_moved(connection))) {
            lost_ = index;
            raise(errc::store_moved, sentence());
        }
        identities_[index] = current.identity;
        if (index == database) descriptor_ = open;
    }
    watching_ = true;
    check();
}

SETTLE_FUNCTION void file_watch::check() {
    finding const wrong = check_files();
    if (wrong.file == none) return;
    if (wrong.problem != 0) raise_unclear(wrong);
    raise(errc::store_moved, sentence());
}

SETTLE_FUNCTION bool file_watch::may_checkpoint() noexcept {
    if (check_files().file == none) return true;
    if (lost_ != log || look_at(paths_[log].c_str()).problem != ENOENT) return false;
    auto const found = look_at(paths_[database].c_str());
    return found && found.identity == identities_[database] &&
           found.changed + step_of(found.changed) < good_at_.load();
}

SETTLE_FUNCTION void file_watch::name_files(std::string const& name, std::string const& path) {
    std::error_code problem;
    auto const whole = std::filesystem::absolute(path, problem);
    paths_ = {problem ? name : whole.string(), name + "-wal", name + "-shm"};
    // The target of a symbolic link may change without its folder.
    bool const direct = !problem && !std::filesystem::is_symlink(whole, problem) && !problem;
    folder_ = direct ? whole.parent_path().string() : std::string{};
    if (auto const found = look_at(folder_.c_str())) folder_identity_ = found.identity;
}

SETTLE_FUNCTION file_watch::finding file_watch::check_files() noexcept {
    if (lost_ != none) return {lost_};
    if (!watching_) return {};
    time const now = std::chrono::system_clock::now().time_since_epoch();
    // The lock comes first: while this process has it, no other program removes the other files.
    if (!keep_lock()) return lose(log);
    auto const folder = folder_.empty() ? file_status{ENOENT} : look_at(folder_.c_str());
    if (!is_unchanged(folder)) {
        if (auto const wrong = check_all(folder, now); wrong.file != none) return wrong;
    }
    good_at_ = now;
    return {};
}

SETTLE_FUNCTION bool file_watch::is_unchanged(file_status const& folder) const noexcept {
    // A mount over a file does not change its folder, so sometimes all files are checked.
    return folder && folder.changed == folder_changed_.load() &&
           folder.identity == folder_identity_ && is_lately(looked_at_, std::chrono::seconds{1});
}

SETTLE_FUNCTION file_watch::finding file_watch::check_all(file_status const& folder,
                                                          time now) noexcept {
    for (std::size_t index = 0; index < paths_.size(); ++index) {
        auto const found = look_at(paths_[index].c_str());
        if (found.is_unclear()) return {index, found.problem};
        if (!found || found.identity != identities_[index]) return lose(index);
    }
    if (!folder) return {};
    // A later change must get a later time.
    bool const lasts = folder.changed + step_of(folder.changed) < now;
    folder_changed_ = lasts ? folder.changed : time::min();
    looked_at_ = now;
    return {};
}

SETTLE_FUNCTION bool file_watch::is_lately(std::atomic<time> const& moment, time span) noexcept {
    time const now = std::chrono::system_clock::now().time_since_epoch();
    time const then = moment.load();
    return then <= now && now - then < span;
}

SETTLE_FUNCTION file_watch::finding file_watch::lose(std::size_t index) noexcept {
    std::size_t nothing_yet = none;
    lost_.compare_exchange_strong(nothing_yet, index);
    return {lost_};
}

SETTLE_FUNCTION bool file_watch::has_moved(connection const& connection) {
    int moved = 0;
    sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

SETTLE_FUNCTION bool file_watch::keep_lock() noexcept {
    // Another part of the program may have closed the descriptor, and reused its number.
    int descriptor = descriptor_;
    if (!is_descriptor_of(descriptor, identities_[database])) {
        descriptor = descriptor_of(identities_[database]);
        descriptor_ = descriptor;
        if (descriptor < 0) return true;
    }
    struct ::flock shared{};
    shared.l_type = F_RDLCK;
    shared.l_whence = SEEK_SET;
    shared.l_start = 0x40000002; // SQLite's SHARED_FIRST, and SHARED_SIZE of them
    shared.l_len = 510;
    return ::fcntl(descriptor, F_SETLK, &shared) == 0 || (errno != EAGAIN && errno != EACCES);
}

SETTLE_FUNCTION void file_watch::raise_unclear(finding const& wrong) const {
    std::string text{"settle: '"};
    text.append(paths_[wrong.file]).append("' cannot be checked: ");
    text.append(std::generic_category().message(wrong.problem));
    text.append(". Give this process access to its folder, and call again. See sqlite#files");
    throw failure({{SQLITE_IOERR_FSTAT, sqlite_category()}, std::move(text)});
}

SETTLE_FUNCTION std::string file_watch::sentence() const {
    std::size_t const index = lost_;
    std::string text{"settle: '"};
    text.append(paths_[index]).append("' is no longer the file that is open: ");
    text.append(index == database ? "it was deleted, moved or replaced. End the programs that use "
                                    "it, put the right file at this path"
                                  : "another program has deleted or replaced it. End the programs "
                                    "that use the database");
    return text.append(", and open it again. See sqlite#files");
}

} // namespace sqlite::detail
SETTLE_END
