// SPDX-License-Identifier: BSL-1.0
// An observer that counts for a metrics system, and gives its figures as Prometheus text.
#pragma once

#include <settle/metrics/figures.hpp>

#include <memory>
#include <string>

SETTLE_BEGIN
namespace detail {

struct console_figures; // of settle::console

} // namespace detail

/// An observer of engines: `settle::observed_by(metrics)`. A copy has the same figures, so one
/// object can observe several engines, and outlive them.
/// Cost:    no lock and no allocation in a transaction; 0.4 MB for an object and its copies
/// Example: metrics.md
class metrics {
public:
    metrics() : figures_(std::make_shared<detail::figures>()) {}

    /// All figures in Prometheus' text format. An HTTP server answers `GET /metrics` with them, as
    /// `text/plain; version=0.0.4`.
    /// Cost:    takes no lock, and calls no store and no log
    [[nodiscard]] std::string text() const { return detail::text_of(*figures_); }

    /// The figures of all types together, for a program of your own.
    /// Cost:    takes no lock, and calls no store and no log
    [[nodiscard]] transaction_totals totals() const { return detail::totals_of(*figures_); }

    // Called by engines.

    static constexpr bool skips_plain_steps = true;
    [[gnu::always_inline]] void operator()(event const& seen) const noexcept {
        figures_->see(seen);
    }
    void left(std::string_view type) const noexcept { figures_->left(type); }
    void called(store_call const& call) const noexcept { figures_->called(call); }
    void swept(std::uint64_t count) const noexcept { figures_->swept(count); }

private:
    template <typename Engine>
    friend class metrics_thread; // metrics/thread.hpp
    friend struct detail::console_figures;

    std::shared_ptr<detail::figures> figures_;
};

SETTLE_END
