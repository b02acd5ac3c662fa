// SPDX-License-Identifier: BSL-1.0
// The successors of a state of a search.
#pragma once

#include <settle/testing/explore/operations.hpp>
#include <settle/testing/explore/telling.hpp>

SETTLE_BEGIN
namespace testing {

/// A state is stuck when protocol moves alone reach no end: an end must not depend on a new call, a
/// cancel or a fault, which are outside moves.
enum class move_kind : std::uint8_t { protocol, outside };

template <typename Protocol, typename Records>
class moves {
public:
    using mind = typename Protocol::mind;
    using worker = model_worker<mind>;
    using world_type = world<mind, Records>;
    using transactions = std::vector<std::unique_ptr<model_transaction<Records>>>;
    using rules = typename Protocol::rules;

    moves(transactions const& all, bounds const& within)
        : all_(all), within_(within), what_(all, within) {}

    /// Calls `function(world&&, move_kind, tell)` for every successor, always in the same order;
    /// `tell()` returns the text of the move.
    template <typename Function>
    void each(world_type const& now, Function&& function) const {
        for (std::size_t i = 0; i < now.workers.size(); ++i) {
            // Workers with equal fingerprints have equal moves.
            bool const same = i > 0 && now.workers[i].print() == now.workers[i - 1].print();
            if (same) continue;
            auto const branch = [&](move_kind kind, auto&& change, auto&& tell) {
                world_type next = now;
                change(next, next.workers[i]);
                function(std::move(next), kind,
                         [&] { return name(now.workers[i]) + ": " + std::string{tell()}; });
            };
            if (now.workers[i].what == role::idle) begin_something(now, branch);
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

private:
    // ----------------------------------------------------------------------- moves of idle workers

    template <typename Branch>
    void begin_something(world_type const& now, Branch const& branch) const {
        for (std::size_t t = 0; t < all_.size(); ++t) {
            begin_call(now, t, branch);
            begin_takeover(now, t, branch);
            begin_cancel(now, t, branch);
            if (within_.sweeps) begin_sweep(now, t, branch);
        }
    }

    template <typename Branch>
    void begin_call(world_type const& now, std::size_t t, Branch const& branch) const {
        model_entry const& here = now.entries[t];
        bool const again = here.present || here.lives > 0 || under_way(now, t);
        bool const anew = within_.resubmits && here.lives == 1 && here.closed && !here.present;
        if (again && !anew && now.again >= within_.calls_again) return;
        if (here.closed && !anew) return;
        auto const undone = all_[t]->undoes;
        if (rules::reverses_done && undone && now.entries[*undone].now.state != state::done) return;
        auto const call = [&](goal aim, phases how, char const* words) {
            branch(
                move_kind::outside,
                [&](world_type& next, worker& w) {
                    if (again && !anew) ++next.again;
                    // An id submitted after its purge is a new transaction.
                    if (anew) next.entries[t].closed = false;
                    begin(w, role::caller, t,
                          born(all_[t]->parts(), fresh(next, t), aim, how));
                    w.old = false;
                },
                [&] { return words + all_[t]->id(); });
        };
        call(goal::run, phases::two, "calls run ");
        if (knows_one_phase && within_.one_phase) {
            call(goal::run, phases::one, "calls run in one phase ");
        }
        if (within_.submits) call(goal::submit, phases::two, "submits ");
    }

    template <typename Branch>
    void begin_takeover(world_type const& now, std::size_t t, Branch const& branch) const {
        model_entry const& here = now.entries[t];
        if (!here.present || is_final(here.now.state)) return;
        auto const take = [&](phases how, char const* words) {
            branch(
                move_kind::protocol,
                [&](world_type&, worker& w) {
                    begin(w, role::recoverer, t, taken(all_[t]->parts(), here.now, how));
                },
                [&] { return "takes over " + all_[t]->id() + words; });
        };
        take(phases::two, "");
        if (knows_one_phase && within_.one_phase) take(phases::one, " for one phase");
    }

    template <typename Branch>
    void begin_cancel(world_type const& now, std::size_t t, Branch const& branch) const {
        model_entry const& here = now.entries[t];
        if (!within_.cancels || here.closed || (here.present && is_final(here.now.state))) return;
        branch(
            move_kind::outside,
            [&](world_type&, worker& w) {
                begin(w, role::canceler, t, mind::cancel(all_[t]->parts()));
            },
            [&] { return "is asked to cancel " + all_[t]->id(); });
    }

    template <typename Branch>
    void begin_sweep(world_type const& now, std::size_t t, Branch const& branch) const {
        for (std::size_t part = 0; part < all_[t]->parts(); ++part) {
            epoch const marked = all_[t]->mark_epoch(now.data, part);
            if (marked == 0) continue;
            auto const look = [&](world_type& next, worker& w, bool judged) {
                begin(w, role::sweeper, t, mind::begin(0, fresh(next, t), goal::tombstone));
                w.mind.look_again();
                w.part = static_cast<std::uint8_t>(part);
                w.marked = marked;
                w.judged = judged;
            };
            branch(
                move_kind::protocol,
                [&](world_type& next, worker& w) { look(next, w, false); },
                [&] { return "looks at a mark of " + all_[t]->id(); });
            if (rules::one_log) continue;
            branch(
                move_kind::outside, [&](world_type& next, worker& w) { look(next, w, true); },
                [&] { return "sweeps for another log, which has no " + all_[t]->id(); });
        }
    }

    static constexpr bool knows_one_phase = operations<Protocol, Records>::knows_one_phase;

    static mind born(std::size_t parts, epoch first, goal aim, phases how) {
        if constexpr (knows_one_phase) return mind::begin(parts, first, aim, how);
        else return mind::begin(parts, first, aim);
    }
    static mind taken(std::size_t parts, standing const& found, phases how) {
        if constexpr (knows_one_phase) return mind::take(parts, found, how);
        else return mind::take(parts, found);
    }

    static void begin(worker& w, role what, std::size_t t, mind made) {
        w.what = what;
        w.transaction = static_cast<std::uint8_t>(t);
        w.mind = std::move(made);
    }

    // ----------------------------------------------------------------------- moves of busy workers

    template <typename Branch>
    void go_on(world_type const& now, worker const& me, Branch const& branch) const {
        if (within_.crashes) {
            branch(
                move_kind::outside, [](world_type&, worker& w) { w.rest(); },
                [] { return "crashes"; });
        }
        if (me.what == role::sweeper && me.judged) undo_stray(me, branch);
        else if (me.what == role::sweeper && me.mind.next() == step::end) judge_mark(me, branch);
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
    void judge_mark(worker const& me, Branch const& branch) const {
        bool const stray =
            is_stray({me.mind.state(), 0, me.mind.committed(), 0}, me.marked);
        branch(
            move_kind::protocol,
            [&](world_type&, worker& w) {
                if (stray) w.judged = true;
                else w.rest();
            },
            [&] { return stray ? "finds the mark stray" : "finds the mark live"; });
    }

    /// One step of a coordinator: it is answered, or its outcome is unknown.
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
                if (is_final(me.mind.state())) next.entries[me.transaction].tell(me.mind.state());
                w.rest();
            },
            [&] { return "ends, and tells " + std::string{name_of(me.mind.state())}; });
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
                    view.fresh = fresh(next, t);
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
        sent.old = me.old;
        log_answer reply{};
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                reply = what_.ask(next, sent);
                tell(w.mind, sent.at, reply, next.entries[me.transaction].old);
            },
            [&] { return text(sent) + words(reply); });
        if constexpr (requires(mind& m) { m.cancel_for(reason::none); }) {
            if (within_.refusals && sent.at == step::commit) {
                branch(
                    move_kind::outside,
                    [](world_type&, worker& w) { w.mind.cancel_for(reason::record_unusable); },
                    [&] { return text(sent) + ": never"; });
            }
        }
        may_be_late(now, sent, branch, [&](world_type& next, worker& w) {
            tell(w.mind, sent.at, log_answer::unknown, next.entries[me.transaction].old);
        });
    }

    /// The worker gets `unknown`; the operation takes effect later or never.
    template <typename Branch, typename Tell>
    void may_be_late(world_type const& now, flight const& sent, Branch const& branch,
                     Tell const& tell_unknown) const {
        if (now.flights.size() + now.late >= within_.late_writes) return;
        branch(
            move_kind::outside,
            [&](world_type& next, worker& w) {
                next.flights.push_back(sent);
                tell_unknown(next, w);
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
                reply = what_.settle_in_one_phase(next, sent, w.mind);
                w.mind.settled(reply);
            },
            [&] { return text(sent) + words(reply); });
        may_be_late(now, sent, branch,
                    [](world_type&, worker& w) { w.mind.settled(log_answer::unknown); });
    }

    template <typename Branch>
    void ask_parts(world_type const& now, worker const& me, Branch const& branch) const {
        for (std::size_t part = 0; part < me.mind.parts(); ++part) {
            if (!me.mind.due(part)) continue;
            flight sent;
            sent.transaction = me.transaction;
            sent.part = static_cast<std::uint8_t>(part);
            sent.at = me.mind.next();
            sent.under =
                sent.at == step::compensate ? me.mind.latest() : me.mind.epoch_number();
            sent.committed = sent.at == step::confirm ? me.mind.committed() : 0;
            answer reply{};
            branch(
                move_kind::protocol,
                [&](world_type& next, worker& w) {
                    reply = execute(next, sent);
                    w.mind.answered(part, reply);
                    decide(w.mind);
                },
                [&] { return text(sent) + ": " + std::string{name_of(reply)}; });
            if constexpr (knows_one_phase) {
                if (within_.yields && sent.at == step::apply) ask_and_yield(now, me, sent, branch);
            }
            may_be_late(now, sent, branch, [&](world_type&, worker& w) {
                w.mind.answered(part, answer::unknown);
                decide(w.mind);
            });
        }
    }

    /// After a wave's last answer, a batch may requeue the transaction behind an earlier one.
    template <typename Branch>
    void ask_and_yield(world_type const& now, worker const& me, flight const& sent,
                       Branch const& branch) const {
        for (std::size_t part = 0; part < me.mind.parts(); ++part) {
            if (part != sent.part && me.mind.due(part)) return;
        }
        auto const fall_back = [&](worker& w, answer reply) {
            w.mind.answered(sent.part, reply);
            if (w.mind.fenced()) decide(w.mind);
            else w.mind.requeue();
        };
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) { fall_back(w, execute(next, sent)); },
            [&] { return text(sent) + ", and falls back"; });
        may_be_late(now, sent, branch,
                    [&](world_type&, worker& w) { fall_back(w, answer::unknown); });
    }

    /// Decides the wave once no part is due.
    void decide(mind& of) const {
        for (std::size_t part = 0; part < of.parts(); ++part) {
            if (of.due(part)) return;
        }
        of.decide(within_.attempts);
    }

    static void tell(mind& to, step at, log_answer reply, bool old) {
        switch (at) {
        case step::insert: to.inserted(reply, old); break;
        case step::claim: to.claimed(reply, old); break;
        case step::commit: to.committed(reply); break;
        case step::close: to.closed(reply); break;
        default: to.canceled(reply); break;
        }
    }

    // ------------------------------------------------------------------ late operations and age

    answer execute(world_type& next, flight const& sent) const { return what_.execute(next, sent); }

    template <typename Function>
    void land(world_type const& now, std::size_t i, Function& function) const {
        world_type next = now;
        flight const landing = now.flights[i];
        next.flights.erase(i);
        ++next.late;
        answer part_answer{};
        log_answer reply{};
        if (asks_parts(landing.at)) part_answer = execute(next, landing);
        else reply = what_.land(next, landing);
        function(std::move(next), move_kind::protocol, [&] {
            return "the late write lands: " + text(landing) +
                   (asks_parts(landing.at) ? ": " + std::string{name_of(part_answer)}
                                           : words(reply));
        });
    }

    /// Time passes: a begun transaction becomes too old; a final entry that is too old is purged.
    template <typename Function>
    void age(world_type const& now, Function& function) const {
        for (std::size_t t = 0; t < now.entries.size(); ++t) {
            model_entry const& here = now.entries[t];
            if (here.lives == 0 && !here.closed && (here.present || under_way(now, t))) {
                world_type next = now;
                next.entries[t].old = here.present;
                next.entries[t].closed = true;
                for (auto& one : next.workers) one.old = one.old || one.transaction == t;
                for (auto& one : next.flights) one.old = one.old || one.transaction == t;
                function(std::move(next), move_kind::outside,
                         [&] { return all_[t]->id() + " grows too old"; });
            }
            if (here.lives == 0 && here.old && is_final(here.now.state)) {
                world_type next = now;
                next.entries[t].purge();
                function(std::move(next), move_kind::outside,
                         [&] { return all_[t]->id() + " is purged from the log"; });
            }
        }
    }

    static bool under_way(world_type const& now, std::size_t t) {
        auto const of = [&](auto const& one) { return one.transaction == t; };
        return std::any_of(now.workers.begin(), now.workers.end(),
                           [&](auto const& one) { return one.what != role::idle && of(one); }) ||
               std::any_of(now.flights.begin(), now.flights.end(), of);
    }

    /// A new epoch of the transaction: above all others, and out of reach of claims.
    epoch fresh(world_type& state, std::size_t t) const {
        if (!rules::first_epochs_differ && state.entries[t].birth != 0)
            return state.entries[t].birth;
        epoch most = 0;
        auto const note = [&](epoch one) { most = std::max(most, one); };
        state.visit_epochs(t, note);
        state.visit_marks(all_[t]->id(), note);
        return most + epochs_per_millisecond;
    }

    static std::string name(worker const& me) { return "w" + std::to_string(me.name); }
    static std::string words(log_answer reply) { return words_of(reply); }
    std::string text(flight const& sent) const {
        return words_of(sent, *all_[sent.transaction]);
    }

    transactions const& all_;
    bounds const& within_;
    operations<Protocol, Records> what_;
};

} // namespace testing
SETTLE_END
