// SPDX-License-Identifier: BSL-1.0
// A service in a simulation: it keeps books, and the schedule disturbs it.
//
//   settle::testing::simulated_service flights{agency::flights};
//   settle::testing::simulation trial{db, settle::bind(agency::flights, flights),
//                                     settle::type<agency::trip_type>};
#pragma once

#include <settle/kinds/services/service_function.hpp>
#include <settle/testing/laws/value_source.hpp>
#include <settle/testing/simulate/receiver.hpp>

SETTLE_BEGIN
namespace testing {

/// The default work of a service: it refuses some calls, is unavailable for some, and gives random
/// results.
template <typename Service>
struct random_work {
    using result_type = typename Service::result_type;

    reply<result_type> operator()(typename Service::request_type const&, dice& chance) const {
        switch (chance.between(0, 31)) {
        case 0: return service_answer::refused("sold out");
        case 1: return service_answer::unavailable("busy");
        default: break;
        }
        if constexpr (Service::gives_result) {
            return value_source{chance.draw()}.template draw<result_type>();
        } else {
            return nothing{};
        }
    }
};

/// A service of a simulation, and its client: bind it to the service. Its receiver has the grade
/// that the service promises, and the shipped receiver decides for each call.
/// Shape:   Work - called with (request const&, dice&) at a first apply; returns a settle::reply
template <typename Service, typename Work = random_work<Service>>
class simulated_service : public detail::simulated_receiver {
public:
    explicit simulated_service(Service const&, Work work = {})
        : simulated_receiver(Service::name, Service::grade), work_(std::move(work)) {}

    void send(std::span<service_call const> calls, std::span<service_answer> answers) {
        auto const work = [this](service_call const& call) -> service_answer {
            auto const request = decode_json<typename Service::request_type>(call.request);
            if (!request) return service_answer::unavailable(request.problem().text);
            reply<typename Service::result_type> given = work_(*request, chance());
            return std::move(given.answer);
        };
        for (std::size_t at = 0; at < calls.size(); ++at) answers[at] = take(calls[at], work);
    }

private:
    Work work_;
};

template <typename Service>
simulated_service(Service const&) -> simulated_service<Service>;
template <typename Service, typename Work>
simulated_service(Service const&, Work) -> simulated_service<Service, Work>;

} // namespace testing
SETTLE_END
