// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that postgresql.hpp declares.
#pragma once

#include <settle/postgresql.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/postgresql/schema.hpp>

SETTLE_BEGIN
namespace postgresql {

SETTLE_FUNCTION database::database(std::string const& address, database_options const& options)
    : pool_(std::make_unique<detail::pool>(address, options)) {
    detail::prepare_schema(*pool_);
}

SETTLE_FUNCTION database::~database() = default;

SETTLE_FUNCTION result<std::unique_ptr<database>> database::open(std::string const& address,
                                                                 database_options const& options) {
    try {
        return std::make_unique<database>(address, options);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION log_session database::bind_log() {
    auto const fresh = settle::detail::fresh_log_name(detail::log_name_prefix);
    return log_session{*pool_, detail::get_or_init_metadata(*pool_, "log", fresh)};
}

SETTLE_FUNCTION listener database::listen() { return {*pool_, detail::work_channel(*pool_)}; }

SETTLE_FUNCTION std::uint64_t database::round_trips() const noexcept {
    return pool_->round_trips();
}

} // namespace postgresql
SETTLE_END
