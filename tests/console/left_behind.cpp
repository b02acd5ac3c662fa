// SPDX-License-Identifier: BSL-1.0
// Marks of calls that have no entry: shown, and undone by a sweep.
#include "client.hpp"

#include <server_process.hpp>
#include <unit/two_files.hpp>

#include <map>

namespace console_left_behind {
namespace {

using namespace two_files_test;
using settle_test::get_json, settle_test::post;

TEST_CASE("console: marks of calls without an entry are shown, and a sweep undoes them") {
    two_files files;
    auto engine = files.make();
    files.action = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = engine.run("t", deposit{"A", "V", 60}), killed);
    files.action = {};
    files.world.time += std::chrono::minutes{2};
    settle::console const console{engine};
    nlohmann::json early;
    CHECK(settle_test::wait_until(std::chrono::minutes{1}, [&] {
        early = get_json(console, "/").json()["marks_without_entry"];
        return early.contains("by_collection");
    }));
    CHECK(early["by_collection"][0]["collection"] == "vaults");
    CHECK(early["by_collection"][0]["count"] == 1);
    CHECK(early["by_collection"][0]["oldest_seconds"] >= 119);

    auto const tried = post(console, "/sweep", "dry_run=1").json();
    CHECK(tried["effect"].get<std::string>().find("1 have no entry, and are undone") !=
          std::string::npos);
    CHECK(tried["seen"] == "0-1");
    CHECK(post(console, "/sweep", "seen=").status == 400);
    CHECK(post(console, "/sweep", "seen=0-2").status == 409);
    CHECK(post(console, "/sweep", "all=1").status == 400);
    CHECK(get_json(console, "/sweep").status == 405);
    CHECK(files.marks() == "0+1");
    auto const swept = post(console, "/sweep", "seen=0-1");
    CHECK(swept.status == 200);
    CHECK(swept.json()["text"] == "1 looked at, 1 undone, 1 ids closed");
    CHECK(files.marks() == "0+0");
    auto const rows = get_json(console, "/actions").json()["actions"];
    REQUIRE(rows.size() == 4);
    std::map<std::string, int> states;
    for (auto const& row : rows) {
        CHECK(row["action"] == "sweep");
        ++states[row["state"].get<std::string>()];
        if (row["state"] == "done") CHECK(row["result"] == swept.json()["text"]);
    }
    CHECK(states == std::map<std::string, int>{{"refused", 3}, {"done", 1}});
}

} // namespace
} // namespace console_left_behind
