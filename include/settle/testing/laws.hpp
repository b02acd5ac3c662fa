// SPDX-License-Identifier: BSL-1.0
// Property checks of a transaction type: random values at the limits of every width, transactions
// that finish in any order.
//
// A test program needs one line for each of its types:
//
//   CHECK(settle::testing::check_laws<bank::transfer_type>());
//
// The laws:
// - An apply has the answer and the effect of a plain 128-bit evaluation of the definition, also
//   while other transactions are pending, whether they commit or cancel.
// - A refused apply changes nothing. An undo reverts exactly its apply. A finish leaves the effects
//   of apply and confirm. Adopting a mark twice has the effect of adopting it once.
// - Parameters that break a guard on them are refused. JSON keeps every value.
// - A reversal takes a gain back if the record still has it, and gives a loss back.
#pragma once

#include <settle/testing/laws/record_laws.hpp>
#include <settle/testing/laws/reversal_laws.hpp>

#include <ostream>

SETTLE_BEGIN
namespace testing {

/// The result of check_laws.
struct law_report {
    std::uint64_t cases = 0;   ///< random cases that ran
    std::uint64_t applied = 0; ///< parts that took effect; check_same: answers with `applied`
    std::string text;          ///< the broken law and the shortest failing case, or empty

    [[nodiscard]] explicit operator bool() const noexcept { return text.empty(); }

    friend std::ostream& operator<<(std::ostream& out, law_report const& report) {
        if (report) return out << report.cases << " cases, " << report.applied << " parts applied";
        return out << report.text;
    }
};

namespace laws {

/// Runs random cases until a case fails, and simplifies that case.
/// Shape:   draw() - a new case; check(case) - the law that the case breaks, if any
template <typename Draw, typename Check>
void try_cases(law_report& report, std::uint64_t rounds, Draw const& draw, Check const& check) {
    for (std::uint64_t round = 0; round < rounds && report; ++round) {
        auto tested = draw();
        ++report.cases;
        broken_law broken_law = check(tested);
        if (!broken_law) continue;
        shrinker shrinker{20000};
        std::string const law = broken_law.law;
        tested.shrink(shrinker, [&] { return check(tested).law == law; });
        broken_law = check(tested);
        report.text = "settle: a law is broken: " + broken_law.law + "\n  " + broken_law.how +
                      "\n  " + tested.describe();
    }
}

template <auto const& Type, typename Collection, typename StoredForm>
void check_collection(law_report& report, value_source& source, std::uint64_t rounds,
                      StoredForm const& stored) {
    using case_type = record_case<Type, Collection>;
    auto const check = [&](case_type const& tested) {
        broken_law law = read_back<Type, Collection>(tested);
        if (!law) law = refuse<Type, Collection>(tested);
        if (!law) law = reverse_each<Type, Collection>(tested);
        if (law) return law;
        record_trial<Type, Collection, StoredForm> trial{tested, stored};
        law = trial.run();
        report.applied += trial.applied();
        return law;
    };
    // One part first, since a failure of a single part is easier to understand.
    try_cases(report, rounds / 2, [&] { return case_type::draw(source, 1, 1); }, check);
    try_cases(report, rounds - rounds / 2, [&] { return case_type::draw(source, 2, 5); }, check);
}

/// True for the first participant of its collection.
template <auto const& Type, std::size_t Index>
constexpr bool is_first_of_collection() {
    using direction = forward<Type>;
    return []<std::size_t... Before>(std::index_sequence<Before...>) {
        return !(std::is_same_v<typename direction::template target_of<Before>,
                                typename direction::template target_of<Index>> ||
                 ...);
    }(std::make_index_sequence<Index>{});
}

} // namespace laws

/// Checks the laws on random cases of one transaction type, collection by collection.
/// Shape:   Type - a transaction type; stored - checks how an adapter stores a mark
///          rounds - random cases for each collection; a thousand take 0.1 to 0.3 s unoptimised
/// Errors:  the report is false and holds the law, the shortest failing case and the seed
/// Example: tests/unit/laws.cpp
template <auto const& Type, typename StoredForm = no_stored_form>
[[nodiscard]] law_report check_laws(std::uint64_t seed = 1, std::uint64_t rounds = 2000,
                                    StoredForm const& stored = {}) {
    law_report report;
    value_source source{seed};
    learn_from_type(source, Type);
    forward<Type>::for_each_participant([&](auto index) {
        using collection = typename forward<Type>::template target_of<index>;
        if constexpr (laws::is_first_of_collection<Type, index>()) {
            if (report) laws::check_collection<Type, collection>(report, source, rounds, stored);
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
