// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that pool.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/postgresql/pool.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION void check(database_options const& options) {
    auto const refuse = [](std::string const& why) {
        raise(errc::bad_option, "settle: database_options::" + why + ". See postgresql#options");
    };
    if (options.connections == 0) refuse("connections is 0. Allow at least 1");
    auto const check_limit = [&](char const* name, std::chrono::milliseconds limit) {
        if (limit.count() <= 0) refuse(std::string{name} + " is not above 0");
    };
    check_limit("lock_timeout", options.lock_timeout);
    check_limit("statement_timeout", options.statement_timeout);
    check_limit("idle_timeout", options.idle_timeout);
    check_limit("answer_timeout", options.answer_timeout);
    check_limit("connect_timeout", options.connect_timeout);
    if (options.answer_timeout <= options.statement_timeout) {
        refuse("answer_timeout is not longer than statement_timeout, so a slow statement would "
               "look like a lost connection");
    }
}

/// Later than now by a limit that may be very long.
[[nodiscard]] SETTLE_FUNCTION deadline deadline_after(std::chrono::milliseconds limit) {
    constexpr std::chrono::milliseconds longest = std::chrono::hours{24 * 365};
    return std::chrono::steady_clock::now() + std::min(limit, longest);
}

SETTLE_FUNCTION pool::pool(std::string const& text, database_options const& options)
    : address_(text), options_(options) {
    check(options);
    loan const first = take();
    server_ = first->server();
    // The later connections must find the same schema, whatever the user's search path is then.
    options_.schema = server_.schema;
    schema_prefix_ = quoted_name(server_.schema) + ".";
}

SETTLE_FUNCTION auto pool::take() -> loan {
    if (!made_in_.is_here()) throw failure(settle::detail::made_before_fork("database"));
    auto const until = deadline_after(options_.connect_timeout);
    std::unique_lock guard{mutex_};
    for (;;) {
        while (!unused_.empty()) {
            auto one = std::move(unused_.back());
            unused_.pop_back();
            if (one->alive()) return {*this, std::move(one)};
            --count_;
        }
        if (count_ < options_.connections) break;
        if (returned_.wait_until(guard, until) == std::cv_status::timeout && unused_.empty()) {
            throw failure(
                describe(all_in_use,
                         "all " + std::to_string(options_.connections) + " connections are in use",
                         "be called"));
        }
    }
    ++count_;
    guard.unlock();
    try {
        return {*this, connect()};
    } catch (...) {
        guard.lock();
        --count_;
        returned_.notify_one();
        throw;
    }
}

SETTLE_FUNCTION std::unique_ptr<connection> pool::connect() const {
    if (!made_in_.is_here()) throw failure(settle::detail::made_before_fork("database"));
    auto const until = deadline_after(options_.connect_timeout);
    error problem;
    for (settle::detail::retry_pauses between{options_.connect_timeout};;) {
        try {
            return std::make_unique<connection>(address_, options_, until);
        } catch (failure const& caught) {
            // The last try may have had no time to learn why.
            bool const is_late = std::chrono::steady_clock::now() >= until;
            if (problem.empty() || !is_late) problem = caught.problem();
            bool const goes_on = problem.code == condition::retryable && !is_late;
            if (!goes_on || !between.next()) throw failure(problem);
        }
    }
}

SETTLE_FUNCTION void pool::put_back(std::unique_ptr<connection> one) noexcept {
    one->rollback();
    round_trips_ += one->take_round_trips();
    bool const usable = one->reusable();
    if (!usable) one.reset();
    std::lock_guard const guard{mutex_};
    if (usable) unused_.push_back(std::move(one));
    else --count_;
    returned_.notify_one();
}

SETTLE_FUNCTION statement const&
pool::prepare(std::string const& sql, std::vector<value_type> const& types, char const* phase) {
    std::lock_guard const guard{mutex_};
    auto const found = by_text_.find(sql);
    if (found != by_text_.end()) return *found->second;
    std::vector<Oid> native;
    for (value_type const one : types) native.push_back(static_cast<Oid>(one));
    statements_.push_back({sql, std::move(native), phase, statements_.size()});
    by_text_.emplace(sql, &statements_.back());
    return statements_.back();
}

} // namespace postgresql::detail
SETTLE_END
