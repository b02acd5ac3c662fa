// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that postgresql.hpp declares.
#pragma once

#include <settle/postgresql.hpp>

#include <settle/postgresql/connection/schema.hpp>

SETTLE_BEGIN
namespace postgresql {

SETTLE_FUNCTION database::database(std::string const& address, database_options const& options)
    : settle::detail::sql::database<detail::parts>(
          std::make_unique<detail::pool>(address, options)) {
    detail::prepare_schema(from());
}

SETTLE_FUNCTION result<std::unique_ptr<database>> database::open(std::string const& address,
                                                                 database_options const& options) {
    try {
        return std::make_unique<database>(address, options);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION listener database::listen() { return {from(), detail::work_channel(from())}; }

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
        auto lease = from().take();
        auto const number = lease->send_sql(sql, "look for old snapshots");
        lease->sync();
        auto const& rows = lease->result(number);
        if (rows.empty()) return std::optional<snapshot_holder>{};
        long long const age = rows.is_null(0, 1) ? 0 : std::stoll(std::string{rows.text(0, 1)});
        return std::optional{
            snapshot_holder{std::string{rows.text(0, 0)}, std::chrono::seconds{age}}};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

} // namespace postgresql
SETTLE_END
