// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_table.hpp declares.
#pragma once

#include <settle/postgresql/entry_table.hpp>

#include <unordered_map>

SETTLE_BEGIN
namespace postgresql::detail {

[[nodiscard]] constexpr value_type element_of(entry_field field) {
    using enum entry_field;
    switch (field) {
    case id:
    case type:
    case definition:
    case parameters:
    case owner:
    case participant:
    case images:
    case results: return value_type::text;
    case open: return value_type::boolean;
    default: return value_type::int8;
    }
}
[[nodiscard]] constexpr value_type array_of(value_type element) {
    switch (element) {
    case value_type::text: return value_type::text_array;
    case value_type::boolean: return value_type::boolean_array;
    default: return value_type::int8_array;
    }
}

/// The values of entry writes, an array for each field.
class entry_arrays {
public:
    using fields = std::span<entry_field const>;

    explicit entry_arrays(fields of) : fields_(of) {
        for (auto const one : of) arrays_.emplace_back(element_of(one));
    }
    void add(entry_write const& write, write_context const& at) {
        std::string text;
        for (std::size_t number = 0; number < fields_.size(); ++number) {
            bool given = false;
            text.clear();
            settle::detail::with_stored_value(fields_[number], write, at, text, [&](auto value) {
                arrays_[number].add(value);
                given = true;
            });
            if (!given) arrays_[number].add(nullptr);
        }
    }
    [[nodiscard]] std::vector<array_value> const& all() const { return arrays_; }

private:
    fields fields_;
    std::vector<array_value> arrays_;
};

/// The state that a change expects, beside the id: state, epoch and revision.
inline constexpr std::size_t expected_columns = 4;

[[nodiscard]] inline std::vector<value_type> types_of(std::span<entry_field const> fields) {
    std::vector<value_type> types;
    for (auto const one : fields) types.push_back(array_of(element_of(one)));
    return types;
}

[[nodiscard]] SETTLE_FUNCTION std::string insert_sql(std::string const& table) {
    auto const fields = settle::detail::fields_inserted();
    std::string names;
    std::string values;
    for (std::size_t at = 0; at < fields.size(); ++at) {
        std::string const separator = at == 0 ? "" : ", ";
        std::string const value = "w.c" + std::to_string(at);
        names.append(separator).append(settle::detail::name_of(fields[at]));
        bool const has_default = fields[at] == settle::detail::entry_field::stages_kept;
        values.append(separator).append(has_default ? "coalesce(" + value + ", 0)" : value);
    }
    return "INSERT INTO " + table + "(" + names + ") SELECT " + values + " FROM " +
           arrays_as_table(fields.size());
}

/// Without a value, a column stays as it is.
[[nodiscard]] SETTLE_FUNCTION std::string change_sql(std::string const& table, step action) {
    auto const fields = settle::detail::fields_changed_by(action);
    std::string sets;
    for (std::size_t at = 0; at < fields.size(); ++at) {
        auto const name = std::string{settle::detail::name_of(fields[at])};
        sets += (at == 0 ? "" : ", ") + name + " = coalesce(w.c" +
                std::to_string(expected_columns + at) + ", e." + name + ")";
    }
    return "UPDATE " + table + " AS e SET " + sets + " FROM " +
           arrays_as_table(expected_columns + fields.size(), true) +
           " WHERE e.id = w.c0 AND e.state = w.c1 AND e.epoch = w.c2 AND e.revision = w.c3";
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
    : table_(with.schema_prefix() + "settle_entry") {
    auto const& table = table_;
    auto const insert_types = types_of(settle::detail::fields_inserted());
    insert_ = &with.prepare(insert_sql(table) + " ON CONFLICT (id) DO NOTHING RETURNING id",
                            insert_types, "insert entries");
    new_ = &with.prepare(insert_sql(table), insert_types, "insert entries");
    for (auto const action :
         {step::claim, step::keep, step::commit, step::commit_and_close, step::close, step::cancel,
          step::one_phase}) {
        std::vector<value_type> types{value_type::text_array, value_type::int8_array,
                                      value_type::int8_array, value_type::int8_array};
        auto const more = types_of(settle::detail::fields_changed_by(action));
        types.insert(types.end(), more.begin(), more.end());
        auto const sql = change_sql(table, action);
        auto const number = static_cast<std::size_t>(action);
        changes_[number] = &with.prepare(sql + " RETURNING w.n", types, "change entries");
        types.push_back(value_type::int8);
        certain_[number] = &with.prepare(expecting(sql, types.size() - 1), types, "change entries");
    }
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
    // So spelled, the index of open entries answers these two.
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

SETTLE_FUNCTION std::size_t send_inserts(connection& on, statement const& by,
                                         std::span<sent_write const> all,
                                         write_context const& at) {
    entry_arrays arrays{settle::detail::fields_inserted()};
    for (auto const& one : all) arrays.add(*one.write, at);
    return on.send(by, parameters{arrays.all()});
}

SETTLE_FUNCTION std::size_t entry_table::send_insert(connection& on,
                                                     std::span<sent_write const> all,
                                                     write_context const& at) const {
    return send_inserts(on, *insert_, all, at);
}

SETTLE_FUNCTION void entry_table::read_inserted(rows const& inserted,
                                                std::span<sent_write const> all) {
    // Of two writes with one id, the first has inserted the entry.
    std::unordered_map<std::string_view, log_answer> taken;
    for_each_row(inserted, [&](row const& one) { taken.emplace(one.text(0), log_answer::taken); });
    for (auto const& one : all) {
        auto const found = taken.find(*one.id);
        one.result->reply = found == taken.end()
                                ? log_answer::conflict
                                : std::exchange(found->second, log_answer::conflict);
    }
}

/// Queues compare-and-sets.
/// Shape:   counted - the statement has the number of the changes as its last parameter
SETTLE_FUNCTION std::size_t send_changes(connection& on, statement const& by,
                                         std::span<sent_write const> all, write_context const& at,
                                         bool counted) {
    array_value ids{value_type::text};
    std::array<array_value, expected_columns - 1> expected{array_value{value_type::int8},
                                                           array_value{value_type::int8},
                                                           array_value{value_type::int8}};
    entry_arrays arrays{settle::detail::fields_changed_by(all.front().write->action)};
    for (auto const& one : all) {
        transition const& change = one.write->change;
        ids.add(std::string_view{*one.id});
        expected[0].add(settle::detail::number_in(change.from));
        expected[1].add(settle::detail::number_in(change.from_epoch));
        expected[2].add(settle::detail::number_in(change.from_revision));
        arrays.add(*one.write, at);
    }
    parameters values{ids, expected[0], expected[1], expected[2], arrays.all()};
    if (counted) values.bind(static_cast<std::int64_t>(all.size()));
    return on.send(by, values);
}

SETTLE_FUNCTION std::size_t entry_table::send_change(connection& on,
                                                     std::span<sent_write const> all,
                                                     write_context const& at) const {
    return send_changes(on, *changes_[static_cast<std::size_t>(all.front().write->action)], all, at,
                        false);
}

SETTLE_FUNCTION void entry_table::read_changed(rows const& changed,
                                               std::span<sent_write const> all) {
    for (auto const& one : all) one.result->reply = log_answer::conflict;
    for_each_row(changed, [&](row const& one) {
        all[static_cast<std::size_t>(one.integer(0) - 1)].result->reply = log_answer::taken;
    });
}

SETTLE_FUNCTION void entry_table::send_new(connection& on, std::span<sent_write const> all,
                                           write_context const& at) const {
    static_cast<void>(send_inserts(on, *new_, all, at));
}

SETTLE_FUNCTION void entry_table::send_certain(connection& on, std::span<sent_write const> all,
                                               write_context const& at) const {
    auto const& by = *certain_[static_cast<std::size_t>(all.front().write->action)];
    static_cast<void>(send_changes(on, by, all, at, true));
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
