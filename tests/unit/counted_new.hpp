// SPDX-License-Identifier: BSL-1.0
// Counts what this thread asks of the heap, and fails where a test wants it to.
#pragma once

#include <cstddef>

namespace counted_new {

/// How often this thread has called operator new, in any of its forms.
[[nodiscard]] std::size_t calls() noexcept;

/// Lets the n-th call from here, the first is 1, throw std::bad_alloc. Of 0, none does.
void fail_at(std::size_t number) noexcept;
/// Whether that one has come.
[[nodiscard]] bool has_failed() noexcept;

} // namespace counted_new
