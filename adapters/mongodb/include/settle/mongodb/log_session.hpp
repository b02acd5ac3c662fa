// SPDX-License-Identifier: BSL-1.0
// The log of one database: a collection of entries.
#pragma once

#include <settle/mongodb/entry_search.hpp>
#include <settle/mongodb/native.hpp>

SETTLE_BEGIN
namespace mongodb {

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave is one bulk of writes, acknowledged by the database's write concern; a wave that
///          changes several entries in a replica set is a read of them, that bulk and a commit
class log_session {
public:
    log_session(detail::server& with, std::string name, detail::entry_layout const& layout = {})
        : server_(&with), name_(std::move(name)), codec_(layout), finder_(layout),
          search_(with, layout), held_up_(std::make_shared<detail::held_up>()) {}

    /// The name that the log got when this database first held a log.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    void insert(std::span<job> wave, write_context const& at) {
        auto jobs = settle::detail::jobs_of(wave, step::insert);
        if (jobs.empty()) return;
        if (has_several_forms()) {
            auto others = without_taken(jobs, true);
            if (!others.has_value()) {
                return settle::detail::say(jobs, {detail::commit_status::undone, others.problem()});
            }
            jobs = std::move(others.value());
            if (jobs.empty()) return;
        }
        auto with = server_->connect();
        detail::bulk all{with, collection()};
        jobs = without_unfit(jobs, at, [&](document made) { all.insert(made); });
        auto const result = all.execute("insert entries");
        settle::detail::say(jobs, detail::ending_of(result));
        for (auto const& one : result.refused) refuse(*jobs[one.index], one.problem);
    }

    template <step Step>
    void change(std::span<job> wave, write_context const& at) {
        auto const jobs = settle::detail::jobs_of(wave, Step);
        if (jobs.empty()) return;
        // Only the count of a claim's own write tells whether that claim won.
        constexpr bool contended = Step == step::claim || Step == step::cancel;
        if (server_->has_transactions()) {
            change_together(jobs, at);
        } else if (jobs.size() > 1 && !contended) {
            change_all_apart(jobs, at);
        } else {
            change_each(jobs, at);
        }
    }

    /// Cost:    as entry_search::look_up()
    template <typename Found>
    void look_up(std::span<job> wave, Found&& found) {
        search_.look_up(settle::detail::jobs_of(wave, step::read), found);
    }

    result<std::optional<entry>> read(transaction_id const& id) { return search_.read(id); }

