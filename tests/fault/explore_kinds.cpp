// SPDX-License-Identifier: BSL-1.0
// Participants that are no records, searched from their definition.
#include "explore_types.hpp"

#include <booking_kind.hpp>

namespace {

struct trip {
    BOOST_HANA_DEFINE_STRUCT(trip, (std::string, payer), (std::string, train),
                             (std::int64_t, price));
};

inline constexpr booking_test::office<"trains"> trains;
inline constexpr booking_test::office<"hotels"> hotels;

using explored::accounts;
using settle::field;
using settle::param;

inline constexpr auto buyer = settle::participant<"payer">(accounts, param<&trip::payer>)
                                  .require(field<&bank::account::balance> >= param<&trip::price>)
                                  .apply(field<&bank::account::balance> -= param<&trip::price>)
                                  .compensate(settle::inverse);

/// The definition names the train first, and the record is applied first.
inline constexpr auto trip_type = settle::transaction<trip, "trip">(
    booking_test::books<"train", 1>(trains, param<&trip::train>), buyer);
inline constexpr auto tour_type = settle::transaction<trip, "tour">(
    buyer, booking_test::books<"train", 1>(trains, param<&trip::train>),
    booking_test::books<"hotel", 2>(hotels, param<&trip::train>));

} // namespace

/// An office may refuse a booking or be busy, and keeps a row for each key.
template <settle::fixed_string Name, typename Office, std::uint32_t Stage, typename Key>
struct settle::testing::searched_call<booking_test::booking<Name, Office, Stage, Key>> {
    static call_model make() {
        return explored::booking(std::string{Name.view()}, static_cast<stage_number>(Stage));
    }
};

using namespace explored;

namespace {

trip const journey{"A", "IC 5", 60};

} // namespace

TEST_CASE("explore: a participant that is no record is searched as the call that its kind makes") {
    bounds const limits = canceling(2, 0);
    auto const defined =
        explore(settle::type<trip_type>, payer, runs("t1", journey), never_below, limits);
    MESSAGE(defined);
    CHECK(defined);
    // The same calls as a clause give the same search. The library does not know which results a
    // kind of another library uses, so its compensations are in order.
    auto const added = explore(settle::type<purchase_type>, payer, runs("t1", purchase{"A", 60}),
                               calls("t1", in_order(booking("train", 1))), never_below, limits);
    CHECK(added.states == defined.states);
    CHECK(added.transitions == defined.transitions);
}

TEST_CASE("explore: participants of two stages after a record, one worker, one late write") {
    right(settle::type<tour_type>, payer, runs("t1", journey), never_below, canceling(1, 1));
}

TEST_CASE("explore: a participant that is no record beside a transfer of the same account") {
    right(settle::type<trip_type>, settle::type<transfer_type>,
          starts(accounts, account("A", 100), account("B", 0)), runs("t1", journey),
          runs("t2", sixty), never_below, within(1, 0));
}
