// SPDX-License-Identifier: BSL-1.0
// The stores without a server: memory: and sqlite:.
#include "database_file.hpp"
#include "linked_store.hpp"

#include <settle/memory/kind.hpp>
#include <settle/sqlite/kind.hpp>

namespace samples {

constinit linked_store const file_store{
    nullptr,
    [](store_address const& address, std::span<std::string_view const> tables, bool may_create) {
        if (address.kind == store_kind::memory) {
            return settle::any_database{"memory:", {settle::memory::kind()}};
        }
        // Opening a missing database would create it, and hide a mistyped path.
        check_database_file(address.path, tables, may_create);
        return settle::any_database{"sqlite:" + address.path, {settle::sqlite::kind()}};
    }};

} // namespace samples
