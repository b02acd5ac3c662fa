// SPDX-License-Identifier: BSL-1.0
// A connection that queues statements: one round trip runs all of them, as a compound statement.
#pragma once

#include <settle/adapter/server_clock.hpp>
#include <settle/mariadb/connection/session.hpp>
#include <settle/mariadb/connection/statement.hpp>
#include <settle/mariadb/connection/values.hpp>

#include <deque>
#include <list>
#include <unordered_map>

SETTLE_BEGIN
namespace mariadb::detail {

/// Facts about the server, read when a connection is made.
struct server_facts {
    std::string version{};
    std::size_t most_bytes = 0; ///< of a message: max_allowed_packet
    std::int64_t session = 0;   ///< the number that KILL takes
    settle::detail::server_clock clock{};
};

/// A connection of one thread at a time. Its session has the options' limits, strict SQL, UTF-8 and
/// READ COMMITTED.
/// Errors:  all functions throw settle::failure; a lost connection is then unusable
class connection {
public:
    /// Connects, and checks the server.
    /// Errors:  no connection within options::connect_timeout; a server that is unfit
    /// Cost:    the connect and two round trips
    connection(address const& to, options const& limits);
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;

    /// Queues a statement; nothing is sent before sync(). Returns its number for result().
    template <typename... Values>
    std::size_t send(statement const& sent, Values const&... values) {
        return send(sent, parameters{values...});
    }
    std::size_t send(statement const& sent, parameters const& values);
    /// Queues SQL that has no parameters. A statement that commits by itself (CREATE TABLE) is the
    /// only one of its queue and its native transaction.
    /// Shape:   phase - as in statement; a literal
    std::size_t send_sql(std::string const& sql, char const* phase);

    /// Sends the queue and receives all results: one round trip, and one more for each statement or
    /// compound that this session has not prepared, and for each max_allowed_packet of values.
    /// Outside of begin() and commit(), all that is queued is one native transaction.
    /// Errors:  throws settle::failure for the first statement that failed. The whole native
    ///          transaction then took no effect, and the connection refuses statements of it until
    ///          rollback(). Outside of begin() and commit() also as commit()
    void sync();

    /// The result of a statement of the last sync() or commit(), until the next send().
    [[nodiscard]] rows const& result(std::size_t number) const { return results_.at(number); }

    /// Begins a native transaction, with the statements that follow.
    void begin() noexcept { open_ = begins_ = true; }
    /// Sends the queue with a COMMIT after it: one round trip.
    /// Errors:  throws settle::failure with commit_unknown if the native transaction took effect at
    ///          most once, perhaps later; with any other code it took no effect and never will
    void commit() {
        start_commit();
        finish_commit();
    }
    /// The same in two steps, as native_transaction calls them. The second does all the work.
    void start_commit() noexcept {}
    void finish_commit();
    /// Ends an open native transaction without an effect: one round trip, if the server has it.
    /// Errors:  none; if the rollback cannot be sent, the connection is closed instead
    void rollback() noexcept;

    /// Sends the queue, and runs a statement of a handler, whose native transaction is open: a
    /// round trip for each.
    sql_rows run_work(std::string const& sql, std::span<sql_value const> values, char const* phase);
    /// Queues what gives the session its settings again, and releases its user locks.
    void queue_renewal();

    [[nodiscard]] bool in_transaction() const noexcept { return open_; }
    /// False once the connection is lost. It may not yet know that it is.
    [[nodiscard]] bool good() const noexcept { return session_.good(); }
    /// Whether an unused connection is still open.
    /// Cost:    one call of the system, no round trip
    [[nodiscard]] bool alive() noexcept { return session_.alive(); }
    /// Whether another caller can use it: nothing is queued, and no native transaction is open.
    [[nodiscard]] bool reusable() const noexcept { return good() && queue_.empty() && !open_; }

