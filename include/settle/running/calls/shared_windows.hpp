// SPDX-License-Identifier: BSL-1.0
// Windows for the transactions of several callers. A few callers of an engine lead at a time: each
// drives its own transaction and those of the callers that wait, side by side, so that they share
// waves. Each caller leaves with its own outcome. A caller that is alone, or in a callback, runs
// alone.
#pragma once

#include <settle/running/calls/windows.hpp>
#include <settle/store/caller_turn.hpp>

#include <memory>
#include <mutex>
#include <vector>

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
    struct caller;
    struct window;

    /// Waits until the caller leads, or its transaction is over.
    [[nodiscard]] turn_stage wait(caller& own);
    /// Drives the caller's window until its transaction is over.
    void lead(seam_context<Rules> const& context, caller& own);
    /// Takes the caller and those that wait into its window.
    void admit(seam_context<Rules> const& context, caller& own);
    /// Lets a caller lead the window whose transaction is not over, if there is one.
    void leave(window& left);

    static constexpr std::size_t leaders = 2;
    static constexpr std::size_t room = 1'000; ///< of a window

    std::mutex mutex_;
    std::size_t callers_ = 0;    ///< of run(), also those that are alone
    std::vector<caller*> queue_; ///< in no window yet
    waiting_seats seats_;
    std::vector<std::unique_ptr<window>> windows_;
    std::vector<window*> idle_; ///< that nobody leads
};

#ifdef SETTLE_COMPILED
extern template class shared_windows<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/shared_windows.ipp>
#endif
