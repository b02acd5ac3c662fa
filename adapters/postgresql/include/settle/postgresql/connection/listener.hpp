// SPDX-License-Identifier: BSL-1.0
// Waits for a notification of the server, on a connection of its own.
#pragma once

#include <settle/postgresql/connection/pool.hpp>

#include <stop_token>

SETTLE_BEGIN
namespace postgresql {
namespace detail {

/// The channel that wakes the workers of a schema.
[[nodiscard]] std::string work_channel(pool const& pool);

/// The SQL that wakes all listeners of a channel when its native transaction commits.
[[nodiscard]] std::string notify_sql(std::string_view channel);

} // namespace detail

/// Waits until a transaction is submitted to a database's log, so that a worker need not poll. It
/// listens from its construction on: a transaction that is submitted between two waits is not
/// missed. `database::listen()` makes it. Threads do not share a listener.
/// Cost:    a connection of its own
/// Source:  postgresql#listening
class listener {
public:
    /// Shape:   with - gives the address and the options, and outlives the listener
    /// Errors:  throws settle::failure
    listener(detail::pool& pool, std::string channel);
    listener(listener const&) = delete;
    listener& operator=(listener const&) = delete;

    /// Waits until a transaction is submitted (true), or until the time is over or a stop is
    /// requested (false). After its connection was lost it connects again and returns true, since
    /// it may have missed a transaction. It tries for database_options::connect_timeout, whatever
    /// `longest` is, and a stop ends the tries.
    /// Errors:  an error when the server cannot be reached; a later wait tries again
    [[nodiscard]] result<bool> wait(time_limit longest, std::stop_token const& stop = {});

private:
    void connect(std::stop_token const& stop);
    /// Whether any notification has come.
    [[nodiscard]] bool take_notifications() noexcept;

    detail::pool* with_;
    std::string channel_;
    std::unique_ptr<detail::connection> held_;
};

} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/listener.ipp>
#endif
