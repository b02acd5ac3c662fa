// SPDX-License-Identifier: BSL-1.0
// The SQL of one collection's table, written at binding; and the images of its whole rows.
#pragma once

#include <settle/sqlite/connection/row.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// The name and the value of a column in a whole row.
using native_column = std::pair<std::string, native_value>;

class record_sql {
public:
    explicit record_sql(table_need need)
        : need_(std::move(need)), table_(quoted_name(need_.name)),
          key_(quoted_name(need_.key().name)) {}

    [[nodiscard]] table_need const& need() const noexcept { return need_; }
    /// The members that an update may set: all but the key.
    [[nodiscard]] std::uint64_t changeable() const;

    [[nodiscard]] std::string select() const {
        return "SELECT " + names() + " FROM " + table_ + " WHERE " + key_ + " = ?1";
    }
    /// Selects a record and its marks, with the entries of the marks; the columns are as in
    /// read_look(). Its parameters are the key and the collection.
    [[nodiscard]] std::string look() const {
        return "SELECT m.id, m.participant, m.line, m.epoch, m.effect, m.confirm, m.undo, m.image, "
               "e.state, e.epoch, max(e.committed, 0), t." +
               key_ + " IS NOT NULL OR NULL, NULL, " + names("t.") + " FROM (SELECT 1) LEFT JOIN " +
               table_ + " AS t ON t." + key_ +
               " = ?1 LEFT JOIN settle_mark AS m ON m.key = ?1 AND m.collection = ?2 "
               "LEFT JOIN settle_entry AS e ON e.id = m.id";
    }
    /// Selects all marks of a collection, with their entries, and the keys of their records.
    [[nodiscard]] static std::string look_at_marks() {
        return "SELECT m.id, m.participant, m.line, m.epoch, m.effect, m.confirm, m.undo, m.image, "
               "e.state, e.epoch, max(e.committed, 0), NULL, m.key FROM settle_mark AS m "
               "LEFT JOIN settle_entry AS e ON e.id = m.id WHERE m.collection = ?1";
    }
    /// Selects the index of each record in the wave, and its members. The wave's columns are key
    /// and index.
    [[nodiscard]] std::string select_wave() const {
        return "SELECT w.c1, " + names("t.") + " FROM settle_wave AS w CROSS JOIN " + table_ +
               " AS t ON t." + key_ + " = w.c0";
    }
    [[nodiscard]] std::string select_whole() const {
        return "SELECT * FROM " + table_ + " WHERE " + key_ + " = ?1";
    }
    [[nodiscard]] std::string scan(bool after_key) const {
        return "SELECT " + names() + " FROM " + table_ +
               (after_key ? " WHERE " + key_ + " > ?2" : "") + " ORDER BY " + key_ + " LIMIT ?1";
    }
    [[nodiscard]] std::string insert() const { return insert_with({}); }
    /// Shape:   more - columns that are no members
    [[nodiscard]] std::string insert_with(std::vector<native_column> const& more) const;
    [[nodiscard]] std::string update(std::uint64_t fields) const {
        return update_with(fields, [](std::size_t) { return "?"; }) + " = ?";
    }
    /// The same for `count` records: settle_value(key, number of the member) gives each value.
    [[nodiscard]] std::string update_many(std::uint64_t fields, std::size_t count) const;
    [[nodiscard]] std::string erase() const {
        return "DELETE FROM " + table_ + " WHERE " + key_ + " = ?1";
    }

private:
    /// The statement up to the condition on the key.
    template <typename Value>
    [[nodiscard]] std::string update_with(std::uint64_t fields, Value&& value_of) const {
        std::string sql;
        for (std::size_t index = 0; index < need_.columns.size(); ++index) {
            if ((fields >> index & 1U) == 0) continue;
            sql += sql.empty() ? "UPDATE OR ABORT " + table_ + " SET " : ", ";
            sql.append(quoted_name(need_.columns[index].name))
                .append(" = ")
                .append(value_of(index));
        }
        return sql + " WHERE " + key_;
    }
    static std::string placeholders(std::size_t count);

    [[nodiscard]] std::string names(std::string_view table = {}) const;

    table_need need_;
    std::string table_;
    std::string key_;
};

/// The columns of a row's image that can be inserted again, without generated columns.
/// Errors:  throws errc::damaged when the image is unreadable, errc::unfit_store when a column is
///          gone
[[nodiscard]] std::vector<native_column> read_image(connection const& connection,
                                                    table_need const& need, std::string_view image);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/records/record_sql.ipp>
#endif
