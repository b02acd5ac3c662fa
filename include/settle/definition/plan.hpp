// SPDX-License-Identifier: BSL-1.0
// Guards and effects in their normal form, which adapters lower into their own language.
#pragma once

#include <settle/definition/collection.hpp>
#include <settle/definition/evaluate.hpp>

#include <boost/hana/concat.hpp>
#include <boost/hana/tuple.hpp>

SETTLE_BEGIN

enum class bound_side : std::uint8_t { lower, upper };

/// `field >= limit` or `field <= limit`, where the limit looks at no field. It can be decided while
/// others' commuting marks are on the record.
template <bound_side Side, auto Member, typename Limit>
struct bound_guard {
    static constexpr bound_side side = Side;
    static constexpr auto member = Member;
    using expression_type = Limit;
    Limit limit;
};

/// Any other condition on the record: the fields that it reads must be free of marks.
template <typename Condition>
struct exact_guard {
    using expression_type = Condition;
    Condition condition;
};

/// A condition on the parameters alone, decided before anything is written.
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

/// Moves everything but one field to the right, so that `balance - amount >= 0` and
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
        else if constexpr (Side == bound_side::lower) return bounded<Member>(limit + lit<1>);
        else return bounded<Member>(limit - lit<1>);
    }
    template <typename A, typename B, typename R>
    static constexpr auto from(binary_expression<operation_kind::add, A, B> const& sum,
                               R const& limit) {
        if constexpr (without_fields<B>) return from(sum.left, limit - sum.right);
        else if constexpr (without_fields<A>) return from(sum.right, limit - sum.left);
        else return not_a_bound{};
    }
    template <typename A, typename B, typename R>
    static constexpr auto from(binary_expression<operation_kind::subtract, A, B> const& difference,
                               R const& limit) {
        if constexpr (without_fields<B>) {
            return from(difference.left, limit + difference.right);
        } else if constexpr (without_fields<A>) {
            return peel<flipped(Side), Strict>::from(difference.right, difference.left - limit);
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
    constexpr bool integers = is_integer_value<typename L::type> &&
                              is_integer_value<typename R::type>;
    constexpr bool ordering = Operation >= operation_kind::less &&
                              Operation <= operation_kind::greater_equal;
    using whole = binary_expression<Operation, L, R>;
    if constexpr (Operation == operation_kind::both) {
        return hana::concat(normal_guards(condition.left), normal_guards(condition.right));
    } else if constexpr (without_fields<whole>) {
        return hana::tuple<premise_guard<whole>>{premise_guard<whole>{condition}};
    } else if constexpr (integers && ordering && without_fields<L> != without_fields<R>) {
        constexpr bound_side side = is_upper(Operation) ? bound_side::upper : bound_side::lower;
        auto const found = [&] {
            if constexpr (without_fields<R>) {
                return peel<side, is_strict(Operation)>::from(condition.left, condition.right);
            } else {
                return peel<flipped(side), is_strict(Operation)>::from(condition.right,
                                                                       condition.left);
            }
        }();
        using result = std::remove_const_t<decltype(found)>;
        if constexpr (std::is_same_v<result, not_a_bound>) {
            return hana::tuple<exact_guard<whole>>{exact_guard<whole>{condition}};
        } else {
            return hana::tuple<result>{found};
        }
    } else {
        return hana::tuple<exact_guard<whole>>{exact_guard<whole>{condition}};
    }
}

/// `f = f + x` says the same as `f += x`, and commutes like it.
template <auto Member, typename Operand>
constexpr auto normal_effect(effect<effect_kind::assign, Member, Operand> const& given) {
    return given;
}
template <auto Member, typename X>
    requires without_fields<X>
constexpr auto normal_effect(
    effect<effect_kind::assign, Member,
           binary_expression<operation_kind::add, field_expression<Member>, X>> const& given) {
    return effect<effect_kind::add, Member, X>{given.operand.right};
}
template <auto Member, typename X>
    requires without_fields<X>
constexpr auto normal_effect(
    effect<effect_kind::assign, Member,
           binary_expression<operation_kind::add, X, field_expression<Member>>> const& given) {
    return effect<effect_kind::add, Member, X>{given.operand.left};
}
template <auto Member, typename X>
    requires without_fields<X>
constexpr auto normal_effect(
    effect<effect_kind::assign, Member,
           binary_expression<operation_kind::subtract, field_expression<Member>, X>> const& given) {
    return effect<effect_kind::subtract, Member, X>{given.operand.right};
}
template <effect_kind Kind, auto Member, typename Operand, bool Signed, bool MayPassZero>
constexpr auto normal_effect(effect<Kind, Member, Operand, Signed, MayPassZero> const& given) {
    return given;
}

} // namespace detail

/// True for an effect that adds or subtracts something that no field decides: it commutes.
template <typename Effect>
inline constexpr bool is_delta = Effect::kind != effect_kind::assign &&
                                 detail::without_fields<typename Effect::operand_type>;

