// SPDX-License-Identifier: BSL-1.0
// Rounds on a server of tables, which settle and the programs by hand have in common.
#pragma once

#include "rounds.hpp"

#include <cstdint>

namespace bench {

enum class mode : std::uint8_t { one_at_a_time, batches, batches_of_64, threads, callers };

/// The connections that threads share where they have none of their own.
inline constexpr std::size_t pool_size = 16;

[[nodiscard]] constexpr std::size_t window_of(mode timed) {
    return timed == mode::batches         ? usual_window
           : timed == mode::batches_of_64 ? detail::thread_count
                                          : 1;
}

/// Shape:   bank - the accounts of this round, with address() and check()
template <typename Database, typename Bank>
double settle_round(Bank const& bank, workload const& work, mode timed,
                    settle::phases phases = settle::phases::one) {
    double seconds = 0;
    {
        Database db{bank.address()};
        settle::engine engine{db, settle::type<transfer_type>, phases};
        if (timed == mode::threads) {
            seconds = detail::run_threads_warm(work, [&](std::size_t) {
                return [&](transfer_request const& request) {
                    expect_done(engine.run(request.first, request.second));
                };
            });
            expect_settled(engine, work);
        } else if (timed == mode::callers) {
            seconds = detail::run_callers(engine, work.requests);
            expect_settled(engine, work);
        } else {
            seconds = detail::run_settle(engine, work, window_of(timed));
        }
    }
    bank.check(work.expected);
    return seconds;
}

/// Shape:   bank - also with check_count(); make() - returns a std::unique_ptr to a program by
///          hand; connections - that 64 threads share
template <typename Bank, typename Make>
double round_by_hand(Bank const& bank, workload const& work, mode timed, Make const& make,
                     std::size_t connections = 1) {
    double seconds = 0;
    if (timed == mode::threads) {
        seconds = detail::run_workers(work, connections, make);
    } else {
        auto const by_hand = make();
        seconds = detail::run_by_hand(*by_hand, work.requests, window_of(timed));
    }
    bank.check(work.expected);
    bank.check_count("log WHERE state = 3", work.requests.size());
    return seconds;
}

/// A short round has fewer accounts, since their creation would take longer than the transfers.
[[nodiscard]] inline workload work_of(std::size_t transfers) {
    return make_workload(
        {.transfers = transfers, .accounts = transfers < 5'000 ? 2'000U : 10'000U});
}

/// The transfers of a round.
struct sizes {
    std::size_t full;
    std::size_t quick;
};

/// Shape:   untimed - the number of transfers that do not count; slices - as in a comparison
inline void compare(context& context, std::string const& name, workload const& work, side settle,
                    std::vector<side> baselines, std::optional<double> budget,
                    std::size_t untimed = 0, std::size_t slices = 0) {
    comparison compared;
    compared.name = name;
    compared.operations = static_cast<double>(work.requests.size() - untimed);
    compared.settle = std::move(settle);
    compared.baselines = std::move(baselines);
    compared.budget = budget;
    compared.rounds = context.size(7, slices == 0 ? 3 : 7);
    compared.slices = slices;
    context.compare(compared);
}

} // namespace bench
