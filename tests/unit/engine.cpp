// SPDX-License-Identifier: BSL-1.0
// The engine as its user sees it: run, ids, submit and work, cancel, looking, refusals.
#include "engine_types.hpp"

#include <settle/testing/faults.hpp>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <sstream>
#include <tuple>
#include <unordered_set>

namespace engine_test {
namespace {

struct bank {
    settle::memory::database database;
    world_state world;
    std::function<void(settle::event const&)> watch;
    settle::engine<settle::memory::database, settle::type_tag<transfer_type>,
                   settle::environment_binding<manual_environment>, settle::observer_binding<hook>>
        engine{database, settle::type<transfer_type>,
               settle::with_environment(manual_environment{world}),
               settle::observed_by(hook{watch})};

    bank() { open_accounts(engine, {{"A", 100}, {"B", 0}, {"C", 50}}); }
};

TEST_CASE("engine: a transaction runs to its end and reports it") {
    bank b;
    auto const outcome = b.engine.run("t1", transfer{"A", "B", 30});
    CHECK(outcome.done());
    CHECK(outcome.id == "t1");
    CHECK(outcome.why == reason::none);
    CHECK(outcome.problem.empty());
    CHECK(outcome.text() == "t1: done");
    CHECK(balance_of(b.engine, "A") == 70);
    CHECK(balance_of(b.engine, "B") == 30);
    CHECK(marks_in(b.engine) == 0);
    auto const kept = entry_of(b.engine, "t1");
    CHECK(kept.state == state::done);
    CHECK(kept.type == "transfer");
    CHECK(kept.parameters == R"({"source":"A","destination":"B","amount":30})");
    CHECK(kept.epoch_number > 0);
    CHECK(kept.committed == kept.epoch_number);
    CHECK(kept.owner == b.engine.owner());
    CHECK(kept.created == b.world.time);
    CHECK(kept.attempts == 0);
    CHECK(kept.why == reason::none);
}

TEST_CASE("engine: it draws a new id for each call without an id") {
    bank b;
    auto const first = b.engine.run(transfer{"A", "B", 1});
    b.world.time += std::chrono::milliseconds{1};
    auto const second = b.engine.run(transfer{"A", "B", 1});
    CHECK(first.done());
    CHECK(second.done());
    CHECK(first.id.size() == 15);
    CHECK(first.id < second.id);
    CHECK(balance_of(b.engine, "B") == 2);
}

TEST_CASE("engine: two calls that draw the same id are two transactions") {
    bank b;
    auto const first = b.engine.run(transfer{"A", "B", 1});
    b.world.drawn = 0;
    auto const second = b.engine.run(transfer{"A", "B", 1});
    CHECK(second.done());
    CHECK(second.id != first.id);
    CHECK(balance_of(b.engine, "B") == 2);
    b.world.drawn = 0;
    auto const third = b.engine.submit(transfer{"A", "B", 1});
    CHECK(third.verdict == verdict::undecided);
    CHECK(third.problem.empty());
    CHECK(b.engine.work().done == 1);
    CHECK(balance_of(b.engine, "B") == 3);
}

TEST_CASE("engine: a refusal names the participant") {
    bank b;
    auto const poor = b.engine.run("poor", transfer{"A", "B", 101});
    CHECK(poor.canceled());
    CHECK(poor.why == reason::guard_failed);
    CHECK(poor.participant == "source");
    CHECK_FALSE(poor.line);
    CHECK(poor.text() == "poor: canceled (source: guard failed)");
    auto const missing = b.engine.run("missing", transfer{"A", "nobody", 1});
    CHECK(missing.canceled());
    CHECK(missing.why == reason::record_missing);
    CHECK(missing.participant == "destination");
    // Where several parts fail, the first in the definition is named.
    auto const both = b.engine.run("both", transfer{"nobody", "no one", 1});
    CHECK(both.participant == "source");
    CHECK(both.why == reason::record_missing);
    CHECK(balance_of(b.engine, "A") == 100);
    CHECK(marks_in(b.engine) == 0);
    auto const kept = entry_of(b.engine, "poor");
    CHECK(kept.state == state::canceled);
    CHECK(kept.why == reason::guard_failed);
    CHECK(kept.participant == "source");
}

TEST_CASE("engine: the same id and parameters give the same outcome and no second effect") {
    bank b;
    auto const first = b.engine.run("t", transfer{"A", "B", 60});
    CHECK(b.engine.run("t", transfer{"A", "B", 60}) == first);
    CHECK(b.engine.submit("t", transfer{"A", "B", 60}) == first);
    CHECK(balance_of(b.engine, "A") == 40);
    auto const refused = b.engine.run("u", transfer{"A", "B", 60});
    CHECK(refused.canceled());
    CHECK(b.engine.run("more", transfer{"C", "A", 50}).done());
    // It would pass now, and still its outcome stands.
    CHECK(b.engine.run("u", transfer{"A", "B", 60}) == refused);
    CHECK(balance_of(b.engine, "A") == 90);
    // The age does not matter.
    b.world.time += std::chrono::hours{24 * 400};
    CHECK(b.engine.run("t", transfer{"A", "B", 60}) == first);
}

TEST_CASE("engine: an id of another transaction is refused") {
    bank b;
    REQUIRE(b.engine.run("t", transfer{"A", "B", 10}).done());
    for (transfer const& other : {transfer{"A", "B", 11}, transfer{"A", "C", 10}}) {
        auto const outcome = b.engine.run("t", other);
        CHECK(outcome.verdict == verdict::refused);
        CHECK(outcome.problem.code == settle::errc::id_in_use);
        CHECK(outcome.id == "t");
    }
    CHECK(b.engine.submit("t", transfer{"A", "B", 11}).problem.code == settle::errc::id_in_use);
    CHECK(balance_of(b.engine, "A") == 90);
}

TEST_CASE("engine: ids and texts that no log could keep are refused before anything is written") {
    bank b;
    for (std::string const& id :
         {std::string{}, std::string(201, 'x'), std::string{"\xc3"}, std::string{"a\0b", 3},
          std::string{"t/reverse"}, std::string{"t/reverse/2"}}) {
        auto const outcome = b.engine.run(id, transfer{"A", "B", 1});
        CHECK(outcome.verdict == verdict::refused);
        CHECK(outcome.problem.code == settle::errc::bad_text);
        CHECK(b.engine.submit(id, transfer{"A", "B", 1}).verdict == verdict::refused);
        CHECK_FALSE(b.engine.find(id).value());
    }
    auto const outcome = b.engine.run("t", transfer{"A", "\xff", 1});
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.problem.code == settle::errc::bad_text);
    CHECK(outcome.problem.message().find("destination") != std::string::npos);
    CHECK_FALSE(b.engine.find("t").value());
    CHECK(b.engine.create(accounts, account{"\xff", 1}).problem().code == settle::errc::bad_text);
    std::string const longest(200, 'x');
    CHECK(b.engine.run(longest, transfer{"A", "B", 1}).done());
    CHECK(b.engine.reverse(longest).done());
}

TEST_CASE("engine: an amount below zero is refused before anything is written") {
    bank b;
    auto const outcome = b.engine.run("t", transfer{"A", "B", -1});
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.why == reason::guard_failed);
    CHECK(outcome.participant == "source");
    CHECK(outcome.problem.code == settle::errc::bad_parameters);
    CHECK_FALSE(b.engine.find("t").value());
    CHECK(b.engine.run("t", transfer{"A", "B", 0}).done());
}

