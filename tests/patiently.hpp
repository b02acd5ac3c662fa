// SPDX-License-Identifier: BSL-1.0
// Opens a client whose limits are short for the sake of messages that are disturbed later.
#pragma once

#include <settle/base/error.hpp>

namespace settle_test {

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
