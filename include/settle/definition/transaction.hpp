// SPDX-License-Identifier: BSL-1.0
// A transaction type: its parameters, their guards, and its participants.
#pragma once

// In this order, so that a compiler's message names only the header which refuses the definition.
#include <settle/definition/call.hpp>
#include <settle/definition/call_participant.hpp>
#include <settle/definition/collection.hpp>
#include <settle/definition/effect.hpp>
#include <settle/definition/expression.hpp>
#include <settle/definition/field_type.hpp>
#include <settle/definition/moment.hpp>
#include <settle/definition/nested_type.hpp>
#include <settle/definition/participant.hpp>
#include <settle/definition/plan.hpp>
#include <settle/definition/prepared.hpp>
#include <settle/definition/prepared_participant.hpp>
#include <settle/definition/review.hpp>
#include <settle/definition/service.hpp>
#include <settle/definition/stages.hpp>
#include <settle/definition/structure.hpp>

#include <boost/hana/at.hpp>

#include <functional>

SETTLE_BEGIN

namespace detail {

template <typename Parameters>
struct parameter_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<param_expression<Path...>>
        : std::bool_constant<
              std::is_base_of_v<typename param_expression<Path...>::parameters, Parameters>> {};
};

template <typename Parameters>
struct listed_parameter_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<param_expression<Path...>>
        : std::bool_constant<path_is_listed<Parameters, Path...>()> {};
};

/// True when every expression of a participant that can use parameters passes `Test`.
template <template <typename> typename Test, typename T>
inline constexpr bool all_pass = every_leaf<Test, T>::value;
template <template <typename> typename Test, typename... Expressions>
inline constexpr bool all_pass<Test, boost::hana::tuple<Expressions...>> =
    (all_pass<Test, Expressions> && ...);
template <template <typename> typename Test, typename Guard>
    requires requires { typename Guard::expression_type; }
inline constexpr bool all_pass<Test, Guard> =
    every_leaf<Test, typename Guard::expression_type>::value;
template <template <typename> typename Test, bool C, bool E, typename... Effects>
inline constexpr bool all_pass<Test, moment<C, E, Effects...>> =
    (every_leaf<Test, typename Effects::operand_type>::value && ...);
template <template <typename> typename Test, auto... Path>
inline constexpr bool all_pass<Test, each_expression<Path...>> =
    every_leaf<Test, param_expression<Path...>>::value;

template <template <typename> typename Test, typename P>
inline constexpr bool participant_passes =
    all_pass<Test, typename P::source_type> && all_pass<Test, typename P::key_expression> &&
    all_pass<Test, typename P::expressions>;

template <typename Parameters, typename P>
constexpr bool participant_fits() {
    constexpr bool ours = participant_passes<parameter_of<Parameters>::template test, P>;
    constexpr bool listed = participant_passes<listed_parameter_of<Parameters>::template test, P>;
    static_assert(ours, "settle: a participant uses a parameter of another struct. Use the members "
                        "of the transaction's own parameters. See definition#parameters");
    static_assert(listed, "settle: a parameter that SETTLE_STRUCT does not list would "
                          "not be kept in the log. Add it there. See definition#parameters");
    return ours && listed;
}

/// True when two participants use the same target or targets of different names.
template <typename A, typename B>
inline constexpr bool targets_agree =
    std::is_same_v<typename A::target_type, typename B::target_type> ||
    !same_name{}(A::target_type::name, B::target_type::name);
template <typename First, typename... All>
inline constexpr bool agrees_with_all = (targets_agree<First, All> && ...);

/// Replaces a transaction type that the compiler has refused. An engine takes it without a message.
struct refused_transaction {
    constexpr refused_transaction require(auto const&...) const { return {}; }
};

template <typename Parameters, typename... Participants>
constexpr bool check_participants() {
    constexpr bool names =
        all_different<sizeof...(Participants)>({Participants::name...}, std::equal_to<>{});
    constexpr bool collections = (agrees_with_all<Participants, Participants...> && ...);
    static_assert(names, "settle: two participants have one name. Give each a name of its own. "
                         "See definition#names");
    static_assert(collections || !names,
                  "settle: two collections, services or prepared targets of one name differ in "
                  "their types or key. Give each a name of its own; names that differ only in case "
                  "are equal. See definition#names");
    constexpr bool stages = ((Participants::stage <= last_stage) && ...);
    static_assert(stages, "settle: the stage of a participant is at most 254. "
                          "See definition#other-kinds");
    constexpr call_finding calls = find_call_fault<Participants...>();
    explain_call<calls.fault, name_of_participant<calls.participant, Participants...>()>();
    constexpr bool calls_fit = calls.fault == call_fault::none;
    if constexpr (!names || !collections || !stages || !calls_fit) return false;
    else if constexpr (!(participant_fits<Parameters, Participants>() && ...)) return false;
    else return (review<Participants>() && ...);
}

