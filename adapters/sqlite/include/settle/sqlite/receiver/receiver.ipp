// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver.hpp declares.
#pragma once

#include <settle/sqlite/receiver/receiver.hpp>

#include <settle/adapter/receiver_table.hpp>
#include <settle/sqlite/connection/file.hpp>
#include <settle/sqlite/receiver/receiver_schema.hpp>

#include <array>
#include <atomic>
#include <thread>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

/// The statements of a receiver, and the mark of the thread that runs a handler.
struct receiver_statements {
    explicit receiver_statements(file& file,
                                 settle::detail::receiver_sql const& sql = {"settle_receiver", '?'})
        : on(file.with().on()), find{on, sql.select("key = ?1"), "read a row of the receiver"},
          store{on, sql.store(), "store a row of the receiver"},
          erase{on, sql.erase(), "erase rows of the receiver"},
          find_to_show{file.reader(), sql.select("key = ?1"), "read a row of the receiver"},
          list{file.reader(), sql.list(), "list rows of the receiver"} {}

    connection const& on;
    statement find;
    statement store;
    statement erase;
    statement find_to_show;
    statement list;
    std::atomic<std::thread::id> handling{}; ///< the thread that runs a handler
};

[[nodiscard]] inline bool is_of_settle(char const* name) noexcept {
    return name != nullptr && sqlite3_strnicmp(name, "settle_", 7) == 0;
}

/// SQLite asks it about each action of a statement that it prepares.
/// Shape:   state - a receiver_statements
SETTLE_FUNCTION int authorize(void* state, int action, char const* first, char const* second,
                              char const*, char const*) noexcept {
    auto const& statements = *static_cast<receiver_statements const*>(state);
    if (statements.handling.load(std::memory_order_relaxed) == std::thread::id{}) return SQLITE_OK;
    bool denied = false;
    switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: denied = true; break;
    case SQLITE_SAVEPOINT:
    case SQLITE_ALTER_TABLE: denied = is_of_settle(second); break;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_DROP_TABLE: denied = is_of_settle(first); break;
    default: break;
    }
    return denied ? SQLITE_DENY : SQLITE_OK;
}

/// Marks the time in which a handler runs.
class handling_mark {
public:
    explicit handling_mark(receiver_statements& statements) : with_(statements) {
        with_.handling = std::this_thread::get_id();
    }
    handling_mark(handling_mark const&) = delete;
    handling_mark& operator=(handling_mark const&) = delete;
    ~handling_mark() { with_.handling = std::thread::id{}; }

private:
    receiver_statements& with_;
};

/// A statement of a handler that still runs would keep its savepoint open.
SETTLE_FUNCTION void reset_statements(connection const& connection) noexcept {
    for (auto* one = sqlite3_next_stmt(connection.get(), nullptr); one != nullptr;
         one = sqlite3_next_stmt(connection.get(), one)) {
        if (sqlite3_stmt_busy(one) != 0) sqlite3_reset(one);
    }
}

/// Errors:  throws settle::failure when the native transaction has ended
SETTLE_FUNCTION void check_open(connection const& connection) {
    if (connection.in_transaction()) return;
    throw failure({{SQLITE_ERROR, sqlite_category()},
                   std::string{"settle: an error in a handler ended the native transaction: "} +
                       sqlite3_errmsg(connection.get()) + ". See sqlite#receivers"});
}

/// Errors:  throws settle::failure when the commit would fail
SETTLE_FUNCTION void check_foreign_keys(connection const& connection) {
    int unresolved = 0;
    int highest = 0;
    sqlite3_db_status(connection.get(), SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &highest, 0);
    if (unresolved == 0) return;
    throw failure({{SQLITE_CONSTRAINT_FOREIGNKEY, sqlite_category()},
                   "settle: the handler's writes break a foreign key of the service's tables. "
                   "Correct the handler. See sqlite#receivers"});
}

SETTLE_FUNCTION error called_inside_handler() {
    return {make_error_code(errc::stopped),
            "settle: a handler called its own receiver, whose native transaction it is in. Use the "
            "session instead. See sqlite#receivers"};
}

} // namespace detail

