// SPDX-License-Identifier: BSL-1.0
// Another program alters a table while settle runs.
#include "altered_tables_suite.hpp"
#include "fixtures.hpp"

namespace settle_test {
namespace {

using namespace altered_tables;

/// For altered_tables_suite.hpp.
struct fixture : postgresql_fixture {
    static void make_accounts(fresh_schema const& own, std::string const& type) {
        own.ask("CREATE TABLE accounts (id text COLLATE \"C\" PRIMARY KEY, balance " + type +
                " NOT NULL)");
    }
    static void change_balance(fresh_schema const& own, std::string const& type) {
        own.ask("ALTER TABLE accounts ALTER balance TYPE " + type);
    }
};

TEST_CASE("altered tables: another type or scale of a column stops all that uses it") {
    check_another_type<fixture>();
}

TEST_CASE("altered tables: a row with a column that was added is not erased without it") {
    check_added_column<fixture>();
}

} // namespace
} // namespace settle_test
