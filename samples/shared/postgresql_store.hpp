// SPDX-License-Identifier: BSL-1.0
// The store postgresql://….
#pragma once

#include "held_store.hpp"
#include "linked_stores.hpp"
#include "postgresql_tables.hpp"

#include <settle/postgresql.hpp>

namespace samples {

template <typename Store>
std::unique_ptr<Store> open_postgresql(store_address const& address,
                                       std::span<std::string_view const> tables, bool may_create) {
    auto opened = std::make_unique<held_store<Store, settle::postgresql::database>>(address.path);
    check_tables(address.path, tables, may_create);
    return opened;
}

template <typename Store>
inline linked_stores<Store> const postgresql_store{server_of(store_kind::postgresql),
                                                   &open_postgresql<Store>};

} // namespace samples
