// SPDX-License-Identifier: BSL-1.0
// The successors of a state of a search.
#pragma once

#include <settle/testing/explore/reader_moves.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Protocol, typename Records>
class moves : reader_moves<Protocol, Records> {
    using base = reader_moves<Protocol, Records>;
    using base::all_;
    using base::knows_one_phase;
    using base::operations_;
    using base::text;
    using base::within_;

public:
    using typename base::coordinator_type;
    using typename base::reads;
    using typename base::rules;
    using typename base::transactions;
    using typename base::worker;
    using typename base::world_type;

    /// Shape:   first - the records at the start
    moves(transactions const& all, reads const& all_reads, bounds const& within,
          Records const& first)
        : base(all, all_reads, within, first) {}

    /// Calls `function(world&&, move_kind, describe)` for every successor, always in the same
    /// order; `describe()` returns the text of the move.
    template <typename Function>
    void each(world_type const& now, Function&& visit) const {
        auto const function = [&](world_type&& next, move_kind kind, auto&& describe) {
            if (this->breaks_hold(now, next)) return;
            visit(std::move(next), kind, describe);
        };
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
        this->move_outside(now, function);
        this->move_readers(now, function);
    }

    /// Puts a state into its canonical form.
    void canonize(world_type& state) const {
        this->note_truths(state);
        for (std::size_t i = 0; i < all_.size(); ++i) state.rename_epochs(i, all_[i]->id());
        state.canonize(within_.attempts);
    }

    /// The records, marks and receivers of a state.
    [[nodiscard]] std::string text_of(world_type const& shown) const {
        std::string out = shown.data.text();
        for (auto const& one : all_) {
            out += testing::text_of(shown.prepared, *one);
            out += testing::text_of(shown.rows, *one);
        }
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
        bool const ends =
            me.coordinator.next() == step::confirm || me.coordinator.next() == step::compensate;
        if (within_.resolves && ends) {
            branch(
                move_kind::protocol, [](world_type&, worker& w) { w.rest(); },
                [] { return "ends its call at its time limit"; });
        }
        if (me.what == role::sweeper && me.found_stray) undo_stray(me, branch);
        else if (me.what != role::sweeper || me.coordinator.next() != step::end)
            advance(now, me, branch);
        else check_mark(now, me, branch);
    }

