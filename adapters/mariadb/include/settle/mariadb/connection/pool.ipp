// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that pool.hpp declares.
#pragma once

#include <settle/mariadb/connection/pool.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

SETTLE_FUNCTION pool::pool(std::string const& text, options const& limits)
    : address_pool(text, limits), schema_prefix_(quoted_name(to().database) + ".") {
    server_ = take()->server();
}

SETTLE_FUNCTION bool pool::take_back(connection& held) noexcept {
    held.rollback();
    round_trips_ += held.take_round_trips();
    return held.reusable();
}

SETTLE_FUNCTION statement const& pool::prepare(std::string const& sql,
                                               std::vector<parameter_type> const& types,
                                               char const* phase, expectation expects) {
    std::lock_guard const guard{mutex_};
    auto& known = by_text_[{sql, expects}];
    if (known == nullptr) {
        known = &statements_.emplace_back(sql, types, phase, statements_.size(), expects);
    }
    return *known;
}

} // namespace mariadb::detail
SETTLE_END
