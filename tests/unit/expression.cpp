// SPDX-License-Identifier: BSL-1.0
// The values of expressions: every operator on every kind of field, and the limits of 64 bits.
#include <settle/definition/evaluate.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace expressions {

enum class phase : std::uint8_t { first = 1, last = 200 };
using instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

struct base {
    std::int64_t inherited = 0;
};
struct record : base {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    std::uint8_t tiny = 0;
    std::string text;
    bool flag = false;
    phase stage = phase::first;
    instant when{};
    std::optional<std::int32_t> maybe;
    std::optional<std::string> note;
    std::optional<phase> maybe_stage;
};
struct inner {
    std::int64_t depth = 0;
};
struct parameters {
    std::int64_t left = 0;
    std::int64_t right = 0;
    std::uint32_t unsigned_32 = 0;
    std::optional<std::uint32_t> maybe_32;
    std::string text;
    inner nested;
};
struct line {
    std::int64_t quantity = 0;
};

} // namespace expressions

BOOST_HANA_ADAPT_STRUCT(expressions::record, inherited, wide, narrow, tiny, text, flag, stage, when,
                        maybe, note, maybe_stage);

namespace {

using namespace expressions;
using settle::field;
using settle::lit;
using settle::param;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

/// An expression's value with the objects that it reads; `overflow` is set when a step left 64
/// bits.
struct bench {
    expressions::record record;
    expressions::parameters parameters;
    expressions::line line;
    bool overflow = false;

    template <typename E>
    auto operator()(E const& expression) {
        overflow = false;
        settle::scope<expressions::record, expressions::parameters, expressions::line> const at{
            &record, &parameters, &line, &overflow};
        return settle::evaluate(expression, at);
    }
};

constexpr auto left = param<&parameters::left>;
constexpr auto right = param<&parameters::right>;

/// The expected overflow is computed with another type than the type under test.
__extension__ using wide_integer = __int128;
bool fits(wide_integer value) { return value >= least && value <= greatest; }

} // namespace

