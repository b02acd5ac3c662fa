// SPDX-License-Identifier: BSL-1.0
// Calls that cannot be undone, limits of calls, and transactions that only a person ends.
#include "engine_types.hpp"

#include <service_receiver.hpp>

namespace pivot_test {

using namespace engine_test;

struct order {
    std::string customer, flight;
    std::int64_t price = 0;
};
struct seat {
    std::string flight;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};

SETTLE_STRUCT(order, customer, flight, price);
SETTLE_STRUCT(seat, flight);
SETTLE_STRUCT(charge, customer, amount);

using service_test::receiver;
using settle::call;
using settle::call_operation;
using settle::service_answer;
using settle::service_call;
using namespace std::chrono_literals;

inline constexpr settle::service<seat, settle::nothing, "airline", settle::barrier> airline;
inline constexpr settle::service<charge, settle::nothing, "bank", settle::barrier> bank;

inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"flight">(airline)
        .apply(call(param<&order::flight>))
        .compensate(call())
        .confirm(call())
        .tries<3>()
        .pauses<20, 80>(),
    settle::participant<"card">(bank).apply(call(param<&order::customer>, param<&order::price>)));

namespace {

/// Accounts in memory, and a receiver of both services, which outlives the engines.
struct office {
    settle::memory::database accounts_at{};
    receiver services{};
    std::function<void(settle::event const&)> seen{};
    world_state world{};

    auto make(settle::options const& limits = {}) {
        return settle::engine{accounts_at,
                              settle::bind(airline, services),
                              settle::bind(bank, services),
                              settle::type<order_type>,
                              limits,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by([this](settle::event const& event) {
                                  if (seen) seen(event);
                              })};
    }
    office() {
        auto engine = make();
        open_accounts(engine, {{"A", 1000}});
    }
    /// Gives one answer to every call of this operation of a participant.
    void always(std::string_view participant, call_operation operation, service_answer answer) {
        services.before = [=](service_call const& call) -> std::optional<service_answer> {
            bool const meant = call.participant == participant && call.operation == operation;
            return meant ? std::optional{answer} : std::nullopt;
        };
    }
};

order const usual{"A", "LH 1", 500};

} // namespace

TEST_CASE("pivot: the entry is deciding when the pivot is called, and its answer decides") {
    office office;
    auto engine = office.make();
    int looked = 0;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        auto const entry = entry_of(engine, "t1");
        if (call.participant == "flight" && call.operation == call_operation::apply) {
            CHECK(entry.state == state::pending);
        }
        if (call.participant == "card") {
            CHECK(entry.state == state::deciding);
            CHECK(entry.revision == 2);
            ++looked;
        }
        return std::nullopt;
    };
    CHECK(engine.run("t1", usual).done());
    CHECK(looked == 1);
    CHECK(office.services.called() == "apply flight, apply card, confirm flight");
}

TEST_CASE("pivot: a deciding transaction is not canceled, and any worker brings it to its end") {
    office office;
    office.always("card", call_operation::apply, service_answer::unknown("lost"));
    {
        auto engine = office.make();
        auto const outcome = engine.run("t1", usual, soon);
        CHECK(outcome.verdict == settle::verdict::undecided);
        CHECK(entry_of(engine, "t1").state == state::deciding);
        auto const refused = engine.cancel("t1");
        CHECK(refused.verdict == settle::verdict::refused);
        CHECK(refused.problem.code == settle::errc::too_late);
        CHECK(refused.text().find("too late to cancel 't1'") != std::string::npos);
        CHECK(entry_of(engine, "t1").state == state::deciding);
    }
    office.services.before = [](service_call const&) { return std::nullopt; };
    office.world.time += 31min;
    auto later = office.make();
    auto const report = later.recover();
    CHECK(report.done == 1);
    CHECK(entry_of(later, "t1").state == state::done);
    CHECK(balance_of(later, "A") == 500);
}

TEST_CASE("pivot: a pivot is called again without a limit, also when the entry has expired") {
    office office;
    int calls = 0;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant != "card" || ++calls > 40) return std::nullopt;
        if (calls == 20) office.world.time += 24h * 30;
        return calls % 2 == 0 ? service_answer::unavailable("away") : service_answer{};
    };
    auto engine = office.make({.call_patience = std::chrono::hours{24}});
    CHECK(engine.run("t1", usual).done());
    CHECK(calls == 41);
}

TEST_CASE("pivot: a transaction that expires before its pivot is canceled without the call") {
    office office;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "flight" && call.operation == call_operation::apply) {
            office.world.time += 24h * 8;
        }
        return std::nullopt;
    };
    auto engine = office.make();
    auto const outcome = engine.run("t1", usual);
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::expired);
    CHECK(office.services.called() == "apply flight, compensate flight");
    CHECK(balance_of(engine, "A") == 1000);
}

TEST_CASE("pivot: a refused pivot cancels with the reason of its service") {
    office office;
    office.always("card", call_operation::apply, service_answer::refused("no cover"));
    auto engine = office.make();
    auto const outcome = engine.run("t1", usual);
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::refused);
    CHECK(outcome.participant == "card");
    CHECK(outcome.problem.text.find("no cover") != std::string::npos);
    CHECK(office.services.called() == "apply flight, apply card, compensate flight");
    CHECK(balance_of(engine, "A") == 1000);
}

