// SPDX-License-Identifier: BSL-1.0
// Each rule of a window's order switched off alone: some run comes to another end than one by one.
#include "every_batch.hpp"

namespace settle_test {
namespace {

/// Every rule, to be switched off while the program runs.
struct switched {
    static inline bool falls_back = true;
    static inline bool falls_back_with = true;
    static inline bool waits_with = true;
    static inline bool backs_off_first = true;
    static inline bool one_phase_waits = true;
};

/// The same runs with the rule and without it.
template <typename Parameters>
void needs(bool& rule, std::size_t mishaps, place where, scene<Parameters> const& given) {
    auto const look = [&] {
        return every_run(run_bounds{mishaps}, [&](run_choices& way) {
            return run_scene<switched>(way, where, given, {});
        });
    };
    auto const kept = look();
    CHECK_MESSAGE(kept, kept);
    rule = false;
    auto const lacking = look();
    rule = true;
    CHECK_MESSAGE(!lacking.right, lacking);
    CHECK(lacking.story.find("WRONG: out of order") != std::string::npos);
    MESSAGE("right in ", kept.runs, " runs; without the rule wrong in run ", lacking.runs);
}

} // namespace

TEST_CASE("order: what failed beside an earlier one of its window falls back behind it") {
    needs(switched::falls_back, 0, place::memory, chain);
}

TEST_CASE("order: whoever shares a record with one that falls back, falls back with it") {
    needs(switched::falls_back_with, 0, place::memory, overtaking);
}

TEST_CASE("order: whoever shares a record with one that waits is not asked") {
    needs(switched::waits_with, 1, place::memory, overtaking);
}

TEST_CASE("order: nobody meets the marks of one that gives way") {
    needs(switched::backs_off_first, 1, place::memory, overtaking);
}

TEST_CASE("order: what settles at once waits for what is before it on its records") {
    needs(switched::one_phase_waits, 0, place::file_in_one_phase, begun);
}

} // namespace settle_test
