// SPDX-License-Identifier: BSL-1.0
// A named set of records of one type, with the field that is their key.
#pragma once

#include <settle/definition/expression.hpp>
#include <settle/definition/nested_type.hpp>

#include <cstddef>
#include <functional>
#include <string_view>

SETTLE_BEGIN
namespace detail {

/// Why a collection is refused. Only the first fault is reported; `reported` means that an earlier
/// message reported it.
enum class collection_fault {
    none,
    reported,
    not_a_struct,
    undescribed,
    name,
    not_a_member,
    foreign_key,
    key_optional,
    key_type,
    key_unlisted,
    listed_twice,
    same_names,
    value
};

template <typename T>
inline constexpr bool is_key = std::is_same_v<T, std::string> || IntegerField<T>;

/// True when two members have the same name.
template <typename Record, typename Same>
consteval bool has_names_twice(Same same) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        return !all_different<sizeof...(Index)>({member<Record, Index>::name...}, same);
    }(std::make_index_sequence<member_count<Record>>{});
}

template <typename Record, auto Key>
consteval collection_fault fault_of_key() {
    using type = std::remove_cv_t<value_of<Key>>;
    if constexpr (!std::is_base_of_v<class_of<Key>, Record>) return collection_fault::foreign_key;
    else if constexpr (field_traits<type>::optional) return collection_fault::key_optional;
    else if constexpr (!is_key<type>) return collection_fault::key_type;
    else if constexpr (member_index<Record, Key> == member_count<Record>)
        return collection_fault::key_unlisted;
    else return collection_fault::none;
}

template <typename Record, fixed_string Name, auto Key>
consteval collection_fault fault_of_collection() {
    if constexpr (refused_description<Record>) return collection_fault::reported;
    else if constexpr (!std::is_class_v<Record>) return collection_fault::not_a_struct;
    else if constexpr (!Described<Record>) return collection_fault::undescribed;
    else if constexpr (!is_plain_name(Name.view())) return collection_fault::name;
    else if constexpr (!std::is_member_object_pointer_v<decltype(Key)>)
        return collection_fault::not_a_member;
    else if constexpr (fault_of_key<Record, Key>() != collection_fault::none)
        return fault_of_key<Record, Key>();
    else if constexpr (has_names_twice<Record>(std::equal_to<>{}))
        return collection_fault::listed_twice;
    else if constexpr (has_names_twice<Record>(same_name{})) return collection_fault::same_names;
    else if constexpr (fault_of_value<Record>() == type_fault::reported)
        return collection_fault::reported;
    else if constexpr (fault_of_value<Record>() != type_fault::none) return collection_fault::value;
    else return collection_fault::none;
}

template <collection_fault Fault>
consteval void explain_collection() {
    static_assert(Fault != collection_fault::not_a_struct,
                  "settle: the record of a collection is a struct or a class, and this is neither. "
                  "See definition#records");
    static_assert(Fault != collection_fault::undescribed,
                  "settle: the record struct of this collection is no aggregate. List its members "
                  "with SETTLE_STRUCT(type, members...) after it. See definition#records");
    static_assert(Fault != collection_fault::name,
                  "settle: a collection's name is 1 to 48 letters, digits and '_', and begins "
                  "with a letter. See definition#names");
    static_assert(Fault != collection_fault::not_a_member,
                  "settle: the key of a collection is a pointer to a data member. Write "
                  "settle::collection<record, \"name\", &record::key>. See definition#records");
    static_assert(Fault != collection_fault::foreign_key,
                  "settle: the key is a field of another record. See definition#records");
    static_assert(Fault != collection_fault::key_optional,
                  "settle: a key is never empty. Remove the std::optional. "
                  "See definition#records");
    static_assert(Fault != collection_fault::key_type,
                  "settle: a key is one field, a std::string or an integer. "
                  "See definition#records");
    static_assert(Fault != collection_fault::key_unlisted,
                  "settle: the key is not among the described members. See definition#records");
    static_assert(Fault != collection_fault::listed_twice,
                  "settle: a member is described twice. List every member once. "
                  "See definition#records");
    static_assert(Fault != collection_fault::same_names,
                  "settle: two members differ in upper and lower case only, which a SQL table does "
                  "not tell apart. Rename one of them. See definition#names");
}

/// The first member that a store cannot keep, or `member_count` when the record itself is at fault.
template <typename Record>
consteval std::size_t first_faulty_member() {
    std::size_t place = member_count<Record>;
    for_each_member<Record>([&](auto m) {
        using type = typename decltype(m)::type;
        bool const faulty = fault_of_value<type, Record>() != type_fault::none;
        if (place == member_count<Record> && faulty) place = m.index;
    });
    return place;
}

/// Passes the member as a template argument, so that the compiler names it beside the message.
template <typename Record>
consteval void explain_record() {
    constexpr std::size_t first = first_faulty_member<Record>();
    if constexpr (first < member_count<Record>) {
        explain_type_fault<fault_of_value<Record>(), member<Record, first>::pointer>();
    } else {
        explain_type_fault<fault_of_value<Record>()>();
    }
}

template <auto Member>
struct key_type_of {
    using type = std::string;
};
template <auto Member>
    requires std::is_member_object_pointer_v<decltype(Member)>
struct key_type_of<Member> {
    using type = value_of<Member>;
};

} // namespace detail

/// The number of decimal places of a member that MongoDB's documents store as a Decimal128.
/// Specialize it for a member of type std::int64_t: with 2 places, the member's 1234 is stored as
/// 12.34. The struct is listed with SETTLE_STRUCT. A negative number means that the member is not
/// stored as a decimal.
/// Source:  mongodb#decimals
template <auto Member>
    requires(detail::check_marked<Member>())
inline constexpr int decimal_places = -1;

namespace detail {

template <auto Member>
consteval int places_of() {
    if constexpr (can_be_marked<Member>) return decimal_places<Member>;
    else return -1;
}

} // namespace detail

/// A collection: a collection of MongoDB, a table of an SQL store.
/// Shape:   Record - an aggregate, or a struct that SETTLE_STRUCT describes
///          Name - letters, digits and `_`; the name that every store uses
///          Key - the member that is the key: text or an integer
/// Example: samples/transfer
template <typename Record, fixed_string Name, auto Key>
struct collection {
    using record_type = Record;
    static constexpr auto key_member = Key;
    using key_type = typename detail::key_type_of<Key>::type;
    static constexpr std::string_view name = Name.view();

    constexpr collection() {
        detail::explain_collection<fault>();
        if constexpr (fault == detail::collection_fault::value) detail::explain_record<Record>();
    }

private:
    static constexpr auto fault = detail::fault_of_collection<Record, Name, Key>();

public:
    /// False when the compiler has refused this collection. Code that uses it reports no more.
    static constexpr bool sound = fault == detail::collection_fault::none;
};

SETTLE_END