template <typename Parameters, fixed_string Name, typename... Participants>
constexpr bool check_transaction(std::type_identity<boost::hana::tuple<Participants...>>) {
    constexpr bool reported = refused_description<Parameters> ||
                              (std::is_same_v<Participants, refused_participant> || ...);
    constexpr bool described = Described<Parameters>;
    constexpr bool participants_only = (Participant<Participants> && ...);
    static_assert(reported || described,
                  "settle: the parameter struct of this transaction is no aggregate. List its "
                  "members with SETTLE_STRUCT(type, members...) after it. "
                  "See definition#parameters");
    static_assert(reported || is_plain_name(Name.view()),
                  "settle: a transaction's name is 1 to 48 letters, digits and '_', and begins "
                  "with a letter. See definition#names");
    static_assert(reported || sizeof...(Participants) > 0,
                  "settle: a transaction has no participant. Add settle::participant<...>(...). "
                  "See definition#participants");
    static_assert(reported || participants_only,
                  "settle: settle::transaction takes participants. Make them with "
                  "settle::participant<...>(...). See definition#participants");
    if constexpr (reported || !described || !participants_only || sizeof...(Participants) == 0) {
        return false;
    } else {
        constexpr type_fault fault = fault_of_value<Parameters>();
        explain_type_fault<fault>();
        if constexpr (fault != type_fault::none || !is_plain_name(Name.view())) return false;
        else return check_participants<Parameters, Participants...>();
    }
}

} // namespace detail

/// A transaction type as a value. settle::transaction makes it; an engine takes settle::type of it.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
struct transaction_definition {
    using parameters_type = Parameters;
    static constexpr std::string_view name = Name.view();
    static constexpr std::size_t participant_count = sizeof...(Participants);
    template <std::size_t Index>
    using participant_type = std::remove_cvref_t<decltype(boost::hana::at_c<Index>(
        std::declval<boost::hana::tuple<Participants...>>()))>;

    Guards guards;
    boost::hana::tuple<Participants...> participants;
    bool in_order = false; ///< see compensate_in_order()

    /// Has a cancel compensate each stage after all later stages, and the records last. Without it,
    /// a call waits only for later calls that use its result.
    [[nodiscard]] constexpr transaction_definition compensate_in_order() const {
        auto ordered = *this;
        ordered.in_order = true;
        return ordered;
    }
    /// For each participant, a bit for each that is compensated before it; see undo_place.
    [[nodiscard]] static constexpr auto undone_after() {
        return detail::undone_after<Participants...>();
    }
    /// True if each stage is compensated after all later ones.
    [[nodiscard]] constexpr bool undone_by_stage() const {
        return in_order || detail::is_undone_by_stage<Participants...>();
    }

    /// Adds a guard on the parameters alone; the engine decides it before any write.
    template <typename Condition>
    constexpr auto require(Condition const& condition) const {
        constexpr bool fits =
            detail::is_condition<Condition> && detail::without_fields<Condition> &&
            detail::without_lines<Condition> && detail::without_results<Condition>;
        static_assert(fits || detail::is_refused<Condition>,
                      "settle: a transaction's 'require' takes a condition on the parameters "
                      "alone. Guards on a record belong to its participant. "
                      "See definition#parameters");
        if constexpr (fits) {
            constexpr bool ours =
                detail::every_leaf<detail::parameter_of<Parameters>::template test,
                                   Condition>::value;
            constexpr bool listed =
                detail::every_leaf<detail::listed_parameter_of<Parameters>::template test,
                                   Condition>::value;
            static_assert(ours, "settle: a guard uses a parameter of another struct. "
                                "See definition#parameters");
            static_assert(listed, "settle: a parameter that SETTLE_STRUCT does not list would not "
                                  "be kept in the log. Add it there. See definition#parameters");
            auto const added = boost::hana::concat(guards, detail::normal_guards(condition));
            return transaction_definition<Parameters, Name, std::remove_const_t<decltype(added)>,
                                          Participants...>{added, participants, in_order};
        } else {
            return detail::refused_transaction{};
        }
    }
};

/// Describes a transaction type.
/// Shape:   Parameters - an aggregate, or a struct that SETTLE_STRUCT describes
///          Name - letters, digits and `_`; kept in the log with every entry
///          participants - one or more settle::participant<…>(…), each with a name of its own; a
///          settle::together(…) holds several calls
/// Errors:  the compiler refuses a wrong definition, with a message that says what to do
/// Example: samples/transfer
template <typename Parameters, fixed_string Name, typename... Participants>
constexpr auto transaction(Participants const&... participants) {
    using placed = detail::in_stages_t<Participants...>;
    if constexpr (detail::check_transaction<Parameters, Name>(std::type_identity<placed>{})) {
        return [&]<typename... Placed>(boost::hana::tuple<Placed...> const& all) {
            return transaction_definition<Parameters, Name, boost::hana::tuple<>, Placed...>{{},
                                                                                             all};
        }(detail::in_stages(participants...));
    } else {
        return detail::refused_transaction{};
    }
}

// These overloads take wrong calls of settle::transaction, which would otherwise end in a list of
// candidates.
namespace detail {

template <typename... Given>
constexpr refused_transaction refuse_transaction() {
    static_assert(sizeof...(Given) == ~std::size_t{0},
                  "settle: settle::transaction takes the parameter struct, then the name. Write "
                  "settle::transaction<parameters, \"name\">(...). See definition#parameters");
    return {};
}

} // namespace detail

template <fixed_string Name, typename Parameters, typename... Participants>
constexpr auto transaction(Participants const&...) {
    return detail::refuse_transaction<Parameters>();
}
template <typename Parameters, typename... Participants>
constexpr auto transaction(Participants const&...) {
    return detail::refuse_transaction<Parameters>();
}
template <fixed_string Name, typename... Participants>
constexpr auto transaction(Participants const&...) {
    return detail::refuse_transaction<Participants...>();
}

SETTLE_END
