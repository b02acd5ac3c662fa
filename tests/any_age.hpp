// SPDX-License-Identifier: BSL-1.0
// Options of a recovery that takes over each unfinished entry, however young it is.
#pragma once

#include <settle/settle.hpp>

#include <chrono>

namespace settle_test {

[[nodiscard]] inline settle::recover_options of_any_age() {
    return {.older_than = std::chrono::milliseconds{0}};
}

} // namespace settle_test
