// SPDX-License-Identifier: BSL-1.0
// The jobs of one direction that are under way side by side, up to a fixed number.
#pragma once

#include <settle/running/driving/execution_state.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   Direction - of all jobs; the caller adds jobs in the order of its input
template <typename Direction>
class window {
public:
    using parameters_type = typename Direction::parameters;

    explicit window(std::size_t room) : room_(std::max<std::size_t>(1, room)) {}

    [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }
    [[nodiscard]] bool full() const noexcept { return jobs_.size() >= room_; }

    /// Shape:   number - the caller's, given back when the job is over; own - of this job's caller,
    ///          or null
    template <typename Parameters>
    void add(job&& work, Parameters&& parameters, std::size_t number,
             caller_limits const* own = nullptr) {
        if (jobs_.size() == made_) make_room();
        parameters_.push_back(std::forward<Parameters>(parameters));
        numbers_.push_back(number);
        executions_.emplace_back().own = own;
        jobs_.push_back(std::move(work));
        jobs_.back().parameters = address_of(parameters_.back());
    }

    /// The jobs that rest until they make calls again.
    [[nodiscard]] std::size_t resting() const noexcept {
        auto const rests = [](job const& work) {
            return work.resting && work.waiting == nullptr && calls_next(work);
        };
        return static_cast<std::size_t>(std::count_if(jobs_.begin(), jobs_.end(), rests));
    }

    /// Looks for the first job's entry before anything is sent for the others. If the entry exists,
    /// the range has run before, and the entries of the others are looked for, too.
    template <typename Driver>
    void look_first(Driver& driver) {
        constexpr std::size_t worth_a_look = 16;
        if (jobs_.size() < worth_a_look || jobs_.front().new_id) return;
        jobs_.front().coordinator.look_again();
        driver.look(std::span{jobs_}.first(1), std::span{executions_}.first(1));
        if (!driver.looks_first()) return;
        for (std::size_t at = 1; at < jobs_.size(); ++at) {
            if (!jobs_[at].new_id) jobs_[at].coordinator.look_again();
        }
    }

    /// Drives every job one round. Calls `ended(number, job, execution)` for each job that is over,
    /// in the order of the window; the job's slot is free then.
    template <typename Driver, typename Ended>
    void round(Driver& driver, bool follows, Ended&& ended) {
        driver.round(jobs_, executions_, follows, Driver::template calls_of<Direction>());
        std::size_t kept = 0;
        for (std::size_t index = 0; index < jobs_.size(); ++index) {
            if (executions_[index].over) {
                ended(numbers_[index], jobs_[index], executions_[index]);
                continue;
            }
            if (kept != index) move(index, kept);
            ++kept;
        }
        jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(kept), jobs_.end());
        executions_.erase(executions_.begin() + static_cast<std::ptrdiff_t>(kept),
                          executions_.end());
        numbers_.resize(kept);
        parameters_.erase(parameters_.begin() + static_cast<std::ptrdiff_t>(kept),
                          parameters_.end());
    }

    /// Gives up the jobs that rest before their next calls; the next round ends them.
    template <typename Driver>
    void end_resting(Driver& driver) {
        for (std::size_t index = 0; index < jobs_.size(); ++index) {
            driver.end_resting(jobs_[index], executions_[index]);
        }
    }

private:
    static void const* address_of(parameters_type const& parameters) {
        if constexpr (std::is_same_v<parameters_type, held_parameters>) return parameters.get();
        else return &parameters;
    }

    /// Jobs point at their parameters, which growth moves.
    void make_room() {
        made_ = std::min(room_, std::max<std::size_t>(16, 2 * made_));
        jobs_.reserve(made_);
        executions_.reserve(made_);
        numbers_.reserve(made_);
        parameters_.reserve(made_);
        for (std::size_t at = 0; at < jobs_.size(); ++at) {
            jobs_[at].parameters = address_of(parameters_[at]);
        }
    }

    void move(std::size_t from, std::size_t to) {
        parameters_[to] = std::move(parameters_[from]);
        numbers_[to] = numbers_[from];
        executions_[to] = std::move(executions_[from]);
        jobs_[to] = std::move(jobs_[from]);
        jobs_[to].parameters = address_of(parameters_[to]);
    }

    std::size_t room_;
    std::size_t made_ = 0; ///< the number of jobs with reserved room
    std::vector<job> jobs_;
    std::vector<execution_state> executions_;
    std::vector<std::size_t> numbers_;
    std::vector<parameters_type> parameters_;
};

} // namespace detail
SETTLE_END
