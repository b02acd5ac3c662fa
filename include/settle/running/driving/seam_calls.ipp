// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that seam_calls.hpp declares.
#pragma once

#include <settle/kinds/services/service_part.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/driving/seam_calls.hpp>

#include <cstdio>
#include <cstdlib>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION part_request request_of(job const& work, part_descriptor const& part,
                                        std::size_t line, step action, time_limit lifetime) {
    auto const& c = work.coordinator;
    bool const in_one_phase = c.next() == step::one_phase;
    epoch const under = action == step::compensate ? c.latest()
                        : action == step::back_off ? c.undone_epoch()
                        : in_one_phase             ? c.one_phase_epoch()
                                                   : c.epoch_number();
    return {&part,
            work.type,
            work.parameters,
            &work.id,
            {part.participant, static_cast<std::uint32_t>(line)},
            action,
            under,
            c.committed(),
            work.type->stages.count == 1 ? nullptr : &work.results,
            later(work.created, lifetime)};
}

/// A store that gives no answer is broken, and no guess at the answer would be safe.
[[noreturn]] inline void stop_without_answer() {
    std::fputs("settle: a store gave no answer to a part; this is a fault of the store. "
               "Report it.\n",
               stderr);
    std::abort();
}

/// The parts of one job that stores have begun at one step.
struct waiting_parts {
    struct parts_of_store {
        std::size_t store;
        std::vector<part_request> requests{};
        std::vector<part_result> results{};
        std::vector<std::size_t> numbers{};
        std::unique_ptr<parts_under_way> under_way{};
        std::chrono::nanoseconds begun{}; ///< for call_watch
    };
    std::vector<parts_of_store> stores{};

    [[nodiscard]] parts_of_store& of(std::size_t store) {
        for (parts_of_store& known : stores) {
            if (known.store == store) return known;
        }
        return stores.emplace_back(parts_of_store{store});
    }
};

/// The requests to one store, with the job and the number of each part.
struct seam_calls::wave {
    std::vector<part_request> requests{};
    std::vector<part_result> results{};
    std::vector<std::pair<job*, std::size_t>> parts{};
    std::chrono::nanoseconds begun{}; ///< for call_watch

    void clear() {
        requests.clear();
        results.clear();
        parts.clear();
    }
    void deliver() {
        for (std::size_t index = 0; index < requests.size(); ++index) {
            auto const& [work, number] = parts[index];
            if (results[index].what == answer::none) stop_without_answer();
            work->take(number, requests[index].part, *requests[index].descriptor, results[index]);
        }
    }
};

/// The waves of one step. If anything throws, the destructor ends the stores' waves before the
/// requests are destroyed.
class seam_calls::running {
public:
    running(seam_calls& calls, step taken)
        : of_(calls), taken_(taken), begun_(calls.waves_.size()) {}
    running(running const&) = delete;
    running& operator=(running const&) = delete;
    ~running() {
        for (std::size_t at = 0; at < begun_.size(); ++at) {
            if (begun_[at]) of_.ports_.stores[at]->abandon(of_.waves_[at].results);
        }
    }

    /// Stores that overlap others start first; the last of all works on this thread.
    void start() {
        std::vector<std::size_t> order;
        for (bool const overlapping : {true, false}) {
            for (std::size_t index = 0; index < begun_.size(); ++index) {
                bool const overlaps = of_.ports_.stores[index]->capabilities().overlaps_others;
                bool const asked = !of_.waves_[index].requests.empty();
                if (asked && overlaps == overlapping) order.push_back(index);
            }
        }
        for (std::size_t const index : order) {
            store_port& store = *of_.ports_.stores[index];
            wave& current = of_.waves_[index];
            current.results.resize(current.requests.size());
            current.begun = of_.ports_.watch.begin();
            if (index == order.back()) {
                store.execute(current.requests, current.results);
                return of_.note_call(index, taken_, current.begun, current.results);
            }
            begun_[index] = true;
            store.start(current.requests, current.results);
        }
    }
    void finish() {
        for (std::size_t index = 0; index < begun_.size(); ++index) {
            if (!begun_[index]) continue;
            begun_[index] = false;
            wave const& current = of_.waves_[index];
            of_.ports_.stores[index]->finish(of_.waves_[index].results);
            of_.note_call(index, taken_, current.begun, current.results);
        }
    }

private:
    seam_calls& of_;
    step taken_;
    std::vector<bool> begun_;
};

