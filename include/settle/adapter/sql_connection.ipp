// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sql_connection.hpp declares.
#pragma once

#include <settle/adapter/sql_connection.hpp>

SETTLE_BEGIN

SETTLE_FUNCTION sql_rows sql_connection::watch(std::string const& sql,
                                               std::span<sql_value const> values) {
    if (problem_) throw failure(problem_);
    try {
        return run(sql, values);
    } catch (failure const& caught) {
        problem_ = caught.problem();
        throw;
    }
}

namespace detail {

SETTLE_FUNCTION std::optional<prepare_result>
answer_without_prepare(work_result const& of, error const& problem,
                       bool (*is_busy)(std::error_code const&)) {
    if (of.what == work_result::status::refused) {
        return prepare_result{prepare_answer::refused, of.problem};
    }
    // A failed statement has left half of the work undone, also if the work answers ok.
    error const& why = problem ? problem : of.problem;
    if (of.what == work_result::status::ok && !problem) return std::nullopt;
    bool const busy = is_busy(why.code) || why.code == condition::conflict;
    return prepare_result{busy ? prepare_answer::busy : prepare_answer::unavailable, why};
}

} // namespace detail
SETTLE_END
