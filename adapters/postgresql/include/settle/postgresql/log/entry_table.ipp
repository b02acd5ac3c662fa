// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_table.hpp declares.
#pragma once

#include <settle/postgresql/connection/listener.hpp>
#include <settle/postgresql/log/entry_table.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::write_columns;

[[nodiscard]] constexpr value_type element_of(settle::detail::sql::column_kind kind) {
    using enum settle::detail::sql::column_kind;
    return kind == text      ? value_type::text
           : kind == boolean ? value_type::boolean
                             : value_type::int8;
}
[[nodiscard]] constexpr value_type array_of(value_type element) {
    switch (element) {
    case value_type::text: return value_type::text_array;
    case value_type::boolean: return value_type::boolean_array;
    default: return value_type::int8_array;
    }
}

[[nodiscard]] SETTLE_FUNCTION std::string
insert_sql(std::string const& table, std::span<std::string const> values, std::string const& wave) {
    auto const fields = settle::detail::fields_inserted();
    std::string names;
    std::string given;
    for (std::size_t at = 0; at < fields.size(); ++at) {
        std::string const separator = at == 0 ? "" : ", ";
        names.append(separator).append(settle::detail::name_of(fields[at]));
        bool const has_default = fields[at] == settle::detail::entry_field::stages_kept;
        given += separator;
        given += has_default ? "coalesce(" + values[at] + ", 0)" : values[at];
    }
    return "INSERT INTO " + table + "(" + names + ") SELECT " + given + wave;
}

/// Without a value, a column stays as it is.
[[nodiscard]] SETTLE_FUNCTION std::string change_sql(std::string const& table,
                                                     write_columns const& columns,
                                                     std::span<std::string const> values,
                                                     std::string const& wave) {
    std::string sets;
    for (std::size_t at = 0; at < columns.fields.size(); ++at) {
        auto const name = std::string{settle::detail::name_of(columns.fields[at])};
        sets += (at == 0 ? "" : ", ") + name + " = coalesce(" + values[columns.expected + at] +
                ", e." + name + ")";
    }
    return "UPDATE " + table + " AS e SET " + sets + wave + " WHERE e.id = " + values[0] +
           " AND e.state = " + values[1] + " AND e.epoch = " + values[2] +
           " AND e.revision = " + values[3];
}

/// The columns of an entry in the order of the fields. An entry that a cancel or a sweep inserted
/// has no type.
[[nodiscard]] SETTLE_FUNCTION std::string select_sql() {
    std::string sql{"SELECT "};
    for (auto const field : settle::detail::all_entry_fields) {
        auto const name = std::string{settle::detail::name_of(field)};
        bool const of_type = field == entry_field::type || field == entry_field::definition ||
                             field == entry_field::parameters;
        if (field != entry_field::id) sql += ", ";
        if (!of_type) sql += "e." + name;
        else
            sql += "coalesce(e." + name + ", '" + (field == entry_field::definition ? "0" : "") +
                   "') AS " + name;
    }
    return sql;
}

SETTLE_FUNCTION entry_table::entry_table(pool& with)
    : pool_(&with), table_(with.schema_prefix() + "settle_entry"), channel_(work_channel(with)) {
    auto const& table = table_;
    using enum value_type;
    locks_ = &with.prepare("SELECT id, state, epoch, revision FROM " + table +
                               " WHERE id = ANY($1) ORDER BY id FOR UPDATE",
                           {text_array}, "lock entries");
    look_ = &with.prepare("SELECT id, open FROM " + table + " WHERE id = ANY($1)", {text_array},
                          "look for entries");
    auto const select = select_sql();
    read_ = &with.prepare(select + ", w.n FROM " + arrays_as_table(1, true) + " JOIN " + table +
                              " AS e ON e.id = w.c0",
                          {text_array}, "read entries");
    auto const page = [&](std::string const& condition, bool of_state) {
        std::vector<value_type> types{text, int8, int8, int8};
        if (of_state) types.push_back(int8);
        return &with.prepare(select + " FROM " + table +
                                 " AS e WHERE e.id > $1 AND (e.modified <= $2 OR "
                                 "greatest(e.created, e.modified) > $3) " +
                                 condition + " ORDER BY e.id LIMIT $4",
                             types, "read entries");
    };
    all_ = page("", false);
    of_state_ = page("AND e.state = $5", true);
    // With `open` in the condition, the index of open entries answers these two statements.
    open_of_state_ = page("AND e.open AND e.state = $5", true);
    unfinished_ = page("AND e.open AND e.state NOT IN (0, 3, 5)", false);
    purge_ =
        &with.prepare("DELETE FROM " + table + " WHERE ctid = ANY(ARRAY(SELECT ctid FROM " + table +
                          " WHERE ctid >= $1::tid AND ctid < $2::tid AND state IN (3, 5) AND "
                          "greatest(created, modified) < $3 LIMIT $4)) AND state IN (3, 5) "
                          "RETURNING (ctid::text::point)[0]::int8",
                      {text, text, int8, int8}, "erase entries");
    pages_ =
        &with.prepare("SELECT pg_relation_size($1::regclass) / current_setting('block_size')::int8",
                      {text}, "look at the size of the log");
}

