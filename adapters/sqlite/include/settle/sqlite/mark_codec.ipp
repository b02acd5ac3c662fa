// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that mark_codec.hpp declares.
#pragma once

#include <settle/sqlite/mark_codec.hpp>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

SETTLE_FUNCTION void begin_member(std::string& out, std::string_view name) {
    out += out.empty() ? '{' : ',';
    append_json_text(out, name);
    out += ':';
}

SETTLE_FUNCTION void encode_deltas(std::string& out, record_descriptor const& of,
                                   std::span<std::int64_t const> deltas) {
    out.clear();
    for (auto const& one : of.members) {
        if (one.integer == member_descriptor::no_integer || deltas[one.integer] == 0) continue;
        begin_member(out, one.name);
        append_json_integer(out, deltas[one.integer]);
    }
    if (!out.empty()) out += '}';
}

SETTLE_FUNCTION void encode_fields(std::string& out, record_descriptor const& of,
                                   void const* record, std::uint64_t fields) {
    out.clear();
    for (std::size_t at = 0; at < of.members.size(); ++at) {
        if ((fields >> at & 1U) == 0) continue;
        begin_member(out, of.members[at].name);
        of.members[at].access->json->write(out, of.member(const_cast<void*>(record), at),
                                           secrets::written);
    }
    if (!out.empty()) out += '}';
}

SETTLE_FUNCTION error decode_deltas(record_descriptor const& of, std::string_view text,
                                    std::vector<std::int64_t>& deltas) {
    deltas.assign(of.integers, 0);
    return read_members(of, text, [&](json_reader& reader, std::size_t at) {
        auto const position = of.members[at].integer;
        if (position == member_descriptor::no_integer) {
            reader.fail("nothing can be added to this member");
        } else {
            reader.read_integer(deltas[position]);
        }
    });
}

SETTLE_FUNCTION error check_range(record_descriptor const& of, void* record,
                                  std::span<std::int64_t const> deltas) {
    auto const member = settle::detail::member_out_of_range(of, record, deltas);
    if (member.empty()) return {};
    return {make_error_code(errc::damaged),
            "it would take the member '" + std::string{member} + "' out of its range"};
}

SETTLE_FUNCTION error decode_sums(record_descriptor const& of, std::string_view confirm,
                                  std::string_view undo, void* record, mark_data& into) {
    auto problem = decode_deltas(of, confirm, into.confirm);
    if (problem.empty()) problem = decode_deltas(of, undo, into.undo);
    if (problem.empty() && record != nullptr) problem = check_range(of, record, into.confirm);
    if (problem.empty() && record != nullptr) problem = check_range(of, record, into.undo);
    return problem;
}

SETTLE_FUNCTION error decode_fields(record_descriptor const& of, std::string_view text,
                                    void* record, std::uint64_t& fields) {
    return read_members(of, text, [&](json_reader& reader, std::size_t at) {
        fields |= std::uint64_t{1} << at;
        of.members[at].access->json->read(reader, of.member(record, at), json_form::exact);
    });
}

SETTLE_FUNCTION void encode_mark(record_descriptor const& of, mark_view const& from,
                                 mark_columns& into) {
    into.image.clear();
    if (!from.is_exclusive) {
        into.effect = effect_names[0];
        encode_deltas(into.confirm, of, from.confirm);
        encode_deltas(into.undo, of, from.undo);
        return;
    }
    auto const& effect = from.exclusive;
    std::size_t const name = effect.created ? (effect.erases ? 4U : 2U) : (effect.erases ? 3U : 1U);
    into.effect = effect_names[name];
    encode_fields(into.confirm, of, effect.confirmed, effect.confirm_fields);
    encode_fields(into.undo, of, effect.undone, effect.undo_fields);
    into.image = effect.image;
}

SETTLE_FUNCTION error decode_mark(record_descriptor const& of, mark_columns const& from,
                                  void* record, mark_data& into) {
    auto const* const end = std::end(effect_names);
    auto const* const name = std::find(std::begin(effect_names), end, from.effect);
    if (name == end) return {make_error_code(errc::damaged), "the effect has an unknown name"};
    if (name == effect_names) return decode_sums(of, from.confirm, from.undo, record, into);
    exclusive_draft made = of.draft_exclusive(record);
    *made.created = from.effect.starts_with("create");
    *made.erases = from.effect.ends_with("erase");
    *made.image = from.image;
    auto problem = decode_fields(of, from.confirm, made.confirmed, *made.confirm_fields);
    if (problem.empty()) {
        problem = decode_fields(of, from.undo, made.undone, *made.undo_fields);
    }
    into.exclusive = std::move(made.effect);
    return problem;
}

} // namespace detail
} // namespace sqlite
SETTLE_END
