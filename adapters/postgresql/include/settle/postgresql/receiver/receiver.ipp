// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver.hpp declares.
#pragma once

#include <settle/postgresql/receiver/receiver.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/receiver_table.hpp>
#include <settle/postgresql/connection/schema.hpp>
#include <settle/postgresql/prepared/work_connection.hpp>

#include <set>

SETTLE_BEGIN
namespace postgresql::detail {

/// The version of the tables settle_receiver…; it changes when older libraries cannot use them.
inline constexpr std::string_view receiver_schema_version = "2";

SETTLE_FUNCTION void create_receiver_tables(connection& with, std::string const& schema) {
    settle::detail::receiver_sql const sql{schema + "settle_receiver", '$'};
    for (auto const& one : sql.create("text COLLATE \"C\" PRIMARY KEY")) {
        with.send_sql(one, "create the tables of a receiver");
    }
}

SETTLE_FUNCTION void upgrade_receiver_tables(connection& with, std::string const& schema) {
    with.send_sql(settle::detail::receiver_sql{schema + "settle_receiver", '$'}.upgrade(),
                  "upgrade the tables of a receiver");
}

inline constexpr own_tables receiver_tables{"settle_receiver_", receiver_schema_version,
                                            &create_receiver_tables, "1", &upgrade_receiver_tables};

[[nodiscard]] SETTLE_FUNCTION receiver_statements prepare_statements(pool& with) {
    using enum value_type;
    auto const table = with.schema_prefix() + "settle_receiver";
    settle::detail::receiver_sql const sql{table, '$'};
    // The first call of a key has no row to lock, so the key itself is locked.
    auto const lock = "SELECT pg_advisory_xact_lock(hashtextextended(" + quoted_text(table) +
                      " || key, 0)) FROM unnest($1) AS key";
    return {with.prepare(lock, {text_array}, "lock keys of the receiver"),
            with.prepare(sql.select("key = ANY(?1)"), {text_array}, "read rows of the receiver"),
            with.prepare(
                sql.store(),
                {text, text, text, text, text, text, int8, boolean, int8, int8, int8, int8, text},
                "store a row of the receiver"),
            with.prepare(sql.erase(" FOR UPDATE SKIP LOCKED"), {int8, int8},
                         "erase rows of the receiver"),
            with.prepare(sql.list(), {text, text, text, int8}, "list rows of the receiver"),
            with.prepare("SAVEPOINT settle_work", "begin the work of a handler"),
            with.prepare("ROLLBACK TO SAVEPOINT settle_work", "undo the work of a handler"),
            with.prepare("RELEASE SAVEPOINT settle_work", "end the work of a handler")};
}

/// Calls `take(row)` for each row of a result.
template <typename Take>
void take_rows(connection& with, std::size_t number, Take&& take) {
    with.sync();
    for_each_row(with.result(number),
                 [&](row const& one) { take(settle::detail::read_receiver_row(one)); });
}

} // namespace postgresql::detail
namespace postgresql {

SETTLE_FUNCTION void receiver_transaction::expect(std::span<service_call const> calls) {
    // In one order, so that two waves do not wait for each other.
    std::set<std::string_view> keys;
    for (service_call const& one : calls) {
        if (settle::detail::fault_of_key(one.key).empty()) keys.insert(one.key);
    }
    if (keys.empty()) return;
    detail::array_value all{detail::value_type::text};
    for (auto const key : keys) all.add(key);
    with_->send(send_->lock, all);
    // A statement that waited does not see a row that was stored meanwhile; the next one does.
    auto const number = with_->send(send_->find, all);
    detail::take_rows(*with_, number, [&](receiver_row&& one) {
        auto key = one.key;
        rows_.emplace(std::move(key), std::move(one));
    });
}

SETTLE_FUNCTION std::optional<receiver_row> receiver_transaction::find(std::string_view key) const {
    auto const found = rows_.find(key);
    if (found == rows_.end()) return std::nullopt;
    return found->second;
}

SETTLE_FUNCTION void receiver_transaction::store(receiver_row const& row) {
    settle::detail::values_of_receiver_row(
        row, [&](auto const&... values) { with_->send(send_->store, values...); });
    rows_.insert_or_assign(row.key, row);
}

SETTLE_FUNCTION bool
receiver_transaction::attempt(settle::detail::function_view<bool(receiver_session&)> work) {
    detail::work_connection access{*with_, "run a handler's statement"};
    with_->send(send_->begin_work);
    bool const kept = work(access);
    auto const& problem = access.problem();
    // A failed statement has left half of the work undone, also if the handler ignores the error.
    bool const ends = kept || detail::is_conflict(problem.code) || detail::is_lost(problem.code);
    if (problem && ends) throw failure(problem);
    // What a kept work has set would meet the receiver's own statements, and the next work.
    if (kept) with_->queue_renewal();
    else with_->send(send_->undo_work);
    with_->send(send_->end_work);
    return kept;
}

SETTLE_FUNCTION receiver_database::receiver_database(std::string const& address,
                                                     std::string const& name,
                                                     database_options const& options)
    : pool_(address, options), send_(detail::prepare_statements(pool_)) {
    settle::detail::receiver_storage const storage{"the schema '" + pool_.server().schema + "'",
                                                   "schema", "postgresql"};
    storage.check_name(name);
    detail::prepare_schema(pool_, detail::receiver_tables);
    storage.check_owner(
        detail::metadata(pool_, detail::receiver_tables).get_or_init("receiver", name), name);
}

SETTLE_FUNCTION result<std::unique_ptr<receiver_database>>
receiver_database::open(std::string const& address, std::string const& name,
                        database_options const& options) {
    try {
        return std::make_unique<receiver_database>(address, name, options);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION settle::detail::commit_result
receiver_database::perform(settle::detail::function_view<void(receiver_transaction&)> function) {
    return detail::native_transaction{pool_}.perform(
        [&](detail::connection& with) {
            receiver_transaction open{send_, with};
            function(open);
        },
        detail::longest_repetition);
}

SETTLE_FUNCTION result<std::size_t> receiver_database::erase(timestamp before, std::size_t limit) {
    try {
        auto const with = pool_.take();
        auto const time = static_cast<std::int64_t>(before.time_since_epoch().count());
        auto const number = with->send(send_.erase, time, settle::detail::limit_of(limit));
        with->sync();
        return static_cast<std::size_t>(with->result(number).changed());
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<std::vector<receiver_row>>
receiver_database::list(receiver_filter const& filter, std::string_view after, std::size_t limit) {
    try {
        auto const with = pool_.take();
        std::size_t number = 0;
        settle::detail::page_of_receiver_rows(filter, after, limit, [&](auto const&... values) {
            number = with->send(send_.list, values...);
        });
        std::vector<receiver_row> rows;
        detail::take_rows(*with, number,
                          [&](receiver_row&& one) { rows.push_back(std::move(one)); });
        return rows;
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<std::optional<receiver_row>> receiver_database::find(std::string_view key) {
    try {
        auto const with = pool_.take();
        auto const number =
            with->send(send_.find, detail::array_value{detail::value_type::text}.add(key));
        std::optional<receiver_row> found;
        detail::take_rows(*with, number, [&](receiver_row&& one) { found = std::move(one); });
        return found;
    } catch (failure const& problem) {
        return problem.problem();
    }
}

} // namespace postgresql
SETTLE_END
