// SPDX-License-Identifier: BSL-1.0
// Detects fork(): a child has copies of engines and connections that only its parent may use.
#pragma once

#include <settle/store/error.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

SETTLE_BEGIN
namespace detail {

/// The number of forks between the first process of this program and this process.
inline constinit std::atomic<std::uint32_t> fork_count{0};

/// Starts counting forks.
inline void count_forks() noexcept {
#if defined(__unix__) || defined(__APPLE__)
    static int const registered = ::pthread_atfork(nullptr, nullptr, [] {
        fork_count.fetch_add(1, std::memory_order_relaxed);
    });
    static_cast<void>(registered);
#endif
}

} // namespace detail

/// Remembers the process that created it.
/// Cost:    one load of a counter; the system is not asked
class process_stamp {
public:
    process_stamp() noexcept {
        detail::count_forks();
        forks_ = detail::fork_count.load(std::memory_order_relaxed);
    }

    /// False in a child that was forked since.
    [[nodiscard]] bool is_here() const noexcept {
        return forks_ == detail::fork_count.load(std::memory_order_relaxed);
    }

private:
    std::uint32_t forks_ = 0;
};

namespace detail {

/// Shape:   thing - the object made before the fork: "engine", "database"
[[nodiscard]] inline error made_before_fork(std::string_view thing) {
    std::string text{"settle: this "};
    text.append(thing).append(" was made before fork(), and only the parent process may use it. "
                              "Make database and engine in the child. See running#fork");
    return {make_error_code(errc::forked), std::move(text)};
}

} // namespace detail
SETTLE_END
