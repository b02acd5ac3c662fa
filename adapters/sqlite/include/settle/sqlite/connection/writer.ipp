// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that writer.hpp declares.
#pragma once

#include <settle/sqlite/connection/writer.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void writer::prepare() {
    begin_ = {connection_, "BEGIN IMMEDIATE", "begin a transaction"};
    commit_ = {connection_, "COMMIT", "commit a transaction"};
    rollback_ = {connection_, "ROLLBACK", "roll a transaction back"};
    savepoint_ = {connection_, "SAVEPOINT settle_one", "begin a part of a transaction"};
    release_ = {connection_, "RELEASE settle_one", "end a part of a transaction"};
    return_ = {connection_, "ROLLBACK TO settle_one", "undo a part of a transaction"};
}

SETTLE_FUNCTION void writer::choose(commit_end next) {
    if (ends_ == next) return;
    bool const on_disk = next == commit_end::on_disk;
    connection_.execute(on_disk ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
                        "choose what a commit waits for");
    // A checkpoint behind a commit does not report that its sync failed. Behind a commit on disk
    // that sync has nothing to write.
    constexpr int pages = 1000;
    sqlite3_wal_autocheckpoint(connection_.get(), on_disk ? pages : 0);
    ends_ = next;
}

SETTLE_FUNCTION void writer::rewrite_log() {
    sqlite3_file* log = nullptr;
    sqlite3_int64 size = 0;
    int code = sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                                    static_cast<void*>(&log));
    bool const is_open = code == SQLITE_OK && log != nullptr && log->pMethods != nullptr;
    if (is_open) code = log->pMethods->xFileSize(log, &size);
    // The largest page: a file system may take no larger pieces.
    std::vector<char> bytes(std::size_t{1} << 16U);
    for (sqlite3_int64 offset = 0; code == SQLITE_OK && offset < size;) {
        auto const count =
            static_cast<int>(std::min(size - offset, static_cast<sqlite3_int64>(bytes.size())));
        code = log->pMethods->xRead(log, bytes.data(), count, offset);
        if (code == SQLITE_OK) code = log->pMethods->xWrite(log, bytes.data(), count, offset);
        offset += count;
    }
    if (code == SQLITE_OK && size > 0) code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    if (code != SQLITE_OK) raise(connection_.get(), code, "sync the write-ahead log");
    is_log_in_doubt_ = false;
}

SETTLE_FUNCTION transaction::transaction(writer& writer, commit_end ends) : writer_(writer) {
    // If a rollback failed before, its transaction is still open.
    roll_back();
    writer.choose(ends);
    run{writer.begin_}.change();
    ++writer.begun_;
    if (!writer.is_log_in_doubt_) return;
    try {
        writer.rewrite_log();
    } catch (failure const&) {
        roll_back();
        throw;
    }
}

SETTLE_FUNCTION transaction::~transaction() {
    // Some errors have rolled the transaction back already.
    if (!committed_) ++writer_.undone_;
    roll_back();
}

SETTLE_FUNCTION commit_result transaction::commit() {
    try {
        // A commit may also write a checkpoint, over changes of other programs.
        writer_.files().check_lately();
    } catch (failure const& problem) {
        roll_back();
        return {commit_status::undone, problem.problem()};
    }
    try {
        run{writer_.commit_}.change();
        committed_ = true;
        // A commit to files that no other program sees may be lost.
        writer_.files().check();
        return {};
    } catch (failure const& problem) {
        auto const busy = primary_code(problem.problem().code.value()) == SQLITE_BUSY &&
                          writer_.on().in_transaction();
        writer_.is_log_in_doubt_ = !busy;
        roll_back();
        return {busy ? commit_status::undone : commit_status::unknown, problem.problem()};
    }
}

SETTLE_FUNCTION void transaction::in_savepoint(settle::detail::function_view<void()> function) {
    run{writer_.savepoint_}.change();
    try {
        function();
    } catch (...) {
        ++writer_.undone_;
        // If the error has ended the whole transaction, nothing is left to undo.
        if (!is_open()) throw;
        run{writer_.return_}.change();
        run{writer_.release_}.change();
        throw;
    }
    run{writer_.release_}.change();
}

SETTLE_FUNCTION void transaction::roll_back() noexcept {
    if (!writer_.on().in_transaction()) return;
    sqlite3_stmt* const handle = writer_.rollback_.get();
    sqlite3_step(handle);
    sqlite3_reset(handle);
}

} // namespace sqlite::detail
SETTLE_END
