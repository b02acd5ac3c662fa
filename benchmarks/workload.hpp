// SPDX-License-Identifier: BSL-1.0
// The work of a case, drawn once and done by both sides: the transfers, and the expected balances.
#pragma once

#include "bank.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace bench {

/// A transfer under its id.
using transfer_request = std::pair<std::string, transfer>;

struct workload {
    std::vector<std::string> ids; ///< of the accounts
    std::int64_t opening = 0;     ///< the first balance of each account; enough for every transfer
    std::vector<transfer_request> requests;
    std::vector<std::int64_t> expected; ///< the expected final balances
};

struct workload_shape {
    std::size_t transfers = 10'000;
    std::size_t accounts = 10'000;
    std::size_t hot_accounts = 10;
    unsigned hot_percent = 0; ///< the number of draws out of 100 that take a hot account
    bool random_ids = false;  ///< or ids that grow with time, as the library's own ids do
    std::uint64_t seed = 20251121;
};

/// Calls a function for each batch of a range; the last batch may be shorter.
template <typename Element, typename Function>
void for_each_batch(std::span<Element const> all, std::size_t window, Function const& function) {
    for (std::size_t at = 0; at < all.size(); at += window) {
        function(all.subspan(at, std::min(window, all.size() - at)));
    }
}

namespace detail {

/// 15 characters that grow with the number.
[[nodiscard]] inline std::string ordered_id(std::size_t number) {
    std::string id(15, '0');
    for (std::size_t at = id.size(); at-- > 0; number /= 10) {
        id[at] = static_cast<char>('0' + number % 10);
    }
    id.front() = 't';
    return id;
}

[[nodiscard]] inline std::string random_id(std::mt19937_64& chance) {
    constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
    std::string id(15, '0');
    for (char& one : id) one = digits[chance() % digits.size()];
    return id;
}

[[nodiscard]] inline std::string account_id(std::size_t number) {
    std::string id = ordered_id(number).substr(8);
    id.front() = 'a';
    return id;
}

} // namespace detail

[[nodiscard]] inline workload make_workload(workload_shape const& shape) {
    constexpr std::int64_t largest_amount = 100;
    workload workload;
    workload.opening = largest_amount * static_cast<std::int64_t>(shape.transfers);
    for (std::size_t i = 0; i < shape.accounts; ++i) workload.ids.push_back(detail::account_id(i));
    workload.expected.assign(shape.accounts, workload.opening);
    std::mt19937_64 chance{shape.seed};
    auto const draw = [&] {
        bool const hot = chance() % 100 < shape.hot_percent;
        // The hot accounts lie apart, as they would in a table that grew.
        if (hot) return chance() % shape.hot_accounts * (shape.accounts / shape.hot_accounts);
        return chance() % shape.accounts;
    };
    for (std::size_t i = 0; i < shape.transfers; ++i) {
        std::size_t const source = draw();
        std::size_t destination = draw();
        while (destination == source) destination = draw();
        auto const amount = static_cast<std::int64_t>(1 + chance() % largest_amount);
        workload.expected[source] -= amount;
        workload.expected[destination] += amount;
        workload.requests.emplace_back(
            shape.random_ids ? detail::random_id(chance) : detail::ordered_id(i + 1),
            transfer{workload.ids[source], workload.ids[destination], amount});
    }
    return workload;
}

} // namespace bench
