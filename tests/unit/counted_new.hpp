// SPDX-License-Identifier: BSL-1.0
// Counts what this thread asks of the heap, for the tests that promise that nothing does.
#pragma once

#include <cstddef>

namespace counted_new {

/// How often this thread has called operator new, in any of its forms.
[[nodiscard]] std::size_t calls() noexcept;

} // namespace counted_new
