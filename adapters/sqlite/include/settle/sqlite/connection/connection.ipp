// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that connection.hpp declares.
#pragma once

#include <settle/sqlite/connection/connection.hpp>

#include <algorithm>
#include <thread>

SETTLE_BEGIN
namespace sqlite::detail {

/// SQLite calls it when a lock is held; 0 ends the wait.
SETTLE_FUNCTION int wait_for_others(void* held, int earlier) noexcept {
    auto& waits = *static_cast<busy_wait*>(held);
    if (earlier == 0) waits.under_way.emplace(settle::detail::deadline_after(waits.limit));
    auto const left = waits.under_way->left();
    if (!left) return 0;
    std::chrono::milliseconds const longer{std::min(1 << std::min(earlier, 6), 50)};
    std::this_thread::sleep_for(std::min(*left, longer));
    return 1;
}

SETTLE_FUNCTION connection::connection(std::string const& path,
                                       std::chrono::milliseconds busy_timeout) {
    // A mutex of settle guards each connection, so SQLite's own mutex would only cost time.
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                          SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    sqlite3* opened = nullptr;
    int const code = sqlite3_open_v2(plain_path(path).c_str(), &opened, flags, nullptr);
    handle_.reset(opened);
    if (code != SQLITE_OK) raise(opened, code, "open '" + path + "'");
    waits_ = std::make_unique<busy_wait>(busy_wait{busy_timeout, std::nullopt});
    sqlite3_busy_handler(opened, &wait_for_others, waits_.get());
    // A column that another program renamed must cause an error, not become a quoted text.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
}

SETTLE_FUNCTION statement::statement(connection const& connection, std::string_view sql,
                                     char const* phase)
    : phase_(phase) {
    sqlite3_stmt* compiled = nullptr;
    int const code = sqlite3_prepare_v3(connection.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &compiled, nullptr);
    handle_.reset(compiled);
    if (code != SQLITE_OK) raise(connection.get(), code, phase);
}

SETTLE_FUNCTION bool run::next() {
    int const code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) raise(sqlite3_db_handle(handle_), code, phase_);
    return false;
}

SETTLE_FUNCTION std::string_view run::text(int column) const noexcept {
    auto const* const bytes = sqlite3_column_text(handle_, column);
    if (bytes == nullptr) return {};
    return {reinterpret_cast<char const*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

SETTLE_FUNCTION std::string_view run::blob(int column) const noexcept {
    auto const* const bytes = sqlite3_column_blob(handle_, column);
    if (bytes == nullptr) return {};
    return {static_cast<char const*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

} // namespace sqlite::detail
SETTLE_END
