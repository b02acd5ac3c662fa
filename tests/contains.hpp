// SPDX-License-Identifier: BSL-1.0
// A search in a text, for checks of sentences and outputs.
#pragma once

#include <string_view>

namespace testing {

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

} // namespace testing
