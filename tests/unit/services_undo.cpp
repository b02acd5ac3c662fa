// SPDX-License-Identifier: BSL-1.0
// The order of compensations: a call waits for the calls that used its result, and for nothing
// else.
#include "order_office.hpp"

namespace undo_test {

using namespace order_test;

/// The same, whose cancel gives back nothing before the later parts are undone.
inline constexpr auto strict_type = order_type.compensate_in_order();
static_assert(!settle::descriptor_of<settle::forward<order_type>>.stages.undone_by_stage);
static_assert(settle::descriptor_of<settle::forward<strict_type>>.stages.undone_by_stage);

/// The parcel is booked with what a query says of the goods.
inline constexpr auto quoted_type = settle::transaction<order, "quoted">(
    settle::participant<"goods">(seller)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()),
    settle::participant<"quote">(seller).apply(
        settle::query(param<&order::customer>, goods_number)),
    settle::participant<"parcel">(courier)
        .apply(call(param<&order::customer>, settle::result_from<"quote", &number::value>))
        .compensate(call()));
// A query passes on what it uses, and is itself not compensated.
static_assert(quoted_type.undone_after() == std::array<std::uint64_t, 3>{4, 4, 0});

/// The goods are compensated after the box, the box after the parcel.
inline constexpr auto packed_type = settle::transaction<order, "packed">(
    settle::participant<"wrap">(shop)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call())
        .pauses<40, 160>(),
    settle::participant<"goods">(seller)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call())
        .pauses<40, 16000>(),
    settle::participant<"box">(seller)
        .apply(call(param<&order::customer>, goods_number))
        .compensate(call()),
    settle::participant<"parcel">(courier)
        .apply(call(param<&order::customer>, settle::result_from<"box", &number::value>))
        .compensate(call()));
static_assert(packed_type.undone_after() == std::array<std::uint64_t, 4>{0, 4 + 8, 8, 0});

struct item {
    std::string name;
    std::int64_t count = 0;
};
struct basket {
    std::string customer;
    std::vector<item> items;
};
SETTLE_STRUCT(item, name, count);
SETTLE_STRUCT(basket, customer, items);

/// The goods are compensated after each of the copies, but not after the stamps.
inline constexpr auto copied_type = settle::transaction<basket, "copied">(
    settle::participant<"stamps">(shop, settle::each<&basket::items>)
        .apply(call(settle::line<&item::name>, settle::line<&item::count>))
        .compensate(call()),
    settle::participant<"goods">(seller)
        .apply(call(param<&basket::customer>, settle::lit<1>))
        .compensate(call()),
    settle::participant<"copies">(shop, settle::each<&basket::items>)
        .apply(call(settle::line<&item::name>, goods_number))
        .compensate(call()),
    settle::participant<"parcel">(courier)
        .apply(call(param<&basket::customer>, settle::lit<1>))
        .compensate(call()));

/// Services whose parcel is refused, and what they were asked to compensate.
struct refused_office : office {
    struct attempt {
        std::chrono::nanoseconds time;
        std::uint32_t tries;
    };
    std::map<std::string, std::vector<attempt>> undone{};
    std::string order{}; ///< the parts whose compensation was taken, each with a space
    /// Answers a compensation; without a value, it is taken.
    std::function<std::optional<service_answer>(std::string const& part, std::size_t number)>
        answer{};

    refused_office() {
        services.before = [this](service_call const& call) -> std::optional<service_answer> {
            if (call.operation == call_operation::apply) {
                if (call.participant == "parcel") return service_answer::refused("no van");
                bool const has_result = call.participant == "goods" || call.participant == "box";
                if (has_result) return service_answer::ok(R"({"value":7})");
                return std::nullopt;
            }
            auto part = std::string{call.participant};
            if (call.line) part += std::to_string(*call.line);
            auto& attempts = undone[part];
            attempts.push_back({world.elapsed, call.tries});
            auto answered = answer ? answer(part, attempts.size()) : std::nullopt;
            if (!answered) order.append(part).append(" ");
            return answered;
        };
    }
    template <auto const& Type = packed_type>
    auto make_seller() {
        return settle::engine{accounts_at,
                              settle::bind(shop, services),
                              settle::bind(seller, services),
                              settle::bind(courier, services),
                              settle::type<Type>,
                              settle::with_environment(manual_environment{world})};
    }
    [[nodiscard]] std::chrono::nanoseconds pause(std::string const& part, std::size_t number) {
        return undone.at(part).at(number).time - undone.at(part).at(number - 1).time;
    }
    void wait(std::chrono::milliseconds time) {
        world.elapsed += time;
        world.time += time;
    }
};

