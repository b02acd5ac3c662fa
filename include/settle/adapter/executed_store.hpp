// SPDX-License-Identifier: BSL-1.0
// A store whose waves an executor executes. An adapter derives from this class.
#pragma once

#include <settle/adapter/record_session.hpp>
#include <settle/adapter/wave_executor.hpp>

SETTLE_BEGIN
namespace detail {

/// Shape:   Store - derives from one_phase_store
template <typename Store>
class executed_store : public Store {
public:
    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        executor_.execute(port_of(requests), requests, results);
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        executor_.start(port_of(requests), requests, results);
    }
    void finish(std::span<part_result> results) override { executor_.finish(results); }
    [[nodiscard]] bool finish_by(std::span<part_result> results,
                                 std::chrono::steady_clock::time_point until,
                                 wave_end const& over) override {
        return executor_.finish_by(results, until, over);
    }
    void abandon(std::span<part_result> results) noexcept override { executor_.abandon(results); }
    void expect_others() override { executor_.expect_others(); }

protected:
    explicit executed_store(wave_limits limits) : executor_(limits) {}

    /// Makes the attempts of waves in two phases.
    [[nodiscard]] virtual wave_port& port() noexcept = 0;
    /// Makes those of one wave.
    [[nodiscard]] virtual wave_port& port_of(std::span<part_request const>) noexcept {
        return port();
    }

    wave_executor executor_;
};

} // namespace detail
SETTLE_END
