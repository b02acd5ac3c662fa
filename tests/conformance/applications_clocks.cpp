// SPDX-License-Identifier: BSL-1.0
// The transfer application on a log in which a wrong clock has dated entries.
#include <program.hpp>
#include <sql.hpp>

#include <nlohmann/json.hpp>

namespace clocks_test {

namespace {

using testing::ended;
using testing::run_sample;
using testing::scratch_folder;

ended transfer(scratch_folder const& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--store", "sqlite:" + folder.at("bank.db")});
    return run_sample(folder, "transfer", std::move(arguments));
}

} // namespace

TEST_CASE("clocks: entries with a future date are settled, and a purge keeps them") {
    scratch_folder const folder{"bank-ahead"};
    std::string lines = "id,source,destination,amount\n";
    for (int i = 0; i < 30; ++i) lines += "p" + std::to_string(100 + i) + ",ann,bob,1\n";
    auto const file = folder.write("many.csv", lines);
    REQUIRE(transfer(folder, {"open", file, "--balance", "100.00"}).code == 0);
    REQUIRE(transfer(folder, {"run", file}).code == 0);
    auto const ask = [&](std::string const& sql) { testing::ask(folder.at("bank.db"), sql); };
    // Two entries of another machine that died: one dated 2038, one a minute ahead.
    ask("INSERT INTO settle_owner(number, name) VALUES(99, 'far/1/2/3/4')");
    ask("UPDATE settle_entry SET state = 1, open = 1, owner = 99, modified = 2145916800000 "
        "WHERE id IN ('p105', 'p106')");
    ask("UPDATE settle_entry SET state = 1, open = 1, owner = 99, modified = modified + 60000 "
        "WHERE id = 'p107'");
    // None of these three entries had moved money yet.
    ask("UPDATE accounts SET balance = balance + 300 WHERE id = 'ann'");
    ask("UPDATE accounts SET balance = balance - 300 WHERE id = 'bob'");
    CHECK(transfer(folder, {"check"}).code == 1);
    auto const still = nlohmann::json::parse(
        transfer(folder, {"list", "--state", "pending", "--older-than", "30m", "--json"}).out);
    CHECK(still.size() == 2);
    auto const recovered = transfer(folder, {"recover"});
    CHECK(recovered.out.find("recovered: 2 done, 0 canceled, 0 undecided") != std::string::npos);
    CHECK(recovered.out.find("1 have not stood still for that long") != std::string::npos);
    ask("UPDATE settle_entry SET modified = modified - 60000 WHERE id = 'p107'");
    CHECK(transfer(folder, {"recover", "--older-than", "0s"}).code == 0);
    CHECK(transfer(folder, {"check"}).code == 0);

    // The first entries cannot be purged, and the later entries are purged all the same.
    ask("UPDATE settle_entry SET created = created - 4000000000, modified = 1000");
    ask("UPDATE settle_entry SET created = 2145916800000 WHERE id < 'p110'");
    CHECK(transfer(folder, {"purge"}).out == "purged: 20 entries\n");
    CHECK(transfer(folder, {"purge"}).out == "purged: 0 entries\n");
    CHECK(nlohmann::json::parse(transfer(folder, {"list", "--json"}).out).size() == 10);
    CHECK(transfer(folder, {"show", "p100"}).out.find("2038-01-01 00:00:00Z") != std::string::npos);
}

} // namespace clocks_test
