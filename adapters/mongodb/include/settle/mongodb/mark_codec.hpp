// SPDX-License-Identifier: BSL-1.0
// Marks as readable elements of a record's array pendingTransactions:
//
//   { id: "…", part: 0, line: 0, epoch: 5, effect: "add", confirm: {balance: 100}, undo: {} }
//
//   effect   confirm              undo                  image
//   add      {balance: 100}       {balance: -100}                  numbers that are added
//   set      {paid: true}         {paid: false}         "{…}"      values that are put in place
//   create   {…}                  {…}                              an undo erases the record
//   erase    {}                   {…}                   "{…}"      a confirm erases the record
#pragma once

#include <settle/mongodb/field_codec.hpp>
#include <settle/protocol/mark.hpp>
#include <settle/store/error.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

inline constexpr char const* marks_field = "pendingTransactions";

inline constexpr std::string_view effect_names[]{"add", "set", "create", "erase",
                                                 "create and erase"};

/// Matches one mark in its record's array.
[[nodiscard]] document mark_key(transaction_id const& id, part_number part);

template <Described Record>
[[nodiscard]] document deltas_document(integers<Record> const& deltas) {
    document made;
    for_each_integer<Record>([&](auto m, auto position) {
        if (deltas[position] != 0) made.integer(m.name, deltas[position]);
    });
    return made;
}

template <Described Record>
[[nodiscard]] document fields_document(Record const& record, std::uint64_t fields) {
    document made;
    for_each_member<Record>([&](auto m) {
        if ((fields >> m.index & 1U) == 0) return;
        append_field(made, m.name, record.*decltype(m)::pointer);
    });
    return made;
}

template <Described Record>
[[nodiscard]] document encode_mark(mark<Record> const& from) {
    document made = mark_key(from.id, from.part);
    made.integer("epoch", static_cast<std::int64_t>(from.epoch_number));
    if (!from.is_exclusive()) {
        made.text("effect", effect_names[0]);
        made.object("confirm", deltas_document<Record>(from.confirm_delta));
        made.object("undo", deltas_document<Record>(from.undo_delta));
        return made;
    }
    auto const& effect = *from.exclusive;
    std::size_t const name = effect.created ? (effect.erases ? 4U : 2U) : (effect.erases ? 3U : 1U);
    made.text("effect", effect_names[name]);
    made.object("confirm", fields_document(effect.confirmed, effect.confirm_fields));
    made.object("undo", fields_document(effect.undone, effect.undo_fields));
    if (!effect.image.empty()) made.text("image", effect.image);
    return made;
}

/// Reads the members of a document that belong to the record: `read(value, member)` reads one
/// member and returns its problem, if any.
template <Described Record, typename Read>
[[nodiscard]] std::string read_members(value_view const& from, Read&& read) {
    std::string problem;
    from.for_each([&](value_view const& value) {
        bool known = false;
        for_each_member<Record>([&](auto m) {
            if (known || value.name() != m.name) return;
            known = true;
            std::string_view const wrong = read(value, m);
            if (!wrong.empty()) problem = "its '" + std::string{m.name} + "' " + std::string{wrong};
        });
        if (!known) problem = "the record has no '" + std::string{value.name()} + "'";
        return problem.empty();
    });
    return problem;
}

template <Described Record>
[[nodiscard]] std::string read_deltas(value_view const& from, Record const& record,
                                      integers<Record>& deltas) {
    auto problem = read_members<Record>(from, [&](value_view const& value, auto m) {
        using found = decltype(m);
        if constexpr (IntegerField<typename found::type>) {
            return read_field(value, deltas[integer_position<Record, found::index>]);
        } else {
            return std::string_view{"is nothing that can be added to"};
        }
    });
    if (!problem.empty()) return problem;
    // Escrow admits no such mark: the mark or its record was changed by another program.
    auto const member = member_out_of_range(record, deltas);
    if (member.empty()) return {};
    return "it would take '" + std::string{member} + "' out of its range";
}

template <Described Record>
[[nodiscard]] std::string read_fields(value_view const& from, Record& record,
                                      std::uint64_t& fields) {
    return read_members<Record>(from, [&](value_view const& value, auto m) {
        fields |= std::uint64_t{1} << m.index;
        return read_field(value, record.*decltype(m)::pointer);
    });
}

/// Reads the identity of a mark; false when it is no mark of settle.
template <Described Record>
[[nodiscard]] bool read_mark_key(value_view const& from, mark<Record>& into) {
    auto const number = [&](char const* name, auto& value) {
        auto const found = from.find(name);
        return found && read_field(*found, value).empty();
    };
    std::int64_t epoch_number = 0;
    if (!number("id", into.id) || !number("part", into.part.participant) ||
        !number("line", into.part.line) || !number("epoch", epoch_number) || epoch_number < 0) {
        return false;
    }
    into.epoch_number = static_cast<epoch>(epoch_number);
    return true;
}

/// Reads the output of encode_mark. Returns the first problem, or an empty text.
/// Shape:   record - the record that holds the mark
template <Described Record>
[[nodiscard]] std::string decode_mark(value_view const& from, Record const& record,
                                      mark<Record>& into) {
    auto const text = [&](char const* name) {
        auto const found = from.find(name);
        return found ? found->text() : std::nullopt;
    };
    if (!read_mark_key(from, into)) return "it is no mark of settle's";
    auto const confirm = from.find("confirm");
    auto const undo = from.find("undo");
    if (!confirm || !undo) return "its 'confirm' or 'undo' is missing";
    auto const* const end = std::end(effect_names);
    auto const* const name =
        std::find(std::begin(effect_names), end, text("effect").value_or(std::string_view{}));
    if (name == end) return "its effect is none that is known";
    if (name == effect_names) {
        auto problem = read_deltas(*confirm, record, into.confirm_delta);
        if (problem.empty()) problem = read_deltas(*undo, record, into.undo_delta);
        return problem;
    }
    auto made = std::make_shared<exclusive_effect<Record>>();
    made->created = name->starts_with("create");
    made->erases = name->ends_with("erase");
    made->image = text("image").value_or(std::string_view{});
    made->undone = made->confirmed = record;
    auto problem = read_fields(*confirm, made->confirmed, made->confirm_fields);
    if (problem.empty()) problem = read_fields(*undo, made->undone, made->undo_fields);
    into.exclusive = std::move(made);
    return problem;
}

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/mark_codec.ipp>
#endif
