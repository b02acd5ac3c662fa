// SPDX-License-Identifier: BSL-1.0
// The canonical text of a definition and its hash, which an entry stores.
//
// The text has one item a line, in this order: the version of the format; the name of the type; the
// parameters with their kinds; each guard on the parameters; each participant with its collection,
// its key, the kinds of its fields, its guards and its moments in normal form, or with its service,
// its stage, its request, its result and the arguments of its calls. The text leaves out everything
// that does not change how a transaction runs: the spelling of a compensation, the order of the
// sides of a comparison or of the effects of a moment, `may_pass_zero` (only the compiler uses it),
// fields of the record that no participant uses, and the grade and the limits of a call.
#pragma once

#include <settle/definition/transaction.hpp>

#include <array>
#include <initializer_list>
#include <span>
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

template <typename Record, auto Member>
void describe_field(std::string& out) {
    using found = member<Record, member_index<Record, Member>>;
    put(out, found::name);
}

/// Not inlined, because several transaction types share this instantiation.
template <typename Record, auto Member>
[[gnu::noinline]] void describe_typed_field(std::string& out) {
    describe_field<Record, Member>(out);
    put(out, ":");
    describe_type<value_of<Member>>(out);
}

/// The structs whose members an expression may name.
template <typename Record, typename Parameters, typename Element>
struct naming {
    using record = Record;
    using parameters = Parameters;
    using element = Element;
};

/// Looks members up in the struct that the user described. The type of a pointer to an inherited
/// member names the base class instead.
template <typename Owner, auto First, auto... Rest>
void describe_path(std::string& out) {
    put(out, ".");
    describe_field<Owner, First>(out);
    if constexpr (sizeof...(Rest) > 0) describe_path<value_of<First>, Rest...>(out);
}

template <typename Naming, auto Member>
void describe(std::string& out, field_expression<Member> const&) {
    describe_typed_field<typename Naming::record, Member>(out);
}
template <typename Naming, auto... Path>
void describe(std::string& out, param_expression<Path...> const&) {
    put(out, "param");
    describe_path<typename Naming::parameters, Path...>(out);
}
template <typename Naming, auto... Path>
void describe(std::string& out, line_expression<Path...> const&) {
    put(out, "line");
    describe_path<typename Naming::element, Path...>(out);
}

/// Shape:   Declared - the type of the constant, whose value may be of a wider type
template <typename Naming, typename Declared, typename T>
void describe_constant(std::string& out, T const& value) {
    if constexpr (requires { Naming::as_written; }) Naming::template put<Declared>(out, value);
    else if constexpr (std::is_same_v<T, std::string_view>) describe_text(out, value);
    else out += std::to_string(to_integer(value));
}

template <typename Naming, fixed_string Participant, auto... Path>
void describe(std::string& out, result_expression<Participant, Path...> const&) {
    put(out, {"result ", Participant.view()});
    describe_path<typename Naming::template result<Participant>, Path...>(out);
}
template <typename Naming, literal_value Value>
void describe(std::string& out, literal_expression<Value> const&) {
    using literal = literal_expression<Value>;
    describe_constant<Naming, typename literal::declared>(out, literal::get());
}
template <typename Naming, typename T>
void describe(std::string& out, constant_expression<T> const& constant) {
    describe_constant<Naming, T>(out, constant.value);
}
template <typename Naming>
void describe(std::string& out, none_expression const&) {
    put(out, "none");
}

constexpr std::string_view symbol(operation_kind kind) {
    constexpr std::string_view symbols[]{"+",  "-", "*",  "-",   "==", "!=", "<",
                                         "<=", ">", ">=", "and", "or", "not"};
    return symbols[static_cast<std::size_t>(kind)];
}

/// Gives `a > b` and `b < a` the same text.
/// Shape:   left_at, right_at - where the sides begin in `out`; the right side ends `out`
void put_in_operation(std::string& out, operation_kind kind, std::size_t left_at,
                      std::size_t right_at);

/// The sides stay as the user wrote them.
void put_as_written(std::string& out, operation_kind kind, std::size_t left_at,
                    std::size_t right_at);

