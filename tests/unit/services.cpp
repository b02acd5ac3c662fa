// SPDX-License-Identifier: BSL-1.0
// Calls of services: run, refused, lost, canceled, interrupted and recovered.
#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <service_receiver.hpp>

namespace services_test {

using namespace engine_test;

struct trip {
    std::string customer, flight;
    std::int64_t people = 1, most = 0;
};
struct seats {
    std::string flight;
    std::int64_t people = 0;
};
struct ticket {
    std::string number;
    std::int64_t price = 0;
};
struct stay {
    std::string customer, arrival;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};
struct letter {
    std::string to, ticket, room;
};

SETTLE_STRUCT(trip, customer, flight, people, most);
SETTLE_STRUCT(seats, flight, people);
SETTLE_STRUCT(ticket, number, price);
SETTLE_STRUCT(stay, customer, arrival);
SETTLE_STRUCT(charge, customer, amount);
SETTLE_STRUCT(letter, to, ticket, room);

using service_test::receiver;
using settle::call;
using settle::call_operation;
using settle::call_status;
using settle::result_from;
using settle::service_answer;
using settle::service_call;
using status = receiver::row::status;

inline constexpr settle::service<seats, ticket, "airline", settle::barrier> airline;
inline constexpr settle::service<stay, ticket, "hotel", settle::barrier> hotel;
inline constexpr settle::service<charge, settle::nothing, "bank", settle::barrier> bank;
inline constexpr settle::service<letter, settle::nothing, "mailer", settle::remembers_keys> mailer;

inline constexpr auto payer = settle::participant<"payer">(accounts, param<&trip::customer>)
                                  .require(field<&account::balance> >= param<&trip::most>)
                                  .apply(field<&account::balance> -= param<&trip::most>)
                                  .compensate(settle::inverse);
inline constexpr auto flight = settle::participant<"flight">(airline)
                                   .apply(call(param<&trip::flight>, param<&trip::people>))
                                   .compensate(call());
inline constexpr auto room =
    settle::participant<"room">(hotel)
        .apply(call(param<&trip::customer>, result_from<"flight", &ticket::number>))
        .compensate(call())
        .confirm(call());
inline constexpr auto card = settle::participant<"card">(bank).apply(
    call(param<&trip::customer>, param<&trip::people>* result_from<"flight", &ticket::price>));
inline constexpr auto mail = settle::participant<"mail">(mailer).confirm(
    call(param<&trip::customer>, result_from<"flight", &ticket::number>,
         result_from<"room", &ticket::number>));

inline constexpr auto trip_type =
    settle::transaction<trip, "trip">(payer, flight, room, card, mail);

namespace {

/// A bank in memory, and a receiver of all services, which outlives the engines.
template <auto const& Type>
struct agency {
    settle::memory::database accounts_at{};
    receiver services{};
    std::string steps{}; ///< of all engines: "insert apply "
    std::function<void(settle::event const&)> seen{};
    world_state world{};

