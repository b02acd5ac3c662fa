// SPDX-License-Identifier: BSL-1.0
// SETTLE_STRUCT: lists the members of a struct for the library, and refuses a wrong list. A plain
// aggregate needs none.
#pragma once

#include <settle/definition/fixed_string.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/tuple.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

/// An argument of the global namespace, so that argument-dependent lookup finds a description at
/// global scope as well as in the namespace of its struct.
struct settle_description {};

SETTLE_BEGIN

/// The greatest number of members in a struct: a set of fields is a 64-bit number.
inline constexpr std::size_t member_limit = 64;

namespace detail {

/// Why a description cannot list a name.
enum class listing_fault { none, no_member, reference, bit_field, not_data, name };

template <fixed_string Name, auto Pointer>
struct listed_member {
    static constexpr bool is_data = std::is_member_object_pointer_v<decltype(Pointer)>;
    static constexpr bool is_renamed = false;
    static constexpr auto fault = is_data ? listing_fault::none : listing_fault::not_data;
    static constexpr char const* c_str() { return Name.text; }
    using accessor = boost::hana::struct_detail::member_ptr<decltype(Pointer), Pointer>;
};

/// A member that is stored under another name than its own.
template <fixed_string Name, auto Pointer>
struct renamed_member : listed_member<Name, Pointer> {
    using base = listed_member<Name, Pointer>;
    static constexpr bool is_renamed = true;
    static constexpr auto fault =
        base::is_data && !is_plain_name(Name.view()) ? listing_fault::name : base::fault;
};

template <fixed_string Name, listing_fault Fault>
struct refused_member {
    static constexpr auto fault = Fault;
};

template <typename... Members>
struct member_list {};

/// Replaces a description that the compiler has refused. Code that uses it reports no more.
struct refused_list {};

/// Reports the fault of a listed member. The compiler shows both template arguments beside the
/// message.
template <typename Struct, typename Member>
consteval void explain_listing() {
    constexpr listing_fault fault = Member::fault;
    static_assert(fault != listing_fault::no_member,
                  "settle: SETTLE_STRUCT lists a name that is no public member of the struct. "
                  "Spell it as the struct does, or make the member public. See definition#records");
    static_assert(fault != listing_fault::reference,
                  "settle: SETTLE_STRUCT lists a reference, which no store can keep. Give the "
                  "member a type of its own. See definition#field-types");
    static_assert(fault != listing_fault::bit_field,
                  "settle: SETTLE_STRUCT lists a bit-field, which has no address. Make it a whole "
                  "integer. See definition#field-types");
    static_assert(fault != listing_fault::not_data,
                  "settle: SETTLE_STRUCT lists a function or a static member. List the data "
                  "members of the struct. See definition#records");
    static_assert(fault != listing_fault::name,
                  "settle: SETTLE_STRUCT stores a member under a name that a store would have to "
                  "quote. Write 1 to 48 letters, digits and '_', and begin with a letter. "
                  "See structs#another-name");
}

/// Where a member has another name than its own, no compiler has compared it with the others.
template <typename... Members>
consteval bool stored_apart() {
    if constexpr (!(Members::is_renamed || ...)) return true;
    else return all_different<sizeof...(Members)>({Members::c_str()...});
}

/// The first refused member of a list, or void.
template <typename... Members>
struct first_refused {
    using type = void;
};
template <typename First, typename... Rest>
struct first_refused<First, Rest...>
    : std::conditional_t<First::fault == listing_fault::none, first_refused<Rest...>,
                         std::type_identity<First>> {};

template <typename Struct, typename... Named>
consteval auto described_by(Named... named) {
    constexpr bool is_struct = std::is_class_v<Struct>;
    constexpr bool complete = requires { sizeof(Struct); };
    static_assert(is_struct, "settle: SETTLE_STRUCT describes a struct or a class, and this is "
                             "neither. See definition#records");
    static_assert(complete || !is_struct,
                  "settle: SETTLE_STRUCT precedes the definition of its struct. Write it after "
                  "the closing brace. See definition#records");
    constexpr bool few = sizeof...(Named) <= member_limit;
    static_assert(few, "settle: SETTLE_STRUCT lists more than 64 members, and 64 is the limit. "
                       "Move some of them into a struct that is a member. See definition#records");
    if constexpr (!is_struct || !complete || !few) {
        return refused_list{};
    } else {
        using wrong =
            typename first_refused<decltype(named(static_cast<Struct*>(nullptr)))...>::type;
        if constexpr (!std::is_void_v<wrong>) {
            explain_listing<Struct, wrong>();
            return refused_list{};
        } else {
            constexpr bool differ =
                stored_apart<decltype(named(static_cast<Struct*>(nullptr)))...>();
            static_assert(differ,
                          "settle: SETTLE_STRUCT stores two members under one name, in upper "
                          "or lower case. Give each member a name of its own. "
                          "See structs#another-name");
            if constexpr (!differ) return refused_list{};
            else return member_list<decltype(named(static_cast<Struct*>(nullptr)))...>{};
        }
    }
}

template <typename T>
concept DescribedHere = requires { settle_members(std::type_identity<T>{}, settle_description{}); };

template <typename T>
using description_of = decltype(settle_members(std::type_identity<T>{}, settle_description{}));

template <typename... Members>
constexpr auto accessors_of(member_list<Members...>) {
    return boost::hana::make_tuple(
        boost::hana::make_pair(Members{}, typename Members::accessor{})...);
}
constexpr auto accessors_of(refused_list) { return boost::hana::make_tuple(); }

/// True when the compiler has refused the description of this struct.
template <typename T>
inline constexpr bool refused_description = false;
template <DescribedHere T>
inline constexpr bool refused_description<T> = std::is_same_v<description_of<T>, refused_list>;

} // namespace detail
SETTLE_END

