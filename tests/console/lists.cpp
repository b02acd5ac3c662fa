// SPDX-License-Identifier: BSL-1.0
// The list: its filters, and how many entries it looks at.
#include "bank_server.hpp"

#include <sqlite3.h>

#include <mutex>

namespace console_bank {
namespace {

using settle_test::get_json;

/// The ids of a page, each with a blank.
std::string ids_of(settle::console const& console, std::string const& filter) {
    std::string text;
    auto const page = get_json(console, "/entries?" + filter).json();
    for (auto const& each : page["entries"]) text += each["id"].get<std::string>() + " ";
    return text;
}

TEST_CASE("console: a list is filtered by reason, participant and the last change") {
    bank bank{"reasons"};
    REQUIRE(bank.engine.run("t-1", transfer{"anna", "bert", 1, ""}).done());
    REQUIRE(bank.engine.run("t-2", transfer{"anna", "bert", 1000, ""}).canceled());
    REQUIRE(bank.engine.run("t-3", transfer{"anna", "nobody", 1, ""}).canceled());
    bank.leave("t-4", settle::step::apply);
    REQUIRE(bank.engine.cancel("t-4").canceled());
    settle::console const console{bank.engine};
    auto const failed = get_json(console, "/entries/t-2").json();
    CHECK(failed["participant"] == "source");
    CHECK(ids_of(console, "reason=guard%20failed") == "t-2 ");
    CHECK(ids_of(console, "reason=cancel%20asked") == "t-4 ");
    CHECK(ids_of(console, "reason=guard") == "");
    CHECK(ids_of(console, "participant=destination") == "t-3 ");
    CHECK(ids_of(console, "participant=source&state=canceled") == "t-2 ");
    CHECK(ids_of(console, "state=canceled") == "t-2 t-3 t-4 ");
    testing::ask(bank.path(), "UPDATE settle_entry SET modified = modified - 5400000, created = "
                              "created - 7200000 WHERE id IN ('t-1', 't-2')");
    testing::ask(bank.path(), "UPDATE settle_entry SET modified = modified + 86400000000 "
                              "WHERE id = 't-3'");
    // A time that no clock can have yet is as old as any.
    CHECK(ids_of(console, "still=1h") == "t-1 t-2 t-3 ");
    CHECK(ids_of(console, "still=2h") == "t-3 ");
    CHECK(ids_of(console, "older=2h") == "t-1 t-2 ");
    CHECK(ids_of(console, "still=1h&state=done") == "t-1 ");
}

TEST_CASE("console: a list that no index serves says so, and how many entries it has looked at") {
    bank bank{"scans"};
    bank.leave("t-1", settle::step::apply);
    bank.copy("t-1", 599);
    settle::console const console{bank.engine};
    auto const first = get_json(console, "/entries?type=transfer&limit=300").json();
    CHECK(first["looked_at"] == 300);
    CHECK(first["note"] == "no index serves this filter, so each entry is read; the pages up to "
                           "here have looked at 300");
    auto const next = first["next"].get<std::string>();
    auto const second = get_json(console, "/" + next).json();
    CHECK(second["entries"][0]["id"] == "order-000301");
    CHECK(second["note"] == "no index serves this filter, so each entry is read; the pages up to "
                            "here have looked at 600");
    CHECK(second["next"].is_null());
    for (std::string const scanned :
         {"state=done", "reason=guard", "participant=source", "older=1h", "still=1h", "key=a/b"}) {
        auto const page = get_json(console, "/entries?" + scanned).json();
        CHECK_MESSAGE(page["note"].get<std::string>().ends_with(" looked at 600"), scanned);
    }
    for (auto const* const served : {"", "state=pending", "state=unfinished", "id=order-0001"})
        CHECK_FALSE(get_json(console, std::string{"/entries?"} + served).json().contains("note"));
    CHECK(get_json(console, "/entries?looked=many").status == 400);
}

/// What SQLite did for the pages of a list.
struct list_work {
    std::mutex guard;
    std::vector<std::string> statements;
    std::size_t steps = 0; ///< of SQLite's machine
    int full_scans = 0;    ///< steps of a search without an index

