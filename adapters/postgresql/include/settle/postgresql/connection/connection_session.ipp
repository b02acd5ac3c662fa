// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that connection.hpp declares: the settings of a session.
#pragma once

#include <settle/postgresql/connection/connection.hpp>

#include <algorithm>
#include <array>
#include <limits>

SETTLE_BEGIN
namespace postgresql::detail {

/// PostgreSQL 14: a purge of the log needs its scans of ranges of rows.
inline constexpr int oldest_version = 140000;

/// The SQL that makes a session independent of the settings of its user and its database.
[[nodiscard]] SETTLE_FUNCTION std::string session_sql(database_options const& options) {
    std::string const schema = options.schema.empty()
                                   // A temporary schema would take the tables with it.
                                   ? "(SELECT name FROM pg_catalog.unnest("
                                     "pg_catalog.current_schemas(false)) WITH ORDINALITY "
                                     "AS found(name, at) WHERE name NOT LIKE 'pg\\_%' "
                                     "ORDER BY at LIMIT 1)"
                                   : "(SELECT nspname FROM pg_catalog.pg_namespace "
                                     "WHERE nspname = $1)";
    std::string sql{"SELECT pg_catalog.current_setting('server_version_num')::int4, "
                    "pg_catalog.current_setting('server_encoding'), "
                    "pg_catalog.pg_is_in_recovery(), "
                    "pg_catalog.current_setting('transaction_read_only') = 'on', "
                    "pg_catalog.pg_backend_pid(), "};
    sql.append(time_sql).append(", ");
    sql.append(schema).append("::text");
    auto const set = [&](std::string_view name, std::string_view value) {
        sql.append(", pg_catalog.set_config('").append(name).append("', ");
        sql.append(value).append(", false)");
    };
    auto const milliseconds = [&](std::string_view name, std::chrono::milliseconds limit) {
        // 0 means no limit.
        auto const most = std::chrono::milliseconds{std::numeric_limits<int>::max()};
        auto const count = std::clamp(limit, std::chrono::milliseconds{1}, most).count();
        set(name, "'" + std::to_string(count) + "'");
    };
    milliseconds("lock_timeout", options.lock_timeout);
    milliseconds("statement_timeout", options.statement_timeout);
    milliseconds("idle_in_transaction_session_timeout", options.idle_timeout);
    // PostgreSQL 17 has a limit of a whole native transaction, which a user or a database may set.
    sql += ", CASE WHEN pg_catalog.current_setting('server_version_num')::int4 >= 170000 "
           "THEN pg_catalog.set_config('transaction_timeout', '0', false) END";
    // A wave locks rows and then reads their marks: it must see each earlier commit.
    set("default_transaction_isolation", "'read committed'");
    std::string const waits{"pg_catalog.current_setting('synchronous_commit')"};
    set("synchronous_commit",
        "CASE WHEN " + waits + " IN ('off', 'local') THEN 'on' ELSE " + waits + " END");
    set("standard_conforming_strings", "'on'");
    // The texts of casts.
    set("DateStyle", "'ISO, YMD'");
    set("IntervalStyle", "'postgres'");
    set("TimeZone", "'UTC'");
    set("bytea_output", "'hex'");
    set("extra_float_digits", "'1'");
    set("lc_monetary", "'C'");
    // Rows that a policy hides are an error instead of missing.
    set("row_security", "'off'");
    set("jit", "'off'");
    // Statements are planned once, whatever the size of their arrays: an index finds each key.
    set("plan_cache_mode", "'force_generic_plan'");
    for (auto const* const other :
         {"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_memoize"}) {
        set(other, "'off'");
    }
    // A purge visits the pages of the log in their order.
    set("synchronize_seqscans", "'off'");
    // Last, since the schema is found by the user's own search path.
    set("search_path", "pg_catalog.quote_ident(" + schema + ") || ', pg_temp'");
    return sql;
}

SETTLE_FUNCTION void connection::queue_session() {
    auto const sql = session_sql(options_);
    std::array const values{options_.schema.c_str()};
    queue(PQsendQueryParams(native(), sql.c_str(), options_.schema.empty() ? 0 : 1, nullptr,
                            values.data(), nullptr, nullptr, 1),
          message::statement, "prepare the session");
}

SETTLE_FUNCTION void connection::prepare_session() {
    queue_session();
    for (auto const* const sql_text : {"BEGIN", "COMMIT"}) {
        queue(PQsendPrepare(native(), sql_text, sql_text, 0, nullptr), message::statement,
              "prepare the session");
    }
    sync();
    auto const& rows = result(0);
    server_.version = static_cast<int>(rows.integer(0, 0));
    server_.backend = static_cast<int>(rows.integer(0, 4));
    if (server_.version < oldest_version) {
        raise(errc::other_version, "settle: this server is older than PostgreSQL 14. Use a newer "
                                   "one. See postgresql#address");
    }
    if (rows.text(0, 1) != "UTF8") {
        raise(errc::unfit_store, "settle: this database has the encoding " +
                                     std::string{rows.text(0, 1)} +
                                     ". Create one with the encoding UTF8. See postgresql#address");
    }
    if (rows.boolean(0, 2) || rows.boolean(0, 3)) {
        throw failure(describe(read_only_transaction,
                               rows.boolean(0, 2) ? "this server is a standby"
                                                  : "the user's native transactions are read-only",
                               "take writes"));
    }
    server_.clock = settle::detail::server_clock{rows.integer(0, 5)};
    constexpr int schema_at = 6;
    if (rows.is_null(0, schema_at)) {
        raise(
            errc::unfit_store,
            options_.schema.empty()
                ? "settle: the user's search path has no schema that exists and that the user may "
                  "use. GRANT USAGE ON SCHEMA, create one, or name one in "
                  "database_options::schema. See postgresql#rights"
                : "settle: there is no schema '" + options_.schema +
                      "' in this database. Create it. See postgresql#address");
    }
    server_.schema = rows.text(0, schema_at);
    // Later the user's search path may begin elsewhere.
    options_.schema = server_.schema;
    round_trips_ = 0;
}

SETTLE_FUNCTION std::size_t connection::send_renewal() {
    char const* const phase = "put the session right";
    // The parts of DISCARD ALL that a native transaction may hold.
    for (char const* const part : {"SET SESSION AUTHORIZATION DEFAULT", "RESET ALL",
                                   "SELECT pg_catalog.pg_advisory_unlock_all()"}) {
        send_sql(part, phase);
    }
    queue_session();
    ++sent_;
    return send_sql("SELECT pg_catalog.count(*) FROM pg_catalog.pg_prepared_statements", phase);
}

SETTLE_FUNCTION bool connection::has_statements(std::size_t number) const {
    constexpr std::int64_t begin_and_commit = 2;
    auto const meant = std::count(prepared_.begin(), prepared_.end(), true) + begin_and_commit;
    return result(number).integer(0, 0) == meant;
}

SETTLE_FUNCTION void connection::renew() noexcept {
    if (!std::exchange(ran_work_, false) || !good()) return;
    try {
        // PREPARE TRANSACTION refuses this statement.
        send_sql("UNLISTEN *", "put the session right");
        auto const number = send_renewal();
        sync();
        if (has_statements(number)) return;
    } catch (std::exception const&) {
        // A session that cannot be put right is not used again.
    }
    lose();
}

} // namespace postgresql::detail
SETTLE_END