    auto make() {
        return settle::engine{accounts_at,
                              settle::bind(airline, services),
                              settle::bind(hotel, services),
                              settle::bind(bank, services),
                              settle::bind(mailer, services),
                              settle::type<Type>,
                              settle::with_environment(manual_environment{world}),
                              settle::observed_by([this](settle::event const& event) {
                                  steps.append(name_of(event.taken)).append(" ");
                                  if (seen) seen(event);
                              })};
    }
    agency() {
        services.decide = [](service_call const& call) {
            if (call.participant == "flight") {
                return service_answer::ok(R"({"number":"LH 1","price":120})");
            }
            return service_answer::ok(R"({"number":"12","price":80})");
        };
        auto engine = make();
        open_accounts(engine, {{"A", 1000}, {"B", 1000}});
    }
    [[nodiscard]] receiver::row const& row_of(std::string const& id, std::string const& of) const {
        return services.rows.at(accounts_at.name() + "/" + id + "/" + of);
    }
};
using trips = agency<trip_type>;

trip const usual{"A", "LH 1", 2, 500};

/// For receiver::before: refuses the apply of a participant.
auto refuses(std::string_view participant) {
    return [=](service_call const& call) -> std::optional<service_answer> {
        if (call.participant != participant || call.operation != call_operation::apply) return {};
        return service_answer::refused("sold out");
    };
}
/// Answers the first calls of a participant so.
auto answers_first(std::string_view participant, int count, service_answer const& answer) {
    return [=, left = count](service_call const& call) mutable -> std::optional<service_answer> {
        if (call.participant != participant || left == 0) return {};
        --left;
        return answer;
    };
}

} // namespace

TEST_CASE("services: calls are made in stages, with the results of earlier calls") {
    trips trips;
    auto engine = trips.make();
    auto const outcome = engine.run("t1", usual);
    REQUIRE_MESSAGE(outcome.done(), outcome.text());
    CHECK(trips.steps == "insert apply keep apply keep apply keep apply commit confirm confirm "
                         "confirm confirm close end ");
    CHECK(trips.services.called() == "apply flight, apply room, apply card, confirm room, "
                                     "confirm mail");
    CHECK(balance_of(engine, "A") == 500);
    CHECK(trips.row_of("t1", "flight").request == R"({"flight":"LH 1","people":2})");
    CHECK(trips.row_of("t1", "room").request == R"({"customer":"A","arrival":"LH 1"})");
    CHECK(trips.row_of("t1", "room").now == status::confirmed);
    CHECK(trips.row_of("t1", "card").request == R"({"customer":"A","amount":240})");
    CHECK(trips.row_of("t1", "mail").request == R"({"to":"A","ticket":"LH 1","room":"12"})");
    auto const entry = entry_of(engine, "t1");
    REQUIRE(entry.results.size() == 2);
    CHECK(entry.results[0] == settle::kept_result{1, 0, R"({"number":"LH 1","price":120})"});
    CHECK(entry.results[1] == settle::kept_result{2, 0, R"({"number":"12","price":80})"});
}

TEST_CASE("services: an outcome has the results of the calls, also for a later caller") {
    trips trips;
    auto engine = trips.make();
    auto const first = engine.run("t1", usual);
    auto const ticket_of = [](auto const& from) {
        return settle::result_of<trip_type, "flight">(from).value();
    };
    CHECK(ticket_of(first).number == "LH 1");
    CHECK(ticket_of(first).price == 120);
    CHECK(settle::result_of<trip_type, "room">(first).value().number == "12");
    CHECK(engine.run("t1", usual) == first);
    CHECK(ticket_of(entry_of(engine, "t1")).price == 120);
    CHECK(engine.cancel("t1") == first);
    trips.services.before = refuses("room");
    auto const canceled = engine.run("t2", usual);
    CHECK(ticket_of(canceled).price == 120);
    CHECK_FALSE(settle::result_of<trip_type, "room">(canceled));
}

TEST_CASE("services: a call has its key, its operation, its part and the result of its apply") {
    trips trips;
    std::vector<std::string> confirms;
    trips.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        CHECK(call.transaction == "t1");
        CHECK(call.key == trips.accounts_at.name() + "/t1/" + std::string{call.participant});
        CHECK_FALSE(call.line);
        CHECK(call.epoch_number > 0);
        if (call.operation == call_operation::apply) CHECK(call.result.empty());
        else confirms.push_back(std::string{call.service} + " " + std::string{call.result});
        return {};
    };
    auto engine = trips.make();
    REQUIRE(engine.run("t1", usual).done());
    CHECK(confirms == std::vector<std::string>{R"(hotel {"number":"12","price":80})", "mailer "});
}

