// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of simulations: the command that repeats a seed, and one processor for all
// workers.
#pragma once

#include <settle/testing/simulate.hpp>

#include <doctest/doctest.h>

#include <sched.h>

namespace simulation_test {

/// The command that repeats one seed of this test.
inline std::string replay(std::uint64_t seed) {
    auto const* const context = doctest::getContextOptions();
    return "again: SETTLE_SEED=" + std::to_string(seed) + ' ' + context->binary_name.c_str() +
           " --test-case='" + context->currentTest->m_name + '\'';
}

/// Keeps the threads that this thread starts on its processor. The workers take turns, so only one
/// runs at a time, and no other processor has to be woken.
class on_one_processor {
public:
    on_one_processor() {
        if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        int const cpu = ::sched_getcpu();
        if (cpu < 0) return;
        cpu_set_t processor;
        CPU_ZERO(&processor);
        CPU_SET(static_cast<std::size_t>(cpu), &processor);
        changed_ = ::sched_setaffinity(0, sizeof processor, &processor) == 0;
    }
    on_one_processor(on_one_processor const&) = delete;
    on_one_processor& operator=(on_one_processor const&) = delete;
    ~on_one_processor() {
        if (changed_) ::sched_setaffinity(0, sizeof before_, &before_);
    }

private:
    cpu_set_t before_{};
    bool changed_ = false;
};

} // namespace simulation_test
