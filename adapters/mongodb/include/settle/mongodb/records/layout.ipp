// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that layout.hpp declares.
#pragma once

#include <settle/mongodb/records/layout.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION std::string_view
field_among(std::vector<std::pair<std::string, std::string>> const& fields,
            std::string_view member) {
    for (auto const& [of, field] : fields) {
        if (of == member) return field;
    }
    return member;
}

SETTLE_FUNCTION std::string_view entry_layout::field_of(std::string_view member) const {
    return field_among(names.fields, member);
}

SETTLE_FUNCTION std::string_view entry_layout::name_of(entry_field field) const {
    switch (field) {
    case entry_field::id: return "_id";
    case entry_field::state: return names.state;
    case entry_field::owner: return names.application;
    case entry_field::modified: return names.modified;
    default: return settle::detail::name_of(field);
    }
}

SETTLE_FUNCTION void entry_layout::append_id(document& to, std::string_view name,
                                             transaction_id const& id) const {
    if (names.ids == id_kind::number && is_number(id)) to.integer(name, std::stoll(id));
    else if (names.ids == id_kind::object_id && is_object_id(id)) to.object_id(name, id);
    else to.text(name, id);
}

SETTLE_FUNCTION void entry_layout::append_forms(document& to, transaction_id const& id,
                                                std::size_t& count) const {
    if (names.ids == id_kind::any) append_all_forms(to, id, count);
    else append_id(to, std::to_string(count++), id);
}

SETTLE_FUNCTION void entry_layout::append_all_forms(document& to, transaction_id const& id,
                                                    std::size_t& count) {
    auto const next = [&] { return std::to_string(count++); };
    to.text(next(), id);
    if (is_number(id)) to.integer(next(), std::stoll(id));
    if (is_object_id(id)) to.object_id(next(), id);
}

SETTLE_FUNCTION bool entry_layout::finds(value_view const& stored) const {
    auto const id = stored.id();
    if (!id) return false;
    if (names.ids == id_kind::any) return !stored.integer() || is_number(*id);
    document same;
    append_id(same, "_id", *id);
    auto const looked_for = same.find("_id");
    return looked_for->type() == stored.type() ||
           (looked_for->integer() && looked_for->integer() == stored.integer());
}

SETTLE_FUNCTION document entry_layout::readable_ids() const {
    document kinds;
    kinds.text("0", "string");
    if (is_tutorial()) {
        kinds.text("1", "int").text("2", "long").text("3", "double").text("4", "objectId");
    }
    document made;
    made.array("$type", kinds);
    return made;
}

SETTLE_FUNCTION std::string entry_layout::name_of(state value) const {
    std::string name{settle::name_of(value)};
    if (value == state::applied) name = names.applied;
    if (value == state::canceled) name = names.canceled;
    return spelled(std::move(name), names.states);
}

SETTLE_FUNCTION bool entry_layout::read_state(std::string_view text, state& into) {
    for (auto const& [name, value] : all_state_names) {
        for (auto const how : all_spellings) {
            if (spelled(std::string{name}, how) != text) continue;
            into = value;
            return true;
        }
    }
    return false;
}

SETTLE_FUNCTION void entry_layout::append_spellings(document& to, state value, std::size_t& count) {
    for (auto const& [name, of] : all_state_names) {
        if (of != value) continue;
        for (auto const how : all_spellings) {
            to.text(std::to_string(count++), spelled(std::string{name}, how));
        }
    }
}

SETTLE_FUNCTION tutorial_layout entry_layout::own_names() {
    tutorial_layout own;
    own.transactions = "settle_entries";
    own.modified = "modified";
    own.application = "owner";
    own.ids = id_kind::text;
    return own;
}

SETTLE_FUNCTION std::string entry_layout::spelled(std::string name, spelling how) {
    for (std::size_t at = 0; at < name.size(); ++at) {
        bool const upper = how == spelling::upper || (how == spelling::capitalised && at == 0);
        if (upper) name[at] = to_upper(name[at]);
    }
    return name;
}

SETTLE_FUNCTION bool entry_layout::is_number(std::string_view id) noexcept {
    if (id == "0") return true;
    if (id.starts_with('-')) id.remove_prefix(1);
    return !id.empty() && id.size() <= 18 && id.front() != '0' &&
           id.find_first_not_of("0123456789") == std::string_view::npos;
}

SETTLE_FUNCTION bool entry_layout::is_object_id(std::string_view id) noexcept {
    return id.size() == 24 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

SETTLE_FUNCTION std::string_view record_layout::field_of(std::string_view member) const {
    return fields.empty() ? member : field_among(fields, member);
}

SETTLE_FUNCTION void append_after(document& query, std::string const& field,
                                  value_view const& after, char const* how) {
    document all;
    std::size_t count = 0;
    all.object_at(count++, only(field, document{}.copy(how, after)));
    bool const is_id = after.type() == BSON_TYPE_OID;
    bool const is_text = after.type() == BSON_TYPE_UTF8;
    for (auto const* const later : {"string", "objectId"}) {
        bool const texts = std::string_view{later} == "string";
        if (is_id || (texts && is_text)) continue;
        all.object_at(count++, only(field, document{}.text("$type", later)));
    }
    document either;
    either.array("$or", all);
    document both;
    query.array("$and", both.object_at(0, either));
}

} // namespace mongodb::detail

SETTLE_END
