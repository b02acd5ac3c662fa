// SPDX-License-Identifier: BSL-1.0
// The options of a MariaDB database.
#pragma once

#include <settle/base/saturating.hpp>

#include <string>

SETTLE_BEGIN
namespace mariadb {

/// Errors:  the resource's constructor throws errc::bad_option for a value that makes no sense.
///          MariaDB and its client count some of the limits in whole seconds: they are rounded up
struct options {
    /// A file with certificates (PEM) of the authorities that may sign the server's certificate.
    /// With it, TLS is required, and certificate and host name are verified.
    std::string ca_file{};
    /// How many sessions the resource has at most, besides those that wait for the end of what they
    /// have prepared.
    std::size_t connections = 16;
    /// How many sessions wait at most for the end of what they have prepared. The end of anything
    /// more takes the server a second.
    std::size_t kept_sessions = 64;
    /// How long a statement waits for a row or a table that another native transaction holds.
    time_limit lock_timeout = std::chrono::seconds{2};
    /// How long the server works at one statement.
    time_limit statement_timeout = std::chrono::seconds{30};
    /// How long a session of a stalled process may hold its rows, or a prepared transaction.
    time_limit idle_timeout = std::chrono::seconds{30};
    /// How long an answer may be missing until the connection counts as lost. Longer than
    /// statement_timeout.
    time_limit answer_timeout = std::chrono::seconds{45};
    /// How long a call tries to connect, or waits for one of the sessions.
    time_limit connect_timeout = std::chrono::seconds{5};
};

} // namespace mariadb
SETTLE_END
