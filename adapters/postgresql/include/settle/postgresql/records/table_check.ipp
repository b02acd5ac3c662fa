// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_check.hpp declares.
#pragma once

#include <settle/adapter/sql/table_check.hpp>
#include <settle/postgresql/connection/parts.hpp>
#include <settle/postgresql/records/table_check.hpp>

#include <algorithm>
#include <array>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::column_form;

/// A column as the catalog describes it.
struct column_found {
    std::string name;
    std::string declared;  ///< the type with its length
    std::string base;      ///< the name of the type, or of the type under a domain
    std::string type;      ///< the same in SQL, for a cast
    std::int64_t modifier; ///< the length, precision and scale
    std::string labels;    ///< of an enum, each after a `\x01`
    bool not_null;
    bool generated;
    bool domain_refuses;
    bool deterministic;             ///< equal texts have equal bytes
    bool always_drawn;              ///< GENERATED ALWAYS AS IDENTITY
    std::int64_t declared_id;       ///< the type, also a domain
    std::int64_t declared_modifier; ///< its length, precision and scale
};

/// A row for each column of the table.
inline constexpr char const* columns_sql =
    "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), "
    "CASE WHEN b.typtype = 'e' THEN 'enum' WHEN b.typtype <> 'b' OR "
    "b.typnamespace <> 'pg_catalog'::regnamespace THEN '' ELSE b.typname::text END, "
    "format_type(b.oid, NULL), "
    "(CASE WHEN y.typtype = 'd' THEN y.typtypmod ELSE a.atttypmod END)::int8, "
    "(SELECT string_agg(chr(1) || e.enumlabel, '' ORDER BY e.enumsortorder) "
    "FROM pg_enum AS e WHERE e.enumtypid = b.oid), "
    "a.attnotnull, a.attgenerated <> '', "
    "y.typtype = 'd' AND (y.typnotnull OR "
    "EXISTS (SELECT FROM pg_constraint AS k WHERE k.contypid = y.oid)), "
    "coalesce(l.collisdeterministic, true), a.attidentity = 'a', "
    "a.atttypid::int8, a.atttypmod::int8 "
    "FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid "
    "JOIN pg_type AS b ON b.oid = CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE y.oid END "
    "LEFT JOIN pg_collation AS l ON l.oid = a.attcollation "
    "WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped "
    "ORDER BY a.attnum";

/// A row for each column of each object that could refuse a change.
inline constexpr char const* obstacles_of_table =
    "SELECT 'trigger', t.tgname::text, NULL::text, false FROM pg_trigger AS t "
    "WHERE t.tgrelid = to_regclass($1) AND NOT t.tgisinternal AND t.tgenabled <> 'D' "
    "UNION ALL SELECT CASE k.contype WHEN 'c' THEN 'check' ELSE 'foreign key' END, "
    "k.conname::text, a.attname::text, false FROM pg_constraint AS k "
    "LEFT JOIN LATERAL unnest(k.conkey) AS c(n) ON true "
    "LEFT JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = c.n "
    "WHERE k.conrelid = to_regclass($1) AND k.contype IN ('c', 'f') "
    "UNION ALL SELECT 'unique index', x.relname::text, "
    "CASE WHEN i.indpred IS NULL THEN a.attname::text END, "
    "i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND "
    "i.indnkeyatts = 1 FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid "
    "CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS c(n, place) "
    "LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = c.n "
    "WHERE i.indrelid = to_regclass($1) AND (i.indisunique OR i.indisexclusion) AND "
    "c.place <= i.indnkeyatts "
    // An expression or a condition may raise an error for a value, or take more room than an index
    // has. The whole row is a variable with number 0. A function may also need another search path,
    // whatever its arguments; the server's own functions are not in pg_depend.
    "UNION ALL SELECT 'index with an expression or a condition', x.relname::text, "
    "a.attname::text, false FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid "
    "JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND "
    "d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid "
    "JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = d.refobjsubid "
    "WHERE i.indrelid = to_regclass($1) AND d.refobjsubid > 0 AND "
    "(i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) "
    "UNION ALL SELECT 'index with an expression or a condition', x.relname::text, NULL, false "
    "FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid "
    "WHERE i.indrelid = to_regclass($1) AND "
    "concat(i.indexprs::text, i.indpred::text) LIKE '%:varattno 0 %' "
    "UNION ALL SELECT 'index with a function', x.relname::text, NULL, false FROM pg_index AS i "
    "JOIN pg_class AS x ON x.oid = i.indexrelid WHERE i.indrelid = to_regclass($1) AND "
    "EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND "
    "d.objid = i.indexrelid AND d.refclassid = 'pg_proc'::regclass) "
    "UNION ALL SELECT 'generated column', g.attname::text, a.attname::text, false "
    "FROM pg_attribute AS g LEFT JOIN pg_attrdef AS f ON (f.adrelid, f.adnum) = "
    "(g.attrelid, g.attnum) JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND "
    "d.refobjid = g.attrelid AND d.refobjsubid > 0 AND d.refobjsubid <> g.attnum AND "
    "((d.classid = 'pg_class'::regclass AND d.objid = g.attrelid AND d.objsubid = g.attnum) "
    "OR (d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid)) "
    "JOIN pg_attribute AS a ON a.attrelid = g.attrelid AND a.attnum = d.refobjsubid "
    "WHERE g.attrelid = to_regclass($1) AND g.attgenerated <> ''";

