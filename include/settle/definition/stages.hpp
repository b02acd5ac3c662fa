// SPDX-License-Identifier: BSL-1.0
// The stages of a transaction with calls, and the checks of its calls against each other.
#pragma once

#include <settle/definition/call_participant.hpp>
#include <settle/definition/prepared_participant.hpp>

#include <boost/hana/concat.hpp>

#include <tuple>

SETTLE_BEGIN
namespace detail {

/// Calls that are made side by side, in one stage.
template <typename... Calls>
struct call_group {
    boost::hana::tuple<Calls...> calls;
};

template <typename T>
inline constexpr bool is_call_participant = false;
template <fixed_string Name, typename Service, typename Source, typename Apply, typename Compensate,
          typename Confirm, call_limits Limits, std::uint32_t Stage>
inline constexpr bool is_call_participant<
    call_participant<Name, Service, Source, Apply, Compensate, Confirm, Limits, Stage>> = true;

template <typename T>
inline constexpr bool is_call_group = false;
template <typename... Calls>
inline constexpr bool is_call_group<call_group<Calls...>> = true;

/// True if settle::transaction places the participant into a stage.
template <typename T>
inline constexpr bool has_place = is_call_participant<T> || is_call_group<T>;

/// True if the participant takes a stage of its own: a call that is applied, or a group of such
/// calls.
template <typename T>
inline constexpr bool takes_stage = false;
template <typename T>
    requires is_call_participant<T>
inline constexpr bool takes_stage<T> = T::applies;
template <typename... Calls>
inline constexpr bool takes_stage<call_group<Calls...>> = (takes_stage<Calls> || ...);

/// Shape:   Own - the stage of a call that is applied; Last - the stage of any other call
template <std::uint32_t Own, std::uint32_t Last, typename T>
constexpr auto placed(T const& participant) {
    if constexpr (is_call_participant<T>) {
        return participant.template in_stage<T::applies ? Own : Last>();
    } else {
        return participant;
    }
}

/// A tuple of a given participant, or of the participants of a group.
template <std::uint32_t Own, std::uint32_t Last, typename T>
constexpr auto placed_list(T const& given) {
    using placed_type = decltype(placed<Own, Last>(given));
    return boost::hana::tuple<placed_type>{placed<Own, Last>(given)};
}
template <std::uint32_t Own, std::uint32_t Last, typename... Calls>
constexpr auto placed_list(call_group<Calls...> const& group) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        return boost::hana::tuple<decltype(placed<Own, Last>(std::declval<Calls const&>()))...>{
            placed<Own, Last>(boost::hana::at_c<Index>(group.calls))...};
    }(std::index_sequence_for<Calls...>{});
}

/// Appends the participants to a list, each in its stage.
template <std::uint32_t Next, std::uint32_t Last, typename List>
constexpr auto append_placed(List const& list) {
    return list;
}
template <std::uint32_t Next, std::uint32_t Last, typename List, typename First, typename... Rest>
constexpr auto append_placed(List const& list, First const& first, Rest const&... rest) {
    return append_placed<Next + (takes_stage<First> ? 1 : 0), Last>(
        boost::hana::concat(list, placed_list<Next, Last>(first)), rest...);
}

/// The participants of a transaction as a tuple, without groups, with each call in its stage.
template <typename... Given>
constexpr auto in_stages(Given const&... given) {
    if constexpr ((has_place<Given> || ...)) {
        constexpr std::uint32_t last = (0U + ... + (takes_stage<Given> ? 1U : 0U));
        return append_placed<1, last>(boost::hana::tuple<>{}, given...);
    } else {
        return boost::hana::tuple<Given...>{given...};
    }
}
template <typename... Given>
using in_stages_t = decltype(in_stages(std::declval<Given const&>()...));

// ------------------------------------------------------------- the calls of a transaction together

/// The position of the participant with a name, or the number of participants.
template <typename... Participants>
consteval std::size_t index_of_participant(std::string_view name) {
    std::size_t position = sizeof...(Participants);
    std::size_t at = 0;
    ((Participants::name == name ? void(position = at) : void(), ++at), ...);
    return position;
}
/// The name of the participant at a position.
template <std::size_t At, typename... Participants>
consteval auto name_of_participant() {
    constexpr std::string_view name = std::tuple_element_t<At, std::tuple<Participants...>>::name;
    return fixed_string<name.size() + 1>{name};
}
/// The participant with a name.
template <fixed_string Name, typename... Participants>
using participant_named = std::tuple_element_t<index_of_participant<Participants...>(Name.view()),
                                               std::tuple<Participants...>>;

