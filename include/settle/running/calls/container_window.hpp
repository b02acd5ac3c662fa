// SPDX-License-Identifier: BSL-1.0
// The window of an engine that calls containers by their types.
#pragma once

#include <settle/running/calls/batch.ipp>
#include <settle/running/driving/window.hpp>

SETTLE_BEGIN
namespace detail {

/// The window of an engine whose log and stores are containers of this process.
template <typename Assembly, typename Direction>
class container_window {
    using driver_type = typename Assembly::driver_type;

public:
    using parameters_type = typename Direction::parameters;

    container_window(Assembly& assembly, call_options const& call, std::size_t room)
        : assembly_(assembly), driver_(assembly.make_driver(call)), window_(room) {}

    [[nodiscard]] bool empty() const { return window_.empty(); }
    [[nodiscard]] bool full() const { return window_.full(); }
    [[nodiscard]] bool late() const { return driver_.late(); }
    [[nodiscard]] std::exception_ptr const& thrown() const { return driver_.thrown(); }
    void look_at_clock() { driver_.look_at_clock(); }

    [[nodiscard]] transaction_id fresh_id() const {
        return settle::fresh_id(assembly_.environment());
    }
    /// Containers take ids of any length.
    static error fault_of(transaction_id const&, parameters_type const&) { return {}; }
    static bool has_fault(parameters_type const& parameters) {
        return detail::has_fault<Direction>(parameters);
    }
    static outcome refused(transaction_id const& id, parameters_type const& parameters) {
        return refused_before_write(id, descriptor_of<Direction>, &parameters);
    }
    void expect(transaction_id const& id, parameters_type const& parameters) {
        assembly_.expect_entry(id);
        assembly_.template expect_records<Direction>(parameters);
    }

    template <typename Parameters>
    void add(transaction_id&& id, Parameters&& parameters, std::size_t number, bool new_id) {
        auto work = job_of(std::move(id), parameters, new_id);
        window_.add(std::move(work), std::forward<Parameters>(parameters), number);
    }
    template <typename Ended>
    void run_alone(transaction_id&& id, parameters_type const& parameters, std::size_t number,
                   bool new_id, Ended&& ended) {
        auto work = job_of(std::move(id), parameters, new_id);
        execution_state execution;
        driver_.drive(work, execution, true, driver_type::template calls_of<Direction>());
        end(number, work, execution, ended);
    }
    template <typename Ended>
    void round(bool follows, bool looks_first, Ended&& ended) {
        if constexpr (driver_type::may_look_first) {
            if (looks_first) window_.look_first(driver_);
        }
        window_.round(driver_, follows,
                      [&](std::size_t number, job& work, execution_state const& execution) {
                          end(number, work, execution, ended);
                      });
    }

private:
    job job_of(transaction_id&& id, parameters_type const& parameters, bool new_id) {
        auto work = new_job(std::move(id), new_request_of<Direction>(parameters), goal::run,
                            driver_, assembly_.environment());
        work.new_id = new_id;
        if (!new_id && driver_.looks_first()) work.coordinator.look_again();
        return work;
    }
    template <typename Ended>
    void end(std::size_t number, job& work, execution_state const& execution, Ended& ended) {
        ended(number, conclude(work, execution, assembly_.reader(driver_)), execution.cut);
    }

    Assembly& assembly_;
    driver_type driver_;
    window<Direction> window_;
};

} // namespace detail
SETTLE_END
