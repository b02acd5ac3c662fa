// SPDX-License-Identifier: BSL-1.0
// Entries and records as lazy ranges, read a page at a time.
#pragma once

#include <settle/running/engine.hpp>

#include <iterator>

// A view of range-v3 without its headers, which each user's source would compile.
namespace ranges::ext {
template <typename T>
struct enable_view;
}

SETTLE_BEGIN

/// A lazy range over pages. `Pages::page(Value const* after, count)` gives the values after
/// `*after`.
/// Errors:  throws settle::failure when a page cannot be read
template <typename Value, typename Pages>
class paged_view : public std::ranges::view_base {
public:
    paged_view() = default;
    explicit paged_view(Pages pages, std::size_t limit = ~std::size_t{0})
        : pages_(std::move(pages)), limit_(limit) {}

    /// An input iterator: each iterator of a view stands at the view's one position.
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Value;
        using difference_type = std::ptrdiff_t;
        using pointer = Value const*;
        using reference = Value const&;

        iterator() = default;
        explicit iterator(paged_view& view) : view_(&view) {}

        reference operator*() const { return view_->page_[view_->position_]; }
        pointer operator->() const { return &**this; }
        iterator& operator++() {
            view_->advance();
            return *this;
        }
        void operator++(int) { view_->advance(); }
        friend bool operator==(iterator const& place, std::default_sentinel_t) {
            return place.view_->is_at_end();
        }

    private:
        paged_view* view_ = nullptr;
    };

    iterator begin() {
        left_ = limit_;
        fetch(nullptr);
        return iterator{*this};
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }
    [[nodiscard]] bool is_at_end() const { return position_ == page_.size(); }

private:
    static constexpr std::size_t page_size = 256;

    void advance() {
        if (++position_ < page_.size() || page_.size() < page_size) return;
        Value const last = std::move(page_.back());
        fetch(&last);
    }

    void fetch(Value const* after) {
        std::size_t const count = std::min(page_size, left_);
        left_ -= count;
        page_ = count == 0 ? std::vector<Value>{} : pages_.page(after, count).value();
        position_ = 0;
    }

    Pages pages_{};
    std::size_t limit_ = 0;
    std::size_t left_ = 0; ///< the rest of the limit beyond the current page
    std::vector<Value> page_;
    std::size_t position_ = 0;
};

template <typename Engine>
struct entry_pages {
    Engine* engine = nullptr;
    entry_filter filter{};

    result<std::vector<entry>> page(entry const* after, std::size_t count) const {
        return engine->page(filter, after == nullptr ? transaction_id{} : after->id, count);
    }
};

template <typename Engine, typename Collection>
struct record_pages {
    using record = typename Collection::record_type;
    Engine* engine = nullptr;

    result<std::vector<record>> page(record const* after, std::size_t count) const {
        std::optional<typename Collection::key_type> key;
        if (after != nullptr) key = after->*Collection::key_member;
        return engine->template scan_page<Collection>(key, count);
    }
};

template <typename Engine>
class entry_listing : public paged_view<entry, entry_pages<Engine>> {
public:
    entry_listing() = default;
    entry_listing(Engine& engine, entry_filter const& filter, std::size_t limit)
        : paged_view<entry, entry_pages<Engine>>({&engine, filter}, limit) {}
};

template <typename Engine, typename Collection>
class record_listing
    : public paged_view<typename Collection::record_type, record_pages<Engine, Collection>> {
public:
    record_listing() = default;
    explicit record_listing(Engine& engine)
        : paged_view<typename Collection::record_type, record_pages<Engine, Collection>>(
              {&engine}) {}
};

SETTLE_END

template <typename Engine>
struct ranges::ext::enable_view<settle::entry_listing<Engine>> : std::true_type {};
template <typename Engine, typename Collection>
struct ranges::ext::enable_view<settle::record_listing<Engine, Collection>> : std::true_type {};
