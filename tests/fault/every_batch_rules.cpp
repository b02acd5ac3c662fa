// SPDX-License-Identifier: BSL-1.0
// Each rule of a window's order is switched off alone: some run then differs from single calls.
#include "every_batch.hpp"

namespace settle_test {
namespace {

/// Every rule, to be switched off while the program runs.
struct switched {
    static inline bool requeues = true;
    static inline bool requeues_with = true;
    static inline bool waits_with = true;
    static inline bool backs_off_first = true;
    static inline bool one_phase_waits = true;
};

/// The same runs with the rule and without it.
template <typename Parameters>
void needs(bool& rule, std::size_t mishaps, store_kind where, scene<Parameters> const& scene) {
    auto const look = [&] {
        return every_run(run_bounds{mishaps}, [&](run_choices& choices) {
            return run_scene<switched>(choices, where, scene, {});
        });
    };
    auto const kept = look();
    CHECK_MESSAGE(kept, kept);
    rule = false;
    auto const lacking = look();
    rule = true;
    CHECK_MESSAGE(!lacking.right, lacking);
    CHECK(lacking.trace.find("WRONG: out of order") != std::string::npos);
    MESSAGE("right in ", kept.runs, " runs; without the rule wrong in run ", lacking.runs);
}

} // namespace

TEST_CASE("order: a failure beside an earlier transaction of the window is requeued after it") {
    needs(switched::requeues, 0, store_kind::memory, chain);
}

TEST_CASE("order: a transaction that shares a record with a requeued one is requeued too") {
    needs(switched::requeues_with, 0, store_kind::memory, overtaking);
}

TEST_CASE("order: a transaction that shares a record with a waiting one is not sent") {
    needs(switched::waits_with, 1, store_kind::memory, overtaking);
}

TEST_CASE("order: a transaction that backs off leaves no marks for its successors") {
    needs(switched::backs_off_first, 1, store_kind::memory, overtaking);
}

TEST_CASE("order: one phase waits for earlier transactions on its records") {
    needs(switched::one_phase_waits, 0, store_kind::file_in_one_phase, begun);
}

} // namespace settle_test
