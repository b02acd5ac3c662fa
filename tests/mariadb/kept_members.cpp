// SPDX-License-Identifier: BSL-1.0
// A struct that SETTLE_STRUCT lists and one that it does not are the same columns.
#include "shared_servers.hpp"

#include <aggregates_runs.hpp>

#include <doctest/doctest.h>
#include <settle/mariadb/kind.hpp>

namespace {

std::vector<std::vector<std::string>> kept_rows(bool are_listed) {
    settle_test::fresh_mariadb const own;
    settle::any_database db{own.address(), {settle::mariadb::kind()}};
    aggregates::run_payments(db, are_listed);
    auto rows = own.ask("SELECT * FROM invoices ORDER BY id");
    auto const entries =
        own.ask("SELECT definition, parameters, images FROM settle_entry ORDER BY id");
    rows.insert(rows.end(), entries.begin(), entries.end());
    return rows;
}

} // namespace

TEST_CASE("aggregates: a listed and an unlisted struct are the same in MariaDB") {
    auto const rows = kept_rows(false);
    CHECK(rows == kept_rows(true));
    REQUIRE(rows.size() == 6);
    CHECK(rows[0] == std::vector<std::string>{"i1", "383", "1", "1", "86400", "ä",
                                              R"({"street":"Hill","door":7})",
                                              R"([{"article":"pen","quantity":2,"price":40},)"
                                              R"({"article":"ink","quantity":1,"price":null}])",
                                              "[1,-1]"});
    CHECK(rows[5][0] == "e71b99ec3f567e5a");
    CHECK(rows[5][1] == aggregates::restored_parameters);
    CHECK(rows[5][2].ends_with(R"("after":{"id":"i2","total":9,"checked":true,"state":0,)"
                               R"("due":86400,"note":"ä","home":{"street":"Hill","door":7},)"
                               R"("lines":[],"counts":[1,-1]}}])"));
}