/// What a participant does at one moment (apply, confirm or compensate), in normal form.
template <bool Creates, bool Erases, typename... Effects>
struct moment {
    static constexpr bool creates = Creates;
    static constexpr bool erases = Erases;
    static constexpr std::size_t size = sizeof...(Effects);
    static constexpr bool commutes = !Creates && !Erases && (is_delta<Effects> && ...);
    boost::hana::tuple<Effects...> effects;
};

using no_moment = moment<false, false>;

namespace detail {

template <typename Collection, typename... Effects>
constexpr void check_effects() {
    using record = typename Collection::record_type;
    constexpr bool ours = (std::is_base_of_v<typename Effects::record, record> && ...);
    static_assert(ours, "settle: an effect on a field of another record. Use the fields of the "
                        "participant's collection. README#participants");
    if constexpr (ours) {
        static_assert(
            ((member_index<record, Effects::member> < member_count<record>) && ...),
            "settle: an effect on a member that BOOST_HANA_ADAPT_STRUCT does not list. "
            "README#records");
        constexpr std::size_t key = member_index<record, Collection::key_member>;
        static_assert(((member_index<record, Effects::member> != key) && ...),
                      "settle: an effect on the key field. A record keeps its key; erase it and "
                      "create another. README#participants");
        constexpr auto touched_twice = [] {
            std::size_t assigned[member_count<record> + 1]{};
            std::size_t touched[member_count<record> + 1]{};
            ((++touched[member_index<record, Effects::member>],
              Effects::kind == effect_kind::assign ||
                      !without_fields<typename Effects::operand_type>
                  ? void(++assigned[member_index<record, Effects::member>])
                  : void()),
             ...);
            for (std::size_t i = 0; i < member_count<record>; ++i) {
                if (assigned[i] != 0 && touched[i] > 1) return true;
            }
            return false;
        };
        static_assert(!touched_twice(), "settle: one moment assigns a field and changes it again. "
                                        "Write one effect for each field. README#participants");
    }
}

template <typename Collection, typename... Effects>
constexpr void check_whole() {
    using record = typename Collection::record_type;
    static_assert(sizeof...(Effects) + 1 >= member_count<record>,
                  "settle: 'create' and 'replace' assign every field of the record but its key. "
                  "Add the missing ones. README#create-erase-replace");
    static_assert(((Effects::kind == effect_kind::assign) && ...),
                  "settle: 'create' and 'replace' take assignments: field = value. "
                  "README#create-erase-replace");
}

template <bool Creates, typename Collection, auto... Path, std::size_t... Index>
constexpr auto moment_by_value(std::index_sequence<Index...>) {
    using record = typename Collection::record_type;
    using value = typename param_expression<Path...>::declared;
    static_assert(std::is_same_v<value, record>,
                  "settle: the value given to 'create' or 'replace' is not of the collection's "
                  "record type. README#create-erase-replace");
    constexpr std::size_t key = member_index<record, Collection::key_member>;
    // The key's own position is skipped: it is the participant's key that names the record.
    return moment<Creates, false,
                  effect<effect_kind::assign, member<record, (Index < key ? Index : Index + 1)>::pointer,
                         param_expression<Path..., member<record, (Index < key ? Index : Index + 1)>::
                                                       pointer>>...>{};
}

template <typename Collection, typename... Assignments>
constexpr auto make_moment(create_effect<Assignments...> const& given) {
    check_effects<Collection, Assignments...>();
    check_whole<Collection, Assignments...>();
    static_assert((without_fields<typename Assignments::operand_type> && ...),
                  "settle: a record that is created has no fields to read yet. Use parameters. "
                  "README#create-erase-replace");
    return moment<true, false, Assignments...>{given.assignments};
}
template <typename Collection, typename... Assignments>
constexpr auto make_moment(replace_effect<Assignments...> const& given) {
    check_effects<Collection, Assignments...>();
    check_whole<Collection, Assignments...>();
    return moment<false, false, Assignments...>{given.assignments};
}
template <typename Collection, auto... Path>
constexpr auto make_moment(create_by_value<Path...> const&) {
    return moment_by_value<true, Collection, Path...>(
        std::make_index_sequence<member_count<typename Collection::record_type> - 1>{});
}
template <typename Collection, auto... Path>
constexpr auto make_moment(replace_by_value<Path...> const&) {
    return moment_by_value<false, Collection, Path...>(
        std::make_index_sequence<member_count<typename Collection::record_type> - 1>{});
}
template <typename Collection>
constexpr auto make_moment(erase_effect const&) {
    return moment<false, true>{};
}
template <typename Collection, typename... Effects>
constexpr auto make_moment(Effects const&... effects) {
    constexpr bool known = (is_effect<Effects> && ...);
    static_assert(known, "settle: this is no effect. Write field += x, field -= x or field = x; "
                         "create, replace and erase stand alone. README#participants");
    if constexpr (known) {
        check_effects<Collection, decltype(normal_effect(effects))...>();
        return moment<false, false, decltype(normal_effect(effects))...>{
            boost::hana::tuple<decltype(normal_effect(effects))...>{normal_effect(effects)...}};
    } else {
        return no_moment{};
    }
}

} // namespace detail

SETTLE_END
