// SPDX-License-Identifier: BSL-1.0
// The overview: what is unfinished, what is stuck and why, and whether each store answers.
#include "views.hpp"

#include <algorithm>

SETTLE_BEGIN
namespace detail {

namespace {

constexpr std::size_t most_stuck = 20;
constexpr std::size_t most_doubts = 20; ///< of a database

/// The kind of the parts that a store has; empty if no type has a part there.
[[nodiscard]] std::string_view kind_of(engine_ports const& ports, known_directions known,
                                       std::size_t store) {
    for (known_direction const& direction : known) {
        for (part_descriptor const& part : direction.type->participants) {
            if (store_of(ports, part) == store) return part.kind->name;
        }
    }
    return {};
}

/// True if an entry in its present state may wait for an answer to the part.
[[nodiscard]] bool is_open_call(part_descriptor const& part, entry const& stored) {
    if (part.make_result == nullptr) return false;
    switch (stored.state) {
    case state::pending: return part.stage == stored.stages_kept;
    case state::deciding: return part.is_pivot;
    case state::applied: return part.confirms;
    case state::canceling: return !part.is_pivot && part.stage <= stored.stages_kept;
    default: return false;
    }
}

/// The calls that an entry may wait for: "flight (airline) or hotel (hotels)".
[[nodiscard]] std::string open_calls(transaction_descriptor const& type, entry const& stored) {
    auto const parameters = read_parameters(type, stored);
    if (!parameters.has_value()) return "a service";
    void const* const value = parameters.value().get();
    std::string names;
    type.for_each_part(value, [&](part_descriptor const& part, std::size_t line,
                                  std::size_t number) {
        if (line != 0 || !is_open_call(part, stored)) return;
        names.append(names.empty() ? "" : " or ").append(type.name_part(value, number).participant);
        names.append(" (").append(part.name).append(")");
    });
    return names.empty() ? "a service" : names;
}

/// What ends a part in doubt.
[[nodiscard]] std::string end_of(doubtful_part const& part) {
    if (part.id.empty())
        return "this library did not give its name: only a person ends it, in the database";
    if (!part.waits_for) return "it has no entry: a sweep rolls it back";
    auto const& stored = *part.waits_for;
    if (!stored.fault.empty()) return "its entry is damaged";
    std::string const state{name_of(stored.state)};
    if (is_final(stored.state)) return "its entry is " + state + ": a sweep ends it";
    return "its entry is " + state + ": 'recover' ends both";
}

} // namespace

std::size_t store_of(engine_ports const& ports, part_descriptor const& part) {
    auto const bound =
        std::find_if(ports.targets.begin(), ports.targets.end(),
                     [&](target_binding const& each) { return each.target == part.target; });
    return bound == ports.targets.end() ? ports.stores.size() : bound->store;
}

shown_doubts doubts_of(
    function_view<result<std::vector<in_doubt_name>>(std::string const& after, std::size_t limit)>
        in_doubt,
    function_view<result<std::optional<entry>>(transaction_id const& id)> read,
    patience& patience) {
    auto const begun = std::chrono::steady_clock::now();
    std::vector<in_doubt_name> oldest;
    auto const keep_oldest = [&](in_doubt_name const& each) {
        auto const place =
            std::upper_bound(oldest.begin(), oldest.end(), each,
                             [](in_doubt_name const& left, in_doubt_name const& right) {
                                 return left.prepared < right.prepared;
                             });
        oldest.insert(place, each);
        if (oldest.size() > most_doubts) oldest.pop_back();
    };
    auto const listed = [&](std::string const& after, std::size_t limit) {
        auto page = in_doubt(after, limit);
        if (page.has_value()) std::for_each(page->begin(), page->end(), keep_oldest);
        return page;
    };
    shown_doubts shown;
    auto const counted = count_doubts(listed, patience);
    shown.took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    if (!counted.has_value()) {
        shown.problem = counted.problem();
        return shown;
    }
    shown.count = counted->count;
    auto parts = parts_in_doubt(
        [&](std::string const&, std::size_t) {
            return result<std::vector<in_doubt_name>>{std::move(oldest)};
        },
        read, patience);
    if (parts.has_value()) shown.oldest = std::move(parts).value();
    else shown.log_problem = parts.problem();
    return shown;
}

std::int64_t console_views::age_in_seconds(timestamp when) const {
    auto const age = std::max(time_between(when, engine_.now()), std::chrono::milliseconds{0});
    return std::chrono::duration_cast<std::chrono::seconds>(age).count();
}

console_json console_views::overview(console_role role) {
    auto asked = ask_stores();
    // A log that gives no answer is asked nothing more.
    auto const problem = asked.log.empty() ? go_on_counting() : asked.log;
    auto const pauses = asked.log.empty() ? engine_.paused_calls(call())
                                          : result<std::vector<call_pause>>{asked.log};
    console_json data;
    data["at"] = utc(engine_.now());
    data["log"] = engine_.ports().log.name();
    data["may_act"] = role == console_role::acts;
    if (figures_ != nullptr) data["transactions"] = transactions();
    data["unfinished"] = unfinished();
    if (!problem.empty()) data["unfinished"]["problem"] = problem.message();
    data["stuck"] = stuck(pauses.value_or(std::vector<call_pause>{}));
    if (!problem.empty()) data["stuck"]["problem"] = problem.message();
    data["in_doubt"] = std::move(asked.in_doubt);
    data["parts_in_doubt"] = std::move(asked.parts_in_doubt);
    data["marks_without_entry"] = marks_without_entry();
    data["stores"] = std::move(asked.rows);
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
    if (stored.fault.empty() && stored.state == state::initial) return;
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
    // A stage is gone through before the commit.
    auto const is_in_stage = [](waiting_count const& each) {
        return each.state == state::pending || each.state == state::deciding;
    };
    std::vector<waiting_count> shown;
    for (waiting_count& each : counted.count.by_stage()) {
        total += each.count;
        bool const is_same = !shown.empty() && shown.back().name == each.name &&
                             shown.back().state == each.state && !is_in_stage(each);
        if (!is_same) {
            shown.push_back(std::move(each));
            continue;
        }
        shown.back().count += each.count;
        shown.back().oldest = std::min(shown.back().oldest, each.oldest);
    }
    for (waiting_count const& each : shown) {
        auto const stage = is_in_stage(each) ? console_json(each.stage) : console_json(nullptr);
        rows.push_back({{"type", each.name},
                        {"state", name_of(each.state)},
                        {"stage", stage},
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

console_json console_views::marks_without_entry() const {
    auto const look = console_figures::of(waiting_).early();
    if (!look.when) return {{"problem", "no look at the marks has ended yet"}};
    console_json rows = console_json::array();
    for (waiting_count const& each : look.counts) {
        rows.push_back({{"collection", each.name},
                        {"count", each.count},
                        {"oldest_seconds", age_in_seconds(each.oldest)}});
    }
    return {{"at", utc(*look.when)}, {"by_collection", std::move(rows)}};
}

console_json console_views::stuck(std::vector<call_pause> const& pauses) {
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

/// Why an entry has no end, as far as the log, the stores and this machine can tell.
std::string console_views::why_unfinished(entry const& stored,
                                          std::vector<call_pause> const& pauses) {
    if (!stored.fault.empty()) {
        return "the entry is damaged: " + stored.fault +
               ". No action can settle it: while no program runs, correct its row with the "
               "store's own shell. See errors#damaged";
    }
    auto const direction = direction_for(engine_.known(), stored);
    if (!direction.has_value()) return direction.problem().message();
    auto const& type = *direction.value()->type;
    auto const& parts = type.participants;
    for (call_pause const& pause : pauses) {
        if ((pause.scope == pause_scope::type && pause.name == stored.type) ||
            (pause.scope == pause_scope::transaction && pause.name == stored.id))
            return "its calls are paused: " + pause.why;
        bool const holds = std::any_of(parts.begin(), parts.end(), [&](auto const& part) {
            return part.name == pause.name && is_open_call(part, stored);
        });
        if (pause.scope == pause_scope::service && holds)
            return "the calls of '" + pause.name + "' are paused: " + pause.why;
    }
    if (stored.state == state::initial) return "it waits for a worker";
    auto const ports = engine_.ports();
    for (part_descriptor const& part : parts) {
        auto const store = store_of(ports, part);
        if (silent_.at(store).empty()) continue;
        return "its store '" + ports.names[store] +
               "' gives no answer: " + silent_[store].message();
    }
    if (stored.call_tries != 0) {
        return "the call of " + open_calls(type, stored) + " was tried " +
               std::to_string(stored.call_tries) + " times without an answer; the next try is at " +
               utc(stored.next_try);
    }
    if (is_gone(stored.owner)) return "its owner has ended, and no recovery has claimed it";
    return "no recovery has claimed it; its owner may still run";
}

console_views::asked_stores console_views::ask_stores() {
    using std::chrono::milliseconds, std::chrono::steady_clock;
    asked_stores asked;
    auto const add = [&](std::string const& name, std::string_view kind, error const& problem,
                         milliseconds took) {
        asked.rows.push_back({{"name", name},
                              {"kind", kind},
                              {"answers", problem.empty()},
                              {"took_ms", took.count()},
                              {"at", utc(engine_.now())},
                              {"problem", nullptr}});
        if (!problem.empty()) asked.rows.back()["problem"] = problem.message();
    };
    auto const ask = [&](std::string const& name, std::string_view kind, auto&& question) {
        limited_wait const within{limit_};
        auto const begun = steady_clock::now();
        auto const answered = question();
        auto problem = answered.has_value() ? error{} : answered.problem();
        add(name, kind, problem,
            std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun));
        return problem;
    };
    auto const ports = engine_.ports();
    asked.log = ask("log", "log", [&] { return ports.log.list({}, {}, 1); });
    auto const doubts = engine_.doubts(call());
    for (std::size_t index = 0; index < ports.stores.size(); ++index) {
        auto const& name = ports.names[index];
        auto const kind = kind_of(ports, engine_.known(), index);
        if (kind == "service") {
            asked.rows.push_back({{"name", name},
                                  {"kind", kind},
                                  {"answers", nullptr},
                                  {"problem", "not asked: only a call asks a service"}});
        } else if (kind == "prepared") {
            auto const own = std::find_if(doubts.begin(), doubts.end(),
                                          [&](auto const& each) { return each.store == name; });
            silent_[index] = own->problem;
            add(name, kind, own->problem, own->took);
        } else {
            silent_[index] =
                ask(name, "records", [&] { return ports.stores[index]->marks({}, 1); });
        }
    }
    for (shown_doubts const& each : doubts) {
        auto& row = asked.in_doubt.emplace_back();
        row = {{"store", each.store},
               {"count", each.count},
               {"oldest_seconds", nullptr},
               {"not_listed", each.count - each.oldest.size()},
               {"problem", nullptr}};
        auto const& problem = each.problem.empty() ? each.log_problem : each.problem;
        if (!problem.empty()) row["problem"] = problem.message();
        if (!each.problem.empty()) row["count"] = row["not_listed"] = nullptr;
        if (!each.oldest.empty())
            row["oldest_seconds"] = age_in_seconds(each.oldest.front().prepared);
        for (doubtful_part const& part : each.oldest) {
            // A database of several targets lists a part for each of them.
            bool const is_listed = std::any_of(
                asked.parts_in_doubt.begin(), asked.parts_in_doubt.end(),
                [&](console_json const& listed) { return listed["name"] == part.name; });
            if (is_listed) continue;
            asked.parts_in_doubt.push_back({{"store", each.store},
                                            {"name", part.name},
                                            {"id", nullptr},
                                            {"age_seconds", age_in_seconds(part.prepared)},
                                            {"what_ends_it", end_of(part)}});
            if (!part.id.empty()) asked.parts_in_doubt.back()["id"] = part.id;
        }
    }
    return asked;
}

} // namespace detail
SETTLE_END
