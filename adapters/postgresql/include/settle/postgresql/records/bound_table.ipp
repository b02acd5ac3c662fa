// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bound_table.hpp declares.
#pragma once

#include <settle/postgresql/records/bound_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::other_column;

/// The text of a column that no member names, from which its type's input function makes the same
/// value. A cast to text is not that: `char(n)` loses its blanks, and a cast may be a user's own.
[[nodiscard]] SETTLE_FUNCTION std::string text_of_other(other_column const& one) {
    auto const column = "t." + quoted_name(one.name);
    // The output function leaves out the encoding that a document declares.
    if (one.base == "xml") return column + "::text";
    // The name of a function or a table may mean another one later.
    if (one.base.starts_with("reg")) return column + "::oid::text";
    if (one.base.starts_with("_reg")) return column + "::oid[]::text";
    // A row whose fields are all null is distinct from null.
    return "CASE WHEN " + column + " IS DISTINCT FROM NULL THEN format('%s', " + column + ") END";
}
/// The value of such a column, from a row `r` of the table's type that was made of the texts.
/// Shape:   texts - SQL of a JSON object
[[nodiscard]] SETTLE_FUNCTION std::string value_of_other(other_column const& one,
                                                         std::string const& texts) {
    if (one.base != "json" && one.base != "jsonb") return "r." + quoted_name(one.name);
    // The row would hold the text as a JSON string.
    return "(" + texts + " ->> " + quoted_text(one.name) + ")::" + one.type;
}

/// SQL that is true while the members' columns have the types that they had when the table was
/// bound. The server finds it when it plans the statement, and plans again after an ALTER TABLE.
[[nodiscard]] SETTLE_FUNCTION std::string types_stand(std::string const& table,
                                                      std::vector<table_column> const& columns) {
    std::string sql;
    for (auto const& one : columns) {
        sql.append(sql.empty() ? "" : " AND ").append("pg_typeof((NULL::").append(table);
        sql.append(").").append(one.name).append(")::oid = ").append(std::to_string(one.type_id));
        if (one.type_modifier < 0) continue;
        sql.append(" AND (SELECT atttypmod FROM pg_attribute WHERE attrelid = ");
        sql.append(quoted_text(table)).append("::regclass AND quote_ident(attname) = ");
        sql.append("quote_ident(").append(quoted_text(one.name.substr(1, one.name.size() - 2)));
        sql.append(")) = ").append(std::to_string(one.type_modifier));
    }
    return sql;
}

SETTLE_FUNCTION bound_table::bound_table(pool& with, collection_descriptor const& of)
    : table_values(of, settle_table(with, of), with.schema_prefix() + quoted_name(of.name),
                   "postgresql"),
      pool_(&with), types_stand_(types_stand(name(), columns())) {
    auto const of_others = sql_of_others();
    prepare_reads(of_others);
    prepare_writes();
    prepare_erasures(of_others);
}

/// SQL that is true for a row that is read or made.
/// Shape:   value - SQL of the row; it keeps the server from raising the error at once
SETTLE_FUNCTION std::string bound_table::row_stands(std::string const& value) const {
    return " AND CASE WHEN " + types_stand_ + " THEN true ELSE " +
           raised_sql(table_altered, value) + " = 0 END";
}

SETTLE_FUNCTION bound_table::columns_of_others bound_table::sql_of_others() const {
    columns_of_others sql;
    for (auto const& one : others()) {
        auto const* const comma = sql.texts.empty() ? "" : ", ";
        sql.names.append(comma).append(quoted_text(one.name));
        sql.texts.append(comma).append(text_of_other(one));
        sql.before.append(comma).append("t.").append(quoted_name(one.name));
        sql.after.append(comma).append(value_of_other(one, "$2::json"));
    }
    return sql;
}

