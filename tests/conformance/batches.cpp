// SPDX-License-Identifier: BSL-1.0
// A batch has the outcomes of the same transactions run one after another, whatever they conflict
// with.
#include "batches.hpp"

#include <tuple>

using namespace batched;

TEST_CASE("batch: many transfers between few accounts end as single calls do") {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        auto const orders = random_transfers(seed, 150, seed % 2 == 0 ? 5 : 40);
        auto const expected = one_by_one(orders);
        for_each_engine([&](auto& engine, std::string const& name) {
            open_accounts(engine);
            INFO(name << ", seed " << seed);
            CHECK(same_end(engine, engine.run_all(orders, {7, {}, {}}), expected));
        });
    }
}

TEST_CASE("batch: a window that holds the whole batch ends as single calls do") {
    for (unsigned seed = 21; seed <= 23; ++seed) {
        auto const orders = random_transfers(seed, 300, 20);
        auto const expected = one_by_one(orders);
        for_each_engine([&](auto& engine, std::string const& name) {
            open_accounts(engine);
            INFO(name << ", seed " << seed);
            CHECK(same_end(engine, engine.run_all(orders, {1000, {}, {}}), expected));
        });
    }
}

TEST_CASE("batch: money moves down a whole chain of transfers") {
    std::vector<std::pair<std::string, bank::transfer>> chain;
    for (int i = 0; i < 30; ++i) {
        chain.emplace_back("c" + std::to_string(i),
                           bank::transfer{name_of_account(i), name_of_account(i + 1), 150});
    }
    auto const expected = one_by_one(chain);
    CHECK(std::count_if(expected.outcomes.begin(), expected.outcomes.end(),
                        [](auto const& outcome) { return outcome.done(); }) == 0);
    chain.insert(chain.begin(),
                 {"first", bank::transfer{name_of_account(39), name_of_account(0), 50}});
    auto const expected_after = one_by_one(chain);
    CHECK(std::all_of(expected_after.outcomes.begin(), expected_after.outcomes.end(),
                      [](auto const& outcome) { return outcome.done(); }));
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        CHECK(same_end(engine, engine.run_all(chain, {1000, {}, {}}), expected_after));
    });
}

TEST_CASE("batch: exclusive effects on one record follow each other in order") {
    std::vector<std::pair<std::string, relabel>> requests;
    for (int i = 0; i < 60; ++i) {
        requests.emplace_back("r" + std::to_string(i),
                              relabel{"hot", i == 0 ? "" : "label " + std::to_string(i - 1),
                                      "label " + std::to_string(i)});
    }
    for_each_engine([&](auto& engine, std::string const& name) {
        engine.create(labels, label{"hot", ""}).value();
        INFO(name);
        auto const outcomes = engine.run_all(requests, {1000, {}, {}});
        for (auto const& one : outcomes) CHECK_MESSAGE(one.done(), one.text());
        CHECK(engine.read(labels, "hot").value()->text == "label 59");
        CHECK(engine.marks().value() == 0);
    });
}

TEST_CASE("batch: a record is created, used and erased within one window") {
    std::vector<std::pair<std::string, life>> requests;
    for (int i = 0; i < 20; ++i) {
        requests.emplace_back("l" + std::to_string(i),
                              life{"a" + std::to_string(i % 3), "a" + std::to_string((i + 1) % 3)});
    }
    for_each_engine([&](auto& engine, std::string const& name) {
        engine.create(labels, label{"a0", "here"}).value();
        INFO(name);
        auto const outcomes = engine.run_all(requests, {1000, {}, {}});
        for (auto const& one : outcomes) CHECK_MESSAGE(one.done(), one.text());
        CHECK_FALSE(engine.read(labels, "a0").value().has_value());
        CHECK(engine.read(labels, "a2").value().has_value());
    });
}

