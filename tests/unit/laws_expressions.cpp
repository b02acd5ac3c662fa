// SPDX-License-Identifier: BSL-1.0
// Every operator has the same value in memory, in SQL and in 128 bits, for every kind of field.
#include "sqlite_laws.hpp"

#include <unit/laws_types.hpp>

#include <doctest/doctest.h>

namespace {

using namespace law_test;

/// Checks each expression with 400 random records and parameters.
template <typename... E>
void agree(E const&... expressions) {
    auto const report =
        settle::sqlite::check_expressions<things_type, request, row>(1, 400, expressions...);
    CHECK(report);
    CHECK(report.cases == 400 * sizeof...(E));
}

/// The six comparisons, in both orders.
template <typename L, typename R>
void agree_ordered(L const& left, R const& right) {
    agree(left == right, left != right, left<right, left <= right, left> right, left >= right,
          right == left, right != left, right<left, right <= left, right> left, right >= left);
}
template <typename L, typename R>
void agree_equal(L const& left, R const& right) {
    agree(left == right, left != right, right == left, right != left);
}

/// Evaluates the guards that the plan makes from a condition; nothing on an overflow.
template <typename Condition, typename S>
std::optional<bool> planned(Condition const& condition, S state) {
    bool hold = true;
    for_each_element(settle::detail::normal_guards(condition), [&](auto const& guard) {
        using guard_type = std::remove_cvref_t<decltype(guard)>;
        if constexpr (requires { guard_type::side; }) {
            auto const value = (*state.record).*guard_type::member;
            auto const limit = settle::testing::laws::plain_value(guard.limit, state);
            bool const lower = guard_type::side == settle::bound_side::lower;
            hold = hold && (lower ? value >= limit : value <= limit);
        } else {
            hold = settle::testing::laws::plain_value(guard.condition, state) && hold;
        }
    });
    if (state.overflow) return std::nullopt;
    return hold;
}

/// Checks that the normal form of every condition has the value of its written form.
template <typename... Condition>
void check_normal_form(Condition const&... conditions) {
    settle::testing::value_source source{1};
    (settle::testing::learn_from(source, conditions), ...);
    int compared = 0;
    for (int round = 0; round < 500; ++round) {
        source.begin_case();
        auto const record = source.draw<thing>();
        auto const parameters = source.draw<request>();
        auto const check = [&](auto const& condition) {
            settle::testing::laws::plain_scope<thing, request, settle::nothing> scope{
                &record, &parameters, nullptr};
            auto const actual = planned(condition, scope);
            bool const expected = settle::testing::laws::plain_value(condition, scope);
            if (!actual || scope.overflow) return;
            ++compared;
            CHECK_MESSAGE(*actual == expected, settle::sqlite::lower<thing>(condition).value);
        };
        (check(conditions), ...);
    }
    CHECK(compared > 100 * static_cast<int>(sizeof...(Condition)));
}

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

} // namespace

TEST_CASE("laws: integers of every width are compared alike in memory and in SQL") {
    agree_ordered(field<&thing::wide>, param<&request::amount>);
    agree_ordered(field<&thing::wide>, field<&thing::count>);
    agree_ordered(field<&thing::byte>, field<&thing::tiny>);
    agree(field<&thing::word> < param<&request::count>, field<&thing::half> >= field<&thing::port>,
          line<&row::few> == field<&thing::half>, line<&row::amount> > field<&thing::other>);
    agree(field<&thing::wide> >= least, field<&thing::wide> > lit<least>,
          field<&thing::wide> == most, field<&thing::wide> <= -5, lit<-1> != field<&thing::tiny>);
}

TEST_CASE("laws: sums and products are the same in memory and in SQL, or overflow in both") {
    auto const wide = field<&thing::wide>;
    auto const amount = param<&request::amount>;
    agree(wide + amount, wide - amount, amount - wide, wide * amount, -wide, -(-amount), wide + 1,
          1 - wide, wide * lit<-1>, lit<least> + wide, wide - lit<least>);
    agree((wide + amount) * param<&request::other>, wide * amount - line<&row::amount>,
          -(wide - amount) + 7, (wide + amount) - (wide - amount), (wide + amount) * 0,
          (wide * wide) - (wide * wide));
    agree(field<&thing::word> * field<&thing::count>, field<&thing::byte> - field<&thing::tiny>,
          field<&thing::half> * field<&thing::port> + field<&thing::word>);
}

