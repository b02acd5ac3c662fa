// SPDX-License-Identifier: BSL-1.0
// The bodies of the functions of seam_calls that send parts to stores and take the answers.
#pragma once

#include <settle/kinds/services/service_part.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/driving/seam_calls.hpp>
#include <settle/running/driving/store_waves.hpp>

#include <algorithm>
#include <chrono>

SETTLE_BEGIN
namespace detail {

/// After this time the other jobs of a window go on without the jobs of a wave.
inline constexpr std::chrono::milliseconds longest_common_wait{100};

/// The waves of one step. If anything throws, the destructor ends the stores' waves before the
/// requests are destroyed.
class seam_calls::running {
public:
    /// Shape:   jobs - the number of jobs of the window
    running(seam_calls& calls, step taken, std::size_t jobs)
        : calls_(calls), taken_(taken), jobs_(jobs), begun_(calls.waves_.size()) {}
    running(running const&) = delete;
    running& operator=(running const&) = delete;
    ~running() {
        for (std::size_t index = 0; index < begun_.size(); ++index) {
            if (begun_[index]) store(index).abandon(calls_.waves_[index]->results);
        }
    }

    /// Stores that overlap others start first. The others work on this thread, and so does the last
    /// of all, unless the other jobs may go on without it.
    void start() {
        std::vector<std::size_t> order;
        for (bool const overlapping : {true, false}) {
            for (std::size_t index = 0; index < begun_.size(); ++index) {
                auto const& asked = calls_.waves_[index];
                bool const is_asked = asked != nullptr && !asked->empty();
                bool const overlaps = store(index).capabilities().overlaps_others;
                if (is_asked && overlaps == overlapping) order.push_back(index);
            }
        }
        leaves_.resize(begun_.size());
        for (std::size_t const index : order) {
            store_wave& wave = *calls_.waves_[index];
            wave.results.resize(wave.requests.size());
            wave.begun = calls_.ports_.watch.begin();
            leaves_[index] = calls_.may_be_left(index, jobs_);
            bool const overlaps =
                index != order.back() && store(index).capabilities().overlaps_others;
            if (!leaves_[index] && !overlaps) {
                store(index).execute(wave.requests, wave.results);
                note(index);
                continue;
            }
            wave.started = std::chrono::steady_clock::now();
            begun_[index] = true;
            if (leaves_[index]) start_own(index);
            else store(index).start(wave.requests, wave.results);
        }
    }
    /// Waits for the waves, and gives the jobs their answers.
    /// Returns: true if jobs wait for a wave that was left
    bool finish() {
        auto const until = std::chrono::steady_clock::now() + longest_common_wait;
        std::vector<std::size_t> left;
        for (std::size_t index = 0; index < begun_.size(); ++index) {
            if (!begun_[index]) continue;
            begun_[index] = false;
            if (!leaves_[index]) store(index).finish(calls_.waves_[index]->results);
            else if (!ends_by(index, until)) {
                left.push_back(index);
                continue;
            }
            note(index);
        }
        std::vector<job*> failed;
        for (std::size_t index = 0; index < begun_.size(); ++index) {
            bool const is_left = std::find(left.begin(), left.end(), index) != left.end();
            auto const& wave = calls_.waves_[index];
            if (wave == nullptr || is_left) continue;
            wave->deliver();
            for (std::size_t number = 0; !left.empty() && number < wave->parts.size(); ++number) {
                answer const given = wave->results[number].what;
                bool const is_well = given == answer::applied || given == answer::nothing;
                if (!is_well) failed.push_back(wave->parts[number].first);
            }
        }
        std::sort(failed.begin(), failed.end());
        for (std::size_t const index : left) calls_.leave(index, taken_, failed);
        return !left.empty();
    }

private:
    [[nodiscard]] store_port& store(std::size_t index) const {
        return *calls_.ports_.stores[index];
    }
    /// Starts a wave that may be left.
    void start_own(std::size_t index) const {
        store_wave& wave = *calls_.waves_[index];
        wave.own();
        auto const limits = wave.limits();
        caller_wait const within{limits};
        store(index).start(wave.requests, wave.results);
    }
    void note(std::size_t index) const {
        store_wave const& wave = *calls_.waves_[index];
        calls_.note_call(index, taken_, wave.begun, wave.results);
    }
    /// Waits for the end of a wave, if its store was quick until now.
    [[nodiscard]] bool ends_by(std::size_t index, store_wave::moment until) const {
        auto const& wave = calls_.waves_[index];
        calls_.expect_answers();
        if (calls_.is_slow_[index]) until = wave->started;
        struct counted {
            explicit counted(left_waves& counter) : waves(counter) { waves.begin(); }
            counted(counted const&) = delete;
            counted& operator=(counted const&) = delete;
            ~counted() {
                if (!goes_on) waves.end();
            }
            left_waves& waves;
            bool goes_on = false;
        } left{calls_.ports_.left};
        auto const over = [wave, signal = calls_.signal_, &waves = left.waves] {
            wave->end();
            signal->add();
            waves.end();
        };
        left.goes_on = !store(index).finish_by(wave->results, until, over);
        return !left.goes_on;
    }