TEST_CASE("undo: a service that is away holds back no other compensation, unless a type asks") {
    office office;
    bool is_away = true;
    std::string undone;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "parcel" && call.operation == call_operation::apply)
            return service_answer::refused("no van");
        if (call.operation != call_operation::compensate) return std::nullopt;
        if (call.participant == "parcel" && is_away) return service_answer::unavailable("away");
        undone.append(call.participant).append(" ");
        return std::nullopt;
    };
    auto const check = [&](auto engine, std::string const& first, std::string const& then,
                           std::int64_t balance) {
        CHECK(engine.run("t1", usual, {{1s}, {}}).verdict == settle::verdict::undecided);
        CHECK(undone == first);
        CHECK(balance_of(engine, "A") == balance);
        is_away = false;
        CHECK(engine.retry("t1").canceled());
        CHECK(undone == then);
        CHECK(balance_of(engine, "A") == 1000);
    };
    SUBCASE("each by itself") { check(office.make(), "goods ", "goods goods parcel ", 1000); }
    SUBCASE("in order") { check(office.make<strict_type>(), "", "parcel goods ", 900); }
}

TEST_CASE("undo: a call waits for the call that used its result, and for no other") {
    refused_office office;
    office.answer = [](std::string const& part, std::size_t number) {
        auto away = service_answer::unavailable("away");
        if (part == "wrap") away.retry_after = 60s;
        std::size_t const failing = part == "wrap" ? 2 : 3;
        return number <= failing ? std::optional{away} : std::nullopt;
    };
    CHECK(office.make_seller().run("t1", usual, patient()).canceled());
    CHECK(office.order == "parcel box goods wrap ");
    // At once, with tries and pauses of its own.
    for (auto const* const part : {"goods", "box"}) {
        auto const* const user = part == std::string{"box"} ? "parcel" : "box";
        CHECK(office.undone[part][0].time == office.undone[user].back().time);
        CHECK(office.pause(part, 1) <= 101ms);
        for (std::uint32_t number = 0; number < 4; ++number) {
            CHECK(office.undone[part][number].tries == number);
        }
    }
    CHECK(office.pause("wrap", 1) >= 60s);
    CHECK(office.pause("wrap", 2) >= 60s);
}

TEST_CASE("undo: tries and pauses begin anew for a call that has waited") {
    for (bool const ends_between : {false, true}) {
        CAPTURE(ends_between);
        refused_office office;
        bool is_away = true;
        office.answer = [&](std::string const& part, std::size_t number) {
            bool const fails =
                part == "parcel" ? number <= 8 && is_away : part == "goods" && number <= 2;
            return fails ? std::optional{service_answer::unavailable("away")} : std::nullopt;
        };
        auto engine = office.make_seller();
        if (ends_between) {
            CHECK(engine.run("t1", usual, {{1s}, {}}).verdict == settle::verdict::undecided);
            CHECK(entry_of(engine, "t1").call_tries > 2);
            is_away = false;
            CHECK(engine.retry("t1", patient()).canceled());
        } else {
            CHECK(engine.run("t1", usual, patient()).canceled());
        }
        CHECK(office.pause("goods", 1) <= 41ms);
        CHECK(office.pause("goods", 2) <= 81ms);
        CHECK(office.undone["goods"][0].tries == 0);
    }
}

