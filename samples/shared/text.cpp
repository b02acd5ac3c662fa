// SPDX-License-Identifier: BSL-1.0
#include "text.hpp"

#include <algorithm>

namespace samples {

std::string printable(std::string_view text) {
    auto const is_plain = [](char each) { return each >= ' ' && each <= '~' && each != '\\'; };
    if (std::all_of(text.begin(), text.end(), is_plain)) return std::string{text};
    auto const quoted = fmt::format("{:?}", text);
    return quoted.substr(1, quoted.size() - 2);
}

std::string with_commas(std::uint64_t count) {
    auto text = std::to_string(count);
    for (auto position = text.size(); position > 3;) text.insert(position -= 3, 1, ',');
    return text;
}

} // namespace samples
