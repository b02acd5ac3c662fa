// SPDX-License-Identifier: BSL-1.0
// Reports of a search: replayed runs, incomplete searches, clauses that cannot be searched.
#include "explore_types.hpp"

#include <sstream>

using namespace explored;

namespace {

struct without_escrow : settle::detail::protocol_rules {
    static constexpr bool escrow = false;
};

auto const one = runs("t1", sixty);

struct grant {
    BOOST_HANA_DEFINE_STRUCT(grant, (std::string, id), (std::int64_t, amount));
};
/// Creates money from nothing.
constexpr auto grant_type = settle::transaction<grant, "grant">(
    participant<"account">(accounts, param<&grant::id>)
        .confirm(field<&bank::account::balance> += param<&grant::amount>));

struct shelf {
    BOOST_HANA_DEFINE_STRUCT(shelf, (std::string, id), (std::int64_t, count));
};
constexpr settle::collection<shelf, "shelves", &shelf::id> shelves;
constexpr auto taking_type =
    settle::transaction<grant, "taking">(participant<"shelf">(shelves, param<&grant::id>)
                                             .require(field<&shelf::count> >= param<&grant::amount>)
                                             .apply(field<&shelf::count> -= param<&grant::amount>)
                                             .compensate(settle::inverse));

/// A coordinator whose driver does not send this step to receivers.
template <settle::step Forgotten>
class forgetful : public settle::coordinator {
public:
    forgetful() = default;
    template <typename... Given>
    static forgetful begin(std::size_t parts, Given... given) {
        return {settle::coordinator::begin(parts, given...)};
    }
    template <typename... Given>
    static forgetful take(std::size_t parts, Given... given) {
        return {settle::coordinator::take(parts, given...)};
    }
    template <typename... Given>
    static forgetful cancel(std::size_t parts, Given... given) {
        return {settle::coordinator::cancel(parts, given...)};
    }
    [[nodiscard]] bool due(std::size_t part, settle::stage_number stage) const {
        bool const forgotten = stage != 0 && next() == Forgotten;
        return !forgotten && settle::coordinator::due(part, stage);
    }

private:
    forgetful(settle::coordinator coordinator) : settle::coordinator(std::move(coordinator)) {}
};

/// A purchase with one call.
template <settle::step Forgotten>
exploration buy(call_model const& seat) {
    return explore<searched_protocol<forgetful<Forgotten>, settle::detail::protocol_rules>>(
        settle::type<purchase_type>, two_accounts, runs("t1", purchase{"A", 60}), calls("t1", seat),
        canceling(1, 0));
}

template <typename... Clauses>
exploration overdraw(Clauses const&... more) {
    return explore<protocol_without<without_escrow>>(
        settle::type<loan_type>, transfers, two_accounts, runs("t1", loan{"C", "B", 60}),
        runs("t2", transfer{"B", "A", 60}), within(1, 0), more...);
}

template <typename... Clauses>
std::string refusal(Clauses const&... clauses) {
    try {
        static_cast<void>(explore(clauses...));
    } catch (std::logic_error const& problem) {
        return problem.what();
    }
    return "nothing";
}

std::string shown(exploration const& seen) {
    std::ostringstream out;
    out << seen;
    return out.str();
}

} // namespace

TEST_CASE("explore: a wrong run is replayed step by step") {
    auto const report = overdraw();
    REQUIRE_FALSE(report.right);
    CHECK(report.steps == 7);
    CHECK(shown(report).find("settle::testing::replay{\"" + report.run + "\"}") !=
          std::string::npos);
    auto const again = overdraw(replay{report.run});
    CHECK_FALSE(again);
    CHECK(again.trace == report.trace);
    CHECK(again.run == report.run);
    auto const part = overdraw(replay{report.run.substr(0, report.run.find('.'))});
    CHECK(part.right);
    CHECK_FALSE(part);
    CHECK(shown(part).find("one run alone") != std::string::npos);
    CHECK(report.trace.starts_with(part.trace.substr(0, part.trace.find("1. "))));
}

TEST_CASE("explore: the name of a run from another search is refused") {
    auto const seen = explore(transfers, two_accounts, one, within(1, 0), replay{"0.77"});
    CHECK_FALSE(seen);
    CHECK(seen.trace.find("this run is of another search: it has no such step") !=
          std::string::npos);
    CHECK(refusal(transfers, two_accounts, one, replay{"0.x"}) ==
          "settle: '0.x' is no run of a search");
}

