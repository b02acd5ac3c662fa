// SPDX-License-Identifier: BSL-1.0
// A definition as a constant list, which compiled code reads: it writes the canonical text, and
// explains why parameters are refused. This file has the items of expressions, guards and effects.
#pragma once

#include <settle/definition/transaction.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

SETTLE_BEGIN
namespace detail {

// Code that depends on no type is in functions of its own, so that a definition compiles faster.
void put(std::string& out, std::string_view text);
void put(std::string& out, std::initializer_list<std::string_view> texts);

struct described_member {
    std::string_view name{};
    void (*describe)(std::string& out) = nullptr;
};

template <typename T>
void describe_type(std::string& out);

template <Described T>
inline constexpr auto described_members = table_of_members<T, described_member>(
    [](auto m) { return described_member{m.name, describe_type<typename decltype(m)::type>}; });

/// Shape:   members - an array that ends with an element without a function
void describe_members(std::string& out, described_member const* members);

/// `bool`, `i32`, `u8`, `text`, `enum i32`, `time 1/1000 i64`; `?` follows an optional type.
template <typename T>
void describe_type(std::string& out) {
    using plain = typename field_traits<T>::plain_type;
    constexpr field_kind kind = field_traits<T>::kind;
    if constexpr (kind == field_kind::boolean) {
        put(out, "bool");
    } else if constexpr (kind == field_kind::text) {
        put(out, "text");
    } else if constexpr (kind == field_kind::integer) {
        put(out, std::is_signed_v<plain> ? "i" : "u");
        out += std::to_string(sizeof(plain) * 8);
    } else if constexpr (kind == field_kind::enumeration) {
        put(out, "enum ");
        describe_type<std::underlying_type_t<plain>>(out);
    } else if constexpr (kind == field_kind::time) {
        using duration = typename time_parts<plain>::duration;
        out += "time " + std::to_string(duration::period::num) + '/' +
               std::to_string(duration::period::den) + ' ';
        describe_type<typename duration::rep>(out);
    } else if constexpr (Described<T>) {
        describe_members(out, described_members<T>.data());
    } else {
        put(out, "[");
        describe_type<typename vector_element<T>::type>(out);
        put(out, "]");
    }
    if constexpr (field_traits<T>::optional) out += '?';
}

/// Text in quotes. A quote or a backslash gets a backslash, so that two texts always differ.
void describe_text(std::string& out, std::string_view text);

/// How a value is shown to people.
enum class value_style : std::uint8_t { number, boolean, time, text };

/// A value without its type.
/// Shape:   a function that the type does not need is null
struct value_access {
    value_style style = value_style::number;
    bool (*has_value)(void const*) = nullptr; ///< of an optional
    std::int64_t (*integer)(void const*) = nullptr;
    std::string_view (*text)(void const*) = nullptr;
    std::intmax_t numerator = 1; ///< a unit of a time has numerator / denominator seconds
    std::intmax_t denominator = 1;
};

template <typename T>
struct value_reader {
    using plain = typename field_traits<T>::plain_type;
    static constexpr bool optional = field_traits<T>::optional;

    static plain const& in(void const* value) {
        if constexpr (optional) return **static_cast<T const*>(value);
        else return *static_cast<T const*>(value);
    }
    static bool has_value(void const* value) { return static_cast<T const*>(value)->has_value(); }
    static std::int64_t integer(void const* value) { return to_integer(in(value)); }
    static std::string_view text(void const* value) { return in(value); }

    static consteval value_access make() {
        value_access access;
        if constexpr (optional) access.has_value = &has_value;
        if constexpr (std::is_convertible_v<plain const&, std::string_view>) {
            access.style = value_style::text;
            access.text = &text;
        } else {
            access.integer = &integer;
            if constexpr (std::is_same_v<plain, bool>) access.style = value_style::boolean;
        }
        if constexpr (time_parts<plain>::value) {
            using period = typename time_parts<plain>::duration::period;
            access.style = value_style::time;
            access.numerator = period::num;
            access.denominator = period::den;
        }
        return access;
    }
};
template <typename T>
inline constexpr value_access access_of_value = value_reader<T>::make();
/// Null for a struct or a list, which only a call takes as a whole.
template <typename T>
consteval value_access const* access_to_value() {
    if constexpr (NestedType<typename field_traits<T>::plain_type>) return nullptr;
    else return &access_of_value<T>;
}

/// A definition as a list: the pieces of its canonical text, and marks for what reads expressions.
/// An expression is in postfix order.
enum class item_kind : std::uint8_t {
    end,
    text,        ///< as it is
    type,        ///< by a function
    custom,      ///< by a participant of another kind
    number,      ///< a constant
    quoted,      ///< a constant text
    none,        ///< the empty value
    path,        ///< the last name of a value in the parameters or in a line
    unary,       ///< the operation of the last expression
    binary,      ///< the operation of the last two expressions
    effects,     ///< the effects of a moment begin
    effect,      ///< ends an effect
    moment,      ///< ends a moment
    participant, ///< begins a participant
    unchecked,   ///< ends a condition on fields