/// Why a call is refused. The fault is found first and reported afterwards, so that the compiler's
/// message is short.
enum class call_fault {
    none,
    nothing_called,
    not_applied,
    query_undone,
    no_request,
    grade_of_undo,
    grade_of_pivot,
    grade_of_confirm,
    pivot,
    pivot_beside_prepared,
    no_participant,
    no_result,
    of_range,
    foreign_member,
    unlisted,
    too_early,
    computed
};

/// Shape:   Participant - its name, which the compiler shows
template <call_fault Fault, fixed_string Participant>
constexpr void explain_call() {
    static_assert(Fault != call_fault::nothing_called,
                  "settle: a participant makes no call. Add .apply(settle::call(...)) or "
                  ".confirm(settle::call(...)). See definition#services");
    static_assert(Fault != call_fault::not_applied,
                  "settle: a participant has 'compensate' and no 'apply'. The effects of 'confirm' "
                  "are never undone; remove .compensate(...). See definition#services");
    static_assert(Fault != call_fault::query_undone,
                  "settle: a query has no effect, so there is nothing to compensate. Remove "
                  ".compensate(...), or write settle::call(...). See definition#services");
    static_assert(Fault != call_fault::no_request,
                  "settle: settle::call() repeats the request of 'apply', and this participant "
                  "has none. Give the arguments of the request. See definition#services");
    static_assert(Fault != call_fault::grade_of_undo,
                  "settle: 'apply' with 'compensate' needs a receiver that remembers keys and "
                  "refusals. Use one of the grade settle::barrier, or settle::remembers_keys | "
                  "settle::keeps_refusals. See definition#services");
    static_assert(Fault != call_fault::grade_of_pivot,
                  "settle: an 'apply' without 'compensate' needs a receiver that remembers keys, "
                  "and keeps refusals or closes keys. Use one of such a grade, or write "
                  "settle::query(...) for a call without effect. See definition#services");
    static_assert(Fault != call_fault::grade_of_confirm,
                  "settle: 'confirm' may be sent twice, so it needs a receiver that remembers "
                  "keys. Use one of the grade settle::remembers_keys or higher. "
                  "See definition#services");
    static_assert(
        Fault != call_fault::pivot,
        "settle: a call has 'apply' and no 'compensate', so it must be the last call that "
        "is applied, once and alone in its stage. Add .compensate(settle::call()), move it after "
        "the others, or write .confirm(...) for .apply(...) if it cannot be refused. "
        "See definition#services");
    static_assert(Fault != call_fault::pivot_beside_prepared,
                  "settle: a call without 'compensate' cannot be combined with a settle::prepared: "
                  "after a takeover the prepared work runs again and may refuse, although that "
                  "call was made. Add .compensate(settle::call()). See prepared#work");
    static_assert(Fault != call_fault::no_participant,
                  "settle: a settle::result_from names no participant of its transaction. Name one "
                  "that calls a service. See definition#services");
    static_assert(Fault != call_fault::no_result,
                  "settle: a settle::result_from names a participant that gives no result. Name "
                  "one with 'apply' whose service has a result. See definition#services");
    static_assert(Fault != call_fault::of_range,
                  "settle: a settle::result_from names a range of calls, which gives a result for "
                  "each line. Name a single call. See definition#services");
    static_assert(Fault != call_fault::foreign_member,
                  "settle: a settle::result_from names a member of another struct than the result "
                  "of its participant's service. See definition#services");
    static_assert(Fault != call_fault::unlisted,
                  "settle: a member of a result that SETTLE_STRUCT does not list would not be kept "
                  "in the log. Add it there. See definition#services");
    static_assert(Fault != call_fault::too_early,
                  "settle: a settle::result_from is used before its stage has answered. Move the "
                  "call after the stage of that participant. See definition#services");
    static_assert(Fault != call_fault::computed,
                  "settle: a sum of a result could overflow in 'confirm' or 'compensate', which "
                  "must not fail. Pass the result as it is. See definition#services");
}

