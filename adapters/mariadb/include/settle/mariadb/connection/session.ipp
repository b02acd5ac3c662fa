// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that session.hpp declares.
#pragma once

#include <settle/adapter/socket_wait.hpp>
#include <settle/mariadb/connection/session.hpp>
#include <settle/mariadb/connection/values.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <poll.h>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION unsigned whole_seconds(std::chrono::milliseconds limit) {
    constexpr std::chrono::seconds most = std::chrono::hours{24 * 365};
    auto const rounded = std::chrono::ceil<std::chrono::seconds>(
        std::clamp<std::chrono::milliseconds>(limit, std::chrono::seconds{1}, most));
    return static_cast<unsigned>(rounded.count());
}

SETTLE_FUNCTION std::string session_sql(options const& limits, session_use use) {
    std::string sql{"SET SESSION "};
    auto const set = [&](std::string_view name, std::chrono::milliseconds limit) {
        sql.append(name).append(" = ").append(std::to_string(whole_seconds(limit))).append(", ");
    };
    set("innodb_lock_wait_timeout", limits.lock_timeout);
    set("lock_wait_timeout", limits.lock_timeout); // of tables
    set("max_statement_time", limits.statement_timeout);
    // The server then ends a session with an open or a prepared native transaction of its own.
    set("idle_transaction_timeout", limits.idle_timeout);
    // Without the strict mode a number out of range becomes the nearest number in it.
    sql += "sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";
    bool const of_records = use == session_use::records;
    // A key 0 stays 0.
    sql += of_records ? ",NO_AUTO_VALUE_ON_ZERO', " : "', ";
    sql += "tx_isolation = 'READ-COMMITTED', autocommit = 1, completion_type = 'NO_CHAIN', "
           "foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, "
           "sql_select_limit = DEFAULT, time_zone = '+00:00'";
    // The rows of a wave are found by their keys, and locked in the order of the wave.
    if (of_records) sql += ", join_cache_level = 0, tx_read_only = 0, check_constraint_checks = 1";
    return sql;
}

/// Waits for the socket of a session on behalf of libmariadb.
/// Shape:   timeout - in milliseconds; below 0 for none
/// Returns: 1 if the socket is ready, 0 if the time is over
SETTLE_FUNCTION int wait_for_session(my_socket socket, my_bool is_read, int timeout) {
    constexpr std::chrono::milliseconds longest = std::chrono::hours{24 * 365};
    settle::detail::store_wait wait{
        settle::detail::deadline_after(timeout < 0 ? longest : std::chrono::milliseconds{timeout})};
    short const events = is_read != 0 ? POLLIN : POLLOUT;
    if (settle::detail::wait_for_socket(static_cast<int>(socket), events, wait)) return 1;
    errno = ETIMEDOUT;
    return 0;
}

SETTLE_FUNCTION session::session(address const& to, options const& limits, session_use use)
    : handle_(mysql_init(nullptr)) {
    if (!handle_) throw std::bad_alloc{};
    connect(to, limits);
    run(session_sql(limits, use), "set the limits of a session");
}

