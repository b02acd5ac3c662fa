// SPDX-License-Identifier: BSL-1.0
// Actions on all entries that a filter matches: counted first, kept in the log, and then worked off
// in small parts, by whichever console of the log has claimed them.
#pragma once

#include "actions.hpp"
#include "journal.hpp"

#include <list>
#include <map>

SETTLE_BEGIN
namespace detail {

/// Not for several threads at once.
class bulk_actions {
public:
    /// Is told each entry that was acted on: the row of the action, the id, the result.
    using told_function =
        std::function<void(console_json const&, transaction_id const&, std::string const&)>;

    /// Shape:   engine, journal - outlive the object; limit - of a read; an action on an entry has
    ///          five times as long
    bulk_actions(served_engine& engine, action_journal& journal, std::chrono::milliseconds limit,
                 told_function told)
        : engine_(engine), journal_(journal), limit_(limit), told_(std::move(told)) {}

    /// Counts, with `dry_run=1`, what an action would do; or has it begin: the answer is 202, and
    /// the caller gives the row to begin(). The `token` of a dry run binds action, filter and
    /// counts.
    /// Shape:   fields - of a list_filter, `dry_run=1` or `token`, and `all=1` with an empty
    ///          filter; of a resolve `call`, a participant, and `why`; row - of the action, gets
    ///          all that work() needs
    [[nodiscard]] console_reply ask(operator_action action, console_fields fields,
                                    console_json& row, note_function note);
    void begin(kept_action&& action) { own_.push_back({std::move(action), false, {}}); }

    /// Asks whichever console works on an action to stop it.
    [[nodiscard]] console_reply stop(std::string const& id, std::string const& person,
                                     note_function note);

    /// Acts for a moment, and takes over actions that another console has left. Gives the time
    /// until there is more to do.
    [[nodiscard]] std::chrono::milliseconds work();

private:
    using moment = std::chrono::steady_clock::time_point;

    struct job {
        kept_action kept;
        bool must_save = false; ///< before an entry is acted on
        moment saved{};
    };
    /// An action of another console.
    struct watched_action {
        std::string text{};
        moment since{};
    };
    enum class step_end : std::uint8_t { more, waits, over };

    [[nodiscard]] std::chrono::milliseconds look_every() const { return limit_; }
    [[nodiscard]] std::chrono::milliseconds action_limit() const { return limit_ * 5; }
    /// A database may have several logs, and a copy of a log has another name.
    [[nodiscard]] bool is_of_this_log(console_json const& row) const;
    void look();
    void watch(kept_action&& action);
    [[nodiscard]] step_end step(job& own);
    [[nodiscard]] error plan(console_json& row);
    void act_on_next(console_json& row);
    [[nodiscard]] step_end save(job& own);

    served_engine& engine_;
    action_journal& journal_;
    std::chrono::milliseconds limit_;
    told_function told_;
    std::list<job> own_{};
    std::map<std::string, watched_action, std::less<>> watched_{};
    moment next_look_{};
    std::string looked_to_{}; ///< no action before this id goes on
};

} // namespace detail
SETTLE_END
