// SPDX-License-Identifier: BSL-1.0
// The moves of a search that no worker makes: late operations land, time passes, receivers forget,
// and persons close calls and roll prepared names back.
#pragma once

#include <settle/testing/explore/beginnings.hpp>
#include <settle/testing/explore/trace_text.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Protocol, typename Records>
class outside_moves : protected beginnings<Protocol, Records> {
    using base = beginnings<Protocol, Records>;

protected:
    using base::all_;
    using base::within_;
    using typename base::rules;
    using typename base::transactions;
    using typename base::world_type;
    using choice = typename operations<Protocol, Records>::choice;

    outside_moves(transactions const& all, bounds const& within)
        : base(all, within), operations_(all, within) {}

    template <typename Function>
    void move_outside(world_type const& now, Function& function) const {
        for (std::size_t i = 0; i < now.unanswered.size(); ++i) land(now, i, function);
        if (now.store_crashes < within_.store_crashes) crash_store(now, function);
        for (std::size_t t = 0; t < all_.size(); ++t) {
            if (within_.ages) age(now, t, function);
            if (within_.resolves) resolve(now, t, function);
            if (within_.by_hand) roll_back_by_hand(now, t, function);
        }
    }

    /// True if a further operation or receiver may fail.
    [[nodiscard]] bool may_fail(world_type const& now) const {
        return now.unanswered.size() + now.late < within_.late_writes;
    }

    operations<Protocol, Records> operations_;

private:
    template <typename Function>
    void crash_store(world_type const& now, Function& function) const {
        for (std::size_t kept = 0; kept < now.unforced.size(); ++kept) {
            world_type next = now;
            operations_.crash_store(next, kept);
            function(std::move(next), move_kind::outside, [&] {
                return "the store stops and has " + std::to_string(kept) + " of " +
                       std::to_string(now.unforced.size()) + " unforced writes left";
            });
        }
    }

    template <typename Function>
    void land(world_type const& now, std::size_t i, Function& function) const {
        sent_operation const landing = now.unanswered[i];
        auto const try_choice = [&](choice const& chosen) {
            world_type next = now;
            next.unanswered.erase(i);
            ++next.late;
            call_answer part_answer{};
            log_answer reply{};
            if (asks_parts(landing.action))
                part_answer = operations_.execute(next, landing, chosen);
            else reply = operations_.land(next, landing);
            bool const of_call = all_[landing.transaction]->call_of(landing.part) != nullptr;
            if (within_.swaps && of_call && asks_parts(landing.action)) {
                next.rows[operations_.row_of(landing)].stray = {
                    detail::operation_of(landing.action), part_answer};
            }
            function(std::move(next), move_kind::protocol, [&] {
                return "the late write lands: " + words_of(landing, *all_[landing.transaction]) +
                       (asks_parts(landing.action) ? ": " + words_of(part_answer)
                                                   : words_of(reply));
            });
        };
        if (asks_parts(landing.action)) operations_.each_choice(now, landing, try_choice);
        else try_choice({});
    }

    /// Time passes: a begun transaction becomes too old; a final entry that is too old is purged.
    template <typename Function>
    void age(world_type const& now, std::size_t t, Function& function) const {
        model_entry const& entry = now.entries[t];
        bool const begun = entry.present || base::under_way(now, t);
        if (entry.purges == 0 && !entry.closed && begun) {
            world_type next = now;
            bool const passes = within_.clocks_differ && !entry.passing;
            next.entries[t].passing = passes;
            if (!passes) grow_old(next, t);
            function(std::move(next), move_kind::outside, [&] {
                return passes ? "some clocks pass the last moment of " + all_[t]->id()
                              : all_[t]->id() + " grows too old";
            });
        }
        purge_rows(now, t, function);
        bool const is_bar = entry.is_barred();
        bool const old =
            entry.old || (!rules::logs_wait && entry.passing) || (is_bar && !rules::bars_stay);
        if ((entry.purges == 0 || is_bar) && entry.present && old && is_final(entry.now.state)) {
            world_type next = now;
            next.entries[t].purge();
            // A purge comes long after the end of an entry. A bar counts like no entry.
            for (auto& reader : next.readers) {
                reader.is_over = reader.is_over || (!is_bar && (reader.unended >> t & 1U) != 0);
            }
            for (auto& one : next.prepared) {
                if (one.transaction == t) one.receipt.reset();
            }
            function(std::move(next), move_kind::outside,
                     [&] { return all_[t]->id() + " is purged from the log"; });
        }
    }

    static void grow_old(world_type& next, std::size_t t) {
        next.entries[t].old = next.entries[t].present;
        next.entries[t].closed = true;
        for (auto& one : next.workers) one.old = one.old || one.transaction == t;
        for (auto& one : next.unanswered) one.old = one.old || one.transaction == t;
    }

    /// A receiver forgets a call that has an end, once its last moment is over.
    template <typename Function>
    void purge_rows(world_type const& now, std::size_t t, Function& function) const {
        auto const& model = *all_[t];
        model_entry const& entry = now.entries[t];
        if (!entry.closed && (rules::purges_wait || !entry.passing)) return;
        for (std::size_t i = 0; i < model.calls.size(); ++i) {
            receiver_row const& row = now.rows[model.first_row + i];
            bool const has_apply = model.calls[i].moments != call_moments::confirm_only;
            if (!row.now || !end_of({*row.now, has_apply, {}})) continue;
            world_type next = now;
            next.rows[model.first_row + i].now.reset();
            next.rows[model.first_row + i].forgotten = true;
            function(std::move(next), move_kind::outside, [&] {
                return "the receiver forgets " + model.id() + " " + model.calls[i].name;
            });
        }
    }

