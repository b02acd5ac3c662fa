// SPDX-License-Identifier: BSL-1.0
// A record type without its C++ type: a table of its members, and functions on its records. The
// compiler makes the table for each record type; the code that uses it is compiled once.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/base/native_value.hpp>
#include <settle/definition/codec.hpp>
#include <settle/protocol/record_rule.hpp>

#include <optional>
#include <span>

SETTLE_BEGIN
namespace detail {

struct nested_access;

/// Functions on the value of a member, one set for each type of a member.
/// Shape:   pointers - at the value; a function that the kind does not need is null
struct member_access {
    field_kind kind; ///< text for a struct or a list, which a row holds as its JSON
    bool optional;
    nested_access const* nested; ///< of a struct or a list; else null
    bool (*is_null)(void const*);
    void (*set_null)(void*);
    std::int64_t (*integer)(void const*);
    bool (*set_integer)(void*, std::int64_t); ///< false if the number is no value of the type
    std::string_view (*text)(void const*);
    void (*set_text)(void*, std::string_view);
    value_codec const* json;
    std::intmax_t unit_num = 1; ///< a unit of a time has unit_num / unit_den seconds
    std::intmax_t unit_den = 1;
};

/// A member of a struct inside of a record.
struct nested_field {
    std::string_view name{};
    member_access const* access = nullptr;
};

/// What a struct or a list inside of a record holds.
/// Shape:   pointers - at the struct, the list or an element; a function that it does not need is
///          null
struct nested_access {
    std::span<nested_field const> fields{}; ///< of a struct
    member_access const* element = nullptr; ///< of a list; else null
    void* (*field)(void* structure, std::size_t index) = nullptr;
    void (*for_each)(void const* list, function_view<void(void const*)> function) = nullptr;
    void (*clear)(void* list) = nullptr;
    /// Appends an element, which a function fills.
    void (*append)(void* list, function_view<void(void*)> fill) = nullptr;
};

template <typename T>
struct nested_parts;

template <typename T>
struct member_functions {
    using plain = typename field_traits<T>::plain_type;
    static constexpr bool optional = field_traits<T>::optional;
    static constexpr bool nested = NestedType<T>;
    static constexpr field_kind kind = nested ? field_kind::text : field_traits<T>::kind;

    static plain const& in(void const* value) {
        if constexpr (optional) return **static_cast<T const*>(value);
        else return *static_cast<T const*>(value);
    }
    static plain& of(void* value) {
        if constexpr (optional) return static_cast<T*>(value)->emplace();
        else return *static_cast<T*>(value);
    }
    static bool is_null(void const* value) { return !static_cast<T const*>(value)->has_value(); }
    static void set_null(void* value) { static_cast<T*>(value)->reset(); }
    static std::int64_t integer(void const* value) { return to_integer(in(value)); }
    static bool set_integer(void* value, std::int64_t to) { return from_integer(to, of(value)); }
    static std::string_view text(void const* value) { return in(value); }
    static void set_text(void* value, std::string_view to) { of(value) = to; }

    static consteval member_access make() {
        member_access access{kind,    optional, nullptr, nullptr, nullptr,
                             nullptr, nullptr,  nullptr, nullptr, &codec_of<T>};
        if constexpr (nested) access.nested = &nested_parts<plain>::access;
        if constexpr (optional) {
            access.is_null = &is_null;
            access.set_null = &set_null;
        }
        if constexpr (kind == field_kind::time) {
            using period = typename time_parts<plain>::duration::period;
            access.unit_num = period::num;
            access.unit_den = period::den;
        }
        if constexpr (nested) {
        } else if constexpr (kind == field_kind::text) {
            access.text = &text;
            access.set_text = &set_text;
        } else {
            access.integer = &integer;
            access.set_integer = &set_integer;
        }
        return access;
    }
};
template <typename T>
inline constexpr member_access access_to = member_functions<T>::make();

template <typename T>
struct nested_functions {
    static void* field(void* structure, std::size_t index) {
        return members_of<T>::template pointers<void*>(*static_cast<T*>(structure))[index];
    }
    static constexpr auto fields = table_of_members<T, nested_field>(
        [](auto m) { return nested_field{m.name, &access_to<typename decltype(m)::type>}; });
    static constexpr nested_access make() {
        return {{fields.data(), member_count<T>}, nullptr, &field};
    }
};
template <typename Element>
struct nested_functions<std::vector<Element>> {
    static void for_each(void const* list, function_view<void(void const*)> function) {
        for (Element const& element : *static_cast<std::vector<Element> const*>(list)) {
            function(&element);
        }
    }
    static void clear(void* list) { static_cast<std::vector<Element>*>(list)->clear(); }
    static void append(void* list, function_view<void(void*)> fill) {
        Element element{};
        fill(&element);
        static_cast<std::vector<Element>*>(list)->push_back(std::move(element));
    }
    static constexpr nested_access make() {
        return {{}, &access_to<Element>, nullptr, &for_each, &clear, &append};
    }
};
template <typename T>
struct nested_parts {
    static constexpr nested_access access = nested_functions<T>::make();
};

/// One member of a record.
struct member_descriptor {
    static constexpr std::size_t no_integer = ~std::size_t{0};

