// SPDX-License-Identifier: BSL-1.0
// A transaction type: its parameters, their guards, and its participants.
#pragma once

// In this order, so that a compiler's message names no more files than the one that it is about.
#include <settle/definition/field_type.hpp>
#include <settle/definition/expression.hpp>
#include <settle/definition/effect.hpp>
#include <settle/definition/collection.hpp>
#include <settle/definition/plan.hpp>
#include <settle/definition/moment.hpp>
#include <settle/definition/participant.hpp>
#include <settle/definition/review.hpp>

#include <boost/hana/at.hpp>

#include <array>

SETTLE_BEGIN

namespace detail {

template <typename Parameters>
struct parameter_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<param_expression<Path...>>
        : std::bool_constant<std::is_base_of_v<typename param_expression<Path...>::parameters,
                                               Parameters>> {};
};

/// Parameters are kept in the log, so each must be of a type that a log can write and read.
template <type_fault Fault>
constexpr void explain_parameter_fault() {
    static_assert(Fault != type_fault::undescribed,
                  "settle: a struct among the parameters is not described. Add "
                  "BOOST_HANA_ADAPT_STRUCT(type, members...) at global scope. README#parameters");
    static_assert(Fault != type_fault::endless,
                  "settle: a struct among the parameters holds itself. Give it a vector of another "
                  "struct. README#parameters");
    explain_field_fault<Fault>();
}

template <typename Parameters>
struct listed_parameter_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<param_expression<Path...>>
        : std::bool_constant<path_is_listed<Parameters, Path...>()> {};
};

/// Every expression of a participant in which parameters can stand, tested one by one.
template <template <typename> typename Test, typename T>
inline constexpr bool all_pass = every_leaf<Test, T>::value;
template <template <typename> typename Test, typename... Guards>
inline constexpr bool all_pass<Test, boost::hana::tuple<Guards...>> =
    (every_leaf<Test, typename Guards::expression_type>::value && ...);
template <template <typename> typename Test, bool C, bool E, typename... Effects>
inline constexpr bool all_pass<Test, moment<C, E, Effects...>> =
    (every_leaf<Test, typename Effects::operand_type>::value && ...);
template <template <typename> typename Test, auto... Path>
inline constexpr bool all_pass<Test, each_expression<Path...>> =
    every_leaf<Test, param_expression<Path...>>::value;

template <template <typename> typename Test, typename P>
inline constexpr bool participant_passes =
    all_pass<Test, typename P::source_type> && all_pass<Test, typename P::key_expression> &&
    all_pass<Test, typename P::guards_type> && all_pass<Test, typename P::apply_type> &&
    all_pass<Test, typename P::compensate_type> && all_pass<Test, typename P::confirm_type>;

template <typename Parameters, typename P>
constexpr bool participant_fits() {
    constexpr bool ours = participant_passes<parameter_of<Parameters>::template test, P>;
    constexpr bool listed = participant_passes<listed_parameter_of<Parameters>::template test, P>;
    static_assert(ours, "settle: a participant uses a parameter of another struct. Use the members "
                        "of the transaction's own parameters. README#parameters");
    static_assert(listed, "settle: a parameter that BOOST_HANA_ADAPT_STRUCT does not list would "
                          "not be kept in the log. Add it there. README#parameters");
    return ours && listed;
}

/// One name means one set of records.
template <typename A, typename B>
inline constexpr bool collections_agree =
    std::is_same_v<typename A::collection_type, typename B::collection_type> ||
    A::collection_type::name != B::collection_type::name;
template <typename First, typename... All>
inline constexpr bool agrees_with_all = (collections_agree<First, All> && ...);

template <std::size_t Count>
constexpr bool all_different(std::array<std::string_view, Count> const& names) {
    for (std::size_t i = 0; i < Count; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (names[i] == names[j]) return false;
        }
    }
    return true;
}

} // namespace detail