SETTLE_FUNCTION seam_calls::seam_calls(engine_ports const& ports, time_limit lifetime,
                                       call_options const& call)
    : ports_(ports), lifetime_(lifetime), limits_(limits_of(call)), waves_(ports.stores.size()) {
    auto const later = [](store_port* store) { return store->capabilities().answers_later; };
    if (std::any_of(ports.stores.begin(), ports.stores.end(), later)) {
        signal_ = std::make_shared<answer_signal>();
        started_.resize(ports.stores.size(), started_parts{signal_});
    }
}
SETTLE_FUNCTION void seam_calls::watch(std::shared_ptr<answer_signal> signal,
                                       job_source const& source) {
    signal_ = std::move(signal);
    started_.assign(ports_.stores.size(), started_parts{signal_});
    source_ = &source;
}
SETTLE_FUNCTION seam_calls::seam_calls(seam_calls&& other) noexcept = default;
SETTLE_FUNCTION seam_calls::~seam_calls() = default;

SETTLE_FUNCTION void
seam_calls::look_up(std::span<job> jobs,
                    function_view<void(job&, result<std::optional<entry>>&&, bool)> found) {
    std::vector<read_request> requests;
    writers_.clear();
    for (job& work : jobs) {
        if (!work.takes(step::read)) continue;
        bool const inserts_next = work.coordinator.inserts() && work.reply == log_answer::unknown;
        requests.push_back({&work.id, work.type, work.parameters, &work.row, inserts_next});
        writers_.push_back(&work);
    }
    if (requests.empty()) return;
    caller_wait const within{limits_};
    auto const begun = ports_.watch.begin();
    ports_.log.look_up(requests,
                       [&](std::size_t index, result<std::optional<entry>>&& stored, bool same) {
                           found(*writers_[index], std::move(stored), same);
                       });
    ports_.watch.ended(log_name_of_calls, step::read, begun, requests,
                       [](auto const&) { return false; });
}

SETTLE_FUNCTION bool seam_calls::execute(step action, std::span<job> jobs, typed const&) {
    caller_wait const within{limits_};
    for (wave& one : waves_) one.clear();
    bool any_waits = false;
    for (job& work : jobs) {
        if (!work.takes(action)) continue;
        if (work.waiting == nullptr) request_parts(work, action);
        if (work.waiting != nullptr) go_on(work);
        any_waits = any_waits || work.waiting != nullptr;
    }
    // What stores answer later is under way while the other stores work.
    for (std::size_t store = 0; store < started_.size(); ++store) {
        if (started_[store].calls.empty()) continue;
        ports_.stores[store]->start(started_[store]);
        started_[store].calls.clear();
    }
    running side{*this, action};
    side.start();
    side.finish();
    for (wave& one : waves_) one.deliver();
    return any_waits;
}

SETTLE_FUNCTION bool seam_calls::confirms_lazily() const {
    return std::any_of(ports_.stores.begin(), ports_.stores.end(),
                       [](store_port* store) { return store->capabilities().confirms_lazily; });
}

