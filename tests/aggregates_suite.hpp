// SPDX-License-Identifier: BSL-1.0
// Structs that SETTLE_STRUCT lists and the same structs without it, whose records and entries each
// store must keep alike.
#pragma once

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aggregates {

enum class status : std::int32_t { open, paid };
using second = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;

/// Shape:   Listed - true where SETTLE_STRUCT lists the members
template <bool Listed>
struct line {
    std::string article;
    std::int32_t quantity = 1;
    std::optional<std::int64_t> price{};
};
template <bool Listed>
struct address {
    std::string street;
    std::int16_t door = 0;
};
template <bool Listed>
struct invoice {
    std::string id;
    std::int64_t total = 0;
    bool checked = false;
    status state = status::open;
    second due{};
    std::optional<std::string> note{};
    address<Listed> home{};
    std::vector<line<Listed>> lines{};
    std::vector<std::int64_t> counts{};
};
template <bool Listed>
struct payment {
    std::string id;
    std::int64_t amount = 0;
    invoice<Listed> replacement{};
    std::vector<line<Listed>> lines{};
};

} // namespace aggregates

SETTLE_STRUCT(aggregates::line<true>, article, quantity, price);
SETTLE_STRUCT(aggregates::address<true>, street, door);
SETTLE_STRUCT(aggregates::invoice<true>, id, total, checked, state, due, note, home, lines, counts);
SETTLE_STRUCT(aggregates::payment<true>, id, amount, replacement, lines);

namespace aggregates {

using settle::field;
using settle::lit;
using settle::param;

template <bool Listed>
inline constexpr settle::collection<invoice<Listed>, "invoices", &invoice<Listed>::id> invoices;

template <bool Listed>
inline constexpr auto pay_type = settle::transaction<payment<Listed>, "pay">(
    settle::participant<"invoice">(invoices<Listed>, param<&payment<Listed>::id>)
        .require(field<&invoice<Listed>::state> == lit<status::open>)
        .require(field<&invoice<Listed>::total> >= param<&payment<Listed>::amount>)
        .apply(field<&invoice<Listed>::state> = lit<status::paid>,
               field<&invoice<Listed>::total> -= param<&payment<Listed>::amount>)
        .compensate(field<&invoice<Listed>::state> = lit<status::open>,
                    field<&invoice<Listed>::total> += param<&payment<Listed>::amount>)
        .confirm(field<&invoice<Listed>::home> =
                     param<&payment<Listed>::replacement, &invoice<Listed>::home>));

template <bool Listed>
inline constexpr auto restore_type = settle::transaction<payment<Listed>, "restore">(
    settle::participant<"invoice">(invoices<Listed>, param<&payment<Listed>::id>)
        .confirm(settle::replace(param<&payment<Listed>::replacement>)));

template <bool Listed>
inline constexpr auto credit_type = settle::transaction<payment<Listed>, "credit">(
    settle::participant<"invoices">(invoices<Listed>, settle::each<&payment<Listed>::lines>,
                                    settle::line<&line<Listed>::article>)
        .confirm(field<&invoice<Listed>::total> += settle::line<&line<Listed>::quantity>));

template <bool Listed>
invoice<Listed> first_invoice() {
    return {"i1",
            500,
            true,
            status::open,
            second{std::chrono::seconds{86400}},
            "ä",
            {"Hill", 7},
            {{"pen", 2, 40}, {"ink", 1, std::nullopt}},
            {1, -1}};
}

} // namespace aggregates
