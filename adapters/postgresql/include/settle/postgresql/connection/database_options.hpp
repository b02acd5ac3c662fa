// SPDX-License-Identifier: BSL-1.0
// The options of a PostgreSQL database.
#pragma once

#include <settle/base/saturating.hpp>

#include <string>

SETTLE_BEGIN
namespace postgresql {

/// Errors:  the database's constructor throws errc::bad_option for a value that makes no sense
struct database_options {
    /// The schema of the tables, the library's own and the collections'. Empty: the first schema of
    /// the user's search path that exists, usually "public".
    std::string schema{};
    /// How many connections the database has at most, besides one for each listener.
    std::size_t connections = 16;
    /// How long a statement waits for a row that another native transaction holds.
    time_limit lock_timeout = std::chrono::seconds{2};
    /// How long the server works at one statement.
    time_limit statement_timeout = std::chrono::seconds{30};
    /// How long an open native transaction of a stalled process may hold its rows.
    time_limit idle_timeout = std::chrono::seconds{30};
    /// How long an answer may be missing until the connection counts as lost. Longer than
    /// statement_timeout, which bounds one statement of a request.
    time_limit answer_timeout = std::chrono::seconds{45};
    /// How long a call tries to connect, or waits for one of the connections.
    time_limit connect_timeout = std::chrono::seconds{5};
};

} // namespace postgresql
SETTLE_END
