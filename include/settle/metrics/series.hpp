// SPDX-License-Identifier: BSL-1.0
// The counters behind settle::metrics: series in tables of fixed size, which threads change without
// a lock and without an allocation.
#pragma once

#include <settle/protocol/step.hpp>
#include <settle/running/driving/observer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>

SETTLE_BEGIN
namespace detail {

/// A number that many threads change, each change without an order among others.
using figure = std::atomic<std::int64_t>;

struct add_with_others {
    [[gnu::always_inline]] void operator()(figure& to, std::int64_t value = 1) const noexcept {
        to.fetch_add(value, std::memory_order_relaxed);
    }
};
/// Adds to a figure that this thread alone changes, so that no processor waits for another.
struct add_alone {
    [[gnu::always_inline]] void operator()(figure& to, std::int64_t value = 1) const noexcept {
        to.store(to.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    }
};
[[nodiscard]] inline std::int64_t number_in(figure const& from) noexcept {
    return from.load(std::memory_order_relaxed);
}

/// The number of a thread, below `last` while no other thread has it.
class thread_number {
public:
    static constexpr std::size_t last = 15;

    [[nodiscard]] static std::size_t of_this_thread() noexcept {
        thread_local thread_number const number;
        return number.value_;
    }

private:
    thread_number() noexcept {
        auto taken = used().load(std::memory_order_relaxed);
        do {
            value_ = static_cast<std::size_t>(std::countr_one(taken));
            if (value_ >= last) {
                value_ = last;
                return;
            }
        } while (!used().compare_exchange_weak(taken, taken | (1U << value_),
                                               std::memory_order_acquire));
    }
    // The next thread with this number sees what this thread has written.
    ~thread_number() {
        if (value_ < last) used().fetch_and(~(1U << value_), std::memory_order_release);
    }

    /// A bit for each number that a thread has.
    static std::atomic<std::uint32_t>& used() noexcept {
        static std::atomic<std::uint32_t> bits{0};
        return bits;
    }

    std::size_t value_ = last;
};

/// A histogram of durations.
/// Shape:   Bounds - has `unit`, a duration, and `all`, the upper bounds in that unit; the last
///          bucket has no bound
template <typename Bounds>
class histogram {
public:
    static constexpr auto const& bounds = Bounds::all;
    static constexpr std::size_t buckets = Bounds::all.size() + 1;
    static_assert(buckets <= 20);

    /// Shape:   Add - add_with_others or add_alone
    template <typename Add>
    void take(typename Bounds::unit took, Add add) noexcept {
        std::int64_t const length = std::max<std::int64_t>(took.count(), 0);
        std::size_t bucket = 0;
        while (bucket < bounds.size() && length > bounds[bucket]) ++bucket;
        add(counts_[bucket]);
        if (length != 0) add(sum_, length);
    }
    [[nodiscard]] std::int64_t count(std::size_t bucket) const {
        return number_in(counts_[bucket]);
    }
    /// In the unit of the bounds.
    [[nodiscard]] std::int64_t sum() const { return number_in(sum_); }

private:
    std::array<figure, buckets> counts_{};
    figure sum_{0};
};

/// The bounds of the time of a call.
struct call_bounds {
    using unit = std::chrono::nanoseconds;
    static constexpr std::int64_t us = 1'000, ms = 1'000'000, s = 1'000'000'000;
    static constexpr std::array<std::int64_t, 19> all{
        10 * us, 20 * us, 50 * us,  100 * us, 200 * us, 500 * us, 1 * ms, 2 * ms, 5 * ms, 10 * ms,
        20 * ms, 50 * ms, 100 * ms, 200 * ms, 500 * ms, 1 * s,    2 * s,  5 * s,  30 * s};
};
/// The bounds of the time from the beginning of a transaction to its end.
struct settling_bounds {
    using unit = std::chrono::milliseconds;
    static constexpr std::array<std::int64_t, 19> all{
        1,    2,    5,     10,    20,    50,     100,     200,     500,     1000,
        2000, 5000, 10000, 30000, 60000, 300000, 1800000, 3600000, 86400000};
};

/// A name and a step or a state. It holds the name, since the object that had it may be gone when
/// the series is read.
class series_key {
public:
    series_key() = default;
    series_key(std::string_view name, std::uint8_t tag) noexcept
        : tag_(tag), size_(static_cast<std::uint8_t>(std::min(name.size(), longest))) {
        std::memcpy(text_.data(), name.data(), size_);
    }
    [[nodiscard]] std::string_view name() const noexcept { return {text_.data(), size_}; }
    [[nodiscard]] std::uint8_t tag() const noexcept { return tag_; }
    [[nodiscard, gnu::always_inline]] bool is(std::string_view name_of_series,
                                              std::uint8_t tag) const noexcept {
        std::size_t const size = std::min(name_of_series.size(), longest);
        if (tag != tag_ || size != size_) return false;
        // A call of memcmp costs more than the rest of a look-up.
        if (size < 8 || size > 16) return name() == name_of_series.substr(0, size);
        auto const eight = [](char const* from) {
            std::uint64_t value = 0;
            std::memcpy(&value, from, 8);
            return value;
        };
        return eight(text_.data()) == eight(name_of_series.data()) &&
               eight(text_.data() + size - 8) == eight(name_of_series.data() + size - 8);
    }

private:
    static constexpr std::size_t longest = 126;

