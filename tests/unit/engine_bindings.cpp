// SPDX-License-Identifier: BSL-1.0
// Engines over several databases, and two definitions of one name in one engine.
#include "ended_process.hpp"
#include "engine_shop.hpp"

namespace engine_test {

/// The earlier definition of the transfer: it had a greatest amount.
inline constexpr auto old_transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .require(param<&transfer::amount> <= lit<50>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

/// The same collection with records of another type.
struct note {
    std::string code, text;
};

/// A record whose key is a number, narrower than the parameter that names it.
struct ticket {
    std::int32_t number = 0;
    std::string text;
};
struct issue {
    std::int64_t number = 0;
    std::string text;
};

} // namespace engine_test
BOOST_HANA_ADAPT_STRUCT(engine_test::note, code, text);
BOOST_HANA_ADAPT_STRUCT(engine_test::ticket, number, text);
BOOST_HANA_ADAPT_STRUCT(engine_test::issue, number, text);

namespace engine_test {

inline constexpr settle::collection<note, "items", &note::code> notes;
inline constexpr auto note_type = settle::transaction<drop, "note">(
    settle::participant<"note">(notes, param<&drop::code>).confirm(settle::erase));

inline constexpr settle::collection<ticket, "tickets", &ticket::number> tickets;
inline constexpr auto issue_type = settle::transaction<issue, "issue">(
    settle::participant<"ticket">(tickets, param<&issue::number>)
        .apply(settle::create(field<&ticket::text> = param<&issue::text>))
        .compensate(settle::inverse));

namespace {

TEST_CASE("bindings: records live in two databases, entries in a third") {
    settle::memory::database accounts_at;
    settle::memory::database items_at;
    settle::memory::database log_at;
    std::function<void(settle::event const&)> watch;
    settle::engine engine{settle::log_in(log_at), settle::bind(accounts, accounts_at),
                          settle::bind(items, items_at), settle::type<order_type>,
                          settle::observed_by(hook{watch})};
    open_accounts(engine, {{"A", 100}});
    engine.create(items, item{"pen", 5, "open", {}}).value();

    CHECK(engine.run("t", order{"A", "1", 10, {{"pen", 2}}}).done());
    CHECK(engine.run("u", order{"A", "1", 10, {{"pen", 4}}}).canceled());
    CHECK(balance_of(engine, "A") == 90);
    CHECK(engine.read(items, "pen").value()->stock == 3);
    CHECK(log_at.bind_log().read("t").value());
    CHECK_FALSE(accounts_at.bind_log().read("t").value());
    CHECK_FALSE(items_at.bind_log().read("t").value());

    watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = engine.run("v", order{"A", "1", 10, {{"pen", 1}}}), killed);
    watch = nullptr;
    CHECK(marks_in(engine) == 2);
    CHECK(engine.cancel("v").canceled());
    CHECK(marks_in(engine) == 0);
    CHECK(engine.reverse("t").done());
    CHECK(balance_of(engine, "A") == 100);
    CHECK(engine.read(items, "pen").value()->stock == 5);