    // ------------------------------------------------------------------------------------ persons

    /// A person rolls back a prepared name.
    template <typename Function>
    void roll_back_by_hand(world_type const& now, std::size_t t, Function& function) const {
        this->each_name(now, t, [&](std::size_t part, epoch name) {
            world_type next = now;
            auto& row = next.prepared[all_[t]->prepared_row_of(part)];
            row.end(false, [&](epoch epoch) { return epoch == name; });
            row.by_hand = true;
            function(std::move(next), move_kind::outside, [&] {
                return "a person rolls back e" + std::to_string(name) + " of " + all_[t]->id();
            });
        });
    }

    /// A person ends a call at its receiver, and closes it in the entry.
    template <typename Function>
    void resolve(world_type const& now, std::size_t t, Function& function) const {
        auto const& model = *all_[t];
        model_entry const& entry = now.entries[t];
        bool const commits = entry.now.state == state::applied;
        bool const decides = entry.now.state == state::deciding;
        if (!entry.present || !may_close<rules>(entry.now.state, decides)) return;
        for (std::size_t i = 0; i < model.calls.size(); ++i) {
            auto const needed = decides ? call_moments::pivot : call_moments::undoable;
            bool const sends =
                commits ? confirms(model.calls[i]) : model.calls[i].moments == needed;
            bool const is_closed = (entry.resolved >> i & 1U) != 0;
            if (sends && decides && within_.guesses) {
                if (!is_closed) close(now, t, i, false, function);
                close(now, t, i, true, function);
            }
            if (!sends || is_closed || (decides && within_.guesses)) continue;
            receiver_row const& row = now.rows[model.first_row + i];
            bool const is_there = row.effects == entry.earlier + 1;
            bool const right = decides || is_there == commits;
            // A pivot that was applied cannot be undone.
            bool const ended =
                !rules::persons_end_keys || has_end(row, commits) || (decides && is_there);
            if (right && ended) close(now, t, i, decides && !is_there, function);
            else end_by_hand(now, t, i, commits, function);
            // After the last moment, the receiver may have forgotten that it refused the call.
            if (decides && !ended && !entry.closed) end_by_hand(now, t, i, true, function);
        }
    }

    /// True if no late call changes the effects of a row.
    [[nodiscard]] static bool has_end(receiver_row const& row, bool committed) {
        using enum receiver_status;
        if (!row.now) return false;
        return committed ? row.now == confirmed : row.now != applied && row.now != confirmed;
    }

    /// Shape:   commits - the call has an effect from then on, and not none
    template <typename Function>
    void end_by_hand(world_type const& now, std::size_t t, std::size_t i, bool commits,
                     Function& function) const {
        using enum receiver_status;
        auto const& model = *all_[t];
        model_entry const& entry = now.entries[t];
        world_type next = now;
        receiver_row& row = next.rows[model.first_row + i];
        bool const is_pivot = model.calls[i].moments == call_moments::pivot;
        bool const keeps_rows = model.calls[i].grade.remembers == receiver_grade::memory::rows;
        if (rules::persons_end_keys) {
            // A receiver without rows refuses a closed key.
            if (commits) row.now = is_pivot ? applied : confirmed;
            else row.now = !keeps_rows ? refused : row.now ? compensated : closed;
            row.compensated = !commits && !keeps_rows;
        }
        row.effects = static_cast<std::int8_t>(entry.earlier + (commits ? 1 : 0));
        if (model.calls[i].moments == call_moments::confirm_only) row.parameters = entry.results;
        if (commits && is_pivot) {
            row.parameters = model.results_before(model.calls[i].stage, entry.results);
            row.result = 1;
        }
        // The protocol ends without a person's outcome of a pivot.
        function(std::move(next), is_pivot ? move_kind::outside : move_kind::protocol, [&] {
            return std::string{is_pivot && commits ? "a person makes " : "a person ends "}.append(
                model.id() + " " + model.calls[i].name + " at its receiver");
        });
    }

    /// The person's write may land later or never: the person has read the entry before others
    /// changed it, or the outcome is unknown.
    /// Shape:   cancels - the call is a pivot that was not applied
    template <typename Function>
    void close(world_type const& now, std::size_t t, std::size_t i, bool cancels,
               Function& function) const {
        auto const& model = *all_[t];
        model_entry const& entry = now.entries[t];
        sent_operation sent;
        sent.transaction = static_cast<std::uint8_t>(t);
        bool const decides = entry.now.state == state::deciding;
        sent.action = cancels ? step::cancel : step::keep;
        sent.results = entry.results;
        if (decides && !cancels) {
            auto const result = now.rows[model.first_row + i].result;
            sent.results = with_result(sent.results, i, std::max<std::uint8_t>(result, 1));
        }
        sent.resolved = static_cast<std::uint8_t>(entry.resolved | 1U << i);
        sent.change = closing_of<rules>(entry.now, cancels);
        auto const words = [&](char const* outcome) {
            return "a person closes " + model.id() + " " + model.calls[i].name + " in the entry" +
                   (cancels ? " as not applied" : "") + outcome;
        };
        world_type next = now;
        std::ignore = operations_.perform_at_log(next, sent);
        function(std::move(next), decides ? move_kind::outside : move_kind::protocol,
                 [&] { return words(""); });
        if (!may_fail(now)) return;
        next = now;
        next.unanswered.push_back(sent);
        function(std::move(next), move_kind::outside, [&] { return words(": unknown"); });
    }
};

} // namespace testing
SETTLE_END
