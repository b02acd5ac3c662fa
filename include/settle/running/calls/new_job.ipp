// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that new_job.hpp declares.
#pragma once

#include <settle/running/calls/new_job.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION job taken_job(entry const& stored, new_request const& request, phases how) {
    job work{transaction_id{stored.id}, request.direction, request.parameters,
             coordinator::take(request.parts, standing_of(stored), how, request.direction->stages)};
    work.created = stored.created;
    work.images = stored.images;
    work.results = stored.results;
    work.traceparent = stored.traceparent;
    work.take_reason(stored);
    return work;
}

} // namespace detail
SETTLE_END
