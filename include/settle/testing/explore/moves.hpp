// SPDX-License-Identifier: BSL-1.0
// The successors of a state of a search.
#pragma once

#include <settle/testing/explore/beginnings.hpp>
#include <settle/testing/explore/trace_text.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Protocol, typename Records>
class moves : beginnings<Protocol, Records> {
    using base = beginnings<Protocol, Records>;
    using base::all_;
    using base::knows_one_phase;
    using base::within_;

public:
    using typename base::mind;
    using typename base::rules;
    using typename base::transactions;
    using typename base::worker;
    using typename base::world_type;

    moves(transactions const& all, bounds const& within)
        : base(all, within), operations_(all, within) {}

    /// Calls `function(world&&, move_kind, describe)` for every successor, always in the same
    /// order; `describe()` returns the text of the move.
    template <typename Function>
    void each(world_type const& now, Function&& function) const {
        for (std::size_t i = 0; i < now.workers.size(); ++i) {
            // Workers with equal fingerprints have equal moves.
            bool const same = i > 0 && now.workers[i].print() == now.workers[i - 1].print();
            if (same) continue;
            auto const branch = [&](move_kind kind, auto&& change, auto&& describe) {
                world_type next = now;
                change(next, next.workers[i]);
                function(std::move(next), kind,
                         [&] { return name(now.workers[i]) + ": " + std::string{describe()}; });
            };
            if (now.workers[i].what == role::idle) this->begin_something(now, branch);
            else go_on(now, now.workers[i], branch);
        }
        for (std::size_t i = 0; i < now.flights.size(); ++i) land(now, i, function);
        if (within_.ages) age(now, function);
    }

    /// Puts a state into its canonical form.
    void canonize(world_type& state) const {
        for (std::size_t i = 0; i < all_.size(); ++i) state.rename_epochs(i, all_[i]->id());
        state.canonize(within_.attempts);
    }

    /// The records, marks and receivers of a state.
    [[nodiscard]] std::string text_of(world_type const& shown) const {
        std::string out = shown.data.text();
        for (auto const& one : all_) out += testing::text_of(shown.rows, *one);
        return out;
    }

private:
    // ----------------------------------------------------------------------- moves of busy workers

    template <typename Branch>
    void go_on(world_type const& now, worker const& me, Branch const& branch) const {
        if (within_.crashes) {
            branch(
                move_kind::outside, [](world_type&, worker& w) { w.rest(); },
                [] { return "crashes"; });
        }
        if (me.what == role::sweeper && me.found_stray) undo_stray(me, branch);
        else if (me.what == role::sweeper && me.mind.next() == step::end) check_mark(me, branch);
        else advance(now, me, branch);
    }

