// SPDX-License-Identifier: BSL-1.0
// Windows for the transactions of several callers. A few callers of an engine lead at a time: each
// drives its own transaction and those of the callers that wait, side by side, so that they share
// waves. Each caller leaves with its own outcome. A caller that is alone, or in a callback, runs
// alone.
#pragma once

#include <settle/running/calls/windows.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail {

/// Shape:   of one engine; threads share the object
template <typename Rules>
class shared_windows {
public:
    shared_windows();
    shared_windows(shared_windows const&) = delete;
    shared_windows& operator=(shared_windows const&) = delete;
    ~shared_windows();

    /// True if a transaction may be driven by another caller: its parts are records, so that no
    /// service holds the others up.
    [[nodiscard]] static bool may_share(transaction_descriptor const& type);

    /// Runs a new transaction to its end, as worker::run_new() does.
    /// Shape:   parameters - stay until the end of the call
    outcome run(seam_context<Rules> const& context, transaction_id&& id,
                transaction_descriptor const& type, void const* parameters,
                call_options const& call, bool new_id);

private:
    class held_windows;
    std::unique_ptr<held_windows> held_;
};

#ifdef SETTLE_COMPILED
extern template class shared_windows<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/shared_windows.ipp>
#endif