SETTLE_FUNCTION detail::statement receiver_session::prepared(std::string_view sql) const {
    detail::statement statement{*connection_, sql, "run a handler's statement"};
    char const* const first = sqlite3_sql(statement.get());
    auto const rest = first == nullptr ? sql : sql.substr(std::string_view{first}.size());
    if (first != nullptr && rest.find_first_not_of(" \t\r\n;") == std::string_view::npos) {
        return statement;
    }
    detail::raise(errc::bad_option,
                  "settle: a handler's text is not one statement: " + std::string{sql} +
                      ". Call the session for each. See sqlite#receivers");
}

SETTLE_FUNCTION std::optional<receiver_row> receiver_transaction::find(std::string_view key) {
    detail::run row{with_->find, key};
    if (!row.next()) return std::nullopt;
    return settle::detail::read_receiver_row(row);
}

SETTLE_FUNCTION void receiver_transaction::store(receiver_row const& row) {
    settle::detail::values_of_receiver_row(
        row, [&](auto const&... values) { detail::run{with_->store, values...}.change(); });
}

SETTLE_FUNCTION bool
receiver_transaction::attempt(settle::detail::function_view<bool(receiver_session&)> work) {
    struct undo {};
    receiver_session session{with_->on};
    try {
        native_->in_savepoint([&] {
            bool kept = false;
            {
                detail::handling_mark const mark{*with_};
                kept = work(session);
            }
            detail::reset_statements(with_->on);
            detail::check_open(with_->on);
            // The rollback to the savepoint forgets the foreign keys of undone work.
            if (!kept) throw undo{};
            detail::check_foreign_keys(with_->on);
        });
    } catch (undo const&) {
        return false;
    }
    return true;
}

SETTLE_FUNCTION receiver_database::receiver_database(std::string const& path,
                                                     std::string const& name,
                                                     database_options const& options) {
    file_ = std::make_unique<detail::file>(
        path, options,
        [&](detail::writer& writer, std::string const& at, std::chrono::milliseconds patience) {
            detail::prepare_receiver_file(writer, at, patience, name);
        });
    statements_ = std::make_unique<detail::receiver_statements>(*file_);
    sqlite3_set_authorizer(file_->with().on().get(), &detail::authorize, statements_.get());
}

SETTLE_FUNCTION receiver_database::~receiver_database() = default;

SETTLE_FUNCTION result<std::unique_ptr<receiver_database>>
receiver_database::open(std::string const& path, std::string const& name,
                        database_options const& options) {
    try {
        return std::make_unique<receiver_database>(path, name, options);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<void>
receiver_database::change(settle::detail::function_view<void(receiver_session&)> function) {
    auto const ended = perform([&](receiver_transaction& native) {
        native.attempt([&](receiver_session& access) {
            function(access);
            return true;
        });
    });
    if (ended.status != detail::commit_status::committed) {
        return settle::detail::problem_of_uncommitted(ended);
    }
    return {};
}

SETTLE_FUNCTION settle::detail::commit_result
receiver_database::perform(settle::detail::function_view<void(receiver_transaction&)> function) {
    if (statements_->handling.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
        return {detail::commit_status::undone, detail::called_inside_handler()};
    }
    return file_->perform([&](detail::transaction& native) {
        receiver_transaction open{*statements_, native};
        function(open);
    });
}

SETTLE_FUNCTION result<std::size_t> receiver_database::erase(timestamp before, std::size_t limit) {
    std::size_t erased = 0;
    auto ended = perform([&](receiver_transaction&) {
        auto const most = settle::detail::limit_of(limit);
        detail::run rows{statements_->erase, before.time_since_epoch().count(), most};
        erased = static_cast<std::size_t>(rows.change());
    });
    if (ended.status != detail::commit_status::committed) return std::move(ended.problem);
    return erased;
}

SETTLE_FUNCTION result<std::vector<receiver_row>>
receiver_database::list(receiver_filter const& filter, std::string_view after, std::size_t limit) {
    return file_->reading([&] {
        std::vector<receiver_row> rows;
        settle::detail::page_of_receiver_rows(filter, after, limit, [&](auto const&... values) {
            detail::run row{statements_->list, values...};
            while (row.next()) rows.push_back(settle::detail::read_receiver_row(row));
        });
        return rows;
    });
}

SETTLE_FUNCTION result<std::optional<receiver_row>> receiver_database::find(std::string_view key) {
    return file_->reading([&]() -> std::optional<receiver_row> {
        detail::run row{statements_->find_to_show, key};
        if (!row.next()) return std::nullopt;
        return settle::detail::read_receiver_row(row);
    });
}

} // namespace sqlite
SETTLE_END
