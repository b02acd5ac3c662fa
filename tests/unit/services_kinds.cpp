// SPDX-License-Identifier: BSL-1.0
// Calls in ranges and groups, receivers of lower grades, and services in the same process.
#include "engine_types.hpp"

#include <service_receiver.hpp>

#include <map>
#include <set>

namespace service_kinds {

struct stay {
    std::string hotel;
    std::int64_t nights = 0;
};
struct tour {
    std::string customer;
    std::int64_t price = 0;
    std::vector<stay> stays;
};
struct order {
    std::string item;
    std::int64_t count = 0;
};
struct receipt {
    std::string number;
};

SETTLE_STRUCT(stay, hotel, nights);
SETTLE_STRUCT(tour, customer, price, stays);
SETTLE_STRUCT(order, item, count);
SETTLE_STRUCT(receipt, number);

using engine_test::soon;
using service_test::receiver;
using settle::call;
using settle::call_operation;
using settle::line;
using settle::param;
using settle::reason;
using settle::service_answer;
using settle::service_call;
using settle::verdict;
using status = receiver::row::status;

inline constexpr settle::service<stay, receipt, "hotel", settle::barrier> hotel;
inline constexpr settle::service<order, receipt, "shop", settle::barrier> shop;
/// Receivers of lower grades.
inline constexpr auto keys_and_refusals = settle::remembers_keys | settle::keeps_refusals;
inline constexpr auto keys_that_close = settle::remembers_keys | settle::closes_keys;
inline constexpr settle::service<order, receipt, "stall", keys_and_refusals> stall;
inline constexpr settle::service<order, receipt, "till", keys_that_close> till;
inline constexpr settle::service<order, receipt, "prices", settle::plain> prices;

inline constexpr auto bought = settle::participant<"goods">(shop)
                                   .apply(call(param<&tour::customer>, param<&tour::price> + 1))
                                   .compensate(call())
                                   .confirm(call("bill", settle::lit<7>));

inline constexpr auto tour_type = settle::transaction<tour, "tour">(
    settle::together(settle::participant<"stays">(hotel, settle::each<&tour::stays>)
                         .apply(call(line<&stay::hotel>, line<&stay::nights>))
                         .compensate(call()),
                     bought));

namespace {

tour const usual{"A", 5, {{"Ritz", 2}, {"Ibis", 1}}};

/// A log in memory, and a receiver that outlives the engines.
struct office {
    settle::memory::database log{};
    receiver services{};
    engine_test::world_state world{};
    std::string problems{};

    template <auto const& Type, auto const&... Services>
    auto make() {
        return settle::engine{log, settle::bind(Services, services)..., settle::type<Type>,
                              settle::with_environment(engine_test::manual_environment{world}),
                              settle::observed_by([this](settle::event const& event) {
                                  if (!event.problem.empty()) {
                                      problems.append(event.problem).append("\n");
                                  }
                              })};
    }
    office() {
        services.decide = [](service_call const&) {
            return service_answer::ok(R"({"number":"7"})");
        };
    }
    [[nodiscard]] receiver::row const& row_of(std::string const& part) const {
        return services.rows.at(log.name() + "/t1/" + part);
    }
};

template <typename Engine>
settle::entry entry_of(Engine& engine) {
    return engine_test::entry_of(engine, "t1");
}

} // namespace

TEST_CASE("services: each line of a range is a call with a key and a result of its own") {
    office office;
    std::vector<std::optional<std::uint32_t>> lines;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "stays") lines.push_back(call.line);
        return {};
    };
    auto engine = office.make<tour_type, hotel, shop>();
    auto const outcome = engine.run("t1", usual);
    REQUIRE_MESSAGE(outcome.done(), outcome.text());
    // The range and the other call are one stage: one send to each client.
    CHECK(office.services.sends == std::vector<std::size_t>{2, 1, 1});
    CHECK(lines == std::vector<std::optional<std::uint32_t>>{0, 1});
    CHECK(office.row_of("stays/0").request == R"({"hotel":"Ritz","nights":2})");
    CHECK(office.row_of("stays/1").request == R"({"hotel":"Ibis","nights":1})");
    CHECK(office.row_of("goods").request == R"({"item":"A","count":6})");
    CHECK(office.row_of("goods").now == status::confirmed);
    auto const entry = entry_of(engine);
    CHECK(entry.stages_kept == 1);
    REQUIRE(entry.results.size() == 3);
    CHECK(entry.results[1] == settle::kept_result{0, 1, R"({"number":"7"})"});
}

