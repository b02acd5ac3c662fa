// SPDX-License-Identifier: BSL-1.0
// The options of a database file.
#pragma once

#include <settle/base/saturating.hpp>

SETTLE_BEGIN
namespace sqlite {

struct database_options {
    /// The time that a call waits for another process that writes.
    /// Longer than 24 days counts as 24 days.
    /// Errors:  the database's constructor throws errc::bad_option when this is below 0
    time_limit busy_timeout = std::chrono::seconds{5};
};

} // namespace sqlite
SETTLE_END