SETTLE_FUNCTION statement const& entry_table::statement_of(shape const& key) const {
    return writes_.of(key, [&]() -> auto const& {
        auto const [of, action, arrays] = key;
        bool const inserts = of == kind::insert || of == kind::insert_new;
        write_columns const columns{inserts, action};
        auto const is_array = [bits = arrays](std::size_t at) { return (bits >> at & 1U) != 0; };
        std::vector<value_type> types;
        std::vector<std::string> values;
        for (std::size_t at = 0; at < columns.size(); ++at) {
            auto const element = element_of(columns.kind(at));
            types.push_back(is_array(at) ? array_of(element) : element);
            values.push_back(is_array(at) ? "w.c" + std::to_string(at)
                                          : "$" + std::to_string(at + 1));
        }
        // Without arrays, it writes one entry.
        std::string const wave =
            arrays == 0 ? ""
                        : " FROM " + arrays_as_table(columns.size(), of == kind::change, is_array);
        auto sql =
            inserts ? insert_sql(table_, values, wave) : change_sql(table_, columns, values, wave);
        if (of == kind::insert) sql += " ON CONFLICT (id) DO NOTHING RETURNING id";
        if (of == kind::change) sql += arrays == 0 ? " RETURNING 1::int8" : " RETURNING w.n";
        if (of == kind::certain) {
            sql = expecting(sql, types.size());
            types.push_back(value_type::int8);
        }
        return pool_->prepare(sql, types, inserts ? "insert entries" : "change entries");
    });
}

SETTLE_FUNCTION std::size_t entry_table::send_writes(kind of, connection& on,
                                                     std::span<sent_write const> all,
                                                     write_context const& at) const {
    bool const inserts = of == kind::insert || of == kind::insert_new;
    auto const action = inserts ? step::insert : all.front().write->action;
    write_columns const columns{inserts, action};
    std::vector<column_values> values;
    values.reserve(columns.size());
    for (std::size_t one = 0; one < columns.size(); ++one) {
        values.emplace_back(element_of(columns.kind(one)));
    }
    for (auto const& one : all) {
        columns.for_each_value(one, at,
                               [&](std::size_t column, auto value) { values[column].add(value); });
    }
    // The entries of a wave are found by arrays, as the server would count on too few entries with
    // one state.
    auto const found_by = std::max(columns.expected, std::size_t{1});
    std::uint64_t arrays = 0;
    for (std::size_t one = 0; one < columns.size(); ++one) {
        bool const is_array = all.size() > 1 && (one < found_by || values[one].differ());
        arrays |= std::uint64_t{is_array} << one;
    }
    parameters given;
    for (std::size_t one = 0; one < columns.size(); ++one) {
        if ((arrays >> one & 1U) != 0) values[one].bind_array(given);
        else values[one].bind_value(given);
    }
    if (of == kind::certain) given.bind(static_cast<std::int64_t>(all.size()));
    return on.send(statement_of({of, action, arrays}), given);
}

SETTLE_FUNCTION void entry_table::wake() const {
    settle::detail::group_member<> own;
    wakes_.perform(own, [this](auto& group) {
        // A commit that notifies holds a lock of the whole server until it is durable, and this one
        // need not be.
        native_transaction native{*pool_};
        auto const ended = native.perform(
            [this](connection& on) {
                on.send_sql("SET LOCAL synchronous_commit = off", "wake workers");
                on.send_sql(notify_sql(channel_), "wake workers");
            },
            {});
        group.end_all(ended);
    });
}

SETTLE_FUNCTION std::size_t entry_table::send_page(connection& on, entry_filter const& filter,
                                                   transaction_id const& after,
                                                   std::size_t limit) const {
    auto const count_of = [](std::optional<timestamp> const& time) {
        return settle::detail::number_in(time.value_or(timestamp::max()));
    };
    parameters values{after, count_of(filter.before), count_of(filter.ahead_of),
                      settle::detail::limit_of(limit)};
    if (!filter.state) return on.send(filter.unfinished ? *unfinished_ : *all_, values);
    values.bind(settle::detail::number_in(*filter.state));
    return on.send(is_final(*filter.state) ? *of_state_ : *open_of_state_, values);
}

SETTLE_FUNCTION std::size_t entry_table::send_purge(connection& on, std::int64_t first_page,
                                                    std::int64_t end_page, timestamp before,
                                                    std::size_t limit) const {
    auto const from = "(" + std::to_string(first_page) + ",0)";
    auto const until = "(" + std::to_string(end_page) + ",0)";
    auto const number = on.send(*purge_, from, until, settle::detail::number_in(before),
                                settle::detail::limit_of(limit));
    on.send(*pages_, table_);
    return number;
}

} // namespace postgresql::detail
SETTLE_END