TEST_CASE("services: a refusal at any stage compensates the calls, the last stage first") {
    std::string_view const names[]{"flight", "room", "card"};
    std::string_view const calls[]{
        "apply flight, compensate flight",
        "apply flight, apply room, compensate room, compensate flight",
        "apply flight, apply room, apply card, compensate room, compensate flight"};
    for (std::size_t index = 0; index < 3; ++index) {
        CAPTURE(index);
        trips trips;
        trips.services.before = refuses(names[index]);
        auto engine = trips.make();
        auto const outcome = engine.run("t1", usual);
        REQUIRE_MESSAGE(outcome.canceled(), outcome.text());
        CHECK(outcome.participant == names[index]);
        CHECK(trips.services.called() == calls[index]);
        CHECK(balance_of(engine, "A") == 1000);
        CHECK(marks_in(engine) == 0);
        for (auto const& [key, row] : trips.services.rows) CHECK(row.now == status::compensated);
    }
}

TEST_CASE("services: an unavailable and an unknown call are made again with the same key") {
    for (auto const& answer :
         {service_answer::unavailable("away"), service_answer::unknown("lost"), service_answer{}}) {
        for (std::string_view const participant : {"flight", "room", "card", "mail"}) {
            CAPTURE(participant);
            trips trips;
            trips.services.before = answers_first(participant, 3, answer);
            auto engine = trips.make();
            auto const outcome = engine.run("t1", usual);
            REQUIRE_MESSAGE(outcome.done(), outcome.text());
            CHECK(trips.services.rows.size() == 4);
            CHECK(trips.services.calls.size() == 8);
        }
    }
}

TEST_CASE("services: a call that took effect and lost its answer takes no second effect") {
    trips trips;
    int lost = 0;
    trips.services.loses = [&](service_call const&) { return ++lost % 2 == 1; };
    auto engine = trips.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(trips.services.rows.size() == 4);
    CHECK(trips.services.called() ==
          "apply flight, apply flight, apply room, apply room, apply card, apply card, "
          "confirm room, confirm room, confirm mail, confirm mail");
}

TEST_CASE("services: a client that throws leaves its call unknown") {
    trips trips;
    int thrown = 0;
    trips.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "card" && thrown < 2) {
            if (++thrown == 1) throw std::runtime_error{"the line is dead"};
            throw 1;
        }
        return {};
    };
    std::string problems;
    trips.seen = [&](settle::event const& event) {
        if (!event.problem.empty()) problems.append(event.problem).append("\n");
    };
    auto engine = trips.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(thrown == 2);
    CHECK(problems.find("the service 'bank' gave no answer to the apply of 'card': the line is "
                        "dead") != std::string::npos);
    CHECK(problems.find("'card': an exception") != std::string::npos);
}

TEST_CASE("services: a confirm and a compensation are repeated although they are refused") {
    trips trips;
    int refused = 0;
    trips.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::apply || ++refused % 3 == 0) return {};
        return service_answer::refused("never");
    };
    auto engine = trips.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(trips.row_of("t1", "room").now == status::confirmed);
    CHECK(trips.row_of("t1", "mail").now == status::confirmed);

    trips.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::apply) return refuses("card")(call);
        if (++refused % 3 == 0) return {};
        return service_answer::refused("never");
    };
    CHECK(engine.run("t2", usual).canceled());
    CHECK(trips.row_of("t2", "room").now == status::compensated);
    CHECK(trips.row_of("t2", "flight").now == status::compensated);
    CHECK(balance_of(engine, "A") == 500);
}

TEST_CASE("services: the reason of a refusal is kept without its NUL") {
    trips trips;
    trips.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.participant != "card" || call.operation != call_operation::apply) return {};
        return service_answer::refused({"no\0cover", 8});
    };
    auto engine = trips.make();
    CHECK(engine.run("t1", usual).canceled());
    CHECK(entry_of(engine, "t1").why_text.find("'card': no cover. See") != std::string::npos);
}