TEST_CASE("explore: a field that its guards keep above zero is watched by default") {
    CHECK(overdraw().trace.find("'balance' passes below zero") != std::string::npos);
    // A member that begins below zero is not watched; the others are.
    auto const beside = overdraw(settle::type<taking_type>, starts(shelves, shelf{"s", -1}));
    CHECK(beside.trace.find("'balance' passes below zero") != std::string::npos);
    CHECK(explore(settle::type<taking_type>, starts(shelves, shelf{"s", -1}),
                  runs("t", grant{"s", 5}), within(1, 0)));
}

TEST_CASE("explore: declared clauses are checked") {
    auto const richer = explore(settle::type<grant_type>, starts(accounts, account("A", 100)),
                                runs("g", grant{"A", 5}), money, within(1, 0));
    CHECK_FALSE(richer);
    CHECK(richer.trace.find("the committed transactions changed the sum from 100 to 105") !=
          std::string::npos);
    auto const broken = explore(transfers, two_accounts, one, within(1, 0),
                                stays(accounts, field<&bank::account::balance> <= lit<100>),
                                stays(accounts, field<&bank::account::balance> < lit<60>));
    CHECK_FALSE(broken);
    CHECK(broken.steps == 0);
    CHECK(broken.trace.find("this record breaks the condition") != std::string::npos);
}

TEST_CASE("explore: an incomplete search does not count as correct") {
    bounds few_states = within(2, 0);
    few_states.most_states = 100;
    auto const seen = explore(transfers, two_accounts, one, few_states);
    CHECK(seen.right);
    CHECK_FALSE(seen.complete);
    CHECK_FALSE(seen);
    CHECK(shown(seen).find("cut short by bounds::most_states") != std::string::npos);
}

TEST_CASE("explore: a call that is not confirmed, or not compensated, is wrong") {
    auto const unconfirmed = buy<settle::step::confirm>({"seat", 1});
    CHECK_FALSE(unconfirmed);
    CHECK(unconfirmed.trace.find("t1 seat: the transaction is done, and this call is not "
                                 "confirmed") != std::string::npos);
    CHECK(unconfirmed.trace.find("receiver of t1 seat: applied, result 1") != std::string::npos);

    auto const uncompensated = buy<settle::step::compensate>({"seat", 1});
    CHECK_FALSE(uncompensated);
    CHECK(uncompensated.trace.find("t1 seat: the transaction is not done, and this call has an "
                                   "effect") != std::string::npos);
    // A query has no effect that could be left.
    CHECK(buy<settle::step::confirm>({"price", 1, call_moments::query, settle::plain, 2}));
}

TEST_CASE("explore: clauses that cannot be searched are refused with a hint") {
    CHECK(refusal(transfers, two_accounts) ==
          "settle: nothing to search. Add settle::testing::runs(id, parameters)");
    CHECK(refusal(transfers, two_accounts, one, reverses("t2")) ==
          "settle: a search reverses 't2', which no settle::testing::runs names");
    CHECK(refusal(settle::type<paint_type>, runs("t1", paint{"A", "B", "red"}), reverses("t1")) ==
          "settle: a search reverses types whose effects are all sums");
    CHECK(refusal(transfers, two_accounts, one, within(4, 0))
              .starts_with("settle: a search has room for 3 of these"));
    CHECK(refusal(transfers, two_accounts, one, calls("t2", call_model{"seat"})) ==
          "settle: a search adds calls to 't2', which no settle::testing::runs names");
    CHECK(refusal(transfers, two_accounts, one, calls("t1", call_model{"seat"}),
                  calls("t1", call_model{"meal"})) == "settle: a search adds calls to 't1' twice");
    CHECK(refusal(transfers, two_accounts, one, models("seat", [](call_model&) {})) ==
          "settle: a search models the call 'seat', which no transaction makes");
    CHECK(refusal(transfers, two_accounts, one, calls("t1", call_model{"seat", 0})) ==
          "settle: the call 'seat' needs a stage from 1 and 1 to 14 results");
    CHECK(refusal(transfers, two_accounts, one, calls("t1", call_model{"seat"}), reverses("t1")) ==
          "settle: a search reverses types of records alone");
}
