// SPDX-License-Identifier: BSL-1.0
// Everything that can happen next in a state of a search.
#pragma once

#include <settle/testing/world.hpp>

SETTLE_BEGIN
namespace testing {

/// What a search may do, and how often. Everything else is without bound.
struct bounds {
    std::size_t workers = 2;
    std::size_t late_writes = 1;       ///< operations of unknown outcome, landing at any later time
    std::uint32_t attempts = 2;        ///< how often a busy transaction starts over
    std::size_t calls_again = 1;       ///< calls of an id that is in the log already
    bool crashes = true;               ///< a worker forgets everything, at any moment
    bool cancels = false;              ///< cancel asked at any moment
    bool sweeps = true;                ///< stray marks swept at any moment
    bool expires = false;              ///< entries grow too old at any moment
    std::size_t most_states = 50'000'000;
};

template <typename Records>
class moves {
public:
    using world_type = world<Records>;
    using transactions = std::vector<std::unique_ptr<model_transaction<Records>>>;

    moves(transactions const& all, bounds const& within) : all_(all), within_(within) {}

    /// Calls `function(world&&, std::string const& what)` for every successor. The text is made
    /// only when `telling`.
    template <typename Function>
    void each(world_type const& now, bool telling, Function&& function) const {
        for (std::size_t i = 0; i < now.workers.size(); ++i) {
            // Idle workers are alike: what one can begin, any can.
            bool const same = i > 0 && now.workers[i] == now.workers[i - 1];
            if (!same) each_of_worker(now, i, telling, function);
        }
        for (std::size_t i = 0; i < now.flights.size(); ++i) {
            world_type next = now;
            flight const landing = next.flights[i];
            next.flights.erase(next.flights.begin() + static_cast<std::ptrdiff_t>(i));
            std::string const met = perform(next, landing);
            function(std::move(next), telling ? "late write lands: " + text(landing) + met : "");
        }
        if (within_.expires) {
            for (std::size_t i = 0; i < now.entries.size(); ++i) {
                if (!now.entries[i].present || now.entries[i].expired) continue;
                world_type next = now;
                next.entries[i].expired = true;
                function(std::move(next), telling ? all_[i]->id() + " grows too old" : "");
            }
        }
    }

    /// Puts a state into its canonical form.
    void canonize(world_type& state) const {
        for (std::size_t i = 0; i < all_.size(); ++i) state.rename_epochs(i, all_[i]->id());
        for (auto& one : state.workers) {
            one.mind.visit_attempts([&](std::uint32_t& attempts) {
                attempts = std::min(attempts, within_.attempts);
            });
        }
        for (auto& one : state.entries) {
            one.now.attempts = std::min(one.now.attempts, within_.attempts);
        }
        std::sort(state.flights.begin(), state.flights.end());
        std::stable_sort(state.workers.begin(), state.workers.end(),
                         [](auto const& a, auto const& b) { return a.hash() < b.hash(); });
    }

private:
    template <typename Function>
    void each_of_worker(world_type const& now, std::size_t i, bool telling,
                        Function& function) const {
        model_worker const& me = now.workers[i];
        auto const branch = [&](auto&& change, char const* what) {
            world_type next = now;
            std::string const more = change(next, next.workers[i]);
            function(std::move(next), telling ? name(me, i) + ": " + what + more : "");
        };
        if (me.what == role::idle) {
            begin_something(now, branch);
            return;
        }
        if (within_.crashes) {
            branch([](world_type&, model_worker& w) { w = {}; return std::string{}; }, "crashes");
        }
        if (me.what == role::sweeper) sweep(now, me, branch);
        else advance(now, me, branch);
    }

