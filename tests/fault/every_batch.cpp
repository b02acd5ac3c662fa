// SPDX-License-Identifier: BSL-1.0
// Searches whole windows of the engine: every run of a batch with one or two faults, alone or
// beside another worker, in two phases and in one.
#include "every_batch.hpp"

namespace settle_test {
namespace {

/// Every run of a batch is right, and with no other beside it keeps its order.
template <typename Parameters>
void right(std::size_t mishaps, store_kind where, scene<Parameters> const& scene,
           std::vector<other_worker> const& others = {}) {
    auto const seen = every_run(run_bounds{mishaps}, [&](run_choices& choices) {
        return run_scene<order_rules>(choices, where, scene, others);
    });
    MESSAGE(seen);
    CHECK(seen);
}

template <typename Parameters>
void right_beside_others(std::size_t mishaps, store_kind where, scene<Parameters> const& scene) {
    for (auto const other : {other_worker::recovers, other_worker::cancels, other_worker::sweeps,
                             other_worker::runs_the_same, other_worker::purges}) {
        right(mishaps, where, scene, {other});
    }
}

} // namespace

TEST_CASE("every run: the second transfer needs the first, and the third competes with the first") {
    right(1, store_kind::memory, chain);
}

TEST_CASE("every run: two parts share a record with a requeued transaction") {
    right(1, store_kind::memory, shelf_behind);
}

TEST_CASE("every run: exclusive effects conflict in opposite order") {
    right(1, store_kind::memory, crossing);
}

TEST_CASE("every run: a batch runs beside another worker") {
    right_beside_others(1, store_kind::memory, chain);
}

TEST_CASE("every run: a batch spans two databases, with its log in a third") {
    right(1, store_kind::three_databases, chain);
    right(1, store_kind::three_databases, shelf_behind);
}

TEST_CASE("every run: a batch runs in a file in two phases") {
    right(1, store_kind::file_in_two_phases, chain);
}

TEST_CASE("every run: a batch runs in a file in one phase") {
    right(1, store_kind::file_in_one_phase, chain);
    right(1, store_kind::file_in_one_phase, shelf_behind);
    right(1, store_kind::file_in_one_phase, crossing);
}

TEST_CASE("every run: the commits of a batch join the parts in the log's own file") {
    right(1, store_kind::joined_commits, chain);
    right(1, store_kind::joined_commits, shelf_behind);
    right(1, store_kind::joined_commits, crossing);
}

TEST_CASE("every run: a batch with joined commits runs beside another worker") {
    right_beside_others(1, store_kind::joined_commits, pair_of_transfers);
}

TEST_CASE("every run: the entries of a batch come with their commits") {
    right(1, store_kind::late_entries, chain);
    right(1, store_kind::late_entries, shelf_behind);
    right(1, store_kind::late_entries, crossing);
}

TEST_CASE("every run: a batch with late entries runs beside another worker") {
    right_beside_others(1, store_kind::late_entries, pair_of_transfers);
}

TEST_CASE("every run: a batch in one phase runs beside a worker that may need two phases") {
    right_beside_others(1, store_kind::file_in_one_phase, pair_of_transfers);
}

TEST_CASE("long: every run: a batch with two faults") {
    right(2, store_kind::memory, chain);
    right(2, store_kind::memory, shelf_behind);
    right(2, store_kind::memory, crossing);
    right(2, store_kind::memory, overtaking);
}

TEST_CASE("long: every run: a batch beside another worker with two faults") {
    right_beside_others(2, store_kind::memory, pair_of_transfers);
}

TEST_CASE("long: every run: a batch in one phase beside another worker with two faults") {
    // The disk costs the time.
    right(2, store_kind::file_in_one_phase, pair_of_transfers, {other_worker::recovers});
    right(2, store_kind::file_in_one_phase, pair_of_transfers, {other_worker::purges});
}

TEST_CASE("long: every run: a batch with joined commits with two faults") {
    right(2, store_kind::joined_commits, pair_of_transfers);
    right(2, store_kind::joined_commits, pair_of_transfers, {other_worker::recovers});
}

TEST_CASE("exhaustive: every run: a batch with three faults") {
    right(3, store_kind::memory, pair_of_transfers);
}

TEST_CASE("exhaustive: every run: three transfers beside another worker with two faults") {
    right_beside_others(2, store_kind::memory, chain);
}

} // namespace settle_test
