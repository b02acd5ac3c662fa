// SPDX-License-Identifier: BSL-1.0
// The laws of a transaction type, tried on random values: edges of every width, any order of ends.
//
// A test program needs one line for each type of its own:
//
//   CHECK(settle::testing::check_laws<bank::transfer_type>());
//
// What is tried: an apply answers and does what plain 128-bit evaluation of the definition says,
// also while others are pending, whichever way they end; a refused one leaves everything as it was;
// an undo gives back exactly what was taken; a finish gives both moments; adopting is idempotent;
// parameters are refused when they break a guard of theirs; values are read back from their JSON; a
// reversal takes what was gained where that still stands, and gives back what was taken.
#pragma once

#include <settle/testing/laws/record_laws.hpp>
#include <settle/testing/laws/reversal_laws.hpp>

#include <ostream>

SETTLE_BEGIN
namespace testing {

/// What a trial of laws found.
struct law_report {
    std::uint64_t cases = 0;   ///< stories that were tried
    std::uint64_t applied = 0; ///< parts that took effect in them
    std::string text;          ///< the law that is broken and the shortest case found; or empty

    [[nodiscard]] explicit operator bool() const noexcept { return text.empty(); }

    friend std::ostream& operator<<(std::ostream& out, law_report const& report) {
        if (report) return out << report.cases << " cases, " << report.applied << " parts applied";
        return out << report.text;
    }
};

namespace laws {

/// Finds the first case that fails, and makes it as simple as it gets.
/// Shape:   draw - a case; look - the law that it breaks, if any
template <typename Draw, typename Look>
void try_cases(law_report& report, std::uint64_t rounds, Draw const& draw, Look const& look) {
    for (std::uint64_t round = 0; round < rounds && report; ++round) {
        auto story = draw();
        ++report.cases;
        broken_law found = look(story);
        if (!found) continue;
        simpler by{20000};
        std::string const law = found.law;
        story.simplify(by, [&] { return look(story).law == law; });
        found = look(story);
        report.text = "settle: a law is broken: " + found.law + "\n  " + found.how + "\n  " +
                      story.tell();
    }
}

template <auto const& Type, typename Collection, typename StoredForm>
void check_collection(law_report& report, chance& from, std::uint64_t rounds,
                      StoredForm const& stored) {
    using case_type = record_case<Type, Collection>;
    auto const look = [&](case_type const& story) {
        broken_law found = read_back<Type, Collection>(story);
        if (!found) found = refuse<Type, Collection>(story);
        if (!found) found = reverse_each<Type, Collection>(story);
        if (found) return found;
        record_trial<Type, Collection, StoredForm> trial{story, stored};
        found = trial.run();
        report.applied += trial.applied();
        return found;
    };
    // A part alone first: what fails there needs no company to be understood.
    try_cases(report, rounds / 2, [&] { return case_type::draw(from, 1, 1); }, look);
    try_cases(report, rounds - rounds / 2, [&] { return case_type::draw(from, 2, 5); }, look);
}

/// True for the first participant of its collection.
template <auto const& Type, std::size_t Index>
constexpr bool is_first_of_collection() {
    using direction = forward<Type>;
    return []<std::size_t... Before>(std::index_sequence<Before...>) {
        return !(std::is_same_v<typename direction::template collection_of<Before>,
                                typename direction::template collection_of<Index>> ||
                 ...);
    }(std::make_index_sequence<Index>{});
}

} // namespace laws

/// Tries the laws on random cases of one transaction type, collection by collection.
/// Shape:   Type - a transaction type; stored - how an adapter's marks are written and read
///          rounds - random stories for each collection; a thousand take 0.1 to 0.3 s unoptimised
/// Errors:  the report is false and says the law, the shortest case found and the seed
/// Example: tests/unit/laws.cpp
template <auto const& Type, typename StoredForm = no_stored_form>
[[nodiscard]] law_report check_laws(std::uint64_t seed = 1, std::uint64_t rounds = 2000,
                                    StoredForm const& stored = {}) {
    law_report report;
    chance from{seed};
    learn_from_type(from, Type);
    forward<Type>::for_each_participant([&](auto index) {
        using collection = typename forward<Type>::template collection_of<index>;
        if constexpr (laws::is_first_of_collection<Type, index>()) {
            if (report) laws::check_collection<Type, collection>(report, from, rounds, stored);
        }
    });
    if (!report) {
        report.text += "  of the type '" + forward<Type>::name() + "', with the seed " +
                       std::to_string(seed) + " and " + std::to_string(rounds) + " rounds\n";
    }
    return report;
}

} // namespace testing
SETTLE_END
