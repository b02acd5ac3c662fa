// SPDX-License-Identifier: BSL-1.0
// The effects of a search's operations on the log and the records.
#pragma once

#include <settle/protocol/call_rule.hpp>
#include <settle/testing/explore/bounds.hpp>
#include <settle/testing/explore/world.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Protocol, typename Records>
class operations {
public:
    /// The facts on which the result of a request depends, and which a search varies.
    struct choice {
        bool late = false;      ///< the receiver's clock has passed the last moment
        std::size_t answer = 0; ///< below possible_answers()
    };

    using coordinator_type = typename Protocol::coordinator_type;
    using world_type = world<coordinator_type, Records>;
    using transactions = std::vector<std::unique_ptr<model_transaction<Records>>>;
    using rules = typename Protocol::rules;

    /// False for a protocol that has two phases only.
    static constexpr bool knows_one_phase =
        requires(coordinator_type& m) { m.settled(log_answer::taken); };

    operations(transactions const& all, bounds const& within) : all_(all), within_(within) {}

    /// Shape:   chosen - of each_choice()
    call_answer execute(world_type& next, sent_operation const& sent, choice const& chosen) const {
        auto const& transaction = *all_[sent.transaction];
        if (prepared_model const* const model = transaction.prepared_of(sent.part)) {
            auto& row = next.prepared[transaction.prepared_row_of(sent.part)];
            prepared_request const request{sent.action, sent.under, sent.committed, sent.begins,
                                           chosen.answer};
            return {execute_prepared<rules>(row, *model, request), 0};
        }
        if (call_model const* const made = transaction.call_of(sent.part)) {
            return execute_call(next.rows[row_of(sent)], *made, received(sent, chosen));
        }
        bool const may_be_lost =
            within_.store_crashes != 0 && (within_.own_parts >> sent.part & 1U) == 0;
        auto const before = may_be_lost ? std::optional{next.data} : std::nullopt;
        auto const reply =
            transaction.execute(next.data, sent.action, sent.part, sent.under, sent.committed);
        if (before) note_write(next, *before, sent.lazy);
        return {reply, 0,
                reply == answer::other_call ? transaction.mark_epoch(next.data, sent.part) : 0};
    }

    /// As execute(), at a receiver that stops between its row and its effect. False if it cannot.
    bool execute_half(world_type& next, sent_operation const& sent, choice const& chosen) const {
        call_model const& made = *all_[sent.transaction]->call_of(sent.part);
        return testing::execute_half(next.rows[row_of(sent)], made, received(sent, chosen));
    }

    /// Calls `function(choice)` for each clock and answer that the target of a part may have.
    template <typename Function>
    void each_choice(world_type const& now, sent_operation const& sent, Function&& function) const {
        auto const& transaction = *all_[sent.transaction];
        if (prepared_model const* const model = transaction.prepared_of(sent.part)) {
            std::size_t const count = possible_answers(*model, sent.action, sent.begins);
            for (std::size_t at = 0; at < count; ++at) function(choice{false, at});
            return;
        }
        call_model const* const call_model = transaction.call_of(sent.part);
        if (call_model == nullptr) return function(choice{});
        for (bool const late : {false, true}) {
            if (!clock_allows(now, sent, late)) continue;
            std::size_t const count = possible_answers(now.rows[row_of(sent)], *call_model,
                                                       sent.action, sent.under, late);
            for (std::size_t at = 0; at < count; ++at) function(choice{late, at});
        }
    }

    /// The index of the row of a call's key.
    [[nodiscard]] std::size_t row_of(sent_operation const& sent) const {
        auto const name_in = [](auto const& of, call_model const& call) {
            return name_of_call<rules>(of.id(), call.name, std::nullopt);
        };
        auto const& transaction = *all_[sent.transaction];
        auto const name = name_in(transaction, *transaction.call_of(sent.part));
        for (auto const& other : all_) {
            for (std::size_t i = 0; i < other->calls.size(); ++i) {
                if (name_in(*other, other->calls[i]) == name) return other->first_row + i;
            }
        }
        return transaction.row_of(sent.part);
    }