SETTLE_FUNCTION void seam_calls::force(std::span<job> jobs) {
    auto const for_each_store = [&](auto&& function) {
        for (job& work : jobs) {
            if (!work.takes(step::force)) continue;
            for (part_descriptor const& part : work.type->participants) {
                if (may_lose_confirm(work, part)) function(work, store_of(part));
            }
        }
    };
    std::vector<session_moment> since(ports_.stores.size());
    for_each_store([&](job& work, std::size_t store) {
        work.is_forced = true;
        bool const is_first = since[store] == 0 || work.confirmed_since < since[store];
        if (is_first) since[store] = work.confirmed_since;
    });
    caller_wait const within{limits_};
    std::vector<bool> is_lost(since.size());
    for (std::size_t store = 0; store < since.size(); ++store) {
        is_lost[store] = since[store] != 0 && !ports_.stores[store]->force(since[store]);
    }
    for_each_store(
        [&](job& work, std::size_t store) { work.is_forced = work.is_forced && !is_lost[store]; });
}

SETTLE_FUNCTION void seam_calls::go_on(job& work) {
    bool is_over = true;
    for (waiting_parts::parts_of_store& parts : work.waiting->stores) {
        // Jobs move in their window.
        for (part_request& request : parts.requests) {
            request.parameters = work.parameters;
            request.id = &work.id;
            request.traceparent = work.traceparent;
            if (request.results != nullptr) request.results = &work.results;
        }
        bool const begins = parts.results.empty();
        if (begins) {
            parts.results.resize(parts.requests.size());
            parts.begun = ports_.watch.begin();
            parts.under_way = ports_.stores[parts.store]->begin(parts.requests, parts.results);
        }
        if (parts.under_way == nullptr) continue;
        if (parts.under_way->go_on(parts.requests, parts.results, started_[parts.store]))
            is_over = false;
        else {
            parts.under_way = nullptr;
            note_call(parts.store, work.coordinator.next(), parts.begun, parts.results);
        }
    }
    if (!is_over) return;
    auto const ended = std::exchange(work.waiting, nullptr);
    for (auto const& parts : ended->stores) {
        for (std::size_t index = 0; index < parts.requests.size(); ++index) {
            part_result const& result = parts.results[index];
            if (result.what == answer::none) stop_without_answer();
            work.take(parts.numbers[index], parts.requests[index].part,
                      *parts.requests[index].descriptor, result);
        }
    }
}

SETTLE_FUNCTION bool seam_calls::is_answered(job const& work) {
    if (work.waiting == nullptr) return false;
    return std::all_of(work.waiting->stores.begin(), work.waiting->stores.end(),
                       [](waiting_parts::parts_of_store const& parts) {
                           return parts.under_way == nullptr || parts.under_way->is_answered();
                       });
}

SETTLE_FUNCTION void seam_calls::give_up(job const& work, std::string_view limit) {
    for (waiting_parts::parts_of_store const& parts : work.waiting->stores) {
        if (parts.under_way != nullptr) parts.under_way->give_up(limit);
    }
}

SETTLE_FUNCTION void seam_calls::settle(std::span<job> jobs, write_context const& context,
                                        one_phase_decider& decider) {
    settle(
        jobs, ports_.own_store, context, decider,
        [](job const& work) { return work.takes(step::one_phase); },
        [](job const&, part_descriptor const&) { return true; });
}

SETTLE_FUNCTION bool seam_calls::begins_late(transaction_descriptor const& type) const {
    return type.stages.count == 1 && type.described &&
           std::all_of(type.participants.begin(), type.participants.end(),
                       [&](part_descriptor const& part) {
                           return part.kind == &record_kind &&
                                  ports_.stores[store_of(part)]->capabilities().marks_keep_births;
                       });
}

SETTLE_FUNCTION void seam_calls::join_parts(step action, std::span<job> jobs,
                                            write_context const& context,
                                            one_phase_decider& decider) {
    if (ports_.own_store == engine_ports::no_store) return;
    settle(
        jobs, ports_.own_store, context, decider,
        [&](job const& work) { return work.takes(action) && joins_parts(work); },
        [&](job const& work, part_descriptor const& part) { return is_joined(work, part); });
}

