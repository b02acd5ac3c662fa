// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that file.hpp declares.
#pragma once

#include <settle/sqlite/connection/file.hpp>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

SETTLE_FUNCTION file::~file() {
    if (is_here() && writer_.files().may_checkpoint()) return;
    leave_as_it_is(writer_.on());
    leave_as_it_is(reader_);
}

SETTLE_FUNCTION commit_result
file::perform(settle::detail::function_view<void(transaction&)> function, commit_end ends) {
    if (!is_here()) return {commit_status::undone, settle::detail::made_before_fork("database")};
    return commits_.perform(function, ends);
}

SETTLE_FUNCTION bool file::unchanged_for(void const* session) {
    if (!version_) version_ = {writer_.on(), "PRAGMA data_version", "look at the database"};
    // The number changes with commits of other connections, and never during a transaction of
    // this connection.
    if (std::exchange(read_in_, writer_.begun()) != writer_.begun()) {
        run row{version_};
        row.next();
        data_version_ = row.integer(0);
    }
    seen const now{session, data_version_, writer_.undone()};
    return std::exchange(seen_, now) == now && session != nullptr;
}

SETTLE_FUNCTION std::string const& file::checked(std::string const& path,
                                                 database_options const& options) {
    if (options.busy_timeout.count() < 0) {
        raise(errc::bad_option, "settle: sqlite::database_options::busy_timeout is " +
                                    std::to_string(options.busy_timeout.count()) +
                                    " ms. Give it 0 or more. See sqlite#open-a-file");
    }
    if (!path.empty() && path != ":memory:") return path;
    raise(errc::unfit_store, "settle: settle::sqlite::database takes the path of a file, and '" +
                                 path +
                                 "' is not a path. For records that end with the process use "
                                 "settle::memory::database. See sqlite#open-a-file");
}

SETTLE_FUNCTION connection file::open_reader(database_options const& options,
                                             prepare_function prepare) {
    try {
        prepare(writer_, path_, options.busy_timeout);
    } catch (failure const& problem) {
        explain(problem, path_);
        throw;
    }
    connection connection{path_, options.busy_timeout};
    connection.execute("PRAGMA query_only = ON", "set its options");
    open_all_files(connection);
    check();
    return connection;
}

SETTLE_FUNCTION connection file::open_snapshot() {
    if (!is_here()) throw failure(settle::detail::made_before_fork("database"));
    connection snapshot{path_, busy_timeout_};
    leave_as_it_is(snapshot);
    snapshot.execute("BEGIN", "begin to read");
    open_all_files(snapshot);
    check();
    return snapshot;
}

SETTLE_FUNCTION connection file::connected(std::string const& path,
                                           database_options const& options) {
    try {
        open_file::check(path);
        check_access(path);
        return connection{path, options.busy_timeout};
    } catch (failure const& problem) {
        explain(problem, path);
        throw;
    }
}

SETTLE_FUNCTION void file::explain(failure const& problem, std::string const& path) {
    auto const& code = problem.problem().code;
    if (problem.problem().text.ends_with("See sqlite#open-a-file")) return;
    if (code.category() != sqlite_category()) return;
    auto const refuse = [&](std::string_view cause) {
        std::string text{"settle: '"};
        text.append(path).append("' ").append(cause).append(" See sqlite#open-a-file");
        throw failure({code, std::move(text)});
    };
    switch (primary_code(code.value())) {
    case SQLITE_NOTADB: refuse("is not a SQLite database. Name another file."); break;
    case SQLITE_FULL: refuse("cannot be opened: the disk is full. Make room on it."); break;
    case SQLITE_READONLY: refuse("can only be read. Allow writing to it and its folder."); break;
    case SQLITE_CANTOPEN:
        refuse("cannot be opened. Check that its folder exists and is writable.");
        break;
    case SQLITE_IOERR:
        if (code.value() != SQLITE_IOERR_SHORT_READ) break;
        refuse("is not whole, or its write-ahead log was removed while a program used it. End "
               "the programs that use it, and open it again.");
        break;
    default: break;
    }
}

} // namespace detail
} // namespace sqlite
SETTLE_END
