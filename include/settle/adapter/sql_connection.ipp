// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sql_connection.hpp declares.
#pragma once

#include <settle/adapter/sql_connection.hpp>

#include <algorithm>

SETTLE_BEGIN

SETTLE_FUNCTION sql_rows sql_connection::watch(std::string const& sql,
                                               std::span<sql_value const> values) {
    if (problem_) throw failure(problem_);
    try {
        if (detail::controls_transaction(sql)) {
            throw failure({make_error_code(errc::bad_option),
                           "settle: the work must not begin or end a native transaction or a "
                           "savepoint. Remove this statement: " +
                               sql});
        }
        return run(sql, values);
    } catch (failure const& caught) {
        problem_ = caught.problem();
        throw;
    }
}

namespace detail {

/// The text after the spaces, comments and empty statements at the front.
/// Shape:   executed - is called with the text of each comment that MariaDB executes
template <typename Executed>
[[nodiscard]] std::string_view without_comments(std::string_view sql, Executed const& executed) {
    auto const from = [&](std::size_t index) { return sql.substr(std::min(index, sql.size())); };
    for (;;) {
        sql = from(sql.find_first_not_of(" \t\r\n\f\v;"));
        if (sql.starts_with("--") || sql.starts_with('#')) {
            sql = from(sql.find_first_of("\r\n"));
        } else if (sql.starts_with("/*")) {
            for (std::string_view const mark : {"/*!", "/*M!"}) {
                if (!sql.starts_with(mark)) continue;
                // The number of a version may follow.
                executed(from(sql.find_first_not_of("0123456789", mark.size())));
            }
            // Comments nest in PostgreSQL.
            std::size_t position = 2;
            for (int depth = 1; depth > 0 && position < sql.size(); ++position) {
                auto const two = sql.substr(position, 2);
                if (two != "/*" && two != "*/") continue;
                depth += two == "/*" ? 1 : -1;
                ++position;
            }
            sql = from(position);
        } else {
            return sql;
        }
    }
}

/// The first words of a statement and of the comments before it that MariaDB executes, in lower
/// case. The statement's own is the last.
[[nodiscard]] SETTLE_FUNCTION std::vector<std::string> first_words(std::string_view sql) {
    std::vector<std::string> words;
    auto const rest = without_comments(sql, [&](std::string_view executed) {
        auto const inner = first_words(executed);
        words.insert(words.end(), inner.begin(), inner.end());
    });
    auto& word = words.emplace_back();
    for (char const byte : rest) {
        auto const low = static_cast<char>(byte | 0x20);
        if (low < 'a' || low > 'z') break;
        word += low;
    }
    return words;
}

[[nodiscard]] inline bool is_among(std::span<std::string_view const> all, std::string_view word) {
    return std::find(all.begin(), all.end(), word) != all.end();
}

SETTLE_FUNCTION bool controls_transaction(std::string_view sql) {
    constexpr std::string_view keywords[]{"abort",     "begin",   "commit",  "end",
                                          "execute",   "prepare", "release", "rollback",
                                          "savepoint", "start",   "xa"};
    auto const words = first_words(sql);
    return std::any_of(words.begin(), words.end(),
                       [&](auto const& word) { return is_among(keywords, word); });
}

SETTLE_FUNCTION bool handles_rows(std::string_view sql) {
    constexpr std::string_view keywords[]{"select", "with",    "insert", "update",
                                          "delete", "replace", "do"};
    auto const words = first_words(sql);
    return std::all_of(words.begin(), words.end(),
                       [&](auto const& word) { return is_among(keywords, word); });
}

SETTLE_FUNCTION std::optional<prepare_result>
answer_without_prepare(work_result const& result, error const& problem,
                       bool (*is_busy)(std::error_code const&)) {
    if (result.what == work_result::status::refused) {
        return prepare_result{prepare_answer::refused, result.problem};
    }
    // A failed statement has left half of the work undone, also if the work answers ok.
    error const& why = problem ? problem : result.problem;
    if (result.what == work_result::status::ok && !problem) return std::nullopt;
    // The same statement would fail again.
    if (problem && problem.code == condition::permanent && !is_busy(problem.code)) {
        return prepare_result{prepare_answer::refused, problem};
    }
    bool const busy = is_busy(why.code) || why.code == condition::conflict;
    return prepare_result{busy ? prepare_answer::busy : prepare_answer::unavailable, why};
}

} // namespace detail
SETTLE_END
