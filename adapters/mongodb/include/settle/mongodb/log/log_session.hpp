// SPDX-License-Identifier: BSL-1.0
// The log of one database: a collection of entries.
#pragma once

#include <settle/adapter/sent_write.hpp>
#include <settle/adapter/wave_port.hpp>
#include <settle/mongodb/connection/native.hpp>
#include <settle/mongodb/log/entry_search.hpp>
#include <settle/mongodb/log/named_log.hpp>
#include <settle/mongodb/log/purge.hpp>

#include <unordered_map>

SETTLE_BEGIN
namespace mongodb {

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    a wave is one bulk of writes, acknowledged by the database's write concern; a wave that
///          changes several entries in a replica set is a read of them, that bulk and a commit
class log_session : public named_log {
public:
    static constexpr bool keeps_at_insert = true;
    /// An insert expires in a native transaction alone.
    [[nodiscard]] settle::detail::session_capabilities capabilities() const {
        auto own = settle::detail::capabilities_of<log_session>();
        own.keeps_at_insert = server_->has_transactions() && entries_->is_own;
        return own;
    }

    log_session(detail::server& server, detail::stored_log stored,
                detail::entry_layout const& layout = detail::own_entries())
        : named_log(server, std::move(stored), layout), server_(&server), entries_(&layout),
          search_(server, layout), held_up_(std::make_shared<detail::held_up>()) {}

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        if (writes.empty()) return;
        auto pairs = settle::detail::sent_writes(writes, results);
        step const action = writes.front().action;
        // Only the count of a claim's own write tells whether that claim won.
        bool const contended = action == step::claim || action == step::cancel;
        if (writes.front().inserts) insert(std::move(pairs), context);
        else if (server_->has_transactions()) change_together(pairs, context);
        else if (pairs.size() > 1 && !contended) change_all_apart(pairs, context);
        else change_each(pairs, context);
    }

    /// Cost:    as entry_search::look_up()
    void look_up(std::span<read_request const> requests, found_function found) {
        search_.look_up(requests, found);
    }

    result<std::optional<entry>> read(transaction_id const& id) { return search_.read(id); }

    /// A page of entries, as entry_search::list() gives it.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        return search_.list(filter, after, limit);
    }

    /// As detail::purge_entries() does it.
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing) {
        return detail::purge_entries(*server_, *entries_, before, limit, passed);
    }

    // ------------------------------------------------------------ inside a native transaction

    [[nodiscard]] detail::entry_search const& search() const noexcept { return search_; }

    /// Inserts the entries of one-phase requests.
    /// Errors:  throws command_failure
    void insert_within(detail::link& client, std::span<one_phase_request* const> requests,
                       write_context const& context) {
        detail::within_database const within{client, server_->database()};
        if (has_several_forms()) refuse_taken(client, requests);
        detail::bulk writes{client, collection()};
        for (auto const* const request : requests)
            writes.insert(document_of(request->write, context));
        auto const result = writes.execute("insert entries");
        for (auto const* const request : requests) check_in_time(request->write, context);
        if (result.problem.empty()) return;
        throw detail::command_failure(problem_of(result, requests.size(), *requests.front()->id),
                                      result.transient);
    }

    /// Changes the entry of a one-phase request if it still has the required state, epoch and
    /// revision.
    void change_within(detail::link& client, one_phase_request& request,
                       write_context const& context) {
        detail::within_database const within{client, server_->database()};
        entry_write const& write = request.write;
        auto const result =
            change_one(client, *write.id, write.change, entries_->change_of(write, context));
        if (!result.problem.empty()) {
            throw detail::command_failure(unfit(problem_of(result, 1, *write.id)),
                                          result.transient);
        }
        request.result.reply = result.matched == 1 ? log_answer::taken : log_answer::conflict;
    }

    /// Stores the committed epoch of an entry that another program committed without an epoch.
    /// Shape:   current - the entry's epoch, to which the transaction's marks were raised
    [[nodiscard]] write_result store_commit(transaction_id const& id, epoch current) {
        transition required;
        required.from = state::applied;
        required.from_epoch = current;
        auto client = server_->connect();
        write_result answered;
        set_result_of_one(
            answered, change_one(client, id, required, detail::entry_layout::commit_of(current)));
        return answered;
    }

    /// Whether an insert failed because its id exists.
    [[nodiscard]] static bool is_of_taken_id(error const& problem) {
        return problem.code == std::error_code{duplicate_key, mongodb_category()};
    }
    /// The answers to inserts whose ids exist.
    /// Shape:   surely - also finds an entry that no majority has yet, which waits for a majority
    [[nodiscard]] result<settle::detail::existing_ids>
    find_taken(std::vector<transaction_id const*> ids, bool surely) {
        settle::detail::existing_ids taken;
        try {
            note_taken(ids, taken, {});
            std::erase_if(ids, [&](auto const* id) { return taken.contains(*id); });
            document sure = surely ? server_->deciding_read() : document{};
            if (!sure.empty() && !ids.empty()) note_taken(ids, taken, std::move(sure));
        } catch (failure const& caught) {
            return caught.problem();
        }
        return taken;
    }

