// SPDX-License-Identifier: BSL-1.0
// Facts that a native transaction and a pool of clients do not ensure by themselves: two
// transactions that guard each other's change, threads that share one client, large documents, and
// indexes and fields of other programs.
#include "bank.hpp"
#include "shared_servers.hpp"

#include <atomic>
#include <thread>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

struct shift {
    std::string id;
    std::int64_t on_call = 0;
    std::string note{};
    std::optional<std::int64_t> most = 100;
};
struct step_down {
    std::string stays, goes;
};
struct note {
    std::string about, text;
};

} // namespace
} // namespace settle_test
BOOST_HANA_ADAPT_STRUCT(settle_test::shift, id, on_call, note, most);
BOOST_HANA_ADAPT_STRUCT(settle_test::step_down, stays, goes);
BOOST_HANA_ADAPT_STRUCT(settle_test::note, about, text);

namespace settle_test {
namespace {

using settle::field;
using settle::lit;
using settle::param;

inline constexpr settle::collection<shift, "shifts", &shift::id> shifts;

/// One person may step down while the other stays.
inline constexpr auto step_down_type = settle::transaction<step_down, "step_down">(
    settle::participant<"stays">(shifts, param<&step_down::stays>)
        .require(field<&shift::on_call> == lit<1>),
    settle::participant<"goes">(shifts, param<&step_down::goes>)
        .confirm(field<&shift::on_call> = lit<0>));

inline constexpr auto note_type =
    settle::transaction<note, "note">(settle::participant<"about">(shifts, param<&note::about>)
                                          .require(field<&shift::on_call> == lit<1>)
                                          .confirm(field<&shift::note> = param<&note::text>));

template <typename Database>
auto shifts_on(Database& db, settle::phases how) {
    return settle::engine{db, short_limits(), how, settle::type<step_down_type>,
                          settle::type<note_type>};
}

} // namespace

TEST_CASE("snapshots: of two transactions that guard each other's change, one takes effect") {
    fresh_database const own{replica_set_address};
    settle::mongodb::database db{own.address()};
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        auto engine = shifts_on(db, how);
        for (int round = 0; round < 25; ++round) {
            auto const number = std::to_string(round) + (how == settle::phases::one ? "a" : "b");
            std::string const ann = "Ann " + number;
            std::string const bob = "Bob " + number;
            for (auto const& id : {ann, bob}) engine.create(shifts, shift{id, 1}).value();
            std::atomic<int> ready{0};
            std::atomic<int> done{0};
            auto const go = [&](step_down const& parameters) {
                ++ready;
                while (ready != 2) std::this_thread::yield();
                done += engine.run(parameters).done() ? 1 : 0;
            };
            std::thread other{[&] { go({bob, ann}); }};
            go({ann, bob});
            other.join();
            CHECK(done == 1);
            auto const left = engine.read(shifts, ann).value()->on_call +
                              engine.read(shifts, bob).value()->on_call;
            CHECK(left == 1);
        }
        CHECK(engine.marks().value() == 0);
    }
    // The lock of a record leaves nothing in it.
    auto const found = run_command(own.address(), R"({"find": "shifts", "limit": 1})");
    CHECK(found.json().find("settle_held") == std::string::npos);
}

TEST_CASE("snapshots: threads that share one client take turns") {
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        fresh_database const own{*server};
        std::string const all = own.address();
        char const* const joint = all.find('?') == std::string::npos ? "?" : "&";
        settle::mongodb::database db{all + joint + "maxPoolSize=1"};
        auto engine = bank_on(db, settle::phases::two);
        for (char const* id : {"A", "B"}) engine.create(ledgers, {id, 1000, 0, ""}).value();
        for (int i = 0; i < 60; ++i) {
            CHECK(engine.submit("t" + std::to_string(i), transfer{"A", "B", 1}).problem.empty());
        }
        std::vector<std::thread> workers;
        for (int i = 0; i < 3; ++i) {
            workers.emplace_back([&] { CHECK(engine.work().problem.empty()); });
        }
        for (auto& one : workers) one.join();
        settle_all(engine);
        CHECK(balance(engine, "B") == 1060);
    }
}

TEST_CASE("long: snapshots: a confirm whose comparison exceeds one message is done") {
    fresh_database const own{replica_set_address};
    settle::mongodb::database db{own.address()};
    auto engine = shifts_on(db, settle::phases::two);
    engine.create(shifts, shift{"A", 1, std::string(4'300'000, 'x')}).value();
    std::string const text(4'300'000, 'y');
    auto const outcome = engine.run("m", note{"A", text});
    CHECK_MESSAGE(outcome.done(), outcome.problem);
    CHECK(engine.marks().value() == 0);
    CHECK((engine.read(shifts, std::string{"A"}).value()->note == text));
}

TEST_CASE("snapshots: a unique index named almost like the key's index refuses at once") {
    fresh_database const own{replica_set_address};
    auto const reply = run_command(
        own.address(), R"({"createIndexes": "shifts", "indexes": [)"
                       R"({"key": {"customer_id": 1}, "name": "customer_id_1", "unique": true}]})");
    REQUIRE_MESSAGE(reply.ok, reply.error);
    settle::mongodb::database db{own.address()};
    auto engine = shifts_on(db, settle::phases::one);
    engine.create(shifts, shift{"A", 1}).value();
    auto const begun = std::chrono::steady_clock::now();
    CHECK_FALSE(engine.create(shifts, shift{"B", 1}).has_value());
    CHECK(std::chrono::steady_clock::now() - begun < engine.limits().patience);
}

TEST_CASE("snapshots: an absent field is empty, whatever the struct's default value is") {
    fresh_database const own{replica_set_address};
    settle::mongodb::database db{own.address()};
    auto engine = shifts_on(db, settle::phases::one);
    auto const put = run_command(own.address(), R"({"insert": "shifts", "documents": [)"
                                                R"({"_id": "A", "on_call": 1, "note": ""}]})");
    REQUIRE_MESSAGE(put.ok, put.error);
    CHECK_FALSE(engine.read(shifts, std::string{"A"}).value()->most.has_value());
}

} // namespace settle_test
