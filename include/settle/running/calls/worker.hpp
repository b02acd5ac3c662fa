// SPDX-License-Identifier: BSL-1.0
// Runs one transaction at a time for an engine. Behind the seam its code is compiled once.
#pragma once

#include <settle/running/calls/new_request.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/driving/seam_driver.hpp>

SETTLE_BEGIN
namespace detail {

template <typename Rules>
class finisher; // finisher.hpp
template <typename Rules>
class shared_windows; // shared_windows.hpp

/// What an engine behind the seam gives to its calls. All references outlive the context.
/// Shape:   Rules - order_rules; a search hides some of them, and includes worker.ipp
template <typename Rules>
struct seam_context {
    using driver_type = seam_driver<Rules>;

    engine_ports ports;
    any_environment<Rules> const& environment;
    any_observer& observer;
    options const& limits;
    std::string const& owner;
    stuck_transactions& stuck;
    phases how;
    bool keeps_at_insert;
    shared_windows<Rules>& callers;
    finisher<Rules>& finishing;

    /// Shape:   is_of_caller - for a call that may answer at the commit
    [[nodiscard]] driver_type driver(call_options const& call, bool is_of_caller = false) const;
    /// Hands a job over whose caller gets its answer.
    void finish(job const& committed) const;
    /// Shape:   call - outlives the result
    [[nodiscard]] patience patience_of(call_options const& call) const {
        return {environment, limits, call};
    }
    [[nodiscard]] result<std::optional<entry>> read(transaction_id const& id,
                                                    call_options const& call) const;
};

/// The context of an engine whose log and stores are containers of this process.
template <typename Assembly>
struct container_context {
    using driver_type = typename Assembly::driver_type;

    Assembly& assembly;
    typename Assembly::environment_type const& environment;

    [[nodiscard]] driver_type driver(call_options const& call, bool = false) const {
        return assembly.make_driver(call);
    }
    [[nodiscard]] result<std::optional<entry>> read(transaction_id const& id,
                                                    call_options const& call) const {
        return assembly.read_entry(id, call);
    }
};

/// The cancel of an id that the log did not have.
struct unknown_cancel {
    outcome concluded;
    /// The entry of another worker, which has inserted the id meanwhile; only its type can cancel.
    std::unique_ptr<entry> seen{};
    std::exception_ptr thrown{}; ///< by the observer
};

/// The end of a call that inserts the id of a mark without an entry as canceled.
struct tombstone {
    result<standing> entry;      ///< the entry of the id, or why it was neither inserted nor read
    bool is_new = false;         ///< the call has inserted it
    std::exception_ptr thrown{}; ///< by the observer
};

/// Shape:   Context - makes a driver, and reads an entry with the rest of a call's limits
template <typename Context>
class worker {
public:
    using driver_type = typename Context::driver_type;
    using typed_calls = typename driver_type::typed_calls;

    explicit worker(Context const& context) : context_(context) {}

    /// Shape:   new_id - the id was drawn for this call
    outcome run_new(transaction_id&& id, new_request const& request, goal purpose,
                    call_options const& call, typed_calls const& typed, bool new_id);
    /// Takes an entry over and brings it to its end.
    /// Shape:   request - of the entry's direction and parameters; cancels - for a caller that asks
    outcome take_over(entry const& stored, new_request const& request, call_options const& call,
                      typed_calls const& typed, bool cancels);
    unknown_cancel cancel_unknown(transaction_id const& id, call_options const& call);
    /// Shape:   marked - the epoch of the mark; a birth is barred, and may still be barred later
    tombstone bury(transaction_id const& id, epoch marked, call_options const& call);

private:
    outcome bring_to_end(driver_type& driver, job& work, typed_calls const& typed);
    outcome conclude_driven(driver_type& driver, job& work, execution_state const& execution);

    Context context_;
};

#ifdef SETTLE_COMPILED
extern template struct seam_context<order_rules>;
extern template class worker<seam_context<order_rules>>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/worker.ipp>
#endif
