// SPDX-License-Identifier: BSL-1.0
// A session of a MariaDB server, of one thread at a time.
#pragma once

#include <settle/adapter/sql_values.hpp>
#include <settle/base/process.hpp>
#include <settle/mariadb/connection/address.hpp>
#include <settle/mariadb/connection/options.hpp>

#include <mysql.h>

#include <span>

SETTLE_BEGIN
namespace mariadb::detail {

/// A limit in whole seconds, at least 1: for some options, 0 would mean no limit.
[[nodiscard]] unsigned whole_seconds(std::chrono::milliseconds limit);

/// The time now, as the server counts, in milliseconds since 1970.
inline constexpr std::string_view now_sql =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000";

/// What a session is for: the statements of a user, or those on records and entries.
enum class session_use : std::uint8_t { work, records };

/// The statement that makes a session independent of the server's settings.
[[nodiscard]] std::string session_sql(options const& limits, session_use use);

/// A session with the options' limits, strict SQL, UTF-8, READ COMMITTED and autocommit.
/// Errors:  all functions throw settle::failure; a lost session is then unusable
class session {
public:
    /// Errors:  no session within options::connect_timeout
    /// Cost:    the connect and one round trip
    explicit session(address const& to, options const& limits, session_use use = session_use::work);
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    /// Runs one statement: one round trip.
    /// Shape:   values - of its `?`; phase - the action, as error sentences put it
    /// Errors:  if the session is lost, the statement took effect or did not
    sql_rows run(std::string const& sql, std::span<sql_value const> values, char const* phase);
    sql_rows run(std::string const& sql, char const* phase) { return run(sql, {}, phase); }

    /// Runs a statement of a user's work, which may change the session.
    sql_rows run_work(std::string const& sql, std::span<sql_value const> values, char const* phase);
    /// True after run_work(), until renew().
    [[nodiscard]] bool has_run_work() const noexcept { return has_run_work_; }
    /// Gives the session its settings and its database again, and releases its user locks. Never
    /// for a session whose native transaction is prepared: see mariadb#servers.
    /// Cost:    three round trips
    void renew(address const& to, options const& limits);

    /// False once the session is lost. It may not yet know that it is.
    [[nodiscard]] bool good() const noexcept { return handle_ != nullptr; }
    /// Whether an unused session is still connected.
    /// Cost:    one call of the system, no round trip
    [[nodiscard]] bool alive() noexcept;
    [[nodiscard]] MYSQL* native() const noexcept { return handle_.get(); }
    void close() noexcept { handle_.reset(); }

private:
    struct closer {
        process_stamp made_in;
        void operator()(MYSQL* held) const noexcept {
            // In a forked child, the message of the close would end the parent's session.
            if (made_in.is_here()) mysql_close(held);
        }
    };
    struct statement;

    void connect(address const& to, options const& limits);
    sql_rows run_text(std::string const& sql, char const* phase);
    [[noreturn]] void fail(unsigned code, char const* state, char const* native, char const* phase);
    [[noreturn]] void fail(char const* phase) {
        fail(mysql_errno(handle_.get()), mysql_sqlstate(handle_.get()), mysql_error(handle_.get()),
             phase);
    }

    std::unique_ptr<MYSQL, closer> handle_;
    bool has_run_work_ = false;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/session.ipp>
#endif
