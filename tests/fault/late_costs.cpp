// SPDX-License-Identifier: BSL-1.0
// How often a transaction between two files waits for the disk.
#include "../unit/two_files.hpp"
#include "power_vfs.hpp"

#include <trip/trip.hpp>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

using namespace two_files_test;

namespace {

/// How often a transaction of an engine syncs a file.
template <typename Engine>
double syncs_of_deposit_in(Engine& engine, power::disk& disk) {
    constexpr int count = 10;
    auto const pay = [&] { return engine.run(deposit{"A", "V", 1}).done(); };
    // The first transactions create the files' own files.
    for (int warm = 0; warm < 3; ++warm) REQUIRE(pay());
    // A trouble that never comes counts what it could strike.
    disk.arm({power::trouble::failing_sync, 0, false});
    auto const before = disk.calls();
    for (int paid = 0; paid < count; ++paid) REQUIRE(pay());
    return static_cast<double>(disk.calls() - before) / count;
}
/// Shape:   more - further arguments of an engine on two files
template <typename... More>
double syncs_of_deposit(More const&... more) {
    power::disk disk;
    power::vfs const on_disk{disk};
    two_files files;
    auto engine = files.make(more...);
    return syncs_of_deposit_in(engine, disk);
}

} // namespace

TEST_CASE("late: a transfer between two files waits for the disk as often as it commits") {
    // Apply and confirm elsewhere, and the decision; the close goes with a later commit.
    CHECK(syncs_of_deposit() == doctest::Approx(3));
    CHECK(syncs_of_deposit(settle::early_entries) == doctest::Approx(4));
    CHECK(syncs_of_deposit(settle::two_phases) == doctest::Approx(6));
}

TEST_CASE("one store: a transfer in two collections of one file waits for the disk once") {
    power::disk disk;
    power::vfs const on_disk{disk};
    settle::sqlite::database bank{"/bank.db"};
    settle::engine engine{settle::log_in(bank), settle::bind(accounts, bank),
                          settle::bind(vaults, bank), settle::type<deposit_type>};
    open_accounts(engine, {{"A", 100}});
    engine.create(vaults, {"V", 0}).value();
    CHECK(syncs_of_deposit_in(engine, disk) == doctest::Approx(1));
}

TEST_CASE("late: threads that pay at once share the waits for the disk") {
    constexpr int thread_count = 16;
    constexpr int each = 10;
    power::disk disk;
    power::vfs const on_disk{disk};
    two_files files;
    settle::engine engine{files.books, settle::bind(vaults, files.cellar),
                          settle::type<deposit_type>};
    std::atomic<int> done = 0;
    auto const pay = [&](int count) {
        for (int paid = 0; paid < count; ++paid) {
            done += engine.run(deposit{"A", "V", 0}).done() ? 1 : 0;
        }
    };
    pay(3);
    disk.arm({power::trouble::failing_sync, 0, false});
    auto const waits_of_a_round = [&] {
        auto const before = disk.calls();
        {
            std::latch all_are_here{thread_count};
            std::vector<std::jthread> threads;
            for (int thread = 0; thread < thread_count; ++thread) {
                threads.emplace_back([&] {
                    all_are_here.arrive_and_wait();
                    pay(each);
                });
            }
        }
        return disk.calls() - before;
    };
    // A transfer alone waits three times. On a busy machine, few threads may run at a time: then
    // another round shares more.
    int rounds = 1;
    auto waits = waits_of_a_round();
    for (; waits >= 2 * thread_count * each && rounds < 10; ++rounds) waits = waits_of_a_round();
    CHECK(done == 3 + rounds * thread_count * each);
    CHECK(waits < 2 * thread_count * each);
}

TEST_CASE("saga: what a trip waits for") {
    using namespace agency;
    power::disk disk;
    power::vfs const on_disk{disk};
    settle::sqlite::database bank{"/bank.db"};
    std::string steps;
    auto const book = [](reservation const&, settle::service_call const&) {
        return settle::reply<booking>{booking{"1", 10}};
    };
    auto const charge = [](payment const& paid, settle::service_call const&) {
        return settle::reply<receipt>{receipt{"1", paid.amount}};
    };
    settle::engine engine{settle::log_in(bank),
                          settle::bind(agency::accounts, bank),
                          settle::bind(flights, book),
                          settle::bind(hotels, book),
                          settle::bind(cars, book),
                          settle::bind(cards, charge),
                          settle::type<trip_type>,
                          settle::observed_by([&steps](settle::event const& event) {
                              steps.append(name_of(event.taken)).append(", ");
                          })};
    engine.create(agency::accounts, {"A", 100, 100}).value();
    engine.create(agency::accounts, {"agency", 0, 0}).value();
    auto const travel = [&] {
        steps.clear();
        return engine.run(trip{"A", 1, "card", "flight", 1, "hotel", 1, 1, "car", 1}).done();
    };
    for (int warm = 0; warm < 3; ++warm) REQUIRE(travel());
    disk.arm({power::trouble::failing_sync, 0, false});
    auto const before = disk.calls();
    CHECK(travel());
    // Flight, then hotel and car, then the card. The last confirm is the card's, which has none.
    CHECK(steps == "insert, apply, keep, apply, keep, apply, keep, apply, commit, confirm, "
                   "confirm, confirm, confirm, close, end, ");
    // All but the calls, and the close, which goes with a later commit.
    CHECK(disk.calls() - before == 7);
}