/// Makes a struct that SETTLE_STRUCT describes a model of Boost.Hana's Struct.
template <typename T>
struct boost::hana::accessors_impl<T, boost::hana::when<settle::detail::DescribedHere<T>>> {
    static constexpr auto apply() {
        return settle::detail::accessors_of(settle::detail::description_of<T>{});
    }
};

SETTLE_BEGIN
namespace detail {

/// A complete aggregate that no macro describes: its members are read. A type with the interface of
/// a tuple is none, since its structured bindings are not its members.
template <typename T>
concept PlainAggregate =
    std::is_class_v<T> && requires { sizeof(T); } && std::is_aggregate_v<T> &&
    !requires { sizeof(std::tuple_size<T>); } && !boost::hana::Struct<T>::value;

} // namespace detail
SETTLE_END

/// Lists the members of a struct that stores keep: `SETTLE_STRUCT(bank::account, id, balance);`.
/// Write the macro after the struct and before its first use, in its namespace or at global scope.
/// A plain aggregate needs it only if some members are left out, are marked as settle::secret, or
/// are stored under another name: `(balance, "saldo")` in place of `balance`.
#define SETTLE_STRUCT(type, ...)                                                                   \
    static_assert(*__builtin_FUNCTION() == '\0',                                                   \
                  "settle: SETTLE_STRUCT is in a function. Move the struct and the macro to a "    \
                  "namespace. See definition#records");                                            \
    [[maybe_unused]] consteval auto settle_members(std::type_identity<type>,                       \
                                                   ::settle_description) {                         \
        return ::settle::detail::described_by<type>(                                               \
            __VA_OPT__(SETTLE_STRUCT_SCAN(SETTLE_STRUCT_EACH(__VA_ARGS__))));                      \
    }                                                                                              \
    static_assert(!::settle::detail::PlainAggregate<type> || *__builtin_FUNCTION() != '\0',        \
                  "settle: SETTLE_STRUCT follows a use of its struct, which has read the members " \
                  "without it. Write it right after the struct. See definition#records")

