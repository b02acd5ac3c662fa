// SPDX-License-Identifier: BSL-1.0
// Compiled to measure the program of the README with all calls of the engine.
#include <tickets.cpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

void make_all_calls(settle::sqlite::database& db) {
    settle::engine engine{db, settle::type<booking_type>};
    booking const parameters{"anna", "hamlet", 2, 5000};
    std::vector<booking> const bookings{parameters};
    std::vector<account> const buyers{{"berta", 10000}};
    std::string const id = "order-1";
    auto const look = [](std::size_t, auto const&) {};

    std::ignore = engine.run(parameters);
    std::ignore = engine.run<booking_type>(parameters);
    std::ignore = engine.run(id, parameters);
    std::ignore = engine.run<booking_type>(id, parameters);
    std::ignore = engine.submit(parameters);
    std::ignore = engine.submit<booking_type>(parameters);
    std::ignore = engine.submit(id, parameters);
    std::ignore = engine.submit<booking_type>(id, parameters);
    std::ignore = engine.run_all(bookings);
    std::ignore = engine.run_all(bookings, look);
    std::ignore = engine.run_all<booking_type>(bookings);
    std::ignore = engine.run_all<booking_type>(bookings, look);

    std::ignore = engine.cancel(id);
    std::ignore = engine.reverse(id);
    std::ignore = engine.retry(id);
    std::ignore = engine.resolve(id, "seats", "closed by hand");
    std::ignore = engine.stuck();
    std::ignore = engine.stuck(std::chrono::hours{1});
    std::ignore = engine.statistics();
    std::ignore = engine.work();
    std::ignore = engine.recover();
    std::ignore = engine.sweep();
    std::ignore = engine.purge();

    std::ignore = engine.find(id);
    for (settle::entry const& entry : engine.list()) std::cout << entry.id << '\n';
    for (settle::entry const& entry : engine.list(settle::state::done, std::chrono::hours{1})) {
        std::cout << entry.id << '\n';
    }
    std::ignore = engine.page(engine.still_for(std::chrono::hours{1}), id, 10);
    std::ignore = engine.marks();

    std::ignore = engine.read(shows, std::string{"hamlet"});
    std::ignore = engine.create_all(accounts, buyers);
    std::ignore = engine.create_all(accounts, buyers, look);
    for (account const& buyer : engine.scan(accounts)) std::cout << buyer.id << '\n';
    std::ignore = engine.scan_page<std::remove_cv_t<decltype(accounts)>>(std::nullopt, 10);
    std::cout << engine.limits().attempts << engine.owner() << '\n';
}
