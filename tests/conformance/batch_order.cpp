// SPDX-License-Identifier: BSL-1.0
// A window keeps the order of its input on every record, whichever of its transactions is delayed.
// No transaction waits longer than its call allows.
#include "batches.hpp"

#include <settle/testing/faults.hpp>

using namespace batched;

namespace {

using settle::testing::call;
using settle::testing::fault;
using settle::testing::fault_kind;
using settle::testing::manual_environment;

using lives = std::vector<std::pair<std::string, life>>;

struct sale {
    BOOST_HANA_DEFINE_STRUCT(sale, (std::string, label), (std::string, account),
                             (std::int64_t, amount));
};
inline constexpr auto sale_type = settle::transaction<sale, "sale">(
    participant<"label">(labels, param<&sale::label>)
        .confirm(field<&label::text> = param<&sale::account>),
    participant<"account">(bank::accounts, param<&sale::account>)
        .require(field<&bank::account::balance> >= param<&sale::amount>)
        .apply(field<&bank::account::balance> -= param<&sale::amount>)
        .compensate(settle::inverse));

/// Each label change requires the label that its predecessor wrote.
std::vector<relabel> relabels(int count) {
    std::vector<relabel> changes;
    for (int i = 1; i <= count; ++i) {
        changes.push_back({"hot", "label " + std::to_string(i - 1), "label " + std::to_string(i)});
    }
    return changes;
}

/// Draws the same numbers again on request.
struct repeating : manual_environment {
    std::shared_ptr<std::uint64_t> drawn = std::make_shared<std::uint64_t>(0);

    [[nodiscard]] std::uint64_t random() const { return ++*drawn * 0x9e3779b97f4a7c15U; }
};

/// Calls `function(database, how)` with a database that supports one phase, in one phase and in
/// two.
template <typename Function>
void in_one_phase_and_two(Function&& function) {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        sqlite_test::folder const folder;
        settle::sqlite::database db{folder.file()};
        INFO(std::string{how == settle::phases::one ? "one phase" : "two phases"});
        function(db, how);
    }
}

} // namespace

TEST_CASE("order: a file that is locked for a while does not change the order") {
    in_one_phase_and_two([](auto& db, settle::phases how) {
        settle::testing::faulty fragile{db};
        settle::engine engine{fragile, settle::type<relabel_type>, how,
                              settle::with_environment(manual_environment{})};
        engine.create(labels, label{"hot", "label 0"}).value();
        fragile.plan([](call const& call) {
            return call.number <= 5 ? fault{fault_kind::unavailable} : fault{};
        });
        for (auto const& one : engine.run_all(relabels(30), {1000, {}, {}})) {
            CHECK_MESSAGE(one.done(), one.text());
        }
        CHECK(engine.read(labels, "hot").value()->text == "label 30");
    });
}

TEST_CASE("order: outcomes equal those of single calls, whichever calls of the store fail") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        auto const orders = random_transfers(seed, 120, seed % 2 == 0 ? 5 : 20);
        auto const expected = one_by_one(orders);
        in_one_phase_and_two([&](auto& db, settle::phases how) {
            CAPTURE(seed);
            settle::testing::faulty fragile{db};
            settle::engine engine{fragile, settle::type<bank::transfer_type>, how,
                                  settle::with_environment(manual_environment{seed})};
            open_accounts(engine);
            fragile.plan(settle::testing::random_faults(
                seed, 30,
                {fault_kind::unavailable, fault_kind::unknown_before, fault_kind::unknown_after}));
            auto const outcomes = engine.run_all(orders, {40, {}, {}});
            fragile.plan({});
            CHECK(same_end(engine, outcomes, expected));
        });
    }
}

namespace {

/// Another program. It ends after an apply while `leaves` is true.
template <typename Database>
auto holder_on(Database& db, manual_environment const& time, bool const* leaves) {
    settle::options no_wait;
    no_wait.takeover = std::chrono::milliseconds{0};
    return settle::engine{db,
                          no_wait,
                          settle::type<relabel_type>,
                          settle::two_phases,
                          settle::with_environment(time),
                          settle::observed_by([leaves](settle::event const& seen) {
                              if (*leaves && seen.taken == settle::step::apply) throw killed{};
                          })};
}

/// A record with an exclusive mark of another program; `end()` finishes that program's transaction.
template <typename Database>
class held_record {
public:
    held_record(Database& db, manual_environment const& time)
        : holder_(holder_on(db, time, &leaves_)) {
        holder_.create(labels, label{"busy", ""}).value();
        CHECK_THROWS_AS(std::ignore = holder_.run("holder", request()), killed);
        leaves_ = false;
    }

    void end() { CHECK(holder_.run("holder", request()).done()); }

private:
    static relabel request() { return {"busy", "", "here"}; }

    bool leaves_ = true;
    decltype(holder_on(std::declval<Database&>(), manual_environment{}, nullptr)) holder_;
};

} // namespace