    template <typename Branch>
    void begin_something(world_type const& now, Branch const& branch) const {
        for (std::size_t t = 0; t < all_.size(); ++t) {
            auto const index = static_cast<std::uint8_t>(t);
            model_entry const& here = now.entries[t];
            bool const unfinished = here.present && !is_final(here.now.state);
            bool const again = here.present || under_way(now, t);
            if (!again || now.begun < within_.calls_again) {
                branch([&](world_type& next, model_worker& w) {
                    next.begun = static_cast<std::uint8_t>(next.begun + (again ? 1 : 0));
                    w.what = role::caller;
                    w.transaction = index;
                    w.mind = coordinator::begin(all_[t]->parts(), fresh(next, t));
                    return " run " + all_[t]->id();
                }, "calls");
            }
            if (unfinished) {
                branch([&](world_type&, model_worker& w) {
                    w.what = role::recoverer;
                    w.transaction = index;
                    w.mind = coordinator::take(all_[t]->parts(), here.now);
                    return " " + all_[t]->id();
                }, "takes over");
            }
            if (within_.cancels && !(here.present && is_final(here.now.state))) {
                branch([&](world_type&, model_worker& w) {
                    w.what = role::canceler;
                    w.transaction = index;
                    w.mind = coordinator::cancel(all_[t]->parts());
                    return " " + all_[t]->id();
                }, "is asked to cancel");
            }
            if (within_.sweeps) begin_sweep(now, t, branch);
        }
    }

    template <typename Branch>
    void begin_sweep(world_type const& now, std::size_t t, Branch const& branch) const {
        for (std::size_t part = 0; part < all_[t]->parts(); ++part) {
            epoch const marked = all_[t]->mark_epoch(now.data, part);
            if (marked == 0) continue;
            branch([&](world_type& next, model_worker& w) {
                w.what = role::sweeper;
                w.transaction = static_cast<std::uint8_t>(t);
                w.part = static_cast<std::uint8_t>(part);
                w.marked = marked;
                w.mind = coordinator::begin(0, fresh(next, t), goal::annul);
                w.mind.look_again();
                return " of " + all_[t]->id();
            }, "looks at a mark");
        }
    }

    template <typename Branch>
    void sweep(world_type const& now, model_worker const& me, Branch const& branch) const {
        std::size_t const t = me.transaction;
        if (me.judged) {
            branch([&](world_type& next, model_worker& w) {
                all_[t]->meet(next.data, step::give_way, me.part, me.marked, 0);
                w = {};
                return std::string{};
            }, "undoes the stray mark");
            return;
        }
        if (me.mind.next() != step::end) {
            advance(now, me, branch);
            return;
        }
        branch([&](world_type&, model_worker& w) {
            bool const stray = me.mind.state() == state::canceled ||
                               (me.mind.state() == state::done && me.mind.committed() != me.marked);
            if (stray) w.judged = true;
            else w = {};
            return std::string{stray ? " stray" : " live"};
        }, "judges the mark");
    }

    /// One step of a coordinator: answered, or sent with an unknown outcome.
    template <typename Branch>
    void advance(world_type const& now, model_worker const& me, Branch const& branch) const {
        std::size_t const t = me.transaction;
        model_entry const& here = now.entries[t];
        switch (me.mind.next()) {
        case step::end:
            branch([](world_type&, model_worker& w) { w = {}; return std::string{}; }, "ends");
            return;
        case step::pause:
            branch([](world_type&, model_worker& w) { w.mind.resume(); return std::string{}; },
                   "goes on");
            return;
        case step::wait:
            branch([](world_type&, model_worker& w) { w.mind.look_again(); return std::string{}; },
                   "looks again");
            return;
        case step::read: read(here, t, branch); return;
        case step::apply:
        case step::confirm:
        case step::compensate:
        case step::give_way: ask_parts(now, me, branch); return;
        default: ask_log(now, me, branch); return;
        }
    }

    template <typename Branch>
    void read(model_entry const& here, std::size_t t, Branch const& branch) const {
        if (!here.present) {
            branch([&](world_type& next, model_worker& w) {
                view_of_entry view;
                view.fresh = fresh(next, t);
                w.mind.found_nothing(view);
                return std::string{" nothing"};
            }, "reads");
            return;
        }
        for (bool const abandoned : {false, true}) {
            if (abandoned && is_final(here.now.state)) continue;
            branch([&](world_type&, model_worker& w) {
                view_of_entry view;
                view.abandoned = abandoned;
                w.mind.found(here.now, view);
                return " " + std::string{name_of(here.now.state)} +
                       (abandoned ? " and takes it over" : "");
            }, "reads");
        }
    }

