// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that layout.hpp declares.
#pragma once

#include <settle/mongodb/records/layout.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION std::string_view record_layout::field_of(std::string_view member) const {
    return fields.empty() ? member : field_among(fields, member);
}

SETTLE_FUNCTION std::string_view
field_among(std::vector<std::pair<std::string, std::string>> const& fields,
            std::string_view member) {
    for (auto const& [name, field] : fields) {
        if (name == member) return field;
    }
    return member;
}

SETTLE_FUNCTION bool is_number(std::string_view id) noexcept {
    if (id == "0") return true;
    if (id.starts_with('-')) id.remove_prefix(1);
    return !id.empty() && id.size() <= 18 && id.front() != '0' &&
           id.find_first_not_of("0123456789") == std::string_view::npos;
}

SETTLE_FUNCTION bool is_object_id(std::string_view id) noexcept {
    return id.size() == 24 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

SETTLE_FUNCTION void append_all_forms(document& to, std::string const& id, std::size_t& count) {
    auto const next = [&] { return std::to_string(count++); };
    to.text(next(), id);
    if (is_number(id)) to.integer(next(), std::stoll(id));
    if (is_object_id(id)) to.object_id(next(), id);
}

SETTLE_FUNCTION void append_after(document& query, std::string const& field,
                                  value_view const& after, char const* comparison) {
    document kinds;
    std::size_t count = 0;
    kinds.object_at(count++, only(field, document{}.copy(comparison, after)));
    bool const is_id = after.type() == BSON_TYPE_OID;
    bool const is_text = after.type() == BSON_TYPE_UTF8;
    for (auto const* const later : {"string", "objectId"}) {
        bool const texts = std::string_view{later} == "string";
        if (is_id || (texts && is_text)) continue;
        kinds.object_at(count++, only(field, document{}.text("$type", later)));
    }
    document either;
    either.array("$or", kinds);
    document both;
    query.array("$and", both.object_at(0, either));
}

} // namespace mongodb::detail

SETTLE_END
