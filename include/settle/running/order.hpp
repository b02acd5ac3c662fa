// SPDX-License-Identifier: BSL-1.0
// Keeps work on one record in the order in which a window of transactions was given.
//
// The wave of a window applies everything at once, in order. A transaction that failed there beside
// the pending mark of an earlier one of its window might succeed once that one has ended, so it
// falls back behind it; and whoever shares a record with one that falls back falls back with it,
// for otherwise it would overtake. What was applied although earlier ones are pending needs no such
// care: escrow has it hold whichever way they end.
//
// What settles at once has no marks to fall back behind. It is asked when nothing earlier on its
// records, or of its id, is left; inside the wave, one_phase_order (one_phase.hpp) sees to it.
#pragma once

#include <settle/store/hash_index.hpp>
#include <settle/store/wave.hpp>

#include <functional>

SETTLE_BEGIN
namespace detail {

/// A set of hashes.
class hash_set {
public:
    void clear() noexcept { index_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return index_.empty(); }
    [[nodiscard]] bool contains(std::uint64_t hash) const {
        return index_.find(hash, [](std::size_t) { return true; }) != nullptr;
    }
    void insert(std::uint64_t hash) {
        if (!contains(hash)) index_.insert(hash, 0);
    }

private:
    hash_index index_;
};

template <typename Collection>
inline constexpr char collection_tag = 0;

/// The records of a job as numbers, a part each. Two records of one number only wait for each other
/// without need.
template <typename Direction>
void record_hashes(job const& work, std::vector<std::uint64_t>& into) {
    into.clear();
    for_each_key<Direction>(
        work.parameters_of<Direction>(),
        [&]<typename C, typename Key>(std::type_identity<C>, Key const& key) {
            auto const seed = reinterpret_cast<std::uintptr_t>(&collection_tag<C>);
            into.push_back(hash_mix(seed, std::hash<Key>{}(key)));
        });
}

using record_hashes_function = void(job const&, std::vector<std::uint64_t>&);

/// All that a job which settles at once shares with others: its records, and its entry, since the
/// first one of an id decides what the id means.
inline void one_phase_hashes(job const& work, record_hashes_function* records,
                           std::vector<std::uint64_t>& into) {
    records(work, into);
    into.push_back(hash_mix(0, std::hash<transaction_id>{}(work.id)));
}

/// The rules of this order by name. A program runs with all of them; only the environment of a
/// search names a type that hides some (`order_rules`), to show that each is needed.
struct order_rules {
    /// What failed beside the pending mark of an earlier one falls back behind it.
    static constexpr bool falls_back = true;
    /// Whoever shares a record with one that falls back, or is held up, falls back with it.
    static constexpr bool falls_back_with = true;
    /// Whoever shares a record with one that waits is not asked.
    static constexpr bool waits_with = true;
    /// Nobody meets the marks of a transaction that backs off.
    static constexpr bool backs_off_first = true;
    /// What settles at once waits for the end of what is before it on its records.
    static constexpr bool one_phase_waits = true;
};

template <typename Environment>
struct order_rules_of {
    using type = order_rules;
};
template <typename Environment>
    requires requires { typename Environment::order_rules; }
struct order_rules_of<Environment> {
    using type = typename Environment::order_rules;
};

/// Shape:   Rules - order_rules, or some of them
template <typename Rules>
class record_order {
public:
    /// Before the wave.
    void begin() {
        blocked_.clear();
        pending_.clear();
        paused_.clear();
    }

    /// A job that backs off, whose marks may still be there: nobody is to meet them, least of all
    /// the earlier one that it gives way to.
    void backs_off(job const& work, record_hashes_function* records) {
        if (!Rules::backs_off_first) return;
        records(work, records_);
        for (auto const record : records_) blocked_.insert(record);
    }

    /// Whether a job waits for an earlier one of its window: for one that has not taken effect and
    /// is held up by others than its window, on a record that one transaction at a time may use, or
    /// behind one that it fell back behind and that rests. Asking in vain would only cost. What
    /// settles at once waits for the very end of the earlier, since it cannot fall back behind a
    /// pending mark.
    /// Shape:   asked - the wave is to ask it; the others are told of for the sake of the later;
    ///          held_up, fell_back - the last time it was asked
    [[nodiscard]] bool stands_behind(step wave, job const& work, bool asked, bool held_up,
                                     bool fell_back, record_hashes_function* records) {
        bool const free = exclusive_.empty() && blocked_.empty() && paused_.empty();
        if (asked && !held_up && free) return false;
        look_up(wave, work, records);
        bool waits = !asked && (wave == step::one_phase || !has_begun(work));
        for (auto const record : records_) {
            waits = waits || blocked_.contains(record) || pending_.contains(record) ||
                    (fell_back && paused_.contains(record));
        }
        if (work.resting && has_marks(work)) {
            for (auto const record : records_) paused_.insert(record);
        }
        bool const blocks = (waits || (asked && held_up)) && Rules::waits_with;
        for (auto const record : records_) {
            if (blocks) blocked_.insert(record);
            if (!exclusive_.contains(record)) continue;
            pending_.insert(record);
            if (waits) still_exclusive_.insert(record);
        }
        return waits;
    }

