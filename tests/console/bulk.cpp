// SPDX-License-Identifier: BSL-1.0
// Actions on all that a filter matches: they are kept in the log, go on after a kill, can be
// stopped, and are shared by the consoles of the log.
#include "bank_program.hpp"

#include <latch>

namespace console_bank {
namespace {

using settle_test::get_json, settle_test::post, settle_test::wait_for_end;

/// Begins an action on all that a filter matches; gives the path of its row.
std::string begin(console_port console, std::string const& action, std::string const& filter,
                  std::uint64_t allowed) {
    auto const tried = post(console, "/entries/" + action, filter + "&dry_run=1").json();
    REQUIRE(tried["allowed"] == allowed);
    auto const token = "&token=" + tried["token"].get<std::string>();
    auto const begun =
        post(console, "/entries/" + action, filter + token, "X-Forwarded-User: eve\r\n");
    REQUIRE(begun.status == 202);
    return "/" + begun.json()["address"].get<std::string>();
}

std::uint64_t count_in(console_port console, std::string const& state) {
    auto const counted =
        post(console, "/entries/cancel", "state=" + state + "&dry_run=1").json()["would"];
    return counted.empty() ? 0 : counted[0]["count"].get<std::uint64_t>();
}

/// The program and its console are killed in the middle of an action on all.
class killed_bank {
public:
    /// Shape:   submitted, left - entries that were never begun, and whose worker was killed;
    ///          stalls_after - as of bank_program
    killed_bank(std::string const& name, std::size_t submitted, std::size_t left,
                std::uint64_t stalls_after)
        : file(name), count(submitted + left) {
        fill(file.path(), submitted, left);
        bank_program first{file.path(), stalls_after};
        action = begin(first.console(), "cancel", "all=1", count);
        first.wait_until_it_stalls();
        first.kill();
    }

    bank_file file;
    std::uint64_t count;
    std::string action{}; ///< the path of its row
};

void check_that_all_end(killed_bank const& killed) {
    bank_program const again{killed.file.path()};
    auto const ended = wait_for_end(again.console(), killed.action);
    CHECK(ended["state"] == "done");
    CHECK(ended["name"] == "eve");
    CHECK(ended["allowed"] == killed.count);
    CHECK(ended["handled"] == killed.count);
    CHECK(ended["ended"] == nlohmann::json{{"canceled", killed.count}});
    CHECK(ended["failed"] == 0);
    CHECK(count_in(again.console(), "canceled") == killed.count);
    CHECK(testing::ask(killed.file.path(), "SELECT balance FROM accounts WHERE id = 'anna'") ==
          testing::sql_rows{{"10000"}});
}

} // namespace

TEST_CASE("console: an action on all goes on after a kill, and each entry counts once") {
    check_that_all_end({"killed", 200, 20, 140});
}

/// Another console takes over after ten times as long.
constexpr std::chrono::milliseconds short_limit{400};

/// Has the thread of a console wait in the middle of an action on all.
class stall {
public:
    /// Shape:   after - so many entries
    explicit stall(std::size_t after) : after_(after) {}

    void operator()(settle::console_action const& seen) {
        if (seen.action != "cancel" || ++told != after_) return;
        begun.count_down();
        ended.wait();
    }

