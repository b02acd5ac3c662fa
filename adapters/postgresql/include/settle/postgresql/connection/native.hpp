// SPDX-License-Identifier: BSL-1.0
// Native transactions: repeated after conflicts, with an end that is certain or unknown.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/base/function_view.hpp>
#include <settle/postgresql/connection/pool.hpp>

#include <optional>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::commit_result;
using settle::detail::commit_status;

/// A native transaction on a connection of the pool.
class native_transaction {
public:
    using action = settle::detail::function_view<void(connection&)>;

    explicit native_transaction(pool& from) noexcept : from_(&from) {}
    native_transaction(pool& from, pool::loan held) : from_(&from), held_(std::move(held)) {}

    /// Runs a function between BEGIN and COMMIT. BEGIN goes with the first sync() of the function,
    /// and COMMIT with what the function left queued: a function without a sync() costs one round
    /// trip in all, and each sync() one more.
    /// Shape:   function(connection) - called again from the start after a conflict; throws
    ///          settle::failure to undo all; longest - time limit of the repetitions
    /// Errors:  an exception other than settle::failure undoes all and is rethrown
    [[nodiscard]] commit_result perform(action function, std::chrono::milliseconds longest);

    /// Runs a function after BEGIN, and sends COMMIT; finish() waits for the answers. Has a value
    /// if nothing takes effect.
    [[nodiscard]] std::optional<commit_result> start(action function);
    [[nodiscard]] commit_result finish();

    /// The result of a statement that went with the COMMIT, after a perform() that committed.
    [[nodiscard]] rows const& result(std::size_t number) const { return (*held_)->result(number); }

private:
    commit_result try_once(action function) {
        if (auto failed = start(function)) return *std::move(failed);
        return finish();
    }
    /// Rolls back after a failure.
    commit_result end_failed(failure const& caught);

    pool* from_;
    std::optional<pool::loan> held_;
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/native.ipp>
#endif