    /// Behind the wave.
    void begin_answers() {
        stalled_.clear();
    }

    /// Behind a wave that marks records.
    void begin_places() {
        blocked_.clear();
        pending_.clear();
        // What nobody waits for any more need not be waited for, until a conflict says it again.
        std::swap(exclusive_, still_exclusive_);
        still_exclusive_.clear();
    }

    enum class place : std::uint8_t {
        stays,
        behind, ///< falls back behind earlier ones of its window
        held_up ///< by others than its window: by their marks, or by a store that is away
    };

    /// Where a job stands now.
    /// Shape:   asked - it took part in the wave; the others are told of for the sake of the later
    [[nodiscard]] place place_of(job const& work, bool asked, record_hashes_function* records) {
        records(work, records_);
        auto const& c = work.coordinator;
        if (!asked) {
            // What it did is as it will stay.
            if (has_begun(work) && !has_marks(work)) return place::stays;
            auto& those = has_begun(work) ? pending_ : blocked_;
            for (auto const record : records_) those.insert(record);
            return place::stays;
        }
        bool back = false;
        bool away = false;
        bool unsure = false;
        bool fenced = false;
        for (std::size_t part = 0; part < records_.size(); ++part) {
            answer const said = c.answer_of(part);
            away = away || said == answer::unavailable;
            unsure = unsure || said == answer::unknown;
            fenced = fenced || said == answer::fenced;
            bool const in_vain =
                Rules::falls_back && (said == answer::busy || may_hold_later(said));
            back = back || (Rules::falls_back_with && blocked_.contains(records_[part]));
            if (!in_vain || !pending_.contains(records_[part])) continue;
            back = true;
            if (said == answer::busy) exclusive_.insert(records_[part]);
        }
        bool const waits = back || away || unsure || fenced || part_says(work, answer::busy);
        for (std::size_t part = 0; part < records_.size(); ++part) {
            if (waits) blocked_.insert(records_[part]);
            else if (c.answer_of(part) == answer::applied) pending_.insert(records_[part]);
        }
        if (!back) return waits ? place::held_up : place::stays;
        // Who is fenced has to find out first what has become of it.
        return fenced ? place::stays : place::behind;
    }

    /// Whether a job does not get on: others than its window hold it up, or an earlier one of its
    /// window that does not get on itself.
    /// Shape:   held_up - itself
    [[nodiscard]] bool stalls(step wave, job const& work, bool held_up,
                              record_hashes_function* records) {
        if (!held_up && stalled_.empty()) return false;
        look_up(wave, work, records);
        bool found = held_up;
        for (auto const record : records_) found = found || stalled_.contains(record);
        for (auto const record : records_) {
            if (found) stalled_.insert(record);
        }
        return found;
    }

private:
    /// What a job shares with others in a wave.
    void look_up(step wave, job const& work, record_hashes_function* records) {
        if (wave == step::one_phase) one_phase_hashes(work, records, records_);
        else records(work, records_);
    }

    /// Whether its effects are as they will be, but for their end.
    static bool has_begun(job const& work) {
        auto const now = work.coordinator.state();
        return now != state::initial && now != state::pending;
    }

    /// Whether its effects are in place and not yet ended: without marks, its log alone is left.
    static bool has_marks(job const& work) {
        return has_begun(work) && work.coordinator.next() != step::close;
    }

    /// What stands against a part now, and may not when the pending ones have ended.
    static bool may_hold_later(answer said) {
        return said == answer::guard_failed || said == answer::overflow ||
               said == answer::record_missing || said == answer::record_exists;
    }

    [[nodiscard]] bool part_says(job const& work, answer wanted) const {
        for (std::size_t part = 0; part < records_.size(); ++part) {
            if (work.coordinator.answer_of(part) == wanted) return true;
        }
        return false;
    }

    hash_set blocked_;   ///< records of transactions that are yet to take effect, or give way
    hash_set pending_;   ///< records that earlier ones of the window have marked
    hash_set paused_;    ///< of those, records of which the earlier ones rest
    hash_set exclusive_; ///< records that one transaction at a time may use, as was seen
    hash_set still_exclusive_;
    hash_set stalled_;   ///< records of transactions that do not get on
    std::vector<std::uint64_t> records_;
};

} // namespace detail
SETTLE_END
