// SPDX-License-Identifier: BSL-1.0
// The round trips of committed reads, on two databases of a server of tables.
#pragma once

#include "committed_reads_suite.hpp"

#include <utility>

namespace committed_reads {

/// The round trips of reads are those of the page: to the log's database, and to another one.
/// Shape:   of_several - of a look at several records
template <typename Database>
void check_round_trips(std::string const& near_address, std::string const& far_address,
                       std::uint64_t of_several) {
    Database near{near_address};
    Database far{far_address};
    settle::engine reader{near, settle::bind(vaults, far), settle::type<deposit_type>};
    std::ignore = reader.create(purses, {"P", 1000, "open"});
    std::ignore = reader.create(vaults, {"V", 0});
    auto const run_until = [&](settle::step last) {
        settle::engine writer{near, settle::bind(vaults, far), settle::type<deposit_type>,
                              settle::two_phases,
                              settle::observed_by([last](settle::event const& step) {
                                  if (step.taken == last) throw settle::testing::crash{};
                              })};
        CHECK_THROWS_AS(std::ignore = writer.run(deposit{"P", "V", 1}), settle::testing::crash);
    };
    using trips = std::pair<std::uint64_t, std::uint64_t>;
    auto const trips_of = [&](auto const& read) {
        CHECK(read().has_value()); // its session prepares statements that it has not used before
        trips const before{near.round_trips(), far.round_trips()};
        CHECK(read().has_value());
        return trips{near.round_trips() - before.first, far.round_trips() - before.second};
    };
    auto const near_record = [&] { return reader.read_committed(purses, "P"); };
    auto const far_record = [&] { return reader.read_committed(vaults, "V"); };
    CHECK(trips_of(near_record) == trips{1, 0});
    CHECK(trips_of(far_record) == trips{0, 1});
    CHECK(trips_of([&] {
              return reader.read_together(settle::keys_of(vaults, {"V", "absent"}));
          }) == trips{0, of_several});
    run_until(settle::step::apply);
    CHECK(trips_of(near_record) == trips{1, 0});
    CHECK(trips_of(far_record) == trips{1, 1});
    std::ignore = reader.recover({.older_than = 0ms});
    CHECK(trips_of(far_record) == trips{0, 1});
    run_until(settle::step::commit);
    CHECK(trips_of(near_record) == trips{1, 0});
    CHECK(trips_of(far_record) == trips{1, 2});
    // The second look has a mark that is not decided.
    run_until(settle::step::apply);
    CHECK(trips_of(near_record) == trips{1, 0});
    CHECK(trips_of(far_record) == trips{2, 2});
}

} // namespace committed_reads
