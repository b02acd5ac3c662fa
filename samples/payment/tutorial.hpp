// SPDX-License-Identifier: BSL-1.0
// The payment of a tutorial's program with a balance and an order: the amount leaves the balance
// and the order becomes paid, and both show while the payment is pending.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace shop::tutorial {

struct purse {
    std::string id;
    std::int64_t balance;
};

struct order {
    std::string id;
    std::string state;
};

struct payment {
    std::string balance_id;
    std::string order_id;
    std::int64_t amount;
};

using settle::field;
using settle::lit;
using settle::param;

inline constexpr settle::collection<purse, "balance", &purse::id> balances;
inline constexpr settle::collection<order, "orders", &order::id> orders;

/// A bare mark does not hold the replaced value. The guard does: a paid order was unpaid
/// before.
inline constexpr auto payment_type = settle::transaction<payment, "payment">(
    settle::participant<"balance">(balances, param<&payment::balance_id>)
        .require(field<&purse::balance> >= param<&payment::amount>)
        .apply(field<&purse::balance> -= param<&payment::amount>)
        .compensate(field<&purse::balance> += param<&payment::amount>),
    settle::participant<"order">(orders, param<&payment::order_id>)
        .require(field<&order::state> == lit<"UnPaid">)
        .apply(field<&order::state> = lit<"Paid">)
        .compensate(field<&order::state> = lit<"UnPaid">));

} // namespace shop::tutorial
