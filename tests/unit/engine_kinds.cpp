// SPDX-License-Identifier: BSL-1.0
// Every kind of participant through the engine: ranges, create, replace, erase, exclusive marks.
#include "engine_shop.hpp"

namespace engine_test {
namespace {

struct shop {
    settle::memory::database database;
    world_state world;
    std::function<void(settle::event const&)> watch;
    settle::engine<settle::memory::database, settle::type_tag<order_type>,
                   settle::type_tag<create_type>, settle::type_tag<replace_type>,
                   settle::type_tag<drop_type>, settle::type_tag<label_type>,
                   settle::environment_binding<manual_environment>, settle::observer_binding<hook>>
        engine{database,
               settle::type<order_type>,
               settle::type<create_type>,
               settle::type<replace_type>,
               settle::type<drop_type>,
               settle::type<label_type>,
               settle::with_environment(manual_environment{world}),
               settle::observed_by(hook{watch})};

    shop() {
        open_accounts(engine, {{"A", 100}});
        for (item const& one : {item{"pen", 5, "open", "blue"}, item{"ink", 3, "open", {}}}) {
            engine.create(items, one).value();
        }
    }
    std::optional<item> find_item(std::string const& code) {
        return engine.read(items, code).value();
    }
    void unchanged() {
        CHECK(balance_of(engine, "A") == 100);
        CHECK(find_item("pen") == item{"pen", 5, "open", "blue"});
        CHECK(find_item("ink") == item{"ink", 3, "open", {}});
        CHECK(marks_in(engine) == 0);
    }
};

TEST_CASE("kinds: a range takes part with every line") {
    shop s;
    CHECK(s.engine.run(order{"A", "1", 10, {{"pen", 2}, {"ink", 1}, {"pen", 3}}}).done());
    CHECK(s.find_item("pen")->stock == 0);
    CHECK(s.find_item("ink")->stock == 2);
    CHECK(balance_of(s.engine, "A") == 90);
    CHECK(s.engine.run(order{"A", "1", 10, {}}).done());
    CHECK(balance_of(s.engine, "A") == 80);
    // More lines than a coordinator keeps without the heap.
    std::vector<order_line> const many(40, order_line{"ink", 0});
    CHECK(s.engine.run(order{"A", "1", 0, many}).done());
    CHECK(marks_in(s.engine) == 0);
}

TEST_CASE("kinds: a refusal of a range names its line") {
    shop s;
    auto const missing = s.engine.run("m", order{"A", "1", 10, {{"pen", 2}, {"cap", 1}}});
    CHECK(missing.why == reason::record_missing);
    CHECK(missing.participant == "stock");
    REQUIRE(missing.line);
    CHECK(*missing.line == 1);
    CHECK(missing.text() == "m: canceled (stock line 2: record missing)");
    CHECK(entry_of(s.engine, "m").line == missing.line);
    // Two lines of one item share its stock.
    auto const twice = s.engine.run("t", order{"A", "1", 10, {{"pen", 2}, {"pen", 4}}});
    CHECK(twice.why == reason::guard_failed);
    CHECK(*twice.line == 1);
    auto const refused = s.engine.run("r", order{"A", "1", 10, {{"pen", 2}, {"pen", -4}}});
    CHECK(refused.verdict == verdict::refused);
    CHECK(refused.participant == "stock");
    CHECK(*refused.line == 1);
    auto const first = s.engine.run("f", order{"A", "1", 1000, {{"cap", 2}, {"pen", 40}}});
    CHECK(first.participant == "customer");
    CHECK_FALSE(first.line);
    std::vector<order_line> many(40, order_line{"ink", 0});
    many.back().quantity = 4;
    CHECK(*s.engine.run(order{"A", "1", 0, many}).line == 39);
    s.unchanged();
}

TEST_CASE("kinds: two types that share their parameters are distinguished by name") {
    shop s;
    item const cap{"cap", 7, "new", "red"};
    CHECK(s.engine.run<create_type>("t", edit{"A", 1, cap}).done());
    CHECK(s.engine.run<replace_type>("t", edit{"A", 1, cap}).problem.code ==
          settle::errc::id_in_use);
    CHECK(s.engine.run<create_type>(edit{"A", 1, cap}).why == reason::record_exists);
    CHECK(s.engine.submit<replace_type>(edit{"A", 1, {"cap", 8, "new", {}}}).problem.empty());
    CHECK(s.engine.submit<replace_type>("u", edit{"A", 1, {"ink", 9, "x", {}}}).problem.empty());
    CHECK(s.engine.work().done == 2);
    CHECK(s.find_item("cap") == item{"cap", 8, "new", {}});
    CHECK(s.find_item("ink") == item{"ink", 9, "x", {}});
    CHECK(balance_of(s.engine, "A") == 97);
}

TEST_CASE("kinds: create, replace and erase keep both images, and a cancel leaves no trace") {
    shop s;
    SUBCASE("create") {
        item const cap{"cap", 7, "new", "red"};
        CHECK(s.engine.run<create_type>("poor", edit{"A", 101, cap}).participant == "payer");
        CHECK_FALSE(s.find_item("cap"));
        s.unchanged();
        CHECK(entry_of(s.engine, "poor").images.empty());
        REQUIRE(s.engine.run<create_type>("t", edit{"A", 0, cap}).done());
        CHECK(s.find_item("cap") == cap);
        auto const images = entry_of(s.engine, "t").images;
        REQUIRE(images.size() == 1);
        CHECK(images[0].participant == 0);
        CHECK(images[0].before.empty());
        CHECK(images[0].after == settle::encode_json(cap));
    }
    SUBCASE("replace") {
        item const other{"pen", 1, "used", {}};
        CHECK(s.engine.run<replace_type>(edit{"A", 101, other}).canceled());
        s.unchanged();
        CHECK(s.engine.run<replace_type>(edit{"A", 0, {"cap", 1, "", {}}}).why ==
              reason::record_missing);
        REQUIRE(s.engine.run<replace_type>("t", edit{"A", 0, other}).done());
        CHECK(s.find_item("pen") == other);
        auto const images = entry_of(s.engine, "t").images;
        REQUIRE(images.size() == 1);
        CHECK(images[0].before == settle::encode_json(item{"pen", 5, "open", "blue"}));
        CHECK(images[0].after == settle::encode_json(other));
    }
    SUBCASE("erase") {
        CHECK(s.engine.run(drop{"cap"}).why == reason::record_missing);
        REQUIRE(s.engine.run("t", drop{"pen"}).done());
        CHECK_FALSE(s.find_item("pen"));
        auto const images = entry_of(s.engine, "t").images;
        REQUIRE(images.size() == 1);
        CHECK(images[0].before == settle::encode_json(item{"pen", 5, "open", "blue"}));
        CHECK(images[0].after.empty());
        CHECK(s.engine.create(items, item{"pen", 1, "", {}}).has_value());
    }
    CHECK(marks_in(s.engine) == 0);
}

TEST_CASE("kinds: images survive the worker that took them") {
    shop s;
    s.watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = s.engine.run("t", drop{"pen"}), killed);
    s.watch = nullptr;
    CHECK(s.engine.recover(of_any_age()).done == 1);
    REQUIRE(entry_of(s.engine, "t").images.size() == 1);
    CHECK(entry_of(s.engine, "t").images[0].before ==
          settle::encode_json(item{"pen", 5, "open", "blue"}));
}

TEST_CASE("kinds: two exclusive parts on one record cancel for good") {
    shop s;
    auto const outcome = s.engine.run(labels{{{"pen"}, {"ink"}, {"pen"}}, "open", "shut"});
    CHECK(outcome.canceled());
    CHECK(outcome.why == reason::two_parts_name_one_record);
    CHECK(*outcome.line == 2);
    CHECK(s.world.pauses == 0);
    s.unchanged();
    CHECK(s.engine.run(labels{{{"pen"}, {"ink"}}, "open", "shut"}).done());
    CHECK(s.find_item("ink")->label == "shut");
    // No line at all is a transaction that has nothing to do.
    CHECK(s.engine.run("none", labels{{}, "open", "shut"}).done());
    CHECK(entry_of(s.engine, "none").state == state::done);
}

TEST_CASE("kinds: a worker backs off from a mark, and cancels after its attempts") {
    shop s;
    // A worker is killed with its marks on the pen.
    s.watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = s.engine.run("stuck", order{"A", "1", 0, {{"pen", 1}}}), killed);
    s.watch = nullptr;

