// SPDX-License-Identifier: BSL-1.0
// The two answers to a log that is elsewhere: it was moved, or it is a copy beside the original.
#pragma once

#include <settle/running/calls/directions.hpp>
#include <settle/running/calls/marks.hpp>
#include <settle/running/construction/assembly.hpp>
#include <settle/running/construction/engine_checks.hpp>

SETTLE_BEGIN
namespace detail {

/// The error of a log whose place another program has changed at the same time.
[[nodiscard]] inline error settled_elsewhere(std::string const& log_name) {
    return {make_error_code(errc::other_home),
            "settle: another program has accepted or closed the log '" + log_name +
                "' at the same time. Build an engine, which says where the log is at home. "
                "See copies#two-answers"};
}

/// The error of a copy that has entries or marks which no worker can end.
[[nodiscard]] inline error left_open(std::string const& log_name, std::size_t count) {
    return {
        make_error_code(errc::other_home),
        "settle: the copy '" + log_name + "' is not closed yet: " + std::to_string(count) +
            " of its transactions need a person (recovery_report::skipped). Repair them or name "
            "their types, and close it again. See copies#a-copy-beside-the-original"};
}

/// Closes what is unfinished in the copy of a log, and gives the log a new name. Every step may be
/// taken again: the log is at home only after the last one.
template <typename... Arguments>
class copy_closer {
    using arguments = engine_arguments<Arguments...>;
    using log_type = decltype(std::declval<arguments&>().bind_log());
    using types = typename arguments::gathered::types;

public:
    template <typename... Given>
    explicit copy_closer(Given&&... given)
        : given_(std::forward<Given>(given)...), owner_(owner_in(given_.environment())),
          limits_(given_.limits()),
          patience_(environment_view{given_.environment()}, limits_, call_) {}
    copy_closer(copy_closer const&) = delete;
    copy_closer& operator=(copy_closer const&) = delete;

    recovery_report close() {
        if constexpr (capabilities<log_type>.keeps_home) {
            // One round begins, one closes, and one finds what another program has done meanwhile.
            constexpr int rounds = 4;
            bool over = false;
            for (int round = 0; round < rounds && !over; ++round) over = is_over();
            if (!over && report_.problem.empty()) report_.problem = settled_elsewhere(copy_);
        }
        return std::move(report_);
    }

private:
    /// Takes the next step; false if there is another one.
    bool is_over() {
        report_.skipped.clear();
        report_.problem = {};
        try {
            auto log = given_.bind_log();
            auto const seen = patience_([&] { return log.home(); }).value();
            if (seen.is_same) {
                // Another program has answered that the log was moved.
                if (log.name() == copy_) report_.problem = settled_elsewhere(copy_);
                return true;
            }
            copy_ = log.name();
            if (!is_closing(seen)) {
                // The program of another application must not take the other answer away.
                note_unknown_types(log);
                if (!report_.skipped.empty()) {
                    report_.problem = left_open(copy_, report_.skipped.size());
                    return true;
                }
                take_home(log, {seen.kept, begin_closing(seen)}, false);
                return false;
            }
            close_entries(log);
            if (!report_.skipped.empty()) {
                report_.problem = left_open(copy_, report_.skipped.size());
                return true;
            }
            take_home(log, seen, true);
            return false;
        } catch (failure const& caught) {
            report_.problem = caught.problem();
            // Another program has renamed the log, and its store with it.
            return report_.problem.code != errc::other_log;
        }
    }

    /// Repeated after an unknown outcome, it changes nothing; the next round sees what is kept.
    void take_home(log_type& log, log_home const& seen, bool renames) {
        patience_([&] { return log.take_home(seen, renames); }).value();
    }

    void note_unknown_types(log_type& log) {
        using enum state;
        for (auto const open : {initial, pending, deciding, canceling, applied}) {
            for_each_entry(log, open, [&](entry const& stored) {
                auto const direction = direction_for(directions_of<types>, stored);
                if (direction.has_value() || !stored.fault.empty()) return;
                if (direction.problem().code == errc::unknown_type)
                    skip(stored.id, direction.problem());
            });
        }
    }

    void close_entries(log_type& log) {
        using enum state;
        for (auto const open : {initial, pending, deciding}) {
            for_each_entry(log, open, [&](entry const& entry) {
                change(log, entry, open == initial ? canceled : canceling);
            });
        }
        // The records of this store were copied with the log. Those of other stores belong to the
        // original, as all calls and prepared parts do.
        given_.with_own_stores(log.name(), [&](auto& session) { end_marks(log, session); });
        // An entry that was skipped has marks that may still be needed.
        if (!report_.skipped.empty()) return;
        for (auto const open : {canceling, applied}) {
            for_each_entry(log, open, [&](entry const& entry) {
                change(log, entry, open == applied ? done : canceled);
            });
        }
    }

    template <typename Function>
    void for_each_entry(log_type& log, state in, Function&& function) {
        constexpr std::size_t page_size = 256;
        entry_filter filter;
        filter.state = in;
        transaction_id after;
        for (;;) {
            auto const page = patience_([&] { return log.list(filter, after, page_size); }).value();
            for (entry const& found : page) function(found);
            // An id that cannot be read is empty, and would begin the listing again.
            auto const last = page.empty() ? transaction_id{} : page.back().id;
            if (page.size() < page_size || last.empty() || last == after) return;
            after = last;
        }
    }

