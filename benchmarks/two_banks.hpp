// SPDX-License-Identifier: BSL-1.0
// The expected balances where sources and destinations are accounts of two banks.
#pragma once

#include "workload.hpp"

namespace bench {

/// The expected balances of two banks.
struct halves {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> second;
};

[[nodiscard]] inline std::size_t number_of(std::string const& account) {
    return std::stoul(account.substr(1));
}

[[nodiscard]] inline halves expected_of(workload const& work) {
    std::vector<std::int64_t> const opened(work.ids.size(), work.opening);
    halves halves{opened, opened};
    for (auto const& [id, transfer] : work.requests) {
        halves.first[number_of(transfer.source)] -= transfer.amount;
        halves.second[number_of(transfer.destination)] += transfer.amount;
    }
    return halves;
}

} // namespace bench