    template <typename Branch>
    void undo_stray(worker const& me, Branch const& branch) const {
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                all_[me.transaction]->execute(next.data, step::back_off, me.part, me.marked, 0);
                w.rest();
            },
            [] { return "undoes the stray mark"; });
    }

    template <typename Branch>
    void check_mark(worker const& me, Branch const& branch) const {
        bool const stray =
            is_stray({me.mind.state(), 0, me.mind.committed(), 0}, me.marked);
        branch(
            move_kind::protocol,
            [&](world_type&, worker& w) {
                if (stray) w.found_stray = true;
                else w.rest();
            },
            [&] { return stray ? "finds the mark stray" : "finds the mark live"; });
    }

    /// One step of a coordinator: the worker gets an answer, or the outcome is unknown.
    template <typename Branch>
    void advance(world_type const& now, worker const& me, Branch const& branch) const {
        auto const alone = [&](auto&& change, char const* words) {
            branch(
                move_kind::protocol, [&](world_type&, worker& w) { change(w); },
                [&] { return words; });
        };
        switch (me.mind.next()) {
        case step::end: return end(me, branch);
        case step::pause: return alone([](worker& w) { w.mind.resume(); }, "goes on");
        case step::wait: return alone([](worker& w) { w.mind.look_again(); }, "looks again");
        case step::read: return read(now, me, branch);
        case step::one_phase:
            if constexpr (knows_one_phase) settle_in_one_phase(now, me, branch);
            return;
        case step::apply:
        case step::confirm:
        case step::compensate:
        case step::back_off: return ask_parts(now, me, branch);
        default: return ask_log(now, me, branch);
        }
    }

    template <typename Branch>
    void end(worker const& me, Branch const& branch) const {
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                if (is_final(me.mind.state()))
                    next.entries[me.transaction].check_outcome(me.mind.state());
                w.rest();
            },
            [&] { return "ends with the outcome " + std::string{name_of(me.mind.state())}; });
    }

    template <typename Branch>
    void read(world_type const& now, worker const& me, Branch const& branch) const {
        std::size_t const t = me.transaction;
        model_entry const& here = now.entries[t];
        if (!here.present) {
            bool const leaves = me.what == role::sweeper && !rules::sweeps_unlogged;
            branch(
                move_kind::protocol,
                [&](world_type& next, worker& w) {
                    view_of_entry view;
                    view.fresh = this->fresh(next, t);
                    if (leaves) w.rest();
                    else w.mind.found_nothing(view);
                },
                [] { return "reads nothing"; });
            return;
        }
        for (bool const abandoned : {false, true}) {
            if (abandoned && is_final(here.now.state)) continue;
            branch(
                move_kind::protocol,
                [&](world_type&, worker& w) {
                    view_of_entry view;
                    view.abandoned = abandoned;
                    w.mind.found(here.now, view);
                    w.results = here.results;
                },
                [&] {
                    return "reads " + std::string{name_of(here.now.state)} +
                           (abandoned ? " and takes it over" : "");
                });
        }
    }

    template <typename Branch>
    void ask_log(world_type const& now, worker const& me, Branch const& branch) const {
        flight sent;
        sent.transaction = me.transaction;
        sent.at = me.mind.next();
        sent.inserts = me.mind.insert_state();
        sent.under = sent.at == step::insert ? me.mind.insert_epoch() : 0;
        sent.change = me.mind.change();
        if constexpr (knows_one_phase) {
            if (sent.at == step::insert) sent.change.stages_kept = me.mind.stages_kept();
        }
        sent.old = me.old;
        if (sent.at == step::keep || commits(sent.at)) sent.results = me.results;
        log_answer reply{};
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                reply = operations_.perform_at_log(next, sent);
                give_answer(w.mind, sent, reply, next.entries[me.transaction].old);
            },
            [&] { return text(sent) + words(reply); });
        if constexpr (requires(mind& m) { m.cancel_for(reason::none); }) {
            if (within_.refusals && (commits(sent.at) || sent.at == step::keep)) {
                branch(
                    move_kind::outside,
                    [](world_type&, worker& w) { w.mind.cancel_for(reason::record_unusable); },
                    [&] { return text(sent) + ": never"; });
            }
        }
        may_be_late(now, sent, branch, [&](world_type& next, worker& w) {
            give_answer(w.mind, sent, log_answer::unknown, next.entries[me.transaction].old);
        });
    }

    /// The worker gets `unknown`; the operation takes effect later or never.
    template <typename Branch, typename Answer>
    void may_be_late(world_type const& now, flight const& sent, Branch const& branch,
                     Answer const& answer_unknown) const {
        if (now.flights.size() + now.late >= within_.late_writes) return;
        branch(
            move_kind::outside,
            [&](world_type& next, worker& w) {
                next.flights.push_back(sent);
                answer_unknown(next, w);
            },
            [&] { return text(sent) + ": unknown"; });
    }

    /// One phase: one native transaction executes all parts and writes the entry.
    template <typename Branch>
    void settle_in_one_phase(world_type const& now, worker const& me, Branch const& branch) const {
        flight sent;
        sent.transaction = me.transaction;
        sent.at = step::one_phase;
        sent.under = me.mind.one_phase_epoch();
        if (!me.mind.inserts()) sent.change = me.mind.change();
        sent.old = me.old;
        log_answer reply{};
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                reply = operations_.settle_in_one_phase(next, sent, w.mind);
                w.mind.settled(reply);
            },
            [&] { return text(sent) + words(reply); });
        may_be_late(now, sent, branch,
                    [](world_type&, worker& w) { w.mind.settled(log_answer::unknown); });
    }

    template <typename Branch>
    void ask_parts(world_type const& now, worker const& me, Branch const& branch) const {
        bool any = false;
        for (std::size_t part = 0; part < me.mind.parts(); ++part) {
            if (!due(me, part)) continue;
            any = true;
            flight const sent = request(me, part);
            for (std::size_t chosen = 0; chosen < operations_.answers_to(now, sent); ++chosen) {
                call_answer reply{};
                branch(
                    move_kind::protocol,
                    [&](world_type& next, worker& w) {
                        reply = operations_.execute(next, sent, chosen);
                        take_answer(w, sent, reply);
                        decide(next, w);
                    },
                    [&] { return text(sent) + ": " + words_of(reply); });
            }
            if constexpr (knows_one_phase) {
                if (within_.requeues && sent.at == step::apply && me.mind.may_start_over()) {
                    ask_and_requeue(now, me, sent, branch);
                }
            }
            may_be_late(now, sent, branch, [&](world_type& next, worker& w) {
                w.mind.answered(part, answer::unknown);
                decide(next, w);
            });
        }
        if (!any) {
            branch(
                move_kind::protocol, [&](world_type& next, worker& w) { decide(next, w); },
                [] { return "has no part to send"; });
        }
        if constexpr (knows_one_phase) give_up(me, branch);
    }

    /// The driver's limit: it cancels while the outcome of a later stage is unknown.
    template <typename Branch>
    void give_up(worker const& me, Branch const& branch) const {
        if (!within_.cancels || me.mind.next() != step::apply || me.mind.stage() == 0) return;
        branch(
            move_kind::outside, [](world_type&, worker& w) { w.mind.cancel_for(reason::busy); },
            [] { return "gives up"; });
    }

    [[nodiscard]] flight request(worker const& me, std::size_t part) const {
        flight sent;
        sent.transaction = me.transaction;
        sent.part = static_cast<std::uint8_t>(part);
        sent.at = me.mind.next();
        sent.under = sent.at == step::compensate ? me.mind.latest() : me.mind.epoch_number();
        sent.committed = sent.at == step::confirm ? me.mind.committed() : 0;
        auto const& of = *all_[me.transaction];
        if (of.call_of(part) == nullptr) return sent;
        // The key of a call has no epoch.
        if (rules::keys_stay) sent.under = 0;
        sent.committed = 0;
        sent.burns = burns(me, part);
        if (sent.burns) sent.at = step::apply;
        if (sent.at == step::apply) sent.results = of.results_before(of.stage_of(part), me.results);
        return sent;
    }

    void take_answer(worker& w, flight const& sent, call_answer const& reply) const {
        std::size_t const part = sent.part;
        auto const& of = *all_[w.transaction];
        if (sent.burns && reply.what == answer::applied) {
            w.burned = static_cast<std::uint8_t>(w.burned | 1U << (part - of.records()));
            return;
        }
        if (sent.burns) {
            // A refused call has no effect to undo.
            bool const refused = reply.what == answer::refused;
            return w.mind.answered(part, refused ? answer::applied : answer::unavailable);
        }
        w.mind.answered(part, reply.what);
        if (reply.result == 0 || of.call_of(part) == nullptr) return;
        w.results = with_result(w.results, part - of.records(), reply.result);
    }

    /// True if the apply of a call must be answered before its compensation: its receiver remembers
    /// keys alone, so that a late apply could follow the compensation.
    [[nodiscard]] bool burns(worker const& me, std::size_t part) const {
        auto const& of = *all_[me.transaction];
        call_model const& made = *of.call_of(part);
        bool const burned = (me.burned >> (part - of.records()) & 1U) != 0;
        return rules::burns_first && me.mind.next() == step::compensate && !burned &&
               made.moments == call_moments::undoable &&
               made.grade.remembers == receiver_grade::memory::keys;
    }

    [[nodiscard]] bool due(worker const& w, std::size_t part) const {
        if constexpr (knows_one_phase) {
            return w.mind.due(part, all_[w.transaction]->stage_of(part));
        } else {
            return w.mind.due(part);
        }
    }

    /// After a wave's last answer, a batch may requeue the transaction behind an earlier
    /// transaction.
    template <typename Branch>
    void ask_and_requeue(world_type const& now, worker const& me, flight const& sent,
                         Branch const& branch) const {
        for (std::size_t part = 0; part < me.mind.parts(); ++part) {
            if (part != sent.part && due(me, part)) return;
        }
        auto const requeue = [&](world_type& next, worker& w, answer reply) {
            w.mind.answered(sent.part, reply);
            if (w.mind.fenced()) decide(next, w);
            else w.mind.requeue();
        };
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                requeue(next, w, operations_.execute(next, sent, 0).what);
            },
            [&] { return text(sent) + ", and is requeued"; });
        may_be_late(now, sent, branch,
                    [&](world_type& next, worker& w) { requeue(next, w, answer::unknown); });
    }

    /// Decides the wave once no part is due.
    void decide(world_type const& now, worker& w) const {
        for (std::size_t part = 0; part < w.mind.parts(); ++part) {
            if (due(w, part)) return;
        }
        w.mind.decide(within_.attempts);
        if constexpr (knows_one_phase) w.mind.look_at_age(now.entries[w.transaction].old);
    }

    static void give_answer(mind& to, flight const& sent, log_answer reply, bool old) {
        if constexpr (knows_one_phase) {
            if (sent.at == step::keep) return to.kept(reply);
        }
        switch (sent.at) {
        case step::insert: to.inserted(reply, old || sent.old); break;
        case step::claim: to.claimed(reply, old); break;
        case step::commit:
        case step::commit_and_close: to.committed(reply); break;
        case step::close: to.closed(reply); break;
        default: to.canceled(reply); break;
        }
    }

    // ------------------------------------------------------------------ late operations and age

    template <typename Function>
    void land(world_type const& now, std::size_t i, Function& function) const {
        flight const landing = now.flights[i];
        std::size_t const outcomes =
            asks_parts(landing.at) ? operations_.answers_to(now, landing) : 1;
        for (std::size_t chosen = 0; chosen < outcomes; ++chosen) {
            world_type next = now;
            next.flights.erase(i);
            ++next.late;
            call_answer part_answer{};
            log_answer reply{};
            if (asks_parts(landing.at)) part_answer = operations_.execute(next, landing, chosen);
            else reply = operations_.land(next, landing);
            function(std::move(next), move_kind::protocol, [&] {
                return "the late write lands: " + text(landing) +
                       (asks_parts(landing.at) ? ": " + words_of(part_answer) : words(reply));
            });
        }
    }

    /// Time passes: a begun transaction becomes too old; a final entry that is too old is purged.
    template <typename Function>
    void age(world_type const& now, Function& function) const {
        for (std::size_t t = 0; t < now.entries.size(); ++t) {
            model_entry const& here = now.entries[t];
            if (here.lives == 0 && !here.closed && (here.present || base::under_way(now, t))) {
                world_type next = now;
                next.entries[t].old = here.present;
                next.entries[t].closed = true;
                for (auto& one : next.workers) one.old = one.old || one.transaction == t;
                for (auto& one : next.flights) one.old = one.old || one.transaction == t;
                function(std::move(next), move_kind::outside,
                         [&] { return all_[t]->id() + " grows too old"; });
            }
            purge_rows(now, t, function);
            if (here.lives == 0 && here.old && is_final(here.now.state)) {
                world_type next = now;
                next.entries[t].purge();
                function(std::move(next), move_kind::outside,
                         [&] { return all_[t]->id() + " is purged from the log"; });
            }
        }
    }

    /// A receiver forgets a call that has an end, once its last moment is over.
    template <typename Function>
    void purge_rows(world_type const& now, std::size_t t, Function& function) const {
        auto const& of = *all_[t];
        for (std::size_t i = 0; now.entries[t].closed && i < of.calls.size(); ++i) {
            receiver_row const& row = now.rows[of.first_row + i];
            bool const has_apply = of.calls[i].moments != call_moments::confirm_only;
            if (!row.now || !end_of({*row.now, has_apply, {}})) continue;
            world_type next = now;
            next.rows[of.first_row + i].now.reset();
            next.rows[of.first_row + i].forgotten = true;
            function(std::move(next), move_kind::outside,
                     [&] { return "the receiver forgets " + of.id() + " " + of.calls[i].name; });
        }
    }

    static std::string name(worker const& me) { return "w" + std::to_string(me.name); }
    static std::string words(log_answer reply) { return words_of(reply); }
    std::string text(flight const& sent) const {
        return words_of(sent, *all_[sent.transaction]);
    }

    operations<Protocol, Records> operations_;
};

} // namespace testing
SETTLE_END
