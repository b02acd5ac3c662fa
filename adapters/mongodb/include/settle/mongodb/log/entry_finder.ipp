// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_finder.hpp declares.
#pragma once

#include <settle/mongodb/log/entry_finder.hpp>

#include <vector>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION document entry_finder::filter_of(transaction_id const& id) const {
    document filter;
    if (!layout_->has_several_forms) {
        layout_->append_id(filter, "_id", id);
        return filter;
    }
    document forms;
    std::size_t count = 0;
    layout_->append_forms(forms, id, count);
    document among;
    return only("_id", among.array("$in", forms));
}

SETTLE_FUNCTION document entry_finder::filter_of(transaction_id const& id,
                                                 transition const& change) const {
    document filter = filter_of(id);
    layout_->append_states(filter, {change.from});
    append_number(filter, "epoch", change.from_epoch);
    append_number(filter, "revision", change.from_revision);
    return filter;
}

SETTLE_FUNCTION void entry_finder::append_number(document& filter, std::string_view name,
                                                 std::uint64_t number) {
    if (number != 0) {
        filter.integer(name, static_cast<std::int64_t>(number));
        return;
    }
    document none;
    document among;
    filter.object(name, among.array("$in", none.integer("0", 0).null("1")));
}

SETTLE_FUNCTION document entry_finder::query_of(entry_filter const& filter,
                                                document const& after) const {
    document query;
    if (auto const id = after.find("_id")) layout_->append_after(query, *id);
    else query.object("_id", layout_->readable_ids());
    append_conditions(query, filter);
    return query;
}

SETTLE_FUNCTION document entry_finder::query_of_unreadable(entry_filter const& filter) const {
    document query;
    query.object("_id", only("$not", layout_->readable_ids()));
    append_conditions(query, filter);
    return query;
}

SETTLE_FUNCTION document entry_finder::query_of_finished(timestamp before,
                                                         std::int64_t passed) const {
    document query;
    layout_->append_states(query, {state::done, state::canceled});
    document created;
    document modified;
    created.date("$gte", passed).date("$lt", count_of(before));
    query.object("created", created);
    query.object(layout_->modified_field, modified.date("$lt", count_of(before)));
    return query;
}

SETTLE_FUNCTION document entry_finder::options_for_match() {
    document fields;
    fields.integer("state", 1).integer("epoch", 1).integer("revision", 1);
    return only("projection", fields);
}

SETTLE_FUNCTION bool entry_finder::matches(document const& stored, transition const& change) {
    auto const state = stored.find("state");
    auto const number = stored.find("epoch");
    auto const revision = stored.find("revision");
    return state && state->text() == settle::name_of(change.from) && number &&
           number->integer() == static_cast<std::int64_t>(change.from_epoch) &&
           (revision ? revision->integer() : 0) == change.from_revision;
}

SETTLE_FUNCTION void entry_finder::append_conditions(document& query,
                                                     entry_filter const& filter) const {
    if (filter.state) layout_->append_states(query, {*filter.state});
    else if (filter.unfinished) layout_->append_unfinished(query);
    bool const open = filter.state ? !is_final(*filter.state) : filter.unfinished;
    if (open && layout_->is_own) query.boolean("open", true);
    if (filter.before) append_stalled(query, filter);
}

SETTLE_FUNCTION void entry_finder::append_stalled(document& query,
                                                  entry_filter const& filter) const {
    std::vector<document> any;
    auto const by = [&](std::string_view name, document const& condition) {
        any.push_back(only(name, condition));
    };
    auto const& modified = layout_->modified_field;
    auto const before = count_of(*filter.before);
    by(modified, document{}.date("$lte", before));
    if (filter.ahead_of) {
        by(modified, document{}.date("$gt", count_of(*filter.ahead_of)));
        by("created", document{}.date("$gt", count_of(*filter.ahead_of)));
    }
    layout_->append_other_times(any, filter);
    document alternatives;
    for (std::size_t index = 0; index < any.size(); ++index) {
        alternatives.object_at(index, any[index]);
    }
    query.array("$or", alternatives);
}

} // namespace mongodb::detail

SETTLE_END
