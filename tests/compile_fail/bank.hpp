// SPDX-License-Identifier: BSL-1.0
// Definitions shared by the refused files, so that each file shows only its mistake.
#pragma once

#include <settle/definition/transaction.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bank {

enum class status : std::int32_t { open, closed };
enum class colour : std::int32_t { red, green };
using seconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;
using minutes = std::chrono::time_point<std::chrono::system_clock, std::chrono::minutes>;

struct account {
    std::string id;
    std::int64_t balance;
    std::int64_t reserved;
    std::int32_t visits;
    status state;
    bool frozen;
    seconds since;
    std::optional<std::int64_t> limit;
    std::string owner;
};

struct order {
    std::int64_t number;
    status state;
    std::int64_t total;
};

struct line {
    std::string article;
    std::int64_t quantity;
};

struct transfer {
    std::string source;
    std::string destination;
    std::int64_t amount;
    std::int64_t fee;
    std::int64_t number;
    std::int32_t small;
    status state;
    colour tint;
    seconds at;
    minutes at_minute;
    bool urgent;
    std::optional<std::int64_t> limit;
    std::string note;
    order whole_order;
    std::vector<line> lines;
};

struct refund {
    std::string account;
    std::int64_t amount;
};

} // namespace bank

SETTLE_STRUCT(bank::account, id, balance, reserved, visits, state, frozen, since, limit, owner);
SETTLE_STRUCT(bank::order, number, state, total);
SETTLE_STRUCT(bank::line, article, quantity);
SETTLE_STRUCT(bank::transfer, source, destination, amount, fee, number, small, state, tint, at,
              at_minute, urgent, limit, note, whole_order, lines);
SETTLE_STRUCT(bank::refund, account, amount);

namespace bank {

using settle::each;
using settle::field;
using settle::lit;
using settle::param;
using settle::participant;
using settle::transaction;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::collection<order, "orders", &order::number> orders;

} // namespace bank