TEST_CASE("services: a result of another form leaves the call unknown and its text in bounds") {
    for (std::string const text :
         {R"({"number":1,"price":2})", "", "{", R"({"price":2})",
          "{\"number\":\"\xff\",\"price\":2}", R"({"number":"a\u0000b","price":2})",
          R"({"number":"a","price":92233720368547758070})"}) {
        CAPTURE(text);
        trips trips;
        trips.services.before = answers_first("flight", 2, service_answer::ok(text));
        std::string problem;
        trips.seen = [&](settle::event const& event) {
            if (!event.problem.empty()) problem = event.problem;
        };
        auto engine = trips.make();
        CHECK(engine.run("t1", usual).done());
        CHECK(problem.find("gave a result of another form to the apply of 'flight'") !=
              std::string::npos);
        CHECK(trips.row_of("t1", "room").request == R"({"customer":"A","arrival":"LH 1"})");
    }
    trips trips;
    trips.services.before = answers_first(
        "flight", 1, service_answer::unavailable("line\n" + std::string(1 << 20, 'x')));
    std::size_t longest = 0;
    trips.seen = [&](settle::event const& event) {
        longest = std::max(longest, event.problem.size());
        CHECK(event.problem.find('\n') == std::string::npos);
    };
    auto engine = trips.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(longest > 200);
    CHECK(longest < 500);
}

TEST_CASE("services: a result may have more members than the type, which the entry leaves out") {
    trips trips;
    trips.services.decide = [](service_call const&) {
        return service_answer::ok(R"({"extra":[1], "price": 7 ,"number":"X"})");
    };
    auto engine = trips.make();
    CHECK(engine.run("t1", usual).done());
    CHECK(entry_of(engine, "t1").results[0].value == R"({"number":"X","price":7})");
}

TEST_CASE("services: a sum of a result that overflows cancels before its call") {
    trips trips;
    trips.services.decide = [](service_call const&) {
        return service_answer::ok(R"({"number":"X","price":9223372036854775807})");
    };
    auto engine = trips.make();
    auto const outcome = engine.run("t1", usual);
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::overflow);
    CHECK(outcome.participant == "card");
    CHECK(trips.services.called() ==
          "apply flight, apply room, compensate room, compensate flight");
}

TEST_CASE("services: a worker that dies between stages is followed by another engine") {
    // The steps after which the worker dies, and the calls that the next worker makes.
    std::pair<int, std::string_view> const deaths[]{
        {3, "apply flight, apply room, apply card, confirm room, confirm mail"},
        {4, "apply flight, apply room, apply card, confirm room, confirm mail"},
        {5, "apply room, apply card, confirm room, confirm mail"},
        {7, "apply card, confirm room, confirm mail"},
        {9, "confirm room, confirm mail"},
        {12, "confirm room, confirm mail"}};
    for (auto const& death : deaths) {
        int const last = death.first;
        CAPTURE(last);
        trips trips;
        {
            auto first = trips.make();
            int taken = 0;
            trips.seen = [&](settle::event const&) {
                if (++taken == last) throw killed{};
            };
            CHECK_THROWS_AS(std::ignore = first.run("t1", usual), killed);
        }
        trips.seen = {};
        trips.services.calls.clear();
        auto second = trips.make();
        CHECK(second.recover(of_any_age()).done == 1);
        CHECK(trips.services.called() == death.second);
        CHECK(trips.services.rows.size() == 4);
        CHECK(balance_of(second, "A") == 500);
        CHECK(entry_of(second, "t1").results.size() == 2);
    }
}

TEST_CASE("services: a cancel compensates each stage that may have been called") {
    trips trips;
    trips.services.before = answers_first("room", 1000, service_answer::unavailable("away"));
    auto engine = trips.make();
    REQUIRE(engine.run("t1", usual, soon).verdict == verdict::undecided);
    trips.services.calls.clear();
    trips.services.before = [](service_call const&) { return std::nullopt; };
    CHECK(engine.cancel("t1").canceled());
    CHECK(trips.services.called() == "compensate room, compensate flight");
    CHECK(balance_of(engine, "A") == 1000);
    // A late copy of the call that was never answered takes no effect.
    service_answer late;
    std::string const key = trips.accounts_at.name() + "/t1/room";
    service_call const copy{.service = "hotel",
                            .operation = call_operation::apply,
                            .key = key,
                            .transaction = "t1",
                            .participant = "room",
                            .line = {},
                            .epoch_number = 1,
                            .last_moment = settle::timestamp::max(),
                            .request = "{}",
                            .result = {}};
    trips.services.send({&copy, 1}, {&late, 1});
    CHECK(late.status == call_status::refused);
}

