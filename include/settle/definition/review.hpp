// SPDX-License-Identifier: BSL-1.0
// The compile-time checks of a participant: its compensation undoes its apply, and its guards keep
// a debit from passing below zero.
#pragma once

#include <settle/definition/participant.hpp>
#include <settle/definition/proof.hpp>

SETTLE_BEGIN
namespace detail {

/// The value of a constant that is not a settle::lit is not part of its type: no proof can use it.
template <typename E>
struct is_not_constant : std::true_type {};
template <typename T>
struct is_not_constant<constant_expression<T>> : std::false_type {};

template <typename E>
inline constexpr bool provable = every_leaf<is_not_constant, E>::value;

template <typename Record, auto A, auto B>
inline constexpr bool same_field = member_index<Record, A> == member_index<Record, B>;

template <typename Record, auto Member, typename E>
inline constexpr bool is_field = false;
template <typename Record, auto Member, auto Other>
inline constexpr bool is_field<Record, Member, field_expression<Other>> =
    same_field<Record, Member, Other>;

/// The sum of the deltas of a moment on one field, as a linear form.
template <typename Record, auto Member, typename Sum, typename... Effects>
struct delta_sum {
    using type = Sum;
};
template <typename Record, auto Member, typename Sum, typename First, typename... Rest>
struct delta_sum<Record, Member, Sum, First, Rest...> {
    static constexpr bool counts =
        same_field<Record, Member, First::member> && First::kind != effect_kind::assign;
    using added =
        combined_t<Sum, First::kind == effect_kind::subtract ? -1 : 1,
                   std::conditional_t<counts, linear_t<typename First::operand_type>, linear<0>>>;
    using type = typename delta_sum<Record, Member, added, Rest...>::type;
};

template <typename Record, auto Member, typename Sum, typename Moment>
struct sum_of {
    using type = Sum;
};
template <typename Record, auto Member, typename Sum, bool C, bool E, typename... Effects>
struct sum_of<Record, Member, Sum, moment<C, E, Effects...>> {
    using type = typename delta_sum<Record, Member, Sum, Effects...>::type;
};
template <typename Record, auto Member, typename Moment, typename Sum = linear<0>>
using sum_of_t = typename sum_of<Record, Member, Sum, Moment>::type;

/// How a moment uses one field.
struct field_use {
    bool adds = false;
    bool assigns = false;
    bool provable = true;
    bool debits = false;
    std::uint64_t reads = 0;
};

template <typename Record, auto Member, typename Moment>
struct use_of {
    static constexpr field_use value{};
};
template <typename Record, auto Member, bool C, bool E, typename... Effects>
struct use_of<Record, Member, moment<C, E, Effects...>> {
    static constexpr field_use value = [] {
        field_use use;
        [[maybe_unused]] auto const look = [&]<typename Effect>(std::type_identity<Effect>) {
            if constexpr (same_field<Record, Member, Effect::member>) {
                if (Effect::kind == effect_kind::assign) {
                    use.assigns = true;
                } else {
                    use.adds = true;
                    if (Effect::kind == effect_kind::subtract || Effect::is_signed) {
                        use.debits = use.debits || !Effect::may_pass_zero;
                    }
                }
                use.provable = use.provable && provable<typename Effect::operand_type>;
                use.reads |= fields_in<Record, typename Effect::operand_type>::value;
            }
        };
        (look(std::type_identity<Effects>{}), ...);
        return use;
    }();
};

/// The fields that a moment changes, as a bit for each.
template <typename Record, typename Moment>
inline constexpr std::uint64_t fields_changed = 0;
template <typename Record, bool C, bool E, typename... Effects>
inline constexpr std::uint64_t fields_changed<Record, moment<C, E, Effects...>> =
    (std::uint64_t{0} | ... | (std::uint64_t{1} << member_index<Record, Effects::member>));

/// The literal that a moment assigns to a field, or `nothing`.
template <typename Record, auto Member, typename Moment>
struct assigned_literal {
    using type = nothing;
};
template <typename Record, auto Member, bool C, bool E, typename First, typename... Rest>
struct assigned_literal<Record, Member, moment<C, E, First, Rest...>> {
    using type =
        std::conditional_t<same_field<Record, Member, First::member> &&
                               First::kind == effect_kind::assign,
                           typename First::operand_type,
                           typename assigned_literal<Record, Member, moment<C, E, Rest...>>::type>;
};

template <typename Record, auto Member, typename Literal, typename Guard>
inline constexpr bool pins = false;
template <typename Record, auto Member, typename Literal, typename L, typename R>
inline constexpr bool
    pins<Record, Member, Literal, exact_guard<binary_expression<operation_kind::equal, L, R>>> =
        (is_field<Record, Member, L> && std::is_same_v<R, Literal>) ||
        (is_field<Record, Member, R> && std::is_same_v<L, Literal>);

template <typename T>
inline constexpr bool is_literal = false;
template <literal_value Value>
inline constexpr bool is_literal<literal_expression<Value>> = true;

template <typename Record, auto Member, typename Apply, typename Undo, typename... Guards>
constexpr bool field_is_undone(std::type_identity<boost::hana::tuple<Guards...>>) {
    constexpr field_use done = use_of<Record, Member, Apply>::value;
    constexpr field_use undone = use_of<Record, Member, Undo>::value;
    if constexpr (!done.adds && !done.assigns) {
        return !undone.adds && !undone.assigns;
    } else if constexpr (done.adds && !done.assigns) {
        using rest = sum_of_t<Record, Member, Undo, sum_of_t<Record, Member, Apply>>;
        // An operand that reads a field which the apply changes has another value in the undo.
        constexpr bool steady = (undone.reads & fields_changed<Record, Apply>) == 0;
        return !undone.assigns && done.provable && undone.provable && steady &&
               is_zero<rest>::value;
    } else {
        using back = typename assigned_literal<Record, Member, Undo>::type;
        return is_literal<back> && !undone.adds &&
               (pins<Record, Member, back, Guards> || ... || false);
    }
}

template <typename Participant>
constexpr bool is_undone() {
    using record = typename Participant::record_type;
    using apply = typename Participant::apply_type;
    using undo = typename Participant::compensate_type;
    if constexpr (std::is_same_v<undo, inverse_tag>) {
        return true;
    } else if constexpr (apply::creates || undo::erases) {
        return apply::creates && undo::erases;
    } else if constexpr (undo::creates) {
        return false;
    } else {
        return []<std::size_t... Index>(std::index_sequence<Index...>) {
            return (field_is_undone<record, member<record, Index>::pointer, apply, undo>(
                        std::type_identity<typename Participant::guards_type>{}) &&
                    ...);
        }(std::make_index_sequence<member_count<record>>{});
    }
}

// ----------------------------------------------------------------- a debit needs a lower bound

/// The expression that is a lower bound of a field by a guard, or `nothing`.
template <typename Record, auto Member, typename Guard>
struct lower_limit {
    using type = nothing;
};
template <typename Record, auto Member, auto Other, typename Limit>
struct lower_limit<Record, Member, bound_guard<bound_side::lower, Other, Limit>> {
    using type = std::conditional_t<same_field<Record, Member, Other>, Limit, nothing>;
};
template <typename Record, auto Member, operation_kind Operation, typename L, typename R>
struct lower_limit<Record, Member, exact_guard<binary_expression<Operation, L, R>>> {
    static constexpr bool equal = Operation == operation_kind::equal;
    static constexpr bool left_is_greater =
        Operation == operation_kind::greater || Operation == operation_kind::greater_equal;
    static constexpr bool right_is_greater =
        Operation == operation_kind::less || Operation == operation_kind::less_equal;
    using type = std::conditional_t<
        is_field<Record, Member, L> && (equal || left_is_greater), R,
        std::conditional_t<is_field<Record, Member, R> && (equal || right_is_greater), L, nothing>>;
};

template <typename Sum>
struct lone_atom {
    using type = nothing;
};
template <typename Atom>
struct lone_atom<linear<0, term<1, Atom>>> {
    using type = Atom;
};
/// The operand of a `+=` or `-=` if it is one atom, which the implicit guard keeps at 0 or above.
template <typename Effect>
using known_amount =
    std::conditional_t<Effect::kind != effect_kind::assign && !Effect::is_signed,
                       typename lone_atom<linear_t<typename Effect::operand_type>>::type, nothing>;

template <typename Sum, typename Apply, typename Confirm>
struct shown_at_least_zero;
template <typename Sum, bool C, bool E, typename... A, bool D, bool F, typename... B>
struct shown_at_least_zero<Sum, moment<C, E, A...>, moment<D, F, B...>>
    : is_at_least_zero<Sum, known_amount<A>..., known_amount<B>...> {};

template <typename Record, auto Member, typename Apply, typename Confirm, typename Guard>
constexpr bool guard_keeps_above_zero() {
    using limit = typename lower_limit<Record, Member, Guard>::type;
    if constexpr (std::is_same_v<limit, nothing>) {
        return false;
    } else if constexpr (!std::is_same_v<typename limit::type, std::int64_t> || !provable<limit>) {
        return false;
    } else {
        using after_apply = sum_of_t<Record, Member, Apply, linear_t<limit>>;
        using after_confirm = sum_of_t<Record, Member, Confirm, after_apply>;
        constexpr bool at_apply = !use_of<Record, Member, Apply>::value.debits ||
                                  shown_at_least_zero<after_apply, Apply, Confirm>::value;
        constexpr bool at_confirm = !use_of<Record, Member, Confirm>::value.debits ||
                                    shown_at_least_zero<after_confirm, Apply, Confirm>::value;
        return at_apply && at_confirm;
    }
}

template <typename Record, auto Member, typename Apply, typename Confirm, typename... Guards>
constexpr bool field_stays_above_zero(std::type_identity<boost::hana::tuple<Guards...>>) {
    constexpr field_use applied = use_of<Record, Member, Apply>::value;
    constexpr field_use confirmed = use_of<Record, Member, Confirm>::value;
    if constexpr (!applied.debits && !confirmed.debits) {
        return true;
    } else {
        // The guard proves nothing about a confirm if the apply assigns the field, or changes a
        // field that the confirm reads.
        constexpr bool seen =
            !confirmed.debits ||
            (!applied.assigns && (confirmed.reads & fields_changed<Record, Apply>) == 0);
        return applied.provable && confirmed.provable && seen &&
               (guard_keeps_above_zero<Record, Member, Apply, Confirm, Guards>() || ... || false);
    }
}

template <typename Guard>
inline constexpr bool reads_record = true;
template <typename Condition>
inline constexpr bool reads_record<premise_guard<Condition>> = false;

template <typename Guards>
inline constexpr bool any_reads_record = false;
template <typename... Guards>
inline constexpr bool any_reads_record<boost::hana::tuple<Guards...>> =
    (reads_record<Guards> || ... || false);

template <typename Given>
using moment_or_none = std::conditional_t<is_moment<Given>, Given, no_moment>;

template <typename Participant>
constexpr bool stays_above_zero() {
    using record = typename Participant::record_type;
    using apply = moment_or_none<typename Participant::apply_type>;
    using confirm = moment_or_none<typename Participant::confirm_type>;
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
        return (field_stays_above_zero<record, member<record, Index>::pointer, apply, confirm>(
                    std::type_identity<typename Participant::guards_type>{}) &&
                ...);
    }(std::make_index_sequence<member_count<record>>{});
}