/// Checks the results that the arguments of one call use.
/// Shape:   Before - the results of the stages before this stage are known;
///          Computes - the call may fail, so its arguments may be sums
template <std::uint32_t Before, bool Computes, typename... Participants>
struct results_check {
    template <typename E>
    static consteval call_fault of(std::type_identity<E>) {
        return call_fault::none;
    }
    template <typename... Arguments>
    static consteval call_fault of(std::type_identity<boost::hana::tuple<Arguments...>>) {
        call_fault found = call_fault::none;
        ((found = found == call_fault::none ? of(std::type_identity<Arguments>{}) : found), ...);
        return found;
    }
    template <operation_kind Operation, typename L, typename R>
    static consteval call_fault of(std::type_identity<binary_expression<Operation, L, R>>) {
        constexpr bool sum = Operation <= operation_kind::multiply;
        if (sum && !Computes && !(without_results<L> && without_results<R>)) {
            return call_fault::computed;
        }
        call_fault const left = of(std::type_identity<L>{});
        return left == call_fault::none ? of(std::type_identity<R>{}) : left;
    }
    template <operation_kind Operation, typename E>
    static consteval call_fault of(std::type_identity<unary_expression<Operation, E>>) {
        if (Operation == operation_kind::negate && !Computes && !without_results<E>) {
            return call_fault::computed;
        }
        return of(std::type_identity<E>{});
    }
    template <fixed_string Participant, auto... Path>
    static consteval call_fault of(std::type_identity<result_expression<Participant, Path...>>) {
        constexpr bool known =
            index_of_participant<Participants...>(Participant.view()) < sizeof...(Participants);
        if constexpr (!known) return call_fault::no_participant;
        else return of_participant<participant_named<Participant, Participants...>, Path...>();
    }

private:
    template <typename Found, auto... Path>
    static consteval call_fault of_participant() {
        if constexpr (!is_call_participant<Found>) {
            return call_fault::no_result;
        } else if constexpr (!Found::gives_result) {
            return call_fault::no_result;
        } else {
            using result = typename Found::service_type::result_type;
            using root = typename param_expression<Path...>::parameters;
            if constexpr (Found::is_range) return call_fault::of_range;
            else if constexpr (!std::is_base_of_v<root, result>) return call_fault::foreign_member;
            else if constexpr (!path_is_listed<result, Path...>()) return call_fault::unlisted;
            else return Found::stage < Before ? call_fault::none : call_fault::too_early;
        }
    }
};

/// True if another participant may refuse in the stage of a pivot or in a later stage.
template <typename Pivot, typename Other>
consteval bool may_refuse_later() {
    if constexpr (std::is_same_v<Pivot, Other> || RecordParticipant<Other>) {
        return false;
    } else if constexpr (is_call_participant<Other>) {
        return Other::applies && Other::stage >= Pivot::stage;
    } else {
        return Other::stage >= Pivot::stage;
    }
}

/// The fault of a call by itself.
template <typename Call>
consteval call_fault fault_of_moments() {
    constexpr receiver_grade grade = Call::service_type::grade;
    constexpr bool remembers = grade.remembers != receiver_grade::memory::nothing;
    constexpr bool keeps_rows = grade.remembers == receiver_grade::memory::rows;
    constexpr bool refuses_again = keeps_rows || (remembers && grade.keeps_refusals);
    constexpr bool decides = remembers && (grade.keeps_refusals || grade.closes_keys);
    if (!Call::applies && !Call::compensates && !Call::confirms) return call_fault::nothing_called;
    if (!Call::applies && Call::compensates) return call_fault::not_applied;
    if (!Call::has_effect && Call::compensates) return call_fault::query_undone;
    if (!Call::applies && Call::template repeats_request<typename Call::confirm_type>)
        return call_fault::no_request;
    if (Call::compensates && !refuses_again) return call_fault::grade_of_undo;
    if (Call::is_pivot && !decides) return call_fault::grade_of_pivot;
    return Call::confirms && !remembers ? call_fault::grade_of_confirm : call_fault::none;
}

/// The fault of a call among the other participants.
template <typename Call, typename... Participants>
consteval call_fault fault_among() {
    if constexpr (Call::is_pivot) {
        if (Call::is_range || (may_refuse_later<Call, Participants>() || ...)) {
            return call_fault::pivot;
        }
        if ((PreparedParticipant<Participants> || ...)) return call_fault::pivot_beside_prepared;
    }
    constexpr std::uint32_t past_last_stage = last_stage + 1;
    call_fault const faults[] = {
        results_check<Call::stage, true, Participants...>::of(
            std::type_identity<typename arguments_of<typename Call::apply_type>::type>{}),
        results_check<Call::stage, false, Participants...>::of(
            std::type_identity<typename arguments_of<typename Call::compensate_type>::type>{}),
        results_check<past_last_stage, false, Participants...>::of(
            std::type_identity<typename arguments_of<typename Call::confirm_type>::type>{})};
    for (call_fault const one : faults) {
        if (one != call_fault::none) return one;
    }
    return call_fault::none;
}