TEST_CASE("calls: a participant's own number of tries ends in a cancel") {
    for (bool const silent : {false, true}) {
        CAPTURE(silent);
        office office;
        office.always("flight", call_operation::apply,
                      silent ? service_answer{} : service_answer::unavailable("away"));
        auto engine = office.make();
        auto const outcome = engine.run("t1", usual);
        CHECK(outcome.canceled());
        CHECK(outcome.why == (silent ? reason::unanswered : reason::unavailable));
        CHECK(outcome.participant == "flight");
        CHECK(office.services.called() ==
              "apply flight, apply flight, apply flight, compensate flight");
        CHECK(balance_of(engine, "A") == 1000);
    }
}

TEST_CASE("calls: the pauses are the participant's, and no shorter than the service asks") {
    office office;
    std::vector<std::chrono::nanoseconds> times;
    auto answer = service_answer::unavailable("away");
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant != "flight" || call.operation != call_operation::apply) return {};
        times.push_back(office.world.elapsed);
        return times.size() < 3 ? std::optional{answer} : std::nullopt;
    };
    auto engine = office.make();
    CHECK(engine.run("t1", usual).done());
    REQUIRE(times.size() == 3);
    CHECK(times[1] - times[0] >= 10ms);
    CHECK(times[1] - times[0] <= 20ms);
    CHECK(times[2] - times[1] >= 20ms);
    CHECK(times[2] - times[1] <= 40ms);
    times.clear();
    answer.retry_after = 5s;
    CHECK(engine.run("t2", order{"A", "LH 2", 1}).done());
    REQUIRE(times.size() == 3);
    CHECK(times[1] - times[0] >= 5s);
}

TEST_CASE("calls: a call carries the last moment at which its receiver may begin") {
    office office;
    settle::timestamp last{};
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        last = call.last_moment;
        return std::nullopt;
    };
    auto engine = office.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(last == entry_of(engine, "t1").created + 24h * 7);
}

TEST_CASE("calls: a caller whose time ends after the commit gets the outcome done") {
    office office;
    office.always("flight", call_operation::confirm, service_answer::unavailable("away"));
    auto engine = office.make();
    auto const outcome = engine.run("t1", usual, soon);
    CHECK(outcome.done());
    CHECK_FALSE(outcome.finished);
    CHECK(outcome.text().find("not all of it is confirmed yet") != std::string::npos);
    CHECK(entry_of(engine, "t1").state == state::applied);
    // A recovery that does not finish it does not count it as done.
    auto const tried = engine.recover(of_any_age());
    CHECK(tried.done == 0);
    CHECK(tried.undecided == 1);
    CHECK(tried.problem.code == settle::errc::call_unavailable);
    office.services.before = [](service_call const&) { return std::nullopt; };
    auto const ended = engine.retry("t1");
    CHECK(ended.done());
    CHECK(ended.finished);
    CHECK(entry_of(engine, "t1").state == state::done);
}

TEST_CASE("stuck: a compensation that never succeeds is listed, tried again, and closed") {
    office office;
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "card") return service_answer::refused("no cover");
        if (call.operation == call_operation::compensate)
            return service_answer::unavailable("away");
        return std::nullopt;
    };
    auto engine = office.make();
    CHECK(engine.run("t1", usual, soon).verdict == settle::verdict::undecided);
    CHECK(entry_of(engine, "t1").state == state::canceling);
    CHECK(engine.stuck().value().empty());
    office.world.time += 11min;
    REQUIRE(engine.stuck().value().size() == 1);
    CHECK(engine.stuck().value().front().id == "t1");
    CHECK(engine.retry("t1", soon).verdict == settle::verdict::undecided);

    auto const refusal = [&](auto const&... given) {
        auto const refused = engine.resolve("t1", given...);
        CHECK(refused.verdict == settle::verdict::refused);
        CHECK(refused.problem.code == settle::errc::not_closable);
        return refused.problem.text;
    };
    CHECK(refusal("flight", "").find("the reason must be UTF-8") != std::string::npos);
    CHECK(refusal("flight", "\xff").find("the reason must be UTF-8") != std::string::npos);
    CHECK(refusal("flight", std::string(1001, 'x')).find("1 to 1,000 bytes") != std::string::npos);
    CHECK(refusal("train", "done").find("has no call 'train'") != std::string::npos);
    CHECK(refusal("payer", "done").find("has no call 'payer'") != std::string::npos);
    settle::resolve_options line;
    line.line = 0;
    CHECK(refusal("flight", "done", line).find("has no call 'flight' on line 1. Name a") !=
          std::string::npos);

    auto const outcome = engine.resolve("t1", "flight", "refunded by hand");
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::refused);
    auto const entry = entry_of(engine, "t1");
    CHECK(entry.state == state::canceled);
    REQUIRE(entry.results.size() == 1);
    CHECK(entry.results.front().closed == "refunded by hand");
    CHECK(balance_of(engine, "A") == 1000);
    CHECK(engine.stuck().value().empty());
    CHECK(refusal("flight", "again").find("its state is canceled. Only a") != std::string::npos);
    CHECK(refusal("train", "again").find("its state is canceled. Only a") != std::string::npos);
    CHECK(engine.resolve("t9", "flight", "again").problem.code == settle::errc::unknown_id);
}