// The macro turns a name into a type, and explain_listing reports its fault: after a message inside
// the macro the compiler would print a line for every scan.
#define SETTLE_STRUCT_MEMBER(name, stored, listed)                                                 \
    []<typename Struct>(Struct*) {                                                                 \
        using enum ::settle::detail::listing_fault;                                                \
        if constexpr (requires { &Struct::name; })                                                 \
            return ::settle::detail::listed<stored, &Struct::name>{};                              \
        else if constexpr (!requires(Struct& described) { described.name; })                       \
            return ::settle::detail::refused_member<#name, no_member>{};                           \
        else if constexpr (std::is_reference_v<decltype(Struct::name)>)                            \
            return ::settle::detail::refused_member<#name, reference>{};                           \
        else return ::settle::detail::refused_member<#name, bit_field>{};                          \
    }

#define SETTLE_STRUCT_OWN_NAME(name) SETTLE_STRUCT_MEMBER(name, #name, listed_member)
#define SETTLE_STRUCT_RENAMED(name, stored) SETTLE_STRUCT_MEMBER(name, stored, renamed_member)
#define SETTLE_STRUCT_RENAME(pair) SETTLE_STRUCT_RENAMED pair

// An element in brackets takes the place of the second argument, and a name does not.
#define SETTLE_STRUCT_ELEMENT(element)                                                             \
    SETTLE_STRUCT_SECOND(SETTLE_STRUCT_PROBE element, SETTLE_STRUCT_OWN_NAME, )(element)
#define SETTLE_STRUCT_PROBE(...) , SETTLE_STRUCT_RENAME
#define SETTLE_STRUCT_SECOND(...) SETTLE_STRUCT_SECOND_OF(__VA_ARGS__)
#define SETTLE_STRUCT_SECOND_OF(first, second, ...) second

// The preprocessor's loop: each scan takes one more element off the list.
#define SETTLE_STRUCT_EACH(element, ...)                                                           \
    SETTLE_STRUCT_ELEMENT(element)                                                                 \
    __VA_OPT__(, SETTLE_STRUCT_AGAIN SETTLE_STRUCT_PARENS(__VA_ARGS__))
#define SETTLE_STRUCT_AGAIN() SETTLE_STRUCT_EACH
#define SETTLE_STRUCT_PARENS ()
#define SETTLE_STRUCT_SCAN(...)                                                                    \
    SETTLE_STRUCT_SCAN_2(SETTLE_STRUCT_SCAN_2(SETTLE_STRUCT_SCAN_2(SETTLE_STRUCT_SCAN_2(           \
        SETTLE_STRUCT_SCAN_2(SETTLE_STRUCT_SCAN_2(SETTLE_STRUCT_SCAN_2(__VA_ARGS__)))))))
#define SETTLE_STRUCT_SCAN_2(...)                                                                  \
    SETTLE_STRUCT_SCAN_1(SETTLE_STRUCT_SCAN_1(SETTLE_STRUCT_SCAN_1(SETTLE_STRUCT_SCAN_1(           \
        SETTLE_STRUCT_SCAN_1(SETTLE_STRUCT_SCAN_1(SETTLE_STRUCT_SCAN_1(__VA_ARGS__)))))))
#define SETTLE_STRUCT_SCAN_1(...)                                                                  \
    SETTLE_STRUCT_SCAN_0(SETTLE_STRUCT_SCAN_0(SETTLE_STRUCT_SCAN_0(SETTLE_STRUCT_SCAN_0(           \
        SETTLE_STRUCT_SCAN_0(SETTLE_STRUCT_SCAN_0(SETTLE_STRUCT_SCAN_0(__VA_ARGS__)))))))
#define SETTLE_STRUCT_SCAN_0(...) __VA_ARGS__
