// SPDX-License-Identifier: BSL-1.0
// A user's library that uses settle.
#include <settle/base/error.hpp>

#include <string>

std::string sentence() {
    return settle::error{make_error_code(settle::errc::stopped), {}}.message();
}
