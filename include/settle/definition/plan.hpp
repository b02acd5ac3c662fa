// SPDX-License-Identifier: BSL-1.0
// Guards in normal form; an adapter lowers them into its own language.
#pragma once

#include <settle/definition/collection.hpp>
#include <settle/definition/evaluate.hpp>

#include <boost/hana/concat.hpp>
#include <boost/hana/tuple.hpp>

SETTLE_BEGIN

enum class bound_side : std::uint8_t { lower, upper };

/// `field >= limit` or `field <= limit`, where the limit reads no field. A store can decide it
/// while the record has commuting marks of other transactions.
template <bound_side Side, auto Member, typename Limit>
struct bound_guard {
    static constexpr bound_side side = Side;
    static constexpr auto member = Member;
    using expression_type = Limit;
    Limit limit;
};

/// Any other condition on the record: no mark may change a field that it reads.
template <typename Condition>
struct exact_guard {
    using expression_type = Condition;
    Condition condition;
};

/// A condition on the parameters alone; the engine decides it before any write.
template <typename Condition>
struct premise_guard {
    using expression_type = Condition;
    Condition condition;
};

namespace detail {

constexpr bool is_upper(operation_kind kind) {
    return kind == operation_kind::less || kind == operation_kind::less_equal;
}
constexpr bool is_strict(operation_kind kind) {
    return kind == operation_kind::less || kind == operation_kind::greater;
}
constexpr bound_side flipped(bound_side side) {
    return side == bound_side::lower ? bound_side::upper : bound_side::lower;
}

struct not_a_bound {};

template <typename E>
constexpr bool is_literal_zero() {
    if constexpr (requires { E::get(); } && is_integer_value<typename E::type>) {
        return E::get() == 0;
    } else {
        return false;
    }
}

/// Leaves out a literal 0, so that every spelling of a bound gives the same type.
template <typename L, typename R>
constexpr auto plus(L const& left, R const& right) {
    if constexpr (is_literal_zero<L>()) return right;
    else if constexpr (is_literal_zero<R>()) return left;
    else return left + right;
}
template <typename L, typename R>
constexpr auto minus(L const& left, R const& right) {
    if constexpr (is_literal_zero<R>()) return left;
    else if constexpr (is_literal_zero<L>()) return -right;
    else return left - right;
}

/// Moves every term but one field to the right side, so that `balance - amount >= 0` and
/// `balance >= amount` become the same bound.
template <bound_side Side, bool Strict>
struct peel {
    template <typename L, typename R>
    static constexpr auto from(L const&, R const&) {
        return not_a_bound{};
    }
    template <auto Member, typename R>
    static constexpr auto from(field_expression<Member> const&, R const& limit) {
        if constexpr (!Strict) return bound_guard<Side, Member, R>{limit};
        else if constexpr (Side == bound_side::lower) return bounded<Member>(plus(limit, lit<1>));
        else return bounded<Member>(minus(limit, lit<1>));
    }
    template <typename A, typename B, typename R>
    static constexpr auto from(binary_expression<operation_kind::add, A, B> const& sum,
                               R const& limit) {
        if constexpr (without_fields<B>) return from(sum.left, minus(limit, sum.right));
        else if constexpr (without_fields<A>) return from(sum.right, minus(limit, sum.left));
        else return not_a_bound{};
    }
    template <typename A, typename B, typename R>
    static constexpr auto from(binary_expression<operation_kind::subtract, A, B> const& difference,
                               R const& limit) {
        if constexpr (without_fields<B>) {
            return from(difference.left, plus(limit, difference.right));
        } else if constexpr (without_fields<A>) {
            return peel<flipped(Side), Strict>::from(difference.right,
                                                     minus(difference.left, limit));
        } else {
            return not_a_bound{};
        }
    }

private:
    template <auto Member, typename Limit>
    static constexpr auto bounded(Limit const& limit) {
        return bound_guard<Side, Member, Limit>{limit};
    }
};

template <typename Condition>
constexpr auto normal_guards(Condition const& condition) {
    if constexpr (without_fields<Condition>) {
        return boost::hana::tuple<premise_guard<Condition>>{premise_guard<Condition>{condition}};
    } else {
        return boost::hana::tuple<exact_guard<Condition>>{exact_guard<Condition>{condition}};
    }
}

template <operation_kind Operation, typename L, typename R>
constexpr auto normal_guards(binary_expression<Operation, L, R> const& condition) {
    namespace hana = boost::hana;
    constexpr bool integers =
        is_integer_value<typename L::type> && is_integer_value<typename R::type>;
    constexpr bool ordering =
        Operation >= operation_kind::less && Operation <= operation_kind::greater_equal;
    using whole = binary_expression<Operation, L, R>;
    if constexpr (Operation == operation_kind::both) {
        return hana::concat(normal_guards(condition.left), normal_guards(condition.right));
    } else if constexpr (without_fields<whole>) {
        return hana::tuple<premise_guard<whole>>{premise_guard<whole>{condition}};
    } else if constexpr (integers && ordering && without_fields<L> != without_fields<R>) {
        constexpr bound_side side = is_upper(Operation) ? bound_side::upper : bound_side::lower;
        auto const bound = [&] {
            if constexpr (without_fields<R>) {
                return peel<side, is_strict(Operation)>::from(condition.left, condition.right);
            } else {
                return peel<flipped(side), is_strict(Operation)>::from(condition.right,
                                                                       condition.left);
            }
        }();
        using bound_type = std::remove_const_t<decltype(bound)>;
        if constexpr (std::is_same_v<bound_type, not_a_bound>) {
            return hana::tuple<exact_guard<whole>>{exact_guard<whole>{condition}};
        } else {
            return hana::tuple<bound_type>{bound};
        }
    } else {
        return hana::tuple<exact_guard<whole>>{exact_guard<whole>{condition}};
    }
}

} // namespace detail
SETTLE_END
