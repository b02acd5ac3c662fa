// SPDX-License-Identifier: BSL-1.0
// The store mariadb://….
#include "mariadb_session.hpp"
#include "store.hpp"

#include <settle/mariadb/connection/address.hpp>
#include <settle/mariadb/kind.hpp>

#include <fmt/format.h>

namespace samples {

linked_store const mariadb_store{
    "mariadb",
    [](std::string const& address, std::span<std::string_view const> tables, bool may_create) {
        settle::any_database opened{address, {settle::mariadb::kind()}};
        auto const name = settle::mariadb::detail::address{address}.database;
        std::vector<std::string> existing;
        mariadb_session{fmt::format("the database '{}'", name), address}.ask(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND "
            "NOT LEFT(table_name, 7) = 'settle_' ORDER BY 1",
            [&](auto found) { existing.emplace_back(found[0]); });
        check_own(name, "table", existing, tables, may_create);
        return opened;
    }};

} // namespace samples