class table_check : public settle::detail::sql::table_check<table_check, parts, column_found> {
    using base = settle::detail::sql::table_check<table_check, parts, column_found>;

public:
    table_check(pool& from, collection_descriptor const& collection)
        : table_check(from, collection, dialect::table_name(from, collection.name)) {}

    [[nodiscard]] bool exists() const {
        bool is_there = false;
        ask("SELECT to_regclass($1) IS NOT NULL",
            [&](rows const& answer) { is_there = answer.boolean(0, 0); });
        return is_there;
    }
    void check_kind(fit_table& table) const {
        ask("SELECT c.relkind::text, c.relpersistence::text, c.relispartition, c.relhasrules, "
            "row_security_active(c.oid), "
            "EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = c.oid), "
            "EXISTS (SELECT FROM pg_constraint AS f WHERE f.confrelid = c.oid AND "
            "f.contype = 'f') FROM pg_class AS c WHERE c.oid = to_regclass($1)",
            [&](rows const& listed) {
                check_kind(listed);
                table.is_referenced = listed.boolean(0, 6);
            });
    }
    void read_columns();
    [[nodiscard]] table_column column_for(member_descriptor const& member) const;
    void check_key() const;
    void check_more(fit_table& table) const {
        find_indexed_texts(table);
        check_publications();
    }
    /// True for a type of the catalog whose input function refuses every text.
    static bool is_unwritable(std::string_view type) noexcept {
        if (type.starts_with('_')) type.remove_prefix(1); // an array of them
        return type == "pg_node_tree" || type == "pg_ndistinct" || type == "pg_dependencies" ||
               type == "pg_mcv_list" || type == "gtsvector" || type.starts_with("pg_brin_");
    }
    static std::string type_of(member_access const& access, bool is_key) {
        if (access.nested) return "jsonb";
        switch (access.kind) {
        case field_kind::boolean: return "boolean";
        case field_kind::text: return is_key ? "text COLLATE \"C\"" : "text";
        // A timestamptz has not the range of all times.
        default: return "bigint";
        }
    }
    /// Room in the pages keeps changes away from the index.
    static constexpr char const* table_end = " WITH (fillfactor = 80)";
    static constexpr char const* obstacles_sql = obstacles_of_table;

private:
    table_check(pool& from, collection_descriptor const& collection, std::string const& table)
        : base(from, collection, table, table) {}

    void check_kind(rows const& rows) const;
    [[nodiscard]] bool set_form(table_column& column, member_access const& access,
                                column_found const& is) const;
    void set_number(table_column& column, member_access const& access,
                    column_found const& is) const;
    /// Finds members whose texts are in an index, which may refuse a long one.
    void find_indexed_texts(fit_table& table) const;
    /// Refuses a table whose changes a publication makes the server refuse.
    void check_publications() const;
};

