// SPDX-License-Identifier: BSL-1.0
// A shop with a table that existed before: most kinds of columns, and columns that no member names.
#pragma once

#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace postgresql_shop {

using settle::field;
using settle::param;
using settle::participant;
using settle_test::ask;
using settle_test::ask_one;
using settle_test::fresh_schema;

using millisecond = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

struct line {
    BOOST_HANA_DEFINE_STRUCT(line, (std::string, text), (std::int64_t, count));
};

struct article {
    BOOST_HANA_DEFINE_STRUCT(article, (std::string, id), (std::int64_t, price),
                             (std::int64_t, stock), (std::int64_t, sold), (std::string, name),
                             (bool, open), (millisecond, changed), (std::string, mood),
                             (std::optional<std::string>, owner), (std::vector<line>, lines));
};
/// A quoted name, and a schema's own enum.
inline constexpr settle::collection<article, "Articles", &article::id> articles;

/// The table, with two columns that no member names.
inline constexpr char const* articles_sql =
    "CREATE TYPE mood AS ENUM ('good', 'so so', 'o''dd');"
    "CREATE TABLE \"Articles\" (extra numeric(8,3) DEFAULT 1.5, id uuid PRIMARY KEY, "
    "price numeric(9,2) NOT NULL, stock smallint NOT NULL, sold integer NOT NULL, "
    "name varchar(5) NOT NULL, open boolean NOT NULL, changed timestamptz NOT NULL, "
    "mood mood NOT NULL, owner uuid, lines jsonb NOT NULL, tags text[])";

inline std::string const first_id = "00000000-0000-0000-0000-0000000000aa";
inline std::string const other_id = "00000000-0000-0000-0000-0000000000bb";

struct sale {
    BOOST_HANA_DEFINE_STRUCT(sale, (std::string, id), (std::int64_t, count), (std::int64_t, raise));
};
/// Sums of three widths.
inline constexpr auto sale_type =
    settle::transaction<sale, "sale">(participant<"article">(articles, param<&sale::id>)
                                          .apply(field<&article::stock> -= param<&sale::count>,
                                                 field<&article::price> += param<&sale::raise>)
                                          .compensate(settle::inverse)
                                          .confirm(field<&article::sold> += param<&sale::count>)
                                          .require(field<&article::stock> >= param<&sale::count>));

struct change {
    BOOST_HANA_DEFINE_STRUCT(change, (std::string, id), (std::string, name), (std::string, mood),
                             (millisecond, changed));
};
inline constexpr auto change_type = settle::transaction<change, "change">(
    participant<"article">(articles, param<&change::id>)
        .confirm(field<&article::name> = param<&change::name>,
                 field<&article::mood> = param<&change::mood>,
                 field<&article::changed> = param<&change::changed>));

struct removal {
    BOOST_HANA_DEFINE_STRUCT(removal, (std::string, id));
};
inline constexpr auto removal_type = settle::transaction<removal, "removal">(
    participant<"article">(articles, param<&removal::id>).confirm(settle::erase));

inline millisecond at(std::int64_t count) { return millisecond{std::chrono::milliseconds{count}}; }

inline article usual_article() {
    return {first_id,
            1234,
            100,
            0,
            "lamp",
            true,
            at(1'700'000'000'123),
            "so so",
            std::nullopt,
            {{"a \"b\"", 9'007'199'254'740'993}}};
}

} // namespace postgresql_shop
