// SPDX-License-Identifier: BSL-1.0
// The driver of every engine whose log or stores are reached through the seam: one type for all
// transaction types, stores, environments and observers. Its code is compiled once.
#pragma once

#include <settle/running/calls/statistics.hpp>
#include <settle/running/construction/any_environment.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/caller_limits.hpp>
#include <settle/running/driving/hand_over.hpp>
#include <settle/running/driving/interruption.hpp>
#include <settle/running/driving/order_rules.hpp>
#include <settle/running/driving/ports.hpp>

#include <exception>

SETTLE_BEGIN

struct job;
struct execution_state;

namespace detail {

/// What a driver takes from its engine and its call. All references outlive the driver.
struct driver_settings {
    options const& limits;
    std::string const& owner;
    call_options const& call;
    stuck_transactions& stuck;
    phases how;
    bool keeps_at_insert;
    hand_over const* finisher; ///< takes the jobs that have committed; null if the driver ends them
};

/// A driver (driving/driver.hpp) of seam_calls.
/// Shape:   Rules - order_rules; a search hides some of them, and includes seam_driver.ipp
template <typename Rules>
class seam_driver {
public:
    seam_driver(engine_ports const& ports, any_environment<Rules> const& environment,
                any_observer& observer, driver_settings const& settings);
    seam_driver(seam_driver const&) = delete;
    seam_driver& operator=(seam_driver const&) = delete;
    ~seam_driver();

    // The members of a driver.

    [[nodiscard]] phases how() const;
    [[nodiscard]] phases how_begins(transaction_descriptor const& type) const;
    [[nodiscard]] stage_plan stages_of(transaction_descriptor const& type) const;
    [[nodiscard]] timestamp time() const;
    [[nodiscard]] std::string_view traceparent() const;
    void look_at_clock();
    [[nodiscard]] bool late() const;
    [[nodiscard]] call_options rest() const;
    [[nodiscard]] std::exception_ptr const& thrown() const noexcept;
    void rethrow() const;
    void note_new_job();
    void end_resting(job& work, execution_state& execution);
    void watch(std::shared_ptr<answer_signal> signal, job_source const& source);
    void limit(wait_limits const& limits);
    static constexpr bool may_look_first = true;
    [[nodiscard]] bool looks_first() const;

    /// Nothing is compiled for each direction.
    struct typed_calls {};
    template <typename Direction>
    static constexpr typed_calls calls_of() noexcept {
        return {};
    }

    interruption drive(job& work, execution_state& execution, bool follows, typed_calls);
    void round(std::span<job> jobs, std::span<execution_state> executions, bool follows,
               typed_calls);
    void advance(job& work, execution_state& execution);
    void look(std::span<job> jobs, std::span<execution_state> executions);

private:
    struct held_driver;
    std::unique_ptr<held_driver> held_;
};

#ifdef SETTLE_COMPILED
extern template class seam_driver<order_rules>;
#endif

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/seam_driver.ipp>
#endif
