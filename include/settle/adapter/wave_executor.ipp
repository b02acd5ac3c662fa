// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that wave_executor.hpp declares.
#pragma once

#include <settle/adapter/wave_executor.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

SETTLE_BEGIN
namespace detail {

// ------------------------------------------------------------------------ one attempt

/// Announces, fetches, executes and writes requests.
class executed_wave {
public:
    executed_wave(std::span<part_request const> requests, std::vector<part_result>& results)
        : requests_(requests), results_(&results) {}

    attempt_end operator()(wave_attempt& attempt) const {
        results_->clear();
        for (auto const& request : requests_) attempt.expect(request);
        if (attempt.must_read()) return attempt_end::must_read;
        attempt.fetch();
        for (auto const& request : requests_) results_->push_back(attempt.execute(request));
        attempt.write();
        return attempt.must_read() ? attempt_end::must_read : attempt_end::committed;
    }

private:
    std::span<part_request const> requests_;
    std::vector<part_result>* results_;
};

/// Settles the requests of calls in one attempt.
/// Shape:   Rules - as for the executor
template <typename Rules>
class settled_calls {
public:
    /// Shape:   existing - null if all ids count as new
    settled_calls(wave_attempt& attempt, existing_ids const* existing)
        : attempt_(&attempt), existing_(existing) {}

    [[nodiscard]] attempt_end settle(std::span<one_phase_call* const> calls) {
        for (auto const* const call : calls) {
            for (auto* const request : call->requests) announce(*request);
        }
        if (attempt_->must_read()) return attempt_end::must_read;
        attempt_->fetch();
        std::vector<one_phase_request*> inserts;
        for (auto const* const call : calls) {
            for (auto* const request : call->requests) settle(*request, *call, inserts);
        }
        if (attempt_->must_read()) return attempt_end::must_read;
        bool const are_new = inserts.empty() || attempt_->insert(inserts, calls.front()->context);
        return are_new ? attempt_end::committed : attempt_end::id_exists;
    }

private:
    void announce(one_phase_request& request) {
        // No answer of an earlier attempt, which took no effect, may stand for this one.
        if (Rules::forgets_answers) {
            for (part_result& result : request.results) result = {};
        }
        if (must_leave_out(request)) return;
        for (part_request const& part : request.parts) attempt_->expect(part);
        if (!request.inserts) attempt_->expect_change(request);
    }

    /// Executes the parts of a request, decides, writes the entry, and confirms or undoes each
    /// applied part by the state of the entry.
    void settle(one_phase_request& request, one_phase_call const& call,
                std::vector<one_phase_request*>& inserts) {
        if (leaves_out(request, call.decider)) return;
        request.left_out = false;
        for (std::size_t number = 0; number < request.parts.size(); ++number) {
            request.results[number] = attempt_->execute(request.parts[number]);
        }
        bool const writes = call.decider.decide(request);
        request.result.reply = writes ? log_answer::taken : log_answer::held_back;
        if (writes && request.inserts) inserts.push_back(&request);
        if (writes && !request.inserts) attempt_->change(request, call.context);
        bool const done =
            writes && confirms_one_phase<Rules>(request.result.reply, request.write.change.to);
        for (std::size_t number = 0; number < request.parts.size(); ++number) {
            if (request.results[number].what != answer::applied) continue;
            attempt_->end_one_phase(request.parts[number], done);
        }
    }

    /// True if the entry of a request cannot be inserted: its id exists in the log, or an earlier
    /// request of the calls has it.
    [[nodiscard]] bool must_leave_out(one_phase_request& request) {
        if (existing_ == nullptr || !request.inserts) return false;
        auto const found = existing_->find(*request.id);
        bool const exists = found != existing_->end();
        request.result.reply = exists ? found->second : log_answer::unknown;
        auto const& first = first_.try_emplace(*request.id, &request).first->second;
        return exists || (Rules::first_of_id && first != &request);
    }
    /// Leaves such a request out, in its turn; false for any other request.
    [[nodiscard]] bool leaves_out(one_phase_request& request, one_phase_decider& decider) const {
        if (existing_ == nullptr || !request.inserts) return false;
        auto reply = request.result.reply;
        if (reply == log_answer::unknown) {
            one_phase_request const& first = *first_.at(*request.id);
            if (&first == &request || !Rules::first_of_id) return false;
            // If the first request with this id was held back, this request waits, too.
            bool const taken = first.result.reply == log_answer::taken;
            reply = taken ? log_answer::ended : log_answer::held_back;
        }
        // The decider must see the request all the same: later transactions of its window may
        // depend on it.
        request.left_out = true;
        if (Rules::shows_left_out) static_cast<void>(decider.decide(request));
        request.result.reply = reply;
        return true;
    }

