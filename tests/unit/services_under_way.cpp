// SPDX-License-Identifier: BSL-1.0
// What a call says of its earlier tries: whether one of them may still be under way.
#include "engine_types.hpp"

#include <service_receiver.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace under_way_test {

using namespace engine_test;

struct order {
    std::string customer;
    std::int64_t price = 0;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};

SETTLE_STRUCT(order, customer, price);
struct paid {
    std::int64_t balance = 0;
};
SETTLE_STRUCT(charge, customer, amount);
SETTLE_STRUCT(paid, balance);

using service_test::receiver;
using settle::call;
using settle::service_answer;
using settle::service_call;
using namespace std::chrono_literals;

inline constexpr settle::service<charge, settle::nothing, "bank", settle::barrier> bank;
inline constexpr settle::service<charge, paid, "wallet", settle::barrier> wallet;

inline constexpr auto payer = settle::participant<"payer">(accounts, param<&order::customer>)
                                  .require(field<&account::balance> >= param<&order::price>)
                                  .apply(field<&account::balance> -= param<&order::price>)
                                  .compensate(settle::inverse);
inline constexpr auto order_type = settle::transaction<order, "order">(
    payer,
    settle::participant<"card">(bank).apply(call(param<&order::customer>, param<&order::price>)));
inline constexpr auto payment_type = settle::transaction<order, "payment">(
    payer,
    settle::participant<"card">(wallet).apply(call(param<&order::customer>, param<&order::price>)));

namespace {

/// A bank that answers from a list first, and notes what each call says of its earlier tries.
struct office {
    settle::memory::database accounts_at{};
    receiver services{};
    world_state world{};
    std::vector<service_answer> next{};
    std::vector<bool> noted{};
    bool closed = false;

    auto make(std::function<void(settle::event const&)> seen = [](settle::event const&) {}) {
        return settle::engine{accounts_at,
                              settle::bind(bank, services),
                              settle::bind(wallet, services),
                              settle::type<order_type>,
                              settle::type<payment_type>,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by(std::move(seen))};
    }
    office() {
        auto engine = make();
        open_accounts(engine, {{"A", 1000}});
        services.before = [this](service_call const& call) -> std::optional<service_answer> {
            noted.push_back(call.may_be_under_way);
            if (closed) return service_answer::unavailable("closed");
            if (noted.size() > next.size()) return std::nullopt;
            return next[noted.size() - 1];
        };
    }
};

order const usual{"A", 500};
settle::call_options soon() {
    settle::call_options call;
    call.deadline = 1ms;
    return call;
}

} // namespace

TEST_CASE("under way: no earlier try is under way until one has no answer") {
    office office;
    auto engine = office.make();
    office.next = {service_answer::unavailable("closed"), service_answer::unknown("lost"),
                   service_answer::unavailable("closed")};
    CHECK(engine.run<order_type>("t1", usual).done());
    CHECK(office.noted == std::vector{false, false, true, true});
    // Another transaction begins anew.
    CHECK(engine.run<order_type>("t2", usual).done());
    CHECK(office.noted.back() == false);
}

TEST_CASE("under way: a worker that takes over does not know of the tries before it") {
    office office;
    office.closed = true;
    auto first = office.make();
    CHECK_FALSE(first.run<order_type>("t1", usual, soon()).done());
    CHECK(std::find(office.noted.begin(), office.noted.end(), true) == office.noted.end());
    office.closed = false;
    office.noted.clear();
    auto second = office.make();
    CHECK(second.recover(of_any_age()).done == 1);
    CHECK(office.noted == std::vector{true});
}

TEST_CASE("under way: the first worker of a submitted transaction sends the first try") {
    office office;
    auto engine = office.make();
    CHECK(engine.submit<order_type>("t1", usual).verdict == settle::verdict::undecided);
    CHECK(engine.work().done == 1);
    CHECK(office.noted == std::vector{false});
}

TEST_CASE("under way: a result in another language's spelling is kept as it means") {
    for (std::string const amount : {"300", "300.0", "3e2", "\"300\""}) {
        CAPTURE(amount);
        office office;
        office.next = {service_answer::ok(R"({"balance":)" + amount + R"(,"unit":"cent"})")};
        auto engine = office.make();
        CHECK(engine.run<payment_type>("t1", usual).done());
        auto const found = entry_of(engine, "t1");
        REQUIRE(found.results.size() == 1);
        CHECK(found.results[0].value == R"({"balance":300})");
    }
    office office;
    office.next.assign(100, service_answer::ok(R"({"balance":300.5})"));
    std::string problem;
    auto engine = office.make([&](settle::event const& seen) {
        if (!seen.problem.empty()) problem = seen.problem;
    });
    CHECK(engine.run<payment_type>("t1", usual, soon()).verdict == settle::verdict::undecided);
    CHECK(problem == "settle: the service 'wallet' gave a result of another form to the apply of "
                     "'card': the answer's JSON does not fit its type at balance, byte 11: the "
                     "number is not whole, or is beyond 64 bits. See errors#errors");
}

TEST_CASE("under way: an answer for a person makes the transaction stuck at once") {
    office office;
    auto const refused_key = [] {
        auto made = service_answer::unavailable("got status 401: token expired");
        made.for_person = true;
        return made;
    };
    office.next.assign(100, refused_key());
    std::string problem;
    auto engine = office.make([&](settle::event const& seen) {
        if (seen.stuck) problem += std::string{seen.participant} + ": " + std::string{seen.problem};
    });
    CHECK(engine.run<order_type>("t1", usual, soon()).verdict == settle::verdict::undecided);
    CHECK(problem.starts_with("card: settle: the service 'bank' is not available for the apply of "
                              "'card': got status 401: token expired."));
    auto const listed = engine.stuck().value();
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].id == "t1");
    CHECK(engine.statistics().stuck == 1);
    // The log does not keep the answer, so another engine knows it once it has made the call.
    auto other = office.make();
    CHECK(other.stuck().value().empty());
    auto const retried = other.retry("t1", soon());
    CHECK(retried.problem.text.find("got status 401: token expired") != std::string::npos);
    CHECK(other.stuck().value().size() == 1);
    office.next.clear();
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(engine.stuck().value().empty());
    CHECK(engine.statistics().stuck == 0);
}

} // namespace under_way_test