template <typename Naming, operation_kind Operation, typename E>
void describe(std::string& out, unary_expression<Operation, E> const& node);

template <typename Naming, operation_kind Operation, typename L, typename R>
void describe(std::string& out, binary_expression<Operation, L, R> const& node) {
    auto const left_at = out.size();
    describe<Naming>(out, node.left);
    auto const right_at = out.size();
    describe<Naming>(out, node.right);
    if constexpr (requires { Naming::as_written; }) {
        put_as_written(out, Operation, left_at, right_at);
    } else {
        put_in_operation(out, Operation, left_at, right_at);
    }
}
template <typename Naming, operation_kind Operation, typename E>
void describe(std::string& out, unary_expression<Operation, E> const& node) {
    put(out, {symbol(Operation), "("});
    describe<Naming>(out, node.operand);
    put(out, ")");
}

template <typename Naming, bound_side Side, auto Member, typename Limit>
void describe_guard(std::string& out, bound_guard<Side, Member, Limit> const& guard) {
    describe<Naming>(out, field_expression<Member>{});
    put(out, Side == bound_side::lower ? " >= " : " <= ");
    describe<Naming>(out, guard.limit);
}
template <typename Naming, typename Condition>
void describe_guard(std::string& out, exact_guard<Condition> const& guard) {
    describe<Naming>(out, guard.condition);
}
template <typename Naming, typename Condition>
void describe_guard(std::string& out, premise_guard<Condition> const& guard) {
    describe<Naming>(out, guard.condition);
}

template <typename Naming, typename Guards>
void describe_guards(std::string& out, Guards const& guards) {
    for_each_element(guards, [&](auto const& guard) {
        put(out, " require ");
        describe_guard<Naming>(out, guard);
        put(out, "\n");
    });
}

constexpr std::string_view symbol(effect_kind kind) {
    return kind == effect_kind::add ? " += " : kind == effect_kind::subtract ? " -= " : " = ";
}

/// Sorts the effects of a moment: they take effect together, so their order has no meaning.
/// Shape:   offsets - where each effect begins in `out`, then where the last effect ends
void put_in_order(std::string& out, std::string_view when, std::span<std::size_t const> offsets);

template <typename Naming, bool Creates, bool Erases, typename... Effects>
void describe_moment(std::string& out, std::string_view when,
                     moment<Creates, Erases, Effects...> const& given) {
    if (Creates || Erases) put(out, {" ", when, Creates ? " create\n" : " erase\n"});
    if constexpr (sizeof...(Effects) > 0) {
        std::array<std::size_t, sizeof...(Effects) + 1> offsets{out.size()};
        std::size_t described = 0;
        for_each_element(given.effects, [&](auto const& one) {
            using effect_type = std::remove_cvref_t<decltype(one)>;
            constexpr bool assigns = effect_type::kind == effect_kind::assign;
            describe<Naming>(out, field_expression<effect_type::member>{});
            put(out, symbol(effect_type::kind));
            describe<Naming>(out, one.operand);
            if (effect_type::is_signed && !assigns) put(out, " signed");
            offsets[++described] = out.size();
        });
        put_in_order(out, when, offsets);
    }
}
template <typename Naming>
void describe_moment(std::string&, std::string_view, not_given const&) {}

template <typename Parameters>
void describe_source(std::string&, std::type_identity<single>) {}
template <typename Parameters, auto... Path>
void describe_source(std::string& out, std::type_identity<each_expression<Path...>>) {
    put(out, " each param");
    describe_path<Parameters, Path...>(out);
}

template <typename Parameters, RecordParticipant Participant>
void describe_participant(std::string& out, Participant const& participant) {
    using record = typename Participant::record_type;
    using collection = typename Participant::collection_type;
    using names = naming<record, Parameters, typename Participant::source_type::element>;
    put(out, {"participant ", Participant::name});
    describe_source<Parameters>(out, std::type_identity<typename Participant::source_type>{});
    put(out, {" in ", collection::name, " where "});
    describe_field<record, collection::key_member>(out);
    put(out, ":");
    describe_type<typename collection::key_type>(out);
    put(out, " == ");
    describe<names>(out, participant.key);
    put(out, "\n");
    describe_guards<names>(out, participant.guards);
    describe_moment<names>(out, "apply", participant.applying);
    describe_moment<names>(out, "confirm", participant.confirming);
}
template <typename Naming, typename... Arguments>
void describe_call(std::string& out, std::string_view what,
                   boost::hana::tuple<Arguments...> const& arguments) {
    put(out, what);
    for_each_element(arguments, [&](auto const& one) {
        put(out, " ");
        describe<Naming>(out, one);
    });
    put(out, "\n");
}

