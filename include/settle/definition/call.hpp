// SPDX-License-Identifier: BSL-1.0
// The call that a participant makes at one moment: an argument for each member of the request.
#pragma once

#include <settle/definition/participant.hpp>
#include <settle/definition/service.hpp>

SETTLE_BEGIN

/// Shape:   HasEffect - false for a query
template <bool HasEffect, typename... Arguments>
struct call_expression {
    static constexpr bool has_effect = HasEffect;
    static constexpr std::size_t size = sizeof...(Arguments);
    using arguments_type = boost::hana::tuple<Arguments...>;
    arguments_type arguments;
};

/// Lookup by arguments finds no function of this namespace. Asio looks for a `query` so, and would
/// find one that takes everything.
namespace calls {

/// A call that may take effect, with one argument for each member of the service's request, in
/// order. Without arguments, `compensate` and `confirm` send the request of `apply` again.
template <typename... Arguments>
constexpr auto call(Arguments const&... arguments) {
    return call_expression<true, detail::expression_of<Arguments>...>{
        boost::hana::tuple<detail::expression_of<Arguments>...>{
            detail::as_expression(arguments)...}};
}

/// A call without effect, for `apply`: it gives a result and is not compensated.
template <typename... Arguments>
constexpr auto query(Arguments const&... arguments) {
    return call_expression<false, detail::expression_of<Arguments>...>{
        boost::hana::tuple<detail::expression_of<Arguments>...>{
            detail::as_expression(arguments)...}};
}

} // namespace calls
using namespace calls;

namespace detail {

template <typename T>
inline constexpr bool is_call = false;
template <bool HasEffect, typename... Arguments>
inline constexpr bool is_call<call_expression<HasEffect, Arguments...>> = true;

/// The arguments of a call; empty where a participant makes none.
template <typename Call>
struct arguments_of {
    using type = boost::hana::tuple<>;
};
template <bool HasEffect, typename... Arguments>
struct arguments_of<call_expression<HasEffect, Arguments...>> {
    using type = boost::hana::tuple<Arguments...>;
};

/// Why a participant cannot make a call. The fault is found first and reported afterwards, so that
/// the compiler's message is short; `reported` means that an earlier message reported it.
enum class moment_fault {
    none,
    reported,
    twice,
    no_call,
    query,
    count,
    field,
    result,
    line,
    line_unlisted,
    width,
    type
};

/// The calls that a participant takes at a moment.
struct taken_calls {
    bool repeats; ///< a call without arguments sends the request of the apply
    bool queries; ///< a query is taken, too
    bool results; ///< results of earlier calls may be arguments
};
inline constexpr taken_calls applied_calls{false, true, true};
inline constexpr taken_calls ending_calls{true, false, true};
inline constexpr taken_calls prepared_calls{false, false, false};

template <typename Source, typename Member, typename Argument, taken_calls Taken>
consteval moment_fault fault_of_argument() {
    using element = typename Source::element;
    if constexpr (any_refused<Argument>) return moment_fault::reported;
    else if constexpr (!without_fields<Argument>) return moment_fault::field;
    else if constexpr (!Taken.results && !without_results<Argument>) return moment_fault::result;
    else if constexpr (!every_leaf<line_of<element>::template test, Argument>::value)
        return moment_fault::line;
    else if constexpr (!every_leaf<listed_line_of<element>::template test, Argument>::value)
        return moment_fault::line_unlisted;
    else if constexpr (operand_fits<Member, Argument>()) return moment_fault::none;
    else return both_integers<Member, Argument> ? moment_fault::width : moment_fault::type;
}

/// A fault, and the argument that has it.
struct moment_finding {
    moment_fault fault = moment_fault::none;
    std::size_t argument = 0;
};

/// Shape:   Target - a service, or a settle::prepared; Before - the call that the participant
///          already makes at this moment
template <typename Target, typename Source, typename Before, taken_calls Taken>
struct moment_check {
    using request = typename Target::request_type;

