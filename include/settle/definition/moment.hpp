// SPDX-License-Identifier: BSL-1.0
// The effects of a participant at one moment (apply, confirm or compensate), in normal form:
// deltas, assignments, whole records.
#pragma once

#include <settle/definition/plan.hpp>

SETTLE_BEGIN
namespace detail {

/// The value that an assigned expression adds to the field it assigns: `x` in `f = f + x`.
template <effect_kind Kind, typename Operand, bool Signed>
struct change {
    Operand operand;
};
struct no_change {};
struct not_a_change {};

/// True for an operand that may be negative, because it has a minus or a negative literal.
template <typename E>
inline constexpr bool has_minus = false;
template <literal_value Value>
    requires IntegerField<typename literal_expression<Value>::declared>
inline constexpr bool has_minus<literal_expression<Value>> = literal_expression<Value>::get() < 0;
template <operation_kind Operation, typename L, typename R>
inline constexpr bool has_minus<binary_expression<Operation, L, R>> =
    Operation == operation_kind::subtract || has_minus<L> || has_minus<R>;
template <typename E>
inline constexpr bool has_minus<unary_expression<operation_kind::negate, E>> = true;

template <auto Member>
struct change_of {
    template <typename E>
    struct is_other : std::bool_constant<!std::is_same_v<E, field_expression<Member>>> {};
    template <typename E>
    static constexpr bool without_it = every_leaf<is_other, E>::value;

    template <typename E>
    static constexpr auto from(E const&) {
        return not_a_change{};
    }
    static constexpr auto from(field_expression<Member> const&) { return no_change{}; }
    template <typename A, typename B>
    static constexpr auto from(binary_expression<operation_kind::add, A, B> const& sum) {
        if constexpr (without_it<B>) {
            return with<effect_kind::add>(from(sum.left), sum.right);
        } else if constexpr (without_it<A>) {
            return with<effect_kind::add>(from(sum.right), sum.left);
        } else {
            return not_a_change{};
        }
    }
    template <typename A, typename B>
    static constexpr auto from(binary_expression<operation_kind::subtract, A, B> const& rest) {
        if constexpr (without_it<B>) {
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
        return made<Kind, has_minus<X>>(x);
    }
    /// Terms of one sign add up to an amount. With terms of both signs the sum may be negative.
    template <effect_kind Kind, effect_kind Before, typename Operand, bool Signed, typename X>
    static constexpr auto with(change<Before, Operand, Signed> const& before, X const& x) {
        constexpr auto add = effect_kind::add;
        if constexpr (Kind == Before)
            return made < Kind, Signed || has_minus < X >> (before.operand + x);
        else if constexpr (Before == add) return made<add, true>(before.operand - x);
        else return made<add, true>(x - before.operand);
    }
};

/// Turns `f = f + x` into `f += x`, so that it is checked and commutes in the same way.
template <effect_kind Kind, auto Member, typename Operand, bool Signed, bool MayPassZero>
constexpr auto normal_effect(effect<Kind, Member, Operand, Signed, MayPassZero> const& written) {
    if constexpr (Kind == effect_kind::assign) {
        auto const added = change_of<Member>::from(written.operand);
        if constexpr (requires { added.operand; }) {
            return []<effect_kind Found, typename X, bool Both>(change<Found, X, Both> const& sum) {
                return effect<Found, Member, X, Signed || Both, MayPassZero>{sum.operand};
            }(added);
        } else {
            return written;
        }
    } else {
        return written;
    }
}

} // namespace detail

/// True for an effect that adds or subtracts an operand which reads no field: the effect commutes.
template <typename Effect>
inline constexpr bool is_delta =
    Effect::kind != effect_kind::assign && detail::without_fields<typename Effect::operand_type>;

/// The effects of a participant at one moment, in normal form.
template <bool Creates, bool Erases, typename... Effects>
struct moment {
    static constexpr bool creates = Creates;
    static constexpr bool erases = Erases;
    static constexpr std::size_t size = sizeof...(Effects);
    static constexpr bool commutes = !Creates && !Erases && (is_delta<Effects> && ...);
    boost::hana::tuple<Effects...> effects;
};

using no_moment = moment<false, false>;

/// Replaces a moment whose effects the compiler has refused.
struct refused_moment {};

namespace detail {

template <typename Collection, typename... Effects>
constexpr bool check_effects() {
    using record = typename Collection::record_type;
    constexpr bool ours = (std::is_base_of_v<typename Effects::record, record> && ...);
    static_assert(ours, "settle: an effect on a field of another record. Use the fields of the "
                        "participant's collection. See definition#participants");
    if constexpr (ours) {
        constexpr bool listed =
            ((member_index<record, Effects::member> < member_count<record>) && ...);
        static_assert(listed, "settle: an effect on a member that SETTLE_STRUCT does not "
                              "list. Add it there. See definition#records");
        constexpr std::size_t key = member_index<record, Collection::key_member>;
        constexpr bool keeps_key = ((member_index<record, Effects::member> != key) && ...);
        static_assert(keeps_key, "settle: an effect on the key field. A record keeps its key; "
                                 "erase it and create another. See definition#participants");
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
                                        "Write one effect for each field. "
                                        "See definition#participants");
        return listed && keeps_key && !touched_twice();
    } else {
        return false;
    }
}

/// Refuses arguments of `create` and `replace` that are not assignments.
template <typename... Given>
constexpr bool check_assignments() {
    constexpr bool only_assignments = [] {
        if constexpr ((is_effect<Given> && ...)) {
            return ((Given::kind == effect_kind::assign) && ...);
        } else {
            return false;
        }
    }();
    static_assert(only_assignments,
                  "settle: 'create' and 'replace' take assignments, field = value, or one "
                  "whole record among the parameters. See definition#create-erase-replace");
    return only_assignments;
}

template <typename Collection, typename... Effects>
constexpr bool check_whole() {
    using record = typename Collection::record_type;
    constexpr bool whole = sizeof...(Effects) + 1 >= member_count<record>;
    static_assert(whole, "settle: 'create' and 'replace' assign every field of the record but its "
                         "key. Add the missing ones. See definition#create-erase-replace");
    return whole;
}

/// Refuses an operand of `create` that reads a field, since the record does not exist yet.
template <typename... Effects>
constexpr bool check_unread() {
    constexpr bool unread = (without_fields<typename Effects::operand_type> && ...);
    static_assert(unread, "settle: a record that is created has no fields to read yet. Use "
                          "parameters. See definition#create-erase-replace");
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
                  "record type. See definition#create-erase-replace");
    if constexpr (std::is_same_v<value, record>) {
        constexpr std::size_t key = member_index<record, Collection::key_member>;
        // Skips the position of the key, because the participant's key names the record.
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
constexpr auto make_moment(create_effect<Assignments...> const& effect) {
    if constexpr (check_whole_record<true, Collection, Assignments...>()) {
        return moment<true, false, Assignments...>{effect.assignments};
    } else {
        return refused_moment{};
    }
}
template <typename Collection, typename... Assignments>
constexpr auto make_moment(replace_effect<Assignments...> const& effect) {
    if constexpr (check_whole_record<false, Collection, Assignments...>()) {
        return moment<false, false, Assignments...>{effect.assignments};
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
    constexpr bool only_effects = sizeof...(Effects) > 0 && (is_effect<Effects> && ...);
    constexpr bool refused = (std::is_same_v<Effects, refused_expression> || ...);
    static_assert(only_effects || refused,
                  "settle: this is no effect. Write field += x, field -= x or field = x; create, "
                  "replace and erase stand alone. See definition#participants");
    if constexpr (!only_effects) {
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