TEST_CASE("order: no transaction overtakes a transaction that waits for another program") {
    in_one_phase_and_two([](auto& db, settle::phases how) {
        manual_environment const time;
        held_record busy{db, time};
        int pauses = 0;
        settle::engine engine{db, settle::type<life_type>, how, settle::with_environment(time),
                              settle::observed_by([&](settle::event const& seen) {
                                  if (seen.id != "a" || seen.taken != settle::step::pause) return;
                                  if (++pauses == 4) busy.end();
                              })};
        engine.create(labels, label{"free", ""}).value();
        lives const batch{{"a", {"busy", "new"}},
                          {"b", {"new", "newer"}},
                          {"c", {"newer", "newest"}},
                          {"d", {"free", "freed"}}};
        std::string order;
        engine.run_all(batch,
                       [&](std::size_t number, settle::outcome const& outcome) {
                           CHECK_MESSAGE(outcome.done(), outcome.text());
                           order += batch[number].first;
                       },
                       {1000, {}, {}});
        // A transaction that shares no record with a waiting transaction need not wait.
        CHECK(order == "dabc");
        CHECK(engine.read(labels, "newest").value().has_value());
        CHECK(engine.marks().value() == 0);
    });
}

TEST_CASE("order: the first of two transactions with one id decides, even if it waits") {
    for (bool const ends : {true, false}) {
        in_one_phase_and_two([&](auto& db, settle::phases how) {
            CAPTURE(ends);
            manual_environment const time;
            held_record busy{db, time};
            int pauses = 0;
            settle::options limits;
            limits.patience = std::chrono::milliseconds{300};
            settle::engine engine{db,
                                  limits,
                                  settle::type<life_type>,
                                  how,
                                  settle::with_environment(time),
                                  settle::observed_by([&](settle::event const& seen) {
                                      if (seen.taken != settle::step::pause || !ends) return;
                                      if (++pauses == 4) busy.end();
                                  })};
            engine.create(labels, label{"free", ""}).value();
            lives const all{
                {"a", {"busy", "new"}}, {"b", {"new", "newer"}}, {"b", {"free", "freed"}}};
            auto const outcomes = engine.run_all(all, {1000, {}, {}});
            REQUIRE(outcomes.size() == 3);
            CHECK(outcomes[0].done() == ends);
            CHECK(outcomes[1].done() == ends);
            // The call has no deadline, so the error does not name one.
            bool const by_patience =
                outcomes[0].problem.text.find("options::patience ended") != std::string::npos;
            CHECK(by_patience != ends);
            CHECK_FALSE(outcomes[2].done());
            // In two phases, the entry of the first is there, whether or not it ends.
            bool const meets = ends || how == settle::phases::two;
            CHECK(outcomes[2].problem.code ==
                  (meets ? settle::errc::id_in_use : settle::errc::stopped));
            CHECK_FALSE(engine.read(labels, "freed").value().has_value());
        });
    }
}

TEST_CASE("order: no transaction overtakes a transaction whose id is already in the log") {
    for_each_engine([](auto& engine, std::string const& name) {
        INFO(name);
        engine.create(labels, label{"a", ""}).value();
        CHECK(engine.submit("2", life{"b", "c"}).problem.empty());
        lives const all{{"1", {"a", "b"}}, {"2", {"b", "c"}}, {"3", {"c", "d"}}};
        for (auto const& one : engine.run_all(all, {1000, {}, {}})) {
            CHECK_MESSAGE(one.done(), one.text());
        }
        CHECK(engine.read(labels, "d").value().has_value());
    });
}

TEST_CASE("order: no transaction overtakes a transaction whose drawn id was taken") {
    auto const try_on = [](auto& db, settle::phases how) {
        repeating const world;
        settle::engine engine{db, settle::type<relabel_type>, how, settle::with_environment(world)};
        engine.create(labels, label{"hot", "label 0"}).value();
        engine.create(labels, label{"other", ""}).value();
        *world.drawn = 0;
        auto const first = engine.run(relabel{"other", "", "used"});
        CHECK(first.done());
        *world.drawn = 0;
        auto const outcomes = engine.run_all(relabels(5), {1000, {}, {}});
        REQUIRE(outcomes.size() == 5);
        for (auto const& one : outcomes) {
            CHECK_MESSAGE(one.done(), one.text());
            CHECK(one.id != first.id);
        }
        CHECK(engine.read(labels, "hot").value()->text == "label 5");
    };
    in_one_phase_and_two(try_on);
    settle::memory::database db;
    try_on(db, settle::phases::two);
}

namespace {

/// The time of a window whose store begins to block and fail after three transactions.
/// Shape:   stops - receives a stop request at that moment
std::chrono::nanoseconds time_behind_blocking_store(settle::batch_options options,
                                                    std::stop_source* stops) {
    settle::memory::database db;
    settle::testing::faulty fragile{db};
    manual_environment const time;
    settle::engine engine{fragile, settle::type<relabel_type>, settle::with_environment(time)};
    engine.create(labels, label{"hot", "label 0"}).value();
    bool away = false;
    fragile.plan([&](call const& call) {
        if (!away || call.what != "apply") return fault{};
        time.advance(std::chrono::seconds{5});
        return fault{fault_kind::unavailable};
    });
    int done = 0;
    int undecided = 0;
    options.window = 1000;
    engine.run_all(
        relabels(40),
        [&](std::size_t, settle::outcome const& outcome) {
            if (outcome.done()) ++done;
            else if (outcome.problem.code == settle::errc::stopped || away) ++undecided;
            away = done >= 3;
            if (away && stops != nullptr) stops->request_stop();
        },
        options);
    CHECK(done == 3);
    CHECK(undecided == 37);
    return time.elapsed();
}

} // namespace