SETTLE_FUNCTION void bound_table::prepare_reads(columns_of_others const& of_others) {
    using enum value_type;
    auto const& key = key_column();
    std::string members;
    for (auto const& one : columns()) {
        members.append(members.empty() ? "" : ", ").append(one.read_sql());
    }
    auto const lock = [&](std::string const& more) {
        // The server locks the rows in the order of the array.
        return &pool_->prepare("SELECT " + members + ", w.n" + more + " FROM " +
                                   arrays_as_table(1, true) + " JOIN " + name() + " AS t ON t." +
                                   key.name + " = " + key.write_sql("w.c0") + row_stands("w.n") +
                                   " ORDER BY w.n FOR NO KEY UPDATE OF t",
                               {key.array()}, "read records");
    };
    lock_ = lock("");
    // A function takes at most 100 arguments, and an array any number of elements.
    lock_whole_ = lock(", json_object(ARRAY[" + of_others.names + "]::text[], ARRAY[" +
                       of_others.texts + "]::text[])::text");
    auto const read_marks = [&](std::size_t arrays, char const* condition) {
        return "SELECT m.id, m.participant, m.line, m.epoch, m.effect, m.confirm, m.undo, "
               "m.image, w.n FROM " +
               arrays_as_table(arrays, true) + " CROSS JOIN LATERAL (SELECT * FROM " + marks() +
               " AS m WHERE m.key = w.c0 AND m.collection = " + condition + " OFFSET 0) AS m";
    };
    all_marks_ = &pool_->prepare(read_marks(1, "$2"), {text_array, text}, "read marks");
    own_marks_ = &pool_->prepare(read_marks(2, "$3 AND m.id = w.c1"),
                                 {text_array, text_array, text}, "read marks");
    auto const select = "SELECT " + members + " FROM " + name() + " AS t WHERE true" +
                        row_stands("t." + key.name + "::text");
    auto const given = key.write_sql("$1");
    auto const order = " ORDER BY t." + key.name + " LIMIT $";
    read_ = &pool_->prepare(select + " AND t." + key.name + " = " + given, {key.element()},
                            "read a record");
    first_ = &pool_->prepare(select + order + "1", {int8}, "read records");
    next_ = &pool_->prepare(select + " AND t." + key.name + " > " + given + order + "2",
                            {key.element(), int8}, "read records");
}

SETTLE_FUNCTION void bound_table::prepare_writes() {
    using enum value_type;
    auto const& key = key_column();
    auto types = member_arrays();
    auto const insert = "INSERT INTO " + name() + "(" + names() +
                        ") OVERRIDING SYSTEM VALUE SELECT " + values() + " FROM ";
    auto const made_stands = row_stands("coalesce(w.c0::text, '')");
    new_ = &pool_->prepare(insert + arrays_as_table(types.size()) + " WHERE true" + made_stands,
                           types, "create records");
    auto const mark_keys = types.size();
    types.push_back(text_array);
    types.push_back(text);
    create_ = &pool_->prepare(
        insert + arrays_as_table(mark_keys + 1) + " WHERE NOT EXISTS (SELECT FROM " + marks() +
            " AS m WHERE m.key = w.c" + std::to_string(mark_keys) + " AND m.collection = $" +
            std::to_string(mark_keys + 2) + " OFFSET 0)" + made_stands + " ON CONFLICT (" +
            key.name + ") DO NOTHING RETURNING " + key.name + "::text",
        types, "create records");
}

SETTLE_FUNCTION void bound_table::prepare_erasures(columns_of_others const& of_others) {
    using enum value_type;
    auto const& key = key_column();
    // The operator compares the bytes of the values.
    check_image_ = &pool_->prepare(
        "SELECT CASE WHEN (SELECT count(*) FROM pg_attribute WHERE attrelid = " +
            quoted_text(name()) + "::regclass AND attnum > 0 AND NOT attisdropped) <> " +
            std::to_string(count_of_columns()) + " THEN " +
            raised_sql(table_altered, "t." + key.name + "::text") + " WHEN (SELECT ROW(" +
            of_others.before + ")) OPERATOR(pg_catalog.*=) (SELECT ROW(" + of_others.after +
            ")) THEN 1 ELSE " + raised_sql(no_way_back, "t." + key.name + "::text") + " END FROM " +
            name() + " AS t, json_populate_record(NULL::" + name() + ", $2::json) AS r WHERE t." +
            key.name + " = " + key.write_sql("$1"),
        {key.element(), text}, "erase a row that a reversal could not bring back");
    erase_ =
        &pool_->prepare(expecting("DELETE FROM " + name() + " AS t USING " + arrays_as_table(1) +
                                      " WHERE t." + key.name + " = " + key.write_sql("w.c0"),
                                  1),
                        {key.array(), int8}, "erase records");
}

