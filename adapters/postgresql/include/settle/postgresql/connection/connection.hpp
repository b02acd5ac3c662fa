// SPDX-License-Identifier: BSL-1.0
// A connection in pipeline mode: statements are queued, and one round trip runs all of them.
#pragma once

#include <settle/adapter/server_clock.hpp>
#include <settle/adapter/sql_quotes.hpp>
#include <settle/adapter/sql_values.hpp>
#include <settle/base/chrono.hpp>
#include <settle/base/process.hpp>
#include <settle/postgresql/connection/address.hpp>
#include <settle/postgresql/connection/database_options.hpp>
#include <settle/postgresql/connection/values.hpp>
#include <settle/store/session_moment.hpp>

#include <cstdint>

SETTLE_BEGIN
namespace postgresql::detail {

/// A statement that each connection prepares when it first sends it. The pool makes statements.
struct statement {
    std::string sql;
    std::vector<Oid> types; ///< of `$1`, `$2`, …
    char const* phase;      ///< the action, as error sentences put it after "PostgreSQL could not"
    std::size_t number;     ///< in its pool
    statement const* of_one_row = nullptr; ///< the same for a wave of one row, without arrays
};

/// Facts about the server, read when a connection is made.
struct server_facts {
    int version = 0;      ///< 150018 for 15.18
    std::size_t host = 0; ///< the number of the address's host that answered
    int backend = 0;      ///< the process of the session; a pooler tells its clients another number
    settle::detail::server_clock clock{};
    std::string schema{}; ///< of the tables
};

using settle::detail::quoted_name;
using settle::detail::quoted_text;

using deadline = std::chrono::steady_clock::time_point;

/// A connection of one thread at a time. Its session has the options' limits, the schema alone in
/// its search path, UTF-8, READ COMMITTED, and at least synchronous_commit = on.
/// Errors:  all functions throw settle::failure; a lost connection is then unusable
class connection {
public:
    /// Tries the hosts of the address in turn, and each of their addresses, and checks the server.
    /// Shape:   first - the number of the host that is tried first
    /// Errors:  no connection until the deadline; a server that is unfit
    /// Cost:    the connect and one round trip
    connection(address const& to, database_options const& options, deadline until,
               std::size_t first = 0);
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection();

    /// Queues a statement; nothing is sent before sync(). Returns its number for result().
    template <typename... Values>
    std::size_t send(statement const& statement, Values const&... values) {
        return send(statement, parameters{values...});
    }
    std::size_t send(statement const& statement, parameters const& values);
    /// Queues SQL that is not prepared and has no parameters: BEGIN, DDL, SAVEPOINT.
    /// Shape:   phase - as in statement; a literal
    std::size_t send_sql(std::string const& sql, char const* phase);

    /// Queues SQL that is not prepared. The server finds the types of its parameters, and gives the
    /// values of the result as texts.
    /// Shape:   phase - as in statement; a literal
    std::size_t send_texts(std::string const& sql, std::span<sql_value const> values,
                           char const* phase);

    /// Sends the queue and receives all results: one round trip, or none if the queue is empty.
    /// Outside of begin() and commit(), all that is queued is one native transaction.
    /// Errors:  throws statement_failure for the first statement that failed; the statements after
    ///          it were not run, and an open native transaction can only be rolled back.
    ///          Throws settle::failure when the connection is lost: with the server's code if the
    ///          server ended the session, else with connection_lost (see is_lost()). A native
    ///          transaction that was open then took no effect and never will
    void sync();

    /// The result of a statement of the last sync() that was not empty, until the next send().
    [[nodiscard]] rows const& result(std::size_t number) const { return results_.at(number); }

    /// Begins a native transaction: BEGIN goes with the statements that follow.
    void begin() noexcept { open_ = begins_ = true; }
    /// Sends the queue with a COMMIT after it: one round trip.
    /// Errors:  throws settle::failure with commit_unknown if the native transaction took effect at
    ///          most once, perhaps later; with any other code it took no effect and never will
    void commit() {
        start_commit();
        finish_commit();
    }
    /// The same in two steps: the first sends as much as the system takes, and the second waits for
    /// the answers.
    /// Errors:  as commit(); of the first step, the native transaction took no effect
    void start_commit();
    void finish_commit();
    /// Sends the queue with a PREPARE TRANSACTION after it: one round trip.
    /// Errors:  as commit()
    void prepare(std::string const& name);
    /// Runs COMMIT PREPARED or ROLLBACK PREPARED, while no native transaction is open: one round
    /// trip.
    /// Shape:   verb - with a space after it; phase - as in statement; a literal
    /// Errors:  as commit()
    void end_prepared(std::string const& verb, std::string const& name, char const* phase);
    /// Ends an open native transaction without an effect; one round trip, if it was sent.
    /// Errors:  none; if the rollback cannot be sent, the connection is closed instead
    void rollback() noexcept;