private:
    using document = detail::document;
    using sent_write = settle::detail::sent_write;
    using sent_writes = std::vector<sent_write>;
    using some_writes = std::span<sent_write const>;

    void insert(sent_writes pairs, write_context const& context) {
        if (has_several_forms()) {
            auto const taken = find_taken(ids_of(pairs), true);
            if (!taken.has_value()) {
                return set_results(pairs, {detail::commit_status::undone, taken.problem()});
            }
            std::erase_if(pairs, [&](sent_write const& sent) {
                auto const existing = taken.value().find(*sent.id);
                if (existing == taken.value().end()) return false;
                sent.result->reply = existing->second;
                return true;
            });
            if (pairs.empty()) return;
        }
        auto client = server_->connect();
        std::erase_if(pairs, [&](sent_write const& sent) {
            bool const replaces = sent.write->replaces_bar();
            if (replaces) replace_bar(client, sent, context);
            return replaces;
        });
        if (server_->has_transactions()) {
            auto const timed =
                std::stable_partition(pairs.begin(), pairs.end(),
                                      [](auto const& sent) { return !sent.write->expires(); });
            detail::in_halves(some_writes{timed, pairs.end()},
                              [&](some_writes half) { return insert_in_time(half, context); });
            pairs.erase(timed, pairs.end());
        }
        if (pairs.empty()) return;
        detail::bulk writes{client, collection()};
        remove_unfit(pairs, context, [&](document const& inserted) { writes.insert(inserted); });
        auto const result = writes.execute("insert entries");
        set_results(pairs, detail::commit_result_of(result));
        for (auto const& one : result.refused) refuse(*pairs[one.index].result, one.problem);
    }

    /// Inserts entries that expire. The server ends the native transaction if this process stands
    /// still after it has looked at the clock. False if one of several ids exists.
    bool insert_in_time(some_writes writes, write_context const& context) const {
        auto const insert = [&](detail::link& client) {
            detail::bulk bulk{client, collection()};
            for (auto const& sent : writes) bulk.insert(document_of(*sent.write, context));
            auto const result = bulk.execute("insert entries");
            if (!result.problem.empty()) {
                throw detail::command_failure(result.problem, result.transient);
            }
            for (auto const& sent : writes) check_in_time(*sent.write, context);
        };
        auto const ended = detail::native_transaction{*server_}.perform(
            insert, detail::effort_for(writes.size(), true).longest);
        bool const is_undone = ended.status == detail::commit_status::undone;
        if (is_undone && writes.size() > 1 && ended.problem.code != condition::retryable) {
            return false;
        }
        set_results(writes, ended);
        if (is_undone) refuse(*writes.front().result, ended.problem);
        return true;
    }
    /// Errors:  throws settle::failure if the write takes no effect any more
    static void check_in_time(entry_write const& write, write_context const& context) {
        if (!write.expires() || context.time() <= write.last_moment) return;
        throw failure({make_error_code(errc::store_unreachable),
                       "settle: the transaction '" + *write.id +
                           "' is older than options::lifetime, so it is not decided"});
    }

    /// Inserts an entry in place of a bar. If the bar is gone, the answer is `conflict`.
    void replace_bar(detail::link& client, sent_write const& sent,
                     write_context const& context) const {
        detail::brief_updates update{client, collection()};
        try {
            update.update(entries_->filter_of(*sent.id, sent.write->change),
                          document_of(*sent.write, context));
        } catch (failure const& caught) {
            return settle::detail::set_result(*sent.result,
                                              {detail::commit_status::undone, caught.problem()});
        }
        auto const result = update.execute("replace a bar");
        settle::detail::set_result(*sent.result, detail::commit_result_of(result));
        if (result.problem.empty() && result.matched == 0) {
            sent.result->reply = log_answer::conflict;
        }
    }

    static void set_results(some_writes all, settle::detail::commit_result const& ended) {
        for (auto const& one : all) settle::detail::set_result(*one.result, ended);
    }

    /// Answers the writes whose entries no document can hold, and removes them.
    /// Shape:   take(document) - takes the entry of each write that stays
    template <typename Take>
    void remove_unfit(sent_writes& writes, write_context const& context, Take&& take) const {
        std::erase_if(writes, [&](sent_write const& sent) {
            try {
                check_in_time(*sent.write, context);
                take(document_of(*sent.write, context));
                return false;
            } catch (failure const& caught) {
                settle::detail::set_result(*sent.result,
                                           {detail::commit_status::undone, caught.problem()});
                return true;
            }
        });
    }

    /// Shape:   sure - the options of a linearizable find; empty for any other
    /// Errors:  throws settle::failure
    void note_taken(std::vector<transaction_id const*> const& ids,
                    settle::detail::existing_ids& taken, document sure) {
        document fields;
        document options;
        options.object("projection", fields.integer("_id", 1).integer(states(), 1));
        detail::find_surely(*server_, collection(), among(ids), std::move(sure), options,
                            "look for ids", [&](document const& existing) {
                                auto const id = existing.find("_id");
                                if (id && id->id()) taken.emplace(*id->id(), refusal_by(existing));
                            });
    }
    /// The answer of an existing entry to an insert of its id.
    [[nodiscard]] log_answer refusal_by(document const& entry_document) const {
        auto const stored = entry_document.find(states());
        state stored_state = state::initial;
        bool const ends = stored && stored->text() &&
                          entries_->read_state(*stored->text(), stored_state) &&
                          is_final(stored_state) && stored_state != state::barred;
        return ends ? log_answer::ended : log_answer::conflict;
    }
    [[nodiscard]] std::string const& states() const noexcept { return entries_->state_field; }

    /// Matches entries by their ids.
    [[nodiscard]] document among(std::vector<transaction_id const*> const& wanted) const {
        document ids;
        std::size_t count = 0;
        for (auto const* const id : wanted) entries_->append_forms(ids, *id, count);
        document any;
        any.array("$in", ids);
        return detail::only("_id", any);
    }
    [[nodiscard]] static std::vector<transaction_id const*> ids_of(some_writes writes) {
        std::vector<transaction_id const*> ids;
        for (auto const& write : writes) ids.push_back(write.id);
        return ids;
    }

    /// Errors:  throws errc::bad_parameters when no document can hold the entry
    [[nodiscard]] document document_of(entry_write const& write,
                                       write_context const& context) const {
        auto encoded = entries_->encode(write, context);
        if (encoded.size() <= detail::largest_document) return encoded;
        detail::raise(errc::bad_parameters,
                      "settle: with these parameters the entry of '" + *write.id + "' takes " +
                          std::to_string(encoded.size()) + " bytes, and a document of MongoDB " +
                          std::to_string(detail::largest_document) +
                          " at most. Give it less. See mongodb#errors");
    }

    /// Why entries could not be written; the error of a single write names its entry.
    [[nodiscard]] error problem_of(detail::bulk_result const& result, std::size_t count,
                                   transaction_id const& first) const {
        if (count != 1 || !detail::is_conflict(result.problem)) return result.problem;
        return detail::held_by_another(described(first));
    }
    /// The name of an entry in an error.
    [[nodiscard]] std::string described(transaction_id const& id) const {
        return "the entry '" + id + "' of '" + collection() + "'";
    }

    /// A document that grows too large concerns only its own entry, which cannot be committed.
    static error unfit(error problem) {
        if (!detail::is_too_large(problem.code)) return problem;
        problem.code = make_error_code(errc::bad_parameters);
        return problem;
    }

    static void refuse(write_result& answered, error const& problem) {
        if (is_of_taken_id(problem)) {
            answered.reply = log_answer::conflict;
            return;
        }
        answered.problem = unfit(problem);
        answered.reply = problem.code == condition::unknown
                             ? log_answer::unknown
                             : settle::detail::answer_of_undone(answered.problem);
    }

    /// Changes entries in native transactions. An entry that another transaction holds fails alone.
    void change_together(some_writes writes, write_context const& context) {
        settle::detail::for_each_run(
            writes, [&](sent_write const& write) { return held_up_->contains(*write.id); },
            [&](some_writes some, bool held) {
                if (some.size() == 1 && !held) return change_each(some, context);
                bool first = !held;
                detail::in_halves(some, [&](some_writes half) {
                    auto const how = detail::effort_for(half.size(), std::exchange(first, false));
                    return change_all(half, context, how);
                });
            });
    }

    /// Changes all entries at once; if some do not match, each is tried alone. False when another
    /// native transaction holds one of several entries.
    bool change_all(some_writes writes, write_context const& context, detail::effort how) {
        bool const is_single = writes.size() == 1;
        bool all_changed = true;
        // The client returns to the pool before another is taken: the pool may be exhausted.
        auto const try_all = [&](detail::link& client) {
            all_changed = all_are_changed(change_in_bulk(client, writes, context), writes);
            // The exception aborts the native transaction.
            if (!all_changed)
                throw failure({make_error_code(errc::stopped), "not all entries match"});
        };
        auto const ended = detail::native_transaction{*server_}.perform(try_all, how.longest);
        bool const held = detail::is_conflict(ended);
        if (is_single) held_up_->note(*writes.front().id, held);
        if (held && !is_single) return false;
        bool const of_one = ended.status == detail::commit_status::undone &&
                            detail::is_too_large(ended.problem.code);
        if (all_changed && !of_one) set_results(writes, ended);
        else change_each(writes, context);
        return true;
    }

    /// Without native transactions, the successful changes stay.
    void change_all_apart(some_writes writes, write_context const& context) {
        auto const result = [&] {
            auto with = server_->connect();
            return change_in_bulk(with, writes, context);
        }();
        bool const of_one = result.untouched && detail::is_too_large(result.problem.code);
        if (of_one) return change_each(writes, context);
        bool const some = result.problem.empty() && !all_are_changed(result, writes);
        if (some) find_changed(writes);
        else set_results(writes, detail::commit_result_of(result));
        for (auto const& one : result.refused) refuse(*writes[one.index].result, one.problem);
    }

    static bool all_are_changed(detail::bulk_result const& result, some_writes all) {
        return result.problem.empty() && result.matched == static_cast<std::int64_t>(all.size());
    }

    /// Errors:  in a native transaction, throws command_failure
    detail::bulk_result change_in_bulk(detail::link& client, some_writes pairs,
                                       write_context const& context) {
        // A native transaction writes only over the state that it has read. Reading first spares
        // the server a plan for each update: an update by _id alone takes a third of the time.
        bool const looked = client.in_transaction() && entries_->is_own;
        if (looked && !all_match(client, pairs)) return {};
        detail::bulk writes{client, collection()};
        for (auto const& sent : pairs) {
            auto const filter = looked ? entries_->filter_of(*sent.id)
                                       : entries_->filter_of(*sent.id, sent.write->change);
            writes.update(filter, entries_->change_of(*sent.write, context));
        }
        auto result = writes.execute("change entries");
        if (client.in_transaction() && !result.problem.empty()) {
            throw detail::command_failure(problem_of(result, pairs.size(), *pairs.front().id),
                                          result.transient);
        }
        return result;
    }

    /// Shape:   writes - of different ids
    /// Errors:  throws command_failure
    bool all_match(detail::link& client, some_writes writes) {
        std::unordered_map<std::string_view, transition const*> changes;
        for (auto const& one : writes) changes.emplace(*one.id, &one.write->change);
        std::size_t matching = 0;
        client.find(collection(), among(ids_of(writes)), detail::entry_layout::options_for_match(),
                    "look at entries", [&](document const& stored) {
                        auto const id = stored.find("_id");
                        if (!id || !id->text()) return;
                        auto const at = changes.find(*id->text());
                        if (at != changes.end() && entries_->matches(stored, *at->second))
                            ++matching;
                    });
        return matching == writes.size();
    }

    void change_each(some_writes writes, write_context const& context) {
        auto client = server_->connect();
        for (auto const& sent : writes) {
            auto const result = change_one(client, *sent.id, sent.write->change,
                                           entries_->change_of(*sent.write, context));
            set_result_of_one(*sent.result, result);
            if (!detail::is_slow_change(result.problem)) continue;
            sent.result->problem.text = detail::text_of_slow_change(described(*sent.id));
            // The next attempt is a native transaction, which detects a held entry at once.
            held_up_->note(*sent.id, true);
        }
    }

    /// Changes an entry if it still has the required state, epoch and revision.
    detail::bulk_result change_one(detail::link& client, transaction_id const& id,
                                   transition const& required, document const& change) const {
        auto const change_by = [&](auto&& sent) {
            sent.update(entries_->filter_of(id, required), change);
            return sent.execute("change an entry");
        };
        // Other native transactions may hold the entry, so the update must not wait long for them.
        if (server_->has_transactions() && !client.in_transaction()) {
            return change_by(detail::brief_updates{client, collection()});
        }
        return change_by(detail::bulk{client, collection()});
    }
    static void set_result_of_one(write_result& answered, detail::bulk_result const& result) {
        settle::detail::set_result(answered, detail::commit_result_of(result));
        if (!result.refused.empty()) refuse(answered, result.refused.front().problem);
        else if (detail::is_too_large(result.problem.code)) refuse(answered, result.problem);
        else if (result.problem.empty() && result.matched == 0)
            answered.reply = log_answer::conflict;
    }

    /// Answers writes whose entries may have changed. Only its owner writes under an epoch, so an
    /// entry with the new state, epoch and revision was changed by this call.
    void find_changed(some_writes writes) {
        for (auto const& sent : writes) {
            auto const looked_up = read(*sent.id);
            if (!looked_up.has_value()) {
                sent.result->reply = log_answer::unknown;
                sent.result->problem = looked_up.problem();
                continue;
            }
            auto const& current = looked_up.value();
            transition const& change = sent.write->change;
            bool const changed = current && current->state == change.to &&
                                 current->epoch_number == change.to_epoch &&
                                 current->revision == change.to_revision;
            sent.result->reply = changed ? log_answer::taken : log_answer::conflict;
        }
    }

    /// Whether an id may be stored as a text, a number or an ObjectId. The server keeps new ids,
    /// which are texts, unique; other forms must be looked up.
    [[nodiscard]] bool has_several_forms() const noexcept { return entries_->has_several_forms; }

    /// Errors:  throws command_failure, as if the server had found the id
    void refuse_taken(detail::link& client, std::span<one_phase_request* const> requests) {
        bool taken = false;
        std::vector<transaction_id const*> ids;
        for (auto const* const request : requests) ids.push_back(request->id);
        client.find(collection(), among(ids), {}, "look for ids",
                    [&](document const&) { taken = true; });
        if (!taken) return;
        throw detail::command_failure(
            {{duplicate_key, mongodb_category()}, "an id is there in another form"}, false);
    }

    [[nodiscard]] std::string const& collection() const noexcept { return entries_->collection; }

    detail::server* server_;
    detail::entry_layout const* entries_;
    detail::entry_search search_;
    std::shared_ptr<detail::held_up> held_up_;
};

} // namespace mongodb
SETTLE_END
