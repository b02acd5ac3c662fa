// SPDX-License-Identifier: BSL-1.0
// The effect of a mark on its record, as the columns of its row: readable JSON.
//
//   effect   confirm            undo                image
//   add      {"balance":100}    {"balance":-100}                 numbers that are added
//   set      {"paid":true}      {"paid":false}      {…}          values that are put in place
//   create   {…}                {…}                              an undo erases the record
//   erase                       {…}                 {…}          a confirm erases the record
#pragma once

#include <settle/protocol/mark.hpp>
#include <settle/store/codec.hpp>

SETTLE_BEGIN
namespace sqlite {

/// The columns of a mark's effect. Empty ones are NULL.
struct mark_columns {
    std::string_view effect{};
    std::string confirm{};
    std::string undo{};
    std::string image{};
};

namespace detail {

inline constexpr std::string_view effect_names[]{"add", "set", "create", "erase",
                                                 "create and erase"};

template <Described Record>
void encode_deltas(std::string& out, integers<Record> const& deltas) {
    out.clear();
    for_each_integer<Record>([&](auto m, auto position) {
        if (deltas[position] == 0) return;
        out += out.empty() ? '{' : ',';
        append_json_text(out, m.name);
        out += ':';
        append_json_integer(out, deltas[position]);
    });
    if (!out.empty()) out += '}';
}

template <Described Record>
void encode_fields(std::string& out, Record const& record, std::uint64_t fields) {
    out.clear();
    for_each_member<Record>([&](auto m) {
        if ((fields >> m.index & 1U) == 0) return;
        out += out.empty() ? '{' : ',';
        append_json_text(out, m.name);
        out += ':';
        append_json(out, record.*decltype(m)::pointer);
    });
    if (!out.empty()) out += '}';
}

/// Reads an object whose members are among the record's; `read(member)` reads one.
template <Described Record, typename Read>
[[nodiscard]] error read_members(std::string_view text, Read&& read) {
    if (text.empty()) return {};
    json_reader reader{text};
    if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            bool known = false;
            for_each_member<Record>([&](auto m) {
                if (known || name != m.name) return;
                known = true;
                read(reader, m);
            });
            if (!known) reader.fail("the record has no such member");
        }
    }
    return reader.finish() ? error{} : reader.problem();
}

template <Described Record>
[[nodiscard]] error decode_deltas(std::string_view text, integers<Record>& deltas) {
    return read_members<Record>(text, [&](json_reader& reader, auto m) {
        using found = decltype(m);
        if constexpr (IntegerField<typename found::type>) {
            reader.read_integer(deltas[integer_position<Record, found::index>]);
        } else {
            reader.fail("nothing can be added to this member");
        }
    });
}

/// Escrow let no such mark in: it was changed since, or its record was changed past it.
template <Described Record>
[[nodiscard]] error check_range(Record const& record, integers<Record> const& deltas) {
    auto const member = member_out_of_range(record, deltas);
    if (member.empty()) return {};
    return {make_error_code(errc::damaged),
            "it would take the member '" + std::string{member} + "' out of its range"};
}

template <Described Record>
[[nodiscard]] error decode_sums(std::string_view confirm, std::string_view undo,
                                std::optional<Record> const& record, mark<Record>& into) {
    auto problem = decode_deltas<Record>(confirm, into.confirm_delta);
    if (problem.empty()) problem = decode_deltas<Record>(undo, into.undo_delta);
    if (problem.empty() && record) problem = check_range(*record, into.confirm_delta);
    if (problem.empty() && record) problem = check_range(*record, into.undo_delta);
    return problem;
}

template <Described Record>
[[nodiscard]] error decode_fields(std::string_view text, Record& record, std::uint64_t& fields) {
    return read_members<Record>(text, [&](json_reader& reader, auto m) {
        fields |= std::uint64_t{1} << m.index;
        read_json(reader, record.*decltype(m)::pointer);
    });
}

} // namespace detail

/// Shape:   into - may hold another mark's columns, whose room is used again
template <Described Record>
void encode_mark(mark<Record> const& from, mark_columns& into) {
    into.image.clear();
    if (!from.is_exclusive()) {
        into.effect = detail::effect_names[0];
        detail::encode_deltas<Record>(into.confirm, from.confirm_delta);
        detail::encode_deltas<Record>(into.undo, from.undo_delta);
        return;
    }
    auto const& effect = *from.exclusive;
    std::size_t const name = effect.created ? (effect.erases ? 4U : 2U) : (effect.erases ? 3U : 1U);
    into.effect = detail::effect_names[name];
    detail::encode_fields(into.confirm, effect.confirmed, effect.confirm_fields);
    detail::encode_fields(into.undo, effect.undone, effect.undo_fields);
    into.image = effect.image;
}

template <Described Record>
[[nodiscard]] mark_columns encode_mark(mark<Record> const& from) {
    mark_columns made;
    encode_mark(from, made);
    return made;
}

/// Reads what encode_mark wrote into a mark.
/// Shape:   record - as it stands under the mark; an exclusive effect keeps the members that it
///          changes only, and nobody else changes the rest while the mark is there
/// Errors:  errc::damaged, with the place in the JSON, or the member that could not take a sum
template <Described Record>
[[nodiscard]] error decode_mark(std::string_view effect, std::string_view confirm,
                                std::string_view undo, std::string_view image,
                                std::optional<Record> const& record, mark<Record>& into) {
    auto const* const end = std::end(detail::effect_names);
    auto const* const name = std::find(std::begin(detail::effect_names), end, effect);
    if (name == end) return {make_error_code(errc::damaged), "the effect is none that is known"};
    if (name == detail::effect_names) return detail::decode_sums(confirm, undo, record, into);
    auto made = std::make_shared<exclusive_effect<Record>>();
    made->created = effect.starts_with("create");
    made->erases = effect.ends_with("erase");
    made->image = image;
    if (record) made->undone = made->confirmed = *record;
    auto problem = detail::decode_fields(confirm, made->confirmed, made->confirm_fields);
    if (problem.empty()) {
        problem = detail::decode_fields(undo, made->undone, made->undo_fields);
    }
    into.exclusive = std::move(made);
    return problem;
}

} // namespace sqlite
SETTLE_END
