// SPDX-License-Identifier: BSL-1.0
// The calls of an engine without the types of its arguments. Their code is compiled once.
#pragma once

#include <settle/running/calls/directions.hpp>
#include <settle/running/calls/gate.hpp>
#include <settle/running/calls/worker.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   gate - of the engine; outlives the object. known - every direction of the engine
template <typename Rules>
class engine_calls {
public:
    engine_calls(seam_context<Rules> const& context, gate const& gate)
        : context_(context), gate_(gate) {}

    // What engine and engine_access declare.

    outcome run(transaction_descriptor const& direction, void const* parameters, goal purpose,
                call_options const& call);
    outcome run(transaction_id&& id, transaction_descriptor const& direction,
                void const* parameters, goal purpose, call_options const& call);
    recovery_report work(known_directions known, work_options const& options, std::size_t room);
    recovery_report recover(known_directions known, recover_options const& options,
                            std::size_t room);
    [[nodiscard]] bool is_due(known_directions known, entry const& stored, time_limit older_than);
    outcome cancel(known_directions known, transaction_id const& id, cancel_options const& options);
    outcome retry(known_directions known, transaction_id const& id, call_options const& call);
    outcome resolve(known_directions known, transaction_id const& id, std::string_view participant,
                    std::string_view why, resolve_options const& options);
    outcome reverse(known_directions known, transaction_id const& id, call_options const& call);
    sweep_report sweep(std::stop_token const& stop);
    purge_report purge(purge_options const& options);

    result<bool> pause_calls(known_directions known, pause_scope scope, std::string_view name,
                             std::string_view why, call_options const& call);
    result<bool> resume_calls(pause_scope scope, std::string_view name, call_options const& call);
    result<std::vector<call_pause>> paused_calls(call_options const& call);

    result<std::optional<entry>> find(transaction_id const& id, call_options const& call);
    result<std::vector<entry>> page(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit, call_options const& call);
    /// Shape:   also - ids of entries that are listed at any age
    result<std::vector<entry>> stuck(time_limit older_than, std::vector<transaction_id> const& also,
                                     call_options const& call);
    result<std::uint64_t> marks(call_options const& call);
    result<std::vector<mark_locator>> marks_without_entry(time_limit older_than,
                                                          call_options const& call);

private:
    using with_direction = function_view<outcome(entry const&, known_direction const&,
                                                 void const* parameters, call_options const& rest)>;

    /// Shape:   begun - unfinished and not `initial`
    [[nodiscard]] bool is_due(entry const& begun, timestamp now, time_limit older_than) const;
    outcome start(transaction_id&& id, transaction_descriptor const& direction,
                  void const* parameters, goal purpose, call_options const& call, bool new_id);
    outcome take_over(known_direction const& direction, entry const& stored, void const* parameters,
                      call_options const& call, bool cancels);
    outcome cancel_entry(known_directions known, entry const& stored, call_options const& call);
    outcome with_unfinished(known_directions known, transaction_id const& id,
                            call_options const& call, with_direction function,
                            function_view<outcome(entry const&)> ended);
    outcome ended_before(known_directions known, entry const& stored);
    outcome reverse_done(known_direction const& direction, entry const& original,
                         void const* parameters, call_options call, std::chrono::nanoseconds begun);

    seam_context<Rules> context_;
    gate const& gate_;
};

#ifdef SETTLE_COMPILED
extern template class engine_calls<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/engine_calls.ipp>
#endif
