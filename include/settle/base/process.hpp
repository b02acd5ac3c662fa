// SPDX-License-Identifier: BSL-1.0
// Detects fork(): a child has copies of engines and connections that only its parent may use.
#pragma once

#include <settle/base/error.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

SETTLE_BEGIN
namespace detail {

/// The number of forks between the first process of this program and this process.
inline constinit std::atomic<std::uint32_t> fork_count{0};

/// Starts counting forks.
void count_forks() noexcept;

} // namespace detail

/// The process that created the object.
/// Cost:    one load of a counter, and no call of the system
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
[[nodiscard]] error made_before_fork(std::string_view thing);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/process.ipp>
#endif