    template <typename Branch>
    void undo_stray(worker const& me, Branch const& branch) const {
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                sent_operation sent;
                sent.transaction = me.transaction;
                sent.part = me.part;
                sent.action = step::back_off;
                sent.under = me.marked;
                operations_.execute(next, sent, {});
                w.rest();
            },
            [] { return "undoes the stray mark"; });
    }

    template <typename Branch>
    void check_mark(world_type const& now, worker const& me, Branch const& branch) const {
        if (me.lists) return list_names(now, me, branch);
        auto const& seen = me.coordinator;
        bool const stray =
            is_stray({seen.state(), seen.epoch_number(), seen.committed(), 0}, me.marked);
        branch(
            move_kind::protocol,
            [&](world_type&, worker& w) {
                if (stray) w.found_stray = true;
                else w.rest();
            },
            [&] { return stray ? "finds the mark stray" : "finds the mark live"; });
    }

    /// With the rule switched off, a sweeper chooses a name when it has read the entry.
    template <typename Branch>
    void list_names(world_type const& now, worker const& me, Branch const& branch) const {
        this->each_name(now, me.transaction, [&](std::size_t part, epoch name) {
            branch(
                move_kind::protocol,
                [&](world_type&, worker& w) {
                    w.lists = false;
                    w.part = static_cast<std::uint8_t>(part);
                    w.marked = name;
                },
                [] { return "lists a prepared name"; });
        });
        branch(
            move_kind::protocol, [](world_type&, worker& w) { w.rest(); },
            [] { return "has listed all names"; });
    }

    /// One step of a coordinator: the worker gets an answer, or the outcome is unknown.
    template <typename Branch>
    void advance(world_type const& now, worker const& me, Branch const& branch) const {
        auto const alone = [&](auto&& change, char const* words) {
            branch(
                move_kind::protocol, [&](world_type&, worker& w) { change(w); },
                [&] { return words; });
        };
        switch (me.coordinator.next()) {
        case step::end: return end(me, branch);
        case step::pause: return alone([](worker& w) { w.coordinator.resume(); }, "goes on");
        case step::wait: return alone([](worker& w) { w.coordinator.look_again(); }, "looks again");
        case step::read: return read(now, me, branch);
        case step::one_phase:
            if constexpr (knows_one_phase) settle_in_one_phase(now, me, branch);
            return;
        case step::force:
            if constexpr (knows_one_phase) force(me, branch);
            return;
        case step::apply:
        case step::confirm:
        case step::compensate:
        case step::back_off:
            return each_age(now, me,
                            [&](bool expired) { this->ask_parts(now, me, expired, branch); });
        default: return each_age(now, me, [&](bool expired) { ask_log(now, me, expired, branch); });
        }
    }

    /// Calls `function(expired)` for each age that the worker's clock may give to the entry.
    template <typename Function>
    static void each_age(world_type const& now, worker const& me, Function&& function) {
        model_entry const& here = now.entries[me.transaction];
        function(here.old);
        if (here.passing) function(true);
    }

    template <typename Branch>
    void end(worker const& me, Branch const& branch) const {
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                if (is_final(me.coordinator.state()))
                    next.entries[me.transaction].check_outcome(me.coordinator.state());
                w.rest();
            },
            [&] {
                return "ends with the outcome " + std::string{name_of(me.coordinator.state())};
            });
    }

    template <typename Branch>
    void read(world_type const& now, worker const& me, Branch const& branch) const {
        std::size_t const t = me.transaction;
        model_entry const& entry = now.entries[t];
        if (!entry.present || entry.is_barred()) {
            branch(
                move_kind::protocol,
                [&](world_type& next, worker& w) {
                    view_of_entry view;
                    view.fresh = this->fresh(next, t);
                    view.barred = entry.now.epoch_number;
                    w.coordinator.found_nothing(view);
                    if constexpr (requires { w.coordinator.vanished(); }) {
                        if (me.what == role::sweeper && w.coordinator.vanished()) w.rest();
                    }
                },
                [] { return "reads nothing"; });
            return;
        }
        for (bool const abandoned : {false, true}) {
            if (abandoned && is_final(entry.now.state)) continue;
            branch(
                move_kind::protocol,
                [&](world_type&, worker& w) {
                    view_of_entry view;
                    view.abandoned = abandoned;
                    w.coordinator.found(entry.now, view);
                    this->note_read(w, entry);
                },
                [&] {
                    return "reads " + std::string{name_of(entry.now.state)} +
                           (abandoned ? " and takes it over" : "");
                });
        }
    }

    template <typename Branch>
    void ask_log(world_type const& now, worker const& me, bool expired,
                 Branch const& branch) const {
        sent_operation sent;
        sent.transaction = me.transaction;
        sent.action = me.coordinator.next();
        sent.inserts = me.coordinator.insert_state();
        sent.under = only_inserts(sent.action) ? me.coordinator.insert_epoch() : 0;
        sent.change = me.coordinator.change();
        if constexpr (knows_one_phase) {
            if (sent.action == step::insert) sent.change.stages_kept = me.coordinator.stages_kept();
            if (sent.action == step::insert) sent.replaced = me.coordinator.replaced_bar();
        }
        sent.old = me.old;
        if (stores_results(sent.action)) {
            sent.results = me.results;
            sent.resolved = me.resolved;
        }
        log_answer reply{};
        bool joins = false;
        if constexpr (knows_one_phase) {
            joins = (sent.action == step::commit && me.coordinator.joins()) ||
                    sent.action == step::decide;
            if (joins) join_parts(me, sent, expired, branch);
        }
        if (!joins) {
            branch(
                move_kind::protocol,
                [&](world_type& next, worker& w) {
                    reply = operations_.perform_at_log(next, sent);
                    bool const old = expired || next.entries[me.transaction].old;
                    give_answer(w.coordinator, sent, reply, old);
                    this->order_undo(w);
                },
                [&] { return text(sent) + words(reply); });
        }
        if constexpr (requires(coordinator_type& m) { m.cancel_for(reason::none); }) {
            if (within_.refusals && (commits(sent.action) || sent.action == step::keep)) {
                branch(
                    move_kind::outside,
                    [](world_type&, worker& w) {
                        w.coordinator.cancel_for(reason::record_unusable);
                    },
                    [&] { return text(sent) + ": never"; });
            }
        }
        this->may_be_late(now, sent, branch, [&](world_type& next, worker& w) {
            bool const old = expired || next.entries[me.transaction].old;
            give_answer(w.coordinator, sent, log_answer::unknown, old);
            this->order_undo(w);
        });
    }

    /// A joined commit: one native transaction executes the parts in the log's own store and writes
    /// the entry, or changes nothing.
    template <typename Branch>
    void join_parts(worker const& me, sent_operation& sent, bool expired,
                    Branch const& branch) const {
        sent.joined = this->own_parts(me.transaction);
        sent.under = me.coordinator.epoch_number();
        sent.old = sent.old || expired;
        bool const begins = sent.action == step::decide;
        log_answer reply{};
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                auto& c = w.coordinator;
                reply =
                    begins ? operations_.decide(next, sent, c) : operations_.join(next, sent, &c);
                if (reply == log_answer::held_back) c.not_joined(within_.attempts);
                else if (begins) c.decided(reply);
                else c.committed(reply);
            },
            [&] { return text(sent) + words(reply); });
        if (!within_.requeues) return;
        branch(
            move_kind::protocol,
            [&](world_type&, worker& w) {
                for (std::size_t part = 0; part < w.coordinator.parts(); ++part) {
                    w.coordinator.answered(part, answer::applied);
                }
                w.coordinator.requeue();
            },
            [&] { return text(sent) + ": is requeued"; });
    }

    /// The store forces its writes to the disk, also in a session that it has begun since.
    template <typename Branch>
    void force(worker const& me, Branch const& branch) const {
        branch(
            move_kind::protocol,
            [](world_type& next, worker& w) {
                next.unforced.clear();
                w.coordinator.forced(!std::exchange(w.is_cut, false));
            },
            [&] { return me.is_cut ? "forces in another session" : "forces its confirms"; });
    }

    /// One phase: one native transaction executes all parts and writes the entry.
    template <typename Branch>
    void settle_in_one_phase(world_type const& now, worker const& me, Branch const& branch) const {
        sent_operation sent;
        sent.transaction = me.transaction;
        sent.action = step::one_phase;
        sent.under = me.coordinator.one_phase_epoch();
        if (!me.coordinator.inserts()) sent.change = me.coordinator.change();
        sent.old = me.old;
        log_answer reply{};
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                reply = operations_.settle_in_one_phase(next, sent, w.coordinator);
                w.coordinator.settled(reply);
            },
            [&] { return text(sent) + words(reply); });
        this->may_be_late(now, sent, branch, [](world_type&, worker& w) {
            w.coordinator.settled(log_answer::unknown);
        });
    }

    static void give_answer(coordinator_type& to, sent_operation const& sent, log_answer reply,
                            bool old) {
        if constexpr (knows_one_phase) {
            if (sent.action == step::keep) return to.kept(reply);
            if (sent.action == step::decide || sent.action == step::refuse)
                return to.decided(reply);
        }
        switch (sent.action) {
        case step::insert: to.inserted(reply, old || sent.old); break;
        case step::claim: to.claimed(reply, old); break;
        case step::commit:
        case step::commit_and_close: to.committed(reply); break;
        case step::close: to.closed(reply); break;
        default: to.canceled(reply); break;
        }
    }

    static std::string name(worker const& me) { return "w" + std::to_string(me.name); }
    static std::string words(log_answer reply) { return words_of(reply); }
};

} // namespace testing
SETTLE_END