    // Each ends an expression without a field that is checked before the first write.
    key,
    limit,
    condition,
    amount ///< must not be negative
};

struct definition_item {
    item_kind kind = item_kind::end;
    bool begins = false; ///< an expression begins here
    operation_kind operation{};
    bool of_line = false;   ///< of a path: in a line, not in the parameters
    bool is_secret = false; ///< of a path
    bool is_record = false; ///< of a participant
    std::string_view text{};
    std::int64_t number = 0;
    std::int64_t least = 0; ///< the range of a key
    std::int64_t most = 0;
    value_access const* access = nullptr; ///< of a path or a constant
    void (*describe)(std::string& out) = nullptr;
    void (*describe_custom)(std::string& out, void const* participant) = nullptr;
    void const* custom = nullptr;
    void const* (*follow)(void const* root) = nullptr; ///< of a path
    /// The line of a participant that is a range; else null.
    void const* (*line)(void const* parameters, std::size_t line) = nullptr;
};

/// Counts items, or stores them.
class item_list {
public:
    constexpr explicit item_list(definition_item* into = nullptr) : into_(into) {}

    constexpr void put(definition_item const& item) {
        if (into_ != nullptr) {
            into_[count_] = item;
            into_[count_].begins = begins_;
        }
        begins_ = false;
        ++count_;
    }
    constexpr void put(std::string_view text) { put({.kind = item_kind::text, .text = text}); }
    constexpr void put(item_kind kind) { put({.kind = kind}); }
    template <typename T>
    constexpr void put_type() {
        put({.kind = item_kind::type, .describe = &describe_type<T>});
    }
    /// The next item begins an expression.
    constexpr void begin() { begins_ = true; }
    [[nodiscard]] constexpr std::size_t count() const { return count_; }

private:
    definition_item* into_;
    std::size_t count_ = 0;
    bool begins_ = false;
};

template <typename Record, auto Member>
constexpr void put_field(item_list& out) {
    out.put(member<Record, member_index<Record, Member>>::name);
}
template <typename Record, auto Member>
constexpr void put_typed_field(item_list& out) {
    put_field<Record, Member>(out);
    out.put(":");
    out.put_type<value_of<Member>>();
}

/// The structs whose members an expression may name.
template <typename Record, typename Parameters, typename Element>
struct naming {
    using record = Record;
    using parameters = Parameters;
    using element = Element;
};

template <typename Root, auto... Path>
void const* follow_path(void const* root) {
    return std::addressof(follow<Path...>(*static_cast<Root const*>(root)));
}

/// Looks members up in the struct that the user described. The type of a pointer to an inherited
/// member names the base class instead.
template <typename Owner, auto First, auto... Rest>
constexpr void put_path(item_list& out, definition_item last) {
    out.put(".");
    if constexpr (sizeof...(Rest) > 0) {
        put_field<Owner, First>(out);
        put_path<value_of<First>, Rest...>(out, last);
    } else {
        last.text = member<Owner, member_index<Owner, First>>::name;
        out.put(last);
    }
}
template <typename Root, auto... Path>
constexpr void put_value_path(item_list& out, bool of_line) {
    using declared = typename param_expression<Path...>::declared;
    put_path<Root, Path...>(out, {.kind = item_kind::path,
                                  .of_line = of_line,
                                  .is_secret = (is_secret<Path>() || ...),
                                  .access = access_to_value<declared>(),
                                  .follow = &follow_path<Root, Path...>});
}

template <typename Naming, auto Member>
constexpr void put_expression(item_list& out, field_expression<Member> const&) {
    out.begin();
    put_typed_field<typename Naming::record, Member>(out);
}
template <typename Naming, auto... Path>
constexpr void put_expression(item_list& out, param_expression<Path...> const&) {
    out.begin();
    out.put("param");
    put_value_path<typename Naming::parameters, Path...>(out, false);
}
template <typename Naming, auto... Path>
constexpr void put_expression(item_list& out, line_expression<Path...> const&) {
    out.begin();
    out.put("line");
    put_value_path<typename Naming::element, Path...>(out, true);
}
template <typename Naming, fixed_string Participant, auto... Path>
constexpr void put_expression(item_list& out, result_expression<Participant, Path...> const&) {
    out.begin();
    out.put("result ");
    out.put(Participant.view());
    put_path<typename Naming::template result<Participant>, Path...>(out,
                                                                     {.kind = item_kind::text});
}

/// Shape:   Declared - the type of the constant, whose value may be of a wider type
template <typename Declared, typename T>
constexpr void put_constant(item_list& out, T const& value) {
    out.begin();
    if constexpr (std::is_same_v<T, std::string_view>) {
        out.put({.kind = item_kind::quoted, .text = value});
    } else {
        out.put({.kind = item_kind::number,
                 .number = to_integer(value),
                 .access = &access_of_value<Declared>});
    }
}
template <typename Naming, literal_value Value>
constexpr void put_expression(item_list& out, literal_expression<Value> const&) {
    using literal = literal_expression<Value>;
    put_constant<typename literal::declared>(out, literal::get());
}
template <typename Naming, typename T>
constexpr void put_expression(item_list& out, constant_expression<T> const& constant) {
    put_constant<T>(out, constant.value);
}
template <typename Naming>
constexpr void put_expression(item_list& out, none_expression const&) {
    out.begin();
    out.put(item_kind::none);
}
template <typename Naming, operation_kind Operation, typename E>
constexpr void put_expression(item_list& out, unary_expression<Operation, E> const& node);
template <typename Naming, operation_kind Operation, typename L, typename R>
constexpr void put_expression(item_list& out, binary_expression<Operation, L, R> const& node) {
    put_expression<Naming>(out, node.left);
    put_expression<Naming>(out, node.right);
    out.put({.kind = item_kind::binary, .operation = Operation});
}
template <typename Naming, operation_kind Operation, typename E>
constexpr void put_expression(item_list& out, unary_expression<Operation, E> const& node) {
    put_expression<Naming>(out, node.operand);
    out.put({.kind = item_kind::unary, .operation = Operation});
}

constexpr std::string_view symbol(operation_kind kind) {
    constexpr std::string_view symbols[]{"+",  "-", "*",  "-",   "==", "!=", "<",
                                         "<=", ">", ">=", "and", "or", "not"};
    return symbols[static_cast<std::size_t>(kind)];
}

template <typename Naming, bound_side Side, auto Member, typename Limit>
constexpr void put_guard(item_list& out, bound_guard<Side, Member, Limit> const& guard) {
    put_typed_field<typename Naming::record, Member>(out);
    out.put(Side == bound_side::lower ? " >= " : " <= ");
    put_expression<Naming>(out, guard.limit);
    out.put(item_kind::limit);
}
template <typename Naming, typename Guard>
constexpr void put_guard(item_list& out, Guard const& guard) {
    put_expression<Naming>(out, guard.condition);
    if constexpr (without_fields<typename Guard::expression_type>) out.put(item_kind::condition);
    else out.put(item_kind::unchecked);
}

template <typename Naming, typename Guards>
constexpr void put_guards(item_list& out, Guards const& guards) {
    for_each_element(guards, [&](auto const& guard) {
        out.put(" require ");
        put_guard<Naming>(out, guard);
        out.put("\n");
    });
}

constexpr std::string_view symbol(effect_kind kind) {
    return kind == effect_kind::add ? " += " : kind == effect_kind::subtract ? " -= " : " = ";
}

template <typename Naming, bool Creates, bool Erases, typename... Effects>
constexpr void put_moment(item_list& out, std::string_view when,
                          moment<Creates, Erases, Effects...> const& moment) {
    if (Creates || Erases) {
        out.put(" ");
        out.put(when);
        out.put(Creates ? " create\n" : " erase\n");
    }
    if constexpr (sizeof...(Effects) > 0) {
        out.put(item_kind::effects);
        for_each_element(moment.effects, [&](auto const& effect) {
            using effect_type = std::remove_cvref_t<decltype(effect)>;
            put_typed_field<typename Naming::record, effect_type::member>(out);
            out.put(symbol(effect_type::kind));
            put_expression<Naming>(out, effect.operand);
            if constexpr (is_delta<effect_type>) {
                out.put(effect_type::is_signed ? item_kind::limit : item_kind::amount);
                if (effect_type::is_signed) out.put(" signed");
            }
            out.put(item_kind::effect);
        });
        out.put({.kind = item_kind::moment, .text = when});
    }
}
template <typename Naming>
constexpr void put_moment(item_list&, std::string_view, not_given const&) {}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/definition/definition_items.ipp>
#endif
