// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_reader.hpp declares.
#pragma once

#include <settle/sqlite/entry_reader.hpp>
#include <settle/sqlite/image_codec.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION std::optional<entry> entry_reader::read(transaction_id const& id) const {
    run row{one_, id};
    if (!row.next()) return std::nullopt;
    entry found;
    std::string const problem = read_row(row, found);
    if (problem.empty()) return found;
    raise(errc::damaged, "settle: the entry '" + id + "' is damaged: " + problem +
                             ". Repair its row in settle_entry. See errors#damaged");
}

SETTLE_FUNCTION std::vector<entry> entry_reader::list(entry_filter const& filter,
                                                      transaction_id const& after,
                                                      std::size_t limit) const {
    std::vector<entry> found;
    if (filter.unfinished && filter.state &&
        (is_final(*filter.state) || *filter.state == state::initial)) {
        return found;
    }
    auto const count_of = [](std::optional<timestamp> const& time) {
        return std::int64_t{time.value_or(timestamp::max()).time_since_epoch().count()};
    };
    run rows{statement_for(filter), after, count_of(filter.before), limit_of(limit),
             count_of(filter.ahead_of)};
    if (filter.state) rows.bind(static_cast<std::int64_t>(*filter.state));
    while (rows.next()) {
        entry& one = found.emplace_back();
        one.fault = read_row(rows, one);
        if (!one.fault.empty()) one.parameters.clear();
        // The next page begins behind it, whatever it is.
        if (one.id.empty()) one.id = rows.text(0);
    }
    return found;
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

/// The expression of a field's column, whose place is the number of the field.
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

/// Reads the columns of a row, and keeps the first problem.
struct column_reader {
    run const& row;
    std::string problem{};

    void wrong(int column, std::string_view what) {
        if (!problem.empty()) return;
        problem = "its column '" + std::string{row.name(column)} + "'";
        problem += what;
    }

    template <typename Value>
    void read(entry_field field, Value& value) {
        int const column = static_cast<int>(field);
        if (may_be_absent(field) && row.type(column) == SQLITE_NULL) return;
        if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, epoch>) {
            auto const number = row.integer(column);
            bool const good = row.type(column) == SQLITE_INTEGER && number >= 0 &&
                              static_cast<epoch>(number) <= static_cast<epoch>(last_of(value));
            if (good) value = static_cast<Value>(number);
            else wrong(column, std::is_enum_v<Value> ? " is no number of one" : " holds no epoch");
        } else if constexpr (std::is_same_v<Value, std::vector<image>>) {
            take(column, decode_images, value);
        } else if constexpr (std::is_same_v<Value, std::vector<kept_result>>) {
            take(column, decode_results, value);
        } else {
            auto const found = read_field(row, column, value);
            if (!found.empty()) wrong(column, std::string{" "}.append(found));
        }
    }

private:
    static constexpr epoch last_of(epoch) { return ~epoch{0}; }
    static constexpr state last_of(state) { return all_states.back(); }
    static constexpr reason last_of(reason) { return all_reasons.back(); }

    template <typename Decode, typename List>
    void take(int column, Decode decode, List& list) {
        std::string text;
        if (auto const found = read_field(row, column, text); !found.empty()) {
            return wrong(column, std::string{" "}.append(found));
        }
        auto decoded = decode(text);
        if (decoded.has_value()) list = std::move(decoded).value();
        else wrong(column, ": " + decoded.problem().text);
    }
};

SETTLE_FUNCTION std::string entry_reader::read_row(run const& row, entry& into) {
    column_reader from{row};
    std::string definition;
    from.read(entry_field::id, into.id);
    from.read(entry_field::type, into.type);
    from.read(entry_field::definition, definition);
    if (from.problem.empty() && !settle::detail::read_hex(definition, into.definition)) {
        from.problem = "its definition in settle_type is no number";
    }
    from.read(entry_field::parameters, into.parameters);
    from.read(entry_field::state, into.state);
    settle::detail::read_members(
        into, [&](entry_field field, auto& value) { from.read(field, value); });
    return std::move(from.problem);
}

} // namespace sqlite::detail
SETTLE_END