TEST_CASE("services: a range may be empty") {
    office office;
    auto engine = office.make<tour_type, hotel, shop>();
    CHECK(engine.run("t1", tour{"A", 5, {}}).done());
    CHECK(office.services.called() == "apply goods, confirm goods");
}

TEST_CASE("services: a refusal in a group compensates all its calls") {
    office office;
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        bool const second = call.line == 1 && call.operation == call_operation::apply;
        if (second) return service_answer::refused("full");
        return {};
    };
    auto engine = office.make<tour_type, hotel, shop>();
    auto const outcome = engine.run("t1", usual);
    CHECK(outcome.canceled());
    CHECK(outcome.participant == "stays");
    CHECK(outcome.line == 1);
    CHECK(office.services.rows.size() == 3);
    for (auto const& [key, row] : office.services.rows) CHECK(row.now == status::compensated);
}

TEST_CASE("services: parameters whose sum overflows in a call are refused before any write") {
    office office;
    auto engine = office.make<tour_type, hotel, shop>();
    auto const outcome = engine.run("t1", tour{"A", INT64_MAX, {}});
    CHECK(outcome.verdict == verdict::refused);
    CHECK(outcome.why == reason::overflow);
    CHECK(outcome.participant == "goods");
    CHECK_FALSE(engine.find("t1").value());
    CHECK(office.services.calls.empty());
}

namespace {

inline constexpr auto stall_type =
    settle::transaction<tour, "stall">(settle::participant<"first">(stall)
                                           .apply(call(param<&tour::customer>, param<&tour::price>))
                                           .compensate(call()),
                                       settle::participant<"second">(stall)
                                           .apply(call(param<&tour::customer>, param<&tour::price>))
                                           .compensate(call()));

} // namespace

TEST_CASE("services: without rows, a call without a known answer is applied before it is undone") {
    office office;
    auto engine = office.make<stall_type, stall>();
    office.services.loses = [](service_call const& call) { return call.participant == "second"; };
    CHECK(engine.run("t1", usual, soon).verdict == verdict::undecided);
    CHECK(office.row_of("second").now == status::applied);
    office.services.loses = [lost = 2](service_call const&) mutable { return lost-- > 0; };
    office.services.calls.clear();
    std::map<std::string, std::string> results;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::compensate)
            results[std::string{call.participant}] = call.result;
        return {};
    };
    CHECK(engine.cancel("t1").canceled());
    // The result of the first call is in the entry, so its answer is known.
    CHECK(office.services.called() ==
          "apply second, compensate first, apply second, compensate first, compensate second");
    std::string const number = R"({"number":"7"})";
    CHECK(results == std::map<std::string, std::string>{{"first", number}, {"second", number}});
    CHECK(office.row_of("second").now == status::compensated);
    CHECK(office.row_of("first").now == status::compensated);
}

TEST_CASE("services: without rows, a call that is refused for good is not undone") {
    office office;
    auto engine = office.make<stall_type, stall>();
    office.services.decide = [](service_call const& call) {
        return call.participant == "second" ? service_answer::refused("closed")
                                            : service_answer::ok(R"({"number":"7"})");
    };
    CHECK(engine.run("t1", usual).canceled());
    CHECK(office.services.called() == "apply first, apply second, apply second, compensate first");
}

namespace {

inline constexpr auto till_type = settle::transaction<tour, "till">(
    settle::participant<"goods">(stall)
        .apply(call(param<&tour::customer>, param<&tour::price>))
        .compensate(call()),
    settle::participant<"payment">(till).apply(call(param<&tour::customer>, param<&tour::price>)));

} // namespace

TEST_CASE("services: the key of a refused pivot is closed if its receiver keeps no refusals") {
    office office;
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        bool const payment =
            call.participant == "payment" && call.operation == call_operation::apply;
        if (payment) return service_answer::refused("no cover");
        return {};
    };
    auto engine = office.make<till_type, stall, till>();
    auto const outcome = engine.run("t1", usual);
    CHECK(outcome.canceled());
    CHECK(outcome.participant == "payment");
    CHECK(office.services.called() ==
          "apply goods, apply payment, compensate payment, compensate goods");
    CHECK(office.row_of("payment").now == status::compensated);
}

TEST_CASE("services: a refused pivot whose key cannot be closed is called again") {
    office office;
    bool refused = false;
    // An earlier copy of the call takes effect after the refusal.
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant != "payment") return {};
        if (call.operation == call_operation::compensate) return service_answer::refused("applied");
        if (!std::exchange(refused, true)) return service_answer::refused("no cover");
        return {};
    };
    auto engine = office.make<till_type, stall, till>();
    CHECK(engine.run("t1", usual).done());
    CHECK(office.services.called() ==
          "apply goods, apply payment, compensate payment, apply payment");
    CHECK(office.row_of("payment").now == status::applied);
}

