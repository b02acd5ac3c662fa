// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that process.hpp declares.
#pragma once

#include <settle/base/process.hpp>

#include <string>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

SETTLE_BEGIN

namespace detail {

SETTLE_FUNCTION void count_forks() noexcept {
#if defined(__unix__) || defined(__APPLE__)
    static int const registered = ::pthread_atfork(
        nullptr, nullptr, [] { fork_count.fetch_add(1, std::memory_order_relaxed); });
    static_cast<void>(registered);
#endif
}

SETTLE_FUNCTION error made_before_fork(std::string_view thing) {
    std::string text{"settle: this "};
    text.append(thing).append(" was made before fork(), and only the parent process may use it. "
                              "Make database and engine in the child. See running#fork");
    return {make_error_code(errc::forked), std::move(text)};
}

} // namespace detail

SETTLE_END