    void change(log_type& log, entry const& stored, state to) {
        bool const undecided =
            stored.state == state::deciding || stored.why == reason::closed_in_copy_undecided;
        auto const why = undecided ? reason::closed_in_copy_undecided : reason::closed_in_copy;
        auto closes = transition_to(standing_of(stored), to);
        ++closes.to_epoch;
        closes.why = why;
        closes.takes_owner = true;
        auto const written = with_entry(
            directions_of<types>, stored,
            [&](known_direction const& direction, void const* parameters) {
                entry_write const write{
                    &stored.id, direction.type, parameters,           step::cancel, false,
                    closes,     stored.created, entry_write::no_part, nullptr,      0};
                write_result answer;
                auto const end = patience_([&]() -> result<void> {
                    answer = {};
                    log.write({&write, 1}, {&answer, 1}, {given_.environment().now(), owner_});
                    if (answer.reply == log_answer::conflict || answer.problem.empty()) return {};
                    return answer.problem;
                });
                // In a conflict, another program is closing the copy, too.
                if (answer.reply == log_answer::conflict) return refuse(stored.id, {});
                if (answer.reply == log_answer::taken && to == state::done) ++report_.done;
                if (answer.reply == log_answer::taken && to == state::canceled) ++report_.canceled;
                return refuse(stored.id, end.has_value() ? error{} : end.problem());
            });
        if (!written.problem.empty()) skip(stored.id, written.problem);
    }

    template <typename Session>
    void end_marks(log_type& log, Session& session) {
        error problem;
        port_of_store<Session, log_type> store{session, log};
        for_each_mark(store, patience_, problem, [&](mark_locator const& mark) {
            auto const looked_up = patience_([&] { return log.read(mark.id); });
            if (!mark.fault.empty()) return skip(mark.id, mark.fault);
            if (!looked_up.has_value()) return skip(mark.id, looked_up.problem());
            auto const ended =
                patience_([&] { return end_mark(session, mark, looked_up.value()); });
            return ended.has_value() || skip(mark.id, ended.problem());
        });
        if (!problem.empty()) throw failure(problem);
    }

    template <typename Session>
    static result<answer> end_mark(Session& session, mark_locator const& mark,
                                   std::optional<entry> const& stored) {
        if (!stored) return session.resolve(mark, false);
        auto const standing_now = standing_of(*stored);
        bool const committed =
            standing_now.state == state::applied || standing_now.state == state::done;
        bool const ends = committed || standing_now.state == state::canceling ||
                          standing_now.state == state::canceled;
        if (!ends) return answer::nothing; // its entry was skipped
        // An entry of the tutorial's programs is applied without a committed epoch.
        bool const confirms = committed && standing_now.committed == mark.epoch_number &&
                              !is_stray(standing_now, mark.epoch_number);
        return session.resolve(mark, confirms);
    }

    /// Notes what a person must repair. Any other problem ends the call.
    /// Errors:  throws settle::failure
    bool skip(transaction_id const& id, error const& problem) {
        if (problem.code != condition::permanent) throw failure(problem);
        report_.skipped.push_back({id, problem});
        return true;
    }

    arguments given_;
    std::string owner_;
    options limits_;
    call_options call_;
    patience patience_;
    std::string copy_; ///< the name of the log while it was a copy
    recovery_report report_;
};

} // namespace detail

/// Says that a log was moved, or restored where the original is gone: it keeps its name, and is at
/// home where it is now. A log that is at home stays as it is.
/// Shape:   database - of the log; no engine can be built on it before
/// Errors:  the database cannot be read or written; or close_copied_log() was begun on it
template <typename Database>
result<void> accept_moved_log(Database& database) {
    try {
        auto log = database.bind_log();
        if constexpr (detail::capabilities<decltype(log)>.keeps_home) {
            auto const seen = log.home().value();
            if (seen.is_same) return {};
            if (detail::is_closing(seen)) return detail::elsewhere(log.name(), seen);
            std::string const name = log.name();
            log.take_home(seen, false).value();
            auto again = database.bind_log();
            bool const kept = again.home().value().is_same && again.name() == name;
            if (!kept) return detail::settled_elsewhere(name);
        }
        return {};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

/// Says that a log is a copy beside its original, which stays in use. What is unfinished in the
/// copy is closed: canceled, or done where it was committed, with a reason that says so. The
/// records of the log's own database end with it. No service, no prepared part and no other store
/// gets a request: the original owns these. Then the log gets a new name. The call may be repeated,
/// also after its process was killed; a log that is at home stays as it is.
/// Shape:   arguments - of the engine, with every type that the log has unfinished transactions of
/// Errors:  `skipped` names the transactions that need a person: then `problem` is set, and the log
///          is still a copy. Of a log that is at home, no count is above 0.
///          Throws settle::failure when an option is invalid
/// Cost:    linear in the unfinished entries and in the marks
template <typename... Given>
recovery_report close_copied_log(Given&&... arguments) {
    constexpr auto fault = detail::fault_of_engine<std::remove_cvref_t<Given>...>();
    static_assert(detail::explain_engine<fault>());
    if constexpr (fault == detail::engine_fault::none) {
        if constexpr (detail::check_databases<Given...>()) {
            return detail::copy_closer<std::remove_cvref_t<Given>...>{
                std::forward<Given>(arguments)...}
                .close();
        }
    }
    return {};
}

SETTLE_END
