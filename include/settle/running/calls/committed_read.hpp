// SPDX-License-Identifier: BSL-1.0
// Drives the read rule: looks of a store, and questions to the log.
#pragma once

#include <settle/protocol/read_rule.hpp>
#include <settle/running/calls/patience.hpp>
#include <settle/store/log_port.hpp>
#include <settle/store/look.hpp>

SETTLE_BEGIN
namespace detail {

/// One look of the record's store.
using look_function = function_view<result<record_look>()>;

/// Reads a record as the decided transactions stood at one moment of the call.
/// Shape:   log, environment, limits, call - outlive the call
/// Errors:  errc::no_committed_read within the limit; those of the store and the log
[[nodiscard]] result<record_slot<any_record>> read_decided(look_function look, log_port& log,
                                                           environment_view const& environment,
                                                           options const& limits,
                                                           call_options const& call);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/committed_read.ipp>
#endif
