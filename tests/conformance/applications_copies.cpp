// SPDX-License-Identifier: BSL-1.0
// A copy of the log is closed on a test machine while production goes on with its services: the
// copy calls none of them, and production ends with everything booked.
#include <contains.hpp>
#include <trip_services.hpp>

#include <csignal>
#include <filesystem>

namespace copies_test {

namespace {

using testing::ask;
using testing::contains;
using testing::ended;
using testing::run_sample;
using testing::scratch_folder;
using testing::trip_services;

std::string const header = "id,traveller,price,card,flight,people,hotel,rooms,nights,car,days\n";
std::string const trip = "T1,Ada,900.00,VISA-1,LIS-1,2,Park,1,3,van,3\n";

void wait_for(trip_services const& services, std::string const& condition,
              char const* name = "trip", std::string const& table = "settle_entries") {
    using clock = std::chrono::steady_clock;
    auto const until = clock::now() + std::chrono::minutes{15};
    while (ask(services.file(name), "SELECT 1 FROM " + table + " WHERE " + condition).empty()) {
        REQUIRE_MESSAGE(clock::now() < until, name << " never: " << condition);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

/// The rows of all receivers.
std::string receivers_of(trip_services const& services) {
    std::string rows;
    for (char const* const name : {"flight", "hotel", "car", "card"}) {
        for (auto const& row : ask(services.file(name), "SELECT * FROM settle_receiver")) {
            for (auto const& column : row) rows += column + "|";
        }
    }
    return rows;
}

constexpr std::size_t car = 2;
constexpr std::size_t card = 3;

} // namespace

TEST_CASE("copies: a copy of the trips is closed without a call, and production books all") {
    scratch_folder const folder{"trip-copies"};
    trip_services services{folder};
    auto const file = folder.write("orders.csv", header + trip);
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 0);
    auto const on_copy = [&](std::vector<std::string> command) {
        return services.call(std::move(command), "copy");
    };
    auto const close_copy = [&](std::string const& end, std::string const& balance) {
        std::filesystem::remove(services.file("copy"));
        ask(services.file("trip"), "VACUUM INTO '" + services.file("copy") + "'");
        auto const before = receivers_of(services);
        for (char const* const command : {"recover", "check", "work"}) {
            auto const refused = on_copy({command});
            CHECK(refused.code == 3);
            CHECK_MESSAGE(contains(refused.err, "'trip home copied'"), refused.err);
        }
        CHECK(on_copy({"cancel", "T1"}).code == 3);
        // A program without the type of the entry closes nothing, and leaves both answers.
        auto const other = run_sample(
            folder, "transfer", {"--store", "sqlite:" + services.file("copy"), "home", "copied"});
        CHECK(other.code == 3);
        CHECK_MESSAGE(contains(other.out, "is of type 'trip'"), other.out << other.err);
        CHECK(contains(on_copy({"check"}).err, "'trip home moved'"));
        auto const closed = on_copy({"home", "copied", "list", "balance"});
        CHECK_MESSAGE(closed.code == 0, closed.out << closed.err);
        CHECK_MESSAGE(contains(closed.out, end), closed.out);
        CHECK_MESSAGE(contains(closed.out, balance), closed.out);
        CHECK(on_copy({"home", "copied", "recover"}).code == 0);
        CHECK(ask(services.file("copy"), "SELECT 1 FROM settle_mark").empty());
        CHECK(receivers_of(services) == before);
    };

    services.signal(car, SIGSTOP);
    auto production = services.begin({"run", file});
    wait_for(services, "stages_kept = 2");
    wait_for(services, "status = 'applied'", "hotel", "settle_receiver");
    close_copy("closed: 1 canceled, 0 done", "1000.00");

    services.kill(card);
    services.signal(car, SIGCONT);
    wait_for(services, "state = 'deciding'");
    close_copy("its pivot undecided", "1000.00");

    services.kill(car);
    services.start(card);
    wait_for(services, "state = 'applied'");
    for (char const* const name : {"flight", "hotel"}) {
        wait_for(services, "status = 'confirmed'", name, "settle_receiver");
    }
    close_copy("closed: 0 canceled, 1 done", "100.00");

    services.start_missing();
    auto const run = production->wait();
    CHECK_MESSAGE(run.code == 0, run.out << run.err);
    CHECK(contains(run.out, "done       1"));
    CHECK(services.faults().empty());
    CHECK(services.call({"check"}).code == 0);
    // The copy is a bank of its own now.
    auto const again = folder.write("again.csv", header + "T2" + trip.substr(2));
    CHECK(on_copy({"run", again}).code != 3);
}

TEST_CASE("copies: a file that was moved keeps its log") {
    scratch_folder const folder{"moved-file"};
    auto const table =
        folder.write("orders.csv",
                     "order_id,account,bank_to,account_to,amount,purpose\n1,Ada,YZ,Ben,10.00,HH\n");
    auto const transfer = [&](std::string const& file, std::vector<std::string> command) {
        command.insert(command.begin(), {"--store", "sqlite:" + folder.at(file)});
        return run_sample(folder, "transfer", std::move(command));
    };
    REQUIRE(transfer("bank.db", {"open", table, "--balance", "20.00"}).code == 0);
    auto const name = ask(folder.at("bank.db"), "SELECT value FROM settle_meta WHERE name = 'log'");
    // Another file system gives the file another number.
    std::filesystem::copy_file(folder.at("bank.db"), folder.at("moved.db"));
    std::filesystem::remove(folder.at("bank.db"));
    auto const refused = transfer("moved.db", {"run", table});
    CHECK(refused.code == 3);
    CHECK_MESSAGE(contains(refused.err, "'transfer home moved'"), refused.err);
    auto const late = transfer("moved.db", {"home", "moved", "run", table, "check"});
    CHECK_MESSAGE(late.code == 0, late.out << late.err);
    CHECK(contains(late.out, "the log is at home here"));
    CHECK(ask(folder.at("moved.db"), "SELECT value FROM settle_meta WHERE name = 'log'") == name);
    // Said again it changes nothing; it comes first; and the answer is one of two.
    CHECK(transfer("moved.db", {"home", "moved", "check"}).code == 0);
    CHECK(transfer("moved.db", {"check", "home", "moved"}).code == 2);
    CHECK(transfer("moved.db", {"home"}).code == 2);
    CHECK(transfer("moved.db", {"home", "lost"}).code == 2);
    CHECK(run_sample(folder, "transfer", {"--store", "memory:", "home", "copied"}).code == 0);
}

} // namespace copies_test
