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

template <typename E>
constexpr bool is_literal_zero() {
    if constexpr (requires { E::get(); } && is_integer_value<typename E::type>) {
        return E::get() == 0;
    } else {
        return false;
    }
}

/// A literal 0 says nothing in a sum; without it every spelling of a bound gives one type.
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

/// What an expression that begins with a field adds to it.
template <effect_kind Kind, typename Operand, bool Signed>
struct change {
    Operand operand;
};
struct no_change {};
struct not_a_change {};

template <auto Member>
struct change_of {
    template <typename E>
    static constexpr auto from(E const&) {
        return not_a_change{};
    }
    static constexpr auto from(field_expression<Member> const&) { return no_change{}; }
    template <typename A, typename B>
    static constexpr auto from(binary_expression<operation_kind::add, A, B> const& sum) {
        if constexpr (without_fields<B>) {
            return with<effect_kind::add>(from(sum.left), sum.right);
        } else if constexpr (without_fields<A>) {
            return with<effect_kind::add>(from(sum.right), sum.left);
        } else {
            return not_a_change{};
        }
    }
    template <typename A, typename B>
    static constexpr auto from(binary_expression<operation_kind::subtract, A, B> const& rest) {
        if constexpr (without_fields<B>) {
            return with<effect_kind::subtract>(from(rest.left), rest.right);
        } else {
            return not_a_change{};
        }
    }

private:
    template <effect_kind Kind, bool Signed, typename Operand>
    static constexpr auto made(Operand const& operand) {
        return change<Kind, Operand, Signed>{operand};
    }
    template <effect_kind Kind, typename X>
    static constexpr auto with(not_a_change, X const&) {
        return not_a_change{};
    }
    template <effect_kind Kind, typename X>
    static constexpr auto with(no_change, X const& x) {
        return made<Kind, false>(x);
    }
    /// Terms of one sign stay one amount; of terms of both signs nobody knows which is greater.
    template <effect_kind Kind, effect_kind Before, typename Operand, bool Signed, typename X>
    static constexpr auto with(change<Before, Operand, Signed> const& before, X const& x) {
        constexpr auto add = effect_kind::add;
        if constexpr (Kind == Before) return made<Kind, Signed>(before.operand + x);
        else if constexpr (Before == add) return made<add, true>(before.operand - x);
        else return made<add, true>(x - before.operand);
    }
};

/// `f = f + x` says the same as `f += x`, and commutes like it.
template <effect_kind Kind, auto Member, typename Operand, bool Signed, bool MayPassZero>
constexpr auto normal_effect(effect<Kind, Member, Operand, Signed, MayPassZero> const& given) {
    if constexpr (Kind == effect_kind::assign) {
        auto const found = change_of<Member>::from(given.operand);
        if constexpr (requires { found.operand; }) {
            return []<effect_kind Found, typename X, bool Both>(change<Found, X, Both> const& one) {
                return effect<Found, Member, X, Signed || Both, MayPassZero>{one.operand};
            }(found);
        } else {
            return given;
        }
    } else {
        return given;
    }
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

/// Stands where the effects of a moment were refused.
struct refused_moment {};

namespace detail {

template <typename Collection, typename... Effects>
constexpr bool check_effects() {
    using record = typename Collection::record_type;
    constexpr bool ours = (std::is_base_of_v<typename Effects::record, record> && ...);
    static_assert(ours, "settle: an effect on a field of another record. Use the fields of the "
                        "participant's collection. README#participants");
    if constexpr (ours) {
        constexpr bool listed =
            ((member_index<record, Effects::member> < member_count<record>) && ...);
        static_assert(listed, "settle: an effect on a member that BOOST_HANA_ADAPT_STRUCT does not "
                              "list. Add it there. README#records");
        constexpr std::size_t key = member_index<record, Collection::key_member>;
        constexpr bool keeps_key = ((member_index<record, Effects::member> != key) && ...);
        static_assert(keeps_key, "settle: an effect on the key field. A record keeps its key; "
                                 "erase it and create another. README#participants");
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
        return listed && keeps_key && !touched_twice();
    } else {
        return false;
    }
}

/// False, with its sentence, when `create` or `replace` is given anything but assignments.
template <typename... Given>
constexpr bool check_assignments() {
    constexpr bool known = [] {
        if constexpr ((is_effect<Given> && ...)) {
            return ((Given::kind == effect_kind::assign) && ...);
        } else {
            return false;
        }
    }();
    static_assert(known, "settle: 'create' and 'replace' take assignments, field = value, or one "
                         "whole record among the parameters. README#create-erase-replace");
    return known;
}

template <typename Collection, typename... Effects>
constexpr bool check_whole() {
    using record = typename Collection::record_type;
    constexpr bool whole = sizeof...(Effects) + 1 >= member_count<record>;
    static_assert(whole, "settle: 'create' and 'replace' assign every field of the record but its "
                         "key. Add the missing ones. README#create-erase-replace");
    return whole;
}

/// Only for `create`: what is made cannot be looked at.
template <typename... Effects>
constexpr bool check_unread() {
    constexpr bool unread = (without_fields<typename Effects::operand_type> && ...);
    static_assert(unread, "settle: a record that is created has no fields to read yet. Use "
                          "parameters. README#create-erase-replace");
    return unread;
}

template <bool Creates, typename Collection, typename... Given>
constexpr bool check_whole_record() {
    if constexpr (!check_assignments<Given...>()) {
        return false;
    } else if constexpr (!check_effects<Collection, Given...>()) {
        return false;
    } else if constexpr (!check_whole<Collection, Given...>()) {
        return false;
    } else if constexpr (Creates) {
        return check_unread<Given...>();
    } else {
        return true;
    }
}

template <bool Creates, typename Collection, auto... Path, std::size_t... Index>
constexpr auto moment_by_value(std::index_sequence<Index...>) {
    using record = typename Collection::record_type;
    using value = typename param_expression<Path...>::declared;
    static_assert(std::is_same_v<value, record>,
                  "settle: the value given to 'create' or 'replace' is not of the collection's "
                  "record type. README#create-erase-replace");
    if constexpr (std::is_same_v<value, record>) {
        constexpr std::size_t key = member_index<record, Collection::key_member>;
        // The key's own position is skipped: it is the participant's key that names the record.
        return moment<
            Creates, false,
            effect<effect_kind::assign, member<record, (Index < key ? Index : Index + 1)>::pointer,
                   param_expression<
                       Path..., member<record, (Index < key ? Index : Index + 1)>::pointer>>...>{};
    } else {
        return refused_moment{};
    }
}

template <typename Collection, typename... Assignments>
constexpr auto make_moment(create_effect<Assignments...> const& given) {
    if constexpr (check_whole_record<true, Collection, Assignments...>()) {
        return moment<true, false, Assignments...>{given.assignments};
    } else {
        return refused_moment{};
    }
}
template <typename Collection, typename... Assignments>
constexpr auto make_moment(replace_effect<Assignments...> const& given) {
    if constexpr (check_whole_record<false, Collection, Assignments...>()) {
        return moment<false, false, Assignments...>{given.assignments};
    } else {
        return refused_moment{};
    }
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
    if constexpr (!known) {
        return refused_moment{};
    } else if constexpr (!check_effects<Collection, decltype(normal_effect(effects))...>()) {
        return refused_moment{};
    } else {
        return moment<false, false, decltype(normal_effect(effects))...>{
            boost::hana::tuple<decltype(normal_effect(effects))...>{normal_effect(effects)...}};
    }
}

} // namespace detail

SETTLE_END
