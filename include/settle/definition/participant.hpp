// SPDX-License-Identifier: BSL-1.0
// A participant of kind record: its record or range of records, its guards, its three moments.
#pragma once

#include <settle/definition/moment.hpp>
#include <settle/definition/nested_type.hpp>

#include <concepts>
#include <vector>

SETTLE_BEGIN

/// The largest number of a stage.
inline constexpr std::uint32_t last_stage = 254;

/// A participant of any kind, as settle::transaction takes it. A record_participant is a record or
/// a range of records. Another kind is a type of its own with these members:
/// Shape:   target_type       - with a constant `name`; kind_of_target<target_type> has the
///                              functions that the store of its parts calls (store/descriptor.hpp)
///          source_type       - `single`, or each_expression for a range
///          key_expression    - the type of `key`, an expression over the parameters
///          expressions       - a Hana tuple of the other expressions over the parameters
///          name, is_range    - constants
///          stage             - a constant, at most last_stage: its parts are applied together
/// A kind other than record needs these members as well (see RecordParticipant):
///          review()          - static: reports a wrong definition with static_assert, and returns
///                              true if the definition is right
///          describe(text)    - appends lines to the definition's canonical text, after the line
///                              with name, target, stage and key
///          premises(parameters, element)   - the reason that refuses parameters before any write,
///                              or reason::none; `element` is the line's, or null
/// Optional members of such a kind:
///          attempts, first_pause, longest_pause   - constants, see retry_limits
///          is_pivot          - a constant: the apply cannot be undone; alone in the last stage
/// A CallParticipant and a PreparedParticipant are described and refused by the library itself.
template <typename T>
concept Participant = requires(T const& participant) {
    typename T::target_type;
    typename T::source_type;
    typename T::expressions;
    { T::target_type::name } -> std::convertible_to<std::string_view>;
    { T::name } -> std::convertible_to<std::string_view>;
    { T::is_range } -> std::convertible_to<bool>;
    { T::stage } -> std::convertible_to<std::uint32_t>;
    { participant.key } -> std::convertible_to<typename T::key_expression>;
};

/// A participant that is a record or a range of records.
template <typename T>
concept RecordParticipant = Participant<T> && requires { typename T::record_type; };

/// The lines of a range: a std::vector among the parameters, one part for each element.
template <auto... Path>
struct each_expression {
    using vector_type = typename param_expression<Path...>::declared;
    using parameters = typename param_expression<Path...>::parameters;
    using element = typename detail::vector_element<vector_type>::type;
};

namespace detail {

template <auto... Path>
constexpr each_expression<Path...> checked_each() {
    static_assert(!std::is_void_v<typename each_expression<Path...>::element>,
                  "settle: settle::each takes a std::vector member of the parameters. "
                  "See definition#ranges");
    return {};
}

} // namespace detail

template <auto... Path>
inline constexpr auto each = detail::checked_each<Path...>();

/// The source of a participant that is one record and no range.
struct single {
    using element = nothing;
};

namespace detail {

struct not_given {};

template <typename T>
inline constexpr bool is_moment = false;
template <bool Creates, bool Erases, typename... Effects>
inline constexpr bool is_moment<moment<Creates, Erases, Effects...>> = true;

template <typename Record>
struct field_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto Member>
    struct test<field_expression<Member>>
        : std::bool_constant<std::is_base_of_v<class_of<Member>, Record>> {};
};

template <typename Record>
struct listed_field_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto Member>
    struct test<field_expression<Member>> : std::bool_constant<path_is_listed<Record, Member>()> {};
};

template <typename Element>
struct line_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<line_expression<Path...>>
        : std::bool_constant<
              std::is_base_of_v<typename line_expression<Path...>::element, Element>> {};
};

template <typename Element>
struct listed_line_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<line_expression<Path...>> : std::bool_constant<path_is_listed<Element, Path...>()> {
    };
};

