// SPDX-License-Identifier: BSL-1.0
// Trips of three calls over HTTP on loopback, with the log in SQLite. The services are a program of
// their own.
#include "baseline/saga_http.hpp"
#include "child.hpp"
#include "saga_rounds.hpp"

#include <settle/http.hpp>

#include <sstream>

namespace bench {

namespace {

class travel_server {
public:
    travel_server() : program_(SETTLE_TRAVEL_SERVER) {
        std::istringstream line{program_.read_line()};
        line >> addresses_[0] >> addresses_[1] >> addresses_[2];
    }

    [[nodiscard]] std::array<std::string, 3> const& addresses() const { return addresses_; }
    /// The calls that the services took since the last call of this function.
    [[nodiscard]] travel_services take() const {
        program_.write_line("take");
        std::istringstream line{program_.read_line()};
        travel_services taken;
        line >> taken.tickets >> taken.rooms >> taken.charges >> taken.charged;
        return taken;
    }

private:
    talking_child program_;
    std::array<std::string, 3> addresses_;
};

void compare(context& context, std::string const& name, std::size_t count, std::size_t window,
             double budget) {
    travel_server const server;
    saga_case const compared{context.file("saga_http.db"), make_trips(count),
                             [&](saga_case const& test_case) {
                                 erase_file(test_case.path);
                                 settle::http::client airline_client{server.addresses()[0]};
                                 settle::http::client hotel_client{server.addresses()[1]};
                                 settle::http::client bank_client{server.addresses()[2]};
                                 settle::sqlite::database db{test_case.path};
                                 settle::engine engine{db, settle::type<trip_type>,
                                                       settle::bind(airline, airline_client),
                                                       settle::bind(hotel, hotel_client),
                                                       settle::bind(bank, bank_client)};
                                 double const seconds = run_trips(engine, test_case.work, window);
                                 check_services(server.take(), test_case.work);
                                 return seconds;
                             },
                             [&](saga_case const& test_case, baseline::log_layout layout) {
                                 baseline::http_calls calls{server.addresses()};
                                 double const seconds = run_trips_by_hand(
                                     test_case.path, test_case.work, window, layout, calls);
                                 check_services(server.take(), test_case.work);
                                 return seconds;
                             }};
    compared.compare(context, name, budget);
}

add_case const one_at_a_time{57, "SQLite, saga of three calls over HTTP, one at a time",
                             [](context& context, std::string const& name) {
                                 compare(context, name, context.size(600, 200), 1, 1.15);
                             }};

add_case const in_batches{58, "SQLite, saga of three calls over HTTP, 64 at a time",
                          [](context& context, std::string const& name) {
                              compare(context, name, context.size(6'400, 1'920), 64, 1.00);
                          }};

} // namespace

} // namespace bench
