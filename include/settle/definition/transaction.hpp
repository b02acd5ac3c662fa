// SPDX-License-Identifier: BSL-1.0
// A transaction type: its parameters, their guards, and its participants.
#pragma once

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

template <typename T>
struct vector_element {
    using type = void;
};
template <typename T>
struct vector_element<std::vector<T>> {
    using type = T;
};

/// Parameters are kept in the log, so each must be of a type that a log can write and read.
template <typename T>
constexpr void check_parameter_type() {
    if constexpr (Described<T>) {
        for_each_member<T>([](auto m) { check_parameter_type<typename decltype(m)::type>(); });
    } else if constexpr (!std::is_void_v<typename vector_element<T>::type>) {
        check_parameter_type<typename vector_element<T>::type>();
    } else {
        static_assert(!std::is_class_v<T> || FieldType<T>,
                      "settle: a struct among the parameters is not described. Add "
                      "BOOST_HANA_ADAPT_STRUCT(type, members…) at global scope. README#parameters");
        if constexpr (!std::is_class_v<T> || FieldType<T>) check_field_type<T>();
    }
}

template <typename Parameters, typename E>
inline constexpr bool expression_fits =
    every_leaf<parameter_of<Parameters>::template test, E>::value;

template <typename Parameters, typename Tuple>
inline constexpr bool guards_fit = true;
template <typename Parameters, typename... Guards>
inline constexpr bool guards_fit<Parameters, boost::hana::tuple<Guards...>> =
    (expression_fits<Parameters, typename Guards::expression_type> && ...);

template <typename Parameters, typename Moment>
inline constexpr bool moment_fits = true;
template <typename Parameters, bool C, bool E, typename... Effects>
inline constexpr bool moment_fits<Parameters, moment<C, E, Effects...>> =
    (expression_fits<Parameters, typename Effects::operand_type> && ...);

template <typename Parameters, typename Source>
inline constexpr bool source_fits = true;
template <typename Parameters, auto... Path>
inline constexpr bool source_fits<Parameters, each_expression<Path...>> =
    std::is_base_of_v<typename each_expression<Path...>::parameters, Parameters>;

template <typename Parameters, typename P>
constexpr bool participant_fits() {
    constexpr bool fits = source_fits<Parameters, typename P::source_type> &&
                          expression_fits<Parameters, typename P::key_expression> &&
                          guards_fit<Parameters, typename P::guards_type> &&
                          moment_fits<Parameters, typename P::apply_type> &&
                          moment_fits<Parameters, typename P::compensate_type> &&
                          moment_fits<Parameters, typename P::confirm_type>;
    static_assert(fits, "settle: a participant uses a parameter of another struct. Use the members "
                        "of the transaction's own parameters. README#parameters");
    return fits;
}

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
        constexpr bool fits = [] {
            if constexpr (Expression<Condition>) {
                return std::is_same_v<typename Condition::type, bool> &&
                       detail::without_fields<Condition> && detail::without_lines<Condition>;
            } else {
                return false;
            }
        }();
        static_assert(fits, "settle: a transaction's 'require' takes a condition on the parameters "
                            "alone. Guards on a record belong to its participant. "
                            "README#parameters");
        if constexpr (fits) {
            static_assert(detail::expression_fits<Parameters, Condition>,
                          "settle: a guard uses a parameter of another struct. "
                          "README#parameters");
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
                  "BOOST_HANA_ADAPT_STRUCT(type, members…) at global scope. README#parameters");
    static_assert(is_plain_name(Name.view()),
                  "settle: a transaction's name is 1 to 48 letters, digits and '_', and begins with "
                  "a letter. README#names");
    static_assert(sizeof...(Participants) > 0,
                  "settle: a transaction has no participant. Add settle::participant<…>(…). "
                  "README#participants");
    constexpr bool participants_only =
        (requires { typename Participants::collection_type; } && ...);
    static_assert(participants_only, "settle: settle::transaction takes participants. Make them "
                                     "with settle::participant<…>(…). README#participants");
    if constexpr (Described<Parameters> && participants_only) {
        detail::check_parameter_type<Parameters>();
        static_assert(detail::all_different<sizeof...(Participants)>({Participants::name...}),
                      "settle: two participants have one name. README#names");
        if constexpr ((detail::participant_fits<Parameters, Participants>() && ...)) {
            static_assert((detail::review<Participants>() && ...));
        }
    }
    return transaction_definition<Parameters, Name, boost::hana::tuple<>, Participants...>{
        {}, boost::hana::tuple<Participants...>{participants...}};
}

SETTLE_END