    seam_calls& calls_;
    step taken_;
    std::size_t jobs_;
    std::vector<bool> begun_;
    std::vector<bool> leaves_{}; ///< the other jobs go on if the wave takes too long
};

SETTLE_FUNCTION bool seam_calls::execute(step action, std::span<job> jobs, typed const&) {
    caller_wait const within{limits_};
    for (auto const& wave : waves_) {
        if (wave != nullptr) wave->clear();
    }
    note_ended_waves();
    bool any_waits = false;
    for (job& work : jobs) {
        if (!work.takes(action)) continue;
        if (may_send(work, action)) request_parts(work, action);
        if (work.waiting != nullptr && !work.waits_behind) go_on(work);
        any_waits = any_waits || work.waiting != nullptr;
    }
    // What stores answer later is under way while the other stores work.
    for (std::size_t store = 0; store < started_.size(); ++store) {
        if (started_[store].calls.empty()) continue;
        ports_.stores[store]->start(started_[store]);
        started_[store].calls.clear();
    }
    running side{*this, action, jobs.size()};
    side.start();
    return side.finish() || any_waits;
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
        if (parts.under_way->go_on(parts.requests, parts.results, started_[parts.store])) {
            is_over = false;
            continue;
        }
        parts.under_way = nullptr;
        if (!parts.is_left)
            note_call(parts.store, work.coordinator.next(), parts.begun, parts.results);
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
    return work.waiting != nullptr && work.waiting->is_answered();
}

SETTLE_FUNCTION bool seam_calls::has_answers(job& work) {
    if (work.waiting != nullptr && !work.waiting->is_answered()) return false;
    if (std::exchange(work.waits_behind, false)) work.waiting = nullptr;
    return true;
}

SETTLE_FUNCTION void seam_calls::give_up(job& work, std::string_view limit) {
    if (!work.waits_behind) return work.waiting->give_up(limit);
    work.problem = ended_waiting(limit);
    work.is_denied = true;
    work.waiting = nullptr;
    work.waits_behind = false;
}

SETTLE_FUNCTION store_wave& seam_calls::wave_of(std::size_t store) {
    auto& wave = waves_[store];
    if (wave == nullptr) wave = std::make_shared<store_wave>();
    return *wave;
}

SETTLE_FUNCTION bool seam_calls::may_be_left(std::size_t store, std::size_t jobs) const {
    bool const may_go_on = ports_.stores.size() > 1 && store != ports_.own_store &&
                           ports_.stores[store]->capabilities().waves_go_on;
    return may_go_on && (source_ != nullptr || waves_[store]->count_jobs() < jobs);
}

SETTLE_FUNCTION std::shared_ptr<store_wave>& seam_calls::left_wave(std::size_t store, step action) {
    std::size_t const number = action == step::apply      ? 0
                               : action == step::back_off ? 1
                               : action == step::confirm  ? 2
                                                          : 3;
    return left_[store * steps_of_stores + number];
}

SETTLE_FUNCTION void seam_calls::note_ended_waves() {
    for (std::size_t number = 0; number < left_.size(); ++number) {
        auto& left = left_[number];
        if (left == nullptr || !left->is_over()) continue;
        std::size_t const store = number / steps_of_stores;
        is_slow_[store] = left->took() > longest_common_wait;
        note_call(store, left->requests.front().action, ports_.watch.begin() - left->took(),
                  left->results);
        left = nullptr;
    }
}

template <typename Function>
void seam_calls::for_each_due(job const& work, Function&& function) const {
    work.type->for_each_part(
        work.parameters, [&](part_descriptor const& part, std::size_t line, std::size_t number) {
            bool const is_due = work.coordinator.due(number, part.stage);
            if (is_due && !is_joined(work, part)) function(part, line, number);
        });
}

SETTLE_FUNCTION void seam_calls::deny(job& work) {
    part_result result;
    result.fail(answer::unavailable, error{work.problem});
    result.not_sent = true;
    for_each_due(work, [&](part_descriptor const& part, std::size_t line, std::size_t number) {
        work.take(number, {part.participant, static_cast<std::uint32_t>(line)}, part, result);
    });
}

SETTLE_FUNCTION bool seam_calls::may_send(job& work, step action) {
    if (work.waiting != nullptr) return false;
    if (std::exchange(work.is_denied, false)) {
        deny(work);
        return false;
    }
    if (left_.empty()) return true;
    auto behind = std::exchange(work.unanswered_wave, nullptr);
    if (behind == nullptr || behind->is_over()) {
        behind = nullptr;
        for_each_due(work, [&](part_descriptor const& part, std::size_t, std::size_t) {
            if (behind == nullptr) behind = left_wave(store_of(part), action);
        });
    }
    if (behind == nullptr) return true;
    work.waiting = std::make_shared<waiting_parts>();
    work.waiting->behind = std::move(behind);
    work.waits_behind = true;
    return false;
}

SETTLE_FUNCTION void seam_calls::leave(std::size_t store, step action,
                                       std::vector<job*> const& failed) {
    auto const wave = std::exchange(waves_[store], nullptr);
    for (std::size_t index = 0; index < wave->requests.size(); ++index) {
        auto const [work, number] = wave->parts[index];
        part_request const& request = wave->requests[index];
        if (std::binary_search(failed.begin(), failed.end(), work)) {
            part_result result;
            result.fail(answer::unknown, ended_waiting("the end of the transaction's other parts"));
            work->take(number, request.part, *request.descriptor, result);
            work->unanswered_wave = wave;
            continue;
        }
        if (work->waiting == nullptr) work->waiting = std::make_shared<waiting_parts>();
        auto& parts = work->waiting->of(store);
        if (!std::exchange(parts.is_left, true))
            parts.under_way = std::make_unique<left_parts>(wave);
        static_cast<left_parts&>(*parts.under_way).add(index);
        parts.requests.push_back(request);
        parts.numbers.push_back(number);
        parts.results.emplace_back();
    }
    left_wave(store, action) = wave;
    is_slow_[store] = true;
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
            auto& parts = work.waiting->of(store);
            parts.requests.push_back(request);
            parts.numbers.push_back(number);
        } else {
            wave_of(store).add(request, work, number);
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

} // namespace detail
SETTLE_END