TEST_CASE("engine: a transfer may debit and credit the same record") {
    bank b;
    CHECK(b.engine.run("t", transfer{"A", "A", 100}).done());
    CHECK(balance_of(b.engine, "A") == 100);
    CHECK(b.engine.run("u", transfer{"A", "A", 101}).why == reason::guard_failed);
    CHECK(marks_in(b.engine) == 0);
}

TEST_CASE("engine: an overflow cancels the transaction and never wraps") {
    bank b;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    open_accounts(b.engine, {{"rich", most}});
    auto const outcome = b.engine.run("t", transfer{"A", "rich", 1});
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::overflow);
    CHECK(outcome.participant == "destination");
    CHECK(balance_of(b.engine, "A") == 100);
    CHECK(balance_of(b.engine, "rich") == most);
}

TEST_CASE("engine: outcomes print, compare and hash") {
    bank b;
    auto const done = b.engine.run("t", transfer{"A", "B", 1});
    auto const canceled = b.engine.run("u", transfer{"A", "B", 1000});
    auto const refused = b.engine.run("v", transfer{"A", "B", -1});
    std::ostringstream out;
    out << done << '\n' << canceled << '\n' << refused;
    CHECK(out.str().find("t: done\nu: canceled (source: guard failed)\n"
                         "v: refused (source: guard failed): settle: ") == 0);
    std::unordered_set<settle::outcome> const kept{done, canceled, refused, done};
    CHECK(kept.size() == 3);
    CHECK(kept.count(b.engine.run("u", transfer{"A", "B", 1000})) == 1);
    settle::outcome line{"t", verdict::canceled, reason::busy, "stock", 0, {}};
    CHECK(line.text() == "t: canceled (stock line 1: busy)");
    auto other = line;
    other.line = 1;
    CHECK_FALSE(other == line);
    CHECK(std::hash<settle::outcome>{}(other) != std::hash<settle::outcome>{}(line));
    other.line.reset();
    CHECK(std::hash<settle::outcome>{}(other) != std::hash<settle::outcome>{}(line));
}

