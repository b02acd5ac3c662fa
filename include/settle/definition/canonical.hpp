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

#include <settle/definition/definition_items.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

SETTLE_BEGIN
namespace detail {

template <typename Parameters>
constexpr void put_source(item_list&, std::type_identity<single>) {}
template <typename Parameters, auto... Path>
constexpr void put_source(item_list& out, std::type_identity<each_expression<Path...>>) {
    out.put(" each param");
    put_path<Parameters, Path...>(out, {.kind = item_kind::text});
}

template <typename Parameters, auto... Path>
void const* line_at(void const* parameters, std::size_t line) {
    return &follow<Path...>(*static_cast<Parameters const*>(parameters))[line];
}
template <typename Parameters>
constexpr std::nullptr_t line_reader(std::type_identity<single>) {
    return nullptr;
}
template <typename Parameters, auto... Path>
constexpr auto line_reader(std::type_identity<each_expression<Path...>>) {
    return &line_at<Parameters, Path...>;
}

/// The name of a participant and the range that it is for.
template <typename Parameters, typename Participant>
constexpr void put_head(item_list& out) {
    using source = std::type_identity<typename Participant::source_type>;
    out.put({.kind = item_kind::participant,
             .is_record = RecordParticipant<Participant>,
             .text = Participant::name,
             .line = line_reader<Parameters>(source{})});
    put_source<Parameters>(out, source{});
}

template <typename Parameters, RecordParticipant Participant>
constexpr void put_participant(item_list& out, Participant const& participant) {
    using record = typename Participant::record_type;
    using collection = typename Participant::collection_type;
    using key_type = typename collection::key_type;
    using names = naming<record, Parameters, typename Participant::source_type::element>;
    put_head<Parameters, Participant>(out);
    out.put(" in ");
    out.put(collection::name);
    out.put(" where ");
    put_field<record, collection::key_member>(out);
    out.put(":");
    out.put_type<key_type>();
    out.put(" == ");
    put_expression<names>(out, participant.key);
    if constexpr (std::is_integral_v<key_type>) {
        out.put({.kind = item_kind::key,
                 .least = std::int64_t{std::numeric_limits<key_type>::min()},
                 .most = static_cast<std::int64_t>(std::numeric_limits<key_type>::max())});
    } else {
        out.put(item_kind::key);
    }
    out.put("\n");
    put_guards<names>(out, participant.guards);
    put_moment<names>(out, "apply", participant.applying);
    put_moment<names>(out, "confirm", participant.confirming);
}
template <typename Naming, typename... Arguments>
constexpr void put_call(item_list& out, std::string_view what,
                        boost::hana::tuple<Arguments...> const& arguments) {
    out.put(what);
    for_each_element(arguments, [&](auto const& argument) {
        out.put(" ");
        put_expression<Naming>(out, argument);
    });
    out.put("\n");
}

template <typename Parameters, PreparedParticipant Participant>
constexpr void put_participant(item_list& out, Participant const& participant) {
    using target = typename Participant::prepared_type;
    using names = naming<nothing, Parameters, typename Participant::source_type::element>;
    put_head<Parameters, Participant>(out);
    out.put(" prepared in ");
    out.put(target::name);
    out.put("\n request ");
    out.put_type<typename target::request_type>();
    out.put("\n");
    put_call<names>(out, " apply", participant.applying.arguments);
}
constexpr void put_stage(item_list& out, std::int64_t stage) {
    out.put(" stage ");
    out.put({.kind = item_kind::number, .number = stage});
}
template <typename Parameters, typename Participant>
constexpr void put_participant(item_list& out, Participant const& participant) {
    using names = naming<nothing, Parameters, typename Participant::source_type::element>;
    put_head<Parameters, Participant>(out);
    out.put(" at ");
    out.put(Participant::target_type::name);
    put_stage(out, Participant::stage);
    out.put(" key ");
    put_expression<names>(out, participant.key);
    out.put("\n");
    out.put({.kind = item_kind::custom,
             .describe_custom =
                 [](std::string& text, void const* value) {
                     static_cast<Participant const*>(value)->describe(text);
                 },
             .custom = &participant});
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
constexpr void put_call_participant(item_list& out, Participant const& participant) {
    using service = typename Participant::service_type;
    put_head<typename Naming::parameters, Participant>(out);
    out.put(" calls ");
    out.put(service::name);
    put_stage(out, Participant::stage);
    out.put("\n request ");
    out.put_type<typename service::request_type>();
    if constexpr (Participant::gives_result) {
        out.put("\n result ");
        out.put_type<typename service::result_type>();
    }
    out.put("\n");
    if constexpr (Participant::applies) {
        put_call<Naming>(out, Participant::has_effect ? " apply" : " query",
                         participant.apply_arguments());
    }
    if constexpr (Participant::compensates) {
        put_call<Naming>(out, " compensate", participant.compensate_arguments());
    }
    if constexpr (Participant::confirms) {
        put_call<Naming>(out, " confirm", participant.confirm_arguments());
    }
}

template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
constexpr void put_definition(
    item_list& out,
    transaction_definition<Parameters, Name, Guards, Participants...> const& definition) {
    out.put("settle 1\ntransaction ");
    out.put(Name.view());
    out.put("\nparameters ");
    out.put_type<Parameters>();
    out.put("\n");
    put_guards<naming<nothing, Parameters, nothing>>(out, definition.guards);
    for_each_element(
        definition.participants, [&]<typename Participant>(Participant const& participant) {
            if constexpr (CallParticipant<Participant>) {
                using names = call_naming<Parameters, typename Participant::source_type::element,
                                          Participants...>;
                put_call_participant<names>(out, participant);
            } else {
                put_participant<Parameters>(out, participant);
            }
        });
}

template <typename Definition>
constexpr std::size_t count_items(Definition const& definition) {
    item_list counted;
    put_definition(counted, definition);
    return counted.count();
}

/// The items of a type, and an end.
template <auto const& Type>
inline constexpr auto items_of_type = [] {
    std::array<definition_item, count_items(Type) + 1> items{};
    item_list out{items.data()};
    put_definition(out, Type);
    return items;
}();

/// Puts the operation of the last two expressions between them, or before the last expression.
/// Shape:   begins - where each expression in `out` begins that has no operation yet
void put_operation(std::string& out, std::vector<std::size_t>& begins, definition_item const& item,
                   bool as_written);

/// The canonical text of a list that ends with an end.
[[nodiscard]] std::string text_of(definition_item const* items);

} // namespace detail

/// The canonical text of a definition; the same from every compiler.
template <typename Parameters, fixed_string Name, typename Guards, typename... Participants>
[[nodiscard]] std::string canonical_text(
    transaction_definition<Parameters, Name, Guards, Participants...> const& definition) {
    std::vector<detail::definition_item> items(detail::count_items(definition) + 1);
    detail::item_list out{items.data()};
    detail::put_definition(out, definition);
    return detail::text_of(items.data());
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