TEST_CASE("services: work() counts an entry that another worker cancels as elsewhere") {
    trips trips;
    auto engine = trips.make();
    auto other = trips.make();
    REQUIRE(engine.submit("t1", usual).problem.empty());
    // Meanwhile the other worker cancels, and cannot compensate yet.
    trips.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::compensate)
            return service_answer::unavailable("away");
        if (call.participant != "flight") return {};
        settle::cancel_options const canceled_soon{.deadline = soon.deadline};
        REQUIRE(other.cancel("t1", canceled_soon).verdict == verdict::undecided);
        return service_answer::refused("sold out");
    };
    auto const report = engine.work();
    CHECK(report.elsewhere == 1);
    CHECK(report.skipped.empty());
    trips.services.before = [](service_call const&) { return std::nullopt; };
    CHECK(other.recover(of_any_age()).canceled == 1);
}

TEST_CASE("services: a batch makes the calls of all its trips in one send for each wave") {
    trips trips;
    auto engine = trips.make();
    std::vector<std::pair<std::string, trip>> many;
    for (int i = 0; i < 100; ++i) {
        many.emplace_back("t" + std::to_string(i), trip{i % 2 == 0 ? "A" : "B", "LH 1", 1, 10});
    }
    auto const outcomes = engine.run_all(many, settle::batch_options{.window = 100});
    for (auto const& one : outcomes) CHECK_MESSAGE(one.done(), one.text());
    CHECK(trips.services.sends == std::vector<std::size_t>{100, 100, 100, 100, 100});
    CHECK(trips.services.rows.size() == 400);
    CHECK(balance_of(engine, "A") == 500);
}

TEST_CASE("services: an unavailable call delays no other trip of its batch") {
    trips trips;
    auto engine = trips.make();
    std::vector<std::pair<std::string, trip>> many;
    for (int i = 0; i < 10; ++i) many.emplace_back("t" + std::to_string(i), usual);
    for (auto& one : many) one.second.most = 1;
    trips.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.transaction == "t0") return service_answer::unavailable("away");
        return {};
    };
    auto const outcomes =
        engine.run_all(many, settle::batch_options{.deadline = std::chrono::milliseconds{100}});
    CHECK(outcomes[0].verdict == verdict::undecided);
    CHECK(outcomes[0].problem.code == settle::errc::call_unavailable);
    for (std::size_t i = 1; i < 10; ++i) CHECK_MESSAGE(outcomes[i].done(), outcomes[i].text());
}

TEST_CASE("services: an engine on a reopened file makes the remaining calls") {
    sqlite_test::folder const files;
    receiver services = trips{}.services;
    services.before = answers_first("card", 1000, service_answer::unavailable("away"));
    auto const run = [&](auto function) {
        settle::sqlite::database file{files.file()};
        settle::engine engine{file,
                              settle::bind(airline, services),
                              settle::bind(hotel, services),
                              settle::bind(bank, services),
                              settle::bind(mailer, services),
                              settle::type<trip_type>};
        function(engine);
    };
    run([&](auto& engine) {
        open_accounts(engine, {{"A", 1000}});
        CHECK(engine.run("t0", trip{"B", "LH 1", 1, 1}).canceled());
        auto ended = engine.run("t1", usual, soon); // on a busy machine, before the card
        while (services.called().rfind("card") > 999) ended = engine.retry("t1", soon);
        CHECK(ended.verdict == verdict::undecided);
    });
    services.before = [](service_call const&) { return std::nullopt; };
    services.calls.clear();
    run([&](auto& engine) {
        CHECK(engine.recover(of_any_age()).done == 1);
        CHECK(services.called() == "apply card, confirm room, confirm mail");
        CHECK(balance_of(engine, "A") == 500);
        CHECK(entry_of(engine, "t1").results.at(0).value == R"({"number":"LH 1","price":120})");
        CHECK(engine.run("t1", usual).done());
        services.before = refuses("card");
        CHECK(engine.run("t2", usual).canceled());
    });
}

} // namespace services_test
