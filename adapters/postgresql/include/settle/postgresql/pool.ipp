// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that pool.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/postgresql/pool.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

SETTLE_FUNCTION pool::pool(std::string const& text, database_options const& options)
    : connection_pool(options.connections, options.connect_timeout), address_(text),
      options_(options) {
    settle::detail::check_limits(options, [](std::string const& why) {
        raise(errc::bad_option, "settle: database_options::" + why + ". See postgresql#options");
    });
    loan const first = take();
    server_ = first->server();
    // The later connections must find the same schema, whatever the user's search path is then.
    options_.schema = server_.schema;
    schema_prefix_ = settle::detail::quoted_name(server_.schema) + ".";
}

SETTLE_FUNCTION std::unique_ptr<connection> pool::make(std::stop_token const& stop) const {
    auto const until = settle::detail::deadline_after(options_.connect_timeout);
    error problem;
    for (settle::detail::retry_pauses between{options_.connect_timeout};;) {
        try {
            return std::make_unique<connection>(address_, options_, until);
        } catch (failure const& caught) {
            // The last attempt may have had no time to learn the cause.
            bool const is_late = std::chrono::steady_clock::now() >= until;
            if (problem.empty() || !is_late) problem = caught.problem();
            bool const goes_on = problem.code == condition::retryable && !is_late;
            if (!goes_on || stop.stop_requested() || !between.next()) throw failure(problem);
        }
    }
}

SETTLE_FUNCTION bool pool::take_back(connection& one) noexcept {
    one.rollback();
    round_trips_ += one.take_round_trips();
    return one.reusable();
}

SETTLE_FUNCTION error pool::all_in_use(std::size_t count) const {
    return describe(postgresql::all_in_use,
                    "all " + std::to_string(count) + " connections are in use", "be called");
}

SETTLE_FUNCTION statement const&
pool::prepare(std::string const& sql, std::vector<value_type> const& types, char const* phase) {
    std::lock_guard const guard{mutex_};
    auto const found = by_text_.find(sql);
    if (found != by_text_.end()) return *found->second;
    std::vector<Oid> native;
    native.reserve(types.size());
    for (value_type const one : types) native.push_back(static_cast<Oid>(one));
    statements_.push_back({sql, std::move(native), phase, statements_.size()});
    by_text_.emplace(sql, &statements_.back());
    return statements_.back();
}

} // namespace postgresql::detail
SETTLE_END
