// SPDX-License-Identifier: BSL-1.0
// A schema, ids, keys and values that contain SQL, and names that are words of SQL.
#include "fixtures.hpp"
#include "names_suite.hpp"

namespace settle_test {
namespace {

/// A database in a schema whose name contains SQL.
struct strange_schema {
    strange_schema() = default;
    strange_schema(strange_schema const&) = delete;
    strange_schema& operator=(strange_schema const&) = delete;
    ~strange_schema() { ask(own.address(), "DROP SCHEMA " + quoted + " CASCADE"); }

    [[nodiscard]] std::string rows_of(std::string const& table) const {
        return ask_one(own.address(), "SELECT count(*) FROM " + quoted + ".\"" + table + "\"");
    }
    [[nodiscard]] settle::postgresql::database_options options() const {
        ask(own.address(), "CREATE SCHEMA " + quoted);
        settle::postgresql::database_options made;
        made.schema = name;
        return made;
    }

    fresh_schema const own{};
    std::string const name = own.name() + "'; \"x\" -- \\ %s ä";
    std::string const quoted = settle::postgresql::detail::quoted_name(name);
    settle::postgresql::database db{own.address(), options()};
};

TEST_CASE("names: quotes, SQL and control characters in a schema, ids, keys and values") {
    names::check_strange_names<strange_schema>();
}
TEST_CASE("names: a text with a NUL is refused, and nothing is written") {
    names::check_nul<strange_schema>();
}

} // namespace
} // namespace settle_test