TEST_CASE("batch: a lazy range gets drawn ids, and outcomes arrive by number") {
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        std::istringstream text{"1 2 3 4 5 6 7 8 9 10"};
        auto transfers = ranges::istream_view<int>(text) | ranges::views::transform([](int amount) {
                             return bank::transfer{name_of_account(1), name_of_account(2), amount};
                         });
        std::vector<std::size_t> numbers;
        std::set<std::string> ids;
        engine.run_all(transfers,
                       [&](std::size_t number, settle::outcome outcome) {
                           CHECK(outcome.done());
                           numbers.push_back(number);
                           ids.insert(outcome.id);
                       },
                       {4, {}, {}});
        std::sort(numbers.begin(), numbers.end());
        CHECK(numbers == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
        CHECK(ids.size() == 10);
        CHECK(balance_of(engine, 1) == 100 - 55);
    });
}

TEST_CASE("batch: a bad element is refused by number, and a repeated id gets its outcome") {
    std::vector<std::pair<std::string, bank::transfer>> const requests{
        {"good", {name_of_account(1), name_of_account(2), 10}},
        {"", {name_of_account(1), name_of_account(2), 10}},
        {"negative", {name_of_account(1), name_of_account(2), -1}},
        {"text", {"\xff", name_of_account(2), 1}},
        {"good", {name_of_account(1), name_of_account(2), 10}},
        {"good", {name_of_account(1), name_of_account(2), 11}},
        {"x/reverse", {name_of_account(1), name_of_account(2), 1}},
        {"nobody", {"nobody", name_of_account(2), 1}},
        {"last", {name_of_account(2), name_of_account(1), 110}}};
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        auto const outcomes = engine.run_all(requests, {1000, {}, {}});
        REQUIRE(outcomes.size() == requests.size());
        CHECK(outcomes[0].done());
        for (std::size_t const bad : {1U, 2U, 3U, 5U, 6U}) {
            CHECK_MESSAGE(outcomes[bad].verdict == settle::verdict::refused, outcomes[bad].text());
        }
        CHECK(outcomes[4].done());
        CHECK(outcomes[5].problem.code == settle::errc::id_in_use);
        CHECK(outcomes[7].why == settle::reason::record_missing);
        CHECK(outcomes[7].participant == "source");
        CHECK(outcomes[8].done());
        CHECK(balance_of(engine, 1) == 200);
        CHECK(balance_of(engine, 2) == 0);
    });
}

TEST_CASE("batch: any pair-like element gives an id and parameters") {
    settle::memory::database db;
    settle::engine engine{db, settle::type<bank::transfer_type>};
    open_accounts(engine);
    bank::transfer const transfer{name_of_account(0), name_of_account(1), 1};
    std::vector<std::string> const ids{"zip 1", "zip 2"};
    std::vector<bank::transfer> const transfers{transfer, transfer};
    std::ignore = engine.run_all(ranges::views::zip(ids, transfers));
    std::ignore = engine.run_all(std::vector{std::tuple{"tuple", transfer}});
    std::ignore = engine.run_all(std::vector{std::pair{"pair", transfer}});
    for (char const* const id : {"zip 1", "zip 2", "tuple", "pair"}) {
        INFO(std::string{id});
        REQUIRE(engine.find(id).value().has_value());
        CHECK(engine.find(id).value()->state == settle::state::done);
    }
    CHECK(balance_of(engine, 1) == 104);
}

TEST_CASE("batch: an exception of the range is rethrown after the window has settled") {
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        auto const throwing = ranges::views::iota(0, 10) | ranges::views::transform([](int i) {
                                  if (i == 5) throw std::runtime_error("line 6 is no order");
                                  return bank::transfer{name_of_account(1), name_of_account(2), 1};
                              });
        int done = 0;
        CHECK_THROWS_WITH(engine.run_all(throwing,
                                         [&](std::size_t, settle::outcome const& outcome) {
                                             done += outcome.done() ? 1 : 0;
                                         },
                                         {100, {}, {}}),
                          "line 6 is no order");
        CHECK(done == 5);
        CHECK(balance_of(engine, 1) == 95);
    });
}

