// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_layout.hpp declares.
#pragma once

#include <settle/mongodb/log/document_reader.hpp>
#include <settle/mongodb/log/entry_layout.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION entry_layout const& own_entries() {
    static entry_layout const own;
    return own;
}

SETTLE_FUNCTION std::string_view entry_layout::name_of(entry_field field) const {
    switch (field) {
    case entry_field::id: return "_id";
    case entry_field::state: return state_field;
    case entry_field::owner: return owner_field;
    case entry_field::modified: return modified_field;
    default: return settle::detail::name_of(field);
    }
}

SETTLE_FUNCTION bool entry_layout::is_parameter(std::string_view) const { return false; }

SETTLE_FUNCTION void entry_layout::append_id(document& to, std::string_view name,
                                             transaction_id const& id) const {
    to.text(name, id);
}

SETTLE_FUNCTION void entry_layout::append_forms(document& to, transaction_id const& id,
                                                std::size_t& count) const {
    append_id(to, std::to_string(count++), id);
}

SETTLE_FUNCTION bool entry_layout::finds(value_view const& stored) const {
    return stored.text().has_value();
}

SETTLE_FUNCTION document entry_layout::readable_ids() const {
    document kinds;
    document condition;
    return std::move(condition.array("$type", kinds.text("0", "string")));
}

SETTLE_FUNCTION document entry_layout::locator_of(link&, transaction_id const& id) const {
    document locator;
    append_id(locator, "_id", id);
    return locator;
}

SETTLE_FUNCTION void entry_layout::append_after(document& query, value_view const& after) const {
    query.object("_id", document{}.copy("$gt", after));
}

SETTLE_FUNCTION std::string entry_layout::name_of(state value) const {
    return std::string{settle::name_of(value)};
}

SETTLE_FUNCTION bool entry_layout::read_state(std::string_view text, state& into) const {
    for (state const value : all_states) {
        if (settle::name_of(value) != text) continue;
        into = value;
        return true;
    }
    return false;
}

SETTLE_FUNCTION void entry_layout::append_states(document& query,
                                                 std::initializer_list<state> states) const {
    if (states.size() == 1) {
        query.text(state_field, settle::name_of(*states.begin()));
        return;
    }
    document names;
    std::size_t count = 0;
    for (state const value : states) {
        names.text(std::to_string(count++), settle::name_of(value));
    }
    query.object(state_field, document{}.array("$in", names));
}

SETTLE_FUNCTION void entry_layout::append_unfinished(document& query) const {
    document names;
    std::size_t count = 0;
    for (state const value : {state::done, state::canceled, state::initial}) {
        names.text(std::to_string(count++), settle::name_of(value));
    }
    query.object(state_field, document{}.array("$nin", names));
}

SETTLE_FUNCTION void entry_layout::append_other_times(std::vector<document>&,
                                                      entry_filter const&) const {}

SETTLE_FUNCTION void entry_layout::append_parameters(document& to, entry_write const& write) const {
    to.object("parameters", document_of_json(write.type->json(write.parameters)));
}

SETTLE_FUNCTION void entry_layout::read_type(document_reader& reader, entry& into) const {
    if (!reader.find("type")) return;
    read_named_type(reader, into);
    if (!into.type.empty()) read_parameters(reader, into);
}

SETTLE_FUNCTION std::string entry_layout::description() const { return {}; }

} // namespace mongodb::detail

SETTLE_END
