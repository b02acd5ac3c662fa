// SPDX-License-Identifier: BSL-1.0
// What a reader makes of the input, piece by piece: a transaction to run, why a piece cannot be
// one, or what is to be said of the file.
#pragma once

#include <cstdint>
#include <string>

namespace samples {

/// A transaction that the input asks for.
template <typename Parameters>
struct request {
    std::uint64_t line = 0; // where it begins in the file
    std::string id;
    Parameters parameters;
};

/// A piece of the input that is no transaction.
struct refusal {
    std::uint64_t line = 0;
    std::string reason;   // a few words, the same for all of its kind, to be counted by
    std::string sentence; // what is wrong with this one
};

/// Something that a person should know, and that neither is nor refuses a transaction.
struct remark {
    std::uint64_t line = 0; // 0 where there is no line
    std::string sentence;
};

} // namespace samples