TEST_CASE("batch: an exception of the callback is rethrown after the window has settled") {
    for_each_engine([&](auto& engine, std::string const& name) {
        engine.create(labels, label{"hot", "label 0"}).value();
        INFO(name);
        int order_count = 0;
        // Each order waits for its predecessor.
        auto const orders = ranges::views::iota(0) | ranges::views::transform([&](int) {
                                ++order_count;
                                return relabel{"hot", "label " + std::to_string(order_count - 1),
                                               "label " + std::to_string(order_count)};
                            });
        for (std::size_t const window : {1U, 4U, 100U}) {
            int calls = 0;
            int const before = order_count;
            auto const callback = [&](std::size_t number, settle::outcome const&) {
                ++calls;
                if (number == 2) throw std::runtime_error("nobody listens");
            };
            CHECK_THROWS_WITH(engine.run_all(orders, callback, {window, {}, {}}), "nobody listens");
            // The callback that threw gets the other outcomes, and no element stays unfinished.
            CHECK(calls >= 3);
            CHECK(calls == order_count - before);
            CHECK(engine.read(labels, "hot").value()->text ==
                  "label " + std::to_string(order_count));
            CHECK(engine.marks().value() == 0);
            CHECK(engine.page({.unfinished = true}, "", 10).value().empty());
        }
    });
}

TEST_CASE("batch: the deadline omits unread elements and leaves no transaction half done") {
    settle::testing::manual_environment const time;
    auto const omits_unread = [&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        auto const slow = ranges::views::iota(0, 1000) | ranges::views::transform([&](int i) {
                              if (i == 5) time.advance(std::chrono::seconds{2});
                              return bank::transfer{name_of_account(1), name_of_account(2), 1};
                          });
        settle::batch_options options;
        options.window = 8;
        options.deadline = std::chrono::seconds{1};
        auto const outcomes = engine.run_all(slow, options);
        REQUIRE(outcomes.size() == 6);
        for (auto const& one : outcomes) CHECK(one.done());
        CHECK(balance_of(engine, 1) == 100 - 6);
        CHECK(outcomes.report.taken == 6);
        CHECK(outcomes.report.not_taken == std::size_t{994});
        CHECK(outcomes.report.problem.code == settle::errc::stopped);
    };
    for_each_engine(omits_unread, time);
}

TEST_CASE("batch: elements omitted by a stop stay in the source of the range") {
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        std::istringstream text{"1 2 3 4 5 6 7 8 9 10"};
        // The range reads its source when it advances, and keeps no read element.
        auto transfers = ranges::istream_view<int>(text) | ranges::views::transform([](int amount) {
                             return bank::transfer{name_of_account(1), name_of_account(2), amount};
                         });
        std::stop_source stop;
        int calls = 0;
        auto const report = engine.run_all(transfers,
                                           [&](std::size_t number, settle::outcome outcome) {
                                               CHECK(outcome.done());
                                               if (number == 2) stop.request_stop();
                                               ++calls;
                                           },
                                           {1, {}, stop.get_token()});
        // The length of such a range is unknown.
        CHECK(report.taken == 3);
        CHECK(report.not_taken == std::nullopt);
        CHECK(report.problem.code == settle::errc::stopped);
        int next = 0;
        REQUIRE((text >> next).good());
        CHECK(next == calls + 1);
    });
}

TEST_CASE("batch: a stop omits unread elements and leaves no transaction half done") {
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        std::stop_source stop;
        auto const stopping = ranges::views::iota(0, 1000) | ranges::views::transform([&](int i) {
                                  if (i == 20) stop.request_stop();
                                  return bank::transfer{name_of_account(1), name_of_account(2), 1};
                              });
        settle::batch_options options;
        options.window = 8;
        options.stop = stop.get_token();
        auto const outcomes = engine.run_all(stopping, options);
        CHECK(outcomes.size() == 21);
        for (auto const& one : outcomes) CHECK(one.done());
        CHECK(outcomes.report.not_taken == std::size_t{979});
        CHECK(outcomes.report.problem.text.find("first 21 elements; 979 were not taken") !=
              std::string::npos);
        CHECK(balance_of(engine, 1) == 100 - 21);
    });
}

