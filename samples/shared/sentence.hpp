// SPDX-License-Identifier: BSL-1.0
// Adapts the library's sentences for a sample.
#pragma once

#include <settle/base/error.hpp>

#include <string>
#include <string_view>

namespace samples {

/// The sentence without the prefix `settle: `: a sample puts its own name there.
inline std::string_view without_prefix(std::string_view sentence) {
    constexpr std::string_view prefix = "settle: ";
    if (sentence.starts_with(prefix)) sentence.remove_prefix(prefix.size());
    return sentence;
}

inline std::string sentence_of(settle::error const& problem) {
    return std::string{without_prefix(problem.message())};
}

/// The error behind a cancel, as the end of a sentence; empty if there is none.
inline std::string cause_of(settle::error const& problem) {
    return problem.empty() ? std::string{} : ": " + sentence_of(problem);
}

} // namespace samples
