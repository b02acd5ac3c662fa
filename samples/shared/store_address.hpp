// SPDX-License-Identifier: BSL-1.0
// The store of a command line: `--store sqlite:bank.db`, `--store memory:`, or
// `--store mongodb://127.0.0.1/bank`.
#pragma once

#include "input_error.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace samples {

enum class store_kind { memory, sqlite, mongodb };

/// The kind of a store and its location: for sqlite the path of its file, for mongodb the whole
/// address, for memory nothing.
struct store_address {
    store_kind kind = store_kind::memory;
    std::string path;

    friend bool operator==(store_address const&, store_address const&) = default;
};

/// Reads an address.
/// Shape:   has_mongodb - whether the program has that store
/// Errors:  input_error, with a sentence that lists the valid addresses
inline store_address parse_store_address(std::string_view text, bool has_mongodb = true) {
    std::string_view const known_stores =
        has_mongodb ? "known are sqlite:PATH, memory: and mongodb://HOST[:PORT][,…]/DATABASE"
                    : "known are sqlite:PATH and memory:";
    auto const colon = text.find(':');
    auto const scheme = text.substr(0, colon);
    if (has_mongodb && (scheme == "mongodb" || scheme == "mongodb+srv")) {
        return {store_kind::mongodb, std::string{text}};
    }
    if (colon == std::string_view::npos || (scheme != "sqlite" && scheme != "memory")) {
        throw input_error(fmt::format("'{}' is no address of a store; {}", text, known_stores));
    }
    auto const path = text.substr(colon + 1);
    if (scheme == "memory") {
        if (path.empty()) return {store_kind::memory, {}};
        throw input_error(
            fmt::format("'{}' names a path, but memory: has none; {}", text, known_stores));
    }
    if (path.empty()) {
        throw input_error(fmt::format("'{}' does not say which file; {}", text, known_stores));
    }
    return {store_kind::sqlite, std::string{path}};
}

}  // namespace samples