TEST_CASE("engine: work() runs submitted transactions in the order of their ids") {
    bank b;
    auto const outcome = b.engine.submit("b", transfer{"A", "B", 80});
    CHECK(outcome.verdict == verdict::undecided);
    CHECK(outcome.problem.empty());
    CHECK(b.engine.submit("b", transfer{"A", "B", 80}) == outcome);
    CHECK(b.engine.submit("a", transfer{"A", "C", 60}).problem.empty());
    CHECK(b.engine.submit("c", transfer{"A", "B", 40}).problem.empty());
    CHECK(balance_of(b.engine, "A") == 100);
    CHECK(entry_of(b.engine, "b").state == state::initial);

    settle::work_options options;
    options.limit = 1;
    auto const first = b.engine.work(options);
    CHECK(first.done == 1);
    CHECK(first.canceled == 0);
    CHECK(entry_of(b.engine, "a").state == state::done);
    CHECK(entry_of(b.engine, "b").state == state::initial);
    auto const rest = b.engine.work();
    CHECK(rest.done == 1);
    CHECK(rest.canceled == 1);
    CHECK(rest.problem.empty());
    CHECK(rest.skipped.empty());
    CHECK(balance_of(b.engine, "A") == 0);
    CHECK(balance_of(b.engine, "B") == 40);
    auto const nothing_left = b.engine.work();
    CHECK(nothing_left.done + nothing_left.canceled == 0);
    CHECK(entry_of(b.engine, "a").attempts == 1);
}

TEST_CASE("engine: run() runs a submitted transaction of the same id") {
    bank b;
    CHECK(b.engine.submit("t", transfer{"A", "B", 5}).problem.empty());
    CHECK(b.engine.run("t", transfer{"A", "B", 5}).done());
    CHECK(b.world.pauses == 0);
    CHECK(balance_of(b.engine, "B") == 5);
}

TEST_CASE("engine: recovery does not touch submitted transactions") {
    bank b;
    CHECK(b.engine.submit("t", transfer{"A", "B", 5}).problem.empty());
    b.world.time += std::chrono::hours{24};
    auto const report = b.engine.recover();
    CHECK(report.done + report.canceled + report.undecided + report.elsewhere == 0);
    CHECK(entry_of(b.engine, "t").state == state::initial);
}

