// SPDX-License-Identifier: BSL-1.0
// The store that a command line names, as `--store sqlite:bank.db` or `--store memory:`.
#pragma once

#include "input_error.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace samples {

enum class store_kind { memory, sqlite };

/// A store and where it is: for sqlite the path of its file, for memory nothing.
struct store_address {
    store_kind kind = store_kind::memory;
    std::string path;

    friend bool operator==(store_address const&, store_address const&) = default;
};

/// Reads an address.
/// Errors:  input_error, with a sentence that lists the addresses that there are
inline store_address parse_store_address(std::string_view text) {
    constexpr std::string_view known = "known are sqlite:PATH and memory:";
    auto const colon = text.find(':');
    auto const scheme = text.substr(0, colon);
    if (colon == std::string_view::npos || (scheme != "sqlite" && scheme != "memory")) {
        throw input_error(fmt::format("'{}' is no address of a store; {}", text, known));
    }
    auto const path = text.substr(colon + 1);
    if (scheme == "memory") {
        if (path.empty()) return {store_kind::memory, {}};
        throw input_error(fmt::format("'{}' names a path, but memory: has none; {}", text, known));
    }
    if (path.empty()) {
        throw input_error(fmt::format("'{}' does not say which file; {}", text, known));
    }
    return {store_kind::sqlite, std::string{path}};
}

}  // namespace samples
