// SPDX-License-Identifier: BSL-1.0
// One participant of a transaction: which record, what it requires, and its three moments.
#pragma once

#include <settle/definition/plan.hpp>

#include <vector>

SETTLE_BEGIN

/// The lines of a range: a std::vector among the parameters, one part for each element.
template <auto... Path>
struct each_expression {
    using vector_type = typename param_expression<Path...>::declared;
    using parameters = typename param_expression<Path...>::parameters;
    static_assert(requires { typename vector_type::value_type; },
                  "settle: settle::each takes a std::vector member of the parameters. "
                  "README#ranges");
    using element = typename vector_type::value_type;
};

template <auto... Path>
inline constexpr each_expression<Path...> each{};

/// The source of a participant that is one record.
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

template <typename Element>
struct line_of {
    template <typename E>
    struct test : std::true_type {};
    template <auto... Path>
    struct test<line_expression<Path...>>
        : std::bool_constant<std::is_base_of_v<typename line_expression<Path...>::element,
                                               Element>> {};
};

template <typename Source, typename E>
constexpr void check_lines() {
    static_assert(every_leaf<line_of<typename Source::element>::template test, E>::value,
                  "settle: settle::line<…> names a member of the range's elements; this participant "
                  "has another range or none. Add settle::each<…>. README#ranges");
}

} // namespace detail

/// A participant as the user describes it; every call gives a new type that knows more.
template <fixed_string Name, typename Collection, typename Source, typename Key, typename Guards,
          typename Apply, typename Compensate, typename Confirm>
struct record_participant {
    using collection_type = Collection;
    using record_type = typename Collection::record_type;
    using source_type = Source;
    using key_expression = Key;
    using guards_type = Guards;
    using apply_type = Apply;
    using compensate_type = Compensate;
    using confirm_type = Confirm;
    static constexpr std::string_view name = Name.view();
    static constexpr bool is_range = !std::is_same_v<Source, single>;

    Key key;
    Guards guards;
    Apply applying;
    Compensate compensating;
    Confirm confirming;

    /// What must hold of the record (or of the parameters) for the transaction to go on.
    /// Errors: a condition that does not hold cancels the transaction with `guard_failed`.
    template <typename Condition>
    constexpr auto require(Condition const& condition) const {
        constexpr bool boolean = [] {
            if constexpr (Expression<Condition>) {
                return std::is_same_v<typename Condition::type, bool>;
            } else {
                return false;
            }
        }();
        static_assert(boolean, "settle: 'require' takes a condition, such as field >= param. "
                               "README#participants");
        if constexpr (boolean) {
            constexpr bool ours = detail::every_leaf<detail::field_of<record_type>::template test,
                                                     Condition>::value;
            static_assert(ours, "settle: a guard on a field of another record. Use the fields of "
                                "the participant's collection. README#participants");
            detail::check_lines<Source, Condition>();
            if constexpr (ours) {
                auto const added =
                    boost::hana::concat(guards, detail::normal_guards(condition));
                return record_participant<Name, Collection, Source, Key,
                                          std::remove_const_t<decltype(added)>, Apply, Compensate,
                                          Confirm>{key, added, applying, compensating, confirming};
            } else {
                return *this;
            }
        } else {
            return *this;
        }
    }

    /// The effect while the transaction is pending; it needs `compensate`.
    template <typename... Effects>
    constexpr auto apply(Effects const&... effects) const {
        static_assert(std::is_same_v<Apply, detail::not_given>,
                      "settle: 'apply' is given twice. Put all its effects into one call. "
                      "README#participants");
        static_assert(!(std::is_same_v<Effects, erase_effect> || ...),
                      "settle: an erase at apply would take its mark away with the record. Use "
                      ".confirm(settle::erase). README#create-erase-replace");
        auto const made = detail::make_moment<Collection>(effects...);
        check_moment(made);
        return record_participant<Name, Collection, Source, Key, Guards,
                                  std::remove_const_t<decltype(made)>, Compensate, Confirm>{
            key, guards, made, compensating, confirming};
    }

    /// The effect at commit: a credit that must not be spent before it is certain.
    template <typename... Effects>
    constexpr auto confirm(Effects const&... effects) const {
        static_assert(std::is_same_v<Confirm, detail::not_given>,
                      "settle: 'confirm' is given twice. Put all its effects into one call. "
                      "README#participants");
        auto const made = detail::make_moment<Collection>(effects...);
        static_assert(!decltype(made)::creates,
                      "settle: 'create' takes effect at apply, since the mark needs a record to "
                      "live in. Use .apply(settle::create(…)).compensate(settle::inverse). "
                      "README#create-erase-replace");
        check_moment(made);
        return record_participant<Name, Collection, Source, Key, Guards, Apply, Compensate,
                                  std::remove_const_t<decltype(made)>>{key, guards, applying,
                                                                       compensating, made};
    }

    /// What undoes the apply, spelled out; the compiler checks that it does.
    template <typename... Effects>
    constexpr auto compensate(Effects const&... effects) const {
        static_assert(std::is_same_v<Compensate, detail::not_given>,
                      "settle: 'compensate' is given twice. README#compensation");
        auto const made = detail::make_moment<Collection>(effects...);
        check_moment(made);
        return with_compensation(made);
    }

    /// Asks the library to derive what undoes the apply.
    constexpr auto compensate(inverse_tag tag) const { return with_compensation(tag); }

private:
    template <typename Moment>
    static constexpr void check_moment(Moment const&) {
        []<bool C, bool E, typename... Effects>(std::type_identity<moment<C, E, Effects...>>) {
            static_assert(
                (detail::every_leaf<detail::field_of<record_type>::template test,
                                    typename Effects::operand_type>::value && ...),
                "settle: an effect reads a field of another record. Use parameters, or the fields "
                "of the participant's collection. README#participants");
            (detail::check_lines<Source, typename Effects::operand_type>(), ...);
        }(std::type_identity<Moment>{});
    }

    template <typename Moment>
    constexpr auto with_compensation(Moment const& made) const {
        return record_participant<Name, Collection, Source, Key, Guards, Apply, Moment, Confirm>{
            key, guards, applying, made, confirming};
    }
};

namespace detail {

template <fixed_string Name, typename Source, typename Collection, typename Key>
constexpr auto make_participant(Key const& given) {
    static_assert(is_plain_name(Name.view()),
                  "settle: a participant's name is 1 to 48 letters, digits and '_', and begins with "
                  "a letter. README#names");
    using key = expression_of<Key>;
    constexpr bool fits = [] {
        using record_key = computed_t<typename Collection::key_type>;
        return without_fields<key> && std::is_same_v<typename key::type, record_key>;
    }();
    static_assert(fits, "settle: the key of a participant is a parameter of the same type as the "
                        "collection's key. README#participants");
    check_lines<Source, key>();
    using empty = boost::hana::tuple<>;
    return record_participant<Name, Collection, Source, key, empty, not_given, not_given,
                              not_given>{as_expression(given), {}, {}, {}, {}};
}

} // namespace detail

/// Describes one record that a transaction involves.
/// Shape:   key - an expression over the parameters, of the type of the collection's key
/// Example: samples/transfer
template <fixed_string Name, typename Record, fixed_string CollectionName, auto KeyMember,
          typename Key>
constexpr auto participant(collection<Record, CollectionName, KeyMember> const&, Key const& key) {
    return detail::make_participant<Name, single, collection<Record, CollectionName, KeyMember>>(
        key);
}

/// Describes one record for each element of a vector among the parameters.
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

SETTLE_END