TEST_CASE("undo: the time that a service named is kept while a call follows that has waited") {
    refused_office office;
    office.answer = [&](std::string const& part, std::size_t) -> std::optional<service_answer> {
        if (part == "parcel") office.wait(20s);
        if (part != "wrap") return std::nullopt;
        auto full = service_answer::unavailable("full");
        full.retry_after = 600s;
        return full;
    };
    auto engine = office.make_seller();
    CHECK(engine.run("t1", usual, {{10s}, {}}).verdict == settle::verdict::undecided);
    auto const stored = entry_of(engine, "t1");
    CHECK(stored.call_tries == 1);
    CHECK(stored.next_try >= office.world.time + 599s);
    office.wait(30s);
    CHECK(office.make_seller().recover({.older_than = 0s}).young == 1);
    CHECK(office.undone["wrap"].size() == 1);
}

TEST_CASE("undo: a call whose pause is over is made while others follow one another") {
    refused_office office;
    office.answer = [&](std::string const& part, std::size_t number) {
        bool const fails = part == "wrap" && number < 2;
        if (part != "wrap") office.wait(20s);
        return fails ? std::optional{service_answer::unavailable("away")} : std::nullopt;
    };
    CHECK(office.make_seller().run("t1", usual, patient()).canceled());
    CHECK(office.pause("wrap", 1) < 41s);
    CHECK(office.order == "parcel box wrap goods ");
}

TEST_CASE("undo: in order, the records are given back after the deadline of the last call, too") {
    for (bool const has_deadline : {true, false}) {
        CAPTURE(has_deadline);
        refused_office office;
        std::stop_source stop;
        office.answer = [&](std::string const& part, std::size_t) {
            if (part == "goods" && has_deadline) office.wait(20s);
            else if (part == "goods") stop.request_stop();
            return std::optional<service_answer>{};
        };
        settle::call_options limits{{}, stop.get_token()};
        if (has_deadline) limits.deadline = 10s;
        auto engine = office.make<strict_type>();
        CHECK(engine.run("t1", usual, limits).canceled());
        CHECK(balance_of(engine, "A") == 1000);
    }
}

TEST_CASE("undo: a call waits for each line of a range that used its result") {
    refused_office office;
    office.answer = [](std::string const& part, std::size_t number) {
        bool const fails = part == "copies1" ? number <= 2 : part == "stamps0" && number <= 6;
        return fails ? std::optional{service_answer::unavailable("away")} : std::nullopt;
    };
    auto engine = office.make_seller<copied_type>();
    basket const three{"A", {{"a", 1}, {"b", 2}, {"c", 3}}};
    CHECK(engine.run("t1", three, patient()).canceled());
    CHECK(office.order == "stamps1 stamps2 copies0 copies2 parcel copies1 goods stamps0 ");
    CHECK(engine.run("t2", basket{"A", {}}, patient()).canceled());
    CHECK(office.order.ends_with("stamps0 goods parcel "));
}

TEST_CASE("undo: a person closes a call that waits, or the call for which it waits") {
    for (auto const* const closed : {"copies", "goods"}) {
        CAPTURE(closed);
        refused_office office;
        bool is_away = true;
        office.answer = [&](std::string const& part, std::size_t) {
            bool const fails = part == "copies0" && is_away;
            return fails ? std::optional{service_answer::unavailable("away")} : std::nullopt;
        };
        auto engine = office.make_seller<copied_type>();
        basket const single{"A", {{"a", 1}}};
        CHECK(engine.run("t1", single, {{3s}, {}}).verdict == settle::verdict::undecided);
        CHECK(office.order == "stamps0 parcel ");
        office.world.time += 1h;
        settle::resolve_options which;
        if (closed == std::string{"copies"}) which.line = 0;
        auto const ended = engine.resolve("t1", closed, "by hand", which);
        is_away = false;
        if (closed == std::string{"copies"}) {
            CHECK(ended.canceled());
            CHECK(office.order == "stamps0 parcel stamps0 parcel goods ");
        } else {
            office.world.time += 1h;
            CHECK(office.make_seller<copied_type>().retry("t1").canceled());
            CHECK(office.undone.count("goods") == 0);
        }
    }
}

} // namespace undo_test
