// SPDX-License-Identifier: BSL-1.0
// The transfers that are measured, described for settle.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace bench {

struct account {
    std::string id;
    std::int64_t balance;
};

struct transfer {
    std::string source;
    std::string destination;
    std::int64_t amount;
};

} // namespace bench

SETTLE_STRUCT(bench::account, id, balance);
SETTLE_STRUCT(bench::transfer, source, destination, amount);

namespace bench {

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

template <typename Account = account, typename Transfer = transfer, typename From, typename To>
[[nodiscard]] constexpr auto transfer_between(From const& from, To const& to) {
    using settle::field;
    using settle::param;
    return settle::transaction<Transfer, "transfer">(
               settle::participant<"source">(from, param<&Transfer::source>)
                   .require(field<&Account::balance> >= param<&Transfer::amount>)
                   .apply(field<&Account::balance> -= param<&Transfer::amount>)
                   .compensate(settle::inverse),
               settle::participant<"destination">(to, param<&Transfer::destination>)
                   .confirm(field<&Account::balance> += param<&Transfer::amount>))
        .require(param<&Transfer::amount> > settle::lit<0>)
        .require(param<&Transfer::source> != param<&Transfer::destination>);
}

inline constexpr auto transfer_type = transfer_between(accounts, accounts);

/// The same transfer between two banks with a file each.
inline constexpr settle::collection<account, "first", &account::id> first_bank;
inline constexpr settle::collection<account, "second", &account::id> second_bank;
inline constexpr auto transfer_apart_type = transfer_between(first_bank, second_bank);

} // namespace bench