/// Checks that the record has every field that an expression names, and the range's element every
/// line member. Returns false without a message when an earlier message refused the expression.
template <typename Record, typename Source, typename E>
constexpr bool check_names() {
    using element = typename Source::element;
    constexpr bool in_range = every_leaf<line_of<element>::template test, E>::value;
    constexpr bool line_listed = every_leaf<listed_line_of<element>::template test, E>::value;
    constexpr bool field_listed = every_leaf<listed_field_of<Record>::template test, E>::value;
    static_assert(in_range,
                  "settle: settle::line<...> names a member of the range's elements; this "
                  "participant has another range or none. Add settle::each<...>. "
                  "See definition#ranges");
    static_assert(line_listed, "settle: a settle::line<...> that SETTLE_STRUCT does not "
                               "list would not be kept in the log. Add it there. "
                               "See definition#parameters");
    static_assert(field_listed, "settle: a field that SETTLE_STRUCT does not list is in "
                                "no store. Add it there. See definition#records");
    constexpr bool has_values = without_results<E>;
    static_assert(has_values, "settle: records are changed before any call is made, so a "
                              "settle::result_from has no value here. Use a parameter. "
                              "See definition#services");
    return in_range && line_listed && field_listed && has_values && !any_refused<E>;
}

template <typename Record, typename Source, typename... Effects>
constexpr bool check_operands() {
    constexpr bool ours =
        (every_leaf<field_of<Record>::template test, typename Effects::operand_type>::value && ...);
    static_assert(ours, "settle: an effect reads a field of another record. Use parameters, or the "
                        "fields of the participant's collection. See definition#participants");
    if constexpr (ours) {
        return (check_names<Record, Source, typename Effects::operand_type>() && ...);
    } else {
        return false;
    }
}

template <typename Record, typename Source, typename Moment>
inline constexpr bool moment_is_right = false;
template <typename Record, typename Source, bool C, bool E, typename... Effects>
inline constexpr bool moment_is_right<Record, Source, moment<C, E, Effects...>> =
    check_operands<Record, Source, Effects...>();

template <typename T>
inline constexpr bool is_condition = false;
template <Expression T>
inline constexpr bool is_condition<T> = std::is_same_v<typename T::type, bool>;

template <typename T>
inline constexpr bool is_refused = false;
template <Expression T>
inline constexpr bool is_refused<T> = any_refused<T>;

/// Replaces a participant that the compiler has refused. Its calls take any argument, so that the
/// compiler reports only the first error.
struct refused_participant {
    constexpr refused_participant require(auto const&...) const { return {}; }
    constexpr refused_participant apply(auto const&...) const { return {}; }
    constexpr refused_participant confirm(auto const&...) const { return {}; }
    constexpr refused_participant compensate(auto const&...) const { return {}; }
    template <auto...>
    constexpr refused_participant tries() const {
        return {};
    }
    template <auto...>
    constexpr refused_participant pauses() const {
        return {};
    }
};

} // namespace detail

/// A participant as the user describes it. Every call returns a participant of a new type.
template <fixed_string Name, typename Collection, typename Source, typename Key, typename Guards,
          typename Apply, typename Compensate, typename Confirm>
struct record_participant {
    using target_type = Collection;
    using collection_type = Collection;
    using record_type = typename Collection::record_type;
    using source_type = Source;
    using key_expression = Key;
    using guards_type = Guards;
    using apply_type = Apply;
    using compensate_type = Compensate;
    using confirm_type = Confirm;
    using expressions = boost::hana::tuple<Guards, Apply, Compensate, Confirm>;
    static constexpr std::string_view name = Name.view();
    static constexpr bool is_range = !std::is_same_v<Source, single>;
    static constexpr std::uint32_t stage = 0;

    Key key;
    Guards guards;
    Apply applying;
    Compensate compensating;
    Confirm confirming;

