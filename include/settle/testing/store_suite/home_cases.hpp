// SPDX-License-Identifier: BSL-1.0
// The store suite: a log that is elsewhere is refused; it was moved, or is closed as a copy.
#pragma once

#include <settle/testing/faults.hpp>
#include <settle/testing/store_suite/engine_cases.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

/// Makes a log look as if it had been copied to where it is. False for a log without a home.
template <typename Database>
bool look_copied(Database& database) {
    auto log = database.bind_log();
    if constexpr (settle::detail::capabilities<decltype(log)>.keeps_home) {
        static_cast<void>(suite_engine(database)); // keeps the home
        auto const seen = database.bind_log().home().value();
        CHECK(seen.is_same);
        CHECK(seen.kept == seen.present);
        if (seen.present.empty()) return false;
        auto before = seen;
        before.present = "elsewhere";
        REQUIRE(database.bind_log().take_home(before, false).has_value());
        auto const now = database.bind_log().home().value();
        CHECK(now.kept == "elsewhere");
        CHECK(now.present == seen.present);
        CHECK_FALSE(now.is_same);
        return true;
    } else {
        return false;
    }
}

/// Where a log is now; empty if it has no home.
template <typename Database>
std::string present_home(Database& database) {
    auto log = database.bind_log();
    if constexpr (settle::detail::capabilities<decltype(log)>.keeps_home)
        return log.home().value().present;
    else return {};
}

/// Builds an engine, which is refused, and returns the error.
template <typename Database>
error refusal_of_engine(Database& database) {
    try {
        static_cast<void>(suite_engine(database));
    } catch (failure const& refused) {
        return refused.problem();
    }
    return {};
}

template <typename Database>
recovery_report close_copy(Database& database) {
    return close_copied_log(database, type<move_type>, type<order_type>, type<rewrite_type>,
                            type<issue_type>, type<tally_type>);
}

/// An unfinished entry of every state, and the marks of its parts. `C` has the money of all.
template <typename Database>
void leave_everything_open(Database& database) {
    bench<Database> bench{database};
    for (char const* const id : {"A", "B", "C", "D"}) bench.create(ledgers, {id, 100, 0, "old"});
    bench.create(shelves, {1, 10});
    bench.create(cards, plain_card());
    auto log = database.bind_log();
    auto const entry_of = [&] < auto const & Type > (type_tag<Type>, std::string id,
                                                     auto parameters, epoch number) {
        suite_entry writer{log, test_transaction::of<forward<Type>>(id, parameters)};
        REQUIRE(writer.insert(state::pending, number, 0, "gone") == log_answer::taken);
        REQUIRE(bench.template apply<Type>(id, parameters, number).find("busy") ==
                std::string::npos);
        return writer;
    };
    suite_entry submitted{log, test_transaction::of<forward<move_type>>("initial", usual_move())};
    REQUIRE(submitted.insert(state::initial, 5, 0, "gone") == log_answer::taken);
    entry_of(type<order_type>, "pending", order{"A", 30, {{1, 4}, {1, 2}}}, 11);
    auto applied = entry_of(type<move_type>, "applied", move{"C", "B", 20}, 12);
    // Late writes: under an earlier epoch, and of a transaction that has no entry.
    REQUIRE(bench.template apply<move_type>("applied", {"D", "A", 7}, 3) == "applied, applied");
    REQUIRE(bench.template apply<move_type>("nobody", {"D", "B", 7}, 4) == "applied, applied");
    REQUIRE(applied.commit(1, "gone") == log_answer::taken);
    auto canceling =
        entry_of(type<rewrite_type>, "canceling", rewrite{plain_card(), other_card()}, 13);
    REQUIRE(canceling.cancel(1, "gone", reason::guard_failed, 0) == log_answer::taken);
    auto deciding = entry_of(type<move_type>, "deciding", move{"A", "D", 9}, 14);
    transition keeps = keep_of(deciding.view());
    keeps.to = state::deciding;
    REQUIRE(write_one(log, deciding.transaction(), deciding.transaction().change(step::keep, keeps),
                      at_millisecond(2), "gone")
                .reply == log_answer::taken);
    auto ended = entry_of(type<move_type>, "done", move{"A", "B", 1}, 15);
    REQUIRE(ended.commit(1, "gone") == log_answer::taken);
    REQUIRE(bench.template confirm<move_type>("done", {"A", "B", 1}, 15) == "applied, applied");
    REQUIRE(ended.close(2, "gone") == log_answer::taken);
    bench.check();
}

/// Checks that everything is closed, and each record holds what the committed transactions give.
template <typename Database>
void check_closed(Database& database) {
    auto log = database.bind_log();
    auto const shown = [&](char const* id) {
        auto const found = log.read(id).value().value();
        return std::string{name_of(found.state)} + ": " + std::string{name_of(found.why)};
    };
    CHECK(shown("initial") == "canceled: closed in a copy of the log");
    CHECK(shown("pending") == "canceled: closed in a copy of the log");
    CHECK(shown("canceling") == "canceled: closed in a copy of the log");
    CHECK(shown("applied") == "done: closed in a copy of the log");
    CHECK(shown("deciding") == "canceled: closed in a copy of the log, its pivot undecided");
    CHECK(shown("done") == "done: none");
    auto engine = suite_engine(database);
    CHECK(engine.marks().value() == 0);
    auto const balance = [&](char const* id) { return engine.at(ledgers, id).balance; };
    CHECK(balance("A") == 99);
    CHECK(balance("B") == 121);
    CHECK(balance("C") == 80);
    CHECK(balance("D") == 100);
    CHECK(engine.at(shelves, 1).amount == 10);
    CHECK(encode_json(engine.at(cards, "c")) == encode_json(plain_card()));
    CHECK(engine.recover({.older_than = std::chrono::seconds{0}}).done == 0);
}

