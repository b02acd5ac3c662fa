// SPDX-License-Identifier: BSL-1.0
// Prepared parts through the engine: run, refused, lost, late, canceled, interrupted, recovered.
#include "prepared_banks.hpp"

namespace prepared_test {

TEST_CASE("prepared: a part is prepared, and committed after the commit of its entry") {
    banks banks;
    auto engine = banks.make();
    auto const outcome = engine.run("t", usual);
    CHECK(outcome.done());
    CHECK(banks.steps == "insert apply commit confirm close end ");
    banks.moved(30);
    CHECK(banks.works == 1);
    auto const text = banks.name_of_payee("t", 0).of.text();
    REQUIRE(banks.books.receipts.contains(text));
    CHECK(banks.books.receipts.at(text).epoch_number == entry_of(engine, "t").committed);
}

TEST_CASE("prepared: work that refuses cancels its transaction") {
    banks banks;
    auto engine = banks.make();
    auto const outcome = engine.run("t", payment{"A", "nobody", 30});
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::refused);
    CHECK(outcome.participant == "payee");
    CHECK(outcome.problem.code == errc::work_refused);
    CHECK(outcome.problem.text ==
          "settle: the work of 'payee' in 'ledger' was refused: no account nobody. See "
          "errors#errors");
    CHECK(entry_of(engine, "t").why_text == outcome.problem.text);
    CHECK(banks.make().run("t", payment{"A", "nobody", 30}) == outcome);
    CHECK(engine.cancel("t") == outcome);
    banks.moved(0);
    // The cancel denies a late copy of the prepare.
    CHECK(banks.books.receipts.at(banks.name_of_payee("t", 0).of.text()).epoch_number == 0);
}

TEST_CASE("prepared: a guard of a record rolls the prepared part back") {
    banks banks;
    auto engine = banks.make();
    auto const outcome = engine.run("t", payment{"A", "X", 101});
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::guard_failed);
    banks.moved(0);
}

TEST_CASE("prepared: a worker that is killed at any step leaves all or nothing") {
    using settle::step;
    for (auto const last : {step::insert, step::apply, step::commit, step::confirm, step::close}) {
        banks banks;
        banks.watch = kill_after(last);
        auto first = banks.make();
        CHECK_THROWS_AS(std::ignore = first.run("t", usual), killed);
        banks.watch = nullptr;
        CAPTURE(name_of(last));
        bool const doubts = last == step::apply || last == step::commit;
        CHECK(banks.books.names().size() == (doubts ? 1 : 0));
        SUBCASE("recovered") {
            auto engine = banks.make();
            auto const report = engine.recover(of_any_age());
            CHECK(report.problem.empty());
            CHECK(entry_of(engine, "t").state == state::done);
            banks.moved(30);
            CHECK(banks.books.prepares == (last == step::apply ? 2 : 1));
        }
        SUBCASE("canceled") {
            auto engine = banks.make();
            bool const early = last == step::insert || last == step::apply;
            std::ignore = engine.cancel("t");
            std::ignore = engine.recover(of_any_age());
            CHECK(entry_of(engine, "t").state == (early ? state::canceled : state::done));
            banks.moved(early ? 0 : 30);
        }
    }
}

TEST_CASE("prepared: each lost or failing answer is settled") {
    struct story {
        std::string_view operation;
        bool cancels;
    };
    for (auto const what : {fault::lost, fault::unavailable}) {
        for (story const& one :
             {story{"prepare", false}, story{"commit", false}, story{"list", false},
              story{"roll back", true}, story{"deny", true}, story{"list", true}}) {
            banks banks;
            auto engine = banks.make();
            if (one.cancels) {
                banks.watch = kill_after(settle::step::apply);
                CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
                banks.watch = nullptr;
            }
            int strikes = 0;
            banks.books.disturb = [&, once = disturbs(one.operation, what)](
                                      std::string_view operation, std::string const& name) mutable {
                auto const given = once(operation, name);
                strikes += given == fault::none ? 0 : 1;
                return given;
            };
            CAPTURE(one.operation);
            if (one.cancels) CHECK(engine.cancel("t").canceled());
            else CHECK(engine.run("t", usual).done());
            CHECK(strikes == 1);
            banks.moved(one.cancels ? 0 : 30);
        }
    }
}