    std::string_view name{};
    member_access const* access = nullptr;
    std::size_t integer = no_integer; ///< its position among the integer members
    std::int64_t least = 0;           ///< the range of an integer member
    std::int64_t most = 0;
    int places = -1; ///< of a decimal; see decimal_places
};

/// Shape:   pointers - at records of the type
struct record_descriptor {
    std::span<member_descriptor const> members;
    std::size_t integers; ///< the number of integer members

    void* (*make)();
    void* (*copy)(void const* record);
    void (*destroy)(void* record);
    void* (*member)(void* record, std::size_t index);
    /// Copies some members, a bit for each.
    void (*copy_fields)(void* to, void const* from, std::uint64_t fields);

    /// The number of a member; empty if the record has no such member.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view named) const {
        for (std::size_t index = 0; index < members.size(); ++index) {
            if (members[index].name == named) return index;
        }
        return std::nullopt;
    }
};

template <auto Member, typename Value>
[[nodiscard]] consteval int checked_places() {
    constexpr int places = detail::places_of<Member>();
    static_assert(places < 0 || std::is_same_v<Value, std::int64_t>,
                  "settle: decimal_places is for a member of type std::int64_t, which counts the "
                  "smallest unit. See mongodb#decimals");
    static_assert(places <= 18, "settle: a 64-bit member counts no more than 18 decimal places. "
                                "See mongodb#decimals");
    return places;
}

template <Described Record>
struct record_type_functions {
    static void* make() { return new Record{}; }
    static void* copy(void const* record) {
        return new Record(*static_cast<Record const*>(record));
    }
    static void destroy(void* record) { delete static_cast<Record*>(record); }
    static void* member(void* record, std::size_t index) {
        return members_of<Record>::template pointers<void*>(*static_cast<Record*>(record))[index];
    }
    static void copy_fields(void* to, void const* from, std::uint64_t fields) {
        detail::copy_fields(*static_cast<Record*>(to), *static_cast<Record const*>(from), fields);
    }

    static constexpr auto members = table_of_members<Record, member_descriptor>([](auto m) {
        using member_type = decltype(m);
        using type = typename member_type::type;
        member_descriptor described{m.name, &access_to<type>};
        if constexpr (IntegerField<type>) {
            described.integer = integer_position<Record, member_type::index>;
            described.least = std::int64_t{std::numeric_limits<type>::min()};
            described.most = std::int64_t{std::numeric_limits<type>::max()};
        }
        described.places = checked_places<member_type::pointer, type>();
        return described;
    });
};

template <Described Record>
inline constexpr record_descriptor descriptor_of_record{
    {record_type_functions<Record>::members.data(), member_count<Record>},
    integer_count<Record>,
    &record_type_functions<Record>::make,
    &record_type_functions<Record>::copy,
    &record_type_functions<Record>::destroy,
    &record_type_functions<Record>::member,
    &record_type_functions<Record>::copy_fields};

/// Appends the name of the next member to a JSON object that is begun with its first member.
void begin_member(std::string& out, std::string_view name);

/// Makes a JSON object of some members of a record; an empty text if there is none.
/// Shape:   out - empty; fields - a bit for each member
void append_fields(std::string& out, record_descriptor const& descriptor, void const* record,
                   std::uint64_t fields);

/// The whole record as JSON.
[[nodiscard]] inline std::string encode_record(record_descriptor const& descriptor,
                                               void const* record) {
    std::string out;
    append_fields(out, descriptor, record, ~std::uint64_t{0});
    return out;
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/store/record_descriptor.ipp>
#endif