SETTLE_FUNCTION void table_check::check_kind(rows const& listed) const {
    if (listed.empty()) refuse_gone();
    auto const kind = listed.text(0, 0);
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kinds{
        {{"v", "view"},
         {"m", "materialized view"},
         {"f", "foreign table"},
         {"p", "partitioned table"},
         {"S", "sequence"}}};
    for (auto const& [letter, name] : kinds) {
        if (kind != letter) continue;
        refuse("it is a " + std::string{name} + ", not an ordinary table", "Name a table");
    }
    if (kind != "r") refuse("it is not an ordinary table", "Name a table");
    if (listed.text(0, 1) != "p") {
        refuse("it is unlogged or temporary, so a crash empties it",
               "Use ALTER TABLE … SET LOGGED");
    }
    if (listed.boolean(0, 2) || listed.boolean(0, 5)) {
        refuse("it shares its rows with other tables, as a partition or by inheritance",
               "Name a table of its own");
    }
    if (listed.boolean(0, 3)) refuse("it has a rule, which could change a write", "Drop the rule");
    if (listed.boolean(0, 4)) {
        refuse("its row security could hide rows from this user",
               "Use ALTER TABLE … DISABLE ROW LEVEL SECURITY, or a user with BYPASSRLS");
    }
}

SETTLE_FUNCTION void table_check::read_columns() {
    ask(columns_sql, [&](rows const& listed) {
        for_each_row(listed, [&](row const& read_row) {
            auto const text = [&](int column) { return std::string{read_row.text(column)}; };
            auto const truth = [&](int column) { return read_row.integer(column) != 0; };
            columns_.push_back({text(0), text(1), text(2), text(3), read_row.integer(4), text(5),
                                truth(6), truth(7), truth(8), truth(9), truth(10),
                                read_row.integer(11), read_row.integer(12)});
        });
    });
}

SETTLE_FUNCTION table_column table_check::column_for(member_descriptor const& member) const {
    column_found const& is = column_named(member.name);
    auto const name = shown_column(member.name);
    check_column(*need().find(member.name), is.generated, is.not_null);
    if (is.always_drawn && !need().find(member.name)->key) {
        refuse(name + " is GENERATED ALWAYS AS IDENTITY, so no program can change it",
               "Use ALTER TABLE … ALTER COLUMN … SET GENERATED BY DEFAULT");
    }
    if (is.domain_refuses) {
        refuse(name + " has the domain " + is.declared + ", whose constraint could refuse a change",
               "Remove the constraint of the domain");
    }
    table_column column;
    column.name = quoted_name(member.name);
    column.type = is.type;
    column.type_id = is.declared_id;
    column.type_modifier = is.declared_modifier;
    if (set_form(column, *member.access, is)) return column;
    auto const needs = member.access->nested                        ? "JSON. Declare it jsonb"
                       : member.access->kind == field_kind::text    ? "texts. Declare it text"
                       : member.access->kind == field_kind::boolean ? "booleans. Declare it boolean"
                       : member.access->kind == field_kind::time
                           ? "times. Declare it timestamptz or bigint"
                           : "whole numbers. Declare it bigint, or numeric with a scale";
    std::string const remedy{needs};
    auto const point = remedy.find(". ");
    refuse(name + " is declared '" + is.declared + "' and must keep " + remedy.substr(0, point),
           remedy.substr(point + 2));
}

/// False if the column cannot keep the member's values.
SETTLE_FUNCTION bool table_check::set_form(table_column& column, member_access const& access,
                                           column_found const& is) const {
    bool const text = is.base == "text" || is.base == "varchar";
    if (access.nested) {
        column.form = text ? column_form::text : column_form::cast;
        return text || is.base == "jsonb" || is.base == "json";
    }
    if (access.kind == field_kind::text) {
        column.form = text ? column_form::text : column_form::cast;
        if (is.base == "varchar" && is.modifier >= 0) column.length = is.modifier - 4;
        column.is_uuid = is.base == "uuid";
        for (std::string_view rest{is.labels}; !rest.empty();) {
            auto const end = std::min(rest.find('\x01', 1), rest.size());
            column.labels.emplace_back(rest.substr(1, end - 1));
            rest.remove_prefix(end);
        }
        return text || column.is_uuid || is.base == "enum";
    }
    column.form = column_form::number;
    set_number(column, access, is);
    if (column.form != column_form::text) return true;
    if (access.kind == field_kind::boolean && is.base == "bool") {
        column.form = column_form::boolean;
    } else if (access.kind == field_kind::time && is.base == "timestamptz") {
        constexpr std::int64_t first_time = -210'866'803'200'000'000;
        constexpr std::int64_t last_time = 9'000'000'000'000'000'000;
        auto const unit = table_column::micros(access);
        if (unit == 0) {
            refuse(shown_column(is.name) + " counts microseconds, and its field a finer unit",
                   "Declare it bigint");
        }
        column.form = column_form::time;
        column.least = first_time / unit;
        column.most = last_time / unit;
    } else {
        return false;
    }
    return true;
}

