// SPDX-License-Identifier: BSL-1.0
// A shop beside the bank: a type for each kind of participant that the engine's tests need.
#pragma once

#include "engine_types.hpp"

#include <optional>
#include <vector>

namespace engine_test {

struct item {
    std::string code;
    std::int64_t stock = 0;
    std::string label;
    std::optional<std::string> note;

    friend bool operator==(item const&, item const&) = default;
};

struct order_line {
    std::string code;
    std::int64_t quantity = 0;
};
struct order {
    std::string account, card;
    std::int64_t amount = 0;
    std::vector<order_line> lines;
};

/// Parameters that two types share: one type creates the item, the other replaces it.
struct edit {
    std::string payer;
    std::int64_t fee = 0;
    item value;
};

struct drop {
    std::string code;
};
struct labels {
    std::vector<drop> lines;
    std::string before, after;
};
struct sale {
    std::string code;
    std::int64_t quantity = 0;
};

} // namespace engine_test
BOOST_HANA_ADAPT_STRUCT(engine_test::item, code, stock, label, note);
BOOST_HANA_ADAPT_STRUCT(engine_test::order_line, code, quantity);
BOOST_HANA_ADAPT_STRUCT(engine_test::order, account, card, amount, lines);
BOOST_HANA_ADAPT_STRUCT(engine_test::edit, payer, fee, value);
BOOST_HANA_ADAPT_STRUCT(engine_test::drop, code);
BOOST_HANA_ADAPT_STRUCT(engine_test::labels, lines, before, after);
BOOST_HANA_ADAPT_STRUCT(engine_test::sale, code, quantity);

template <>
inline constexpr bool settle::secret<&engine_test::order::card> = true;

namespace engine_test {

inline constexpr settle::collection<item, "items", &item::code> items;

inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"customer">(accounts, param<&order::account>)
        .require(field<&account::balance> >= param<&order::amount>)
        .apply(field<&account::balance> -= param<&order::amount>)
        .compensate(settle::inverse),
    settle::participant<"stock">(items, settle::each<&order::lines>,
                                 settle::line<&order_line::code>)
        .require(field<&item::stock> >= settle::line<&order_line::quantity>)
        .apply(field<&item::stock> -= settle::line<&order_line::quantity>)
        .compensate(settle::inverse));

inline constexpr auto fee = settle::participant<"payer">(accounts, param<&edit::payer>)
                                .require(field<&account::balance> >= param<&edit::fee>)
                                .apply(field<&account::balance> -= param<&edit::fee>)
                                .compensate(settle::inverse);

inline constexpr auto create_type = settle::transaction<edit, "create">(
    settle::participant<"item">(items, param<&edit::value, &item::code>)
        .apply(settle::create(param<&edit::value>))
        .compensate(settle::inverse),
    fee);

inline constexpr auto replace_type = settle::transaction<edit, "replace">(
    settle::participant<"item">(items, param<&edit::value, &item::code>)
        .apply(settle::replace(param<&edit::value>))
        .compensate(settle::inverse),
    fee);

inline constexpr auto drop_type = settle::transaction<drop, "drop">(
    settle::participant<"item">(items, param<&drop::code>).confirm(settle::erase));

inline constexpr auto label_type = settle::transaction<labels, "label">(
    settle::participant<"items">(items, settle::each<&labels::lines>, settle::line<&drop::code>)
        .require(field<&item::label> == param<&labels::before>)
        .confirm(field<&item::label> = param<&labels::after>));

/// An assignment and a sum in one exclusive part.
inline constexpr auto sale_type = settle::transaction<sale, "sale">(
    settle::participant<"item">(items, param<&sale::code>)
        .require(field<&item::label> == lit<"open">)
        .require(field<&item::stock> >= param<&sale::quantity>)
        .confirm(field<&item::label> = lit<"sold">, field<&item::stock> -= param<&sale::quantity>));

} // namespace engine_test
