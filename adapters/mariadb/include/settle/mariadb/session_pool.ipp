// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that session_pool.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/mariadb/session_pool.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION void check(options const& limits) {
    auto const refuse = [](std::string const& why) {
        raise(errc::bad_option, "settle: options::" + why + ". See mariadb#options");
    };
    if (limits.connections == 0) refuse("connections is 0. Allow at least 1");
    auto const check_limit = [&](char const* name, std::chrono::milliseconds limit) {
        if (limit.count() <= 0) refuse(std::string{name} + " is not above 0");
    };
    check_limit("lock_timeout", limits.lock_timeout);
    check_limit("statement_timeout", limits.statement_timeout);
    check_limit("idle_timeout", limits.idle_timeout);
    check_limit("answer_timeout", limits.answer_timeout);
    check_limit("connect_timeout", limits.connect_timeout);
    if (limits.answer_timeout <= limits.statement_timeout) {
        refuse("answer_timeout is not longer than statement_timeout, so a slow statement would "
               "look like a lost session");
    }
}

SETTLE_FUNCTION session_pool::session_pool(std::string_view text, options const& limits)
    : to_(text), limits_(limits) {
    check(limits);
}

SETTLE_FUNCTION auto session_pool::take() -> loan {
    if (!made_in_.is_here()) throw failure(settle::detail::made_before_fork("database"));
    auto const until =
        std::chrono::steady_clock::now() +
        std::min<std::chrono::milliseconds>(limits_.connect_timeout, std::chrono::hours{24 * 365});
    std::unique_lock guard{mutex_};
    for (;;) {
        while (!unused_.empty()) {
            auto one = std::move(unused_.back());
            unused_.pop_back();
            if (one->alive()) return {*this, std::move(one)};
            --count_;
        }
        if (count_ < limits_.connections) break;
        if (returned_.wait_until(guard, until) == std::cv_status::timeout && unused_.empty()) {
            throw failure(
                describe(all_in_use, "",
                         "all " + std::to_string(limits_.connections) + " sessions are in use",
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

SETTLE_FUNCTION std::unique_ptr<session> session_pool::connect() const {
    for (settle::detail::retry_pauses between{limits_.connect_timeout};;) {
        try {
            return std::make_unique<session>(to_, limits_);
        } catch (failure const& caught) {
            if (caught.problem().code != condition::retryable || !between.next()) throw;
        }
    }
}

SETTLE_FUNCTION void session_pool::put_back(std::unique_ptr<session> one) noexcept {
    bool const usable = one != nullptr && one->good();
    if (!usable) one.reset();
    std::lock_guard const guard{mutex_};
    if (usable) unused_.push_back(std::move(one));
    else --count_;
    returned_.notify_one();
}

} // namespace mariadb::detail
SETTLE_END