TEST_CASE("prepared: an unknown prepare is repeated under a new epoch only") {
    banks banks;
    auto engine = banks.make();
    banks.books.disturb = disturbs("prepare", fault::lost);
    CHECK(engine.run("t", usual).done());
    CHECK(banks.steps == "insert apply claim pause apply commit confirm close end ");
    CHECK(banks.works == 2);
    banks.moved(30);
}

TEST_CASE("prepared: a late prepare has no effect") {
    banks banks;
    banks.books.disturb = disturbs("prepare", fault::late);
    auto engine = banks.make();
    SUBCASE("after the commit") {
        CHECK(engine.run("t", usual).done());
        CHECK_FALSE(banks.books.land());
        banks.moved(30);
    }
    SUBCASE("after the cancel") {
        banks.watch = kill_after(settle::step::apply);
        CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
        banks.watch = nullptr;
        CHECK(engine.cancel("t").canceled());
        CHECK_FALSE(banks.books.land());
        banks.moved(0);
    }
    SUBCASE("after a cancel whose receipts are gone: a sweep rolls it back") {
        banks.watch = kill_after(settle::step::apply);
        CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
        banks.watch = nullptr;
        CHECK(engine.cancel("t").canceled());
        banks.books.receipts.clear();
        CHECK(banks.books.land());
        CHECK(engine.sweep().undone == 1);
        banks.moved(0);
    }
    SUBCASE("between a claim and the next prepare: the worker backs off and rolls it back") {
        bool landed = false;
        banks.books.disturb = [&, first = true](std::string_view operation,
                                                std::string const&) mutable {
            if (operation != "prepare" || !std::exchange(first, false)) return fault::none;
            return fault::late;
        };
        banks.watch = [&](settle::event const& seen) {
            if (seen.taken == settle::step::claim && !std::exchange(landed, true)) {
                CHECK(banks.books.land());
            }
        };
        CHECK(engine.run("t", usual).done());
        CHECK(landed);
        banks.watch = nullptr;
        banks.moved(30);
    }
}

TEST_CASE("prepared: a prepare that lands after the look for lower names makes its part busy") {
    banks banks;
    auto engine = banks.make();
    int prepares = 0;
    banks.books.disturb = [&](std::string_view operation, std::string const&) {
        if (operation != "prepare") return fault::none;
        if (++prepares == 2) CHECK(banks.books.land());
        return prepares == 1 ? fault::late : fault::none;
    };
    CHECK(engine.run("t", usual).done());
    CHECK(banks.steps == "insert apply claim pause apply back off claim pause apply commit confirm "
                         "close end ");
    CHECK(prepares == 3);
    banks.moved(30);
}

TEST_CASE("prepared: a sweep ends only stray names of its own log") {
    banks banks;
    auto engine = banks.make();
    auto const log = banks.records.name();
    banks.watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = engine.run("pending", usual), killed);
    banks.watch = nullptr;
    auto const own = banks.books.names();
    REQUIRE(own.size() == 1);
    std::vector<std::string> const foreign{"another program's", "settle/other/1.0/x/5",
                                           "settle/" + log + "s/1.0/x/5", "settle",
                                           "settle/" + log + "/not a name"};
    for (auto const& name : foreign) banks.books.prepare_by_hand(name, "Y " + name, 1);
    banks.books.prepare_by_hand(banks.name_of_payee("unlogged", 7).text(), "Y", 1);
    auto const report = engine.sweep();
    CHECK(report.problem.empty());
    CHECK(report.looked_at == 4); // the payer's mark, too
    CHECK(report.undone == 1);
    CHECK(report.tombstones == 1);
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped[0].problem.code == errc::damaged);
    CHECK(entry_of(engine, "unlogged").why == reason::mark_without_entry);
    auto const left = banks.books.names();
    CHECK(left.size() == foreign.size() + 1);
    for (auto const& name : foreign) CHECK(banks.books.roll_back_by_hand(name));
    CHECK(banks.books.names() == own);
    CHECK(engine.recover(of_any_age()).done == 1);
    banks.moved(30);
}

