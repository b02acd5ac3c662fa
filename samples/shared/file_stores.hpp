// SPDX-License-Identifier: BSL-1.0
// The stores without a server: memory: and sqlite:.
#pragma once

#include "database_file.hpp"
#include "held_store.hpp"
#include "linked_stores.hpp"

#include <settle/memory.hpp>
#include <settle/sqlite.hpp>

namespace samples {

template <typename Store>
std::unique_ptr<Store> open_file(store_address const& address,
                                 std::span<std::string_view const> tables, bool may_create) {
    if (address.kind == store_kind::memory) {
        return std::make_unique<held_store<Store, settle::memory::database>>();
    }
    // Opening a missing database would create it, and hide a mistyped path.
    check_database_file(address.path, tables, may_create);
    return std::make_unique<held_store<Store, settle::sqlite::database>>(address.path);
}

template <typename Store>
inline constexpr linked_stores<Store> file_stores{nullptr, &open_file<Store>};

} // namespace samples
