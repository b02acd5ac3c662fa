// SPDX-License-Identifier: BSL-1.0
// An expression of a definition as SQL text, with a check that every number fits 64 bits.
#pragma once

#include <settle/definition/transaction.hpp>
#include <settle/sqlite/connection/row.hpp>

SETTLE_BEGIN
namespace sqlite {

/// SQL of a value or of a condition. Parameters and lines are numbered `?`s.
struct expression_sql {
    std::string value;
    /// 1 when every number stays within 64 bits. SQLite would continue with a REAL, so a value
    /// is valid only under this condition.
    std::string fits{};
    int bound = 0; ///< the number of the last `?`
};

namespace detail {

template <typename E>
inline constexpr bool is_arithmetic = false;
template <operation_kind Operation, typename L, typename R>
inline constexpr bool is_arithmetic<binary_expression<Operation, L, R>> =
    Operation <= operation_kind::multiply;
template <typename E>
inline constexpr bool is_arithmetic<unary_expression<operation_kind::negate, E>> = true;

/// Writes the nodes of one expression from left to right.
template <Described Record>
class expression_writer {
public:
    explicit expression_writer(int first) { made_.bound = first - 1; }

    template <typename E>
    expression_sql write(E const& expression) && {
        made_.value = text(expression);
        if constexpr (is_arithmetic<E>) must_fit(made_.value);
        if (made_.fits.empty()) made_.fits = "1";
        return std::move(made_);
    }

private:
    template <typename E>
    static constexpr bool may_be_null = std::is_same_v<typename E::type, std::nullopt_t> ||
                                        field_traits<typename E::type>::optional;
    template <typename E>
    static constexpr bool is_text =
        std::is_same_v<typename field_traits<typename E::type>::plain_type, std::string>;

    /// A REAL stays a REAL through + - *, so a check of the outermost number covers all inner
    /// numbers.
    void must_fit(std::string const& number) {
        if (!made_.fits.empty()) made_.fits += " AND ";
        made_.fits.append("typeof(").append(number).append(") = 'integer'");
    }

    template <auto Member>
    std::string text(field_expression<Member> const&) {
        return quoted_name(member<Record, member_index<Record, Member>>::name);
    }
    template <auto... Path>
    std::string text(param_expression<Path...> const&) {
        return "?" + std::to_string(++made_.bound);
    }
    template <auto... Path>
    std::string text(line_expression<Path...> const&) {
        return "?" + std::to_string(++made_.bound);
    }
    std::string text(none_expression const&) { return "NULL"; }
    template <settle::detail::literal_value Value>
    std::string text(literal_expression<Value> const&) {
        return constant(literal_expression<Value>::get());
    }
    template <typename T>
    std::string text(constant_expression<T> const& expression) {
        return constant(expression.value);
    }

    template <operation_kind Operation, typename E>
    std::string text(unary_expression<Operation, E> const& node) {
        // The blank keeps two minus signs from being a comment.
        return (Operation == operation_kind::negate ? "(- " : "(NOT ") + text(node.operand) + ")";
    }
    template <operation_kind Operation, typename L, typename R>
    std::string text(binary_expression<Operation, L, R> const& node) {
        std::string const left = text(node.left);
        std::string const right = text(node.right);
        constexpr auto sign = sign_of<Operation, may_be_null<L> || may_be_null<R>>();
        std::string sql{"("};
        sql.append(left).append(sign).append(right);
        if constexpr (Operation >= operation_kind::equal &&
                      Operation <= operation_kind::greater_equal) {
            if constexpr (is_arithmetic<L>) must_fit(left);
            if constexpr (is_arithmetic<R>) must_fit(right);
            // Texts are compared by their bytes, whatever the column's collation.
            if constexpr (is_text<L> || is_text<R>) sql += " COLLATE BINARY";
        }
        return sql + ")";
    }

    template <operation_kind Operation, bool Null>
    static constexpr std::string_view sign_of() {
        switch (Operation) {
        case operation_kind::add: return " + ";
        case operation_kind::subtract: return " - ";
        case operation_kind::multiply: return " * ";
        case operation_kind::equal: return Null ? " IS " : " = ";
        case operation_kind::unequal: return Null ? " IS NOT " : " <> ";
        case operation_kind::less: return " < ";
        case operation_kind::less_equal: return " <= ";
        case operation_kind::greater: return " > ";
        case operation_kind::greater_equal: return " >= ";
        case operation_kind::both: return " AND ";
        default: return " OR ";
        }
    }

    template <typename T>
    static std::string constant(T const& value) {
        if constexpr (std::is_same_v<T, std::string_view>) {
            std::string quoted = "'";
            for (char const one : value) quoted.append(one == '\'' ? 2U : 1U, one);
            return quoted + "'";
        } else {
            std::int64_t const number = to_integer(value);
            // SQL has no negative literals, and the least number without its sign would be a REAL.
            if (number == std::numeric_limits<std::int64_t>::min()) {
                return "(-9223372036854775807 - 1)";
            }
            return number < 0 ? "(" + std::to_string(number) + ")" : std::to_string(number);
        }
    }

    expression_sql made_;
};

} // namespace detail

/// Lowers an expression over the columns of a record's table.
/// Shape:   first - the number of its first `?`
/// Errors:  none at run time: `fits` is 0 or NULL exactly when settle::evaluate reports `overflow`
template <Described Record, Expression E>
[[nodiscard]] expression_sql lower(E const& expression, int first = 1) {
    return detail::expression_writer<Record>{first}.write(expression);
}

namespace detail {

template <typename E, typename Scope>
void bind_leaf(run&, E const&, Scope const&) {}
template <auto... Path, typename Scope>
void bind_leaf(run& to, param_expression<Path...> const&, Scope const& scope_values) {
    bind_field(to, settle::detail::follow<Path...>(*scope_values.parameters));
}
template <auto... Path, typename Scope>
void bind_leaf(run& to, line_expression<Path...> const&, Scope const& scope_values) {
    bind_field(to, settle::detail::follow<Path...>(*scope_values.line));
}

/// Binds the values of the `?`s of a lowered expression, in their order. Texts must outlive the
/// run.
template <typename E, typename Scope>
void bind_expression(run& to, E const& expression, Scope const& scope_values) {
    if constexpr (requires { expression.left; }) {
        bind_expression(to, expression.left, scope_values);
        bind_expression(to, expression.right, scope_values);
    } else if constexpr (requires { expression.operand; }) {
        bind_expression(to, expression.operand, scope_values);
    } else {
        bind_leaf(to, expression, scope_values);
    }
}

} // namespace detail
} // namespace sqlite
SETTLE_END
