// SPDX-License-Identifier: BSL-1.0
// Actions on all that a filter matches: they are kept in the log, go on after a kill, can be
// stopped, and are shared by the consoles of the log.
#include "bank_server.hpp"

#include <forked_child.hpp>

#include <latch>

namespace console_bank {
namespace {

using settle_test::child, settle_test::console_port, settle_test::get_json, settle_test::post;
using settle_test::say, settle_test::wait_for_end, settle_test::wait_for_progress;

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

void submit(auto& engine, std::string const& prefix, std::size_t count) {
    for (std::size_t number = 10'000; number < 10'000 + count; ++number) {
        std::ignore = engine.submit(prefix + std::to_string(number), transfer{"anna", "bert", 1, ""});
    }
}

std::uint64_t count_in(console_port console, std::string const& state) {
    auto const counted =
        post(console, "/entries/cancel", "state=" + state + "&dry_run=1").json()["would"];
    return counted.empty() ? 0 : counted[0]["count"].get<std::uint64_t>();
}

/// A program with a console, which a test kills. The file stays, and the next program has it.
class bank_program {
public:
    explicit bank_program(std::string const& path)
        : process_([&](int to) {
              settle::sqlite::database database{path};
              settle::engine engine{database, settle::type<transfer_type>, settle::phases::two};
              settle::console const console{engine, {.name_header = "X-Forwarded-User"}};
              say(to, std::to_string(console.port()));
              for (;;) ::pause();
          }),
          port_(std::stoi(process_.line())) {}

    [[nodiscard]] console_port console() const { return console_port{port_}; }
    void kill() { process_.kill(); }

private:
    child process_;
    int port_;
};

} // namespace

TEST_CASE("console: an action on all goes on after a kill, and each entry counts once") {
    constexpr std::size_t submitted = 3000;
    constexpr std::size_t left = 60;
    bank_file const file{"killed"};
    child{[&](int to) {
        std::optional<settle::step> last_step;
        settle::sqlite::database database{file.path()};
        settle::engine engine{database, settle::type<transfer_type>, settle::phases::two,
                              settle::observed_by(killer{&last_step})};
        for (auto const* const id : {"anna", "bert"})
            std::ignore = engine.create(accounts, {id, 10'000});
        submit(engine, "submitted/", submitted);
        last_step = settle::step::apply;
        for (std::size_t number = 0; number < left; ++number) {
            try {
                std::ignore = engine.run("left/" + std::to_string(number),
                                         transfer{"anna", "bert", 10, ""});
            } catch (settle::testing::crash const&) {
            }
        }
        say(to, "ready");
    }}.line();

    bank_program first{file.path()};
    auto const path = begin(first.console(), "cancel", "all=1", submitted + left);
    auto const before = wait_for_progress(first.console(), path, 200);
    CHECK(before["state"] == "running");
    first.kill();

    SUBCASE("in the program that is started again") {
        bank_program const again{file.path()};
        auto const ended = wait_for_end(again.console(), path);
        CHECK(ended["state"] == "done");
        CHECK(ended["name"] == "eve");
        CHECK(ended["allowed"] == submitted + left);
        CHECK(ended["handled"] == submitted + left);
        CHECK(ended["ended"] == nlohmann::json{{"canceled", submitted + left}});
        CHECK(ended["failed"] == 0);
        CHECK(count_in(again.console(), "canceled") == submitted + left);
        CHECK(testing::ask(file.path(), "SELECT balance FROM accounts WHERE id = 'anna'") ==
              testing::sql_rows{{"10000"}});
    }
    SUBCASE("as far as it was stopped by then") {
        bank_program const again{file.path()};
        CHECK(post(again.console(), path + "/stop", "").status == 200);
        auto const ended = wait_for_end(again.console(), path);
        CHECK(ended["state"] == "stopped");
        auto const handled = ended["handled"].get<std::uint64_t>();
        CHECK(handled < submitted + left);
        CHECK(handled <= count_in(again.console(), "canceled"));
    }
}

TEST_CASE("console: an action on all is stopped from another console of the log") {
    constexpr std::size_t submitted = 2000;
    bank bank{"stopped"};
    submit(bank.engine, "t-", submitted);
    settle::console const console{bank.engine, {.name_header = "X-Forwarded-User"}};
    settle::console const other{bank.engine, {.name_header = "X-Forwarded-User"}};
    auto const path = begin(console, "cancel", "state=initial", submitted);
    wait_for_progress(console, path, 20);
    CHECK(post(other, path + "/stop", "", "X-Forwarded-User: mallory\r\n").status == 200);
    auto const ended = wait_for_end(other, path);
    CHECK(ended["state"] == "stopped");
    CHECK(ended["stopped_by"] == "mallory");
    auto const handled = ended["handled"].get<std::uint64_t>();
    CHECK(handled >= 20);
    CHECK(handled < submitted);
    CHECK(count_in(console, "canceled") == handled);
    CHECK(count_in(console, "initial") == submitted - handled);
    CHECK(post(console, path + "/stop", "").status == 409);
    CHECK(post(console, "/actions/none/stop", "").status == 404);
}

TEST_CASE("console: two consoles of a log have actions at once") {
    constexpr std::size_t submitted = 300;
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
    CHECK(bank.balance("anna") == 0);
    CHECK(bank.balance("bert") == 200);
}

TEST_CASE("console: an action whose console stalls is taken over, and not counted twice") {
    constexpr std::size_t submitted = 200;
    bank bank{"stalled"};
    submit(bank.engine, "t-", submitted);
    std::latch released{1};
    std::size_t told = 0;
    settle::console_options stalls{.store_limit = std::chrono::milliseconds{200}};
    stalls.audit = [&](settle::console_action const&) {
        if (++told == 10) released.wait();
    };
    settle::console const console{bank.engine, stalls};
    settle::console const other{bank.engine, {.store_limit = std::chrono::milliseconds{200}}};
    auto const path = begin(console, "cancel", "state=initial", submitted);
    auto const ended = wait_for_end(other, path);
    released.count_down();
    CHECK(ended["state"] == "done");
    CHECK(ended["handled"] == submitted);
    CHECK(ended["ended"] == nlohmann::json{{"canceled", submitted}});
    // The first console learns that the action is another's, and leaves it.
    auto const later = post(console, "/entries/cancel", "all=1&dry_run=1");
    CHECK(later.json()["allowed"] == 0);
    CHECK(get_json(console, path).json() == ended);
    CHECK(told < submitted);
}

} // namespace console_bank