    [[nodiscard]] server_facts const& server() const noexcept { return server_; }
    /// The round trips since the connect or the last call.
    [[nodiscard]] std::uint64_t take_round_trips() noexcept {
        return std::exchange(round_trips_, 0);
    }

private:
    /// A statement in the queue.
    struct queued {
        std::string sql;   ///< once for each row in the row form
        std::string after; ///< SQL that checks or reads a count
        char const* phase;
        std::size_t values;     ///< its number of values
        std::size_t bytes;      ///< of the values in a message, at most
        std::size_t executions; ///< of the row form
        std::int64_t changed;   ///< the rows that it changes for certain
        bool is_alone;          ///< it can be sent without a compound
        bool has_result;
        bool reads;
        bool is_text; ///< it cannot be prepared
        bool is_bulk; ///< its values are of many rows, and the server executes it for each
    };
    /// Some statements of the queue, which one message runs.
    struct message {
        std::span<queued const> statements;
        std::span<sql_value const> values;
        std::size_t first; ///< the number of the first statement
        bool may_commit;   ///< a lost answer leaves open whether the statements took effect
        bool is_compound;  ///< after an error, it rolls back by itself
    };
    struct prepared_closer {
        process_stamp made_in;
        void operator()(MYSQL_STMT* held) const noexcept {
            if (made_in.is_here()) mysql_stmt_close(held);
        }
    };
    using prepared_handle = std::unique_ptr<MYSQL_STMT, prepared_closer>;
    /// The last used is the first.
    using prepared_list = std::list<std::pair<std::string, prepared_handle>>;

    void check_server();
    /// Adds a value to the queue. Returns the bytes that it takes in a message.
    std::size_t queue_value(sql_value const& value);
    /// Shape:   end - of the rows of a list; the last row may stand there several times
    std::size_t queue_form(statement_form const& form, parameters const& values, std::size_t row,
                           std::size_t end, std::string& sql);
    /// Sends the queue.
    void run(bool commits);
    void run_compound(message const& sent, bool starts, bool commits);
    void run_alone(message const& sent);
    void run_bulk(message const& sent, bool starts, bool commits);
    [[nodiscard]] MYSQL_STMT* prepare(std::string const& sql, message const& sent);
    /// A result of a message: the rows of a statement, or the number of rows that it changed.
    struct expected_result {
        rows* into;
        bool is_count;
    };
    void execute(MYSQL_STMT* native, message const& sent, std::span<expected_result const> results);
    /// Reads a result. False if the client has met an error.
    [[nodiscard]] static bool read_result(MYSQL_STMT* native, expected_result const& expected);
    void run_text(message const& sent);
    /// The action of a message, as error sentences put it.
    [[nodiscard]] static std::string phase_of(message const& sent);
    [[noreturn]] void fail(MYSQL_STMT* native, message const& sent);
    [[noreturn]] void fail_of_session(message const& sent);
    /// Ends a native transaction that met an error, and throws the error.
    [[noreturn]] void fail(unsigned code, std::string_view state, std::string text,
                           message const& sent);
    /// What the server says of the last message.
    struct end_of_message {
        bool is_open = false;   ///< its native transaction; false if the connection is lost
        bool is_undone = false; ///< it was rolled back before its COMMIT
    };
    [[nodiscard]] end_of_message look_for_end() noexcept;
    void lose() noexcept;

    prepared_list prepared_; ///< closed after their session, which then needs no message for each
    std::unordered_map<std::string_view, prepared_list::iterator> by_sql_;
    session session_;
    std::string settings_; ///< the statement that gives the session its settings
    server_facts server_;
    std::vector<queued> queue_;
    std::vector<sql_value> values_; ///< of the queue
    std::deque<std::string> texts_; ///< which the values borrow
    std::vector<rows> results_;
    std::uint64_t round_trips_ = 0;
    std::int64_t messages_ = 0; ///< the number of the last one of this session
    bool open_ = false;         ///< a native transaction
    bool begins_ = false;       ///< nothing of it was sent yet
    bool is_running_ = false;   ///< its messages have no certain end yet
    error undone_{};            ///< the error that has undone the open native transaction
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/connection.ipp>
#include <settle/mariadb/connection/connection_results.ipp>
#endif
