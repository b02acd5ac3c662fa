// SPDX-License-Identifier: BSL-1.0
// The sample of trips in a folder: its four services as processes, its program, and SQL on all five
// files.
#pragma once

#include "program.hpp"
#include "sockets.hpp"
#include "sql.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace testing {

/// The services of a folder. Each keeps its port when it starts again.
class trip_services {
public:
    struct service {
        std::string name;
        std::string capacity;
        std::string table; ///< of the bookings
        int port = 0;
        std::unique_ptr<program> running{};
    };
    static constexpr std::size_t count = 4;

    explicit trip_services(scratch_folder const& folder) : folder_(&folder) {
        for (std::size_t at = 0; at < count; ++at) {
            all_[at].port = settle_test::unused_port();
            start(at);
        }
        wait_until_ready();
    }

    void start(std::size_t index) {
        auto& started = all_[index];
        std::vector<std::string> command{std::string{SETTLE_BIN_DIR} + "/trip-service",
                                         started.name,
                                         "--database",
                                         file(started.name),
                                         "--port",
                                         std::to_string(started.port),
                                         "--capacity",
                                         started.capacity};
        started.running = std::make_unique<program>(*folder_, std::move(command));
    }
    void kill(std::size_t index) {
        if (all_[index].running) all_[index].running->signal(SIGKILL);
        all_[index].running.reset();
    }
    /// Shape:   number - SIGSTOP: then no call of the service gets an answer
    void signal(std::size_t index, int number) const { all_[index].running->signal(number); }
    [[nodiscard]] bool runs(std::size_t index) const { return all_[index].running != nullptr; }

    /// Starts the services that do not run, and waits for all.
    void start_missing() {
        for (std::size_t at = 0; at < count; ++at) {
            if (!runs(at)) start(at);
        }
        wait_until_ready();
    }

    /// Runs the program of the trips to its end.
    /// Shape:   log - the name of the file with the log
    [[nodiscard]] ended call(std::vector<std::string> arguments,
                             std::string const& log = "trip") const {
        return begin(std::move(arguments), log)->wait();
    }
    [[nodiscard]] std::unique_ptr<program> begin(std::vector<std::string> arguments,
                                                 std::string const& log = "trip") const {
        std::vector<std::string> command{std::string{SETTLE_BIN_DIR} + "/trip", "--store",
                                         "sqlite:" + file(log)};
        for (auto const& each : all_) {
            command.insert(command.end(), {"--" + each.name, address_of(each),
                                           "--" + each.name + "-database", file(each.name)});
        }
        command.insert(command.end(), arguments.begin(), arguments.end());
        return std::make_unique<program>(*folder_, std::move(command));
    }
    /// Starts the server that sells trips.
    [[nodiscard]] std::unique_ptr<program> begin_server(std::vector<std::string> arguments) const {
        std::vector<std::string> command{std::string{SETTLE_BIN_DIR} + "/trip-server", "--database",
                                         file("trip")};
        for (auto const& each : all_)
            command.insert(command.end(), {"--" + each.name, address_of(each)});
        command.insert(command.end(), arguments.begin(), arguments.end());
        return std::make_unique<program>(*folder_, std::move(command));
    }

    [[nodiscard]] std::string file(std::string const& name) const {
        return folder_->at(name + ".db");
    }

    /// Asks the log's file; the files of the services are attached under their names.
    [[nodiscard]] sql_rows ask_all(std::string const& sql) const {
        std::string attach;
        for (auto const& each : all_) {
            attach += "ATTACH '" + file(each.name) + "' AS " + each.name + "; ";
        }
        return ask(file("trip"), attach + sql);
    }

    /// Each row is a trip that is neither whole nor absent in all files, or a wrong sum.
    [[nodiscard]] sql_rows faults() const {
        std::string rows;
        std::string services;
        for (auto const& each : all_) {
            auto const next = rows.empty() ? "" : " UNION ALL ";
            rows += next + ("SELECT trip, '" + each.name + "' AS service, price, confirmed FROM " +
                            each.name + "." + each.table);
            services += next + ("SELECT '" + each.name + "' AS service");
        }
        return ask_all(
            "WITH taken AS MATERIALIZED (" + rows + "), service AS (" + services +
            "), "
            "entry AS MATERIALIZED (SELECT id, state, parameters FROM settle_entries "
            "WHERE type = 'trip'), "
            "moved(id, amount) AS ("
            "SELECT parameters ->> 'traveller', -(parameters ->> 'price') FROM entry "
            "WHERE state = 'done' UNION ALL "
            "SELECT 'agency', parameters ->> 'price' FROM entry WHERE state = 'done' UNION ALL "
            "SELECT id, opened_with - balance FROM accounts) "
            // Done: once in each book, and confirmed there; the card has nothing to confirm.
            "SELECT id, service.service, state, count(trip) FROM entry CROSS JOIN service "
            "LEFT JOIN taken ON taken.trip = id AND taken.service = service.service "
            "GROUP BY id, service.service HAVING count(trip) <> (state = 'done') "
            "OR coalesce(sum(confirmed), 0) <> (state = 'done' AND service.service <> 'card') "
            "UNION ALL SELECT trip, service, 'no entry', 1 FROM taken "
            "WHERE trip NOT IN (SELECT id FROM entry) "
            "UNION ALL SELECT trip, 'charge', 'differs', "
            "sum(iif(service = 'card', -price, price)) FROM taken GROUP BY trip "
            "HAVING sum(iif(service = 'card', -price, price)) <> 0 "
            "UNION ALL SELECT id, 'account', 'differs', sum(amount) FROM moved GROUP BY id "
            "HAVING sum(amount) <> 0");
    }

private:
    static std::string address_of(service const& of) {
        return "http://127.0.0.1:" + std::to_string(of.port) + "/" + of.name;
    }
    void wait_until_ready() const {
        using clock = std::chrono::steady_clock;
        auto const until = clock::now() + std::chrono::minutes{15};
        for (auto const& each : all_) {
            while (each.running->printed().find('\n') == std::string::npos) {
                REQUIRE_MESSAGE(clock::now() < until,
                                each.name << " does not answer: " << each.running->complained());
                std::this_thread::sleep_for(std::chrono::milliseconds{2});
            }
        }
    }

    scratch_folder const* folder_;
    std::array<service, count> all_{service{"flight", "30", "seats"},
                                    service{"hotel", "10", "rooms"}, service{"car", "6", "rentals"},
                                    service{"card", "15000.00", "charges"}};
};

} // namespace testing
