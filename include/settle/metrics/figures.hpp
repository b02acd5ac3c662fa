// SPDX-License-Identifier: BSL-1.0
// The figures of settle::metrics, and their text.
#pragma once

#include <settle/metrics/series.hpp>

#include <string>

SETTLE_BEGIN
namespace detail {

/// The figures of a transaction type. What follows from other figures is not counted: a frequent
/// path changes two numbers.
struct type_series {
    figure begun_first{0}; ///< inserted by the first step of a call
    figure begun_later{0}; ///< inserted by a later step
    figure entered{0};     ///< calls that began with another step
    figure left{0};        ///< calls that left their transaction unfinished
    figure repeated{0};    ///< calls whose transaction another call has ended
    figure claims{0};
    figure takeovers{0};
    figure retries{0};
    figure stuck{0};
    std::array<figure, all_reasons.size() + 1> canceled{}; ///< by reason; none is the first
    histogram<settling_bounds> settling{};                 ///< done and canceled
};

/// The figures of a kind of call.
struct call_series {
    histogram<call_bounds> took{};
    figure unknown{0};
};

/// Unfinished entries, or prepared transactions in doubt.
struct waiting_series {
    figure count{0};
    figure oldest{0}; ///< in milliseconds since 1970; 0 if there is none
};

/// A number for each thread, so that threads seldom change the same figures.
[[nodiscard]] inline std::size_t number_of_thread() noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local std::size_t const number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
}

/// What waits in a log or a store at the time of a look.
struct waiting_count {
    std::string name; ///< of a type or of a store
    state present;    ///< of entries
    std::int64_t count;
    timestamp oldest;
};

class figures {
public:
    static constexpr std::size_t shards = 8;
    static constexpr std::size_t types = 64;
    static constexpr std::size_t calls = 128;
    static constexpr std::size_t waiting = 128;

    void see(event const& seen) noexcept {
        bool const ends = seen.taken == step::end;
        bool const retries = seen.again || seen.taken == step::pause;
        bool const counts = ends || seen.first || seen.inserted || seen.claimed || retries;
        if (counts || seen.stuck) count(seen, of_type(seen.type), ends, retries);
    }
    void left(std::string_view type) noexcept { add(of_type(type).left); }
    void called(store_call const& call) noexcept {
        auto& series = calls_.of(call.store, static_cast<std::uint8_t>(call.taken));
        series.took.add(call.took);
        if (call.unknown != 0) add(series.unknown, static_cast<std::int64_t>(call.unknown));
    }
    void swept(std::uint64_t count) noexcept { add(swept_, static_cast<std::int64_t>(count)); }

    /// Replaces what was found to wait in the log by the result of a later look.
    void set_unfinished(std::vector<waiting_count> const& found, timestamp when) noexcept;
    /// The same of prepared transactions in stores.
    void set_in_doubt(std::vector<waiting_count> const& found, timestamp when) noexcept;

private:
    friend std::string text_of(figures const& figures);

    using waiting_table = series_table<waiting_series, waiting>;

    [[nodiscard]] type_series& of_type(std::string_view type) noexcept {
        return types_[number_of_thread() % shards].of(type);
    }

    static void count(event const& seen, type_series& series, bool ends, bool retries) noexcept {
        if (seen.inserted) add(seen.first ? series.begun_first : series.begun_later);
        else if (seen.first) add(series.entered);
        if (seen.claimed) add(series.claims);
        if (seen.took_over) add(series.takeovers);
        if (retries) add(series.retries);
        if (seen.stuck) add(series.stuck);
        if (!ends) return;
        if (!seen.by_this_call) return add(series.repeated);
        if (seen.state != state::done) add(series.canceled[static_cast<std::size_t>(seen.why)]);
        series.settling.add(seen.when - seen.created);
    }

    static void set(waiting_table& table, std::vector<waiting_count> const& found) noexcept;

    std::array<series_table<type_series, types>, shards> types_{};
    series_table<call_series, calls> calls_{};
    waiting_table unfinished_{};
    waiting_table in_doubt_{};
    figure swept_{0};
    figure unfinished_at_{0}; ///< when the last look was over, in milliseconds since 1970
    figure in_doubt_at_{0};
};

[[nodiscard]] std::string text_of(figures const& figures);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/metrics/figures.ipp>
#endif
