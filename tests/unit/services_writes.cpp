// SPDX-License-Identifier: BSL-1.0
// The durable writes of transactions that are calls alone.
#include "engine_types.hpp"

#include <settle/testing/entry_writer.hpp>
#include <settle/testing/faults.hpp>

#include <service_receiver.hpp>

namespace service_writes {

using namespace engine_test;

struct visit {
    std::string guest;
};
struct request {
    std::string guest;
};
struct place {
    std::string number;
};

SETTLE_STRUCT(visit, guest);
SETTLE_STRUCT(request, guest);
SETTLE_STRUCT(place, number);

using service_test::receiver;
using settle::call;
using settle::param;
using settle::service_call;

inline constexpr settle::service<request, place, "theatre", settle::barrier> theatre;

template <settle::fixed_string Name>
inline constexpr auto booking =
    settle::participant<Name>(theatre).apply(call(param<&visit::guest>)).compensate(call());

inline constexpr auto visit_type = settle::transaction<visit, "visit">(
    booking<"seat">, booking<"table">,
    settle::participant<"fee">(theatre).apply(call(param<&visit::guest>)));
inline constexpr auto fee_type = settle::transaction<visit, "fee">(
    settle::participant<"fee">(theatre).apply(call(param<&visit::guest>)));
inline constexpr auto confirmed_type =
    settle::transaction<visit, "confirmed">(booking<"seat">.confirm(call()));

namespace {

struct house {
    receiver services{};
    std::string steps{}; ///< "insert apply "
    std::function<void(settle::event const&)> seen{};
    world_state world{};

    template <auto const& Type, typename Database>
    auto make(Database& log) {
        return settle::engine{settle::log_in(log), settle::bind(theatre, services),
                              settle::type<Type>,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by([this](settle::event const& event) {
                                  steps.append(name_of(event.taken)).append(" ");
                                  if (seen) seen(event);
                              })};
    }
    house() {
        services.decide = [](service_call const&) {
            return settle::service_answer::ok(R"({"number":"12"})");
        };
    }
};

} // namespace

} // namespace service_writes

using namespace service_writes;

TEST_CASE("services: three calls in a row cost four writes") {
    house house;
    settle::memory::database log;
    auto engine = house.make<visit_type>(log);
    CHECK(engine.run("t", visit{"anna"}).done());
    CHECK(house.steps == "insert apply keep apply keep apply commit and close end ");
    auto const entry = engine.find("t").value();
    CHECK(entry->state == settle::state::done);
    CHECK(entry->results.size() == 3);
    CHECK(entry->committed == entry->epoch_number);
}

TEST_CASE("services: the note before a pivot is a write of its own") {
    house house;
    settle::memory::database log;
    CHECK(house.make<fee_type>(log).run("t", visit{"anna"}).done());
    CHECK(house.steps == "insert apply keep apply commit and close end ");
}

TEST_CASE("services: a call at commit is made before the close") {
    house house;
    settle::memory::database log;
    CHECK(house.make<confirmed_type>(log).run("t", visit{"anna"}).done());
    CHECK(house.steps == "insert apply commit confirm confirm close end ");
}

TEST_CASE("services: an insert that arrives after its engine has ended uses a copy of its clock") {
    house house;
    settle::memory::database log;
    settle::testing::faulty fragile{log};
    using settle::testing::fault_kind;
    fragile.plan([](settle::testing::call const& call) {
        return settle::testing::fault{call.what == name_of(settle::step::insert)
                                          ? fault_kind::late
                                          : fault_kind::crash_before};
    });
    CHECK_THROWS_AS(std::ignore = house.make<visit_type>(fragile).run("t", visit{"anna"}),
                    settle::testing::crash);
    bool kept = true;
    SUBCASE("before its last moment") {}
    SUBCASE("after its last moment") {
        house.world.time += std::chrono::hours{24 * 8};
        kept = false;
    }
    CHECK(fragile.deliver_late() == 1);
    auto const found = house.make<visit_type>(log).find("t").value();
    CHECK(found.has_value() == kept);
    if (found) CHECK(found->stages_kept == 1);
}

TEST_CASE("services: the wait for a log ends with the patience for stores") {
    for (auto const missing : {settle::step::insert, settle::step::keep}) {
        CAPTURE(name_of(missing));
        house house;
        settle::memory::database log;
        settle::testing::faulty fragile{log};
        fragile.plan([&](settle::testing::call const& call) {
            using settle::testing::fault_kind;
            return settle::testing::fault{call.what == name_of(missing) ? fault_kind::unavailable
                                                                        : fault_kind::none};
        });
        auto engine = house.make<visit_type>(fragile);
        auto const begun = house.world.elapsed;
        CHECK(engine.run("t", visit{"anna"}).verdict == settle::verdict::undecided);
        CHECK(house.world.elapsed - begun <= engine.limits().patience + std::chrono::seconds{1});
        CHECK(engine.limits().patience < engine.limits().call_patience);
    }
}

TEST_CASE("services: an owner that keeps a result now and then is alive, and not taken over") {
    using namespace std::chrono_literals;
    house house;
    settle::memory::database database;
    auto log = database.bind_log();
    auto engine = house.make<visit_type>(database);
    visit const usual{"anna"};
    constexpr settle::epoch epoch_of_owner = 4000;
    settle::testing::entry_writer owner{
        log, settle::testing::test_transaction::of<settle::forward<visit_type>>("t", usual)};
    REQUIRE(owner.insert(settle::state::pending, epoch_of_owner, house.world.time, "far away",
                         house.world.time) == settle::log_answer::taken);
    // The owner changes neither state nor epoch nor attempts.
    std::vector<std::chrono::nanoseconds> keeps{house.world.elapsed};
    house.world.while_pausing = [&] {
        if (house.world.elapsed - keeps.back() < 3s) return;
        keeps.push_back(house.world.elapsed);
        CHECK(owner.keep(house.world.time, "far away", {}) == settle::log_answer::taken);
    };
    settle::call_options call;
    call.deadline = 16s; // more than three times options::takeover
    CHECK(engine.run("t", usual, call).verdict == settle::verdict::undecided);
    house.world.while_pausing = {};
    CHECK(keeps.size() > 3);
    CHECK(engine.find("t").value()->epoch_number == epoch_of_owner);
    CHECK(house.services.rows.empty());
}

TEST_CASE("services: a crash after an insert that keeps a stage") {
    house house;
    settle::memory::database log;
    house.seen = kill_after(settle::step::insert);
    CHECK_THROWS_AS(std::ignore = house.make<visit_type>(log).run("t", visit{"anna"}), killed);
    house.seen = {};
    auto engine = house.make<visit_type>(log);
    SUBCASE("recovery goes on") {
        std::ignore = engine.recover(of_any_age());
        CHECK(engine.find("t").value()->state == settle::state::done);
    }
    SUBCASE("a cancel compensates the call that may have been made") {
        CHECK(engine.cancel("t").canceled());
        auto const& row = house.services.rows.at(log.name() + "/t/seat");
        CHECK(row.now == receiver::row::status::compensated);
        CHECK(house.services.rows.size() == 1);
    }
}
