// SPDX-License-Identifier: BSL-1.0
// Creates the table of a collection, or checks an existing table: in the same order on all servers.
#pragma once

#include <settle/adapter/sql/table_column.hpp>
#include <settle/adapter/table_rules.hpp>
#include <settle/base/function_view.hpp>

#include <initializer_list>

SETTLE_BEGIN
namespace detail::sql {

/// Checks one table. An adapter derives its own class, which has:
///
///   exists()                    whether the table exists
///   check_kind(fit)             refuses a view, and whatever is no ordinary table
///   read_columns()              fills columns_
///   column_for(member)          the column of a member; refuses a type that cannot keep it
///   check_key()                 refuses a key whose texts are not compared by their bytes
///   check_more(fit)             what only this server has
///   is_unwritable(type)         whether no program can write values of a type
///   type_of(access, is_key)     the type of a member's column in a new table
///   obstacles_sql, table_end    a query: kind, name and column of whatever could refuse a change,
///                               and whether it makes the column unique; the end of CREATE TABLE
///
/// Shape:   Sql - the parts of an adapter; Found - a column as the server describes it: name,
///          declared (the type with its length), base (the type's name), not_null, generated
/// Errors:  every function throws errc::unfit_store with one sentence, which names the change to
///          make
template <typename Check, typename Sql, typename Found>
class table_check : protected table_rules {
public:
    using pool = typename Sql::pool;
    using rows = typename Sql::rows;
    using row = typename Sql::row;
    using fit_table = sql::fit_table<typename Sql::column>;

    [[nodiscard]] fit_table check() {
        fit_table fit;
        own().check_kind(fit);
        own().read_columns();
        for (auto const& member : of_.members()) {
            fit.columns.push_back(own().column_for(member));
            bool const may_lack = !member.access->optional && !column_named(member.name).not_null;
            if (may_lack || member.access->nested) fit.is_readable = false;
        }
        own().check_key();
        check_obstacles();
        own().check_more(fit);
        fit.count = columns_.size();
        for (auto const& column : columns_) {
            if (of_.record->find(column.name) || column.generated) continue;
            fit.others.push_back({column.name, column.declared, column.base});
            if (Check::is_unwritable(column.base)) fit.unwritable = column.name;
        }
        return fit;
    }

    [[nodiscard]] std::string create_sql() const {
        std::string sql = "CREATE TABLE IF NOT EXISTS " + table_;
        char separator = '(';
        for (std::size_t number = 0; number < of_.members().size(); ++number) {
            auto const& member = of_.members()[number];
            bool const is_key = number == of_.key;
            sql += std::exchange(separator, ',');
            sql += Sql::dialect::quoted(member.name) + ' ';
            sql += Check::type_of(*member.access, is_key);
            if (is_key) sql += " PRIMARY KEY";
            else if (!member.access->optional) sql += " NOT NULL";
        }
        return sql + ")" + Check::table_end;
    }

protected:
    /// Shape:   table - in SQL; subject - the table as `$1` of queries about it
    table_check(pool& from, collection_descriptor const& collection, std::string const& table,
                std::string subject)
        : table_rules(need_of(collection), table, Sql::page), pool_(from), of_(collection),
          table_(table), subject_(std::move(subject)) {}
    ~table_check() = default;

    /// Runs a query about the table.
    void ask(char const* sql, function_view<void(rows const&)> take) const {
        auto const& query = pool_.prepare(sql, parameter_types{text_value}, "look at a table");
        auto session = pool_.take();
        auto const number = session->send(query, subject_);
        session->sync();
        take(session->result(number));
    }
    [[nodiscard]] Found const& column_named(std::string_view name) const {
        for (auto const& column : columns_) {
            if (column.name == name) return column;
        }
        refuse_missing(name);
    }

    pool& pool_;
    collection_descriptor const& of_;
    std::string table_;
    std::vector<Found> columns_;

private:
    [[nodiscard]] Check& own() noexcept { return static_cast<Check&>(*this); }
    void check_obstacles() const {
        ask(Check::obstacles_sql, [&](rows const& obstacles) {
            bool is_unique = false;
            for_each_row(obstacles, [&](row const& obstacle) {
                bool const is_of_key = obstacle.text(2) == of_.members()[of_.key].name;
                is_unique = is_unique || (obstacle.integer(3) != 0 && is_of_key);
            });
            if (!is_unique) refuse_key();
            for_each_row(obstacles, [&](row const& obstacle) {
                check_obstacle({obstacle.text(0), obstacle.text(1), obstacle.text(2)});
            });
        });
    }

    std::string subject_;
};

/// Refuses the names of a collection that the server would shorten, or that other tables have.
/// Shape:   taken - how the names of other tables begin; longest - in bytes; page - of the adapter
inline void check_names(collection_descriptor const& collection,
                        std::initializer_list<std::string_view> taken, std::size_t longest,
                        std::string_view page) {
    auto const refuse = [&](std::string_view name, std::string const& why) {
        throw failure({make_error_code(errc::unfit_store),
                       "settle: the name '" + std::string{name} + "' " + why +
                           ". Choose another name. See " + std::string{page} + "#existing-tables"});
    };
    auto const check_length = [&](std::string_view name) {
        if (name.size() <= longest) return;
        refuse(name, "has more than " + std::to_string(longest) + " bytes");
    };
    for (auto const begin : taken) {
        if (collection.name.starts_with(begin))
            refuse(collection.name, "begins as other tables do");
    }
    check_length(collection.name);
    for (auto const& member : collection.members()) check_length(member.name);
}

} // namespace detail::sql
SETTLE_END
