// SPDX-License-Identifier: BSL-1.0
// A named set of records of one type, with the field that is their key.
#pragma once

#include <settle/definition/expression.hpp>
#include <settle/definition/nested_type.hpp>

#include <cstddef>
#include <string_view>

SETTLE_BEGIN

/// MongoDB's collection, SQL's table.
/// Shape:   Record - a struct described with BOOST_HANA_ADAPT_STRUCT, of at most 40 members
///          Name - letters, digits and `_`; the name that every store uses
///          Key - the member that is the key: text or an integer
/// Example: samples/transfer
template <typename Record, fixed_string Name, auto Key>
struct collection {
    using record_type = Record;
    static constexpr auto key_member = Key;
    using key_type = value_of<Key>;
    static constexpr std::string_view name = Name.view();

    constexpr collection() {
        static_assert(is_described,
                      "settle: the record struct of this collection is not described. Add "
                      "BOOST_HANA_ADAPT_STRUCT(type, members...) at global scope. README#records");
        static_assert(is_plain_name(Name.view()),
                      "settle: a collection's name is 1 to 48 letters, digits and '_', and begins "
                      "with a letter. README#names");
        static_assert(has_key_type,
                      "settle: a key is one field, a std::string or an integer. README#records");
        static_assert(owns_key, "settle: the key is a field of another record. README#records");
        if constexpr (is_described) {
            if constexpr (owns_key) {
                static_assert(member_index<Record, Key> < member_count<Record>,
                              "settle: the key is not among the described members. README#records");
            }
            explain_fault<first_fault()>();
        }
    }

private:
    template <type_fault Fault>
    static constexpr void explain_fault() {
        static_assert(Fault != type_fault::undescribed,
                      "settle: a struct inside this record is not described. Add "
                      "BOOST_HANA_ADAPT_STRUCT(type, members...) at global scope. README#records");
        static_assert(Fault != type_fault::endless,
                      "settle: a struct inside this record holds itself. Give it a vector of "
                      "another struct. README#records");
        explain_field_fault<Fault>();
    }
    static constexpr type_fault first_fault() {
        type_fault found = type_fault::none;
        for_each_member<Record>([&](auto one) {
            using type = typename decltype(one)::type;
            if (found == type_fault::none) found = detail::fault_of_value<type, Record>();
        });
        return found;
    }
    static constexpr bool is_described = Described<Record>;
    static constexpr bool has_key_type = std::is_same_v<key_type, std::string> ||
                                         IntegerField<key_type>;
    static constexpr bool owns_key = std::is_base_of_v<class_of<Key>, Record>;

public:
    /// False when the compiler has refused this collection: what is built on it says no more.
    static constexpr bool sound = is_described && has_key_type && owns_key;
};

SETTLE_END
