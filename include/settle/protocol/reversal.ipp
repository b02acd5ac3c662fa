// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that reversal.hpp declares.
#pragma once

#include <settle/protocol/reversal.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void value_functions<std::vector<image>>::write(std::string& out, void const* value,
                                                                secrets shown) {
    out += '[';
    auto separate = false;
    for (image const& element : *static_cast<std::vector<image> const*>(value)) {
        if (std::exchange(separate, true)) out += ',';
        codec_of<image>.write(out, &element, shown);
    }
    out += ']';
}
SETTLE_FUNCTION bool value_functions<std::vector<image>>::read(json_reader& reader, void* value,
                                                               json_form form) {
    if (form != json_form::exact && reader.peek() == json_kind::text) {
        return read_nested_text(reader, codec_of<std::vector<image>>, value);
    }
    return read_list(reader, *static_cast<std::vector<image>*>(value), form);
}
SETTLE_FUNCTION bool value_functions<std::vector<image>>::same(void const* left,
                                                               void const* right) {
    return *static_cast<std::vector<image> const*>(left) ==
           *static_cast<std::vector<image> const*>(right);
}
SETTLE_FUNCTION std::string_view value_functions<std::vector<image>>::bad_text(void const* value,
                                                                               std::string& path) {
    std::size_t index = 0;
    for (image const& element : *static_cast<std::vector<image> const*>(value)) {
        auto const found = find_bad_text(codec_of<image>, &element, path);
        if (!found.empty()) return index_before(path, index), found;
        ++index;
    }
    return {};
}

} // namespace detail
SETTLE_END
