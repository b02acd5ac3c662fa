// SPDX-License-Identifier: BSL-1.0
// The sessions of a resource, which threads borrow.
#pragma once

#include <settle/adapter/connection_pool.hpp>
#include <settle/mariadb/connection/session.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

/// When a loan is closed, the server rolls back its native transaction. A prepared one stays, and
/// other sessions can end it.
class session_pool final : public settle::detail::connection_pool<session> {
public:
    /// Errors:  throws settle::failure for a wrong address or options; it does not connect
    session_pool(std::string_view text, options const& limits);

    [[nodiscard]] address const& to() const noexcept { return to_; }
    [[nodiscard]] options const& limits() const noexcept { return limits_; }

private:
    [[nodiscard]] std::unique_ptr<session> make(std::stop_token const& stop) const override;
    /// A session that a work has changed is closed if it was not put right.
    bool take_back(session& one) noexcept override { return one.good() && !one.has_run_work(); }
    [[nodiscard]] error all_in_use(std::size_t count) const override;

    address to_;
    options limits_;
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/session_pool.ipp>
#endif