TEST_CASE("engine: a submitted transaction that is too old is canceled") {
    bank b;
    CHECK(b.engine.submit("t", transfer{"A", "B", 5}).problem.empty());
    b.world.time += b.engine.limits().lifetime + std::chrono::milliseconds{1};
    CHECK(b.engine.work().canceled == 1);
    CHECK(entry_of(b.engine, "t").why == reason::expired);
    CHECK(balance_of(b.engine, "A") == 100);
}

TEST_CASE("engine: run() checks the lifetime again after the insert is acknowledged") {
    settle::memory::database database;
    // Unlike a log in memory, a log that can fail may be slow.
    settle::testing::faulty slow{database};
    world_state world;
    settle::engine engine{slow, settle::with_environment(manual_environment{world}),
                          settle::type<transfer_type>, settle::early_entries};
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    // The machine slept between the entry's birth and the answer of the log.
    slow.plan([&](settle::testing::call const& call) {
        if (call.what == "insert") {
            world.time += engine.limits().lifetime + std::chrono::milliseconds{1};
        }
        return settle::testing::fault{};
    });
    auto const outcome = engine.run("t", transfer{"A", "B", 5});
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::expired);
    CHECK(balance_of(engine, "A") == 100);
    CHECK(marks_in(engine) == 0);
}

TEST_CASE("engine: cancel() ends a transaction before its commit") {
    bank b;
    SUBCASE("a submitted transaction never runs") {
        CHECK(b.engine.submit("t", transfer{"A", "B", 5}).problem.empty());
        auto const outcome = b.engine.cancel("t");
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::cancel_asked);
        CHECK(b.engine.work().done == 0);
        CHECK(b.engine.run("t", transfer{"A", "B", 5}) == outcome);
        CHECK(b.engine.cancel("t") == outcome);
    }
    SUBCASE("a done transaction stays done") {
        REQUIRE(b.engine.run("t", transfer{"A", "B", 5}).done());
        CHECK(b.engine.cancel("t").done());
        CHECK(balance_of(b.engine, "B") == 5);
        CHECK(entry_of(b.engine, "t").why == reason::none);
    }
    SUBCASE("an unknown id is refused, unless the caller allows it") {
        auto const refused = b.engine.cancel("t");
        CHECK(refused.verdict == verdict::refused);
        CHECK(refused.problem.code == settle::errc::unknown_id);
        CHECK_FALSE(b.engine.find("t").value());
        settle::cancel_options even;
        even.even_if_unknown = true;
        auto const outcome = b.engine.cancel("t", even);
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::cancel_asked);
        CHECK(entry_of(b.engine, "t").type.empty());
        // The tombstone matches any parameters, and none of them ever run.
        CHECK(b.engine.run("t", transfer{"A", "B", 5}).why == reason::cancel_asked);
        CHECK(b.engine.submit("t", transfer{"A", "C", 7}).canceled());
        CHECK(b.engine.cancel("t", even) == outcome);
        CHECK(balance_of(b.engine, "A") == 100);
        CHECK(b.engine.cancel("t/reverse", even).verdict == verdict::refused);
        CHECK(b.engine.cancel("", even).verdict == verdict::refused);
    }
    SUBCASE("a transaction that another worker runs is canceled") {
        b.watch = [&](settle::event const& seen) {
            if (seen.taken != settle::step::apply) return;
            b.watch = nullptr;
            CHECK(b.engine.cancel("t").canceled());
            // It compensated all marks; the owner does not know yet.
            CHECK(marks_in(b.engine) == 0);
        };
        auto const outcome = b.engine.run("t", transfer{"A", "B", 5});
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::cancel_asked);
        CHECK(balance_of(b.engine, "A") == 100);
        CHECK(marks_in(b.engine) == 0);
    }
    SUBCASE("an id inserted during its cancel is canceled with its marks") {
        b.watch = [&](settle::event const& seen) {
            if (seen.taken != settle::step::read) return;
            // The id was unknown; now another worker inserts it, applies, and is killed.
            b.watch = kill_after(settle::step::apply);
            CHECK_THROWS_AS(std::ignore = b.engine.run("t", transfer{"A", "B", 5}), killed);
            b.watch = nullptr;
            CHECK(marks_in(b.engine) == 2);
        };
        settle::cancel_options even;
        even.even_if_unknown = true;
        CHECK(b.engine.cancel("t", even).canceled());
        CHECK(marks_in(b.engine) == 0);
        CHECK(balance_of(b.engine, "A") == 100);
    }
}

