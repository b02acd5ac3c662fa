// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that entry_finder.hpp declares.
#pragma once

#include <settle/mongodb/log/entry_finder.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION document entry_finder::filter_of(transaction_id const& id) const {
    document filter;
    if (layout_.names.ids != id_kind::any) {
        layout_.append_id(filter, "_id", id);
        return filter;
    }
    return filter_of_any(id);
}

SETTLE_FUNCTION document entry_finder::filter_of_any(transaction_id const& id) {
    document forms;
    std::size_t count = 0;
    entry_layout::append_all_forms(forms, id, count);
    document among;
    return only("_id", among.array("$in", forms));
}

SETTLE_FUNCTION document entry_finder::filter_of(transaction_id const& id,
                                                 transition const& change) const {
    document filter = filter_of(id);
    append_states(filter, {change.from});
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
    if (auto const id = after.find("_id")) append_after(query, *id);
    else query.object("_id", layout_.readable_ids());
    append_conditions(query, filter);
    return query;
}

SETTLE_FUNCTION document entry_finder::query_of_unreadable(entry_filter const& filter) const {
    document query;
    query.object("_id", only("$not", layout_.readable_ids()));
    append_conditions(query, filter);
    return query;
}

SETTLE_FUNCTION document entry_finder::query_of_finished(timestamp before,
                                                         std::int64_t passed) const {
    document query;
    append_states(query, {state::done, state::canceled});
    document created;
    document modified;
    created.date("$gte", passed).date("$lt", count_of(before));
    query.object("created", created);
    query.object(names().modified, modified.date("$lt", count_of(before)));
    return query;
}

SETTLE_FUNCTION document entry_finder::options_for_match() {
    document fields;
    fields.integer("state", 1).integer("epoch", 1).integer("revision", 1);
    return only("projection", fields);
}

SETTLE_FUNCTION bool entry_finder::matches(document const& found, transition const& change) {
    auto const state = found.find("state");
    auto const number = found.find("epoch");
    auto const revision = found.find("revision");
    return state && state->text() == settle::name_of(change.from) && number &&
           number->integer() == static_cast<std::int64_t>(change.from_epoch) &&
           (revision ? revision->integer() : 0) == change.from_revision;
}

SETTLE_FUNCTION document entry_finder::shown_id(transaction_id const& id) {
    bson_error_t ignored{};
    if (!id.starts_with("{ \"_id\" : ")) return {};
    bson_t* const made = bson_new_from_json(reinterpret_cast<std::uint8_t const*>(id.data()),
                                            static_cast<ssize_t>(id.size()), &ignored);
    return made == nullptr ? document{} : document::adopt(made);
}

SETTLE_FUNCTION void entry_finder::append_conditions(document& query,
                                                     entry_filter const& filter) const {
    if (filter.state) append_states(query, {*filter.state});
    else if (filter.unfinished) append_unfinished(query);
    bool const open = filter.state ? !is_final(*filter.state) : filter.unfinished;
    if (open && !layout_.is_tutorial()) query.boolean("open", true);
    if (filter.before) append_stalled(query, filter);
}

SETTLE_FUNCTION void entry_finder::append_stalled(document& query,
                                                  entry_filter const& filter) const {
    std::vector<document> any;
    auto const by = [&](std::string_view name, document const& condition) {
        any.push_back(only(name, condition));
    };
    auto const& modified = names().modified;
    auto const before = count_of(*filter.before);
    by(modified, document{}.date("$lte", before));
    if (filter.ahead_of) {
        by(modified, document{}.date("$gt", count_of(*filter.ahead_of)));
        by("created", document{}.date("$gt", count_of(*filter.ahead_of)));
    }
    if (layout_.is_tutorial()) append_other_times(any, filter);
    document all;
    for (std::size_t at = 0; at < any.size(); ++at) all.object_at(at, any[at]);
    query.array("$or", all);
}

SETTLE_FUNCTION void entry_finder::append_other_times(std::vector<document>& any,
                                                      entry_filter const& filter) const {
    auto const& modified = names().modified;
    auto const before = count_of(*filter.before);
    any.push_back(only(modified, document{}.timestamp("$lte", seconds_of(before))));
    any.push_back(only(modified, document{}.integer("$lte", before)));
    document times;
    times.text("0", "date").text("1", "timestamp").text("2", "number");
    any.push_back(only(modified, only("$not", document{}.array("$type", times))));
    if (!filter.ahead_of) return;
    auto const ahead = count_of(*filter.ahead_of);
    any.push_back(only(modified, document{}.timestamp("$gt", seconds_of(ahead))));
    any.push_back(only(modified, document{}.integer("$gt", ahead)));
    std::string const last = settle::detail::hex_of(seconds_of(ahead)).substr(8);
    document late;
    late.object("_id", document{}.object_id("$gt", last + std::string(16, 'f')));
    any.push_back(std::move(late.object("created", document{}.null("$eq"))));
}

SETTLE_FUNCTION std::uint32_t entry_finder::seconds_of(std::int64_t count) {
    constexpr std::int64_t last = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count / 1000, 0, last));
}

SETTLE_FUNCTION void entry_finder::append_after(document& query, value_view const& after) const {
    document greater;
    greater.copy("$gt", after);
    if (!layout_.is_tutorial()) {
        query.object("_id", greater);
        return;
    }
    query.object("_id", layout_.readable_ids());
    detail::append_after(query, "_id", after);
}

SETTLE_FUNCTION void entry_finder::append_unfinished(document& query) const {
    document others;
    std::size_t count = 0;
    for (state const one : {state::done, state::canceled}) {
        entry_layout::append_spellings(others, one, count);
    }
    if (layout_.is_tutorial()) query.array("$nor", document{}.object_at(0, without_owner()));
    else entry_layout::append_spellings(others, state::initial, count);
    query.object(names().state, document{}.array("$nin", others));
}

SETTLE_FUNCTION void entry_finder::append_states(document& query,
                                                 std::initializer_list<state> states) const {
    if (!layout_.is_tutorial() && states.size() == 1) {
        query.text(names().state, settle::name_of(*states.begin()));
        return;
    }
    document all;
    std::size_t count = 0;
    if (!layout_.is_tutorial()) {
        for (state const one : states) all.text(std::to_string(count++), settle::name_of(one));
        query.object(names().state, document{}.array("$in", all));
        return;
    }
    for (state const one : states) entry_layout::append_spellings(all, one, count);
    bool const early = states.size() == 1 && *states.begin() == state::pending;
    // An initial entry with an owner counts as pending.
    if (early) entry_layout::append_spellings(all, state::initial, count);
    query.object(names().state, document{}.array("$in", all));
    if (early) query.array("$nor", document{}.object_at(0, without_owner()));
    bool const initial = states.size() == 1 && *states.begin() == state::initial;
    if (initial) query.object(names().application, no_owner());
}

SETTLE_FUNCTION document entry_finder::without_owner() const {
    document spellings;
    std::size_t count = 0;
    entry_layout::append_spellings(spellings, state::initial, count);
    document made;
    made.object(names().state, document{}.array("$in", spellings));
    made.object(names().application, no_owner());
    return made;
}

SETTLE_FUNCTION document entry_finder::no_owner() {
    document none;
    none.null("0").text("1", "");
    document made;
    made.array("$in", none);
    return made;
}

} // namespace mongodb::detail

SETTLE_END
