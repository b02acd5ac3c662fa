// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bound_table.hpp declares.
#pragma once

#include <settle/postgresql/records/bound_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::other_column;

/// The text of a column that no member names, from which its type's input function makes the same
/// value. A cast to text is not that: `char(n)` loses its blanks, and a cast may be a user's own.
[[nodiscard]] SETTLE_FUNCTION std::string text_of_other(other_column const& other_column) {
    auto const column = "t." + quoted_name(other_column.name);
    // The output function leaves out the encoding that a document declares.
    if (other_column.base == "xml") return column + "::text";
    // The name of a function or a table may mean another one later.
    if (other_column.base.starts_with("reg")) return column + "::oid::text";
    if (other_column.base.starts_with("_reg")) return column + "::oid[]::text";
    // A row whose fields are all null is distinct from null.
    return "CASE WHEN " + column + " IS DISTINCT FROM NULL THEN format('%s', " + column + ") END";
}
/// The value of such a column, from a row `r` of the table's type that was made of the texts.
/// Shape:   texts - SQL of a JSON object
[[nodiscard]] SETTLE_FUNCTION std::string value_of_other(other_column const& column,
                                                         std::string const& texts) {
    if (column.base != "json" && column.base != "jsonb") return "r." + quoted_name(column.name);
    // The row would hold the text as a JSON string.
    return "(" + texts + " ->> " + quoted_text(column.name) + ")::" + column.type;
}

/// SQL that is true while the members' columns have the types that they had when the table was
/// bound. The server finds it when it plans the statement, and plans again after an ALTER TABLE.
[[nodiscard]] SETTLE_FUNCTION std::string types_stand(std::string const& table,
                                                      std::vector<table_column> const& columns) {
    std::string sql;
    for (auto const& column : columns) {
        sql.append(sql.empty() ? "" : " AND ").append("pg_typeof((NULL::").append(table);
        sql.append(").")
            .append(column.name)
            .append(")::oid = ")
            .append(std::to_string(column.type_id));
        if (column.type_modifier < 0) continue;
        sql.append(" AND (SELECT atttypmod FROM pg_attribute WHERE attrelid = ");
        sql.append(quoted_text(table)).append("::regclass AND quote_ident(attname) = ");
        sql.append("quote_ident(")
            .append(quoted_text(column.name.substr(1, column.name.size() - 2)));
        sql.append(")) = ").append(std::to_string(column.type_modifier));
    }
    return sql;
}

/// The columns that no member names, as a JSON object of their texts.
/// Shape:   a function takes at most 100 arguments, and an array any number of elements
[[nodiscard]] SETTLE_FUNCTION std::string json_of_others(std::vector<other_column> const& others) {
    std::string names;
    std::string texts;
    for (auto const& column : others) {
        auto const* const comma = texts.empty() ? "" : ", ";
        names.append(comma).append(quoted_text(column.name));
        texts.append(comma).append(text_of_other(column));
    }
    return "json_object(ARRAY[" + names + "]::text[], ARRAY[" + texts + "]::text[])::text";
}

SETTLE_FUNCTION bound_table::bound_table(pool& from, collection_descriptor const& collection,
                                         fit_table const& table)
    : settle::detail::sql::bound_table<parts>(
          from, collection, table,
          types_stand(dialect::table_name(from, collection.name), table.columns),
          json_of_others(table.others)) {
    prepare_check_of_image();
}

SETTLE_FUNCTION void bound_table::prepare_check_of_image() {
    auto const& key = key_column();
    std::string before; // the values of a row
    std::string after;  // the values of its image
    for (auto const& column : others()) {
        auto const* const comma = before.empty() ? "" : ", ";
        before.append(comma).append("t.").append(quoted_name(column.name));
        after.append(comma).append(value_of_other(column, "$2::json"));
    }
    using namespace settle::detail::sql;
    // The operator compares the bytes of the values.
    check_image_ = &from().prepare(
        "SELECT CASE WHEN (SELECT count(*) FROM pg_attribute WHERE attrelid = " +
            quoted_text(name()) + "::regclass AND attnum > 0 AND NOT attisdropped) <> " +
            std::to_string(count_of_columns()) + " THEN " +
            raised_sql(table_altered, "t." + key.name + "::text") + " WHEN (SELECT ROW(" + before +
            ")) OPERATOR(pg_catalog.*=) (SELECT ROW(" + after + ")) THEN 1 ELSE " +
            raised_sql(no_way_back, "t." + key.name + "::text") + " END FROM " + name() +
            " AS t, json_populate_record(NULL::" + name() + ", $2::json) AS r WHERE t." + key.name +
            " = " + dialect::write_sql(key, "$1"),
        {key.element(), text_value}, "erase a row that a reversal could not bring back");
}

SETTLE_FUNCTION void bound_table::send_check_of_image(connection& to, part_key const& key,
                                                      std::string_view others) const {
    parameters values;
    // A row with the key was read.
    static_cast<void>(key_column().give_key(values, key));
    values.bind(others);
    to.send(*check_image_, values);
}

SETTLE_FUNCTION void bound_table::send_restored(connection& to, void const* record,
                                                std::string_view image) const {
    auto columns = names();
    auto bound = values();
    auto types = member_arrays();
    auto const members = types.size();
    types.push_back(settle::detail::sql::text_value);
    auto const texts = "$" + std::to_string(types.size()) + "::json";
    std::string others;
    for (auto const& [column, value] : read_others(image)) {
        columns += ", " + quoted_name(column->name);
        bound += ", " + value_of_other(*column, texts);
        settle::detail::begin_member(others, column->name);
        if (value) append_json_text(others, *value);
        else others += "null";
    }
    others += others.empty() ? "{}" : "}";
    void const* const only[]{record};
    auto const arrays = arrays_of(only);
    auto const& insert = from().prepare(
        "INSERT INTO " + name() + "(" + columns + ") OVERRIDING SYSTEM VALUE SELECT " + bound +
            " FROM " + arrays_as_table(members) + ", json_populate_record(NULL::" + name() + ", " +
            texts + ") AS r",
        types, "create a record");
    to.send(insert, parameters{arrays, others});
}

} // namespace postgresql::detail
SETTLE_END
