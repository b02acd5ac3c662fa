// SPDX-License-Identifier: BSL-1.0
// Finds numbers by the hashes of their keys. clear() takes constant time.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Shape:   the caller holds the keys and compares them where hashes are equal. A single key cannot
///          be erased; memory::id_index can erase a key, at a cost
class hash_index {
public:
    void clear() noexcept {
        ++now_;
        size_ = 0;
    }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// The number of a key, or null.
    /// Shape:   same - true if a number with this hash belongs to the key
    template <typename Same>
    [[nodiscard]] std::size_t const* find(std::uint64_t hash, Same&& same) const {
        if (size_ == 0) return nullptr;
        std::size_t const last = slots_.size() - 1;
        for (std::size_t at = hash & last; slots_[at].since == now_; at = (at + 1) & last) {
            if (slots_[at].hash == hash && same(slots_[at].number)) return &slots_[at].number;
        }
        return nullptr;
    }

    /// Adds a key that is not there.
    void insert(std::uint64_t hash, std::size_t number) {
        if (2 * size_ >= slots_.size()) grow();
        std::size_t const last = slots_.size() - 1;
        std::size_t index = hash & last;
        while (slots_[index].since == now_) index = (index + 1) & last;
        slots_[index] = {hash, number, now_};
        ++size_;
    }

private:
    struct slot {
        std::uint64_t hash = 0;
        std::size_t number = 0;
        std::uint64_t since = 0; ///< the slot is in use if this equals `now_`
    };

    void grow() {
        std::vector<slot> const before =
            std::exchange(slots_, std::vector<slot>(std::max<std::size_t>(16, 2 * slots_.size())));
        size_ = 0;
        for (slot const& one : before) {
            if (one.since == now_) insert(one.hash, one.number);
        }
    }

    std::vector<slot> slots_;
    std::uint64_t now_ = 1;
    std::size_t size_ = 0;
};

} // namespace detail
SETTLE_END
