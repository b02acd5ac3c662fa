// SPDX-License-Identifier: BSL-1.0
// Opens the store that an address names, so that an application is written once for all stores.
#pragma once

#include "store_address.hpp"

#include <settle/memory.hpp>
#include <settle/sqlite.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace samples {

/// Calls visit(store) with the store of the address; a store that joins the samples joins here.
/// Shape:   may_create - whether a database that is not there is made
/// Errors:  std::runtime_error when there is no such database or it cannot be used
template <typename Visitor>
auto visit_store(store_address const& address, bool may_create, Visitor&& visit) {
    if (address.kind == store_kind::memory) {
        settle::memory::database store;
        return visit(store);
    }
    // Looking at a database that is not there would make an empty one, and hide a slip of the pen.
    std::error_code ignored;
    if (!may_create && !std::filesystem::exists(address.path, ignored)) {
        throw std::runtime_error(
            fmt::format("{}: there is no such database; 'open' makes one", address.path));
    }
    settle::sqlite::database store{address.path};
    return visit(store);
}

} // namespace samples
