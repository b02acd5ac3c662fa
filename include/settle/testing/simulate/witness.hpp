// SPDX-License-Identifier: BSL-1.0
// Observes every entry write that a log accepts, and every outcome that a caller gets.
#pragma once

#include <settle/running/calls/outcome.hpp>
#include <settle/store/seam.hpp>

#include <unordered_map>

SETTLE_BEGIN
namespace testing::detail {

/// The observed state of every entry, and the problems found.
class witness {
public:
    struct observed_entry {
        settle::state state = settle::state::initial;
        epoch epoch_number = 0;
        std::size_t commit = 0;             ///< its number in the order of the commits, from 1
        bool in_one_phase = false;          ///< done in one phase, without a committed epoch
        std::optional<verdict> reported;    ///< to a caller
        reason why = reason::none;          ///< the reason in the reported outcome
        std::vector<kept_result> results{}; ///< in the reported outcome, if it is done
        std::string type;                   ///< type and parameters of the first insert
        std::string parameters;
        bool gone = false;  ///< purged
        bool again = false; ///< inserted again after its purge, by a late insert
    };

    /// Shape:   type, parameters - as stored in the log
    void note_insert(transaction_id const& id, state inserted, epoch first, std::string type = {},
                     std::string parameters = {}) {
        auto const [at, fresh] = entries_.try_emplace(id);
        observed_entry& observed = at->second;
        // A bar is the entry of no transaction.
        bool const is_first = fresh || observed.state == state::barred;
        if (!is_first && !observed.gone) return complain(id + ": inserted, though the log had it");
        if (is_first) {
            observed.type = std::move(type);
            observed.parameters = std::move(parameters);
        } else {
            observed.again = true;
            ++again_;
        }
        observed.gone = false;
        observed.state = inserted;
        observed.epoch_number = first;
        if (!is_final(inserted)) ++open_;
    }

    /// A purge has erased an entry.
    void note_purged(transaction_id const& id) {
        observed_entry& observed = entries_[id];
        if (!is_final(observed.state)) complain(id + ": purged, though it is not over");
        observed.gone = true;
        ++purged_;
    }

    /// Shape:   confirms - a part of the transaction has work after the commit
    void note_change(transaction_id const& id, transition const& taken, bool confirms = true) {
        auto const place = entries_.find(id);
        if (place == entries_.end()) {
            complain(id + ": changed, though the log has no such entry");
            return;
        }
        observed_entry& observed = place->second;
        if (observed.state != taken.from || observed.epoch_number != taken.from_epoch) {
            complain(id + ": went from " + shown(taken.from, taken.from_epoch) + " to " +
                     shown(taken.to, taken.to_epoch) + ", though it was " +
                     shown(observed.state, observed.epoch_number));
        } else if (!may_follow(taken.from, taken.to, confirms)) {
            complain(id + ": went from " + shown(taken.from, taken.from_epoch) + " to " +
                     shown(taken.to, taken.to_epoch));
        }
        if (taken.takes_owner) ++claims_;
        bool const undecided = taken.from == state::pending || taken.from == state::deciding;
        bool const commits = taken.to == state::applied || taken.to == state::done;
        if (undecided && commits) note_commit(id, observed);
        if (is_final(taken.to) && !is_final(observed.state)) --open_;
        observed.state = taken.to;
        observed.epoch_number = taken.to_epoch;
    }

    /// The log has taken a write.
    void note_write(entry_write const& taken) {
        if (!taken.inserts) {
            return note_change(*taken.id, taken.change, taken.type->stages.confirms);
        }
        bool const typed = taken.type->described;
        note_insert(*taken.id, taken.change.to, taken.change.to_epoch,
                    typed ? taken.type->name() : std::string{},
                    typed ? taken.type->json(taken.parameters) : std::string{});
        if (taken.change.to == state::applied) note_commit(*taken.id, entries_.at(*taken.id));
    }
    /// A native transaction has written an entry in one phase, and its records if it is done.
    void note_one_phase(entry_write const& taken) {
        note_write(taken);
        auto const place = entries_.find(*taken.id);
        if (place == entries_.end() || place->second.state != state::done) return;
        note_commit(*taken.id, place->second);
        place->second.in_one_phase = true;
    }

    /// Shape:   reported - any outcome; an outcome that is not final is checked for errors only
    void note_outcome(outcome const& reported) {
        auto const& code = reported.problem.code;
        auto const place = entries_.find(reported.id);
        // A worker that paused until its entry was purged reports `damaged`; that is no problem.
        bool const gone = place != entries_.end() && (place->second.gone || place->second.again);
        if (code == errc::id_in_use || code == errc::other_definition ||
            code == errc::unknown_type || (code == errc::damaged && !gone)) {
            complain("reported " + reported.text());
        }
        if (!reported.done() && !reported.canceled()) return;
        if (place == entries_.end()) {
            complain("reported " + reported.text() + ", though the log has no such entry");
            return;
        }
        observed_entry& observed = place->second;
        // After a purge and a late insert, the first outcome no longer applies.
        if (observed.again) return;
        // A caller may learn of the commit before all parts are confirmed.
        auto const expected = !reported.done()    ? state::canceled
                              : reported.finished ? state::done
                                                  : state::applied;
        bool const went_on = expected == state::applied && observed.state == state::done;
        if (observed.state != expected && !went_on) {
            complain("reported " + reported.text() + ", though it is " +
                     std::string{name_of(observed.state)});
        }
        if (observed.reported && *observed.reported != reported.verdict) {
            complain("reported " + reported.text() + ", and the opposite before");
        }
        if (observed.why != reason::none && reported.why != reason::none &&
            observed.why != reported.why) {
            complain("reported " + reported.text() +
                     ", and another reason before: " + std::string{name_of(observed.why)});
        }
        observed.reported = reported.verdict;
        if (reported.why != reason::none) observed.why = reported.why;
        if (reported.done() && reported.finished) observed.results = reported.results;
    }

