// SPDX-License-Identifier: BSL-1.0
// The invariants that every state of a search must fulfil.
#pragma once

#include <settle/testing/explore/bounds.hpp>
#include <settle/testing/explore/world.hpp>
#include <settle/testing/show_record.hpp>

#include <functional>

SETTLE_BEGIN
namespace testing {

template <typename Coordinator, typename Rules, typename Records>
class state_checker {
public:
    using world_type = world<Coordinator, Records>;
    using transactions = std::vector<std::unique_ptr<model_transaction<Records>>>;
    /// A check that the user declares: returns the problem of the records, or an empty string.
    using declared = std::function<std::string(Records const&)>;

    state_checker(transactions const& all, bounds const& within) : all_(all), within_(within) {}

    void declare(declared check) { declared_.push_back(std::move(check)); }

    /// The problem of a state, or an empty string.
    [[nodiscard]] std::string wrong(world_type const& now) const {
        std::string violation;
        now.data.for_each_cell([&](auto const& cell) {
            if (violation.empty()) violation = wrong_cell(now, cell);
        });
        for (std::size_t t = 0; violation.empty() && t < all_.size(); ++t) {
            violation = wrong_entry(now, t);
            for (std::size_t i = 0; violation.empty() && i < all_[t]->prepared.size(); ++i) {
                violation = wrong_prepared(now, t, i);
            }
            for (std::size_t i = 0; violation.empty() && i < all_[t]->calls.size(); ++i) {
                violation = wrong_call(now, t, i);
            }
        }
        for (auto const& check : declared_) {
            if (violation.empty()) violation = check(now.data);
        }
        for (auto const& reader : now.readers) {
            if (violation.empty() && reader.now == reader_state::wrong) {
                violation = within_.compares_readers
                                ? "the answers of two readers are in no order"
                                : "a reader's answer was true at no moment of its call";
            }
        }
        return violation;
    }

    /// True when all workers are idle, no write is late, all entries are final and no mark or
    /// prepared name is left. A state in which a person has rolled back a name also counts as an
    /// end, since only a person can repair it.
    [[nodiscard]] static bool is_end(world_type const& now) {
        bool ended = now.unanswered.empty();
        for (auto const& one : now.workers) ended = ended && one.what == role::idle;
        for (auto const& one : now.entries) {
            ended = ended && (!one.present || is_final(one.now.state));
        }
        now.data.for_each_cell([&](auto const& cell) { ended = ended && cell.slot.marks.empty(); });
        bool by_hand = false;
        for (auto const& one : now.prepared) {
            ended = ended && one.names.empty();
            by_hand = by_hand || one.by_hand;
        }
        return ended || by_hand;
    }

private:
    /// Resolves all marks of a record; it must then equal the effect of the committed transactions.
    template <typename Cell>
    [[nodiscard]] std::string wrong_cell(world_type const& now, Cell const& cell) const {
        if (cell.slot.marks.empty() && equal_members(cell.slot.record, cell.truth)) return {};
        auto settled = cell.slot;
        for (auto const& mark : cell.slot.marks) {
            epoch const committed = committed_of(now, mark.id);
            bool const is_apart = !are_comparable(mark.epoch_number, committed);
            if (is_apart) undo_exactly<Rules>(settled, mark.id, mark.part, mark.epoch_number);
            else if (committed != 0) finish<Rules>(settled, mark.id, mark.part, committed);
            else undo<Rules>(settled, mark.id, mark.part);
        }
        if (equal_members(settled.record, cell.truth)) return {};
        return "with all marks settled, a record holds " + show_record(settled.record) +
               " where the committed transactions give " + show_record(cell.truth);
    }

    [[nodiscard]] epoch committed_of(world_type const& now, transaction_id const& id) const {
        for (std::size_t t = 0; t < all_.size(); ++t) {
            auto const& here = now.entries[t];
            if (all_[t]->id() == id) return here.present ? here.now.committed : 0;
        }
        return 0;
    }

    [[nodiscard]] std::string wrong_entry(world_type const& now, std::size_t t) const {
        model_entry const& entry = now.entries[t];
        std::string const& id = all_[t]->id();
        // With a rule switched off, a search must find a harmful end, not the broken rule itself.
        bool const is_harmful = has_all_rules() || entry.broken == breach::outcome;
        if (is_harmful && entry.broken != breach::none) {
            return id + " " + std::string{words_of(entry.broken)};
        }
        if (entry.commits > 1U + entry.purges) return id + " was committed twice";
        if (entry.commits > 1 && !within_.resubmits)
            return id + " was committed again after its purge";
        if ((entry.resolved & entry.ever_resolved) != entry.ever_resolved) {
            return id + " has lost the reason of a person who closed a call";
        }
        if (entry.commits != 0 && all_[t]->undoes && now.entries[*all_[t]->undoes].commits == 0) {
            return id + " is committed, and its original is not";
        }
        auto const earlier = all_[t]->follows;
        if (entry.commits != 0 && earlier && now.entries[*earlier].commits != 0) {
            return id + " is committed, and so is " + all_[*earlier]->id();
        }
        if (!entry.present || entry.now.state != state::done) return {};
        for (std::size_t part = 0; part < all_[t]->records(); ++part) {
            epoch const marked = all_[t]->mark_epoch(now.data, part);
            if (marked != 0 && marked == entry.now.committed) {
                return id + " is done, and a part is not confirmed";
            }
        }
        return {};
    }

