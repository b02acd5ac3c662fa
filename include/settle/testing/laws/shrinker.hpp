// SPDX-License-Identifier: BSL-1.0
// Simplifies a failing case member by member while it still fails.
#pragma once

#include <settle/definition/participant.hpp>

SETTLE_BEGIN
namespace testing {

/// Tries simpler values in place and keeps a value if the case still fails with it.
/// Shape:   StillFails - a function without arguments that runs the current case
class shrinker {
public:
    explicit shrinker(std::size_t tries) : left_(tries) {}

    [[nodiscard]] bool has_tries() const noexcept { return left_ > 0; }

    /// Returns true when a value became simpler.
    template <typename T, typename StillFails>
    bool shrink(T& value, StillFails const& still_fails) {
        if constexpr (Described<T>) {
            bool better = false;
            for_each_member<T>(
                [&](auto m) { better = shrink(m.in(value), still_fails) || better; });
            return better;
        } else if constexpr (!std::is_void_v<typename settle::detail::vector_element<T>::type>) {
            return shorten(value, 1, still_fails);
        } else if constexpr (field_traits<T>::optional) {
            if (!value) return false;
            if (try_value(value, T{}, still_fails)) return true;
            return shrink(*value, still_fails);
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (value.empty()) return false;
            return try_value(value, T{}, still_fails) || try_value(value, T{"a"}, still_fails);
        } else {
            return approach_zero(value, still_fails);
        }
    }

    /// Removes elements, but keeps `least`, then simplifies each element.
    template <typename Element, typename StillFails>
    bool shorten(std::vector<Element>& elements, std::size_t least, StillFails const& still_fails) {
        bool better = false;
        for (std::size_t index = elements.size(); index-- > 0 && elements.size() > least;) {
            auto shorter = elements;
            shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(index));
            better = try_value(elements, std::move(shorter), still_fails) || better;
        }
        for (auto& element : elements) better = shrink(element, still_fails) || better;
        return better;
    }

    /// Replaces a value if the case still fails with the candidate.
    template <typename T, typename StillFails>
    bool try_value(T& value, T candidate, StillFails const& still_fails) {
        if (left_ == 0) return false;
        --left_;
        std::swap(value, candidate);
        if (still_fails()) return true;
        std::swap(value, candidate);
        return false;
    }

private:
    template <typename T, typename StillFails>
    bool approach_zero(T& value, StillFails const& still_fails) {
        bool better = false;
        // Tries 0, then half, then one less, and so finds the smallest number that fails.
        for (int halves = 0; halves < 2; ++halves) {
            for (;;) {
                std::int64_t const now = to_integer(value);
                if (now == 0) return better;
                std::int64_t const step = now > 0 ? -1 : 1;
                std::int64_t const target = halves == 0 ? 0 : now / 2;
                T candidate{};
                if (from_integer(target, candidate) && try_value(value, candidate, still_fails)) {
                    better = true;
                } else if (halves == 1 && from_integer(now + step, candidate) &&
                           try_value(value, candidate, still_fails)) {
                    better = true;
                } else {
                    break;
                }
            }
        }
        return better;
    }

    std::size_t left_;
};

} // namespace testing
SETTLE_END