    template <typename Report>
    void note_report(Report const& report) {
        for (auto const& one : report.skipped) {
            complain(one.id + ": skipped: " + one.problem.message());
        }
    }

    void complain(std::string problem) {
        constexpr std::size_t most = 10;
        if (problems_.size() < most) problems_.push_back(std::move(problem));
    }

    [[nodiscard]] bool content() const { return problems_.empty(); }
    [[nodiscard]] std::vector<std::string> const& problems() const { return problems_; }
    [[nodiscard]] auto const& entries() const { return entries_; }
    [[nodiscard]] std::size_t open() const { return open_; } ///< unfinished entries
    [[nodiscard]] std::uint64_t claims() const { return claims_; }
    [[nodiscard]] std::uint64_t purged() const { return purged_; } ///< the number of purges
    [[nodiscard]] std::uint64_t again() const { return again_; }   ///< purged ids inserted again

private:
    void note_commit(transaction_id const& id, observed_entry& observed) {
        if (observed.commit != 0) complain(id + ": committed again");
        observed.commit = ++commits_;
    }

    static std::string shown(state state, epoch number) {
        return std::string{name_of(state)} + " (epoch " + std::to_string(number) + ')';
    }

    std::unordered_map<transaction_id, observed_entry> entries_;
    std::vector<std::string> problems_;
    std::size_t commits_ = 0;
    std::size_t open_ = 0;
    std::uint64_t claims_ = 0;
    std::uint64_t purged_ = 0;
    std::uint64_t again_ = 0;
};

/// A log session that reports accepted entry writes to a witness.
template <typename Database>
class witnessed_log {
    using session_type = decltype(std::declval<Database&>().bind_log());

public:
    static constexpr bool keeps_at_insert =
        settle::detail::capabilities<session_type>.keeps_at_insert;
    [[nodiscard]] settle::detail::session_capabilities capabilities() const {
        return settle::detail::capabilities_here(session_);
    }

    witnessed_log(Database& inner, witness& seen) : session_(inner.bind_log()), seen_(&seen) {}

    [[nodiscard]] std::string const& name() const { return session_.name(); }

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        session_.write(writes, results, context);
        for (std::size_t i = 0; i < writes.size(); ++i) {
            if (results[i].reply == log_answer::taken) seen_->note_write(writes[i]);
        }
    }
    /// One phase.
    /// Shape:   records - of the same database
    template <typename Records>
    void settle_in(Records& records, std::span<one_phase_request> requests,
                   write_context const& context, one_phase_decider& decider) {
        records.one_phase(requests, session_, context, decider);
        for (one_phase_request const& one : requests) {
            if (one.result.reply == log_answer::taken) seen_->note_one_phase(one.write);
        }
    }
    void look_up(std::span<read_request const> requests, found_function found) {
        session_.look_up(requests, found);
    }
    auto read(transaction_id const& id) { return session_.read(id); }
    auto list(entry_filter const& filter, transaction_id const& after, std::size_t limit) {
        return session_.list(filter, after, limit);
    }
    auto metadata(std::string_view name) { return session_.metadata(name); }
    auto replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                          std::string const& text) {
        return session_.replace_metadata(name, seen, text);
    }
    auto list_metadata(metadata_range const& names, std::size_t limit) {
        return session_.list_metadata(names, limit);
    }
    auto erase_metadata(metadata_range const& names) { return session_.erase_metadata(names); }
    auto home()
        requires(settle::detail::capabilities<session_type>.keeps_home)
    {
        return session_.home();
    }
    auto take_home(log_home const& seen, bool renames)
        requires(settle::detail::capabilities<session_type>.keeps_home)
    {
        return session_.take_home(seen, renames);
    }
    result<purged> purge(timestamp before, std::size_t limit, std::int64_t passed) {
        auto purge_result = session_.purge(before, limit, passed);
        if (!purge_result.has_value() || purge_result.value().erased == 0) return purge_result;
        // The log returns the number of purged entries, not their ids.
        for (auto const& [id, observed] : seen_->entries()) {
            if (observed.gone || !is_final(observed.state)) continue;
            auto const left = session_.read(id);
            if (left.has_value() && !left.value()) seen_->note_purged(id);
        }
        return purge_result;
    }

private:
    session_type session_;
    witness* seen_;
};

/// A record session whose one-phase commits go through the witnessed log.
template <typename Session, typename Database>
class witnessed_records : public Session {
public:
    explicit witnessed_records(Session&& inner) : Session(std::move(inner)) {}

    void one_phase(std::span<one_phase_request> requests, witnessed_log<Database>& log,
                   write_context const& context, one_phase_decider& decider) {
        log.settle_in(static_cast<Session&>(*this), requests, context, decider);
    }
};

template <typename Database>
class witnessed {
public:
    witnessed(Database& inner, witness& seen) : inner_(&inner), seen_(&seen) {}

    template <typename... Collections>
    auto bind(std::string const& log_name) {
        auto bound = inner_->template bind<Collections...>(log_name);
        return witnessed_records<decltype(bound), Database>{std::move(bound)};
    }
    witnessed_log<Database> bind_log() { return {*inner_, *seen_}; }

private:
    Database* inner_;
    witness* seen_;
};

} // namespace testing::detail
SETTLE_END
