// SPDX-License-Identifier: BSL-1.0
// Marks as readable elements of a record's array pendingTransactions:
//
//   { id: "…", part: 0, line: 0, epoch: 5, effect: "add", confirm: {balance: 100}, undo: {} }
//
// adapter/mark_effect.hpp shows the effects.
#pragma once

#include <settle/adapter/any_slot.hpp>
#include <settle/adapter/mark_effect.hpp>
#include <settle/mongodb/records/field_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::any_slot;
using settle::detail::mark_data;
using settle::detail::mark_view;
using settle::detail::record_changes;
using settle::detail::record_descriptor;

/// Matches one mark in its record's array.
[[nodiscard]] inline document mark_key(transaction_id const& id, part_number part) {
    document made;
    made.text("id", id).integer("part", part.participant).integer("line", part.line);
    return made;
}

[[nodiscard]] inline document encode_mark(record_descriptor const& record_type,
                                          mark_view const& from) {
    document encoded = mark_key(*from.id, from.part);
    encoded.integer("epoch", static_cast<std::int64_t>(from.epoch_number));
    encoded.text("effect", settle::detail::effect_of(from));
    for (bool const confirms : {true, false}) {
        document side;
        auto const& members = record_type.members;
        settle::detail::for_each_change(
            record_type, from, confirms,
            [&](std::size_t index, std::int64_t delta) {
                side.integer(members[index].name, delta);
            },
            [&](std::size_t index, void const* value) {
                append_value(side, members[index].name, *members[index].access, value);
            });
        encoded.object(confirms ? "confirm" : "undo", side);
    }
    if (!from.exclusive.image.empty()) encoded.text("image", from.exclusive.image);
    return encoded;
}

/// Reads the identity of a mark; false when it is no mark of settle.
[[nodiscard]] inline bool read_mark_key(value_view const& from, mark_data& into) {
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

/// Reads the members that a confirm or an undo changes. Returns the first problem.
[[nodiscard]] inline std::string read_side(record_descriptor const& record_type,
                                           value_view const& from,
                                           settle::detail::effect_side const& into) {
    std::string problem;
    from.for_each([&](value_view const& value) {
        auto const position = into.find(value.name());
        std::string_view wrong;
        if (!position) {
            problem = "the record has no '" + std::string{value.name()} + "'";
        } else if (!into.adds()) {
            wrong =
                read_value(value, *record_type.members[*position].access, into.value(*position));
        } else if (auto* const delta = into.delta(*position)) {
            wrong = read_field(value, *delta);
        } else {
            wrong = "is nothing that can be added to";
        }
        if (!wrong.empty()) {
            problem = "its '" + std::string{value.name()} + "' " + std::string{wrong};
        }
        return problem.empty();
    });
    return problem;
}

/// Reads the output of encode_mark. Returns the first problem, or an empty text.
/// Shape:   record - the record that holds the mark
[[nodiscard]] inline std::string decode_mark(record_descriptor const& record_type,
                                             value_view const& from, void* record,
                                             mark_data& into) {
    auto const text = [&](char const* name) {
        auto const found = from.find(name);
        return (found ? found->text() : std::nullopt).value_or(std::string_view{});
    };
    if (!read_mark_key(from, into)) return "it is no mark of settle's";
    auto const confirm = from.find("confirm");
    auto const undo = from.find("undo");
    if (!confirm || !undo) return "its 'confirm' or 'undo' is missing";
    std::string problem;
    bool const known = settle::detail::read_effect(
        record_type, text("effect"), text("image"), record, into,
        [&](bool confirms, settle::detail::effect_side const& side) {
            problem = read_side(record_type, confirms ? *confirm : *undo, side);
            return problem.empty();
        });
    if (!problem.empty()) return problem;
    if (!known) return "its effect is unknown";
    auto const member = settle::detail::member_out_of_range(record_type, record, into);
    if (member.empty()) return {};
    return "it would take '" + std::string{member} + "' out of its range";
}

} // namespace mongodb::detail
SETTLE_END
