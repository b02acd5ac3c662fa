// SPDX-License-Identifier: BSL-1.0
// The moves of a worker that sends parts of its transaction to their stores and receivers.
#pragma once

#include <settle/testing/explore/outside_moves.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Protocol, typename Records>
class part_moves : protected outside_moves<Protocol, Records> {
    using base = outside_moves<Protocol, Records>;

protected:
    using base::all_;
    using base::knows_one_phase;
    using base::may_fail;
    using base::operations_;
    using base::within_;
    using typename base::choice;
    using typename base::rules;
    using typename base::transactions;
    using typename base::worker;
    using typename base::world_type;

    part_moves(transactions const& all, bounds const& within) : base(all, within) {}

    /// The worker gets `unknown`; the operation takes effect later or never.
    template <typename Branch, typename Answer>
    void may_be_late(world_type const& now, sent_operation const& sent, Branch const& branch,
                     Answer const& answer_unknown) const {
        bool const calls =
            asks_parts(sent.action) && all_[sent.transaction]->call_of(sent.part) != nullptr;
        if (!may_fail(now) || (within_.only_calls_late && !calls)) return;
        branch(
            move_kind::outside,
            [&](world_type& next, worker& w) {
                next.unanswered.push_back(sent);
                answer_unknown(next, w);
            },
            [&] { return text(sent) + ": unknown"; });
    }

    template <typename Branch>
    void ask_parts(world_type const& now, worker const& me, bool expired,
                   Branch const& branch) const {
        bool any = false;
        for (std::size_t part = 0; part < me.coordinator.parts(); ++part) {
            if (!due(me, part)) continue;
            any = true;
            sent_operation const sent = request(me, part);
            if (is_resolved(me, part)) {
                leave_out(me, part, branch);
                continue;
            }
            operations_.each_choice(now, sent, [&](choice const& chosen) {
                call_answer reply{};
                branch(
                    move_kind::protocol,
                    [&](world_type& next, worker& w) {
                        reply = operations_.execute(next, sent, chosen);
                        if (is_forgotten(next, sent, reply)) return w.rest();
                        take_answer(w, sent, reply);
                        decide(w, expired);
                    },
                    [&] { return text(sent) + ": " + words_of(reply); });
            });
            if (all_[me.transaction]->call_of(part) != nullptr) {
                stop_receiver(now, sent, expired, branch);
                swap_answer(now, sent, expired, branch);
            }
            if constexpr (knows_one_phase) {
                bool const requeues = within_.requeues && !sent.begins;
                if (requeues && sent.action == step::apply && me.coordinator.may_start_over()) {
                    ask_and_requeue(now, me, sent, expired, branch);
                }
            }
            if (sent.begins) continue;
            may_be_late(now, sent, branch, [&](world_type&, worker& w) {
                set_begun(w, part, false);
                w.coordinator.answered(part, answer::unknown);
                decide(w, expired);
            });
        }
        if (!any) {
            branch(
                move_kind::protocol, [&](world_type&, worker& w) { decide(w, expired); },
                [] { return "has no part to send"; });
        }
        if constexpr (knows_one_phase) give_up(me, branch);
    }

    std::string text(sent_operation const& sent) const {
        return words_of(sent, *all_[sent.transaction]);
    }

    /// Orders the compensates, which the next wave sends.
    void order_undo(worker& w) const {
        if constexpr (knows_one_phase) {
            auto const& model = *all_[w.transaction];
            std::ignore = w.coordinator.order_undo([&](auto const& look) {
                for (std::size_t part = 0; part < model.parts(); ++part) {
                    look(part, model.undo_place_of(part));
                }
            });
        }
    }

private:
    /// True if the entry and the receipt were purged while this worker was confirming a prepared
    /// part. In the engine, the time limit `patience` ends such a worker.
    [[nodiscard]] bool is_forgotten(world_type const& now, sent_operation const& sent,
                                    call_answer const& reply) const {
        return sent.action == step::confirm && reply.what == answer::unavailable &&
               all_[sent.transaction]->prepared_of(sent.part) != nullptr &&
               now.entries[sent.transaction].now.committed != sent.committed;
    }

    /// True if a person has closed the call, so that it is not sent.
    [[nodiscard]] bool is_resolved(worker const& me, std::size_t part) const {
        auto const& of = *all_[me.transaction];
        if (of.call_of(part) == nullptr) return false;
        return (me.resolved >> (part - of.first_call()) & 1U) != 0;
    }
    template <typename Branch>
    void leave_out(worker const& me, std::size_t part, Branch const& branch) const {
        branch(
            move_kind::protocol,
            [&](world_type&, worker& w) {
                w.coordinator.answered(part, answer::applied);
                decide(w, false);
            },
            [&] {
                return std::string{"leaves out "}
                    .append(all_[me.transaction]->name_part(part).participant)
                    .append(", which a person closed");
            });
    }

