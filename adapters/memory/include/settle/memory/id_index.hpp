// SPDX-License-Identifier: BSL-1.0
// Finds objects by their ids, in one block of memory that can be reserved.
#pragma once

#include <settle/protocol/state.hpp>

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace memory {

/// Hashes a text key given as a view, without making a string.
struct text_hash {
    using is_transparent = void;
    // If it were noexcept, the standard library would not store hashes beside the keys, and would
    // compute the neighbours' hashes at every look-up.
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// Pointers to objects with a member `id`, each id once.
/// Cost:    O(1); a slot also holds the hash, so a search seldom touches another object. Growing
///          beyond the reserved room moves every slot once
template <typename Value>
class id_index {
    struct slot {
        std::size_t hash = 0;
        Value* value = nullptr;
    };

public:
    [[nodiscard]] static std::size_t hash(std::string_view id) { return text_hash{}(id); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] Value* find(std::string_view id) const {
        return slots_.empty() ? nullptr : slots_[spot(id, hash(id))].value;
    }

    /// Returns the value of an id, and true if the id is new: the value is then `make()`.
    template <typename Make>
    std::pair<Value*, bool> find_or_add(std::string_view id, Make&& make) {
        if (size_ >= slots_.size() / 4 * 3) grow(size_ + 1);
        std::size_t const hashed = hash(id);
        slot& taken = slots_[spot(id, hashed)];
        if (taken.value != nullptr) return {taken.value, false};
        taken = {hashed, make()};
        ++size_;
        return {taken.value, true};
    }

    /// Prefetches the slot of an id.
    void expect(std::string_view id) const noexcept {
        if (!slots_.empty()) __builtin_prefetch(&slots_[hash(id) & mask()]);
    }

    /// Erases an id that is present.
    void erase(std::string_view id) {
        std::size_t hole = spot(id, hash(id));
        // An id that could be found only by probing past the hole moves into it.
        for (std::size_t index = next(hole); slots_[index].value != nullptr; index = next(index)) {
            std::size_t const home = slots_[index].hash & mask();
            if (((index - home) & mask()) < ((index - hole) & mask())) continue;
            slots_[hole] = slots_[index];
            hole = index;
        }
        slots_[hole] = {};
        --size_;
    }

    void reserve(std::size_t room) {
        if (room > slots_.size() / 4 * 3) grow(room);
    }

    template <typename Function>
    void for_each(Function&& function) const {
        for (slot const& one : slots_) {
            if (one.value != nullptr) function(*one.value);
        }
    }

private:
    [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
    [[nodiscard]] std::size_t next(std::size_t index) const noexcept {
        return (index + 1) & mask();
    }

    /// The slot of an id, or the free slot where it would be inserted.
    [[nodiscard]] std::size_t spot(std::string_view id, std::size_t hashed) const noexcept {
        std::size_t index = hashed & mask();
        while (slots_[index].value != nullptr &&
               (slots_[index].hash != hashed || slots_[index].value->id != id)) {
            index = next(index);
        }
        return index;
    }

    void grow(std::size_t room) {
        std::size_t count = 64;
        while (room > count / 4 * 3) count *= 2;
        std::vector<slot> const before = std::exchange(slots_, std::vector<slot>(count));
        for (slot const& kept : before) {
            if (kept.value == nullptr) continue;
            std::size_t at = kept.hash & mask();
            while (slots_[at].value != nullptr) at = next(at);
            slots_[at] = kept;
        }
    }

    std::vector<slot> slots_;
    std::size_t size_ = 0;
};

} // namespace memory
SETTLE_END