    /// A database has committed a name of the part at most as often as the transaction, and exactly
    /// as often once the transaction has ended.
    [[nodiscard]] std::string wrong_prepared(world_type const& now, std::size_t t,
                                             std::size_t i) const {
        auto const& transaction = *all_[t];
        model_entry const& entry = now.entries[t];
        prepared_row const& row = now.prepared[transaction.first_prepared + i];
        std::string const name = transaction.id() + " " + transaction.prepared[i].name;
        if (row.commits > 1U + entry.purges) return name + ": this part was committed twice";
        if (row.commits > entry.commits) return name + ": this part is committed too early";
        bool const over = !entry.present || is_final(entry.now.state);
        if (over && row.commits < entry.commits) {
            return name + ": the transaction is done, and this part is not committed";
        }
        return {};
    }

    /// In the end, a call has an effect at its receiver exactly if the transaction is done. Before
    /// the commit and the cancel, it has an effect only together with the marks of its records, the
    /// calls of earlier stages, and the results that its entry keeps. During a cancel, only what it
    /// needs must still be there.
    [[nodiscard]] std::string wrong_call(world_type const& now, std::size_t t,
                                         std::size_t i) const {
        auto const& transaction = *all_[t];
        call_model const& model = transaction.calls[i];
        if (model.moments == call_moments::query) return {};
        model_entry const& entry = now.entries[t];
        bool const is_resolved = (entry.ever_resolved >> i & 1U) != 0;
        if (within_.guesses && is_resolved && model.moments == call_moments::pivot) return {};
        receiver_row const& row = now.rows[transaction.first_row + i];
        std::string const name = transaction.id() + " " + model.name;
        bool const committed = entry.commits > entry.earlier;
        bool const over = !entry.present || is_final(entry.now.state);
        int const effects = row.effects - entry.earlier;
        if (effects > 1) return name + ": this call took effect twice";
        if (effects < 0) return name + ": this call was undone without an effect";
        if (over && committed && (effects == 0 || unconfirmed(row, model))) {
            return name + ": the transaction is done, and this call is not confirmed";
        }
        if (effects == 0) return {};
        if (over && !committed) {
            return name + ": the transaction is not done, and this call has an effect";
        }
        bool const at_commit = model.moments == call_moments::confirm_only;
        if (at_commit && !committed) return name + ": this call was confirmed before the commit";
        // A late insert after a purge makes an entry that is only canceled.
        stage_number const stage = at_commit ? transaction.stages().count : model.stage;
        if (entry.present && entry.purges == 0 &&
            contradicts(row.parameters, transaction, stage, entry)) {
            return name + ": the call was made with results that its entry does not keep";
        }
        if (committed) return {};
        // A cancel gives back at once what this call does not use.
        auto const may_be_undone = [&](bool is_used) {
            bool const waits = is_used || transaction.stages().undone_by_stage;
            return entry.now.state == state::canceling && !waits;
        };
        for (std::size_t part = 0; part < transaction.records() && !may_be_undone(false); ++part) {
            if (transaction.mark_epoch(now.data, part) == 0) {
                return name + ": this call has an effect without the records";
            }
        }
        for (std::size_t k = 0; k < transaction.calls.size(); ++k) {
            bool const needed = transaction.calls[k].moments == call_moments::undoable &&
                                transaction.calls[k].stage < model.stage &&
                                !may_be_undone((transaction.users_of(k) >> i & 1U) != 0);
            if (needed && now.rows[transaction.first_row + k].effects == 0) {
                return name + ": this call has an effect without an earlier stage";
            }
        }
        return {};
    }

    /// A receiver with rows knows whether its call was confirmed.
    [[nodiscard]] static bool unconfirmed(receiver_row const& row, call_model const& model) {
        return model.moments == call_moments::undoable && model.confirms &&
               model.grade.remembers == receiver_grade::memory::rows &&
               row.now == receiver_status::applied;
    }

    /// With a rule switched off, a call may precede the keep of its parameters, as long as the
    /// entry gets no other results.
    [[nodiscard]] static bool contradicts(call_results parameters,
                                          model_transaction<Records> const& transaction,
                                          stage_number stage, model_entry const& entry) {
        call_results const kept = transaction.results_before(stage, entry.results);
        if (has_all_rules() || entry.commits != 0) return parameters != kept;
        for (std::size_t i = 0; i < transaction.calls.size(); ++i) {
            std::uint8_t const one = result_of(kept, i);
            if (one != 0 && one != result_of(parameters, i)) return true;
        }
        return false;
    }

    static bool has_all_rules() {
        if constexpr (requires { Rules::complete(); }) return Rules::complete();
        else return std::is_same_v<Rules, settle::detail::protocol_rules>;
    }

    transactions const& all_;
    std::vector<declared> declared_;
    bounds const& within_;
};

} // namespace testing
SETTLE_END