    /// The receiver stores its row or its effect, and stops before the other.
    template <typename Branch>
    void stop_receiver(world_type const& now, sent_operation const& sent, bool expired,
                       Branch const& branch) const {
        auto const writes = all_[sent.transaction]->call_of(sent.part)->writes;
        if (writes == row_write::with_effect || !may_fail(now)) return;
        operations_.each_choice(now, sent, [&](choice const& chosen) {
            world_type tried = now;
            if (!operations_.execute_half(tried, sent, chosen)) return;
            branch(
                move_kind::outside,
                [&](world_type& next, worker& w) {
                    std::ignore = operations_.execute_half(next, sent, chosen);
                    ++next.late;
                    w.coordinator.answered(sent.part, answer::unknown);
                    decide(w, expired);
                },
                [&] {
                    bool const row_first = writes == row_write::before_effect;
                    return text(sent) + ": the receiver stops between its " +
                           (row_first ? "row and its effect" : "effect and its row");
                });
        });
    }

    /// The request is lost, and the worker mistakes the answer to an earlier try for its answer.
    template <typename Branch>
    void swap_answer(world_type const& now, sent_operation const& sent, bool expired,
                     Branch const& branch) const {
        std::size_t const row = operations_.row_of(sent);
        stray_answer const& stray = now.rows[row].stray;
        if (!stray.operation) return;
        bool const matches = stray.operation == detail::operation_of(sent.action);
        if (rules::answers_name_operations && !matches) return;
        branch(
            move_kind::outside,
            [&](world_type& next, worker& w) {
                take_answer(w, sent, next.rows[row].stray.reply);
                next.rows[row].stray = {};
                decide(w, expired);
            },
            [&] {
                return text(sent) +
                       ": lost; the answer of the late try arrives: " + words_of(stray.reply);
            });
    }

    static epoch undone_epoch(worker const& me) {
        if constexpr (knows_one_phase) return me.coordinator.undone_epoch();
        else return me.coordinator.epoch_number();
    }

    /// The driver's limit: it cancels while the outcome of a later stage is unknown.
    template <typename Branch>
    void give_up(worker const& me, Branch const& branch) const {
        if (me.coordinator.is_late() && me.coordinator.next() == step::apply) {
            branch(
                move_kind::outside, [](world_type&, worker& w) { w.coordinator.fall_back(); },
                [] { return "begins its entry at its time limit"; });
        }
        if (!within_.cancels || me.coordinator.next() != step::apply || me.coordinator.stage() == 0)
            return;
        branch(
            move_kind::outside,
            [](world_type&, worker& w) { w.coordinator.cancel_for(reason::busy); },
            [] { return "gives up"; });
    }

    [[nodiscard]] sent_operation request(worker const& me, std::size_t part) const {
        sent_operation sent;
        sent.transaction = me.transaction;
        sent.part = static_cast<std::uint8_t>(part);
        sent.action = me.coordinator.next();
        sent.under = sent.action == step::compensate ? me.coordinator.latest()
                     : sent.action == step::back_off ? undone_epoch(me)
                                                     : me.coordinator.epoch_number();
        sent.committed = sent.action == step::confirm ? me.coordinator.committed() : 0;
        if constexpr (knows_one_phase) {
            sent.lazy = sent.action == step::confirm && me.coordinator.confirms_lazily();
        }
        auto const& model = *all_[me.transaction];
        if (model.prepared_of(part) != nullptr) {
            bool const halves = sent.action == step::apply || sent.action == step::compensate;
            sent.begins = halves && !has_begun(me, part);
            return sent;
        }
        if (model.call_of(part) == nullptr) return sent;
        // The key of a call has no epoch.
        if (rules::keys_stay) sent.under = 0;
        sent.committed = 0;
        sent.burns = burns(me, part);
        if (sent.burns) sent.action = step::apply;
        sent.closes = (me.refused >> (part - model.first_call()) & 1U) != 0;
        if (sent.closes) sent.action = step::compensate;
        sent.old = me.old;
        if (sent.action == step::apply)
            sent.results = model.results_before(model.stage_of(part), me.results);
        bool const first = model.call_of(part)->moments == call_moments::confirm_only;
        if (sent.action == step::confirm && first) sent.results = me.results;
        return sent;
    }