/// Checks every requirement with its own assertion, so that the first line of an error names the
/// correction.
template <RecordParticipant Participant>
constexpr bool review() {
    constexpr bool applies = is_moment<typename Participant::apply_type>;
    constexpr bool compensates = !std::is_same_v<typename Participant::compensate_type, not_given>;
    using apply = moment_or_none<typename Participant::apply_type>;
    using confirm = moment_or_none<typename Participant::confirm_type>;
    static_assert(!applies || compensates,
                  "settle: a participant has 'apply' and no 'compensate'. Add .compensate(...) or "
                  ".compensate(settle::inverse). See definition#compensation");
    static_assert(applies || !compensates,
                  "settle: a participant has 'compensate' and no 'apply'. The effects of 'confirm' "
                  "are never undone; remove .compensate(...). See definition#compensation");
    if constexpr (applies && compensates) {
        static_assert(is_undone<Participant>(),
                      "settle: this 'compensate' is not shown to undo its 'apply'. Subtract the "
                      "added amount, add the subtracted amount, assign the settle::lit that a "
                      "guard requires, or write .compensate(settle::inverse). "
                      "See definition#compensation");
    }
    static_assert(stays_above_zero<Participant>(),
                  "settle: nothing keeps a debit from passing below zero. Add .require(field >= "
                  "operand) with constants as settle::lit<...>, or write "
                  "settle::may_pass_zero(field -= operand). See definition#amounts");
    static_assert(!confirm::erases || apply::size == 0,
                  "settle: a participant that erases its record does nothing else to it. "
                  "See definition#create-erase-replace");
    static_assert(!apply::creates || (confirm::size == 0 && !confirm::erases),
                  "settle: a participant that creates its record does nothing else to it. "
                  "See definition#create-erase-replace");
    static_assert(!apply::creates || !any_reads_record<typename Participant::guards_type>,
                  "settle: a record that is created has no fields to read yet. Use guards on the "
                  "parameters. See definition#create-erase-replace");
    return true;
}
/// Other kinds of participant check themselves.
template <typename Participant>
constexpr bool review() {
    return Participant::review();
}

} // namespace detail
SETTLE_END
