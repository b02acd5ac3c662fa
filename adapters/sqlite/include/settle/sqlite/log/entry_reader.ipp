// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_reader.hpp declares.
#pragma once

#include <settle/sqlite/log/entry_reader.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::optional<entry> entry_reader::read(transaction_id const& id) const {
    run row{one_, id};
    if (!row.next()) return std::nullopt;
    entry entry;
    std::string const problem = settle::detail::read_entry(row, entry);
    if (problem.empty()) return entry;
    throw failure(settle::detail::damaged_entry(id, problem));
}

SETTLE_FUNCTION std::vector<entry> entry_reader::list(entry_filter const& filter,
                                                      transaction_id const& after,
                                                      std::size_t limit) const {
    std::vector<entry> entries;
    if (filter.is_impossible()) return entries;
    auto const count_of = [](std::optional<timestamp> const& time) {
        return std::int64_t{time.value_or(timestamp::max()).time_since_epoch().count()};
    };
    run rows{statement_for(filter), after, count_of(filter.before), limit_of(limit),
             count_of(filter.ahead_of)};
    if (filter.state) rows.bind(static_cast<std::int64_t>(*filter.state));
    while (rows.next()) settle::detail::read_listed(rows, entries.emplace_back());
    return entries;
}

SETTLE_FUNCTION std::vector<std::int64_t> entry_reader::find_old(timestamp before,
                                                                 std::size_t limit,
                                                                 std::int64_t& passed,
                                                                 bool& more) const {
    constexpr std::int64_t most = 10'000;
    std::vector<std::int64_t> old;
    std::int64_t looked_at = 0;
    run rows{next_, passed, std::int64_t{before.time_since_epoch().count()}, most};
    while (old.size() < limit && rows.next()) {
        ++looked_at;
        passed = rows.integer(0);
        if (rows.integer(1) != 0) old.push_back(passed);
    }
    more = looked_at == most || old.size() == limit;
    return old;
}

/// The expression of a field's column. Its column number is the number of the field.
[[nodiscard]] inline std::string column_of(entry_field field) {
    // An entry that a cancel or a sweep inserted has no type.
    auto const unless_none = [](std::string const& column, std::string_view none) {
        return std::string{"iif(e.type IS NULL, "}.append(none).append(", ") + column + ")";
    };
    switch (field) {
    case entry_field::type: return unless_none("t.name", "''") + " AS name";
    case entry_field::definition: return unless_none("t.definition", "'0'") + " AS definition";
    case entry_field::parameters: return unless_none("e.parameters", "''") + " AS parameters";
    case entry_field::committed: return "max(e.committed, 0) AS committed";
    case entry_field::owner: return "o.name";
    default: return "e." + std::string{name_of(field)};
    }
}

SETTLE_FUNCTION std::string entry_reader::select() {
    std::string sql;
    for (auto const field : settle::detail::all_entry_fields) {
        sql.append(sql.empty() ? "SELECT " : ", ").append(column_of(field));
    }
    return sql + " FROM settle_entry AS e "
                 "LEFT JOIN settle_type AS t ON t.number = e.type "
                 "LEFT JOIN settle_owner AS o ON o.number = e.owner ";
}

SETTLE_FUNCTION std::string entry_reader::page(std::string_view condition) {
    return select()
        .append("WHERE e.id > ?1 AND (e.modified <= ?2 OR typeof(e.modified) <> 'integer' OR "
                "max(e.created, e.modified) > ?4) ")
        .append(condition)
        .append("ORDER BY e.id LIMIT ?3");
}

} // namespace sqlite::detail
SETTLE_END