SETTLE_FUNCTION std::string bound_table::names() const {
    std::string all;
    for (auto const& one : columns()) all.append(all.empty() ? "" : ", ").append(one.name);
    return all;
}

/// The values of an inserted row, from the arrays of the members.
SETTLE_FUNCTION std::string bound_table::values() const {
    std::string all;
    for (std::size_t at = 0; at < columns().size(); ++at) {
        all.append(at == 0 ? "" : ", ").append(column(at).write_sql("w.c" + std::to_string(at)));
    }
    return all;
}

SETTLE_FUNCTION std::vector<value_type> bound_table::member_arrays() const {
    std::vector<value_type> types;
    for (auto const& one : columns()) types.push_back(one.array());
    return types;
}

SETTLE_FUNCTION std::size_t bound_table::send_read(connection& on, part_key const& key) const {
    parameters values;
    if (!key_column().give_key(values, key)) values.bind(nullptr);
    return on.send(*read_, values);
}

SETTLE_FUNCTION void bound_table::send_check_of_image(connection& on, part_key const& key,
                                                      std::string_view others) const {
    parameters values;
    // A row with the key was read.
    static_cast<void>(key_column().give_key(values, key));
    values.bind(others);
    on.send(*check_image_, values);
}

SETTLE_FUNCTION std::size_t bound_table::send_scan(connection& on, part_key const* after,
                                                   std::size_t limit) const {
    parameters values;
    if (after != nullptr) {
        // If no row can have the key, no row follows it.
        if (!key_column().give_key(values, *after)) values.bind(nullptr);
    }
    values.bind(settle::detail::limit_of(limit));
    return on.send(after != nullptr ? *next_ : *first_, values);
}

SETTLE_FUNCTION statement const& bound_table::update_of(std::uint64_t fields) const {
    return updates_.of(fields, [&]() -> auto const& {
        auto const& key = key_column();
        std::vector<value_type> types{key.array()};
        std::string sets;
        settle::detail::sql::for_each_bit(fields, [&](std::size_t at) {
            sets.append(sets.empty() ? "" : ", ").append(column(at).name).append(" = ");
            sets += column(at).write_sql("w.c" + std::to_string(types.size()));
            types.push_back(column(at).array());
        });
        auto const count = types.size();
        types.push_back(value_type::int8);
        auto const sql = "UPDATE " + name() + " AS t SET " + sets + " FROM " +
                         arrays_as_table(count) + " WHERE t." + key.name + " = " +
                         key.write_sql("w.c0");
        return pool_->prepare(expecting(sql, count, types_stand_), types, "change records");
    });
}

SETTLE_FUNCTION statement const& bound_table::sums_of(std::uint64_t changed,
                                                      std::uint64_t bounded) const {
    return sums_.of({changed, bounded}, [&]() -> auto const& {
        auto const& key = key_column();
        std::vector<value_type> types{key.array()};
        auto const next = [&](std::size_t at) {
            types.push_back(value_type::int8_array);
            return column(at).write_sql("w.c" + std::to_string(types.size() - 1));
        };
        std::string sets;
        settle::detail::sql::for_each_bit(changed, [&](std::size_t at) {
            auto const& name = column(at).name;
            sets.append(sets.empty() ? "" : ", ").append(name).append(" = t.").append(name);
            sets.append(" + ").append(next(at));
        });
        auto condition = " WHERE t." + key.name + " = " + key.write_sql("w.c0");
        settle::detail::sql::for_each_bit(bounded, [&](std::size_t at) {
            condition += " AND t." + column(at).name + " >= " + next(at);
            condition += " AND t." + column(at).name + " <= " + next(at);
        });
        auto const count = types.size();
        types.push_back(value_type::int8);
        auto const wave = arrays_as_table(count);
        auto const sql =
            changed != 0
                ? expecting("UPDATE " + name() + " AS t SET " + sets + " FROM " + wave + condition,
                            count, types_stand_)
                : counting("SELECT FROM " + name() + " AS t, " + wave + condition +
                               " FOR NO KEY UPDATE OF t",
                           count, types_stand_);
        return pool_->prepare(sql, types, "change records");
    });
}