    SUBCASE("the mark stays") {
        auto const outcome = s.engine.run("t", labels{{{"ink"}, {"pen"}}, "open", "shut"});
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::busy);
        CHECK(outcome.participant == "items");
        CHECK(*outcome.line == 1);
        CHECK(entry_of(s.engine, "t").attempts == s.engine.limits().attempts);
        CHECK(s.world.pauses == static_cast<int>(s.engine.limits().attempts));
        CHECK(s.world.elapsed <= s.engine.limits().attempts * s.engine.limits().longest_pause);
        // A part that commutes with the stuck mark passes.
        CHECK(s.engine.run(order{"A", "1", 1, {{"pen", 4}}}).done());
    }
    SUBCASE("the other transaction ends") {
        s.world.while_pausing = [&] {
            // A waiting worker holds no mark: the other transaction finds the ink free.
            CHECK(marks_in(s.engine) == 2);
            if (s.world.pauses == 3) CHECK(s.engine.cancel("stuck").canceled());
        };
        auto const outcome = s.engine.run("t", labels{{{"ink"}, {"pen"}}, "open", "shut"});
        CHECK(outcome.done());
        CHECK(s.world.pauses == 3);
        CHECK(entry_of(s.engine, "t").attempts == 3);
        CHECK(entry_of(s.engine, "t").why == reason::none);
        CHECK(s.find_item("pen")->label == "shut");
        CHECK(marks_in(s.engine) == 0);
    }
    SUBCASE("the deadline passes, and the entry stays pending") {
        settle::call_options call;
        call.deadline = std::chrono::milliseconds{1};
        auto const outcome = s.engine.run("t", drop{"pen"}, call);
        CHECK(outcome.verdict == verdict::undecided);
        CHECK(entry_of(s.engine, "t").state == state::pending);
        CHECK(marks_in(s.engine) == 2);
        CHECK(s.engine.cancel("stuck").canceled());
        CHECK(s.engine.run("t", drop{"pen"}).done());
    }
}