SETTLE_FUNCTION void seam_calls::decide_alone(std::span<job> jobs, write_context const& context,
                                              one_phase_decider& decider) {
    writes_.clear();
    writers_.clear();
    // The decider looks at earlier requests.
    std::vector<one_phase_request> requests;
    requests.reserve(jobs.size());
    for (std::size_t index = 0; index < jobs.size(); ++index) {
        job& work = jobs[index];
        if (!work.takes(step::decide) || joins_parts(work)) continue;
        auto& request = requests.emplace_back(
            one_phase_request{index, &work.id, work.type, work.parameters, true, {}, {}});
        bool const writes = decider.decide(request);
        work.reply = request.result.reply = writes ? log_answer::taken : log_answer::held_back;
        if (!writes) continue;
        writes_.push_back(request.write);
        writers_.push_back(&work);
    }
    write_all(context);
}

SETTLE_FUNCTION void
seam_calls::settle(std::span<job> jobs, std::size_t store, write_context const& context,
                   one_phase_decider& decider, function_view<bool(job const&)> settles,
                   function_view<bool(job const&, part_descriptor const&)> has) {
    wave& sole_wave = waves_[store];
    sole_wave.clear();
    std::size_t count = 0;
    std::size_t parts_of_all = 0;
    for (job const& work : jobs) {
        if (!settles(work)) continue;
        ++count;
        parts_of_all += work.coordinator.parts();
    }
    if (count == 0) return;
    // The requests of a transaction are spans of these vectors, which must not grow below.
    sole_wave.requests.reserve(parts_of_all);
    sole_wave.results.resize(parts_of_all);
    std::vector<one_phase_request> requests;
    requests.reserve(count);
    for (std::size_t index = 0; index < jobs.size(); ++index) {
        job& work = jobs[index];
        if (!settles(work)) continue;
        std::size_t const first = sole_wave.requests.size();
        work.type->for_each_part(work.parameters, [&](part_descriptor const& part, std::size_t line,
                                                      std::size_t) {
            if (!has(work, part)) return;
            sole_wave.requests.push_back(request_of(work, part, line, step::one_phase, lifetime_));
        });
        std::size_t const parts = sole_wave.requests.size() - first;
        requests.push_back({index, &work.id, work.type, work.parameters,
                            !work.takes(step::commit) && work.coordinator.inserts(),
                            std::span{sole_wave.requests}.subspan(first, parts),
                            std::span{sole_wave.results}.subspan(first, parts)});
        requests.back().result.row = work.row;
    }
    caller_wait const within{limits_};
    step const taken = jobs[requests.front().index].coordinator.next();
    auto const begun = ports_.watch.begin();
    ports_.stores[store]->one_phase(requests, context, decider);
    ports_.watch.ended(ports_.names[store], taken, begun, requests, [](auto const& request) {
        return request.result.reply == log_answer::unknown;
    });
    for (one_phase_request& request : requests) {
        job& work = jobs[request.index];
        // The store may hold a transaction back although its decision was to write.
        if (request.result.reply == log_answer::held_back) work.coordinator.clear_decision();
        work.take(std::move(request.result));
    }
}

/// True if the part makes a call at a step. A compensation may repeat the apply.
[[nodiscard]] inline bool makes_call(part_descriptor const& part, step action) {
    if (part.kind != &service_kind) return false;
    auto const& functions = *static_cast<call_functions const*>(part.functions);
    return (functions.applies && applies(action)) ||
           (functions.confirms && action == step::confirm) ||
           (functions.compensates && action == step::compensate);
}

/// True if a person has closed the part, so that it is not sent. In `deciding`, the person knows
/// that the pivot was applied.
[[nodiscard]] inline bool is_closed(job const& work, part_descriptor const& part,
                                    std::size_t line) {
    return std::any_of(work.results.begin(), work.results.end(), [&](kept_result const& kept) {
        return kept.closed && kept.participant == part.participant && kept.line == line;
    });
}

