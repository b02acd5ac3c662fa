// SPDX-License-Identifier: BSL-1.0
// Reads the file of a service with SQLite's own client.
#include "books.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <unistd.h>

namespace agency {

namespace {

/// The connection to a file, for reading.
class reading {
public:
    explicit reading(std::string const& path) : path_(path) {
        std::error_code ignored;
        // Opening a missing file would create it.
        if (!std::filesystem::exists(path, ignored)) {
            throw std::runtime_error(
                fmt::format("{}: there is no such file; name the file of the service", path));
        }
        // SQLite would open a file that can only be read, and leave files beside it.
        if (::access(path.c_str(), R_OK | W_OK) != 0) {
            throw std::runtime_error(fmt::format(
                "{}: this program may not write to it; run it as the user of the service", path));
        }
        sqlite3* opened = nullptr;
        // A read may have to recover the write-ahead log of a killed process.
        int const code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
        file_.reset(opened);
        if (code != SQLITE_OK) throw error();
        sqlite3_busy_timeout(opened, 5000);
    }

    /// Calls row(statement) for each row.
    void ask(std::string const& sql, std::function<void(sqlite3_stmt*)> const& row) const {
        sqlite3_stmt* prepared = nullptr;
        if (sqlite3_prepare_v2(file_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
            throw error();
        }
        std::unique_ptr<sqlite3_stmt, closing> const statement{prepared};
        int step = SQLITE_ROW;
        while ((step = sqlite3_step(prepared)) == SQLITE_ROW) row(prepared);
        if (step != SQLITE_DONE) throw error();
    }

private:
    struct closing {
        void operator()(sqlite3* file) const noexcept { sqlite3_close(file); }
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };

    [[nodiscard]] std::runtime_error error() const {
        return std::runtime_error(
            fmt::format("{}: it cannot be read as the file of this service: {}", path_,
                        sqlite3_errmsg(file_.get())));
    }

    std::string path_;
    std::unique_ptr<sqlite3, closing> file_;
};

std::string text(sqlite3_stmt* from, int column) {
    auto const* const given = sqlite3_column_text(from, column);
    return given == nullptr ? std::string{} : reinterpret_cast<char const*>(given);
}

} // namespace

service_books read_books(service_kind const& kind, std::string const& path) {
    service_books books;
    reading const file{path};
    // All queries see one state of the file.
    file.ask("BEGIN", [](sqlite3_stmt*) {});
    file.ask(
        fmt::format("SELECT trip, number, price, confirmed FROM {} ORDER BY number", kind.taken),
        [&](sqlite3_stmt* row) {
            books.taken.push_back({text(row, 0), fmt::format("{}-{}", kind.name, text(row, 1)),
                                   sqlite3_column_int64(row, 2),
                                   sqlite3_column_int64(row, 3) != 0});
        });
    file.ask(fmt::format("SELECT id, capacity, free, coalesce(sum(units), 0) AS taken "
                         "FROM {} LEFT JOIN {} ON item = id GROUP BY id "
                         "HAVING capacity <> free + taken",
                         kind.stock, kind.taken),
             [&](sqlite3_stmt* row) {
                 books.faults.push_back(fmt::format("{} {}: {} free and {} taken, of {}",
                                                    kind.stock, text(row, 0), text(row, 2),
                                                    text(row, 3), text(row, 1)));
             });
    file.ask(fmt::format("SELECT key FROM settle_receiver "
                         "WHERE status IN ('applied', 'confirmed') EXCEPT SELECT key FROM {}",
                         kind.taken),
             [&](sqlite3_stmt* row) {
                 books.faults.push_back(fmt::format("the receiver of {} has a row of {}, and "
                                                    "there is nothing in {}",
                                                    kind.name, text(row, 0), kind.taken));
             });
    file.ask("COMMIT", [](sqlite3_stmt*) {});
    return books;
}

} // namespace agency
