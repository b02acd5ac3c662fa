// SPDX-License-Identifier: BSL-1.0
// The actions that persons took, as rows that the log keeps.
#pragma once

#include "views.hpp"

SETTLE_BEGIN
namespace detail {

/// One action, as the log has it.
struct kept_action {
    std::string id{};
    std::string text{}; ///< the stored JSON
    console_json row{}; ///< the same, with changes that are not stored yet
};

/// Reads and writes the rows. Not for several threads at once.
class action_journal {
public:
    /// Shape:   log - outlives the object; limit - of the time that each function waits for it
    action_journal(log_port& log, std::chrono::milliseconds limit) : log_(log), limit_(limit) {}

    /// Stores a new row. After an error the row may be there.
    [[nodiscard]] result<kept_action> insert(timestamp when, console_json const& row);
    /// Stores the changes of a row, if the log still has `action.text`. False: it has another text.
    [[nodiscard]] result<bool> replace(kept_action& action);
    [[nodiscard]] result<std::optional<kept_action>> find(std::string const& id);
    /// The last rows before an id, the newest first.
    /// Shape:   id - or empty
    [[nodiscard]] result<std::vector<kept_action>> before(std::string const& id, std::size_t limit);

    /// The answers of `/actions?before=ID&limit=50` and `/actions/ID`.
    [[nodiscard]] console_reply list(console_fields const& fields);
    [[nodiscard]] console_reply show(std::string const& id);

private:
    log_port& log_;
    std::chrono::milliseconds limit_;
};

/// True if an action on all goes on.
[[nodiscard]] bool goes_on(console_json const& row);

[[nodiscard]] console_reply unknown_action(std::string const& id);

} // namespace detail
SETTLE_END
