// SPDX-License-Identifier: BSL-1.0
// The payment of the programs that applied MongoDB's tutorial to a balance and an order: an amount
// goes from the one to the other, and both show it while it is pending.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace shop::tutorial {

struct purse {
    std::string id;
    std::int64_t amount;
};

struct payment {
    std::string balance_id;
    std::string order_id;
    std::int64_t amount;
};

} // namespace shop::tutorial

BOOST_HANA_ADAPT_STRUCT(shop::tutorial::purse, id, amount);
BOOST_HANA_ADAPT_STRUCT(shop::tutorial::payment, balance_id, order_id, amount);

namespace shop::tutorial {

using settle::field;
using settle::param;

inline constexpr settle::collection<purse, "balance", &purse::id> balances;
inline constexpr settle::collection<purse, "orders", &purse::id> orders;

inline constexpr auto payment_type =
    settle::transaction<payment, "payment">(
        settle::participant<"balance">(balances, param<&payment::balance_id>)
            .require(field<&purse::amount> >= param<&payment::amount>)
            .apply(field<&purse::amount> -= param<&payment::amount>)
            .compensate(field<&purse::amount> += param<&payment::amount>),
        settle::participant<"order">(orders, param<&payment::order_id>)
            .apply(field<&purse::amount> += param<&payment::amount>)
            .compensate(settle::inverse));

} // namespace shop::tutorial
