// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that statement.hpp declares.
#pragma once

#include <settle/adapter/sql_quotes.hpp>
#include <settle/mariadb/connection/statement.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

[[nodiscard]] constexpr bool is_digit(char sign) noexcept { return sign >= '0' && sign <= '9'; }
[[nodiscard]] constexpr bool is_of_name(char sign) noexcept {
    return is_digit(sign) || (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') ||
           sign == '_' || sign == '$' || sign == '.';
}

/// The position behind a quoted text or name.
[[nodiscard]] SETTLE_FUNCTION std::size_t end_of_quotes(std::string_view sql, std::size_t begin) {
    char const mark = sql[begin];
    for (std::size_t index = begin + 1; index < sql.size(); ++index) {
        if (sql[index] == '\\' && mark != '`') ++index;
        else if (sql[index] == mark) return index + 1;
    }
    return sql.size();
}

/// Cuts a statement at the places of its values.
class form_cutter {
    using source = statement_form::source;

public:
    form_cutter(std::string_view sql, bool by_row) : sql_(sql), by_row_(by_row) {}

    [[nodiscard]] statement_form cut() {
        char part = '\3';
        while (next_ < sql_.size()) {
            char const sign = sql_[next_];
            bool const is_mark = sign >= '\1' && sign <= '\3';
            if (is_mark) part = sign;
            bool const is_skipped = is_mark || part == (by_row_ ? '\1' : '\2');
            if (is_skipped) ++next_;
            else if (sign >= '\4' && sign <= '\7') take_list(sign);
            else if (!take_place()) take_text();
        }
        form_.texts.push_back(std::move(text_));
        return std::move(form_);
    }

private:
    [[nodiscard]] bool take_place() {
        auto const rest = sql_.substr(next_);
        auto const digit_at = [&](std::size_t index) {
            return index < rest.size() && is_digit(rest[index]);
        };
        if (rest.starts_with('$') && digit_at(1)) return take_number(1, source::value);
        if (rest.starts_with("?wave")) {
            next_ += 5;
            return add(source::wave, 0);
        }
        if (!by_row_ || (!text_.empty() && is_of_name(text_.back()))) return false;
        if (rest.starts_with("w.c") && digit_at(3)) return take_number(3, source::element);
        if (!rest.starts_with("w.n") || (rest.size() > 3 && is_of_name(rest[3]))) return false;
        next_ += 3;
        return add(source::row_number, 0);
    }
    bool take_number(std::size_t skipped, source from) {
        next_ += skipped;
        std::size_t number = 0;
        for (; next_ < sql_.size() && is_digit(sql_[next_]); ++next_) {
            number = number * 10 + static_cast<std::size_t>(sql_[next_] - '0');
        }
        return add(from, from == source::value ? number - 1 : number);
    }
    void take_list(char sign) {
        ++next_;
        form_.has_list = true;
        form_.repeats = form_.repeats || sign == '\7';
        add(sign == '\4' ? source::list_begin : source::list_end, sign == '\6' ? 0 : 1);
    }
    bool add(source from, std::size_t number) {
        form_.texts.push_back(std::exchange(text_, {}));
        form_.places.push_back({from, number});
        return true;
    }
    void take_text() {
        char const sign = sql_[next_];
        bool const is_quote = sign == '\'' || sign == '"' || sign == '`';
        auto const end = is_quote ? end_of_quotes(sql_, next_) : next_ + 1;
        text_ += sql_.substr(next_, end - next_);
        next_ = end;
    }

    std::string_view sql_;
    bool by_row_;
    std::size_t next_ = 0;
    std::string text_;
    statement_form form_;
};

/// The SQL without its quoted texts and names.
[[nodiscard]] SETTLE_FUNCTION std::string words_of(std::string_view sql) {
    std::string words;
    for (std::size_t index = 0; index < sql.size();) {
        bool const is_quote = sql[index] == '\'' || sql[index] == '"' || sql[index] == '`';
        if (is_quote) index = end_of_quotes(sql, index);
        else words += sql[index++];
    }
    return words;
}

SETTLE_FUNCTION statement::statement(std::string text, std::vector<parameter_type> kinds,
                                     char const* action, std::size_t in_pool, expectation count)
    : sql(std::move(text)), types(std::move(kinds)), phase(action), number(in_pool), expects(count),
      set_form(form_cutter{sql, false}.cut()) {
    if (sql.find('\1') != sql.npos) row_form = form_cutter{sql, true}.cut();
    auto const words = words_of(sql);
    inserts = row_form.has_list && words.starts_with("INSERT");
    for (char const* const first : {"SELECT", "(SELECT", "WITH", "SHOW"}) {
        reads = reads || words.starts_with(first);
    }
    has_result = reads || words.find("RETURNING") != words.npos;
}

SETTLE_FUNCTION std::string wave_sql(std::span<parameter_type const> types, bool with_number) {
    std::string sql{"JSON_TABLE(?wave, '$[*]' COLUMNS("};
    if (with_number) sql += "n FOR ORDINALITY";
    std::size_t position = 0;
    for (std::size_t index = 0; index < types.size(); ++index) {
        if (!types[index].is_array) continue;
        sql.append(sql.ends_with('(') ? "c" : ", c").append(std::to_string(index));
        // A VARCHAR would cut a longer text without an error.
        sql += types[index].kind == settle::detail::sql::column_kind::text
                   ? " LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
                   : " BIGINT";
        sql.append(" PATH '$[").append(std::to_string(position++)).append("]'");
    }
    return sql += ")) AS w";
}

SETTLE_FUNCTION std::string raised_sql(error_number code) {
    return "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = " + std::to_string(raised_number(code));
}

SETTLE_FUNCTION std::string quoted_name(std::string_view name) {
    return settle::detail::quoted(name, '`');
}

SETTLE_FUNCTION std::string quoted_text(std::string_view text) {
    std::string sql{"'"};
    for (char const sign : text) {
        if (sign == '\'' || sign == '\\') sql += sign;
        sql += sign;
    }
    return sql += "'";
}

} // namespace mariadb::detail
SETTLE_END