TEST_CASE("order: a blocked transaction obeys the deadline, the stop token and the patience") {
    using std::chrono::seconds;
    CHECK(time_behind_blocking_store({}, nullptr) < seconds{50});
    settle::batch_options short_of_time;
    short_of_time.deadline = seconds{12};
    CHECK(time_behind_blocking_store(short_of_time, nullptr) < seconds{25});
    std::stop_source stops;
    settle::batch_options stopped;
    stopped.stop = stops.get_token();
    CHECK(time_behind_blocking_store(stopped, &stops) < seconds{15});
}

TEST_CASE("order: a store that stays unreachable ends the batch") {
    settle::memory::database db;
    settle::testing::faulty fragile{db};
    manual_environment const time;
    settle::engine engine{fragile, settle::type<relabel_type>, settle::with_environment(time)};
    engine.create(labels, label{"hot", "label 0"}).value();
    fragile.plan([](call const& call) {
        return fault{call.what == "apply" ? fault_kind::unavailable : fault_kind::none};
    });
    std::size_t undecided = 0;
    auto const count = [&](std::size_t, settle::outcome const& outcome) {
        if (outcome.verdict == settle::verdict::undecided) ++undecided;
    };
    for (std::size_t const window : {1U, 4U}) {
        settle::batch_options options;
        options.window = window;
        undecided = 0;
        auto const report = engine.run_all(relabels(40), count, options);
        CHECK(report.taken == window);
        CHECK(report.not_taken == 40 - window);
        CHECK(undecided == window);
        CHECK(report.problem.code == settle::errc::store_unreachable);
    }
    fragile.plan({});
    auto const later = engine.run_all(relabels(40), count);
    CHECK(later.problem.empty());
    CHECK(later.taken == 40);
}

TEST_CASE("order: a transaction after an unavailable store does not claim repeatedly") {
    settle::memory::database log;
    settle::memory::database db;
    settle::memory::database other;
    settle::testing::faulty fragile{other};
    int claims = 0;
    settle::engine engine{settle::log_in(log),
                          settle::bind(bank::accounts, db),
                          settle::bind(labels, fragile),
                          settle::type<sale_type>,
                          settle::early_entries,
                          settle::with_environment(manual_environment{}),
                          settle::observed_by([&](settle::event const& seen) {
                              if (seen.taken == settle::step::claim) ++claims;
                          })};
    open_accounts(engine);
    for (auto const* const id : {"a", "b", "c"}) engine.create(labels, label{id, ""}).value();
    int away = 20;
    fragile.plan([&](call const& call) {
        // The first of a wave is of the first transaction.
        bool const hit = call.what == "apply" && away-- > 0;
        return hit ? fault{fault_kind::unavailable, 1} : fault{};
    });
    std::vector<std::pair<std::string, sale>> const sales{{"a", {"a", name_of_account(0), 60}},
                                                          {"b", {"b", name_of_account(0), 60}},
                                                          {"c", {"c", name_of_account(1), 60}}};
    auto const outcomes = engine.run_all(sales, {1000, {}, {}});
    REQUIRE(outcomes.size() == 3);
    CHECK(outcomes[0].done());
    CHECK(outcomes[1].why == settle::reason::guard_failed);
    CHECK(outcomes[2].done());
    CHECK(away <= 0);
    CHECK(claims == 1);
    // Only its own window blocked it.
    for (auto const* const id : {"a", "b", "c"}) CHECK(engine.find(id).value()->attempts == 0);
}

TEST_CASE("order: a requeued transaction tries no more often than the blocking transaction") {
    settle::memory::database db;
    settle::testing::faulty fragile{db};
    manual_environment const time;
    int claims = 0;
    settle::engine engine{fragile, settle::type<bank::transfer_type>,
                          settle::with_environment(time),
                          settle::observed_by([&](settle::event const& seen) {
                              if (seen.taken == settle::step::claim) ++claims;
                          })};
    engine.create(bank::accounts, bank::account{"A", 60, 60}).value();
    engine.create(bank::accounts, bank::account{"B", 0, 0}).value();
    engine.create(bank::accounts, bank::account{"C", 0, 0}).value();
    int away = 20;
    fragile.plan([&](call const& call) {
        time.advance(std::chrono::microseconds{50});
        bool const hit = call.what == "confirm" && away-- > 0;
        return hit ? fault{fault_kind::unavailable} : fault{};
    });
    std::vector<std::pair<std::string, bank::transfer>> const all{{"a", {"A", "B", 60}},
                                                                  {"b", {"B", "C", 60}}};
    for (auto const& outcome : engine.run_all(all, {1000, {}, {}})) CHECK(outcome.done());
    CHECK(away <= 0);
    CHECK(claims <= 22);
}
