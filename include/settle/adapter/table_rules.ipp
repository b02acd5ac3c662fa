// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_rules.hpp declares.
#pragma once

#include <settle/adapter/table_rules.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION void table_rules::refuse(std::string const& problem,
                                         std::string const& remedy) const {
    throw failure({make_error_code(errc::unfit_store),
                   "settle: the table " + table_ +
                       " cannot hold the collection as it is described: " + problem + ". " +
                       remedy + ". See " + std::string{page_} + "#existing-tables"});
}

SETTLE_FUNCTION void table_rules::refuse_missing(std::string_view column) const {
    refuse("it has no column '" + std::string{column} + "'",
           "Add it with ALTER TABLE … ADD COLUMN, or remove the member from the description");
}

SETTLE_FUNCTION void table_rules::refuse_key() const {
    refuse(shown_column(need_.key().name) + " is the key, and two rows could have the same key",
           "Make it the PRIMARY KEY, or add a UNIQUE INDEX on it alone");
}

SETTLE_FUNCTION void table_rules::check_column(column_need const& needed, bool generated,
                                               bool not_null) const {
    auto const name = shown_column(needed.name);
    if (generated) refuse(name + " is generated", "Describe columns that are stored");
    if (!needed.optional || !not_null) return;
    refuse(name + " is NOT NULL and its field is optional",
           "Remove the NOT NULL, or the std::optional of the field");
}

SETTLE_FUNCTION void table_rules::check_obstacle(obstacle const& obstacle) const {
    auto const* const member = need_.find(obstacle.column);
    if (!obstacle.column.empty() && (member == nullptr || member->key)) return;
    auto const remedy = obstacle.kind == "check"
                            ? "Remove it, and use .require(…) of the participant"
                        : obstacle.kind == "unique index" ? "Make it an index that is not unique"
                                                          : "Drop it";
    std::string text{"the "};
    text.append(obstacle.kind).append(" '").append(obstacle.name).append("' could refuse ");
    text += obstacle.kind == "trigger" ? "or add to a change"
            : obstacle.column.empty()  ? "a change of a row"
                                       : "a change of " + shown_column(obstacle.column);
    refuse(text, remedy);
}

} // namespace detail
SETTLE_END
