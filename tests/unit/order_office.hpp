// SPDX-License-Identifier: BSL-1.0
// An order whose goods and parcel are calls of two services, and a receiver in their place.
#pragma once

#include "engine_types.hpp"

#include <service_receiver.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace order_test {

using namespace engine_test;

struct order {
    std::string customer;
    std::int64_t price = 0;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};

struct number {
    std::int64_t value = 0;
};

SETTLE_STRUCT(order, customer, price);
SETTLE_STRUCT(charge, customer, amount);
SETTLE_STRUCT(number, value);

using service_test::receiver;
using settle::call;
using settle::call_operation;
using settle::service_answer;
using settle::service_call;
using namespace std::chrono_literals;

inline constexpr settle::service<charge, settle::nothing, "shop", settle::barrier> shop;
inline constexpr settle::service<charge, settle::nothing, "courier", settle::barrier> courier;
/// Its calls have results.
inline constexpr settle::service<charge, number, "seller", settle::barrier> seller;
inline constexpr auto goods_number = settle::result_from<"goods", &number::value>;

inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"goods">(shop)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call())
        .pauses<40, 160>(),
    settle::participant<"parcel">(courier)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()));

/// A shop and a courier that are away for the first calls of an operation.
struct office {
    settle::memory::database accounts_at{};
    receiver services{};
    world_state world{};
    std::map<std::string, std::vector<std::chrono::nanoseconds>> calls{}; ///< times of each

    template <auto const& Type = order_type>
    auto make() {
        return settle::engine{accounts_at, settle::bind(shop, services),
                              settle::bind(courier, services), settle::type<Type>,
                              settle::with_environment(manual_environment{world})};
    }
    /// Shape:   away - the number of calls of each participant that find nobody
    auto make(call_operation operation, std::size_t away) {
        services.before = [this, operation,
                           away](service_call const& call) -> std::optional<service_answer> {
            if (call.operation != operation) return std::nullopt;
            auto& times = calls[std::string{call.participant}];
            times.push_back(world.elapsed);
            if (times.size() > away) return std::nullopt;
            return service_answer::unavailable("away");
        };
        return make();
    }
    office() {
        auto engine = make();
        open_accounts(engine, {{"A", 1000}});
    }
};

inline order const usual{"A", 100};

inline settle::call_options patient() {
    settle::call_options made;
    made.deadline = 10h;
    return made;
}

} // namespace order_test
