// SPDX-License-Identifier: BSL-1.0
// How a shop is paid for an order, and how it pays a refund: both definitions, whole.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shop {

// The records. Money is an integer of hundredths.

struct customer {
    std::string id;
    std::int64_t balance;
    std::int64_t opened_with; // never changes; `check` compares the sums
};

struct order {
    std::string invoice;
    std::string customer;
    std::int64_t amount;
    std::string status; // "unpaid" or "paid"
};

struct item {
    std::string stock_code;
    std::int64_t in_stock;
};

struct till {
    std::string id;
    std::int64_t takings;
};

// The parameters of a payment and a refund.

struct order_line {
    std::string stock_code;
    std::int64_t quantity;
    std::int64_t price;
};

struct payment {
    std::string invoice;
    std::string customer;
    std::int64_t amount; // the sum of quantity times price
    std::vector<order_line> lines;
};

struct refund {
    std::string invoice;
    std::string customer;
    std::int64_t amount;
    std::vector<order_line> lines;
};

using settle::each;
using settle::field;
using settle::lit;
using settle::param;

inline constexpr settle::collection<customer, "customers", &customer::id> customers;
inline constexpr settle::collection<order, "orders", &order::invoice> orders;
inline constexpr settle::collection<item, "items", &item::stock_code> items;
inline constexpr settle::collection<till, "tills", &till::id> tills;

/// Pays an order. After a cancel the balance and the goods are back and the order is unpaid.
inline constexpr auto payment_type =
    settle::transaction<payment, "payment">(
        // The order changes only when the payment is certain; until then it reads "unpaid",
        // and no other payment of it can begin.
        settle::participant<"order">(orders, param<&payment::invoice>)
            .require(field<&order::status> == lit<"unpaid">)
            .require(field<&order::customer> == param<&payment::customer>)
            .require(field<&order::amount> == param<&payment::amount>)
            .confirm(field<&order::status> = lit<"paid">),
        settle::participant<"customer">(customers, param<&payment::customer>)
            .require(field<&customer::balance> >= param<&payment::amount>)
            .apply(field<&customer::balance> -= param<&payment::amount>)
            .compensate(field<&customer::balance> += param<&payment::amount>),
        // A part for each line; two lines may name the same stock code.
        settle::participant<"stock">(items, each<&payment::lines>,
                                     settle::line<&order_line::stock_code>)
            .require(field<&item::in_stock> >= settle::line<&order_line::quantity>)
            .apply(field<&item::in_stock> -= settle::line<&order_line::quantity>)
            .compensate(settle::inverse),
        // The shop can spend the money only after the commit.
        settle::participant<"till">(tills, lit<"shop">)
            .confirm(field<&till::takings> += param<&payment::amount>))
        .require(param<&payment::amount> > lit<0>);

/// Pays a customer back and takes the goods back: the reverse effects of a payment.
inline constexpr auto refund_type =
    settle::transaction<refund, "refund">(
        settle::participant<"till">(tills, lit<"shop">)
            .require(field<&till::takings> >= param<&refund::amount>)
            .apply(field<&till::takings> -= param<&refund::amount>)
            .compensate(field<&till::takings> += param<&refund::amount>),
        settle::participant<"customer">(customers, param<&refund::customer>)
            .confirm(field<&customer::balance> += param<&refund::amount>),
        settle::participant<"stock">(items, each<&refund::lines>,
                                     settle::line<&order_line::stock_code>)
            .confirm(field<&item::in_stock> += settle::line<&order_line::quantity>))
        .require(param<&refund::amount> > lit<0>);

} // namespace shop
