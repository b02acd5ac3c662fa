// SPDX-License-Identifier: BSL-1.0
// A range of what a function gives one by one, for whom the whole would be too much at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

namespace samples {

/// An input range, to be walked through once.
/// Shape:   next - puts one more element into its argument, or gives false at the end
/// Memory:  one element
template <typename Element>
class pulled {
public:
    explicit pulled(std::function<bool(Element&)> next) : next_(std::move(next)) {}

    class iterator {
    public:
        using value_type = Element;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::input_iterator_tag;

        iterator() = default;
        explicit iterator(pulled& range) : range_(&range) {}

        Element& operator*() const { return range_->element_; }
        iterator& operator++() {
            range_->pull();
            return *this;
        }
        void operator++(int) { range_->pull(); }
        bool operator==(std::default_sentinel_t) const { return range_->ended_; }

    private:
        pulled* range_ = nullptr;
    };

    iterator begin() {
        pull();
        return iterator{*this};
    }
    std::default_sentinel_t end() const { return {}; }

private:
    void pull() { ended_ = !next_(element_); }

    std::function<bool(Element&)> next_;
    Element element_{};
    bool ended_ = false;
};

} // namespace samples
