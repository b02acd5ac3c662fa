// SPDX-License-Identifier: BSL-1.0
// The overview: what is unfinished, what is stuck and why, and whether each store answers.
#include "views.hpp"

#include <algorithm>

SETTLE_BEGIN
namespace detail {

namespace {

constexpr std::size_t most_stuck = 20;

[[nodiscard]] bool has_kind(engine_ports const& ports, known_directions known, std::size_t store,
                            std::string_view kind) {
    return std::any_of(known.begin(), known.end(), [&](known_direction const& direction) {
        auto const& parts = direction.type->participants;
        return std::any_of(parts.begin(), parts.end(), [&](part_descriptor const& part) {
            return part.kind->name == kind &&
                   std::any_of(ports.targets.begin(), ports.targets.end(),
                               [&](target_binding const& bound) {
                                   return bound.target == part.target && bound.store == store;
                               });
        });
    });
}

} // namespace

std::int64_t console_views::age_in_seconds(timestamp when) const {
    auto const age = std::max(time_between(when, engine_.now()), std::chrono::milliseconds{0});
    return std::chrono::duration_cast<std::chrono::seconds>(age).count();
}

console_json console_views::overview(console_role role) {
    auto const problem = go_on_counting();
    auto const pauses = engine_.paused_calls(call());
    auto const doubts = engine_.count_in_doubt(call());
    console_json data;
    data["at"] = utc(engine_.now());
    data["log"] = engine_.ports().log.name();
    data["may_act"] = role == console_role::acts;
    if (figures_ != nullptr) data["transactions"] = transactions();
    data["unfinished"] = unfinished();
    if (!problem.empty()) data["unfinished"]["problem"] = problem.message();
    data["stuck"] = stuck(pauses.value_or(std::vector<call_pause>{}));
    if (!problem.empty()) data["stuck"]["problem"] = problem.message();
    data["in_doubt"] = in_doubt(doubts);
    data["stores"] = stores(doubts);
    auto const counts = engine_.counts();
    if (!counts.calls.empty()) {
        auto& calls = data["calls_of_this_program"] = console_json::array();
        for (call_counts const& each : counts.calls) {
            calls.push_back({{"service", each.service},
                             {"ok", each.ok},
                             {"refused", each.refused},
                             {"unavailable", each.unavailable},
                             {"unknown", each.unknown}});
        }
    }
    if (!pauses.has_value()) {
        data["paused"] = {{"problem", pauses.problem().message()}};
    } else if (!pauses->empty() || has_calls(engine_.known())) {
        auto& paused = data["paused"] = console_json::array();
        for (call_pause const& pause : *pauses) {
            paused.push_back({{"what", name_of(pause.scope)},
                              {"name", pause.name},
                              {"since", utc(pause.since)},
                              {"reason", pause.why}});
        }
    }
    return data;
}

std::chrono::milliseconds console_views::count_ended() {
    constexpr std::size_t most_minutes = 15;
    if (figures_ == nullptr) return std::chrono::hours{1};
    auto const minute = std::chrono::floor<std::chrono::minutes>(engine_.now());
    if (minutes_.empty() || minutes_.back().begin != minute) minutes_.push_back({minute});
    if (minutes_.size() > most_minutes) minutes_.pop_front();
    auto const totals = figures_->totals();
    minutes_.back().done += totals.done - counted_.done;
    minutes_.back().canceled += totals.canceled - counted_.canceled;
    counted_ = totals;
    return std::chrono::seconds{5};
}

console_json console_views::transactions() {
    count_ended();
    console_json rows = console_json::array();
    for (ended_minute const& each : minutes_) {
        rows.push_back(
            {{"minute", utc(each.begin)}, {"done", each.done}, {"canceled", each.canceled}});
    }
    return {{"in_flight", counted_.in_flight}, {"ended_by_minute", std::move(rows)}};
}

/// Reads further pages of unfinished entries, until all are counted or the time is over.
/// Errors:  of the log; the count goes on with the next call
error console_views::go_on_counting() {
    auto const ends = std::chrono::steady_clock::now() + limit_;
    auto const page = [&](entry_filter const& filter, transaction_id const& after,
                          std::size_t limit) {
        auto entries = engine_.page(filter, after, limit, call());
        if (!entries.has_value()) return entries;
        for (entry const& stored : entries.value()) {
            ++current_.looked_at;
            note_stuck(stored);
        }
        return entries;
    };
    do {
        auto const is_last = current_.count.next(page);
        if (!is_last.has_value()) return is_last.problem();
        if (!is_last.value()) continue;
        current_.is_complete = true;
        current_.ended = engine_.now();
        last_ = std::exchange(current_, {});
        return {};
    } while (std::chrono::steady_clock::now() < ends);
    return {};
}

/// Keeps an entry if it is one of the oldest that are stuck.
void console_views::note_stuck(entry const& stored) {
    if (stored.state == state::initial) return;
    auto const& limits = engine_.limits();
    bool const is_stuck = !stored.fault.empty() ||
                          age_of(stored.created, engine_.now(), limits.clocks) > limits.stuck_after;
    if (!is_stuck) return;
    ++current_.stuck;
    auto& oldest = current_.oldest;
    auto const place = std::upper_bound(
        oldest.begin(), oldest.end(), stored,
        [](entry const& left, entry const& right) { return left.created < right.created; });
    oldest.insert(place, stored);
    if (oldest.size() > most_stuck) oldest.pop_back();
}

console_json console_views::unfinished() {
    auto const& counted = last_.is_complete ? last_ : current_;
    std::uint64_t total = 0;
    console_json rows = console_json::array();
    for (waiting_count const& each : counted.count.all()) {
        total += each.count;
        rows.push_back({{"type", each.name},
                        {"state", name_of(each.state)},
                        {"count", each.count},
                        {"oldest_seconds", age_in_seconds(each.oldest)}});
    }
    console_json data{{"total", total},
                      {"complete", counted.is_complete},
                      {"at", utc(counted.is_complete ? counted.ended : engine_.now())}};
    if (!counted.is_complete) data["note"] = "the count goes on with the next look: at least";
    data["by_type_and_state"] = std::move(rows);
    return data;
}

console_json console_views::stuck(std::vector<call_pause> const& pauses) const {
    auto const& counted = last_.is_complete ? last_ : current_;
    console_json rows = console_json::array();
    for (entry const& stored : counted.oldest) {
        rows.push_back({{"id", stored.id},
                        {"type", stored.type},
                        {"state", stored.fault.empty() ? name_of(stored.state) : "damaged"},
                        {"age_seconds", age_in_seconds(stored.created)},
                        {"why", why_unfinished(stored, pauses)}});
    }
    auto const after = std::chrono::duration_cast<std::chrono::seconds>(
        static_cast<std::chrono::milliseconds const&>(engine_.limits().stuck_after));
    return {{"total", counted.stuck},
            {"older_than_seconds", after.count()},
            {"seen_in_calls_of_this_program", engine_.counts().stuck},
            {"oldest", std::move(rows)}};
}

/// Why an entry has no end, as far as the log and this machine can tell.
std::string console_views::why_unfinished(entry const& stored,
                                          std::vector<call_pause> const& pauses) const {
    if (!stored.fault.empty()) return "the entry is damaged: " + stored.fault;
    auto const direction = direction_for(engine_.known(), stored);
    if (!direction.has_value()) return direction.problem().message();
    for (call_pause const& pause : pauses) {
        bool const holds = (pause.scope == pause_scope::type && pause.name == stored.type) ||
                           (pause.scope == pause_scope::transaction && pause.name == stored.id);
        if (holds) return "its calls are paused: " + pause.why;
    }
    if (stored.call_tries != 0) {
        return "a call was tried " + std::to_string(stored.call_tries) +
               " times without an answer; the next try is at " + utc(stored.next_try);
    }
    if (stored.state == state::initial) return "it waits for a worker";
    if (is_gone(stored.owner)) return "its owner has ended, and no recovery has claimed it";
    return "no recovery has claimed it; its owner may still run";
}

console_json console_views::in_doubt(result<std::vector<doubt_count>> const& counted) const {
    if (!counted.has_value())
        return {{"at", utc(engine_.now())}, {"problem", counted.problem().message()}};
    console_json rows = console_json::array();
    for (doubt_count const& each : *counted) {
        console_json row{{"store", each.store}, {"count", each.count}};
        if (each.count != 0) row["oldest_seconds"] = age_in_seconds(each.oldest);
        rows.push_back(std::move(row));
    }
    return rows;
}

/// Asks the log and each store, and says how each answered.
console_json console_views::stores(result<std::vector<doubt_count>> const& counted) {
    console_json rows = console_json::array();
    auto const ask = [&](std::string const& name, std::string_view kind, auto&& question) {
        auto const begun = std::chrono::steady_clock::now();
        auto const& answered = question();
        auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - begun);
        rows.push_back({{"name", name},
                        {"kind", kind},
                        {"answers", answered.has_value()},
                        {"took_ms", took.count()},
                        {"at", utc(engine_.now())}});
        rows.back()["problem"] = nullptr;
        if (!answered.has_value()) rows.back()["problem"] = answered.problem().message();
    };
    auto const ports = engine_.ports();
    ask("log", "log", [&] { return ports.log.list({}, {}, 1); });
    for (std::size_t index = 0; index < ports.stores.size(); ++index) {
        auto const& name = ports.names[index];
        if (has_kind(ports, engine_.known(), index, "service")) {
            rows.push_back({{"name", name},
                            {"kind", "service"},
                            {"answers", nullptr},
                            {"problem", "not asked: only a call asks a service"}});
        } else if (has_kind(ports, engine_.known(), index, "prepared")) {
            ask(name, "prepared", [&]() -> auto const& { return counted; });
        } else {
            ask(name, "records", [&] { return ports.stores[index]->marks({}, 1); });
        }
    }
    return rows;
}

} // namespace detail
SETTLE_END