SETTLE_FUNCTION void
bound_table::send_sums(connection& on, std::uint64_t changed, std::uint64_t bounded,
                       std::span<std::pair<part_key, conditional_sum const*> const> all) const {
    auto const& by = sums_of(changed, bounded);
    std::vector<array_value> arrays{keys_of(all)};
    auto const add = [&](std::size_t member, std::int64_t conditional_sum::* value) {
        auto& made = arrays.emplace_back(value_type::int8);
        auto const position = of().members()[member].integer;
        for (auto const& one : all) made.add(one.second[position].*value);
    };
    settle::detail::sql::for_each_bit(changed,
                                      [&](std::size_t at) { add(at, &conditional_sum::added); });
    settle::detail::sql::for_each_bit(bounded, [&](std::size_t at) {
        add(at, &conditional_sum::least);
        add(at, &conditional_sum::most);
    });
    on.send(by, parameters{arrays, static_cast<std::int64_t>(all.size())});
}

SETTLE_FUNCTION void
bound_table::send_update(connection& on, std::uint64_t fields,
                         std::span<std::pair<part_key, void const*> const> all) const {
    auto const& by = update_of(fields);
    std::vector<array_value> arrays{keys_of(all)};
    settle::detail::sql::for_each_bit(fields, [&](std::size_t at) {
        arrays.push_back(values_of(at, all, [](auto const& one) { return one.second; }));
    });
    on.send(by, parameters{arrays, static_cast<std::int64_t>(all.size())});
}

SETTLE_FUNCTION void bound_table::send_new(connection& on, std::span<void const* const> all) const {
    auto const arrays = arrays_of(all);
    on.send(*new_, parameters{arrays});
}

SETTLE_FUNCTION std::size_t bound_table::send_create(connection& on,
                                                     std::span<void const* const> all) const {
    auto const arrays = arrays_of(all);
    array_value mark_keys{value_type::text};
    for (auto const* const one : all) mark_keys.add(mark_key{of().key_of(one)}.text());
    return on.send(*create_, parameters{arrays, mark_keys, of().name});
}

SETTLE_FUNCTION void bound_table::send_restored(connection& on, void const* record,
                                                std::string_view image) const {
    auto columns = names();
    auto given = values();
    auto types = member_arrays();
    auto const members = types.size();
    types.push_back(value_type::text);
    auto const texts = "$" + std::to_string(types.size()) + "::json";
    std::string others;
    for (auto const& [column, value] : read_others(image)) {
        columns += ", " + quoted_name(column->name);
        given += ", " + value_of_other(*column, texts);
        settle::detail::begin_member(others, column->name);
        if (value) append_json_text(others, *value);
        else others += "null";
    }
    others += others.empty() ? "{}" : "}";
    void const* const only[]{record};
    auto const arrays = arrays_of(only);
    auto const& insert = pool_->prepare(
        "INSERT INTO " + name() + "(" + columns + ") OVERRIDING SYSTEM VALUE SELECT " + given +
            " FROM " + arrays_as_table(members) + ", json_populate_record(NULL::" + name() + ", " +
            texts + ") AS r",
        types, "create a record");
    on.send(insert, parameters{arrays, others});
}

} // namespace postgresql::detail
SETTLE_END