SETTLE_FUNCTION void session::connect(address const& to, options const& limits) {
    MYSQL* const native = handle_.get();
    auto const set_seconds = [&](mysql_option option, std::chrono::milliseconds limit) {
        unsigned const seconds = whole_seconds(limit);
        mysql_options(native, option, &seconds);
    };
    set_seconds(MYSQL_OPT_CONNECT_TIMEOUT, limits.connect_timeout);
    set_seconds(MYSQL_OPT_READ_TIMEOUT, limits.answer_timeout);
    set_seconds(MYSQL_OPT_WRITE_TIMEOUT, limits.answer_timeout);
    mysql_options(native, MARIADB_OPT_IO_WAIT, reinterpret_cast<void const*>(&wait_for_session));
    mysql_options(native, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    unsigned const no_local_files = 0;
    mysql_options(native, MYSQL_OPT_LOCAL_INFILE, &no_local_files);
    my_bool const never = 0;
    mysql_options(native, MYSQL_OPT_RECONNECT, &never);
    bool const over_tcp = to.socket.empty();
    unsigned const protocol = over_tcp ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
    mysql_options(native, MYSQL_OPT_PROTOCOL, &protocol);
    if (!limits.ca_file.empty()) {
        my_bool const on = 1;
        mysql_options(native, MYSQL_OPT_SSL_ENFORCE, &on);
        mysql_options(native, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
        mysql_options(native, MYSQL_OPT_SSL_CA, limits.ca_file.c_str());
    }
    // The number of rows that a statement found, as other databases count.
    bool const connected =
        mysql_real_connect(native, over_tcp ? to.host.c_str() : nullptr, to.user.c_str(),
                           to.password.c_str(), to.database.c_str(), over_tcp ? to.port : 0,
                           over_tcp ? nullptr : to.socket.c_str(), CLIENT_FOUND_ROWS) != nullptr;
    if (connected) return;
    auto const phase = "be reached at " + to.server();
    fail(phase.c_str());
}

SETTLE_FUNCTION bool session::alive() noexcept {
    if (!good()) return false;
    pollfd waits{static_cast<int>(mysql_get_socket(handle_.get())), POLLIN, 0};
    // The only unsolicited message of the server is the end of the session.
    if (::poll(&waits, 1, 0) == 0) return true;
    handle_.reset();
    return false;
}

SETTLE_FUNCTION void session::fail(unsigned code, char const* state, char const* native,
                                   char const* phase) {
    auto problem = describe(static_cast<int>(code), state, native, phase);
    int const number = static_cast<int>(code);
    bool const of_client = is_of_client(number) && number != wrong_number_of_parameters;
    if (of_client || is_lost(problem.code)) handle_.reset();
    throw failure(std::move(problem));
}

SETTLE_FUNCTION sql_rows session::run_text(std::string const& sql, char const* phase) {
    MYSQL* const native = handle_.get();
    if (mysql_real_query(native, sql.data(), sql.size()) != 0) fail(phase);
    using stored = std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)>;
    auto const store = [&] {
        stored made{mysql_store_result(native), &mysql_free_result};
        if (!made && mysql_errno(native) != 0) fail(phase);
        return made;
    };
    auto const held = store();
    if (!held) return {{}, mysql_affected_rows(native)};
    // After the result of a procedure come its other results, and its end, which may be an error.
    while (mysql_more_results(native) != 0) {
        if (mysql_next_result(native) > 0) fail(phase);
        static_cast<void>(store());
    }
    std::vector<sql_rows::row> rows;
    unsigned const columns = mysql_num_fields(held.get());
    while (MYSQL_ROW const values = mysql_fetch_row(held.get())) {
        unsigned long const* const lengths = mysql_fetch_lengths(held.get());
        auto& one = rows.emplace_back(columns);
        for (unsigned at = 0; at < columns; ++at) {
            if (values[at] != nullptr) one[at].emplace(values[at], lengths[at]);
        }
    }
    return {std::move(rows), 0};
}

/// A statement with parameters.
struct session::statement {
    statement(session& session, std::string const& text, char const* what)
        : with(session), sql(text), phase(what),
          handle(mysql_stmt_init(session.handle_.get()), &mysql_stmt_close) {
        if (!handle) throw std::bad_alloc{};
    }

    [[noreturn]] void fail() const {
        MYSQL_STMT* const native = handle.get();
        unsigned const code = mysql_stmt_errno(native);
        std::string const state{mysql_stmt_sqlstate(native)};
        std::string const text{mysql_stmt_error(native)};
        with.fail(code, state.c_str(), text.c_str(), phase);
    }

    void execute(std::span<sql_value const> values) const {
        auto binds = binds_of(values);
        MYSQL_STMT* const native = handle.get();
        auto const count = static_cast<unsigned>(binds.size());
        my_bool const measures = 1;
        mysql_stmt_attr_set(native, STMT_ATTR_PREBIND_PARAMS, &count);
        mysql_stmt_attr_set(native, STMT_ATTR_UPDATE_MAX_LENGTH, &measures);
        if (mysql_stmt_bind_param(native, binds.data()) != 0 ||
            mariadb_stmt_execute_direct(native, sql.data(), sql.size()) != 0) {
            fail();
        }
    }

    [[nodiscard]] sql_rows result() const {
        MYSQL_STMT* const native = handle.get();
        unsigned const columns = mysql_stmt_field_count(native);
        if (columns == 0) return {{}, mysql_stmt_affected_rows(native)};
        if (mysql_stmt_store_result(native) != 0) fail();
        std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> const facts{
            mysql_stmt_result_metadata(native), &mysql_free_result};
        if (!facts) fail();
        std::vector<MYSQL_BIND> all(columns);
        std::vector<std::string> texts(columns);
        std::vector<unsigned long> lengths(columns);
        std::vector<my_bool> nulls(columns);
        for (unsigned index = 0; index < columns; ++index) {
            texts[index].resize(mysql_fetch_field_direct(facts.get(), index)->max_length);
            all[index].buffer_type = MYSQL_TYPE_STRING;
            all[index].buffer = texts[index].data();
            all[index].buffer_length = texts[index].size();
            all[index].length = &lengths[index];
            all[index].is_null = &nulls[index];
        }
        if (mysql_stmt_bind_result(native, all.data()) != 0) fail();
        std::vector<sql_rows::row> rows;
        for (;;) {
            int const fetched = mysql_stmt_fetch(native);
            if (fetched == MYSQL_NO_DATA) break;
            if (fetched != 0) fail();
            auto& one = rows.emplace_back(columns);
            for (unsigned at = 0; at < columns; ++at) {
                if (nulls[at] == 0) one[at] = texts[at].substr(0, lengths[at]);
            }
        }
        // As in run_text().
        while (mysql_stmt_more_results(native) != 0) {
            if (mysql_stmt_next_result(native) > 0) fail();
            mysql_stmt_free_result(native);
        }
        return {std::move(rows), 0};
    }

    session& with;
    std::string const& sql;
    char const* phase;
    std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)> handle;
};

SETTLE_FUNCTION sql_rows session::run(std::string const& sql, std::span<sql_value const> values,
                                      char const* phase) {
    if (!good()) throw failure(describe(connection_lost, "", "the session is lost", phase));
    if (values.empty()) return run_text(sql, phase);
    statement const one{*this, sql, phase};
    one.execute(values);
    return one.result();
}

SETTLE_FUNCTION sql_rows session::run_work(std::string const& sql,
                                           std::span<sql_value const> values, char const* phase) {
    has_run_work_ = true;
    return run(sql, values, phase);
}

SETTLE_FUNCTION void session::renew(address const& to, options const& limits) {
    char const* const phase = "put a session right";
    if (!good()) throw failure(describe(connection_lost, "", "the session is lost", phase));
    MYSQL* const native = handle_.get();
    // A reset keeps the database that a work has chosen.
    if (mysql_reset_connection(native) != 0 || mysql_select_db(native, to.database.c_str()) != 0) {
        fail(phase);
    }
    run(session_sql(limits, session_use::work), phase);
    has_run_work_ = false;
}

} // namespace mariadb::detail
SETTLE_END
