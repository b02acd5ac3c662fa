// SPDX-License-Identifier: BSL-1.0
// Runs one transaction for an engine whose log or stores are reached through the seam. Its code is
// compiled once for all engines.
#pragma once

#include <settle/running/calls/new_job.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/driving/seam_driver.hpp>

SETTLE_BEGIN
namespace detail {

/// What an engine gives to its calls. All references outlive the worker.
/// Shape:   Rules - order_rules; a search hides some of them, and includes seam_worker.ipp
template <typename Rules>
struct seam_worker {
    engine_ports ports;
    any_environment<Rules> const& environment;
    any_observer& observer;
    options const& limits;
    std::string const& owner;
    stuck_transactions& stuck;
    phases how;
    bool keeps_at_insert;

    /// Shape:   new_id - the id was drawn for this call
    outcome run_new(transaction_id&& id, new_request const& request, goal purpose,
                    call_options const& call, bool new_id) const;
    /// Drives a job to its end, and makes its outcome.
    outcome bring_to_end(seam_driver<Rules>& driver, job& work) const;

    [[nodiscard]] driver_settings settings_of(call_options const& call) const {
        return {limits, owner, call, stuck, how, keeps_at_insert};
    }
};

#ifdef SETTLE_COMPILED
extern template struct seam_worker<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/seam_worker.ipp>
#endif
