// SPDX-License-Identifier: BSL-1.0
// The figures of settle::metrics, and their text.
#pragma once

#include <settle/metrics/series.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

SETTLE_BEGIN

/// What a settle::metrics has counted of the transactions of all types.
struct transaction_totals {
    std::int64_t in_flight = 0; ///< calls of this program have them under way
    std::int64_t done = 0;      ///< ended by this program
    std::int64_t canceled = 0;  ///< ended by this program
};

namespace detail {

struct type_sums; // figures.ipp

/// The figures of a transaction type. Those of a transaction that simply ends are side by side.
struct type_series {
    figure begun_first{0}; ///< inserted by the first step of a call
    figure done{0};
    histogram<settling_bounds> settling{}; ///< done and canceled
    figure begun_later{0};                 ///< inserted by a later step
    figure entered{0};                     ///< calls that began with another step
    figure left{0};                        ///< calls that left their transaction unfinished
    figure repeated{0};                    ///< calls whose transaction another call has ended
    figure claims{0};
    figure takeovers{0};
    figure retries{0};
    figure stuck{0};
    std::array<figure, all_reasons.size() + 1> canceled{}; ///< by reason; none is the first
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

/// What waits in a log or a store at the time of a look.
struct waiting_count {
    std::string name{};                   ///< of a type or of a store
    settle::state state = state::initial; ///< of entries
    std::uint64_t count = 0;
    timestamp oldest{};
    stage_number stage = 0; ///< of entries: the number of stages that they keep
};

/// What a look has found.
struct waiting_look {
    std::vector<waiting_count> counts{};
    std::optional<timestamp> when{}; ///< nothing if there was no look yet
};

class figures {
public:
    static constexpr std::size_t types = 32;
    static constexpr std::size_t calls = 128;
    static constexpr std::size_t waiting = 128;

    // Inlined, so that an event is not made in memory.
    [[gnu::always_inline]] void see(event const& seen) noexcept {
        bool const ends = seen.taken == step::end;
        bool const retries = seen.again || seen.taken == step::pause;
        bool const counts = ends || seen.first || seen.inserted || seen.claimed || retries;
        if (!counts && !seen.stuck) return;
        change(seen.type, [&](type_series& series, auto add_to) __attribute__((always_inline)) {
            count(seen, series, ends, retries, add_to);
        });
    }
    void left(std::string_view type) noexcept {
        change(type, [](type_series& series, auto add_to) { add_to(series.left); });
    }
    void called(store_call const& call) noexcept {
        auto& series = calls_.of(call.store, static_cast<std::uint8_t>(call.taken));
        series.took.take(call.took, add_with_others{});
        if (call.unknown != 0)
            add_with_others{}(series.unknown, static_cast<std::int64_t>(call.unknown));
    }
    void swept(std::uint64_t count) noexcept {
        add_with_others{}(swept_, static_cast<std::int64_t>(count));
    }

    /// Replaces what was found to wait in the log by the result of a later look.
    void set_unfinished(std::vector<waiting_count> const& counts, timestamp when) noexcept;
    /// The same of prepared transactions in stores.
    void set_in_doubt(std::vector<waiting_count> const& counts, timestamp when) noexcept;
    /// The same of marks of calls that have no entry.
    void set_early(std::vector<waiting_count> const& counts, timestamp when) noexcept;

    /// As the last set_early() has told.
    [[nodiscard]] waiting_look early() const;

private:
    friend std::string waiting_text_of(figures const& figures);
    friend std::string text_of(figures const& figures);
    friend std::map<std::string, type_sums> sums_by_type(figures const& figures);

    using waiting_table = series_table<waiting_series, waiting>;

    /// Calls `function(series of the type, add)`. Each thread has figures of its own, as long as
    /// there are few threads.
    template <typename Function>
    [[gnu::always_inline]] void change(std::string_view type, Function&& function) noexcept {
        std::size_t const thread = thread_number::of_this_thread();
        type_series& series = types_[thread].of(type);
        if (thread != thread_number::last) function(series, add_alone{});
        else function(series, add_with_others{});
    }

    template <typename Add>
    [[gnu::always_inline]] static void count(event const& seen, type_series& series, bool ends,
                                             bool retries, Add add_to) noexcept {
        if (seen.inserted) add_to(seen.first ? series.begun_first : series.begun_later);
        else if (seen.first) add_to(series.entered);
        if (seen.claimed) add_to(series.claims);
        if (seen.took_over) add_to(series.takeovers);
        if (retries) add_to(series.retries);
        if (seen.stuck) add_to(series.stuck);
        if (!ends) return;
        if (!seen.by_this_call) return add_to(series.repeated);
        add_to(seen.state == state::done ? series.done
                                         : series.canceled[static_cast<std::size_t>(seen.why)]);
        series.settling.take(seen.when - seen.created, add_to);
    }

    static void set(waiting_table& table, std::vector<waiting_count> const& counts) noexcept;

    std::array<series_table<type_series, types>, thread_number::last + 1> types_{};
    series_table<call_series, calls> calls_{};
    waiting_table unfinished_{};
    waiting_table in_doubt_{};
    waiting_table early_{};
    figure swept_{0};
    figure unfinished_at_{0}; ///< when the last look was over, in milliseconds since 1970
    figure in_doubt_at_{0};
    figure early_at_{0};
};

[[nodiscard]] std::string text_of(figures const& figures);
/// The part of the text that needs no observer: what waits in the log and in the stores.
[[nodiscard]] std::string waiting_text_of(figures const& figures);
[[nodiscard]] transaction_totals totals_of(figures const& figures);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/metrics/figures.ipp>
#endif
