// SPDX-License-Identifier: BSL-1.0
// Updates of documents that were not read: a filter that matches only where the record rule would
// answer `applied`, and the change that it would make. They save a single transaction the reads. If
// the filter does not match, the document is read and the record rule decides.
#pragma once

#include <settle/mongodb/records/record_codec.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

struct conditional_update {
    document filter;
    document change;
};

/// Whether the kinds of its fields alone show the server that a document is a record.
[[nodiscard]] inline bool is_recognized_by_kinds(bound_collection const& of) {
    auto const& members = of.record().members;
    for (std::size_t at = 0; at < members.size(); ++at) {
        auto const& access = *members[at].access;
        bool const plain = access.kind == field_kind::integer || access.kind == field_kind::text ||
                           access.kind == field_kind::boolean;
        if (!plain || access.optional || access.nested || of.forms[at].places >= 0) return false;
    }
    return true;
}

/// A field must have its member's kind, and be no array of that kind.
[[nodiscard]] inline document of_kind(field_kind kind) {
    document condition;
    condition.text("$type", kind == field_kind::text      ? "string"
                            : kind == field_kind::boolean ? "bool"
                                                          : "long");
    document array;
    condition.object("$not", array.text("$type", "array"));
    return condition;
}

/// Matches an integer key only in an integer's form. The server also matches a double or a decimal
/// of the same value, but not every such key can be read.
[[nodiscard]] inline document integer_key(std::int64_t key) {
    document kinds;
    document condition;
    condition.integer("$eq", key);
    condition.array("$type", kinds.text("0", "long").text("1", "int"));
    return condition;
}

[[nodiscard]] inline conditional_update
update_of(record_codec const& of, part_request const& request,
          settle::detail::conditional_view const& conditional) {
    conditional_update made;
    auto const key = request.key();
    auto const* const text = std::get_if<std::string_view>(&key);
    if (text != nullptr) made.filter.text("_id", *text);
    else made.filter.object("_id", integer_key(std::get<std::int64_t>(key)));
    document sums;
    for (std::size_t at = 0; at < of.size(); ++at) {
        if (of.is_key(at)) continue;
        auto const& member = of.of().record().members[at];
        document field = of_kind(member.access->kind);
        if (member.integer != settle::detail::member_descriptor::no_integer) {
            field.integer("$gte", conditional.least[member.integer]);
            field.integer("$lte", conditional.most[member.integer]);
            auto const added = conditional.added[member.integer];
            if (added != 0) sums.integer(member.name, added);
        }
        made.filter.object(member.name, field);
    }
    auto const own = encode_mark(of.of(), conditional.own);
    if (request.action == step::confirm) {
        document exactly;
        made.filter.object(marks_field, exactly.object("$eq", own));
        made.change.object("$pull", only(marks_field, mark_key(*request.id, request.part)));
    } else {
        document none;
        document either;
        document no_first;
        either.null("0").array("1", none);
        document nothing;
        made.filter.object(marks_field, nothing.array("$in", either));
        made.filter.object(std::string{marks_field} + ".0", no_first.boolean("$exists", false));
        if (request.action == step::apply) made.change.object("$push", only(marks_field, own));
    }
    if (!sums.empty()) made.change.object("$inc", sums);
    return made;
}

/// The conditional update of a request; nothing if its record must be read.
[[nodiscard]] inline std::optional<conditional_update> conditional_of(record_codec const& of,
                                                                      part_request const& request) {
    std::optional<conditional_update> made;
    if (!of.layout().is_own() || !is_recognized_by_kinds(of.of())) return made;
    settle::detail::conditional(request, [&](settle::detail::conditional_view const& conditional) {
        made = update_of(of, request, conditional);
    });
    // The server would replace the whole document by an empty change.
    if (made && made->change.empty()) made.reset();
    return made;
}

} // namespace mongodb::detail
SETTLE_END
