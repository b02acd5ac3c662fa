// SPDX-License-Identifier: BSL-1.0
// The laws of a transaction type, also in SQLite: marks in their stored form, expressions as SQL.
#pragma once

#include "expression_sql.hpp"

#include <mark_columns.hpp>

#include <settle/sqlite/records/record_sql.hpp>
#include <settle/sqlite/records/table_check.hpp>
#include <settle/testing/laws.hpp>

#include <functional>

SETTLE_BEGIN
namespace sqlite {

/// Writes each mark into the columns in which SQLite keeps it, and reads it back.
struct stored_marks {
    template <Described Record>
    std::string mark(settle::mark<Record> const& mark, std::optional<Record> const& record) const {
        auto const columns = settle_test::encode_mark(mark);
        settle::mark<Record> read;
        read.id = mark.id;
        read.part = mark.part;
        read.epoch_number = mark.epoch_number;
        error const problem = settle_test::decode_mark<Record>(columns, record, read);
        if (!problem.empty()) return problem.text;
        if (equal(mark, read)) return {};
        return std::string{columns.effect} + ", " + columns.confirm + ", " + columns.undo;
    }

private:
    /// The columns of an exclusive mark keep only the members that its effect changes.
    template <Described Record>
    static bool equal(settle::mark<Record> const& left, settle::mark<Record> const& right) {
        if (!left.is_exclusive() || !right.is_exclusive()) return left == right;
        auto const& left_effect = *left.exclusive;
        auto const& right_effect = *right.exclusive;
        bool same = left_effect.undo_fields == right_effect.undo_fields &&
                    left_effect.confirm_fields == right_effect.confirm_fields &&
                    left_effect.created == right_effect.created &&
                    left_effect.erases == right_effect.erases &&
                    left_effect.image == right_effect.image;
        for_each_member<Record>([&](auto m) {
            auto const keeps = [&](std::uint64_t fields) { return (fields >> m.index & 1U) != 0; };
            same = same && (!keeps(left_effect.undo_fields) ||
                            m.in(left_effect.undone) == m.in(right_effect.undone));
            same = same && (!keeps(left_effect.confirm_fields) ||
                            m.in(left_effect.confirmed) == m.in(right_effect.confirmed));
        });
        return same;
    }
};

namespace detail {

/// The value of an expression, computed in memory or in SQL.
struct computed_value {
    bool overflow = false;
    native_value value{};

    friend bool operator==(computed_value const&, computed_value const&) = default;
};

template <typename T>
[[nodiscard]] native_value native_of(T const& value) {
    if constexpr (std::is_same_v<T, std::nullopt_t>) return {};
    else if constexpr (field_traits<T>::optional) {
        return value ? native_of(*value) : native_value{};
    } else if constexpr (std::is_convertible_v<T, std::string_view>) return std::string{value};
    else if constexpr (std::is_same_v<T, testing::wide>) return static_cast<std::int64_t>(value);
    else return to_integer(value);
}

[[nodiscard]] inline std::string text_of(computed_value const& value) {
    if (value.overflow) return "overflow";
    std::string text;
    append_native(text, value.value);
    return text;
}

/// Random values of everything that an expression may read.
template <typename Collection, typename Parameters, typename Line>
struct expression_case {
    typename Collection::record_type record{};
    Parameters parameters{};
    Line line{};
    std::string sql{};

    template <typename StillFails>
    void shrink(testing::shrinker& shrinker, StillFails const& still_fails) {
        bool better = true;
        while (better && shrinker.has_tries()) {
            better = shrinker.shrink(record, still_fails);
            better = shrinker.shrink(parameters, still_fails) || better;
            if constexpr (Described<Line>) better = shrinker.shrink(line, still_fails) || better;
        }
    }
    [[nodiscard]] std::string describe() const {
        std::string out = sql + "\n  record " + encode_json(record);
        out.append("\n  parameters ").append(encode_json(parameters));
        if constexpr (Described<Line>) out.append("\n  line ").append(encode_json(line));
        return out + '\n';
    }
};

/// One expression with its three computations. The type of the expression is erased: there are
/// many such types.
template <typename Case>
struct computations {
    expression_sql sql;
    std::function<computed_value(Case const&)> in_memory;
    std::function<computed_value(Case const&)> in_wide_numbers;
    std::function<void(run&, Case const&)> bind;
};

template <typename Case, typename E>
[[nodiscard]] computations<Case> computations_of(E const& expression) {
    using record = decltype(Case::record);
    using parameters = decltype(Case::parameters);
    using line = decltype(Case::line);
    auto const scope_of = [](Case const& test_case, bool& overflow) {
        return scope<record, parameters, line>{&test_case.record, &test_case.parameters,
                                               &test_case.line, &overflow};
    };
    auto const in_memory = [=](Case const& test_case) {
        computed_value value;
        value.value = native_of(evaluate(expression, scope_of(test_case, value.overflow)));
        if (value.overflow) value.value = {};
        return value;
    };
    auto const in_wide_numbers = [=](Case const& test_case) {
        testing::laws::plain_scope<record, parameters, line> plain_scope{
            &test_case.record, &test_case.parameters, &test_case.line};
        computed_value value;
        value.value = native_of(testing::laws::plain_value(expression, plain_scope));
        value.overflow = plain_scope.overflow;
        if (value.overflow) value.value = {};
        return value;
    };
    auto const bind = [=](run& to, Case const& test_case) {
        bool ignored = false;
        bind_expression(to, expression, scope_of(test_case, ignored));
    };
    return {lower<record>(expression), in_memory, in_wide_numbers, bind};
}

/// A table of one row, on which SQLite computes.
template <typename Collection, typename Case>
class calculator {
public:
    explicit calculator(expression_sql const& sql) : on_(":memory:", std::chrono::milliseconds{0}) {
        auto const need = need_of(settle::detail::descriptor_of_collection<Collection>);
        on_.execute(create_sql(need), "create a table");
        insert_ = statement{on_, record_sql{need}.insert(), "insert a row"};
        erase_ = statement{on_, "DELETE FROM " + quoted_name(need.name), "erase a row"};
        auto const select = "SELECT " + sql.fits + ", " + sql.value + " FROM ";
        compute_ = statement{on_, select + quoted_name(need.name), "compute"};
    }