template <typename Parameters, PreparedParticipant Participant>
void describe_participant(std::string& out, Participant const& participant) {
    using target = typename Participant::prepared_type;
    using names = naming<nothing, Parameters, typename Participant::source_type::element>;
    put(out, {"participant ", Participant::name});
    describe_source<Parameters>(out, std::type_identity<typename Participant::source_type>{});
    put(out, {" prepared in ", target::name, "\n request "});
    describe_type<typename target::request_type>(out);
    put(out, "\n");
    describe_call<names>(out, " apply", participant.applying.arguments);
}
template <typename Parameters, typename Participant>
void describe_participant(std::string& out, Participant const& participant) {
    using names = naming<nothing, Parameters, typename Participant::source_type::element>;
    put(out, {"participant ", Participant::name});
    describe_source<Parameters>(out, std::type_identity<typename Participant::source_type>{});
    put(out, {" at ", Participant::target_type::name, " stage ", std::to_string(Participant::stage),
              " key "});
    describe<names>(out, participant.key);
    put(out, "\n");
    participant.describe(out);
}

/// The structs whose members the arguments of a call may name.
template <typename Parameters, typename Element, typename... Participants>
struct call_naming : naming<nothing, Parameters, Element> {
    template <fixed_string Participant>
    using result =
        typename participant_named<Participant, Participants...>::service_type::result_type;
};

/// The grade of the receiver and the limits may change while transactions are under way.
template <typename Naming, CallParticipant Participant>
void describe_call_participant(std::string& out, Participant const& participant) {
    using service = typename Participant::service_type;
    put(out, {"participant ", Participant::name});
    describe_source<typename Naming::parameters>(
        out, std::type_identity<typename Participant::source_type>{});
    put(out,
        {" calls ", service::name, " stage ", std::to_string(Participant::stage), "\n request "});
    describe_type<typename service::request_type>(out);
    if constexpr (Participant::gives_result) {
        put(out, "\n result ");
        describe_type<typename service::result_type>(out);
    }
    put(out, "\n");
    if constexpr (Participant::applies) {
        describe_call<Naming>(out, Participant::has_effect ? " apply" : " query",
                              participant.apply_arguments());
    }
    if constexpr (Participant::compensates) {
        describe_call<Naming>(out, " compensate", participant.compensate_arguments());
    }
    if constexpr (Participant::confirms) {
        describe_call<Naming>(out, " confirm", participant.confirm_arguments());
    }
}

} // namespace detail

/// The canonical text of a definition; the same from every compiler.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
[[nodiscard]] std::string canonical_text(
    transaction_definition<Parameters, Name, Guards, Participants...> const& definition) {
    std::string out = "settle 1\ntransaction ";
    detail::put(out, Name.view());
    detail::put(out, "\nparameters ");
    detail::describe_type<Parameters>(out);
    detail::put(out, "\n");
    detail::describe_guards<detail::naming<nothing, Parameters, nothing>>(out, definition.guards);
    for_each_element(
        definition.participants, [&]<typename Participant>(Participant const& participant) {
            if constexpr (CallParticipant<Participant>) {
                using names =
                    detail::call_naming<Parameters, typename Participant::source_type::element,
                                        Participants...>;
                detail::describe_call_participant<names>(out, participant);
            } else {
                detail::describe_participant<Parameters>(out, participant);
            }
        });
    return out;
}

/// FNV-1a, 64 bits: detects mistakes; gives no protection against an attacker.
/// Source:  draft-eastlake-fnv, section 2
[[nodiscard]] constexpr std::uint64_t fingerprint(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (char const c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash;
}

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/definition/canonical.ipp>
#endif
