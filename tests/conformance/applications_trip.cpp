// SPDX-License-Identifier: BSL-1.0
// The sample of trips: orders of a file at four services, and the commands on their log.
#include <contains.hpp>
#include <trip_services.hpp>

#include <nlohmann/json.hpp>

namespace trip_test {

namespace {

using testing::ask;
using testing::contains;
using testing::scratch_folder;
using testing::trip_services;

std::string const header = "id,traveller,price,card,flight,people,hotel,rooms,nights,car,days\n";

} // namespace

TEST_CASE("trip: the orders of the file end once, and all five files agree") {
    scratch_folder const folder{"trip-file"};
    trip_services const services{folder};
    auto const file = testing::data_file("trip/orders.csv");
    auto const opened = services.call({"open", file, "--balance", "3000.00"});
    REQUIRE_MESSAGE(opened.code == 1, opened.out << opened.err);
    auto const run = services.call({"run", file});
    CHECK_MESSAGE(run.code == 1, run.out << run.err);
    auto const checked = services.call({"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    CHECK(services.faults().empty());

    auto const count = [&](std::string const& where) {
        return std::stoi(
            services.ask_all("SELECT count(*) FROM settle_entries WHERE " + where).at(0).at(0));
    };
    CHECK(count("state = 'done'") > 100);
    CHECK(count("state = 'done'") + count("state = 'canceled'") == count("true"));
    CHECK(count("participant = 'traveller'") > 0);
    // Which service refuses first depends on the order of the calls.
    CHECK(count("participant IN ('flight', 'hotel', 'car', 'card')") > 20);

    SUBCASE("a repeated run changes nothing") {
        auto const before = services.ask_all("SELECT id, state FROM settle_entries ORDER BY id");
        CHECK(services.call({"run", file, "check"}).code == 1);
        CHECK(services.ask_all("SELECT id, state FROM settle_entries ORDER BY id") == before);
        CHECK(services.faults().empty());
    }
    SUBCASE("check finds a booking that is gone, a charge of another amount, and a seat too many") {
        auto const text = [&](char const* service, std::string const& change) {
            ask(services.file(service), change);
            auto const found = services.call({"check"});
            CHECK(found.code == 1);
            return found.out;
        };
        CHECK(
            contains(text("flight", "UPDATE flights SET free = free + 1 WHERE id = (SELECT min(id) "
                                    "FROM flights)"),
                     "BAD services    1 faults"));
        CHECK(contains(text("card", "UPDATE charges SET price = price + 1 WHERE number = 1"),
                       "BAD cards"));
        CHECK(contains(
            text("hotel", "DELETE FROM rooms WHERE number = (SELECT max(number) FROM rooms)"),
            "and there is nothing in rooms"));
    }
}

TEST_CASE("trip: show has the results of the services") {
    scratch_folder const folder{"trip-show"};
    trip_services const services{folder};
    auto const file =
        folder.write("orders.csv", header + "T1,Ada,900.00,VISA-1,LIS-1,2,Park,1,3,van,3\n");
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 0);
    auto const run = services.call({"run", file});
    REQUIRE_MESSAGE(run.code == 0, run.out << run.err);
    auto const shown = services.call({"show", "T1"});
    for (auto const* number : {"flight-1", "hotel-1", "car-1", "card-1"}) {
        CHECK_MESSAGE(contains(shown.out, number), shown.out);
    }
    CHECK(contains(services.call({"list"}).out, "done"));
    CHECK(contains(services.call({"stuck", "--older-than", "0s"}).out, "0 entries"));
    CHECK(contains(services.call({"cancel", "T1"}).err, "T1 is done, too late to cancel it"));
    auto const late = services.call({"resolve", "T1", "hotel", "by hand"});
    CHECK(late.code != 0);
    CHECK_MESSAGE(contains(late.err, "done"), late.err);
    CHECK(services.call({"balance", "agency"}).out == "900.00\n");
}

TEST_CASE("trip: a person pauses a service, and the next program resumes its calls") {
    scratch_folder const folder{"trip-paused"};
    trip_services const services{folder};
    auto const file =
        folder.write("orders.csv", header + "T1,Ada,900.00,VISA-1,LIS-1,2,Park,1,3,van,3\n");
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 0);
    CHECK(contains(services.call({"pause", "service", "motel", "x"}).err, "no service 'motel'"));
    CHECK(services.call({"pause", "guest", "Ada", "x"}).code == 2);
    auto const tried = services.call({"pause", "service", "hotel", "it burns", "--dry-run"});
    CHECK(tried.out == "pause would change something for the calls of the service 'hotel'\n");
    CHECK(contains(services.call({"resume", "service", "hotel"}).err, "no calls"));
    auto const paused = services.call({"pause", "service", "hotel", "it burns", "--yes", "--json"});
    REQUIRE(paused.code == 0);
    CHECK(nlohmann::json::parse(paused.out)["changed"] == true);
    auto const again =
        services.call({"pause", "service", "hotel", "it burns", "--dry-run", "--json"});
    CHECK(nlohmann::json::parse(again.out)["would_change"] == false);
    auto const running = services.begin({"run", file});
    auto const* const flights = "SELECT state FROM settle_entries WHERE stages_kept > 0";
    for (int i = 0; i < 600 && services.ask_all(flights).empty(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    CHECK(contains(services.call({"stuck", "--older-than", "0s"}).out,
                   "1 entries\nthe calls of the service 'hotel' are paused: it burns\n"));
    auto const stuck =
        nlohmann::json::parse(services.call({"stuck", "--older-than", "0s", "--json"}).out);
    CHECK(stuck["entries"].at(0)["id"] == "T1");
    CHECK(stuck["paused"].at(0)["name"] == "hotel");
    CHECK(contains(services.call({"resume", "service", "hotel", "--dry-run"}).out, "something"));
    CHECK(services.call({"resume", "service", "hotel"}).code == 0);
    running->wait();
    CHECK(services.call({"run", file}).code == 0);
    CHECK(contains(services.call({"list"}).out, "done"));
    CHECK(contains(services.call({"resume", "service", "hotel"}).err, "no calls"));
}

TEST_CASE("trip: a service's own sentence is in the report, in list and in show, also later") {
    scratch_folder const folder{"trip-refused"};
    trip_services const services{folder};
    auto const file =
        folder.write("orders.csv", header + "T1,Ada,900.00,VISA-1,LIS-1,2,Park,500,3,van,3\n");
    auto const* const sentence = "Park has too few rooms";
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 0);
    for (int round = 0; round < 2; ++round) {
        CAPTURE(round);
        auto const run = services.call({"run", file, "--report", folder.at("report.json")});
        CHECK_MESSAGE(contains(run.out, sentence), run.out << run.err);
        CHECK(contains(testing::read_file(folder.at("report.json")), sentence));
    }
    CHECK(contains(services.call({"list"}).out, sentence));
    CHECK(contains(services.call({"list", "--json"}).out, sentence));
    CHECK(contains(services.call({"show", "T1"}).out, sentence));
    CHECK(contains(services.call({"show", "T1", "--json"}).out, sentence));
    CHECK(services.ask_all("SELECT reason FROM settle_entries WHERE reason_text LIKE "
                           "'%Park has too few rooms%'") == testing::sql_rows{{"refused"}});
}

TEST_CASE("trip: a call that its service will never answer is stuck, and a person closes it") {
    scratch_folder const folder{"trip-stuck"};
    trip_services services{folder};
    auto const file =
        folder.write("orders.csv", header + "T1,Ada,900.00,VISA-1,LIS-1,2,Park,1,3,van,3\n");
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 0);
    services.kill(1);
    auto const running = services.begin({"run", file});
    auto const state = [&] {
        auto const rows = services.ask_all("SELECT state FROM settle_entries WHERE id = 'T1'");
        return rows.empty() ? std::string{} : rows[0][0];
    };
    for (int i = 0; i < 600 && state() != "canceling"; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    REQUIRE(state() == "canceling");
    running->signal(SIGKILL);
    running->wait();

    CHECK(contains(services.call({"stuck", "--older-than", "0s"}).out, "T1"));
    auto const tried = services.call({"resolve", "T1", "hotel", "hotel burnt down", "--dry-run"});
    CHECK(tried.code == 0);
    CHECK_MESSAGE(contains(tried.out, "T1: The call that you name is closed"), tried.out);
    CHECK(state() == "canceling");
    auto const closed = services.call({"resolve", "T1", "hotel", "hotel burnt down"});
    CHECK_MESSAGE(closed.code == 0, closed.out << closed.err);
    CHECK(closed.out == "T1 is canceled\n");
    auto const again = services.call({"resolve", "T1", "hotel", "hotel burnt down", "--json"});
    CHECK(nlohmann::json::parse(again.out)["verdict"] == "canceled");
    CHECK(contains(services.call({"show", "T1"}).out, "hotel burnt down"));
    services.start_missing();
    auto const checked = services.call({"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    CHECK(services.faults().empty());
}

TEST_CASE(
    "trip: a person who knows that the card was not charged cancels a trip that is deciding") {
    scratch_folder const folder{"trip-deciding"};
    trip_services services{folder};
    auto const file =
        folder.write("orders.csv", header + "T1,Ada,900.00,VISA-1,LIS-1,2,Park,1,3,van,3\n");
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 0);
    services.kill(3);
    auto const running = services.begin({"run", file});
    auto const state = [&] {
        auto const rows = services.ask_all("SELECT state FROM settle_entries WHERE id = 'T1'");
        return rows.empty() ? std::string{} : rows[0][0];
    };
    for (int i = 0; i < 600 && state() != "deciding"; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    REQUIRE(state() == "deciding");
    running->signal(SIGKILL);
    running->wait();

    CHECK(services.call({"balance", "Ada"}).out ==
          "1000.00\n100.00 is stored; unfinished transactions hold the difference\n");
    CHECK(contains(services.call({"cancel", "T1", "--dry-run"}).out, "T1: not allowed: "));
    CHECK(contains(services.call({"cancel", "--record", "accounts/Ada", "--dry-run"}).out,
                   "cancel would change 0 of 1 entries"));
    CHECK(contains(services.call({"cancel", "T1"}).err, "too late to cancel 'T1'"));
    CHECK(contains(services.call({"resolve", "T1", "card", "not charged"}).err, "Ask the service"));
    CHECK(services.call({"resolve", "T1", "card", "x", "--pivot", "perhaps"}).code == 2);
    auto const unread =
        services.call({"resolve", "T1", "card", "x", "--pivot", "applied", "--result", "{"});
    CHECK(contains(unread.err, "can be read from '{'"));
    auto const closed =
        services.call({"resolve", "T1", "card", "not charged", "--pivot", "not-applied"});
    CHECK_MESSAGE(closed.code == 0, closed.out << closed.err);
    CHECK(closed.out == "T1 is canceled\n");
    CHECK(contains(services.call({"show", "T1"}).out, "not charged"));
    services.start_missing();
    auto const checked = services.call({"check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
    CHECK(services.faults().empty());
}

TEST_CASE("trip: a row that is no order is refused with its line and reason") {
    scratch_folder const folder{"trip-rows"};
    trip_services const services{folder};
    auto const file = folder.write("orders.csv", header + "T1,,9,V,L,1,P,1,1,van,1\n"
                                                          "T2,Ada,-9,V,L,1,P,1,1,van,1\n"
                                                          "T3,Ada,9,V,L,0,P,1,1,van,1\n"
                                                          "T4,Ada,9,V,L,1,P,x,1,van,1\n"
                                                          "T5,agency,9,V,L,1,P,1,1,van,1\n");
    REQUIRE(services.call({"open", file, "--balance", "1000.00"}).code == 1);
    auto const run = services.call({"run", file});
    CHECK(run.code == 1);
    for (auto const* sentence :
         {"order 'T1': it names no traveller", "order 'T2': the price -9 is not above zero",
          "order 'T3': the number of people 0 is not from 1 to 1000",
          "order 'T4': the number of rooms 'x' is not a number",
          "order 'T5': the agency sells trips and buys none"}) {
        CHECK_MESSAGE(contains(run.out, sentence), run.out);
    }
}

TEST_CASE("trip: a store that the program does not have is refused with the stores that it has") {
    scratch_folder const folder{"trip-store"};
    auto const call = [&](std::vector<std::string> arguments) {
        return testing::run_sample(folder, "trip", std::move(arguments));
    };
    auto const refused = call({"--store", "mongodb://127.0.0.1/trips", "check"});
    CHECK(refused.code == 2);
    CHECK(refused.err == "trip: 'mongodb:…' is no address of a store; known are sqlite:PATH and "
                         "memory:\n");
    CHECK_FALSE(contains(call({"--help"}).out, "mongodb"));
}

TEST_CASE("trip: wrong use of a service is one sentence") {
    scratch_folder const folder{"trip-usage"};
    auto const call = [&](std::vector<std::string> arguments) {
        return testing::run_sample(folder, "trip-service", std::move(arguments));
    };
    CHECK(call({}).code == 2);
    CHECK(call({"train"}).code == 2);
    CHECK(call({"car", "--port", "70000"}).code == 2);
    CHECK(call({"car", "--capacity", "many"}).code == 2);
    trip_services const services{folder};
    auto const other = call({"car", "--database", services.file("flight"), "--port", "0"});
    CHECK(other.code == 3);
    CHECK(contains(other.err, "trip-service: "));
}

} // namespace trip_test
