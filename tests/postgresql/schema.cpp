// SPDX-License-Identifier: BSL-1.0
// The version of the library's own tables, and the text of a reason in them.
#include "bank_story.hpp"

#include <settle/testing/store_suite/entries.hpp>

namespace settle_test {
namespace {

using settle::testing::pending_move;

TEST_CASE("schema: tables of another version are refused, and stay as they are") {
    fresh_schema const own;
    {
        pg::database const fresh{own.address()};
    }
    for (std::string const version : {"2", "0"}) {
        ask(own.address(),
            "UPDATE settle_meta SET value = '" + version + "' WHERE name = 'schema_version'");
        auto const refused = pg::database::open(own.address());
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.problem().code == settle::errc::other_version);
        CHECK(says(refused.problem(),
                   "have version " + version + " and this library needs version 1. "));
        CHECK(ask_one(own.address(), "SELECT value FROM settle_meta "
                                     "WHERE name = 'schema_version'") == version);
    }
}

TEST_CASE("schema: any value as the text of a reason leaves its entry readable") {
    fresh_schema const own;
    pg::database database{own.address()};
    auto log = database.bind_log();
    auto worker = pending_move(log, "t", 70, 1, "me");
    auto const text_of = [&](std::string const& value) {
        ask(own.address(), "UPDATE settle_entry SET reason_text = " + value);
        auto const entry = log.read("t");
        REQUIRE(entry.has_value());
        CHECK(log.list({}, "", 10).value().at(0) == entry.value());
        return entry.value()->why_text;
    };
    CHECK(text_of("'sold out'") == "sold out");
    CHECK(text_of("NULL").empty());
    CHECK(text_of("''").empty());
    CHECK(text_of("repeat('x', 9000000)") == std::string(500, 'x'));
    CHECK(text_of("'x' || repeat(chr(8364), 400)").size() == 499);
}

} // namespace
} // namespace settle_test