    [[nodiscard]] computed_value compute(computations<Case> const& by, Case const& values) const {
        run{erase_}.change();
        run row{insert_};
        for_each_member<decltype(Case::record)>(
            [&](auto m) { bind_field(row, m.in(values.record)); });
        row.change();
        run answer{compute_};
        by.bind(answer, values);
        answer.next();
        if (answer.integer(0) != 1) return {true, {}};
        return {false, read_native_column(answer, 1)};
    }

private:
    connection on_;
    statement insert_;
    statement erase_;
    statement compute_;
};

/// Checks that an expression has the same value in memory, in SQL and in 128-bit arithmetic.
template <typename Collection, typename Case>
void check_computations(testing::law_report& report, testing::value_source& source,
                        std::uint64_t rounds, computations<Case> const& by) {
    calculator<Collection, Case> const sqlite{by.sql};
    auto const draw = [&] {
        source.begin_case();
        Case test_case;
        source.fill(test_case.record);
        source.fill(test_case.parameters);
        if constexpr (Described<decltype(Case::line)>) source.fill(test_case.line);
        test_case.sql = by.sql.value;
        return test_case;
    };
    auto const check = [&](Case const& test_case) -> testing::broken_law {
        auto const in_memory = by.in_memory(test_case);
        auto const in_wide = by.in_wide_numbers(test_case);
        if (in_memory != in_wide) {
            return {"an expression has its value in 128-bit arithmetic",
                    text_of(in_memory) + ", expected " + text_of(in_wide)};
        }
        auto const in_sql = sqlite.compute(by, test_case);
        if (in_memory == in_sql) return {};
        return {"an expression has the same value in memory and in SQL",
                text_of(in_memory) + " in memory, " + text_of(in_sql) + " in SQL"};
    };
    testing::laws::try_cases(report, rounds, draw, check);
}

template <typename Collection, typename Parameters, typename Line, typename E>
void check_expression(testing::law_report& report, testing::value_source& source,
                      std::uint64_t rounds, E const& expression) {
    using case_type = expression_case<Collection, Parameters, Line>;
    testing::learn_from(source, expression);
    check_computations<Collection>(report, source, rounds, computations_of<case_type>(expression));
}

template <auto const& Type, std::size_t Index>
void check_participant(testing::law_report& report, testing::value_source& source,
                       std::uint64_t rounds) {
    using direction = forward<Type>;
    auto const& part = direction::template description<Index>();
    auto const check = [&](auto const& expression) {
        check_expression<typename direction::template target_of<Index>,
                         typename direction::parameters,
                         typename direction::template element_of<Index>>(report, source, rounds,
                                                                         expression);
    };
    auto const check_moment = [&](auto const& moment) {
        if constexpr (settle::detail::is_moment<std::remove_cvref_t<decltype(moment)>>) {
            for_each_element(moment.effects, [&](auto const& effect) { check(effect.operand); });
        }
    };
    check(part.key);
    for_each_element(part.guards,
                     [&](auto const& guard) { check(testing::laws::expression_in(guard)); });
    check_moment(part.applying);
    check_moment(part.confirming);
}

} // namespace detail

/// Computes expressions from random records, parameters and lines, in memory, in SQL and in 128-bit
/// arithmetic.
/// Shape:   Collection - of the record whose fields the expressions read; rounds - for each
///          expression
/// Errors:  the report is false and holds the shortest case found
template <typename Collection, typename Parameters, typename Line = nothing, Expression... E>
[[nodiscard]] testing::law_report check_expressions(std::uint64_t seed, std::uint64_t rounds,
                                                    E const&... expressions) {
    testing::law_report report;
    testing::value_source source{seed};
    (detail::check_expression<Collection, Parameters, Line>(report, source, rounds, expressions),
     ...);
    return report;
}

/// As settle::testing::check_laws. Also writes and reads every mark in the form in which SQLite
/// keeps it, and has SQLite compute every expression of the type.
/// Example: tests/unit/laws_sqlite.cpp
template <auto const& Type>
[[nodiscard]] testing::law_report check_laws(std::uint64_t seed = 1, std::uint64_t rounds = 2000) {
    auto report = testing::check_laws<Type>(seed, rounds, stored_marks{});
    testing::value_source source{seed};
    testing::learn_from_type(source, Type);
    forward<Type>::for_each_participant([&](auto index) {
        if (report) detail::check_participant<Type, index>(report, source, rounds / 4);
    });
    using first = typename forward<Type>::template target_of<0>;
    for_each_element(Type.guards, [&](auto const& guard) {
        if (!report) return;
        detail::check_expression<first, typename forward<Type>::parameters, nothing>(
            report, source, rounds / 4, guard.condition);
    });
    return report;
}

} // namespace sqlite
SETTLE_END
