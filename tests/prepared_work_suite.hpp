// SPDX-License-Identifier: BSL-1.0
// Statements of a user's work on real servers: what they set stays with the work, and what a
// constraint refuses is refused for good.
#pragma once

#include "prepared_suite.hpp"

#include <array>

namespace settle_test {

/// Work of statements without parameters.
inline auto statements(std::vector<std::string> texts) {
    return [texts = std::move(texts)](sql_connection& connection) {
        try {
            for (auto const& sql : texts) connection.execute(sql);
            return work_result::ok();
        } catch (settle::failure const& caught) {
            return work_result::failed(caught.problem());
        }
    };
}

/// Prepares work, and commits it.
template <typename Backend, typename Work>
void commit_surely(prepared_scene<Backend>& s, std::string const& id, Work const& work) {
    CAPTURE(id);
    auto const prepared = s.books.prepare(name_of(id), work);
    CHECK_MESSAGE(prepared.what == prepare_answer::prepared, prepared.problem);
    auto const committed = s.books.commit(name_of(id));
    CHECK_MESSAGE(committed.what == end_answer::ended, committed.problem);
}

/// Each work that sets something is followed by one that must not see it, on the same session: once
/// after a commit, once after a roll back and once after refused work.
/// Shape:   show - a query for one text; settings - statements, each of which changes that text for
///          a session
template <typename Backend>
void check_settings(prepared_scene<Backend>& s, std::string const& show,
                    std::vector<std::string> const& settings) {
    auto const shown = [&](std::string const& id) {
        std::string text;
        commit_surely<Backend>(s, id, [&](sql_connection& connection) {
            text = connection.query(show).text(0, 0);
            return add<Backend>("a")(connection);
        });
        return text;
    };
    int number = 0;
    auto const next = [&] { return "t" + std::to_string(number++); };
    auto const before = shown(next());
    for (auto const& sql : settings) {
        CAPTURE(sql);
        commit_surely<Backend>(s, next(), statements({sql}));
        CHECK(shown(next()) == before);
        auto const undone = name_of(next());
        CHECK(s.books.prepare(undone, statements({sql})).what == prepare_answer::prepared);
        CHECK(s.books.roll_back(undone).what == end_answer::ended);
        CHECK(shown(next()) == before);
        auto const refused = s.books.prepare(name_of(next()), [&](sql_connection& connection) {
            connection.execute(sql);
            return work_result::refused("no");
        });
        CHECK(refused.what == prepare_answer::refused);
        CHECK(shown(next()) == before);
        // The resource's own tables are still found.
        CHECK(s.books.deny(name_of(next())).what == end_answer::ended);
    }
    CHECK(s.sum("a") == std::to_string(1 + 3 * settings.size()));
}

/// Shape:   refused - statements that a rule of the database refuses, each with a part of its text
template <typename Backend>
void check_refusals_of_database(prepared_scene<Backend>& s,
                                std::vector<std::pair<std::string, std::string>> const& refused) {
    int number = 0;
    for (auto const& each : refused) {
        // clang 14 takes no structured binding in a message.
        std::string const& sql = each.first;
        std::string const& text = each.second;
        CAPTURE(sql);
        auto const name = name_of("t" + std::to_string(number++));
        auto const answer = s.books.prepare(name, statements({sql}));
        CHECK(answer.what == prepare_answer::refused);
        CHECK_MESSAGE(answer.problem.text.find(text) != std::string::npos, answer.problem);
        CHECK(s.nothing_of(name));
        // The name is free.
        commit_surely<Backend>(s, name.of.id, add<Backend>("b"));
    }
    CHECK(s.sum("b") == std::to_string(refused.size()));
}

} // namespace settle_test