TEST_CASE("kinds: infinite pauses end with the deadline") {
    shop s;
    s.watch = kill_after(settle::step::apply);
    CHECK_THROWS_AS(std::ignore = s.engine.run("stuck", order{"A", "1", 0, {{"pen", 1}}}), killed);
    s.watch = nullptr;
    for (auto const first : {std::chrono::microseconds{200}, std::chrono::microseconds::max()}) {
        settle::options limits;
        limits.first_pause = first;
        limits.longest_pause = std::chrono::microseconds::max();
        settle::engine patient{s.database, limits, settle::type<drop_type>,
                               settle::with_environment(manual_environment{s.world})};
        auto const begun = s.world.elapsed;
        settle::call_options call;
        call.deadline = std::chrono::seconds{10};
        CHECK(patient.run("t", drop{"pen"}, call).verdict == verdict::undecided);
        CHECK(s.world.elapsed - begun == *call.deadline);
    }
}

TEST_CASE("kinds: an observer sees every step and no secret") {
    shop s;
    std::vector<std::string> steps;
    std::string shown;
    std::string kinds;
    s.watch = [&](settle::event const& seen) {
        steps.push_back(std::string{settle::name_of(seen.taken)} + " " +
                        std::string{settle::name_of(seen.state)});
        auto const add = [&](char const* before, std::string_view text) {
            steps.back().append(before).append(text);
        };
        if (seen.failed_answer != settle::answer::none) add(": ", name_of(seen.failed_answer));
        if (seen.why != reason::none) add(", ", name_of(seen.why));
        shown = seen.parameters();
        kinds = seen.type;
    };
    REQUIRE(s.engine.run("t", order{"A", "4711 0815", 1, {{"pen", 1}}}).done());
    CHECK(steps == std::vector<std::string>{"insert pending", "apply pending", "commit applied",
                                            "confirm applied", "close done", "end done"});
    CHECK(kinds == "order");
    CHECK(shown == R"({"account":"A","card":"***","amount":1,)"
                   R"("lines":[{"code":"pen","quantity":1}]})");
    // The log keeps the secret, since the transaction needs it.
    CHECK(entry_of(s.engine, "t").parameters.find("4711") != std::string::npos);

    steps.clear();
    REQUIRE(s.engine.run("u", order{"A", "4711", 1000, {{"pen", 1}}}).canceled());
    CHECK(steps == std::vector<std::string>{
                       "insert pending", "apply pending: guard failed, guard failed",
                       "cancel canceling, guard failed", "compensate canceling, guard failed",
                       "close canceled, guard failed", "end canceled, guard failed"});
    steps.clear();
    REQUIRE(s.engine.reverse("t").done());
    CHECK(kinds == "order/reverse");
    CHECK(shown.find("4711") == std::string::npos);
    CHECK(shown.find("***") != std::string::npos);
    steps.clear();
    settle::cancel_options even;
    even.even_if_unknown = true;
    REQUIRE(s.engine.cancel("nobody", even).canceled());
    CHECK(steps == std::vector<std::string>{"read initial, cancel asked",
                                            "insert canceled, cancel asked",
                                            "end canceled, cancel asked"});
    CHECK(kinds.empty());
    CHECK(shown.empty());
}

} // namespace
} // namespace engine_test
