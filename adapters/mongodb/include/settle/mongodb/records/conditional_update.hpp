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
[[nodiscard]] inline bool is_recognized_by_kinds(record_descriptor const& record) {
    auto const& members = record.members;
    for (std::size_t index = 0; index < members.size(); ++index) {
        auto const& access = *members[index].access;
        bool const plain = access.kind == field_kind::integer || access.kind == field_kind::text ||
                           access.kind == field_kind::boolean;
        if (!plain || access.optional || access.nested || members[index].places >= 0) return false;
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
update_of(record_codec const& codec, part_request const& request,
          settle::detail::conditional_view const& conditional) {
    conditional_update update;
    auto const key = request.key();
    auto const* const text = std::get_if<std::string_view>(&key);
    if (text != nullptr) update.filter.text("_id", *text);
    else update.filter.object("_id", integer_key(std::get<std::int64_t>(key)));
    document sums;
    for (std::size_t index = 0; index < codec.size(); ++index) {
        if (codec.is_key(index)) continue;
        auto const& member = codec.of().record->members[index];
        document field = of_kind(member.access->kind);
        if (member.integer != settle::detail::member_descriptor::no_integer) {
            field.integer("$gte", conditional.least[member.integer]);
            field.integer("$lte", conditional.most[member.integer]);
            auto const added = conditional.added[member.integer];
            if (added != 0) sums.integer(member.name, added);
        }
        update.filter.object(member.name, field);
    }
    auto const own = encode_mark(*codec.of().record, conditional.own);
    if (request.action == step::confirm) {
        document exactly;
        update.filter.object(marks_field, exactly.object("$eq", own));
        update.change.object("$pull", only(marks_field, mark_key(*request.id, request.part)));
    } else {
        document none;
        document either;
        document no_first;
        either.null("0").array("1", none);
        document nothing;
        update.filter.object(marks_field, nothing.array("$in", either));
        update.filter.object(std::string{marks_field} + ".0", no_first.boolean("$exists", false));
        if (request.action == step::apply) update.change.object("$push", only(marks_field, own));
    }
    if (!sums.empty()) update.change.object("$inc", sums);
    return update;
}

/// The conditional update of a request; nothing if its record must be read.
[[nodiscard]] inline std::optional<conditional_update> conditional_of(record_codec const& codec,
                                                                      part_request const& request) {
    std::optional<conditional_update> update;
    if (!codec.layout().is_own() || !is_recognized_by_kinds(*codec.of().record)) return update;
    settle::detail::conditional(request, [&](settle::detail::conditional_view const& conditional) {
        update = update_of(codec, request, conditional);
    });
    // The server would replace the whole document by an empty change.
    if (update && update->change.empty()) update.reset();
    return update;
}

} // namespace mongodb::detail
SETTLE_END
