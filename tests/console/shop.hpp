// SPDX-License-Identifier: BSL-1.0
// A shop in memory whose orders call services, for the tests of the console.
#pragma once

#include "client.hpp"

#include <settle/memory.hpp>

#include <doctest/doctest.h>
#include <service_receiver.hpp>

#include <string>

namespace console_shop {

struct account {
    std::string id;
    std::int64_t balance = 0;
};
struct seat {
    std::string id;
    std::string taken_by;
    std::string badge; ///< secret
};
struct order {
    std::string customer, seat;
    std::int64_t price = 0;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};
struct receipt {
    std::string number;
    std::string code; ///< secret
};
struct letter {
    std::string receipt;
};

} // namespace console_shop

SETTLE_STRUCT(console_shop::account, id, balance);
SETTLE_STRUCT(console_shop::seat, id, taken_by, badge);
SETTLE_STRUCT(console_shop::order, customer, seat, price);
SETTLE_STRUCT(console_shop::charge, customer, amount);
SETTLE_STRUCT(console_shop::receipt, number, code);
SETTLE_STRUCT(console_shop::letter, receipt);
template <>
inline constexpr bool settle::secret<&console_shop::seat::badge> = true;
template <>
inline constexpr bool settle::secret<&console_shop::receipt::code> = true;

namespace console_shop {

using settle::call, settle::field, settle::param;
using settle::service_answer, settle::service_call;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::collection<seat, "seats", &seat::id> seats;
inline constexpr settle::service<charge, receipt, "shop", settle::barrier> shop;
inline constexpr settle::service<charge, receipt, "bank", settle::barrier> bank;
inline constexpr settle::service<letter, settle::nothing, "mailer", settle::barrier> mailer;

inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"place">(seats, param<&order::seat>)
        .apply(field<&seat::taken_by> = param<&order::customer>)
        .compensate(settle::inverse),
    settle::participant<"goods">(shop)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()),
    settle::participant<"card">(bank).apply(call(param<&order::customer>, param<&order::price>)),
    settle::participant<"mail">(mailer).confirm(
        call(settle::result_from<"card", &receipt::number>)));

/// The services, and an engine of accounts and seats in memory.
struct office {
    /// Shape:   silent - the participant whose calls get no answer
    explicit office(std::string const& silent) {
        services.decide = [](service_call const&) {
            return service_answer::ok(R"({"number":"8","code":"4711"})");
        };
        REQUIRE(engine.create(accounts, {"anna", 100}).has_value());
        REQUIRE(engine.create(seats, {"1A", "", "0815"}).has_value());
        REQUIRE(engine.create(seats, {"1B", "", "0815"}).has_value());
        services.before = [silent](service_call const& made) -> std::optional<service_answer> {
            if (made.participant != silent) return std::nullopt;
            return service_answer::unknown("it does not answer");
        };
    }

    /// From now on each service answers.
    void repair() {
        services.before = [](service_call const&) { return std::nullopt; };
    }
    /// Runs an order, which stands still at the service that does not answer.
    void leave(std::string const& id, std::string const& place) {
        std::ignore = engine.run(id, order{"anna", place, 10}, {std::chrono::milliseconds{50}, {}});
    }

    settle::memory::database database{};
    service_test::receiver services{};
    decltype(settle::engine{std::declval<settle::memory::database&>(),
                            settle::bind(shop, std::declval<service_test::receiver&>()),
                            settle::bind(bank, std::declval<service_test::receiver&>()),
                            settle::bind(mailer, std::declval<service_test::receiver&>()),
                            settle::type<order_type>}) engine{
        database, settle::bind(shop, services), settle::bind(bank, services),
        settle::bind(mailer, services), settle::type<order_type>};
};

} // namespace console_shop