TEST_SUITE("definition: expressions") {
    TEST_CASE("expression: fields, parameters, lines and literals give their values") {
        bench bench;
        bench.record.wide = -7;
        bench.record.inherited = 11;
        bench.record.text = "abc";
        bench.parameters.nested.depth = 5;
        bench.line.quantity = 9;
        CHECK(bench(field<&record::wide>) == -7);
        CHECK(bench(field<&record::inherited>) == 11);
        CHECK(bench(field<&record::text>) == "abc");
        CHECK(bench(param<&parameters::nested, &inner::depth>) == 5);
        CHECK(bench(settle::line<&line::quantity>) == 9);
        CHECK(bench(lit<42>) == 42);
        CHECK(bench(lit<"text">) == "text");
        CHECK(bench(lit<true>) == true);
        CHECK(bench(lit<phase::last>) == phase::last);
        // Texts are looked at where they stand.
        CHECK(bench(field<&record::text>).data() == bench.record.text.data());
    }

    TEST_CASE("expression: sums, differences and products report every overflow") {
        std::int64_t const edges[]{
            least, least + 1, least / 2, -3000000000, -2,           -1,           0,
            1,     2,         3,         3000000000,  greatest / 2, greatest - 1, greatest};
        bench bench;
        for (std::int64_t const a : edges) {
            for (std::int64_t const b : edges) {
                bench.parameters.left = a;
                bench.parameters.right = b;
                INFO(a, " and ", b);
                auto const check = [&](auto const& expression, wide_integer truth) {
                    std::int64_t const value = bench(expression);
                    CHECK(bench.overflow == !fits(truth));
                    if (fits(truth)) CHECK(value == static_cast<std::int64_t>(truth));
                };
                check(left + right, static_cast<wide_integer>(a) + b);
                check(left - right, static_cast<wide_integer>(a) - b);
                check(left * right, static_cast<wide_integer>(a) * b);
                check(-left, -static_cast<wide_integer>(a));
            }
        }
    }

    TEST_CASE("expression: an overflow is reported even where it would not decide") {
        bench bench;
        bench.parameters.left = greatest;
        bench.parameters.right = 1;
        CHECK(bench(lit<true> || left + right > lit<0>) == true);
        CHECK(bench.overflow);
        CHECK(bench(lit<false> && left + right > lit<0>) == false);
        CHECK(bench.overflow);
        // A sum that overflows on the way stays an overflow.
        bench(left + right - right);
        CHECK(bench.overflow);
        bench(left - right + right);
        CHECK_FALSE(bench.overflow);
    }

    TEST_CASE("expression: comparisons agree with the numbers in both spellings") {
        std::int64_t const numbers[]{least, -1, 0, 1, greatest};
        bench bench;
        for (std::int64_t const a : numbers) {
            for (std::int64_t const b : numbers) {
                bench.record.wide = a;
                bench.parameters.left = b;
                constexpr auto wide = field<&record::wide>;
                CHECK(bench(wide == left) == (a == b));
                CHECK(bench(wide != left) == (a != b));
                CHECK(bench(wide < left) == (a < b));
                CHECK(bench(wide <= left) == (a <= b));
                CHECK(bench(wide > left) == (a > b));
                CHECK(bench(wide >= left) == (a >= b));
                CHECK(bench(left < wide) == (b < a));
                CHECK_FALSE(bench.overflow);
            }
        }
        CHECK(bench(field<&record::wide> == greatest));
        CHECK(bench(least < field<&record::wide>));
    }

    TEST_CASE("expression: integers of all widths and signs are compared by value") {
        bench bench;
        bench.record.narrow = -1;
        bench.record.tiny = 255;
        bench.parameters.unsigned_32 = 4294967295U;
        CHECK(bench(field<&record::narrow> < param<&parameters::unsigned_32>));
        CHECK(bench(field<&record::narrow> != param<&parameters::unsigned_32>));
        CHECK(bench(field<&record::tiny> + param<&parameters::unsigned_32>) == 4294967550);
        // The same bits, as optionals: -1 is not 4294967295.
        bench.record.maybe = -1;
        bench.parameters.maybe_32 = 4294967295U;
        CHECK_FALSE(bench(field<&record::maybe> == param<&parameters::maybe_32>));
        CHECK_FALSE(bench(field<&record::maybe> == param<&parameters::unsigned_32>));
        bench.parameters.maybe_32 = 7U;
        bench.record.maybe = 7;
        CHECK(bench(field<&record::maybe> == param<&parameters::maybe_32>));
    }

    TEST_CASE("expression: texts are compared byte by byte") {
        bench bench;
        bench.record.text = "b";
        bench.parameters.text = "b";
        CHECK(bench(field<&record::text> == param<&parameters::text>));
        CHECK(bench(field<&record::text> > "a"));
        CHECK(bench(field<&record::text> < lit<"ba">));
        CHECK(bench("c" >= field<&record::text>));
        // Bytes are unsigned, as every store compares them.
        bench.record.text = "\xc3\xa9";
        CHECK(bench(field<&record::text> > "z"));
        bench.record.text = std::string{"b\0c", 3};
        CHECK(bench(field<&record::text> != param<&parameters::text>));
    }

    TEST_CASE("expression: conditions are joined and negated") {
        bench bench;
        for (bool const a : {false, true}) {
            for (bool const b : {false, true}) {
                bench.record.flag = a;
                bench.parameters.left = b ? 1 : 0;
                constexpr auto flag = field<&record::flag>;
                CHECK(bench(flag && left == lit<1>) == (a && b));
                CHECK(bench(flag || left == lit<1>) == (a || b));
                CHECK(bench(!flag) == !a);
                CHECK(bench(!(flag && left == lit<1>)) == !(a && b));
                CHECK(bench(flag == false) == !a);
            }
        }
    }

    TEST_CASE("expression: enums, times and optional values are compared") {
        bench bench;
        bench.record.stage = phase::last;
        CHECK(bench(field<&record::stage> == phase::last));
        CHECK(bench(lit<phase::first> != field<&record::stage>));
        bench.record.when = instant{std::chrono::milliseconds{-5}};
        CHECK(bench(field<&record::when> < instant{}));
        CHECK(bench(field<&record::maybe> == std::nullopt));
        CHECK(bench(field<&record::note> == std::nullopt));
        CHECK_FALSE(bench(field<&record::note> == ""));
        CHECK_FALSE(bench(field<&record::maybe> == 0));
        bench.record.note = "";
        bench.record.maybe = 0;
        bench.record.maybe_stage = phase::last;
        CHECK(bench(field<&record::note> == ""));
        CHECK(bench(field<&record::maybe> == lit<0>));
        CHECK(bench(field<&record::maybe_stage> == phase::last));
        CHECK(bench(field<&record::maybe_stage> != std::nullopt));
        CHECK(bench(field<&record::maybe_stage> != phase::first));
    }

    TEST_CASE("expression: a value is stored exactly, else the overflow is reported") {
        bool overflow = false;
        std::int32_t narrow = 5;
        settle::store_value(narrow, std::int64_t{-2147483648}, overflow);
        CHECK(narrow == std::numeric_limits<std::int32_t>::min());
        CHECK_FALSE(overflow);
        settle::store_value(narrow, std::int64_t{2147483648}, overflow);
        CHECK(overflow);
        CHECK(narrow == std::numeric_limits<std::int32_t>::min());

        overflow = false;
        std::uint8_t tiny = 1;
        settle::store_value(tiny, std::int64_t{-1}, overflow);
        CHECK(overflow);
        CHECK(tiny == 1);

        overflow = false;
        bench bench;
        bench.record.maybe = 7;
        std::optional<std::int32_t> maybe;
        settle::store_value(maybe, bench(field<&record::maybe>), overflow);
        CHECK(maybe == 7);
        settle::store_value(maybe, bench(lit<8>), overflow);
        CHECK(maybe == 8);
        settle::store_value(maybe, bench(field<&record::maybe>), overflow);
        bench.record.maybe.reset();
        settle::store_value(maybe, bench(field<&record::maybe>), overflow);
        CHECK_FALSE(maybe.has_value());
        maybe = 1;
        settle::store_value(maybe, std::nullopt, overflow);
        CHECK_FALSE(maybe.has_value());

        std::optional<std::string> note;
        bench.record.note = "kept";
        settle::store_value(note, bench(field<&record::note>), overflow);
        CHECK(note == "kept");
        settle::store_value(note, bench(lit<"again">), overflow);
        CHECK(note == "again");
        phase stage = phase::first;
        settle::store_value(stage, bench(lit<phase::last>), overflow);
        CHECK(stage == phase::last);
        CHECK_FALSE(overflow);
    }

    TEST_CASE("expression: stored integers are read as values, and invalid ones are refused") {
        phase stage = phase::first;
        CHECK(settle::from_integer(200, stage));
        CHECK(stage == phase::last);
        CHECK_FALSE(settle::from_integer(256, stage));
        CHECK_FALSE(settle::from_integer(-1, stage));
        bool flag = false;
        CHECK(settle::from_integer(1, flag));
        CHECK(flag);
        CHECK_FALSE(settle::from_integer(2, flag));
        instant when{};
        CHECK(settle::from_integer(least, when));
        CHECK(settle::to_integer(when) == least);
        CHECK(settle::to_integer(phase::last) == 200);
    }

    TEST_CASE("expression: it names the fields that it reads") {
        constexpr auto wide_and_text =
            !(field<&record::wide> + left > lit<0>) || field<&record::text> == "a";
        constexpr std::uint64_t read =
            settle::detail::fields_in<record, std::remove_const_t<decltype(wide_and_text)>>::value;
        CHECK(read == ((std::uint64_t{1} << settle::member_index<record, &record::wide>) |
                       (std::uint64_t{1} << settle::member_index<record, &record::text>)));
    }
}
