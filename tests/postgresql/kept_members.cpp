// SPDX-License-Identifier: BSL-1.0
// A struct that SETTLE_STRUCT lists and one that it does not are the same columns.
#include "fixtures.hpp"

#include <aggregates_suite.hpp>

namespace {

template <bool Listed>
std::vector<std::vector<std::string>> kept_rows() {
    settle_test::fresh_schema const own;
    settle::postgresql::database db{own.address()};
    auto engine = aggregates::engine_of<Listed>(db);
    aggregates::run_payments<Listed>(engine);
    auto rows = own.ask("SELECT * FROM invoices ORDER BY id");
    rows.push_back(own.ask("SELECT to_hex(definition), parameters, images FROM settle_entry "
                           "WHERE id = 'restore'")
                       .at(0));
    return rows;
}

} // namespace

TEST_CASE("aggregates: a listed and an unlisted struct are the same in PostgreSQL") {
    auto const rows = kept_rows<false>();
    CHECK(rows == kept_rows<true>());
    std::string all;
    for (auto const& r : rows) {
        for (auto const& c : r) all += c + " | ";
        all += "\n";
    }
    MESSAGE(all);
}
