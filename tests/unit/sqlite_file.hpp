// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of the SQLite adapter: a folder of their own, plain SQL, and records whose
// table may take any form.
#pragma once

#include <settle/settle.hpp>
#include <settle/sqlite.hpp>

#include <contains.hpp>
#include <sql.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sqlite_test {

enum class colour : std::int16_t { red = -1, green = 0, blue = 700 };
using second = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;

/// One member of every kind.
struct item {
    std::string id;
    std::int64_t amount = 0;
    std::int8_t small = 0;
    bool open = false;
    colour shade = colour::green;
    second made{};
    std::optional<std::int64_t> limit{};
    std::optional<std::string> note{};

    friend bool operator==(item const&, item const&) = default;
};

struct numbered {
    std::int32_t number = 0;
    std::string label;

    friend bool operator==(numbered const&, numbered const&) = default;
};

struct change {
    std::string id;
    std::int64_t amount = 0;
    std::string note;
    item whole;
};

} // namespace sqlite_test
BOOST_HANA_ADAPT_STRUCT(sqlite_test::item, id, amount, small, open, shade, made, limit, note);
BOOST_HANA_ADAPT_STRUCT(sqlite_test::numbered, number, label);
BOOST_HANA_ADAPT_STRUCT(sqlite_test::change, id, amount, note, whole);

namespace sqlite_test {

using settle::field;
using settle::param;
using testing::contains;

inline constexpr settle::collection<item, "items", &item::id> items;
inline constexpr settle::collection<numbered, "numbers", &numbered::number> numbers;
using items_type = std::remove_const_t<decltype(items)>;
using numbers_type = std::remove_const_t<decltype(numbers)>;

inline constexpr auto add_type = settle::transaction<change, "add">(
    settle::participant<"item">(items, param<&change::id>)
        .confirm(field<&item::amount> += param<&change::amount>));
inline constexpr auto take_type =
    settle::transaction<change, "take">(settle::participant<"item">(items, param<&change::id>)
                                            .require(field<&item::amount> >= param<&change::amount>)
                                            .apply(field<&item::amount> -= param<&change::amount>)
                                            .compensate(settle::inverse));
inline constexpr auto create_type =
    settle::transaction<change, "create">(settle::participant<"item">(items, param<&change::id>)
                                              .apply(settle::create(param<&change::whole>))
                                              .compensate(settle::erase));
inline constexpr auto erase_type = settle::transaction<change, "erase">(
    settle::participant<"item">(items, param<&change::id>).confirm(settle::erase));
inline constexpr auto open_type = settle::transaction<change, "open">(
    settle::participant<"item">(items, param<&change::id>)
        .require(field<&item::open> == settle::lit<false>)
        .apply(field<&item::open> = settle::lit<true>)
        .compensate(settle::inverse)
        .confirm(field<&item::amount> += param<&change::amount>));

/// An engine of all these types on one database.
inline auto engine_on(settle::sqlite::database& db) {
    return settle::engine{db,
                          settle::type<add_type>,
                          settle::type<take_type>,
                          settle::type<create_type>,
                          settle::type<erase_type>,
                          settle::type<open_type>};
}

/// A folder that is removed with the object. Every user may use it, so that a test can switch
/// users.
class folder {
public:
    folder() {
        std::string pattern = std::filesystem::temp_directory_path() / "settle-";
        pattern.append(6, 'X');
        path_ = ::mkdtemp(pattern.data());
        std::filesystem::permissions(path_, std::filesystem::perms::all);
    }
    folder(folder const&) = delete;
    folder& operator=(folder const&) = delete;
    ~folder() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::string file(std::string_view name = "test.db") const { return path_ / name; }

private:
    std::filesystem::path path_;
};

/// SQL as any other program would send it; every row as its columns joined by '|'.
inline std::vector<std::string> sql(std::string const& path, std::string const& text) {
    std::vector<std::string> rows;
    for (auto const& columns : testing::ask(path, text)) {
        auto& row = rows.emplace_back();
        for (auto const& one : columns) row.append(one).append("|");
        row.pop_back();
    }
    return rows;
}

/// The first row, its columns joined by '|'; "no row" if there is none.
inline std::string sql_value(std::string const& path, std::string const& text) {
    auto const rows = sql(path, text);
    return rows.empty() ? "no row" : rows.front();
}

/// The exception of a call, as `code: sentence`; empty if the call throws nothing.
template <typename Function>
std::string refusal(Function&& function) {
    try {
        function();
    } catch (settle::failure const& problem) {
        auto const& code = problem.problem().code;
        return code.message() + ": " + problem.what();
    }
    return "";
}

} // namespace sqlite_test
