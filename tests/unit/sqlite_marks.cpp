// SPDX-License-Identifier: BSL-1.0
// The codec of marks and of images: written values are read back, and damaged values are named.
#include "sqlite_file.hpp"

#include <mark_columns.hpp>

#include <settle/adapter/image_codec.hpp>
#include <settle/testing/faults.hpp>

#include <limits>

namespace sqlite_test {
namespace {

using settle::image;
using settle_test::decode_mark;
using settle_test::encode_mark;
using mark = settle::mark<item>;
using effect = settle::exclusive_effect<item>;

constexpr std::size_t amount_at = settle::integer_position<item, 1>;
constexpr std::size_t small_at = settle::integer_position<item, 2>;

item const whole{"A", -7, 3, true, colour::red, second{std::chrono::seconds{5}}, 9, "a \"note\"\n"};

/// A mark read back from its columns, with the record under it.
mark again(mark const& from, std::optional<item> const& record) {
    auto const as = encode_mark(from);
    mark read;
    settle::error const wrong = decode_mark<item>(as, record, read);
    CHECK(wrong.message() == settle::error{}.message());
    return read;
}

std::string problem(std::string_view kind, std::string_view confirm, std::string_view undo) {
    mark read;
    settle::detail::mark_columns const columns{kind, std::string{confirm}, std::string{undo}, ""};
    return decode_mark<item>(columns, whole, read).text;
}

TEST_CASE("sqlite marks: sums are read back, and zeros are not written") {
    mark from;
    from.confirm_delta[amount_at] = std::numeric_limits<std::int64_t>::max();
    from.undo_delta[amount_at] = -std::numeric_limits<std::int64_t>::max();
    from.undo_delta[small_at] = -128;
    auto const as = encode_mark(from);
    CHECK(as.effect == "add");
    CHECK(as.confirm == R"({"amount":9223372036854775807})");
    CHECK(as.undo == R"({"amount":-9223372036854775807,"small":-128})");
    CHECK(as.image.empty());
    CHECK(again(from, item{}) == from);
    CHECK(again(from, std::nullopt) == from);
    CHECK(again(mark{}, whole) == mark{});
    CHECK(encode_mark(mark{}).confirm.empty());
}

TEST_CASE("sqlite marks: an exclusive effect keeps only the changed fields") {
    auto exclusive = std::make_shared<effect>();
    exclusive->undone = exclusive->confirmed = whole;
    exclusive->undone.amount = 1;
    exclusive->undone.note = std::nullopt;
    exclusive->undo_fields = 0b10000010;
    exclusive->confirmed.shade = colour::blue;
    exclusive->confirmed.made = second{std::chrono::seconds{-1}};
    exclusive->confirm_fields = 0b00110000;
    exclusive->image = R"({"id":"A","other":{"$blob":"00ff"}})";
    mark from;
    from.exclusive = exclusive;
    auto const as = encode_mark(from);
    CHECK(as.effect == "set");
    CHECK(as.confirm == R"({"shade":700,"made":-1})");
    CHECK(as.undo == R"({"amount":1,"note":null})");
    CHECK(as.image == exclusive->image);
    CHECK(again(from, whole) == from);
}

TEST_CASE("sqlite marks: the effect distinguishes create from erase") {
    for (auto const& [created, erases, name] :
         {std::tuple{true, false, "create"}, std::tuple{false, true, "erase"},
          std::tuple{true, true, "create and erase"}}) {
        auto exclusive = std::make_shared<effect>();
        exclusive->undone = exclusive->confirmed = whole;
        exclusive->created = created;
        exclusive->erases = erases;
        exclusive->confirm_fields = 0b11111111;
        mark from;
        from.exclusive = exclusive;
        CHECK(encode_mark(from).effect == name);
        CHECK(again(from, whole) == from);
        // Another program may have erased the record: the mark still has the fields that it
        // changes.
        mark const alone = again(from, std::nullopt);
        CHECK(alone.exclusive->confirmed == whole);
        CHECK(alone.exclusive->created == created);
    }
}

TEST_CASE("sqlite marks: a damaged mark is refused with its position") {
    CHECK(problem("?", "", "") == "the effect has an unknown name");
    CHECK(contains(problem("add", R"({"amount":"1"})", ""), "at amount, byte"));
    CHECK(contains(problem("add", R"({"amount":1.5})", ""), "found a number with a fraction"));
    CHECK(contains(problem("add", "", R"({"nothing":1})"), "the record has no such member"));
    CHECK(contains(problem("add", "", R"({"note":1})"), "nothing can be added to this member"));
    CHECK(contains(problem("add", "[]", ""), "expected an object"));
    CHECK(contains(problem("set", R"({"small":300})", ""), "none of the type's values"));
    CHECK(contains(problem("set", "", R"({"note":)"), "byte 8"));
    CHECK(contains(problem("set", "", R"({"id":"x"}x)"), "byte 10"));
}

TEST_CASE("sqlite marks: a sum out of a member's range is refused before it is applied") {
    CHECK(problem("add", R"({"small":124})", R"({"small":-131})") == "");
    auto const beyond = [](std::string_view member) {
        return "it would take the member '" + std::string{member} + "' out of its range";
    };
    CHECK(problem("add", R"({"small":125})", "") == beyond("small"));
    CHECK(problem("add", "", R"({"small":-132})") == beyond("small"));
    CHECK(problem("add", "", R"({"amount":-9223372036854775802})") == beyond("amount"));
    CHECK(problem("add", R"({"small":9223372036854775807})", "") == beyond("small"));
}

TEST_CASE("sqlite marks: images are JSON objects and are read back byte by byte") {
    std::vector<image> const images{
        {0, 0, R"({"id":"A","x":null,"r":1.0,"big":9223372036854775807,"b":{"$blob":"00"}})",
         R"({"id":"A","open":true,"note":"\"q\" \\ \n"})"},
        {1, 7, "", R"({"id":"B"})"},
        {2, 0, R"({"id":"C"})", ""}};
    std::string text;
    settle::detail::append_images(text, images);
    CHECK(contains(text, R"({"participant":1,"line":7,"before":null,"after":{"id":"B"}})"));
    CHECK(settle::detail::decode_images(text).value() == images);
    CHECK(settle::detail::decode_images("").value().empty());
    CHECK(settle::detail::decode_images("[]").value().empty());
}

TEST_CASE("sqlite marks: damaged images are refused with their position") {
    auto const problem_of = [](std::string_view text) {
        return settle::detail::decode_images(text).problem().message();
    };
    CHECK(contains(problem_of("{}"), "expected an array"));
    CHECK(contains(problem_of(R"([{"participant":-1}])"), "at [0].participant"));
    CHECK(contains(problem_of(R"([{"before":{"x":[1]}}])"), "at [0].before.x"));
    CHECK(contains(problem_of(R"([{"then":1}])"), "an image has no such member"));
    CHECK(contains(problem_of(R"([{"line":0},])"), "byte"));
}

TEST_CASE("sqlite marks: results hold their values as JSON and are read back byte by byte") {
    std::vector<settle::kept_result> const results{
        {0, 0, R"({"id":"A","x":null,"big":9223372036854775807,"all":[1,[],{"b":true}]})"},
        {1, 7, R"("\"q\" \\ \n")"},
        {2, 0, "null"},
        {3, 0, ""}};
    std::string text;
    settle::detail::append_results(text, results);
    CHECK(contains(text, R"({"participant":2,"line":0,"value":null},{"participant":3,"line":0}])"));
    CHECK(settle::detail::decode_results(text).value() == results);
    CHECK(settle::detail::decode_results("").value().empty());
    CHECK(settle::detail::decode_results("[]").value().empty());
}

TEST_CASE("sqlite marks: damaged results are refused with their position") {
    auto const problem_of = [](std::string_view text) {
        return settle::detail::decode_results(text).problem().message();
    };
    CHECK(contains(problem_of(R"([{"line":-1}])"), "at [0].line"));
    CHECK(contains(problem_of(R"([{"value":}])"), "byte"));
    CHECK(contains(problem_of(R"([{"before":1}])"), "a result has no such member"));
}

} // namespace
TEST_CASE("sqlite marks: a stray mark that cannot be undone does not delay others") {
    folder const folder;
    settle::sqlite::database db{folder.file()};
    auto engine = engine_on(db);
    for (auto const* key : {"A", "B", "C"}) {
        engine.create(items, item{key, 10}).value();
        settle::testing::faulty fragile{db};
        settle::engine worker{fragile, settle::two_phases, settle::type<take_type>};
        fragile.plan(settle::testing::fault_at(3, settle::testing::fault_kind::crash_before));
        CHECK_THROWS_AS(static_cast<void>(worker.run<take_type>(key, change{key, 4, "", {}})),
                        settle::testing::crash);
    }
    CHECK(engine.marks().value() == 3);
    sql(folder.file(), "UPDATE settle_entry SET state = 9 WHERE id = 'A'");
    sql(folder.file(), "DELETE FROM settle_entry WHERE id <> 'A'");
    sql(folder.file(), "UPDATE settle_mark SET undo = '[' WHERE id = 'B'");
    auto const swept = engine.sweep();
    CHECK(swept.looked_at == 3);
    CHECK(swept.undone == 1);
    CHECK(swept.tombstones == 2);
    CHECK(swept.problem.empty());
    REQUIRE(swept.skipped.size() == 2);
    CHECK(swept.skipped[0].id == "A");
    CHECK(contains(swept.skipped[0].problem.text, "the entry 'A' is damaged"));
    CHECK(swept.skipped[1].id == "B");
    CHECK(contains(swept.skipped[1].problem.text, "in the table settle_mark"));
    CHECK(engine.read(items, "C").value()->amount == 10);
}

} // namespace sqlite_test