/// A transaction type as a value: made by settle::transaction, named to an engine by settle::type.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
struct transaction_definition {
    using parameters_type = Parameters;
    static constexpr std::string_view name = Name.view();
    static constexpr std::size_t participant_count = sizeof...(Participants);
    template <std::size_t Index>
    using participant_type =
        std::remove_cvref_t<decltype(boost::hana::at_c<Index>(
            std::declval<boost::hana::tuple<Participants...>>()))>;

    Guards guards;
    boost::hana::tuple<Participants...> participants;

    /// A condition on the parameters alone, decided before anything is written.
    template <typename Condition>
    constexpr auto require(Condition const& condition) const {
        constexpr bool fits = detail::is_condition<Condition> &&
                              detail::without_fields<Condition> && detail::without_lines<Condition>;
        static_assert(fits || detail::is_refused<Condition>,
                      "settle: a transaction's 'require' takes a condition on the parameters "
                      "alone. Guards on a record belong to its participant. README#parameters");
        if constexpr (fits) {
            static_assert(
                detail::every_leaf<detail::parameter_of<Parameters>::template test,
                                   Condition>::value,
                "settle: a guard uses a parameter of another struct. README#parameters");
            static_assert(
                detail::every_leaf<detail::listed_parameter_of<Parameters>::template test,
                                   Condition>::value,
                "settle: a parameter that BOOST_HANA_ADAPT_STRUCT does not list would not be kept "
                "in the log. Add it there. README#parameters");
            auto const added = boost::hana::concat(guards, detail::normal_guards(condition));
            return transaction_definition<Parameters, Name, std::remove_const_t<decltype(added)>,
                                          Participants...>{added, participants};
        } else {
            return *this;
        }
    }
};

/// Describes a transaction type.
/// Shape:   Parameters - a struct described with BOOST_HANA_ADAPT_STRUCT
///          Name - letters, digits and `_`; kept in the log with every entry
///          participants - one or more settle::participant<…>(…), each with a name of its own
/// Errors:  everything that is wrong is said by the compiler
/// Example: samples/transfer
template <typename Parameters, fixed_string Name, typename... Participants>
constexpr auto transaction(Participants const&... participants) {
    static_assert(Described<Parameters>,
                  "settle: the parameter struct of this transaction is not described. Add "
                  "BOOST_HANA_ADAPT_STRUCT(type, members...) at global scope. README#parameters");
    static_assert(is_plain_name(Name.view()),
                  "settle: a transaction's name is 1 to 48 letters, digits and '_', and begins "
                  "with a letter. README#names");
    static_assert(sizeof...(Participants) > 0,
                  "settle: a transaction has no participant. Add settle::participant<...>(...). "
                  "README#participants");
    constexpr bool participants_only =
        (requires { typename Participants::collection_type; } && ...);
    constexpr bool refused = (std::is_same_v<Participants, detail::refused_participant> || ...);
    static_assert(participants_only || refused,
                  "settle: settle::transaction takes participants. Make them with "
                  "settle::participant<...>(...). README#participants");
    if constexpr (Described<Parameters> && participants_only) {
        detail::explain_parameter_fault<detail::fault_of_value<Parameters>()>();
        static_assert(detail::all_different<sizeof...(Participants)>({Participants::name...}),
                      "settle: two participants have one name. Give each a name of its own. "
                      "README#names");
        static_assert((detail::agrees_with_all<Participants, Participants...> && ...),
                      "settle: two collections of one name differ in their record or key. Give "
                      "each a name of its own. README#names");
        if constexpr ((detail::participant_fits<Parameters, Participants>() && ...)) {
            static_assert((detail::review<Participants>() && ...));
        }
    }
    return transaction_definition<Parameters, Name, boost::hana::tuple<>, Participants...>{
        {}, boost::hana::tuple<Participants...>{participants...}};
}

// The ways to call settle::transaction wrongly that would otherwise end in a list of candidates.
namespace detail {

template <typename... Given>
constexpr refused_participant refuse_transaction() {
    static_assert(sizeof...(Given) == ~std::size_t{0},
                  "settle: settle::transaction takes the parameter struct, then the name. Write "
                  "settle::transaction<parameters, \"name\">(...). README#parameters");
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