    template <typename Branch>
    void ask_log(world_type const& now, model_worker const& me, Branch const& branch) const {
        flight sent;
        sent.transaction = me.transaction;
        sent.at = me.mind.next();
        sent.inserts = me.mind.insert_state();
        sent.under = sent.at == step::insert ? me.mind.insert_epoch() : 0;
        sent.change = me.mind.change();
        branch([&](world_type& next, model_worker& w) {
            log_answer said{};
            std::string const met = perform(next, sent, &said);
            tell(w.mind, sent.at, said, next.entries[me.transaction].expired);
            return std::string{name_of(sent.at)} + met;
        }, "");
        if (now.late >= within_.late_writes) return;
        branch([&](world_type& next, model_worker& w) {
            ++next.late;
            next.flights.push_back(sent);
            tell(w.mind, sent.at, log_answer::unknown, false);
            return std::string{name_of(sent.at)} + " unknown";
        }, "");
    }

    template <typename Branch>
    void ask_parts(world_type const& now, model_worker const& me, Branch const& branch) const {
        for (std::size_t part = 0; part < me.mind.parts(); ++part) {
            if (!me.mind.due(part)) continue;
            flight sent;
            sent.transaction = me.transaction;
            sent.part = static_cast<std::uint8_t>(part);
            sent.at = me.mind.next();
            sent.under = me.mind.epoch_number();
            sent.committed = sent.at == step::confirm ? me.mind.committed() : 0;
            branch([&](world_type& next, model_worker& w) {
                answer const said = all_[me.transaction]->meet(next.data, sent.at, part,
                                                               sent.under, sent.committed);
                w.mind.answered(part, said);
                decide(w.mind);
                return text(sent) + ": " + std::string{name_of(said)};
            }, "");
            if (now.late >= within_.late_writes) continue;
            branch([&](world_type& next, model_worker& w) {
                ++next.late;
                next.flights.push_back(sent);
                w.mind.answered(part, answer::unknown);
                decide(w.mind);
                return text(sent) + ": unknown";
            }, "");
        }
    }

    /// A wave is decided when no part is left to be asked.
    void decide(coordinator& mind) const {
        for (std::size_t part = 0; part < mind.parts(); ++part) {
            if (mind.due(part)) return;
        }
        mind.decide(within_.attempts);
    }

    static void tell(coordinator& mind, step at, log_answer said, bool expired) {
        switch (at) {
        case step::insert: mind.inserted(said, expired); break;
        case step::claim: mind.claimed(said, expired); break;
        case step::commit: mind.committed(said); break;
        case step::close: mind.closed(said); break;
        default: mind.canceled(said); break;
        }
    }

    std::string perform(world_type& next, flight const& sent, log_answer* said = nullptr) const {
        model_entry& here = next.entries[sent.transaction];
        if (sent.at == step::apply || sent.at == step::confirm || sent.at == step::compensate ||
            sent.at == step::give_way) {
            return ": " + std::string{name_of(all_[sent.transaction]->meet(
                              next.data, sent.at, sent.part, sent.under, sent.committed))};
        }
        log_answer const got = sent.at == step::insert ? here.insert(sent.inserts, sent.under)
                                                       : here.change(sent.change);
        if (got == log_answer::taken && sent.at == step::commit) {
            all_[sent.transaction]->commit(next.data);
        }
        if (said != nullptr) *said = got;
        return got == log_answer::taken ? ": taken" : ": conflict";
    }

    static bool under_way(world_type const& now, std::size_t t) {
        for (auto const& one : now.workers) {
            if (one.what != role::idle && one.transaction == t) return true;
        }
        for (auto const& one : now.flights) {
            if (one.transaction == t) return true;
        }
        return false;
    }

    /// An epoch above every other of the transaction, and not the next of any.
    epoch fresh(world_type& state, std::size_t t) const {
        epoch most = 0;
        state.visit_epochs(t, all_[t]->id(), [&](epoch& one) { most = std::max(most, one); });
        return most + 2;
    }

    std::string name(model_worker const& me, std::size_t i) const {
        std::string out = "w" + std::to_string(i);
        if (me.what != role::idle) out += " (" + all_[me.transaction]->id() + ")";
        return out;
    }
    std::string text(flight const& sent) const {
        std::string out = all_[sent.transaction]->id() + " " + std::string{name_of(sent.at)};
        if (all_[sent.transaction]->parts() > sent.part) {
            out += " " + std::string{all_[sent.transaction]->name_part(sent.part).participant};
        }
        return out + " e" + std::to_string(sent.under);
    }

    transactions const& all_;
    bounds const& within_;
};

} // namespace testing
SETTLE_END