TEST_CASE(
    "prepared: a list shows the parts in doubt, since when, and the entries that they wait for") {
    banks banks;
    auto engine = banks.make();
    CHECK(engine.in_doubt(ledger).value().empty());
    banks.watch = kill_after(settle::step::commit);
    CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
    banks.watch = nullptr;
    auto const log = banks.records.name();
    banks.books.prepare_by_hand("settle/" + log + "/no name", "Y", 1);
    banks.books.prepare_by_hand(banks.name_of_payee("u", 7).text(), "Z", 1);
    auto const in_doubt = engine.in_doubt(ledger).value();
    REQUIRE(in_doubt.size() == 3);
    CHECK(in_doubt[0].name == banks.name_of_payee("t", in_doubt[0].epoch_number).text());
    CHECK(in_doubt[0].id == "t");
    CHECK(in_doubt[0].part == settle::part_number{1, 0});
    CHECK(in_doubt[0].prepared == banks.books.now);
    REQUIRE(in_doubt[0].waits_for);
    CHECK(in_doubt[0].waits_for->state == state::applied);
    CHECK(in_doubt[1].id == "u");
    CHECK_FALSE(in_doubt[1].waits_for);
    CHECK(in_doubt[2].id.empty());
    banks.books.disturb = disturbs("list", fault::unavailable, 1'000'000);
    CHECK_FALSE(engine.in_doubt(ledger).has_value());
    banks.books.disturb = disturbs("", fault::none);
    CHECK(engine.recover(of_any_age()).done == 1);
}

TEST_CASE("prepared: more names than a page are swept, and ids with slashes stay apart") {
    banks banks;
    auto engine = banks.make();
    for (int at = 0; at < 300; ++at) {
        auto const id = "x/" + std::to_string(at);
        banks.books.prepare_by_hand(banks.name_of_payee(id, 7).text(), "Y " + id, 1);
    }
    banks.watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = engine.run("x", usual), killed);
    banks.watch = nullptr;
    CHECK(engine.cancel("x").canceled());
    CHECK(banks.books.names().size() == 300);
    CHECK(engine.sweep().undone == 300);
    banks.moved(0);
}

TEST_CASE(
    "prepared: a part that was rolled back by hand after the commit is reported, not guessed") {
    banks banks;
    auto engine = banks.make();
    banks.watch = kill_after(settle::step::commit);
    CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
    banks.watch = nullptr;
    auto const names = banks.books.names();
    REQUIRE(names.size() == 1);
    CHECK(banks.books.roll_back_by_hand(names[0]));
    auto const stuck = engine.retry("t", soon);
    CHECK(stuck.verdict == verdict::undecided);
    CHECK(stuck.problem.code == errc::prepared_lost);
    CHECK(stuck.problem.text.find(names[0]) != std::string::npos);
    CHECK(entry_of(engine, "t").state == state::applied);
    // The person does the work by hand, with its receipt.
    banks.books.accounts["X"] += usual.amount;
    banks.books.receipts[banks.name_of_payee("t", 0).of.text()] = {entry_of(engine, "t").committed,
                                                                   {}};
    CHECK(engine.retry("t").done());
    CHECK(entry_of(engine, "t").state == state::done);
    banks.moved(30);
}

