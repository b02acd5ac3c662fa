// SPDX-License-Identifier: BSL-1.0
// The pieces that a reader makes of the input: requests, refusals and remarks.
#pragma once

#include <cstdint>
#include <string>

namespace samples {

/// A transaction in the input.
template <typename Parameters>
struct request {
    std::uint64_t line = 0; // its first line in the file
    std::string id;
    Parameters parameters;
};

/// A piece of the input that cannot be run.
struct refusal {
    std::uint64_t line = 0;
    std::string reason;   // a few words, equal for all of its kind, for counting
    std::string sentence; // the fault of this piece
};

/// A note on the input that is neither a request nor a refusal.
struct remark {
    std::uint64_t line = 0; // 0 without a line
    std::string sentence;
};

} // namespace samples
