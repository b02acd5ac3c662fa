// SPDX-License-Identifier: BSL-1.0
// The entries of a log, in the table settle_entry: the statements that insert, change, read and
// list them.
#pragma once

#include <settle/adapter/sql/dialect.hpp>
#include <settle/adapter/sql/entry_writes.hpp>
#include <settle/adapter/sql/statement_cache.hpp>
#include <settle/store/seam.hpp>

#include <array>
#include <tuple>

SETTLE_BEGIN
namespace detail::sql {

/// Threads may share a table of entries. An adapter derives its own, which has wake(): it wakes the
/// workers of all programs, after the commit of what they shall do.
/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class entry_table {
protected:
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using statement = typename Sql::statement;
    using parameters = typename Sql::parameters;
    using array = typename Sql::array;
    using dialect = typename Sql::dialect;

public:
    explicit entry_table(pool& from);

    /// Queues the insert of entries that do not exist, for set_inserted().
    /// Shape:   writes - not empty
    std::size_t send_insert(connection& to, std::span<sent_write const> writes,
                            write_context const& context) const {
        return send_writes(purpose::insert, to, writes, context);
    }
    /// Queues compare-and-sets of one action, for set_changed().
    /// Shape:   writes - not empty
    std::size_t send_change(connection& to, std::span<sent_write const> writes,
                            write_context const& context) const {
        if (dialect::returns_changes) return send_writes(purpose::change, to, writes, context);
        auto const number = send_writes(purpose::lock, to, writes, context);
        static_cast<void>(send_writes(purpose::change, to, writes, context));
        return number;
    }

    /// Queues the insert of entries with new ids, for a native transaction that fails if an id
    /// exists.
    void send_new(connection& to, std::span<sent_write const> writes,
                  write_context const& context) const {
        static_cast<void>(send_writes(purpose::insert_new, to, writes, context));
    }
    /// Queues the end of the bars that inserts replace.
    void send_erase_bars(connection& to, std::span<sent_write const> writes) const {
        auto ids = array::texts();
        auto epochs = array::integers();
        bool any = false;
        for (auto const& sent : writes) {
            if (!sent.write->replaces_bar()) continue;
            ids.add(std::string_view{*sent.id});
            epochs.add(number_in(sent.write->change.from_epoch));
            any = true;
        }
        if (any) static_cast<void>(to.send(*erase_bars_, ids, epochs));
    }
    /// Queues changes of entries that send_locks() has locked and that match the changes.
    void send_certain(connection& to, std::span<sent_write const> writes,
                      write_context const& context) const {
        static_cast<void>(send_writes(purpose::certain, to, writes, context));
    }
    /// Queues a read of id, state, epoch and revision of some entries, and locks them.
    /// Shape:   ids - in their order
    std::size_t send_locks(connection& to, array const& ids) const { return to.send(*locks_, ids); }
    /// Queues a read of the ids that exist, and whether each is open.
    std::size_t send_look(connection& to, array const& ids) const { return to.send(*look_, ids); }

    /// Queues a read of entries: their columns, and the number of each id, from 1 on.
    std::size_t send_read(connection& to, array const& ids) const { return to.send(*read_, ids); }
    /// Queues a page of entries.
    std::size_t send_page(connection& to, entry_filter const& filter, transaction_id const& after,
                          std::size_t limit) const;

protected:
    ~entry_table() = default;

    [[nodiscard]] pool& from() const noexcept { return *pool_; }
    [[nodiscard]] std::string const& table() const noexcept { return table_; }

private:
    /// What a statement on the writes of a wave is for.
    enum class purpose : std::uint8_t { insert, insert_new, lock, change, certain };
    /// A purpose, the action, the columns that have values and whose values are arrays, a bit for
    /// each, whether each entry is committed with the epoch that it has, and whether the server
    /// compares its clock with a last moment.
    using shape = std::tuple<purpose, step, std::uint64_t, std::uint64_t, bool, bool>;

    [[nodiscard]] static bool inserts(purpose of_writes) noexcept {
        return of_writes == purpose::insert || of_writes == purpose::insert_new;
    }
    /// The number of the columns that a statement takes.
    [[nodiscard]] static std::size_t count_of(purpose of_writes, write_columns const& columns) {
        return of_writes == purpose::lock ? columns.expected : columns.size();
    }
    /// Queues the writes. A column whose values are all equal is one value instead of an array, and
    /// a column without values is left out.
    std::size_t send_writes(purpose of_writes, connection& to, std::span<sent_write const> writes,
                            write_context const& context) const;
    [[nodiscard]] statement const& statement_of(shape const& key) const;
    [[nodiscard]] statement const& prepare_insert(purpose of_writes, write_columns const& columns,
                                                  std::vector<parameter_type> const& types,
                                                  std::vector<std::string> const& values) const;
    [[nodiscard]] statement const& prepare_change(purpose of_writes, write_columns const& columns,
                                                  std::vector<parameter_type> const& types,
                                                  std::vector<std::string> const& values) const;

    pool* pool_;
    std::string table_;
    mutable statement_cache<shape, statement> writes_;
    statement const* locks_;
    statement const* look_;
    statement const* erase_bars_;
    statement const* read_;
    statement const* all_;
    statement const* of_state_;
    statement const* open_of_state_;
    statement const* unfinished_;
};

/// The columns of an entry in the order of the fields. An entry that a cancel or a sweep inserted
/// has no type.
[[nodiscard]] inline std::string entry_columns_sql() {
    std::string sql;
    for (auto const field : all_entry_fields) {
        auto const name = std::string{name_of(field)};
        bool const of_type = field == entry_field::type || field == entry_field::definition ||
                             field == entry_field::parameters;
        sql += sql.empty() ? "" : ", ";
        if (!of_type) sql += "e." + name;
        else
            sql += "coalesce(e." + name + ", '" + (field == entry_field::definition ? "0" : "") +
                   "') AS " + name;
    }
    return sql;
}

template <typename Sql>
entry_table<Sql>::entry_table(pool& from)
    : pool_(&from), table_(dialect::table_name(from, "settle_entry")) {
    std::vector<parameter_type> const ids{text_array};
    auto const of_ids = "e.id = w.c0";
    locks_ =
        &from.prepare(dialect::lock("e.id, e.state, e.epoch, e.revision", ids, table_, "e", of_ids),
                      ids, "lock entries");
    // A later call may replace a bar.
    look_ = &from.prepare(dialect::look_up("e.id, e.open OR e.state = 7", ids, table_, "e", of_ids),
                          ids, "look for entries");
    std::vector<parameter_type> const bars{text_array, integer_array};
    erase_bars_ = &from.prepare(
        dialect::erase(table_, "e", bars, "e.id = w.c0 AND e.epoch = w.c1 AND e.state = 7"), bars,
        "replace bars");
    auto const columns = entry_columns_sql();
    read_ = &from.prepare(dialect::look_up(columns + ", w.n", ids, table_, "e", of_ids), ids,
                          "read entries");
    auto const page = [&](std::string const& condition, bool of_state) {
        std::vector<parameter_type> types{text_value, integer_value, integer_value, integer_value};
        if (of_state) types.push_back(integer_value);
        return &from.prepare("SELECT " + columns + " FROM " + table_ +
                                 " AS e WHERE e.id > $1 AND (e.modified <= $2 OR "
                                 "greatest(e.created, e.modified) > $3) " +
                                 condition + " ORDER BY e.id LIMIT $4",
                             types, "read entries");
    };
    all_ = page("", false);
    of_state_ = page("AND e.state = $5", true);
    // With `open` in the condition, the index of open entries answers these two statements.
    open_of_state_ = page("AND e.open = true AND e.state = $5", true);
    unfinished_ = page("AND e.open = true AND e.state NOT IN (0, 3, 5)", false);
}

template <typename Sql>
typename Sql::statement const& entry_table<Sql>::statement_of(shape const& key) const {
    return writes_.of(key, [&]() -> auto const& {
        auto const [of_writes, action, with_value, arrays, commits_epoch, expires] = key;
        write_columns const columns{inserts(of_writes), action};
        std::vector<parameter_type> types;
        std::vector<std::string> values;
        for (std::size_t number = 0; number < count_of(of_writes, columns); ++number) {
            auto& value = values.emplace_back();
            if (commits_epoch && columns.is_committed(number)) value = "e.epoch";
            if ((with_value >> number & 1U) == 0) continue;
            bool const is_array = (arrays >> number & 1U) != 0;
            types.push_back({columns.kind(number), is_array});
            value = is_array ? "w.c" + std::to_string(types.size() - 1)
                             : "$" + std::to_string(types.size());
        }
        if (expires) {
            types.push_back(integer_value);
            auto& modified = values[columns.index_of(entry_field::modified)];
            modified = dialect::in_time("$" + std::to_string(types.size()), modified);
        }
        return inserts(of_writes) ? prepare_insert(of_writes, columns, types, values)
                                  : prepare_change(of_writes, columns, types, values);
    });
}

template <typename Sql>
typename Sql::statement const&
entry_table<Sql>::prepare_insert(purpose of_writes, write_columns const& columns,
                                 std::vector<parameter_type> const& types,
                                 std::vector<std::string> const& values) const {
    std::string names;
    std::string expressions;
    for (std::size_t number = 0; number < columns.fields.size(); ++number) {
        auto const field = columns.fields[number];
        // The column has its default.
        if (values[number].empty()) continue;
        std::string const separator = names.empty() ? "" : ", ";
        bool const has_default = field == entry_field::stages_kept ||
                                 (field == entry_field::committed && !dialect::committed_is_null);
        names.append(separator).append(name_of(field));
        expressions += separator;
        expressions += has_default ? "coalesce(" + values[number] + ", 0)" : values[number];
    }
    auto const sql =
        of_writes == purpose::insert
            ? dialect::insert_absent(table_, names, expressions, types, "", "id", values[0])
            : dialect::insert(table_, names, expressions, types, "");
    return pool_->prepare(sql, types, "insert entries");
}

template <typename Sql>
typename Sql::statement const&
entry_table<Sql>::prepare_change(purpose of_writes, write_columns const& columns,
                                 std::vector<parameter_type> const& types,
                                 std::vector<std::string> const& values) const {
    constexpr auto phase = "change entries";
    assignments keys;
    std::string matches;
    bool is_only_found = true;
    for (std::size_t number = 0; number < values.size(); ++number) {
        bool const is_array = values[number].starts_with("w.");
        if (number >= columns.expected) {
            is_only_found = is_only_found && !is_array;
            continue;
        }
        auto const column = std::array{"e.id", "e.state", "e.epoch", "e.revision"}[number];
        if (is_array) keys.emplace_back(column, values[number]);
        else matches.append(" AND ").append(column).append(" = ").append(values[number]);
    }
    if (of_writes == purpose::certain && is_only_found && !keys.empty()) {
        matches = dialect::among_many(keys) + matches;
    } else {
        for (auto const& [column, value] : keys) matches += " AND " + column + " = " + value;
        matches = matches.substr(5);
    }
    bool const has_arrays =
        std::any_of(types.begin(), types.end(), [](auto const& type) { return type.is_array; });
    // Without arrays, it writes one entry.
    std::string const number = has_arrays ? "w.n" : dialect::one();
    if (of_writes == purpose::lock) {
        return pool_->prepare(dialect::lock(number, types, table_, "e", matches), types, phase);
    }
    assignments sets;
    for (std::size_t field = 0; field < columns.fields.size(); ++field) {
        auto const name = std::string{name_of(columns.fields[field])};
        auto const& value = values[columns.expected + field];
        // Without a value, a column stays as it is.
        if (!value.empty()) sets.emplace_back(name, "coalesce(" + value + ", e." + name + ")");
    }
    if (of_writes == purpose::certain) {
        return dialect::prepare_exact(*pool_, dialect::update(table_, "e", sets, types, matches),
                                      types, phase);
    }
    return pool_->prepare(dialect::update_giving(number, table_, "e", sets, types, matches), types,
                          phase);
}

template <typename Sql>
std::size_t entry_table<Sql>::send_writes(purpose of_writes, connection& to,
                                          std::span<sent_write const> writes,
                                          write_context const& context) const {
    auto const action = inserts(of_writes) ? step::insert : writes.front().write->action;
    write_columns const columns{inserts(of_writes), action};
    auto const count = count_of(of_writes, columns);
    std::vector<typename Sql::column_values> values;
    values.reserve(count);
    for (std::size_t number = 0; number < count; ++number) {
        values.emplace_back(columns.kind(number));
    }
    for (auto const& write : writes) {
        columns.for_each_value(write, context, [&](std::size_t column, auto value) {
            if (column < count) values[column].add(value);
        });
    }
    // A server that chooses the order of a join would count on too few entries with one state.
    auto const found_by = std::max(dialect::returns_changes ? columns.expected : 0, std::size_t{1});
    bool const commits_epoch =
        columns.expected > 0 && count > columns.expected &&
        std::all_of(writes.begin(), writes.end(), [](auto const& each) {
            auto const& change = each.write->change;
            return change.committed != 0 && change.committed == change.from_epoch;
        });
    std::uint64_t with_value = 0;
    std::uint64_t arrays = 0;
    parameters bound;
    for (std::size_t number = 0; number < count; ++number) {
        if (!values[number].is_given()) continue;
        if (commits_epoch && columns.is_committed(number)) continue;
        bool const is_array = writes.size() > 1 && (number < found_by || values[number].differ());
        with_value |= std::uint64_t{1} << number;
        arrays |= std::uint64_t{is_array} << number;
        if (is_array) values[number].bind_array(bound);
        else values[number].bind_value(bound);
    }
    if (of_writes == purpose::certain) bound.bind(static_cast<std::int64_t>(writes.size()));
    auto const last_moment = first_last_moment(writes);
    if (last_moment) bound.bind(to.server().clock.after(*last_moment - context.time()));
    return to.send(statement_of({of_writes, action, with_value, arrays, commits_epoch,
                                 last_moment.has_value()}),
                   bound);
}

template <typename Sql>
std::size_t entry_table<Sql>::send_page(connection& to, entry_filter const& filter,
                                        transaction_id const& after, std::size_t limit) const {
    auto const count_of = [](std::optional<timestamp> const& time) {
        return number_in(time.value_or(timestamp::max()));
    };
    parameters values{after, count_of(filter.before), count_of(filter.ahead_of), limit_of(limit)};
    if (!filter.state) return to.send(filter.unfinished ? *unfinished_ : *all_, values);
    values.bind(number_in(*filter.state));
    return to.send(is_final(*filter.state) ? *of_state_ : *open_of_state_, values);
}

} // namespace detail::sql
SETTLE_END
