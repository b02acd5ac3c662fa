// SPDX-License-Identifier: BSL-1.0
// Threads that settle one transaction each share native transactions; nobody gets another's end.
#include "bank.hpp"
#include "shared_servers.hpp"

#include <array>
#include <map>
#include <thread>
#include <vector>

TEST_CASE("threads share native transactions, and each is told its own end") {
    using namespace settle_test;
    fresh_database const own{replica_set_address};
    settle::mongodb::database db{own.address()};
    auto engine = bank_on(db);
    constexpr std::size_t people = 6;
    constexpr std::size_t each = 12;
    for (std::size_t i = 0; i < people; ++i) {
        engine.create(ledgers, {"A" + std::to_string(i), opening, 0, ""}).value();
    }
    // A record that nobody can use concerns those alone who name it.
    REQUIRE(run_command(own.address(), R"({"insert": "suite_ledgers", "documents": [)"
                                       R"({"_id": "broken", "balance": "much"}]})")
                .ok);
    std::array<std::vector<settle::outcome>, 16> told;
    {
        std::vector<std::jthread> threads;
        for (std::size_t place = 0; place < told.size(); ++place) {
            threads.emplace_back([&, place] {
                for (std::size_t i = 0; i < each; ++i) {
                    // Two threads want the same; some want more than there is, some a bad record.
                    std::size_t const number = (place / 2) * each + i;
                    std::string const from = "A" + std::to_string(number % people);
                    std::string const to = number % 9 == 4
                                               ? "broken"
                                               : "A" + std::to_string((number + 1) % people);
                    std::int64_t const amount = number % 5 == 3 ? 100'000 : 3;
                    told[place].push_back(
                        engine.run("t" + std::to_string(number), transfer{from, to, amount}));
                }
            });
        }
    }
    std::map<std::string, std::int64_t> expected;
    for (std::size_t place = 0; place < told.size(); ++place) {
        for (std::size_t i = 0; i < each; ++i) {
            std::size_t const number = (place / 2) * each + i;
            auto const& end = told[place][i];
            INFO("transfer " << number << ": " << end.text());
            bool const good = number % 9 != 4 && number % 5 != 3;
            CHECK(end.id == "t" + std::to_string(number));
            CHECK(end.done() == good);
            CHECK(end.canceled() == !good);
            check_told(engine, end);
            if (!good || place % 2 != 0) continue;
            expected["A" + std::to_string(number % people)] -= 3;
            expected["A" + std::to_string((number + 1) % people)] += 3;
        }
    }
    for (std::size_t i = 0; i < people; ++i) {
        std::string const id = "A" + std::to_string(i);
        CHECK(balance(engine, id) == opening + expected[id]);
    }
    CHECK(engine.marks().value() == 0);
}
