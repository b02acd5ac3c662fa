// SPDX-License-Identifier: BSL-1.0
// What is thrown when something that a person gave to a sample cannot be used.
#pragma once

#include <stdexcept>

namespace samples {

/// A file, a line or a value that cannot be used; what() is one sentence for who gave it.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace samples