    /// Lists entries in the order of their ids, behind `after`. A damaged entry stands in the page
    /// with its fault and without parameters, so no worker claims it. Entries with unreadable ids
    /// stand at the end.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        std::vector<entry> found;
        bool const contradicts = filter.unfinished && filter.state &&
                                 (is_final(*filter.state) || *filter.state == state::initial);
        if (contradicts || limit == 0) return found;
        try {
            auto with = server_->connect();
            auto const read = [&](document const& query, std::size_t most) {
                with.find(collection(), query, detail::page_of("_id", most), "read entries",
                          [&](document const& one) {
                              entry& here = found.emplace_back();
                              here.fault = codec_.decode(one, here);
                              if (!here.fault.empty()) here.parameters.clear();
                          });
            };
            read(finder_.query_of(filter, locator_of(with, after)), limit);
            // A short page is the last, and stays the last.
            if (found.size() + 1 < limit) {
                read(finder_.query_of_unreadable(filter), limit - found.size() - 1);
            }
        } catch (failure const& caught) {
            return caught.problem();
        }
        return found;
    }

    /// Erases at most `limit` finished entries unchanged since `before`, the oldest first.
    /// Shape:   passed - the creation time of the last entry that the previous call erased
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing) {
        purged gone;
        gone.passed = passed;
        // The server treats a limit of 0 as no limit.
        if (limit == 0) return gone;
        try {
            auto with = server_->connect();
            std::vector<document> filters;
            auto options = detail::page_of("created", limit);
            options.object("projection", document{}.integer("created", 1));
            with.find(collection(), finder_.query_of_finished(before, passed), std::move(options),
                      "look for old entries", [&](document const& one) {
                          // Meanwhile the id may have been purged and submitted again.
                          auto same = finder_.query_of_finished(before, passed);
                          filters.push_back(std::move(same.copy("_id", *one.find("_id"))));
                          gone.passed = one.find("created")->date().value_or(passed);
                      });
            detail::bulk all{with, collection()};
            for (auto const& filter : filters) all.remove(filter);
            auto const erased = all.execute("erase entries");
            if (!erased.problem.empty()) return erased.problem;
            gone.erased = static_cast<std::uint64_t>(erased.removed);
            gone.more = filters.size() == limit;
        } catch (failure const& caught) {
            return caught.problem();
        }
        return gone;
    }

    // ------------------------------------------------------------ inside a native transaction

    /// Inserts entries.
    /// Errors:  throws command_failure; partition_rejected() finds the jobs that caused it
    void insert_within(detail::link& with, std::span<job* const> jobs, write_context const& at) {
        if (has_several_forms()) refuse_taken(with, jobs);
        detail::bulk all{with, collection()};
        for (auto* const work : jobs) all.insert(document_of(*work, at));
        auto const result = all.execute("insert entries");
        if (!result.problem.empty()) {
            throw detail::command_failure(problem_of(result, jobs), result.transient);
        }
        for (auto* const work : jobs) work->reply = log_answer::taken;
    }

    /// Changes an entry if it still has the required state and epoch.
    void change_within(detail::link& with, job& work, write_context const& at) {
        auto const wanted = work.coordinator.change(step::one_phase);
        auto const result = change_one(with, work, wanted, codec_.change_of(work, wanted, at));
        if (!result.problem.empty()) {
            job* const only = &work;
            throw detail::command_failure(unfit(problem_of(result, {&only, 1})), result.transient);
        }
        work.reply = result.matched == 1 ? log_answer::taken : log_answer::conflict;
    }

    /// Stores the committed epoch of an entry that another program committed without an epoch: the
    /// epoch to which the job's marks were raised.
    void store_commit(job& work) {
        epoch const here = work.coordinator.epoch_number();
        transition wanted;
        wanted.from = state::applied;
        wanted.from_epoch = here;
        auto with = server_->connect();
        say_of_one(work, change_one(with, work, wanted, detail::entry_codec::commit_of(here)));
    }

    /// Whether an insert failed because its id exists.
    [[nodiscard]] static bool is_of_taken_id(error const& problem) {
        return problem.code == std::error_code{duplicate_key, mongodb_category()};
    }
    /// Answers the jobs whose ids exist, and returns the others.
    /// Shape:   surely - also finds entries that no majority has yet, which waits for a majority
    [[nodiscard]] result<std::vector<job*>> without_taken(std::span<job* const> jobs,
                                                          bool surely) {
        auto others = without_found(jobs, {});
        document sure = server_->deciding_read();
        if (!surely || sure.empty() || !others.has_value() || others.value().empty()) {
            return others;
        }
        return without_found(others.value(), std::move(sure));
    }

    /// After a failed insert: answers the jobs that caused it, because their ids exist or no
    /// document can hold their entries, and returns the others.
    /// Shape:   surely - as in without_taken()
    [[nodiscard]] result<std::vector<job*>> partition_rejected(std::span<job* const> jobs,
                                                               error const& problem,
                                                               write_context const& at,
                                                               bool surely) {
        if (is_of_taken_id(problem)) return without_taken(jobs, surely);
        if (problem.code == errc::bad_parameters) {
            return without_unfit(jobs, at, [](auto const&) {});
        }
        return std::vector<job*>(jobs.begin(), jobs.end());
    }

