// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that log_identity.hpp declares.
#pragma once

#include <settle/mongodb/log/log_identity.hpp>

#include <settle/adapter/ownership.hpp>

SETTLE_BEGIN

namespace mongodb::detail {

/// The description of a log in an error.
[[nodiscard]] SETTLE_FUNCTION std::string described_log(std::string const& log) {
    std::string text = "'" + log + "'";
    if (!log.starts_with(log_name_prefix)) return text;
    auto const slash = log.find('/');
    bool const is_own = slash == std::string::npos;
    text += is_own ? " (settle's own layout" : " (a tutorial's layout";
    return text + ", entries in '" + (is_own ? "settle_entries" : log.substr(slash + 1)) + "')";
}

SETTLE_FUNCTION void refuse_log(std::string const& belongs_to, std::string const& refused) {
    raise(errc::other_log, "settle: the records of this database belong to the log " +
                               described_log(belongs_to) + ", and the log " +
                               described_log(refused) +
                               " would undo its marks. Open the database with the log and the "
                               "layout that it belongs to; where nothing was run with that log, "
                               "remove the document 'belongs_to' of 'settle_words'. "
                               "See mongodb#logs");
}

SETTLE_FUNCTION void check_log_of_records(link& client, stored_log const& stored,
                                          entry_layout const& layout) {
    auto const& of_database = stored.name;
    auto const name = log_name(of_database, layout);
    auto const belongs_to = owner_of_records(client, stored);
    bool const is_here =
        belongs_to && (*belongs_to == of_database || belongs_to->starts_with(of_database + '/'));
    if (is_here && *belongs_to != name) refuse_log(*belongs_to, name);
}

/// The name under which the layout of a log is stored.
[[nodiscard]] SETTLE_FUNCTION std::string name_of_layout(entry_layout const& layout) {
    return "layout " + layout.collection;
}

SETTLE_FUNCTION void check_layout_of_log(entry_layout const& layout, std::string const& noted) {
    auto const description = layout.description();
    if (noted == description) return;
    raise(errc::other_log,
          "settle: the log in '" + layout.collection + "' has the layout '" + noted +
              "', and this one is '" + description +
              "'. Open the database with the layout that it has; where nothing was run with that "
              "layout, remove the document '" +
              name_of_layout(layout) + "' of 'settle_words'. See mongodb#logs");
}

SETTLE_FUNCTION void check_layout_of_log(link& client, entry_layout const& layout) {
    if (layout.is_own) return;
    if (auto const noted = known_metadata(client, name_of_layout(layout))) {
        check_layout_of_log(layout, *noted);
    }
}

SETTLE_FUNCTION void note_layout_of_log(link& client, entry_layout const& layout) {
    if (layout.is_own) return;
    check_layout_of_log(layout,
                        get_or_init_metadata(client, name_of_layout(layout), layout.description()));
}

} // namespace mongodb::detail

SETTLE_END