    /// Shape:   m - the coordinator in this step; the caller passes the result to it
    log_answer settle_in_one_phase(world_type& next, sent_operation const& sent,
                                   coordinator_type& m) const {
        auto const& transaction = *all_[sent.transaction];
        model_entry& entry = next.entries[sent.transaction];
        for (std::size_t part = 0; part < transaction.parts(); ++part) {
            m.answered(part, transaction.execute(next.data, step::one_phase, part, sent.under, 0));
        }
        auto written = log_answer::held_back;
        bool const writes = m.decide_one_phase(within_.attempts, sent.old || entry.old);
        state const ends = m.insert_state();
        if (writes) {
            written = m.inserts() ? entry.template insert<rules>(ends, sent.under, sent.old)
                                  : entry.template change<rules>(m.change(), step::one_phase, true);
        }
        bool const done = writes && confirms_one_phase<rules>(written, ends);
        for (std::size_t part = 0; part < transaction.parts(); ++part) {
            if (m.answer_of(part) != answer::applied) continue;
            transaction.execute(next.data, done ? step::confirm : step::back_off, part, sent.under,
                                sent.under);
        }
        if (done && written == log_answer::taken) {
            transaction.commit(next.data);
            ++entry.commits;
        }
        return written;
    }

    /// A commit with the parts in the log's own store.
    /// Shape:   m - the coordinator in this step; null for a late write
    log_answer join(world_type& next, sent_operation const& sent, coordinator_type* m) const {
        auto const& transaction = *all_[sent.transaction];
        std::uint32_t applied = 0;
        for (std::size_t part = 0; part < transaction.parts(); ++part) {
            bool const is_joined = (sent.joined >> part & 1U) != 0;
            auto const reply =
                is_joined ? transaction.execute(next.data, step::one_phase, part, sent.under, 0)
                          : answer::applied;
            if (is_joined && reply == answer::applied) applied |= std::uint32_t{1} << part;
            if (m != nullptr) m->answered(part, reply);
        }
        bool const writes = applied == sent.joined;
        auto written = log_answer::held_back;
        if (writes) {
            written = next.entries[sent.transaction].template change<rules>(
                sent.change, step::commit, transaction.stages().confirms);
        }
        bool const done = writes && confirms_one_phase<rules>(written, state::applied);
        for (std::size_t part = 0; part < transaction.parts(); ++part) {
            if ((applied >> part & 1U) == 0) continue;
            transaction.execute(next.data, done ? step::confirm : step::back_off, part, sent.under,
                                sent.under);
        }
        if (written == log_answer::taken) {
            transaction.commit(next.data);
            ++next.entries[sent.transaction].commits;
        }
        return written;
    }

    /// The insert of a late entry, with the parts in the log's own store.
    /// Shape:   m - the coordinator in this step; the caller passes the result to it
    log_answer decide(world_type& next, sent_operation const& sent, coordinator_type& m) const {
        auto const& transaction = *all_[sent.transaction];
        model_entry& entry = next.entries[sent.transaction];
        if (entry.present && !may_replace<rules>(entry.now, 0)) return log_answer::conflict;
        for (std::size_t part = 0; part < transaction.parts(); ++part) {
            bool const is_own = (sent.joined >> part & 1U) != 0;
            m.answered(part,
                       is_own ? transaction.execute(next.data, step::one_phase, part, sent.under, 0)
                              : answer::applied);
        }
        auto written = log_answer::held_back;
        bool const is_late = rules::late_entries_expire && sent.old;
        if (m.decide_one_phase(within_.attempts, is_late)) {
            written = entry.template insert<rules>(m.insert_state(), sent.under, sent.old);
        }
        bool const commits = written == log_answer::taken && m.why() == reason::none;
        if (commits) {
            entry.now.committed = sent.under;
            transaction.commit(next.data);
            ++entry.commits;
        }
        for (std::size_t part = 0; part < transaction.parts(); ++part) {
            if ((sent.joined >> part & 1U) == 0 || m.answer_of(part) != answer::applied) continue;
            transaction.execute(next.data, commits ? step::confirm : step::back_off, part,
                                sent.under, sent.under);
        }
        return written;
    }