private:
    using document = detail::document;
    /// Answers the jobs whose entries no document can hold, and returns the others.
    /// Shape:   take(document) - takes the entry of each returned job
    template <typename Take>
    [[nodiscard]] std::vector<job*> without_unfit(std::span<job* const> jobs,
                                                  write_context const& at, Take&& take) const {
        std::vector<job*> others;
        for (auto* const work : jobs) {
            try {
                take(document_of(*work, at));
                others.push_back(work);
            } catch (failure const& caught) {
                settle::detail::say(*work, {detail::commit_status::undone, caught.problem()});
            }
        }
        return others;
    }

    /// Shape:   sure - the options of a linearizable find; empty for any other
    [[nodiscard]] result<std::vector<job*>> without_found(std::span<job* const> jobs,
                                                          document sure) {
        document fields;
        document options;
        options.object("projection", fields.integer("_id", 1).integer(states(), 1));
        std::vector<std::pair<std::string, log_answer>> taken;
        try {
            auto const note = [&](document const& one) {
                auto const id = one.find("_id");
                if (id && id->id()) taken.emplace_back(*id->id(), refusal_by(one));
            };
            detail::find_surely(*server_, collection(), among(jobs), std::move(sure), options,
                                "look for ids", note);
        } catch (failure const& caught) {
            return caught.problem();
        }
        std::sort(taken.begin(), taken.end());
        std::vector<job*> others;
        for (auto* const work : jobs) {
            auto const found = std::lower_bound(
                taken.begin(), taken.end(), work->id,
                [](auto const& one, transaction_id const& id) { return one.first < id; });
            bool const is_there = found != taken.end() && found->first == work->id;
            if (is_there && work->coordinator.inserts()) work->reply = found->second;
            else others.push_back(work);
        }
        return others;
    }
    /// The answer of an existing entry to an insert of its id.
    [[nodiscard]] log_answer refusal_by(document const& found) const {
        auto const word = found.find(states());
        state here = state::initial;
        bool const ends = word && word->text() &&
                          detail::entry_layout::read_state(*word->text(), here) && is_final(here);
        return ends ? log_answer::ended : log_answer::conflict;
    }
    [[nodiscard]] std::string const& states() const noexcept {
        return codec_.layout().names.state;
    }

    /// Matches the entries of jobs by their ids.
    [[nodiscard]] document among(std::span<job* const> jobs) const {
        document ids;
        std::size_t count = 0;
        for (auto* const work : jobs) codec_.layout().append_forms(ids, work->id, count);
        document any;
        any.array("$in", ids);
        return detail::only("_id", any);
    }

    /// Errors:  throws errc::bad_parameters when no document can hold the entry
    [[nodiscard]] document document_of(job const& work, write_context const& at) const {
        auto made = codec_.encode(work, at);
        if (made.size() <= detail::largest_document) return made;
        detail::raise(errc::bad_parameters,
                      "settle: with these parameters the entry of '" + work.id + "' takes " +
                          std::to_string(made.size()) + " bytes, and a document of MongoDB " +
                          std::to_string(detail::largest_document) + " at most. Give it less. "
                          "See mongodb#errors");
    }

    /// Why the entries of jobs could not be written; the error of a single job names its entry.
    [[nodiscard]] error problem_of(detail::bulk_result const& result,
                                   std::span<job* const> jobs) const {
        if (jobs.size() != 1 || !detail::is_conflict(result.problem)) return result.problem;
        return detail::held_by_another(described(*jobs.front()));
    }
    /// The name of a job's entry in an error.
    [[nodiscard]] std::string described(job const& work) const {
        return "the entry '" + work.id + "' of '" + collection() + "'";
    }

    /// A document that grows too large concerns only its own entry, which cannot be committed.
    static error unfit(error problem) {
        if (!detail::is_too_large(problem.code)) return problem;
        problem.code = make_error_code(errc::bad_parameters);
        return problem;
    }

    static void refuse(job& work, error const& problem) {
        if (is_of_taken_id(problem)) {
            work.reply = log_answer::conflict;
            return;
        }
        work.problem = unfit(problem);
        work.reply = problem.code == condition::unknown
                        ? log_answer::unknown
                        : settle::detail::answer_of_undone(work.problem);
    }

    /// Changes entries in native transactions. An entry that another transaction holds fails alone.
    void change_together(std::span<job* const> jobs, write_context const& at) {
        settle::detail::for_each_run(
            jobs, [&](job const* work) { return held_up_->contains(work->id); },
            [&](std::span<job* const> some, bool held) {
                if (some.size() == 1 && !held) return change_each(some, at);
                bool first = !held;
                detail::in_halves(some, [&](std::span<job* const> part) {
                    auto const how = detail::effort_for(part.size(), std::exchange(first, false));
                    return change_all(part, at, how);
                });
            });
    }

    /// Changes all entries at once; if some do not match, each is tried alone. False when another
    /// native transaction holds one of several entries.
    bool change_all(std::span<job* const> jobs, write_context const& at, detail::effort how) {
        bool const one = jobs.size() == 1;
        bool all_changed = true;
        // The client returns to the pool before another is taken: the pool may be exhausted.
        auto const try_all = [&](detail::link& with) {
            all_changed = all_are_changed(change_in_bulk(with, jobs, at), jobs);
            // The exception aborts the native transaction.
            if (!all_changed)
                throw failure({make_error_code(errc::stopped), "not all entries met"});
        };
        auto const ended = detail::native_transaction{*server_}.perform(try_all, how.longest);
        bool const held = detail::is_conflict(ended);
        if (one) held_up_->note(jobs.front()->id, held);
        if (held && !one) return false;
        bool const of_one = ended.status == detail::commit_status::undone &&
                            detail::is_too_large(ended.problem.code);
        if (all_changed && !of_one) settle::detail::say(jobs, ended);
        else change_each(jobs, at);
        return true;
    }

    /// Without native transactions, the successful changes stay.
    void change_all_apart(std::span<job* const> jobs, write_context const& at) {
        auto const result = [&] {
            auto with = server_->connect();
            return change_in_bulk(with, jobs, at);
        }();
        bool const some = result.problem.empty() && !all_are_changed(result, jobs);
        if (some) look_who_changed(jobs);
        else settle::detail::say(jobs, detail::ending_of(result));
        for (auto const& one : result.refused) refuse(*jobs[one.index], one.problem);
    }

    static bool all_are_changed(detail::bulk_result const& result, std::span<job* const> jobs) {
        return result.problem.empty() &&
               result.matched == static_cast<std::int64_t>(jobs.size());
    }

    /// Errors:  in a native transaction, throws command_failure
    detail::bulk_result change_in_bulk(detail::link& with, std::span<job* const> jobs,
                                       write_context const& at) {
        // A native transaction writes only over the state that it has read. Reading first spares
        // the server a plan for each update: an update by _id alone takes a third of the time.
        bool const looked = with.in_transaction() && !codec_.layout().is_tutorial();
        if (looked && !all_stand_as_wanted(with, jobs)) return {};
        detail::bulk all{with, collection()};
        for (auto* const work : jobs) {
            auto const wanted = work->coordinator.change();
            auto const filter = looked ? finder_.filter_of(work->id)
                                       : finder_.filter_of(work->id, wanted);
            all.update(filter, codec_.change_of(*work, wanted, at));
        }
        auto result = all.execute("change entries");
        if (with.in_transaction() && !result.problem.empty()) {
            throw detail::command_failure(problem_of(result, jobs), result.transient);
        }
        return result;
    }

    /// Shape:   jobs - of different ids
    /// Errors:  throws command_failure
    bool all_stand_as_wanted(detail::link& with, std::span<job* const> jobs) {
        std::vector<job*> by_id{jobs.begin(), jobs.end()};
        std::sort(by_id.begin(), by_id.end(),
                  [](job const* left, job const* right) { return left->id < right->id; });
        std::size_t standing = 0;
        with.find(collection(), among(jobs), detail::entry_finder::stand_alone(), "look at entries",
                  [&](document const& one) {
                      auto const id = one.find("_id");
                      if (!id || !id->text()) return;
                      auto const at = std::lower_bound(
                          by_id.begin(), by_id.end(), *id->text(),
                          [](job const* work, std::string_view wanted) {
                              return work->id < wanted;
                          });
                      if (at == by_id.end() || (*at)->id != *id->text()) return;
                      if (finder_.stands(one, (*at)->coordinator.change())) ++standing;
                  });
        return standing == jobs.size();
    }

    void change_each(std::span<job* const> jobs, write_context const& at) {
        auto with = server_->connect();
        for (auto* const work : jobs) {
            auto const wanted = work->coordinator.change();
            auto const result =
                change_one(with, *work, wanted, codec_.change_of(*work, wanted, at));
            say_of_one(*work, result);
            if (!detail::is_slow_change(result.problem)) continue;
            work->problem.text = detail::text_of_slow_change(described(*work));
            // The next attempt is a native transaction, which detects a held entry at once.
            held_up_->note(work->id, true);
        }
    }

    /// Changes an entry if it still has the required state and epoch.
    detail::bulk_result change_one(detail::link& with, job const& work, transition const& wanted,
                                   document const& change) const {
        auto const change_by = [&](auto&& one) {
            one.update(finder_.filter_of(work.id, wanted), change);
            return one.execute("change an entry");
        };
        // Other native transactions may hold the entry, so the update must not wait long for them.
        if (server_->has_transactions() && !with.in_transaction()) {
            return change_by(detail::brief_updates{with, collection()});
        }
        return change_by(detail::bulk{with, collection()});
    }
    static void say_of_one(job& work, detail::bulk_result const& result) {
        settle::detail::say(work, detail::ending_of(result));
        if (!result.refused.empty()) refuse(work, result.refused.front().problem);
        else if (result.problem.empty() && result.matched == 0) work.reply = log_answer::conflict;
    }

    /// Only its owner writes under an epoch, so an entry with the new state and epoch was changed
    /// by this wave.
    void look_who_changed(std::span<job* const> jobs) {
        for (auto* const work : jobs) {
            auto const wanted = work->coordinator.change();
            auto const found = read(work->id);
            if (!found.has_value()) {
                work->reply = log_answer::unknown;
                work->problem = found.problem();
                continue;
            }
            auto const& here = found.value();
            bool const changed =
                here && here->state == wanted.to && here->epoch_number == wanted.to_epoch;
            work->reply = changed ? log_answer::taken : log_answer::conflict;
        }
    }

    /// Whether an id may be stored as a text, a number or an ObjectId. The server keeps new ids,
    /// which are texts, unique; other forms must be looked up.
    [[nodiscard]] bool has_several_forms() const noexcept {
        return codec_.layout().names.ids == id_kind::any;
    }

    /// Errors:  throws command_failure, as if the server had found the id
    void refuse_taken(detail::link& with, std::span<job* const> jobs) {
        bool taken = false;
        with.find(collection(), among(jobs), {}, "look for ids",
                  [&](document const&) { taken = true; });
        if (!taken) return;
        throw detail::command_failure(
            {{duplicate_key, mongodb_category()}, "an id is there in another form"}, false);
    }

    /// The stored form of an id, for a listing that continues behind it.
    document locator_of(detail::link& with, transaction_id const& id) {
        document locator;
        if (id.empty()) return locator;
        if (codec_.layout().is_tutorial()) {
            with.find(collection(), finder_.filter_of_any(id), {}, "read an entry",
                      [&](document one) { locator = std::move(one); });
            if (locator.empty()) locator = finder_.shown_id(id);
        }
        if (locator.empty()) codec_.layout().append_id(locator, "_id", id);
        return locator;
    }

    [[nodiscard]] std::string const& collection() const noexcept {
        return codec_.layout().names.transactions;
    }

    detail::server* server_;
    std::string name_;
    detail::entry_codec codec_;
    detail::entry_finder finder_;
    detail::entry_search search_;
    std::shared_ptr<detail::held_up> held_up_;
};

} // namespace mongodb
SETTLE_END
