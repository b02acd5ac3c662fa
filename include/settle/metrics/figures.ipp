// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that figures.hpp declares.
#pragma once

#include <settle/base/environment.hpp>
#include <settle/metrics/figures.hpp>

#include <charconv>

SETTLE_BEGIN
namespace detail {

/// The figures of a type in all shards, as they are written.
struct type_sums {
    std::int64_t begun = 0, in_flight = 0, claims = 0, takeovers = 0, retries = 0, stuck = 0;
    std::int64_t done = 0, repeated = 0, sum = 0;
    std::array<std::int64_t, all_reasons.size() + 1> canceled{};
    std::array<std::int64_t, histogram<settling_bounds>::buckets> settling{};

    // Ends are read first: each had its beginning before.
    void add(type_series const& from) {
        std::int64_t gone = number_in(from.repeated) + number_in(from.left);
        repeated += number_in(from.repeated);
        auto const take = [&](std::int64_t& sum_of_ends, figure const& ends) {
            auto const count = number_in(ends);
            sum_of_ends += count;
            gone += count;
        };
        take(done, from.done);
        for (std::size_t why = 0; why < canceled.size(); ++why) {
            take(canceled[why], from.canceled[why]);
        }
        for (std::size_t bucket = 0; bucket < settling.size(); ++bucket) {
            settling[bucket] += from.settling.count(bucket);
        }
        sum += from.settling.sum();
        auto const first = number_in(from.begun_first);
        begun += first + number_in(from.begun_later);
        in_flight += first + number_in(from.entered) - gone;
        claims += number_in(from.claims);
        takeovers += number_in(from.takeovers);
        retries += number_in(from.retries);
        stuck += number_in(from.stuck);
    }
    [[nodiscard]] bool is_used() const {
        return begun != 0 || in_flight != 0 || claims != 0 || repeated != 0 || done != 0 ||
               sum != 0;
    }
};

/// The figures of a kind of call.
struct call_sums {
    std::array<std::int64_t, histogram<call_bounds>::buckets> took{};
    std::int64_t sum = 0;
};

/// Writes families of samples.
class metrics_text {
public:
    void family(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        append("# HELP ", name, ' ', help, '\n');
        append("# TYPE ", name, ' ', type, '\n');
    }
    void sample(std::string_view labels, double value, std::string_view suffix = {}) {
        append(name_, suffix);
        if (!labels.empty()) append('{', labels, '}');
        std::array<char, 32> digits{};
        auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        append(' ', std::string_view{digits.data(), static_cast<std::size_t>(end - digits.data())},
               '\n');
    }
    void sample(std::string_view labels, std::int64_t value, std::string_view suffix = {}) {
        append(name_, suffix);
        if (!labels.empty()) append('{', labels, '}');
        append(' ', std::to_string(value), '\n');
    }
    template <typename Bounds, std::size_t Buckets>
    void distribution(std::string const& labels, std::array<std::int64_t, Buckets> const& counts,
                      std::int64_t sum) {
        std::int64_t cumulated = 0;
        for (std::size_t bucket = 0; bucket < Buckets; ++bucket) {
            cumulated += counts[bucket];
            std::string bound = "+Inf";
            if (bucket < Bounds::all.size()) bound = seconds_text<Bounds>(Bounds::all[bucket]);
            sample(labels + ",le=\"" + bound + '"', cumulated, "_bucket");
        }
        sample(labels, seconds<Bounds>(sum), "_sum");
        sample(labels, cumulated, "_count");
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    template <typename Bounds>
    static double seconds(std::int64_t length) {
        using period = typename Bounds::unit::period;
        return static_cast<double>(length) * period::num / period::den;
    }
    template <typename Bounds>
    static std::string seconds_text(std::int64_t length) {
        std::array<char, 32> digits{};
        auto const end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                       seconds<Bounds>(length), std::chars_format::fixed)
                             .ptr;
        return {digits.data(), end};
    }
    void append(auto const&... pieces) { (append_piece(pieces), ...); }
    void append_piece(std::string_view piece) { text_.append(piece); }
    void append_piece(char piece) { text_.push_back(piece); }

