// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that postgresql.hpp declares.
#pragma once

#include <settle/postgresql.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/postgresql/connection/schema.hpp>

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

SETTLE_FUNCTION std::shared_ptr<settle::detail::one_phase_store<log_session>>
database::bind_described(std::string const& log_name,
                         std::span<settle::detail::collection_descriptor const* const> bound) {
    return settle::detail::sql::make_record_store<detail::parts>(*pool_, log_name, bound);
}

SETTLE_FUNCTION log_session database::bind_log() {
    auto const fresh = settle::detail::fresh_log_name("postgresql-");
    return log_session{*pool_, detail::metadata(*pool_).get_or_init("log", fresh)};
}

SETTLE_FUNCTION listener database::listen() { return {*pool_, detail::work_channel(*pool_)}; }

SETTLE_FUNCTION result<std::optional<snapshot_holder>> database::oldest_snapshot() {
    constexpr auto sql =
        "SELECT holder, greatest(0, floor(extract(epoch FROM clock_timestamp() - since)))::text "
        "FROM (SELECT 'the session ' || pid || coalesce(' of ' || nullif(application_name, ''), "
        "'') AS holder, backend_xmin AS oldest, xact_start AS since "
        "FROM pg_catalog.pg_stat_activity WHERE pid <> pg_catalog.pg_backend_pid() "
        "UNION ALL SELECT 'the prepared transaction ' || gid, transaction, prepared "
        "FROM pg_catalog.pg_prepared_xacts "
        "UNION ALL SELECT 'the replication slot ' || slot_name, xmin, NULL "
        "FROM pg_catalog.pg_replication_slots) AS held WHERE oldest IS NOT NULL "
        "ORDER BY pg_catalog.age(oldest) DESC, since LIMIT 1";
    try {
        auto on = pool_->take();
        auto const number = on->send_sql(sql, "look for old snapshots");
        on->sync();
        auto const& found = on->result(number);
        if (found.empty()) return std::optional<snapshot_holder>{};
        long long const age = found.is_null(0, 1) ? 0 : std::stoll(std::string{found.text(0, 1)});
        return std::optional{
            snapshot_holder{std::string{found.text(0, 0)}, std::chrono::seconds{age}}};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION std::uint64_t database::round_trips() const noexcept {
    return pool_->round_trips();
}

} // namespace postgresql
SETTLE_END
