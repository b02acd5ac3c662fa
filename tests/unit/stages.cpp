// SPDX-License-Identifier: BSL-1.0
// Participants that are no records, and stages: run, canceled, interrupted and recovered.
#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <booking_kind.hpp>

namespace engine_test {

struct trip {
    std::string payer, train, hotel;
    std::int64_t price = 0;
};

} // namespace engine_test
BOOST_HANA_ADAPT_STRUCT(engine_test::trip, payer, train, hotel, price);

namespace engine_test {

using booking_test::booking_office;
using booking_test::books;
using status = booking_office::row::status;

inline constexpr booking_test::office<"trains"> trains;
inline constexpr booking_test::office<"hotels"> hotels;

inline constexpr auto trip_type = settle::transaction<trip, "trip">(
    settle::participant<"payer">(accounts, param<&trip::payer>)
        .require(field<&account::balance> >= param<&trip::price>)
        .apply(field<&account::balance> -= param<&trip::price>)
        .compensate(settle::inverse),
    books<"train", 1>(trains, param<&trip::train>), books<"hotel", 2>(hotels, param<&trip::hotel>));

namespace {

/// A bank in memory, and two offices that outlive the engines.
struct agency {
    settle::memory::database bank{};
    booking_office trains_at{};
    booking_office hotels_at{};
    std::string steps{}; ///< of all engines: "insert apply "
    world_state world{};

    auto make() {
        return settle::engine{bank,
                              settle::bind(trains, trains_at),
                              settle::bind(hotels, hotels_at),
                              settle::type<trip_type>,
                              settle::type<transfer_type>,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by([this](settle::event const& event) {
                                  steps.append(name_of(event.taken)).append(" ");
                              })};
    }
    agency() {
        auto engine = make();
        open_accounts(engine, {{"A", 100}, {"B", 100}});
    }
};

trip const usual{"A", "IC 5", "Ritz", 30};

/// For booking_office::before: the answer to each apply.
auto answers_applies(settle::answer answer) {
    return [answer](settle::part_request const& request) {
        return request.action == settle::step::apply ? answer : settle::answer::none;
    };
}

} // namespace

TEST_CASE("stages: records are applied first, then each stage, and the entry holds the results") {
    agency agency;
    auto engine = agency.make();
    auto const outcome = engine.run("t1", usual);
    REQUIRE_MESSAGE(outcome.done(), outcome.text());
    CHECK(agency.steps == "insert apply keep apply keep apply commit confirm confirm confirm "
                          "close end ");
    CHECK(balance_of(engine, "A") == 70);
    auto const& train = agency.trains_at.row_of("t1", 1);
    auto const& hotel = agency.hotels_at.row_of("t1", 2);
    CHECK(train.now == status::confirmed);
    CHECK(train.booked == "IC 5");
    CHECK(train.earlier == 0);
    CHECK(hotel.now == status::confirmed);
    CHECK(hotel.earlier == 1);
    auto const entry = entry_of(engine, "t1");
    CHECK(entry.state == state::done);
    CHECK(entry.revision == 2);
    CHECK(entry.stages_kept == 2);
    REQUIRE(entry.results.size() == 2);
    CHECK(entry.results[0] == settle::kept_result{1, 0, R"({"seat":"trains IC 5"})"});
    CHECK(entry.results[1] == settle::kept_result{2, 0, R"({"seat":"hotels Ritz"})"});
}

TEST_CASE("stages: a refusal in the last stage compensates every part, the last stage first") {
    agency agency;
    std::string compensated;
    agency.trains_at.before = [&](settle::part_request const& request) {
        if (request.action == settle::step::compensate) compensated += "train ";
        return settle::answer::none;
    };
    agency.hotels_at.before = [&](settle::part_request const& request) {
        if (request.action == settle::step::apply) return settle::answer::guard_failed;
        compensated += "hotel ";
        return settle::answer::none;
    };
    auto engine = agency.make();
    auto const outcome = engine.run("t1", usual);
    REQUIRE(outcome.canceled());
    CHECK(outcome.why == reason::guard_failed);
    CHECK(outcome.participant == "hotel");
    CHECK(agency.steps ==
          "insert apply keep apply keep apply cancel compensate compensate compensate "
          "close end ");
    CHECK(compensated == "hotel train ");
    CHECK(balance_of(engine, "A") == 100);
    CHECK(agency.trains_at.row_of("t1", 1).now == status::closed);
    CHECK(agency.hotels_at.row_of("t1", 2).now == status::closed);
}

TEST_CASE("stages: a stage that was not called is not compensated") {
    agency agency;
    agency.trains_at.before = answers_applies(settle::answer::guard_failed);
    auto engine = agency.make();
    CHECK(engine.run("t1", usual).canceled());
    CHECK(agency.trains_at.rows.size() == 1);
    CHECK(agency.hotels_at.rows.empty());
}

TEST_CASE("stages: premises of a participant that is no record refuse before any write") {
    agency agency;
    auto engine = agency.make();
    auto const outcome = engine.run("t1", trip{"A", "", "Ritz", 30});
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.problem.text.find("participant 'train'") != std::string::npos);
    CHECK(agency.steps.empty());
    CHECK_FALSE(engine.find("t1").value());
}