    wave_attempt* attempt_;
    existing_ids const* existing_;
    std::unordered_map<std::string_view, one_phase_request const*> first_{}; ///< of each new id
};

[[nodiscard]] inline std::vector<transaction_id const*>
ids_of_inserts(std::span<one_phase_call* const> calls) {
    std::vector<transaction_id const*> ids;
    for (auto const* const call : calls) {
        for (auto const* const request : call->requests) {
            if (request->inserts) ids.push_back(request->id);
        }
    }
    return ids;
}

inline void set_all(one_phase_call const& call, attempt_result const& ended) {
    if (ended.end == attempt_end::committed) return;
    for (auto* const request : call.requests) {
        set_result(request->result, ended.to_commit_result());
    }
}

// ------------------------------------------------------------------------ two phases

template <typename Rules>
bool basic_wave_executor<Rules>::must_read_after(attempt_result const& ended) {
    // After any failure the next wave reads: a native transaction detects a held record at once.
    bool const is_tried = ended.end != attempt_end::must_read;
    if (is_tried) conditional_tries_.ended(ended.end == attempt_end::committed);
    return Rules::reads_after_miss && ended.must_be_read();
}

/// Attempts requests together.
template <typename Rules>
attempt_result
basic_wave_executor<Rules>::attempt(wave_port& port, std::span<part_request const> requests,
                                    std::vector<part_result>& results, attempt_plan plan) {
    executed_wave const wave{requests, results};
    if (plan.conditional) {
        auto ended = port.perform(plan, wave);
        bool const must_read = must_read_after(ended) || ended.end == attempt_end::id_exists;
        if (!must_read) return ended;
        plan.conditional = false;
        bool const partly = ended.partly;
        ended = attempt(port, requests, results, plan);
        ended.partly = partly;
        return ended;
    }
    auto ended = port.perform(plan, wave);
    auto const is_repeated = [&] {
        bool const is_unknown = ended.end == attempt_end::unknown && !Rules::unknown_stays;
        return (ended.end == attempt_end::id_exists || is_unknown) && plan.looks < most_looks;
    };
    while (is_repeated()) {
        ++plan.looks;
        ended = port.perform(plan, wave);
    }
    return ended;
}

template <typename Rules>
void basic_wave_executor<Rules>::execute(wave_port& port, std::span<part_request const> requests,
                                         std::span<part_result> results, bool reads_first,
                                         bool partly) {
    held_up_.isolate(requests, [&](std::span<part_request const> some, bool first) {
        attempt_plan plan{some.size(), first};
        plan.conditional =
            first && !reads_first && port.may_be_conditional(some) && conditional_tries_.is_tried();
        std::vector<part_result> kept;
        auto ended = attempt(port, some, kept, plan);
        partly = partly || ended.partly;
        if (Rules::halves && ended.is_of_one() && some.size() > 1) return false;
        auto const before = static_cast<std::size_t>(some.data() - requests.data());
        auto const own = results.subspan(before, some.size());
        part_request const& request = some.front();
        if (some.size() == 1) held_up_.note(*request.id, ended.end == attempt_end::held);
        if (ended.end == attempt_end::refused) {
            bool const nothing = !applies(request.action) && port.has_no_mark(request);
            own.front() = nothing ? part_result{answer::nothing, nullptr, {}}
                                  : result_of_unusable(request.action, ended.problem);
            return true;
        }
        auto whole = ended.to_commit_result();
        // An earlier write without reading may have taken effect.
        bool const may_have_effect = partly && Rules::partly_stays;
        if (may_have_effect && whole.status == commit_status::undone) {
            whole.status = commit_status::unknown;
        }
        if (!Rules::answers_need_commit) whole.status = commit_status::committed;
        set_results(own, kept, whole);
        return true;
    });
}

/// A wave that was sent, and whose answers have not been received.
template <typename Rules>
struct basic_wave_executor<Rules>::begun_wave {
    std::unique_ptr<std::vector<part_result>> results{};
    std::unique_ptr<sent_attempt> sent{}; ///< null if nothing was sent
    bool reads_first = false;             ///< whether the next attempt reads the records
    bool partly = false;
};

template <typename Rules>
typename basic_wave_executor<Rules>::begun_wave
basic_wave_executor<Rules>::send(wave_port& port, std::span<part_request const> requests) {
    bool const possible = port.may_be_conditional(requests) &&
                          std::none_of(requests.begin(), requests.end(), [&](auto const& request) {
                              return held_up_.contains(*request.id);
                          });
    if (!possible) return {};
    if (!conditional_tries_.is_tried()) return {nullptr, nullptr, true, false};
    auto results = std::make_unique<std::vector<part_result>>();
    auto sent = port.send(executed_wave{requests, *results});
    bool const is_sent = sent != nullptr;
    return {std::move(results), std::move(sent), is_sent, false};
}

/// Waits for the end of a wave. False if it has no effect.
template <typename Rules>
bool basic_wave_executor<Rules>::finish_sent(begun_wave& begun, std::span<part_result> results) {
    auto const ended = begun.sent->finish();
    begun.sent.reset();
    begun.partly = ended.partly;
    auto const whole = ended.to_commit_result();
    if (must_read_after(ended) || whole.status == commit_status::undone) return false;
    set_results(results, *begun.results, whole);
    return true;
}

template <typename Rules>
void basic_wave_executor<Rules>::start(wave_port& port, std::span<part_request const> requests,
                                       std::span<part_result> results) {
    if (!beside_ || requests.empty()) return execute(port, requests, results);
    auto begun = send(port, requests);
    bool const is_sent = begun.sent != nullptr;
    auto perform = [this, &port, requests, begun = std::move(begun)](auto& kept) mutable {
        kept.resize(requests.size());
        bool const ended = begun.sent != nullptr && finish_sent(begun, kept);
        if (!ended) execute(port, requests, kept, begun.reads_first, begun.partly);
        return commit_result{};
    };
    if (!beside_->start(results, std::move(perform), is_sent)) execute(port, requests, results);
}

// ------------------------------------------------------------------------ one phase

template <typename Rules>
attempt_result basic_wave_executor<Rules>::settle_once(wave_port& port, group& calls,
                                                       attempt_plan const& plan,
                                                       existing_ids const* existing) const {
    return port.perform(plan, [&](wave_attempt& attempt) {
        settled_calls<Rules> wave{attempt, existing};
        std::size_t settled = 0;
        do {
            auto const next = calls.members().subspan(settled);
            settled += next.size();
            auto const end = wave.settle(next);
            if (end != attempt_end::committed) return end;
            // A caller that arrives meanwhile need not wait for the next commit.
        } while (limits_.joins_late && calls.join() > 0);
        attempt.write();
        return attempt.must_read() ? attempt_end::must_read : attempt_end::committed;
    });
}

/// Attempts all requests of calls together.
template <typename Rules>
attempt_result basic_wave_executor<Rules>::settle(wave_port& port, group& calls, attempt_plan plan,
                                                  bool may_skip_reading) {
    plan.conditional = may_skip_reading && port.may_be_conditional(calls.members()) &&
                       conditional_tries_.is_tried();
    auto ended = settle_once(port, calls, plan, nullptr);
    if (plan.conditional && must_read_after(ended)) {
        plan.conditional = false;
        ended = settle_once(port, calls, plan, nullptr);
    }
    plan.conditional = false;
    std::size_t most_existing = 0;
    while (ended.end == attempt_end::id_exists && plan.looks < most_looks) {
        auto const existing = port.look_for(ids_of_inserts(calls.members()), ++plan.looks);
        if (!existing.has_value()) return {attempt_end::failed, existing.problem()};
        if (Rules::counts_vain_looks && existing.value().size() > most_existing) --plan.looks;
        most_existing = std::max(most_existing, existing.value().size());
        ended = settle_once(port, calls, plan, Rules::looks_for_ids ? &existing.value() : nullptr);
    }
    if (ended.end == attempt_end::id_exists && ended.problem.empty()) {
        ended.problem = {make_error_code(errc::store_unreachable),
                         "settle: other programs inserted the same ids again and again. "
                         "See running#undecided"};
    }
    return ended;
}

template <typename Rules>
void basic_wave_executor<Rules>::one_phase(wave_port& port, std::span<one_phase_request> requests,
                                           write_context const& context,
                                           one_phase_decider& decider) {
    std::vector<one_phase_request*> pointers;
    pointers.reserve(requests.size());
    for (auto& request : requests) pointers.push_back(&request);
    for_each_run(
        std::span{pointers}, [&](auto const* request) { return held_up_.contains(*request->id); },
        [&](std::span<one_phase_request*> some, bool is_held) {
            one_phase_call own{some, context, decider};
            if (!is_held && some.size() <= limits_.most_shared) {
                groups_.perform(own, [&](group& calls) {
                    auto const count = calls.members().size();
                    auto const ended = settle(port, calls, {count, true}, true);
                    // If the request of one call made the rest fail, each call settles alone.
                    if (calls.members().size() == 1 || !ended.is_of_one()) calls.end_all(ended);
                });
                if (own.end && !own.end->is_of_one()) return set_all(own, *own.end);
            }
            settle_apart(port, own, !is_held, own.end.has_value());
        });
}

/// Attempts the requests of a call together, and in halves where one makes the rest fail.
/// Shape:   was_tried - they were attempted together before
template <typename Rules>
void basic_wave_executor<Rules>::settle_apart(wave_port& port, one_phase_call const& call,
                                              bool first, bool was_tried) {
    in_halves(call.requests, [&](std::span<one_phase_request* const> some) {
        bool const splits = some.size() > 1;
        first = first && !was_tried;
        if (std::exchange(was_tried, false) && splits) return false;
        one_phase_call own{some, call.context, call.decider};
        group alone{own};
        attempt_plan const plan{some.size(), std::exchange(first, false), !splits};
        auto const ended = settle(port, alone, plan, false);
        if (Rules::halves && ended.is_of_one() && splits) return false;
        one_phase_request& request = *some.front();
        if (!splits) held_up_.note(*request.id, ended.end == attempt_end::held);
        if (ended.end != attempt_end::refused || !Rules::refused_cancels) {
            set_all(own, ended);
            return true;
        }
        // An unusable record cancels only the transaction that names it, unless an earlier
        // transaction comes first.
        port.name_unusable(request, ended.problem);
        request.left_out = false;
        request.result.reply = log_answer::held_back;
        if (call.decider.decide(request)) port.write_entry(request, call.context);
        return true;
    });
}

} // namespace detail
SETTLE_END
