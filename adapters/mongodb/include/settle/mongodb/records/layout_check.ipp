// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that layout_check.hpp declares.
#pragma once

#include <settle/mongodb/records/layout_check.hpp>

#include <algorithm>
#include <functional>
#include <set>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION void refuse_layout(std::string const& because) {
    raise(errc::unfit_store, "settle: this tutorial_layout cannot be used: " + because +
                                 ". See mongodb#coming-from-the-tutorial");
}

SETTLE_FUNCTION void check_layout(entry_layout const& layout) {
    auto const& names = layout.names;
    for (auto const& [member, field] : names.fields) {
        // clang 14 cannot capture a structured binding directly.
        auto const is_member = [&name = member](parameter const& one) { return one.name == name; };
        if (std::none_of(layout.members.begin(), layout.members.end(), is_member)) {
            refuse_layout("the parameters of '" + layout.type + "' have no member '" + member +
                          "', for which it names the field '" + field + "'");
        }
    }
    std::set<std::string, std::less<>> taken;
    for (auto const field : settle::detail::all_entry_fields) {
        bool const named = field == entry_field::state || field == entry_field::modified ||
                           field == entry_field::owner;
        // Entries of this layout have no field `open`.
        if (!named && field != entry_field::open) taken.emplace(layout.name_of(field));
    }
    auto const take = [&](std::string const& field, std::string const& what) {
        if (field.empty() || field.starts_with('$') ||
            field.find_first_of(std::string_view{".\0", 2}) != std::string::npos) {
            refuse_layout("'" + field + "', for " + what + ", is no name of a field");
        }
        if (!taken.insert(field).second) {
            refuse_layout("the field '" + field + "', for " + what +
                          ", holds something else in settle's entries already. Give " + what +
                          " another");
        }
    };
    bool const special =
        names.transactions.starts_with("system.") || names.transactions.starts_with("settle_");
    if (names.transactions.empty() || special ||
        names.transactions.find_first_of(std::string_view{"$\0", 2}) != std::string::npos) {
        refuse_layout("'" + names.transactions +
                      "', for the transactions, is no name of a "
                      "collection of theirs");
    }
    take(names.state, "the state");
    take(names.modified, "the last change");
    take(names.application, "the application");
    for (auto const& member : layout.members) {
        take(std::string{layout.field_of(member.name)}, "the parameter '" + member.name + "'");
    }
    taken.clear();
    if (names.key != "_id") take(names.key, "the key of the records");
    for (auto const& [member, field] : names.record_fields) {
        take(field, "the member '" + member + "' of the records");
    }
    state read{};
    if (!entry_layout::read_state(names.applied, read) || read != state::applied) {
        refuse_layout("its name for applied is 'applied' or 'committed', not '" + names.applied +
                      "'");
    }
    if (!entry_layout::read_state(names.canceled, read) || read != state::canceled) {
        refuse_layout("its name for canceled is 'canceled' or 'cancelled', not '" + names.canceled +
                      "'");
    }
}

} // namespace mongodb::detail

SETTLE_END
