// SPDX-License-Identifier: BSL-1.0
// Counts the allocations of this thread, and fails a chosen allocation.
#pragma once

#include <cstddef>

namespace counted_new {

/// How often this thread has called operator new, in any of its forms.
[[nodiscard]] std::size_t calls() noexcept;

/// The n-th allocation of this thread from here fails: it throws std::bad_alloc, or its nothrow
/// form returns a null pointer. The first is 1; with 0, none fails.
void fail_at(std::size_t number) noexcept;
/// True if that allocation has been reached.
[[nodiscard]] bool has_failed() noexcept;

} // namespace counted_new
