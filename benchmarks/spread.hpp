// SPDX-License-Identifier: BSL-1.0
// A payment that is spread over any number of accounts: its description, and the work.
#pragma once

#include "workload.hpp"

namespace bench {

struct share {
    std::string account;
    std::int64_t amount;
};

struct spread {
    std::string payer;
    std::int64_t total;
    std::vector<share> shares;
};

} // namespace bench

SETTLE_STRUCT(bench::share, account, amount);
SETTLE_STRUCT(bench::spread, payer, total, shares);

namespace bench {

inline constexpr auto spread_type = settle::transaction<spread, "spread">(
    settle::participant<"payer">(accounts, settle::param<&spread::payer>)
        .require(settle::field<&account::balance> >= settle::param<&spread::total>)
        .apply(settle::field<&account::balance> -= settle::param<&spread::total>)
        .compensate(settle::inverse),
    settle::participant<"payee">(accounts, settle::each<&spread::shares>,
                                 settle::line<&share::account>)
        .confirm(settle::field<&account::balance> += settle::line<&share::amount>));

struct spread_work {
    workload accounts; ///< with the expected final balances, and no transfers
    std::vector<std::pair<std::string, spread>> requests;
};

/// Shape:   operations - of all transactions together, so that every point is as much work
[[nodiscard]] inline spread_work make_spread_work(std::size_t participants,
                                                  std::size_t operations) {
    spread_work unit;
    unit.accounts = make_workload({.transfers = 0});
    std::size_t const count = unit.accounts.ids.size();
    unit.accounts.opening = static_cast<std::int64_t>(100 * operations);
    unit.accounts.expected.assign(count, unit.accounts.opening);
    std::mt19937_64 chance{participants};
    for (std::size_t i = 0; i < operations / participants; ++i) {
        // The step and the count have no common divisor, so no account is drawn twice.
        std::size_t index = chance() % count;
        std::size_t const payer = index;
        spread payment{unit.accounts.ids[index], 0, {}};
        for (std::size_t n = 1; n < participants; ++n) {
            index = (index + 7919) % count;
            auto const amount = static_cast<std::int64_t>(1 + chance() % 100);
            payment.total += amount;
            unit.accounts.expected[index] += amount;
            payment.shares.push_back({unit.accounts.ids[index], amount});
        }
        unit.accounts.expected[payer] -= payment.total;
        unit.requests.emplace_back(detail::ordered_id(i + 1), std::move(payment));
    }
    return unit;
}

} // namespace bench