    /// Adds a guard on the record or on the parameters.
    /// Errors: a guard that does not hold cancels the transaction with `guard_failed`
    template <typename Condition>
    constexpr auto require(Condition const& condition) const {
        constexpr bool boolean = detail::is_condition<Condition>;
        static_assert(boolean || detail::is_refused<Condition>,
                      "settle: 'require' takes a condition, such as field >= param. "
                      "See definition#participants");
        if constexpr (boolean) {
            constexpr bool ours =
                detail::every_leaf<detail::field_of<record_type>::template test, Condition>::value;
            static_assert(ours, "settle: a guard on a field of another record. Use the fields of "
                                "the participant's collection. See definition#participants");
            if constexpr (!ours) {
                return detail::refused_participant{};
            } else if constexpr (!detail::check_names<record_type, Source, Condition>()) {
                return detail::refused_participant{};
            } else {
                auto const added = boost::hana::concat(guards, detail::normal_guards(condition));
                return record_participant<Name, Collection, Source, Key,
                                          std::remove_const_t<decltype(added)>, Apply, Compensate,
                                          Confirm>{key, added, applying, compensating, confirming};
            }
        } else {
            return detail::refused_participant{};
        }
    }
    template <typename First, typename Second, typename... More>
    constexpr auto require(First const&, Second const&, More const&...) const {
        static_assert(sizeof(First) == 0,
                      "settle: 'require' takes one condition. Join several with &&, or call it for "
                      "each. See definition#participants");
        return detail::refused_participant{};
    }

    /// Gives the effect while the transaction is pending; it needs `compensate`.
    template <typename... Effects>
    constexpr auto apply(Effects const&... effects) const {
        constexpr bool first = std::is_same_v<Apply, detail::not_given>;
        constexpr bool erases = (std::is_same_v<Effects, erase_effect> || ...);
        static_assert(first, "settle: 'apply' is given twice. Put all its effects into one call. "
                             "See definition#participants");
        static_assert(!erases, "settle: an erase at apply would erase the mark with the "
                               "record. Use .confirm(settle::erase). "
                               "See definition#create-erase-replace");
        if constexpr (first && !erases) {
            auto const moment = detail::make_moment<Collection>(effects...);
            using made_type = std::remove_const_t<decltype(moment)>;
            if constexpr (detail::moment_is_right<record_type, Source, made_type>) {
                return record_participant<Name, Collection, Source, Key, Guards, made_type,
                                          Compensate, Confirm>{key, guards, moment, compensating,
                                                               confirming};
            } else {
                return detail::refused_participant{};
            }
        } else {
            return detail::refused_participant{};
        }
    }

    /// Gives the effect at commit, such as a credit that must not be spent before the commit.
    template <typename... Effects>
    constexpr auto confirm(Effects const&... effects) const {
        constexpr bool first = std::is_same_v<Confirm, detail::not_given>;
        constexpr bool creates = (detail::is_create<Effects> || ...);
        static_assert(first, "settle: 'confirm' is given twice. Put all its effects into one call. "
                             "See definition#participants");
        static_assert(!creates, "settle: 'create' takes effect at apply, since the mark needs a "
                                "record to live in. Use .apply(settle::create(...)).compensate("
                                "settle::inverse). See definition#create-erase-replace");
        if constexpr (first && !creates) {
            auto const moment = detail::make_moment<Collection>(effects...);
            using made_type = std::remove_const_t<decltype(moment)>;
            if constexpr (detail::moment_is_right<record_type, Source, made_type>) {
                return record_participant<Name, Collection, Source, Key, Guards, Apply, Compensate,
                                          made_type>{key, guards, applying, compensating, moment};
            } else {
                return detail::refused_participant{};
            }
        } else {
            return detail::refused_participant{};
        }
    }

    /// Gives the effects that undo the apply; the compiler checks that they do.
    template <typename... Effects>
    constexpr auto compensate(Effects const&... effects) const {
        auto const moment = detail::make_moment<Collection>(effects...);
        if constexpr (detail::moment_is_right<record_type, Source,
                                              std::remove_const_t<decltype(moment)>>) {
            return with_compensation(moment);
        } else {
            return detail::refused_participant{};
        }
    }

