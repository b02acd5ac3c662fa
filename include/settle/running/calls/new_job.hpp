// SPDX-License-Identifier: BSL-1.0
// Jobs of transactions: new to the log, or taken over from it.
#pragma once

#include <settle/protocol/fresh.hpp>
#include <settle/running/calls/new_request.hpp>
#include <settle/running/driving/job.hpp>

SETTLE_BEGIN
namespace detail {

/// The job of a transaction that is new to the log, constructed in place.
template <typename Driver, typename Environment>
job new_job(transaction_id&& id, new_request const& request, goal purpose, Driver const& driver,
            Environment const& environment) {
    auto const now = driver.time();
    auto const how = driver.how_begins(*request.direction);
    bool const is_late = how == phases::late && purpose == goal::run;
    job work{std::move(id),
             request.direction,
             request.parameters,
             now,
             request.parts,
             is_late ? fresh_birth(environment, now) : fresh_epoch(environment, now),
             purpose,
             how,
             driver.stages_of(*request.direction)};
    if (auto const traceparent = driver.traceparent(); !traceparent.empty()) [[unlikely]]
        work.traceparent = traceparent;
    return work;
}

/// The job of an entry that this worker takes over.
/// Shape:   request - of the entry's direction and parameters
job taken_job(entry const& stored, new_request const& request, phases how);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/new_job.ipp>
#endif