struct call_finding {
    call_fault fault = call_fault::none;
    std::size_t participant = 0; ///< its position
};

template <typename Participant, typename... Participants>
consteval call_fault fault_of_call() {
    if constexpr (!is_call_participant<Participant>) return call_fault::none;
    else if constexpr (fault_of_moments<Participant>() != call_fault::none)
        return fault_of_moments<Participant>();
    else return fault_among<Participant, Participants...>();
}

/// The first fault of the calls of a transaction.
template <typename... Participants>
consteval call_finding find_call_fault() {
    call_finding finding;
    if constexpr ((is_call_participant<Participants> || ...)) {
        std::size_t index = 0;
        auto const look = [&](call_fault fault) {
            if (finding.fault == call_fault::none) finding = {fault, index};
            ++index;
        };
        (look(fault_of_call<Participants, Participants...>()), ...);
    }
    return finding;
}

/// Tests that an expression is no result of the participant with a name.
template <fixed_string Name>
struct no_result_of {
    template <typename E>
    struct test : std::true_type {};
    template <fixed_string Participant, auto... Path>
    struct test<result_expression<Participant, Path...>>
        : std::bool_constant<Participant.view() != Name.view()> {};
};

/// True if an argument is a result of the participant with a name.
template <fixed_string Name, typename... Arguments>
consteval bool use_result(std::type_identity<boost::hana::tuple<Arguments...>>) {
    return !(every_leaf<no_result_of<Name>::template test, Arguments>::value && ...);
}

/// True if a call that is applied, or its compensation, uses a result of the participant with a
/// name.
template <fixed_string Name, typename User>
consteval bool uses_result_of() {
    if constexpr (!is_call_participant<User>) return false;
    else
        return use_result<Name>(
                   std::type_identity<typename arguments_of<typename User::apply_type>::type>{}) ||
               use_result<Name>(std::type_identity<
                                typename arguments_of<typename User::compensate_type>::type>{});
}

/// True if the order of compensations cannot follow from the use of results: a kind of another
/// library may use results in ways that this header does not know, or there are too many bits.
template <typename... Participants>
consteval bool is_undone_by_stage() {
    return sizeof...(Participants) > 64 ||
           !((Participants::stage == 0 || is_call_participant<Participants>) && ...);
}

/// For each participant, a bit for each call that is compensated before it, since the call used its
/// result. A query passes the use on, since a later call may use its own result.
template <typename... Participants>
consteval std::array<std::uint64_t, sizeof...(Participants)> undone_after() {
    std::array<std::uint64_t, sizeof...(Participants)> after{};
    if constexpr ((is_call_participant<Participants> || ...) &&
                  !is_undone_by_stage<Participants...>()) {
        constexpr auto count = sizeof...(Participants);
        auto const note =
            [&]<std::size_t Of, std::size_t... Users>(std::integral_constant<std::size_t, Of>,
                                                      std::index_sequence<Users...>) {
                constexpr auto name = name_of_participant<Of, Participants...>();
                auto const look = [&]<std::size_t By>(std::integral_constant<std::size_t, By>) {
                    using user = std::tuple_element_t<By, std::tuple<Participants...>>;
                    if constexpr (By > Of && uses_result_of<name, user>()) {
                        after[Of] |= after[By];
                        if constexpr (user::compensates) after[Of] |= std::uint64_t{1} << By;
                    }
                };
                (look(std::integral_constant<std::size_t, Users>{}), ...);
            };
        [&]<std::size_t... From>(std::index_sequence<From...>) {
            (note(std::integral_constant<std::size_t, count - 1 - From>{},
                  std::index_sequence_for<Participants...>{}),
             ...);
        }(std::index_sequence_for<Participants...>{});
    }
    return after;
}

} // namespace detail

/// Makes calls side by side, in one stage: none of them uses a result of another.
template <typename... Calls>
constexpr auto together(Calls const&... calls) {
    constexpr bool refused = (std::is_same_v<Calls, detail::refused_participant> || ...);
    constexpr bool fits = sizeof...(Calls) > 0 && (detail::is_call_participant<Calls> && ...);
    static_assert(fits || refused,
                  "settle: settle::together takes participants that are calls of services. Records "
                  "are applied together as they stand. See definition#services");
    if constexpr (fits) return detail::call_group<Calls...>{boost::hana::tuple<Calls...>{calls...}};
    else return detail::refused_participant{};
}

SETTLE_END