    log_answer perform_at_log(world_type& next, sent_operation const& sent) const {
        model_entry& entry = next.entries[sent.transaction];
        if (only_inserts(sent.action)) {
            if (!entry.present && entry.first_epoch == 0 && !rules::first_epochs_differ)
                entry.first_epoch = sent.under;
            if (sent.old && has_last_moment<rules>(sent.change)) return log_answer::unavailable;
            log_answer const written =
                entry.template insert<rules>(sent.inserts, sent.under, sent.old, sent.replaced);
            if (written == log_answer::taken) entry.now.stages_kept = sent.change.stages_kept;
            return written;
        }
        log_answer const written = entry.template change<rules>(
            sent.change, sent.action, all_[sent.transaction]->stages().confirms);
        if (written != log_answer::taken) return written;
        bool const decides = commits(sent.action);
        // A person who says that a pivot was not applied cancels with that reason.
        bool const is_closing = sent.action == step::cancel && sent.resolved != 0;
        if (stores_results<rules>(sent.action) || is_closing) {
            entry.results = sent.results;
            entry.resolved = sent.resolved;
            entry.ever_resolved = static_cast<std::uint8_t>(entry.ever_resolved | sent.resolved);
        }
        if (decides) {
            all_[sent.transaction]->commit(next.data);
            ++entry.commits;
        }
        return written;
    }

    /// Performs a late operation on the log.
    log_answer land(world_type& next, sent_operation const& sent) const {
        if constexpr (knows_one_phase) {
            if (sent.action == step::one_phase) return land_one_phase(next, sent);
            if (sent.action == step::decide) return land_decision(next, sent);
            if (sent.joined != 0) return join(next, sent, nullptr);
        }
        return perform_at_log(next, sent);
    }

    /// The store of the parts elsewhere stops. It has lost the last of its unforced writes.
    /// Shape:   kept - the number of unforced writes that it still has
    void crash_store(world_type& next, std::size_t kept) const {
        for (auto const& transaction : all_) {
            for (std::size_t part = 0; part < transaction->records(); ++part) {
                if ((within_.own_parts >> part & 1U) != 0) continue;
                transaction->give_back(next.data, next.unforced[kept], part);
            }
        }
        next.unforced.clear();
        ++next.store_crashes;
        for (auto& worker : next.workers) {
            step const current = worker.coordinator.next();
            bool const confirms = current == step::confirm || current == step::force;
            worker.is_cut = worker.is_cut || (worker.what != role::idle && confirms);
        }
    }

private:
    /// A write that changed nothing forces nothing.
    static void note_write(world_type& next, Records const& before, bool lazy) {
        auto const print_of = [](Records const& records) {
            fingerprint print;
            records.for_each_cell([&](auto const& cell) { print.add(cell.print); });
            return print;
        };
        if (print_of(before) == print_of(next.data)) return;
        if (lazy) next.unforced.push_back(before);
        else next.unforced.clear();
    }

    /// True if the receiver's clock may be on this side of the last moment of a call.
    static bool clock_allows(world_type const& now, sent_operation const& sent, bool late) {
        if (!rules::last_moment) return !late;
        model_entry const& here = now.entries[sent.transaction];
        bool const passed = sent.old || here.closed;
        return late ? passed || here.passing : !passed;
    }
    static received_call received(sent_operation const& sent, choice const& chosen) {
        return {sent.action, sent.under, sent.results, chosen.late, chosen.answer, sent.closes};
    }

    log_answer land_one_phase(world_type& next, sent_operation const& sent) const {
        std::size_t const parts = all_[sent.transaction]->parts();
        standing const before{state::initial, sent.change.from_epoch, 0, sent.change.attempts};
        coordinator_type m =
            sent.change.from_epoch == 0
                ? coordinator_type::begin(parts, sent.under, goal::run, phases::one)
                : coordinator_type::take(parts, before, phases::one);
        return settle_in_one_phase(next, sent, m);
    }

    log_answer land_decision(world_type& next, sent_operation const& sent) const {
        std::size_t const parts = all_[sent.transaction]->parts();
        auto m = coordinator_type::begin(parts, sent.under, goal::run, phases::late);
        for (std::size_t part = 0; part < parts; ++part) m.answered(part, answer::applied);
        m.decide(within_.attempts);
        return decide(next, sent, m);
    }

    transactions const& all_;
    bounds const& within_;
};

} // namespace testing
SETTLE_END
