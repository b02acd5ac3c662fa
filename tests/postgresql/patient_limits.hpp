// SPDX-License-Identifier: BSL-1.0
// Limits for tests whose subject is no limit.
#pragma once

#include <settle/postgresql/connection/database_options.hpp>

namespace settle_test {

/// Limits that no test reaches, also on a machine that is busy with others.
inline settle::postgresql::database_options patient_limits() {
    settle::postgresql::database_options limits;
    limits.lock_timeout = limits.statement_timeout = limits.idle_timeout = limits.connect_timeout =
        std::chrono::seconds{60};
    limits.answer_timeout = std::chrono::seconds{90};
    return limits;
}

} // namespace settle_test
