// SPDX-License-Identifier: BSL-1.0
// The requests of one step to stores: those of a whole window to one store, and those of one job
// that waits while the others go on.
#pragma once

#include <settle/running/driving/job.hpp>
#include <settle/store/caller_wait.hpp>
#include <settle/store/parts_under_way.hpp>

#include <atomic>
#include <optional>
#include <stop_token>
#include <tuple>

SETTLE_BEGIN
namespace detail {

/// A store that gives no answer is broken, and no guess at the answer would be safe.
[[noreturn]] void stop_without_answer();

/// The steps at which stores get waves: apply, back_off, confirm and compensate.
inline constexpr std::size_t steps_of_stores = 4;

/// The requests of jobs to one store. A wave that its jobs leave goes on without them.
class store_wave {
public:
    using moment = answer_signal::moment;

    [[nodiscard]] bool empty() const noexcept { return requests.empty(); }
    void clear();
    void add(part_request const& request, job& work, std::size_t number);
    [[nodiscard]] std::size_t count_jobs() const;
    /// Copies what the requests point at, so that the wave can outlive its jobs.
    void own();
    /// Gives the jobs their answers.
    void deliver() const;

    /// How long the store waits: as long as this thread's caller, and until stop().
    [[nodiscard]] wait_limits limits();
    void stop() { source_.request_stop(); }

    /// A left wave is over: its results are set. Any thread may call it.
    void end();
    /// Shape:   of a wave that is left
    [[nodiscard]] bool is_over() const noexcept { return is_over_.load(); }
    /// How long a wave that is over has taken.
    [[nodiscard]] std::chrono::nanoseconds took() const noexcept { return ended_ - started; }

    std::vector<part_request> requests{};
    std::vector<part_result> results{};
    std::vector<std::pair<job*, std::size_t>> parts{};
    std::chrono::nanoseconds begun{}; ///< for call_watch
    moment started{};

private:
    struct stop_source {
        std::stop_source source;
        void operator()() const { std::ignore = source.request_stop(); }
    };

    /// What the requests of a job point at.
    struct own_job {
        transaction_id id;
        held_parameters parameters;
        std::vector<kept_result> results;
    };

    std::vector<own_job> own_{};
    std::stop_source source_{std::nostopstate};
    std::optional<std::stop_callback<stop_source>> on_stop_{};
    moment ended_{};
    std::atomic<bool> is_over_ = false;
};

/// The parts of one job in a wave that its jobs have left.
class left_parts final : public parts_under_way {
public:
    explicit left_parts(std::shared_ptr<store_wave> wave) : wave_(std::move(wave)) {}

    /// Shape:   index - of the wave's request
    void add(std::size_t index) { indexes_.push_back(index); }
    [[nodiscard]] bool is_answered() const noexcept override;
    bool go_on(std::span<part_request const> requests, std::span<part_result> results,
               started_parts& started) override;
    void give_up(std::string_view limit) override;

private:
    std::shared_ptr<store_wave> wave_;
    std::vector<std::size_t> indexes_{};
    error problem_{}; ///< why the job waits no longer
};

/// What one job waits for at one step.
struct waiting_parts {
    struct parts_of_store {
        std::size_t store;
        std::vector<part_request> requests{};
        std::vector<part_result> results{};
        std::vector<std::size_t> numbers{};
        std::unique_ptr<parts_under_way> under_way{};
        std::chrono::nanoseconds begun{}; ///< for call_watch
        bool is_left = false;             ///< the parts are in a wave that was left
    };
    std::vector<parts_of_store> stores{};
    /// The wave whose end the job awaits before its parts are sent, or null.
    std::shared_ptr<store_wave> behind{};

    [[nodiscard]] parts_of_store& of(std::size_t store);
    [[nodiscard]] bool is_answered() const;
    void give_up(std::string_view limit) const;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/store_waves.ipp>
#endif