/// Leaves the form `text` if the column keeps no numbers.
SETTLE_FUNCTION void table_check::set_number(table_column& column, member_access const& access,
                                             column_found const& is) const {
    auto const range = [&](auto of) {
        column.least = std::numeric_limits<decltype(of)>::min();
        column.most = std::numeric_limits<decltype(of)>::max();
    };
    if (is.base == "int8") return;
    if (is.base == "int4") return range(std::int32_t{});
    if (is.base == "int2") return range(std::int16_t{});
    column.form = column_form::text;
    if (access.kind != field_kind::integer || is.base != "numeric") return;
    // As PostgreSQL packs precision and scale.
    auto const packed = is.modifier - 4;
    auto const precision = packed >> 16 & 0xffff;
    auto const scale = ((packed & 0x7ff) ^ 1024) - 1024;
    if (packed < 0 || scale < 0 || scale > precision) {
        refuse(shown_column(is.name) + " is declared '" + is.declared + "', and its field counts " +
                   "a declared unit",
               "Declare it with a precision and a scale, as numeric(18, 2)");
    }
    column.set_decimal(static_cast<int>(precision), static_cast<int>(scale));
}

SETTLE_FUNCTION void table_check::check_key() const {
    auto const& key = of_.members()[of_.key];
    column_found const& is = column_named(key.name);
    auto const name = shown_column(key.name);
    bool const number = is.base == "int2" || is.base == "int4" || is.base == "int8";
    bool const text = is.base == "text" || is.base == "varchar" || is.base == "uuid";
    if (!number && !text) {
        refuse(name + " is the key and is declared '" + is.declared + "'",
               "Declare it text, varchar, uuid, bigint, integer or smallint");
    }
    if (!is.deterministic) {
        refuse(name + " is the key, and its collation compares different texts as equal",
               "Declare it COLLATE \"C\"");
    }
}

SETTLE_FUNCTION void table_check::find_indexed_texts(fit_table& table) const {
    ask("SELECT DISTINCT a.attname::text FROM pg_index AS i "
        "CROSS JOIN LATERAL unnest(i.indkey) AS c(n) "
        "JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = c.n "
        "WHERE i.indrelid = to_regclass($1)",
        [&](rows const& listed) {
            for_each_row(listed, [&](row const& read_row) {
                auto const member = of_.record->find(read_row.text(0));
                if (!member || *member == of_.key) return;
                bool const text = of_.members()[*member].access->kind == field_kind::text;
                if (text) table.indexed_texts |= std::uint64_t{1} << *member;
            });
        });
}

SETTLE_FUNCTION void table_check::check_publications() const {
    // The server checks this for a statement that changes no row, too.
    auto const& key = quoted_name(of_.members()[of_.key].name);
    for (auto const& sql : {"UPDATE " + table_ + " SET " + key + " = DEFAULT WHERE false",
                            "DELETE FROM " + table_ + " WHERE false"}) {
        try {
            auto on = pool_.take();
            on->send_sql(sql, "look at a table");
            on->sync();
        } catch (failure const& caught) {
            auto const& code = caught.problem().code;
            // Without a right, nothing is changed here either.
            if (code != object_not_ready && code != invalid_column_reference) continue;
            refuse("a publication has it, and its rows have no replica identity",
                   "Use ALTER TABLE … REPLICA IDENTITY FULL, or give it a PRIMARY KEY");
        }
    }
}

SETTLE_FUNCTION fit_table settle_table(pool& pool, collection_descriptor const& collection) {
    settle::detail::sql::check_names(collection, {"settle_", "pg_"}, 63, parts::page);
    table_check checks{pool, collection};
    return settle::detail::sql::repeat_while_held<parts::is_held>([&] {
        if (!checks.exists()) {
            perform_or_throw(pool, [&](connection& connection) {
                // Another program may be creating it.
                connection.send_sql("SELECT pg_advisory_xact_lock(hashtextextended('settle', 0))",
                                    "wait for another program that creates tables");
                connection.send_sql(checks.create_sql(), "create a table");
            });
        }
        return checks.check();
    });
}

} // namespace postgresql::detail
SETTLE_END