SETTLE_FUNCTION void seam_calls::request_parts(job& work, step action) {
    bool const confirms_lazily = action == step::confirm && work.coordinator.confirms_lazily();
    if (confirms_lazily && work.confirmed_since == 0) {
        work.confirmed_since = next_session_moment();
    }
    if (action == step::compensate) work.order_undo();
    auto const request_part = [&](part_descriptor const& part, std::size_t line,
                                  std::size_t number) {
        if (!work.coordinator.due(number, part.stage)) return;
        if (is_closed(work, part, line) || is_joined(work, part)) {
            work.coordinator.answered(number, answer::applied);
            return;
        }
        if (work.withholds(number)) return;
        if (makes_call(part, action) && is_paused(work, part, line, number)) return;
        std::size_t const store = store_of(part);
        part_request request = request_of(work, part, line, action, lifetime_);
        request.may_be_under_way = work.may_be_under_way(number);
        request.limits = &limits_;
        request.traceparent = work.traceparent;
        request.call_tries = work.failing.tries_of(number, work.call_tries);
        request.may_be_lost = confirms_lazily && may_lose_confirm(work, part);
        if (signal_ != nullptr && ports_.stores[store]->capabilities().answers_later) {
            if (work.waiting == nullptr) work.waiting = std::make_shared<waiting_parts>();
            auto& to = work.waiting->of(store);
            to.requests.push_back(request);
            to.numbers.push_back(number);
        } else {
            waves_[store].requests.push_back(request);
            waves_[store].parts.emplace_back(&work, number);
        }
    };
    work.type->for_each_part(work.parameters, request_part);
}

SETTLE_FUNCTION bool seam_calls::is_paused(job& work, part_descriptor const& part, std::size_t line,
                                           std::size_t number) const {
    ports_.pauses.look();
    auto const why = ports_.pauses.why_not(part.name, work.type->name(), work.id);
    if (why.empty()) return false;
    work.is_paused = true;
    part_result result;
    result.fail(answer::unavailable, why);
    result.not_sent = true;
    work.take(number, {part.participant, static_cast<std::uint32_t>(line)}, part, result);
    work.failing.note_paused(number);
    return true;
}

SETTLE_FUNCTION void seam_calls::note_call(std::size_t store, step taken,
                                           std::chrono::nanoseconds begun,
                                           std::span<part_result const> results) const {
    ports_.watch.ended(ports_.names[store], taken, begun, results,
                       [](part_result const& result) { return result.what == answer::unknown; });
}

SETTLE_FUNCTION std::size_t seam_calls::store_of(part_descriptor const& part) const {
    if (ports_.stores.size() == 1) return 0;
    for (target_binding const& bound : ports_.targets) {
        if (bound.target == part.target) return bound.store;
    }
    std::abort();
}

SETTLE_FUNCTION void seam_calls::write_all(write_context const& context) {
    send_writes(context);
    for (std::size_t i = 0; i < writes_.size(); ++i) writers_[i]->take(std::move(results_[i]));
}

SETTLE_FUNCTION void seam_calls::send_writes(write_context const& context) {
    if (writes_.empty()) return;
    results_.clear();
    results_.resize(writes_.size());
    for (std::size_t i = 0; i < writes_.size(); ++i) results_[i].row = writes_[i].row;
    caller_wait const within{limits_};
    auto const begun = ports_.watch.begin();
    ports_.log.write(writes_, results_, context);
    ports_.watch.ended(
        log_name_of_calls, writes_.front().action, begun, results_,
        [](write_result const& result) { return result.reply == log_answer::unknown; });
}

SETTLE_FUNCTION void seam_calls::note_tries(std::span<job> jobs, write_context const& context) {
    writes_.clear();
    writers_.clear();
    for (job& work : jobs) {
        if (!std::exchange(work.notes_tries, false)) continue;
        writes_.push_back(write_of<step::pause>(work));
        writers_.push_back(&work);
    }
    send_writes(context);
    for (std::size_t i = 0; i < writes_.size(); ++i) {
        bool const is_lost = results_[i].reply == log_answer::conflict;
        if (is_lost && writers_[i]->resting) writers_[i]->coordinator.look_again();
    }
}

} // namespace detail
SETTLE_END