    std::uint8_t tag_ = 0;
    std::uint8_t size_ = 0;
    std::array<char, longest> text_{};
};

/// Series by their names and tags, in a table of fixed size. Names come from definitions, so they
/// are few. If several threads add one name at the same time, it may have several series; the names
/// that find no room share one series without a name. A reader adds up the series of a name.
/// Shape:   Series - its figures, 0 at first
template <typename Series, std::size_t Size>
class series_table {
public:
    /// The series of a name, which begins with this call if there was none.
    [[gnu::always_inline]] Series& of(std::string_view name, std::uint8_t tag = 0) noexcept {
        std::size_t const first = first_probe(name) + tag * std::size_t{5};
        slot& usual = slots_[first % Size];
        bool const is_named = usual.use.load(std::memory_order_acquire) == slot_use::named;
        return is_named && usual.key.is(name, tag) ? usual.series : search(name, tag, first);
    }
    /// Calls `function(series_key const&, Series&)` for each series that has a name, and for the
    /// series without one.
    template <typename Function>
    void for_each(Function&& function) const {
        visit(*this, function);
    }
    template <typename Function>
    void for_each(Function&& function) {
        visit(*this, function);
    }

private:
    enum class slot_use : std::uint8_t { free, being_named, named };
    struct alignas(64) slot {
        std::atomic<slot_use> use{slot_use::free};
        series_key key{};
        Series series{};
    };

    [[gnu::noinline]] Series& search(std::string_view name, std::uint8_t tag,
                                     std::size_t first) noexcept {
        for (std::size_t probe = first; probe < first + Size; ++probe) {
            slot& current = slots_[probe % Size];
            auto use = current.use.load(std::memory_order_acquire);
            if (use == slot_use::named && current.key.is(name, tag)) return current.series;
            if (use != slot_use::free) continue;
            if (!current.use.compare_exchange_strong(use, slot_use::being_named)) continue;
            current.key = {name, tag};
            current.use.store(slot_use::named, std::memory_order_release);
            return current.series;
        }
        return rest_;
    }
    static std::size_t first_probe(std::string_view name) noexcept {
        if (name.empty()) return 0;
        return name.size() + static_cast<unsigned char>(name.front()) +
               static_cast<unsigned char>(name.back()) * std::size_t{7};
    }
    template <typename Table, typename Function>
    static void visit(Table& table, Function& function) {
        for (auto& current : table.slots_) {
            if (current.use.load(std::memory_order_acquire) == slot_use::named)
                function(current.key, current.series);
        }
        function(series_key{}, table.rest_);
    }

    std::array<slot, Size> slots_{};
    Series rest_{};
};

} // namespace detail
SETTLE_END