    template <typename... Given>
    static consteval moment_finding find(std::type_identity<boost::hana::tuple<Given...>>) {
        return {moment_fault::no_call};
    }
    template <bool HasEffect, typename... Arguments>
    static consteval moment_finding
    find(std::type_identity<boost::hana::tuple<call_expression<HasEffect, Arguments...>>>) {
        if constexpr (!std::is_same_v<Before, not_given>) return {moment_fault::twice};
        else if constexpr (!Taken.queries && !HasEffect) return {moment_fault::query};
        else if constexpr (Taken.repeats && sizeof...(Arguments) == 0) return {};
        else if constexpr (sizeof...(Arguments) != member_count<request>)
            return {moment_fault::count};
        else return first_of<Arguments...>(std::index_sequence_for<Arguments...>{});
    }

private:
    template <typename... Arguments, std::size_t... Index>
    static consteval moment_finding first_of(std::index_sequence<Index...>) {
        moment_finding finding;
        [[maybe_unused]] auto const look = [&](moment_fault fault, std::size_t argument) {
            if (finding.fault == moment_fault::none) finding = {fault, argument};
        };
        (look(fault_of_argument<Source, typename member<request, Index>::type, Arguments, Taken>(),
              Index),
         ...);
        return finding;
    }
};

/// True if an argument of a call exceeds 64 bits for these parameters. An argument with a result is
/// evaluated when its call is made.
/// Shape:   element - of the line, or null
template <typename Arguments, typename Parameters, typename Element>
[[nodiscard]] constexpr bool any_overflows(Arguments const& arguments, Parameters const& parameters,
                                           Element const* element) {
    bool overflow = false;
    scope<nothing, Parameters, Element> const scope{nullptr, &parameters, element, &overflow};
    for_each_element(arguments, [&](auto const& argument) {
        if constexpr (without_results<std::remove_cvref_t<decltype(argument)>>) {
            static_cast<void>(evaluate(argument, scope));
        }
    });
    return overflow;
}

/// Shape:   Participant - its name, which the compiler shows; Argument - the position of the
/// argument
///          with the fault, and of its member in the request
template <moment_fault Fault, fixed_string Participant, std::size_t Argument>
constexpr void explain_moment() {
    static_assert(Fault != moment_fault::twice,
                  "settle: 'apply', 'confirm' or 'compensate' is given twice. A participant makes "
                  "one call at each moment. See definition#services");
    static_assert(Fault != moment_fault::no_call,
                  "settle: 'apply', 'confirm' and 'compensate' of a service, and 'apply' of a "
                  "settle::prepared, take one settle::call(...); 'apply' of a service may take "
                  "settle::query(...). See definition#services");
    static_assert(Fault != moment_fault::query,
                  "settle: a query has no effect, so only 'apply' of a service takes it. Write "
                  "settle::call(...). See definition#services");
    static_assert(Fault != moment_fault::count,
                  "settle: a call has one argument for each member of its request struct. Give "
                  "as many as it has. See definition#services");
    static_assert(Fault != moment_fault::field,
                  "settle: a call has no record, so a settle::field has no value in it. Use "
                  "settle::param, settle::line or settle::result_from. See definition#services");
    static_assert(Fault != moment_fault::result,
                  "settle: a database prepares before any call is made, so a settle::result_from "
                  "has no value here. Use a parameter. See definition#prepared");
    static_assert(Fault != moment_fault::line,
                  "settle: settle::line<...> names a member of the range's elements; this "
                  "participant has another range or none. Add settle::each<...>. "
                  "See definition#ranges");
    static_assert(Fault != moment_fault::line_unlisted,
                  "settle: a settle::line<...> that SETTLE_STRUCT does not list would not be kept "
                  "in the log. Add it there. See definition#parameters");
    static_assert(Fault != moment_fault::width,
                  "settle: an argument of a call is a wider integer than the request's member. "
                  "Give both the same type, or write a constant as a settle::lit that fits. "
                  "See definition#services");
    static_assert(Fault != moment_fault::type,
                  "settle: an argument of a call is of another type than the request's member. "
                  "Give one argument for each member, in their order. "
                  "See definition#services");
}

} // namespace detail
SETTLE_END
