// SPDX-License-Identifier: BSL-1.0
// A range over the elements that a function returns one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

namespace samples {

/// An input range: it can be iterated once.
/// Shape:   next - assigns the next element to its argument; false at the end
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
