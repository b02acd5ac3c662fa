// SPDX-License-Identifier: BSL-1.0
// One answer for each part of a transaction. Up to `few` parts need no allocation.
#pragma once

#include <settle/protocol/state.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

SETTLE_BEGIN

class part_answers {
public:
    explicit part_answers(std::size_t count = 0) : count_(count) {
        if (count_ > few) many_.resize(count_);
    }

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] answer* begin() noexcept { return count_ > few ? many_.data() : few_.data(); }
    [[nodiscard]] answer* end() noexcept { return begin() + count_; }
    [[nodiscard]] answer const* begin() const noexcept {
        return count_ > few ? many_.data() : few_.data();
    }
    [[nodiscard]] answer const* end() const noexcept { return begin() + count_; }
    [[nodiscard]] answer& operator[](std::size_t part) noexcept { return begin()[part]; }
    [[nodiscard]] answer operator[](std::size_t part) const noexcept { return begin()[part]; }

    [[SETTLE_INLINED]] void reset() noexcept {
        // This assignment is two stores; a fill of so few bytes would be a call.
        if (count_ <= few) few_ = {};
        else std::fill(many_.begin(), many_.end(), answer::none);
    }

    [[nodiscard]] bool contains(answer value) const noexcept {
        for (answer const one : *this) {
            if (one == value) return true;
        }
        return false;
    }

    [[nodiscard]] bool all(answer value) const noexcept {
        for (answer const one : *this) {
            if (one != value) return false;
        }
        return true;
    }

    /// The first part with this answer, or size().
    [[nodiscard]] std::size_t index_of(answer value) const noexcept {
        return static_cast<std::size_t>(std::find(begin(), end(), value) - begin());
    }

    /// Resets parts with this answer to `none`, so that they are sent again.
    void forget(answer forgotten) noexcept {
        std::replace(begin(), end(), forgotten, answer::none);
    }

    friend bool operator==(part_answers const& left, part_answers const& right) {
        return std::equal(left.begin(), left.end(), right.begin(), right.end());
    }

private:
    static constexpr std::size_t few = 16;
    std::array<answer, few> few_{};
    std::vector<answer> many_;
    std::size_t count_;
};

SETTLE_END
