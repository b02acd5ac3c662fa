// SPDX-License-Identifier: BSL-1.0
// Native transactions of a database of tables that a server holds: repeated after conflicts, with
// an end that is certain or unknown.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/adapter/retry_pauses.hpp>
#include <settle/base/function_view.hpp>

#include <optional>

SETTLE_BEGIN
namespace detail::sql {

/// Calls a function again while other native transactions, or changes of tables, hold what it
/// needs. Whatever opens a database or binds a table waits for them.
/// Shape:   IsHeld(code) - true if the server waited for a lock until its limit; function - may run
///          more than once
/// Errors:  rethrows the last settle::failure
template <auto IsHeld, typename Function>
auto repeat_while_held(Function&& function) {
    for (retry_pauses between;;) {
        try {
            return function();
        } catch (failure const& caught) {
            if (!IsHeld(caught.problem().code) || !between.next()) throw;
        }
    }
}

/// A native transaction on a connection of the pool.
/// Shape:   Pool - a connection_pool of Connection, which has begin(), start_commit(),
///          finish_commit(), rollback(), good() and result(number); IsConflict(code) - true if the
///          server undid the native transaction, and the same work may succeed at once
template <typename Pool, typename Connection, auto IsConflict>
class native_transaction {
public:
    using action = function_view<void(Connection&)>;

    explicit native_transaction(Pool& from) noexcept : from_(&from) {}
    native_transaction(Pool& from, typename Pool::loan held)
        : from_(&from), held_(std::move(held)) {}

    /// Runs a function between BEGIN and COMMIT. BEGIN goes with the first sync() of the function,
    /// and COMMIT with what the function left queued: a function without a sync() costs one round
    /// trip in all, and each sync() one more.
    /// Shape:   function(connection) - called again from the start after a conflict; throws
    ///          settle::failure to undo all; longest - time limit of the repetitions
    /// Errors:  an exception other than settle::failure undoes all and is rethrown
    [[nodiscard]] commit_result perform(action function, std::chrono::milliseconds longest) {
        for (retry_pauses between{longest};;) {
            auto const ended = try_once(function);
            if (!IsConflict(ended.problem.code) || !between.next()) return ended;
        }
    }
    /// The same.
    /// Errors:  throws settle::failure if it was not committed
    void perform_or_throw(action function, std::chrono::milliseconds longest) {
        auto const ended = perform(function, longest);
        if (ended.status != commit_status::committed) throw failure(ended.problem);
    }

    /// Runs a function after BEGIN, and sends COMMIT; finish() waits for the answers. Has a value
    /// if nothing takes effect.
    [[nodiscard]] std::optional<commit_result> start(action function) {
        try {
            if (!held_ || !(*held_)->good()) {
                held_.reset();
                held_.emplace(from_->take());
            }
            Connection& connection = **held_;
            connection.begin();
            function(connection);
            connection.start_commit();
            return std::nullopt;
        } catch (failure const& caught) {
            return end_failed(caught);
        } catch (...) {
            if (held_) (*held_)->rollback();
            throw;
        }
    }
    [[nodiscard]] commit_result finish() {
        try {
            (*held_)->finish_commit();
            return {commit_status::committed, {}};
        } catch (failure const& caught) {
            return end_failed(caught);
        }
    }

    /// The result of a statement that went with the COMMIT, after a perform() that committed.
    [[nodiscard]] auto const& result(std::size_t number) const { return (*held_)->result(number); }

private:
    commit_result try_once(action function) {
        if (auto failed = start(function)) return *std::move(failed);
        return finish();
    }
    /// Rolls back after a failure.
    commit_result end_failed(failure const& caught) {
        if (held_) (*held_)->rollback();
        bool const unknown = caught.problem().code == condition::unknown;
        return {unknown ? commit_status::unknown : commit_status::undone, caught.problem()};
    }

    Pool* from_;
    std::optional<typename Pool::loan> held_;
};

/// Performs an insert of rows that are absent. After the insert of one of them by another program,
/// which only a server finds that looks for the row before it inserts, it looks again.
/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
[[nodiscard]] commit_result insert_absent(typename Sql::native_transaction& native,
                                          typename Sql::native_transaction::action function) {
    constexpr int most_tries = 4;
    for (int tries = 1;; ++tries) {
        auto ended = native.perform(function, Sql::longest_repetition);
        if (tries == most_tries || !Sql::is_overtaken(ended.problem.code)) return ended;
    }
}

} // namespace detail::sql
SETTLE_END
