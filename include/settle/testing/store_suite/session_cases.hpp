// SPDX-License-Identifier: BSL-1.0
// The store suite: the members that a session needs or may have, and sessions that threads share.
#pragma once

#include <settle/testing/store_suite/bench.hpp>
#include <settle/testing/store_suite/entries.hpp>

#include <thread>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

TEST_CASE_TEMPLATE_DEFINE("store: a session holds the collections that it is bound for", Fixture,
                          suite_holds) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto session = database.template bind<ledgers_type>(database.bind_log().name());
    using bound = decltype(session);
    CHECK(bound::template holds<ledgers_type>::value);
    CHECK_FALSE(bound::template holds<cards_type>::value);
    CHECK_FALSE(bound::template holds<shelves_type>::value);
}

TEST_CASE_TEMPLATE_DEFINE("store: an early notice of a record or an entry changes nothing", Fixture,
                          suite_expect) {
    Fixture fixture;
    auto& database = fixture.database_here();
    auto log = database.bind_log();
    bench<typename Fixture::database> bench{database};
    auto& session = bench.session();
    bench.create(ledgers, {"A", 100, 0, ""});
    bench.create(shelves, {1, 10});
    auto const notify = [&] {
        if constexpr (
            settle::detail::capabilities<std::remove_cvref_t<decltype(session)>>.fetches_ahead) {
            for (std::string const key : {"A", "B", "nobody"}) {
                session.template expect<ledgers_type>(key);
            }
            for (std::int64_t const key : {1, 2}) session.template expect<shelves_type>(key);
        }
        if constexpr (settle::detail::capabilities<decltype(log)>.fetches_ahead) {
            log.expect("t");
            log.expect("nobody");
        }
    };
    notify();
    auto writer = pending_move(log, "t", 5, 1, "me");
    notify();
    CHECK(bench.template apply<order_type>("t", {"A", 1, {{1, 1}, {2, 1}}}, 5) ==
          "applied, applied, record missing");
    notify();
    CHECK(bench.template compensate<order_type>("t", {"A", 1, {{1, 1}, {2, 1}}}) ==
          "applied, applied, nothing");
    CHECK(writer.claim(2, "me") == log_answer::taken);
    CHECK_FALSE(log.read("nobody").value().has_value());
    bench.check();
}

TEST_CASE_TEMPLATE_DEFINE("store: a call that creates several records answers each", Fixture,
                          suite_create_wave) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    auto& session = bench.session();
    if constexpr (requires(std::vector<ledger> const& records, std::vector<result<void>>& results) {
                      session.template create_all<ledgers_type>(records, results);
                  }) {
        bench.create(ledgers, {"there", 1, 0, "first"});
        std::vector<ledger> const new_records{
            {"a", 1, 0, ""}, {"there", 2, 0, "second"}, {"b", 3, 0, ""}, {"a", 4, 0, ""}};
        std::vector<result<void>> results(new_records.size());
        session.template create_all<ledgers_type>(new_records, results);
        for (std::size_t index = 0; index < new_records.size(); ++index) {
            INFO("record ", index);
            bool const is_new = index == 0 || index == 2;
            CHECK(results[index].has_value() == is_new);
            if (!is_new) CHECK(results[index].problem().code == errc::record_exists);
        }
        CHECK(bench.read(ledgers, "a")->balance == 1);
        CHECK(bench.read(ledgers, "there")->label == "first");
        CHECK(bench.read(ledgers, "b")->balance == 3);
    }
}

TEST_CASE_TEMPLATE_DEFINE("store: a wave runs beside other waves, and a wave is abandoned", Fixture,
                          suite_overlap) {
    Fixture fixture;
    bench<typename Fixture::database> bench{fixture.database_here()};
    auto& session = bench.session();
    if constexpr (
        settle::detail::capabilities<std::remove_cvref_t<decltype(session)>>.overlaps_others) {
        bench.create(ledgers, {"A", 100, 0, ""});
        bench.create(ledgers, {"B", 0, 0, ""});
        session.expect_others();
        move const move{"A", "B", 1};
        part_wave first{step::apply};
        first.add<forward<move_type>>("first", move, 5);
        part_wave second{step::apply};
        second.add<forward<move_type>>("second", move, 5);
        std::vector<part_result> first_results(2);
        std::vector<part_result> second_results(2);
        session.start(std::span<part_request const>{first.requests()}, std::span{first_results});
        session.start(std::span<part_request const>{second.requests()}, std::span{second_results});
        session.finish(std::span{second_results});
        CHECK(second.answers(0, second_results) == "applied, applied");
        session.finish(std::span{first_results});
        CHECK(first.answers(0, first_results) == "applied, applied");
        CHECK(bench.marks().size() == 4);

        part_wave given_up{step::compensate};
        given_up.add<forward<move_type>>("first", move, 9);
        std::vector<part_result> results(2);
        session.start(std::span<part_request const>{given_up.requests()}, std::span{results});
        session.abandon(std::span{results});
        // abandon() has waited for the end of the wave.
        CHECK(bench.marks().size() == 2);
        CHECK(bench.read(ledgers, "A")->balance == 99);
        // A wave without an overlap goes on as before.
        part_wave alone{step::confirm};
        alone.add<forward<move_type>>("second", move, 105, 5);
        alone.send(session);
        CHECK(alone.answers(0) == "applied, applied");
        CHECK(bench.read(ledgers, "B")->balance == 1);
    }
}

