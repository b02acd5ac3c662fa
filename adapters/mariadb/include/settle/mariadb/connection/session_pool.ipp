// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that session_pool.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>
#include <settle/mariadb/connection/session_pool.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION session_pool::session_pool(std::string_view text, options const& limits)
    : connection_pool(limits.connections, limits.connect_timeout), to_(text), limits_(limits) {
    settle::detail::check_limits(limits, [](std::string const& why) {
        raise(errc::bad_option, "settle: options::" + why + ". See mariadb#options");
    });
}

SETTLE_FUNCTION std::unique_ptr<session> session_pool::make(std::stop_token const& stop) const {
    for (settle::detail::retry_pauses between{limits_.connect_timeout};;) {
        try {
            return std::make_unique<session>(to_, limits_);
        } catch (failure const& caught) {
            bool const goes_on = caught.problem().code == condition::retryable;
            if (!goes_on || stop.stop_requested() || !between.next()) throw;
        }
    }
}

SETTLE_FUNCTION error session_pool::all_in_use(std::size_t count) const {
    return describe(mariadb::all_in_use, "",
                    "all " + std::to_string(count) + " sessions are in use", "be called");
}

} // namespace mariadb::detail
SETTLE_END
