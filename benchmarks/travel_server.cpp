// SPDX-License-Identifier: BSL-1.0
// The three services of a trip over HTTP, a program of its own. It prints their addresses in one
// line, and then for each line of its input the calls that the services took since the last line.
#include "travel.hpp"

#include <settle/http/receiver_server.hpp>

#include <iostream>
#include <mutex>
#include <string>

namespace {

class counting_services {
public:
    template <typename Request>
    [[nodiscard]] settle::http::receiver_function receiver() {
        return [this](settle::service_call const& call) {
            auto const request = settle::decode_json<Request>(call.request);
            if (!request) return settle::service_answer::unavailable(request.problem().text);
            std::lock_guard const guard{lock_};
            return settle::reply{all_.answer(*request)}.answer;
        };
    }

    [[nodiscard]] bench::travel_services take() {
        std::lock_guard const guard{lock_};
        return std::exchange(all_, {});
    }

private:
    std::mutex lock_;
    bench::travel_services all_;
};

} // namespace

int main() {
    using settle::http::receiver_server;
    counting_services services;
    receiver_server const airline{"/airline", services.receiver<bench::seat_request>()};
    receiver_server const hotel{"/hotel", services.receiver<bench::room_request>()};
    receiver_server const bank{"/bank", services.receiver<bench::charge>()};
    std::cout << airline.address() << ' ' << hotel.address() << ' ' << bank.address() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        auto const [tickets, rooms, charges, charged] = services.take();
        std::cout << tickets << ' ' << rooms << ' ' << charges << ' ' << charged << std::endl;
    }
}
