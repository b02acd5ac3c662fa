// SPDX-License-Identifier: BSL-1.0
// Jobs of transactions that are new to the log.
#pragma once

#include <settle/protocol/fresh.hpp>
#include <settle/running/driving/job.hpp>

SETTLE_BEGIN
namespace detail {

/// A request for a new transaction, without its C++ type. The caller owns the parameters.
struct new_request {
    transaction_descriptor const* direction;
    void const* parameters;
    std::size_t parts;
};

template <typename Direction>
[[nodiscard]] new_request new_request_of(typename Direction::parameters const& parameters) {
    return {&descriptor_of<Direction>, &parameters,
            Direction::count_parts(Direction::user(parameters))};
}

/// The job of a transaction that is new to the log, constructed in place.
template <typename Driver, typename Environment>
job new_job(transaction_id&& id, new_request const& request, goal purpose, Driver const& driver,
            Environment const& environment) {
    return job{std::move(id), request.direction, request.parameters,
               driver.time(), request.parts,     fresh_epoch(environment, driver.time()),
               purpose,       driver.how(),      driver.stages_of(*request.direction)};
}

} // namespace detail
SETTLE_END
