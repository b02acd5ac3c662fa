// SPDX-License-Identifier: BSL-1.0
// The records of a session's collections, as its typed half calls them.
#pragma once

#include <settle/adapter/native_wave.hpp>
#include <settle/adapter/record_session.hpp>
#include <settle/mongodb/log/log_session.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

class record_table;
class unit_of_work;

/// Shape:   threads may share a store
class record_store : public settle::detail::one_phase_store<log_session> {
public:
    /// Reads a record, lets a function change it, and writes the change.
    /// Shape:   target - as in part_descriptor
    virtual result<answer>
    at_record(void const* target, part_key const& key,
              settle::detail::function_view<answer(record_table&)> function) = 0;

    using action = settle::detail::function_view<void(unit_of_work&, link&)>;
    /// Reads records, lets a function change them, and writes the changes.
    /// Shape:   function(unit, link) - called again from the start after a conflict, a fault of a
    ///          record or a failed conditional update
    virtual commit_result in_unit(action function) = 0;
};

} // namespace mongodb::detail
SETTLE_END
