// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that seam_worker.hpp declares.
#pragma once

#include <settle/running/calls/conclusion.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/running/calls/seam_worker.hpp>
#include <settle/running/driving/seam_driver.ipp>

SETTLE_BEGIN
namespace detail {

template <typename Rules>
outcome seam_worker<Rules>::run_new(transaction_id&& id, new_request const& request, goal purpose,
                                    call_options const& call, bool new_id) const {
    seam_driver<Rules> driver{ports, environment, observer, settings_of(call)};
    auto work = new_job(std::move(id), request, purpose, driver, environment);
    work.new_id = new_id;
    return bring_to_end(driver, work);
}

template <typename Rules>
outcome seam_worker<Rules>::bring_to_end(seam_driver<Rules>& driver, job& work) const {
    execution_state execution;
    driver.drive(work, execution, true, {});
    auto const read = [&](transaction_id const& id) {
        call_options const rest = driver.rest();
        patience repeated{environment, limits, rest};
        return repeated([&] { return ports.log.read(id); });
    };
    auto concluded = conclude(work, execution, read);
    driver.rethrow();
    return concluded;
}

} // namespace detail
SETTLE_END
