// SPDX-License-Identifier: BSL-1.0
// Erases old entries of a log, a step at a time.
#pragma once

#include <settle/running/options.hpp>
#include <settle/running/refusals.hpp>
#include <settle/store/seam.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// Shape:   before - old entries were both created and last changed before this time
template <typename Log>
purge_report purge_log(Log& log, timestamp before, purge_options const& given) {
    constexpr std::size_t largest_step = 100'000;
    std::size_t const step = std::clamp<std::size_t>(given.step, 1, largest_step);
    purge_report report;
    std::int64_t passed = purged::nothing;
    for (bool more = given.limit != 0; more;) {
        if (given.stop.stop_requested()) {
            report.problem = stopped_early();
            return report;
        }
        auto const gone =
            log.purge(before, std::min<std::size_t>(step, given.limit - report.erased), passed);
        if (!gone.has_value()) {
            report.problem = gone.problem();
            return report;
        }
        passed = gone.value().passed;
        report.erased += gone.value().erased;
        more = gone.value().more && report.erased < given.limit;
    }
    return report;
}

} // namespace detail
SETTLE_END
