// SPDX-License-Identifier: BSL-1.0
// Long runs of sagas: services that are slow, away for minutes, wrong, and restarted from a backup.
#include "simulation_runs.hpp"

#include <settle/memory.hpp>

#include <trip/trip.hpp>

namespace simulated_services {

struct purse {
    std::string id;
    std::int64_t balance;
};
struct leg {
    std::string flight;
    std::int64_t people;
};
struct outing {
    std::string customer;
    std::int64_t price;
    std::vector<leg> legs;
};
struct question {
    std::string customer;
};
struct offer {
    std::int64_t price;
};
struct stay {
    std::string customer;
    std::int64_t price;
};
struct room {
    std::string number;
    std::int64_t price;
};
struct charge {
    std::string customer;
    std::int64_t amount;
};
struct letter {
    std::string customer, text;
};

SETTLE_STRUCT(purse, id, balance);
SETTLE_STRUCT(leg, flight, people);
SETTLE_STRUCT(outing, customer, price, legs);
SETTLE_STRUCT(question, customer);
SETTLE_STRUCT(offer, price);
SETTLE_STRUCT(stay, customer, price);
SETTLE_STRUCT(room, number, price);
SETTLE_STRUCT(charge, customer, amount);
SETTLE_STRUCT(letter, customer, text);

using settle::call;
using settle::call_operation;
using settle::call_status;
using settle::field;
using settle::line;
using settle::lit;
using settle::param;
using settle::reason;
using settle::result_from;
using settle::service_answer;
using settle::service_call;
using namespace settle::testing;
using simulation_test::on_one_processor;
using simulation_test::replay;

inline constexpr settle::collection<purse, "purses", &purse::id> purses;
inline constexpr settle::service<question, offer, "offers", settle::plain> offers;
inline constexpr settle::service<leg, settle::nothing, "airline", settle::barrier> airline;
inline constexpr settle::service<stay, room, "hotel",
                                 settle::remembers_keys | settle::keeps_refusals>
    hotel;
inline constexpr settle::service<charge, settle::nothing, "till",
                                 settle::remembers_keys | settle::closes_keys>
    till;
inline constexpr settle::service<letter, settle::nothing, "mailer", settle::remembers_keys> mailer;

/// A saga with a service of each grade, a range of calls, a query and a pivot.
inline constexpr auto outing_type = settle::transaction<outing, "outing">(
    settle::participant<"customer">(purses, param<&outing::customer>)
        .require(field<&purse::balance> >= param<&outing::price>)
        .apply(field<&purse::balance> -= param<&outing::price>)
        .compensate(settle::inverse),
    settle::participant<"agency">(purses, lit<"agency">)
        .confirm(field<&purse::balance> += param<&outing::price>),
    settle::participant<"offer">(offers).apply(settle::query(param<&outing::customer>)),
    settle::participant<"seats">(airline, settle::each<&outing::legs>)
        .apply(call(line<&leg::flight>, line<&leg::people>))
        .confirm(call())
        .compensate(call()),
    settle::participant<"room">(hotel)
        .apply(call(param<&outing::customer>, result_from<"offer", &offer::price>))
        .compensate(call()),
    settle::participant<"card">(till).apply(
        call(param<&outing::customer>,
             result_from<"offer", &offer::price> + result_from<"room", &room::price>)),
    settle::participant<"letter">(mailer).confirm(
        call(param<&outing::customer>, result_from<"room", &room::number>)));

/// A saga without a record.
inline constexpr auto flight_type =
    settle::transaction<leg, "flight">(settle::participant<"seats">(airline)
                                           .apply(call(param<&leg::flight>, param<&leg::people>))
                                           .confirm(call())
                                           .compensate(call()));

namespace {

agency::trip make_trip(dice& chance) {
    std::string const traveller{chance.between('A', 'C')};
    return {traveller,
            chance.between(10, 200),
            "card",
            "LH 1",
            chance.between(1, 4),
            "Hotel",
            1,
            2,
            "car",
            3};
}

/// The services of agency::trip_type.
struct trip_services {
    simulated_service<std::remove_const_t<decltype(agency::flights)>> flights{agency::flights};
    simulated_service<std::remove_const_t<decltype(agency::hotels)>> hotels{agency::hotels};
    simulated_service<std::remove_const_t<decltype(agency::cars)>> cars{agency::cars};
    simulated_service<std::remove_const_t<decltype(agency::cards)>> cards{agency::cards};
};

simulation_report sell_trips(simulation_limits const& limits, trip_services& by) {
    settle::memory::database db;
    simulation trial{db,
                     settle::bind(agency::flights, by.flights),
                     settle::bind(agency::hotels, by.hotels),
                     settle::bind(agency::cars, by.cars),
                     settle::bind(agency::cards, by.cards),
                     settle::type<agency::trip_type>};
    trial.open(agency::accounts, {"agency", 0, 0});
    for (char const* id : {"A", "B", "C"}) trial.open(agency::accounts, {id, 100'000, 100'000});
    trial.conserves(agency::accounts, field<&agency::account::balance>);
    return trial.run(make_trip, limits);
}
simulation_report sell_sound_trips(simulation_limits const& limits) {
    trip_services sound;
    return sell_trips(limits, sound);
}

std::variant<outing, leg> make_outing(dice& chance) {
    leg const first{"LH 1", chance.between(1, 4)};
    if (chance.between(0, 3) == 0) return first;
    outing made{std::string{chance.between('A', 'C')}, chance.between(10, 200), {first}};
    for (int more = chance.between(0, 2); more > 0; --more) made.legs.push_back({"LH 2", 1});
    return made;
}

simulation_report sell_outings(simulation_limits const& limits) {
    settle::memory::database db;
    simulated_service quotes{offers};
    simulated_service flights{airline};
    simulated_service rooms{hotel};
    simulated_service cards{till};
    simulated_service letters{mailer};
    simulation trial{db,
                     settle::bind(offers, quotes),
                     settle::bind(airline, flights),
                     settle::bind(hotel, rooms),
                     settle::bind(till, cards),
                     settle::bind(mailer, letters),
                     settle::type<outing_type>,
                     settle::type<flight_type>};
    trial.open(purses, {"agency", 0});
    for (char const* id : {"A", "B", "C"}) trial.open(purses, {id, 100'000});
    trial.conserves(purses, field<&purse::balance>);
    return trial.run(make_outing, limits);
}

/// Long runs, and, with every other seed, short runs with other fault rates.
simulation_limits limits_of(std::uint64_t seed) {
    return seed % 2 == 0 ? simulation_limits::drawn(seed) : simulation_limits::with_services(seed);
}

/// Limits under which entries and rows are purged while calls are on their way.
simulation_limits purging(std::uint64_t seed) {
    auto limits = simulation_limits::with_services(seed);
    limits.purges = true;
    limits.faults.jump = 0;
    limits.longest_late = std::chrono::minutes{40};
    limits.engine.clocks = std::chrono::milliseconds{0};
    limits.engine.resubmission = std::chrono::minutes{3};
    limits.engine.lifetime = std::chrono::minutes{5};
    return limits;
}

/// The events seen over all seeds.
struct experience {
    bool is_whole = false; ///< not a single seed that is repeated
    std::uint64_t begun = 0;
    std::uint64_t late = 0;
    std::uint64_t crashes = 0;
    std::uint64_t service_faults = 0;
    std::uint64_t purged = 0;
    std::map<reason, std::uint64_t> reasons;
};

template <typename Simulate>
experience run_sagas(std::vector<std::uint64_t> const& seeds_to_run, Simulate const& simulate,
                     simulation_limits (*limits)(std::uint64_t) = limits_of) {
    on_one_processor const processor;
    experience total;
    for (std::uint64_t const seed : seeds_to_run) {
        simulation_report const report = simulate(limits(seed));
        CHECK_MESSAGE(report.problems.empty(), report, "\n  ", replay(seed));
        total.begun += report.begun;
        total.late += report.late;
        total.crashes += report.crashes;
        total.service_faults += report.service_faults;
        total.purged += report.purged;
        for (auto const& [why, count] : report.reasons) total.reasons[why] += count;
    }
    MESSAGE(total.begun, " transactions, ", seeds_to_run.size(), " seeds");
    total.is_whole = seeds_to_run.size() > 1;
    return total;
}

/// The report of trips whose flights or cards have flaws.
simulation_report sell_with(service_flaws const& of_flights, service_flaws const& of_cards = {},
                            std::uint64_t seed = 1) {
    on_one_processor const processor;
    trip_services by;
    by.flights.flaws = of_flights;
    by.cards.flaws = of_cards;
    auto limits = simulation_limits::with_services(seed);
    limits.transactions = 500;
    limits.faults.late = 60'000;
    return sell_trips(limits, by);
}

bool names(simulation_report const& report, std::string_view text) {
    return std::any_of(report.problems.begin(), report.problems.end(), [&](auto const& problem) {
        return problem.find(text) != std::string::npos;
    });
}

} // namespace
} // namespace simulated_services

using namespace simulated_services;

TEST_CASE("simulation of services: a seed repeats its run step by step") {
    auto limits = simulation_limits::with_services(3);
    limits.transactions = 200;
    auto const first = sell_outings(limits);
    auto const second = sell_outings(limits);
    CHECK(first);
    CHECK(first.trace == second.trace);
    CHECK(first.lasted == second.lasted);
    CHECK(first.done == second.done);
    CHECK(first.service_calls == second.service_calls);
    limits.seed = 4;
    CHECK(sell_outings(limits).trace != first.trace);
}

TEST_CASE("simulation of services: the calls of four services end right") {
    auto const total = run_sagas(seeds(1, 6), sell_sound_trips);
    if (!total.is_whole) return;
    CHECK(total.late > 1'000);
    CHECK(total.crashes > 50);
    CHECK(total.service_faults > 20);
    for (reason const why :
         {reason::refused, reason::unanswered, reason::unavailable, reason::expired}) {
        INFO("canceled because of: ", std::string{name_of(why)});
        auto const found = total.reasons.find(why);
        CHECK(found != total.reasons.end());
    }
}

TEST_CASE("simulation of services: services of every grade end right") {
    auto const all = run_sagas(seeds(11, 6), sell_outings);
    CHECK((all.late > 100 || !all.is_whole));
}

TEST_CASE("simulation of services: entries and rows are purged while calls are on their way") {
    auto const trips = run_sagas(seeds(21, 2), sell_sound_trips, purging);
    CHECK((trips.purged > 100 || !trips.is_whole));
    auto const outings = run_sagas(seeds(31, 2), sell_outings, purging);
    CHECK((outings.purged > 100 || !outings.is_whole));
}

TEST_CASE("simulation of services: a restart that loses no answered call is harmless") {
    auto const restarts = [](simulation_limits limits) {
        limits.faults.restart = 100'000;
        return limits;
    };
    auto const total = run_sagas(seeds(41, 2), [&](simulation_limits const& limits) {
        return sell_outings(restarts(limits));
    });
    CHECK((total.service_faults > 500 || !total.is_whole));
}

TEST_CASE("simulation of services: a restored backup breaks promises, and the audit names them") {
    on_one_processor const processor;
    std::uint64_t restores = 0;
    std::size_t broken = 0;
    auto const seeds_to_run = seeds(51, 4);
    for (std::uint64_t const seed : seeds_to_run) {
        auto limits = simulation_limits::with_services(seed);
        limits.faults.restore = 500;
        auto const report = sell_sound_trips(limits);
        restores += report.restores;
        broken += report.problems.size();
        for (std::string const& problem : report.problems) {
            INFO(problem, "\n  ", replay(seed));
            // The service, its answer, and the backup that lost it.
            CHECK(problem.find("and the service '") != std::string::npos);
            CHECK(problem.find("it answered ") != std::string::npos);
            CHECK(problem.find("it went back to its backup of ") != std::string::npos);
        }
    }
    if (seeds_to_run.size() == 1) return;
    CHECK(restores > 4);
    CHECK(broken > 4);
}

TEST_CASE("simulation of services: a broken receiver is found") {
    SUBCASE("it remembers nothing") {
        service_flaws forgetful;
        forgetful.grade = settle::plain;
        auto const report = sell_with(forgetful);
        CHECK_MESSAGE(names(report, "has taken more than one apply of this key"), report);
    }
    SUBCASE("it remembers keys, and takes an apply after its compensation") {
        service_flaws without_rows;
        without_rows.grade = settle::remembers_keys | settle::keeps_refusals;
        auto const report = sell_with(without_rows);
        CHECK_MESSAGE(names(report, "has undone an effect that it did not have"), report);
    }
    SUBCASE("it does its work without its row") {
        service_flaws apart;
        apart.forgets = 50'000;
        // A report names the first ten problems alone.
        bool is_named = false;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            auto const report = sell_with(apart, {}, seed);
            CHECK_FALSE(report);
            is_named = is_named || names(report, "has taken more than one apply of this key");
        }
        CHECK(is_named);
    }
    SUBCASE("it refuses a pivot that took effect") {
        service_flaws liar;
        liar.distorts = [](service_call const& call, service_answer& answer, dice& chance) {
            bool const applied =
                call.operation == call_operation::apply && answer.status == call_status::ok;
            if (applied && chance.between(0, 9) == 0) answer = service_answer::refused("no");
        };
        auto const report = sell_with({}, liar);
        CHECK_MESSAGE(names(report, "1 effects of it (1 applies, 0 undone): it answered refused "
                                    "to its apply"),
                      report);
        // A call that can be undone is compensated, even if it was refused.
        CHECK(sell_with(liar));
    }
    SUBCASE("it gives another result to a repeated call") {
        service_flaws fickle;
        fickle.distorts = [](service_call const& call, service_answer& answer, dice& chance) {
            if (call.operation != call_operation::apply || answer.status != call_status::ok) return;
            answer.text = settle::encode_json(agency::booking{"LH", chance.between(1, 9)});
        };
        auto const report = sell_with(fickle);
        CHECK_MESSAGE(names(report, "it has answered two results to one key"), report);
    }
}

TEST_CASE("simulation of services: results of another form cancel, and no effect stands") {
    service_flaws garbled;
    garbled.distorts = [](service_call const& call, service_answer& answer, dice&) {
        // The price has more than 64 bits.
        if (call.operation == call_operation::apply && answer.status == call_status::ok)
            answer.text = R"({"number":"LH 1","price":99999999999999999999})";
    };
    auto const report = sell_with(garbled);
    CHECK(report);
    CHECK(report.done == 0);
    CHECK(report.canceled > 300);
}

TEST_CASE("simulation of services: a function is a service, and its calls are disturbed") {
    settle::memory::database db;
    std::map<std::string, std::int64_t, std::less<>> seats;
    std::uint64_t calls = 0;
    auto const book = [&](leg const& request,
                          service_call const& call) -> settle::reply<settle::nothing> {
        ++calls;
        // A row for each key; a compensated row takes no seat any more.
        auto const [row, fresh] = seats.try_emplace(std::string{call.key}, 0);
        if (call.operation == call_operation::compensate) row->second = -1;
        else if (fresh) row->second = request.people;
        else if (row->second == -1) return service_answer::refused("undone");
        return settle::nothing{};
    };
    simulation trial{db, settle::bind(airline, book), settle::type<flight_type>};
    std::int64_t sold = 0;
    trial.finally([&](auto& engine) -> std::string {
        for (settle::entry const& one : engine.page({}, "", 10'000).value()) {
            if (one.state == settle::state::done)
                sold += settle::decode_json<leg>(one.parameters).value().people;
        }
        std::int64_t booked = 0;
        for (auto const& [key, people] : seats) booked += std::max<std::int64_t>(people, 0);
        return booked == sold ? "" : "booked " + std::to_string(booked);
    });
    auto const report = trial.run([](dice& chance) { return leg{"LH 1", chance.between(1, 4)}; },
                                  simulation_limits::with_services(1));
    CHECK_MESSAGE(report, report);
    CHECK(sold > 1'000);
    CHECK(report.late > 100);
    CHECK(calls > 3'000);
}

TEST_CASE("simulation of services: the audit names the side that broke a promise") {
    simulated_service flights{airline, [](leg const&, dice&) -> settle::reply<settle::nothing> {
                                  return settle::nothing{};
                              }};
    detail::witness seen;
    detail::expected_call expected{"t1", "seats", {}, true, true, true};
    auto const unchanged = [](std::string const& text) { return text; };
    SUBCASE("the library commits a call that was never answered") {
        detail::audited_service{flights, seen}.compare(expected, unchanged);
        CHECK(seen.problems() ==
              std::vector<std::string>{"t1: is done, and the service 'airline' (seats) has 0 "
                                       "effects of it (0 applies, 0 undone), and it did not answer "
                                       "ok to its apply"});
    }
    SUBCASE("an effect has no transaction") {
        service_call call{};
        call.operation = call_operation::apply;
        call.key = "log/t2/seats";
        call.transaction = "t2";
        call.participant = "seats";
        call.last_moment = settle::timestamp::max();
        call.request = R"({"flight":"LH 1","people":1})";
        service_answer answer;
        flights.send({&call, 1}, {&answer, 1});
        REQUIRE(answer.status == call_status::ok);
        detail::audited_service{flights, seen}.compare_unseen();
        CHECK(seen.problems() ==
              std::vector<std::string>{"t2: no entry has this transaction, and the service "
                                       "'airline' has an effect of it"});
    }
}

TEST_CASE("long: simulation of services: hundreds of thousands of sagas end right") {
    SUBCASE("four services") { run_sagas(seeds(1001, 60), sell_sound_trips); }
    SUBCASE("services of every grade") { run_sagas(seeds(2001, 60), sell_outings); }
    SUBCASE("with purges") { run_sagas(seeds(3001, 30), sell_sound_trips, purging); }
    SUBCASE("every grade, with purges") { run_sagas(seeds(4001, 30), sell_outings, purging); }
}
