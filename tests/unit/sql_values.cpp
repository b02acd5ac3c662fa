// SPDX-License-Identifier: BSL-1.0
// The values of SQL statements are kept exactly.
#include <settle/adapter/sql_values.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <type_traits>

namespace {

using settle::sql_value;

// An unsigned number of 64 bits would become a double.
static_assert(!std::is_constructible_v<sql_value, std::uint64_t>);
static_assert(!std::is_constructible_v<sql_value, std::size_t const&>);
static_assert(std::is_constructible_v<sql_value, std::uint32_t>);
static_assert(std::is_constructible_v<sql_value, bool>);

TEST_CASE("sql values: integers are kept exactly, at their limits") {
    auto const integer_of = [](sql_value const& value) {
        return std::get<std::int64_t>(value.get());
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    CHECK(integer_of(most) == most);
    CHECK(integer_of(-most - 1) == -most - 1);
    CHECK(integer_of(std::numeric_limits<std::uint32_t>::max()) == 4'294'967'295);
    CHECK(integer_of(std::optional<std::int16_t>{std::int16_t{-7}}) == -7);
    CHECK(std::holds_alternative<std::nullptr_t>(sql_value{std::optional<int>{}}.get()));
}

} // namespace
