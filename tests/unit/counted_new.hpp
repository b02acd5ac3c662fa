// SPDX-License-Identifier: BSL-1.0
// Counts the allocations of this thread, and fails a chosen allocation.
#pragma once

#include <cstddef>

namespace counted_new {

/// How often this thread has called operator new, in any of its forms.
[[nodiscard]] std::size_t calls() noexcept;

/// The n-th allocation from here throws std::bad_alloc. The first is 1; with 0, none throws.
void fail_at(std::size_t number) noexcept;
/// True if that allocation has been reached.
[[nodiscard]] bool has_failed() noexcept;

} // namespace counted_new
