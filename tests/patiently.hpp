// SPDX-License-Identifier: BSL-1.0
// Limits of time, and a client that is opened in spite of short ones.
#pragma once

#include <settle/base/error.hpp>

#include <chrono>

namespace settle_test {

/// Limits that no test reaches, also on a machine that is busy with others.
/// Shape:   Options - of the database of a server
template <typename Options>
Options patient_limits() {
    Options limits;
    limits.lock_timeout = limits.statement_timeout = limits.idle_timeout = limits.connect_timeout =
        std::chrono::seconds{60};
    limits.answer_timeout = std::chrono::seconds{90};
    return limits;
}

/// The short limits are for disturbed messages. Before the disturbance, a busy machine may take
/// longer.
template <typename Make>
auto patiently(Make make) {
    for (int tries = 1000;; --tries) {
        try {
            return make();
        } catch (settle::failure const&) {
            if (tries == 0) throw;
        }
    }
}

} // namespace settle_test