    void take_answer(worker& w, sent_operation const& sent, call_answer const& reply) const {
        std::size_t const part = sent.part;
        auto const& model = *all_[w.transaction];
        if (model.prepared_of(part) != nullptr) {
            bool const other_half = reply.what == answer::none;
            set_begun(w, part, other_half && sent.begins);
            if (other_half) return;
        }
        if (model.call_of(part) == nullptr) {
            if constexpr (knows_one_phase) {
                return w.coordinator.answered(part, reply.what, reply.marked);
            } else {
                return w.coordinator.answered(part, reply.what);
            }
        }
        std::size_t const call = part - model.first_call();
        auto const bit = static_cast<std::uint8_t>(1U << call);
        if (sent.burns) {
            // A refused call has no effect to undo.
            if (reply.what == answer::applied) w.burned |= bit;
            else if (reply.what == answer::refused) w.coordinator.answered(part, answer::applied);
            else w.coordinator.answered(part, answer::unavailable);
        } else if (sent.closes) {
            w.refused &= static_cast<std::uint8_t>(~bit);
            // A key that cannot be closed may have been applied.
            bool const closed = reply.what == answer::applied;
            w.coordinator.answered(part, closed ? answer::refused : answer::unknown);
        } else if (must_close(w, sent, reply)) {
            w.refused |= bit;
        } else if (sent.action == step::apply) {
            w.coordinator.answered(part, reply.what);
            if (reply.result != 0) w.results = with_result(w.results, call, reply.result);
        } else {
            // A confirm or a compensation cannot be refused.
            bool const refused = reply.what == answer::refused;
            w.coordinator.answered(part, refused ? answer::unavailable : reply.what);
        }
    }

    [[nodiscard]] bool has_begun(worker const& w, std::size_t part) const {
        return (w.begun >> (part - all_[w.transaction]->records()) & 1U) != 0;
    }
    void set_begun(worker& w, std::size_t part, bool begun) const {
        auto const& model = *all_[w.transaction];
        if (model.prepared_of(part) == nullptr) return;
        unsigned const bit = 1U << (part - model.records());
        w.begun = static_cast<std::uint8_t>(begun ? w.begun | bit : w.begun & ~bit);
    }

    /// True if the apply of a call must be answered before its compensation: its receiver remembers
    /// keys alone, so that a late apply could follow the compensation.
    [[nodiscard]] bool burns(worker const& me, std::size_t part) const {
        auto const& model = *all_[me.transaction];
        call_model const& call = *model.call_of(part);
        bool const burned = (me.burned >> (part - model.first_call()) & 1U) != 0;
        return me.coordinator.next() == step::compensate &&
               call.moments == call_moments::undoable &&
               applies_before_undo<rules>(call.grade, burned);
    }

    /// True if a refusal counts only after the key is closed: the receiver forgets its refusals, so
    /// that a late copy of the apply could take effect.
    [[nodiscard]] bool must_close(worker const& me, sent_operation const& sent,
                                  call_answer const& reply) const {
        call_model const& model = *all_[me.transaction]->call_of(sent.part);
        return reply.what == answer::refused && sent.action == step::apply &&
               model.moments == call_moments::pivot && model.grade.closes_keys &&
               closes_after_refusal<rules>(model.grade);
    }

    [[nodiscard]] bool due(worker const& w, std::size_t part) const {
        if constexpr (knows_one_phase) {
            if (this->is_joined(w, part)) return false;
            return w.coordinator.due(part, all_[w.transaction]->stage_of(part));
        } else {
            return w.coordinator.due(part);
        }
    }

    /// After the last answer of a wave, a batch may requeue the transaction after an earlier
    /// transaction.
    template <typename Branch>
    void ask_and_requeue(world_type const& now, worker const& me, sent_operation const& sent,
                         bool expired, Branch const& branch) const {
        for (std::size_t part = 0; part < me.coordinator.parts(); ++part) {
            if (part != sent.part && due(me, part)) return;
        }
        auto const requeue = [&](worker& w, answer reply) {
            set_begun(w, sent.part, false);
            w.coordinator.answered(sent.part, reply);
            if (w.coordinator.fenced()) decide(w, expired);
            else w.coordinator.requeue();
        };
        operations_.each_choice(now, sent, [&](choice const& chosen) {
            branch(
                move_kind::protocol,
                [&](world_type& next, worker& w) {
                    requeue(w, operations_.execute(next, sent, chosen).what);
                },
                [&] { return text(sent) + ", and is requeued"; });
        });
        may_be_late(now, sent, branch,
                    [&](world_type&, worker& w) { requeue(w, answer::unknown); });
    }

    /// Decides the wave once no part is due.
    void decide(worker& w, bool expired) const {
        for (std::size_t part = 0; part < w.coordinator.parts(); ++part) {
            if (due(w, part)) return;
        }
        if constexpr (knows_one_phase) {
            for (std::size_t part = 0; part < w.coordinator.parts(); ++part) {
                if (this->is_joined(w, part)) w.coordinator.answered(part, answer::applied);
            }
        }
        w.coordinator.decide(within_.attempts);
        if constexpr (knows_one_phase) {
            w.coordinator.look_at_age(expired);
            bool const forces = w.coordinator.next() == step::force;
            if (forces && within_.store_crashes == 0) w.coordinator.forced(true);
        }
        order_undo(w);
    }
};

} // namespace testing
SETTLE_END