TEST_CASE_TEMPLATE_DEFINE("home: a log that is elsewhere is refused, and was moved", Fixture,
                          suite_moved) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto const name = database.bind_log().name();
    if (!look_copied(database)) return;
    auto const refused = refusal_of_engine(database);
    CHECK(refused.code == errc::other_home);
    for (std::string const& part :
         {"settle: the log '" + name + "' is a copy, or it was moved",
          "it was at 'elsewhere', and now it is at '" + present_home(database) + "'",
          std::string{"settle::accept_moved_log"}, std::string{"settle::close_copied_log"}}) {
        CHECK_MESSAGE(refused.text.find(part) != std::string::npos, refused.text, " lacks ", part);
    }
    // A store that the log of a copy is bound with would belong to it.
    auto& second = fixture.second_database();
    try {
        engine const apart{log_in(database), bind(ledgers, second), type<move_type>};
        FAIL("a log that is elsewhere was accepted");
    } catch (failure const& problem) {
        CHECK(problem.problem().code == errc::other_home);
    }
    CHECK_NOTHROW(static_cast<void>(second.template bind<ledgers_type>(second.bind_log().name())));

    CHECK(accept_moved_log(database).has_value());
    CHECK(accept_moved_log(database).has_value());
    auto& again = fixture.reopened();
    auto engine = suite_engine(again);
    open_suite_records(engine);
    CHECK(again.bind_log().name() == name);
    CHECK(engine.run("t", move{"A", "B", 1}).done());
    // What is at home is no copy, and stays as it is.
    CHECK(close_copy(again).problem.empty());
    CHECK(again.bind_log().name() == name);
}

TEST_CASE_TEMPLATE_DEFINE("home: a copy is closed, and gets a new name", Fixture, suite_copied) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto const name = database.bind_log().name();
    leave_everything_open(database);
    if (!look_copied(database)) return;
    CHECK(database.bind_log().read("pending").value()->state == state::pending);
    auto const report = close_copy(database);
    CHECK(report.problem.text.empty());
    CHECK(report.skipped.empty());
    CHECK(report.canceled == 4);
    CHECK(report.done == 1);
    auto& again = fixture.reopened();
    CHECK(again.bind_log().name() != name);
    CHECK_THROWS_AS(static_cast<void>(again.template bind<ledgers_type>(name)), failure);
    check_closed(again);
    auto const second = close_copy(again);
    CHECK(second.problem.empty());
    CHECK(second.canceled + second.done == 0);
    // A copy of the copy is closed as well.
    auto const renamed = again.bind_log().name();
    REQUIRE(look_copied(again));
    CHECK(close_copy(again).problem.empty());
    CHECK(again.bind_log().name() != renamed);
    check_closed(again);
}

TEST_CASE_TEMPLATE_DEFINE("home: closing a copy can be interrupted at every call", Fixture,
                          suite_copied_in_steps) {
    Fixture fixture;
    auto& copied = fixture.database_here();
    leave_everything_open(copied);
    if (!look_copied(copied)) return;
    recovery_report report;
    for (std::size_t number = 1;; ++number) {
        REQUIRE(number < 1000);
        faulty<typename Fixture::database> database{copied};
        auto const kind = number % 2 == 0 ? fault_kind::crash_after : fault_kind::crash_before;
        database.plan(fault_at((number + 1) / 2, kind));
        try {
            report = close_copy(database);
            break;
        } catch (crash const&) {
            auto const refused = refusal_of_engine(copied);
            CHECK(refused.code == errc::other_home);
            // At first the types are looked at, and nothing is closed.
            if (refused.text.find("is a copy, or it was moved") != std::string::npos) continue;
            CHECK_MESSAGE(refused.text.find("is a copy that is being closed, and was at elsewhere. "
                                            "Call settle::close_copied_log again") !=
                              std::string::npos,
                          refused.text);
            // A part of it is closed, so it was not moved.
            CHECK(accept_moved_log(copied).problem().code == errc::other_home);
        }
    }
    CHECK(report.problem.text.empty());
    check_closed(copied);
}

TEST_CASE_TEMPLATE_DEFINE("home: a copy whose types are not all named stays a copy", Fixture,
                          suite_copied_without_type) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto const name = database.bind_log().name();
    leave_everything_open(database);
    if (!look_copied(database)) return;
    auto const report = close_copied_log(database, type<move_type>, type<rewrite_type>);
    CHECK(report.problem.code == errc::other_home);
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped[0].id == "pending");
    CHECK(report.skipped[0].problem.code == errc::unknown_type);
    CHECK(database.bind_log().name() == name);
    // Nothing was begun, so it may still have been moved.
    CHECK(refusal_of_engine(database).text.find("is a copy, or it was moved") != std::string::npos);
    CHECK(close_copy(database).problem.empty());
    check_closed(database);
}

} // namespace testing
SETTLE_END
#endif
