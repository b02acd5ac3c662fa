// SPDX-License-Identifier: BSL-1.0
// A struct that SETTLE_STRUCT lists and one that it does not are kept byte by byte the same.
#include <aggregates_runs.hpp>
#include <program.hpp>
#include <sql.hpp>

#include <settle/memory/kind.hpp>
#include <settle/sqlite/kind.hpp>

namespace {

using aggregates::restored_parameters;
using aggregates::run_payments;

testing::sql_rows kept_rows(bool are_listed) {
    testing::scratch_folder const folder{"kept-members"};
    auto const path = folder.at("kept.db");
    {
        settle::any_database db{"sqlite:" + path, {settle::sqlite::kind()}};
        run_payments(db, are_listed);
    }
    auto rows = testing::ask(path, "SELECT * FROM invoices ORDER BY id");
    auto const entries =
        testing::ask(path, "SELECT definition, parameters, images FROM settle_entries ORDER BY id");
    rows.insert(rows.end(), entries.begin(), entries.end());
    return rows;
}

} // namespace

TEST_CASE("aggregates: a listed and an unlisted struct are the same in SQLite") {
    auto const rows = kept_rows(false);
    CHECK(rows == kept_rows(true));
    REQUIRE(rows.size() == 6);
    CHECK(rows[0] == std::vector<std::string>{"i1", "383", "1", "1", "86400", "ä",
                                              R"({"street":"Hill","door":7})",
                                              R"([{"article":"pen","quantity":2,"price":40},)"
                                              R"({"article":"ink","quantity":1,"price":null}])",
                                              "[1,-1]"});
    CHECK(rows[5][0] == "e71b99ec3f567e5a");
    CHECK(rows[5][1] == restored_parameters);
    CHECK(rows[5][2].ends_with(R"("after":{"id":"i2","total":9,"checked":true,"state":0,)"
                               R"("due":86400,"note":"ä","home":{"street":"Hill","door":7},)"
                               R"("lines":[],"counts":[1,-1]}}])"));
}

TEST_CASE("aggregates: a listed and an unlisted struct are the same in memory") {
    settle::any_database first{"memory:", {settle::memory::kind()}};
    settle::any_database second{"memory:", {settle::memory::kind()}};
    auto const read = run_payments(first, false);
    CHECK(read == run_payments(second, true));
    REQUIRE(read.size() == 4);
    CHECK(read[0] == R"({"id":"i1","total":383,"checked":true,"state":1,"due":86400,"note":"ä",)"
                     R"("home":{"street":"Hill","door":7},"lines":[{"article":"pen",)"
                     R"("quantity":2,"price":40},{"article":"ink","quantity":1,"price":null}],)"
                     R"("counts":[1,-1]})");
    CHECK(read[2] == restored_parameters);
    CHECK(read[3] == R"({"id":"i2","total":9,"checked":true,"state":0,"due":86400,"note":"ä",)"
                     R"("home":{"street":"Hill","door":7},"lines":[],"counts":[1,-1]})");
}