    // A store belongs to one log: the sweeper of another log would undo live marks.
    auto const own_log = [&] { settle::engine{accounts_at, settle::type<transfer_type>}; };
    CHECK_THROWS_AS(own_log(), settle::failure);
    try {
        own_log();
    } catch (settle::failure const& refused) {
        CHECK(refused.problem().code == settle::errc::other_log);
    }
    // The same log may have other engines.
    settle::engine second{settle::log_in(log_at), settle::bind(accounts, accounts_at),
                          settle::type<transfer_type>};
    CHECK(second.run(transfer{"A", "A", 1}).done());
}

TEST_CASE("bindings: one database holds the log and all collections not bound elsewhere") {
    settle::memory::database home;
    settle::memory::database warehouse;
    settle::engine engine{home, settle::bind(items, warehouse), settle::type<order_type>};
    open_accounts(engine, {{"A", 100}});
    engine.create(items, item{"pen", 5, "open", {}}).value();
    CHECK(engine.run("t", order{"A", "1", 10, {{"pen", 2}}}).done());
    CHECK(home.bind_log().read("t").value());
    CHECK(engine.read(items, "pen").value()->stock == 3);
}

TEST_CASE("bindings: a collection with other records is refused under the same name") {
    settle::memory::database database;
    settle::engine first{database, settle::type<drop_type>};
    try {
        settle::engine second{database, settle::type<note_type>};
        FAIL("a collection was taken for another");
    } catch (settle::failure const& refused) {
        CHECK(refused.problem().code == settle::errc::unfit_store);
        CHECK(refused.problem().message().find("'items'") != std::string::npos);
    }
}

TEST_CASE("bindings: a key may be a number, and a key out of its range is an overflow") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<issue_type>};
    for (std::int64_t const number : {10, -5, 3}) {
        CHECK(engine.run(std::to_string(number), issue{number, "x"}).done());
    }
    std::vector<std::int32_t> numbers;
    for (ticket const& one : engine.scan(tickets)) numbers.push_back(one.number);
    CHECK(numbers == std::vector<std::int32_t>{-5, 3, 10});
    CHECK(engine.read(tickets, -5).value()->text == "x");
    auto const outcome = engine.run(issue{std::int64_t{1} << 40, "x"});
    CHECK(outcome.verdict == settle::verdict::refused);
    CHECK(outcome.why == reason::overflow);
    CHECK(engine.run(issue{3, "y"}).why == reason::record_exists);
    CHECK(engine.reverse("3").done());
    CHECK_FALSE(engine.read(tickets, 3).value());
    CHECK(marks_in(engine) == 0);
}

TEST_CASE("bindings: a database for one thread has no lock") {
    settle::memory::basic_database<settle::memory::no_lock> database;
    settle::engine engine{database, settle::type<transfer_type>};
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    CHECK(engine.run(transfer{"A", "B", 1}).done());
    CHECK(balance_of(engine, "B") == 1);
}

TEST_CASE("definitions: an old definition drains its entries beside the new one") {
    using old_direction = settle::forward<old_transfer_type>;
    REQUIRE(old_direction::definition() != transfer_direction::definition());
    settle::memory::database database;
    settle::system_environment const world;
    std::string const gone = ended_process::owner();

    settle::engine upgraded{database, settle::type<transfer_type>};
    open_accounts(upgraded, {{"A", 100}, {"B", 0}});
    plant<old_direction>(database, "old", transfer{"A", "B", 30}, gone, world.now());
    plant<transfer_direction>(database, "new", transfer{"A", "B", 60}, gone, world.now());

    auto const left = upgraded.recover();
    CHECK(left.done == 1);
    REQUIRE(left.skipped.size() == 1);
    CHECK(left.skipped[0].id == "old");
    CHECK(left.skipped[0].problem.code == settle::errc::other_definition);
    auto const outcome = upgraded.run("old", transfer{"A", "B", 30});
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.problem.code == settle::errc::other_definition);
    CHECK(upgraded.cancel("old").problem.code == settle::errc::other_definition);

    settle::engine both{database, settle::type<transfer_type>, settle::type<old_transfer_type>};
    CHECK(both.run<transfer_type>("big", transfer{"A", "B", 0}).done());
    CHECK(both.run<old_transfer_type>("small", transfer{"B", "A", 51}).verdict == verdict::refused);
    auto const drained = both.recover();
    CHECK(drained.done == 1);
    CHECK(drained.skipped.empty());
    CHECK(balance_of(both, "A") == 10);
    CHECK(balance_of(both, "B") == 90);
    // A final entry gives the outcome under every definition of the name.
    CHECK(upgraded.run("old", transfer{"A", "B", 30}).done());
    CHECK(both.reverse("old").done());
    CHECK(entry_of(both, "old/reverse").definition ==
          settle::backward<old_transfer_type>::definition());
    CHECK(balance_of(both, "A") == 40);
}

} // namespace
} // namespace engine_test