    std::string text_;
    std::string name_;
};

/// A label. Names of types that only the log knows can hold any character.
[[nodiscard]] inline std::string label(std::string_view name, std::string_view value) {
    std::string text{name};
    text += "=\"";
    for (char const c : value) {
        if (c == '"' || c == '\\') text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return text + '"';
}
[[nodiscard]] inline std::string with_underscores(std::string_view name) {
    std::string text{name};
    std::replace(text.begin(), text.end(), ' ', '_');
    return text;
}
/// Names that found no room have one series together.
[[nodiscard]] inline std::string store_of(series_key const& key) {
    return label("store", key.name().empty() ? "(others)" : key.name());
}
[[nodiscard]] inline std::string call_of(series_key const& key) {
    auto const call = name_of(static_cast<step>(key.tag()));
    return store_of(key) + ',' + label("call", key.name().empty() ? "" : with_underscores(call));
}

/// Shape:   label - gives the labels of a key; when - of the look, 0 if there was none
template <typename Table, typename Labels>
void write_waiting(metrics_text& text, Table const& table, std::string const& name,
                   std::string const& what, std::int64_t when, Labels&& labels) {
    if (when == 0) return;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_labels;
    table.for_each([&](series_key const& key, waiting_series const& series) {
        if (key.name().empty() && number_in(series.count) == 0) return;
        auto& [count, oldest] = by_labels[labels(key)];
        count += number_in(series.count);
        auto const time = number_in(series.oldest);
        oldest = oldest == 0 ? time : std::min(oldest, time == 0 ? oldest : time);
    });
    auto const now = system_environment{}.now().time_since_epoch().count();
    text.family(name, "gauge", what + ", at the last look.");
    for (auto const& [series, values] : by_labels) text.sample(series, values.first);
    text.family(name + "_oldest_age_seconds", "gauge",
                "Age of the oldest of them, 0 if there is none.");
    for (auto const& [series, values] : by_labels) {
        auto const age = values.second == 0 ? 0 : std::max<std::int64_t>(now - values.second, 0);
        text.sample(series, static_cast<double>(age) / 1000);
    }
    text.family(name + "_timestamp_seconds", "gauge", "When the last look ended.");
    text.sample({}, static_cast<double>(when) / 1000);
}

SETTLE_FUNCTION void write_types(metrics_text& text,
                                 std::map<std::string, type_sums> const& types) {
    auto const each_type = [&](auto const& write) {
        for (auto const& [name, sums] : types) write(label("type", name), sums);
    };
    auto const counter = [&](std::string_view name, std::string_view help,
                             std::int64_t type_sums::* sum) {
        text.family(name, "counter", help);
        each_type(
            [&](std::string const& type, type_sums const& sums) { text.sample(type, sums.*sum); });
    };

    counter("settle_transactions_begun_total", "Entries that this program has inserted.",
            &type_sums::begun);
    text.family("settle_transactions_total", "counter",
                "Transactions that this program has ended.");
    each_type([&](std::string const& type, type_sums const& sums) {
        text.sample(type + ",end=\"done\",reason=\"none\"", sums.done);
        for (std::size_t why = 0; why < sums.canceled.size(); ++why) {
            if (sums.canceled[why] == 0) continue;
            auto const reason = label("reason", with_underscores(name_of(settle::reason(why))));
            text.sample(type + ",end=\"canceled\"," + reason, sums.canceled[why]);
        }
    });
    counter("settle_transactions_repeated_total",
            "Calls of transactions that had ended before, or that another call has ended.",
            &type_sums::repeated);
    text.family("settle_transactions_in_flight", "gauge",
                "Transactions that calls of this program have under way.");
    each_type([&](std::string const& type, type_sums const& sums) {
        text.sample(type, std::max<std::int64_t>(sums.in_flight, 0));
    });
    counter("settle_claims_total", "Claims of entries.", &type_sums::claims);
    counter("settle_takeovers_total", "Claims of unfinished entries that another call had.",
            &type_sums::takeovers);
    counter("settle_retries_total",
            "Steps that were taken again, and transactions that began again.", &type_sums::retries);
    counter("settle_stuck_total", "Transactions that got stuck in calls of this program.",
            &type_sums::stuck);
    text.family("settle_transaction_seconds", "histogram",
                "Time from the beginning of a transaction to its end by this program.");
    each_type([&](std::string const& type, type_sums const& sums) {
        text.distribution<settling_bounds>(type, sums.settling, sums.sum);
    });
}

SETTLE_FUNCTION std::map<std::string, type_sums> sums_by_type(figures const& figures) {
    std::map<std::string, type_sums> types;
    for (auto const& shard : figures.types_) {
        shard.for_each([&](series_key const& key, type_series const& series) {
            types[std::string{key.name()}].add(series);
        });
    }
    std::erase_if(types, [](auto const& type) { return !type.second.is_used(); });
    return types;
}

SETTLE_FUNCTION transaction_totals totals_of(figures const& figures) {
    transaction_totals totals;
    for (auto const& [name, sums] : sums_by_type(figures)) {
        totals.in_flight += std::max<std::int64_t>(sums.in_flight, 0);
        totals.done += sums.done;
        for (auto const count : sums.canceled) totals.canceled += count;
    }
    return totals;
}

SETTLE_FUNCTION std::string text_of(figures const& figures) {
    metrics_text text;
    write_types(text, sums_by_type(figures));

    std::map<std::string, call_sums> calls;
    std::map<std::string, std::int64_t> unknown;
    figures.calls_.for_each([&](series_key const& key, call_series const& series) {
        auto& [took, sum] = calls[call_of(key)];
        for (std::size_t bucket = 0; bucket < took.size(); ++bucket) {
            took[bucket] += series.took.count(bucket);
        }
        sum += series.took.sum();
        unknown[store_of(key)] += number_in(series.unknown);
    });
    std::erase_if(calls, [](auto const& call) {
        auto const& counts = call.second.took;
        return std::all_of(counts.begin(), counts.end(), [](auto count) { return count == 0; });
    });
    text.family("settle_call_seconds", "histogram", "Time of the calls of stores and of the log.");
    for (auto const& [labels, sums] : calls)
        text.distribution<call_bounds>(labels, sums.took, sums.sum);
    text.family("settle_unknown_answers_total", "counter",
                "Parts and entries whose store gave no answer, so that their outcome was unknown.");
    for (auto const& [store, count] : unknown) {
        if (store != store_of({}) || count != 0) text.sample(store, count);
    }
    text.family("settle_stray_marks_swept_total", "counter", "Stray marks that were undone.");
    text.sample({}, number_in(figures.swept_));
    return text.take() + waiting_text_of(figures);
}

SETTLE_FUNCTION std::string waiting_text_of(figures const& figures) {
    metrics_text text;
    write_waiting(text, figures.unfinished_, "settle_unfinished_entries",
                  "Entries of the log that are not done and not canceled",
                  number_in(figures.unfinished_at_), [](series_key const& key) {
                      return label("type", key.name()) + ',' +
                             label("state", name_of(static_cast<state>(key.tag())));
                  });
    write_waiting(text, figures.in_doubt_, "settle_prepared_in_doubt",
                  "Prepared transactions of this log that are neither committed nor rolled back",
                  number_in(figures.in_doubt_at_),
                  [](series_key const& key) { return store_of(key); });
    write_waiting(text, figures.early_, "settle_marks_without_entry",
                  "Marks of calls that began over a minute ago and have no entry",
                  number_in(figures.early_at_),
                  [](series_key const& key) { return label("collection", key.name()); });
    return text.take();
}

SETTLE_FUNCTION void figures::set(waiting_table& table,
                                  std::vector<waiting_count> const& counts) noexcept {
    for (waiting_count const& now : counts) {
        static_cast<void>(table.of(now.name, static_cast<std::uint8_t>(now.state)));
    }
    table.for_each([&](series_key const& key, waiting_series& series) {
        auto const now = std::find_if(counts.begin(), counts.end(), [&](waiting_count const& each) {
            return key.is(each.name, static_cast<std::uint8_t>(each.state));
        });
        bool const waits = now != counts.end();
        auto const count = waits ? static_cast<std::int64_t>(now->count) : 0;
        auto const oldest = waits ? now->oldest.time_since_epoch().count() : 0;
        series.count.store(count, std::memory_order_relaxed);
        series.oldest.store(oldest, std::memory_order_relaxed);
    });
}

SETTLE_FUNCTION void figures::set_unfinished(std::vector<waiting_count> const& counts,
                                             timestamp when) noexcept {
    set(unfinished_, counts);
    unfinished_at_.store(when.time_since_epoch().count(), std::memory_order_relaxed);
}
SETTLE_FUNCTION void figures::set_in_doubt(std::vector<waiting_count> const& counts,
                                           timestamp when) noexcept {
    set(in_doubt_, counts);
    in_doubt_at_.store(when.time_since_epoch().count(), std::memory_order_relaxed);
}
SETTLE_FUNCTION waiting_look figures::early() const {
    waiting_look look;
    if (auto const when = number_in(early_at_); when != 0)
        look.when = timestamp{std::chrono::milliseconds{when}};
    early_.for_each([&](series_key const& key, waiting_series const& series) {
        auto const count = static_cast<std::uint64_t>(number_in(series.count));
        timestamp const oldest{std::chrono::milliseconds{number_in(series.oldest)}};
        if (count != 0)
            look.counts.push_back({std::string{key.name()}, state::initial, count, oldest});
    });
    return look;
}
SETTLE_FUNCTION void figures::set_early(std::vector<waiting_count> const& counts,
                                        timestamp when) noexcept {
    set(early_, counts);
    early_at_.store(when.time_since_epoch().count(), std::memory_order_relaxed);
}

} // namespace detail
SETTLE_END
