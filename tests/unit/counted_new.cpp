// SPDX-License-Identifier: BSL-1.0
// The heap's own functions with a counter, and a failure at will: the unit tests' program has them
// once.
#include "counted_new.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;
thread_local std::size_t failing = 0; // the number of the call that fails

/// Counts this call. Returns no memory if it is the call that fails.
void* counted(std::size_t size) noexcept {
    if (++count == failing) return nullptr;
    return std::malloc(size == 0 ? 1 : size);
}
void* counted(std::size_t size, std::align_val_t alignment) noexcept {
    if (++count == failing) return nullptr;
    auto const unit = static_cast<std::size_t>(alignment);
    std::size_t const units = size == 0 ? 1 : (size - 1) / unit + 1;
    return std::aligned_alloc(unit, units * unit);
}

void* or_throw(void* memory) {
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

} // namespace

std::size_t counted_new::calls() noexcept { return count; }
void counted_new::fail_at(std::size_t number) noexcept {
    failing = number == 0 ? 0 : count + number;
}
bool counted_new::has_failed() noexcept { return failing != 0 && count >= failing; }

// The array forms call these.
void* operator new(std::size_t size) { return or_throw(counted(size)); }
void* operator new(std::size_t size, std::nothrow_t const&) noexcept { return counted(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return or_throw(counted(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
    return counted(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
