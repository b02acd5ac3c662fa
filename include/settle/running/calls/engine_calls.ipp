// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that engine_calls.hpp declares.
#pragma once

#include <settle/running/calls/closing.hpp>
#include <settle/running/calls/engine_calls.hpp>
#include <settle/running/calls/finisher.ipp>
#include <settle/running/calls/purge.hpp>
#include <settle/running/calls/shared_windows.ipp>
#include <settle/running/calls/sweeper.hpp>
#include <settle/running/calls/take_over.hpp>
#include <settle/running/calls/windows.ipp>
#include <settle/running/construction/owner.hpp>

SETTLE_BEGIN
namespace detail {

/// True if the log has a bar in place of an entry.
[[nodiscard]] inline bool is_bar(std::optional<entry> const& found) {
    return found && found->state == state::barred;
}

/// The stores in which calls without an entry may have marks.
template <typename Rules>
std::vector<store_port*> stores_of_late_calls(seam_context<Rules> const& context,
                                              known_directions known) {
    std::vector<store_port*> stores;
    if (context.how != phases::late) return stores;
    for (target_binding const& bound : context.ports.targets) {
        // The parts in the log's own store leave no mark.
        if (bound.store == context.ports.own_store) continue;
        bool const holds_records =
            std::any_of(known.begin(), known.end(), [&](known_direction const& direction) {
                auto const& parts = direction.type->participants;
                return direction.type->stages.count == 1 &&
                       std::any_of(parts.begin(), parts.end(), [&](part_descriptor const& part) {
                           return part.target == bound.target && part.kind == &record_kind;
                       });
            });
        auto* const store = context.ports.stores[bound.store];
        bool const is_there = std::find(stores.begin(), stores.end(), store) != stores.end();
        if (holds_records && !is_there) stores.push_back(store);
    }
    return stores;
}

// ---------------------------------------------------------------------------------------- running

template <typename Rules>
outcome engine_calls<Rules>::run(transaction_descriptor const& direction, void const* parameters,
                                 goal purpose, call_options const& call) {
    return start(fresh_id(context_.environment), direction, parameters, purpose, call, true);
}
template <typename Rules>
outcome engine_calls<Rules>::run(transaction_id&& id, transaction_descriptor const& direction,
                                 void const* parameters, goal purpose, call_options const& call) {
    if (!fault_of_id(id).empty()) return refuse(id, check_id(id));
    auto const long_id = context_.ports.fault_of(id, direction);
    if (!long_id.empty()) return refuse(id, long_id);
    return start(std::move(id), direction, parameters, purpose, call, false);
}
template <typename Rules>
outcome engine_calls<Rules>::start(transaction_id&& id, transaction_descriptor const& direction,
                                   void const* parameters, goal purpose, call_options const& call,
                                   bool new_id) {
    if (has_fault(direction, parameters)) return refused_before_write(id, direction, parameters);
    if (!gate_.is_open(call)) return gate_.refusal(id);
    if (is_wrong_traceparent(call.traceparent))
        return refuse(id, wrong_traceparent(call.traceparent));
    // In one phase, the callers of a store share its native transactions.
    if (purpose == goal::run && context_.how != phases::one &&
        context_.callers.may_share(direction)) {
        return context_.callers.run(context_, std::move(id), direction, parameters, call, new_id);
    }
    return worker{context_}.run_new(std::move(id), request_of(direction, parameters), purpose, call,
                                    {}, new_id);
}

template <typename Rules>
recovery_report engine_calls<Rules>::work(known_directions known, work_options const& options,
                                          std::size_t room) {
    if (!gate_.is_open(options)) return gate_.report<recovery_report>();
    entry_filter filter;
    filter.state = state::initial;
    return detail::take_over{context_, known, options.stop, room}.all(
        filter, options.limit, [](entry const&) { return true; });
}

template <typename Rules>
recovery_report engine_calls<Rules>::recover(known_directions known, recover_options const& options,
                                             std::size_t room) {
    if (!gate_.is_open(options)) return gate_.report<recovery_report>();
    entry_filter filter;
    filter.unfinished = true;
    timestamp const now = context_.environment.now();
    if (has_calls(known)) context_.ports.pauses.look();
    auto const selects = [&](entry const& stored) {
        return is_due(stored, now, options.older_than);
    };
    auto report =
        detail::take_over{context_, known, options.stop, room}.all(filter, options.limit, selects);
    forget_ended(context_.stuck, context_.ports.log);
    auto const stores = stores_of_late_calls(context_, known);
    if (!stores.empty() && report.problem.empty()) {
        // Nothing in the log names a call that stopped before it had an entry.
        auto const age =
            std::min<std::chrono::milliseconds>(options.older_than, context_.limits.takeover);
        auto swept = sweeper{context_, options.stop, {true, age}}.sweep(stores);
        report.problem = std::move(swept.problem);
        std::move(swept.skipped.begin(), swept.skipped.end(), std::back_inserter(report.skipped));
    }
    return report;
}

template <typename Rules>
bool engine_calls<Rules>::is_due(known_directions known, entry const& stored,
                                 time_limit older_than) {
    bool const has_begun = stored.state != state::initial && !is_final(stored.state);
    if (!has_begun || !gate_.is_open(call_options{})) return false;
    if (has_calls(known)) context_.ports.pauses.look();
    return is_due(stored, context_.environment.now(), older_than);
}
template <typename Rules>
bool engine_calls<Rules>::is_due(entry const& begun, timestamp now, time_limit older_than) const {
    // What waits for its next try longer than a call would is left, unless it is too old to wait.
    auto const& limits = context_.limits;
    timestamp const last_try = later(now, limits.call_patience);
    bool const expires = begun.state == state::pending &&
                         age_of(begun.created, now, limits.clocks) > limits.lifetime;
    bool const is_wrong = is_ahead(begun.modified, now, limits.clocks);
    bool const waits = !is_wrong && detail::waits_for_try(begun.next_try, last_try);
    bool const is_held = waits || context_.ports.pauses.holds(begun.type, begun.id);
    if (is_held && !expires) return false;
    return detail::still_for(begun, now, limits.clocks) >= older_than || is_gone(begun.owner);
}

template <typename Rules>
outcome engine_calls<Rules>::cancel(known_directions known, transaction_id const& id,
                                    cancel_options const& options) {
    if (!gate_.is_open(options)) return gate_.refusal(id);
    call_options const limits{options.deadline, options.stop};
    auto patience = context_.patience_of(limits);
    auto looked_up = patience([&] { return context_.ports.log.read(id); });
    if (!looked_up.has_value()) return unreadable(id, looked_up.problem());
    if (is_bar(looked_up.value())) looked_up.value().reset();
    call_options const call = patience.rest();
    // A final entry holds its outcome, so no definition is needed.
    if (looked_up.value() && is_final(looked_up.value()->state))
        return ended_before(known, *looked_up.value());
    if (looked_up.value() && looked_up.value()->state == state::deciding)
        return refuse(id, pivot_decides(*looked_up.value()));
    if (looked_up.value()) return cancel_entry(known, *looked_up.value(), call);
    if (!options.even_if_unknown) return unknown_id(id);
    if (!fault_of_id(id).empty()) return refuse(id, check_id(id));
    auto inserted = worker{context_}.cancel_unknown(id, call);
    // Another caller inserted the entry after the read above; its own type compensates it.
    auto concluded =
        inserted.seen ? cancel_entry(known, *inserted.seen, call) : std::move(inserted.concluded);
    if (inserted.thrown) std::rethrow_exception(inserted.thrown);
    return concluded;
}
template <typename Rules>
outcome engine_calls<Rules>::cancel_entry(known_directions known, entry const& stored,
                                          call_options const& call) {
    return with_entry(known, stored, [&](known_direction const& direction, void const* parameters) {
        return take_over(direction, stored, parameters, call, true);
    });
}

template <typename Rules>
outcome engine_calls<Rules>::retry(known_directions known, transaction_id const& id,
                                   call_options const& call) {
    return with_unfinished(
        known, id, call,
        [&](entry const& stored, known_direction const& direction, void const* parameters,
            call_options const& rest) {
            return take_over(direction, stored, parameters, rest, false);
        },
        [&](entry const& entry) { return ended_before(known, entry); });
}

template <typename Rules>
outcome engine_calls<Rules>::resolve(known_directions known, transaction_id const& id,
                                     std::string_view participant, std::string_view why,
                                     resolve_options const& options) {
    call_options const call{options.deadline, options.stop};
    return with_unfinished(
        known, id, call,
        [&](entry const& stored, known_direction const& direction, void const* parameters,
            call_options const& rest) {
            auto patience = context_.patience_of(rest);
            auto const closed = close_part(context_, patience, stored, *direction.type, parameters,
                                           part_name{participant, options.line}, why, options);
            if (!closed.is_certain) return unreadable(id, closed.problem);
            return closed.problem.empty() ? retry(known, id, patience.rest())
                                          : refuse(id, closed.problem);
        },
        [&](entry const& entry) {
            if (was_closed(entry, why)) return ended_before(known, entry);
            return refuse(id, check_closing(entry, why, options));
        });
}

template <typename Rules>
outcome engine_calls<Rules>::take_over(known_direction const& direction, entry const& stored,
                                       void const* parameters, call_options const& call,
                                       bool cancels) {
    return worker{context_}.take_over(stored, request_of(*direction.type, parameters), call, {},
                                      cancels);
}

/// Calls `function(entry, direction, parameters, rest)` for an unfinished entry, and `ended(entry)`
/// for a final entry.
/// Shape:   rest - the limits of the call after the read of the entry
template <typename Rules>
outcome engine_calls<Rules>::with_unfinished(known_directions known, transaction_id const& id,
                                             call_options const& call, with_direction function,
                                             function_view<outcome(entry const&)> ended) {
    if (!gate_.is_open(call)) return gate_.refusal(id);
    auto patience = context_.patience_of(call);
    auto const looked_up = patience([&] { return context_.ports.log.read(id); });
    if (!looked_up.has_value()) return unreadable(id, looked_up.problem());
    if (!looked_up.value() || is_bar(looked_up.value())) return unknown_id(id);
    entry const& stored = *looked_up.value();
    if (is_final(stored.state)) return ended(stored);
    return with_entry(known, stored, [&](known_direction const& direction, void const* parameters) {
        return function(stored, direction, parameters, patience.rest());
    });
}

/// Answers a call for a final entry: no driver is needed, but the observer gets its event.
template <typename Rules>
outcome engine_calls<Rules>::ended_before(known_directions known, entry const& stored) {
    context_.stuck.remove(stored.id);
    if (context_.observer.watches()) report_final(context_.observer, known, stored);
    return outcome_of(stored, descriptor_for(known, stored));
}

// -------------------------------------------------------------------------------------- reversing

template <typename Rules>
outcome engine_calls<Rules>::reverse(known_directions known, transaction_id const& id,
                                     call_options const& call) {
    if (!gate_.is_open(call)) return gate_.refusal(id);
    auto const begun = context_.environment.elapsed();
    auto const looked_up = context_.read(id, call);
    if (!looked_up.has_value()) return unreadable(id, looked_up.problem());
    if (!looked_up.value() || is_bar(looked_up.value())) return unknown_id(id);
    entry const& original = *looked_up.value();
    std::string why = why_not_reversible(original, context_.environment.now(), context_.limits);
    if (!why.empty()) {
        return refuse(id, {make_error_code(errc::not_reversible), std::move(why)});
    }
    return with_entry(known, original,
                      [&](known_direction const& direction, void const* parameters) {
                          return reverse_done(direction, original, parameters, call, begun);
                      });
}

/// Shape:   begun - when the call began
template <typename Rules>
outcome engine_calls<Rules>::reverse_done(known_direction const& direction, entry const& original,
                                          void const* parameters, call_options call,
                                          std::chrono::nanoseconds begun) {
    // reverse() refuses ids of reversals before it looks for a direction.
    if (direction.back == nullptr) return refuse(original.id, no_reversal(original));
    auto const& back = *direction.back;
    held_parameters const reversed{
        back, [&](void* slot) { direction.reverse(slot, parameters, original.images); }};
    auto const deadline = call.deadline;
    for (std::uint32_t attempt = 1;; ++attempt) {
        transaction_id id = reversal_id(original.id, attempt);
        // Each canceled attempt is a read of the log.
        if (deadline) {
            using std::chrono::milliseconds;
            auto const gone = context_.environment.elapsed() - begun;
            call.deadline = *deadline - std::chrono::duration_cast<milliseconds>(gone);
        }
        if (!gate_.is_open(call)) return gate_.refusal(id);
        auto patience = context_.patience_of(call);
        auto const earlier = patience([&] { return context_.ports.log.read(id); });
        if (!earlier.has_value()) return unreadable(id, earlier.problem());
        if (earlier.value() && may_reverse_again(earlier.value()->state)) continue;
        return start(std::move(id), back, reversed.get(), goal::run, patience.rest(), false);
    }
}

// ------------------------------------------------------------------------------ marks and entries

template <typename Rules>
sweep_report engine_calls<Rules>::sweep(std::stop_token const& stop) {
    if (!gate_.is_open(call_options{{}, stop})) return gate_.report<sweep_report>();
    return sweeper{context_, stop}.sweep(context_.ports.stores);
}

template <typename Rules>
purge_report engine_calls<Rules>::purge(purge_options const& options) {
    if (!gate_.is_open(options)) return gate_.report<purge_report>();
    call_options const call{std::nullopt, options.stop};
    auto patience = context_.patience_of(call);
    auto& log = context_.ports.log;
    auto const horizon = patience([&] { return keep_horizon(log, context_.limits.horizon()); });
    if (!horizon.has_value()) return {0, horizon.problem()};
    if (options.older_than <= horizon.value()) {
        return {0, too_young(options.older_than, horizon.value())};
    }
    timestamp const now = context_.environment.now();
    auto const before = earlier(now, options.older_than);
    auto report = purge_log(log, patience, before, options);
    if (report.problem.empty() && report.erased < options.limit)
        report.problem = purge_actions(log, patience, before);
    if (report.problem.empty() && report.erased < options.limit) {
        report.problem =
            purge_stores(context_.ports, patience, now, before, options, context_.limits.clocks);
    }
    return report;
}

// ---------------------------------------------------------------------------------------- pausing

template <typename Rules>
result<bool> engine_calls<Rules>::pause_calls(known_directions known, pause_scope scope,
                                              std::string_view name, std::string_view why,
                                              call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    if (auto refused = check_pause(known, scope, name, why); !refused.empty()) return refused;
    call_pause const pause{scope, std::string{name}, std::string{why}, context_.environment.now()};
    auto patience = context_.patience_of(call);
    auto const changed = patience([&] {
        return change_pauses(context_.ports.log, [&](std::vector<call_pause>& pauses) {
            for (call_pause& held : pauses) {
                if (held.scope != scope || held.name != name) continue;
                if (held.why == why) return false;
                held.why = why;
                return true;
            }
            pauses.push_back(pause);
            return true;
        });
    });
    context_.ports.pauses.forget();
    return changed;
}

template <typename Rules>
result<bool> engine_calls<Rules>::resume_calls(pause_scope scope, std::string_view name,
                                               call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    auto patience = context_.patience_of(call);
    auto const changed = patience([&] {
        return change_pauses(context_.ports.log, [&](std::vector<call_pause>& pauses) {
            return std::erase_if(pauses, [&](call_pause const& pause) {
                       return pause.scope == scope && pause.name == name;
                   }) != 0;
        });
    });
    context_.ports.pauses.forget();
    return changed;
}

template <typename Rules>
result<std::vector<call_pause>> engine_calls<Rules>::paused_calls(call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    auto patience = context_.patience_of(call);
    return patience([&] { return read_pauses(context_.ports.log); });
}

// ---------------------------------------------------------------------------------------- reading

template <typename Rules>
result<std::optional<entry>> engine_calls<Rules>::find(transaction_id const& id,
                                                       call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    return context_.read(id, call);
}

template <typename Rules>
result<std::vector<entry>> engine_calls<Rules>::page(entry_filter const& filter,
                                                     transaction_id const& after, std::size_t limit,
                                                     call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    return context_.patience_of(call)(
        [&] { return context_.ports.log.list(filter, after, limit); });
}

template <typename Rules>
result<std::vector<entry>> engine_calls<Rules>::stuck(time_limit older_than,
                                                      std::vector<transaction_id> const& also,
                                                      call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    auto patience = context_.patience_of(call);
    auto stuck = unfinished_entries(context_.ports.log, patience, older_than,
                                    context_.environment.now(), context_.limits.clocks, also);
    if (stuck.has_value()) forget_ended(context_.stuck, context_.ports.log);
    return stuck;
}

template <typename Rules>
result<std::uint64_t> engine_calls<Rules>::marks(call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    auto patience = context_.patience_of(call);
    return count_marks(context_.ports.stores, patience);
}

template <typename Rules>
result<std::vector<mark_locator>>
engine_calls<Rules>::marks_without_entry(time_limit older_than, call_options const& call) {
    if (!gate_.is_open(call)) return gate_.why();
    auto patience = context_.patience_of(call);
    timestamp const now = context_.environment.now();
    std::vector<mark_locator> locators;
    error problem;
    auto const look = [&](mark_locator const& locator) {
        auto const age = age_of(time_of_mark(locator.epoch_number), now, context_.limits.clocks);
        if (!locator.fault.empty() || age < older_than) return true;
        auto const stored = patience([&] { return context_.ports.log.read(locator.id); });
        if (!stored.has_value()) problem = stored.problem();
        else if (!stored.value() || is_bar(stored.value())) locators.push_back(locator);
        return problem.empty();
    };
    for (store_port* const store : context_.ports.stores) {
        if (problem.empty()) for_each_mark(*store, patience, problem, look);
    }
    if (!problem.empty()) return problem;
    return locators;
}

} // namespace detail
SETTLE_END
