// SPDX-License-Identifier: BSL-1.0
// The tutorial's protocol moves money twice: the shortest traces.
#include "explore_types.hpp"
#include "tutorial.hpp"

#include <fstream>
#include <iterator>

using namespace explored;

namespace {

struct purse {
    BOOST_HANA_DEFINE_STRUCT(purse, (std::string, id), (std::int64_t, balance));
};
constexpr settle::collection<purse, "purses", &purse::id> purses;

/// As in the tutorial, both accounts change at apply, and no guard checks a balance.
constexpr auto tutorial_type = settle::transaction<transfer, "tutorial">(
    participant<"source">(purses, param<&transfer::source>)
        .apply(settle::may_pass_zero(field<&purse::balance> -= param<&transfer::amount>))
        .compensate(settle::inverse),
    participant<"destination">(purses, param<&transfer::destination>)
        .apply(field<&purse::balance> += param<&transfer::amount>)
        .compensate(settle::inverse));

auto const two_purses = starts(purses, purse{"A", 100}, purse{"B", 0});
auto const purse_money = conserves(purses, field<&purse::balance>);

template <typename Protocol>
exploration search_tutorial(std::size_t workers, std::size_t late_writes, bool crashes = false) {
    bounds limits = within(workers, late_writes);
    limits.sweeps = false;
    limits.crashes = crashes;
    return explore<Protocol>(settle::type<tutorial_type>, two_purses, runs("t1", sixty),
                             purse_money, limits);
}

/// The money was moved twice by a transaction that was committed once.
void moved_twice(exploration const& seen) {
    MESSAGE(seen);
    CHECK_FALSE(seen.right);
    bool const taken = seen.trace.find(R"({"id":"A","balance":-20})") != std::string::npos;
    bool const given = seen.trace.find(R"({"id":"B","balance":120})") != std::string::npos;
    CHECK((taken || given));
    CHECK(seen.trace.find("commit t1") != std::string::npos);
}

} // namespace

TEST_CASE("the tutorial: two workers move the money twice") {
    auto const seen = search_tutorial<tutorial>(2, 0);
    moved_twice(seen);
    // The page of the protocol shows this run.
    std::ifstream readme{std::string{SETTLE_DATA_DIR} + "/../include/settle/README.md"};
    std::string const text{std::istreambuf_iterator<char>{readme}, {}};
    CHECK(text.find(seen.trace) != std::string::npos);
}

TEST_CASE("the tutorial: one worker and one write that arrives late move the money twice") {
    moved_twice(search_tutorial<tutorial>(1, 1));
}

TEST_CASE("the tutorial: an owner or an epoch in the transaction alone does not help") {
    moved_twice(search_tutorial<owned_tutorial>(2, 0));
    moved_twice(search_tutorial<owned_tutorial>(1, 1));
}

TEST_CASE("the tutorial: one worker without faults is correct") {
    auto const seen = search_tutorial<tutorial>(1, 0, true);
    MESSAGE(seen);
    CHECK(seen);
}

TEST_CASE("the tutorial: the protocol of settle is correct within the same bounds") {
    right(settle::type<tutorial_type>, two_purses, runs("t1", sixty), purse_money, within(2, 0));
    right(settle::type<tutorial_type>, two_purses, runs("t1", sixty), purse_money, within(1, 1));
}