TEST_CASE("stuck: the observer sees once that a transaction is stuck, and the engine counts it") {
    office office;
    std::vector<std::string> seen;
    office.seen = [&](settle::event const& event) {
        if (!event.stuck) return;
        CHECK_FALSE(event.line);
        seen.push_back(event.id + " " + std::string{name_of(event.taken)} + " " +
                       std::string{event.participant} + " " + std::to_string(event.attempts) + " " +
                       std::string{name_of(event.state)} + " " + std::string{event.problem});
    };
    office.always("flight", call_operation::confirm, service_answer::unavailable("away"));
    auto engine = office.make();
    auto other = office.make();
    CHECK_FALSE(engine.run("t1", usual, soon).finished);
    CHECK_FALSE(engine.run("t2", order{"A", "LH 2", 10}, soon).finished);
    CHECK_FALSE(engine.run("t3", order{"A", "LH 2", 10}, soon).finished);
    CHECK(seen.empty());
    CHECK(engine.statistics().stuck == 0);

    office.world.time += 11min;
    CHECK_FALSE(engine.retry("t1", soon).finished);
    CHECK_FALSE(engine.retry("t1", soon).finished);
    CHECK_FALSE(engine.retry("t2", soon).finished);
    CHECK_FALSE(engine.retry("t3", soon).finished);
    REQUIRE(seen.size() == 3);
    CHECK(seen.front() == "t1 confirm flight 1 applied settle: the service 'airline' is not "
                          "available for the confirm of 'flight': away. See errors#errors");
    CHECK(engine.statistics().stuck == 3);
    CHECK(other.statistics().stuck == 0);

    office.services.before = [](service_call const&) { return std::nullopt; };
    CHECK(engine.retry("t1").done());
    CHECK(engine.statistics().stuck == 2);
    // Another engine ends the transactions. The next list and the next recovery notice that.
    CHECK(other.retry("t2").done());
    CHECK(engine.statistics().stuck == 2);
    CHECK(engine.stuck().value().size() == 1);
    CHECK(engine.statistics().stuck == 1);
    CHECK(other.retry("t3").done());
    CHECK(engine.statistics().stuck == 1);
    CHECK(engine.recover().done == 0);
    CHECK(engine.statistics().stuck == 0);
}

TEST_CASE("stuck: a pivot that gives no answer is stuck, at the age that the options say") {
    office office;
    std::string seen;
    office.seen = [&](settle::event const& event) {
        if (event.stuck) seen.append(event.participant).append(" ").append(name_of(event.state));
    };
    office.always("card", call_operation::apply, service_answer::unknown("lost"));
    auto engine = office.make({.stuck_after = 20s});
    CHECK(engine.run("t1", usual, soon).verdict == settle::verdict::undecided);
    CHECK(seen.empty());
    CHECK(engine.stuck().value().empty());
    office.world.time += 21s;
    CHECK(engine.retry("t1", soon).verdict == settle::verdict::undecided);
    CHECK(seen == "card deciding");
    CHECK(engine.stuck().value().size() == 1);
    CHECK(engine.stuck(1h).value().empty());
    CHECK_THROWS_AS(office.make({.stuck_after = -1ms}), settle::failure);
}

TEST_CASE("statistics: the answers of each service are counted") {
    office office;
    int calls = 0;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "card") return service_answer::refused("no cover");
        if (call.operation != call_operation::apply) return std::nullopt;
        ++calls;
        if (calls == 1) return service_answer::unavailable("away");
        if (calls == 2) throw std::runtime_error{"lost"};
        return std::nullopt;
    };
    auto engine = office.make();
    CHECK(engine.run("t1", usual).canceled());
    std::vector<settle::call_counts> const expected{{"airline", 2, 0, 1, 1}, {"bank", 0, 1, 0, 0}};
    CHECK(engine.statistics().calls == expected);
    CHECK(office.make().statistics().calls.front() == settle::call_counts{"airline"});
}

TEST_CASE("stuck: a confirm that never succeeds is closed, and a pending call is not") {
    office office;
    office.always("flight", call_operation::apply, service_answer::unavailable("away"));
    auto engine = office.make();
    CHECK(engine.run("t1", usual, {1ms, {}}).verdict == settle::verdict::undecided);
    auto const refused = engine.resolve("t1", "flight", "booked by hand");
    CHECK(refused.problem.text.find("its state is pending") != std::string::npos);
    CHECK(engine.cancel("t1").canceled());

    office.always("flight", call_operation::confirm, service_answer::unavailable("away"));
    CHECK_FALSE(engine.run("t2", usual, soon).finished);
    CHECK(engine.resolve("t2", "flight", "ticket sent by hand").done());
    CHECK(entry_of(engine, "t2").state == state::done);
    CHECK(balance_of(engine, "A") == 500);
}

} // namespace pivot_test