TEST_CASE("batch: records not created because of a stop stay in the source of the range") {
    for_each_engine([&](auto& engine, std::string const& name) {
        INFO(name);
        std::istringstream text{"1 2 3 4 5 6 7 8 9 10"};
        auto records = ranges::istream_view<int>(text) | ranges::views::transform([](int number) {
                           return label{"label " + std::to_string(number), ""};
                       });
        std::stop_source stop;
        auto const report = engine.create_all(labels, records,
                                              [&](std::size_t number, auto const&) {
                                                  if (number == 2) stop.request_stop();
                                              },
                                              {1, {}, stop.get_token()});
        CHECK(report.created == 3);
        CHECK(report.problem.code == settle::errc::stopped);
        int next = 0;
        REQUIRE((text >> next).good());
        CHECK(next == 4);
        CHECK(engine.read(labels, "label 3").value().has_value());
        CHECK_FALSE(engine.read(labels, "label 4").value().has_value());
    });
}

TEST_CASE("batch: a stop after the last element omits nothing") {
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        std::stop_source stop;
        std::vector<bank::transfer> const all(5, {name_of_account(1), name_of_account(2), 1});
        auto const report = engine.run_all(all,
                                           [&](std::size_t number, settle::outcome const&) {
                                               if (number == 4) stop.request_stop();
                                           },
                                           {1, {}, stop.get_token()});
        CHECK(report == settle::batch_report{5, std::size_t{0}, {}});
        CHECK(engine.run_all(all).report == settle::batch_report{5, std::size_t{0}, {}});
    });
}

TEST_CASE("batch: work() runs submitted transactions in the order of their ids") {
    for (unsigned seed = 31; seed <= 32; ++seed) {
        auto const orders = random_transfers(seed, 150, 10);
        auto const expected = one_by_one(orders);
        for_each_engine([&](auto& engine, std::string const& name) {
            open_accounts(engine);
            std::size_t taken = 0;
            for (auto const& [id, order] : orders) {
                // A transfer from an account to itself is refused.
                taken += engine.submit(id, order).problem.empty() ? 1U : 0U;
            }
            INFO(name << ", seed " << seed);
            auto const report = engine.work();
            CHECK(report.problem.empty());
            CHECK(report.done + report.canceled == taken);
            CHECK(same_records(engine, expected));
        });
    }
}

TEST_CASE("batch: concurrent threads lose no transaction") {
    for_each_engine([&](auto& engine, std::string const& name) {
        open_accounts(engine);
        INFO(name);
        std::vector<std::thread> threads;
        std::atomic<int> done{0};
        for (int thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 40; ++i) {
                    auto const outcome = engine.run(
                        "t" + std::to_string(thread) + "-" + std::to_string(i),
                        bank::transfer{name_of_account((thread + i) % accounts_open),
                                       name_of_account((thread * 3 + i + 1) % accounts_open), 1});
                    done += outcome.done() ? 1 : 0;
                }
            });
        }
        for (auto& one : threads) one.join();
        CHECK(done == 320);
        std::int64_t sum = 0;
        for (int i = 0; i < accounts_open; ++i) sum += balance_of(engine, i);
        CHECK(sum == 100 * accounts_open);
        CHECK(engine.marks().value() == 0);
    });
}

