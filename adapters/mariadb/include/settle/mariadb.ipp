// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mariadb.hpp declares.
#pragma once

#include <settle/mariadb.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/mariadb/connection/schema.hpp>

SETTLE_BEGIN
namespace mariadb {

SETTLE_FUNCTION database::database(std::string const& address, options const& limits)
    : pool_(std::make_unique<detail::pool>(address, limits)) {
    detail::prepare_schema(*pool_);
}

SETTLE_FUNCTION database::~database() = default;

SETTLE_FUNCTION result<std::unique_ptr<database>> database::open(std::string const& address,
                                                                 options const& limits) {
    try {
        return std::make_unique<database>(address, limits);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION std::shared_ptr<settle::detail::one_phase_store<log_session>>
database::bind_described(std::string const& log_name,
                         std::span<settle::detail::collection_descriptor const* const> bound) {
    return settle::detail::sql::make_record_store<detail::parts>(*pool_, log_name, bound);
}

SETTLE_FUNCTION log_session database::bind_log() {
    auto const fresh = settle::detail::fresh_log_name("mariadb-");
    return log_session{*pool_, detail::metadata_table{*pool_}.get_or_init("log", fresh)};
}

SETTLE_FUNCTION std::uint64_t database::round_trips() const noexcept {
    return pool_->round_trips();
}

} // namespace mariadb
SETTLE_END
