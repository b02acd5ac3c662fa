// SPDX-License-Identifier: BSL-1.0
// A log and records under two objects of one database.
#include "fixtures.hpp"
#include "one_store_suite.hpp"

TEST_CASE("one store: two objects of one address are one store") {
    settle_test::one_store::check_tables<settle::mariadb::database, settle_test::fresh_mariadb>();
}
