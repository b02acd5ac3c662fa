// SPDX-License-Identifier: BSL-1.0
// Reads the address of a store.
#include "store_address.hpp"

#include "input_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace samples {

namespace {

constexpr std::array<server_kind, 3> servers{{
    {store_kind::mongodb, "mongodb", "mongodb://HOST[:PORT][,…]/DATABASE"},
    {store_kind::postgresql, "postgresql", "postgresql://HOST[:PORT][,…]/DATABASE"},
    {store_kind::mariadb, "mariadb", "mariadb://HOST[:PORT]/DATABASE"},
}};

struct server_scheme {
    std::string_view scheme;
    store_kind kind;
};

constexpr std::array<server_scheme, 5> schemes{{{"mongodb", store_kind::mongodb},
                                                {"mongodb+srv", store_kind::mongodb},
                                                {"postgresql", store_kind::postgresql},
                                                {"postgres", store_kind::postgresql},
                                                {"mariadb", store_kind::mariadb}}};

/// A text that is no address, without a password.
std::string shown(std::string_view text, std::string_view scheme) {
    bool const secret = text.find('@') != text.npos || text.find("pass") != text.npos;
    if (!secret) return fmt::format("'{}'", text);
    return scheme.size() == text.size() ? "the --store" : fmt::format("'{}:…'", scheme);
}

} // namespace

server_kind const* server_of(store_kind kind) {
    auto const* const found = std::find_if(servers.begin(), servers.end(),
                                           [&](auto const& one) { return one.kind == kind; });
    return found == servers.end() ? nullptr : found;
}

std::string known_stores(bool has_servers) {
    std::vector<std::string_view> all{"sqlite:PATH", "memory:"};
    if (has_servers) {
        for (auto const& one : servers) all.push_back(one.address);
    }
    auto const last = all.back();
    all.pop_back();
    return fmt::format("{} and {}", fmt::join(all, ", "), last);
}

store_address parse_store_address(std::string_view text, bool has_servers) {
    auto const colon = text.find(':');
    auto const scheme = text.substr(0, colon);
    auto const refuse = [&](std::string_view why) {
        throw input_error(fmt::format("{} {}; known are {}", shown(text, scheme), why,
                                      known_stores(has_servers)));
    };
    if (colon == text.npos) refuse("is no address of a store");
    for (auto const& one : schemes) {
        if (has_servers && scheme == one.scheme) return {one.kind, std::string{text}};
    }
    auto const path = text.substr(colon + 1);
    if (scheme == "memory") {
        if (!path.empty()) refuse("names a path, but memory: has none");
        return {store_kind::memory, {}};
    }
    if (scheme != "sqlite") refuse("is no address of a store");
    if (path.empty()) refuse("does not say which file");
    return {store_kind::sqlite, std::string{path}};
}

} // namespace samples