TEST_CASE("prepared: a part whose account is locked backs off until it is free") {
    banks banks;
    auto engine = banks.make();
    banks.books.prepare_by_hand("another program's", "X", 5);
    SUBCASE("the other program ends") {
        banks.world.while_pausing = [&] {
            if (banks.world.pauses == 3) CHECK(banks.books.roll_back_by_hand("another program's"));
        };
        CHECK(engine.run("t", usual).done());
        CHECK(banks.world.pauses == 3);
        banks.moved(30);
    }
    SUBCASE("the lock stays") {
        auto const outcome = engine.run("t", usual);
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::busy);
        CHECK(banks.books.roll_back_by_hand("another program's"));
        banks.moved(0);
    }
}

TEST_CASE("prepared: each line of a range is prepared, and all are committed or none") {
    banks banks;
    auto engine = banks.make();
    CHECK(engine.run("t", salaries{"A", {{"X", 3}, {"Y", 4}}}).done());
    CHECK(banks.books.accounts.at("X") == 3);
    CHECK(banks.books.accounts.at("Y") == 4);
    CHECK(banks.books.receipts.size() == 2);
    auto const refused = engine.run("u", salaries{"A", {{"X", 3}, {"nobody", 4}}});
    CHECK(refused.why == reason::refused);
    CHECK(refused.participant == "lines");
    CHECK(refused.line == 1U);
    // Two native transactions cannot change one row.
    CHECK(engine.run("v", salaries{"A", {{"X", 3}, {"X", 4}}}).why == reason::busy);
    CHECK(banks.books.accounts.at("X") == 3);
    CHECK(banks.books.names().empty());
}

TEST_CASE("prepared: a batch prepares one transaction at a time, or as many as its window") {
    for (std::size_t const window : {0U, 2U}) {
        CAPTURE(window);
        banks banks;
        auto engine = banks.make();
        open_accounts(engine, {{"B", 100}});
        std::size_t most = 0;
        banks.books.disturb = [&](std::string_view operation, std::string const&) {
            if (operation == "commit") most = std::max(most, banks.books.names().size());
            return fault::none;
        };
        settle::batch_options how;
        how.window = window;
        std::vector<std::pair<std::string, payment>> const all{{"t1", {"A", "X", 10}},
                                                               {"t2", {"B", "Y", 10}}};
        for (auto const& one : engine.run_all(all, how)) CHECK(one.done());
        CHECK(most == std::max<std::size_t>(window, 1));
    }
}

TEST_CASE("prepared: work that throws is tried again") {
    banks banks;
    int calls = 0;
    settle::engine engine{settle::log_in(banks.records), settle::bind(accounts, banks.records),
                          settle::bind(ledger, banks.books,
                                       [&](database::connection& to, booking const& request) {
                                           if (++calls == 1) throw std::runtime_error{"lost"};
                                           if (calls == 2) throw 5;
                                           return banks.book(to, request);
                                       }),
                          settle::type<payment_type>,
                          settle::with_environment(manual_environment{banks.world})};
    CHECK(engine.run("t", usual).done());
    CHECK(calls == 3);
    banks.moved(30);
}

TEST_CASE("prepared: an id that fits into no name is refused before any write") {
    banks banks;
    auto engine = banks.make();
    std::string const id(database::most_name, 'i');
    auto const outcome = engine.run(id, usual);
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.problem.code == errc::bad_text);
    CHECK(outcome.problem.text.find("'ledger'") != std::string::npos);
    CHECK_FALSE(engine.find(id).value());
    auto const both =
        engine.run_all(std::vector{std::pair{id, usual}, std::pair{std::string{"u"}, usual}});
    CHECK(both[0].problem.code == errc::bad_text);
    CHECK(both[1].done());
    banks.moved(30);
}

TEST_CASE("prepared: an engine is not built on a database that cannot prepare") {
    banks on;
    on.books.can_prepare = false;
    CHECK_THROWS_AS(std::ignore = on.make(), settle::failure);
}

} // namespace prepared_test
