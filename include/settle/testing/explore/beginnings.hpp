// SPDX-License-Identifier: BSL-1.0
// The moves that an idle worker of a search may begin: calls, takeovers, cancels and sweeps.
#pragma once

#include <settle/testing/explore/operations.hpp>

SETTLE_BEGIN
namespace testing {

/// A state is stuck when protocol moves alone reach no end: an end must not depend on a new call, a
/// cancel or a fault, which are outside moves.
enum class move_kind : std::uint8_t { protocol, outside };

template <typename Protocol, typename Records>
class beginnings {
public:
    using coordinator_type = typename Protocol::coordinator_type;
    using worker = model_worker<coordinator_type>;
    using world_type = world<coordinator_type, Records>;
    using transactions = std::vector<std::unique_ptr<model_transaction<Records>>>;
    using rules = typename Protocol::rules;

protected:
    static constexpr bool knows_one_phase = operations<Protocol, Records>::knows_one_phase;

    beginnings(transactions const& all, bounds const& within) : all_(all), within_(within) {}

    template <typename Branch>
    void begin_something(world_type const& now, Branch const& branch) const {
        for (std::size_t t = 0; t < all_.size(); ++t) {
            begin_call(now, t, branch);
            begin_takeover(now, t, branch);
            begin_cancel(now, t, branch);
            if (within_.sweeps) {
                begin_sweep(now, t, branch);
                begin_late_list(t, branch);
            }
        }
    }

    template <typename Branch>
    void begin_call(world_type const& now, std::size_t t, Branch const& branch) const {
        model_entry const& entry = now.entries[t];
        bool const again = entry.present || entry.purges > 0 || under_way(now, t);
        bool const anew = within_.resubmits && entry.purges == 1 && entry.closed && !entry.present;
        if (again && !anew && now.again >= within_.calls_again) return;
        if (entry.closed && !anew) return;
        auto const undone = all_[t]->undoes;
        if (undone && !may_reverse<rules>(now.entries[*undone].now.state)) return;
        auto const earlier = all_[t]->follows;
        if (earlier && !may_reverse_again<rules>(now.entries[*earlier].now.state)) return;
        auto const call = [&](goal aim, phases how, char const* words) {
            branch(
                move_kind::outside,
                [&](world_type& next, worker& w) {
                    if (again && !anew) ++next.again;
                    // An id submitted after its purge is a new transaction.
                    if (anew) next.entries[t].closed = next.entries[t].passing = false;
                    epoch const first = how == phases::late ? birth(next, t) : fresh(next, t);
                    begin(w, role::caller, t, beginning(*all_[t], first, aim, how));
                    if constexpr (knows_one_phase) {
                        if (within_.store_crashes != 0) w.coordinator.confirm_lazily();
                    }
                    w.old = false;
                },
                [&] { return words + all_[t]->id(); });
        };
        call(goal::run, phases::two, "calls run ");
        if (in_one_phase(t)) {
            call(goal::run, phases::one, "calls run in one phase ");
        }
        if (joins(t)) call(goal::run, phases::joined, "calls run with a joined commit ");
        if (begins_late(t)) call(goal::run, phases::late, "calls run with a late entry ");
        if (within_.submits) call(goal::submit, phases::two, "submits ");
    }

    template <typename Branch>
    void begin_takeover(world_type const& now, std::size_t t, Branch const& branch) const {
        model_entry const& entry = now.entries[t];
        if (!entry.present || is_final(entry.now.state)) return;
        auto const take = [&](phases how, char const* words) {
            branch(
                move_kind::protocol,
                [&](world_type&, worker& w) {
                    begin(w, role::recoverer, t, taking_over(*all_[t], entry.now, how));
                    note_read(w, entry);
                },
                [&] { return "takes over " + all_[t]->id() + words; });
        };
        take(phases::two, "");
        if (in_one_phase(t)) take(phases::one, " for one phase");
        if (joins(t)) take(phases::joined, " for a joined commit");
    }

    template <typename Branch>
    void begin_cancel(world_type const& now, std::size_t t, Branch const& branch) const {
        model_entry const& entry = now.entries[t];
        bool const is_over = entry.present && is_final(entry.now.state) && !entry.is_barred();
        if (!within_.cancels || entry.closed || is_over) return;
        branch(
            move_kind::outside,
            [&](world_type&, worker& w) { begin(w, role::canceler, t, canceling(*all_[t])); },
            [&] { return "begins to cancel " + all_[t]->id(); });
    }

    template <typename Branch>
    void begin_sweep(world_type const& now, std::size_t t, Branch const& branch) const {
        for (std::size_t part = 0; part < all_[t]->records(); ++part) {
            epoch const marked = all_[t]->mark_epoch(now.data, part);
            if (marked != 0) look_at(t, part, marked, "a mark", rules::one_log, branch);
        }
        if (!rules::lists_first) return;
        each_name(now, t, [&](std::size_t part, epoch name) {
            look_at(t, part, name, "a prepared name", rules::names_contain_logs, branch);
        });
    }

    /// Shape:   own - only a sweeper of the mark's log looks at it
    template <typename Branch>
    void look_at(std::size_t t, std::size_t part, epoch marked, std::string const& what, bool own,
                 Branch const& branch) const {
        auto const look = [&](world_type& next, worker& w, bool found_stray) {
            begin_tombstone(next, w, t, marked);
            w.part = static_cast<std::uint8_t>(part);
            w.marked = marked;
            w.found_stray = found_stray;
        };
        branch(
            move_kind::protocol, [&](world_type& next, worker& w) { look(next, w, false); },
            [&] { return "looks at " + what + " of " + all_[t]->id(); });
        if (own) return;
        branch(
            move_kind::outside, [&](world_type& next, worker& w) { look(next, w, true); },
            [&] { return "sweeps for another log, which has no " + all_[t]->id(); });
    }

