// SPDX-License-Identifier: BSL-1.0
// Sagas without records, searched exhaustively: the insert keeps stage 0, and the commit closes an
// entry without a part to confirm.
#include "explore_types.hpp"

using namespace explored;
using settle::keeps_refusals;
using settle::remembers_keys;

namespace {

struct visit {
    std::string guest;
};
struct guest_request {
    std::string guest;
};
struct seat {
    std::int64_t number = 0;
};
struct fee {
    std::string guest;
    std::int64_t seat = 0;
};
SETTLE_STRUCT(visit, guest);
SETTLE_STRUCT(guest_request, guest);
SETTLE_STRUCT(seat, number);
SETTLE_STRUCT(fee, guest, seat);

/// Shape:   Grade - of both receivers
template <settle::receiver_grade Grade>
struct of_grade {
    static constexpr settle::service<guest_request, seat, "theatre", Grade> theatre{};
    static constexpr settle::service<fee, settle::nothing, "cashier", Grade> cashier{};

    static constexpr auto booking = participant<"seat">(theatre)
                                        .apply(settle::call(param<&visit::guest>))
                                        .compensate(settle::call());
    static constexpr auto payment = participant<"fee">(cashier).apply(
        settle::call(param<&visit::guest>, settle::result_from<"seat", &seat::number>));

    static constexpr auto booked = settle::transaction<visit, "booked">(booking);
    static constexpr auto paid = settle::transaction<visit, "paid">(booking, payment);
    static constexpr auto confirmed =
        settle::transaction<visit, "confirmed">(booking.confirm(settle::call()));
};
using keys = of_grade<remembers_keys | keeps_refusals>;
using rows = of_grade<settle::barrier>;

visit const anna{"anna"};

struct old_inserts_keep : settle::detail::protocol_rules {
    static constexpr bool old_inserts_keep_nothing = false;
};
struct commit_closes : settle::detail::protocol_rules {
    static constexpr bool confirms_before_close = false;
};

template <typename Protocol = settle::testing::shipped_protocol, typename Type>
exploration searched(Type const& type, bounds const& all) {
    return explore<Protocol>(type, runs("t1", anna), all);
}

} // namespace

TEST_CASE("explore: a saga without records, one late write, cancels and ages at any moment") {
    right_saga(searched(settle::type<keys::booked>, aging(canceling(1, 1))));
    right_saga(searched(settle::type<rows::booked>, aging(canceling(1, 1))));
    right_saga(searched(settle::type<keys::paid>, aging(canceling(1, 1))));
    right_saga(searched(settle::type<rows::confirmed>, aging(canceling(1, 1))));
}

TEST_CASE("explore: a saga without records, two workers that take over from each other") {
    right_saga(searched(settle::type<keys::booked>, aging(canceling(2, 0))));
    right_saga(searched(settle::type<keys::paid>, canceling(2, 0)));
    right_saga(searched(settle::type<rows::confirmed>, aging(canceling(2, 0))));
}

TEST_CASE("explore: a second caller of the id is slow, and its insert follows a purge") {
    bounds limits = aging(canceling(2, 0));
    limits.calls_again = 1;
    limits.cancels = false;
    right_saga(searched(settle::type<keys::booked>, limits));
}

TEST_CASE("explore: an old insert that keeps a stage undoes a committed call") {
    using protocol = settle::testing::protocol_without<old_inserts_keep>;
    wrong_saga(searched<protocol>(settle::type<keys::booked>, aging(canceling(1, 1))),
               "this call was undone without an effect", 15);
}

TEST_CASE("explore: a commit that closes an entry with a part to confirm") {
    using protocol = settle::testing::protocol_without<commit_closes>;
    wrong_saga(searched<protocol>(settle::type<rows::confirmed>, within(1, 0)), "is not confirmed",
               4);
}

TEST_CASE("explore: a saga without records, clocks apart") {
    bounds limits = aging(canceling(1, 1));
    limits.clocks_differ = true;
    right_saga(searched(settle::type<keys::booked>, limits));
    right_saga(searched(settle::type<rows::confirmed>, limits));
}

TEST_CASE("explore: a log that cannot recognize an old insert") {
    bounds all = aging(canceling(1, 1));
    all.keeps_at_insert = false;
    right_saga(searched(settle::type<keys::booked>, all));
}