namespace {

inline constexpr auto priced_type = settle::transaction<tour, "priced">(
    settle::participant<"offer">(prices).apply(
        settle::query(param<&tour::customer>, param<&tour::price>)),
    settle::participant<"goods">(shop)
        .apply(call(settle::result_from<"offer", &receipt::number>, param<&tour::price>))
        .compensate(call()));

} // namespace

TEST_CASE("services: a query is called in its stage and has nothing to undo") {
    office office;
    auto engine = office.make<priced_type, prices, shop>();
    CHECK(engine.run("t1", usual).done());
    CHECK(office.services.called() == "query offer, apply goods");
    CHECK(office.row_of("goods").request == R"({"item":"7","count":5})");

    office.services.calls.clear();
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        bool const refuses = call.participant == "goods" && call.operation == call_operation::apply;
        if (refuses) return service_answer::refused("sold out");
        return {};
    };
    CHECK(engine.run("t2", usual).canceled());
    CHECK(office.services.called() == "query offer, apply goods, compensate goods");
}

namespace {

inline constexpr auto notice_type = settle::transaction<tour, "notice">(
    settle::participant<"goods">(shop).confirm(call(param<&tour::customer>, param<&tour::price>)));

} // namespace

TEST_CASE("services: a transaction may have confirms alone") {
    office office;
    auto engine = office.make<notice_type, shop>();
    CHECK(engine.run("t1", usual).done());
    CHECK(office.services.called() == "confirm goods");
    CHECK(entry_of(engine).results.empty());
}

TEST_CASE("services: keys of any ids and parts differ") {
    auto const& descriptor = settle::descriptor_of<settle::forward<tour_type>>;
    std::set<std::string> keys;
    std::size_t count = 0;
    for (std::string const id :
         {"t", "t/goods", "t/stays", "t/stays/0", "t/stays/0/stays", "/", "t/"}) {
        for (std::uint32_t index = 0; index < 3; ++index) {
            std::uint32_t const participant = index == 0 ? 1 : 0;
            settle::part_request const request{
                &descriptor.participants[participant],     &descriptor,         &usual, &id,
                {participant, index == 0 ? 0 : index - 1}, settle::step::apply, 1};
            keys.insert(settle::call_key("log", request));
            ++count;
        }
    }
    CHECK(keys.size() == count);
}

// ---------------------------------------------------------------------- services in this process

namespace {

/// A shop as a class of the test.
struct shelf {
    std::map<std::string, std::int64_t, std::less<>> sold{};

    settle::reply<receipt> operator()(order const& request, service_call const& call) {
        std::string const key{call.key};
        if (call.operation == call_operation::compensate) sold.erase(key);
        if (call.operation != call_operation::apply) return service_answer::ok();
        if (request.count > 10) return service_answer::refused("too many");
        if (request.item.empty()) throw std::runtime_error{"no item"};
        sold[key] = request.count;
        return receipt{"no. " + std::to_string(request.count)};
    }
};

inline constexpr auto shelf_type =
    settle::transaction<tour, "shelf">(settle::participant<"goods">(shop)
                                           .apply(call(param<&tour::customer>, param<&tour::price>))
                                           .compensate(call()));

} // namespace

TEST_CASE("services: a function of the request is a service in the same process") {
    settle::memory::database log;
    shelf goods;
    settle::engine engine{log, settle::bind(shop, goods), settle::type<shelf_type>};
    CHECK(engine.run("t1", usual).done());
    CHECK(goods.sold.at(log.name() + "/t1/goods") == 5);
    CHECK(entry_of(engine).results[0].value == R"({"number":"no. 5"})");
    CHECK(engine.run("t2", tour{"A", 11, {}}).canceled());
    CHECK(goods.sold.size() == 1);
    auto const thrown = engine.run("t3", tour{"", 1, {}}, soon);
    CHECK(thrown.verdict == verdict::undecided);
    CHECK(thrown.problem.code == settle::errc::call_unknown);
    CHECK(thrown.problem.text.find("no item") != std::string::npos);
}

TEST_CASE("services: the engine owns a function that is a temporary") {
    settle::memory::database log;
    int calls = 0;
    settle::engine engine{log, settle::type<shelf_type>,
                          settle::bind(shop, [&calls, text = std::string(100, 'x')](
                                                 order const&, service_call const&) {
                              ++calls;
                              return settle::reply<receipt>{receipt{text}};
                          })};
    CHECK(engine.run("t1", usual).done());
    CHECK(calls == 1);
    CHECK(entry_of(engine).results[0].value.size() > 100);
}

} // namespace service_kinds
