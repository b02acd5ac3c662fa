// SPDX-License-Identifier: BSL-1.0
// Checks that the files that a connection has open are still the files at their paths.
//
// SQLite continues with a file that was deleted, moved or replaced, and no other program ever sees
// its writes. So settle checks before and after each commit, and at each read.
#pragma once

#include <settle/sqlite/connection/connection.hpp>
#include <settle/sqlite/connection/file_status.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

SETTLE_BEGIN
namespace sqlite::detail {

[[nodiscard]] bool is_descriptor_of(int descriptor, file_identity const& file) noexcept;

/// A descriptor by which this process may write to a file; -1 when it has none.
[[nodiscard]] int descriptor_of(file_identity const& file) noexcept;

/// True if SQLite uses the files at their paths directly, as its usual VFS of Unix does.
[[nodiscard]] bool has_plain_files(connection const& connection);

/// A connection opens the write-ahead log and its index when it first reads.
inline void open_all_files(connection const& connection) {
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1", "look at the database");
}

/// Each name of a file has its own write-ahead log, which lacks the other log's changes.
/// Errors:  throws errc::unfit_store when the file has several names
void check_links(connection const& connection, std::string const& path);

/// The files of one open database: the file itself, its write-ahead log and the index of that log.
/// Threads may share it, except for watch().
class file_watch {
public:
    /// Remembers the files that are at their paths now.
    /// Shape:   on - has read the database in WAL mode; path - as the caller gave it
    /// Errors:  throws settle::failure with errc::store_moved when this process has not opened all
    ///          of them
    void watch(connection const& connection, std::string const& path);

    /// Errors:  throws settle::failure with errc::store_moved, from then on at every call; with
    ///          SQLITE_IOERR_FSTAT when a file cannot be checked; the next call checks again
    /// Cost:    three calls of the system while nothing changes in the folder, else six
    void check();

    /// The same if a recent check suffices.
    /// Cost:    usually one reading of the clock
    void check_lately() {
        if (lost_ != none || !is_lately(good_at_, std::chrono::milliseconds{1})) check();
    }

    /// True if a checkpoint overwrites no change of another program. It may save the contents of a
    /// deleted write-ahead log.
    [[nodiscard]] bool may_checkpoint() noexcept;

private:
    using time = std::chrono::nanoseconds; ///< since 1970, as files have it

    static constexpr std::size_t database = 0; // in the arrays below
    static constexpr std::size_t log = 1;
    static constexpr std::size_t none = ~std::size_t{0};

    /// The file that is wrong.
    struct finding {
        std::size_t file = none;
        int problem = 0; ///< the errno, if the file could not be compared with the open file
    };

    /// Two changes of a file that are further apart have different times.
    [[nodiscard]] static constexpr time step_of(time changed) noexcept {
        bool const whole_seconds = changed % std::chrono::seconds{1} == time::zero();
        return whole_seconds ? time{std::chrono::seconds{3}} : std::chrono::milliseconds{50};
    }

    void name_files(std::string const& name, std::string const& path);

    /// Checks all files. The first file found replaced or missing stays the finding of all later
    /// calls.
    [[nodiscard]] finding check_files() noexcept;

    [[nodiscard]] bool is_unchanged(file_status const& folder) const noexcept;

    finding check_all(file_status const& folder, time now) noexcept;

    [[nodiscard]] static bool is_lately(std::atomic<time> const& moment, time span) noexcept;

    finding lose(std::size_t index) noexcept;

    static bool has_moved(connection const& connection);

    /// Takes again the read lock that SQLite holds on the open file. By POSIX, the whole process
    /// loses this lock when any of its code closes that file. Another program may then assume
    /// that it is the last user, and remove the write-ahead log.
    /// Returns: false if such a program holds the file now
    bool keep_lock() noexcept;

    [[noreturn]] void raise_unclear(finding const& wrong) const;

    [[nodiscard]] std::string sentence() const;

    std::array<std::string, 3> paths_;
    std::array<file_identity, 3> identities_{};
    std::string folder_; ///< of all files; empty if it does not show their changes
    file_identity folder_identity_{};
    bool watching_ = false;
    std::atomic<int> descriptor_{-1};     ///< of the database
    std::atomic<std::size_t> lost_{none}; ///< the first file found to be replaced
    std::atomic<time> good_at_{};         ///< when all files were good
    std::atomic<time> looked_at_{};       ///< when all files were checked
    std::atomic<time> folder_changed_{time::min()};
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/file_watch.ipp>
#endif
