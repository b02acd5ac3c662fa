// SPDX-License-Identifier: BSL-1.0
// Rounds of transfers between servers of two kinds, which settle and the program by hand share.
#pragma once

#include "server_rounds.hpp"
#include "two_banks.hpp"

#include <memory>
#include <span>

namespace bench::apart {

/// The transfers of a slice.
inline constexpr std::size_t slice_size = 25;
[[nodiscard]] inline std::span<transfer_request const> slice_of(workload const& work,
                                                                std::size_t number) {
    return std::span{work.requests}.subspan(number * slice_size, slice_size);
}

template <typename First, typename Second>
auto engine_of(First& first, Second& second) {
    return settle::engine{settle::log_in(first), settle::bind(first_bank, first),
                          settle::bind(second_bank, second), settle::type<transfer_apart_type>};
}

/// The databases of settle on the servers of a round.
template <typename First, typename Second>
struct databases {
    template <typename Banks>
    explicit databases(Banks const& banks)
        : first(banks.first.address()), second(banks.second.address()) {}
    First first;
    Second second;
    decltype(engine_of(first, second)) engine = engine_of(first, second);
};

/// Shape:   banks - a pointer to the accounts of this round: first and second, each with
///          address(), and check()
template <typename First, typename Second, typename Banks>
sliced_round by_settle(Banks banks, workload const& work) {
    auto const used = std::make_shared<databases<First, Second>>(*banks);
    return {
        [used, &work](std::size_t slice) { return run_each(used->engine, slice_of(work, slice)); },
        [banks, used, &work] {
            expect_settled(used->engine, work);
            banks->check();
        }};
}

/// Shape:   check_log() - also checks the log of the program by hand
template <typename Banks, typename Program, typename CheckLog>
sliced_round by_hand(Banks banks, std::shared_ptr<Program> program, workload const& work,
                     CheckLog check_log) {
    return {[program, &work](std::size_t slice) {
                stopwatch const watch;
                for (auto const& request : slice_of(work, slice)) program->run(request);
                return watch.seconds();
            },
            [banks, check_log] {
                banks->check();
                check_log(*banks);
            }};
}

[[nodiscard]] inline workload work_of(context const& context) {
    return make_workload({.transfers = context.size(1'000, 500), .accounts = 10'000});
}

/// Compares the program of settle with the program by hand.
template <typename Settle, typename ByHand>
void compare_with(context& context, std::string const& name, workload const& work, Settle settle,
                  std::string const& way, ByHand by_hand, double budget) {
    compare(context, name, work, {"settle", {}, settle}, {{way, {}, by_hand}}, budget, slice_size,
            work.requests.size() / slice_size);
}

} // namespace bench::apart