    std::pair<std::vector<std::string>, std::size_t> take() {
        std::lock_guard const lock{guard};
        return {std::exchange(statements, {}), std::exchange(steps, 0)};
    }
};
list_work page_work; ///< of all connections of this program

int note_work(unsigned, void*, void* of, void*) {
    auto* const statement = static_cast<sqlite3_stmt*>(of);
    std::string_view const text = sqlite3_sql(statement);
    if (!text.starts_with("SELECT") || text.find("ORDER BY e.id LIMIT") == text.npos) return 0;
    auto const count = [&](int what) { return sqlite3_stmt_status(statement, what, 1); };
    std::lock_guard const lock{page_work.guard};
    page_work.steps += static_cast<std::size_t>(count(SQLITE_STMTSTATUS_VM_STEP));
    page_work.full_scans += count(SQLITE_STMTSTATUS_FULLSCAN_STEP);
    char* const bound = sqlite3_expanded_sql(statement);
    page_work.statements.emplace_back(bound);
    sqlite3_free(bound);
    return 0;
}

/// Is called for each connection.
int watch_connection(sqlite3* connection, char const**, void const*) {
    return sqlite3_trace_v2(connection, SQLITE_TRACE_PROFILE, &note_work, nullptr);
}

TEST_CASE("long: console: a page of 1,000,000 entries reads a few hundred rows by an index") {
    constexpr int count = 1'000'000;
    // For the 256 rows of a statement; a search through all entries takes millions.
    constexpr std::size_t most_steps = 100'000;
    REQUIRE(sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch_connection)) == SQLITE_OK);
    bank bank{"million"};
    REQUIRE(bank.engine.run("t-1", transfer{"anna", "bert", 1, ""}).done());
    bank.copy("t-1", count);
    bank.leave("stuck", settle::step::apply);
    settle::console const console{bank.engine, {.store_limit = std::chrono::seconds{1}}};
    struct look {
        std::string filter;
        std::string first;
        std::size_t shown;
    };
    for (auto const& seen :
         {look{"", "order-000001", 50}, look{"after=order-500000", "order-500001", 50},
          look{"id=order-9999&limit=200", "order-999900", 100},
          look{"state=unfinished", "stuck", 1}, look{"state=pending", "stuck", 1}}) {
        CAPTURE(seen.filter);
        std::ignore = page_work.take();
        auto const page = get_json(console, "/entries?" + seen.filter).json();
        REQUIRE(page["entries"].size() == seen.shown);
        CHECK(page["entries"][0]["id"] == seen.first);
        CHECK(page["looked_at"] <= 256);
        auto const done = page_work.take();
        CHECK(!done.first.empty());
        CHECK(done.second < most_steps * done.first.size());
        for (auto const& statement : done.first) {
            auto const plan = testing::ask(bank.path(), "EXPLAIN QUERY PLAN " + statement);
            CHECK_MESSAGE(plan[0][3].starts_with("SEARCH e USING INDEX"), plan[0][3]);
        }
    }
    CHECK(page_work.full_scans == 0);
    // Without an index, the pages say how far they are, and come to the end.
    std::string next = "entries?type=booking";
    std::uint64_t looked_at = 0;
    int pages = 0;
    for (; !next.empty(); ++pages) {
        auto const page = get_json(console, "/" + next).json();
        REQUIRE(page["entries"].empty());
        looked_at += page["looked_at"].get<std::uint64_t>();
        CHECK(page["note"].get<std::string>().find("have looked at " + std::to_string(looked_at)) !=
              std::string::npos);
        next = page["next"].is_null() ? "" : page["next"].get<std::string>();
    }
    CHECK(looked_at == count + 2);
    CHECK(pages > 1);
}

} // namespace
} // namespace console_bank