    std::latch begun{1};
    std::latch ended{1};
    std::size_t told = 0;

private:
    std::size_t after_;
};

settle::console_options stalls_in(stall& waits) {
    settle::console_options options{.store_limit = short_limit};
    options.audit = [&](settle::console_action const& seen) { waits(seen); };
    return options;
}

TEST_CASE("console: an action on all is stopped from another console, also after a kill") {
    killed_bank const killed{"killed_stopped", 100, 0, 20};
    settle::sqlite::database database{killed.file.path()};
    settle::engine engine{database, settle::type<transfer_type>, settle::phases::two};
    stall waits{10};
    settle::console const console{engine, stalls_in(waits)};
    // From now on the first console has the action.
    waits.begun.wait();
    settle::console const other{engine, {.name_header = "X-Forwarded-User"}};
    auto const stop = killed.action + "/stop";
    CHECK(post(other, stop, "", "X-Forwarded-User: mallory\r\n").status == 200);
    CHECK(get_json(other, killed.action).json()["state"] == "stopping");
    waits.ended.count_down();
    auto const ended = wait_for_end(other, killed.action);
    CHECK(ended["state"] == "stopped");
    CHECK(ended["name"] == "eve");
    CHECK(ended["stopped_by"] == "mallory");
    // The first program had canceled 20 by then, and not counted all of them.
    CHECK(ended["handled"] >= 10);
    CHECK(ended["handled"] <= count_in(other, "canceled"));
    CHECK(count_in(other, "initial") > 0);
    CHECK(post(other, stop, "").status == 409);
    CHECK(post(other, "/actions/none/stop", "").status == 404);
}

TEST_CASE("console: an action on all does not go on in a log of another name") {
    killed_bank const killed{"renamed", 100, 0, 20};
    testing::ask(killed.file.path(),
                 "UPDATE settle_meta SET value = 'a-copy' WHERE name IN ('log', 'belongs_to')");
    bank_program const again{killed.file.path()};
    auto const before = get_json(again.console(), killed.action).json();
    CHECK(before["state"] == "running");
    CHECK(post(again.console(), killed.action + "/stop", "").json()["state"] == "stopped");
    CHECK(get_json(again.console(), killed.action).json()["handled"] == before["handled"]);
}

TEST_CASE("console: an action on all counts all failures by their reason") {
    constexpr std::uint64_t left = 22;
    bank bank{"failures"};
    for (std::uint64_t number = 0; number < left; ++number)
        bank.leave("t-" + std::to_string(number), settle::step::apply, 1);
    bank.take_accounts_away();
    settle::console const console{bank.engine, {.store_limit = std::chrono::milliseconds{500}}};
    auto const ended = wait_for_end(console, begin(console, "cancel", "state=pending", left));
    CHECK(ended["state"] == "done");
    CHECK(ended["failed"] == left);
    CHECK(ended["failures"].size() == 20);
    REQUIRE(ended["failed_by_reason"].size() == 1);
    auto const reason = ended["failed_by_reason"].items().begin();
    CHECK(reason.key().starts_with("undecided: "));
    CHECK(reason.value() == left);
}

TEST_CASE("console: two consoles of a log have actions at once") {
    constexpr std::size_t submitted = 150;
    bank bank{"two"};
    submit(bank.engine, "a-", submitted);
    submit(bank.engine, "b-", submitted);
    settle::console const console{bank.engine};
    settle::console const other{bank.engine};
    auto const cancel = begin(console, "cancel", "id=a-", submitted);
    auto const recover = begin(other, "recover", "id=b-", submitted);
    CHECK(wait_for_end(other, cancel)["ended"] == nlohmann::json{{"canceled", submitted}});
    CHECK(wait_for_end(console, recover)["handled"] == submitted);
    CHECK(count_in(console, "initial") == 0);
    CHECK(bank.balance("anna") == 0); // of the 150 transfers of 1, 100 are done
    CHECK(bank.balance("bert") == 200);
}

TEST_CASE("console: an action whose console stalls is taken over, and not counted twice") {
    constexpr std::size_t submitted = 100;
    bank bank{"stalled"};
    submit(bank.engine, "t-", submitted);
    stall waits{10};
    settle::console const console{bank.engine, stalls_in(waits)};
    settle::console const other{bank.engine, {.store_limit = short_limit}};
    auto const path = begin(console, "cancel", "state=initial", submitted);
    auto const ended = wait_for_end(other, path);
    waits.ended.count_down();
    CHECK(ended["state"] == "done");
    CHECK(ended["handled"] == submitted);
    CHECK(ended["ended"] == nlohmann::json{{"canceled", submitted}});
    // The first console learns that the action is another's, and leaves it.
    auto const later = post(console, "/entries/cancel", "all=1&dry_run=1");
    CHECK(later.json()["allowed"] == 0);
    CHECK(get_json(console, path).json() == ended);
    CHECK(waits.told == 10);
}

} // namespace console_bank