TEST_CASE("stages: another engine recovers a transaction whose last stage was not reached") {
    agency agency;
    agency.hotels_at.before = answers_applies(settle::answer::unavailable);
    auto first = agency.make();
    auto const outcome = first.run("t1", usual, soon);
    REQUIRE(outcome.verdict == verdict::undecided);
    auto const entry = entry_of(first, "t1");
    CHECK(entry.state == state::pending);
    CHECK(entry.stages_kept == 2);
    CHECK(entry.results.size() == 1);

    agency.hotels_at.before = answers_applies(settle::answer::none);
    agency.steps.clear();
    auto second = agency.make();
    CHECK(second.recover(of_any_age()).done == 1);
    CHECK(agency.steps == "claim apply apply commit confirm confirm confirm close end ");
    // The train is not called again, since the entry holds its result.
    CHECK(agency.trains_at.row_of("t1", 1).calls == 1);
    CHECK(agency.hotels_at.row_of("t1", 2).earlier == 1);
    CHECK(balance_of(second, "A") == 70);
    CHECK(entry_of(second, "t1").results.size() == 2);
}

TEST_CASE("stages: a call whose answer is lost is made again with the same key") {
    agency agency;
    int lost = 0;
    agency.trains_at.loses = [&](settle::part_request const& request) {
        return request.action == settle::step::apply && lost++ < 3;
    };
    auto engine = agency.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(agency.trains_at.rows.size() == 1);
    CHECK(agency.trains_at.row_of("t1", 1).calls == 4);
    auto const found = entry_of(engine, "t1");
    CHECK(found.epoch_number == found.committed);
}

TEST_CASE("stages: a cancel compensates the stage without an answer and the stages before it") {
    agency agency;
    agency.hotels_at.before = answers_applies(settle::answer::unavailable);
    auto engine = agency.make();
    REQUIRE(engine.run("t1", usual, soon).verdict == verdict::undecided);
    CHECK(engine.cancel("t1").canceled());
    CHECK(agency.trains_at.row_of("t1", 1).now == status::closed);
    CHECK(agency.hotels_at.row_of("t1", 2).now == status::closed);
    CHECK(balance_of(engine, "A") == 100);
    CHECK(marks_in(engine) == 0);
}

TEST_CASE("stages: a batch runs trips of two payers, and busy calls are repeated") {
    agency agency;
    auto engine = agency.make();
    std::vector<std::pair<std::string, trip>> trips;
    for (int i = 0; i < 40; ++i) {
        trips.emplace_back("t" + std::to_string(i),
                           trip{i % 2 == 0 ? "A" : "B", "IC " + std::to_string(i), "Ritz", 5});
    }
    int applies = 0;
    agency.trains_at.before = [&](settle::part_request const& request) {
        bool const blocks = request.action == settle::step::apply && ++applies % 7 == 0;
        return blocks ? settle::answer::busy : settle::answer::none;
    };
    auto const outcomes = engine.run_all(trips);
    // Each payer has 100, which is enough for all of the payer's 20 trips.
    for (auto const& one : outcomes) CHECK_MESSAGE(one.done(), one.text());
    CHECK(balance_of(engine, "A") == 0);
    CHECK(balance_of(engine, "B") == 0);
    CHECK(agency.trains_at.rows.size() == 40);
    CHECK(agency.hotels_at.rows.size() == 40);
    for (auto const& [key, row] : agency.hotels_at.rows) CHECK(row.now == status::confirmed);
    CHECK(engine.run(transfer{"A", "B", 1}).canceled());
}

TEST_CASE("stages: a transaction with a participant that is no record has no derived reversal") {
    agency agency;
    auto engine = agency.make();
    REQUIRE(engine.run("t1", usual).done());
    auto const outcome = engine.reverse("t1");
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.problem.code == settle::errc::not_reversible);
    CHECK(outcome.problem.text.find("no record") != std::string::npos);
}

TEST_CASE("stages: an engine on a reopened file runs the remaining stage") {
    sqlite_test::folder const files;
    booking_office trains_at;
    booking_office hotels_at;
    hotels_at.before = answers_applies(settle::answer::unavailable);
    {
        settle::sqlite::database bank{files.file()};
        settle::engine engine{bank, settle::bind(trains, trains_at),
                              settle::bind(hotels, hotels_at), settle::type<trip_type>};
        open_accounts(engine, {{"A", 100}});
        REQUIRE(engine.run("t1", usual, soon).verdict == verdict::undecided);
    }
    hotels_at.before = answers_applies(settle::answer::none);
    settle::sqlite::database bank{files.file()};
    settle::engine engine{bank, settle::bind(trains, trains_at), settle::bind(hotels, hotels_at),
                          settle::type<trip_type>};
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(trains_at.row_of("t1", 1).calls == 1);
    CHECK(balance_of(engine, "A") == 70);
    auto const found = entry_of(engine, "t1");
    REQUIRE(found.results.size() == 2);
    CHECK(found.results[0].value == R"({"seat":"trains IC 5"})");
}

} // namespace engine_test
