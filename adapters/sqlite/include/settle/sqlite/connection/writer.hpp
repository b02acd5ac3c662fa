// SPDX-License-Identifier: BSL-1.0
// The only connection that writes, and its native transactions.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/sqlite/connection/file_watch.hpp>
#include <settle/sqlite/connection/wave_rows.hpp>

#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::commit_result;
using settle::detail::commit_status;

/// Whether a commit waits for the disk. A later commit that does takes the earlier ones with it.
enum class commit_end : std::uint8_t { on_disk, in_memory };

/// A connection that threads share under a mutex, with the statements of a native transaction.
class writer {
public:
    explicit writer(connection connection) : connection_(std::move(connection)) {}

    /// Prepares the statements, after the file was recognized as a settle database.
    void prepare();

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] connection const& on() const noexcept { return connection_; }
    /// Shows waves to the connection's statements.
    [[nodiscard]] wave_rows& rows() noexcept { return rows_; }
    /// Checks that the open files are still the files at their paths.
    [[nodiscard]] file_watch& files() noexcept { return files_; }

    /// The number of rollbacks: after a rollback, cached values of that transaction are wrong.
    [[nodiscard]] std::uint64_t undone() const noexcept { return undone_; }
    /// The number of transactions begun, so the number of the open transaction.
    [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }

private:
    friend class transaction;

    std::mutex mutex_;
    connection connection_;
    wave_rows rows_{connection_};
    file_watch files_;
    /// Chooses the end of the next native transaction.
    void choose(commit_end next);
    /// Writes the write-ahead log again as it is, and syncs it. After a sync that failed, the
    /// operating system may never write the bytes of earlier commits in memory. Then all later
    /// commits, which follow them in the log, would be lost with the power.
    /// Shape:   inside a native transaction
    /// Errors:  throws settle::failure
    void rewrite_log();

    commit_end ends_ = commit_end::on_disk;
    bool is_log_in_doubt_ = true; ///< a sync may have failed, perhaps that of an earlier program
    statement begin_;
    statement commit_;
    statement rollback_;
    statement savepoint_;
    statement release_;
    statement return_;
    std::uint64_t undone_ = 0;
    std::uint64_t begun_ = 0;
};

/// A native transaction. The caller holds the writer's mutex. Without a commit it is rolled back.
class transaction {
public:
    /// Errors:  throws settle::failure; nothing was written then
    explicit transaction(writer& writer, commit_end ends = commit_end::on_disk);
    transaction(transaction const&) = delete;
    transaction& operator=(transaction const&) = delete;
    ~transaction();

    [[nodiscard]] commit_result commit();

    /// False if an error has rolled the transaction back.
    [[nodiscard]] bool is_open() const { return writer_.on().in_transaction(); }

    /// Calls a function inside a savepoint; if it throws, only its own writes are undone.
    void in_savepoint(settle::detail::function_view<void()> function);

private:
    void roll_back() noexcept;

    writer& writer_;
    bool committed_ = false;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/writer.ipp>
#endif
