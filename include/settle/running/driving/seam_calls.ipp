// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that seam_calls.hpp declares.
#pragma once

#include <settle/kinds/services/service_part.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/driving/seam_calls.hpp>
#include <settle/running/driving/store_waves.hpp>

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

SETTLE_FUNCTION seam_calls::seam_calls(engine_ports const& ports, time_limit lifetime,
                                       call_options const& call)
    : ports_(ports), lifetime_(lifetime), limits_(limits_of(call)), waves_(ports.stores.size()) {
    auto const later = [](store_port* store) { return store->capabilities().answers_later; };
    if (std::any_of(ports.stores.begin(), ports.stores.end(), later)) expect_answers();
}
SETTLE_FUNCTION void seam_calls::expect_answers() {
    if (left_.empty()) {
        left_.resize(ports_.stores.size() * steps_of_stores);
        is_slow_.resize(ports_.stores.size());
    }
    if (signal_ != nullptr) return;
    signal_ = std::make_shared<answer_signal>();
    started_.resize(ports_.stores.size(), started_parts{signal_});
}
SETTLE_FUNCTION void seam_calls::watch(std::shared_ptr<answer_signal> signal,
                                       job_source const& source) {
    signal_ = std::move(signal);
    started_.assign(ports_.stores.size(), started_parts{signal_});
    source_ = &source;
}
SETTLE_FUNCTION seam_calls::seam_calls(seam_calls&& other) noexcept = default;
SETTLE_FUNCTION seam_calls::~seam_calls() {
    // Nobody waits for their answers any more.
    for (auto const& left : left_) {
        if (left != nullptr) left->stop();
    }
}

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
    store_wave& sole_wave = wave_of(store);
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