TEST_CASE("batch: writes of other programs to the file are visible at once") {
    sqlite_test::folder const folder;
    settle::sqlite::database first{folder.file()};
    settle::sqlite::database second{folder.file()};
    settle::engine engine{first, settle::type<bank::transfer_type>};
    settle::engine two{second, settle::type<bank::transfer_type>, settle::two_phases};
    settle::engine beside{first, settle::type<bank::transfer_type>, settle::two_phases};
    open_accounts(engine);
    for (int i = 0; i < 10; ++i) {
        // Each transfer spends all that its predecessor brought.
        CHECK(engine.run(bank::transfer{name_of_account(0), name_of_account(1), 100}).done());
        CHECK(two.run(bank::transfer{name_of_account(1), name_of_account(2), 200}).done());
        CHECK(beside.run(bank::transfer{name_of_account(2), name_of_account(0), 300}).done());
        CHECK(engine.run(bank::transfer{name_of_account(0), name_of_account(1), 100}).done());
        CHECK(beside.run(bank::transfer{name_of_account(0), name_of_account(2), 100}).done());
        CHECK(two.run(bank::transfer{name_of_account(1), name_of_account(3), 101}).canceled());
        auto const made = engine.create(bank::accounts, bank::account{name_of_account(1), 1, 1});
        CHECK_FALSE(made.has_value());
    }
    sqlite_test::sql(folder.file(), "UPDATE accounts SET balance = 7 WHERE id = 'account 0'");
    CHECK(engine.run(bank::transfer{name_of_account(0), name_of_account(5), 8}).canceled());
    CHECK(engine.run(bank::transfer{name_of_account(0), name_of_account(5), 7}).done());
    sqlite_test::sql(folder.file(), "DELETE FROM accounts WHERE id = 'account 5'");
    CHECK(engine.run(bank::transfer{name_of_account(5), name_of_account(0), 1}).why ==
          settle::reason::record_missing);
    CHECK(engine.create(bank::accounts, bank::account{name_of_account(5), 50, 50}).has_value());
    CHECK(engine.run(bank::transfer{name_of_account(5), name_of_account(0), 50}).done());
}

TEST_CASE("batch: a transaction blocked by another program is not sent in each round") {
    settle::memory::database db;
    settle::testing::manual_environment const time;
    bool leaves = true;
    settle::options no_wait;
    no_wait.takeover = std::chrono::milliseconds{0};
    relabel const first{"hot", "begin", "label 0"};
    settle::engine holder{db, no_wait, settle::type<relabel_type>, settle::with_environment(time),
                          settle::observed_by([&](settle::event const& seen) {
                              if (leaves && seen.taken == settle::step::apply) throw killed{};
                          })};
    holder.create(labels, label{"hot", "begin"}).value();
    CHECK_THROWS_AS(std::ignore = holder.run("holder", first), killed);
    leaves = false;

    std::map<std::string, int, std::less<>> applies;
    std::map<std::string, int, std::less<>> pauses;
    settle::engine engine{db, settle::type<relabel_type>, settle::with_environment(time),
                          settle::observed_by([&](settle::event const& seen) {
                              if (seen.taken == settle::step::apply) ++applies[seen.id];
                              if (seen.taken != settle::step::pause) return;
                              if (++pauses[seen.id] == 6) CHECK(holder.run("holder", first).done());
                          })};
    std::vector<std::pair<std::string, relabel>> requests;
    for (int i = 1; i <= 20; ++i) {
        requests.emplace_back(
            "r" + std::to_string(i),
            relabel{"hot", "label " + std::to_string(i - 1), "label " + std::to_string(i)});
    }
    auto const outcomes = engine.run_all<relabel_type>(requests, {1000, {}, {}});
    REQUIRE(outcomes.size() == 20);
    for (auto const& outcome : outcomes) CHECK_MESSAGE(outcome.done(), outcome.text());
    CHECK(engine.read(labels, "hot").value()->text == "label 20");
    // The first transaction is sent whenever its pause is over. Its successors are sent in the
    // first round, in the round that shows that the record is exclusive, and in their turn.
    CHECK(pauses["r1"] == 6);
    CHECK(applies["r1"] == 7);
    for (auto const& one : applies) {
        INFO(one.first);
        CHECK(one.second <= (one.first == "r1" ? 7 : 3));
    }
}
