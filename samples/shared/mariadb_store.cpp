// SPDX-License-Identifier: BSL-1.0
// The store mariadb://….
#include "linked_store.hpp"
#include "mariadb_session.hpp"
#include "own_database.hpp"

#include <settle/mariadb/connection/address.hpp>
#include <settle/mariadb/kind.hpp>

#include <fmt/format.h>

namespace samples {

namespace {

/// Errors:  std::runtime_error, with a sentence
database_tables tables_of(std::string const& address) {
    database_tables existing{settle::mariadb::detail::address{address}.database, {}};
    mariadb_session session{fmt::format("the database '{}'", existing.database), address};
    session.ask("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
                "AND NOT LEFT(table_name, 7) = 'settle_' ORDER BY 1",
                [&](auto found) { existing.names.emplace_back(found[0]); });
    return existing;
}

} // namespace

linked_store const mariadb_store{
    server_of(store_kind::mariadb),
    [](store_address const& address, std::span<std::string_view const> tables, bool may_create) {
        settle::any_database opened{address.path, {settle::mariadb::kind()}};
        auto const existing = tables_of(address.path);
        check_own(existing.database, "table", existing.names, tables, may_create);
        return opened;
    }};

} // namespace samples