    /// Asks the library to derive the compensation.
    constexpr auto compensate(inverse_tag tag) const { return with_compensation(tag); }

private:
    template <typename Moment>
    constexpr auto with_compensation(Moment const& moment) const {
        static_assert(std::is_same_v<Compensate, detail::not_given>,
                      "settle: 'compensate' is given twice. See definition#compensation");
        return record_participant<Name, Collection, Source, Key, Guards, Apply, Moment, Confirm>{
            key, guards, applying, moment, confirming};
    }
};

namespace detail {

/// The moments of a participant; a participant that is no record has none.
template <typename P>
struct moments_of {
    using apply = not_given;
    using confirm = not_given;
};
template <RecordParticipant P>
struct moments_of<P> {
    using apply = typename P::apply_type;
    using confirm = typename P::confirm_type;
};

template <fixed_string Name, typename Source, typename Collection, typename Key>
constexpr auto make_participant(Key const& key_argument) {
    static_assert(is_plain_name(Name.view()),
                  "settle: a participant's name is 1 to 48 letters, digits and '_', and begins "
                  "with a letter. See definition#names");
    using key = expression_of<Key>;
    using record_type = typename Collection::record_type;
    constexpr bool fits = [] {
        using record_key = computed_t<typename Collection::key_type>;
        return without_fields<key> && std::is_same_v<typename key::type, record_key>;
    }();
    static_assert(fits || any_refused<key> || !Collection::sound,
                  "settle: the key of a participant is a parameter of the same type as the "
                  "collection's key. See definition#participants");
    if constexpr (!fits || !Collection::sound || std::is_void_v<typename Source::element>) {
        return refused_participant{};
    } else if constexpr (!check_names<record_type, Source, key>()) {
        return refused_participant{};
    } else {
        using empty = boost::hana::tuple<>;
        return record_participant<Name, Collection, Source, key, empty, not_given, not_given,
                                  not_given>{as_expression(key_argument), {}, {}, {}, {}};
    }
}

// These overloads take wrong calls of settle::participant, which would otherwise end in a list of
// candidates.
template <typename... Given>
constexpr refused_participant refuse_participant() {
    static_assert(sizeof...(Given) == ~std::size_t{0},
                  "settle: settle::participant takes a collection, then for a range settle::each, "
                  "then the key: (accounts, param<...>) or (stock, each<...>, line<...>). "
                  "See definition#participants");
    return {};
}
template <typename... Given>
constexpr refused_participant refuse_nameless() {
    static_assert(sizeof...(Given) == ~std::size_t{0},
                  "settle: a participant has no name. Write settle::participant<\"name\">(...). "
                  "See definition#participants");
    return {};
}

} // namespace detail

/// Describes a participant that is one record.
/// Shape:   key - an expression over the parameters, of the type of the collection's key
/// Example: samples/transfer
template <fixed_string Name, typename Record, fixed_string CollectionName, auto KeyMember,
          typename Key>
constexpr auto participant(collection<Record, CollectionName, KeyMember> const&, Key const& key) {
    return detail::make_participant<Name, single, collection<Record, CollectionName, KeyMember>>(
        key);
}

/// Describes a range: one record for each element of a vector among the parameters.
/// Shape:   lines - settle::each<&parameters::vector>
///          key - an expression over settle::line<…> and the parameters
/// Example: samples/payment
template <fixed_string Name, typename Record, fixed_string CollectionName, auto KeyMember,
          auto... Path, typename Key>
constexpr auto participant(collection<Record, CollectionName, KeyMember> const&,
                           each_expression<Path...> const&, Key const& key) {
    return detail::make_participant<Name, each_expression<Path...>,
                                    collection<Record, CollectionName, KeyMember>>(key);
}

template <fixed_string Name, typename Record, fixed_string CollectionName, auto KeyMember,
          auto... Path>
constexpr auto participant(collection<Record, CollectionName, KeyMember> const&,
                           each_expression<Path...> const&) {
    return detail::refuse_participant<Record>();
}
template <fixed_string Name, typename... Given>
constexpr auto participant(Given const&...) {
    return detail::refuse_participant<Given...>();
}
template <typename... Given>
constexpr auto participant(Given const&...) {
    return detail::refuse_nameless<Given...>();
}

SETTLE_END
