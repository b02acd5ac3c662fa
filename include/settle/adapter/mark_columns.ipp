// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_columns.hpp declares.
#pragma once

#include <settle/adapter/mark_columns.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void encode_deltas(std::string& out, record_descriptor const& descriptor,
                                   std::span<std::int64_t const> deltas) {
    out.clear();
    for (auto const& member : descriptor.members) {
        if (member.integer == member_descriptor::no_integer || deltas[member.integer] == 0)
            continue;
        begin_member(out, member.name);
        append_json_integer(out, deltas[member.integer]);
    }
    if (!out.empty()) out += '}';
}

/// Reads the members that a confirm or an undo changes.
[[nodiscard]] SETTLE_FUNCTION error decode_side(std::string_view text, effect_side const& into) {
    if (text.empty()) return {};
    json_reader reader{text};
    if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            auto const position = into.find(name);
            if (!position) {
                reader.fail("the record has no such member");
            } else if (!into.adds()) {
                into.member(*position).access->json->read(reader, into.value(*position),
                                                          json_form::exact);
            } else if (auto* const delta = into.delta(*position)) {
                reader.read_integer(*delta);
            } else {
                reader.fail("nothing can be added to this member");
            }
        }
    }
    return reader.finish() ? error{} : reader.problem();
}

SETTLE_FUNCTION error decode_deltas(record_descriptor const& descriptor, std::string_view text,
                                    std::vector<std::int64_t>& deltas) {
    return decode_side(text, {descriptor, deltas});
}

SETTLE_FUNCTION void encode_mark(record_descriptor const& descriptor, mark_view const& from,
                                 mark_columns& into) {
    into.effect = effect_of(from);
    for (bool const confirms : {true, false}) {
        std::string& side = confirms ? into.confirm : into.undo;
        side.clear();
        for_each_change(
            descriptor, from, confirms,
            [&](std::size_t index, std::int64_t delta) {
                begin_member(side, descriptor.members[index].name);
                append_json_integer(side, delta);
            },
            [&](std::size_t index, void const* value) {
                begin_member(side, descriptor.members[index].name);
                descriptor.members[index].access->json->write(side, value, secrets::written);
            });
        if (!side.empty()) side += '}';
    }
    into.image = from.exclusive.image;
}

SETTLE_FUNCTION error decode_mark(record_descriptor const& descriptor, mark_columns const& from,
                                  void* record, mark_data& into) {
    error problem;
    bool const known = read_effect(descriptor, from.effect, from.image, record, into,
                                   [&](bool confirms, effect_side const& side) {
                                       problem =
                                           decode_side(confirms ? from.confirm : from.undo, side);
                                       return problem.empty();
                                   });
    if (!problem.empty()) return problem;
    if (!known) return {make_error_code(errc::damaged), "the effect has an unknown name"};
    if (record == nullptr) return {};
    auto const member = member_out_of_range(descriptor, record, into);
    if (member.empty()) return {};
    return {make_error_code(errc::damaged),
            "it would take the member '" + std::string{member} + "' out of its range"};
}

} // namespace detail
SETTLE_END