TEST_CASE("engine: entries are listed lazily in the order of their ids") {
    bank b;
    for (int i = 0; i < 600; ++i) {
        std::string id = std::to_string(1000 + i);
        std::ignore = b.engine.run(std::move(id), transfer{"A", "B", i % 3 == 0 ? 1000 : 0});
    }
    auto const id_of = [](settle::entry const& entry) { return entry.id; };
    auto const ids = b.engine.list() | ranges::views::transform(id_of) | ranges::to<std::vector>();
    CHECK(ids.size() == 600);
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    CHECK(ids.front() == "1000");
    CHECK(ids.back() == "1599");

    auto const first = b.engine.list() | ranges::views::take(3) | ranges::views::transform(id_of) |
                       ranges::to<std::vector>();
    CHECK(first == std::vector<std::string>{"1000", "1001", "1002"});
    auto const ends_in_seven = [](settle::entry const& entry) { return entry.id.back() == '7'; };
    auto const sevens =
        b.engine.list() | ranges::views::filter(ends_in_seven) | ranges::to<std::vector>();
    CHECK(sevens.size() == 60);

    settle::entry_filter canceled;
    canceled.state = state::canceled;
    CHECK(ranges::distance(b.engine.list(canceled)) == 200);
    for (std::size_t const limit :
         {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{257},
          std::size_t{600}, std::size_t{601}}) {
        CAPTURE(limit);
        CHECK(ranges::distance(b.engine.list({}, limit)) ==
              static_cast<std::ptrdiff_t>(std::min(limit, std::size_t{600})));
    }
    // A listing can be begun again: it looks anew.
    auto listing = b.engine.list({}, 10);
    CHECK(ranges::distance(listing) == 10);
    CHECK(ranges::distance(listing) == 10);

    CHECK(ranges::distance(b.engine.list(state::done, std::chrono::minutes{1})) == 0);
    b.world.time += std::chrono::minutes{1};
    CHECK(ranges::distance(b.engine.list(state::done, std::chrono::minutes{1})) == 400);
    CHECK(b.engine.page({}, "1002", 2).value()[1].id == "1004");
}

TEST_CASE("engine: records are read, created and scanned") {
    bank b;
    CHECK_FALSE(b.engine.read(accounts, "nobody").value());
    auto const again = b.engine.create(accounts, account{"A", 5});
    CHECK_FALSE(again.has_value());
    CHECK(again.problem().code == settle::errc::record_exists);
    CHECK(balance_of(b.engine, "A") == 100);
    for (int i = 0; i < 700; ++i) {
        b.engine.create(accounts, account{"x" + std::to_string(1000 + i), 1}).value();
    }
    auto const ids = b.engine.scan(accounts) |
                     ranges::views::transform([](account const& account) { return account.id; }) |
                     ranges::to<std::vector>();
    CHECK(ids.size() == 703);
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    auto const some =
        b.engine.scan(accounts) |
        ranges::views::filter([](account const& account) { return account.balance > 1; }) |
        ranges::views::take(1) | ranges::to<std::vector>();
    REQUIRE(some.size() == 1);
    CHECK(some[0].id == "A");
}

} // namespace
} // namespace engine_test
