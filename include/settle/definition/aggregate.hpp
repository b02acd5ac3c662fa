// SPDX-License-Identifier: BSL-1.0
// The members of an aggregate that no macro describes: structured bindings find them, and the
// compiler's spelling of a member's address holds its name.
#pragma once

#include <settle/definition/structure.hpp>

#include <boost/hana/at.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#if defined(__cpp_impl_reflection)
#include <meta> // defines __cpp_lib_reflection
#endif

SETTLE_BEGIN
namespace detail {

/// Why the members of an aggregate cannot be read.
enum class aggregate_fault { none, base, value, many, spelling };

/// The greatest number of members that are read.
inline constexpr std::size_t aggregate_limit = 32;

/// Converts to each base class of T.
template <typename T>
struct any_base {
    template <typename Base>
        requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
    operator Base() const;
};
struct any_value {
    template <typename Value>
    operator Value&() const;
};
/// Converts to a reference to a constant, and to no value.
struct any_reference {
    template <typename Value>
        requires(std::is_const_v<Value>)
    operator Value&() const;
};

// Nothing repeats braces or bindings by a number, so each line has one more than the line before.
// clang-format off
#define SETTLE_STRUCT_EMPTY_8 {}, {}, {}, {}, {}, {}, {}, {}
#define SETTLE_STRUCT_EMPTY_16 SETTLE_STRUCT_EMPTY_8, SETTLE_STRUCT_EMPTY_8
#define SETTLE_STRUCT_EMPTY_24 SETTLE_STRUCT_EMPTY_16, SETTLE_STRUCT_EMPTY_8
#define SETTLE_STRUCT_EMPTY_32 SETTLE_STRUCT_EMPTY_16, SETTLE_STRUCT_EMPTY_16
#define SETTLE_STRUCT_8 a, b, c, d, e, f, g, h
#define SETTLE_STRUCT_16 SETTLE_STRUCT_8, i, j, k, l, m, n, o, p
#define SETTLE_STRUCT_24 SETTLE_STRUCT_16, q, r, s, t, u, v, w, x

#define SETTLE_STRUCT_COUNT(count, ...)                                                            \
    if constexpr (!requires { T{__VA_ARGS__ __VA_OPT__(,) {}}; })                                  \
        return requires { T{__VA_ARGS__ __VA_OPT__(,) any_value{}}; } ? uncountable : count;       \
    else if constexpr (!std::is_move_assignable_v<T> &&                                            \
                       requires { T{__VA_ARGS__ __VA_OPT__(,) any_reference{}}; })                 \
        return uncountable;                                                                        \
    else
#define SETTLE_STRUCT_BIND(count, ...)                                                             \
    else if constexpr (Count == count) {                                                           \
        auto& [__VA_ARGS__] = value;                                                               \
        return function(__VA_ARGS__);                                                              \
    }

inline constexpr std::size_t uncountable = aggregate_limit + 2;

/// The number of members, each with its own braces; `uncountable` if braces make one of them not.
template <typename T>
consteval std::size_t count_members() {
    SETTLE_STRUCT_COUNT(0)
    SETTLE_STRUCT_COUNT(1, {})
    SETTLE_STRUCT_COUNT(2, {}, {})
    SETTLE_STRUCT_COUNT(3, {}, {}, {})
    SETTLE_STRUCT_COUNT(4, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(5, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(6, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(7, {}, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(8, SETTLE_STRUCT_EMPTY_8)
    SETTLE_STRUCT_COUNT(9, SETTLE_STRUCT_EMPTY_8, {})
    SETTLE_STRUCT_COUNT(10, SETTLE_STRUCT_EMPTY_8, {}, {})
    SETTLE_STRUCT_COUNT(11, SETTLE_STRUCT_EMPTY_8, {}, {}, {})
    SETTLE_STRUCT_COUNT(12, SETTLE_STRUCT_EMPTY_8, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(13, SETTLE_STRUCT_EMPTY_8, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(14, SETTLE_STRUCT_EMPTY_8, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(15, SETTLE_STRUCT_EMPTY_8, {}, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(16, SETTLE_STRUCT_EMPTY_16)
    SETTLE_STRUCT_COUNT(17, SETTLE_STRUCT_EMPTY_16, {})
    SETTLE_STRUCT_COUNT(18, SETTLE_STRUCT_EMPTY_16, {}, {})
    SETTLE_STRUCT_COUNT(19, SETTLE_STRUCT_EMPTY_16, {}, {}, {})
    SETTLE_STRUCT_COUNT(20, SETTLE_STRUCT_EMPTY_16, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(21, SETTLE_STRUCT_EMPTY_16, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(22, SETTLE_STRUCT_EMPTY_16, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(23, SETTLE_STRUCT_EMPTY_16, {}, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(24, SETTLE_STRUCT_EMPTY_24)
    SETTLE_STRUCT_COUNT(25, SETTLE_STRUCT_EMPTY_24, {})
    SETTLE_STRUCT_COUNT(26, SETTLE_STRUCT_EMPTY_24, {}, {})
    SETTLE_STRUCT_COUNT(27, SETTLE_STRUCT_EMPTY_24, {}, {}, {})
    SETTLE_STRUCT_COUNT(28, SETTLE_STRUCT_EMPTY_24, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(29, SETTLE_STRUCT_EMPTY_24, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(30, SETTLE_STRUCT_EMPTY_24, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(31, SETTLE_STRUCT_EMPTY_24, {}, {}, {}, {}, {}, {}, {})
    SETTLE_STRUCT_COUNT(32, SETTLE_STRUCT_EMPTY_32)
    return aggregate_limit + 1;
}

/// Returns `function(members...)`.
template <std::size_t Count, typename T, typename Function>
constexpr auto with_members([[maybe_unused]] T& value, Function function) {
    if constexpr (Count == 0) return function();
    SETTLE_STRUCT_BIND(1, a)
    SETTLE_STRUCT_BIND(2, a, b)
    SETTLE_STRUCT_BIND(3, a, b, c)
    SETTLE_STRUCT_BIND(4, a, b, c, d)
    SETTLE_STRUCT_BIND(5, a, b, c, d, e)
    SETTLE_STRUCT_BIND(6, a, b, c, d, e, f)
    SETTLE_STRUCT_BIND(7, a, b, c, d, e, f, g)
    SETTLE_STRUCT_BIND(8, a, b, c, d, e, f, g, h)
    SETTLE_STRUCT_BIND(9, SETTLE_STRUCT_8, i)
    SETTLE_STRUCT_BIND(10, SETTLE_STRUCT_8, i, j)
    SETTLE_STRUCT_BIND(11, SETTLE_STRUCT_8, i, j, k)
    SETTLE_STRUCT_BIND(12, SETTLE_STRUCT_8, i, j, k, l)
    SETTLE_STRUCT_BIND(13, SETTLE_STRUCT_8, i, j, k, l, m)
    SETTLE_STRUCT_BIND(14, SETTLE_STRUCT_8, i, j, k, l, m, n)
    SETTLE_STRUCT_BIND(15, SETTLE_STRUCT_8, i, j, k, l, m, n, o)
    SETTLE_STRUCT_BIND(16, SETTLE_STRUCT_8, i, j, k, l, m, n, o, p)
    SETTLE_STRUCT_BIND(17, SETTLE_STRUCT_16, q)
    SETTLE_STRUCT_BIND(18, SETTLE_STRUCT_16, q, r)
    SETTLE_STRUCT_BIND(19, SETTLE_STRUCT_16, q, r, s)
    SETTLE_STRUCT_BIND(20, SETTLE_STRUCT_16, q, r, s, t)
    SETTLE_STRUCT_BIND(21, SETTLE_STRUCT_16, q, r, s, t, u)
    SETTLE_STRUCT_BIND(22, SETTLE_STRUCT_16, q, r, s, t, u, v)
    SETTLE_STRUCT_BIND(23, SETTLE_STRUCT_16, q, r, s, t, u, v, w)
    SETTLE_STRUCT_BIND(24, SETTLE_STRUCT_16, q, r, s, t, u, v, w, x)
    SETTLE_STRUCT_BIND(25, SETTLE_STRUCT_24, y)
    SETTLE_STRUCT_BIND(26, SETTLE_STRUCT_24, y, z)
    SETTLE_STRUCT_BIND(27, SETTLE_STRUCT_24, y, z, a2)
    SETTLE_STRUCT_BIND(28, SETTLE_STRUCT_24, y, z, a2, b2)
    SETTLE_STRUCT_BIND(29, SETTLE_STRUCT_24, y, z, a2, b2, c2)
    SETTLE_STRUCT_BIND(30, SETTLE_STRUCT_24, y, z, a2, b2, c2, d2)
    SETTLE_STRUCT_BIND(31, SETTLE_STRUCT_24, y, z, a2, b2, c2, d2, e2)
    SETTLE_STRUCT_BIND(32, SETTLE_STRUCT_24, y, z, a2, b2, c2, d2, e2, f2)
}
// clang-format on

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

/// As the type of an object without a definition, g++ refuses a struct of a function itself.
template <typename T>
struct unread_object {
    T value;
};
/// No object of this name exists. Only the compiler looks at the addresses of its members.
template <typename T>
extern unread_object<T> unread;

/// clang 14 takes the address of a member as a template argument only inside of a class type.
template <typename Pointer>
struct member_address {
    Pointer pointer;
    constexpr explicit member_address(Pointer address) : pointer{address} {}
};

/// The name of a member: the compiler's spelling of its address ends with it.
template <auto Address>
consteval auto spelled_member() {
    std::string_view text{__PRETTY_FUNCTION__};
    auto const in_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '$' || (c & 0x80) != 0;
    };
    while (!text.empty() && !in_name(text.back())) text.remove_suffix(1);
    std::size_t begin = text.size();
    while (begin > 0 && in_name(text[begin - 1])) --begin;
    return text.substr(begin);
}

template <typename T>
struct aggregate_members {
    static constexpr std::size_t count = count_members<T>();
    /// A function, since a constant would need the object when the program is linked.
    static constexpr auto addresses() {
        return with_members<count>(unread<T>.value, [](auto&... members) {
            return boost::hana::make_tuple(member_address{std::addressof(members)}...);
        });
    }

    /// Pointers to the members of a value, then a null pointer.
    template <typename Pointer, typename Value>
    static std::array<Pointer, count + 1> pointers(Value& value) {
        return with_members<count>(value, [](auto&... members) {
            return std::array<Pointer, count + 1>{std::addressof(members)..., nullptr};
        });
    }
};

/// A member that no pointer to a member names. As a template argument it stands for one.
template <typename T, std::size_t Index>
struct aggregate_member {
    static constexpr auto address() {
        return boost::hana::at_c<Index>(aggregate_members<T>::addresses());
    }
    static constexpr auto fault = listing_fault::none;
    static constexpr char const* c_str() { return name.text; }
    using accessor = aggregate_member;
    using class_type = T;
    using value_type = std::remove_pointer_t<decltype(address().pointer)>;

    template <auto Pointer>
    static constexpr bool is = std::addressof((unread<T>.value.*Pointer)) == address().pointer;

    static value_type& in(T& value) {
        return *static_cast<value_type*>(
            aggregate_members<T>::template pointers<void*>(value)[Index]);
    }
    static value_type const& in(T const& value) {
        return *static_cast<value_type const*>(
            aggregate_members<T>::template pointers<void const*>(value)[Index]);
    }

private:
    static constexpr std::string_view spelled = spelled_member<address()>();
    static constexpr fixed_string<spelled.size() + 1> name{spelled};
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#if defined(__cpp_lib_reflection)
// clang-format off
/// The member as SETTLE_STRUCT lists it: C++26 tells the name of a member, and a pointer to it.
template <typename T, std::size_t Index>
consteval auto reflected_member() {
    constexpr std::meta::info member = std::meta::nonstatic_data_members_of(
        ^^T, std::meta::access_context::unchecked())[Index];
    constexpr std::string_view spelled = std::meta::identifier_of(member);
    return listed_member<fixed_string<spelled.size() + 1>{spelled}, &[:member:]>{};
}
// clang-format on
template <typename T, std::size_t Index>
using struct_member = decltype(reflected_member<T, Index>());
#else
template <typename T, std::size_t Index>
using struct_member = aggregate_member<T, Index>;
#endif

/// True when every name is an identifier, and no two are equal.
template <typename T>
consteval bool spells_members() {
    constexpr auto is_identifier = [](std::string_view name) {
        return !name.empty() && (name.front() < '0' || name.front() > '9');
    };
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        return (is_identifier(struct_member<T, Index>::c_str()) && ...) &&
               all_different<sizeof...(Index)>({struct_member<T, Index>::c_str()...},
                                               std::equal_to<>{});
    }(std::make_index_sequence<aggregate_members<T>::count>{});
}

template <typename T>
consteval aggregate_fault fault_of_aggregate() {
    if constexpr (requires { T{any_base<T>{}}; }) return aggregate_fault::base;
    else if constexpr (!requires { T{}; } || count_members<T>() == uncountable)
        return aggregate_fault::value;
    else if constexpr (count_members<T>() > aggregate_limit) return aggregate_fault::many;
    else if constexpr (!spells_members<T>()) return aggregate_fault::spelling;
    else return aggregate_fault::none;
}

/// Reports why a struct cannot be read. The compiler shows the struct beside the message.
template <typename Struct, aggregate_fault Fault>
consteval bool explain_aggregate() {
    static_assert(Fault != aggregate_fault::base,
                  "settle: a struct has a base class, so its members cannot be read. List them, "
                  "and the inherited ones, with SETTLE_STRUCT(type, members...) after it. "
                  "See definition#records");
    static_assert(Fault != aggregate_fault::value,
                  "settle: a member of a struct is a reference, or has no default constructor, so "
                  "no store can keep it. Give it a type of its own, or list the other members with "
                  "SETTLE_STRUCT. See definition#records");
    static_assert(Fault != aggregate_fault::many,
                  "settle: a struct has more than 32 members, which only a macro lists. Add "
                  "SETTLE_STRUCT(type, members...) after it, with 64 at most. "
                  "See definition#records");
    static_assert(Fault != aggregate_fault::spelling,
                  "settle: this compiler does not spell the names of a struct's members. Add "
                  "SETTLE_STRUCT(type, members...) after it. See definition#records");
    return Fault != aggregate_fault::none;
}

template <PlainAggregate T>
inline constexpr bool refused_description<T> = explain_aggregate<T, fault_of_aggregate<T>()>();

template <typename T>
consteval auto list_members() {
    if constexpr (fault_of_aggregate<T>() != aggregate_fault::none) {
        return refused_list{};
    } else {
        return []<std::size_t... Index>(std::index_sequence<Index...>) {
            return member_list<struct_member<T, Index>...>{};
        }(std::make_index_sequence<aggregate_members<T>::count>{});
    }
}

} // namespace detail
SETTLE_END
