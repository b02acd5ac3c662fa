// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that resource.hpp declares.
#pragma once

#include <settle/postgresql/prepared/resource.hpp>
#include <settle/postgresql/prepared/work_connection.hpp>
#include <settle/protocol/fresh.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

[[nodiscard]] SETTLE_FUNCTION bool is_busy(std::error_code const& code) {
    return is_conflict(code) || is_held(code);
}

/// The date of a receipt, in milliseconds since 1970.
[[nodiscard]] SETTLE_FUNCTION std::int64_t date_of(prepared_name const& name) {
    return time_of_epoch(name.epoch_number).time_since_epoch().count();
}

[[noreturn]] SETTLE_FUNCTION void refuse_server() {
    raise(errc::unfit_store, "settle: this server prepares no native transactions. Set "
                             "max_prepared_transactions to at least the number that can be "
                             "prepared at once, for example 100, and restart it");
}

SETTLE_FUNCTION void make_receipts(connection& connection, std::string const& table) {
    auto const phase = "create the table settle_receipt";
    connection.begin();
    // Another program may create it at the same time.
    connection.send_sql("SELECT pg_advisory_xact_lock(hashtextextended('settle', 0))", phase);
    connection.send_sql("CREATE TABLE IF NOT EXISTS " + table +
                            " (part text COLLATE \"C\" PRIMARY KEY, epoch bigint NOT NULL, "
                            "made bigint NOT NULL "
                            "DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint)",
                        phase);
    connection.send_sql("CREATE INDEX IF NOT EXISTS settle_receipt_made ON " + table + " (made)",
                        phase);
    connection.commit();
}

} // namespace postgresql::detail
namespace postgresql {

SETTLE_FUNCTION resource::resource(std::string const& address, database_options const& options)
    : pool_(address, options), receipts_(pool_.schema_prefix() + "settle_receipt"),
      write_(pool_.prepare(
          "INSERT INTO " + receipts_ +
              " (part, epoch, made) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          {detail::value_type::text, detail::value_type::int8, detail::value_type::int8},
          "write a receipt")),
      read_(pool_.prepare("SELECT epoch FROM " + receipts_ + " WHERE part = $1",
                          {detail::value_type::text}, "read a receipt")),
      list_(pool_.prepare(
          "SELECT gid, (extract(epoch FROM prepared) * 1000)::int8 "
          "FROM pg_catalog.pg_prepared_xacts "
          "WHERE database = current_database() AND starts_with(gid, $1) "
          "AND gid COLLATE \"C\" > $2 ORDER BY gid COLLATE \"C\" LIMIT $3",
          {detail::value_type::text, detail::value_type::text, detail::value_type::int8},
          "list the prepared transactions")),
      erase_(pool_.prepare(
          "DELETE FROM " + receipts_ + " WHERE part IN (SELECT part FROM " + receipts_ +
              " WHERE made < $1 AND starts_with(part, $2) ORDER BY made LIMIT $3)",
          {detail::value_type::int8, detail::value_type::text, detail::value_type::int8},
          "erase receipts")) {}

SETTLE_FUNCTION void resource::bind(std::string const&) {
    auto const lease = pool_.take();
    auto const& look = pool_.prepare("SELECT to_regclass($1) IS NOT NULL, "
                                     "current_setting('max_prepared_transactions')::int8",
                                     {detail::value_type::text}, "look for settle_receipt");
    auto const number = lease->send(look, receipts_);
    lease->sync();
    if (lease->result(number).integer(0, 1) == 0) detail::refuse_server();
    if (!lease->result(number).boolean(0, 0)) detail::make_receipts(*lease, receipts_);
}

SETTLE_FUNCTION prepare_result resource::prepare(prepared_name const& name,
                                                 work_function<connection> work) {
    bool has_worked = false;
    try {
        auto const lease = pool_.take();
        lease->begin();
        auto const key = name.of.text();
        auto const written = lease->send(write_, key, static_cast<std::int64_t>(name.epoch_number),
                                         detail::date_of(name));
        lease->sync();
        if (lease->result(written).changed() == 0) {
            return {prepare_answer::denied,
                    {make_error_code(errc::work_refused),
                     "settle: the part '" + key + "' has a receipt already"}};
        }
        detail::work_connection inside{*lease, "do the work of a prepared part"};
        auto const done = work(inside);
        auto const ended =
            settle::detail::answer_without_prepare(done, inside.problem(), &detail::is_busy);
        // The end of the loan rolls back.
        if (ended) return *ended;
        has_worked = true;
        lease->prepare(name.text());
        return {prepare_answer::prepared, {}};
    } catch (failure const& caught) {
        auto const code = caught.problem().code;
        if (code == commit_unknown || code == duplicate_object) {
            return {prepare_answer::unknown, caught.problem()};
        }
        // A deferred constraint is checked by the prepare, and so are temporary tables.
        if (has_worked && code == condition::permanent) {
            return {prepare_answer::refused, caught.problem()};
        }
        return {detail::is_busy(code) ? prepare_answer::busy : prepare_answer::unavailable,
                caught.problem()};
    }
}

SETTLE_FUNCTION end_result resource::commit(prepared_name const& name) {
    return end(name, "COMMIT PREPARED ", "commit a prepared transaction");
}

SETTLE_FUNCTION end_result resource::roll_back(prepared_name const& name) {
    return end(name, "ROLLBACK PREPARED ", "roll back a prepared transaction");
}

SETTLE_FUNCTION end_result resource::end(prepared_name const& name, char const* verb,
                                         char const* phase) {
    try {
        pool_.take()->end_prepared(verb, name.text(), phase);
        return {end_answer::ended, {}};
    } catch (failure const& caught) {
        auto const code = caught.problem().code;
        // Another database of the server may have the name.
        if (code == undefined_object || code == feature_not_supported) {
            return {end_answer::absent, {}};
        }
        return {code == commit_unknown ? end_answer::unknown : end_answer::unavailable,
                caught.problem()};
    }
}

SETTLE_FUNCTION result<std::vector<in_doubt_name>>
resource::in_doubt(std::string_view prefix, std::string_view after, std::size_t limit) {
    try {
        auto const lease = pool_.take();
        auto const number = lease->send(list_, prefix, after, static_cast<std::int64_t>(limit));
        lease->sync();
        auto const& rows = lease->result(number);
        std::vector<in_doubt_name> names;
        names.reserve(static_cast<std::size_t>(rows.size()));
        for (int row = 0; row < rows.size(); ++row) {
            names.push_back({std::string{rows.text(row, 0)},
                             timestamp{std::chrono::milliseconds{rows.integer(row, 1)}}});
        }
        return names;
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<std::optional<epoch>> resource::receipt_of(prepared_part const& part) {
    try {
        auto const lease = pool_.take();
        auto const key = part.text();
        auto const number = lease->send(read_, key);
        lease->sync();
        auto const& found = lease->result(number);
        if (found.empty()) return std::optional<epoch>{};
        return std::optional<epoch>{static_cast<epoch>(found.integer(0, 0))};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION end_result resource::deny(prepared_name const& name) {
    auto const key = name.of.text();
    detail::native_transaction native{pool_};
    auto const ended = native.perform(
        [&](detail::connection& session) {
            session.send(write_, key, std::int64_t{0}, detail::date_of(name));
        },
        pool_.options().lock_timeout);
    if (ended.status == detail::commit_status::committed) return {end_answer::ended, {}};
    bool const unknown = ended.status == detail::commit_status::unknown;
    return {unknown ? end_answer::unknown : end_answer::unavailable, ended.problem};
}

SETTLE_FUNCTION result<std::uint64_t> resource::forget(std::string_view prefix, timestamp before,
                                                       std::size_t limit) {
    try {
        auto const lease = pool_.take();
        auto const time = static_cast<std::int64_t>(before.time_since_epoch().count());
        auto const number = lease->send(erase_, time, prefix, static_cast<std::int64_t>(limit));
        lease->sync();
        return static_cast<std::uint64_t>(lease->result(number).changed());
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<timestamp> resource::time() {
    try {
        auto const lease = pool_.take();
        auto const& clock =
            pool_.prepare("SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8",
                          "read the clock");
        auto const number = lease->send(clock);
        lease->sync();
        return timestamp{std::chrono::milliseconds{lease->result(number).integer(0, 0)}};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

} // namespace postgresql
SETTLE_END