/// A fixture whose sessions serve one thread has a member `one_thread`.
template <typename Fixture>
inline constexpr bool for_threads = !requires { Fixture::one_thread; };

TEST_CASE_TEMPLATE_DEFINE("store: threads share a session of records and a session of entries",
                          Fixture, suite_threads) {
    if constexpr (for_threads<Fixture>) {
        Fixture fixture;
        auto& database = fixture.database_here();
        auto log = database.bind_log();
        auto session = database.template bind<ledgers_type, cards_type, shelves_type>(log.name());
        constexpr std::int64_t threads = 4;
        constexpr std::int64_t rounds = 12;
        REQUIRE(session.template create<ledgers_type>({"A", threads * rounds, 0, ""}).has_value());
        REQUIRE(session.template create<ledgers_type>({"B", 0, 0, ""}).has_value());
        std::vector<std::string> wrong(threads);
        auto const work = [&](std::size_t thread) {
            move const move{"A", "B", 1};
            auto const expect = [&](bool right, std::string const& call) {
                if (!right && wrong[thread].empty()) wrong[thread] = call;
            };
            constexpr int most_tries = 1000;
            auto const has = [](part_wave const& wave, answer reply) {
                return std::any_of(wave.results().begin(), wave.results().end(),
                                   [&](part_result const& result) { return result.what == reply; });
            };
            // A busy store may answer `unavailable`: then the requests are sent again.
            auto const send = [&](part_wave& wave) {
                for (int tries = 0; tries < most_tries; ++tries) {
                    wave.send(session);
                    if (has(wave, answer::unknown) || !has(wave, answer::unavailable)) return;
                }
            };
            for (std::int64_t round = 0; round < rounds; ++round) {
                auto const id = std::to_string(thread) + '-' + std::to_string(round);
                suite_entry writer{log, test_transaction::of<forward<move_type>>(id, move)};
                expect(writer.insert(state::pending, 5, 1, "me") == log_answer::taken, "insert");
                // After an answer `unknown`, all parts are applied again under a higher epoch.
                std::string answers;
                for (int tries = 0; tries < most_tries; ++tries) {
                    part_wave applied{step::apply};
                    applied.add<forward<move_type>>(id, move, writer.view().epoch_number);
                    send(applied);
                    answers = applied.answers(0);
                    if (!has(applied, answer::unknown)) break;
                    expect(writer.claim(1, "me") == log_answer::taken, "claim");
                }
                expect(answers == "applied, applied", "apply " + answers);
                expect(writer.commit(2, "me") == log_answer::taken, "commit");
                epoch const committed = writer.view().committed;
                part_wave confirmed{step::confirm};
                confirmed.add<forward<move_type>>(id, move, committed, committed);
                // A confirm takes effect once under each epoch, so it may be sent again.
                for (int tries = 0; tries < most_tries; ++tries) {
                    send(confirmed);
                    if (!has(confirmed, answer::unknown)) break;
                }
                for (part_result const& one : confirmed.results()) {
                    bool const ended = one.what == answer::applied || one.what == answer::nothing;
                    expect(ended, "confirm " + confirmed.answers(0));
                }
                expect(writer.close(3, "me") == log_answer::taken, "close");
            }
        };
        {
            std::vector<std::jthread> all;
            for (std::size_t thread = 0; thread < threads; ++thread) all.emplace_back(work, thread);
        }
        for (std::string const& one : wrong) CHECK(one == "");
        CHECK(session.template read<ledgers_type>("A").value()->balance == 0);
        CHECK(session.template read<ledgers_type>("B").value()->balance == threads * rounds);
        CHECK(session.marks(std::nullopt, 10).value().empty());
        entry_filter done;
        done.state = state::done;
        CHECK(log.list(done, "", 1000).value().size() == threads * rounds);
    }
}

} // namespace testing
SETTLE_END
#endif
