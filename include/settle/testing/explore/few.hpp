// SPDX-License-Identifier: BSL-1.0
// A small vector without heap memory. A search copies a state for every step, so a state must not
// allocate.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

SETTLE_BEGIN
namespace testing {

template <typename T, std::size_t Most>
class few {
public:
    few() = default;
    few(few const& other) { *this = other; }
    few& operator=(few const& other) {
        std::copy(other.begin(), other.end(), items_.begin());
        count_ = other.count_;
        return *this;
    }
    ~few() = default;

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] T* begin() noexcept { return items_.data(); }
    [[nodiscard]] T* end() noexcept { return items_.data() + count_; }
    [[nodiscard]] T const* begin() const noexcept { return items_.data(); }
    [[nodiscard]] T const* end() const noexcept { return items_.data() + count_; }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return items_[index]; }
    [[nodiscard]] T const& operator[](std::size_t index) const noexcept { return items_[index]; }

    /// Errors:  throws std::length_error when it is full
    T& push_back(T added) {
        if (count_ == Most) {
            throw std::length_error("settle: a search has room for " + std::to_string(Most) +
                                    " of these; give it fewer workers, transactions, records, "
                                    "parts or late writes");
        }
        items_[count_] = std::move(added);
        return items_[count_++];
    }
    void erase(std::size_t index) {
        std::move(items_.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                  items_.begin() + static_cast<std::ptrdiff_t>(count_),
                  items_.begin() + static_cast<std::ptrdiff_t>(index));
        items_[--count_] = T{};
    }

private:
    std::array<T, Most> items_{};
    std::size_t count_ = 0;
};

} // namespace testing
SETTLE_END
