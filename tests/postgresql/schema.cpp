// SPDX-License-Identifier: BSL-1.0
// The library's own tables of an earlier version, and the text of a reason in them.
#include "bank_story.hpp"

#include <settle/testing/store_suite/entries.hpp>

namespace settle_test {
namespace {

using settle::log_answer;
using settle::testing::pending_move;
using settle::testing::worker_on;

/// Puts the tables of this version back to version 1, and makes a view of another program.
void lower_version(std::string const& address) {
    auto view = ask_one(address, "SELECT pg_get_viewdef('settle_entries'::regclass)");
    auto const from = view.rfind(',', view.find("e.reason_text"));
    std::string const last = "e.traceparent";
    view.erase(from, view.find(last) + last.size() - from);
    ask(address, "DROP VIEW settle_entries;"
                 "ALTER TABLE settle_entry DROP COLUMN reason_text, DROP COLUMN call_tries, "
                 "DROP COLUMN next_try, DROP COLUMN tried_in, DROP COLUMN traceparent;"
                 "UPDATE settle_meta SET value = '1' WHERE name = 'schema_version'");
    ask(address, "CREATE VIEW settle_entries AS " + view);
    ask(address, "CREATE VIEW watched AS SELECT id, results FROM settle_entries");
}
std::string version_in(std::string const& address) {
    return ask_one(address, "SELECT value FROM settle_meta WHERE name = 'schema_version'");
}
std::string columns_in(std::string const& address) {
    return ask_one(address, "SELECT string_agg(column_name || ' ' || data_type, ', ' "
                            "ORDER BY ordinal_position) FROM information_schema.columns "
                            "WHERE table_name = 'settle_entry' AND table_schema = current_schema");
}

TEST_CASE("schema: tables of version 1 get the text of a reason, and an old program goes on") {
    fresh_schema const own;
    std::string columns;
    {
        pg::database const fresh{own.address()};
        columns = columns_in(own.address());
    }
    // This program has opened the tables before they have the column, as an old program has.
    pool old_program{own.address(), patient_limits()};
    lower_version(own.address());
    auto const insert = [&](std::string const& id) {
        ask(own.address(), "INSERT INTO settle_entry(id, state, epoch, created, modified, "
                           "attempts, reason, open, owner, participant) VALUES('" +
                               id + "', 5, 7, 1000, 2000, 0, 11, false, 'host/1', 'room')");
    };
    insert("before");
    auto const& read = old_program.prepare("SELECT id, reason FROM settle_entry WHERE id = $1",
                                           {value_type::text}, "read an entry");
    auto const reason_of = [&](std::string const& id) {
        auto on = old_program.take();
        auto const number = on->send(read, id);
        on->sync();
        return on->result(number).integer(0, 1);
    };
    CHECK(reason_of("before") == 11);
    pg::database database{own.address()};
    insert("beside");
    CHECK(reason_of("before") == 11);
    CHECK(reason_of("beside") == 11);
    CHECK(version_in(own.address()) == "5");
    CHECK(columns_in(own.address()) == columns);
    auto log = database.bind_log();
    for (char const* const id : {"before", "beside"}) {
        settle::entry const found = log.read(id).value().value();
        CHECK(found.why == settle::reason::refused);
        CHECK(found.why_text.empty());
    }
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_entries WHERE reason = 'refused' "
                                 "AND reason_text IS NULL") == "2");
    // The upgraded tables open again, and take a text.
    pg::database again{own.address()};
    auto other = again.bind_log();
    auto worker = pending_move(other, "t", 70, 1, "me");
    CHECK(worker.cancel(2, "me", settle::reason::refused, 0, false, {}, "no rooms left") ==
          log_answer::taken);
    CHECK(ask_one(own.address(), "SELECT reason_text FROM settle_entries WHERE id = 't'") ==
          "no rooms left");
}

TEST_CASE("schema: concurrent programs upgrade the tables once, and views over them stay") {
    fresh_schema const own;
    {
        pg::database const fresh{own.address()};
    }
    lower_version(own.address());
    std::vector<std::thread> threads;
    std::atomic<int> opened = 0;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            opened += pg::database::open(own.address(), patient_limits()).has_value() ? 1 : 0;
        });
    }
    for (auto& one : threads) one.join();
    CHECK(opened == 4);
    CHECK(version_in(own.address()) == "5");
    CHECK(ask_one(own.address(), "SELECT count(*) FROM watched") == "0");
    CHECK(ask_one(own.address(), "SELECT count(reason_text) FROM settle_entries") == "0");
}

TEST_CASE("schema: any value as the text of a reason leaves its entry readable") {
    fresh_schema const own;
    pg::database database{own.address()};
    auto log = database.bind_log();
    auto worker = pending_move(log, "t", 70, 1, "me");
    auto const text_of = [&](std::string const& value) {
        ask(own.address(), "UPDATE settle_entry SET reason_text = " + value);
        auto const found = log.read("t");
        REQUIRE(found.has_value());
        CHECK(log.list({}, "", 10).value().at(0) == found.value());
        return found.value()->why_text;
    };
    CHECK(text_of("'sold out'") == "sold out");
    CHECK(text_of("NULL").empty());
    CHECK(text_of("''").empty());
    CHECK(text_of("repeat('x', 9000000)") == std::string(500, 'x'));
    CHECK(text_of("'x' || repeat(chr(8364), 400)").size() == 499);
}

} // namespace
} // namespace settle_test
