// SPDX-License-Identifier: BSL-1.0
// The heap's own functions with a counter, and a failure at will: the unit tests' program has them
// once.
#include "counted_new.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;
thread_local std::size_t failing = 0; // the number of the call that fails

void* counted(std::size_t size) {
    if (++count == failing) throw std::bad_alloc{};
    if (void* const made = std::malloc(size == 0 ? 1 : size)) return made;
    throw std::bad_alloc{};
}

} // namespace

std::size_t counted_new::calls() noexcept { return count; }
void counted_new::fail_at(std::size_t number) noexcept {
    failing = number == 0 ? 0 : count + number;
}
bool counted_new::has_failed() noexcept { return failing != 0 && count >= failing; }

// The array forms call these.
void* operator new(std::size_t size) { return counted(size); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    ++count;
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