    /// With the rule switched off, a sweeper reads an entry before it lists the names.
    template <typename Branch>
    void begin_late_list(std::size_t t, Branch const& branch) const {
        if (rules::lists_first || all_[t]->prepared.empty()) return;
        branch(
            move_kind::protocol,
            [&](world_type& next, worker& w) {
                begin_tombstone(next, w, t, 0);
                w.lists = true;
            },
            [&] { return "begins to sweep " + all_[t]->id(); });
    }

    void begin_tombstone(world_type& next, worker& w, std::size_t t, epoch marked) const {
        epoch const first = is_birth(marked) ? marked : fresh(next, t);
        begin(w, role::sweeper, t, coordinator_type::begin(0, first, goal::tombstone));
        w.coordinator.look_again();
    }

    /// Calls `function(part, epoch)` for each prepared name of a transaction.
    template <typename Function>
    void each_name(world_type const& now, std::size_t t, Function&& function) const {
        auto const& model = *all_[t];
        for (std::size_t part = model.records(); part < model.first_call(); ++part) {
            for (epoch const name : now.prepared[model.prepared_row_of(part)].names) {
                function(part, name);
            }
        }
    }

    using transaction = model_transaction<Records>;

    [[nodiscard]] bool in_one_phase(std::size_t t) const {
        // One phase is a native transaction of the store that holds all records.
        bool const records_alone = all_[t]->parts() == all_[t]->records();
        return knows_one_phase && within_.one_phase && records_alone;
    }

    [[nodiscard]] bool joins(std::size_t t) const {
        return knows_one_phase && own_parts(t) != 0 && all_[t]->calls.empty();
    }
    [[nodiscard]] bool begins_late(std::size_t t) const {
        bool const records_alone = all_[t]->parts() == all_[t]->records();
        std::uint32_t const all_parts = (std::uint32_t{1} << all_[t]->records()) - 1;
        return knows_one_phase && within_.late_entries && records_alone &&
               own_parts(t) != all_parts;
    }
    /// True if a worker leaves a part to its commit.
    [[nodiscard]] bool is_joined(worker const& w, std::size_t part) const {
        return w.coordinator.joins() && (own_parts(w.transaction) >> part & 1U) != 0;
    }
    /// A bit for each part of a transaction in the log's own store.
    [[nodiscard]] std::uint32_t own_parts(std::size_t t) const {
        return within_.own_parts & ((std::uint32_t{1} << all_[t]->records()) - 1);
    }

    // A protocol with two phases only has one stage only.

    coordinator_type beginning(transaction const& model, epoch first, goal aim, phases how) const {
        if constexpr (knows_one_phase) {
            stage_plan stages = model.stages();
            stages.keeps_at_insert = stages.keeps_at_insert && within_.keeps_at_insert;
            return coordinator_type::begin(model.parts(), first, aim, how, stages);
        } else {
            return coordinator_type::begin(model.parts(), first, aim);
        }
    }
    static coordinator_type taking_over(transaction const& transaction, standing const& current,
                                        phases how) {
        if constexpr (knows_one_phase)
            return coordinator_type::take(transaction.parts(), current, how, transaction.stages());
        else return coordinator_type::take(transaction.parts(), current);
    }
    static coordinator_type canceling(transaction const& transaction) {
        if constexpr (knows_one_phase) {
            return coordinator_type::cancel(transaction.parts(), reason::cancel_asked,
                                            transaction.stages());
        } else {
            return coordinator_type::cancel(transaction.parts());
        }
    }

    static void begin(worker& w, role what, std::size_t t, coordinator_type coordinator) {
        w.what = what;
        w.transaction = static_cast<std::uint8_t>(t);
        w.coordinator = std::move(coordinator);
    }

    /// The worker reads the fields of an entry that its coordinator does not need.
    static void note_read(worker& w, model_entry const& entry) {
        w.old = entry.closed;
        w.results = entry.results;
        w.resolved = entry.resolved;
    }

    static bool under_way(world_type const& now, std::size_t t) {
        auto const belongs = [&](auto const& one) { return one.transaction == t; };
        return std::any_of(now.workers.begin(), now.workers.end(),
                           [&](auto const& worker) {
                               return worker.what != role::idle && belongs(worker);
                           }) ||
               std::any_of(now.unanswered.begin(), now.unanswered.end(), belongs);
    }

    /// A new epoch of the transaction: above all others, and out of reach of claims.
    epoch fresh(world_type& state, std::size_t t) const {
        if (!rules::first_epochs_differ && state.entries[t].first_epoch != 0)
            return state.entries[t].first_epoch;
        return highest(state, t, false) + epochs_per_millisecond;
    }
    /// A new birth of the transaction: above all others.
    epoch birth(world_type& state, std::size_t t) const {
        return std::max(highest(state, t, true), least_birth) + births_per_second;
    }
    /// The highest birth, or the highest other epoch.
    epoch highest(world_type& state, std::size_t t, bool of_births) const {
        epoch most = 0;
        auto const note = [&](epoch epoch) {
            if (is_birth(epoch) == of_births) most = std::max(most, epoch);
        };
        state.visit_epochs(t, note);
        state.visit_marks(all_[t]->id(), note);
        return most;
    }

    transactions const& all_;
    bounds const& within_;
};

} // namespace testing
SETTLE_END
