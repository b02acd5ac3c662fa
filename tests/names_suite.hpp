// SPDX-License-Identifier: BSL-1.0
// Names that are words of SQL, a place whose name contains SQL, ids, keys and values that do, and a
// NUL, which no text can hold. Place is a fresh place of tables whose name contains SQL, with
//
//   db               a database there
//   rows_of(table)   how many rows a table has there
#pragma once

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace settle_test::names {

using namespace std::string_literals;
using settle::field;
using settle::param;

struct allowance {
    BOOST_HANA_DEFINE_STRUCT(allowance, (std::string, user), (std::int64_t, limit),
                             (std::string, group));
};
inline constexpr settle::collection<allowance, "Order", &allowance::user> allowances;

struct grant {
    BOOST_HANA_DEFINE_STRUCT(grant, (std::string, from), (std::string, to), (std::int64_t, all));
};
inline constexpr auto grant_type = settle::transaction<grant, "select">(
    settle::participant<"from">(allowances, param<&grant::from>)
        .require(field<&allowance::limit> >= param<&grant::all>)
        .apply(field<&allowance::limit> -= param<&grant::all>)
        .compensate(settle::inverse),
    settle::participant<"to">(allowances, param<&grant::to>)
        .confirm(field<&allowance::limit> += param<&grant::all>));

struct naming {
    BOOST_HANA_DEFINE_STRUCT(naming, (std::string, user), (std::string, group));
};
inline constexpr auto naming_type = settle::transaction<naming, "update">(
    settle::participant<"where">(allowances, param<&naming::user>)
        .confirm(field<&allowance::group> = param<&naming::group>));

inline std::vector<std::string> const strange{
    "a'b",        "a\"b",  "a\\b", "$1",   "%s", "'); DROP TABLE settle_entry; --",
    "a\tb\nc\rd", "{a,b}", "NULL", "ä€😀", " ",  "\x7f\x01"};

template <typename Database>
auto engine_at(Database& db, settle::phases how) {
    return settle::engine{db, how, settle::type<grant_type>, settle::type<naming_type>};
}

template <typename Place>
void check_strange_names() {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        Place place;
        auto& db = place.db;
        auto engine = engine_at(db, how);
        for (auto const& key : strange) engine.create(allowances, allowance{key, 10, key}).value();
        engine.create(allowances, allowance{"to", 0, ""}).value();
        std::vector<std::pair<std::string, grant>> grants;
        for (auto const& key : strange) {
            CAPTURE(key);
            CHECK(engine.run("i" + key, grant{key, "to", 1}).done());
            CHECK(engine.run("n" + key, naming{key, key + key}).done());
            CHECK(engine.run("f" + key, grant{key, "to", 100}).participant == "from");
            CHECK(engine.find("i" + key).value()->state == settle::state::done);
            CHECK(engine.read(allowances, key).value()->group == key + key);
            grants.emplace_back("b" + key, grant{key, "to", 2});
        }
        auto const ended = engine.run_all(grants);
        CHECK(std::all_of(ended.begin(), ended.end(), [](auto const& one) { return one.done(); }));
        CHECK(engine.reverse("i" + strange[0]).done());
        CHECK(engine.read(allowances, "to").value()->limit ==
              3 * static_cast<std::int64_t>(strange.size()) - 1);
        CHECK(engine.sweep().problem.empty());
        CHECK(engine.marks().value() == 0);
        CHECK(place.rows_of("Order") == std::to_string(strange.size() + 1));
    }
}

template <typename Place>
void check_nul() {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        Place place;
        auto& db = place.db;
        auto engine = engine_at(db, how);
        engine.create(allowances, allowance{"a", 10, ""}).value();
        auto const nul = "a\0b"s;
        auto const refused = [&](settle::error const& problem) {
            CHECK(problem.code == settle::errc::bad_text);
            CHECK(problem.text.find("NUL") != std::string::npos);
        };
        for (auto const& outcome :
             {engine.run("key", grant{"a", nul, 1}), engine.run(nul, grant{"a", "a", 1}),
              engine.run("value", naming{"a", nul}), engine.submit("later", naming{nul, "a"})}) {
            CHECK(outcome.verdict == settle::verdict::refused);
            refused(outcome.problem);
        }
        auto const several = engine.run_all(std::vector{std::pair{"first"s, naming{"a", nul}},
                                                        std::pair{"second"s, naming{"a", "b"}}});
        refused(several[0].problem);
        CHECK(several[1].done());
        refused(engine.create(allowances, allowance{nul, 1, ""}).problem());
        refused(engine.create(allowances, allowance{"b", 1, nul}).problem());
        // A key with a NUL names no record.
        auto const read = engine.read(allowances, nul);
        CHECK((!read.has_value() || !read.value()));
        CHECK(place.rows_of("settle_entry") == "1");
        CHECK(place.rows_of("settle_mark") == "0");
        CHECK(place.rows_of("Order") == "1");
    }
}

} // namespace settle_test::names
