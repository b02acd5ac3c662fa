// SPDX-License-Identifier: BSL-1.0
// The error for unusable input.
#pragma once

#include <stdexcept>

namespace samples {

/// An unusable file, line or value; what() is one sentence for the user.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace samples
