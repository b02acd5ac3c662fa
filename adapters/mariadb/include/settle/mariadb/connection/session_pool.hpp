// SPDX-License-Identifier: BSL-1.0
// The sessions or connections of an address, which threads borrow.
#pragma once

#include <settle/adapter/connection_pool.hpp>
#include <settle/adapter/retry_pauses.hpp>
#include <settle/mariadb/connection/session.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

/// Shape:   Connection - is made of an address and options
template <typename Connection>
class address_pool : public settle::detail::connection_pool<Connection> {
public:
    /// Errors:  throws settle::failure for a wrong address or options; it does not connect
    address_pool(std::string_view text, options const& limits)
        : settle::detail::connection_pool<Connection>(limits.connections, limits.connect_timeout),
          to_(text), limits_(limits) {
        settle::detail::check_limits(limits, [](std::string const& why) {
            raise(errc::bad_option, "settle: options::" + why + ". See mariadb#options");
        });
    }

    [[nodiscard]] address const& to() const noexcept { return to_; }
    [[nodiscard]] options const& limits() const noexcept { return limits_; }

protected:
    ~address_pool() = default;

private:
    [[nodiscard]] std::unique_ptr<Connection> make(std::stop_token const& stop) const override {
        for (settle::detail::retry_pauses between{limits_.connect_timeout};;) {
            try {
                return std::make_unique<Connection>(to_, limits_);
            } catch (failure const& caught) {
                bool const goes_on = caught.problem().code == condition::retryable;
                if (!goes_on || stop.stop_requested() || !between.next()) throw;
            }
        }
    }
    [[nodiscard]] error all_in_use(std::size_t count) const override {
        return describe(mariadb::all_in_use, "",
                        "all " + std::to_string(count) + " sessions are in use", "be called");
    }

    address to_;
    options limits_;
};

/// When a loan is closed, the server rolls back its native transaction. A prepared one stays, and
/// other sessions can end it.
class session_pool final : public address_pool<session> {
public:
    using address_pool::address_pool;

private:
    /// A session that a work has changed is closed if it was not put right.
    bool take_back(session& held) noexcept override { return held.good() && !held.has_run_work(); }
};

} // namespace mariadb::detail
SETTLE_END