TEST_CASE("laws: a sum that overflows does so in SQL in any expression") {
    auto const wide = field<&thing::wide>;
    auto const amount = param<&request::amount>;
    agree_ordered(wide + amount, param<&request::other>);
    agree_ordered(wide * amount, wide - amount);
    agree(wide + amount > 0 || field<&thing::open>, field<&thing::open> && wide * amount < 0,
          !(wide - amount == 0), (wide + amount > 0) == field<&thing::open>,
          field<&thing::limit> == -wide, param<&request::share> != wide + amount);
}

TEST_CASE("laws: conditions are joined alike in memory and in SQL") {
    auto const open = field<&thing::open>;
    auto const requested = param<&request::open>;
    auto const more = field<&thing::wide> > param<&request::amount>;
    agree(open && requested, open || requested, !open, !requested, open && more, more || !open,
          !(open && more) || (requested && !more), open == requested, open != requested,
          open == true, false != open, (open || more) == requested, !(more == open),
          field<&thing::seen> && open);
}

TEST_CASE("laws: texts are compared by their bytes in memory and in SQL") {
    agree_ordered(field<&thing::label>, param<&request::label>);
    agree_ordered(field<&thing::label>, field<&thing::title>);
    agree_ordered(field<&thing::id>, line<&row::id>);
    agree(field<&thing::label> == "it's", field<&thing::label> < lit<"a">,
          field<&thing::label> > "\xc3\xa4\"", field<&thing::title> != "");
}

TEST_CASE("laws: enums and times are compared alike in memory and in SQL") {
    agree_equal(field<&thing::shade>, param<&request::shade>);
    agree_equal(field<&thing::extent>, param<&request::extent>);
    agree(field<&thing::shade> == colour::red, size::large != field<&thing::extent>);
    agree_ordered(field<&thing::made>, param<&request::made>);
    agree_ordered(field<&thing::due>, param<&request::due>);
    agree(field<&thing::made> >= second{}, field<&thing::due> < day{std::chrono::days{-1}});
}

TEST_CASE("laws: optional values are equal or none alike in memory and in SQL") {
    agree_equal(field<&thing::limit>, param<&request::limit>);
    agree_equal(field<&thing::limit>, param<&request::share>);
    agree_equal(field<&thing::share>, field<&thing::wide>);
    agree_equal(field<&thing::note>, param<&request::note>);
    agree_equal(field<&thing::note>, field<&thing::label>);
    agree_equal(field<&thing::flag>, param<&request::flag>);
    agree_equal(field<&thing::flag>, field<&thing::open>);
    agree_equal(field<&thing::tint>, param<&request::tint>);
    agree_equal(field<&thing::tint>, field<&thing::shade>);
    agree_equal(field<&thing::ended>, param<&request::ended>);
    agree_equal(field<&thing::limit>, std::nullopt);
    agree_equal(field<&thing::note>, std::nullopt);
    agree(field<&thing::limit> == 5, field<&thing::note> != "note", field<&thing::flag> == true,
          field<&thing::tint> == colour::blue, field<&thing::ended> == second{});
}

TEST_CASE("laws: the normal form of a guard has the same meaning") {
    auto const wide = field<&thing::wide>;
    auto const tiny = field<&thing::tiny>;
    auto const amount = param<&request::amount>;
    auto const other = param<&request::other>;
    check_normal_form(wide >= amount, wide > amount, wide <= amount, wide < amount, wide == amount,
                      wide != amount, amount >= wide, amount > wide, amount <= wide, amount < wide);
    check_normal_form(wide - amount >= 0, wide + amount > other,
                      amount - wide<other, amount - wide >= other, 5> wide - amount,
                      amount + wide <= other, wide - amount * 2 - other > 0,
                      other - (wide - amount) < 7, amount - (other - wide) > 1,
                      100 - tiny >= param<&request::tiny>);
    check_normal_form(wide >= 0 && wide < amount && field<&thing::open>, wide + tiny > amount,
                      amount > other && tiny > -3, !(wide > amount), wide > 0 || amount > 0,
                      -wide < amount, wide * 2 >= amount);
}

TEST_CASE("laws: an expression has its expected SQL text") {
    auto const sql = settle::sqlite::lower<thing>(
        field<&thing::wide> - param<&request::amount> >= lit<-1> && field<&thing::label> != "it's");
    CHECK(sql.value == R"=(((("wide" - ?1) >= (-1)) AND ("label" <> 'it''s' COLLATE BINARY)))=");
    CHECK(sql.fits == R"=(typeof(("wide" - ?1)) = 'integer')=");
    CHECK(sql.bound == 1);
    auto const none = settle::sqlite::lower<thing>(field<&thing::note> == std::nullopt, 4);
    CHECK(none.value == R"=(("note" IS NULL COLLATE BINARY))=");
    CHECK(none.fits == "1");
    CHECK(none.bound == 3);
}