    /// To be called before a statement of a user's work is sent.
    void note_work() noexcept { ran_work_ = true; }
    /// Gives the session its settings again if a work has run, while no native transaction is open:
    /// one round trip, or none. prepare() does the same, without a round trip of its own.
    /// Errors:  none; a session that cannot be put right is closed
    void renew() noexcept;
    /// Queues the statements that give the session its settings again, inside of a native
    /// transaction that goes on.
    void queue_renewal() { static_cast<void>(send_renewal()); }

    [[nodiscard]] bool in_transaction() const noexcept { return open_; }
    /// False once the connection is lost. It may not yet know that it is.
    [[nodiscard]] bool good() const noexcept {
        return handle_ != nullptr && PQstatus(native()) == CONNECTION_OK;
    }
    /// Whether an unused connection is still open.
    /// Cost:    one call of the system, no round trip
    [[nodiscard]] bool alive() noexcept;

    [[nodiscard]] server_facts const& server() const noexcept { return server_; }
    /// After the session began.
    [[nodiscard]] session_moment made_at() const noexcept { return made_at_; }
    [[nodiscard]] PGconn* native() const noexcept { return handle_.get(); }
    /// Whether another caller can use it: nothing is queued, and no native transaction is open.
    [[nodiscard]] bool reusable() const noexcept {
        return good() && queue_.empty() && PQtransactionStatus(native()) == PQTRANS_IDLE;
    }
    /// The round trips since the connect or the last call.
    [[nodiscard]] std::uint64_t take_round_trips() noexcept {
        return std::exchange(round_trips_, 0);
    }

private:
    struct closer {
        process_stamp made_in;
        void operator()(PGconn* held) const noexcept {
            // In a forked child, the message of the close would end the parent's session.
            if (made_in.is_here()) PQfinish(held);
        }
    };
    enum class message : std::uint8_t { statement, preparation, begin, end };
    struct queued {
        message kind;
        std::size_t number; ///< of the statement that is prepared
        char const* phase;
    };
    /// The first failure of a round trip.
    struct queue_failure {
        std::size_t at = none; ///< the index in the queue of the first failed or missing result
        bool lost = false;     ///< the connection was lost, with or without an error of the server
        error problem{};
        error_names names{};
    };
    static constexpr std::size_t none = ~std::size_t{0};
    /// Why the connection was lost, if that is known.
    struct loss {
        int code = connection_lost;
        std::string text{};
    };

    /// Tries the addresses of a host in turn.
    void try_host(address::keywords const& host, deadline until);
    void connect(address::keywords const& host, deadline until);
    void prepare_session();
    /// Queues the statement that reads the facts of the server and makes the settings.
    void queue_session();
    /// Queues the statements that undo what a user's work has set. Returns the number for
    /// has_statements().
    std::size_t send_renewal();
    /// Whether the session has all of its prepared statements, after send_renewal().
    [[nodiscard]] bool has_statements(std::size_t number) const;
    /// To be called before a message is queued.
    void prepare_queue();
    void queue(int sent, message kind, char const* phase, std::size_t number = none);
    void queue_sql(char const* sql, message kind, char const* phase);
    /// Queues a statement that is prepared under its own text: BEGIN, COMMIT.
    void queue_prepared(char const* sql, message kind, char const* phase);
    /// Sends the queue with a message after it that ends a native transaction.
    /// Errors:  as commit()
    void finish(decltype(&connection::queue_sql) queues, char const* sql, char const* phase) {
        start_end(queues, sql, phase);
        finish_end(phase);
    }
    void start_end(decltype(&connection::queue_sql) queues, char const* sql, char const* phase);
    void finish_end(char const* phase);
    /// Sends the queue; run_queue() receives the results.
    void start_queue() { is_sent_ = PQpipelineSync(native()) == 1; }
    /// Errors:  none: returns the failure
    [[nodiscard]] queue_failure run_queue();
    void take_result(queued const& queued, std::size_t index, rows rows, queue_failure& into);
    /// False when the connection is lost; null after the result of each message.
    [[nodiscard]] bool next_result(rows& into);
    [[noreturn]] void raise_failure(queue_failure const& caught, char const* phase) const;
    /// Closes the connection.
    void lose() noexcept;
    [[nodiscard]] error problem_of_loss(char const* phase) const;
    static void take_notice(void* self, PGresult const* notice) noexcept;

    std::unique_ptr<PGconn, closer> handle_;
    server_facts server_;
    session_moment made_at_ = 0;
    database_options options_;  ///< with the schema, once it is known
    std::vector<queued> queue_; ///< messages without an answer
    std::vector<rows> results_;
    std::vector<bool> prepared_; ///< by the number of a statement
    std::size_t sent_ = 0;       ///< statements since the last round trip
    std::uint64_t round_trips_ = 0;
    bool open_ = false;     ///< a native transaction
    bool begins_ = false;   ///< its BEGIN goes before the next statement
    bool is_sent_ = false;  ///< all of the queue, with the sync message that ends a round trip
    bool ran_work_ = false; ///< statements of a user may have changed the session
    bool not_replicated_ = false; ///< a COMMIT did not wait for its standby
    loss loss_{};
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/connection.ipp>
#include <settle/postgresql/connection/connection_session.ipp>
#endif
