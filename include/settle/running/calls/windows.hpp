// SPDX-License-Identifier: BSL-1.0
// A window and its driver, for calls that run many transactions. Behind the seam the jobs are
// driven by code that is compiled once; only the parameters have a type.
#pragma once

#include <settle/running/calls/worker.hpp>

#include <vector>

SETTLE_BEGIN
namespace detail {

/// Called with the number of a transaction, its outcome, and why its drive ended early, if it did.
using window_end = function_view<void(std::size_t, outcome&&, interruption)>;

/// The jobs of a window. Their parameters stay where they are until each job is over.
/// Shape:   call - outlives the object
template <typename Rules>
class seam_jobs {
public:
    seam_jobs(seam_context<Rules> const& context, call_options const& call, std::size_t room);
    seam_jobs(seam_jobs const&) = delete;
    seam_jobs& operator=(seam_jobs const&) = delete;
    ~seam_jobs();

    [[nodiscard]] bool empty() const;
    [[nodiscard]] bool full() const;
    [[nodiscard]] bool late() const;
    [[nodiscard]] std::exception_ptr const& thrown() const;
    void look_at_clock();
    void rethrow() const;

    void add(transaction_id&& id, new_request const& request, std::size_t number, bool new_id);
    void take(entry const& stored, new_request const& request, std::size_t number);
    void run_alone(transaction_id&& id, new_request const& request, bool new_id, std::size_t number,
                   window_end ended);
    void round(bool follows, bool looks_first, window_end ended);

private:
    struct held_jobs;
    std::unique_ptr<held_jobs> held_;
};

#ifdef SETTLE_COMPILED
extern template class seam_jobs<order_rules>;
#endif

/// The window of an engine behind the seam.
template <typename Assembly, typename Direction>
class seam_window : public seam_jobs<typename Assembly::order_rules> {
    using jobs = seam_jobs<typename Assembly::order_rules>;
    using parameters_type = typename Direction::parameters;

public:
    seam_window(Assembly& assembly, call_options const& call, std::size_t room)
        : jobs(assembly.seam(), call, room) {}

    /// Shape:   number - the caller's, given back when the transaction is over
    template <typename Parameters>
    void add(transaction_id&& id, Parameters&& parameters, std::size_t number, bool new_id) {
        auto const slot = put(std::forward<Parameters>(parameters), number);
        jobs::add(std::move(id), new_request_of<Direction>(*held_[slot]), slot, new_id);
    }
    void take(entry const& stored, parameters_type&& parameters) {
        auto const slot = put(std::move(parameters), 0);
        jobs::take(stored, new_request_of<Direction>(*held_[slot]), slot);
    }
    /// Runs a transaction whose parameters stay in place.
    void run_alone(transaction_id&& id, parameters_type const& parameters, std::size_t number,
                   bool new_id, window_end ended) {
        jobs::run_alone(std::move(id), new_request_of<Direction>(parameters), new_id, number,
                        ended);
    }
    void round(bool follows, bool looks_first, window_end ended) {
        jobs::round(follows, looks_first,
                    [&](std::size_t slot, outcome&& concluded, interruption cut) {
                        ended(numbers_[slot], std::move(concluded), cut);
                        free_.push_back(slot);
                    });
    }

private:
    template <typename Parameters>
    std::size_t put(Parameters&& parameters, std::size_t number) {
        if (free_.empty()) {
            held_.push_back(
                std::make_unique<parameters_type>(std::forward<Parameters>(parameters)));
            numbers_.push_back(number);
            return held_.size() - 1;
        }
        std::size_t const slot = free_.back();
        free_.pop_back();
        *held_[slot] = std::forward<Parameters>(parameters);
        numbers_[slot] = number;
        return slot;
    }

    std::vector<std::unique_ptr<parameters_type>> held_; ///< no job's parameters ever move
    std::vector<std::size_t> numbers_;                   ///< of each slot of held_
    std::vector<std::size_t> free_;                      ///< slots of jobs that are over
};

template <typename Assembly, typename Direction>
class container_window;

template <typename Assembly, typename Direction>
using window_of = std::conditional_t<Assembly::is_container, container_window<Assembly, Direction>,
                                     seam_window<Assembly, Direction>>;

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/windows.ipp>
#endif
